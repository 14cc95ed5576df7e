/* base/rand.c - see rand.h. */
#include "base/rand.h"

#include <assert.h>

void rand_init(struct rand *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += 0x9E3779B97F4A7C15u;
        uint64_t x = seed;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
        r->state[i] = x ^ x >> 31;
    }
}

static uint64_t rotl(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

uint64_t rand_u64(struct rand *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotl(s[3], 45);
    return result;
}

/* The high half of x * n is uniform once the low halves below 2^64 mod n are rejected (Lemire). */
uint64_t rand_below(struct rand *r, uint64_t n)
{
    assert(n > 0);
    for (;;) {
        unsigned __int128 product = (unsigned __int128)rand_u64(r) * n;
        uint64_t low = (uint64_t)product;
        if (low >= n || low >= -n % n)
            return (uint64_t)(product >> 64);
    }
}

double rand_double(struct rand *r)
{
    return (double)(rand_u64(r) >> 11) * 0x1p-53;
}

static void swap_bytes(char *a, char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = a[i];
        a[i] = b[i];
        b[i] = c;
    }
}

void rand_shuffle(struct rand *r, void *elements, size_t n, size_t size)
{
    char *at = elements;
    for (size_t i = n; i > 1; i--) {
        size_t k = rand_below(r, i);
        if (k != i - 1)
            swap_bytes(at + (i - 1) * size, at + k * size, size);
    }
}
