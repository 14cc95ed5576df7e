/* Map: put, find, remove and iterate held against plain arrays over long random runs; load stays bounded. */
#include "base/map.h"

#include <stdlib.h>

#include "tests/test.h"

enum { N_KEYS = 1000 };

static uint64_t state = 88172645463325252;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

TEST(an_empty_map_finds_and_removes_nothing)
{
    struct map_u64 m;
    struct map_str s;
    map_u64_init(&m);
    map_str_init(&s);
    CHECK(!map_u64_find(&m, 0) && !map_u64_remove(&m, 0, NULL) && !map_u64_next(&m, NULL));
    CHECK(!map_u64_remove(&m, MAP_NO_KEY, NULL));
    CHECK(!map_str_find(&s, STR("a")) && !map_str_remove(&s, STR("a"), NULL) && !map_str_next(&s, NULL));
    map_u64_fini(&m);
    map_str_fini(&s);
}

TEST(put_says_whether_the_key_is_new_and_starts_at_zero)
{
    struct map_u64 m;
    bool is_new;
    map_u64_init(&m);
    union map_value *v = map_u64_put(&m, 0, &is_new);
    CHECK(is_new && v->num == 0);
    v->num = 7;
    v = map_u64_put(&m, 0, &is_new);
    CHECK(!is_new && v->num == 7);
    union map_value gone;
    CHECK(map_u64_remove(&m, 0, &gone) && gone.num == 7);
    v = map_u64_put(&m, 0, &is_new);
    CHECK(is_new && v->num == 0);
    CHECK_INT("entries", m.n, 1);
    map_u64_fini(&m);
}

/* want[i] is the value of key i, 0 when absent. Keys are far apart, as pointers are. */
static void compare_u64(const struct map_u64 *m, const uint64_t *want)
{
    uint32_t n = 0;
    uint64_t sum = 0, sum_seen = 0;
    for (uint64_t i = 0; i < N_KEYS; i++) {
        union map_value *v = map_u64_find(m, i << 12);
        CHECK((v ? v->num : 0) == want[i]);
        n += want[i] != 0;
        sum += want[i];
    }
    CHECK_INT("entries", m->n, n);
    for (struct map_u64_slot *s = NULL; (s = map_u64_next(m, s)); n--)
        sum_seen += s->value.num;
    CHECK(n == 0 && sum_seen == sum);
}

TEST(random_calls_on_numbers_equal_an_array)
{
    struct map_u64 m;
    static uint64_t want[N_KEYS];
    map_u64_init(&m);
    for (int round = 1; round <= 200000; round++) {
        uint64_t i = next_random() % N_KEYS;
        /* Phases that mostly add and phases that mostly remove. */
        if (next_random() % 8 < (round / 20000 % 2 ? 2u : 6u)) {
            map_u64_put(&m, i << 12, NULL)->num = want[i] = (uint64_t)round;
        } else {
            union map_value gone = { .num = 0 };
            CHECK(map_u64_remove(&m, i << 12, &gone) == (want[i] != 0));
            CHECK(gone.num == want[i]);
            want[i] = 0;
        }
        if (round % 5000 == 0)
            compare_u64(&m, want);
        CHECK(m.n <= (m.mask + 1) - (m.mask + 1) / 4);
    }
    CHECK(m.mask + 1 <= 2048);
    map_u64_fini(&m);
}

TEST(random_calls_on_texts_equal_an_array)
{
    struct map_str m;
    static uint64_t want[N_KEYS];
    static char names[N_KEYS][24];
    map_str_init(&m);
    for (int i = 0; i < N_KEYS; i++)
        snprintf(names[i], sizeof(names[i]), "default/pod-%d", i);
    for (int round = 1; round <= 200000; round++) {
        uint64_t i = next_random() % N_KEYS;
        if (next_random() % 8 < (round / 20000 % 2 ? 2u : 6u)) {
            map_str_put(&m, str_of(names[i]), NULL)->num = want[i] = (uint64_t)round;
        } else {
            union map_value gone = { .num = 0 };
            CHECK(map_str_remove(&m, str_of(names[i]), &gone) == (want[i] != 0));
            CHECK(gone.num == want[i]);
            want[i] = 0;
        }
        if (round % 5000)
            continue;
        uint32_t n = 0;
        for (int k = 0; k < N_KEYS; k++) {
            char copy[24];
            union map_value *v = map_str_find(&m, str_of(memcpy(copy, names[k], sizeof(copy))));
            CHECK((v ? v->num : 0) == want[k]);
            n += want[k] != 0;
        }
        CHECK_INT("entries", m.n, n);
        for (struct map_str_slot *s = NULL; (s = map_str_next(&m, s)); n--)
            CHECK(map_str_find(&m, map_str_key(s)) == &s->value);
        CHECK(n == 0);
    }
    map_str_fini(&m);
}

TEST(texts_may_be_empty_or_hold_any_byte)
{
    static const struct str keys[] = {
        { NULL, 0 }, { "\0", 1 }, { "\0\0", 2 }, { "a", 1 }, { "a\0", 2 }, { "\xff\xfe", 2 },
    };
    enum { N = sizeof(keys) / sizeof(keys[0]) };
    struct map_str m;
    map_str_init(&m);
    for (uint64_t i = 0; i < N; i++) {
        bool is_new;
        map_str_put(&m, keys[i], &is_new)->num = i;
        CHECK(is_new);
    }
    for (uint64_t i = 0; i < N; i++)
        CHECK_INT("value", map_str_find(&m, keys[i])->num, i);
    CHECK(map_str_remove(&m, STR(""), NULL));
    CHECK(!map_str_find(&m, STR("")));
    map_str_fini(&m);
}

TEST(a_map_that_exists_keeps_its_seed)
{
    struct map_u64 m;
    map_u64_init(&m);
    map_u64_put(&m, 41, NULL)->num = 1;
    hash_set_seed(99);
    for (uint64_t i = 0; i < 100; i++)
        map_u64_put(&m, i, NULL);
    CHECK(map_u64_find(&m, 41)->num == 1);
    CHECK_INT("entries", m.n, 100);
    map_u64_fini(&m);
}

TEST(a_copy_has_its_own_entries)
{
    struct map_str a, b;
    map_str_init(&a);
    map_str_init(&b);
    map_str_copy(&b, &a);
    CHECK_INT("of nothing", b.n, 0);
    map_str_put(&a, STR("one"), NULL)->num = 1;
    map_str_put(&a, STR("two"), NULL)->num = 2;
    map_str_copy(&b, &a);
    map_str_put(&b, STR("three"), NULL)->num = 3;
    map_str_find(&b, STR("one"))->num = 11;
    CHECK(map_str_remove(&b, STR("two"), NULL));
    CHECK_INT("in the first", map_str_find(&a, STR("one"))->num, 1);
    CHECK_INT("in the first", map_str_find(&a, STR("two"))->num, 2);
    CHECK(!map_str_find(&a, STR("three")));
    CHECK_INT("in the copy", map_str_find(&b, STR("one"))->num, 11);
    CHECK_INT("in the copy", map_str_find(&b, STR("three"))->num, 3);
    map_str_fini(&a);
    map_str_fini(&b);
}

/* ---- Keys that were chosen to meet ---- */

enum { N_MEETING = 3000, MEETING_BITS = 14 }; /* all in one slot of a table of 2^14 */

/* Slots between each entry and its home, at most. */
static uint32_t longest_probe_u64(const struct map_u64 *m)
{
    uint32_t longest = 0;
    for (struct map_u64_slot *s = NULL; (s = map_u64_next(m, s));) {
        uint32_t home = (uint32_t)hash_u64(&m->seed, s->key), probe = ((uint32_t)(s - m->slots) - home) & m->mask;
        longest = probe > longest ? probe : longest;
    }
    return longest;
}

static uint32_t longest_probe_str(const struct map_str *m)
{
    uint32_t longest = 0;
    for (struct map_str_slot *s = NULL; (s = map_str_next(m, s));) {
        uint32_t probe = ((uint32_t)(s - m->slots) - s->hash) & m->mask;
        longest = probe > longest ? probe : longest;
    }
    return longest;
}

TEST(numbers_that_were_chosen_to_meet_are_parted)
{
    hash_set_seed(1);
    struct map_u64 m;
    map_u64_init(&m);
    struct hash_seed known = m.seed;
    uint64_t keys[N_MEETING], key = 0;
    for (int i = 0; i < N_MEETING; i++) {
        while (hash_u64(&known, ++key) & ((1u << MEETING_BITS) - 1))
            ;
        keys[i] = key;
        map_u64_put(&m, key, NULL)->num = key;
    }
    CHECK(m.seed.k0 != known.k0);
    CHECK(longest_probe_u64(&m) < 100);
    CHECK_INT("entries", m.n, N_MEETING);
    for (int i = 0; i < N_MEETING; i++) {
        CHECK(map_u64_find(&m, keys[i]));
        CHECK(map_u64_find(&m, keys[i])->num == keys[i]);
    }
    map_u64_fini(&m);
}

TEST(texts_that_were_chosen_to_meet_are_parted)
{
    hash_set_seed(2);
    struct map_str m;
    map_str_init(&m);
    struct hash_seed known = m.seed;
    static char keys[N_MEETING][24];
    unsigned number = 0;
    for (int i = 0; i < N_MEETING; i++) {
        do
            snprintf(keys[i], sizeof(keys[i]), "k%u", ++number);
        while (hash_str(&known, str_of(keys[i])) & ((1u << MEETING_BITS) - 1));
        map_str_put(&m, str_of(keys[i]), NULL)->num = number;
    }
    CHECK(m.seed.k0 != known.k0);
    CHECK(longest_probe_str(&m) < 100);
    for (int i = 0; i < N_MEETING; i++) {
        CHECK(map_str_find(&m, str_of(keys[i])));
        CHECK(map_str_find(&m, str_of(keys[i]))->num == strtoull(keys[i] + 1, NULL, 10));
    }
    for (int i = 0; i < N_MEETING; i += 2)
        CHECK(map_str_remove(&m, str_of(keys[i]), NULL));
    CHECK_INT("left", m.n, N_MEETING / 2);
    map_str_fini(&m);
}


TEST(keys_that_nobody_chose_keep_the_seed)
{
    struct map_u64 m;
    map_u64_init(&m);
    int n_seeds = 0;
    for (uint64_t key = 0; key < 20000; key++) {
        uint64_t k0 = m.seed.k0;
        map_u64_put(&m, key, NULL);
        n_seeds += k0 != m.seed.k0;
    }
    CHECK_INT("none for keys that nobody chose", n_seeds, 0);
    map_u64_fini(&m);
}
