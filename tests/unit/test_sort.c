/* Sorting: in order whatever the input, equal items keep their order, scratch memory is given back. */
#include "base/sort.h"
#include "tests/test.h"

struct item {
    int key, position;
};

static int by_key(const void *a, const void *b)
{
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

static void check_sorted(size_t n, int n_keys, const char *what)
{
    struct arena a;
    arena_init(&a);
    struct item *items = ARENA_NEW_N(&a, struct item, n);
    uint32_t random = 12345;
    for (size_t i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        items[i] = (struct item){ (int)(random >> 16) % n_keys, (int)i };
    }
    char *before = arena_alloc(&a, 1);
    sort_stable(&a, items, n, sizeof(*items), by_key);
    CHECK((char *)arena_alloc(&a, 1) == before + 16 + ARENA_GAP_BYTES);
    CHECK(sort_in_order(items, n, sizeof(*items), by_key));
    long long sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += items[i].position;
        bool same_key = i > 0 && items[i - 1].key == items[i].key;
        if (same_key && items[i - 1].position > items[i].position)
            FAIL("%s: %zu items, not stable at %zu", what, n, i);
    }
    CHECK_INT(what, sum, (long long)n * ((long long)n - 1) / 2);
    arena_fini(&a);
}

TEST(every_small_size_is_sorted_and_stable)
{
    for (size_t n = 0; n < 70; n++) {
        check_sorted(n, 5, "few keys");
        check_sorted(n, 1000, "many keys");
    }
}

TEST(a_million_items_do_not_take_long)
{
    check_sorted(1000000, 3, "three keys");
    check_sorted(1000000, 1, "one key");
}

TEST(texts_sort_by_their_bytes_and_prefixes_come_first)
{
    struct arena a;
    arena_init(&a);
    struct str texts[] = { STR("b"), STR("ab"), STR(""), STR("\xff"), STR("a"), STR("B") };
    const char *const want[] = { "", "B", "a", "ab", "b", "\xff" };
    sort_stable(&a, texts, 6, sizeof(texts[0]), sort_compare_strs);
    for (size_t i = 0; i < 6; i++)
        CHECK_STR("text", texts[i], str_of(want[i]));
    arena_fini(&a);
}
