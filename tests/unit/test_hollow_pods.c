/* tests/unit/test_hollow_pods.c - the life of pods on hollow nodes, step by step on a clock that a row moves. */
#include "controllers/read.h"
#include "hollow/container_life.h"
#include "hollow/pod_life.h"
#include "tests/unit/controller_world.h"

enum { NOW_S = 1767225600, STEPS_MAX = 64 }; /* 2026-01-01T00:00:00Z */

#define META(more) "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"generation\":1" more "}"
#define NOTES(notes) ",\"annotations\":{" notes "}"
#define OF_JOB ",\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"1\",\"controller\":true}]"
#define C(name, more) "{\"name\":\"" name "\",\"image\":\"i:1\"" more "}"
#define POD(meta, spec) "{" META(meta) ",\"spec\":{\"nodeName\":\"n\"," spec "},\"status\":{\"phase\":\"Pending\",\"qosClass\":\"Burstable\"}}"
#define MAIN "\"containers\":[" C("c", "") "]"

/* What one step shows: phase, init containers / containers, Ready. "w" waits, "r" runs, "R" is ready, "e0" ended with 0,
 * "E0" did and is what was waited for. */
static const struct {
    const char *what, *pod;
    int64_t job_s;
    const char *life; /* steps and the seconds between them, until nothing is due */
} lives[] = {
    { "a pod that runs for ever", POD("", MAIN), 1, "Pending w; Running R" },
    { "two containers, one of which is ready later",
      POD("", "\"containers\":[" C("a", "") "," C("b", ",\"readinessProbe\":{\"initialDelaySeconds\":5}") "]"), 1,
      "Pending w w; Running R r; +5 Running R R" },
    { "readiness waits for the startup probe",
      POD("", "\"containers\":[" C("a", ",\"startupProbe\":{\"initialDelaySeconds\":7},\"readinessProbe\":{\"initialDelaySeconds\":2}") "]"), 1,
      "Pending w; Running r; +7 Running R" },
    { "init containers one after the other", POD("", "\"initContainers\":[" C("x", "") "," C("y", "") "]," MAIN), 1,
      "Pending w w/w; Pending r w/w; Pending E0 r/w; Running E0 E0/R" },
    { "a sidecar among them", POD("", "\"initContainers\":[" C("s", ",\"restartPolicy\":\"Always\"") "," C("y", "") "]," MAIN), 1,
      "Pending w w/w; Pending R r/w; Running R E0/R" },
    { "a pod of a Job", POD(OF_JOB, "\"restartPolicy\":\"Never\"," MAIN), 3, "Pending w; Running R; +3 Succeeded e0" },
    { "a pod of a Job, with a sidecar that ends with it",
      POD(OF_JOB, "\"restartPolicy\":\"Never\",\"initContainers\":[" C("s", ",\"restartPolicy\":\"Always\"") "]," MAIN), 3,
      "Pending w/w; Running R/R; +3 Succeeded e0/e0" },
    { "its annotation says how long", POD(OF_JOB NOTES("\"berth.dev/run-seconds\":\"9\""), "\"restartPolicy\":\"Never\"," MAIN), 3,
      "Pending w; Running R; +9 Succeeded e0" },
    { "what is no number is not looked at", POD(NOTES("\"berth.dev/run-seconds\":\"soon\""), MAIN), 1, "Pending w; Running R" },
    { "who belongs to nobody runs for ever, whatever is restarted", POD("", "\"restartPolicy\":\"Never\"," MAIN), 1, "Pending w; Running R" },
    { "it fails, and nobody restarts it", POD(NOTES("\"berth.dev/exit-code\":\"3\""), "\"restartPolicy\":\"Never\"," MAIN), 2,
      "Pending w; Running R; +2 Failed e3" },
    { "it fails and is restarted: at once, after 10 s, after 20 s",
      POD(NOTES("\"berth.dev/exit-code\":\"3\",\"berth.dev/run-seconds\":\"1\""), "\"restartPolicy\":\"OnFailure\"," MAIN), 1,
      "Pending w; Running R; +1 Running e3; Running R1; +1 Running e3,1; Running w1; +10 Running R2; +1 Running e3,2; Running w2; +20 Running R3" },
    { "it ends well, and a Deployment's pod is started again",
      POD(NOTES("\"berth.dev/run-seconds\":\"5\""), "\"restartPolicy\":\"Always\"," MAIN), 1,
      "Pending w; Running R; +5 Running e0; Running R1; +5 Running e0,1; Running w1; +10 Running R2" },
    { "it ends well, and OnFailure is content", POD(NOTES("\"berth.dev/run-seconds\":\"5\""), "\"restartPolicy\":\"OnFailure\"," MAIN), 1,
      "Pending w; Running R; +5 Succeeded e0" },
};

/* ---- What a row shows ---- */

static const struct type *status_type(void)
{
    return schema_type(STR("core/v1.ContainerStatus"));
}

static void add_container(struct strbuf *b, const struct value *s)
{
    const struct value *ended = value_path(status_type(), s, "state.terminated");
    int64_t n = int_at(status_type(), s, "restartCount", 0);
    if (ended->kind == VALUE_STRUCT)
        strbuf_printf(b, "%c%d", true_at(status_type(), s, "ready") ? 'E' : 'e', (int)int_at(status_type(), s, "state.terminated.exitCode", -1));
    else if (is_set_at(status_type(), s, "state.running"))
        strbuf_add_text(b, true_at(status_type(), s, "ready") ? "R" : "r");
    else
        strbuf_add_text(b, "w");
    if (n)
        strbuf_printf(b, ended->kind == VALUE_STRUCT ? ",%d" : "%d", (int)n);
}

static void add_list(struct strbuf *b, const struct value *list, const char *before)
{
    for (uint32_t i = 0; i < list_length(list); i++) {
        strbuf_add_text(b, i ? " " : before);
        add_container(b, &list->items[i]);
    }
}

static void add_pod(struct strbuf *b, const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    const struct value *init = value_path(t, pod, "status.initContainerStatuses");
    strbuf_printf(b, "%.*s", STR_ARG(text_at(t, pod, "status.phase")));
    add_list(b, init, " ");
    add_list(b, value_path(t, pod, "status.containerStatuses"), list_length(init) ? "/" : " ");
}

static struct pod_life_state state_of(const struct value *pod, int64_t now_s, int64_t job_s)
{
    return (struct pod_life_state){ .pod = pod, .host_ip = STR("172.16.0.2"), .pod_ip = STR("10.128.0.2"), .now_s = now_s, .job_s = job_s };
}

/* As long as the row says, or until nothing is due. */
static void live(struct arena *a, struct strbuf *b, struct value pod, int64_t job_s, size_t n_wanted)
{
    int64_t now_s = NOW_S, waited_s = 0;
    for (int i = 0; i < STEPS_MAX && b->n < n_wanted; i++) {
        struct pod_life_state s = state_of(&pod, now_s, job_s);
        struct pod_life_step step = pod_life_step(a, &s);
        if (step.verb == POD_LIFE_NOTHING && step.again_s == INT64_MAX)
            break;
        if (step.verb == POD_LIFE_NOTHING) {
            waited_s += step.again_s - now_s;
            now_s = step.again_s;
            continue;
        }
        strbuf_add_text(b, b->n ? "; " : "");
        if (waited_s)
            strbuf_printf(b, "+%d ", (int)waited_s);
        waited_s = 0;
        struct value *next = ARENA_NEW(a, struct value); /* through JSON, as it comes back from the store */
        *next = world_decode(a, "core/v1.Pod", str_of(world_json(a, "core/v1.Pod", &step.pod)));
        pod = *next;
        add_pod(b, &pod);
    }
}

TEST(lives_of_pods)
{
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        struct arena a;
        struct strbuf b;
        arena_init(&a);
        strbuf_init(&b, STRBUF_NO_MAX);
        live(&a, &b, world_decode(&a, "core/v1.Pod", str_of(lives[i].pod)), lives[i].job_s, strlen(lives[i].life));
        CHECK_STR(lives[i].what, strbuf_str(&b), str_of(lives[i].life));
        strbuf_fini(&b);
        arena_fini(&a);
    }
}

/* ---- The whole status ---- */

#define T0 "2026-01-01T00:00:00Z"
#define COND(type, status, more) "{\"type\":\"" type "\",\"observedGeneration\":1,\"status\":\"" status "\",\"lastProbeTime\":null,\"lastTransitionTime\":\"" T0 "\"" more "}"
#define NOT_READY ",\"reason\":\"ContainersNotReady\",\"message\":\"containers with unready status: [c]\""
#define STATUS(state, ready, id) "{\"name\":\"c\",\"state\":{" state "},\"lastState\":{},\"ready\":" ready ",\"restartCount\":0,\"image\":\"i:1\"," id

static const char creating[] =
    "{\"observedGeneration\":1,\"phase\":\"Pending\",\"conditions\":[" COND("PodReadyToStartContainers", "False", "") ","
    COND("Initialized", "True", "") "," COND("Ready", "False", NOT_READY) "," COND("ContainersReady", "False", NOT_READY) ","
    COND("PodScheduled", "True", "") "],\"hostIP\":\"172.16.0.2\",\"hostIPs\":[{\"ip\":\"172.16.0.2\"}],\"startTime\":\"" T0 "\","
    "\"containerStatuses\":[" STATUS("\"waiting\":{\"reason\":\"ContainerCreating\"}", "false", "\"imageID\":\"\",\"started\":false}")
    "],\"qosClass\":\"Burstable\"}";
static const char running[] =
    "{\"observedGeneration\":1,\"phase\":\"Running\",\"conditions\":[" COND("PodReadyToStartContainers", "True", "") ","
    COND("Initialized", "True", "") "," COND("Ready", "True", "") "," COND("ContainersReady", "True", "") "," COND("PodScheduled", "True", "")
    "],\"hostIP\":\"172.16.0.2\",\"hostIPs\":[{\"ip\":\"172.16.0.2\"}],\"podIP\":\"10.128.0.2\",\"podIPs\":[{\"ip\":\"10.128.0.2\"}],"
    "\"startTime\":\"" T0 "\",\"containerStatuses\":[" STATUS("\"running\":{\"startedAt\":\"" T0 "\"}", "true", "\"imageID\":")
    "\"i@sha256:d7dfb74ba7f9edea9ea4d4aaa4eb1b93d56f8d4e2fd1d2b8c3c7e44d3cb7a2d4\"";

static struct value after(struct arena *a, struct value pod, int64_t now_s)
{
    struct pod_life_state s = state_of(&pod, now_s, 1);
    struct pod_life_step step = pod_life_step(a, &s);
    CHECK(step.verb == POD_LIFE_STATUS);
    return world_decode(a, "core/v1.Pod", str_of(world_json(a, "core/v1.Pod", &step.pod)));
}

static const char *status_json(struct arena *a, const struct value *pod)
{
    return world_json(a, "core/v1.PodStatus", value_path(schema_type(STR("core/v1.Pod")), pod, "status"));
}

TEST(status_texts)
{
    struct arena a;
    arena_init(&a);
    struct value pod = after(&a, world_decode(&a, "core/v1.Pod", STR(POD("", MAIN))), NOW_S);
    CHECK_STR("the kubelet takes a pod", str_of(status_json(&a, &pod)), str_of(creating));
    pod = after(&a, pod, NOW_S);
    const char *is = status_json(&a, &pod);
    size_t n = (size_t)(strstr(running, "\"i@sha256") - running); /* up to the digest */
    CHECK_STR("it runs", str_first(str_of(is), n), str_first(str_of(running), n));
    CHECK(strstr(is, "\"containerID\":\"containerd://"));
    CHECK(strstr(is, "\"started\":true"));
    arena_fini(&a);
}

static const struct {
    const char *what, *conditions, *ready;
} gates[] = {
    { "nobody has said it", "", "False ReadinessGatesNotReady corresponding condition of pod readiness gate \"x/y\" does not exist." },
    { "not yet", "{\"type\":\"x/y\",\"status\":\"False\"}",
      "False ReadinessGatesNotReady the status of pod readiness gate \"x/y\" is not \"True\", but False" },
    { "it is so", "{\"type\":\"x/y\",\"status\":\"True\"}", "True  " },
};

TEST(readiness_gates)
{
    const struct type *t = schema_type(STR("core/v1.Pod")), *ct = schema_type(STR("core/v1.PodCondition"));
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
        struct arena a;
        arena_init(&a);
        const char *json = arena_printf(&a, "{" META("") ",\"spec\":{\"readinessGates\":[{\"conditionType\":\"x/y\"}]," MAIN
                                            "},\"status\":{\"conditions\":[%s]}}", gates[i].conditions);
        struct value pod = after(&a, world_decode(&a, "core/v1.Pod", str_of(json)), NOW_S);
        pod = after(&a, pod, NOW_S);
        const struct value *c = entry_with(ct, value_path(t, &pod, "status.conditions"), "type", STR("Ready"));
        CHECK_STR(gates[i].what, str_of(arena_printf(&a, "%.*s %.*s %.*s", STR_ARG(text_at(ct, c, "status")), STR_ARG(text_at(ct, c, "reason")),
                                                     STR_ARG(text_at(ct, c, "message")))), str_of(gates[i].ready));
        arena_fini(&a);
    }
}

/* ---- Deletion ---- */


static const struct {
    const char *what, *more, *spec;
    int n_steps; /* that it lived before */
    int64_t at_s;
    const char *becomes;
} ends[] = {
    { "before the kubelet knew of it", "", MAIN, 0, 0, "delete" },
    { "before its container was started", "", MAIN, 1, 0, "Failed e137 again never; delete" },
    { "while it runs: it ends well", "", MAIN, 2, 0, "Succeeded e0 again never; delete" },
    { "before its init container is done: the others never were",
      "", "\"initContainers\":[" C("x", "") "]," MAIN, 2, 0, "Failed E0/w again never; delete" },
    { "it takes some seconds", NOTES("\"berth.dev/stop-seconds\":\"4\""), MAIN, 2, 0, "nothing again 4" },
    { "and then it has ended", NOTES("\"berth.dev/stop-seconds\":\"4\""), MAIN, 2, 4, "Succeeded e0 again never; delete" },
    { "it takes too long", NOTES("\"berth.dev/stop-seconds\":\"40\""), MAIN, 2, 29, "nothing again 30" },
    { "and is killed", NOTES("\"berth.dev/stop-seconds\":\"40\""), MAIN, 2, 30, "Failed e137 again never; delete" },
};

static struct value with_deletion(struct arena *a, const struct value *pod, const char *grace)
{
    const char *json = world_json(a, "core/v1.Pod", pod), *at = strstr(json, "\"uid\":");
    const char *text = arena_printf(a, "%.*s\"deletionTimestamp\":\"2026-01-01T00:00:30Z\",\"deletionGracePeriodSeconds\":%s,%s",
                                    (int)(at - json), json, grace, at);
    return world_decode(a, "core/v1.Pod", str_of(text));
}

static void add_step(struct arena *a, struct strbuf *b, struct value *pod, int64_t now_s)
{
    struct pod_life_state s = state_of(pod, now_s, 1);
    struct pod_life_step step = pod_life_step(a, &s);
    if (step.verb == POD_LIFE_DELETE) {
        strbuf_add_text(b, "delete");
        return;
    }
    if (step.verb == POD_LIFE_NOTHING)
        strbuf_add_text(b, "nothing");
    else
        add_pod(b, &step.pod);
    if (step.again_s == INT64_MAX)
        strbuf_add_text(b, " again never");
    else
        strbuf_printf(b, " again %d", (int)(step.again_s - NOW_S));
    if (step.verb == POD_LIFE_STATUS) {
        *pod = world_decode(a, "core/v1.Pod", str_of(world_json(a, "core/v1.Pod", &step.pod)));
        strbuf_add_text(b, "; ");
        add_step(a, b, pod, now_s);
    }
}

TEST(ends_of_pods)
{
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct arena a;
        struct strbuf b;
        arena_init(&a);
        strbuf_init(&b, STRBUF_NO_MAX);
        const char *json = arena_printf(&a, "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\"%s},\"spec\":{%s},\"status\":{}}",
                                        ends[i].more, ends[i].spec);
        struct value pod = world_decode(&a, "core/v1.Pod", str_of(json));
        for (int k = 0; k < ends[i].n_steps; k++)
            pod = after(&a, pod, NOW_S);
        pod = with_deletion(&a, &pod, "30");
        add_step(&a, &b, &pod, NOW_S + ends[i].at_s);
        CHECK_STR(ends[i].what, strbuf_str(&b), str_of(ends[i].becomes));
        strbuf_fini(&b);
        arena_fini(&a);
    }
}

TEST(kept_by_a_finalizer)
{
    struct arena a;
    struct strbuf b;
    arena_init(&a);
    strbuf_init(&b, STRBUF_NO_MAX);
    struct value pod = world_decode(&a, "core/v1.Pod", STR(POD("", MAIN)));
    pod = after(&a, after(&a, pod, NOW_S), NOW_S);
    pod = with_deletion(&a, &pod, "0");
    add_step(&a, &b, &pod, NOW_S + 30);
    CHECK_STR("its containers end; somebody else lets it go", strbuf_str(&b), STR("Succeeded e0 again never; nothing again never"));
    strbuf_fini(&b);
    arena_fini(&a);
}
