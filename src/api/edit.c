/* api/edit.c - see edit.h. */
#include "api/edit.h"

#include <assert.h>

static struct value copy_slots(struct arena *a, const struct type *t, const struct value *v)
{
    struct value copy = value_struct(a, t);
    if (v->kind == VALUE_STRUCT)
        memcpy(copy.slots, v->slots, t->n_fields * sizeof(*copy.slots));
    return copy;
}

static struct value set_below(struct arena *a, const struct type *t, const struct value *v, struct str path,
                              struct value to)
{
    struct str name = str_first(path, str_index(path, '.'));
    struct str rest = str_from(path, name.n + 1);
    int slot = schema_slot(t, name);
    assert(slot >= 0);
    struct value copy = copy_slots(a, t, v);
    copy.slots[slot] = rest.n ? set_below(a, t->fields[slot].type, &copy.slots[slot], rest, to) : to;
    return copy;
}

struct value edit_set(struct arena *a, const struct type *t, const struct value *v, const char *path, struct value to)
{
    return set_below(a, t, v, str_of(path), to);
}

struct value edit_member(struct arena *a, const struct value *map, struct str key, struct value to)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct member *members = ARENA_NEW_N(a, struct member, n + 1);
    if (n)
        memcpy(members, map->members, n * sizeof(*members));
    members[n] = (struct member){ key, to };
    return value_map(members, value_sort_members(members, n + 1));
}

struct value edit_append(struct arena *a, const struct value *list, struct value item)
{
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct value *items = ARENA_NEW_N(a, struct value, n + 1);
    if (n)
        memcpy(items, list->items, n * sizeof(*items));
    items[n] = item;
    return value_list(items, n + 1);
}
