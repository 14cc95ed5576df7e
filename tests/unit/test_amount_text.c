/* Amounts as reports tell them. web/report/model.js has the same rows in tests/browser/test_report.py. */
#include "sim/amount_text.h"

#include "tests/test.h"

TEST(cpu_is_exact)
{
    static const struct {
        int64_t milli;
        const char *text;
    } rows[] = {
        { 0, "0" },           { 1, "1m" },       { 999, "999m" },     { 1000, "1" },
        { 1001, "1.001" },    { 1500, "1.5" },   { 3920, "3.92" },    { 12340, "12.34" },
        { 1234567, "1234.567" }, { 2000000000, "2000000" }, { -1500, "-1.5" }, { INT64_MAX, "9223372036854775.807" },
        { INT64_MIN, "-9223372036854775.808" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_TEXT(rows[i].text, cpu_text(&a, rows[i].milli), rows[i].text);
    arena_fini(&a);
}

TEST(memory_has_one_decimal)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {
        { 0, "0" },
        { 1, "1" },
        { 1023, "1023" },
        { 1024, "1Ki" },
        { 1075, "1Ki" },
        { 1076, "1.1Ki" }, /* 1.0508 */
        { 1280, "1.3Ki" }, /* 1.25: halves go up */
        { 67108864, "64Mi" },
        { 200000000, "190.7Mi" },
        { 1073741823, "1Gi" }, /* not 1024Mi */
        { 16671494144, "15.5Gi" },
        { 1ll << 40, "1Ti" },
        { 1ll << 50, "1Pi" },
        { INT64_MAX, "8Ei" },
        { -1536, "-1.5Ki" },
        { INT64_MIN, "-8Ei" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_TEXT(rows[i].text, memory_text(&a, rows[i].bytes), rows[i].text);
    arena_fini(&a);
}

TEST(percents_round_halves_up)
{
    static const struct {
        int64_t part, whole, percent;
    } rows[] = {
        { 0, 0, 0 },      { 5, 0, 0 },         { 5, -1, 0 },           { -5, 10, 0 },
        { 0, 7, 0 },      { 7, 7, 100 },       { 1, 3, 33 },           { 2, 3, 67 },
        { 285, 1000, 29 } /* a half, which 0.285 * 100 is not to a computer */, { 2849, 10000, 28 },
        { 5, 1000, 1 },   { 4, 1000, 0 },      { 3, 2, 150 },          { INT64_MAX, INT64_MAX, 100 },
        { INT64_MAX / 2, INT64_MAX, 50 },      { INT64_MAX, 1, INT64_MAX },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT("percent", percent_of(rows[i].part, rows[i].whole), rows[i].percent);
}

TEST(shares_are_rounded_once)
{
    static const struct {
        double share, rounded;
        int64_t percent;
    } rows[] = {
        { 0, 0, 0 }, { -1, 0, 0 }, { 1, 1, 100 }, { 0.285, 0.285, 29 }, { 0.28499, 0.28499, 28 },
        { 0.284996, 0.285, 29 }, /* as JSON has it, and whoever reads that */
        { 1.0 / 3, 0.33333, 33 }, { 2.5, 2.5, 250 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_INT("percent", share_percent(rows[i].share), rows[i].percent);
        CHECK(share_rounded(rows[i].share) == rows[i].rounded);
    }
    CHECK(share_percent(1e300) == INT64_MAX);
}
