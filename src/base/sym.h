/* base/sym.h - interning: every distinct text is one small number, so that texts compare as numbers.
 *
 * A sym is a dense index: columns and bitsets may be sized by sym_limit. Syms are counted: sym_intern and
 * sym_ref take a reference, sym_unref gives one back, and with the last one the text is freed and the
 * number goes to the next new text. So a sym means something only while a reference is held.
 * SYM_EMPTY is the empty text; it and what sym_intern_static returned are permanent (ref and unref do
 * nothing). A count that reaches its maximum makes the text permanent too.
 *
 * Memory per text: its bytes and a NUL, rounded up to 8; 16 bytes; and 8-byte hash slots, of which three
 * eighths to three quarters are used. Freed room is kept for texts of the same size; the table never shrinks.
 *
 * Thread: one owner. Others may call sym_text only while the owner is held off the table.
 * Owns: copies of the texts. A text from sym_text lives as long as a reference to its sym. */
#pragma once

#include <assert.h>

#include "base/arena.h"
#include "base/hash.h"

typedef uint32_t sym;

#define SYM_EMPTY ((sym)0)
#define SYM_NONE ((sym)UINT32_MAX)

enum { SYM_STEP_BYTES = 8, SYM_N_STEPS = 32 }; /* texts over 8 * 32 bytes get a block of their own */

struct sym_entry {
    char *text; /* terminated; NULL while the number is free */
    uint32_t n_bytes;
    uint32_t n_refs; /* of a free number: the next free one */
};

struct sym_slot {
    uint32_t hash;
    sym id; /* SYM_NONE = empty */
};

struct sym_table {
    struct sym_entry *entries; /* by sym */
    struct sym_slot *slots;    /* mask + 1, linear probing */
    uint32_t mask;
    uint32_t n_entries, entries_cap;
    uint32_t n_live;
    sym free_head;
    size_t large_bytes; /* in blocks of their own */
    struct arena small; /* all other texts */
    void *free_small[SYM_N_STEPS + 1];
    struct hash_seed seed;      /* for others, who hash texts of this table: it stays the same */
    struct hash_seed slot_seed; /* of the slots; another one when texts were chosen to meet, see map.h */
    uint32_t n_reseeded;
};

void sym_init(struct sym_table *t);
void sym_fini(struct sym_table *t);

/* Takes a reference. */
sym sym_intern(struct sym_table *t, struct str text);
/* Permanent: for well-known names. */
sym sym_intern_static(struct sym_table *t, struct str text);
/* Takes no reference; SYM_NONE when the text is not there. */
sym sym_find(const struct sym_table *t, struct str text);

sym sym_ref(struct sym_table *t, sym id);
void sym_unref(struct sym_table *t, sym id);

/* Terminated by a NUL that does not count. */
static inline struct str sym_text(const struct sym_table *t, sym id)
{
    assert(id < t->n_entries);
    assert(t->entries[id].text);
    return (struct str){ t->entries[id].text, t->entries[id].n_bytes };
}

/* Every sym is smaller than this. */
static inline uint32_t sym_limit(const struct sym_table *t)
{
    return t->n_entries;
}

static inline uint32_t sym_n_live(const struct sym_table *t)
{
    return t->n_live;
}

/* All memory of the table. */
size_t sym_bytes(const struct sym_table *t);
