/* controllers/disruption_plan.c - see disruption_plan.h. */
#include "controllers/disruption_plan.h"

#include "api/edit.h"
#include "apiserver/stored.h"
#include "base/map.h"
#include "controllers/cluster.h"
#include "controllers/condition.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"

static const struct value absent = { .kind = VALUE_ABSENT };

const struct type *budget_type(void)
{
    return schema_type(STR("policy/v1.PodDisruptionBudget"));
}

static const struct type *reference_type(void)
{
    return schema_type(STR("meta/v1.OwnerReference"));
}

/* ---- How many there should be ---- */

/* A controller of pods, and how many it wants. */
struct scale {
    struct str uid;
    int64_t replicas;
};

static const struct value *controller_of(const struct type *t, const struct value *v)
{
    const struct value *refs = value_path(t, v, "metadata.ownerReferences");
    for (uint32_t i = 0; i < list_length(refs); i++)
        if (true_at(reference_type(), &refs->items[i], "controller"))
            return &refs->items[i];
    return NULL;
}

static bool scales(const struct resource *r)
{
    for (const struct subresource *s = r->subresources; s && s->name; s++)
        if (strcmp(s->name, "scale") == 0)
            return true;
    return false;
}

static const struct value *referred(const struct disruption_state *s, const struct resource *r, const struct value *ref)
{
    const struct value *v = s->object(s->context, r, text_at(reference_type(), ref, "name"));
    return v && str_eq(text_at(r->type, v, "metadata.uid"), text_at(reference_type(), ref, "uid")) ? v : NULL;
}

/* A ReplicaSet of a Deployment stands for that; one whose Deployment is gone counts for itself. */
static const struct value *beyond_replica_set(const struct disruption_state *s, const struct resource **r,
                                              const struct value *v)
{
    const struct value *ref = str_is((*r)->kind, "ReplicaSet") ? controller_of((*r)->type, v) : NULL;
    if (!ref || !says_at(reference_type(), ref, "kind", "Deployment"))
        return v;
    const struct resource *deployments = stored_resource("deployments", "apps");
    const struct value *deployment = referred(s, deployments, ref);
    if (deployment)
        *r = deployments;
    return deployment ? deployment : v;
}

/* NULL, or what is wrong. */
static const char *find_scale(struct arena *a, const struct disruption_state *s, const struct value *pod, const struct value *ref,
                              struct scale *ret_scale)
{
    struct str kind = text_at(reference_type(), ref, "kind"), version = text_at(reference_type(), ref, "apiVersion");
    const struct resource *r = cluster_resource_of_kind(version, kind);
    if (!r)
        return arena_printf(a, "no matches for kind \"%.*s\" in version \"%.*s\"", STR_ARG(kind), STR_ARG(version));
    if (!scales(r))
        return arena_printf(a, "%.*s%s%.*s does not implement the scale subresource", STR_ARG(r->plural), r->group.n ? "." : "",
                            STR_ARG(r->group));
    const struct value *v = referred(s, r, ref);
    if (!v)
        return arena_printf(a, "found no controllers for pod \"%.*s\"", STR_ARG(text_at(pod_type(), pod, "metadata.name")));
    v = beyond_replica_set(s, &r, v);
    *ret_scale = (struct scale){ text_at(r->type, v, "metadata.uid"), int_at(r->type, v, "spec.replicas", 1) };
    return NULL;
}

/* The sum of what the pods' controllers want. */
static const char *expected_scale(struct arena *a, const struct disruption_state *s, bool *unmanaged, int64_t *ret_count)
{
    struct map_str controllers, scaled;
    const char *error = NULL;
    int64_t count = 0;
    map_str_init(&controllers);
    map_str_init(&scaled);
    for (size_t i = 0; i < s->n_pods && !error; i++) {
        const struct value *ref = controller_of(pod_type(), s->pods[i]);
        struct scale scale = { 0 };
        bool is_new = false;
        if (ref)
            map_str_put(&controllers, text_at(reference_type(), ref, "uid"), &is_new);
        else
            *unmanaged = true;
        if (!is_new || (error = find_scale(a, s, s->pods[i], ref, &scale)))
            continue;
        map_str_put(&scaled, scale.uid, &is_new);
        count += is_new ? scale.replicas : 0;
    }
    map_str_fini(&controllers);
    map_str_fini(&scaled);
    *ret_count = count;
    return error;
}

/* A number, or a percentage of `whole`, rounded up. */
static const char *scaled_value(struct arena *a, const struct value *v, int64_t whole, int64_t *ret_number)
{
    if (v->kind == VALUE_INT) {
        *ret_number = v->i;
        return NULL;
    }
    struct str text = value_text(v);
    int64_t percent;
    if (!str_ends(text, STR("%")) || !labels_parse_int(str_first(text, text.n - 1), &percent))
        return arena_printf(a, "invalid value for IntOrString: invalid type: string is not a percentage");
    *ret_number = (percent * whole + 99) / 100;
    return NULL;
}

struct counts {
    int64_t expected, desired, healthy;
};

static const char *count_expected(struct arena *a, const struct disruption_state *s, bool *unmanaged, struct counts *c)
{
    const struct value *max = value_path(budget_type(), s->budget, "spec.maxUnavailable");
    const struct value *min = value_path(budget_type(), s->budget, "spec.minAvailable");
    if (max->kind == VALUE_ABSENT && min->kind == VALUE_ABSENT)
        return NULL;
    if (max->kind == VALUE_ABSENT && min->kind == VALUE_INT) {
        c->desired = min->i;
        c->expected = (int64_t)s->n_pods;
        return NULL;
    }
    const char *error = expected_scale(a, s, unmanaged, &c->expected);
    int64_t number = 0;
    if (!error)
        error = scaled_value(a, max->kind != VALUE_ABSENT ? max : min, c->expected, &number);
    c->desired = max->kind != VALUE_ABSENT ? c->expected - number : number;
    if (c->desired < 0)
        c->desired = 0;
    return error;
}

/* ---- Pods that are about to go ---- */

static const struct value *disruption_of(const struct value *disrupted, const struct value *pod)
{
    struct str name = text_at(pod_type(), pod, "metadata.name");
    const struct value *at = disrupted->kind == VALUE_MAP ? value_member(disrupted, name) : NULL;
    return at && at->kind == VALUE_TIME ? at : NULL;
}

/* Those that somebody evicted a short while ago and that are still there. */
static struct value still_disrupted(struct arena *a, const struct disruption_state *s, struct disruption_plan *plan)
{
    const struct value *was = value_path(budget_type(), s->budget, "status.disruptedPods");
    struct value map = value_map(ARENA_NEW_N(a, struct member, was->kind == VALUE_MAP ? was->n : 0), 0);
    plan->not_deleted = ARENA_NEW_N(a, const struct value *, s->n_pods);
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct value *at = disruption_of(was, s->pods[i]);
        if (!at || pod_is_being_deleted(s->pods[i]))
            continue;
        int64_t until_s = at->i + DISRUPTION_DELETION_TIMEOUT_S;
        if (until_s < s->now_s) {
            plan->not_deleted[plan->n_not_deleted++] = s->pods[i];
            continue;
        }
        if (!plan->recheck_s || until_s < plan->recheck_s)
            plan->recheck_s = until_s;
        map.members[map.n++] = (struct member){ text_at(pod_type(), s->pods[i], "metadata.name"), *at };
    }
    map.n = value_sort_members(map.members, map.n);
    return map.n ? map : absent;
}

static int64_t count_healthy(const struct disruption_state *s, const struct value *disrupted)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct value *at = disruption_of(disrupted, s->pods[i]);
        bool goes = at && at->i + DISRUPTION_DELETION_TIMEOUT_S > s->now_s;
        n += !pod_is_being_deleted(s->pods[i]) && !goes && pod_condition_is_true(s->pods[i], STR("Ready"));
    }
    return n;
}

/* ---- Status ---- */

static struct value with_condition(struct arena *a, const struct value *v, const struct condition *c, int64_t now_s)
{
    const struct type *ct = schema_type(STR("meta/v1.Condition"));
    struct value list = condition_set(a, ct, value_path(budget_type(), v, "status.conditions"), c, now_s);
    return edit_set(a, budget_type(), v, "status.conditions", list);
}

static struct value counted(struct arena *a, const struct disruption_state *s, const struct counts *c, struct value disrupted)
{
    const struct type *t = budget_type();
    int64_t allowed = c->expected > 0 && c->healthy > c->desired ? c->healthy - c->desired : 0;
    int64_t generation = int_at(t, s->budget, "metadata.generation", 0);
    struct value v = edit_set(a, t, s->budget, "status.currentHealthy", value_int(c->healthy));
    v = edit_set(a, t, &v, "status.desiredHealthy", value_int(c->desired));
    v = edit_set(a, t, &v, "status.expectedPods", value_int(c->expected));
    v = edit_set(a, t, &v, "status.disruptionsAllowed", value_int(allowed));
    v = edit_set(a, t, &v, "status.disruptedPods", disrupted);
    v = edit_set(a, t, &v, "status.observedGeneration", value_int(generation));
    struct condition condition = { "DisruptionAllowed", allowed ? "True" : "False",
                                   allowed ? "SufficientPods" : "InsufficientPods", "", generation };
    return with_condition(a, &v, &condition, s->now_s);
}

static struct value failed(struct arena *a, const struct disruption_state *s, const char *error)
{
    const struct type *t = budget_type();
    struct value v = edit_set(a, t, s->budget, "status.disruptionsAllowed", value_int(0));
    struct condition condition = { "DisruptionAllowed", "False", "SyncFailed", error,
                                   int_at(t, s->budget, "status.observedGeneration", 0) };
    return with_condition(a, &v, &condition, s->now_s);
}

struct disruption_plan disruption_plan(struct arena *a, const struct disruption_state *s)
{
    struct disruption_plan plan = { 0 };
    struct counts c = { 0 };
    plan.error = count_expected(a, s, &plan.unmanaged, &c);
    if (plan.error) {
        plan.budget = failed(a, s, plan.error);
    } else {
        struct value disrupted = still_disrupted(a, s, &plan);
        c.healthy = count_healthy(s, &disrupted);
        plan.budget = counted(a, s, &c, disrupted);
    }
    plan.writes = !value_equal(&plan.budget, s->budget);
    return plan;
}

bool disruption_is_stale(const struct value *pod, int64_t *ret_since_s)
{
    const struct type *ct = schema_type(STR("core/v1.PodCondition"));
    const struct value *c = entry_with(ct, value_path(pod_type(), pod, "status.conditions"), "type", STR("DisruptionTarget"));
    if (!c || !says_at(ct, c, "status", "True") || says_at(ct, c, "reason", "TerminationByKubelet") ||
        pod_is_being_deleted(pod) || pod_has_ended(pod))
        return false;
    *ret_since_s = value_path(ct, c, "lastTransitionTime")->i;
    return true;
}
