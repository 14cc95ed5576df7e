/* base/rand.h - random numbers that repeat: the same seed gives the same sequence on every machine.
 *
 * xoshiro256**, its state filled by splitmix64. Not for secrets.
 * Thread: one at a time; every user has its own state. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rand {
    uint64_t state[4];
};

void rand_init(struct rand *r, uint64_t seed);
uint64_t rand_u64(struct rand *r);
/* 0 to n - 1, each exactly as likely; n is not 0. */
uint64_t rand_below(struct rand *r, uint64_t n);
/* 0 <= x < 1, with 53 random bits. */
double rand_double(struct rand *r);
/* Every order of the n elements of `size` bytes is equally likely. */
void rand_shuffle(struct rand *r, void *elements, size_t n, size_t size);
