/* Quantities: what parses and how it is written, reading with rounding, arithmetic, limits. The
 * recorded outcomes of the real implementation are run by tests/vectors; here stand the cases that
 * tell one rule each. */
#include "api/decimal.h"
#include "api/quantity.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;

static void start(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
}

static struct quantity parsed(struct str text)
{
    struct quantity q;
    if (quantity_parse(&arena, text, &q, &error))
        FAIL("%.*s: %s", STR_ARG(text), error.message);
    return q;
}

static struct quantity of(const char *text)
{
    return parsed(str_of(text));
}

static struct str text_of(struct quantity q)
{
    return quantity_text(&arena, &q);
}

TEST(texts_come_back_canonical)
{
    static const struct {
        const char *name, *in, *want, *format;
    } rows[] = {
        { "zero", "0", "0", "DecimalSI" },
        { "a fraction becomes thousandths", "1.5", "1500m", "DecimalSI" },
        { "canonical already, sign kept", "+5", "+5", "DecimalSI" },
        { "canonical already, zeros kept", "0011", "0011", "DecimalSI" },
        { "three decimals are canonical already", "1.500", "1.500", "DecimalSI" },
        { "three zeros at the end are not", "1000", "1k", "DecimalSI" },
        { "exponent form keeps its letter", "1E3", "1E3", "DecimalExponent" },
        { "exponents go by three", "1e4", "10e3", "DecimalExponent" },
        { "exponents wrap at 32 bits", "1e4294967299", "1e4294967299", "DecimalExponent" },
        { "binary fraction", "1.5Gi", "1536Mi", "BinarySI" },
        { "multiples of eight are made again", "2048Mi", "2Gi", "BinarySI" },
        { "others stay", "1001Ki", "1001Ki", "BinarySI" },
        { "small binary amounts are decimal", "0.5Ki", "512", "BinarySI" },
        { "below one the format changes", "0.0001Ki", "102400u", "DecimalSI" },
        { "binary amounts that are not whole", "1.1Ki", "1126400m", "BinarySI" },
        { "binary amounts end at 2^63-1", "9Ei", "9223372036854775807", "BinarySI" },
        { "finer than n rounds up", "0.1n", "1n", "DecimalSI" },
        { "finer than n rounds down below zero", "-1e-400", "-1e-9", "DecimalExponent" },
        { "no suffix beyond E", "1000E", "1", "DecimalSI" },
        { "more than 18 digits", "1234567890123456789", "1234567890123456789", "DecimalSI" },
        { "signs alone are zero", "-", "0", "DecimalSI" },
        { "a point alone is zero", ".", "0", "DecimalSI" },
        { "a suffix alone is zero", "Ki", "0", "BinarySI" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q = of(rows[i].in);
        CHECK_STR(rows[i].name, text_of(q), str_of(rows[i].want));
        CHECK_TEXT(rows[i].name, quantity_format_name(q.format), rows[i].format);
    }
    arena_fini(&arena);
}

#define FORMAT_WRONG \
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define SUFFIX_WRONG "unable to parse quantity's suffix"

TEST(bad_texts_are_refused)
{
    static const struct {
        const char *name;
        struct str in;
        const char *want;
    } rows[] = {
        { "empty", STR(""), FORMAT_WRONG },
        { "white space", STR(" 1"), FORMAT_WRONG },
        { "two points", STR("1.2.3"), FORMAT_WRONG },
        { "unknown letter", STR("1x"), FORMAT_WRONG },
        { "a zero byte", STR("1\0"), FORMAT_WRONG },
        { "large k", STR("1K"), SUFFIX_WRONG },
        { "small mega", STR("1mi"), SUFFIX_WRONG },
        { "exponent without digits", STR("1e"), SUFFIX_WRONG },
        { "exponent with a sign only", STR("1e+"), SUFFIX_WRONG },
        { "exponent outside int64", STR("1e9223372036854775808"), SUFFIX_WRONG },
        { "sign without exponent", STR("1+5"), SUFFIX_WRONG },
        { "no digit where one is needed", STR(".e-20"), "unable to parse numeric part of quantity" },
        { "no digit before a large suffix", STR("-Pi"), "unable to parse numeric part of quantity" },
        { "too large to hold", STR("1234567890123456789e2147483647"),
          "quantity has more than 4096 digits" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q;
        int64_t value;
        CHECK_INT(rows[i].name, quantity_parse(&arena, rows[i].in, &q, &error), ERR_BAD_REQUEST);
        CHECK_TEXT(rows[i].name, error.message, rows[i].want);
        error.message = NULL;
        CHECK_INT(rows[i].name, quantity_parse_scaled(rows[i].in, 0, &value, &error), ERR_BAD_REQUEST);
        CHECK_TEXT(rows[i].name, error.message, rows[i].want);
    }
    arena_fini(&arena);
}

TEST(json_takes_strings_numbers_and_null)
{
    static const struct {
        const char *name, *in, *want; /* NULL: an error */
    } rows[] = {
        { "string", "\"1.5\"", "1500m" },
        { "bare number", "1.5", "1500m" },
        { "null is zero", "null", "0" },
        { "white space inside the quotes", "\" \t1Gi\xC2\xA0\xE3\x80\x80\"", "1Gi" },
        { "zero width space is none", "\"1\xE2\x80\x8B\"", NULL },
        { "escapes are not resolved", "\"\\u0031\"", NULL },
        { "true", "true", NULL },
        { "one quote", "\"", NULL },
        { "empty string", "\"\"", NULL },
        { "only white space", "\"  \"", NULL },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q;
        bool ok = !quantity_parse_json(&arena, str_of(rows[i].in), &q, &error);
        CHECK_INT(rows[i].name, ok, rows[i].want != NULL);
        if (ok)
            CHECK_STR(rows[i].name, text_of(q), str_of(rows[i].want));
    }
    arena_fini(&arena);
}

TEST(reading_rounds_away_from_zero_and_saturates)
{
    static const struct {
        const char *name, *in;
        int64_t value, milli;
    } rows[] = {
        { "whole", "4", 4, 4000 },
        { "thousandths", "100m", 1, 100 },
        { "thousandths that make a whole", "3000m", 3, 3000 },
        { "binary", "32Gi", 34359738368, 34359738368000 },
        { "finer than thousandths", "1500u", 1, 2 },
        { "negative", "-1.5", -2, -1500 },
        { "negative digits", "-0.0000000001", -1, -1 },
        { "leading zeros", "0007k", 7000, 7000000 },
        { "last that fits in thousandths", "9223372036854775.807", 9223372036854776, INT64_MAX },
        { "too large for thousandths", "9223372036854775807", INT64_MAX, INT64_MAX },
        { "too large", "10E", INT64_MAX, INT64_MAX },
        { "too low", "-1e400", INT64_MIN, INT64_MIN },
        { "capped", "8Ei", INT64_MAX, INT64_MAX },
        { "eighteen digits and no room for the suffix", "9999999999999999Ki", INT64_MAX, INT64_MAX },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q = of(rows[i].in);
        int64_t value, milli;
        CHECK_INT(rows[i].name, quantity_value(&q), rows[i].value);
        CHECK_INT(rows[i].name, quantity_milli(&q), rows[i].milli);
        CHECK(!quantity_parse_scaled(str_of(rows[i].in), 0, &value, &error));
        CHECK_INT(rows[i].name, value, rows[i].value);
        CHECK(!quantity_parse_scaled(str_of(rows[i].in), QUANTITY_MILLI, &milli, &error));
        CHECK_INT(rows[i].name, milli, rows[i].milli);
    }
    arena_fini(&arena);
}

/* Every number of digits and every suffix, so that the short way is left at its edges too. */
TEST(the_short_way_equals_the_long_way)
{
    static const char *const suffixes[] = { "", "n", "u", "m", "k", "M", "G", "T", "P", "E",
                                            "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e1", "." };
    static const int32_t scales[] = { -9, -3, 0, 3 };
    static const char *const digits[] = { "99999999999999999999", "10000000000000000000",
                                          "00000000000000000001" };
    start();
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        for (int n = 1; n <= 20; n++)
            for (size_t k = 0; k < 12; k++) {
                const char *text = arena_printf(&arena, "%.*s%s", n, digits[k % 3], suffixes[i]);
                struct quantity q = of(text);
                int64_t value;
                CHECK(!quantity_parse_scaled(str_of(text), scales[k / 3], &value, &error));
                CHECK_INT(text, value, quantity_scaled(&q, scales[k / 3]));
            }
    arena_fini(&arena);
}

TEST(int64_is_there_where_upstream_has_it)
{
    static const struct {
        const char *name, *in;
        bool has;
        int64_t want;
    } rows[] = {
        { "whole", "12", true, 12 },
        { "larger unit", "3M", true, 3000000 },
        { "thousandths never", "1000m", false, 0 },
        { "too large", "10E", false, 0 },
        { "kept as digits", "1.0Ki", false, 0 },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q = of(rows[i].in);
        int64_t value = 0;
        CHECK_INT(rows[i].name, quantity_as_int64(&q, &value), rows[i].has);
        CHECK_INT(rows[i].name, value, rows[i].want);
    }
    arena_fini(&arena);
}

TEST(whole_is_what_an_overflow_leaves_whole)
{
    static const struct {
        const char *name, *text;
        bool whole;
    } rows[] = {
        { "nothing", "0", true },
        { "a few", "7", true },
        { "thousandths", "1500m", false },
        { "thousandths that are whole", "3000m", true },
        { "too large, stepwise: seen as nothing", "90P", true },
        { "too large, at once: what is left over counts", "90000000000000000", false },
        { "too large by millions, at once", "90000000000000k", false },
    };
    struct arena a;
    struct err e;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q;
        err_init(&e, &a);
        CHECK(!quantity_parse(&a, str_of(rows[i].text), &q, &e));
        CHECK_INT(rows[i].name, quantity_passes_as_whole(&q), rows[i].whole);
    }
    arena_fini(&a);
}

TEST(doubles_are_those_of_upstream)
{
    static const struct {
        const char *in;
        double want;
    } rows[] = {
        { "0.1", 0.1 }, /* 1 * 0.1 */
        { "3m", 3 * 0.001 },
        { "123456789012345678901", 123456789012345678901e9 * 1e-9 },
        { "-1.5Gi", -1610612736.0 },
        { "1e400", __builtin_inf() },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q = of(rows[i].in);
        double got = quantity_as_double(&q);
        if (got != rows[i].want)
            FAIL("%s: %.17g, want %.17g", rows[i].in, got, rows[i].want);
    }
    arena_fini(&arena);
}

TEST(amounts_add_and_subtract_exactly)
{
    static const struct {
        const char *name, *a, *b, *sum, *diff;
    } rows[] = {
        { "thousandths are kept", "1500u", "1500u", "3m", "0" },
        { "first format stays", "1Ki", "1k", "2024", "24" },
        { "zero takes the other format", "0", "2Ki", "2Ki", "-2Ki" },
        { "int64 to digits", "9223372036854775807", "1", "9223372036854775808", "9223372036854775806" },
        { "far apart", "1E", "1n", "1000000000000000000000000001n", "999999999999999999999999999n" },
        { "lowest int64", "-1", "-9223372036854775808", "-9223372036854775809", "9223372036854775807" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity sum = of(rows[i].a), diff = sum, b = of(rows[i].b);
        CHECK(!quantity_add(&arena, &sum, &b, &error));
        CHECK(!quantity_sub(&arena, &diff, &b, &error));
        CHECK_STR(rows[i].name, text_of(sum), str_of(rows[i].sum));
        CHECK_STR(rows[i].name, text_of(diff), str_of(rows[i].diff));
    }
    struct quantity q = of("1"), far = of("1e2147483647");
    CHECK_INT("no room", quantity_add(&arena, &q, &far, &error), ERR_BAD_REQUEST);
    CHECK_TEXT("no room", error.message, "quantity has more than 4096 digits");
    CHECK_STR("left as it was", text_of(q), STR("1"));
    arena_fini(&arena);
}

TEST(the_lowest_int64_has_a_negative)
{
    start();
    struct quantity q = quantity_make(INT64_MIN, 0, QUANTITY_BINARY_SI);
    CHECK_STR("as upstream, factors are kept", text_of(q), STR("-9223372036854775808"));
    quantity_neg(&q);
    CHECK_STR("positive", text_of(q), STR("8Ei"));
    quantity_neg(&q);
    CHECK_STR("negative again", text_of(q), STR("-8Ei"));
    CHECK_INT("value", quantity_value(&q), INT64_MIN);
    arena_fini(&arena);
}

TEST(products_tell_whether_they_count_as_int64)
{
    static const struct {
        const char *name, *in;
        int64_t factor;
        const char *want;
        bool exact;
    } rows[] = {
        { "whole", "3", 4, "12", true },
        { "thousandths", "1500m", 3, "4500m", true },
        { "negative factor", "2Gi", -2, "-4Gi", true },
        { "too large", "9223372036854775807", 10, "92233720368547758070", false },
        { "unit too large", "9E", 10, "90E", true },
        { "digits", "1.5Ki", 2, "3Ki", true },
        { "lowest factor", "-1", INT64_MIN, "9223372036854775808", false },
        { "by zero", "1e2147483647", 0, "0", true },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q = of(rows[i].in);
        bool exact = !rows[i].exact;
        CHECK(!quantity_mul(&arena, &q, rows[i].factor, &exact, &error));
        CHECK_STR(rows[i].name, text_of(q), str_of(rows[i].want));
        CHECK_INT(rows[i].name, exact, rows[i].exact);
    }
    arena_fini(&arena);
}

TEST(rounding_up_keeps_what_is_coarse_enough)
{
    static const struct {
        const char *name, *in;
        int32_t scale;
        const char *want;
        bool exact;
    } rows[] = {
        { "finer than thousandths", "1234567u", -3, "1235m", false },
        { "negative", "-1234567u", -3, "-1235m", false },
        { "coarse enough keeps the text", "+5", -3, "+5", true },
        { "nothing lost", "5000m", 0, "5", true },
        { "digits", "1.1Ki", 0, "1127", false },
        { "one unit at least", "1n", 18, "1E", false },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct quantity q = of(rows[i].in);
        bool exact = !rows[i].exact;
        CHECK(!quantity_round_up(&arena, &q, rows[i].scale, &exact, &error));
        CHECK_STR(rows[i].name, text_of(q), str_of(rows[i].want));
        CHECK_INT(rows[i].name, exact, rows[i].exact);
    }
    arena_fini(&arena);
}

TEST(ordinary_amounts_take_no_memory)
{
    start();
    const char *at = arena.at;
    size_t n_bytes = arena.n_bytes;
    struct quantity sum = { 0 }, q = of("1500m");
    CHECK(!quantity_add(&arena, &sum, &q, &error));
    q = of("32Gi");
    CHECK(!quantity_add(&arena, &sum, &q, &error));
    CHECK_INT("sum", quantity_value(&sum), 34359738370);
    CHECK(arena.at == at && arena.n_bytes == n_bytes);
    arena_fini(&arena);
}

TEST(every_text_up_to_the_limit_is_exact)
{
    static char text[DECIMAL_DIGITS_MAX + 3];
    memset(text, '7', sizeof(text));
    start();
    struct quantity whole = parsed((struct str){ text, DECIMAL_DIGITS_MAX - 9 });
    CHECK_STR("as long as nano allows", text_of(whole), ((struct str){ text, DECIMAL_DIGITS_MAX - 9 }));
    text[1] = '.';
    struct quantity fine = parsed((struct str){ text, DECIMAL_DIGITS_MAX + 1 });
    CHECK_STR("a long fraction", text_of(fine), STR("7777777778n"));
    text[DECIMAL_DIGITS_MAX] = 'K';
    text[DECIMAL_DIGITS_MAX + 1] = 'i';
    text[1] = '7';
    struct quantity capped = parsed((struct str){ text, DECIMAL_DIGITS_MAX + 2 });
    CHECK_STR("a long binary amount", text_of(capped), STR("9223372036854775807"));
    struct quantity q;
    text[DECIMAL_DIGITS_MAX] = '7';
    CHECK(quantity_parse(&arena, (struct str){ text, DECIMAL_DIGITS_MAX + 1 }, &q, &error));
    arena_fini(&arena);
}
