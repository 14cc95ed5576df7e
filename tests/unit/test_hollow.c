/* tests/unit/test_hollow.c - hollow nodes beside an API server in memory, on a clock that tests move: heartbeats, pods, failures. */
#include "api/schema_slots.h"
#include "controllers/controllers.h"
#include "controllers/node_health.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"
#include "hollow/hollow.h"
#include "hollow/node_object.h"
#include "tests/unit/api_story.h"

enum { STEP_MS = 100 };

struct bench {
    struct api_world w;
    struct cluster *cluster;
    struct controllers *controllers;
    struct hollow *hollow;
};

static void pass(struct bench *b, int64_t ms)
{
    for (int64_t passed = 0; passed < ms; passed += STEP_MS) {
        api_world_advance(&b->w, STEP_MS);
        for (int i = 0; i < 4; i++) { /* what a write brings about is written, too */
            cluster_poll(b->cluster);
            loop_run_once(b->w.loop, false);
            api_world_poll(&b->w);
        }
    }
}

static void start(struct bench *b, int64_t n_nodes)
{
    static const char *const choice[] = { "node-lifecycle-controller", "taint-eviction-controller", NULL };
    struct hollow_options h = { .job_s = 1, .events = HOLLOW_EVENTS_OFF };
    b->cluster = cluster_new(b->w.server, b->w.loop, b->w.objects);
    struct controllers_options o = { .cluster = b->cluster, .choice = choice };
    CHECK(!controllers_new(&o, &b->controllers, &b->w.e));
    h.cluster = b->cluster;
    CHECK(!node_shapes_default(&b->w.arena, n_nodes, &h.nodes, &b->w.e));
    b->hollow = hollow_open(&h);
}

static void end(struct bench *b)
{
    cluster_stop(b->cluster);
    hollow_close(b->hollow);
    controllers_free(b->controllers);
    cluster_free(b->cluster);
}

static void begin(struct bench *b, int64_t n_nodes)
{
    api_world_init(&b->w, &(struct api_world_options){ 0 });
    story_create(&b->w, "namespaces", "", "", "{\"metadata\":{\"name\":\"default\"}}");
    story_create(&b->w, "namespaces", "", "", "{\"metadata\":{\"name\":\"kube-node-lease\"}}");
    start(b, n_nodes);
    pass(b, 1000);
    CHECK(hollow_is_complete(b->hollow));
}

static void finish(struct bench *b)
{
    end(b);
    api_world_fini(&b->w);
}

static const struct value *node(struct bench *b, const char *name)
{
    return story_object(&b->w, "nodes", "", "", name);
}

static const struct value *pod(struct bench *b, const char *name)
{
    return story_object(&b->w, "pods", "", "default", name);
}

static struct str phase(struct bench *b, const char *name)
{
    return pod(b, name) ? text_at(pod_type(), pod(b, name), "status.phase") : STR("gone");
}

static int64_t renewed_s(struct bench *b, const char *name)
{
    const struct value *lease = story_object(&b->w, "leases", "coordination.k8s.io", "kube-node-lease", name);
    CHECK(lease);
    return value_path(schema_type(STR("coordination.k8s.io/v1.Lease")), lease, "spec.renewTime")->i;
}

static int64_t now_s(const struct bench *b)
{
    return clock_wall_ns(&b->w.clock.clock) / CLOCK_NS_PER_SECOND;
}

static void patch(struct bench *b, const char *plural, const char *namespace, const char *name, const char *json)
{
    struct call *c = call_new(&b->w, plural, "", namespace, name, json);
    c->op.patch_form = PATCH_FORM_MERGE;
    call_run(&b->w, json, c, registry_patch, 200);
    call_free(c);
}

static void set_state(struct bench *b, const char *name, const char *state)
{
    patch(b, "nodes", "", name, arena_printf(&b->w.arena, "{\"metadata\":{\"annotations\":{\"" NODE_HOLLOW "\":\"%s\"}}}", state));
}

static void add_pod(struct bench *b, const char *name, const char *on)
{
    story_create(&b->w, "pods", "", "default",
                 arena_printf(&b->w.arena, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\","
                                           "\"image\":\"i\"}]}}", name, on));
}

static bool has_taint(struct bench *b, const char *name, const char *key)
{
    const struct type *t = schema_type(STR("core/v1.Taint"));
    return entry_with(t, value_path(node_type(), node(b, name), "spec.taints"), "key", str_of(key)) != NULL;
}

TEST(every_node_is_heard_of_in_time)
{
    enum { NODES = 25 };
    struct bench b;
    begin(&b, NODES);
    for (int round = 0; round < 30; round++) {
        pass(&b, 2000);
        for (int i = 0; i < NODES; i++) {
            const char *name = arena_printf(&b.w.arena, "node-%d", i);
            CHECK(now_s(&b) - renewed_s(&b, name) <= HOLLOW_LEASE_MS / 1000 + 1);
            CHECK(node_condition_is(node(&b, name), STR("Ready"), "True"));
        }
    }
    finish(&b);
}

TEST(those_that_are_left_are_heard_of_too)
{
    enum { NODES = 40, LEFT = 2 };
    struct bench b;
    begin(&b, NODES);
    pass(&b, 7000);
    for (int i = LEFT; i < NODES; i++) {
        struct call *c = call_new(&b.w, "nodes", "", "", arena_printf(&b.w.arena, "node-%d", i), "");
        call_run(&b.w, "a node goes", c, registry_delete, 200);
        call_free(c);
    }
    pass(&b, 3 * HOLLOW_LEASE_MS);
    for (int i = 0; i < LEFT; i++)
        CHECK(now_s(&b) - renewed_s(&b, arena_printf(&b.w.arena, "node-%d", i)) <= HOLLOW_LEASE_MS / 1000 + 1);
    finish(&b);
}

TEST(statuses_are_renewed_rarely)
{
    const struct type *t = schema_type(STR("core/v1.NodeCondition"));
    struct bench b;
    begin(&b, 3);
    int64_t made_s = now_s(&b);
    pass(&b, HOLLOW_STATUS_MS + 1000);
    const struct value *c = entry_with(t, value_path(node_type(), node(&b, "node-1"), "status.conditions"), "type", STR("Ready"));
    CHECK(value_path(t, c, "lastHeartbeatTime")->i > made_s);
    CHECK(value_path(t, c, "lastTransitionTime")->i <= made_s);
    finish(&b);
}

TEST(pods_run_and_go)
{
    struct bench b;
    begin(&b, 2);
    add_pod(&b, "a", "node-0");
    add_pod(&b, "b", "node-0");
    add_pod(&b, "elsewhere", "machine");
    pass(&b, 200);
    CHECK_STR("a", phase(&b, "a"), STR("Running"));
    CHECK_STR("b", phase(&b, "b"), STR("Running"));
    CHECK_STR("on a node that is not ours", phase(&b, "elsewhere"), STR("Pending"));
    struct str one = text_at(pod_type(), pod(&b, "a"), "status.podIP"), other = text_at(pod_type(), pod(&b, "b"), "status.podIP");
    CHECK(str_starts(one, STR("10.128.0.")) && str_starts(other, STR("10.128.0.")) && !str_eq(one, other));
    struct call *c = call_new(&b.w, "pods", "", "default", "a", "");
    call_run(&b.w, "a", c, registry_delete, 200);
    call_free(c);
    CHECK(pod_is_being_deleted(pod(&b, "a")));
    pass(&b, 200);
    CHECK_STR("deleted for good", phase(&b, "a"), STR("gone"));
    finish(&b);
}

TEST(a_pod_that_does_not_fit_is_refused)
{
    static const char with[] = "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"nodeName\":\"node-0\",\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                               "\"resources\":{\"requests\":{%s}%s}}]}}";
    static const struct {
        const char *name, *requests, *phase, *reason, *message, *limits;
    } rows[] = {
        { "most", "\"cpu\":\"3500m\"", "Running", "", "" },
        { "more", "\"cpu\":\"501m\"", "Failed", "OutOfcpu",
          "Pod was rejected: Node didn't have enough resource: cpu, requested: 501, used: 3500, capacity: 4000" },
        { "rest", "\"cpu\":\"500m\",\"memory\":\"1Gi\"", "Running", "", "" },
        { "large", "\"memory\":\"16Gi\"", "Failed", "OutOfmemory",
          "Pod was rejected: Node didn't have enough resource: memory, requested: 17179869184, used: 1073741824, capacity: 17179869184" },
        { "other", "\"example.com/x\":\"1\"", "Failed", "OutOfexample.com/x",
          "Pod was rejected: Node didn't have enough resource: example.com/x, requested: 1, used: 0, capacity: 0",
          ",\"limits\":{\"example.com/x\":\"1\"}" },
    };
    struct bench b;
    begin(&b, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        story_create(&b.w, "pods", "", "default", arena_printf(&b.w.arena, with, rows[i].name, rows[i].requests,
                                                                         rows[i].limits ? rows[i].limits : ""));
        pass(&b, 200);
        CHECK_STR(rows[i].name, phase(&b, rows[i].name), str_of(rows[i].phase));
        CHECK_STR(rows[i].name, text_at(pod_type(), pod(&b, rows[i].name), "status.reason"), str_of(rows[i].reason));
        CHECK_STR(rows[i].name, text_at(pod_type(), pod(&b, rows[i].name), "status.message"), str_of(rows[i].message));
    }
    finish(&b);
}

TEST(a_node_fails_and_comes_back)
{
    struct bench b;
    begin(&b, 2);
    add_pod(&b, "a", "node-0");
    pass(&b, 200);
    set_state(&b, "node-0", NODE_STOPPED);
    add_pod(&b, "late", "node-0");
    int64_t last_s = now_s(&b);
    pass(&b, (NODE_MONITOR_GRACE_S + 15) * 1000);
    CHECK(renewed_s(&b, "node-0") <= last_s);
    CHECK(renewed_s(&b, "node-1") > last_s);
    CHECK(has_taint(&b, "node-0", "node.kubernetes.io/unreachable"));
    CHECK(!has_taint(&b, "node-1", "node.kubernetes.io/unreachable"));
    CHECK_STR("nobody runs it", phase(&b, "late"), STR("Pending"));
    CHECK_STR("it is told to go, and nobody is there to hear it", phase(&b, "a"), STR("Running"));
    CHECK(pod_is_being_deleted(pod(&b, "a")));
    set_state(&b, "node-0", "running");
    pass(&b, 2000);
    CHECK(node_condition_is(node(&b, "node-0"), STR("Ready"), "True"));
    CHECK(!has_taint(&b, "node-0", "node.kubernetes.io/unreachable"));
    CHECK_STR("now it heard it", phase(&b, "a"), STR("gone"));
    finish(&b);
}

TEST(it_goes_on_after_a_restart)
{
    struct bench b;
    begin(&b, 2);
    add_pod(&b, "before", "node-0");
    pass(&b, 200);
    struct call *c = call_new(&b.w, "pods", "", "default", "before", "");
    call_run(&b.w, "so that the first address is not the one that is taken", c, registry_delete, 200);
    call_free(c);
    add_pod(&b, "a", "node-0");
    pass(&b, 200);
    struct str address = arena_str(&b.w.arena, text_at(pod_type(), pod(&b, "a"), "status.podIP"));
    set_state(&b, "node-1", NODE_STOPPED);
    end(&b);
    start(&b, 3);
    add_pod(&b, "b", "node-0");
    add_pod(&b, "c", "node-1");
    pass(&b, 1000);
    CHECK_STR("keeps its address", text_at(pod_type(), pod(&b, "a"), "status.podIP"), address);
    CHECK_STR("runs", phase(&b, "b"), STR("Running"));
    CHECK(!str_eq(text_at(pod_type(), pod(&b, "b"), "status.podIP"), address));
    CHECK_STR("its node is still stopped", phase(&b, "c"), STR("Pending"));
    CHECK(node(&b, "node-2"));
    finish(&b);
}

TEST(a_node_that_somebody_makes_is_hollow_when_it_says_so)
{
    struct bench b;
    begin(&b, 1);
    story_create(&b.w, "nodes", "", "", "{\"metadata\":{\"name\":\"mine\",\"annotations\":{\"" NODE_HOLLOW "\":\"running\"}},"
                                        "\"spec\":{\"podCIDR\":\"10.9.0.0/24\"},\"status\":{\"allocatable\":{\"pods\":\"1\"}}}");
    add_pod(&b, "a", "mine");
    pass(&b, 500);
    CHECK(node_condition_is(node(&b, "mine"), STR("Ready"), "True"));
    CHECK_STR("it runs", phase(&b, "a"), STR("Running"));
    CHECK_STR("its address", text_at(pod_type(), pod(&b, "a"), "status.podIP"), STR("10.9.0.2"));
    struct call *c = call_new(&b.w, "nodes", "", "", "mine", "");
    call_run(&b.w, "mine", c, registry_delete, 200);
    call_free(c);
    pass(&b, 20000); /* its turn would have come */
    CHECK(!node(&b, "mine"));
    finish(&b);
}
