/* What is written about pods: bodies as kube-scheduler v1.36.4 sent them to an API server, where a row says "recorded", and
 * that an API server makes of every patch what was meant. */
#include "daemon/pod_writes.h"

#include "api/schema_slots.h"
#include "api/time.h"
#include "base/vec.h"
#include "patch/patch.h"
#include "tests/test.h"

static struct arena arena;
static struct sym_table syms;
static VEC(const struct pod *) pods; /* made by pod_of */

static void begin(void)
{
    arena_init(&arena);
    sym_init(&syms);
}

static void end(void)
{
    for (size_t i = 0; i < pods.n; i++)
        pod_unref(&syms, pods.at[i]);
    vec_fini(&pods);
    sym_fini(&syms);
    arena_fini(&arena);
}

static const struct pod *pod_of(const char *json)
{
    const struct pod *pod;
    struct err e;
    err_init(&e, &arena);
    if (pod_decode(&syms, TYPED_JSON, str_of(json), &pod, &e))
        FAIL("%s: %s", json, e.message);
    vec_push(&pods, pod);
    return pod;
}

static int64_t seconds_of(const char *text)
{
    struct timestamp t;
    struct err e;
    err_init(&e, &arena);
    CHECK(!timestamp_parse(str_of(text), &t, &e));
    return t.seconds;
}

/* A pod "p" of generation `generation` with this status. */
static const struct pod *pod_with(int generation, const char *status)
{
    return pod_of(arena_printf(&arena,
                               "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"generation\":%d},"
                               "\"spec\":{\"schedulerName\":\"default-scheduler\"},\"status\":{%s}}",
                               generation, status));
}

#define NOW "2026-11-18T01:29:15Z"
#define BEFORE "2026-11-18T01:00:00Z"
#define NO_NODES "no nodes available to schedule pods"
#define FAILED_BEFORE                                                                       \
    "{\"type\":\"PodScheduled\",\"status\":\"False\",\"lastProbeTime\":null,\"lastTransitionTime\":\"" BEFORE "\"," \
    "\"reason\":\"Unschedulable\",\"message\":\"" NO_NODES "\",\"observedGeneration\":1}"
#define ORDER "\"$setElementOrder/conditions\":"

struct status_case {
    const char *name;
    int generation;
    const char *status;
    const char *message; /* NULL: no condition */
    enum failure_kind failure;
    const char *nomination; /* NULL: it is not set */
    const char *want;       /* NULL: nothing to send */
};

static const struct status_case status_cases[] = {
    { "recorded: the first condition ever", 1, "", NO_NODES, FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-18T01:29:15Z\",\"message\":"
      "\"no nodes available to schedule pods\",\"observedGeneration\":1,\"reason\":\"Unschedulable\",\"status\":\"False\","
      "\"type\":\"PodScheduled\"}]}}" },
    { "recorded: a pod whose gates are gone", 2,
      "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"lastProbeTime\":null,\"lastTransitionTime\":\"" BEFORE
      "\",\"reason\":\"SchedulingGated\",\"message\":\"Scheduling is blocked due to non-empty scheduling gates\"}]",
      NO_NODES, FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"message\":"
      "\"no nodes available to schedule pods\",\"observedGeneration\":2,\"reason\":\"Unschedulable\",\"type\":"
      "\"PodScheduled\"}]}}" },
    { "recorded: another message", 1, "\"conditions\":[" FAILED_BEFORE "]",
      "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 "
      "No preemption victims found for incoming pod.", FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"message\":\"0/1 nodes "
      "are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption "
      "victims found for incoming pod.\",\"type\":\"PodScheduled\"}]}}" },
    { "recorded: a nomination with the first condition", 1, "",
      "0/1 nodes are available: 1 Insufficient cpu.", FAILURE_UNSCHEDULABLE, "n1",
      "{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-18T01:29:15Z\",\"message\":"
      "\"0/1 nodes are available: 1 Insufficient cpu.\",\"observedGeneration\":1,\"reason\":\"Unschedulable\",\"status\":"
      "\"False\",\"type\":\"PodScheduled\"}],\"nominatedNodeName\":\"n1\"}}" },
    { "recorded: a nomination ends", 1,
      "\"nominatedNodeName\":\"n1\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"lastProbeTime\":null,"
      "\"lastTransitionTime\":\"" BEFORE "\",\"reason\":\"Unschedulable\",\"message\":\"0/1 nodes are available: 1 "
      "Insufficient cpu.\",\"observedGeneration\":1}]",
      NO_NODES, FAILURE_UNSCHEDULABLE, "",
      "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"message\":\"no nodes "
      "available to schedule pods\",\"type\":\"PodScheduled\"}],\"nominatedNodeName\":null}}" },
    { "nothing changes", 1, "\"conditions\":[" FAILED_BEFORE "]", NO_NODES, FAILURE_UNSCHEDULABLE, NULL, NULL },
    { "nothing changes, and the nomination is what it was", 1,
      "\"nominatedNodeName\":\"n1\",\"conditions\":[" FAILED_BEFORE "]", NO_NODES, FAILURE_UNSCHEDULABLE, "n1", NULL },
    { "a nomination that is not there need not be cleared", 1, "\"conditions\":[" FAILED_BEFORE "]", NO_NODES,
      FAILURE_UNSCHEDULABLE, "", NULL },
    { "the generation alone is not sent", 7, "\"conditions\":[" FAILED_BEFORE "]", NO_NODES, FAILURE_UNSCHEDULABLE, NULL,
      NULL },
    { "but it goes along with a nomination", 7, "\"conditions\":[" FAILED_BEFORE "]", NO_NODES, FAILURE_UNSCHEDULABLE,
      "n1",
      "{\"status\":{" ORDER "[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"observedGeneration\":7,\"type\":"
      "\"PodScheduled\"}],\"nominatedNodeName\":\"n1\"}}" },
    { "a nomination beside a condition that stays", 1, "\"conditions\":[" FAILED_BEFORE "]", NO_NODES,
      FAILURE_UNSCHEDULABLE, "n1", "{\"status\":{\"nominatedNodeName\":\"n1\"}}" },
    { "recorded: before a wait, the nomination alone", 1, "\"conditions\":[" FAILED_BEFORE "]", NULL, 0, "n1",
      "{\"status\":{\"nominatedNodeName\":\"n1\"}}" },
    { "a nomination of lower priority is cleared", 1, "\"nominatedNodeName\":\"n1\"", NULL, 0, "",
      "{\"status\":{\"nominatedNodeName\":null}}" },
    { "neither condition nor nomination", 1, "", NULL, 0, NULL, NULL },
    { "an error instead", 1, "\"conditions\":[" FAILED_BEFORE "]", "not now", FAILURE_SCHEDULER_ERROR, NULL,
      "{\"status\":{" ORDER "[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"message\":\"not now\",\"reason\":"
      "\"SchedulerError\",\"type\":\"PodScheduled\"}]}}" },
    { "the status changes, so does its time", 1,
      "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":\"" BEFORE
      "\"}]",
      "m", FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{" ORDER "[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"lastTransitionTime\":\"" NOW "\",\"message\":"
      "\"m\",\"observedGeneration\":1,\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}]}}" },
    { "it changes within a second", 1,
      "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"" NOW "\"}]",
      "m", FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{" ORDER "[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"message\":\"m\",\"observedGeneration\":1,"
      "\"reason\":\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}]}}" },
    { "a time of a probe is taken away", 1,
      "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"lastProbeTime\":\"" BEFORE
      "\",\"lastTransitionTime\":null,\"reason\":\"Unschedulable\",\"message\":\"m\",\"observedGeneration\":1}]",
      "m", FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{" ORDER "[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"lastProbeTime\":null,\"type\":"
      "\"PodScheduled\"}]}}" },
    { "what becomes empty is taken away", 0, "\"conditions\":[" FAILED_BEFORE "]", "", FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{" ORDER "[{\"type\":\"PodScheduled\"}],\"conditions\":[{\"message\":null,\"observedGeneration\":null,"
      "\"type\":\"PodScheduled\"}]}}" },
    { "what is empty from the start is left out", 0, "", "", FAILURE_SCHEDULER_ERROR, NULL,
      "{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"" NOW "\",\"reason\":"
      "\"SchedulerError\",\"status\":\"False\",\"type\":\"PodScheduled\"}]}}" },
    { "other conditions keep their places", 1,
      "\"conditions\":[{\"type\":\"example.com/a\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"False\"}]",
      "m", FAILURE_UNSCHEDULABLE, NULL,
      "{\"status\":{" ORDER "[{\"type\":\"example.com/a\"},{\"type\":\"Ready\"},{\"type\":\"PodScheduled\"}],\"conditions\":"
      "[{\"lastProbeTime\":null,\"lastTransitionTime\":\"" NOW "\",\"message\":\"m\",\"observedGeneration\":1,\"reason\":"
      "\"Unschedulable\",\"status\":\"False\",\"type\":\"PodScheduled\"}]}}" },
    { "text is written as Go does", 1, "", "a <b> & \"c\" \xe2\x80\xa8 \xff\x01", FAILURE_SCHEDULER_ERROR, NULL,
      "{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"" NOW "\",\"message\":\"a "
      "\\u003cb\\u003e \\u0026 \\\"c\\\" \\u2028 \\ufffd\\u0001\",\"observedGeneration\":1,\"reason\":\"SchedulerError\","
      "\"status\":\"False\",\"type\":\"PodScheduled\"}]}}" },
};

TEST(status_changes)
{
    begin();
    for (size_t i = 0; i < sizeof(status_cases) / sizeof(status_cases[0]); i++) {
        const struct status_case *c = &status_cases[i];
        struct status_change change = { .pod = pod_with(c->generation, c->status), .has_condition = c->message,
                                        .failure = c->failure, .message = c->message,
                                        .set_nomination = c->nomination };
        if (c->nomination)
            change.nomination = sym_intern(&syms, str_of(c->nomination));
        struct api_request r = { 0 };
        bool sent = pod_status_request(&arena, &syms, &change, seconds_of(NOW), &r);
        CHECK_INT(c->name, sent, c->want != NULL);
        if (!sent)
            continue;
        CHECK_STR(c->name, r.body, str_of(c->want));
        CHECK_TEXT(c->name, r.method, "PATCH");
        CHECK_STR(c->name, r.target, STR("/api/v1/namespaces/ns/pods/p/status"));
        CHECK_TEXT(c->name, r.media_type, "application/strategic-merge-patch+json");
        CHECK_INT(c->name, r.lane, API_LANE_STATUS);
        CHECK_INT(c->name, r.timeout_ms, 0);
    }
    end();
}

TEST(a_victim_is_marked_and_deleted)
{
    static const struct {
        const char *name, *status, *want;
    } cases[] = {
        { "recorded: beside the condition of its binding",
          "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]",
          "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"PodScheduled\"},{\"type\":\"DisruptionTarget\"}],"
          "\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-18T01:29:15Z\",\"message\":"
          "\"default-scheduler: preempting to accommodate a higher priority pod\",\"observedGeneration\":1,\"reason\":"
          "\"PreemptionByScheduler\",\"status\":\"True\",\"type\":\"DisruptionTarget\"}]}}" },
        { "without any condition", "",
          "{\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-18T01:29:15Z\",\"message\":"
          "\"default-scheduler: preempting to accommodate a higher priority pod\",\"observedGeneration\":1,\"reason\":"
          "\"PreemptionByScheduler\",\"status\":\"True\",\"type\":\"DisruptionTarget\"}]}}" },
        { "marked by somebody else",
          "\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"EvictionByEvictionAPI\",\"message\":"
          "\"m\",\"lastTransitionTime\":\"" BEFORE "\"}]",
          "{\"status\":{" ORDER "[{\"type\":\"DisruptionTarget\"}],\"conditions\":[{\"message\":\"default-scheduler: "
          "preempting to accommodate a higher priority pod\",\"observedGeneration\":1,\"reason\":\"PreemptionByScheduler\","
          "\"type\":\"DisruptionTarget\"}]}}" },
        { "marked already",
          "\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"PreemptionByScheduler\",\"message\":"
          "\"default-scheduler: preempting to accommodate a higher priority pod\"}]", NULL },
    };
    begin();
    const struct pod *preemptor = pod_with(1, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct api_request r = { 0 };
        bool sent = pod_disruption_request(&arena, &syms, pod_with(1, cases[i].status), preemptor, seconds_of(NOW), &r);
        CHECK_INT(cases[i].name, sent, cases[i].want != NULL);
        if (!sent)
            continue;
        CHECK_STR(cases[i].name, r.body, str_of(cases[i].want));
        CHECK_STR(cases[i].name, r.target, STR("/api/v1/namespaces/ns/pods/p/status"));
        CHECK_INT(cases[i].name, r.lane, API_LANE_EVICT);
    }
    struct api_request r = pod_delete_request(&arena, &syms, MEDIA_PROTOBUF, preemptor);
    CHECK_STR("recorded", r.body, STR("k8s\0\n\x13\n\x02v1\x12\rDeleteOptions\x12\0\x1a\0\"\0"));
    CHECK_TEXT("method", r.method, "DELETE");
    CHECK_STR("target", r.target, STR("/api/v1/namespaces/ns/pods/p"));
    CHECK_TEXT("media", r.media_type, "application/vnd.kubernetes.protobuf");
    CHECK_INT("lane", r.lane, API_LANE_EVICT);
    r = pod_delete_request(&arena, &syms, MEDIA_JSON, preemptor);
    CHECK_STR("JSON", r.body, STR("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}\n"));
    end();
}

TEST(a_binding)
{
    begin();
    const struct pod *pod = pod_of("{\"metadata\":{\"name\":\"other\",\"namespace\":\"default\",\"uid\":"
                                   "\"9dc67b95-138d-42ca-af0c-ac462375bb0d\"}}");
    struct api_request r = pod_binding_request(&arena, &syms, MEDIA_PROTOBUF, pod, sym_intern(&syms, STR("n1")));
    CHECK_STR("recorded", r.body,
              STR("k8s\0\n\r\n\x02v1\x12\x07" "Binding\x12X\n@\n\x05other\x12\0\x1a\x07" "default\"\0*$"
                  "9dc67b95-138d-42ca-af0c-ac462375bb0d2\0008\0B\0\x12\x14\n\x04Node\x12\0\x1a\x02n1\"\0*\0002\0:\0\x1a\0\"\0"));
    CHECK_TEXT("method", r.method, "POST");
    CHECK_STR("target", r.target, STR("/api/v1/namespaces/default/pods/other/binding"));
    CHECK_TEXT("media", r.media_type, "application/vnd.kubernetes.protobuf");
    CHECK_INT("lane", r.lane, API_LANE_BIND);
    r = pod_binding_request(&arena, &syms, MEDIA_JSON, pod, sym_intern(&syms, STR("n1")));
    CHECK_STR("JSON", r.body,
              STR("{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"other\",\"namespace\":\"default\","
                  "\"uid\":\"9dc67b95-138d-42ca-af0c-ac462375bb0d\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}\n"));
    end();
}

TEST(what_passes_is_tried_again)
{
#define STATUS(code, reason) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":" code ",\"reason\":\"" reason "\"}"
    static const struct {
        const char *name;
        struct api_answer answer;
        unsigned n_tries;
        double random;
        int64_t want;
    } cases[] = {
        { "it worked", { .status = 200 }, 1, 0, -1 },
        { "a conflict", { .status = 409, .body = { STATUS("409", "Conflict"), 0 } }, 1, 0, 10 },
        { "the second time", { .status = 409, .body = { STATUS("409", "Conflict"), 0 } }, 2, 0, 50 },
        { "the third time", { .status = 503, .body = { STATUS("503", "ServiceUnavailable"), 0 } }, 3, 0, 250 },
        { "no more than four", { .status = 503, .body = { STATUS("503", "ServiceUnavailable"), 0 } }, 4, 0, -1 },
        { "a little later by chance", { .status = 500, .body = { STATUS("500", "InternalError"), 0 } }, 3, 1, 275 },
        { "no reason given", { .status = 503, .body = { "out of order", 0 } }, 1, 0, 10 },
        { "another reason", { .status = 500, .body = { STATUS("500", "Timeout"), 0 } }, 1, 0, -1 },
        { "it is there already", { .status = 409, .body = { STATUS("409", "AlreadyExists"), 0 } }, 1, 0, -1 },
        { "it is gone", { .status = 404, .body = { STATUS("404", "NotFound"), 0 } }, 1, 0, -1 },
        { "nobody listens", { .error = "dial tcp 127.0.0.1:1: connection refused", .unsent = true }, 1, 0, 10 },
        { "the connection was cut", { .error = "EOF" }, 1, 0, -1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct api_answer answer = cases[i].answer;
        answer.body = str_of(answer.body.p);
        CHECK_INT(cases[i].name, pod_patch_wait_ms(&answer, cases[i].n_tries, cases[i].random), cases[i].want);
    }
}

/* Every patch of the table, applied as an API server applies it. */
TEST(patches_do_what_was_meant)
{
    begin();
    const struct type *t = &schema_types[T_core_v1_Pod];
    for (size_t i = 0; i < sizeof(status_cases) / sizeof(status_cases[0]); i++) {
        const struct status_case *c = &status_cases[i];
        if (!c->want)
            continue;
        struct err e;
        err_init(&e, &arena);
        const char *json = arena_printf(&arena, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"status\":{%s}}", c->status);
        struct value pod;
        struct work work = work_init(REQUEST_BYTES_MAX);
        CHECK(!json_decode(&arena, &work, t, str_of(json), NULL, &pod, &e));
        struct patch patch = { &work, PATCH_TYPE_STRATEGIC, VALIDATION_STRICT, str_of(c->want) };
        struct patch_outcome outcome;
        if (patch_apply(&arena, t, &pod, &patch, &outcome, &e))
            FAIL("%s: %s", c->name, e.message);
        struct strbuf after;
        strbuf_init(&after, STRBUF_NO_MAX);
        json_encode(&after, t, &outcome.object);
        const struct pod *form = pod_of(strbuf_cstr(&after));
        strbuf_fini(&after);
        if (c->message) {
            CHECK_STR(c->name, sym_text(&syms, form->scheduled->status), STR("False"));
            if (!strstr(c->name, "Go does"))
                CHECK_TEXT(c->name, form->scheduled->message, c->message);
        }
        if (c->nomination)
            CHECK_STR(c->name, sym_text(&syms, form->nominated_node), str_of(c->nomination));
    }
    end();
}
