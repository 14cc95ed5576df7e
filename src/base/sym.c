/* base/sym.c - see sym.h.
 *
 * Small texts come from an arena in steps of 8 bytes, with a list of free pieces per size; a free piece
 * holds the pointer to the next. Slots carry 32 bits of the hash: a probe compares a text only when those
 * agree, and growing or removing never hashes again. Only texts that were chosen to meet make it hash all anew. */
#include "base/sym.h"

#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 64 };

#define PERMANENT UINT32_MAX

/* ---- Texts ---- */

static size_t n_steps(size_t n_bytes)
{
    return n_bytes / SYM_STEP_BYTES + 1; /* with the NUL */
}

/* The arena rounds to 16, so pieces of an odd number of steps are cut in pairs. */
static char *new_piece(struct sym_table *t, size_t steps)
{
    size_t size = steps * SYM_STEP_BYTES;
    char *piece = arena_alloc(&t->small, steps % 2 ? 2 * size : size);
    if (steps % 2) {
        char *twin = piece + size;
        memcpy(twin, &t->free_small[steps], sizeof(void *));
        t->free_small[steps] = twin;
    }
    return piece;
}

static char *text_alloc(struct sym_table *t, size_t n_bytes)
{
    size_t steps = n_steps(n_bytes);
    if (steps > SYM_N_STEPS) {
        t->large_bytes += n_bytes + 1;
        return mem_alloc(n_bytes + 1);
    }
    char *piece = t->free_small[steps];
    if (!piece)
        return new_piece(t, steps);
    memcpy(&t->free_small[steps], piece, sizeof(void *));
    return piece;
}

static void text_free(struct sym_table *t, char *text, size_t n_bytes)
{
    size_t steps = n_steps(n_bytes);
    if (steps > SYM_N_STEPS) {
        t->large_bytes -= n_bytes + 1;
        free(text);
        return;
    }
    memcpy(text, &t->free_small[steps], sizeof(void *));
    t->free_small[steps] = text;
}

/* ---- Numbers ---- */

static sym take_id(struct sym_table *t)
{
    sym id = t->free_head;
    if (id != SYM_NONE) {
        t->free_head = t->entries[id].n_refs;
        return id;
    }
    if (t->n_entries == t->entries_cap) {
        assert(t->entries_cap < UINT32_MAX / 2);
        t->entries_cap = t->entries_cap ? t->entries_cap * 2 : FIRST_SLOTS;
        t->entries = mem_realloc(t->entries, mem_product(t->entries_cap, sizeof(*t->entries)));
    }
    return t->n_entries++;
}

static sym add_entry(struct sym_table *t, struct str text)
{
    sym id = take_id(t);
    char *copy = text_alloc(t, text.n);
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    t->entries[id] = (struct sym_entry){ copy, (uint32_t)text.n, 0 };
    t->n_live++;
    return id;
}

static void drop_entry(struct sym_table *t, sym id)
{
    struct sym_entry *e = &t->entries[id];
    text_free(t, e->text, e->n_bytes);
    *e = (struct sym_entry){ .n_refs = t->free_head };
    t->free_head = id;
    t->n_live--;
}

/* ---- Slots ---- */

/* The slot of the text or the empty one where it would go. */
static inline struct sym_slot *slot_of_text(const struct sym_table *t, struct str text, uint32_t hash)
{
    for (uint32_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        struct sym_slot *slot = &t->slots[i];
        if (slot->id == SYM_NONE)
            return slot;
        const struct sym_entry *e = &t->entries[slot->id];
        if (slot->hash == hash && e->n_bytes == text.n && memcmp(e->text, text.p, text.n) == 0)
            return slot;
    }
}

static void set_slots(struct sym_table *t, uint32_t n_slots)
{
    t->slots = mem_alloc(mem_product(n_slots, sizeof(*t->slots)));
    memset(t->slots, 0xFF, n_slots * sizeof(*t->slots)); /* all SYM_NONE */
    t->mask = n_slots - 1;
}

/* Their number is n_slots afterwards. */
static void move_slots(struct sym_table *t, uint32_t n_slots)
{
    struct sym_slot *old = t->slots;
    uint32_t n_old = t->mask + 1;
    set_slots(t, n_slots);
    for (uint32_t k = 0; k < n_old; k++) {
        if (old[k].id == SYM_NONE)
            continue;
        uint32_t i = old[k].hash & t->mask;
        while (t->slots[i].id != SYM_NONE)
            i = (i + 1) & t->mask;
        t->slots[i] = old[k];
    }
    free(old);
}

static void grow_slots(struct sym_table *t)
{
    assert(t->mask < UINT32_MAX / 2);
    move_slots(t, (t->mask + 1) * 2);
}

/* Whether the slot is so far from its home that its text was chosen to meet others. */
static bool wants_seed(const struct sym_table *t, const struct sym_slot *slot, uint32_t hash)
{
    uint32_t at = (uint32_t)(slot - t->slots);
    return ((at - hash) & t->mask) > HASH_PROBE_MAX && t->n_live / 2 >= t->n_reseeded;
}

static void reseed(struct sym_table *t)
{
    t->n_reseeded = t->n_live;
    t->slot_seed = hash_seed_after(t->slot_seed);
    for (uint32_t i = 0; i <= t->mask; i++)
        if (t->slots[i].id != SYM_NONE)
            t->slots[i].hash = (uint32_t)hash_str(&t->slot_seed, sym_text(t, t->slots[i].id));
    move_slots(t, t->mask + 1);
}

/* Moves followers back over the hole as long as it lies on their way from home. */
static void drop_slot(struct sym_table *t, uint32_t hole)
{
    for (uint32_t i = hole; i = (i + 1) & t->mask, t->slots[i].id != SYM_NONE;) {
        uint32_t home = t->slots[i].hash & t->mask;
        if (((i - home) & t->mask) >= ((i - hole) & t->mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->slots[hole].id = SYM_NONE;
}

/* ---- The table ---- */

void sym_init(struct sym_table *t)
{
    *t = (struct sym_table){ .free_head = SYM_NONE, .seed = hash_seed(), .slot_seed = hash_seed() };
    arena_init(&t->small);
    set_slots(t, FIRST_SLOTS);
    sym empty = sym_intern_static(t, STR(""));
    assert(empty == SYM_EMPTY);
}

void sym_fini(struct sym_table *t)
{
    for (sym id = 0; id < t->n_entries; id++)
        if (t->entries[id].text && n_steps(t->entries[id].n_bytes) > SYM_N_STEPS)
            free(t->entries[id].text);
    free(t->entries);
    free(t->slots);
    arena_fini(&t->small);
    *t = (struct sym_table){ 0 };
}

sym sym_find(const struct sym_table *t, struct str text)
{
    if (text.n == 0)
        return SYM_EMPTY;
    return slot_of_text(t, text, (uint32_t)hash_str(&t->slot_seed, text))->id;
}

static inline sym intern(struct sym_table *t, struct str text)
{
    assert(text.n < UINT32_MAX);
    if (!text.p)
        text = STR("");
    uint32_t hash = (uint32_t)hash_str(&t->slot_seed, text);
    struct sym_slot *slot = slot_of_text(t, text, hash);
    if (slot->id != SYM_NONE)
        return slot->id;
    sym id = add_entry(t, text);
    *slot = (struct sym_slot){ hash, id };
    if (wants_seed(t, slot, hash))
        reseed(t);
    if (t->n_live > t->mask - t->mask / 4)
        grow_slots(t);
    return id;
}

static inline sym take_ref(struct sym_table *t, sym id)
{
    struct sym_entry *e = &t->entries[id];
    if (e->n_refs != PERMANENT)
        e->n_refs++;
    return id;
}

sym sym_intern(struct sym_table *t, struct str text)
{
    return take_ref(t, intern(t, text));
}

sym sym_intern_static(struct sym_table *t, struct str text)
{
    sym id = intern(t, text);
    t->entries[id].n_refs = PERMANENT;
    return id;
}

sym sym_ref(struct sym_table *t, sym id)
{
    assert(id < t->n_entries);
    assert(t->entries[id].text);
    return take_ref(t, id);
}

static void drop(struct sym_table *t, sym id)
{
    struct str text = { t->entries[id].text, t->entries[id].n_bytes };
    drop_slot(t, (uint32_t)(slot_of_text(t, text, (uint32_t)hash_str(&t->slot_seed, text)) - t->slots));
    drop_entry(t, id);
}

void sym_unref(struct sym_table *t, sym id)
{
    assert(id < t->n_entries);
    struct sym_entry *e = &t->entries[id];
    assert(e->text);
    if (e->n_refs == PERMANENT)
        return;
    assert(e->n_refs > 0);
    if (--e->n_refs == 0)
        drop(t, id);
}

size_t sym_bytes(const struct sym_table *t)
{
    return t->small.n_bytes + t->large_bytes + t->entries_cap * sizeof(*t->entries)
         + ((size_t)t->mask + 1) * sizeof(*t->slots);
}
