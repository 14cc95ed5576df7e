/* apply/field_set.h - sets of fields: which places of an object somebody owns, or which of them changed.
 *
 * A set is a tree. A node stands for one step on the way to a field: a name, an element of a list by its key fields, by
 * its value or by its index. A node with marks is a member of the set; one without is there for what is below it alone,
 * and then there is something below it. Nodes of a level are in the order of path_compare, each step once.
 *
 * Sets are values: functions never change their inputs, and results share nodes with them; a result that has the `nodes`
 * of an input is that input.
 *
 * As text, a set is what metadata.managedFields[].fieldsV1 holds:
 *
 *     {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}}
 *
 * Upstream: structured-merge-diff, fieldpath. Its order of steps and values is kept, since texts are compared by bytes.
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"
#include "base/strbuf.h"

enum path_kind { PATH_FIELD, PATH_KEY, PATH_VALUE, PATH_INDEX }; /* in the order of steps */

struct path_step {
    uint8_t kind;
    uint32_t n; /* bytes of a name; number of key fields */
    union {
        const char *name;
        const struct member *keys; /* by ascending name; values are plain */
        const struct value *value; /* plain */
        int64_t index;
    };
};

enum {                 /* marks: a set that is owned has SET_MEMBER alone, a comparison has all three */
    SET_MEMBER = 1,
    SET_ADDED = 1,
    SET_MODIFIED = 2,
    SET_REMOVED = 4,
    SET_ANY = 7,
};

struct set_node;

struct field_set {
    struct set_node *nodes; /* of one level */
    uint32_t n;
};

struct set_node {
    struct path_step at;
    struct field_set below;
    uint8_t marks;
};

static inline struct path_step path_field(struct str name)
{
    return (struct path_step){ .kind = PATH_FIELD, .n = (uint32_t)name.n, .name = name.p };
}
static inline struct str path_name(const struct path_step *step)
{
    return (struct str){ step->name, step->n };
}

/* Order of plain values: numbers, texts, bools, lists, maps, null; a whole double equals the int. */
int path_compare_values(const struct value *a, const struct value *b);
int path_compare(const struct path_step *a, const struct path_step *b);
/* For people: `.spec`, `[name="c"]`, `[="x"]`, `[0]`. */
void path_add_text(struct strbuf *to, const struct path_step *step);

/* The node of a step, or NULL. */
const struct set_node *set_find(struct field_set s, const struct path_step *step);
/* Brings nodes into order, in place; of equal steps the marks add up and the last that has something below it wins. */
struct field_set set_sorted(struct arena *a, struct set_node *nodes, uint32_t n);

/* Members of either; marks add up. */
struct field_set set_union(struct arena *a, struct field_set x, struct field_set y);
struct field_set set_union_all(struct arena *a, const struct field_set *sets, uint32_t n);
/* Members of both. */
struct field_set set_intersection(struct arena *a, struct field_set x, struct field_set y);
/* Members of `s` that are none of `minus`, whatever its marks. Members below those stay. */
struct field_set set_difference(struct arena *a, struct field_set s, struct field_set minus);
/* The same, but what is below a member of `roots` goes too. */
struct field_set set_without(struct arena *a, struct field_set s, struct field_set roots);
/* The members that have one of these marks, as a set that is owned. */
struct field_set set_pick(struct arena *a, struct field_set s, unsigned marks);

/* Calls `each` for every member: those of a level first, then what is below them. For sets that were read, which are not
 * deeper than SET_DEPTH_MAX, and parts of them. */
typedef void set_visit(void *user, const struct path_step *const *path, uint32_t n_steps);
void set_each(struct field_set s, set_visit *each, void *user);

/* ---- As text: fields_v1.c ---- */

/* Of nodes within each other. No object that is decoded is deeper; upstream reads 10,000. */
enum { SET_DEPTH_MAX = VALUE_DEPTH_MAX };

/* False when the text is damaged; keys of kinds that are not known are passed over. Names point into the text. */
bool set_parse(struct arena *a, struct str text, struct field_set *ret_set);
/* Compact JSON. */
struct str set_text(struct arena *a, struct field_set s);
