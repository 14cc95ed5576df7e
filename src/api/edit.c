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

/* ---- Empty lists and maps ---- */

static bool is_empty(const struct field *f, const struct value *v)
{
    return f->shape != SHAPE_ONE && (v->kind == VALUE_LIST || v->kind == VALUE_MAP) && v->n == 0;
}

static bool prune(struct arena *a, const struct type *t, struct value *v);

static bool prune_items(struct arena *a, const struct type *t, struct value *list)
{
    struct value *items = NULL;
    for (uint32_t i = 0; i < list->n; i++) {
        struct value item = list->items[i];
        if (!prune(a, t, &item))
            continue;
        if (!items) {
            items = ARENA_NEW_N(a, struct value, list->n);
            memcpy(items, list->items, list->n * sizeof(*items));
        }
        items[i] = item;
    }
    if (items)
        list->items = items;
    return items;
}

static bool prune_field(struct arena *a, const struct field *f, struct value *v)
{
    if (is_empty(f, v)) {
        *v = (struct value){ 0 };
        return true;
    }
    if (f->kind != KIND_STRUCT || (f->type->flags & (TYPE_WRAPPER | TYPE_BY_SHAPE)))
        return false;
    if (f->shape == SHAPE_LIST && v->kind == VALUE_LIST)
        return prune_items(a, f->type, v);
    return f->shape == SHAPE_ONE && prune(a, f->type, v);
}

/* Whether anything was taken out; what stays is shared. */
static bool prune(struct arena *a, const struct type *t, struct value *v)
{
    struct value *slots = NULL;
    for (uint32_t i = 0; v->kind == VALUE_STRUCT && i < t->n_fields; i++) {
        struct value inside = v->slots[i];
        if (!prune_field(a, &t->fields[i], &inside))
            continue;
        if (!slots) {
            slots = ARENA_NEW_N(a, struct value, t->n_fields);
            memcpy(slots, v->slots, t->n_fields * sizeof(*slots));
        }
        slots[i] = inside;
    }
    if (slots)
        v->slots = slots;
    return slots;
}

struct value edit_without_empties(struct arena *a, const struct type *t, const struct value *v)
{
    struct value result = *v;
    prune(a, t, &result);
    return result;
}
