/* api/value.c - see value.h. */
#include "api/value.h"

#include <stdlib.h>

#include "base/mem.h"

enum { SORT_FEW_MAX = 16 }; /* members that are moved about rather than sorted aside */

static const struct value absent;

const struct value *value_slot(const struct value *v, unsigned slot)
{
    return v->kind == VALUE_STRUCT && slot < v->n ? &v->slots[slot] : &absent;
}

struct value *value_member(const struct value *map, struct str key)
{
    if (map->kind != VALUE_MAP)
        return NULL;
    uint32_t low = 0, high = map->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = str_cmp(key, map->members[mid].key);
        if (order == 0)
            return &map->members[mid].value;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

/* One step of a path: a list index, a map key or a field name. `t` follows the schema, NULL without one. */
static const struct value *path_step(const struct type **t, const struct value *v, struct str name)
{
    if (v->kind == VALUE_LIST) {
        size_t index = 0;
        for (size_t i = 0; i < name.n; i++) {
            if (name.p[i] < '0' || name.p[i] > '9' || index > v->n)
                return &absent;
            index = index * 10 + (size_t)(name.p[i] - '0');
        }
        return index < v->n ? &v->items[index] : &absent;
    }
    if (v->kind == VALUE_MAP) {
        const struct value *found = value_member(v, name);
        return found ? found : &absent;
    }
    if (v->kind != VALUE_STRUCT || !*t)
        return &absent;
    int slot = schema_slot(*t, name);
    if (slot < 0)
        return &absent;
    *t = (*t)->fields[slot].type;
    return &v->slots[slot];
}

const struct value *value_path(const struct type *t, const struct value *v, const char *path)
{
    struct str rest = str_of(path);
    while (rest.n && v->kind != VALUE_ABSENT) {
        size_t dot = str_index(rest, '.');
        v = path_step(&t, v, str_first(rest, dot));
        rest = str_from(rest, dot + 1);
    }
    return v;
}

/* Sorts pointers into an array that stays still, so that members of one key keep their order. */
static int by_key(const void *a, const void *b)
{
    const struct member *x = *(const struct member *const *)a, *y = *(const struct member *const *)b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

static bool sorted(const struct member *members, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (str_cmp(members[i - 1].key, members[i].key) >= 0)
            return false;
    return true;
}

static uint32_t sort_few(struct member *members, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct member m = members[i];
        uint32_t at = kept;
        int order = 0;
        while (at > 0 && (order = str_cmp(members[at - 1].key, m.key)) > 0)
            at--;
        if (at > 0 && order == 0) {
            members[at - 1] = m;
            continue;
        }
        memmove(members + at + 1, members + at, (kept - at) * sizeof(m));
        members[at] = m;
        kept++;
    }
    return kept;
}

uint32_t value_sort_members(struct member *members, uint32_t n)
{
    if (sorted(members, n))
        return n;
    if (n <= SORT_FEW_MAX)
        return sort_few(members, n);
    struct member *as_given = mem_alloc(mem_product(n, sizeof(*as_given)));
    const struct member **order = mem_alloc(mem_product(n, sizeof(*order)));
    memcpy(as_given, members, n * sizeof(*members));
    for (uint32_t i = 0; i < n; i++)
        order[i] = &as_given[i];
    qsort(order, n, sizeof(*order), by_key);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool last_of_its_key = i + 1 == n || !str_eq(order[i]->key, order[i + 1]->key);
        if (last_of_its_key)
            members[kept++] = *order[i];
    }
    free(order);
    free(as_given);
    return kept;
}

static bool members_equal(const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!str_eq(a->members[i].key, b->members[i].key) ||
            !value_equal(&a->members[i].value, &b->members[i].value))
            return false;
    return true;
}

static bool items_equal(const struct value *a, const struct value *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch ((enum value_kind)a->kind) {
    case VALUE_ABSENT:
    case VALUE_NULL:
        return true;
    case VALUE_BOOL:
        return a->b == b->b;
    case VALUE_INT:
    case VALUE_TIME:
        return a->i == b->i;
    case VALUE_DOUBLE:
        return a->d == b->d;
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_RAW:
        return a->n == 0 || memcmp(a->s, b->s, a->n) == 0;
    case VALUE_LIST:
    case VALUE_STRUCT:
        return items_equal(a, b);
    case VALUE_MAP:
        return members_equal(a, b);
    }
    return false;
}

static struct value copy_items(struct arena *a, const struct value *v)
{
    struct value copy = *v;
    copy.items = arena_alloc(a, v->n * sizeof(*copy.items));
    for (uint32_t i = 0; i < v->n; i++)
        copy.items[i] = value_copy(a, &v->items[i]);
    return copy;
}

static struct value copy_members(struct arena *a, const struct value *v)
{
    struct value copy = *v;
    copy.members = arena_alloc(a, v->n * sizeof(*copy.members));
    for (uint32_t i = 0; i < v->n; i++) {
        copy.members[i].key = arena_str(a, v->members[i].key);
        copy.members[i].value = value_copy(a, &v->members[i].value);
    }
    return copy;
}

struct value value_copy(struct arena *a, const struct value *v)
{
    struct value copy = *v;
    switch ((enum value_kind)v->kind) {
    case VALUE_STRING:
    case VALUE_BYTES:
    case VALUE_RAW:
        copy.s = arena_str(a, (struct str){ v->s, v->n }).p;
        return copy;
    case VALUE_LIST:
    case VALUE_STRUCT:
        return copy_items(a, v);
    case VALUE_MAP:
        return copy_members(a, v);
    default:
        return copy;
    }
}
