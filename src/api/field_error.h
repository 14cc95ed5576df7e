/* api/field_error.h - what is wrong with which field of an object, and how that reads to a client.
 *
 * Texts are those of upstream's field.Error: `spec.containers[0].name: Invalid value: "A": <detail>`.
 *
 * Paths are linked through the stack, so that walking an object costs nothing until something is wrong:
 *
 *     struct field_path labels = field_child(metadata, "labels");
 *     field_invalid(errs, &labels, field_str(key), detail);
 *
 * Errors keep their path as text and borrow value and detail, which must outlive the list. What a list
 * may grow to is bounded by FIELD_ERRORS_BYTES_MAX: some errors quote their whole surroundings, and a
 * hostile object could repeat them without end. Past the bound errors are counted and not kept.
 *
 * Thread: one at a time.    Owns: nothing, memory is the arena's. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"

#define FIELD_ERRORS_BYTES_MAX ((size_t)4 << 20)

/* name, the Status cause's reason, how it reads */
#define FIELD_ERROR_TYPES(X)                                                \
    X(NOT_FOUND, "FieldValueNotFound", "Not found")                         \
    X(REQUIRED, "FieldValueRequired", "Required value")                     \
    X(DUPLICATE, "FieldValueDuplicate", "Duplicate value")                  \
    X(INVALID, "FieldValueInvalid", "Invalid value")                        \
    X(NOT_SUPPORTED, "FieldValueNotSupported", "Unsupported value")         \
    X(FORBIDDEN, "FieldValueForbidden", "Forbidden")                        \
    X(TOO_LONG, "FieldValueTooLong", "Too long")                            \
    X(TOO_SHORT, "FieldValueTooShort", "Too short")                         \
    X(TOO_MANY, "FieldValueTooMany", "Too many")                            \
    X(TOO_FEW, "FieldValueTooFew", "Too few")                               \
    X(INTERNAL, "InternalError", "Internal error")                          \
    X(TYPE_INVALID, "FieldValueTypeInvalid", "Invalid value")

enum field_error_type {
#define X(name, reason, text) FIELD_ERROR_##name,
    FIELD_ERROR_TYPES(X)
#undef X
};

/* A member, or a subscript: list index or map key. A path that is NULL has no element and prints <nil>. */
struct field_path {
    const struct field_path *parent; /* NULL: this is the first element */
    struct str text;                 /* member or map key */
    size_t index;
    enum { FIELD_PATH_MEMBER, FIELD_PATH_KEY, FIELD_PATH_INDEX } kind;
};

static inline struct field_path field_child(const struct field_path *parent, const char *name)
{
    return (struct field_path){ parent, str_of(name), 0, FIELD_PATH_MEMBER };
}
static inline struct field_path field_index(const struct field_path *parent, size_t index)
{
    return (struct field_path){ parent, { NULL, 0 }, index, FIELD_PATH_INDEX };
}
static inline struct field_path field_key(const struct field_path *parent, struct str key)
{
    return (struct field_path){ parent, key, 0, FIELD_PATH_KEY };
}
struct str field_path_text(struct arena *a, const struct field_path *path);

struct field_value {
    enum {
        FIELD_VALUE_OMITTED,
        FIELD_VALUE_STR,     /* quoted as Go's %q */
        FIELD_VALUE_ENUM,    /* a text whose Go type is not plain string: quoted as JSON */
        FIELD_VALUE_STRS,    /* a JSON array, or null when `list` is NULL */
        FIELD_VALUE_JSON,    /* JSON already */
        FIELD_VALUE_INT,
        FIELD_VALUE_BOOL,
    } kind;
    struct str text;
    const struct str *list;
    size_t n_list;
    int64_t number; /* also for bool */
};

static inline struct field_value field_str(struct str text)
{
    return (struct field_value){ .kind = FIELD_VALUE_STR, .text = text };
}
static inline struct field_value field_enum(struct str text)
{
    return (struct field_value){ .kind = FIELD_VALUE_ENUM, .text = text };
}
static inline struct field_value field_strs(const struct str *list, size_t n)
{
    return (struct field_value){ .kind = FIELD_VALUE_STRS, .list = list, .n_list = n };
}
static inline struct field_value field_json(struct str json)
{
    return (struct field_value){ .kind = FIELD_VALUE_JSON, .text = json };
}
static inline struct field_value field_int(int64_t number)
{
    return (struct field_value){ .kind = FIELD_VALUE_INT, .number = number };
}
static inline struct field_value field_bool(bool value)
{
    return (struct field_value){ .kind = FIELD_VALUE_BOOL, .number = value };
}

struct field_error {
    enum field_error_type type;
    struct str path;
    struct field_value value;
    struct str detail; /* may be empty */
};

struct field_errors {
    struct arena *arena;
    struct field_error *at;
    size_t n, cap;
    size_t n_bytes;   /* of `at` and its texts, about */
    size_t n_dropped; /* past FIELD_ERRORS_BYTES_MAX */
};

static inline void field_errors_init(struct field_errors *errs, struct arena *a)
{
    *errs = (struct field_errors){ .arena = a };
}

/* Nothing more is kept: no need to build costly texts. */
static inline bool field_errors_full(const struct field_errors *errs)
{
    return errs->n_bytes > FIELD_ERRORS_BYTES_MAX;
}

/* All of these append one error. A limit below 0 is not named in the text. */
void field_invalid(struct field_errors *errs, const struct field_path *at, struct field_value value,
                   struct str detail);
void field_type_invalid(struct field_errors *errs, const struct field_path *at,
                        struct field_value value, struct str detail);
void field_required(struct field_errors *errs, const struct field_path *at, struct str detail);
void field_forbidden(struct field_errors *errs, const struct field_path *at, struct str detail);
void field_not_found(struct field_errors *errs, const struct field_path *at, struct field_value value);
void field_not_found_among(struct field_errors *errs, const struct field_path *at, struct field_value value,
                           struct str detail);
void field_duplicate(struct field_errors *errs, const struct field_path *at, struct field_value value);
void field_not_supported(struct field_errors *errs, const struct field_path *at,
                         struct field_value value, const char *const *supported, size_t n_supported);
void field_too_long(struct field_errors *errs, const struct field_path *at, int64_t max_bytes);
void field_too_long_characters(struct field_errors *errs, const struct field_path *at, int64_t max);
void field_too_short(struct field_errors *errs, const struct field_path *at, int64_t min_characters);
/* An `actual` below 0 is not shown. */
void field_too_many(struct field_errors *errs, const struct field_path *at, int64_t actual, int64_t max);
void field_too_few(struct field_errors *errs, const struct field_path *at, int64_t actual, int64_t min);
void field_internal(struct field_errors *errs, const struct field_path *at, struct str detail);

/* `reason` of the cause in a Status. */
const char *field_error_reason(enum field_error_type type);
/* The error without its path: `message` of the cause in a Status. */
void field_error_body(const struct field_error *e, struct strbuf *to);
/* The whole error. */
struct str field_error_text(struct arena *a, const struct field_error *e);
/* All errors as one text: alone if there is one, else `[a, b]`; a text that repeats is shown once. Empty
 * when there are none. */
struct str field_errors_text(struct arena *a, const struct field_errors *errs);
/* As encoding/json writes a string: also <, >, &, U+2028 and U+2029 escaped, bad UTF-8 as \ufffd. */
void field_add_json_string(struct strbuf *to, struct str text);
/* A copy of the bytes in the arena; the buffer is released. */
struct str field_take_text(struct arena *a, struct strbuf *own_text);
