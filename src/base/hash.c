/* base/hash.c - see hash.h. SipHash as its authors describe it, one round a word and three to finish. */
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

static uint64_t rotl(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

struct sip {
    uint64_t a, b, c, d;
};

static inline void sip_round(struct sip *s)
{
    s->a += s->b;
    s->b = rotl(s->b, 13) ^ s->a;
    s->a = rotl(s->a, 32);
    s->c += s->d;
    s->d = rotl(s->d, 16) ^ s->c;
    s->a += s->d;
    s->d = rotl(s->d, 21) ^ s->a;
    s->c += s->b;
    s->b = rotl(s->b, 17) ^ s->c;
    s->c = rotl(s->c, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

static inline uint64_t load_le(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

/* The last 0 to 7 bytes at p, the length in the top byte. A text of 8 or more is read back from its end. */
static inline uint64_t last_word(const unsigned char *p, size_t n)
{
    uint64_t word = (uint64_t)n << 56;
    size_t rest = n & 7;
    if (n >= 8 && rest)
        return word | load_le(p + rest - 8) >> (64 - 8 * rest);
    for (size_t i = 0; i < rest; i++)
        word |= (uint64_t)p[i] << (8 * i);
    return word;
}

uint64_t hash_bytes(const struct hash_seed *seed, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    struct sip s = {
        seed->k0 ^ 0x736F6D6570736575u,
        seed->k1 ^ 0x646F72616E646F6Du,
        seed->k0 ^ 0x6C7967656E657261u,
        seed->k1 ^ 0x7465646279746573u,
    };
    for (size_t i = n / 8; i > 0; i--, p += 8)
        sip_word(&s, load_le(p));
    sip_word(&s, last_word(p, n));
    s.c ^= 0xFF;
    for (int i = 0; i < 3; i++)
        sip_round(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}
