/* Events and their series: client/event_recorder.c, with answers by hand and a clock moved by hand. */
#include "client/event_recorder.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/vec.h"
#include "tests/test.h"

struct sent {
    api_call call;
    char *text; /* "METHOD target media body" */
    api_done done;
    void *context;
    bool answered;
};

static struct clock_manual clock_;
static VEC(struct sent) sent;
static struct api api;
static struct event_recorder *recorder;

static api_call take(void *context, const struct api_request *r, api_done done, void *done_context)
{
    (void)context;
    struct sent s = { .call = sent.n + 1, .done = done, .context = done_context };
    CHECK_INT("lane", r->lane, API_LANE_EVENT);
    CHECK(asprintf(&s.text, "%s %.*s %s %.*s", r->method, STR_ARG(r->target), r->media_type, STR_ARG(r->body)) > 0);
    vec_push(&sent, s);
    return s.call;
}

static void cancel(void *context, api_call call)
{
    (void)context;
    sent.at[call - 1].done = NULL;
}

static void quiet(void *context, struct str record)
{
    (void)context;
    (void)record;
}

static void begin(void)
{
    log_set_sink(quiet, NULL);
    clock_manual_init(&clock_, 0, 1700000000ll * CLOCK_NS_PER_SECOND);
    api = (struct api){ .media = MEDIA_JSON, .send = take, .cancel = cancel };
    recorder = event_recorder_new(&api, &clock_.clock, 1);
}

static void end(void)
{
    event_recorder_free(recorder);
    for (size_t i = 0; i < sent.n; i++)
        free(sent.at[i].text);
    vec_fini(&sent);
}

static void answer(size_t i, int status, const char *body)
{
    CHECK(i < sent.n && !sent.at[i].answered && sent.at[i].done);
    sent.at[i].answered = true;
    sent.at[i].done(sent.at[i].context, &(struct api_answer){ .status = status, .error = status ? NULL : "refused",
                                                              .body = str_of(body) });
}

static void pass_s(int64_t s)
{
    clock_manual_advance(&clock_, s * CLOCK_NS_PER_SECOND);
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

#define EXISTS "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"AlreadyExists\",\"message\":\"x\"}"

TEST(the_first_is_created_the_second_begins_a_series_the_rest_is_counted)
{
    begin();
    add("p", "7", "no \"room\"");
    CHECK_INT("sent", sent.n, 1);
    CHECK_TEXT("created", sent.at[0].text,
               "POST /apis/events.k8s.io/v1/namespaces/ns/events application/json "
               "{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\",\"metadata\":{\"name\":\"p.17979cfe362a0000\","
               "\"namespace\":\"ns\"},\"eventTime\":\"2023-11-14T22:13:20.000000Z\","
               "\"reportingController\":\"default-scheduler\",\"reportingInstance\":\"default-scheduler-host\","
               "\"action\":\"Scheduling\",\"reason\":\"FailedScheduling\",\"regarding\":{\"kind\":\"Pod\","
               "\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u1\",\"apiVersion\":\"v1\",\"resourceVersion\":\"7\"},"
               "\"note\":\"no \\\"room\\\"\",\"type\":\"Warning\",\"deprecatedSource\":{},"
               "\"deprecatedFirstTimestamp\":null,\"deprecatedLastTimestamp\":null}\n");
    answer(0, 201, "{}");
    pass_s(1);
    add("p", "7", "another note");
    CHECK_INT("sent", sent.n, 2);
    CHECK_TEXT("patched", sent.at[1].text,
               "PATCH /apis/events.k8s.io/v1/namespaces/ns/events/p.17979cfe362a0000 "
               "application/strategic-merge-patch+json "
               "{\"series\":{\"count\":2,\"lastObservedTime\":\"2023-11-14T22:13:21.000000Z\"}}");
    answer(1, 200, "{}");
    for (int i = 0; i < 10; i++)
        add("p", "7", "more");
    CHECK_INT("sent", sent.n, 2);
    add("p", "8", "another version is another kind");
    CHECK_INT("sent", sent.n, 3);
    answer(2, 201, "{}");
    CHECK_INT("written", event_recorder_counts(recorder).written, 3);
    CHECK_INT("waiting", event_recorder_counts(recorder).waiting, 0);
    end();
}

TEST(every_text_but_the_note_tells_kinds_apart)
{
    begin();
    struct event_to_record e = failed("p", "7", "n");
    event_recorder_add(recorder, &e);
    struct str *const texts[] = { &e.controller, &e.instance, &e.type, &e.reason, &e.action, &e.regarding.kind,
                                  &e.regarding.ns, &e.regarding.name, &e.regarding.uid, &e.regarding.api_version,
                                  &e.regarding.resource_version };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        *texts[i] = STR("other");
        event_recorder_add(recorder, &e);
        CHECK_INT("created", strncmp(sent.at[sent.n - 1].text, "POST", 4), 0);
        CHECK_INT("sent", sent.n, i + 2);
    }
    end();
}

TEST(a_series_whose_event_is_gone_is_created_whole)
{
    begin();
    add("p", "7", "n");
    answer(0, 201, "{}");
    add("p", "7", "n");
    answer(1, 404, "{}");
    CHECK_INT("sent", sent.n, 3);
    CHECK(strncmp(sent.at[2].text, "POST ", 5) == 0);
    CHECK(strstr(sent.at[2].text, "\"series\":{\"count\":2,\"lastObservedTime\":\"2023-11-14T22:13:20.000000Z\"}"));
    answer(2, 409, EXISTS); /* the first request arrived after all */
    pass_s(13);
    CHECK_INT("sent", sent.n, 4);
    CHECK(strncmp(sent.at[3].text, "PATCH ", 6) == 0);
    answer(3, 200, "{}");
    CHECK_INT("refused", event_recorder_counts(recorder).refused, 0);
    end();
}

TEST(a_server_that_cannot_be_reached_is_tried_twelve_times)
{
    begin();
    add("p", "7", "n");
    for (int i = 0; i < 12; i++) {
        CHECK_INT("sent", sent.n, i + 1);
        answer((size_t)i, 0, "");
        pass_s(9);
        CHECK_INT("not yet", sent.n, i + 1);
        pass_s(4);
    }
    CHECK_INT("given up", event_recorder_counts(recorder).given_up, 1);
    CHECK_INT("waiting", event_recorder_counts(recorder).waiting, 0);
    end();
}

TEST(what_a_server_refuses_is_not_tried_again)
{
    begin();
    add("p", "7", "n");
    answer(0, 403, "{}");
    add("q", "7", "n");
    answer(1, 409, EXISTS);
    pass_s(100);
    CHECK_INT("sent", sent.n, 2);
    CHECK_INT("refused", event_recorder_counts(recorder).refused, 2);
    end();
}

TEST(series_are_told_again_every_half_hour_and_at_their_end)
{
    begin();
    add("p", "7", "n");
    answer(0, 201, "{}");
    add("single", "7", "n");
    answer(1, 201, "{}");
    for (int i = 0; i < 1900; i++) { /* every second for a bit more than half an hour */
        pass_s(1);
        add("p", "7", "n");
        for (size_t k = 0; k < sent.n; k++)
            if (!sent.at[k].answered)
                answer(k, 200, "{}");
    }
    CHECK_INT("the first, the series, its refresh, and the single one", sent.n, 4);
    CHECK(strstr(sent.at[3].text, "\"count\":1801") || strstr(sent.at[3].text, "\"count\":1800"));
    CHECK_INT("the single one is forgotten", event_recorder_counts(recorder).kinds, 1);
    pass_s(13 * 60);
    CHECK_INT("its end", sent.n, 5);
    CHECK(strstr(sent.at[4].text, "\"count\":1901"));
    CHECK_INT("forgotten", event_recorder_counts(recorder).kinds, 0);
    answer(4, 200, "{}");
    end();
}

TEST(names_that_are_none_become_random)
{
    begin();
    add("UPPER", "7", "n");
    CHECK(!strstr(sent.at[0].text, "UPPER."));
    const char *name = strstr(sent.at[0].text, "\"name\":\"") + 8;
    CHECK(name[8] == '-' && name[14] == '4' && name[36] == '"');
    struct event_to_record e = failed("n1", "7", "n");
    e.regarding.ns = STR("");
    event_recorder_add(recorder, &e);
    CHECK(strstr(sent.at[1].text, "namespaces/default/events") && strstr(sent.at[1].text, "\"namespace\":\"default\""));
    end();
}

TEST(there_is_a_bound_on_everything)
{
    begin();
    char pod[32];
    for (int i = 0; i < EVENT_RECORDER_KINDS_MAX + 10; i++) {
        snprintf(pod, sizeof(pod), "p%d", i);
        add(pod, "7", "n");
    }
    struct event_recorder_counts c = event_recorder_counts(recorder);
    CHECK_INT("waiting", c.waiting, EVENT_RECORDER_WAITING_MAX);
    CHECK_INT("kinds", c.kinds, EVENT_RECORDER_KINDS_MAX);
    CHECK_INT("dropped", c.dropped, EVENT_RECORDER_KINDS_MAX + 10 - EVENT_RECORDER_WAITING_MAX);
    CHECK_INT("at the server", sent.n, EVENT_RECORDER_SENDING_MAX);
    answer(7, 201, "{}");
    answer(3, 0, "");
    CHECK_INT("the next ones go", sent.n, EVENT_RECORDER_SENDING_MAX + 2);
    CHECK(strstr(vec_last(&sent)->text, "\"name\":\"p1001\""));
    pass_s(20);
    CHECK_INT("who is tried again waits for his turn", sent.n, EVENT_RECORDER_SENDING_MAX + 2);
    end();
}
