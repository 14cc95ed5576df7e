/* tests/unit/test_controller_nodes.c - nodes that nobody hears of, taints, and the pods that go with them. */
#include "controllers/node_health.h"
#include "controllers/pod_garbage.h"
#include "controllers/read.h"
#include "controllers/taints.h"
#include "tests/unit/controller_world.h"

enum { NOW_S = 1767225600 }; /* 2026-01-01T00:00:00Z */

/* ---- Health ---- */

#define NODE(spec, conditions) "{\"metadata\":{\"name\":\"n\"},\"spec\":{" spec "},\"status\":{\"conditions\":[" conditions "]}}"
#define IS(type, status) "{\"type\":\"" type "\",\"status\":\"" status "\"}"
#define TAINT(key, effect) "{\"key\":\"" key "\",\"effect\":\"" effect "\"}"
#define PRESSURES ",MemoryPressure=Unknown,DiskPressure=Unknown,PIDPressure=Unknown"

static const struct {
    const char *what, *node;
    int64_t silent_s;
    bool others_ready;
    const char *plan; /* conditions or taints that are written */
} health[] = {
    { "well", NODE("", IS("Ready", "True")), 10, true, "" },
    { "silent for as long as it may be", NODE("", IS("Ready", "True")), NODE_MONITOR_GRACE_S, true, "" },
    { "silent for too long", NODE("", IS("Ready", "True")), NODE_MONITOR_GRACE_S + 1, true, "lost Ready=Unknown" PRESSURES },
    { "with more time at its start", NODE("", ""), NODE_MONITOR_GRACE_S + 1, true, "" },
    { "never heard of", NODE("", ""), NODE_STARTUP_GRACE_S + 1, true, "Ready=Unknown" PRESSURES },
    { "other conditions stay", NODE("", IS("Other", "True") "," IS("Ready", "False")), 99, true, "Other=True,Ready=Unknown" PRESSURES },
    { "not ready", NODE("", IS("Ready", "False")), 0, true, "not-ready:NoSchedule,not-ready:NoExecute" },
    { "not ready, as are all", NODE("", IS("Ready", "False")), 0, false, "not-ready:NoSchedule" },
    { "out of reach", NODE("", IS("Ready", "Unknown")), 0, true, "unreachable:NoSchedule,unreachable:NoExecute" },
    { "out of reach, not only not ready",
      NODE("\"taints\":[" TAINT("node.kubernetes.io/not-ready", "NoSchedule") "," TAINT("node.kubernetes.io/not-ready", "NoExecute") "]", IS("Ready", "Unknown")),
      0, true, "unreachable:NoSchedule,unreachable:NoExecute" },
    { "well again", NODE("\"taints\":[" TAINT("node.kubernetes.io/unreachable", "NoExecute") "," TAINT("a/mine", "NoExecute") "]", IS("Ready", "True")), 0, true,
      "mine:NoExecute" },
    { "its last taint", NODE("\"taints\":[" TAINT("node.kubernetes.io/unreachable", "NoExecute") "]", IS("Ready", "True")), 0, true, "none" },
    { "when nobody is ready, nobody has to go",
      NODE("\"taints\":[" TAINT("node.kubernetes.io/unreachable", "NoExecute") "," TAINT("node.kubernetes.io/unreachable", "NoSchedule") "]", IS("Ready", "Unknown")),
      0, false, "unreachable:NoSchedule" },
    { "pressures", NODE("", IS("Ready", "True") "," IS("MemoryPressure", "True") "," IS("DiskPressure", "True") "," IS("PIDPressure", "True") ","
      IS("NetworkUnavailable", "True")), 0, true,
      "memory-pressure:NoSchedule,disk-pressure:NoSchedule,network-unavailable:NoSchedule,pid-pressure:NoSchedule" },
    { "cordoned", NODE("\"unschedulable\":true", IS("Ready", "True")), 0, true, "unschedulable:NoSchedule" },
};

static void add_list(struct strbuf *b, const struct value *list, const struct type *t, const char *name, const char *mark, const char *value)
{
    for (uint32_t i = 0; i < list_length(list); i++) {
        struct str key = text_at(t, &list->items[i], name);
        size_t slash = str_index(key, '/');
        strbuf_printf(b, "%s%.*s%s%.*s", i ? "," : "", STR_ARG(slash < key.n ? str_from(key, slash + 1) : key), mark,
                      STR_ARG(text_at(t, &list->items[i], value)));
    }
}

TEST(health_of_nodes)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(health) / sizeof(health[0]); i++) {
        struct value node = world_decode(&a, "core/v1.Node", str_of(health[i].node));
        struct node_health_state s = { &node, NOW_S - health[i].silent_s, NOW_S, health[i].others_ready };
        struct node_health_plan plan = node_health_plan(&a, &s);
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        if (plan.lost)
            strbuf_add_text(&b, "lost ");
        if (plan.writes_status)
            add_list(&b, value_path(node_type(), &plan.node, "status.conditions"), schema_type(STR("core/v1.NodeCondition")), "type", "=", "status");
        if (plan.writes_spec)
            add_list(&b, value_path(node_type(), &plan.node, "spec.taints"), schema_type(STR("core/v1.Taint")), "key", ":", "effect");
        if (plan.writes_spec && b.n == 0)
            strbuf_add_text(&b, "none");
        CHECK_STR(health[i].what, strbuf_str(&b), str_of(health[i].plan));
        strbuf_fini(&b);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(a_node_has_one_time_at_which_it_is_looked_at_again)
{
    struct arena a;
    arena_init(&a);
    struct value node = world_decode(&a, "core/v1.Node", STR(NODE("", IS("Ready", "True"))));
    struct node_health_state s = { &node, NOW_S - 10, NOW_S, true };
    CHECK_INT("again", node_health_plan(&a, &s).again_s, NOW_S - 10 + NODE_MONITOR_GRACE_S + 1);
    arena_fini(&a);
}

/* ---- Taints ---- */

#define BAD TAINT("bad", "NoExecute")

static const struct {
    const char *what, *taints, *tolerations;
    int64_t after_s;
} stays[] = {
    { "no taints", "", "", TAINT_STAYS },
    { "taints that only keep others away", TAINT("bad", "NoSchedule"), "", TAINT_STAYS },
    { "not tolerated", BAD, "", 0 },
    { "tolerated", BAD, "{\"key\":\"bad\",\"operator\":\"Exists\"}", TAINT_STAYS },
    { "for a while", BAD, "{\"key\":\"bad\",\"operator\":\"Exists\",\"tolerationSeconds\":9}", 9 },
    { "for no time", BAD, "{\"key\":\"bad\",\"operator\":\"Exists\",\"tolerationSeconds\":0}", 0 },
    { "for less than none", BAD, "{\"key\":\"bad\",\"operator\":\"Exists\",\"tolerationSeconds\":-5}", 0 },
    { "another key", BAD, "{\"key\":\"good\",\"operator\":\"Exists\"}", 0 },
    { "another effect", BAD, "{\"key\":\"bad\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}", 0 },
    { "another value", "{\"key\":\"bad\",\"value\":\"1\",\"effect\":\"NoExecute\"}", "{\"key\":\"bad\",\"value\":\"2\"}", 0 },
    { "the same value", "{\"key\":\"bad\",\"value\":\"1\",\"effect\":\"NoExecute\"}", "{\"key\":\"bad\",\"operator\":\"Equal\",\"value\":\"1\"}", TAINT_STAYS },
    { "everything", BAD "," TAINT("x", "NoExecute"), "{\"operator\":\"Exists\"}", TAINT_STAYS },
    { "one of two", BAD "," TAINT("x", "NoExecute"), "{\"key\":\"x\",\"operator\":\"Exists\"}", 0 },
    { "the shortest", BAD "," TAINT("x", "NoExecute"),
      "{\"key\":\"bad\",\"operator\":\"Exists\",\"tolerationSeconds\":9},{\"key\":\"x\",\"operator\":\"Exists\",\"tolerationSeconds\":4}", 4 },
    { "the first that covers it", BAD, "{\"operator\":\"Exists\"},{\"key\":\"bad\",\"operator\":\"Exists\",\"tolerationSeconds\":9}", TAINT_STAYS },
};

TEST(how_long_a_pod_stays)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++) {
        struct value node = world_decode(&a, "core/v1.Node", str_of(arena_printf(&a, "{\"spec\":{\"taints\":[%s]}}", stays[i].taints)));
        struct value pod = world_decode(&a, "core/v1.Pod", str_of(arena_printf(&a, "{\"spec\":{\"tolerations\":[%s]}}", stays[i].tolerations)));
        CHECK_INT(stays[i].what, taints_tolerated_s(value_path(node_type(), &node, "spec.taints"),
                                                    value_path(schema_type(STR("core/v1.Pod")), &pod, "spec.tolerations")), stays[i].after_s);
    }
    arena_fini(&a);
}

/* ---- Pods without a future ---- */

#define ON(node, more) "{\"metadata\":{\"name\":\"p\"" more "},\"spec\":{\"nodeName\":\"" node "\"}}"
#define GOING ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define OUT "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/out-of-service\",\"effect\":\"NoExecute\"}]},\"status\":{\"conditions\":[" IS("Ready", "False") "]}}"

static const struct {
    const char *what, *pod, *node; /* node: NULL: none */
    int64_t missed_s;              /* for how long */
    enum pod_garbage_verdict verdict;
    bool orphaned;
} garbage[] = {
    { "on its node", ON("n", ""), NODE("", IS("Ready", "True")), 0, POD_STAYS, false },
    { "not scheduled", ON("", ""), NULL, 0, POD_STAYS, false },
    { "not scheduled, and deleted", ON("", GOING), NULL, 0, POD_FAILS, false },
    { "its node is gone", ON("n", ""), NULL, 0, POD_WAITS, false },
    { "for some time", ON("n", ""), NULL, POD_GC_QUARANTINE_S - 1, POD_WAITS, false },
    { "for good", ON("n", ""), NULL, POD_GC_QUARANTINE_S, POD_FAILS, true },
    { "and it has ended", "{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Failed\"}}", NULL, POD_GC_QUARANTINE_S, POD_GOES, true },
    { "deleted: its kubelet ends it", ON("n", GOING), NODE("", IS("Ready", "False")), 0, POD_STAYS, false },
    { "unless that is out of service", ON("n", GOING), OUT, 0, POD_FAILS, false },
    { "out of service, but nobody deleted it", ON("n", ""), OUT, 0, POD_STAYS, false },
};

TEST(pods_without_a_future)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        struct value pod = world_decode(&a, "core/v1.Pod", str_of(garbage[i].pod)), node;
        if (garbage[i].node)
            node = world_decode(&a, "core/v1.Node", str_of(garbage[i].node));
        struct pod_garbage_state s = { &pod, garbage[i].node ? &node : NULL, NOW_S - garbage[i].missed_s, NOW_S };
        struct pod_garbage got = pod_garbage_decide(&s);
        CHECK_INT(garbage[i].what, got.verdict, garbage[i].verdict);
        CHECK_INT(garbage[i].what, got.orphaned, garbage[i].orphaned);
    }
    arena_fini(&a);
}

TEST(which_ended_pod_goes_first)
{
    static const char *const in_order[] = {
        "{\"metadata\":{\"name\":\"z\",\"creationTimestamp\":\"2026-01-03T00:00:00Z\"},\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}",
        "{\"metadata\":{\"name\":\"b\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},\"status\":{\"phase\":\"Failed\"}}",
        "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2026-01-02T00:00:00Z\"}}",
        "{\"metadata\":{\"name\":\"c\",\"creationTimestamp\":\"2026-01-02T00:00:00Z\"}}",
    };
    struct arena a;
    arena_init(&a);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            struct value x = world_decode(&a, "core/v1.Pod", str_of(in_order[i])), y = world_decode(&a, "core/v1.Pod", str_of(in_order[k]));
            int order = pod_garbage_order(&x, &y);
            CHECK_INT("order", (order > 0) - (order < 0), (i > k) - (i < k));
        }
    arena_fini(&a);
}
