/* api/value.h - generic values: any object of the schema as a tree, and plain JSON documents.
 *
 * A struct value has one slot per field of its type (schema.h), VALUE_ABSENT where nothing was given;
 * the type is not stored, it follows from the place in the tree. Values of some kinds have one normal
 * form: a quantity is its canonical text, a time its seconds and nanoseconds, a duration an INT of
 * nanoseconds, raw JSON its compact text, a type that is a wrapper or whose JSON shape chooses
 * (schema.h) is that list, bool or struct itself. Without a schema (patches, raw documents) only NULL,
 * BOOL, INT, DOUBLE, STRING, RAW, LIST and MAP occur.
 *
 * Trees are immutable once built, except by whoever builds them. What a decoder makes is at most
 * VALUE_DEPTH_MAX deep, so that walking it may recurse. Memory: the arena of the builder.
 * Thread: any. */
#pragma once

#include <stdbool.h>

#include "api/schema.h"
#include "base/arena.h"

/* Of structs, lists and maps within each other. Upstream goes on to 10,000, which only JSON schemas
 * within JSON schemas could reach. */
enum { VALUE_DEPTH_MAX = 1000 };

enum value_kind {
    VALUE_ABSENT, /* must be 0: fresh slots are absent */
    VALUE_NULL,   /* plain documents only */
    VALUE_BOOL,
    VALUE_INT,
    VALUE_DOUBLE,
    VALUE_STRING,
    VALUE_BYTES,
    VALUE_TIME,
    VALUE_RAW,    /* a JSON text, compact */
    VALUE_LIST,
    VALUE_MAP,
    VALUE_STRUCT,
};

struct member;

struct value {
    uint8_t kind;
    uint8_t building; /* of the decoder that builds the tree; means nothing to others */
    uint32_t n; /* bytes, items, members or slots; of a time: nanoseconds */
    union {
        bool b;
        int64_t i; /* also seconds of a time since 1970 */
        double d;
        const char *s; /* STRING, BYTES, RAW */
        struct value *items;
        struct member *members; /* by ascending key unless said otherwise, keys unique */
        struct value *slots;
    };
};

_Static_assert(sizeof(struct value) == 16, "values are copied by the million");

struct member {
    struct str key;
    struct value value;
};

static inline struct value value_null(void)
{
    return (struct value){ .kind = VALUE_NULL };
}
static inline struct value value_bool(bool b)
{
    return (struct value){ .kind = VALUE_BOOL, .b = b };
}
static inline struct value value_int(int64_t i)
{
    return (struct value){ .kind = VALUE_INT, .i = i };
}
static inline struct value value_double(double d)
{
    return (struct value){ .kind = VALUE_DOUBLE, .d = d };
}
static inline struct value value_string(struct str s)
{
    return (struct value){ .kind = VALUE_STRING, .n = (uint32_t)s.n, .s = s.p };
}
static inline struct value value_bytes(struct str s)
{
    return (struct value){ .kind = VALUE_BYTES, .n = (uint32_t)s.n, .s = s.p };
}
static inline struct value value_raw(struct str s)
{
    return (struct value){ .kind = VALUE_RAW, .n = (uint32_t)s.n, .s = s.p };
}
static inline struct value value_time(int64_t seconds, uint32_t nanos)
{
    return (struct value){ .kind = VALUE_TIME, .n = nanos, .i = seconds };
}
static inline struct value value_list(struct value *items, uint32_t n)
{
    return (struct value){ .kind = VALUE_LIST, .n = n, .items = items };
}
static inline struct value value_map(struct member *members, uint32_t n)
{
    return (struct value){ .kind = VALUE_MAP, .n = n, .members = members };
}
/* A struct of type `t` with every slot absent. */
static inline struct value value_struct(struct arena *a, const struct type *t)
{
    return (struct value){ .kind = VALUE_STRUCT, .n = t->n_fields,
                           .slots = ARENA_NEW_N(a, struct value, t->n_fields) };
}

/* Text of a STRING, BYTES or RAW value; empty for anything else. */
static inline struct str value_text(const struct value *v)
{
    bool text = v->kind == VALUE_STRING || v->kind == VALUE_BYTES || v->kind == VALUE_RAW;
    return text ? (struct str){ v->s, v->n } : (struct str){ NULL, 0 };
}

/* A slot of a struct, or an absent value when `v` is not a struct: lookups can be chained. */
const struct value *value_slot(const struct value *v, unsigned slot);
/* The member of a map (binary search) or NULL. */
struct value *value_member(const struct value *map, struct str key);
/* By JSON names and list indexes separated by dots: "spec.containers.0.image"; absent when it is not
 * there. */
const struct value *value_path(const struct type *t, const struct value *v, const char *path);

/* Sorts by key; of equal keys the last one stays. Returns the new number. */
uint32_t value_sort_members(struct member *members, uint32_t n);

bool value_equal(const struct value *a, const struct value *b);
/* A deep copy; texts are copied too, so it depends on nothing but the arena. */
struct value value_copy(struct arena *a, const struct value *v);
