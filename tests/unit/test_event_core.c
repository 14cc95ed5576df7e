/* Events written to core/v1: client/event_recorder.c without events.k8s.io, and client/event_correlate.c. */
#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "base/vec.h"
#include "client/election.h"
#include "client/event_correlate.h"
#include "tests/test.h"

struct sent {
    char *text; /* "METHOD target media body" */
    struct str body;
    api_done done;
    void *context;
    bool answered, cancelled;
};

static struct clock_manual clock_;
static VEC(struct sent) sent;
static struct api api;
static struct event_recorder *recorder;
static struct arena texts;

static api_call take(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    struct sent s = { .done = done, .context = done_context, .body = arena_str(&texts, r->body) };
    CHECK_INT("lane", r->lane, API_LANE_EVENT);
    CHECK(asprintf(&s.text, "%s %.*s %s %.*s", r->method, STR_ARG(r->target), r->media_type, STR_ARG(r->body)) > 0);
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

static void begin(enum media media)
{
    log_set_sink(quiet, NULL);
    arena_init(&texts);
    clock_manual_init(&clock_, 0, 1700000000ll * CLOCK_NS_PER_SECOND);
    api = (struct api){ .media = media, .send = take, .cancel = cancel };
    recorder = event_recorder_new(&api, &clock_.clock, 1);
    event_recorder_use_core(recorder);
}

static void end(void)
{
    event_recorder_free(recorder);
    for (size_t i = 0; i < sent.n; i++)
        free(sent.at[i].text);
    vec_fini(&sent);
    arena_fini(&texts);
}

/* The last request. */
static void answer(int status, const char *body)
{
    struct sent *s = &sent.at[sent.n - 1];
    CHECK(!s->answered && !s->cancelled);
    s->answered = true;
    s->done(s->context, &(struct api_answer){ .status = status, .error = status ? NULL : "refused", .body = str_of(body) });
}

static void pass_ms(int64_t ms)
{
    clock_manual_advance(&clock_, ms * CLOCK_NS_PER_MS);
    if (event_recorder_due_ms(recorder) <= clock_mono_ms(&clock_.clock))
        event_recorder_tick(recorder);
}

static struct event_to_record failed(const char *pod, const char *version, const char *note)
{
    return (struct event_to_record){
        .controller = STR("default-scheduler"), .instance = STR("default-scheduler-host"), .type = STR("Warning"),
        .reason = STR("FailedScheduling"), .action = STR("Scheduling"), .note = str_of(note),
        .regarding = { STR("Pod"), STR("ns"), str_of(pod), STR("u1"), STR("v1"), str_of(version) },
    };
}

static void add(const char *pod, const char *version, const char *note)
{
    struct event_to_record e = failed(pod, version, note);
    event_recorder_add(recorder, &e);
}

#define CREATED(message, count, last, reporter)                                                     \
    "POST /api/v1/namespaces/ns/events application/json "                                           \
    "{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p.17979cfe362a0000\",\"namespace\":\"ns\"}," \
    "\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u1\",\"apiVersion\":\"v1\","   \
    "\"resourceVersion\":\"7\"},\"reason\":\"FailedScheduling\",\"message\":\"" message "\","       \
    "\"source\":{\"component\":\"default-scheduler\"},\"firstTimestamp\":\"2023-11-14T22:13:20Z\"," \
    "\"lastTimestamp\":\"" last "\",\"count\":" count ",\"type\":\"Warning\",\"eventTime\":null,"   \
    "\"reportingComponent\":\"" reporter "\",\"reportingInstance\":\"\"}\n"
#define PATCHED(name, body)                                                                         \
    "PATCH /api/v1/namespaces/ns/events/" name " application/strategic-merge-patch+json " body

TEST(the_first_is_created_and_every_other_adds_to_its_count)
{
    begin(MEDIA_JSON);
    add("p", "7", "no \"room\"");
    CHECK_TEXT("created", sent.at[0].text, CREATED("no \\\"room\\\"", "1", "2023-11-14T22:13:20Z", "default-scheduler"));
    answer(201, "{}");
    pass_ms(61000);
    add("p", "8", "no \"room\"");
    CHECK_INT("another version of the pod is the same", sent.n, 2);
    CHECK_TEXT("patched", sent.at[1].text,
               PATCHED("p.17979cfe362a0000",
                       "{\"count\":2,\"lastTimestamp\":\"2023-11-14T22:14:21Z\",\"message\":\"no \\\"room\\\"\"}"));
    answer(200, "{}");
    add("p", "8", "no \"room\"");
    CHECK_TEXT("patched again", sent.at[2].text,
               PATCHED("p.17979cfe362a0000",
                       "{\"count\":3,\"lastTimestamp\":\"2023-11-14T22:14:21Z\",\"message\":\"no \\\"room\\\"\"}"));
    answer(200, "{}");
    add("p", "8", "another");
    CHECK_INT("another note is another Event", sent.n, 4);
    CHECK(strncmp(sent.at[3].text, "POST ", 5) == 0);
    add("q", "1", "another");
    CHECK_INT("another pod as well", sent.n, 5);
    CHECK_INT("nothing is due", event_recorder_due_ms(recorder) == INT64_MAX, true);
    CHECK_INT("written", (int64_t)event_recorder_counts(recorder).written, 3);
    end();
}

TEST(one_request_at_a_time_about_an_event)
{
    begin(MEDIA_JSON);
    add("p", "7", "x");
    add("p", "7", "x");
    add("p", "7", "x");
    CHECK_INT("waits for the first", sent.n, 1);
    answer(201, "{}");
    CHECK_INT("then both in one", sent.n, 2);
    CHECK_TEXT("patched", sent.at[1].text,
               PATCHED("p.17979cfe362a0000", "{\"count\":3,\"lastTimestamp\":\"2023-11-14T22:13:20Z\",\"message\":\"x\"}"));
    answer(200, "{}");
    CHECK_INT("and nothing more", sent.n, 2);
    CHECK_INT("waiting", event_recorder_counts(recorder).waiting, 0);
    end();
}

TEST(an_event_that_is_gone_is_created_with_its_count)
{
    begin(MEDIA_JSON);
    add("p", "7", "x");
    answer(201, "{}");
    pass_ms(1000);
    add("p", "7", "x");
    answer(404, "{}");
    CHECK_TEXT("created", sent.at[2].text, CREATED("x", "2", "2023-11-14T22:13:21Z", "default-scheduler"));
    answer(201, "{}");
    CHECK_INT("waiting", event_recorder_counts(recorder).waiting, 0);
    end();
}

TEST(servers_that_are_away_are_tried_again_and_refusals_are_not)
{
    begin(MEDIA_JSON);
    add("p", "7", "x");
    answer(0, "");
    CHECK("the first pause is random" && event_recorder_due_ms(recorder) <= 10000);
    for (int i = 1; i < 12; i++) {
        int64_t wait_ms = event_recorder_due_ms(recorder) - clock_mono_ms(&clock_.clock);
        if (i > 1)
            CHECK_INT("the others are not", wait_ms, 10000);
        pass_ms(wait_ms);
        CHECK_INT("again", sent.n, 1 + i);
        answer(0, "");
    }
    CHECK_INT("given up", (int64_t)event_recorder_counts(recorder).given_up, 1);
    add("q", "7", "x");
    answer(409, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"AlreadyExists\",\"message\":\"x\"}");
    add("q", "7", "x");
    answer(409, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"AlreadyExists\",\"message\":\"x\"}");
    CHECK_INT("refused", (int64_t)event_recorder_counts(recorder).refused, 2);
    CHECK_INT("waiting", event_recorder_counts(recorder).waiting, 0);
    end();
}

/* Ten that differ in the note alone: the tenth and all others are one. */
TEST(events_that_are_alike_are_combined)
{
    begin(MEDIA_JSON);
    char note[] = "note 0";
    for (int i = 0; i < 9; i++) {
        note[5] = (char)('0' + i);
        add("p", "7", note);
        CHECK(strncmp(sent.at[i].text, "POST ", 5) == 0 && !strstr(sent.at[i].text, "combined"));
        answer(201, "{}");
    }
    add("p", "7", "note 9");
    CHECK_TEXT("the tenth", sent.at[9].text,
               CREATED("(combined from similar events): note 9", "1", "2023-11-14T22:13:20Z", ""));
    answer(201, "{}");
    add("p", "7", "note A");
    CHECK_TEXT("the next", sent.at[10].text,
               PATCHED("p.17979cfe362a0000", "{\"count\":2,\"lastTimestamp\":\"2023-11-14T22:13:20Z\","
                                             "\"message\":\"(combined from similar events): note A\"}"));
    answer(200, "{}");
    add("p", "7", "note 3");
    CHECK("one of the first nine keeps its own" && strstr(sent.at[11].text, "\"message\":\"note 3\""));
    CHECK(strncmp(sent.at[11].text, "PATCH ", 6) == 0);
    answer(200, "{}");
    pass_ms(600 * 1000 + 1);
    add("p", "7", "note B");
    CHECK("after ten quiet minutes they are told one by one" && strstr(sent.at[12].text, "\"message\":\"note B\""));
    end();
}

TEST(about_one_object_only_so_many_are_written)
{
    begin(MEDIA_JSON);
    for (int i = 0; i < 40; i++) {
        add("p", "7", "x");
        if (sent.n == (size_t)i + 1)
            answer(201, "{}");
    }
    CHECK_INT("written", sent.n, 25);
    CHECK_INT("left out", (int64_t)event_recorder_counts(recorder).left_out, 15);
    add("q", "7", "x");
    CHECK_INT("of another object", sent.n, 26);
    answer(201, "{}");
    struct event_to_record normal = failed("p", "7", "x");
    normal.type = STR("Normal");
    event_recorder_add(recorder, &normal);
    CHECK_INT("of another type", sent.n, 27);
    answer(201, "{}");
    pass_ms(299 * 1000);
    add("p", "7", "x");
    CHECK_INT("not yet", sent.n, 27);
    pass_ms(1000);
    add("p", "7", "x");
    CHECK_INT("one more after five minutes", sent.n, 28);
    CHECK("with all that were left out" && strstr(sent.at[27].text, "\"count\":42,"));
    answer(200, "{}");
    add("p", "7", "x");
    CHECK_INT("and no other", sent.n, 28);
    end();
}

TEST(what_is_remembered_is_bounded)
{
    struct event_correlator *c = event_correlator_new();
    struct event_to_record e = failed("first", "7", "x");
    for (int i = 0; i < 25; i++)
        CHECK(event_correlate_permits(c, &e, 0));
    CHECK(!event_correlate_permits(c, &e, 0));
    char name[32];
    for (int i = 0; i < EVENT_CORRELATE_MAX - 1; i++) {
        snprintf(name, sizeof(name), "pod-%d", i);
        struct event_to_record other = failed(name, "7", "x");
        CHECK(event_correlate_permits(c, &other, 0));
    }
    CHECK("still known" && !event_correlate_permits(c, &e, 0));
    for (int i = 0; i < EVENT_CORRELATE_MAX; i++) {
        snprintf(name, sizeof(name), "other-%d", i);
        struct event_to_record other = failed(name, "7", "x");
        CHECK(event_correlate_permits(c, &other, 0));
    }
    CHECK("forgotten" && event_correlate_permits(c, &e, 0));
    event_correlator_free(c);
}

TEST(what_is_under_way_is_given_up)
{
    begin(MEDIA_JSON);
    add("p", "7", "x");
    add("p", "7", "x");
    add("q", "7", "x");
    answer(0, "");
    end();
}

/* ---- Who leads ---- */

static api_call take_lease(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    (void)r;
    struct sent s = { .done = done, .context = done_context };
    vec_push(&sent, s);
    return sent.n;
}

static void nobody(void *context)
{
    (void)context;
}

static void nobody_leads(void *context, struct str identity)
{
    (void)context;
    (void)identity;
}

static void record_leader(enum media media)
{
    begin(media);
    struct api leases = { .media = MEDIA_JSON, .send = take_lease, .cancel = cancel };
    struct election_options o = { .api = &leases, .clock = &clock_.clock, .identity = "host_uuid", .ns = "kube-system",
                                  .name = "kube-scheduler", .lease_ms = 15000, .deadline_ms = 10000, .retry_ms = 2000,
                                  .calls = { NULL, nobody, nobody, nobody_leads, nobody }, .seed = 1 };
    struct election *election = election_new(&o);
    election_start(election);
    answer(200, "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"kube-scheduler\","
                "\"namespace\":\"kube-system\",\"uid\":\"lease-uid\",\"resourceVersion\":\"41\"},\"spec\":{}}");
    struct event_to_record e = election_event(election, &texts, STR("default-scheduler"));
    event_recorder_add(recorder, &e);
    election_free(election);
}

TEST(who_leads_is_told_to_core)
{
    record_leader(MEDIA_JSON);
    CHECK_TEXT("the Event", sent.at[sent.n - 1].text,
               "POST /api/v1/namespaces/kube-system/events application/json "
               "{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"kube-scheduler.17979cfe362a0000\","
               "\"namespace\":\"kube-system\"},\"involvedObject\":{\"kind\":\"Lease\",\"namespace\":\"kube-system\","
               "\"name\":\"kube-scheduler\",\"uid\":\"lease-uid\",\"apiVersion\":\"coordination.k8s.io/v1\","
               "\"resourceVersion\":\"41\"},\"reason\":\"LeaderElection\",\"message\":\"host_uuid became leader\","
               "\"source\":{\"component\":\"default-scheduler\"},\"firstTimestamp\":\"2023-11-14T22:13:20Z\","
               "\"lastTimestamp\":\"2023-11-14T22:13:20Z\",\"count\":1,\"type\":\"Normal\",\"eventTime\":null,"
               "\"reportingComponent\":\"default-scheduler\",\"reportingInstance\":\"\"}\n");
    end();
}

TEST(who_leads_is_told_in_protobuf)
{
    record_leader(MEDIA_PROTOBUF);
    struct object object;
    struct gvk seen, endpoint = { STR(""), STR("v1"), STR("Event") };
    struct err e;
    err_init(&e, &texts);
    struct work work = work_init(REQUEST_BYTES_MAX);
    CHECK(strstr(sent.at[sent.n - 1].text, "POST /api/v1/namespaces/kube-system/events application/vnd.kubernetes.protobuf "));
    CHECK(!object_read(&texts, &work, MEDIA_PROTOBUF, sent.at[sent.n - 1].body, endpoint, NULL, &object, &seen, &e));
    CHECK_STR("message", value_text(value_slot(&object.value, SLOT_core_v1_Event_message)), STR("host_uuid became leader"));
    CHECK_STR("kind", seen.kind, STR("Event"));
    CHECK_STR("version", seen.version, STR("v1"));
    end();
}
