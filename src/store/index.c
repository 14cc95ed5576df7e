/* store/index.c - see index.h. */
#include "store/index.h"

#include <stdlib.h>

void index_init(struct index *x)
{
    *x = (struct index){ 0 };
}

void index_fini(struct index *x)
{
    for (size_t b = 0; b < x->blocks.n; b++) {
        struct index_block *block = x->blocks.at[b];
        for (uint32_t i = 0; i < block->n; i++) {
            store_item_unref(block->at[i]->item);
            store_item_unref(block->at[i]->newest);
            free(block->at[i]);
        }
        free(block);
    }
    vec_fini(&x->blocks);
}

struct str index_key(const struct index_entry *entry)
{
    return store_item_key(entry->item ? entry->item : entry->newest);
}

/* ---- Search ---- */

/* The last block whose first key is not above `key`; 0 when there is none. */
static size_t find_block(const struct index *x, struct str key)
{
    size_t low = 0, high = x->blocks.n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(index_key(x->blocks.at[middle]->at[0]), key) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first entry of the block that is not below `key`. */
static uint32_t find_in_block(const struct index_block *block, struct str key)
{
    uint32_t low = 0, high = block->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_cmp(index_key(block->at[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct index_place index_seek(const struct index *x, struct str key)
{
    struct index_place p = { find_block(x, key), 0 };
    if (p.block == x->blocks.n)
        return p;
    p.at = find_in_block(x->blocks.at[p.block], key);
    if (p.at == x->blocks.at[p.block]->n)
        p = (struct index_place){ p.block + 1, 0 };
    return p;
}

struct index_entry *index_at(const struct index *x, struct index_place p)
{
    return p.block < x->blocks.n ? x->blocks.at[p.block]->at[p.at] : NULL;
}

void index_step(const struct index *x, struct index_place *p)
{
    assert(p->block < x->blocks.n);
    if (++p->at == x->blocks.at[p->block]->n)
        *p = (struct index_place){ p->block + 1, 0 };
}

size_t index_distance(const struct index *x, struct index_place from, struct index_place to)
{
    size_t n = to.at;
    for (size_t b = from.block; b < to.block; b++)
        n += x->blocks.at[b]->n;
    assert(n >= from.at);
    return n - from.at;
}

struct index_entry *index_find(const struct index *x, struct str key)
{
    struct index_entry *entry = index_at(x, index_seek(x, key));
    return entry && str_eq(index_key(entry), key) ? entry : NULL;
}

/* ---- Change ---- */

/* The upper half of a full block moves into a new one behind it. */
static void split_block(struct index *x, size_t b)
{
    struct index_block *lower = x->blocks.at[b], *upper = mem_alloc(sizeof(*upper));
    uint32_t half = INDEX_BLOCK_ENTRIES / 2;
    /* Keys that only ever grow, as those of Events, leave full blocks behind. */
    if (b + 1 == x->blocks.n)
        half = INDEX_BLOCK_ENTRIES - INDEX_BLOCK_ENTRIES / 8;
    upper->n = lower->n - half;
    memcpy(upper->at, lower->at + half, upper->n * sizeof(upper->at[0]));
    lower->n = half;
    vec_insert(&x->blocks, b + 1, upper);
}

struct index_entry *index_add(struct index *x, struct store_item *own_newest)
{
    struct index_entry *entry = mem_zalloc(sizeof(*entry));
    struct str key = store_item_key(own_newest);
    entry->newest = own_newest;
    if (x->blocks.n == 0)
        vec_push(&x->blocks, mem_zalloc(sizeof(struct index_block)));
    size_t b = find_block(x, key);
    if (x->blocks.at[b]->n == INDEX_BLOCK_ENTRIES) {
        split_block(x, b);
        b = find_block(x, key);
    }
    struct index_block *block = x->blocks.at[b];
    uint32_t i = find_in_block(block, key);
    assert(i == block->n || !str_eq(index_key(block->at[i]), key));
    memmove(block->at + i + 1, block->at + i, (block->n - i) * sizeof(block->at[0]));
    block->at[i] = entry;
    block->n++;
    x->n++;
    return entry;
}

void index_remove(struct index *x, struct str key)
{
    struct index_place p = index_seek(x, key);
    struct index_block *block = x->blocks.at[p.block];
    struct index_entry *entry = block->at[p.at];
    assert(str_eq(index_key(entry), key));
    assert(!heap_has(&entry->expiry));
    block->n--;
    memmove(block->at + p.at, block->at + p.at + 1, (block->n - p.at) * sizeof(block->at[0]));
    if (block->n == 0) {
        vec_remove(&x->blocks, p.block);
        free(block);
    }
    store_item_unref(entry->item);
    store_item_unref(entry->newest);
    free(entry);
    x->n--;
}
