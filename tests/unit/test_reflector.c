/* A copy that stays current: client/reflector.c and watch_frame.c, with a server played by hand. */
#include "client/reflector.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/vec.h"
#include "codec/proto.h"
#include "tests/test.h"

struct request {
    char *target;
    bool is_stream, cancelled;
    struct api_stream stream;
    api_done done;
    void *context;
};

static struct clock_manual clock_;
static VEC(struct request) requests;
static struct api api;
static struct reflector *reflector;
static struct strbuf seen; /* what the receiver got: "list +v1 synced =v2 -v3 " */
static bool receiver_is_full;
static unsigned n_resumed;

static api_call play_send(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    vec_push(&requests, (struct request){ .target = strndup(r->target.p, r->target.n), .done = done,
                                          .context = done_context });
    return requests.n;
}

static api_call play_open(void *context, const struct api_request *r, const struct api_stream *stream)
{
    (void)context;
    vec_push(&requests, (struct request){ .target = strndup(r->target.p, r->target.n), .is_stream = true,
                                          .stream = *stream });
    return requests.n;
}

static void play_cancel(void *context, api_call call)
{
    (void)context;
    requests.at[call - 1].cancelled = true;
}

static void play_resume(void *context, api_call call)
{
    (void)context;
    CHECK_INT("the newest", call, requests.n);
    n_resumed++;
}

static bool take(void *context, enum reflected what, const struct watch_object *object)
{
    (void)context;
    static const char *const words[] = { "list", "+", "synced", "=", "-" };
    strbuf_printf(&seen, "%s", words[what]);
    if (what == REFLECTED_SYNCED) {
        CHECK(!object->bytes.p);
    } else if (object) {
        CHECK(object->bytes.n > 0);
        strbuf_printf(&seen, "%.*s", STR_ARG(object->version));
    }
    strbuf_add_char(&seen, ' ');
    return !receiver_is_full;
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static bool may_be_missing; /* of reflectors that begin now */

static void begin_with(bool pages)
{
    log_set_sink(quiet, NULL);
    clock_manual_init(&clock_, CLOCK_NS_PER_SECOND, 0);
    strbuf_init(&seen, 1 << 20);
    api = (struct api){ NULL, MEDIA_JSON, play_send, play_open, play_resume, play_cancel };
    reflector = reflector_new(&(struct reflector_options){ .api = &api, .clock = &clock_.clock, .path = "/api/v1/pods",
                                                           .selector = "fieldSelector=a%3Db", .no_streaming = pages,
                                                           .may_be_missing = may_be_missing,
                                                           .sink = { NULL, take }, .seed = 1 });
    reflector_start(reflector);
}

static void begin(void)
{
    begin_with(false);
}

static void end(void)
{
    reflector_free(reflector);
    for (size_t i = 0; i < requests.n; i++)
        free(requests.at[i].target);
    vec_fini(&requests);
    strbuf_fini(&seen);
    receiver_is_full = false;
    n_resumed = 0;
}

static struct request *last(void)
{
    CHECK(requests.n > 0);
    return vec_last(&requests);
}

static void head(int status)
{
    last()->stream.head(last()->stream.context, status, MEDIA_JSON);
}

static bool data(const char *text)
{
    return last()->stream.data(last()->stream.context, str_of(text));
}

static void finish(const char *error)
{
    last()->stream.end(last()->stream.context, error);
}

static void check_seen(const char *what, const char *want)
{
    CHECK_STR(what, strbuf_str(&seen), str_of(want));
    strbuf_reset(&seen);
}

/* Until the next request is sent. */
static void wait_for_request(void)
{
    size_t n = requests.n;
    CHECK(reflector_due_ms(reflector) != INT64_MAX);
    clock_manual_advance(&clock_, (reflector_due_ms(reflector) - clock_mono_ms(&clock_.clock)) * CLOCK_NS_PER_MS);
    reflector_tick(reflector);
    CHECK_INT("requests", requests.n, n + 1);
}

#define EVENT(type, version) "{\"type\":\"" type "\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"" version "\"}}}\n"
#define END_OF_LIST(version)                                                                                           \
    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version                                   \
    "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
#define BOOKMARK(version) "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}\n"
#define ERROR(code) "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":" code ",\"message\":\"m\"}}\n"

static void sync_at_10(void)
{
    head(200);
    data(EVENT("ADDED", "3") EVENT("ADDED", "2") END_OF_LIST("10"));
    check_seen("list", "list +3 +2 synced ");
}

static bool target_has(const char *part)
{
    return strstr(last()->target, part) != NULL;
}

TEST(a_stream_that_begins_with_everything)
{
    begin();
    CHECK(strncmp(last()->target,
                  "/api/v1/pods?allowWatchBookmarks=true&fieldSelector=a%3Db&resourceVersionMatch=NotOlderThan"
                  "&sendInitialEvents=true&timeout=", 122) == 0);
    CHECK(target_has("&watch=true") && !target_has("resourceVersion="));
    CHECK(!reflector_has_synced(reflector));
    sync_at_10();
    CHECK(reflector_has_synced(reflector));
    data(EVENT("ADDED", "11") EVENT("MODIFIED", "12") EVENT("DELETED", "13"));
    check_seen("events", "=11 =12 -13 ");
    end();
}

TEST(frames_in_any_pieces)
{
    static const char text[] = EVENT("ADDED", "3") "\n" EVENT("ADDED", "2") END_OF_LIST("10") EVENT("MODIFIED", "12");
    for (size_t size = 1; size < 80; size++) {
        begin();
        head(200);
        for (size_t at = 0; at < sizeof(text) - 1; at += size) {
            size_t n = sizeof(text) - 1 - at < size ? sizeof(text) - 1 - at : size;
            last()->stream.data(last()->stream.context, (struct str){ text + at, n });
        }
        check_seen("all", "list +3 +2 synced =12 ");
        end();
    }
}

TEST(protobuf_frames)
{
    begin();
    struct strbuf frames, object;
    strbuf_init(&frames, 1 << 20);
    strbuf_init(&object, 1 << 20);
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    static const struct { const char *type, *json; } events[] = {
        { "ADDED", "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"3\",\"annotations\":{\"k8s.io/initial-events-end\":\"no\"}}}" },
        { "BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"10\",\"annotations\":{\"a\":\"b\",\"k8s.io/initial-events-end\":\"true\"}}}" },
        { "DELETED", "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"12\"}}" },
    };
    for (unsigned i = 0; i < 3; i++) {
        struct object o;
        struct gvk seen_gvk, pod = { STR(""), STR("v1"), STR("Pod") };
        CHECK(object_read(&a, WORK_OWN, MEDIA_JSON, str_of(events[i].json), pod, NULL, &o, &seen_gvk, &e) == ERR_OK);
        strbuf_reset(&object);
        object_encode(&object, MEDIA_PROTOBUF, o.type, &o.value);
        proto_encode_watch_event(&frames, str_of(events[i].type), strbuf_str(&object));
    }
    last()->stream.head(last()->stream.context, 200, MEDIA_PROTOBUF);
    for (size_t i = 0; i < frames.n; i++)
        last()->stream.data(last()->stream.context, (struct str){ frames.p + i, 1 });
    check_seen("all", "list +3 synced -12 ");
    strbuf_fini(&frames);
    strbuf_fini(&object);
    arena_fini(&a);
    end();
}

TEST(a_watch_that_ends_goes_on_from_where_it_was)
{
    begin();
    sync_at_10();
    data(EVENT("MODIFIED", "12") BOOKMARK("15"));
    clock_manual_advance(&clock_, 400ll * CLOCK_NS_PER_SECOND);
    finish(NULL);
    CHECK(target_has("resourceVersion=15&timeout=") && !target_has("sendInitialEvents"));
    CHECK_INT("watches", reflector_counts(reflector).watches, 1);
    head(200);
    data(EVENT("MODIFIED", "16"));
    CHECK_INT("errors", reflector_counts(reflector).errors, 0); /* to end is no error */
    finish("connection reset");
    CHECK_INT("errors", reflector_counts(reflector).errors, 1);
    CHECK(target_has("resourceVersion=16&timeout="));
    check_seen("no list", "=12 =16 ");
    end();
}

/* With a pause that grows, what is cut every few seconds would hardly see anything any more. */
TEST(a_watch_that_is_cut_again_and_again_is_asked_for_at_once)
{
    begin();
    sync_at_10();
    for (int i = 0; i < 20; i++) {
        size_t n = requests.n;
        clock_manual_advance(&clock_, 8ll * CLOCK_NS_PER_SECOND);
        finish("connection reset");
        CHECK_INT("requests", requests.n, n + 1);
        CHECK(target_has("resourceVersion=10&timeout="));
        head(200);
    }
    CHECK_INT("lists", reflector_counts(reflector).lists, 1);
    end();
}

TEST(a_watch_that_ends_at_once_is_not_asked_for_at_once)
{
    begin();
    sync_at_10();
    clock_manual_advance(&clock_, 400ll * CLOCK_NS_PER_SECOND);
    data(BOOKMARK("11"));
    finish(NULL);
    int64_t waited_ms = 0;
    for (int i = 0; i < 8; i++) {
        head(200);
        finish(NULL);
        waited_ms = reflector_due_ms(reflector) - clock_mono_ms(&clock_.clock);
        CHECK(waited_ms >= (800ll << (i < 5 ? i : 5)) && waited_ms <= 60000);
        wait_for_request();
        CHECK(target_has("resourceVersion=11"));
    }
    CHECK(waited_ms >= 25600);
    end();
}

TEST(versions_that_are_gone)
{
    begin();
    sync_at_10();
    data(ERROR("410"));
    CHECK(last()->cancelled);
    wait_for_request();
    CHECK(target_has("sendInitialEvents=true") && target_has("resourceVersion=10&"));
    check_seen("again", "list ");
    head(410);
    data("{}");
    finish(NULL);
    wait_for_request();
    CHECK(target_has("sendInitialEvents=true") && !target_has("resourceVersion="));
    head(200);
    data(EVENT("ADDED", "99") END_OF_LIST("100"));
    check_seen("anew", "list +99 synced ");
    end();
}

TEST(a_list_that_breaks_off_begins_anew)
{
    begin();
    head(200);
    data(EVENT("ADDED", "3"));
    finish("reset");
    wait_for_request();
    CHECK(target_has("sendInitialEvents=true") && !target_has("resourceVersion="));
    head(200);
    data(EVENT("ADDED", "3") ERROR("500"));
    CHECK(last()->cancelled);
    wait_for_request();

    head(200);
    data(EVENT("ADDED", "3") END_OF_LIST("10"));
    check_seen("three times", "list +3 list +3 list +3 synced ");
    end();
}

TEST(a_server_that_is_busy_is_asked_later)
{
    static const int statuses[] = { 429, 503 };
    for (unsigned i = 0; i < 2; i++) {
        begin();
        sync_at_10();
        finish("reset");
        head(statuses[i]);
        data("{\"kind\":\"Status\"}");
        finish(NULL);
        wait_for_request();
        CHECK(target_has("resourceVersion=10&timeout") && !target_has("sendInitialEvents"));
        check_seen("no list", "");
        end();
    }
}

TEST(a_refused_watch_lists_again)
{
    begin();
    sync_at_10();
    finish("reset");
    head(403);
    finish(NULL);
    wait_for_request();
    CHECK(target_has("sendInitialEvents"));
    end();
}

/* A server that cannot go on from a version may say so again and again. */
TEST(internal_errors_are_borne_for_a_while)
{
    begin();
    sync_at_10();
    int64_t begun_ms = clock_mono_ms(&clock_.clock);
    unsigned n = 0;
    for (; !target_has("sendInitialEvents") || n == 0; n++) {
        data(ERROR("500"));
        CHECK(last()->cancelled);
        wait_for_request();
        head(200);
        CHECK(n < 10);
    }
    CHECK("not at once" && n > 2);
    CHECK(clock_mono_ms(&clock_.clock) - begun_ms > 30000);
    CHECK(target_has("resourceVersion=10&"));
    strbuf_reset(&seen);
    data(EVENT("ADDED", "3") END_OF_LIST("20") ERROR("500"));
    wait_for_request();
    CHECK("the time begins anew" && !target_has("sendInitialEvents") && target_has("resourceVersion=20&timeout"));
    clock_manual_advance(&clock_, 31ll * CLOCK_NS_PER_SECOND);
    head(200);
    data(EVENT("MODIFIED", "21") ERROR("500"));
    wait_for_request();
    CHECK("and with every event" && !target_has("sendInitialEvents") && target_has("resourceVersion=21&timeout"));
    clock_manual_advance(&clock_, 31ll * CLOCK_NS_PER_SECOND);
    head(200);
    data(BOOKMARK("22") ERROR("500"));
    wait_for_request();
    CHECK("and with a bookmark" && !target_has("sendInitialEvents") && target_has("resourceVersion=22&timeout"));
    end();
}

/* A server that was set back to an older state. */
TEST(versions_that_are_too_large)
{
    begin();
    sync_at_10();
    data(ERROR("410"));
    wait_for_request();
    head(200);
    data(ERROR("504"));
    wait_for_request();
    CHECK(target_has("sendInitialEvents=true") && !target_has("resourceVersion="));
    end();

    begin();
    sync_at_10();
    data(ERROR("410"));
    wait_for_request();
    head(504);
    finish(NULL);
    wait_for_request();
    CHECK_TEXT("in pages", last()->target, "/api/v1/pods?limit=500&fieldSelector=a%3Db");
    end();
}

/* The transport says so, before anything was sent. */
TEST(a_connection_that_is_refused_is_tried_again_from_the_same_version)
{
    begin();
    finish("connection refused");
    wait_for_request();
    CHECK("the list" && target_has("sendInitialEvents"));
    check_seen("twice begun", "list list ");
    head(200);
    data(END_OF_LIST("10"));
    check_seen("synced", "synced ");
    finish("reset");
    finish("connection refused");
    wait_for_request();
    CHECK("the watch" && target_has("resourceVersion=10&timeout") && !target_has("sendInitialEvents"));
    check_seen("no list", "");
    end();
}

/* ---- Pages ---- */

static void page(int status, const char *body)
{
    struct request *r = last();
    CHECK(!r->is_stream);
    r->done(r->context, &(struct api_answer){ .status = status, .error = status ? NULL : "refused", .body = str_of(body) });
}

TEST(a_server_without_streams_is_asked_for_pages)
{
    begin();
    head(422);
    data("{}");
    finish(NULL);
    strbuf_reset(&seen);
    wait_for_request();
    CHECK_TEXT("first", last()->target, "/api/v1/pods?limit=500&fieldSelector=a%3Db");
    page(200, "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"a+b/=\"},\"items\":[{\"metadata\":"
              "{\"resourceVersion\":\"1\"}},{\"metadata\":{\"resourceVersion\":\"2\"}}]}");
    CHECK_TEXT("second", last()->target, "/api/v1/pods?limit=500&fieldSelector=a%3Db&continue=a%2Bb%2F%3D");
    page(200, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"resourceVersion\":\"3\"}}]}");
    check_seen("all", "list +1 +2 +3 synced ");
    CHECK(last()->is_stream && target_has("resourceVersion=7&timeout") && !target_has("sendInitialEvents"));
    end();
}

TEST(pages_that_fail)
{
    static const struct { int status; const char *body; } faults[] = {
        { 0, "" }, { 500, "{}" }, { 410, "{}" }, { 200, "" }, { 200, "{" }, { 200, "{}" },
        { 200, "{\"metadata\":{\"resourceVersion\":5}}" }, { 200, "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[1" },
    };
    for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        begin_with(true);
        page(200, "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"x\"},\"items\":[{\"metadata\":{}}]}");
        page(faults[i].status, faults[i].body);
        check_seen("begun", "list + ");
        wait_for_request();
        CHECK_TEXT("from the start", last()->target, "/api/v1/pods?limit=500&fieldSelector=a%3Db");
        page(200, "{\"metadata\":{\"resourceVersion\":\"8\"},\"items\":null}");
        check_seen("empty", "list synced ");
        end();
    }
}

TEST(what_a_server_does_not_know_there_is_none_of)
{
    may_be_missing = true;
    begin();
    sync_at_10();
    finish(NULL);
    head(404);
    data("{}");
    finish(NULL);
    wait_for_request();
    for (int i = 0; i < 3; i++) {
        head(404);
        data("404 page not found");
        finish(NULL);
        check_seen("an empty list", "list synced ");
        CHECK(reflector_has_synced(reflector));
        wait_for_request();
        CHECK(target_has("sendInitialEvents"));
    }
    head(200);
    data(EVENT("ADDED", "3") END_OF_LIST("10"));
    check_seen("and then there are some", "list +3 synced ");
    end();
    begin_with(true);
    page(404, "404 page not found");
    check_seen("in pages, too", "list synced ");
    end();
    may_be_missing = false;
}

TEST(but_what_must_be_there_is_waited_for)
{
    begin();
    head(404);
    finish(NULL);
    check_seen("not an empty list", "list ");
    CHECK(!reflector_has_synced(reflector));
    wait_for_request();
    page(404, "404 page not found");
    check_seen("nor in pages", "list ");
    end();
}

TEST(a_receiver_that_is_full_gets_no_other_page)
{
    begin_with(true);
    receiver_is_full = true;
    page(200, "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"x\"},\"items\":[{\"metadata\":{}}]}");
    check_seen("what was asked for", "list + ");
    CHECK_INT("no other page", requests.n, 1);
    receiver_is_full = false;
    reflector_resume(reflector);
    CHECK_INT("now", requests.n, 2);
    CHECK(target_has("continue=x"));
    reflector_resume(reflector);
    CHECK_INT("once", requests.n, 2);
    page(200, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"metadata\":{\"resourceVersion\":\"3\"}}]}");
    check_seen("the rest", "+3 synced ");
    end();
}

/* ---- Nonsense, and a receiver that is full ---- */

TEST(nonsense_ends_the_stream)
{
    static const char *const texts[] = {
        "nonsense\n", "{}\n", "[]\n", "{\"type\":\"WEIRD\",\"object\":{}}\n", "{\"type\":5}\n", "\0\0\n",
        "{\"type\":\"ERROR\"}\n", "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}}\n",
    };
    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        begin();
        sync_at_10();
        last()->stream.data(last()->stream.context, (struct str){ texts[i], i == 5 ? 3 : strlen(texts[i]) });
        CHECK(last()->cancelled);
        wait_for_request();
        end();
    }
}

TEST(a_frame_without_end_is_given_up)
{
    begin();
    sync_at_10();
    char *junk = malloc(1 << 20);
    memset(junk, 'x', 1 << 20);
    for (int i = 0; i < 9 && !last()->cancelled; i++)
        last()->stream.data(last()->stream.context, (struct str){ junk, 1 << 20 });
    CHECK(last()->cancelled);
    free(junk);
    end();
}

TEST(a_receiver_that_is_full_stops_the_stream)
{
    begin();
    sync_at_10();
    receiver_is_full = true;
    CHECK(!data(EVENT("MODIFIED", "11") EVENT("MODIFIED", "12") EVENT("MODIFIED", "13")));
    check_seen("one", "=11 ");
    reflector_resume(reflector);
    check_seen("one more", "=12 ");
    CHECK_INT("resumed", n_resumed, 0);
    receiver_is_full = false;
    reflector_resume(reflector);
    check_seen("the rest", "=13 ");
    CHECK_INT("resumed", n_resumed, 1);
    data(EVENT("MODIFIED", "14"));
    check_seen("and on", "=14 ");
    end();
}
