/* store/item.c - see item.h. */
#include "store/item.h"

#include <stdlib.h>

struct store_item *store_item_new(struct str key, struct str value, bool deleted)
{
    assert(key.n <= STORE_KEY_BYTES_MAX);
    assert(value.n <= STORE_VALUE_BYTES_MAX);
    struct store_item *i = mem_zalloc(sizeof(*i) + key.n + value.n);
    i->n_refs = 1;
    i->n_key = (uint32_t)key.n;
    i->n_value = (uint32_t)value.n;
    i->deleted = deleted;
    if (key.n)
        memcpy(i->bytes, key.p, key.n);
    if (value.n)
        memcpy(i->bytes + key.n, value.p, value.n);
    return i;
}

struct store_item *store_item_ref(struct store_item *i)
{
    i->n_refs++;
    return i;
}

void store_item_unref(struct store_item *own_item)
{
    if (!own_item || --own_item->n_refs > 0)
        return;
    if (own_item->attached)
        own_item->attached->free(own_item->attached);
    free(own_item);
}
