/* tests/vectors/vectors.h - runs recorded decisions of the real components against berth.
 *
 * A family is one file of JSON Lines (gzip'd or plain): FAMILY.jsonl.gz. Its check function gets one
 * record at a time, compares, and reports each difference with vector_mismatch; a record with any
 * difference counts as one mismatched case. The records are read with yyjson, which is not the code
 * under test. */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct setup;
struct sym_table;

struct vector_case {
    yyjson_val *record;
    struct arena *arena; /* reset after every case */
    bool mismatched;
    /* for reports */
    const char *family;
    size_t line;
    unsigned n_shown; /* mismatches printed so far in this family */
};

/* Prints the first few of a family; `format` says what differs. */
void vector_mismatch(struct vector_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Compares texts, reports a difference; false when they differ. */
bool vector_text(struct vector_case *c, const char *what, struct str got, struct str want);
bool vector_int(struct vector_case *c, const char *what, int64_t got, int64_t want);

/* Members of the record (or of any object); absent is the zero value. */
struct str vector_str(yyjson_val *object, const char *name);
int64_t vector_num(yyjson_val *object, const char *name);
bool vector_bool(yyjson_val *object, const char *name);
bool vector_has(yyjson_val *object, const char *name);
/* `name`, or the decoded bytes of `nameBase64`. */
struct str vector_bytes(struct vector_case *c, const char *name);
struct str vector_base64(struct arena *a, struct str text);
/* A sub-document of the record as JSON text. */
struct str vector_json(struct vector_case *c, yyjson_val *value);

enum { VECTOR_CHECKS_MAX = 4 };

struct vector_family {
    const char *name; /* of the file, without .jsonl.gz */
    void (*checks[VECTOR_CHECKS_MAX])(struct vector_case *c); /* all of them see every record */
};

void check_quantity(struct vector_case *c);
void check_selectors(struct vector_case *c);
void check_names(struct vector_case *c);
void check_codec(struct vector_case *c);
void check_codec_unknown(struct vector_case *c);
void check_kinds(struct vector_case *c);
void check_strict(struct vector_case *c);
void check_requests(struct vector_case *c);
void check_typed(struct vector_case *c);
void check_typed_lenient(struct vector_case *c);
void check_patches(struct vector_case *c);
void check_apply(struct vector_case *c);
void check_effective(struct vector_case *c);
void check_scheduling(struct vector_case *c);
void check_legacy_start(struct vector_case *c);

/* Whether the record is of the families about Policy files and providers; what it starts with. */
bool vector_is_legacy(const struct vector_case *c);
enum err_code vector_legacy_setup(struct vector_case *c, struct setup *s, struct sym_table *syms,
                                  struct err *e) ERR_MUST_CHECK;
