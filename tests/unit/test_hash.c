/* Hash: every byte and the length count, seeds change everything, texts and numbers spread over the low bits. */
#include "base/hash.h"
#include "tests/test.h"

enum { N_BYTES = 80 };

/* The number of bits that differ; about half of them should. */
static int distance(uint64_t a, uint64_t b)
{
    return __builtin_popcountll(a ^ b);
}

/* Averages over many seeds: one flipped bit at any place of a text of any length turns half of the hash. */
TEST(every_bit_of_a_text_counts)
{
    enum { N_SEEDS = 64 };
    for (size_t n = 1; n <= N_BYTES; n++)
        for (size_t bit = 0; bit < n * 8; bit += 3) {
            int sum = 0;
            for (uint64_t number = 0; number < N_SEEDS; number++) {
                hash_set_seed(number);
                struct hash_seed seed = hash_seed();
                unsigned char text[N_BYTES] = { 0 };
                uint64_t before = hash_bytes(&seed, text, n);
                text[bit / 8] = (unsigned char)(1u << bit % 8);
                sum += distance(before, hash_bytes(&seed, text, n));
            }
            if (sum < 26 * N_SEEDS || sum > 38 * N_SEEDS)
                FAIL("length %zu, bit %zu: %d of 64 bits differ", n, bit, sum / N_SEEDS);
        }
}

TEST(lengths_and_seeds_tell_equal_bytes_apart)
{
    unsigned char text[N_BYTES] = { 0 };
    for (uint64_t number = 0; number < 100; number++) {
        hash_set_seed(number);
        struct hash_seed seed = hash_seed(), other = { seed.k0 ^ 1, seed.k1 }, another = { seed.k0, seed.k1 ^ 1 };
        for (size_t n = 0; n < N_BYTES; n++) {
            uint64_t hash = hash_bytes(&seed, text, n);
            CHECK(hash != hash_bytes(&seed, text, n + 1));
            CHECK(hash != hash_bytes(&other, text, n));
            CHECK(hash != hash_bytes(&another, text, n));
        }
    }
}

/* Names as clusters have them, over as many slots as names: about 1/e of the slots stay empty. */
TEST(names_spread_over_the_slots)
{
    static const char *const forms[] = { "n%d", "node-%d", "pod-%d.zone-a", "%d-a-long-name-of-some-app-in-production" };
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++)
        for (uint64_t number = 0; number < 20; number++) {
            hash_set_seed(number);
            struct hash_seed seed = hash_seed();
            unsigned char hit[4096] = { 0 };
            int n_hit = 0;
            for (int i = 0; i < 4096; i++) {
                char name[64];
                snprintf(name, sizeof(name), forms[f], i);
                unsigned char *slot = &hit[hash_str(&seed, str_of(name)) & 4095];
                n_hit += !*slot;
                *slot = 1;
            }
            if (n_hit < 2400)
                FAIL("\"%s\", seed %d: %d of 4096 slots used", forms[f], (int)number, n_hit);
        }
}

TEST(no_bytes_hash_without_a_pointer)
{
    struct hash_seed seed = { 1, 2 };
    CHECK(hash_str(&seed, (struct str){ NULL, 0 }) == hash_str(&seed, STR("")));
}

TEST(the_seed_is_random_until_it_is_set)
{
    struct hash_seed drawn = hash_seed();
    CHECK(drawn.k0 != 0 || drawn.k1 != 0);
    hash_set_seed(7);
    struct hash_seed first = hash_seed();
    CHECK(first.k0 != drawn.k0 && first.k1 != drawn.k1 && first.k0 != first.k1);
    hash_set_seed(8);
    CHECK(hash_seed().k0 != first.k0 && hash_seed().k1 != first.k1);
    hash_set_seed(7);
    CHECK(hash_seed().k0 == first.k0 && hash_seed().k1 == first.k1);
}

/* Keys that differ only far above the mask must not pile up: 4096 keys over 4096 slots leave about 1/e
 * of the slots empty when they are spread at random. */
TEST(numbers_spread_whatever_bits_they_differ_in)
{
    for (uint64_t number = 0; number < 20; number++) {
        hash_set_seed(number);
        struct hash_seed seed = hash_seed();
        for (int shift = 0; shift <= 52; shift += 4) {
            unsigned char hit[4096] = { 0 };
            int n_hit = 0;
            for (uint64_t i = 0; i < 4096; i++) {
                unsigned char *slot = &hit[hash_u64(&seed, i << shift) & 4095];
                n_hit += !*slot;
                *slot = 1;
            }
            if (n_hit < 2400)
                FAIL("seed %d, shift %d: %d of 4096 slots used", (int)number, shift, n_hit);
        }
    }
}
