/* sched/selector_index.h - finds the selectors that may match given labels without trying all of them.
 *
 * An item is listed under the label pairs of one of its `In` rules (`app=web`; one entry a value), so
 * that a set of labels meets it through the pair it has, at most once. Of several rules the one with
 * the fewest values is taken, then the one whose lists are shortest so far. An item without a usable
 * rule meets every set of labels; one that matches nothing meets none. What is found may match, what is
 * not found does not.
 *
 * Thread: as its owner.    Owns: the lists; items and the syms of their selectors are the caller's. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "forms/match.h"

enum { SELECTOR_INDEX_VALUES_MAX = 8 }; /* of the rule that an item is listed under */

typedef VEC(void *) item_vec;

struct selector_index {
    struct map_u64 by_pair; /* key << 32 | value -> item_vec */
    item_vec rest;          /* items that cannot be listed under a pair */
};

/* Where an item is listed: a rule of its selector, or one of the two below. */
enum { SELECTOR_INDEX_REST = -1, SELECTOR_INDEX_NOWHERE = -2 };

void selector_index_init(struct selector_index *x);
void selector_index_fini(struct selector_index *x);

/* Returns where it is listed, which the caller keeps for the removal. */
int selector_index_add(struct selector_index *x, const struct matcher *selector, void *item);
void selector_index_remove(struct selector_index *x, const struct matcher *selector, int where, void *item);

/* Appends the items that may match. */
void selector_index_find(const struct selector_index *x, struct label_set labels, item_vec *to);
