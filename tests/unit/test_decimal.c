/* Decimal numbers beyond int64: order, sums, products, rounding, exact division, the limit. */
#include <stdlib.h>

#include "api/decimal.h"
#include "tests/test.h"

/* "-12e3": sign, digits, exponent. */
static void load(const char *text, struct decimal_buf *b)
{
    struct str s = str_of(text);
    bool negative = str_starts(s, STR("-"));
    s = str_from(s, negative);
    size_t e = str_index(s, 'e');
    decimal_start(b);
    CHECK(decimal_append(b, str_first(s, e)));
    b->exponent = e < s.n ? atoll(s.p + e + 1) : 0;
    b->sign = b->n == 0 ? 0 : negative ? -1 : 1;
}

static const char *show(const struct decimal_buf *b)
{
    static char text[128];
    char digits[64];
    CHECK(b->n < sizeof(digits));
    for (uint32_t i = 0; i < b->n; i++)
        digits[i] = (char)('0' + b->digits[i]);
    digits[b->n] = '\0';
    snprintf(text, sizeof(text), "%s%se%lld", b->sign < 0 ? "-" : "", b->n ? digits : "0",
             (long long)b->exponent);
    return text;
}

TEST(numbers_compare_by_amount)
{
    static const struct {
        const char *name, *a, *b;
        int want;
    } rows[] = {
        { "zeros of different exponents are equal", "0e5", "0e-5", 0 },
        { "trailing zeros do not count", "1000", "1e3", 0 },
        { "more digits are not more", "123", "2e2", -1 },
        { "the first differing digit decides", "12346e10", "12345999e7", 1 },
        { "a longer tail is more", "1e3", "1000001e-3", -1 },
        { "negative amounts turn round", "-5", "-4", -1 },
        { "negative before zero", "-1e-9", "0", -1 },
        { "signs before size", "1e-4000", "-1e4000", 1 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct decimal_buf a, b;
        load(rows[i].a, &a);
        load(rows[i].b, &b);
        CHECK_INT(rows[i].name, decimal_cmp(decimal_of(&a), decimal_of(&b)), rows[i].want);
        CHECK_INT(rows[i].name, decimal_cmp(decimal_of(&b), decimal_of(&a)), -rows[i].want);
    }
}

TEST(sums_have_the_lower_exponent)
{
    static const struct {
        const char *name, *a, *b, *want;
    } rows[] = {
        { "carry to a new digit", "999", "1", "1000e0" },
        { "exponents are lined up", "1e3", "1e-3", "1000001e-3" },
        { "opposite signs, first larger", "1000", "-1", "999e0" },
        { "opposite signs, second larger", "1", "-1000", "-999e0" },
        { "equal amounts cancel", "5e1", "-50", "0e0" },
        { "two negative ones", "-7", "-8", "-15e0" },
        { "zero on the left", "0e-30", "12e2", "12e2" },
        { "zero on the right", "12e2", "0e-30", "12e2" },
        { "beyond 64 bits", "99999999999999999999999", "1", "100000000000000000000000e0" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct decimal_buf a, b, sum;
        load(rows[i].a, &a);
        load(rows[i].b, &b);
        CHECK(decimal_add(decimal_of(&a), decimal_of(&b), &sum));
        CHECK_TEXT(rows[i].name, show(&sum), rows[i].want);
    }
}

TEST(products_carry)
{
    struct decimal_buf b;
    load("-99999999999999999999e-3", &b);
    decimal_mul(&b, UINT64_MAX);
    CHECK_TEXT("largest factor", show(&b), "-1844674407370955161481553255926290448385e-3");
    decimal_mul(&b, 0);
    CHECK_TEXT("nothing", show(&b), "0e-3");
}

TEST(rounding_goes_away_from_zero)
{
    static const struct {
        const char *name, *in;
        int64_t exponent;
        const char *want;
        bool exact;
    } rows[] = {
        { "dropped zeros lose nothing", "12000", 3, "12e3", true },
        { "the least rest counts", "12001", 3, "13e3", false },
        { "negative amounts go down", "-12001", 3, "-13e3", false },
        { "nines carry", "9999", 1, "1000e1", false },
        { "an amount below one unit is one unit", "1e-400", -9, "1e-9", false },
        { "a lower exponent appends zeros", "-5", -3, "-5000e-3", true },
        { "zero takes any exponent", "0", -7, "0e-7", true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct decimal_buf b;
        bool exact;
        load(rows[i].in, &b);
        CHECK(decimal_round_up(&b, rows[i].exponent, &exact));
        CHECK_TEXT(rows[i].name, show(&b), rows[i].want);
        CHECK_INT(rows[i].name, exact, rows[i].exact);
    }
}

TEST(reading_as_int64_saturates)
{
    static const struct {
        const char *name, *in;
        int64_t exponent, want;
    } rows[] = {
        { "rounds away from zero", "1001e-3", 0, 2 },
        { "rounds negative amounts away too", "-1001e-3", 0, -2 },
        { "a rest far below counts", "1e-30", 0, 1 },
        { "largest that fits", "9223372036854775807", 0, INT64_MAX },
        { "one more", "9223372036854775808", 0, INT64_MAX },
        { "lowest that fits", "-9223372036854775808", 0, INT64_MIN },
        { "one less", "-9223372036854775809", 0, INT64_MIN },
        { "rounds past the end", "9223372036854775807001e-3", 0, INT64_MAX },
        { "past 64 bits", "18446744073709551616", 0, INT64_MAX },
        { "smaller units", "-7e2", -3, -700000 },
        { "a huge exponent ends soon", "1e2147483647", -9, INT64_MAX },
        { "zero of a huge exponent", "0e2147483647", -9, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct decimal_buf b;
        load(rows[i].in, &b);
        CHECK_INT(rows[i].name, decimal_scaled(decimal_of(&b), rows[i].exponent), rows[i].want);
    }
}

TEST(division_is_exact_or_not_done)
{
    struct decimal_buf b;
    load("1099511627776", &b);
    for (int i = 0; i < 4; i++)
        CHECK(decimal_divide_exact(&b, 1024));
    CHECK_TEXT("four times", show(&b), "1e0");
    CHECK(!decimal_divide_exact(&b, 1024));
    CHECK_TEXT("left alone", show(&b), "1e0");
}

TEST(digits_end_at_the_limit)
{
    static char nines[DECIMAL_DIGITS_MAX + 1];
    memset(nines, '9', sizeof(nines));
    uint8_t room[DECIMAL_INT64_DIGITS];
    struct decimal_buf b, sum;
    bool exact;
    decimal_start(&b);
    CHECK(!decimal_append(&b, (struct str){ nines, sizeof(nines) }));
    decimal_start(&b);
    CHECK(decimal_append(&b, (struct str){ nines, sizeof(nines) - 1 }));
    CHECK(!decimal_append(&b, STR("0")));
    b.sign = 1;
    CHECK(!decimal_add(decimal_of(&b), decimal_of_int(1, 0, room), &sum));
    CHECK(decimal_add(decimal_of(&b), decimal_of_int(-1, 0, room), &sum));
    CHECK(!decimal_add(decimal_of_int(1, 5000, room), decimal_of(&b), &sum));
    CHECK(!decimal_round_up(&b, -1, &exact));
    CHECK(decimal_round_up(&b, 1, &exact) && !exact);
    CHECK_INT("digits after the carry", b.n, DECIMAL_DIGITS_MAX);
    CHECK(b.digits[0] == 1 && b.digits[DECIMAL_DIGITS_MAX - 1] == 0);
}
