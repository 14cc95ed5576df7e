/* base/mem.h - malloc that does not fail: running out of memory ends the process.
 *
 * A size that a peer can choose is checked against a named limit before it comes here.
 * Thread: any. */
#pragma once

#include <stddef.h>

void *mem_alloc(size_t n);             /* not zeroed */
void *mem_zalloc(size_t n);
void *mem_realloc(void *p, size_t n);

_Noreturn void mem_overflow(size_t a, size_t b);
/* Ends the process on overflow. */
static inline size_t mem_product(size_t a, size_t b)
{
    size_t n;
    if (__builtin_mul_overflow(a, b, &n))
        mem_overflow(a, b);
    return n;
}
