/* Label lists: sorted and unique, found by key at any size; numbers as Gt and Lt read them. */
#include "api/labels.h"
#include "tests/test.h"

TEST(of_labels_with_the_same_key_the_last_one_stays)
{
    struct arena a;
    arena_init(&a);
    struct label at[] = { { STR("b"), STR("1") }, { STR("a"), STR("2") }, { STR("b"), STR("3") },
                          { STR("a"), STR("4") }, { STR("b"), STR("5") } };
    struct labels labels = { at, labels_sort(&a, at, 5) };
    CHECK_INT("labels left", labels.n, 2);
    CHECK_STR("a", *labels_find(labels, STR("a")), STR("4"));
    CHECK_STR("b", *labels_find(labels, STR("b")), STR("5"));
    arena_fini(&a);
}

TEST(every_key_is_found_and_no_other)
{
    enum { N_MAX = 100 };
    static char names[N_MAX][8];
    for (size_t n = 0; n <= N_MAX; n++) {
        struct label at[N_MAX];
        for (size_t i = 0; i < n; i++) {
            snprintf(names[i], sizeof(names[i]), "k%03zu", i * 2);
            at[i] = (struct label){ str_of(names[i]), str_of(names[i]) };
        }
        struct labels labels = { at, n };
        for (size_t i = 0; i <= 2 * n; i++) {
            char key[8];
            snprintf(key, sizeof(key), "k%03zu", i);
            const struct str *value = labels_find(labels, str_of(key));
            CHECK_INT(key, value != NULL, i % 2 == 0 && i < 2 * n);
            if (value)
                CHECK_STR(key, *value, str_of(key));
        }
        CHECK(!labels_find(labels, STR("")));
        CHECK(!labels_find(labels, STR("z")));
    }
}

TEST(numbers_are_decimal_int64_and_nothing_else)
{
    static const struct {
        const char *name, *text;
        bool valid;
        int64_t value;
    } rows[] = {
        { "plain", "42", true, 42 },
        { "plus sign", "+7", true, 7 },
        { "minus zero", "-0", true, 0 },
        { "leading zeros", "007", true, 7 },
        { "largest", "9223372036854775807", true, INT64_MAX },
        { "one too many", "9223372036854775808", false, 0 },
        { "smallest", "-9223372036854775808", true, INT64_MIN },
        { "one too few", "-9223372036854775809", false, 0 },
        { "many digits", "99999999999999999999999", false, 0 },
        { "empty", "", false, 0 },
        { "sign alone", "-", false, 0 },
        { "two signs", "+-1", false, 0 },
        { "space", " 1", false, 0 },
        { "fraction", "1.0", false, 0 },
        { "hexadecimal", "0x1", false, 0 },
        { "underscore", "1_0", false, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t value = 0;
        CHECK_INT(rows[i].name, labels_parse_int(str_of(rows[i].text), &value), rows[i].valid);
        CHECK_INT(rows[i].name, value, rows[i].value);
    }
}
