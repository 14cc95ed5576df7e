/* controllers/replicas.c - see replicas.h. */
#include "controllers/replicas.h"

#include "api/edit.h"
#include "base/clock.h"
#include "base/map.h"
#include "controllers/pod_control.h"

#define REPLICA_FAILURE "ReplicaFailure"

const struct replicas_kind replica_set_kind = {
    .controller = "replicaset-controller", .plural = "replicasets", .group = "apps", .type = "apps/v1.ReplicaSet",
    .condition_type = "apps/v1.ReplicaSetCondition", .counts_terminating = true,
};
const struct replicas_kind replication_controller_kind = {
    .controller = "replication-controller", .plural = "replicationcontrollers", .group = "",
    .type = "core/v1.ReplicationController", .condition_type = "core/v1.ReplicationControllerCondition",
    .selector_is_map = true,
};

/* ---- Which pods are ours ---- */

static struct pods_to room_for(struct arena *a, size_t n)
{
    return (struct pods_to){ ARENA_NEW_N(a, const struct pod_facts *, n), 0 };
}

static void take(struct pods_to *to, const struct pod_facts *f)
{
    to->at[to->n++] = f;
}

/* Those that ended or are being deleted are neither adopted nor released. */
static void sort_out(struct replicas_plan *plan, const struct replicas_state *s)
{
    const struct replicas_spec *spec = s->spec;
    for (size_t i = 0; i < s->n_pods; i++) {
        const struct pod_facts *f = s->pods[i];
        bool matches = selector_matches(&spec->selector, f->labels);
        if (is_pod_terminating(f) && matches && str_eq(f->owner_uid, spec->uid))
            take(&plan->terminating, f);
        if (!is_pod_active(f))
            continue;
        switch (claim_decide(spec->uid, spec->deleted, f->owner_uid, false, matches)) {
        case CLAIM_OWNED:
            take(&plan->active, f);
            break;
        case CLAIM_ADOPT:
            take(&plan->adopt, f);
            break;
        case CLAIM_RELEASE:
            take(&plan->release, f);
            break;
        case CLAIM_IGNORE:
            break;
        }
    }
}

/* ---- Which of them go ---- */

/* Pods that stand beside many related ones go first. */
static void count_neighbours(const struct replicas_state *s, struct ranked_pod *pods, size_t n)
{
    struct map_str on_node;
    map_str_init(&on_node);
    for (size_t i = 0; i < s->n_related; i++)
        if (is_pod_active(s->related[i]) && s->related[i]->node_name.n)
            map_str_put(&on_node, s->related[i]->node_name, NULL)->num++;
    for (size_t i = 0; i < n; i++) {
        const union map_value *found = map_str_find(&on_node, pods[i].facts->node_name);
        pods[i].rank = found ? (int32_t)found->num : 0;
    }
    map_str_fini(&on_node);
}

static struct pods_to choose(struct arena *a, const struct replicas_state *s, const struct pods_to *active, size_t n)
{
    struct pods_to chosen = room_for(a, n);
    struct ranked_pod *ranked = ARENA_NEW_N(a, struct ranked_pod, active->n);
    for (size_t i = 0; i < active->n; i++)
        ranked[i].facts = active->at[i];
    if (n < active->n) {
        count_neighbours(s, ranked, active->n);
        pods_rank(a, ranked, active->n, s->now_ns);
    }
    for (size_t i = 0; i < n; i++)
        take(&chosen, ranked[i].facts);
    return chosen;
}

struct replicas_plan replicas_decide(struct arena *a, const struct replicas_state *s)
{
    struct replicas_plan plan = { .adopt = room_for(a, s->n_pods), .release = room_for(a, s->n_pods),
                                  .active = room_for(a, s->n_pods), .terminating = room_for(a, s->n_pods) };
    sort_out(&plan, s);
    if (plan.adopt.n || plan.release.n || s->expects || s->spec->deleted)
        return plan;
    int64_t missing = (int64_t)s->spec->wanted - (int64_t)plan.active.n;
    if (missing > 0)
        plan.n_create = missing < REPLICAS_BURST ? (uint32_t)missing : REPLICAS_BURST;
    else if (missing < 0)
        plan.delete = choose(a, s, &plan.active, -missing < REPLICAS_BURST ? (size_t)-missing : REPLICAS_BURST);
    return plan;
}

/* ---- Status ---- */

struct counts {
    int64_t replicas, fully_labeled, ready, available, terminating;
};

static struct counts count(struct arena *a, const struct type *t, const struct value *object,
                           const struct replicas_spec *spec, const struct replicas_plan *plan, int64_t now_s)
{
    struct counts c = { .replicas = (int64_t)plan->active.n, .terminating = (int64_t)plan->terminating.n };
    const struct value *map = value_path(t, object, "spec.template.metadata.labels");
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct label *labels = ARENA_NEW_N(a, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        labels[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    struct selector of_template = selector_from_labels(a, (struct labels){ labels, n });
    for (size_t i = 0; i < plan->active.n; i++) {
        const struct pod_facts *f = plan->active.at[i];
        c.fully_labeled += selector_matches(&of_template, f->labels);
        c.ready += is_pod_ready(f);
        c.available += is_pod_available(f, spec->min_ready_s, now_s);
    }
    return c;
}

/* A count of 0 is not written, where the field may be left out. */
static struct value number(int64_t n)
{
    return n ? value_int(n) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value failure_condition(struct arena *a, const struct type *t, const struct replicas_failure *f, int64_t now_s)
{
    struct value none = value_struct(a, t);
    struct value v = edit_set(a, t, &none, "type", edit_text(REPLICA_FAILURE));
    v = edit_set(a, t, &v, "status", edit_text("True"));
    v = edit_set(a, t, &v, "lastTransitionTime", value_time(now_s, 0));
    v = edit_set(a, t, &v, "reason", edit_text(f->reason));
    return edit_set(a, t, &v, "message", edit_text(f->message));
}

/* A failure that is told already stays as it is, whatever fails now; when nothing does, it goes. */
static struct value conditions(struct arena *a, const struct replicas_kind *k, const struct value *list,
                               const struct replicas_failure *failure, int64_t now_s)
{
    const struct type *ct = schema_type(str_of(k->condition_type));
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0, at = 0;
    while (at < n && !str_is(value_text(value_path(ct, &list->items[at], "type")), REPLICA_FAILURE))
        at++;
    if (failure->reason)
        return at < n ? *list : edit_append(a, list, failure_condition(a, ct, failure, now_s));
    if (at == n)
        return *list;
    struct value *left = ARENA_NEW_N(a, struct value, n);
    memcpy(left, list->items, at * sizeof(*left));
    memcpy(left + at, list->items + at + 1, (n - at - 1) * sizeof(*left));
    return n > 1 ? value_list(left, n - 1) : (struct value){ .kind = VALUE_ABSENT };
}

struct value replicas_with_counts(struct arena *a, const struct replicas_kind *k, const struct value *object,
                                  const struct replicas_spec *spec, const struct replicas_plan *plan, int64_t now_s)
{
    const struct type *t = schema_type(str_of(k->type));
    struct counts c = count(a, t, object, spec, plan, now_s);
    struct value v = edit_set(a, t, object, "status.replicas", value_int(c.replicas));
    v = edit_set(a, t, &v, "status.fullyLabeledReplicas", number(c.fully_labeled));
    v = edit_set(a, t, &v, "status.readyReplicas", number(c.ready));
    v = edit_set(a, t, &v, "status.availableReplicas", number(c.available));
    v = edit_set(a, t, &v, "status.observedGeneration", *value_path(t, object, "metadata.generation"));
    return k->counts_terminating ? edit_set(a, t, &v, "status.terminatingReplicas", value_int(c.terminating)) : v;
}

struct value replicas_with_conditions(struct arena *a, const struct replicas_kind *k, const struct value *object,
                                      const struct replicas_failure *failure, int64_t now_s)
{
    const struct type *t = schema_type(str_of(k->type));
    struct value list = conditions(a, k, value_path(t, object, "status.conditions"), failure, now_s);
    return edit_set(a, t, object, "status.conditions", list);
}

int64_t replicas_next_check_ms(const struct replicas_spec *spec, const struct pods_to *active, int64_t now_ns)
{
    int64_t soonest_ms = -1, now_ms = now_ns / CLOCK_NS_PER_MS;
    if (spec->min_ready_s <= 0)
        return -1;
    for (size_t i = 0; i < active->n; i++) {
        const struct pod_facts *f = active->at[i];
        if (!f->ready || !f->ready_s || is_pod_available(f, spec->min_ready_s, now_ms / 1000))
            continue;
        int64_t left_ms = (f->ready_s + spec->min_ready_s) * 1000 - now_ms;
        if (soonest_ms < 0 || left_ms < soonest_ms)
            soonest_ms = left_ms;
    }
    return soonest_ms < 0 ? -1 : soonest_ms + 1;
}
