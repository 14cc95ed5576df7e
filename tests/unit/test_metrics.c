/* Metrics: the text format byte for byte, series and their bound, updates from many threads. */
#include "base/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/test.h"

static void expect(const char *what, struct metrics *m, const char *want)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    metrics_write(m, &b);
    CHECK_STR(what, strbuf_str(&b), str_of(want));
    strbuf_fini(&b);
}

/* Go's client prints exactly this for the same calls. */
TEST(text_is_what_gos_client_prints)
{
    struct metrics *m = metrics_new();
    struct metric *c = metrics_add_counter(
        m, &(struct metric_desc){ "b_total", "He\\lp\nline \"q\"", { "zone", "app" } });
    struct str odd = STR("x\"y\\z\nw");
    series_inc(metric_series(c, (struct str[]){ STR("b"), odd }));
    series_add(metric_series(c, (struct str[]){ STR("a"), odd }), 1234567);
    series_add(metric_series(c, (struct str[]){ STR("c"), STR("") }), 0.1);
    series_add(metric_series(c, (struct str[]){ STR("c"), STR("B") }), 100000);
    series_add(metric_series(c, (struct str[]){ STR("c"), STR("a") }), 1e21);

    double bounds[4];
    metrics_exponential_bounds(0.001, 2, 4, bounds);
    struct metric *h =
        metrics_add_histogram(m, &(struct metric_desc){ "a_seconds", "", { "op", "zz" } }, bounds, 4);
    struct series *x = metric_series(h, (struct str[]){ STR("x"), STR("1") });
    series_observe(x, 0.001);
    series_observe(x, 0.0011);
    series_observe(x, 5);

    series_set(metric_series(metrics_add_gauge(m, &(struct metric_desc){ "c_gauge", "g" }), NULL),
               -(double)INFINITY);
    metrics_linear_bounds(0.1, 0.1, 4, bounds);
    struct metric *plain = metrics_add_histogram(m, &(struct metric_desc){ "plain", "p" }, bounds, 4);
    series_observe(metric_series(plain, NULL), (double)NAN);
    metrics_add_counter(m, &(struct metric_desc){ "never", "x", { "zone" } });
    series_set(metric_series(metrics_add_gauge(m, &(struct metric_desc){ "nan_gauge", "g" }), NULL),
               (double)NAN);
    expect("all", m,
           "# HELP a_seconds \n"
           "# TYPE a_seconds histogram\n"
           "a_seconds_bucket{op=\"x\",zz=\"1\",le=\"0.001\"} 1\n"
           "a_seconds_bucket{op=\"x\",zz=\"1\",le=\"0.002\"} 2\n"
           "a_seconds_bucket{op=\"x\",zz=\"1\",le=\"0.004\"} 2\n"
           "a_seconds_bucket{op=\"x\",zz=\"1\",le=\"0.008\"} 2\n"
           "a_seconds_bucket{op=\"x\",zz=\"1\",le=\"+Inf\"} 3\n"
           "a_seconds_sum{op=\"x\",zz=\"1\"} 5.0021\n"
           "a_seconds_count{op=\"x\",zz=\"1\"} 3\n"
           "# HELP b_total He\\\\lp\\nline \"q\"\n"
           "# TYPE b_total counter\n"
           "b_total{app=\"\",zone=\"c\"} 0.1\n"
           "b_total{app=\"B\",zone=\"c\"} 100000\n"
           "b_total{app=\"a\",zone=\"c\"} 1e+21\n"
           "b_total{app=\"x\\\"y\\\\z\\nw\",zone=\"a\"} 1.234567e+06\n"
           "b_total{app=\"x\\\"y\\\\z\\nw\",zone=\"b\"} 1\n"
           "# HELP c_gauge g\n"
           "# TYPE c_gauge gauge\n"
           "c_gauge -Inf\n"
           "# HELP nan_gauge g\n"
           "# TYPE nan_gauge gauge\n"
           "nan_gauge NaN\n"
           "# HELP plain p\n"
           "# TYPE plain histogram\n"
           "plain_bucket{le=\"0.1\"} 0\n"
           "plain_bucket{le=\"0.2\"} 0\n"
           "plain_bucket{le=\"0.30000000000000004\"} 0\n"
           "plain_bucket{le=\"0.4\"} 0\n"
           "plain_bucket{le=\"+Inf\"} 1\n"
           "plain_sum NaN\n"
           "plain_count 1\n");
    metrics_free(m);
}

static double read_depth(void *context)
{
    return *(double *)context;
}

TEST(a_metric_without_labels_starts_at_zero_and_gauges_move_both_ways)
{
    struct metrics *m = metrics_new();
    struct series *c = metric_series(metrics_add_counter(m, &(struct metric_desc){ "c", "c" }), NULL);
    struct series *g = metric_series(metrics_add_gauge(m, &(struct metric_desc){ "g", "g" }), NULL);
    struct series *f = metric_series(metrics_add_gauge(m, &(struct metric_desc){ "f", "f" }), NULL);
    double depth = 7;
    series_read_from(f, read_depth, &depth);
    expect("at first", m,
           "# HELP c c\n# TYPE c counter\nc 0\n# HELP f f\n# TYPE f gauge\nf 7\n"
           "# HELP g g\n# TYPE g gauge\ng 0\n");
    series_inc(c);
    series_set(g, 5);
    series_add(g, -7.5);
    depth = -0.0;
    expect("then", m,
           "# HELP c c\n# TYPE c counter\nc 1\n# HELP f f\n# TYPE f gauge\nf 0\n"
           "# HELP g g\n# TYPE g gauge\ng -2.5\n");
    CHECK(series_value(c) == 1 && series_value(g) == -2.5);
    metrics_free(m);
}

TEST(label_sets_are_found_again_and_never_confused)
{
    struct metrics *m = metrics_new();
    struct metric *c = metrics_add_counter(m, &(struct metric_desc){ "c", "c", { "a", "b" } });
    struct str sets[][2] = {
        { STR("x"), STR("yz") }, { STR("xy"), STR("z") },     { STR(""), STR("xyz") },
        { STR("xyz"), STR("") }, { STR("1:x"), STR("1:yz") }, { STR("\xff"), STR("\xff\xff") },
    };
    enum { N = sizeof(sets) / sizeof(sets[0]) };
    struct series *s[N];
    for (int i = 0; i < N; i++)
        s[i] = metric_series(c, sets[i]);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            CHECK((metric_series(c, sets[i]) == s[k]) == (i == k));
    metrics_free(m);
}

TEST(a_full_metric_counts_and_hides_new_label_sets)
{
    struct metrics *m = metrics_new();
    struct metric *c =
        metrics_add_counter(m, &(struct metric_desc){ "c", "c", { "path" }, .n_series_max = 2 });
    char path[] = "/0";
    for (int i = 0; i < 9; i++, path[1]++)
        series_inc(metric_series(c, &(struct str){ path, 2 }));
    series_inc(metric_series(c, &STR("/1")));
    CHECK_INT("dropped", metrics_n_dropped(m), 7);
    expect("two", m, "# HELP c c\n# TYPE c counter\nc{path=\"/0\"} 1\nc{path=\"/1\"} 2\n");
    metrics_free(m);
}

TEST(label_values_that_are_too_long_or_not_utf8_do_no_harm)
{
    struct metrics *m = metrics_new();
    struct metric *c = metrics_add_counter(m, &(struct metric_desc){ "c", "c", { "path" } });
    static char path[METRIC_VALUE_BYTES_MAX + 1];
    memset(path, 'x', sizeof(path));
    series_inc(metric_series(c, &(struct str){ path, METRIC_VALUE_BYTES_MAX + 1 }));
    CHECK_INT("dropped", metrics_n_dropped(m), 1);
    series_inc(metric_series(c, &STR("a\xff\xc3\xa9")));
    expect("the other", m, "# HELP c c\n# TYPE c counter\nc{path=\"a\xEF\xBF\xBD\xc3\xa9\"} 1\n");
    series_inc(metric_series(c, &(struct str){ path, METRIC_VALUE_BYTES_MAX }));
    CHECK_INT("dropped", metrics_n_dropped(m), 1);
    metrics_free(m);
}

enum { N_THREADS = 4, N_UPDATES = 20000 };

struct shared {
    struct metrics *m;
    struct metric *by_label, *durations;
    struct series *total;
};

static void *update(void *context)
{
    const struct shared *s = context;
    for (int i = 0; i < N_UPDATES; i++) {
        char label = (char)('a' + i % 20);
        series_inc(s->total);
        series_inc(metric_series(s->by_label, &(struct str){ &label, 1 }));
        series_observe(metric_series(s->durations, NULL), i % 4);
    }
    return NULL;
}

TEST(threads_lose_no_update)
{
    struct shared s = { .m = metrics_new() };
    static const double bounds[] = { 0, 1, 2 };
    s.by_label = metrics_add_counter(s.m, &(struct metric_desc){ "by_label", "", { "l" } });
    s.durations = metrics_add_histogram(s.m, &(struct metric_desc){ "durations", "" }, bounds, 3);
    s.total = metric_series(metrics_add_counter(s.m, &(struct metric_desc){ "total", "" }), NULL);
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, update, &s) == 0);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (int i = 0; i < 50; i++) {
        strbuf_reset(&b);
        metrics_write(s.m, &b);
    }
    strbuf_fini(&b);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT("total", series_value(s.total), N_THREADS * N_UPDATES);
    for (char label = 'a'; label < 'a' + 20; label++)
        CHECK_INT("by label", series_value(metric_series(s.by_label, &(struct str){ &label, 1 })),
                  N_THREADS * N_UPDATES / 20);
    CHECK_INT("observed", series_value(metric_series(s.durations, NULL)), N_THREADS * N_UPDATES);
    strbuf_init(&b, STRBUF_NO_MAX);
    metrics_write(s.m, &b);
    CHECK(strstr(strbuf_cstr(&b), "durations_bucket{le=\"1\"} 40000\n"));
    CHECK(strstr(strbuf_cstr(&b), "durations_sum 120000\n"));
    strbuf_fini(&b);
    metrics_free(s.m);
}

TEST(stability_stands_before_the_help)
{
    struct metrics *m = metrics_new();
    metrics_add_counter(m, &(struct metric_desc){ "a_total", "A.", .stability = STABILITY_STABLE });
    metrics_add_counter(m, &(struct metric_desc){ "b_total", "B.", .stability = STABILITY_ALPHA });
    expect("prefixes", m,
           "# HELP a_total [STABLE] A.\n# TYPE a_total counter\na_total 0\n"
           "# HELP b_total [ALPHA] B.\n# TYPE b_total counter\nb_total 0\n");
    metrics_free(m);
}

TEST(an_unseen_series_shows_with_its_first_update)
{
    struct metrics *m = metrics_new();
    struct metric *c = metrics_add_counter(m, &(struct metric_desc){ "c_total", "C", { "x" } });
    struct metric *g = metrics_add_gauge(m, &(struct metric_desc){ "g", "G", { "x" } });
    double bound = 1;
    struct metric *h = metrics_add_histogram(m, &(struct metric_desc){ "h", "H", { "x" } }, &bound, 1);
    struct series *of_c = metric_series_unseen(c, (struct str[]){ STR("1") });
    struct series *of_g = metric_series_unseen(g, (struct str[]){ STR("1") });
    struct series *of_h = metric_series_unseen(h, (struct str[]){ STR("1") });
    expect("nothing yet", m, "");
    series_inc(of_c);
    expect("a counter", m, "# HELP c_total C\n# TYPE c_total counter\nc_total{x=\"1\"} 1\n");
    metrics_reset(m);
    series_set(of_g, 0);
    expect("a gauge, even at 0", m, "# HELP g G\n# TYPE g gauge\ng{x=\"1\"} 0\n");
    metrics_reset(m);
    series_observe(of_h, 1);
    expect("a histogram", m,
           "# HELP h H\n# TYPE h histogram\nh_bucket{x=\"1\",le=\"1\"} 1\nh_bucket{x=\"1\",le=\"+Inf\"} 1\n"
           "h_sum{x=\"1\"} 1\nh_count{x=\"1\"} 1\n");
    CHECK(metric_series(c, (struct str[]){ STR("1") }) == of_c);
    metrics_free(m);
}

static double seven(void *context)
{
    (void)context;
    return 7;
}

/* What the real one's page shows after DELETE /metrics. */
TEST(a_reset_empties_what_has_labels_and_plain_counters)
{
    struct metrics *m = metrics_new();
    double bound = 1;
    series_inc(metric_series(metrics_add_counter(m, &(struct metric_desc){ "a_total", "A" }), NULL));
    struct series *labelled =
        metric_series(metrics_add_counter(m, &(struct metric_desc){ "b_total", "B", { "x" } }), (struct str[]){ STR("1") });
    series_inc(labelled);
    series_set(metric_series(metrics_add_gauge(m, &(struct metric_desc){ "c", "C" }), NULL), 3);
    struct metric *plain = metrics_add_histogram(m, &(struct metric_desc){ "d", "D" }, &bound, 1);
    series_observe(metric_series(plain, NULL), 1);
    struct metric *h = metrics_add_histogram(m, &(struct metric_desc){ "e", "E", { "x" } }, &bound, 1);
    struct series *of_h = metric_series(h, (struct str[]){ STR("1") });
    series_observe(of_h, 5);
    series_read_from(metric_series(metrics_add_counter(m, &(struct metric_desc){ "f_total", "F" }), NULL), seven, NULL);
    metrics_reset(m);
    const char *stay = "# HELP c C\n# TYPE c gauge\nc 3\n"
                       "# HELP d D\n# TYPE d histogram\nd_bucket{le=\"1\"} 1\nd_bucket{le=\"+Inf\"} 1\nd_sum 1\nd_count 1\n";
    struct strbuf want;
    strbuf_init(&want, STRBUF_NO_MAX);
    strbuf_printf(&want, "# HELP a_total A\n# TYPE a_total counter\na_total 0\n%s"
                  "# HELP f_total F\n# TYPE f_total counter\nf_total 7\n", stay);
    expect("after a reset", m, want.p);
    series_inc(labelled);
    series_observe(of_h, 1);
    strbuf_reset(&want);
    strbuf_printf(&want, "# HELP a_total A\n# TYPE a_total counter\na_total 0\n"
                  "# HELP b_total B\n# TYPE b_total counter\nb_total{x=\"1\"} 1\n%s"
                  "# HELP e E\n# TYPE e histogram\ne_bucket{x=\"1\",le=\"1\"} 1\ne_bucket{x=\"1\",le=\"+Inf\"} 1\n"
                  "e_sum{x=\"1\"} 1\ne_count{x=\"1\"} 1\n"
                  "# HELP f_total F\n# TYPE f_total counter\nf_total 7\n", stay);
    expect("counting goes on", m, want.p);
    strbuf_fini(&want);
    metrics_free(m);
}

TEST(disabled_metrics_are_not_shown_and_are_counted)
{
    struct metrics *m = metrics_new();
    metrics_disable(m, STR("b_total"));
    metrics_disable(m, STR("b_total"));
    metrics_disable(m, STR(""));
    metrics_add_meta(m);
    metrics_add_counter(m, &(struct metric_desc){ "a_total", "A", .stability = STABILITY_STABLE });
    metrics_add_counter(m, &(struct metric_desc){ "b_total", "B", .stability = STABILITY_STABLE });
    metrics_add_counter(m, &(struct metric_desc){ "c_total", "C" });
    metrics_disable(m, STR("c_total"));
    metrics_disable(m, STR("nobody"));
    expect("page", m,
           "# HELP a_total [STABLE] A\n# TYPE a_total counter\na_total 0\n"
           "# HELP cardinality_enforcement_unexpected_categorizations_total [ALPHA] The count of unexpected "
           "categorizations during cardinality enforcement.\n"
           "# TYPE cardinality_enforcement_unexpected_categorizations_total counter\n"
           "cardinality_enforcement_unexpected_categorizations_total 0\n"
           "# HELP disabled_metrics_total [BETA] The count of disabled metrics.\n"
           "# TYPE disabled_metrics_total counter\ndisabled_metrics_total 3\n"
           "# HELP hidden_metrics_total [BETA] The count of hidden metrics.\n"
           "# TYPE hidden_metrics_total counter\nhidden_metrics_total 1\n"
           "# HELP registered_metrics_total [BETA] The count of registered metrics broken by stability level and "
           "deprecation version.\n"
           "# TYPE registered_metrics_total counter\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 1\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 3\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"STABLE\"} 1\n");
    metrics_free(m);
}

TEST(values_that_are_not_allowed_become_unexpected)
{
    struct metrics *m = metrics_new();
    metrics_add_meta(m);
    CHECK(metrics_allow_values(m, STR("a_total"), STR("x"), STR("9")));
    CHECK(metrics_allow_values(m, STR("a_total"), STR("x"), STR("1,22")));
    CHECK(metrics_allow_values(m, STR("b_total"), STR("x"), STR("")));
    struct metric *a = metrics_add_counter(m, &(struct metric_desc){ "a_total", "A", { "y", "x" } });
    struct metric *b = metrics_add_counter(m, &(struct metric_desc){ "b_total", "B", { "x" } });
    struct str y = STR("free");
    struct series *other = metric_series(a, (struct str[]){ y, STR("2") });
    CHECK(other == metric_series(a, (struct str[]){ y, STR("unexpected") }));
    CHECK(other == metric_series(a, (struct str[]){ y, STR("") }));
    CHECK(other != metric_series(a, (struct str[]){ y, STR("1") }));
    CHECK(metric_series(a, (struct str[]){ y, STR("22") }) != metric_series(a, (struct str[]){ y, STR("1") }));
    CHECK(metric_series(b, (struct str[]){ STR("") }) != metric_series(b, (struct str[]){ STR("1") }));
    struct strbuf page;
    strbuf_init(&page, STRBUF_NO_MAX);
    metrics_write(m, &page);
    CHECK(strstr(page.p, "\ncardinality_enforcement_unexpected_categorizations_total 4\n"));
    CHECK(strstr(page.p, "a_total{x=\"unexpected\",y=\"free\"} 0\n"));
    strbuf_fini(&page);
    for (int i = 0; i < METRICS_ALLOWED_MAX - 2; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%d", i);
        CHECK(metrics_allow_values(m, str_of(name), STR("x"), STR("1")));
    }
    CHECK(!metrics_allow_values(m, STR("one_more"), STR("x"), STR("1")));
    CHECK(metrics_allow_values(m, STR("m5"), STR("x"), STR("2")));
    metrics_free(m);
}
