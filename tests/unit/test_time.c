/* Times: what Go's time.Parse takes and how it complains, the calendar, and writing in UTC. */
#include "api/time.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;

static void start(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
}

static struct str written(struct timestamp t, bool micro)
{
    struct strbuf b;
    strbuf_init(&b, 100);
    if (micro)
        timestamp_add_micro(&b, t);
    else
        timestamp_add(&b, t);
    struct str text = arena_str(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(times_are_read)
{
    static const struct {
        const char *name, *in;
        int64_t seconds;
        int32_t nanos;
        const char *want;
    } rows[] = {
        { "the epoch", "1970-01-01T00:00:00Z", 0, 0, "1970-01-01T00:00:00Z" },
        { "the second before", "1969-12-31T23:59:59Z", -1, 0, "1969-12-31T23:59:59Z" },
        { "a leap day", "2024-02-29T12:00:00Z", 1709208000, 0, "2024-02-29T12:00:00Z" },
        { "a leap day of a fourth century", "2000-02-29T00:00:00Z", 951782400, 0, "2000-02-29T00:00:00Z" },
        { "the last year", "9999-12-31T23:59:59Z", 253402300799, 0, "9999-12-31T23:59:59Z" },
        { "year 0", "0000-01-01T00:00:00Z", -62167219200, 0, "0000-01-01T00:00:00Z" },
        { "east of Greenwich is earlier", "2024-01-01T00:30:00+01:00", 1704065400, 0,
          "2023-12-31T23:30:00Z" },
        { "west is later", "2024-01-01T00:00:00-00:30", 1704069000, 0, "2024-01-01T00:30:00Z" },
        { "offset of 24:60", "2024-01-01T00:00:00-24:60", 1704157200, 0, "2024-01-02T01:00:00Z" },
        { "fraction", "2024-01-01T00:00:00.5Z", 1704067200, 500000000, "2024-01-01T00:00:00Z" },
        { "ten digits of a second", "2024-01-01T00:00:00.1234567899Z", 1704067200, 123456789,
          "2024-01-01T00:00:00Z" },
        { "comma", "2024-01-01T00:00:00,25Z", 1704067200, 250000000, "2024-01-01T00:00:00Z" },
        { "hour of one digit", "2024-01-01T1:00:00Z", 1704070800, 0, "2024-01-01T01:00:00Z" },
        { "an offset into year -1", "0000-01-01T00:00:00+01:00", -62167222800, 0, "-0001-12-31T23:00:00Z" },
        { "an offset past 9999", "9999-12-31T23:59:59-01:00", 253402304399, 0, "10000-01-01T00:59:59Z" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct timestamp t;
        if (timestamp_parse(str_of(rows[i].in), &t, &error))
            FAIL("%s: %s", rows[i].name, error.message);
        CHECK_INT(rows[i].name, t.seconds, rows[i].seconds);
        CHECK_INT(rows[i].name, t.nanos, rows[i].nanos);
        CHECK_STR(rows[i].name, written(t, false), str_of(rows[i].want));
    }
    arena_fini(&arena);
}

#define AS "as \"2006-01-02T15:04:05Z07:00\": cannot parse "

TEST(bad_times_are_refused_in_the_words_of_go)
{
    static const struct {
        struct str in;
        const char *want;
    } rows[] = {
        { STR(""), "parsing time \"\" " AS "\"\" as \"2006\"" },
        { STR("x"), "parsing time \"x\" " AS "\"x\" as \"2006\"" },
        { STR("+024-01-01"), "parsing time \"+024-01-01\" " AS "\"+024-01-01\" as \"2006\"" },
        { STR("2024"), "parsing time \"2024\" " AS "\"\" as \"-\"" },
        { STR("20240101T000000Z"), "parsing time \"20240101T000000Z\" " AS "\"0101T000000Z\" as \"-\"" },
        { STR("2024-1-01T00:00:00Z"),
          "parsing time \"2024-1-01T00:00:00Z\" " AS "\"1-01T00:00:00Z\" as \"01\"" },
        { STR("2024-13-01T00:00:00Z"), "parsing time \"2024-13-01T00:00:00Z\": month out of range" },
        { STR("2024-00-01T00:00:00Z"), "parsing time \"2024-00-01T00:00:00Z\": month out of range" },
        { STR("2024-01-01t00:00:00z"),
          "parsing time \"2024-01-01t00:00:00z\" " AS "\"t00:00:00z\" as \"T\"" },
        { STR("2024-01-01T24:00:00Z"), "parsing time \"2024-01-01T24:00:00Z\": hour out of range" },
        { STR("2024-01-01T00:60:00Z"), "parsing time \"2024-01-01T00:60:00Z\": minute out of range" },
        { STR("2024-01-01T00:00:60Z"), "parsing time \"2024-01-01T00:00:60Z\": second out of range" },
        { STR("2009-06-30T16:41: 31Z"), "parsing time \"2009-06-30T16:41: 31Z\" " AS "\" 31Z\" as \"05\"" },
        { STR("2024-01-01T00:00:00"), "parsing time \"2024-01-01T00:00:00\" " AS "\"\" as \"Z07:00\"" },
        { STR("2024-01-01T00:00:00.Z"),
          "parsing time \"2024-01-01T00:00:00.Z\" " AS "\".Z\" as \"Z07:00\"" },
        { STR("2024-01-01T00:00:00 01:00"),
          "parsing time \"2024-01-01T00:00:00 01:00\" " AS "\" 01:00\" as \"Z07:00\"" },
        { STR("2024-01-01T00:00:00+25:00"),
          "parsing time \"2024-01-01T00:00:00+25:00\": time zone offset hour out of range" },
        { STR("2024-01-01T00:00:00*25:61"),
          "parsing time \"2024-01-01T00:00:00*25:61\": time zone offset minute out of range" },
        { STR("2024-01-01T00:00:00Z2"), "parsing time \"2024-01-01T00:00:00Z2\": extra text: \"2\"" },
        { STR("2024-02-30T00:00:00Z"), "parsing time \"2024-02-30T00:00:00Z\": day out of range" },
        { STR("1900-02-29T00:00:00Z"), "parsing time \"1900-02-29T00:00:00Z\": day out of range" },
        { STR("2024-04-00T00:00:00Z"), "parsing time \"2024-04-00T00:00:00Z\": day out of range" },
        { STR("2024-04-31T00:00:00Z!"), "parsing time \"2024-04-31T00:00:00Z!\": extra text: \"!\"" },
        { STR("\"\\\n\0\x7f\xc3\xa9\xff"), "parsing time \"\\\"\\\\\\x0a\\x00\x7f\\xc3\\xa9\\xff\" " AS
                                           "\"\\\"\\\\\\x0a\\x00\x7f\\xc3\\xa9\\xff\" as \"2006\"" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct timestamp t;
        CHECK_INT(rows[i].want, timestamp_parse(rows[i].in, &t, &error), ERR_BAD_REQUEST);
        CHECK_TEXT(rows[i].want, error.message, rows[i].want);
    }
    arena_fini(&arena);
}

#undef AS
#define AS "as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "

TEST(micro_times_want_six_digits)
{
    static const struct {
        const char *in, *want; /* written again, or the error */
    } rows[] = {
        { "2024-01-01T00:00:00.123456Z", "2024-01-01T00:00:00.123456Z" },
        { "2024-01-01T00:00:00,000001+01:00", "2023-12-31T23:00:00.000001Z" },
        { "2024-01-01T00:00:00.+00012Z", "2024-01-01T00:00:00.000012Z" },
        { "2024-01-01T00:00:00.-00000Z", "2024-01-01T00:00:00.000000Z" },
        { "2024-01-01T00:00:00.-00001Z",
          "parsing time \"2024-01-01T00:00:00.-00001Z\": fractional second out of range" },
        { "2024-01-01T00:00:00Z", "parsing time \"2024-01-01T00:00:00Z\" " AS "\"Z\" as \".000000\"" },
        { "2024-01-01T00:00:00.123Z",
          "parsing time \"2024-01-01T00:00:00.123Z\" " AS "\".123Z\" as \".000000\"" },
        { "2024-01-01T00:00:00.1234567Z",
          "parsing time \"2024-01-01T00:00:00.1234567Z\" " AS "\"7Z\" as \"Z07:00\"" },
        { "2024-01-01T00:00:00x123456Z",
          "parsing time \"2024-01-01T00:00:00x123456Z\" " AS "\"x123456Z\" as \".000000\"" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct timestamp t;
        bool ok = !timestamp_parse_micro(str_of(rows[i].in), &t, &error);
        CHECK_STR(rows[i].in, ok ? written(t, true) : str_of(error.message), str_of(rows[i].want));
    }
    arena_fini(&arena);
}

TEST(year_one_is_the_zero_time)
{
    struct timestamp t;
    start();
    CHECK(!timestamp_parse(STR("0001-01-01T00:00:00Z"), &t, &error));
    CHECK(timestamp_is_zero(t));
    CHECK(timestamp_cmp(t, TIMESTAMP_ZERO) == 0);
    CHECK(!timestamp_parse(STR("0001-01-01T00:00:00.000000001Z"), &t, &error));
    CHECK(!timestamp_is_zero(t));
    CHECK(timestamp_cmp(t, TIMESTAMP_ZERO) > 0);
    CHECK(!timestamp_is_zero((struct timestamp){ 0 }));
    arena_fini(&arena);
}

TEST(unix_times_carry_nanoseconds)
{
    static const struct {
        int64_t seconds, nanos;
        const char *want;
    } rows[] = {
        { 0, 0, "1970-01-01T00:00:00.000000Z" },
        { 1, 2500000999, "1970-01-01T00:00:03.500000Z" },
        { 0, -1, "1969-12-31T23:59:59.999999Z" },
        { 0, -1000000000, "1969-12-31T23:59:59.000000Z" },
        { INT64_MAX, 0, "292277026596-12-04T15:30:07.000000Z" },
        { INT64_MIN, 0, "-292277022657-01-27T08:29:52.000000Z" },
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_STR(rows[i].want, written(timestamp_unix(rows[i].seconds, rows[i].nanos), true),
                  str_of(rows[i].want));
    CHECK_INT("wraps", timestamp_unix(INT64_MAX, 1000000000).seconds, INT64_MIN);
    arena_fini(&arena);
}

/* Writing and reading use different formulas, which must agree on every day of more than 400 years. */
TEST(every_day_comes_back)
{
    start();
    struct strbuf b;
    strbuf_init(&b, 100);
    for (int64_t day = -100; day < 146200; day++) {
        struct timestamp t = { (day - 25567) * 86400 + day % 86400, 0 }, again; /* from 1899 on */
        strbuf_reset(&b);
        timestamp_add(&b, t);
        CHECK(!timestamp_parse(strbuf_str(&b), &again, &error));
        CHECK_INT("seconds", again.seconds, t.seconds);
    }
    strbuf_fini(&b);
    arena_fini(&arena);
}
