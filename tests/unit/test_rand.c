/* Rand: the known sequence, repeatable, in range, even, shuffles keep the elements. */
#include "base/rand.h"

#include <stdlib.h>

#include "tests/test.h"

TEST(the_sequence_is_xoshiro256_starstar)
{
    struct rand r = { { 1, 2, 3, 4 } };
    static const uint64_t want[] = { 11520, 0, 1509978240, 1215971899390074240 };
    for (int i = 0; i < 4; i++)
        CHECK_INT("next", rand_u64(&r), want[i]);
}

TEST(equal_seeds_repeat_and_others_differ)
{
    struct rand a, b, c;
    rand_init(&a, 0);
    rand_init(&b, 0);
    rand_init(&c, 1);
    CHECK(a.state[0] == 0xE220A8397B1DCDAF); /* splitmix64 from 0 */
    int n_equal = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = rand_u64(&a);
        CHECK(x == rand_u64(&b));
        n_equal += x == rand_u64(&c);
    }
    CHECK(n_equal == 0);
}

TEST(ranges_are_kept_and_even)
{
    struct rand r;
    rand_init(&r, 42);
    int hits[7] = { 0 };
    for (int i = 0; i < 70000; i++)
        hits[rand_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        CHECK(hits[i] > 9500 && hits[i] < 10500);
    for (int i = 0; i < 1000; i++)
        CHECK(rand_below(&r, 1) == 0);
}

/* With n = 3/4 of 2^64 plain scaling would give half of the results twice the chance of the rest. */
TEST(large_ranges_have_no_bias)
{
    struct rand r;
    rand_init(&r, 43);
    const uint64_t n = 3ull << 62;
    int thirds[3] = { 0 };
    for (int i = 0; i < 30000; i++) {
        uint64_t x = rand_below(&r, n);
        CHECK(x < n);
        thirds[x % 3]++;
    }
    for (int i = 0; i < 3; i++)
        CHECK(thirds[i] > 9500 && thirds[i] < 10500);
}

TEST(doubles_fill_zero_to_one)
{
    struct rand r;
    rand_init(&r, 44);
    double sum = 0, least = 1, most = 0;
    for (int i = 0; i < 100000; i++) {
        double x = rand_double(&r);
        CHECK(x >= 0 && x < 1);
        sum += x;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    CHECK(sum > 49500 && sum < 50500 && least < 0.001 && most > 0.999);
    struct rand largest = { { 0, 0x4FC71C71C71C71C7, 0, 0 } };
    struct rand copy = largest;
    CHECK(rand_u64(&copy) == UINT64_MAX);
    CHECK(rand_double(&largest) < 1);
}

TEST(a_shuffle_reaches_every_order_evenly)
{
    struct rand r;
    rand_init(&r, 45);
    int n_seen[27] = { 0 };
    for (int i = 0; i < 6000; i++) {
        struct {
            int id;
            char pad[3];
        } items[3] = { { 0, "a" }, { 1, "b" }, { 2, "c" } };
        rand_shuffle(&r, items, 3, sizeof(items[0]));
        for (int k = 0; k < 3; k++)
            CHECK(items[k].pad[0] == 'a' + items[k].id);
        n_seen[items[0].id * 9 + items[1].id * 3 + items[2].id]++;
    }
    static const int orders[] = { 5, 7, 11, 15, 19, 21 };
    for (int i = 0; i < 6; i++)
        CHECK(n_seen[orders[i]] > 850 && n_seen[orders[i]] < 1150);
    rand_shuffle(&r, NULL, 0, 8);
}
