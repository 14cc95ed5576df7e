/* base/arena_array.h - arrays that grow inside an arena.
 *
 * The old array stays behind in the arena when a larger one is taken; as the capacity doubles, that is
 * less than the final size. The counts belong to the caller.
 *
 * Thread: as the arena. */
#pragma once

#include "base/arena.h"

enum { ARENA_ARRAY_FIRST = 4 };

/* `at` with room for at least one item more than `n`; moves it when `*cap` is reached. */
static inline void *arena_array_more(struct arena *a, void *at, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return at;
    size_t larger = *cap ? *cap * 2 : ARENA_ARRAY_FIRST;
    void *copy = arena_zalloc_n(a, larger, size);
    if (n)
        memcpy(copy, at, n * size);
    *cap = larger;
    return copy;
}
