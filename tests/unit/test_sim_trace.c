/* Traces: what is read of CSV, what is refused and in which words; means, percentiles and charts; made traces. */
#include <stdlib.h>

#include "base/rand.h"
#include "sim/trace.h"
#include "sim/trace_chart.h"
#include "sim/trace_make.h"
#include "tests/test.h"

#define HEAD "arrival,duration,cpu,memory\n"

struct reading {
    struct trace t;
    struct arena arena;
    struct err e;
};

static bool read_csv(struct reading *r, struct str csv)
{
    arena_init(&r->arena);
    err_init(&r->e, &r->arena);
    trace_init(&r->t, "t.csv");
    char *exact = malloc(csv.n ? csv.n : 1); /* so that ASan sees any byte read behind it */
    memcpy(exact, csv.p, csv.n);
    bool good = trace_read(&r->t, (struct str){ exact, csv.n }, &r->e) == ERR_OK;
    free(exact);
    return good;
}

static void finish(struct reading *r)
{
    trace_fini(&r->t);
    arena_fini(&r->arena);
}

static const struct {
    const char *what, *csv;
    int64_t arrival_ms, duration_ms, milli_cpu, memory;
} values[] = {
    { "plain numbers", HEAD "1,2,3,4", 1000, 2000, 3000, 4 },
    { "decimals", HEAD "1.5,0.001,0.25,1.5Gi\n", 1500, 1, 250, 1610612736 },
    { "durations", HEAD "1h30m,90s,100m,128Mi\n", 5400000, 90000, 100, 134217728 },
    { "parts of a millisecond are rounded up", HEAD "0.0001,1us,1,1\n", 1, 1, 1000, 1 },
    { "exponents", HEAD "1e3,2.5E+2,1,1\n", 1000000, 250000, 1000, 1 },
    { "nothing said: for ever, no requests", HEAD "0,,,\n", 0, TRACE_FOREVER, TRACE_NOT_GIVEN, TRACE_NOT_GIVEN },
    { "columns in another order", "memory,cpu,duration,arrival\n4,3,2,1\n", 1000, 2000, 3000, 4 },
    { "CRLF, and none at the end", "arrival,duration,cpu,memory\r\n1,2,3,4\r", 1000, 2000, 3000, 4 },
    { "comments and blank lines", "# one\n\n  # two\n" HEAD "\n \t\n#\n1,2,3,4\n# end", 1000, 2000, 3000, 4 },
    { "quotes", "\"arrival\",duration,cpu,\"memory\"\n\"1\",\"2\" ,3, \"4\"\n", 1000, 2000, 3000, 4 },
    { "blanks around", HEAD " 1 ,\t2, 3 ,4 \n", 1000, 2000, 3000, 4 },
    { "a mark at the beginning", "\xef\xbb\xbf" HEAD "1,2,3,4\n", 1000, 2000, 3000, 4 },
};

TEST(values_are_read)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct reading r;
        if (!read_csv(&r, str_of(values[i].csv)))
            FAIL("%s: %s", values[i].what, r.e.message);
        CHECK_INT(values[i].what, r.t.rows.n, 1);
        CHECK_INT(values[i].what, r.t.rows.at[0].arrival_ms, values[i].arrival_ms);
        CHECK_INT(values[i].what, r.t.rows.at[0].duration_ms, values[i].duration_ms);
        CHECK_INT(values[i].what, r.t.rows.at[0].milli_cpu, values[i].milli_cpu);
        CHECK_INT(values[i].what, r.t.rows.at[0].memory, values[i].memory);
        finish(&r);
    }
}

TEST(names_are_kept_once_and_lines_sorted_by_arrival)
{
    struct reading r;
    CHECK(read_csv(&r, STR("arrival,duration,cpu,memory,priority,count,name,namespace,template\n"
                           "9,1,1,1,,,b,,\n"
                           "3,1,1,1,-5,3,a,ns,\"d\"\"q\"\n"
                           "9,1,1,1,7,0,\"a\",,\n"
                           "3,1,1,1,,,,,\"Deployment/ns/x\"\n")));
    const struct trace_row *row = r.t.rows.at;
    CHECK_INT("rows", r.t.rows.n, 4);
    CHECK_INT("pods", r.t.n_pods, 5);
    CHECK_INT("first", row[0].line, 3);
    CHECK_INT("second", row[1].line, 5);
    CHECK_INT("third, of the same time as the next", row[2].line, 2);
    CHECK_INT("fourth", row[3].line, 4);
    CHECK_INT("the same name", row[0].name, row[3].name);
    CHECK_TEXT("name", r.t.texts.at[row[0].name], "a");
    CHECK_TEXT("namespace", r.t.texts.at[row[0].ns], "ns");
    CHECK_TEXT("a quote in quotes", r.t.texts.at[row[0].template], "d\"q");
    CHECK_INT("priority", row[0].priority, -5);
    CHECK(row[0].has_priority && !row[1].has_priority);
    CHECK_INT("count", row[0].count, 3);
    CHECK_INT("no name", row[1].name, 0);
    finish(&r);
}

static const struct {
    const char *what, *csv, *message;
} refusals[] = {
    { "nothing at all", "", "t.csv, line 1: there is no line with the names of the columns" },
    { "only comments", "# x\n\n", "t.csv, line 3: there is no line with the names of the columns" },
    { "an unknown column", "arrival,duration,cpu,memory,prio\n", "t.csv, line 1: unknown column \"prio\": there are arrival," },
    { "a column twice", "arrival,duration,cpu,cpu,memory\n", "t.csv, line 1: column \"cpu\" is there twice" },
    { "no arrival", "duration,cpu,memory\n", "t.csv, line 1: column \"arrival\" is missing" },
    { "no memory", "arrival,duration,cpu\n", "t.csv, line 1: column \"memory\" is missing" },
    { "too few fields", HEAD "1,2,3\n", "t.csv, line 2: 3 fields, the columns are 4" },
    { "too many fields", HEAD "1,2,3,4,5\n", "t.csv, line 2: 5 fields, the columns are 4" },
    { "more than there are columns", HEAD "1,2,3,4,5,6,7,8,9,10\n", "t.csv, line 2: more than 9 fields" },
    { "an empty arrival", HEAD ",1,1,1\n", "t.csv, line 2: column \"arrival\" is empty" },
    { "no number", HEAD "#\nsoon,1,1,1\n",
      "t.csv, line 3, column \"arrival\": \"soon\" is neither seconds nor a duration such as 1h30m" },
    { "a duration without its unit", HEAD "1h30,1,1,1\n", "t.csv, line 2, column \"arrival\": \"1h30\" is neither" },
    { "before the beginning", HEAD "-1,1,1,1\n", "t.csv, line 2, column \"arrival\": \"-1\" is before zero" },
    { "a little before the beginning", HEAD "-1ns,1,1,1\n", "t.csv, line 2, column \"arrival\": \"-1ns\" is before zero" },
    { "after the end of all time", HEAD "1,1e99,1,1\n", "t.csv, line 2, column \"duration\": \"1e99\" is longer than 100 years" },
    { "longer than a duration", HEAD "1,999999999h,1,1\n", "t.csv, line 2, column \"duration\": \"999999999h\" is neither" },
    { "not a quantity", HEAD "1,1,much,1\n", "t.csv, line 2, column \"cpu\": \"much\": quantities must match" },
    { "less than nothing", HEAD "1,1,-100m,1\n", "t.csv, line 2, column \"cpu\": \"-100m\" is less than nothing" },
    { "too much cpu", HEAD "1,1,1E,1\n", "t.csv, line 2, column \"cpu\": \"1E\" is too much" },
    { "too much memory", HEAD "1,1,1,99999E\n", "t.csv, line 2, column \"memory\": \"99999E\" is too much" },
    { "priority with a fraction", "arrival,duration,cpu,memory,priority\n1,1,1,1,1.5\n",
      "t.csv, line 2, column \"priority\": \"1.5\" is not a whole number from -2147483648 to 2147483647" },
    { "priority too large", "arrival,duration,cpu,memory,priority\n1,1,1,1,2147483648\n",
      "t.csv, line 2, column \"priority\": \"2147483648\" is not a whole number" },
    { "only a minus", "arrival,duration,cpu,memory,priority\n1,1,1,1,-\n", "t.csv, line 2, column \"priority\": \"-\" is not" },
    { "a negative count", "arrival,duration,cpu,memory,count\n1,1,1,1,-1\n", "t.csv, line 2, column \"count\": \"-1\" is not" },
    { "too many pods", "arrival,duration,cpu,memory,count\n1,1,1,1,67108864\n1,1,1,1,1\n",
      "t.csv, line 3: more than 16777216 lines or 67108864 pods" },
    { "a name that is none", "arrival,duration,cpu,memory,name\n1,1,1,1,A b\n", "t.csv, line 2, column \"name\": \"A b\": a lowercase" },
    { "a namespace that is none", "arrival,duration,cpu,memory,namespace\n1,1,1,1,a.b\n",
      "t.csv, line 2, column \"namespace\": \"a.b\": must not contain dots" },
    { "what a terminal would act on", HEAD "1,1,\033[2J,1\n", "t.csv, line 2, column \"cpu\": \"\\x1b[2J\": quantities" },
    { "a template that is no name", "arrival,duration,template\n1,1,a b\n",
      "t.csv, line 2, column \"template\": \"a b\" is not the name of an object" },
    { "a quote that is not closed", HEAD "1,\"1,1,1\n\n", "t.csv, line 2: a quote is not closed" },
    { "a quote in the middle", HEAD "1,2\"3,1,1\n", "t.csv, line 2: a quote inside a field that does not begin with one" },
    { "text behind a quote", HEAD "1,\"2\"3,1,1\n", "t.csv, line 2: text behind a closing quote" },
    { "a long value is cut", HEAD "1,1,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,1\n",
      "t.csv, line 2, column \"cpu\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"...: " },
    { "a line that counts after a field of two lines", HEAD "1,\"\n\",1,1\n", "t.csv, line 2, column \"duration\": \"\\n\" is" },
};

TEST(what_is_wrong_is_named)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct reading r;
        if (read_csv(&r, str_of(refusals[i].csv)))
            FAIL("%s: accepted", refusals[i].what);
        CHECK_STR(refusals[i].what, str_first(str_of(r.e.message), strlen(refusals[i].message)), str_of(refusals[i].message));
        finish(&r);
    }
}

/* A line of n bytes that is wrong only for its length. */
static bool long_line_is_refused(char fill, bool quoted, size_t n)
{
    struct strbuf csv;
    strbuf_init(&csv, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&csv, HEAD);
    strbuf_add_text(&csv, quoted ? "\"" : "");
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(&csv, fill);
    strbuf_add_text(&csv, quoted ? "\",1,1,1\n" : "1,1,1,1\n");
    struct reading r;
    bool good = read_csv(&r, strbuf_str(&csv));
    bool refused = !good && strcmp(r.e.message, "t.csv, line 2: the line is longer than 65536 bytes") == 0;
    finish(&r);
    strbuf_fini(&csv);
    return refused;
}

TEST(long_lines_are_refused)
{
    CHECK(long_line_is_refused(' ', false, TRACE_LINE_BYTES_MAX + 1));
    CHECK(long_line_is_refused('0', false, TRACE_LINE_BYTES_MAX + 1));
    CHECK(long_line_is_refused('0', true, TRACE_LINE_BYTES_MAX + 1));
    CHECK(!long_line_is_refused(' ', false, TRACE_LINE_BYTES_MAX - 10));
}

/* ---- Numbers ---- */

TEST(means_are_weighted_by_time)
{
    struct trace_samples s;
    trace_samples_init(&s);
    trace_samples_add(&s, &(struct trace_level){ 100, 10, 1, 0 }, 0, 500);
    trace_samples_add(&s, &(struct trace_level){ 300, 30, 2, 4 }, 500, 2500);
    CHECK_INT("samples", s.n, 3);
    CHECK(trace_sums_mean(&s.at[0]).milli_cpu == 200);
    CHECK(trace_sums_mean(&s.at[0]).waiting == 2);
    CHECK(trace_sums_mean(&s.at[1]).memory == 30);
    CHECK_INT("the last one is shorter", s.at[2].ms, 500);
    CHECK(trace_sums_mean(&s.at[2]).running == 2);
    CHECK(trace_sums_mean(&s.total).milli_cpu == (100 * 500 + 300 * 2000) / 2500.0);
}

/* Whatever the steps, samples add up to the total and each is as long as all others, the last apart. */
TEST(samples_stay_few_and_lose_nothing)
{
    struct rand rand;
    rand_init(&rand, 7);
    for (int round = 0; round < 50; round++) {
        struct trace_samples s;
        trace_samples_init(&s);
        int64_t now = 0, step_max = 1 + (int64_t)rand_below(&rand, round % 2 ? 2000 : 5000000);
        __int128 sum = 0;
        for (int i = 0; i < 2000; i++) {
            struct trace_level level = { (int64_t)rand_below(&rand, 1u << 30), (int64_t)rand_below(&rand, 1ull << 50), 0, 0 };
            int64_t step = (int64_t)rand_below(&rand, (uint64_t)step_max + 1);
            trace_samples_add(&s, &level, now, now + step);
            sum += (__int128)level.memory * step;
            now += step;
        }
        __int128 in_samples = 0;
        int64_t ms = 0;
        CHECK(s.n <= TRACE_SAMPLES_MAX);
        for (uint32_t i = 0; i < s.n; i++) {
            in_samples += s.at[i].memory;
            ms += s.at[i].ms;
            CHECK(s.at[i].ms == s.width_ms || (i + 1 == s.n && s.at[i].ms <= s.width_ms));
        }
        CHECK(in_samples == sum && s.total.memory == sum);
        CHECK_INT("time", ms, now);
        CHECK_INT("total time", s.total.ms, now);
    }
}

static int compare_ms(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

TEST(percentiles_are_those_of_the_sorted_waits)
{
    struct rand rand;
    rand_init(&rand, 3);
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + rand_below(&rand, round < 100 ? 12 : 1000);
        int64_t *all = malloc(n * sizeof(*all)), sum = 0;
        struct trace_waits w;
        trace_waits_init(&w);
        for (size_t i = 0; i < n; i++) {
            all[i] = (int64_t)rand_below(&rand, rand_below(&rand, 3) ? 20 : 100000);
            sum += all[i];
            trace_waits_add(&w, (int32_t)rand_below(&rand, 3) - 1, all[i]);
        }
        qsort(all, n, sizeof(*all), compare_ms);
        struct trace_wait_stats s = trace_waits_stats(&w, NULL);
        CHECK_INT("n", s.n, n);
        CHECK_INT("p50", s.p50_ms, all[(n * 50 + 99) / 100 - 1]);
        CHECK_INT("p90", s.p90_ms, all[(n * 90 + 99) / 100 - 1]);
        CHECK_INT("p99", s.p99_ms, all[(n * 99 + 99) / 100 - 1]);
        CHECK_INT("max", s.max_ms, all[n - 1]);
        CHECK(s.mean_ms == (double)sum / (double)n);
        uint64_t n_of_priorities = 0;
        for (size_t i = 0; i < w.by_priority.n; i++) {
            n_of_priorities += trace_waits_stats(&w, &w.by_priority.at[i]).n;
            CHECK(i == 0 || w.by_priority.at[i].priority < w.by_priority.at[i - 1].priority);
        }
        CHECK_INT("all priorities", n_of_priorities, n);
        trace_waits_fini(&w);
        free(all);
    }
}

static const struct {
    int64_t ms;
    const char *text;
} times[] = {
    { 0, "0s" }, { 1, "0.001s" }, { 2500, "2.5s" }, { 59999, "59.999s" }, { 60000, "1m" }, { 90000, "1m30s" },
    { 3600000, "1h" }, { 5430000, "1h30m" }, { 86400000, "1d" }, { 93600000, "1d2h" }, { INT64_MAX, "106751991167d7h" },
};

TEST(times_are_readable)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        trace_add_time(&b, times[i].ms);
        CHECK_TEXT(times[i].text, strbuf_cstr(&b), times[i].text);
        strbuf_fini(&b);
    }
}

TEST(a_chart_shows_the_level)
{
    struct trace_samples s;
    trace_samples_init(&s);
    trace_samples_add(&s, &(struct trace_level){ 0, 0, 0, 0 }, 0, 1000);
    trace_samples_add(&s, &(struct trace_level){ 500, 0, 0, 0 }, 1000, 2000);
    trace_samples_add(&s, &(struct trace_level){ 1000, 0, 0, 0 }, 2000, 3000);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    trace_chart(&b, &(struct trace_chart){ &s, SERIES_CPU, 1000, { "100%", "0%" }, false, 0 });
    CHECK_TEXT("ascii", strbuf_cstr(&b),
               "    100% |                                                ########################\n"
               "         |                                                ########################\n"
               "         |                        ::::::::::::::::::::::::########################\n"
               "         |                        ################################################\n"
               "      0% |                        ################################################\n"
               "          0s                                  1.5s                              3s\n");
    strbuf_reset(&b);
    trace_chart(&b, &(struct trace_chart){ &s, SERIES_CPU, 1000, { "100%", "0%" }, true, 0 });
    CHECK(strstr(strbuf_cstr(&b), "\n         |                        ▄▄▄▄"));
    trace_samples_init(&s);
    strbuf_reset(&b);
    trace_chart(&b, &(struct trace_chart){ &s, SERIES_CPU, 1000, { "", "" }, true, 0 });
    CHECK_INT("nothing to show", b.n, 0);
    strbuf_fini(&b);
}

/* ---- Made ones ---- */

static bool collect(void *context, struct str piece)
{
    strbuf_add_str(context, piece);
    return true;
}

static void make(struct strbuf *to, uint64_t n_pods, double hours, uint64_t seed)
{
    strbuf_init(to, STRBUF_NO_MAX);
    CHECK(trace_make(&(struct trace_make){ n_pods, seed, hours }, collect, to));
}

TEST(made_traces_can_be_read)
{
    static const uint64_t sizes[] = { 1, 2, 10, 1000, 20000 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct strbuf csv;
        make(&csv, sizes[i], 36, i);
        struct reading r;
        if (!read_csv(&r, strbuf_str(&csv)))
            FAIL("%s", r.e.message);
        CHECK_INT("pods", r.t.n_pods, sizes[i]);
        for (size_t k = 0; k < r.t.rows.n; k++) {
            CHECK(r.t.rows.at[k].arrival_ms <= 36 * 3600000ll);
            CHECK(k == 0 || r.t.rows.at[k].line > r.t.rows.at[k - 1].line); /* as it was written: in order */
            CHECK(r.t.rows.at[k].duration_ms >= 1000 && r.t.rows.at[k].count >= 1);
        }
        finish(&r);
        strbuf_fini(&csv);
    }
}

TEST(a_seed_makes_one_trace)
{
    struct strbuf a, b, c;
    make(&a, 5000, 24, 1);
    make(&b, 5000, 24, 1);
    make(&c, 5000, 24, 2);
    CHECK_STR("same seed", strbuf_str(&b), strbuf_str(&a));
    CHECK(!str_eq(strbuf_str(&c), strbuf_str(&a)));
    strbuf_fini(&a);
    strbuf_fini(&b);
    strbuf_fini(&c);
}

/* The rate around noon is three times that around midnight. */
TEST(more_arrives_by_day)
{
    struct strbuf csv;
    make(&csv, 200000, 24, 5);
    struct reading r;
    CHECK(read_csv(&r, strbuf_str(&csv)));
    double at_noon = 0, at_midnight = 0;
    for (size_t i = 0; i < r.t.rows.n; i++) {
        int64_t hour = r.t.rows.at[i].arrival_ms / 3600000;
        at_noon += hour == 11 || hour == 12;
        at_midnight += hour == 0 || hour == 23;
    }
    CHECK(at_noon / at_midnight > 2.6 && at_noon / at_midnight < 3.3);
    finish(&r);
    strbuf_fini(&csv);
}

static bool stop_at_once(void *context, struct str piece)
{
    (void)piece;
    ++*(int *)context;
    return false;
}

TEST(making_stops_when_nobody_reads)
{
    int n = 0;
    CHECK(!trace_make(&(struct trace_make){ 100000, 1, 24 }, stop_at_once, &n));
    CHECK_INT("pieces", n, 1);
}
