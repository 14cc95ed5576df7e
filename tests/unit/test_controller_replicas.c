/* What is decided about the pods of ReplicaSets and ReplicationControllers, and what their status says. */
#include "codec/json.h"
#include "controllers/replicas.h"
#include "tests/test.h"

#define S 1000000000ll /* nanoseconds */
enum { NOW_S = 10000, PODS_MAX = 8 };

static struct arena arena;

static void fresh(void)
{
    arena_fini(&arena); /* of nothing, the first time */
    arena_init(&arena);
}

static struct selector web(void)
{
    static const struct label labels[] = { { { "app", 3 }, { "web", 3 } } };
    return selector_from_labels(&arena, (struct labels){ labels, 1 });
}

/* One letter a pod: o ours, x ours but with other labels, a an orphan that matches, z one that does not, t ours and being
 * deleted, f ours and failed, r ours and ready for 100 s, y ours and ready for 2 s, e of somebody else. */
static struct pod_facts pod_of(char letter, int i)
{
    static const struct label web_labels[] = { { { "app", 3 }, { "web", 3 } } }, other[] = { { { "app", 3 }, { "db", 2 } } };
    static const char *const names[PODS_MAX] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" };
    bool matches = letter != 'x' && letter != 'z', ready = letter == 'r' || letter == 'y';
    bool orphan = letter == 'a' || letter == 'z';
    return (struct pod_facts){
        .name = str_of(names[i]), .uid = str_of(names[i]), .node_name = STR("m"),
        .owner_uid = orphan ? STR("") : letter == 'e' ? STR("other") : STR("me"),
        .labels = { matches ? web_labels : other, 1 },
        .created_s = 1,
        .deleted_s = letter == 't' ? NOW_S : 0,
        .phase = letter == 'f' ? POD_IS_FAILED : ready ? POD_IS_RUNNING : POD_IS_PENDING,
        .ready = ready,
        .ready_s = letter == 'r' ? NOW_S - 100 : letter == 'y' ? NOW_S - 2 : 0,
    };
}

struct world {
    struct pod_facts facts[PODS_MAX];
    const struct pod_facts *pods[PODS_MAX];
    struct replicas_spec spec;
    struct replicas_state state;
};

static struct replicas_plan decide(struct world *w, const char *pods, int32_t wanted, bool deleted, bool expects)
{
    size_t n = strlen(pods);
    fresh();
    for (size_t i = 0; i < n; i++) {
        w->facts[i] = pod_of(pods[i], (int)i);
        w->pods[i] = &w->facts[i];
    }
    w->spec = (struct replicas_spec){ .uid = STR("me"), .deleted = deleted, .wanted = wanted, .min_ready_s = 10,
                                      .selector = web() };
    w->state = (struct replicas_state){ .spec = &w->spec, .pods = w->pods, .n_pods = n, .expects = expects,
                                        .now_ns = NOW_S * S };
    return replicas_decide(&arena, &w->state);
}

TEST(what_is_done_about_pods)
{
    static const struct {
        const char *what, *pods;
        int32_t wanted;
        bool deleted, expects;
        size_t n_create, n_delete, n_adopt, n_release, n_active, n_terminating;
    } rows[] = {
        { "enough", "oo", 2, false, false, 0, 0, 0, 0, 2, 0 },
        { "one is missing", "oo", 3, false, false, 1, 0, 0, 0, 2, 0 },
        { "one is missing, but something was ordered", "oo", 3, false, true, 0, 0, 0, 0, 2, 0 },
        { "one is missing, but it is being deleted", "oo", 3, true, false, 0, 0, 0, 0, 2, 0 },
        { "no more than a burst at once", "", 9999, false, false, REPLICAS_BURST, 0, 0, 0, 0, 0 },
        { "one too many", "ooo", 2, false, false, 0, 1, 0, 0, 3, 0 },
        { "all go", "ooo", 0, false, false, 0, 3, 0, 0, 3, 0 },
        { "those that ended or go do not count", "otf", 2, false, false, 1, 0, 0, 0, 1, 1 },
        { "an orphan is adopted before one is made", "oa", 3, false, false, 0, 0, 1, 0, 1, 0 },
        { "an orphan with other labels is not", "oz", 2, false, false, 1, 0, 0, 0, 1, 0 },
        { "one with other labels is released", "oox", 2, false, false, 0, 0, 0, 1, 2, 0 },
        { "nothing is claimed while it is being deleted", "oax", 2, true, false, 0, 0, 0, 0, 1, 0 },
        { "pods of others are not ours", "oee", 1, false, false, 0, 0, 0, 0, 1, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        struct replicas_plan p = decide(&w, rows[i].pods, rows[i].wanted, rows[i].deleted, rows[i].expects);
        CHECK_INT(rows[i].what, p.n_create, rows[i].n_create);
        CHECK_INT(rows[i].what, p.delete.n, rows[i].n_delete);
        CHECK_INT(rows[i].what, p.adopt.n, rows[i].n_adopt);
        CHECK_INT(rows[i].what, p.release.n, rows[i].n_release);
        CHECK_INT(rows[i].what, p.active.n, rows[i].n_active);
        CHECK_INT(rows[i].what, p.terminating.n, rows[i].n_terminating);
    }
}

TEST(those_that_serve_least_go_first)
{
    struct world w;
    struct replicas_plan p = decide(&w, "royr", 2, false, false);
    CHECK_INT("two go", p.delete.n, 2);
    CHECK_STR("not ready", p.delete.at[0]->name, STR("p1"));
    CHECK_STR("ready for a short time", p.delete.at[1]->name, STR("p2"));
}

TEST(those_with_most_neighbours_go_first)
{
    struct world w;
    decide(&w, "ooo", 2, false, false);
    w.facts[0].node_name = w.facts[2].node_name = STR("full");
    struct pod_facts beside = { .node_name = STR("full") };
    const struct pod_facts *related[] = { &w.facts[0], &w.facts[1], &w.facts[2], &beside };
    w.facts[1].created_s = NOW_S; /* else it would go */
    w.state.related = related;
    w.state.n_related = 4;
    struct replicas_plan p = replicas_decide(&arena, &w.state);
    CHECK_INT("one goes", p.delete.n, 1);
    CHECK_STR("from the full node", p.delete.at[0]->node_name, STR("full"));
}

static struct value object_of(const struct replicas_kind *k, const char *status)
{
    struct value v;
    struct err e;
    err_init(&e, &arena);
    const char *json = arena_printf(&arena, "{\"metadata\":{\"generation\":4},\"spec\":{\"template\":{\"metadata\":{\"labels\":"
                                    "{\"app\":\"web\"}}}},\"status\":%s}", status);
    if (json_decode(&arena, WORK_OWN, schema_type(str_of(k->type)), str_of(json), NULL, &v, &e))
        FAIL("%s", e.message);
    return v;
}

static const char *status_text(const struct replicas_kind *k, const struct value *v)
{
    const struct type *t = schema_type(str_of(k->type));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t->fields[schema_slot(t, STR("status"))].type, value_path(t, v, "status"));
    char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(status)
{
#define FAILURE "\"conditions\":[{\"type\":\"ReplicaFailure\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T02:46:40Z\"," \
                "\"reason\":\"FailedCreate\",\"message\":\"no room\"}]"
    static const struct {
        const char *what;
        const struct replicas_kind *kind;
        const char *pods, *before;
        struct replicas_failure failure;
        const char *want;
    } rows[] = {
        { "counts", &replica_set_kind, "roytf", "{}", { 0 },
          "{\"replicas\":3,\"fullyLabeledReplicas\":3,\"readyReplicas\":2,\"availableReplicas\":1,\"terminatingReplicas\":1,"
          "\"observedGeneration\":4}" },
        { "none", &replica_set_kind, "", "{}", { 0 }, "{\"replicas\":0,\"terminatingReplicas\":0,\"observedGeneration\":4}" },
        { "of a ReplicationController", &replication_controller_kind, "rt", "{}", { 0 },
          "{\"replicas\":1,\"fullyLabeledReplicas\":1,\"readyReplicas\":1,\"availableReplicas\":1,\"observedGeneration\":4}" },
        { "a failure is told", &replication_controller_kind, "", "{}", { "FailedCreate", "no room" },
          "{\"replicas\":0,\"observedGeneration\":4," FAILURE "}" },
        { "another one does not replace it", &replication_controller_kind, "", "{" FAILURE "}", { "FailedDelete", "x" },
          "{\"replicas\":0,\"observedGeneration\":4," FAILURE "}" },
        { "it goes when all goes well", &replication_controller_kind, "", "{" FAILURE "}", { 0 },
          "{\"replicas\":0,\"observedGeneration\":4}" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        struct replicas_plan p = decide(&w, rows[i].pods, 3, false, false);
        struct value v = object_of(rows[i].kind, rows[i].before);
        v = replicas_with_counts(&arena, rows[i].kind, &v, &w.spec, &p, NOW_S);
        v = replicas_with_conditions(&arena, rows[i].kind, &v, &rows[i].failure, NOW_S);
        CHECK_TEXT(rows[i].what, status_text(rows[i].kind, &v), rows[i].want);
    }
}

TEST(availability_is_looked_at_again_in_time)
{
    struct world w;
    struct replicas_plan p = decide(&w, "ryo", 3, false, false);
    CHECK_INT("8 s are left", replicas_next_check_ms(&w.spec, &p.active, NOW_S * S), 8001);
    p = decide(&w, "rro", 3, false, false);
    CHECK_INT("all are available", replicas_next_check_ms(&w.spec, &p.active, NOW_S * S), -1);
    p = decide(&w, "y", 1, false, false);
    w.spec.min_ready_s = 0;
    CHECK_INT("nobody waits", replicas_next_check_ms(&w.spec, &p.active, NOW_S * S), -1);
}
