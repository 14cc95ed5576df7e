/* Durations: what Go's time.ParseDuration takes and refuses, and how Duration.String writes. */
#include "api/duration.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;

static void start(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
}

TEST(durations_are_read_and_written)
{
    static const struct {
        const char *in;
        int64_t ns;
        const char *want;
    } rows[] = {
        { "0", 0, "0s" },
        { "-0", 0, "0s" },
        { "1ns", 1, "1ns" },
        { "1100ns", 1100, "1.1\xC2\xB5s" },
        { "2.2ms", 2200000, "2.2ms" },
        { "1us", 1000, "1\xC2\xB5s" },
        { "1\xC2\xB5s", 1000, "1\xC2\xB5s" },
        { "1\xCE\xBCs", 1000, "1\xC2\xB5s" },
        { "3.3s", 3300000000, "3.3s" },
        { "+5m", 300000000000, "5m0s" },
        { "-1.5h", -5400000000000, "-1h30m0s" },
        { "1h15m30.918s", 4530918000000, "1h15m30.918s" },
        { "30.918s15m1h", 4530918000000, "1h15m30.918s" },
        { ".5s", 500000000, "500ms" },
        { "5.s", 5000000000, "5s" },
        { "1.000000001s", 1000000001, "1.000000001s" },
        { "1.0000000019s", 1000000001, "1.000000001s" },
        { "0.3333333333333333333h", 1200000000000, "20m0s" },
        { "0.830103483285477580700h", 2988372539827, "49m48.372539827s" },
        { "9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s" },
        { "-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ns;
        struct strbuf b;
        if (duration_parse(str_of(rows[i].in), &ns, &error))
            FAIL("%s: %s", rows[i].in, error.message);
        CHECK_INT(rows[i].in, ns, rows[i].ns);
        strbuf_init(&b, 100);
        duration_add(&b, ns);
        CHECK_STR(rows[i].in, strbuf_str(&b), str_of(rows[i].want));
        strbuf_fini(&b);
    }
    arena_fini(&arena);
}

TEST(bad_durations_are_refused_in_the_words_of_go)
{
    static const struct {
        const char *in, *want;
    } rows[] = {
        { "", "time: invalid duration \"\"" },
        { "-", "time: invalid duration \"-\"" },
        { "s", "time: invalid duration \"s\"" },
        { ".s", "time: invalid duration \".s\"" },
        { "3", "time: missing unit in duration \"3\"" },
        { "1m3", "time: missing unit in duration \"1m3\"" },
        { "00", "time: missing unit in duration \"00\"" },
        { "1d", "time: unknown unit \"d\" in duration \"1d\"" },
        { "1h-1m", "time: unknown unit \"h-\" in duration \"1h-1m\"" },
        { "1\xC3\xA9", "time: unknown unit \"\\xc3\\xa9\" in duration \"1\\xc3\\xa9\"" },
        { "9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\"" },
        { "-9223372036854775809ns", "time: invalid duration \"-9223372036854775809ns\"" },
        { "3000000h", "time: invalid duration \"3000000h\"" },
        { "2562047h47m17s", "time: invalid duration \"2562047h47m17s\"" },
        { "99999999999999999999s", "time: invalid duration \"99999999999999999999s\"" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ns;
        CHECK_INT(rows[i].in, duration_parse(str_of(rows[i].in), &ns, &error), ERR_BAD_REQUEST);
        CHECK_TEXT(rows[i].in, error.message, rows[i].want);
    }
    arena_fini(&arena);
}
