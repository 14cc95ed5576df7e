#include "sched/derive.h"

#include "base/strbuf.h"
#include "sched/event_kind.h"
#include "tests/test.h"

/* The labels of the events, with a blank between. */
static void read_events(const struct derived_events *events, struct strbuf *out)
{
    for (uint8_t i = 0; i < events->n; i++)
        strbuf_printf(out, "%s%s", i ? " " : "", event_kind_label(event_kind(&events->at[i])));
}

struct row {
    const char *what, *old, *object, *events;
};

static struct sym_table syms;
static struct arena arena;
static struct err e;

static void begin(void)
{
    sym_init(&syms);
    arena_init(&arena);
    err_init(&e, &arena);
}

static void end(void)
{
    sym_fini(&syms);
    arena_fini(&arena);
}

static const struct node *node(const char *json)
{
    const struct node *n;
    if (node_decode(&syms, TYPED_JSON, str_of(json), &n, &e))
        FAIL("%s: %s", json, e.message);
    return n;
}

static const struct pod *pod(const char *json)
{
    const struct pod *p;
    if (pod_decode(&syms, TYPED_JSON, str_of(json), &p, &e))
        FAIL("%s: %s", json, e.message);
    return p;
}

#define META(inside) "{\"metadata\":{" inside "}}"
#define SPEC(inside) "{\"spec\":{" inside "}}"
#define STATUS(inside) "{\"status\":{" inside "}}"
#define TAINT(key, effect) "{\"key\":\"" key "\",\"effect\":\"" effect "\"}"
#define READY(status) STATUS("\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status "\"}]")
#define ALLOCATABLE(inside) STATUS("\"allocatable\":{" inside "}")

static const struct row node_rows[] = {
    { "nothing changed", META("\"name\":\"n\""), META("\"name\":\"n\",\"resourceVersion\":\"2\""), "" },
    { "became schedulable", SPEC("\"unschedulable\":true"), "{}", "NodeUpdateNodeTaint" },
    { "became unschedulable", "{}", SPEC("\"unschedulable\":true"), "" },
    { "more cpu", ALLOCATABLE("\"cpu\":\"1\""), ALLOCATABLE("\"cpu\":\"2\""), "NodeUpdateNodeAllocatable" },
    { "the same cpu in other words", ALLOCATABLE("\"cpu\":\"1\""), ALLOCATABLE("\"cpu\":\"1000m\""), "" },
    { "fewer pods", ALLOCATABLE("\"pods\":\"10\""), ALLOCATABLE("\"pods\":\"9\""), "NodeUpdateNodeAllocatable" },
    { "more memory", ALLOCATABLE("\"memory\":\"1Gi\""), ALLOCATABLE("\"memory\":\"2Gi\""),
      "NodeUpdateNodeAllocatable" },
    { "more storage", ALLOCATABLE("\"ephemeral-storage\":\"1Gi\""), ALLOCATABLE("\"ephemeral-storage\":\"2Gi\""),
      "NodeUpdateNodeAllocatable" },
    { "a new extended resource", "{}", ALLOCATABLE("\"example.com/gpu\":\"0\""), "NodeUpdateNodeAllocatable" },
    { "more of an extended resource", ALLOCATABLE("\"example.com/gpu\":\"1\""), ALLOCATABLE("\"example.com/gpu\":\"2\""),
      "NodeUpdateNodeAllocatable" },
    { "another extended resource", ALLOCATABLE("\"example.com/a\":\"1\""), ALLOCATABLE("\"example.com/b\":\"1\""),
      "NodeUpdateNodeAllocatable" },
    { "a new label", "{}", META("\"labels\":{\"a\":\"1\"}"), "NodeUpdateNodeLabel" },
    { "another value of a label", META("\"labels\":{\"a\":\"1\"}"), META("\"labels\":{\"a\":\"2\"}"),
      "NodeUpdateNodeLabel" },
    { "another key of a label", META("\"labels\":{\"a\":\"1\"}"), META("\"labels\":{\"b\":\"1\"}"),
      "NodeUpdateNodeLabel" },
    { "no labels and empty labels are the same", "{}", META("\"labels\":{}"), "" },
    { "a new taint", "{}", SPEC("\"taints\":[" TAINT("a", "NoSchedule") "]"), "NodeUpdateNodeTaint" },
    { "another effect of a taint", SPEC("\"taints\":[" TAINT("a", "NoSchedule") "]"),
      SPEC("\"taints\":[" TAINT("a", "NoExecute") "]"), "NodeUpdateNodeTaint" },
    { "taints in another order", SPEC("\"taints\":[" TAINT("a", "NoSchedule") "," TAINT("b", "NoSchedule") "]"),
      SPEC("\"taints\":[" TAINT("b", "NoSchedule") "," TAINT("a", "NoSchedule") "]"), "NodeUpdateNodeTaint" },
    { "another status of a condition", READY("True"), READY("False"), "NodeUpdateNodeCondition" },
    { "another time of a condition", READY("True"),
      STATUS("\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"x\"}]"), "" },
    { "a new annotation", "{}", META("\"annotations\":{\"a\":\"1\"}"), "NodeUpdateNodeAnnotation" },
    { "a new declared feature", "{}", STATUS("\"declaredFeatures\":[\"F\"]"), "NodeUpdateNodeDeclaredFeature" },
    { "schedulable and another taint are two events", SPEC("\"unschedulable\":true"),
      SPEC("\"taints\":[" TAINT("a", "NoSchedule") "]"), "NodeUpdateNodeTaint NodeUpdateNodeTaint" },
    { "everything, in upstream's order", SPEC("\"unschedulable\":true"),
      "{\"metadata\":{\"labels\":{\"a\":\"1\"},\"annotations\":{\"a\":\"1\"}},"
      "\"spec\":{\"taints\":[" TAINT("a", "NoSchedule") "]},"
      "\"status\":{\"allocatable\":{\"cpu\":\"1\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
      "\"declaredFeatures\":[\"F\"]}}",
      "NodeUpdateNodeTaint NodeUpdateNodeAllocatable NodeUpdateNodeLabel NodeUpdateNodeTaint NodeUpdateNodeCondition "
      "NodeUpdateNodeAnnotation NodeUpdateNodeDeclaredFeature" },
};

TEST(a_change_of_a_node_is_told_as_events)
{
    begin();
    for (size_t i = 0; i < sizeof(node_rows) / sizeof(node_rows[0]); i++) {
        const struct row *row = &node_rows[i];
        const struct node *old = node(row->old), *new = node(row->object);
        struct derived_events events;
        struct strbuf text;
        strbuf_init(&text, 4096);
        derive_node_events(old, new, true, &events);
        read_events(&events, &text);
        CHECK_STR(row->what, strbuf_str(&text), str_of(row->events));
        for (uint8_t k = 0; k < events.n; k++)
            CHECK(events.at[k].old_object == old && events.at[k].new_object == new);
        strbuf_fini(&text);
        node_unref(&syms, old);
        node_unref(&syms, new);
    }
    end();
}

TEST(declared_features_are_no_event_while_the_gate_is_off)
{
    begin();
    const struct node *old = node("{}"), *new = node(STATUS("\"declaredFeatures\":[\"F\"]"));
    struct derived_events events;
    derive_node_events(old, new, false, &events);
    CHECK_INT("no event", events.n, 0);
    node_unref(&syms, old);
    node_unref(&syms, new);
    end();
}

#define REQUESTS(inside) SPEC("\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" inside "}}}]")
#define CLAIMS(inside) STATUS("\"resourceClaimStatuses\":[" inside "]")

static const struct row pod_rows[] = {
    { "nothing in particular", "{}", META("\"resourceVersion\":\"2\""), "UnschedulablePodUpdate" },
    { "nothing in particular, on a node", "{}", SPEC("\"nodeName\":\"n\""), "AssignedPodUpdate" },
    { "the node that it had does not count", SPEC("\"nodeName\":\"n\""), "{}", "UnschedulablePodUpdate" },
    { "a new label", "{}", META("\"labels\":{\"a\":\"1\"}"), "UnschedulablePodUpdatePodLabel" },
    { "a label gone", META("\"labels\":{\"a\":\"1\"}"), "{}", "UnschedulablePodUpdatePodLabel" },
    { "a new label, on a node", SPEC("\"nodeName\":\"n\""),
      "{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{\"nodeName\":\"n\"}}", "AssignedPodUpdatePodLabel" },
    { "less cpu", REQUESTS("\"cpu\":\"2\""), REQUESTS("\"cpu\":\"1\""), "UnschedulablePodUpdatePodScaleDown" },
    { "more cpu", REQUESTS("\"cpu\":\"1\""), REQUESTS("\"cpu\":\"2\""), "UnschedulablePodUpdate" },
    { "less memory", REQUESTS("\"memory\":\"2Gi\""), REQUESTS("\"memory\":\"1Gi\""),
      "UnschedulablePodUpdatePodScaleDown" },
    { "less storage", REQUESTS("\"ephemeral-storage\":\"2Gi\""), REQUESTS("\"ephemeral-storage\":\"1Gi\""),
      "UnschedulablePodUpdatePodScaleDown" },
    { "more of one and less of another", REQUESTS("\"cpu\":\"1\",\"memory\":\"2Gi\""),
      REQUESTS("\"cpu\":\"2\",\"memory\":\"1Gi\""), "UnschedulablePodUpdatePodScaleDown" },
    { "less of an extended resource", REQUESTS("\"example.com/gpu\":\"2\""), REQUESTS("\"example.com/gpu\":\"1\""),
      "UnschedulablePodUpdatePodScaleDown" },
    { "an extended resource gone", REQUESTS("\"example.com/a\":\"1\",\"example.com/b\":\"1\""),
      REQUESTS("\"example.com/b\":\"1\""), "UnschedulablePodUpdatePodScaleDown" },
    { "a new extended resource among others", REQUESTS("\"example.com/a\":\"1\",\"example.com/c\":\"1\""),
      REQUESTS("\"example.com/a\":\"1\",\"example.com/b\":\"1\",\"example.com/c\":\"1\""), "UnschedulablePodUpdate" },
    { "the last gate gone", SPEC("\"schedulingGates\":[{\"name\":\"g\"}]"), "{}",
      "UnschedulablePodUpdatePodSchedulingGatesEliminated" },
    { "one of two gates gone", SPEC("\"schedulingGates\":[{\"name\":\"g\"},{\"name\":\"h\"}]"),
      SPEC("\"schedulingGates\":[{\"name\":\"g\"}]"), "UnschedulablePodUpdate" },
    { "one more toleration", "{}", SPEC("\"tolerations\":[{\"operator\":\"Exists\"}]"),
      "UnschedulablePodUpdatePodToleration" },
    { "another toleration, as many", SPEC("\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]"),
      SPEC("\"tolerations\":[{\"key\":\"b\",\"operator\":\"Exists\"}]"), "UnschedulablePodUpdate" },
    { "a claim was generated", "{}", CLAIMS("{\"name\":\"c\",\"resourceClaimName\":\"x\"}"),
      "UnschedulablePodUpdatePodGeneratedResourceClaim" },
    { "another claim was generated", CLAIMS("{\"name\":\"c\",\"resourceClaimName\":\"x\"}"),
      CLAIMS("{\"name\":\"c\",\"resourceClaimName\":\"y\"}"), "UnschedulablePodUpdatePodGeneratedResourceClaim" },
    { "the same claims", CLAIMS("{\"name\":\"c\",\"resourceClaimName\":\"x\"}"),
      CLAIMS("{\"name\":\"c\",\"resourceClaimName\":\"x\"}"), "UnschedulablePodUpdate" },
    { "everything, in upstream's order",
      "{\"spec\":{\"schedulingGates\":[{\"name\":\"g\"}],"
      "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}}",
      "{\"metadata\":{\"labels\":{\"a\":\"1\"}},\"spec\":{\"tolerations\":[{\"operator\":\"Exists\"}]},"
      "\"status\":{\"resourceClaimStatuses\":[{\"name\":\"c\"}]}}",
      "UnschedulablePodUpdatePodLabel UnschedulablePodUpdatePodScaleDown "
      "UnschedulablePodUpdatePodSchedulingGatesEliminated UnschedulablePodUpdatePodToleration "
      "UnschedulablePodUpdatePodGeneratedResourceClaim" },
};

TEST(a_change_of_a_pod_is_told_as_events)
{
    begin();
    for (size_t i = 0; i < sizeof(pod_rows) / sizeof(pod_rows[0]); i++) {
        const struct row *row = &pod_rows[i];
        const struct pod *old = pod(row->old), *new = pod(row->object);
        struct derived_events events;
        struct strbuf text;
        strbuf_init(&text, 4096);
        derive_pod_events(old, new, &events);
        read_events(&events, &text);
        CHECK_STR(row->what, strbuf_str(&text), str_of(row->events));
        for (uint8_t k = 0; k < events.n; k++)
            CHECK(events.at[k].old_object == old && events.at[k].new_object == new);
        strbuf_fini(&text);
        pod_unref(&syms, old);
        pod_unref(&syms, new);
    }
    end();
}
