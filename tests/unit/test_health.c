/* Answers about health: daemon/health.c. The texts are those of a running kube-scheduler v1.36.4. */
#include "daemon/health.h"

#include "base/log.h"
#include "tests/test.h"

static const char *problem;
static struct strbuf observed, logged;

static const char *mood(void *context)
{
    (void)context;
    return problem;
}

static void observe(void *context, const char *check, const char *type, bool good)
{
    (void)context;
    strbuf_printf(&observed, "%s %s %d,", check, type, good);
}

static void keep_log(void *context, struct str record)
{
    (void)context;
    strbuf_add_str(&logged, record);
}

static const struct health_check checks[] = { { .name = "leaderElection" }, { .name = "shutdown" },
                                              { .name = "sched-handler-sync", .problem = mood } };

static void check_answer(const char *what, const struct health *h, const char *text, int status, const char *want)
{
    struct arena a;
    struct target t;
    struct strbuf to;
    arena_init(&a);
    strbuf_init(&to, 1 << 20);
    CHECK(target_read(&a, str_of(text), &t));
    CHECK_INT(what, health_answer(h, &t, &to), status);
    CHECK_STR(what, strbuf_str(&to), str_of(want));
    strbuf_fini(&to);
    arena_fini(&a);
}

TEST(lists_are_answered_in_the_words_of_upstream)
{
    const struct health h = { .name = "readyz", .checks = checks, .n_checks = 3, .observe = observe };
    strbuf_init(&observed, 1 << 20);
    strbuf_init(&logged, 1 << 20);
    log_set_sink(keep_log, NULL);
    log_set_level_number(2);
    check_answer("all is well", &h, "/readyz", 200, "ok");
    CHECK_STR("told", strbuf_str(&observed), STR("leaderElection readyz 1,shutdown readyz 1,sched-handler-sync readyz 1,"));
    check_answer("verbose", &h, "/readyz?verbose", 200,
                 "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
    check_answer("its value does not matter", &h, "/readyz?verbose=0", 200,
                 "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
    check_answer("excluded, and unknown ones in order, once", &h,
                 "/readyz?verbose&exclude=shutdown&exclude=b&exclude=a&exclude=b", 200,
                 "[+]leaderElection ok\n[+]shutdown excluded: ok\n[+]sched-handler-sync ok\n"
                 "warn: some health checks cannot be excluded: no matches for \"a\",\"b\"\nreadyz check passed\n");
    check_answer("a quote", &h, "/readyz?exclude=a%20%22b&verbose", 200,
                 "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
                 "warn: some health checks cannot be excluded: no matches for \"a \\\"b\"\nreadyz check passed\n");
    check_answer("without value", &h, "/readyz?exclude&verbose", 200,
                 "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
                 "warn: some health checks cannot be excluded: no matches for \"\"\nreadyz check passed\n");
    check_answer("a semicolon makes a pair nothing", &h, "/readyz?verbose;a", 200, "ok");
    check_answer("a broken pair is passed over", &h, "/readyz?%zz&verbose", 200,
                 "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
    problem = "handlers are not fully synchronized";
    strbuf_reset(&observed);
    check_answer("not well", &h, "/readyz", 500,
                 "[+]leaderElection ok\n[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\n"
                 "readyz check failed\n");
    CHECK(strstr(strbuf_cstr(&logged), "handlers are not fully synchronized"));
    CHECK_STR("told", strbuf_str(&observed), STR("leaderElection readyz 1,shutdown readyz 1,sched-handler-sync readyz 0,"));
    check_answer("what is wrong may be excluded", &h, "/readyz?exclude=sched-handler-sync", 200, "ok");
    strbuf_fini(&observed);
    strbuf_fini(&logged);
}

TEST(single_checks_tell_what_is_wrong)
{
    const struct health h = { .name = "readyz", .checks = checks, .n_checks = 3 };
    struct strbuf to;
    strbuf_init(&to, 1 << 20);
    CHECK_INT("well", health_answer_one(&h, STR("sched-handler-sync"), &to), 200);
    CHECK_STR("well", strbuf_str(&to), STR("ok"));
    strbuf_reset(&to);
    problem = "process is shutting down";
    CHECK_INT("not well", health_answer_one(&h, STR("sched-handler-sync"), &to), 500);
    CHECK_STR("not well", strbuf_str(&to), STR("internal server error: process is shutting down\n"));
    strbuf_reset(&to);
    CHECK_INT("none", health_answer_one(&h, STR("ping"), &to), 404);
    CHECK_INT("none", to.n, 0);
    const struct health ping = { .name = "livez", .checks = &health_ping, .n_checks = 1 };
    CHECK_INT("ping", health_answer_one(&ping, STR("ping"), &to), 200);
    strbuf_fini(&to);
}

TEST(floods_of_excluded_names_are_bounded)
{
    struct strbuf text;
    struct arena a;
    struct target t;
    struct strbuf to;
    const struct health h = { .name = "readyz", .checks = checks, .n_checks = 3 };
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_init(&to, 1 << 20);
    arena_init(&a);
    strbuf_add_text(&text, "/readyz?verbose");
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&text, "&exclude=%d", i);
    CHECK(target_read(&a, strbuf_str(&text), &t));
    CHECK_INT("pairs", t.n_query, TARGET_PAIRS_MAX);
    CHECK_INT("still an answer", health_answer(&h, &t, &to), 200);
    CHECK(!to.overflow);
    strbuf_fini(&text);
    strbuf_fini(&to);
    arena_fini(&a);
}
