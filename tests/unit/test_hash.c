/* Hash: SipHash-1-3 against known results, seeds change everything, numbers spread over the low bits. */
#include "base/hash.h"
#include "tests/test.h"

TEST(bytes_hash_as_siphash_1_3)
{
    /* Input 00 01 02 ... of that length; key 00 01 ... 0f. */
    static const struct {
        size_t n;
        uint64_t want;
    } cases[] = {
        { 0, 0xabac0158050fc4dc },  { 1, 0xc9f49bf37d57ca93 },  { 7, 0xd3927d989bb11140 },
        { 8, 0x369095118d299a8e },  { 9, 0x25a48eb36c063de4 },  { 15, 0xd320d86d2a519956 },
        { 16, 0xcc4fdd1a7d908b66 }, { 63, 0x9d199062b7bbb3a8 },
    };
    struct hash_seed seed = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
    unsigned char input[64];
    for (size_t i = 0; i < sizeof(input); i++)
        input[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_INT("hash", hash_bytes(&seed, input, cases[i].n), cases[i].want);
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
