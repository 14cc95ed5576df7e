/* api/yaml.h - YAML as kubectl and the API server read and print it.
 *
 * YAML in is turned into JSON text, which then goes the way of all JSON: upstream does the same, so that
 * every rule about fields exists once. YAML out is made from JSON text.
 *
 * Thread: any. */
#pragma once

#include "api/json.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

enum {
    YAML_DEPTH_MAX = 1000,          /* of nodes, aliases followed */
    YAML_JSON_BYTES_MAX = 64 << 20, /* what aliases may expand to */
};

/* One document to JSON. `findings` (may be NULL) gets keys that are given twice, as strict decoding words them. */
enum err_code yaml_to_json(struct arena *a, struct str yaml, struct findings *findings,
                           struct str *ret_json, struct err *e) ERR_MUST_CHECK;

/* JSON text, which must be valid, as `kubectl -o yaml` prints it: keys sorted, block style, two spaces. */
void yaml_from_json(struct strbuf *to, struct str json);

/* The next document of a stream as kubectl splits it (a line that begins with "---"), advancing *at;
 * false when there is none left. Empty ones and such with comments only are passed over. */
bool yaml_next_document(struct str stream, size_t *at, struct str *ret_document);
