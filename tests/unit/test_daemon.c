/* The parts of a live scheduler (daemon/), with an API server that is played by hand and no thread: the engine takes
 * its turns when it is told to. */
#include <stdlib.h>

#include "base/log.h"
#include "base/vec.h"
#include "config/features.h"
#include "daemon/engine.h"
#include "daemon/inflow.h"
#include "daemon/informers.h"
#include "daemon/intake.h"
#include "daemon/outbox.h"
#include "daemon/writer.h"
#include "insight/record_segments.h"
#include "insight/shadow.h"
#include "tests/test.h"

struct request {
    char *line, *body; /* "POST /path" */
    bool is_open, is_cancelled;
    struct api_stream stream;
    api_done done;
    void *context;
};

static struct {
    struct clock_manual clock;
    struct loop *loop;
    struct engine *engine;
    struct event_recorder *events;
    struct writer *writer;
    struct api api;
    VEC(struct request) requests;
    struct arena arena;
    struct gates gates;
    struct features features;
    int n_synced, n_resumed;
    bool may_act;
} w;

/* ---- The server ---- */

static struct request new_request(const struct api_request *r)
{
    char *line, *body = strndup(r->body.p ? r->body.p : "", r->body.n);
    CHECK(asprintf(&line, "%s %.*s", r->method, STR_ARG(r->target)) > 0);
    return (struct request){ .line = line, .body = body, .is_open = true };
}

static api_call play_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    struct request q = new_request(r);
    q.done = done;
    q.context = done_context;
    vec_push(&w.requests, q);
    return w.requests.n;
}

static api_call play_open(void *context, const struct api_request *r, const struct api_stream *stream)
{
    (void)context;
    struct request q = new_request(r);
    q.stream = *stream;
    vec_push(&w.requests, q);
    return w.requests.n;
}

static void play_resume(void *context, api_call call)
{
    (void)context;
    (void)call;
    w.n_resumed++;
}

static void play_cancel(void *context, api_call call)
{
    (void)context;
    w.requests.at[call - 1].is_cancelled = true;
    w.requests.at[call - 1].is_open = false;
}

/* The oldest open request whose line begins like this. */
static struct request *find(const char *begins)
{
    for (size_t i = 0; i < w.requests.n; i++)
        if (w.requests.at[i].is_open && strncmp(w.requests.at[i].line, begins, strlen(begins)) == 0)
            return &w.requests.at[i];
    return NULL;
}

static unsigned n_open(void)
{
    unsigned n = 0;
    for (size_t i = 0; i < w.requests.n; i++)
        n += w.requests.at[i].is_open;
    return n;
}

static void answer_with(const char *begins, const struct api_answer *a)
{
    struct request *q = find(begins);
    if (!q)
        FAIL("nobody has asked %s", begins);
    q->is_open = false;
    q->done(q->context, a);
}

static void answer(const char *begins, int status)
{
    answer_with(begins, &(struct api_answer){ .status = status, .media = MEDIA_JSON, .body = STR("{}") });
}

/* ---- The engine ---- */

static void turn(void)
{
    for (int i = 0; i < 10; i++) {
        while (engine_turn(w.engine))
            ;
        loop_run_once(w.loop, false);
    }
}

static void pass_ms(int64_t ms)
{
    clock_manual_advance(&w.clock, ms * CLOCK_NS_PER_MS);
    turn();
}

static void taken(struct intake_batch *own_batch)
{
    intake_batch_free(own_batch);
}

static void feed(enum reflected what, enum watched resource, const char *json)
{
    struct intake_batch *b = intake_batch_new(taken, NULL);
    struct watch_object object = { .format = TYPED_JSON, .bytes = str_of(json) };
    intake_batch_add(b, what, resource, json ? &object : NULL);
    engine_post(w.engine, &b->mail);
}

#define NODE(name, version)                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" version "\"}," \
    "\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"}}}"
#define POD(name, uid, version, cpu)                                                       \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version \
    "\"},\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":" \
    "{\"cpu\":\"" cpu "\"}}}]}}"
#define PATH "/api/v1/namespaces/default/pods/"

static void synced(void *context)
{
    (void)context;
    w.n_synced++;
}

static void ended(void *context)
{
    (void)context;
}

static void take_write(void *context, struct write *own_write)
{
    writer_add(context, own_write);
}

static bool may_act(void *context)
{
    (void)context;
    return w.may_act;
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

/* With the options that are set in `o`. */
static void begin_with(struct engine_options o)
{
    struct err e;
    log_set_sink(quiet, NULL);
    arena_init(&w.arena);
    err_init(&e, &w.arena);
    clock_manual_init(&w.clock, CLOCK_NS_PER_SECOND, 1700000000LL * CLOCK_NS_PER_SECOND);
    w.loop = loop_new(&w.clock.clock);
    w.api = (struct api){ NULL, MEDIA_JSON, play_send, play_open, play_resume, play_cancel };
    gates_init(&w.gates);
    w.features = gates_features(&w.gates);
    w.may_act = true;
    o.clock = &w.clock.clock;
    o.loop = w.loop;
    o.config = config_default(&w.arena, &w.features);
    o.features = &w.features;
    o.media = MEDIA_JSON;
    o.synced = synced;
    o.ended = ended;
    o.build = "test";
    if (engine_new(&o, &w.engine, &e))
        FAIL("%s", e.message);
    w.events = event_recorder_new(&w.api, &w.clock.clock, 1);
    w.writer = writer_new(&(struct writer_options){ .loop = w.loop, .api = &w.api, .engine = w.engine,
                                                    .events = w.events, .may_act = may_act, .seed = 1 });
    outbox_connect(engine_outbox(w.engine), w.loop, take_write, w.writer);
    engine_schedule(w.engine, !o.shadow);
}

static void begin(void)
{
    begin_with((struct engine_options){ 0 });
}

static void end(void)
{
    event_recorder_free(w.events);
    writer_free(w.writer);
    engine_free(w.engine);
    loop_free(w.loop);
    for (size_t i = 0; i < w.requests.n; i++) {
        free(w.requests.at[i].line);
        free(w.requests.at[i].body);
    }
    vec_fini(&w.requests);
    arena_fini(&w.arena);
}

/* ---- What the scheduler writes ---- */

TEST(a_pod_is_bound_and_an_event_tells)
{
    begin();
    feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
    feed(REFLECTED_SET, WATCHED_PODS, POD("a", "u", "2", "1"));
    turn();
    CHECK(find("POST " PATH "a/binding"));
    CHECK(strstr(find("POST")->body, "\"name\":\"n\""));
    CHECK_INT("no event before the answer", n_open(), 1);
    answer("POST", 201);
    turn();
    CHECK(find("POST /apis/events.k8s.io/v1/namespaces/default/events"));
    CHECK(strstr(find("POST")->body, "Successfully assigned default/a to n"));
    CHECK_INT("placed", sched_counts(engine_sched(w.engine)).placed, 1);
    end();
}

TEST(a_binding_that_fails_is_told_and_tried_again)
{
    begin();
    feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
    feed(REFLECTED_SET, WATCHED_PODS, POD("a", "u", "2", "1"));
    turn();
    answer("POST " PATH "a/binding", 409);
    turn();
    answer("GET " PATH "a", 404); /* somebody else may have bound it */
    turn();
    CHECK(strstr(find("PATCH " PATH "a/status")->body, "SchedulerError"));
    answer("PATCH", 200);
    CHECK(!find("POST " PATH));
    pass_ms(3000);
    CHECK(find("POST " PATH "a/binding"));
    end();
}

TEST(status_patches_are_tried_four_times)
{
    begin();
    feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
    feed(REFLECTED_SET, WATCHED_PODS, POD("a", "u", "2", "100"));
    turn();
    for (int i = 0; i < 4; i++) {
        answer("PATCH " PATH "a/status", 500);
        CHECK(!find("PATCH"));
        pass_ms(1000);
        CHECK_INT("tries", find("PATCH") != NULL, i < 3);
    }
    CHECK_INT("closed", writer_n_open(w.writer), 0);
    end();
}

static struct write *status_of(const char *uid, const char *path)
{
    struct write *x = write_new(WRITE_STATUS);
    x->uid = str_of(uid);
    x->requests[x->n_requests++] =
        (struct api_request){ .lane = API_LANE_STATUS, .method = "PATCH", .target = str_of(path) };
    return x;
}

TEST(writes_about_one_pod_go_out_one_after_the_other)
{
    begin();
    writer_add(w.writer, status_of("a", "/a1"));
    writer_add(w.writer, status_of("a", "/a2"));
    writer_add(w.writer, status_of("b", "/b1"));
    CHECK(find("PATCH /a1"));
    CHECK(!find("PATCH /a2"));
    CHECK(find("PATCH /b1"));
    answer("PATCH /a1", 200);
    CHECK(find("PATCH /a2"));
    CHECK_INT("open", writer_n_open(w.writer), 2);
    end();
}

TEST(a_victim_gets_its_condition_and_then_its_end)
{
    for (int gone = 0; gone < 2; gone++) {
        begin();
        feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
        feed(REFLECTED_SET, WATCHED_PODS,
             "{\"metadata\":{\"name\":\"v\",\"namespace\":\"default\",\"uid\":\"v\",\"resourceVersion\":\"3\"},\"spec\":{"
             "\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]}}");
        feed(REFLECTED_SET, WATCHED_PODS,
             "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"p\",\"resourceVersion\":\"4\"},\"spec\":{"
             "\"priority\":10,\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{"
             "\"requests\":{\"cpu\":\"4\"}}}]}}");
        turn();
        CHECK(strstr(find("PATCH " PATH "v/status")->body, "DisruptionTarget"));
        CHECK(!find("DELETE"));
        answer("PATCH " PATH "v/status", gone ? 404 : 200);
        CHECK_INT("a victim that is there is deleted", find("DELETE " PATH "v") != NULL, !gone);
        if (!gone)
            answer("DELETE " PATH "v", 200);
        answer("POST /apis/events", 201); /* the failure of the preemptor */
        turn();
        CHECK(strstr(find("POST /apis/events")->body, "Preempted by pod p on node n"));
        end();
    }
}

TEST(who_may_not_act_writes_nothing)
{
    begin();
    w.may_act = false;
    feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
    feed(REFLECTED_SET, WATCHED_PODS, POD("a", "u", "2", "1"));
    turn();
    CHECK(!find("POST " PATH));
    CHECK(!find("PATCH"));
    CHECK_INT("placed", sched_counts(engine_sched(w.engine)).placed, 0);
    end();
}

TEST(attempts_wait_while_too_many_writes_are_open)
{
    begin();
    struct strbuf text;
    strbuf_init(&text, 4096);
    enum { N = OUTBOX_WRITES_MAX + 5 };
    for (int i = 0; i < 100; i++) {
        strbuf_reset(&text);
        strbuf_printf(&text, "{\"metadata\":{\"name\":\"n%d\"},\"status\":{\"allocatable\":{\"pods\":\"110\"}}}", i);
        feed(REFLECTED_SET, WATCHED_NODES, strbuf_cstr(&text));
    }
    for (int i = 0; i < N; i++) {
        strbuf_reset(&text);
        strbuf_printf(&text,
                      "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"x\",\"uid\":\"%d\"},\"spec\":{\"schedulerName\":"
                      "\"default-scheduler\",\"containers\":[{\"name\":\"c\"}]}}",
                      i, i);
        feed(REFLECTED_SET, WATCHED_PODS, strbuf_cstr(&text));
    }
    turn();
    CHECK_INT("writes", writer_n_open(w.writer), OUTBOX_WRITES_MAX);
    CHECK_INT("left", sched_counts(engine_sched(w.engine)).active, 5);
    answer("POST", 201);
    turn();
    CHECK_INT("one more", writer_n_open(w.writer), OUTBOX_WRITES_MAX);
    CHECK_INT("left", sched_counts(engine_sched(w.engine)).active, 4);
    strbuf_fini(&text);
    end();
}

/* ---- What comes in ---- */

static void list_of(enum watched resource, const char *a, const char *b)
{
    feed(REFLECTED_LIST, resource, NULL);
    if (a)
        feed(REFLECTED_LISTED, resource, a);
    if (b)
        feed(REFLECTED_LISTED, resource, b);
    feed(REFLECTED_SYNCED, resource, NULL);
}

static unsigned n_nodes(void)
{
    return (unsigned)sched_cache(engine_sched(w.engine))->row_of_name.n;
}

TEST(what_a_new_list_lacks_is_gone)
{
    begin();
    engine_schedule(w.engine, false);
    list_of(WATCHED_NODES, NODE("n", "1"), NODE("m", "1"));
    list_of(WATCHED_PODS, POD("a", "ua", "2", "1"), POD("b", "ub", "2", "1"));
    list_of(WATCHED_NAMESPACES, "{\"metadata\":{\"name\":\"x\",\"uid\":\"x\"}}", "{\"metadata\":{\"name\":\"y\",\"uid\":\"y\"}}");
    turn();
    CHECK_INT("nodes", n_nodes(), 2);
    list_of(WATCHED_NODES, NODE("m", "1"), NODE("o", "9"));
    list_of(WATCHED_PODS, POD("b", "ub", "2", "1"), NULL);
    list_of(WATCHED_NAMESPACES, "{\"metadata\":{\"name\":\"y\",\"uid\":\"y\"}}", NULL);
    turn();
    struct sched *s = engine_sched(w.engine);
    CHECK_INT("nodes", n_nodes(), 2);
    CHECK(!sched_pod(s, "ua"));
    CHECK(sched_pod(s, "ub"));
    CHECK_INT("namespaces", objects_all(sched_objects(s), OBJECT_NAMESPACE).n, 1);
    struct intake_counts c = intake_counts(engine_intake(w.engine));
    CHECK_INT("swept", c.n_swept, 3);
    CHECK_INT("unchanged", c.n_unchanged, 2); /* m and b: a namespace without a version is set again */
    end();
}

TEST(a_list_that_broke_off_leaves_nothing_behind)
{
    begin();
    feed(REFLECTED_LIST, WATCHED_NODES, NULL);
    feed(REFLECTED_LISTED, WATCHED_NODES, NODE("n", "1"));
    list_of(WATCHED_NODES, NODE("m", "2"), NULL); /* n went while the server was away */
    turn();
    CHECK_INT("nodes", n_nodes(), 1);
    end();
}

TEST(an_object_that_cannot_be_read_takes_nothing_away)
{
    begin();
    list_of(WATCHED_NODES, NODE("n", "1"), NODE("m", "1"));
    list_of(WATCHED_NODES, NODE("m", "1"), "{\"metadata\":7}");
    turn();
    CHECK_INT("nodes", n_nodes(), 2);
    CHECK_INT("failed", intake_counts(engine_intake(w.engine)).n_failed, 1);
    list_of(WATCHED_NODES, NODE("m", "1"), NULL);
    turn();
    CHECK_INT("the next list counts again", n_nodes(), 1);
    end();
}

TEST(everything_has_been_listed_is_told_once)
{
    begin();
    for (int r = 0; r < N_WATCHED; r++) {
        turn();
        CHECK_INT("synced", w.n_synced, 0);
        list_of((enum watched)r, NULL, NULL);
    }
    turn();
    CHECK_INT("synced", w.n_synced, 1);
    for (int r = 0; r < N_WATCHED; r++)
        list_of((enum watched)r, NULL, NULL);
    turn();
    CHECK_INT("synced", w.n_synced, 1);
    end();
}

TEST(a_removed_object_is_gone)
{
    begin();
    list_of(WATCHED_NODES, NODE("n", "1"), NODE("m", "1"));
    list_of(WATCHED_PODS, POD("a", "ua", "2", "100"), NULL);
    feed(REFLECTED_REMOVED, WATCHED_NODES, NODE("n", "3"));
    feed(REFLECTED_REMOVED, WATCHED_PODS, POD("a", "ua", "4", "100"));
    turn();
    CHECK_INT("nodes", n_nodes(), 1);
    CHECK(!sched_pod(engine_sched(w.engine), "ua"));
    end();
}

/* ---- The loop's side of what comes in ---- */

static struct request *stream_of(const char *path)
{
    struct request *q = find(path);
    CHECK(q);
    return q;
}

TEST(a_server_that_is_faster_than_the_engine_waits)
{
    begin();
    engine_schedule(w.engine, false);
    struct informers *i =
        informers_new(&(struct informers_options){ .loop = w.loop, .api = &w.api, .engine = w.engine, .seed = 1 });
    informers_start(i);
    CHECK_INT("a stream for each", n_open(), N_WATCHED);
    struct request *q = stream_of("GET /api/v1/nodes?");
    struct strbuf frame;
    strbuf_init(&frame, 4 << 20);
    strbuf_add_text(&frame, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\","
                            "\"resourceVersion\":\"5\",\"annotations\":{\"a\":\"");
    for (int k = 0; k < 1 << 20; k++)
        strbuf_add_char(&frame, 'x');
    strbuf_add_text(&frame, "\"}}}}\n");
    q->stream.head(q->stream.context, 200, MEDIA_JSON);
    int n = 0;
    while (q->stream.data(q->stream.context, strbuf_str(&frame)) && n < 100)
        n++;
    CHECK_INT("it is stopped at the bound", n, (INFORMERS_BYTES_MAX >> 20) - 1);
    loop_run_once(w.loop, false); /* the batch goes to the engine, which sleeps */
    CHECK_INT("nobody goes on", w.n_resumed, 0);
    turn();
    CHECK_INT("it goes on when the engine has made room", w.n_resumed, 1);
    CHECK_INT("nothing was lost", n_nodes(), 1);
    strbuf_fini(&frame);
    informers_free(i);
    CHECK_INT("all streams are ended", n_open(), 0);
    end();
}

/* ---- Watching another scheduler, and recording ---- */

TEST(a_shadow_writes_nothing_and_compares)
{
    begin_with((struct engine_options){ .shadow = true });
    feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
    feed(REFLECTED_SET, WATCHED_PODS, POD("a", "ua", "2", "1"));
    feed(REFLECTED_SET, WATCHED_PODS, POD("big", "ub", "3", "100"));
    turn();
    feed(REFLECTED_SET, WATCHED_PODS,
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"ua\",\"resourceVersion\":\"4\"},\"spec\":{"
         "\"nodeName\":\"n\",\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"resources\":{"
         "\"requests\":{\"cpu\":\"1\"}}}]}}");
    turn();
    CHECK_INT("requests", w.requests.n, 0);
    CHECK_INT("the same", shadow_counts(engine_shadow(w.engine))->n[SHADOW_SAME], 1);
    end();
}

TEST(a_recording_goes_on_in_the_next_file)
{
    char folder[] = "/tmp/berth-daemon-XXXXXX", path[64], text[512];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/r", folder);
    begin_with((struct engine_options){ .record_path = path, .record_bytes_max = 256 << 10 });
    feed(REFLECTED_SET, WATCHED_NODES, NODE("n", "1"));
    for (int i = 0; i < 100; i++) { /* each is bound, seen there, and gone */
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"default\",\"uid\":\"u%d\",\"resourceVersion\":\"%d\","
                 "\"annotations\":{\"x\":\"%0200d\"}},\"spec\":{\"schedulerName\":\"default-scheduler\",%s\"containers\":"
                 "[{\"name\":\"c\"}]}}", i, i, 10 + 2 * i, 0, "");
        feed(REFLECTED_SET, WATCHED_PODS, text);
        turn();
        answer("POST " PATH, 201);
        char *spec = strstr(text, "\"containers\"");
        char tail[64];
        snprintf(tail, sizeof(tail), "%s", spec);
        snprintf(spec, sizeof(text) - (size_t)(spec - text), "\"nodeName\":\"n\",%s", tail);
        char *version = strstr(text, "resourceVersion\":\"") + strlen("resourceVersion\":\"");
        version[0] = '9'; /* another one */
        feed(REFLECTED_SET, WATCHED_PODS, text);
        feed(REFLECTED_REMOVED, WATCHED_PODS, text);
        turn();
    }
    CHECK_INT("placed, by the newest scheduler", sched_counts(engine_sched(w.engine)).placed < 100, true);
    const char *file = record_segments_path(engine_recording(w.engine));
    CHECK(file[strlen(file) - 1] != '1');
    CHECK(!record_segments_stopped(engine_recording(w.engine)));
    end();
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
}
