/* Bitset: single bits, ranges across word borders, set algebra, walking; held against plain bool arrays. */
#include "base/bitset.h"
#include "tests/test.h"

enum { N_BITS = 197, N_WORDS = 4 };

static uint64_t state = 88172645463325252;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

TEST(words_for_bits)
{
    static const struct {
        size_t n_bits, want;
    } cases[] = { { 0, 0 }, { 1, 1 }, { 63, 1 }, { 64, 1 }, { 65, 2 }, { 128, 2 }, { 129, 3 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_INT("words", bitset_words(cases[i].n_bits), cases[i].want);
    CHECK_INT("enough for the tests", bitset_words(N_BITS), N_WORDS);
}

TEST(fill_sets_the_first_and_clears_the_rest)
{
    for (size_t n = 0; n <= 64 * N_WORDS; n++) {
        uint64_t w[N_WORDS] = { 5, UINT64_MAX, 7, UINT64_MAX };
        bitset_fill(w, N_WORDS, n);
        CHECK_INT("count", bitset_count(w, N_WORDS), n);
        for (size_t i = 0; i < 64 * N_WORDS; i++)
            CHECK(bitset_test(w, i) == (i < n));
        CHECK_INT("past the fill", bitset_next(w, N_WORDS, n), BITSET_END);
        CHECK(bitset_any(w, N_WORDS) == (n > 0));
    }
}

TEST(next_finds_the_members_and_the_end)
{
    uint64_t w[N_WORDS] = { 0 };
    static const size_t members[] = { 0, 63, 64, 100, 128, 191, 192, 255 };
    for (size_t i = 0; i < 8; i++)
        bitset_set(w, members[i]);
    size_t k = 0;
    for (size_t i = bitset_next(w, N_WORDS, 0); i < BITSET_END; i = bitset_next(w, N_WORDS, i + 1))
        CHECK_INT("member", i, members[k++]);
    CHECK_INT("members", k, 8);
    CHECK_INT("between", bitset_next(w, N_WORDS, 101), 128);
    CHECK_INT("far past the end", bitset_next(w, N_WORDS, 100000), BITSET_END);
    CHECK_INT("no words", bitset_next(w, 0, 0), BITSET_END);
}

static void random_set(uint64_t *w, bool *plain)
{
    bitset_zero(w, N_WORDS);
    for (size_t i = 0; i < N_BITS; i++) {
        plain[i] = next_random() % 3 == 0;
        if (plain[i])
            bitset_set(w, i);
    }
}

TEST(algebra_equals_that_of_plain_flags)
{
    for (int round = 0; round < 200; round++) {
        uint64_t a[N_WORDS], b[N_WORDS], c[N_WORDS];
        bool pa[N_BITS], pb[N_BITS];
        random_set(a, pa);
        random_set(b, pb);
        size_t n = 0;
        for (size_t i = 0; i < N_BITS; i++)
            n += pa[i];
        CHECK_INT("count", bitset_count(a, N_WORDS), n);
        for (int op = 0; op < 3; op++) {
            bitset_copy(c, a, N_WORDS);
            CHECK(bitset_equal(c, a, N_WORDS));
            op == 0   ? bitset_and(c, b, N_WORDS)
            : op == 1 ? bitset_or(c, b, N_WORDS)
                      : bitset_andnot(c, b, N_WORDS);
            for (size_t i = 0; i < N_BITS; i++)
                CHECK(bitset_test(c, i)
                      == (op == 0 ? pa[i] && pb[i] : op == 1 ? pa[i] || pb[i] : pa[i] && !pb[i]));
        }
    }
}

TEST(clear_and_put_touch_one_bit)
{
    uint64_t w[N_WORDS];
    bitset_fill(w, N_WORDS, N_BITS);
    bitset_clear(w, 64);
    bitset_put(w, 130, false);
    bitset_put(w, 131, true);
    CHECK_INT("count", bitset_count(w, N_WORDS), N_BITS - 2);
    CHECK(!bitset_test(w, 64) && !bitset_test(w, 130) && bitset_test(w, 131) && bitset_test(w, 63));
    bitset_put(w, 130, true);
    bitset_set(w, 64);
    CHECK_INT("count", bitset_count(w, N_WORDS), N_BITS);
}
