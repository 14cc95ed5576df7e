/* codec/yaml.h - YAML as kubectl and the API server read and print it.
 *
 * YAML in is turned into JSON text, which then goes the way of all JSON: upstream does the same, so that
 * every rule about fields exists once. YAML out is made from JSON text.
 *
 * Thread: any. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/work.h"
#include "codec/json.h"

enum { YAML_DEPTH_MAX = 1000 }; /* of nodes, aliases followed */

/* The first document to JSON with sorted keys; an empty one is null. On failure the message is
 * go-yaml's own text. `findings` (may be NULL) gets the keys that are given twice, all in one text, as
 * strict decoding words them: also keys that a merge ("<<") sets and the map itself. In a file that is what merges
 * are for, so with findings->of_file only keys given twice in one place are told, each in a text of its own. */
enum err_code yaml_to_json(struct arena *a, struct work *work, struct str yaml, struct findings *findings,
                           struct str *ret_json, struct err *e) ERR_MUST_CHECK;

/* JSON text, which must be valid, as `kubectl -o yaml` prints it: keys sorted, block style, two spaces, a
 * newline at the end. Text that is not valid gives nothing. */
void yaml_from_json(struct strbuf *to, struct str json);
/* The same document for a terminal: what is not printable (base/printable.h) is escaped where kubectl leaves it. */
void yaml_from_json_visible(struct strbuf *to, struct str json);

/* A stream of documents. Until something else than JSON is met, it is taken as JSON values one behind the
 * other; from then on as YAML, which lines that begin with "---" part. */
struct yaml_stream {
    struct str text;
    size_t at;
    bool json;     /* so far */
    size_t n_json; /* values read as JSON */
};

void yaml_stream_init(struct yaml_stream *s, struct str text);
/* The next document, as kubectl parts them; ret_document->p is NULL when none is left. Empty ones and such
 * with comments only are passed over. It fails for a separator with text behind it. */
enum err_code yaml_next_document(struct yaml_stream *s, struct str *ret_document,
                                 struct err *e) ERR_MUST_CHECK;
