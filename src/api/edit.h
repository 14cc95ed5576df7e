/* api/edit.h - changed copies of generic values.
 *
 * Values are immutable (api/value.h): a change copies the structs on the way to the changed place and shares the rest.
 *
 * Thread: any. Memory: the arena; the result refers to what it was made from. */
#pragma once

#include "api/value.h"

/* `path` is JSON names of struct fields, separated by dots; structs that are not there yet are made. */
struct value edit_set(struct arena *a, const struct type *t, const struct value *v, const char *path, struct value to);
/* The map with the member; `map` may be absent. */
struct value edit_member(struct arena *a, const struct value *map, struct str key, struct value to);
/* The list with the item at its end; `list` may be absent. */
struct value edit_append(struct arena *a, const struct value *list, struct value item);

/* Without empty lists and maps: what was stored in protobuf comes back without them. */
struct value edit_without_empties(struct arena *a, const struct type *t, const struct value *v);

static inline struct value edit_text(const char *text)
{
    return value_string(str_of(text));
}
