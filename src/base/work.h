/* base/work.h - how long a body may be, and how much may be done about it.
 *
 * Whoever takes in a body says how long it may be and hands the same struct to everything that reads the body. The
 * first reader sets the budget from the length; each charges what it visits, so that the bytes of a body are gone
 * over some tens of times at most, however they are made up. Parts that work in proportion to their text charge it
 * once, at the beginning; only what can go back, copy or expand charges as it goes.
 *
 *     struct work work = work_init(REQUEST_BYTES_MAX);
 *     if (json_decode(a, &work, type, body, NULL, &value, e)) ...
 *
 * Thread: one at a time; one for each body. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Honest bodies stay far below: one pass, a second for errors, a third for a patch. The free part lets small ones
 * expand, as YAML with aliases does. */
enum { WORK_PER_BYTE = 64, WORK_FREE_BYTES = 1 << 20 };

struct work {
    size_t bytes_max; /* of the body */
    uint64_t left;    /* bytes that may still be visited */
    bool begun;
};

static inline struct work work_init(size_t bytes_max)
{
    return (struct work){ .bytes_max = bytes_max };
}

/* For a text that is our own, of any length. */
#define WORK_OWN (&(struct work){ .bytes_max = SIZE_MAX })

/* Something that reads n_bytes begins: the body itself, whose length is checked, or later what was made of it. */
enum err_code work_begin(struct work *w, size_t n_bytes, struct err *e) ERR_MUST_CHECK;
/* The body is applied to n_bytes of ours, which may be visited as often as its own. */
void work_extend(struct work *w, size_t n_bytes);

/* False when that is more than is left; then nothing is left. */
static inline bool work_take(struct work *w, uint64_t n_bytes)
{
    bool enough = n_bytes <= w->left;
    w->left = enough ? w->left - n_bytes : 0;
    return enough;
}

/* What sorting n texts takes: each is looked at once for every halving. n_bytes has one more for each text. */
static inline uint64_t work_of_sorting(size_t n, uint64_t n_bytes)
{
    return n > 1 ? n_bytes * (uint64_t)(64 - __builtin_clzll(n - 1)) : 0;
}

/* What to say then. */
enum err_code work_error(struct err *e);
