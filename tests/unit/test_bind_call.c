/* Bindings and what became of them: client/bind_call.c, with answers by hand and a clock moved by hand. */
#include "client/bind_call.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/vec.h"
#include "tests/test.h"

struct sent {
    char *text; /* "METHOD target media body" */
    int64_t timeout_ms;
    api_done done;
    void *context;
    bool answered, cancelled;
};

struct outcome {
    int n_calls;
    bool bound, unknown;
    int status;
    char error[256];
};

static struct clock_manual clock_;
static VEC(struct sent) sent;
static struct api api;
static struct bind_calls *calls;

static api_call take(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    struct sent s = { .timeout_ms = r->timeout_ms, .done = done, .context = done_context };
    CHECK_INT("lane", r->lane, API_LANE_BIND);
    CHECK(asprintf(&s.text, "%s %.*s %s %.*s", r->method, STR_ARG(r->target), r->media_type ? r->media_type : "-",
                   STR_ARG(r->body)) > 0);
    vec_push(&sent, s);
    return sent.n;
}

static void cancel(void *context, api_call call)
{
    (void)context;
    sent.at[call - 1].cancelled = true;
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static void begin(void)
{
    log_set_sink(quiet, NULL);
    clock_manual_init(&clock_, 0, 0);
    api = (struct api){ .media = MEDIA_JSON, .send = take, .cancel = cancel };
    calls = bind_calls_new(&api, &clock_.clock, 1);
}

static void end(void)
{
    bind_calls_free(calls);
    for (size_t i = 0; i < sent.n; i++)
        free(sent.at[i].text);
    vec_fini(&sent);
}

static void on_done(void *context, const struct bind_result *r)
{
    struct outcome *o = context;
    o->n_calls++;
    o->bound = r->bound;
    o->unknown = r->unknown;
    o->status = r->status;
    snprintf(o->error, sizeof(o->error), "%s", r->error ? r->error : "");
}

static bool start(struct outcome *o)
{
    struct bind_request r = { .target = STR("/api/v1/namespaces/ns/pods/p/binding"), .body = STR("bytes"),
                              .media_type = "application/json", .pod = STR("/api/v1/namespaces/ns/pods/p"),
                              .uid = STR("u1"), .node = STR("n1") };
    *o = (struct outcome){ 0 };
    return bind_calls_start(calls, &r, on_done, o);
}

/* The last request is answered. Status 0: with the transport's words; "unsent" stands before them when it is so. */
static void answer(int status, const char *body)
{
    CHECK(sent.n > 0);
    struct sent *s = &sent.at[sent.n - 1];
    CHECK(!s->answered && !s->cancelled);
    s->answered = true;
    bool unsent = !status && strncmp(body, "unsent ", 7) == 0;
    s->done(s->context, &(struct api_answer){ .status = status, .error = status ? NULL : body, .unsent = unsent,
                                              .body = status ? str_of(body) : STR("") });
}

#define STATUS(message) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" message "\"}"
#define POD(uid, spec) "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"uid\":\"" uid "\"},\"spec\":{" spec "}}"
#define NODE(name) "\"nodeName\":\"" name "\""

TEST(what_a_binding_is_answered_and_what_the_pod_says)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
        int pod_status; /* -1: the pod is not read */
        const char *pod_body;
        bool bound, unknown;
        const char *error;
    } rows[] = {
        { "it works", 201, STATUS(""), -1, NULL, true, false, "" },
        { "another was first", 409, STATUS("pod p is already assigned to node n2"), 200, POD("u1", NODE("n2")), false, false,
          "pod p is already assigned to node n2" },
        { "it was sent twice on the way", 409, STATUS("pod p is already assigned to node n1"), 200, POD("u1", NODE("n1")),
          true, false, "" },
        { "the pod is about to go", 409, STATUS("pod p is being deleted"), 200, POD("u1", ""), false, false,
          "pod p is being deleted" },
        { "may not be", 403, STATUS("forbidden"), -1, NULL, false, false, "forbidden" },
        { "gone", 404, STATUS("pods \\\"p\\\" not found"), -1, NULL, false, false, "pods \"p\" not found" },
        { "refused without a word", 500, "", -1, NULL, false, false, "the server answered with status 500" },
        { "never left", 0, "unsent connection refused", -1, NULL, false, false, "unsent connection refused" },
        { "lost, and the pod has the node", 0, "reset", 200, POD("u1", NODE("n1")), true, false, "" },
        { "lost, and the pod has none", 0, "reset", 200, POD("u1", ""), false, false, "reset" },
        { "lost, and the pod has another", 0, "reset", 200, POD("u1", NODE("n2")), false, false,
          "reset; the pod is already assigned to node \"n2\"" },
        { "lost, and the pod is another", 0, "reset", 200, POD("u2", NODE("n1")), false, false, "reset" },
        { "lost, and the pod is gone", 0, "reset", 404, STATUS("not found"), false, false, "reset" },
        { "lost, and the pod may not be read", 0, "reset", 403, STATUS("forbidden"), false, true,
          "reset; whether the pod was bound could not be found out: forbidden" },
        { "lost, and the answer is no pod", 0, "reset", 200, STATUS(""), false, true,
          "reset; whether the pod was bound could not be found out: the answer is not a pod" },
        { "lost, and the answer is nothing", 0, "reset", 200, "", false, true,
          "reset; whether the pod was bound could not be found out: the answer is not a pod" },
        { "the server ran out of time, and the pod has the node", 504, STATUS("timeout"), 200, POD("u1", NODE("n1")),
          true, false, "" },
        { "the server ran out of time, and the pod has none", 504, STATUS("timeout"), 200, POD("u1", ""), false, false,
          "timeout" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin();
        struct outcome o;
        CHECK(start(&o));
        CHECK_INT("one request", sent.n, 1);
        CHECK_TEXT("the binding", sent.at[0].text, "POST /api/v1/namespaces/ns/pods/p/binding application/json bytes");
        answer(rows[i].status, rows[i].body);
        if (rows[i].pod_status >= 0) {
            CHECK_INT(rows[i].name, o.n_calls, 0);
            CHECK_INT(rows[i].name, sent.n, 2);
            CHECK_TEXT("the pod", sent.at[1].text, "GET /api/v1/namespaces/ns/pods/p - ");
            CHECK_INT("time", sent.at[1].timeout_ms, BIND_RESOLVE_MS);
            answer(rows[i].pod_status, rows[i].pod_body);
        }
        CHECK_INT(rows[i].name, sent.n, rows[i].pod_status < 0 ? 1 : 2);
        CHECK_INT(rows[i].name, o.n_calls, 1);
        CHECK_INT(rows[i].name, o.bound, rows[i].bound);
        CHECK_INT(rows[i].name, o.unknown, rows[i].unknown);
        CHECK_INT(rows[i].name, o.status, rows[i].status);
        CHECK_TEXT(rows[i].name, o.error, rows[i].error);
        CHECK_INT("running", bind_calls_running(calls), 0);
        CHECK_INT("read", (int64_t)bind_calls_read(calls), rows[i].pod_status >= 0);
        CHECK(bind_calls_due_ms(calls) == INT64_MAX);
        end();
    }
}

static void pass_ms(int64_t ms)
{
    clock_manual_advance(&clock_, ms * CLOCK_NS_PER_MS);
    if (bind_calls_due_ms(calls) <= clock_mono_ms(&clock_.clock))
        bind_calls_tick(calls);
}

TEST(a_server_that_is_away_is_asked_again_with_growing_pauses)
{
    static const int statuses[] = { 0, 429, 503, 500 };
    begin();
    struct outcome o;
    CHECK(start(&o));
    answer(0, "reset");
    int64_t least_ms = 100;
    for (size_t i = 0; i < 4; i++, least_ms *= 2) {
        answer(statuses[i], statuses[i] ? STATUS("later") : "unsent connection refused");
        int64_t pause_ms = bind_calls_due_ms(calls) - clock_mono_ms(&clock_.clock);
        CHECK("a pause" && pause_ms >= least_ms && pause_ms <= least_ms * 5 / 4);
        pass_ms(pause_ms - 1);
        CHECK_INT("not yet", sent.n, 2 + i);
        pass_ms(1);
        CHECK_INT("again", sent.n, 3 + i);
        CHECK_INT("no pause any more", bind_calls_due_ms(calls) == INT64_MAX, true);
    }
    answer(200, POD("u1", NODE("n1")));
    CHECK(o.n_calls == 1 && o.bound);
    CHECK_INT("counted once", (int64_t)bind_calls_read(calls), 1);
    end();
}

TEST(asking_ends)
{
    begin();
    struct outcome o;
    CHECK(start(&o));
    answer(0, "reset");
    int n = 0;
    for (; !o.n_calls && n < 100; n++) {
        answer(503, STATUS("overloaded"));
        int64_t due = bind_calls_due_ms(calls), pause_ms = due - clock_mono_ms(&clock_.clock);
        if (o.n_calls)
            break;
        CHECK("bounded" && pause_ms <= BIND_RESOLVE_PAUSE_MS_MAX * 5 / 4);
        CHECK("in time" && due < BIND_RESOLVE_MS);
        pass_ms(pause_ms);
    }
    CHECK("some times" && n > 10 && n < 40);
    CHECK(clock_mono_ms(&clock_.clock) > BIND_RESOLVE_MS - 2 * BIND_RESOLVE_PAUSE_MS_MAX);
    CHECK(o.unknown && !o.bound);
    CHECK_TEXT("says", o.error, "reset; whether the pod was bound could not be found out: overloaded");
    CHECK_INT("running", bind_calls_running(calls), 0);
    end();
}

TEST(many_at_once_and_no_more_than_the_bound)
{
    begin();
    struct outcome o, *all = calloc(BIND_CALLS_MAX, sizeof(*all));
    for (int i = 0; i < BIND_CALLS_MAX; i++)
        CHECK(start(&all[i]));
    CHECK(!start(&o));
    CHECK_INT("running", bind_calls_running(calls), BIND_CALLS_MAX);
    CHECK_INT("sent", sent.n, BIND_CALLS_MAX);
    answer(201, "{}");
    CHECK(all[BIND_CALLS_MAX - 1].bound);
    CHECK("room again" && start(&o));
    end();
    CHECK_INT("nothing is called for what is given up", o.n_calls + all[0].n_calls, 0);
    free(all);
}

TEST(what_is_under_way_or_pauses_is_given_up)
{
    begin();
    struct outcome posting, reading, pausing;
    CHECK(start(&pausing));
    answer(0, "reset");
    answer(503, "");
    CHECK(start(&reading));
    answer(0, "reset");
    CHECK(start(&posting));
    bind_calls_free(calls);
    calls = NULL;
    CHECK_INT("requests", sent.n, 5);
    CHECK("cancelled" && sent.at[3].cancelled && sent.at[4].cancelled);
    CHECK("the others were answered" && !sent.at[0].cancelled && !sent.at[1].cancelled && !sent.at[2].cancelled);
    CHECK_INT("called", posting.n_calls + reading.n_calls + pausing.n_calls, 0);
    end();
}
