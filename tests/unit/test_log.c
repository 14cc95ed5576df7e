/* Log: both forms byte for byte, verbosity and vmodule, settings that are refused, one write a record. */
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "tests/test.h"

static struct strbuf out;
static struct clock_manual now;

static void keep(void *context, struct str record)
{
    (void)context;
    strbuf_add_str(&out, record);
}

/* 2023-11-14 22:13:20.000123 UTC */
static void start(const char *format)
{
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    setenv("TZ", "UTC", 1);
    strbuf_fini(&out);
    strbuf_init(&out, STRBUF_NO_MAX);
    clock_manual_init(&now, 0, 1700000000000123456);
    log_set_clock(&now.clock);
    log_set_sink(keep, NULL);
    CHECK(log_set_format(str_of(format), &e) == ERR_OK);
    arena_fini(&a);
}

/* The record without what stands up to "] " (text) or "caller":"..." (JSON). */
static void expect(const char *what, const char *mark, const char *want)
{
    const char *at = strstr(strbuf_cstr(&out), mark);
    CHECK(at != NULL);
    CHECK_TEXT(what, at + strlen(mark), want);
    strbuf_reset(&out);
}

#define ALL_PAIRS                                                                          \
    KS("s", "va\"l\x01\x7f\xe2\x80\xa8\xc3\xa9\xff<&>"), KI("n", -3), KF("f", 1.5),        \
        KF("big", 1e21), KF("small", 1e-7), KB("b", true), KB("c", false),                 \
        KO("pod", "ns", STR("nm")), KO("node", "", "nm"), KU("u", 1ull << 63), KS("empty", STR(""))

TEST(text_records_look_like_klogs)
{
    start("text");
    LOG(0, "Message \"q\" \n x", ALL_PAIRS);
    char header[128];
    snprintf(header, sizeof(header), "I1114 22:13:20.000123 %7d test_log.c:%d] ", (int)getpid(), __LINE__ - 2);
    CHECK_STR("header", str_first(strbuf_str(&out), strlen(header)), str_of(header));
    expect("pairs", "] ",
           "\"Message \\\"q\\\" \\n x\" s=\"va\\\"l\\x01\\x7f\\u2028\xc3\xa9\\xff<&>\" n=-3 f=1.5 "
           "big=1e+21 small=1e-7 b=true c=false pod=\"ns/nm\" node=\"nm\" u=9223372036854775808 empty=\"\"\n");
    LOG(0, "No pairs");
    expect("no pairs", "] ", "\"No pairs\"\n");
    LOG(0, "Odd", KF("x", (double)INFINITY), KS("none", (const char *)NULL));
    expect("no finite number", "] ", "\"Odd\" x=\"+Inf\" none=\"\"\n");
}

TEST(plain_lines_are_written_as_they_are)
{
    start("text");
    LOG_PLAIN(0, "FLAG: --v=\"2\"");
    CHECK_STR("severity", str_first(strbuf_str(&out), 1), STR("I"));
    expect("plain", "] ", "FLAG: --v=\"2\"\n");
    LOG_WARNING("odd");
    CHECK_STR("severity", str_first(strbuf_str(&out), 1), STR("W"));
    expect("warning", "] ", "odd\n");
    LOG_PLAIN(1, "more");
    CHECK_INT("not at this level", out.n, 0);
    start("json");
    LOG_WARNING("odd \"q\"");
    expect("warning", "\",\"msg\"", ":\"odd \\\"q\\\"\",\"v\":0}\n");
}

TEST(text_values_with_line_breaks_become_blocks)
{
    static const struct {
        const char *what, *value, *want;
    } cases[] = {
        { "two lines", "a\nb", "\"m\" k=<\n\ta\n\tb\n > after=1\n" },
        { "a line break at the end", "a\nb\n", "\"m\" k=<\n\ta\n\tb\n > after=1\n" },
        { "only a line break", "\n", "\"m\" k=<\n\t\n > after=1\n" },
        { "what a terminal would obey", "a\x1b[2J\n\xe2\x80\xae" "b\x9b\r",
          "\"m\" k=<\n\ta\\x1b[2J\n\t\\u202eb\\x9b\\r\n > after=1\n" },
        { "an empty line inside", "a\n\n\"b\"", "\"m\" k=<\n\ta\n\t\n\t\"b\"\n > after=1\n" },
    };
    start("text");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        LOG(0, "m", KS("k", cases[i].value), KI("after", 1));
        expect(cases[i].what, "] ", cases[i].want);
    }
}

TEST(text_errors_name_the_cause_first)
{
    start("text");
    LOG_ERROR("bad\tx", "it failed", KS("k", "v"));
    CHECK(out.p[0] == 'E');
    expect("cause", "] ", "\"it failed\" err=\"bad\\tx\" k=\"v\"\n");
    LOG_ERROR(NULL, "it failed", KS("k", "v"));
    expect("no cause", "] ", "\"it failed\" k=\"v\"\n");
}

TEST(json_records_look_like_component_bases)
{
    start("json");
    LOG(0, "Message \"q\" \n x", ALL_PAIRS);
    char head[128];
    snprintf(head, sizeof(head), "{\"ts\":1700000000000.1233,\"caller\":\"unit/test_log.c:%d\",", __LINE__ - 2);
    expect("record", head,
           "\"msg\":\"Message \\\"q\\\" \\n x\",\"v\":0,\"s\":\"va\\\"l\\u0001\\u007f\\u2028\xc3\xa9"
           "\\ufffd<&>\",\"n\":-3,\"f\":1.5,\"big\":1000000000000000000000,\"small\":0.0000001,\"b\":true,"
           "\"c\":false,\"pod\":{\"name\":\"nm\",\"namespace\":\"ns\"},\"node\":{\"name\":\"nm\"},"
           "\"u\":9223372036854775808,\"empty\":\"\"}\n");
    log_set_level_number(2);
    LOG(2, "ctl \x1f\r\t\\/", KF("x", (double)NAN), KS("multi", "a\nb"));
    expect("level and escapes", "\",\"msg\":",
           "\"ctl \\u001f\\r\\t\\\\/\",\"v\":2,\"x\":\"NaN\",\"multi\":\"a\\nb\"}\n");
}

TEST(json_errors_name_the_cause_last_and_have_no_level)
{
    start("json");
    LOG_ERROR("bad\nx", "it failed", KS("k", "v"));
    expect("cause", "\",\"msg\":", "\"it failed\",\"k\":\"v\",\"err\":\"bad\\nx\"}\n");
    LOG_ERROR(NULL, "it failed");
    expect("no cause", "\",\"msg\":", "\"it failed\"}\n");
}

TEST(long_values_are_cut)
{
    static char value[LOG_VALUE_BYTES_MAX + 2];
    memset(value, 'x', sizeof(value));
    static const char *const formats[] = { "text", "json" };
    for (int i = 0; i < 2; i++) {
        start(formats[i]);
        LOG(0, "m", KS("k", ((struct str){ value, LOG_VALUE_BYTES_MAX })));
        CHECK(strstr(strbuf_cstr(&out), "...") == NULL);
        strbuf_reset(&out);
        LOG(0, "m", KS("k", ((struct str){ value, LOG_VALUE_BYTES_MAX + 1 })));
        expect(formats[i], "x...", i == 0 ? "\"\n" : "\"}\n");
    }
}

TEST(records_are_written_up_to_the_verbosity)
{
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    start("text");
    int n_evaluated = 0;
    LOG(1, "off by default", KI("n", n_evaluated++));
    CHECK(out.n == 0 && n_evaluated == 0);
    CHECK(log_set_level(STR("3"), &e) == ERR_OK);
    CHECK_INT("level", log_level(), 3);
    LOG(3, "on", KI("n", n_evaluated++));
    LOG(4, "off", KI("n", n_evaluated++));
    CHECK_INT("evaluated", n_evaluated, 1);
    expect("one record", "] ", "\"on\" n=0\n");
    log_set_level_number(0);
    LOG_ERROR("x", "errors always come");
    expect("error", "] ", "\"errors always come\" err=\"x\"\n");
    arena_fini(&a);
}

TEST(vmodule_raises_the_level_of_files)
{
    static const struct {
        const char *what, *list;
        int32_t max_on; /* for records in this file, --v=1 */
    } cases[] = {
        { "no list", "", 1 },
        { "the name of the file", "test_log=4", 4 },
        { "not with its extension", "test_log.c=4", 1 },
        { "a star", "test*=3", 3 },
        { "question marks", "test?l?g=3", 3 },
        { "a set of letters", "test_[a-m]og=3", 3 },
        { "another file", "queue=9", 1 },
        { "the first match counts", "t*=2,test_log=9", 2 },
        { "a level of 0 is ignored", "test_log=0,test_log=5", 5 },
        { "empty entries are ignored", ",,test_log=4,", 4 },
        { "below the verbosity", "queue=0", 1 },
        { "it does not match a part", "test_lo=4", 1 },
    };
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    start("text");
    log_set_level_number(1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(log_set_vmodule(str_of(cases[i].list), &e) == ERR_OK);
        for (int32_t level = 0; level < 12; level++)
            CHECK_INT(cases[i].what, LOG_ON(level), level <= cases[i].max_on);
    }
    CHECK_INT("threshold", atomic_load(&log_threshold), 4);
    CHECK(log_set_vmodule(STR(""), &e) == ERR_OK);
    CHECK_INT("threshold", atomic_load(&log_threshold), 1);
    arena_fini(&a);
}

TEST(bad_settings_are_refused_and_change_nothing)
{
    static const struct {
        enum err_code (*set)(struct str, struct err *);
        const char *value, *want;
    } cases[] = {
        { log_set_format, "bogus", "format: Invalid value: \"bogus\": Unsupported log format" },
        { log_set_level, "", "strconv.ParseUint: parsing \"\": invalid syntax" },
        { log_set_level, "x", "strconv.ParseUint: parsing \"x\": invalid syntax" },
        { log_set_level, "-1", "strconv.ParseUint: parsing \"-1\": invalid syntax" },
        { log_set_level, "1 ", "strconv.ParseUint: parsing \"1 \": invalid syntax" },
        { log_set_level, "2147483648", "strconv.ParseUint: parsing \"2147483648\": value out of range" },
        { log_set_level, "99999999999999999999999",
          "strconv.ParseUint: parsing \"99999999999999999999999\": value out of range" },
        { log_set_vmodule, "a", "\"a\" does not have the pattern=N format" },
        { log_set_vmodule, "b=1,=2", "\"=2\" does not have the pattern=N format" },
        { log_set_vmodule, "a=", "\"a=\" does not have the pattern=N format" },
        { log_set_vmodule, "a=1=2", "\"a=1=2\" does not have the pattern=N format" },
        { log_set_vmodule, "a=x",
          "parsing verbosity in \"a=x\": strconv.ParseUint: parsing \"x\": invalid syntax" },
    };
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    start("json");
    CHECK(log_set_level(STR("2147483647"), &e) == ERR_OK);
    log_set_level_number(2);
    CHECK(log_set_vmodule(STR("test_log=5"), &e) == ERR_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(cases[i].value, cases[i].set(str_of(cases[i].value), &e), ERR_INVALID);
        CHECK_TEXT(cases[i].value, e.message, cases[i].want);
    }
    struct strbuf list;
    strbuf_init(&list, STRBUF_NO_MAX);
    for (int i = 0; i <= LOG_VMODULE_MAX; i++)
        strbuf_add_text(&list, "a=1,");
    CHECK_INT("too many", log_set_vmodule(strbuf_str(&list), &e), ERR_INVALID);
    strbuf_fini(&list);
    CHECK(LOG_ON(5) && !LOG_ON(6) && log_level() == 2);
    LOG(0, "still JSON");
    CHECK(out.p[0] == '{');
    arena_fini(&a);
}

/* Each write to a datagram socket is one message. */
TEST(standard_error_gets_one_write_a_record)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    int saved = dup(STDERR_FILENO);
    dup2(ends[0], STDERR_FILENO);
    errno = 77;
    LOG(0, "first", KS("k", "a\nb"));
    LOG_ERROR("x", "second");
    int errno_after = errno;
    dup2(saved, STDERR_FILENO);
    CHECK_INT("errno is kept", errno_after, 77);
    char got[2][512];
    for (int i = 0; i < 2; i++) {
        ssize_t n = recv(ends[1], got[i], sizeof(got[i]) - 1, MSG_DONTWAIT);
        CHECK(n > 0);
        got[i][n] = '\0';
    }
    CHECK(strstr(got[0], "\"first\" k=<\n\ta\n\tb\n >\n") && strstr(got[1], "\"second\" err=\"x\"\n"));
}

static void *log_a_lot(void *context)
{
    for (int i = 0; i < 2000; i++)
        LOG(3, "message", KI("thread", (intptr_t)context), KI("i", i));
    return NULL;
}

TEST(threads_may_log_while_settings_change)
{
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    start("text");
    log_set_level_number(3);
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, log_a_lot, (void *)i) == 0);
    for (int i = 0; i < 200; i++) {
        log_set_level_number(i % 2 ? 3 : 0);
        CHECK(log_set_vmodule(i % 2 ? STR("") : STR("test_log=3"), &e) == ERR_OK);
        CHECK(log_set_format(i % 3 ? STR("text") : STR("json"), &e) == ERR_OK);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int n_lines = 0;
    for (struct str rest = strbuf_str(&out); rest.n; n_lines++) {
        struct str line = str_first(rest, str_index(rest, '\n'));
        CHECK(line.p[0] == '{' ? str_ends(line, STR("}")) : str_starts(line, STR("I1114 ")));
        rest = str_from(rest, line.n + 1);
    }
    CHECK(n_lines > 0 && n_lines <= 8000);
    strbuf_fini(&out);
    arena_fini(&a);
}
