/* base/map.c - see map.h. Both maps work alike; they differ in what a key is and how it is compared.
 *
 * Invariant: between the slot that a key hashes to and the slot that holds it, no slot is empty. */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 8 };

/* Slots to have before one more entry goes in; the same number when there is room. */
static uint32_t n_slots_for_one_more(bool has_slots, uint32_t n, uint32_t mask)
{
    if (!has_slots)
        return FIRST_SLOTS;
    uint32_t n_slots = mask + 1;
    if (n < n_slots - n_slots / 4)
        return n_slots;
    assert(n_slots <= UINT32_MAX / 2);
    return n_slots * 2;
}

/* Whether the entry at i, whose key hashes to `home`, may move back to the hole: only if the hole lies
 * on its way from home to i. */
static bool may_fill(uint32_t hole, uint32_t home, uint32_t i, uint32_t mask)
{
    return ((i - home) & mask) >= ((i - hole) & mask);
}

/* Whether the entry at `at`, whose key hashes to `home`, is so far off that another seed is due. */
static bool wants_seed(uint32_t at, uint32_t home, uint32_t mask, uint32_t n, uint32_t n_reseeded)
{
    return ((at - home) & mask) > HASH_PROBE_MAX && n / 2 >= n_reseeded;
}

/* ---- From numbers ---- */

void map_u64_init(struct map_u64 *m)
{
    *m = (struct map_u64){ .seed = hash_seed() };
}

void map_u64_fini(struct map_u64 *m)
{
    free(m->slots);
    *m = (struct map_u64){ .seed = m->seed };
}

static void u64_resize(struct map_u64 *m, uint32_t n_slots)
{
    struct map_u64 old = *m;
    m->slots = mem_alloc(mem_product(n_slots, sizeof(*m->slots)));
    m->mask = n_slots - 1;
    for (uint32_t i = 0; i < n_slots; i++)
        m->slots[i].key = MAP_NO_KEY;
    for (uint32_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].key != MAP_NO_KEY)
            *map_u64_slot(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

union map_value *map_u64_put(struct map_u64 *m, uint64_t key, bool *ret_new)
{
    assert(key != MAP_NO_KEY);
    union map_value *found = map_u64_find(m, key);
    if (ret_new)
        *ret_new = !found;
    if (found)
        return found;
    uint32_t n_slots = n_slots_for_one_more(m->slots, m->n, m->mask);
    if (!m->slots || n_slots != m->mask + 1)
        u64_resize(m, n_slots);
    struct map_u64_slot *slot = map_u64_slot(m, key);
    *slot = (struct map_u64_slot){ .key = key };
    m->n++;
    uint32_t home = (uint32_t)hash_u64(&m->seed, key) & m->mask;
    if (!wants_seed((uint32_t)(slot - m->slots), home, m->mask, m->n, m->n_reseeded))
        return &slot->value;
    m->n_reseeded = m->n;
    m->seed = hash_seed_after(m->seed);
    u64_resize(m, m->mask + 1);
    return &map_u64_slot(m, key)->value;
}

bool map_u64_remove(struct map_u64 *m, uint64_t key, union map_value *ret_value)
{
    union map_value *found = map_u64_find(m, key);
    if (!found)
        return false;
    if (ret_value)
        *ret_value = *found;
    uint32_t hole = (uint32_t)(map_u64_slot(m, key) - m->slots);
    for (uint32_t i = hole; i = (i + 1) & m->mask, m->slots[i].key != MAP_NO_KEY;) {
        uint32_t home = (uint32_t)hash_u64(&m->seed, m->slots[i].key) & m->mask;
        if (may_fill(hole, home, i, m->mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole].key = MAP_NO_KEY;
    m->n--;
    return true;
}

struct map_u64_slot *map_u64_next(const struct map_u64 *m, const struct map_u64_slot *slot)
{
    if (m->n == 0)
        return NULL;
    for (uint32_t i = slot ? (uint32_t)(slot - m->slots) + 1 : 0; i <= m->mask; i++)
        if (m->slots[i].key != MAP_NO_KEY)
            return &m->slots[i];
    return NULL;
}

/* ---- From texts ---- */

void map_str_init(struct map_str *m)
{
    *m = (struct map_str){ .seed = hash_seed() };
}

void map_str_fini(struct map_str *m)
{
    free(m->slots);
    *m = (struct map_str){ .seed = m->seed };
}

void map_str_copy(struct map_str *to, const struct map_str *from)
{
    assert(to->n == 0);
    free(to->slots);
    *to = *from;
    if (!from->slots)
        return;
    size_t n_bytes = ((size_t)from->mask + 1) * sizeof(*from->slots);
    to->slots = memcpy(mem_alloc(n_bytes), from->slots, n_bytes);
}

/* The slot of the key or the empty one where it would go. The map has slots. */
static struct map_str_slot *str_slot(const struct map_str *m, struct str key, uint32_t hash)
{
    for (uint32_t i = hash & m->mask;; i = (i + 1) & m->mask) {
        struct map_str_slot *slot = &m->slots[i];
        if (!slot->key || (slot->hash == hash && str_eq(map_str_key(slot), key)))
            return slot;
    }
}

static void str_resize(struct map_str *m, uint32_t n_slots)
{
    struct map_str old = *m;
    m->slots = mem_zalloc(mem_product(n_slots, sizeof(*m->slots)));
    m->mask = n_slots - 1;
    for (uint32_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].key)
            *str_slot(m, map_str_key(&old.slots[i]), old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

/* All entries find other places. */
static void str_reseed(struct map_str *m)
{
    m->n_reseeded = m->n;
    m->seed = hash_seed_after(m->seed);
    for (uint32_t i = 0; i <= m->mask; i++)
        if (m->slots[i].key)
            m->slots[i].hash = (uint32_t)hash_str(&m->seed, map_str_key(&m->slots[i]));
    str_resize(m, m->mask + 1);
}

union map_value *map_str_find(const struct map_str *m, struct str key)
{
    if (m->n == 0)
        return NULL;
    struct map_str_slot *slot = str_slot(m, key, (uint32_t)hash_str(&m->seed, key));
    return slot->key ? &slot->value : NULL;
}

union map_value *map_str_put(struct map_str *m, struct str key, bool *ret_new)
{
    assert(key.n <= UINT32_MAX);
    uint32_t hash = (uint32_t)hash_str(&m->seed, key);
    struct map_str_slot *slot = m->n ? str_slot(m, key, hash) : NULL;
    bool found = slot && slot->key;
    if (ret_new)
        *ret_new = !found;
    if (found)
        return &slot->value;
    uint32_t n_slots = n_slots_for_one_more(m->slots, m->n, m->mask);
    if (!m->slots || n_slots != m->mask + 1)
        str_resize(m, n_slots);
    slot = str_slot(m, key, hash);
    *slot = (struct map_str_slot){ key.p ? key.p : "", (uint32_t)key.n, hash, { 0 } };
    m->n++;
    if (!wants_seed((uint32_t)(slot - m->slots), hash & m->mask, m->mask, m->n, m->n_reseeded))
        return &slot->value;
    str_reseed(m);
    return &str_slot(m, key, (uint32_t)hash_str(&m->seed, key))->value;
}

bool map_str_remove(struct map_str *m, struct str key, union map_value *ret_value)
{
    struct map_str_slot *slot = m->n ? str_slot(m, key, (uint32_t)hash_str(&m->seed, key)) : NULL;
    if (!slot || !slot->key)
        return false;
    if (ret_value)
        *ret_value = slot->value;
    uint32_t hole = (uint32_t)(slot - m->slots);
    for (uint32_t i = hole; i = (i + 1) & m->mask, m->slots[i].key;)
        if (may_fill(hole, m->slots[i].hash & m->mask, i, m->mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    m->slots[hole].key = NULL;
    m->n--;
    return true;
}

struct map_str_slot *map_str_next(const struct map_str *m, const struct map_str_slot *slot)
{
    if (m->n == 0)
        return NULL;
    for (uint32_t i = slot ? (uint32_t)(slot - m->slots) + 1 : 0; i <= m->mask; i++)
        if (m->slots[i].key)
            return &m->slots[i];
    return NULL;
}
