/* base/arith.h - arithmetic on numbers that come from outside, defined for all of them.
 *
 * wrap_*: as Go's integers, which wrap around; where upstream computes with amounts, an absurd amount
 * gives the same absurd result. sat_*: stays at the ends; for clocks, where later than ever is never.
 *
 * Thread: any. */
#pragma once

#include <stdint.h>

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* b is not 0. */
static inline int64_t wrap_div(int64_t a, int64_t b)
{
    return b == -1 ? wrap_sub(0, a) : a / b;
}

/* What does not fit, and what is no number, is the smallest one: what the instruction of amd64 does. */
static inline int64_t wrap_double(double x)
{
#ifdef __x86_64__
    int64_t n; /* not the compiler's intrinsic, which it may compute itself, in another way */
    __asm__("cvttsd2si %1, %0" : "=r"(n) : "x"(x));
    return n;
#else
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
#endif
}

static inline int64_t sat_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t sat_sub(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (b > 0 ? INT64_MIN : INT64_MAX) : difference;
}

static inline int64_t sat_mul(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : product;
}
