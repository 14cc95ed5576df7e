/* Selector index: what may match is found once, what cannot match by the chosen pair is not, and removal undoes it. */
#include "sched/selector_index.h"

#include "tests/test.h"

enum { APP = 1, TIER, ENV, A = 10, B, C };

static const sym a_only[] = { A }, a_and_b[] = { A, B };
static const sym many[] = { 20, 21, 22, 23, 24, 25, 26, 27, 28 };

#define IN(k, v) { .key = (k), .op = MATCH_IN, .n_values = sizeof(v) / sizeof(*(v)), .values = (v) }

static const struct match_rule app_a[] = { IN(APP, a_only) };
static const struct match_rule app_a_or_b[] = { IN(APP, a_and_b) };
static const struct match_rule one_of_many[] = { IN(APP, many) };
static const struct match_rule has_tier[] = { { .key = TIER, .op = MATCH_EXISTS } };
static const struct match_rule app_and_env[] = { IN(APP, a_and_b), IN(ENV, a_only) };

#define ALL_OF(rules) { .mode = MATCHER_ALL_OF, .n = sizeof(rules) / sizeof(*(rules)), .at = (rules) }

static struct {
    const char *what;
    struct matcher selector;
    const char *found_by; /* of "a": app=A, "b": app=B, "e": env=A */
} items[] = {
    { "one value", ALL_OF(app_a), "a" },
    { "two values", ALL_OF(app_a_or_b), "ab" },
    { "too many values", ALL_OF(one_of_many), "abe" },
    { "no value to list it under", ALL_OF(has_tier), "abe" },
    { "the rule with fewer values", ALL_OF(app_and_env), "e" },
    { "everything", { .mode = MATCHER_ALL_OF }, "abe" },
    { "nothing", { .mode = MATCHER_NOTHING }, "" },
    { "invalid", { .mode = MATCHER_INVALID, .error = "no" }, "" },
};

enum { N_ITEMS = sizeof(items) / sizeof(items[0]) };

static const struct {
    char name;
    struct label_pair pair;
} label_sets[] = { { 'a', { APP, A } }, { 'b', { APP, B } }, { 'e', { ENV, A } }, { 'c', { APP, C } } };

/* How often the item is found among the labels. */
static unsigned n_found(const struct selector_index *x, struct label_pair pair, const void *item)
{
    item_vec found = { 0 };
    selector_index_find(x, (struct label_set){ &pair, 1 }, &found);
    unsigned n = 0;
    for (size_t i = 0; i < found.n; i++)
        n += found.at[i] == item;
    vec_fini(&found);
    return n;
}

TEST(items_are_found_by_the_labels_that_they_may_match)
{
    struct selector_index x;
    selector_index_init(&x);
    int where[N_ITEMS];
    for (int i = 0; i < N_ITEMS; i++)
        where[i] = selector_index_add(&x, &items[i].selector, &items[i]);
    for (int i = 0; i < N_ITEMS; i++)
        for (int k = 0; k < 3; k++) {
            bool want = strchr(items[i].found_by, label_sets[k].name) != NULL;
            CHECK_INT(items[i].what, n_found(&x, label_sets[k].pair, &items[i]), want);
        }
    CHECK_INT("labels of no list meet the rest", n_found(&x, label_sets[3].pair, &items[3]), 1);
    for (int i = 0; i < N_ITEMS; i += 2)
        selector_index_remove(&x, &items[i].selector, where[i], &items[i]);
    CHECK_INT("removed", n_found(&x, label_sets[0].pair, &items[0]), 0);
    CHECK_INT("stays", n_found(&x, label_sets[0].pair, &items[1]), 1);
    for (int i = 1; i < N_ITEMS; i += 2)
        selector_index_remove(&x, &items[i].selector, where[i], &items[i]);
    CHECK_INT("no list is left", x.by_pair.n + x.rest.n, 0);
    selector_index_fini(&x);
}

TEST(of_equal_rules_the_one_with_the_shorter_list_is_taken)
{
    static const struct match_rule both[] = { IN(APP, a_only), IN(TIER, a_only) };
    struct matcher common = ALL_OF(app_a), selector = ALL_OF(both);
    struct selector_index x;
    selector_index_init(&x);
    int first = selector_index_add(&x, &common, &items[0]);
    int second = selector_index_add(&x, &selector, &items[1]);
    CHECK_INT("tier, since app=A has an item already", second, 1);
    selector_index_remove(&x, &selector, second, &items[1]);
    selector_index_remove(&x, &common, first, &items[0]);
    selector_index_fini(&x);
}
