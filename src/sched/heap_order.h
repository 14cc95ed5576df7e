/* sched/heap_order.h - the order in which upstream's heap gives out equal totals.
 *
 * The list of feasible nodes is laid out as a binary tree (children of i are 2i+1 and 2i+2); node
 * before left before right. Of two places the order does not depend on the length of the list. */
#pragma once

#include <stdint.h>

/* Smaller comes first: the path from the root, left-aligned, then its length. */
static inline uint64_t heap_order_key(uint32_t index)
{
    uint64_t place = (uint64_t)index + 1;
    unsigned length = 63 - (unsigned)__builtin_clzll(place);
    uint64_t path = place ^ 1ull << length;
    return path << (40 - length) << 8 | length;
}

/* Numbers the first n indexes in that order, into places[]; and the least number among each 64 of them,
 * into least[]. */
void heap_order_fill(uint32_t *places, uint32_t *least, uint32_t n);
