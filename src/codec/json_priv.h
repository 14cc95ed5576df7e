/* codec/json_priv.h - what the files of the JSON decoder share.
 *
 * json_decode.c walks the text along the schema, json_scalar.c reads values that hold no others,
 * json_report.c words what is wrong. A function that returns false has met a fault of syntax or a fatal
 * error, and decoding stops; errors of type are only noted, and decoding goes on: a fatal error further
 * on goes first. */
#pragma once

#include "base/vec.h"
#include "codec/json.h"
#include "codec/json_scan.h"

/* One step on the way from the root to the value at hand: a field of a struct, a key of a map or an index. */
struct place {
    const struct place *up;
    const struct type *type; /* NULL: key or index */
    union {
        const struct field *field;
        const struct str *key; /* NULL: index */
    };
    uint32_t index;
};

struct decoder {
    struct json_scan scan;
    struct str text;
    struct arena *arena;
    struct work *work;
    struct findings *findings; /* NULL: nobody asks */
    unsigned n_findings;       /* made here */
    size_t findings_bytes;     /* of their texts */
    size_t findings_work;      /* of all texts made, also of those found before */
    const struct place *place; /* NULL at the root */
    const char *mismatch;      /* first error of type, NULL: none */
    const char *fatal;         /* error that stopped the decoder, NULL: none */
    const char *fault_path, *fault; /* of `fatal` or else of `mismatch`: see struct json_fault */
    unsigned n_levels;         /* of structs, lists and maps around the value */
    bool odd_meta;             /* see json_decode_object */
    VEC(struct value) stack;   /* elements of lists and maps that are not closed yet */
    struct grown *grown;       /* maps that were given again */
};

/* ---- json_decode.c ---- */

/* json_decode of an object. *ret_odd_meta: it has a member named kind or apiVersion but for case, which the
 * decoder ignores and those who ask what the object says it is do not. */
enum err_code json_decode_object(struct arena *a, struct work *work, const struct type *t, struct str text,
                                 struct findings *findings, bool *ret_odd_meta, struct value *ret_value,
                                 struct err *e) ERR_MUST_CHECK;
/* Equal but for case, as Go folds it. */
bool json_equal_fold(struct str name, struct str ascii);

/* ---- json_report.c ---- */

/* Notes that the next value does not fit `go_type` and skips it. */
bool json_mismatch(struct decoder *d, const char *go_type);
/* The same for a number that has been read. Returns true: decoding goes on. */
bool json_mismatch_number(struct decoder *d, struct str number, const char *go_type);
/* Notes any other error that does not stop the decoder. */
void json_note(struct decoder *d, const char *message);
/* Notes an error that stops the decoder; returns false. */
bool json_fatal(struct decoder *d, const char *message);
/* As json_mismatch and json_mismatch_number, but fatal: returns false. */
bool json_fatal_mismatch(struct decoder *d, const char *go_type);
bool json_fatal_mismatch_number(struct decoder *d, struct str number, const char *go_type);
/* `kind` is "unknown" or "duplicate"; `name` is a member of the struct or map that stands at `at`. */
void json_find(struct decoder *d, const struct place *at, const char *kind, struct str name);

/* ---- json_scalar.c ---- */

/* A value of any kind but KIND_STRUCT, not null: a field or an element of it, which errors name go_type. */
bool json_decode_scalar(struct decoder *d, const struct field *f, const char *go_type, struct value *v);
/* The place holds null: what was there before is cleared, or stays. Not for KIND_STRUCT. */
void json_null_scalar(struct decoder *d, const struct field *f, struct value *v);

/* Of a number token. False when it has a fraction or an exponent or does not fit. */
bool json_parse_int64(struct str number, int64_t *ret_value);
/* False when it is too large. */
bool json_parse_double(struct str number, double *ret_value);
