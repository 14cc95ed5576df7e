/* config/provider.c - a chapter of policy.h: algorithm providers, named sets of predicates and priorities.
 *
 * From v1.18 on a provider was a list of plugins, in an order of its own; before, it was what a Policy with the default
 * lists means. ClusterAutoscalerProvider fills nodes where DefaultProvider spreads over them. */
#include "config/policy.h"

struct row {
    enum extension_point point;
    const char *plugin;
    int32_t weight;
};

/* DefaultProvider of v1.20. Upstream: pkg/scheduler/algorithmprovider/registry.go. */
static const struct row default_provider[] = {
    { POINT_QUEUE_SORT, "PrioritySort", 0 },
    { POINT_PRE_FILTER, "NodeResourcesFit", 0 },
    { POINT_PRE_FILTER, "NodePorts", 0 },
    { POINT_PRE_FILTER, "PodTopologySpread", 0 },
    { POINT_PRE_FILTER, "InterPodAffinity", 0 },
    { POINT_PRE_FILTER, "VolumeBinding", 0 },
    { POINT_FILTER, "NodeUnschedulable", 0 },
    { POINT_FILTER, "NodeName", 0 },
    { POINT_FILTER, "TaintToleration", 0 },
    { POINT_FILTER, "NodeAffinity", 0 },
    { POINT_FILTER, "NodePorts", 0 },
    { POINT_FILTER, "NodeResourcesFit", 0 },
    { POINT_FILTER, "VolumeRestrictions", 0 },
    { POINT_FILTER, "EBSLimits", 0 },
    { POINT_FILTER, "GCEPDLimits", 0 },
    { POINT_FILTER, "NodeVolumeLimits", 0 },
    { POINT_FILTER, "AzureDiskLimits", 0 },
    { POINT_FILTER, "VolumeBinding", 0 },
    { POINT_FILTER, "VolumeZone", 0 },
    { POINT_FILTER, "PodTopologySpread", 0 },
    { POINT_FILTER, "InterPodAffinity", 0 },
    { POINT_POST_FILTER, "DefaultPreemption", 0 },
    { POINT_PRE_SCORE, "InterPodAffinity", 0 },
    { POINT_PRE_SCORE, "PodTopologySpread", 0 },
    { POINT_PRE_SCORE, "TaintToleration", 0 },
    { POINT_SCORE, "NodeResourcesBalancedAllocation", 1 },
    { POINT_SCORE, "ImageLocality", 1 },
    { POINT_SCORE, "InterPodAffinity", 1 },
    { POINT_SCORE, "NodeResourcesLeastAllocated", 1 },
    { POINT_SCORE, "NodeAffinity", 1 },
    { POINT_SCORE, "NodePreferAvoidPods", 10000 },
    { POINT_SCORE, "PodTopologySpread", 2 },
    { POINT_SCORE, "TaintToleration", 1 },
    { POINT_RESERVE, "VolumeBinding", 0 },
    { POINT_PRE_BIND, "VolumeBinding", 0 },
    { POINT_BIND, "DefaultBinder", 0 },
};

static void add_plugins(struct translation *t, bool fills)
{
    for (size_t i = 0; i < sizeof(default_provider) / sizeof(default_provider[0]); i++) {
        const struct row *r = &default_provider[i];
        bool swapped = fills && strcmp(r->plugin, "NodeResourcesLeastAllocated") == 0;
        translation_add(t, r->point, swapped ? "NodeResourcesMostAllocated" : r->plugin, r->weight);
    }
    if (t->options->default_spread)
        return;
    translation_add(t, POINT_PRE_SCORE, "SelectorSpread", 0);
    translation_add(t, POINT_SCORE, "SelectorSpread", 1);
}

static enum err_code apply_as_plugins(struct arena *a, bool fills, const struct policy_options *options,
                                      struct config *c)
{
    struct translation t;
    c->n_profiles = 1;
    c->profiles = ARENA_NEW_N(a, struct profile_config, 1);
    translation_init(&t, a, options, &c->profiles[0]);
    t.hard_pod_affinity_weight = options->hard_pod_affinity_weight;
    add_plugins(&t, fills);
    translation_finish(&t);
    level_apply(options->level, c);
    return ERR_OK;
}

/* A Policy that says nothing but the level's priorities, with the one that fills nodes if it is to be. */
static enum err_code apply_as_policy(struct arena *a, bool fills, const struct policy_options *options,
                                     struct config *c, struct err *e)
{
    size_t n = 0;
    while (options->level->priorities[n].name)
        n++;
    struct policy_priority *list = ARENA_NEW_N(a, struct policy_priority, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = options->level->priorities[i].name;
        bool swapped = fills && strcmp(name, "LeastRequestedPriority") == 0;
        list[i] = (struct policy_priority){ .name = str_of(swapped ? "MostRequestedPriority" : name),
                                            .weight = options->level->priorities[i].weight };
    }
    struct policy policy = { .priorities = list, .n_priorities = n,
                             .hard_pod_affinity_weight = options->hard_pod_affinity_weight };
    bool fatal = false;
    return policy_apply(a, &policy, options, c, &fatal, e);
}

enum err_code provider_apply(struct arena *a, struct str name, const struct policy_options *options, struct config *c,
                             struct err *e)
{
    bool fills = str_is(name, "ClusterAutoscalerProvider");
    if (!fills && !str_is(name, "DefaultProvider"))
        return err_set(e, ERR_INVALID, "algorithm provider \"%.*s\" is not registered", STR_ARG(name));
    return options->level->provider_as_plugins ? apply_as_plugins(a, fills, options, c)
                                               : apply_as_policy(a, fills, options, c, e);
}
