/* codec/json.h - generic values from and to JSON, driven by the schema.
 *
 * Decoding follows the API server's decoder: names match by case; unknown ones are skipped; a key given
 * twice merges structs and maps, decodes lists into the earlier elements and replaces scalars; null
 * clears pointers, lists and maps and leaves the rest alone. Encoding gives the bytes that the API
 * server sends.
 *
 * Two differences from upstream: texts nested deeper than VALUE_DEPTH_MAX are refused, and findings end
 * when their texts reach a megabyte.
 *
 * Thread: any. Memory: texts of the decoded tree may point into the input, which must live as long. */
#pragma once

#include "api/value.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/work.h"

enum { JSON_FINDINGS_MAX = 100 };

/* The value that decoding failed at, for messages in other words than the decoder's. */
struct json_fault {
    const char *path; /* "spec.containers[0].image"; NULL: a fault of syntax, or none */
    const char *what; /* "number where string is expected" */
};

/* What strict decoding complains about, in order: `unknown field "spec.x"`, `duplicate field "spec.y"`.
 * The decoder finds at most JSON_FINDINGS_MAX; YAML may have put one text more in front. */
struct findings {
    const char *texts[JSON_FINDINGS_MAX + 1];
    unsigned n;
    struct json_fault fault;
    bool of_file; /* set by the caller: see yaml_to_json */
};

/* `findings` may be NULL: nobody asks. On failure the message is the decoder's own text. */
enum err_code json_decode(struct arena *a, struct work *work, const struct type *t, struct str text,
                          struct findings *findings, struct value *ret_value,
                          struct err *e) ERR_MUST_CHECK;

/* No newline at the end. */
void json_encode(struct strbuf *to, const struct type *t, const struct value *v);

/* Whether the field of a struct is in its JSON; `v` is what its slot holds. */
bool json_writes_field(const struct type *t, unsigned slot, const struct value *v);
/* The value of a field alone: a list, a map or one value; an absent one is its zero. */
void json_encode_field(struct strbuf *to, const struct field *f, const struct value *v);

/* Plain documents, without a schema: numbers become INT when they are written as integers that fit,
 * else DOUBLE. */
enum err_code json_decode_plain(struct arena *a, struct work *work, struct str text, struct value *ret_value,
                                struct err *e) ERR_MUST_CHECK;
void json_encode_plain(struct strbuf *to, const struct value *v);

/* Compact JSON, indented by two spaces as Go's json.Indent does. No newline at the end. */
void json_indent(struct strbuf *to, struct str json);

/* A string with quotes and escapes as the API server writes it; bytes that are not UTF-8 become \ufffd. */
void json_add_string(struct strbuf *to, struct str s);
/* The shortest text that reads back, with an exponent below 1e-6 and from 1e21 on. */
void json_add_double(struct strbuf *to, double d);
