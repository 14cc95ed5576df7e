/* base/bitset.h - sets of small numbers, a bit each, in arrays of 64-bit words.
 *
 * The caller holds the words (bitset_words says how many) and passes their number where it is needed.
 * Bits past the last member are kept 0 by bitset_fill; count, next and any take every set bit of the words.
 * To walk a set: for (size_t i = bitset_next(w, n, 0); i < BITSET_END; i = bitset_next(w, n, i + 1)).
 *
 * Thread: one at a time, or readers only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BITSET_END SIZE_MAX

static inline size_t bitset_words(size_t n_bits)
{
    return n_bits / 64 + (n_bits % 64 != 0);
}

static inline void bitset_set(uint64_t *words, size_t bit)
{
    words[bit / 64] |= 1ull << (bit % 64);
}

static inline void bitset_clear(uint64_t *words, size_t bit)
{
    words[bit / 64] &= ~(1ull << (bit % 64));
}

static inline void bitset_put(uint64_t *words, size_t bit, bool on)
{
    words[bit / 64] = (words[bit / 64] & ~(1ull << (bit % 64))) | (uint64_t)on << (bit % 64);
}

static inline bool bitset_test(const uint64_t *words, size_t bit)
{
    return words[bit / 64] >> (bit % 64) & 1;
}

static inline void bitset_zero(uint64_t *words, size_t n_words)
{
    if (n_words)
        memset(words, 0, n_words * sizeof(*words));
}

/* Exactly 0 to n_bits - 1. */
static inline void bitset_fill(uint64_t *words, size_t n_words, size_t n_bits)
{
    size_t n_full = n_bits / 64;
    for (size_t i = 0; i < n_words; i++)
        words[i] = i < n_full ? UINT64_MAX : 0;
    if (n_bits % 64)
        words[n_full] = (1ull << (n_bits % 64)) - 1;
}

static inline void bitset_copy(uint64_t *restrict to, const uint64_t *restrict from, size_t n_words)
{
    if (n_words)
        memcpy(to, from, n_words * sizeof(*to));
}

static inline void bitset_and(uint64_t *restrict to, const uint64_t *restrict with, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        to[i] &= with[i];
}

static inline void bitset_or(uint64_t *restrict to, const uint64_t *restrict with, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        to[i] |= with[i];
}

static inline void bitset_andnot(uint64_t *restrict to, const uint64_t *restrict without, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        to[i] &= ~without[i];
}

static inline bool bitset_equal(const uint64_t *a, const uint64_t *b, size_t n_words)
{
    return n_words == 0 || memcmp(a, b, n_words * sizeof(*a)) == 0;
}

static inline bool bitset_any(const uint64_t *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (words[i])
            return true;
    return false;
}

/* Sums of neighbouring bits, pairs and nibbles, then of the bytes. Plain arithmetic vectorizes: on the
 * x86-64 baseline, which has no popcnt, it takes half the time of the compiler's builtin. */
static inline unsigned bitset_popcount(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (unsigned)(x * 0x0101010101010101u >> 56);
}

static inline size_t bitset_count(const uint64_t *words, size_t n_words)
{
    size_t n = 0;
    for (size_t i = 0; i < n_words; i++)
        n += bitset_popcount(words[i]);
    return n;
}

/* The first member that is `from` or larger, or BITSET_END. */
static inline size_t bitset_next(const uint64_t *words, size_t n_words, size_t from)
{
    size_t i = from / 64;
    if (i >= n_words)
        return BITSET_END;
    uint64_t word = words[i] & UINT64_MAX << (from % 64);
    while (!word) {
        if (++i == n_words)
            return BITSET_END;
        word = words[i];
    }
    return i * 64 + (size_t)__builtin_ctzll(word);
}
