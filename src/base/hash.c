/* base/hash.c - see hash.h. */
#include "base/hash.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static struct hash_seed process_seed; /* written at start and by hash_set_seed, before threads */

__attribute__((constructor)) static void draw_seed(void)
{
    if (getrandom(&process_seed, sizeof(process_seed), 0) != (ssize_t)sizeof(process_seed)) {
        perror("berth: getrandom");
        abort();
    }
}

struct hash_seed hash_seed(void)
{
    return process_seed;
}

/* The output function of splitmix64: distinct inputs give distinct, well mixed outputs. */
static uint64_t spread(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

void hash_set_seed(uint64_t number)
{
    const uint64_t step = 0x9E3779B97F4A7C15u;
    process_seed = (struct hash_seed){ spread(number + step), spread(number + 2 * step) };
}

struct hash_seed hash_seed_after(struct hash_seed seed)
{
    return (struct hash_seed){ spread(hash_fold(seed.k0 ^ 0x9E3779B97F4A7C15u, seed.k1 | 1)),
                               spread(hash_fold(seed.k1 ^ 0xD6E8FEB86659FD93u, seed.k0 | 1)) };
}

static inline uint64_t load_8(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

static inline uint64_t load_4(const unsigned char *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof(word));
    return le32toh(word);
}

/* Up to 16 bytes in two words, which overlap when there are fewer; the length tells them apart. */
static inline void load_short(const unsigned char *p, size_t n, uint64_t *ret_first, uint64_t *ret_last)
{
    if (n >= 8) {
        *ret_first = load_8(p);
        *ret_last = load_8(p + n - 8);
    } else if (n >= 4) {
        *ret_first = load_4(p);
        *ret_last = load_4(p + n - 4);
    } else {
        *ret_first = n ? (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1] : 0;
        *ret_last = 0;
    }
}

uint64_t hash_bytes(const struct hash_seed *seed, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t state = seed->k1, first, last;
    size_t left = n;
    for (; left > 16; left -= 16, p += 16)
        state = hash_fold(load_8(p) ^ seed->k0, load_8(p + 8) ^ state);
    load_short(p, left, &first, &last);
    return hash_fold(hash_fold(first ^ seed->k0, last ^ state) ^ seed->k1, n ^ 0x9E3779B97F4A7C15u);
}
