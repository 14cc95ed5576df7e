/* tests/unit/test_controller_disruption.c - what a PodDisruptionBudget counts. */
#include "controllers/disruption_plan.h"
#include "controllers/read.h"
#include "tests/unit/controller_world.h"

enum { NOW_S = 1767225600 }; /* 2026-01-01T00:00:00Z */

#define BUDGET(spec) "{\"metadata\":{\"name\":\"b\",\"generation\":2},\"spec\":{" spec "}}"
#define OF(kind, uid) ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"" kind "\",\"name\":\"" uid "\",\"uid\":\"" uid "\",\"controller\":true}]"
#define POD(name, meta, ready)                                                                                                  \
    "{\"metadata\":{\"name\":\"" name "\"" meta "},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}\n"
#define OURS(name) POD(name, OF("ReplicaSet", "rs"), "True")

static const struct {
    const char *what, *budget, *pods, *status; /* expected, desired, healthy, allowed; condition */
} rows[] = {
    { "no pods", BUDGET("\"minAvailable\":1"), "", "0 1 0 0 False InsufficientPods" },
    { "a number that must be there", BUDGET("\"minAvailable\":1"), POD("a", "", "True") POD("b", "", "True"), "2 1 2 1 True SufficientPods" },
    { "not ready is not healthy", BUDGET("\"minAvailable\":1"), POD("a", "", "True") POD("b", "", "False"), "2 1 1 0 False InsufficientPods" },
    { "being deleted neither", BUDGET("\"minAvailable\":0"), POD("a", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "True"), "1 0 0 0 False InsufficientPods" },
    { "a part of what the set wants, rounded up", BUDGET("\"minAvailable\":\"26%\""), OURS("a") OURS("b"), "4 2 2 0 False InsufficientPods" },
    { "so many may be away", BUDGET("\"maxUnavailable\":3"), OURS("a") OURS("b"), "4 1 2 1 True SufficientPods" },
    { "more than there are", BUDGET("\"maxUnavailable\":9"), OURS("a"), "4 0 1 1 True SufficientPods" },
    { "a part, rounded up", BUDGET("\"maxUnavailable\":\"1%\""), OURS("a") OURS("b") OURS("c") OURS("d"), "4 3 4 1 True SufficientPods" },
    { "a set of a Deployment stands for that", BUDGET("\"maxUnavailable\":1"), POD("a", OF("ReplicaSet", "of"), "True"), "10 9 1 0 False InsufficientPods" },
    { "sets of the same Deployment count once", BUDGET("\"maxUnavailable\":1"),
      POD("a", OF("ReplicaSet", "of"), "True") POD("b", OF("ReplicaSet", "of2"), "True"), "10 9 2 0 False InsufficientPods" },
    { "pods of nobody are left out", BUDGET("\"maxUnavailable\":1"), OURS("a") POD("x", "", "True"), "4 3 2 0 False InsufficientPods" },
    { "a controller that is gone", BUDGET("\"maxUnavailable\":1"), POD("a", OF("ReplicaSet", "gone"), "True"),
      "0 0 0 0 False SyncFailed: found no controllers for pod \"a\"" },
    { "one without a scale", BUDGET("\"maxUnavailable\":1"), POD("a", OF("DaemonSet", "ds"), "True"),
      "0 0 0 0 False SyncFailed: daemonsets.apps does not implement the scale subresource" },
    { "one that nobody knows", BUDGET("\"maxUnavailable\":1"), POD("a", OF("Strange", "x"), "True"),
      "0 0 0 0 False SyncFailed: no matches for kind \"Strange\" in version \"apps/v1\"" },
    { "evicted a short while ago", "{\"spec\":{\"minAvailable\":1},\"status\":{\"disruptedPods\":{\"a\":\"2025-12-31T23:59:00Z\"}}}",
      POD("a", "", "True") POD("b", "", "True"), "2 1 1 0 False InsufficientPods a" },
    { "evicted long ago, and still there", "{\"spec\":{\"minAvailable\":1},\"status\":{\"disruptedPods\":{\"a\":\"2025-12-31T23:57:00Z\"}}}",
      POD("a", "", "True") POD("b", "", "True"), "2 1 2 1 True SufficientPods" },
    { "evicted, and gone", "{\"spec\":{\"minAvailable\":1},\"status\":{\"disruptedPods\":{\"z\":\"2025-12-31T23:59:00Z\"}}}",
      POD("a", "", "True") POD("b", "", "True"), "2 1 2 1 True SufficientPods" },
};

/* A set of four; two of a Deployment of ten. */
static const struct value *find_object(void *context, const struct resource *r, struct str name)
{
    struct arena *a = context;
    struct value *v = ARENA_NEW(a, struct value);
    if (str_is(r->kind, "ReplicaSet") && str_is(name, "rs"))
        *v = world_decode(a, "apps/v1.ReplicaSet", STR("{\"metadata\":{\"uid\":\"rs\"},\"spec\":{\"replicas\":4}}"));
    else if (str_is(r->kind, "ReplicaSet") && str_starts(name, STR("of")))
        *v = world_decode(a, "apps/v1.ReplicaSet", str_of(arena_printf(a, "{\"metadata\":{\"uid\":\"%.*s\"%s},\"spec\":{\"replicas\":7}}",
                                                                       STR_ARG(name), OF("Deployment", "dep"))));
    else if (str_is(r->kind, "Deployment") && str_is(name, "dep"))
        *v = world_decode(a, "apps/v1.Deployment", STR("{\"metadata\":{\"uid\":\"dep\"},\"spec\":{\"replicas\":10}}"));
    else
        return NULL;
    return v;
}

static const char *status_text(struct arena *a, const struct value *v)
{
    const struct type *t = budget_type(), *ct = schema_type(STR("meta/v1.Condition"));
    const struct value *c = &value_path(t, v, "status.conditions")->items[0], *disrupted = value_path(t, v, "status.disruptedPods");
    struct str message = text_at(ct, c, "message");
    return arena_printf(a, "%lld %lld %lld %lld %.*s %.*s%s%.*s%s%.*s", (long long)int_at(t, v, "status.expectedPods", 0),
                        (long long)int_at(t, v, "status.desiredHealthy", 0), (long long)int_at(t, v, "status.currentHealthy", 0),
                        (long long)int_at(t, v, "status.disruptionsAllowed", 0), STR_ARG(text_at(ct, c, "status")),
                        STR_ARG(text_at(ct, c, "reason")), message.n ? ": " : "", STR_ARG(message),
                        disrupted->kind == VALUE_MAP ? " " : "",
                        STR_ARG(disrupted->kind == VALUE_MAP ? disrupted->members[0].key : STR("")));
}

static struct disruption_plan plan_of(struct arena *a, const struct value *budget, const char *pods)
{
    const struct value **all;
    struct disruption_state s = { .budget = budget, .now_s = NOW_S, .object = find_object, .context = a };
    s.n_pods = world_decode_all(a, "core/v1.Pod", pods, &all);
    s.pods = all;
    return disruption_plan(a, &s);
}

TEST(what_a_budget_counts)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct value budget = world_decode(&a, "policy/v1.PodDisruptionBudget", str_of(rows[i].budget));
        struct disruption_plan plan = plan_of(&a, &budget, rows[i].pods), again = plan_of(&a, &plan.budget, rows[i].pods);
        CHECK_TEXT(rows[i].what, status_text(&a, &plan.budget), rows[i].status);
        if (!plan.writes || again.writes)
            FAIL("%s: is written once", rows[i].what);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(a_budget_is_looked_at_again_when_a_pod_should_be_gone)
{
    struct arena a;
    arena_init(&a);
    struct value budget = world_decode(&a, "policy/v1.PodDisruptionBudget", str_of(rows[14].budget));
    struct disruption_plan plan = plan_of(&a, &budget, rows[14].pods);
    CHECK_INT("again", plan.recheck_s, NOW_S - 60 + DISRUPTION_DELETION_TIMEOUT_S);
    budget = world_decode(&a, "policy/v1.PodDisruptionBudget", str_of(rows[15].budget));
    plan = plan_of(&a, &budget, rows[15].pods);
    CHECK_INT("told of", plan.n_not_deleted, 1);
    CHECK_INT("not again", plan.recheck_s, 0);
    arena_fini(&a);
}

TEST(who_was_to_be_evicted)
{
    static const struct {
        const char *what, *pod;
        bool stale;
    } pods[] = {
        { "nobody wanted that", "{}", false },
        { "somebody did", "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}", true },
        { "the kubelet", "{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"TerminationByKubelet\"}]}}", false },
        { "it has ended", "{\"status\":{\"phase\":\"Failed\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}}", false },
        { "it goes", "{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}}", false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        int64_t since_s = 0;
        struct value pod = world_decode(&a, "core/v1.Pod", str_of(pods[i].pod));
        CHECK_INT(pods[i].what, disruption_is_stale(&pod, &since_s), pods[i].stale);
        if (pods[i].stale)
            CHECK_INT(pods[i].what, since_s, NOW_S);
    }
    arena_fini(&a);
}
