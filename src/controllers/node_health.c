/* controllers/node_health.c - see node_health.h. */
#include "controllers/node_health.h"

#include "api/edit.h"
#include "controllers/read.h"

#define NOT_READY "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

const struct type *node_type(void)
{
    return schema_type(STR("core/v1.Node"));
}

static const struct type *condition_type(void)
{
    return schema_type(STR("core/v1.NodeCondition"));
}

static const struct type *taint_type(void)
{
    return schema_type(STR("core/v1.Taint"));
}

bool node_condition_is(const struct value *node, struct str type, const char *status)
{
    const struct value *c = entry_with(condition_type(), value_path(node_type(), node, "status.conditions"), "type", type);
    return c && says_at(condition_type(), c, "status", status);
}

/* ---- Conditions that nobody knows ---- */

static struct value unknown(struct arena *a, const struct value *node, const struct value *old, const char *type, int64_t now_s)
{
    const struct type *t = condition_type();
    struct value v = old ? *old : value_struct(a, t);
    if (!old) {
        v = edit_set(a, t, &v, "type", edit_text(type));
        v = edit_set(a, t, &v, "lastHeartbeatTime", *value_path(node_type(), node, "metadata.creationTimestamp"));
    }
    v = edit_set(a, t, &v, "status", edit_text("Unknown"));
    v = edit_set(a, t, &v, "reason", edit_text(old ? "NodeStatusUnknown" : "NodeStatusNeverUpdated"));
    v = edit_set(a, t, &v, "message", edit_text(old ? "Kubelet stopped posting node status."
                                                    : "Kubelet never posted node status."));
    return edit_set(a, t, &v, "lastTransitionTime", value_time(now_s, 0));
}

static struct value conditions_unknown(struct arena *a, const struct value *node, int64_t now_s)
{
    static const char *const types[] = { "Ready", "MemoryPressure", "DiskPressure", "PIDPressure" };
    const struct value *old = value_path(node_type(), node, "status.conditions");
    struct value list = value_list(ARENA_NEW_N(a, struct value, list_length(old) + 4), list_length(old));
    if (list.n)
        memcpy(list.items, old->items, list.n * sizeof(*list.items));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct value *c = entry_with(condition_type(), old, "type", str_of(types[i]));
        if (!c)
            list.items[list.n++] = unknown(a, node, NULL, types[i], now_s);
        else if (!says_at(condition_type(), c, "status", "Unknown"))
            list.items[c - old->items] = unknown(a, node, c, types[i], now_s);
    }
    return list;
}

/* ---- Taints ---- */

/* A condition with a status is a taint. */
static const struct {
    const char *condition, *status, *key;
} condition_taints[] = {
    { "Ready", "False", NOT_READY },
    { "Ready", "Unknown", UNREACHABLE },
    { "MemoryPressure", "True", "node.kubernetes.io/memory-pressure" },
    { "DiskPressure", "True", "node.kubernetes.io/disk-pressure" },
    { "NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable" },
    { "PIDPressure", "True", "node.kubernetes.io/pid-pressure" },
};
enum { N_CONDITION_TAINTS = sizeof(condition_taints) / sizeof(condition_taints[0]), TAINTS_MORE = N_CONDITION_TAINTS + 3 };

static const struct value *find_taint(const struct value *taints, const char *key, const char *effect)
{
    for (uint32_t i = 0; i < list_length(taints); i++)
        if (says_at(taint_type(), &taints->items[i], "key", key) && says_at(taint_type(), &taints->items[i], "effect", effect))
            return &taints->items[i];
    return NULL;
}

/* Whether the node should have it; of taints that are none of ours: as it is. */
static bool wants_taint(const struct node_health_state *s, struct str key, struct str effect)
{
    bool is_ready = node_condition_is(s->node, STR("Ready"), "True");
    if (str_is(effect, "NoSchedule") && str_is(key, UNSCHEDULABLE))
        return true_at(node_type(), s->node, "spec.unschedulable");
    if (str_is(effect, "NoExecute") && (str_is(key, NOT_READY) || str_is(key, UNREACHABLE)))
        return s->any_ready && !is_ready &&
               node_condition_is(s->node, STR("Ready"), str_is(key, NOT_READY) ? "False" : "Unknown");
    for (size_t i = 0; str_is(effect, "NoSchedule") && i < N_CONDITION_TAINTS; i++)
        if (str_is(key, condition_taints[i].key))
            return node_condition_is(s->node, str_of(condition_taints[i].condition), condition_taints[i].status);
    return true;
}

static void add_taint(struct arena *a, const struct node_health_state *s, struct value *list, const char *key,
                      const char *effect)
{
    const struct type *t = taint_type();
    if (find_taint(list, key, effect) || !wants_taint(s, str_of(key), str_of(effect)))
        return;
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "key", edit_text(key));
    v = edit_set(a, t, &v, "effect", edit_text(effect));
    list->items[list->n++] = edit_set(a, t, &v, "timeAdded", value_time(s->now_s, 0));
}

static struct value taints_for(struct arena *a, const struct node_health_state *s)
{
    const struct type *t = taint_type();
    const struct value *old = value_path(node_type(), s->node, "spec.taints");
    struct value list = value_list(ARENA_NEW_N(a, struct value, list_length(old) + TAINTS_MORE), 0);
    for (uint32_t i = 0; i < list_length(old); i++)
        if (wants_taint(s, text_at(t, &old->items[i], "key"), text_at(t, &old->items[i], "effect")))
            list.items[list.n++] = old->items[i];
    for (size_t i = 0; i < N_CONDITION_TAINTS; i++)
        add_taint(a, s, &list, condition_taints[i].key, "NoSchedule");
    add_taint(a, s, &list, UNSCHEDULABLE, "NoSchedule");
    add_taint(a, s, &list, NOT_READY, "NoExecute");
    add_taint(a, s, &list, UNREACHABLE, "NoExecute");
    return list.n ? list : (struct value){ .kind = VALUE_ABSENT };
}

/* ---- The decision ---- */

struct node_health_plan node_health_plan(struct arena *a, const struct node_health_state *s)
{
    const struct type *t = node_type();
    struct node_health_plan plan = { .node = *s->node };
    const struct value *old = value_path(t, s->node, "status.conditions");
    bool has_ready = entry_with(condition_type(), old, "type", STR("Ready"));
    int64_t until_s = s->heard_s + (has_ready ? NODE_MONITOR_GRACE_S : NODE_STARTUP_GRACE_S);
    if (s->now_s > until_s) {
        struct value list = conditions_unknown(a, s->node, s->now_s);
        plan.lost = node_condition_is(s->node, STR("Ready"), "True");
        plan.writes_status = !value_equal(&list, old);
        plan.node = edit_set(a, t, s->node, "status.conditions", list);
    } else {
        plan.again_s = until_s + 1;
    }
    if (plan.writes_status)
        return plan; /* its taints follow from what is written */
    struct value taints = taints_for(a, s);
    const struct value *has = value_path(t, s->node, "spec.taints");
    plan.writes_spec = list_length(&taints) != list_length(has) || (taints.n && !value_equal(&taints, has));
    if (plan.writes_spec)
        plan.node = edit_set(a, t, &plan.node, "spec.taints", taints);
    return plan;
}
