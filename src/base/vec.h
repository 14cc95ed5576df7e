/* base/vec.h - growable arrays of any type.
 *
 *     VEC(struct pod *) pods = { 0 };
 *     vec_push(&pods, pod);
 *     for (size_t i = 0; i < pods.n; i++)
 *         use(pods.at[i]);
 *     vec_fini(&pods);
 *
 * A zeroed vector is empty and owns nothing. Elements move when it grows, so pointers to them last until
 * the next push. The vector argument of each macro is evaluated several times: pass a plain lvalue's address.
 * To hand a vector to a function, name its type: `typedef VEC(int) int_vec;`.
 *
 * Thread: one at a time.    Owns: the array, not what elements point to. */
#pragma once

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define VEC(type)                                                                          \
    struct {                                                                               \
        type *at;                                                                          \
        size_t n, cap;                                                                     \
    }

enum { VEC_FIRST = 8 };

/* At least `want` elements of room; at least doubles. */
static inline void *vec_grown(void *at, size_t *cap, size_t want, size_t size)
{
    size_t new_cap = *cap ? *cap * 2 : VEC_FIRST;
    if (new_cap < want)
        new_cap = want;
    *cap = new_cap;
    return mem_realloc(at, mem_product(new_cap, size));
}

/* Room for `extra` more, so that as many pushes do not move anything. */
#define vec_reserve(v, extra)                                                              \
    do {                                                                                   \
        size_t want_ = (v)->n + (extra);                                                   \
        if (want_ > (v)->cap)                                                              \
            (v)->at = vec_grown((v)->at, &(v)->cap, want_, sizeof(*(v)->at));              \
    } while (0)

#define vec_push(v, ...)                                                                   \
    do {                                                                                   \
        vec_reserve((v), 1);                                                               \
        (v)->at[(v)->n++] = (__VA_ARGS__);                                                 \
    } while (0)

/* The last element, taken off. */
#define vec_pop(v) (assert((v)->n > 0), (v)->at[--(v)->n])
#define vec_last(v) (assert((v)->n > 0), &(v)->at[(v)->n - 1])

/* Puts an element before index i, the rest moves up. */
#define vec_insert(v, i, ...)                                                              \
    do {                                                                                   \
        size_t at_ = (i);                                                                  \
        assert(at_ <= (v)->n);                                                             \
        vec_reserve((v), 1);                                                               \
        memmove((v)->at + at_ + 1, (v)->at + at_, ((v)->n - at_) * sizeof(*(v)->at));      \
        (v)->at[at_] = (__VA_ARGS__);                                                      \
        (v)->n++;                                                                          \
    } while (0)

/* Takes out index i, order kept. */
#define vec_remove(v, i)                                                                   \
    do {                                                                                   \
        size_t at_ = (i);                                                                  \
        assert(at_ < (v)->n);                                                              \
        (v)->n--;                                                                          \
        memmove((v)->at + at_, (v)->at + at_ + 1, ((v)->n - at_) * sizeof(*(v)->at));      \
    } while (0)

/* Takes out index i in constant time: the last element takes its place. */
#define vec_remove_swap(v, i)                                                              \
    do {                                                                                   \
        size_t at_ = (i);                                                                  \
        assert(at_ < (v)->n);                                                              \
        (v)->at[at_] = (v)->at[--(v)->n];                                                  \
    } while (0)

/* Empty; the memory stays for reuse. */
#define vec_reset(v) ((void)((v)->n = 0))

#define vec_fini(v)                                                                        \
    do {                                                                                   \
        free((v)->at);                                                                     \
        (v)->at = NULL;                                                                    \
        (v)->n = (v)->cap = 0;                                                             \
    } while (0)
