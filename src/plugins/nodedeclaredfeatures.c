/* NodeDeclaredFeatures: a pod that needs a feature of the kubelet fits only where the node declares it.
 * Points: PreFilter (skips pods that need none), Filter. Upstream: plugins/nodedeclaredfeatures, v1.36. */
#include "plugins/plugins.h"

#define MISSING_FEATURES "node(s) didn't match Pod's required features"

static uint32_t features_needed(const struct pod *pod)
{
    uint32_t needed = 0;
    if (pod->flags & POD_NEEDS_RESTART_ALL)
        needed |= NODE_HAS_RESTART_ALL;
    if (pod->flags & POD_NEEDS_USERNS_HOSTNET)
        needed |= NODE_HAS_USERNS_HOSTNET;
    return needed;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    return p->features->node_declared_features && features_needed(c->pod) ? PASS : SKIP;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    bool has_all = (features_needed(c->pod) & ~n->node->flags) == 0;
    return has_all || !p->features->node_declared_features ? PASS : verdict_text(V_UNRESOLVABLE, MISSING_FEATURES);
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    class_key_num(key, features_needed(c->pod));
}

static bool same_features(const struct node *a, const struct node *b)
{
    size_t n_bytes = a->n_declared_features * sizeof(*a->declared_features);
    return a->n_declared_features == b->n_declared_features &&
           (n_bytes == 0 || memcmp(a->declared_features, b->declared_features, n_bytes) == 0);
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct node *old = event->old_object, *now = event->new_object;
    return old && same_features(old, now) ? HINT_SKIP : HINT_QUEUE;
}

static enum hint pod_changed(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    const struct pod *old = event->old_object, *now = event->new_object;
    bool itself = strcmp(now->meta.uid, waiting->meta.uid) == 0;
    return itself && features_needed(old) != features_needed(now) ? HINT_QUEUE : HINT_SKIP;
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)c;
    if (!p->features->node_declared_features)
        return NULL;
    return missing == POINT_PRE_FILTER && at == POINT_FILTER ? "error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found"
                                                            : NULL;
}

const struct plugin nodedeclaredfeatures_plugin = {
    .name = "NodeDeclaredFeatures",
    .pre_filter = pre_filter,
    .filter = filter,
    .fails_without = fails_without,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_DECLARED_FEATURE, node_changed },
                                             { RES_POD, ACT_UPDATE, pod_changed },
                                             { 0 } },
};
