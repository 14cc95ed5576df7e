/* sched/derive.c - see derive.h. Upstream: framework/events.go, v1.36. */
#include "sched/derive.h"

static void add(struct derived_events *events, enum event_resource resource, uint32_t action, const void *old,
                const void *object)
{
    assert(events->n < DERIVED_MAX);
    events->at[events->n++] = (struct cluster_event){
        .resource = resource,
        .action = action,
        .old_object = old,
        .new_object = object,
    };
}

static bool same_syms(const sym *a, uint32_t n_a, const sym *b, uint32_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static bool same_labels(struct label_set a, struct label_set b)
{
    if (a.n != b.n)
        return false;
    for (uint32_t i = 0; i < a.n; i++)
        if (a.at[i].key != b.at[i].key || a.at[i].value != b.at[i].value)
            return false;
    return true;
}

static bool same_features(const struct node *a, const struct node *b)
{
    return same_syms(a->declared_features, a->n_declared_features, b->declared_features, b->n_declared_features);
}

void derive_node_events(const struct node *old, const struct node *node, bool declared_features,
                        struct derived_events *ret_events)
{
    bool became_schedulable = old->flags & NODE_UNSCHEDULABLE && !(node->flags & NODE_UNSCHEDULABLE);
    const struct {
        uint32_t action;
        bool happened;
    } changes[] = {
        { ACT_UPDATE_NODE_TAINT, became_schedulable },
        { ACT_UPDATE_NODE_ALLOCATABLE, !amounts_equal(&old->allocatable, &node->allocatable) },
        { ACT_UPDATE_NODE_LABEL, !same_labels(old->meta.labels, node->meta.labels) },
        { ACT_UPDATE_NODE_TAINT, !node_taints_equal(old, node) },
        { ACT_UPDATE_NODE_CONDITION, old->conditions_hash != node->conditions_hash },
        { ACT_UPDATE_NODE_ANNOTATION, old->annotations_hash != node->annotations_hash },
        { ACT_UPDATE_NODE_DECLARED_FEATURE, declared_features && !same_features(old, node) },
    };
    _Static_assert(sizeof(changes) / sizeof(changes[0]) <= DERIVED_MAX, "room for all");
    ret_events->n = 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (changes[i].happened)
            add(ret_events, RES_NODE, changes[i].action, old, node);
}

/* Whether some request got smaller or is gone. */
static bool is_scaled_down(const struct amounts *old, const struct amounts *now)
{
    if (old == now)
        return false;
    if (old->milli_cpu > now->milli_cpu || old->memory > now->memory ||
        old->ephemeral_storage > now->ephemeral_storage)
        return true;
    for (uint32_t i = 0, k = 0; i < old->n_scalars; i++) {
        /* both are in the same order, so the search goes on where it stopped */
        while (k < now->n_scalars && now->scalars[k].name != old->scalars[i].name)
            k++;
        if (k == now->n_scalars || old->scalars[i].amount > now->scalars[k].amount)
            return true;
    }
    return false;
}

static bool same_claim_statuses(const struct pod_claims *a, const struct pod_claims *b)
{
    uint16_t n_a = a ? a->n_statuses : 0, n_b = b ? b->n_statuses : 0;
    if (n_a != n_b)
        return false;
    for (uint16_t i = 0; i < n_a; i++)
        if (a->statuses[i].name != b->statuses[i].name || a->statuses[i].claim_name != b->statuses[i].claim_name)
            return false;
    return true;
}

void derive_pod_events(const struct pod *old, const struct pod *pod, struct derived_events *ret_events)
{
    enum event_resource resource = pod->node_name == SYM_EMPTY ? RES_UNSCHEDULED_POD : RES_ASSIGNED_POD;
    const struct {
        uint32_t action;
        bool happened;
    } changes[] = {
        { ACT_UPDATE_POD_LABEL, !same_labels(old->meta.labels, pod->meta.labels) },
        { ACT_UPDATE_POD_SCALE_DOWN, is_scaled_down(old->requested, pod->requested) },
        { ACT_UPDATE_POD_GATES_ELIMINATED, old->n_gates > 0 && pod->n_gates == 0 },
        { ACT_UPDATE_POD_TOLERATION, old->n_tolerations != pod->n_tolerations },
        { ACT_UPDATE_POD_GENERATED_CLAIM, !same_claim_statuses(old->claims, pod->claims) },
    };
    ret_events->n = 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (changes[i].happened)
            add(ret_events, resource, changes[i].action, old, pod);
    if (ret_events->n == 0)
        add(ret_events, resource, ACT_UPDATE, old, pod);
}
