/* base/map.h - hash maps from numbers and from texts, open addressing, seeded.
 *
 *     struct map_u64 pods;
 *     map_u64_init(&pods);
 *     map_u64_put(&pods, uid, NULL)->ptr = pod;
 *     union map_value *v = map_u64_find(&pods, uid);
 *
 * A value is a pointer or a number. Slots form a power of two, at most three quarters are used, linear
 * probing; removing moves the followers back, so there are no tombstones and a map that lives long stays as
 * fast as a new one. When a key has to go HASH_PROBE_MAX slots from its place, keys were chosen to meet: the map takes
 * another seed, once for each doubling of its entries. The memory stays at the largest size reached until map_*_fini.
 * Pointers to values and slots last until the next put or remove. The order of iteration is no part of
 * the contract. To walk: for (struct map_u64_slot *s = NULL; (s = map_u64_next(&m, s));). The body may
 * change values, but not put or remove.
 *
 * Thread: one at a time, or readers only.    Owns: its slots; keys that are texts are borrowed, they must
 * live as long as their entry. */
#pragma once

#include "base/hash.h"

union map_value {
    void *ptr;
    const void *const_ptr;
    uint64_t num;
};

/* ---- From numbers ---- */

#define MAP_NO_KEY UINT64_MAX /* the one number that is no key; marks empty slots */

struct map_u64_slot {
    uint64_t key;
    union map_value value;
};

struct map_u64 {
    struct map_u64_slot *slots; /* mask + 1 of them; NULL before the first put */
    uint32_t n, mask;
    uint32_t n_reseeded; /* entries when it took its seed; 0: still the first one */
    struct hash_seed seed;
};

void map_u64_init(struct map_u64 *m);
void map_u64_fini(struct map_u64 *m);

/* The slot of the key or the empty one where it would go. The map has slots. */
static inline struct map_u64_slot *map_u64_slot(const struct map_u64 *m, uint64_t key)
{
    uint32_t i = (uint32_t)hash_u64(&m->seed, key) & m->mask;
    while (m->slots[i].key != key && m->slots[i].key != MAP_NO_KEY)
        i = (i + 1) & m->mask;
    return &m->slots[i];
}

/* NULL when absent. */
static inline union map_value *map_u64_find(const struct map_u64 *m, uint64_t key)
{
    if (m->n == 0)
        return NULL;
    struct map_u64_slot *slot = map_u64_slot(m, key);
    return slot->key == MAP_NO_KEY ? NULL : &slot->value;
}

/* The value of the key; a new one is zero and sets *ret_new (may be NULL). */
union map_value *map_u64_put(struct map_u64 *m, uint64_t key, bool *ret_new);
/* Whether it was there; its value goes to ret_value (may be NULL). */
bool map_u64_remove(struct map_u64 *m, uint64_t key, union map_value *ret_value);
/* The slot after `slot`, the first one after NULL; NULL at the end. */
struct map_u64_slot *map_u64_next(const struct map_u64 *m, const struct map_u64_slot *slot);

/* ---- From texts ---- */

struct map_str_slot {
    const char *key; /* NULL = empty slot */
    uint32_t n_bytes, hash;
    union map_value value;
};

struct map_str {
    struct map_str_slot *slots;
    uint32_t n, mask;
    uint32_t n_reseeded;
    struct hash_seed seed;
};

static inline struct str map_str_key(const struct map_str_slot *slot)
{
    return (struct str){ slot->key, slot->n_bytes };
}

void map_str_init(struct map_str *m);
void map_str_fini(struct map_str *m);
/* The same entries; keys stay borrowed from where they are. `to` is a map without entries. */
void map_str_copy(struct map_str *to, const struct map_str *from);
union map_value *map_str_find(const struct map_str *m, struct str key);
/* A new entry borrows the key; one that exists keeps the key it has. */
union map_value *map_str_put(struct map_str *m, struct str key, bool *ret_new);
bool map_str_remove(struct map_str *m, struct str key, union map_value *ret_value);
struct map_str_slot *map_str_next(const struct map_str *m, const struct map_str_slot *slot);
