/* controllers/pod_garbage.c - see pod_garbage.h. */
#include "controllers/pod_garbage.h"

#include "controllers/node_health.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"

static bool is_out_of_service(const struct value *node)
{
    const struct value *taints = value_path(node_type(), node, "spec.taints");
    return !node_condition_is(node, STR("Ready"), "True") &&
           entry_with(schema_type(STR("core/v1.Taint")), taints, "key", STR("node.kubernetes.io/out-of-service"));
}

static struct pod_garbage goes(const struct value *pod, bool orphaned)
{
    return (struct pod_garbage){ .verdict = pod_has_ended(pod) ? POD_GOES : POD_FAILS, .orphaned = orphaned };
}

struct pod_garbage pod_garbage_decide(const struct pod_garbage_state *s)
{
    struct pod_garbage stays = { .verdict = POD_STAYS };
    bool has_node = text_at(pod_type(), s->pod, "spec.nodeName").n > 0;
    if (has_node && !s->node) {
        int64_t until_s = s->node_missed_s + POD_GC_QUARANTINE_S;
        return s->now_s < until_s ? (struct pod_garbage){ .verdict = POD_WAITS, .again_s = until_s } : goes(s->pod, true);
    }
    if (!pod_is_being_deleted(s->pod))
        return stays;
    return !has_node || is_out_of_service(s->node) ? goes(s->pod, false) : stays;
}

static bool was_evicted(const struct value *pod)
{
    return says_at(pod_type(), pod, "status.phase", "Failed") && says_at(pod_type(), pod, "status.reason", "Evicted");
}

int pod_garbage_order(const struct value *a, const struct value *b)
{
    if (was_evicted(a) != was_evicted(b))
        return was_evicted(a) ? -1 : 1;
    int64_t x = value_path(pod_type(), a, "metadata.creationTimestamp")->i;
    int64_t y = value_path(pod_type(), b, "metadata.creationTimestamp")->i;
    if (x != y)
        return x < y ? -1 : 1;
    return str_cmp(text_at(pod_type(), a, "metadata.name"), text_at(pod_type(), b, "metadata.name"));
}
