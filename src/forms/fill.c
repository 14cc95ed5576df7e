/* forms/fill.c - see fill.h. The decoders are in fill_json.c and fill_proto.c. */
#include "base/sort.h"
#include "forms/fill_priv.h"

enum { SMALL_ITEM_BYTES = 128, FIRST_SMALL_ITEMS = 4, FIRST_LARGE_ITEMS = 1 };

/* Zeroed memory for input structs; NULL and an error past FILL_BYTES_MAX. */
static void *alloc_input(struct fill_decoder *d, size_t n)
{
    d->n_bytes += n;
    if (d->n_bytes > FILL_BYTES_MAX) {
        (void)err_set(d->e, ERR_TOO_LARGE, "the object takes more than %d bytes to read", FILL_BYTES_MAX);
        return NULL;
    }
    return arena_zalloc(d->arena, n);
}

static bool grow(struct fill_decoder *d, struct fill_list *list, size_t size)
{
    uint32_t first = size <= SMALL_ITEM_BYTES ? FIRST_SMALL_ITEMS : FIRST_LARGE_ITEMS;
    uint32_t cap = list->cap ? list->cap * 2 : first;
    void *at = alloc_input(d, cap * size);
    if (!at)
        return false;
    if (list->cap)
        memcpy(at, list->at, list->cap * size);
    list->at = at;
    list->cap = cap;
    return true;
}

void *fill_item(struct fill_decoder *d, struct fill_list *list, uint32_t i, size_t size)
{
    if (i >= FILL_ITEMS_MAX) {
        (void)err_set(d->e, ERR_TOO_LARGE, "more than %d items", FILL_ITEMS_MAX);
        return NULL;
    }
    if (i >= list->cap && !grow(d, list, size))
        return NULL;
    list->n = i + 1;
    return (char *)list->at + i * size;
}

void *fill_pointee(struct fill_decoder *d, void **member, const struct fill_type *sub)
{
    if (!*member)
        *member = alloc_input(d, sub->n_bytes);
    return *member;
}

bool fill_in_field(struct fill_decoder *d, const struct type *t, unsigned slot)
{
    (void)err_wrap(d->e, "%.*s.%.*s", STR_ARG(t->kind), STR_ARG(t->fields[slot].name));
    return false;
}

bool fill_wrong_type(struct fill_decoder *d, const struct type *t, unsigned slot, const char *what)
{
    (void)err_set(d->e, ERR_BAD_REQUEST, "%s where %s is expected", what, t->fields[slot].go_type);
    return fill_in_field(d, t, slot);
}

static int by_key(const void *a, const void *b)
{
    const struct fill_pair *x = a, *y = b;
    return str_cmp(x->key, y->key);
}

fill_map fill_map_settled(struct arena *a, const fill_map *map)
{
    uint32_t ascending = map->n > 0;
    while (ascending < map->n && by_key(&map->at[ascending - 1], &map->at[ascending]) < 0)
        ascending++;
    if (ascending == map->n)
        return *map;
    fill_map settled = { .at = ARENA_NEW_N(a, struct fill_pair, map->n), .given = true };
    memcpy(settled.at, map->at, map->n * sizeof(*map->at));
    sort_stable(a, settled.at, map->n, sizeof(*settled.at), by_key);
    for (uint32_t i = 0; i < map->n; i++)
        if (i + 1 == map->n || !str_eq(settled.at[i].key, settled.at[i + 1].key))
            settled.at[settled.n++] = settled.at[i];
    settled.cap = settled.n;
    return settled;
}

const struct str *fill_map_find(const fill_map *map, struct str key)
{
    for (uint32_t i = map->n; i > 0; i--)
        if (str_eq(map->at[i - 1].key, key))
            return &map->at[i - 1].value;
    return NULL;
}

enum err_code fill_decode(struct arena *a, struct work *work, const struct fill_type *t, enum typed_format format,
                          struct str bytes, void *into, struct err *e)
{
    struct fill_decoder d = { .arena = a, .e = e, .work = work };
    e->code = ERR_OK; /* decoders look at it to tell errors from faults of syntax */
    if (!bytes.p)
        bytes = STR("");
    if (work_begin(work, bytes.n, e))
        return e->code;
    return format == TYPED_JSON ? fill_json(&d, t, bytes, into) : fill_proto(&d, t, bytes, into);
}
