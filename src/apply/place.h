/* apply/place.h - what the schema says of one place in an object: which shapes a value may have there, whether it is
 * owned as a whole, and where its children are.
 *
 * Most places have one shape. IntOrString, JSON and the types whose JSON shape chooses may be anything: there a map is
 * owned field by field, a list as a whole. Raw objects may be anything and are owned as a whole.
 *
 * Upstream: schemaconv makes the schema of structured-merge-diff from OpenAPI; the list and map types are those of
 * api/schema.h.
 * Thread: any. */
#pragma once

#include "apply/field_set.h"

enum place_kind {
    PLACE_NOWHERE, /* nothing is known: below a scalar, or a name that the type does not have */
    PLACE_STRUCT,
    PLACE_MAP,
    PLACE_LIST,
    PLACE_TEXT,
    PLACE_BOOL,
    PLACE_NUMBER,
    PLACE_SCALAR,  /* text, bool or number */
    PLACE_OBJECT,  /* any JSON object */
    PLACE_ANY,
    PLACE_OPAQUE,  /* anything, owned as a whole */
};

enum shape { SHAPE_OF_MAP, SHAPE_OF_SCALAR, SHAPE_OF_LIST };

struct place {
    uint8_t kind;
    bool atomic;               /* of a struct, map or list: owned as a whole */
    const struct type *type;   /* of PLACE_STRUCT */
    const struct field *field; /* of PLACE_MAP and PLACE_LIST: says what the elements are */
};

static inline struct place place_of_type(const struct type *t)
{
    return (struct place){ .kind = PLACE_STRUCT, .atomic = t->map_type == MAP_ATOMIC, .type = t };
}

struct place place_of_field(const struct field *f);
/* A field of a struct or a member of a map; *ret_declared: the struct has such a field. */
struct place place_of_member(const struct place *p, struct str name, bool *ret_declared);
/* An element of a list. */
struct place place_of_item(const struct place *p);
/* By what a value is treated there; one that does not fit, or is null, by the first shape that is allowed. */
enum shape place_shape(const struct place *p, const struct value *v);
/* Whether a value of that shape is owned as a whole. */
bool place_is_atomic(const struct place *p, enum shape shape);

/* ---- Elements of lists ---- */

/* Names of the fields that tell elements apart, ends with NULL; NULL for a set, whose elements are their own keys. Of a
 * list that is not atomic. */
const char *const *place_keys(const struct place *p);
/* Whether an element can be without a step: one of a list with keys, none of which has a default. */
bool place_needs_keys(const struct place *p);
/* The step to an element of such a list. NULL, or why there is none. */
const char *place_step(struct arena *a, const struct place *p, const struct value *item, struct path_step *ret_step);

struct list_item {
    struct path_step step;
    const struct value *value;
    uint32_t ordinal; /* in the list */
};

/* Elements by ascending step, equal ones in the order of the list; such without a step are left out. */
struct list_item *place_items(struct arena *a, const struct place *p, const struct value *list, uint32_t *ret_n);
