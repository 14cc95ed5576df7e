/* store/index.h - keys in order, each with its entry.
 *
 * Two levels: a directory of blocks, a block holds up to INDEX_BLOCK_ENTRIES pointers in order of their keys. A lookup
 * is two binary searches, a walk is a walk over arrays, and how many keys lie in a range is known without visiting
 * them all. An insertion moves at most one block and, once in many, the directory: with a million keys that
 * is 4,000 pointers.
 *
 * Thread: one at a time.    Owns: the entries. */
#pragma once

#include "base/heap.h"
#include "base/vec.h"
#include "store/item.h"

enum { INDEX_BLOCK_ENTRIES = 512 };

/* A key that exists, or that a commit under way touches. */
struct index_entry {
    struct store_item *item;   /* what can be read; NULL = the key does not exist (yet) */
    struct store_item *newest; /* of the last commit under way; may be a deletion; NULL = none is under way */
    int64_t deadline_ms;       /* monotonic; when in the heap of those that expire */
    struct heap_node expiry;
};

struct index_block {
    uint32_t n;
    struct index_entry *at[INDEX_BLOCK_ENTRIES];
};

struct index {
    VEC(struct index_block *) blocks; /* none is empty */
    size_t n;
};

/* Where a walk is; block == blocks.n at the end. */
struct index_place {
    size_t block;
    uint32_t at;
};

void index_init(struct index *x);
/* Entries go with their items. */
void index_fini(struct index *x);

/* NULL: there is none. */
struct index_entry *index_find(const struct index *x, struct str key);
/* The item names the key and is `newest`; the key must not be there. */
struct index_entry *index_add(struct index *x, struct store_item *own_newest);
/* With its items; it must not be in the heap any more. */
void index_remove(struct index *x, struct str key);

/* The first entry whose key is not below `key`. */
struct index_place index_seek(const struct index *x, struct str key);
/* The entry there, NULL at the end. */
struct index_entry *index_at(const struct index *x, struct index_place p);
void index_step(const struct index *x, struct index_place *p);
/* How many entries lie between two places. */
size_t index_distance(const struct index *x, struct index_place from, struct index_place to);

struct str index_key(const struct index_entry *entry);
