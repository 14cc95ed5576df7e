/* tests/unit/test_fresh_reads.c - reads of a version that is still to come: who waits, and both ways in which waiting ends. */
#include "apiserver/fresh.h"
#include "base/base64.h"
#include "tests/api_connection.h"
#include "tests/unit/api_story.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define EVENTS "/api/v1/namespaces/default/events"
#define REFUSED_HEAD "504 Gateway Timeout"
#define RETRY "\"retryAfterSeconds\":1"

struct row {
    const char *what, *method, *target; /* %llu: the version */
    bool waits;
    const char *then;    /* what is answered once the version is there */
    const char *refused; /* what the answer says when it does not come */
};

static const struct row rows[] = {
    { "an object", "GET", CM "/x?resourceVersion=%llu", true, "\"name\":\"x\"", RETRY },
    { "an object that is not there", "GET", CM "/none?resourceVersion=%llu", true, "404 Not Found", RETRY },
    { "a list that is not older", "GET", CM "?resourceVersion=%llu", true, "\"name\":\"late\"", RETRY },
    { "the same, said in words", "GET", CM "?resourceVersion=%llu&resourceVersionMatch=NotOlderThan", true,
      "\"name\":\"late\"", RETRY },
    { "a list at exactly the version", "GET", CM "?resourceVersion=%llu&resourceVersionMatch=Exact", true,
      "\"name\":\"late\"", RETRY },
    { "a chunk, which is exact, too", "GET", CM "?resourceVersion=%llu&limit=5", true, "\"name\":\"late\"", RETRY },
    { "a list of one name", "GET", CM "?resourceVersion=%llu&fieldSelector=metadata.name%%3Dlate", true,
      "\"name\":\"late\"", RETRY },
    { "a list of one name at exactly the version goes past the cache", "GET",
      CM "?resourceVersion=%llu&resourceVersionMatch=Exact&fieldSelector=metadata.name%%3Dlate", false, NULL,
      REFUSED_HEAD },
    { "one name in all namespaces is many objects", "GET",
      "/api/v1/configmaps?resourceVersion=%llu&resourceVersionMatch=Exact&fieldSelector=metadata.name%%3Dlate", true,
      "\"name\":\"late\"", RETRY },
    { "a deletion of what a list would show", "DELETE", CM "?resourceVersion=%llu", true, "\"name\":\"late\"", RETRY },
    { "an event", "GET", EVENTS "/none?resourceVersion=%llu", false, NULL, REFUSED_HEAD },
    { "a list of events", "GET", EVENTS "?resourceVersion=%llu", false, NULL, REFUSED_HEAD },
    { "a watch that first tells what is there", "GET",
      CM "?watch=1&resourceVersion=%llu&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
      true, "initial-events-end", "{\"type\":\"ERROR\",\"object\":{" },
    { "such a watch of events is refused at once, by an event", "GET",
      EVENTS "?watch=1&resourceVersion=%llu&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", false, NULL,
      "{\"type\":\"ERROR\",\"object\":{" },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void begin(struct api_world *w, struct connection *c)
{
    api_world_init(w, &(struct api_world_options){ 0 });
    story_create(w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
    story_create(w, "configmaps", "", "default", "{\"metadata\":{\"name\":\"x\"}}");
    connection_init(c, w);
}

static void finish(struct api_world *w, struct connection *c)
{
    connection_fini(c);
    api_world_fini(w);
}

static bool has(const struct connection *c, const char *text)
{
    return memmem(c->sent.p, c->sent.n, text, strlen(text)) != NULL;
}

static const char *future(struct api_world *w, const char *target)
{
    return arena_printf(&w->arena, target, (unsigned long long)store_revision(w->store) + 1);
}

/* To what is under way, also from later tasks of the loop. */
static void run(struct api_world *w, struct connection *c)
{
    connection_run(c);
    api_world_poll(w);
    connection_run(c);
}

static void ask(struct api_world *w, struct connection *c, const struct row *r)
{
    connection_ask(c, r->method, future(w, r->target), "", "");
    run(w, c);
    if (r->waits == (c->sent.n != 0))
        FAIL("%s: %s", r->what, c->sent.n ? "answered at once" : "not answered at once");
}

TEST(a_version_that_comes_is_shown)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        struct api_world w;
        struct connection c;
        begin(&w, &c);
        ask(&w, &c, &rows[i]);
        if (rows[i].waits) {
            api_world_advance(&w, FRESH_WAIT_MS - 1);
            connection_run(&c);
            CHECK_INT(rows[i].what, c.sent.n, 0);
            story_create(&w, "configmaps", "", "default", "{\"metadata\":{\"name\":\"late\"}}");
            run(&w, &c);
            if (!has(&c, rows[i].then))
                FAIL("%s: %.*s", rows[i].what, (int)c.sent.n, c.sent.p);
            CHECK(!has(&c, "Too large"));
        }
        finish(&w, &c);
    }
}

TEST(a_version_that_does_not_come_is_refused)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        struct api_world w;
        struct connection c;
        begin(&w, &c);
        uint64_t now = store_revision(w.store);
        ask(&w, &c, &rows[i]);
        api_world_advance(&w, FRESH_WAIT_MS);
        run(&w, &c);
        const char *message = arena_printf(&w.arena, "\"message\":\"Timeout: Too large resource version: %llu, current: %llu\"",
                                           (unsigned long long)now + 1, (unsigned long long)now);
        if (!has(&c, rows[i].refused) || !has(&c, message))
            FAIL("%s: %.*s", rows[i].what, (int)c.sent.n, c.sent.p);
        CHECK(has(&c, "\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}]"));
        bool watches = strstr(rows[i].target, "watch=1") != NULL;
        CHECK(has(&c, REFUSED_HEAD) != watches);
        CHECK(has(&c, "retryAfterSeconds") == (rows[i].waits || watches));
        finish(&w, &c);
    }
}

/* The token of a chunk carries a version of its own. */
TEST(a_continuation_of_a_version_to_come_waits)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    unsigned long long version = store_revision(w.store) + 1;
    struct strbuf token;
    strbuf_init(&token, STRBUF_NO_MAX);
    base64_add(&token, str_of(arena_printf(&w.arena, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%llu,\"start\":\"a\"}", version)));
    while (token.n && token.p[token.n - 1] == '=')
        token.n--;
    connection_ask(&c, "GET", arena_printf(&w.arena, CM "?limit=5&continue=%s", strbuf_cstr(&token)), "", "");
    run(&w, &c);
    CHECK_INT("answers", c.sent.n, 0);
    api_world_advance(&w, FRESH_WAIT_MS);
    run(&w, &c);
    CHECK(has(&c, arena_printf(&w.arena, "Too large resource version: %llu", version)));
    strbuf_fini(&token);
    finish(&w, &c);
}

TEST(who_leaves_while_waiting_is_forgotten)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    ask(&w, &c, &rows[0]);
    CHECK_INT("waits", w.server->fresh.by_version.n, 1);
    connection_cut(&c);
    CHECK_INT("waits", w.server->fresh.by_version.n, 0);
    story_create(&w, "configmaps", "", "default", "{\"metadata\":{\"name\":\"late\"}}");
    api_world_advance(&w, FRESH_WAIT_MS);
    finish(&w, &c);
}

TEST(a_request_whose_time_is_up_first_is_answered_once)
{
    struct api_world w;
    struct connection c;
    begin(&w, &c);
    connection_ask(&c, "GET", future(&w, CM "?resourceVersion=%llu&timeout=1s"), "", "");
    api_world_advance(&w, 1000);
    run(&w, &c);
    CHECK(has(&c, "request did not complete within the allotted timeout"));
    size_t n = c.sent.n;
    api_world_advance(&w, FRESH_WAIT_MS);
    run(&w, &c);
    CHECK_INT("bytes", c.sent.n, n);
    finish(&w, &c);
}

struct counted {
    struct fresh_wait wait;
    int n_there, n_late;
};

static void count(struct fresh_wait *w, bool is_there)
{
    struct counted *c = LIST_ITEM(w, struct counted, wait);
    *(is_there ? &c->n_there : &c->n_late) += 1;
}

TEST(each_wait_ends_once_and_no_more_than_the_limit_wait)
{
    static struct counted waits[FRESH_WAITS_MAX + 1];
    struct clock_manual clock;
    struct fresh f;
    clock_manual_init(&clock, CLOCK_NS_PER_SECOND, CLOCK_NS_PER_SECOND);
    struct loop *l = loop_new(&clock.clock);
    fresh_init(&f, l);
    for (size_t i = 0; i <= FRESH_WAITS_MAX; i++) {
        waits[i].wait.over = count;
        CHECK(fresh_begin(&f, &waits[i].wait, 10 + i % 3) == (i < FRESH_WAITS_MAX));
    }
    fresh_stop(&f, &waits[FRESH_WAITS_MAX].wait);
    fresh_stop(&f, &waits[0].wait);
    fresh_poll(&f, 9);
    CHECK_INT("still waiting", f.by_version.n, FRESH_WAITS_MAX - 1);
    fresh_poll(&f, 11);
    clock_manual_advance(&clock, (int64_t)FRESH_WAIT_MS * CLOCK_NS_PER_MS);
    loop_run_once(l, false);
    for (size_t i = 0; i <= FRESH_WAITS_MAX; i++) {
        bool stopped = i == 0 || i == FRESH_WAITS_MAX;
        CHECK_INT("there", waits[i].n_there, !stopped && i % 3 < 2);
        CHECK_INT("late", waits[i].n_late, !stopped && i % 3 == 2);
    }
    fresh_fini(&f);
    loop_free(l);
}
