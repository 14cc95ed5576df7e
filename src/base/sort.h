/* base/sort.h - a stable sort whose cost no input can spoil.
 *
 * Merge sort: O(n log n) comparisons, O(n) when the items are in order already, scratch memory from an
 * arena that is given back. qsort promises neither stability nor a bound.
 *
 * Thread: as the arena. */
#pragma once

#include "base/arena.h"

typedef int sort_compare(const void *a, const void *b);

/* Items that compare equal keep their order. */
void sort_stable(struct arena *scratch, void *items, size_t n, size_t size, sort_compare *compare);
/* Whether no item is smaller than the one before it. */
bool sort_in_order(const void *items, size_t n, size_t size, sort_compare *compare);
/* Compares two `struct str` by their bytes. */
int sort_compare_strs(const void *a, const void *b);
