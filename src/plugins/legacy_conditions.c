/* CheckNodeCondition, CheckNodeMemoryPressure, CheckNodeDiskPressure, CheckNodePIDPressure: predicates of releases that
 * looked at conditions of nodes where today there are taints. Upstream: algorithm/predicates/predicates.go, v1.11.
 * A verdict's detail is the set of the node's flags that refuse the pod. */
#include "plugins/legacy.h"

static const struct {
    uint32_t flag;
    const char *text;
} texts[] = {
    { NODE_NOT_READY, "node(s) were not ready" },
    { NODE_OUT_OF_DISK, "node(s) were out of disk space" },
    { NODE_NETWORK_UNAVAILABLE, "node(s) had unavailable network" },
    { NODE_UNSCHEDULABLE, "node(s) were unschedulable" },
    { NODE_MEMORY_PRESSURE, "node(s) had memory pressure" },
    { NODE_DISK_PRESSURE, "node(s) had disk pressure" },
    { NODE_PID_PRESSURE, "node(s) had pid pressure" },
};

static struct verdict refuse(const struct node_view *n, uint32_t flags)
{
    uint32_t found = n->node->flags & flags;
    return found ? (struct verdict){ V_UNRESOLVABLE, found, NULL } : PASS;
}

static void reasons(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to)
{
    (void)p;
    (void)c;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (v.detail & texts[i].flag)
            vec_push(&to->texts, texts[i].text);
}

static struct verdict check_conditions(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    return refuse(n, NODE_NOT_READY | NODE_OUT_OF_DISK | NODE_NETWORK_UNAVAILABLE | NODE_UNSCHEDULABLE);
}

static struct verdict check_disk(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    return refuse(n, NODE_DISK_PRESSURE);
}

static struct verdict check_pids(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    return refuse(n, NODE_PID_PRESSURE);
}

static bool is_best_effort(const struct pod *pod)
{
    const struct amounts *r = pod->requested;
    return !pod->limits && r->milli_cpu == pod->overhead_milli_cpu && r->memory == 0;
}

static struct verdict check_memory(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    return is_best_effort(c->pod) ? refuse(n, NODE_MEMORY_PRESSURE) : PASS;
}

static void memory_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    class_key_num(key, is_best_effort(c->pod));
}

#define CONDITION_PLUGIN(ident, plugin_name, filter_fn, key_fn)                                     \
    const struct plugin ident = {                                                                   \
        .name = plugin_name, .filter = filter_fn, .filter_key = key_fn, .reasons = reasons,         \
        .events = (const struct plugin_event[]){                                                    \
            { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_CONDITION | ACT_UPDATE_NODE_TAINT, NULL }, { 0 } }, \
    }

CONDITION_PLUGIN(legacy_nodecondition_plugin, "CheckNodeCondition", check_conditions, class_key_nothing);
CONDITION_PLUGIN(legacy_diskpressure_plugin, "CheckNodeDiskPressure", check_disk, class_key_nothing);
CONDITION_PLUGIN(legacy_pidpressure_plugin, "CheckNodePIDPressure", check_pids, class_key_nothing);
CONDITION_PLUGIN(legacy_memorypressure_plugin, "CheckNodeMemoryPressure", check_memory, memory_key);
