/* tests/dummy_plugins.c - see dummy_plugins.h. */
#include "tests/dummy_plugins.h"

unsigned dummy_n_live;

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)e;
    p->data = (void *)(uintptr_t)args;
    dummy_n_live++;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    p->data = NULL;
    dummy_n_live--;
}

static struct verdict of_pod(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    (void)c;
    return PASS;
}

static bool less(const struct plugin_instance *p, const struct queued_pod *a, const struct queued_pod *b)
{
    (void)p;
    return a < b;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    return of_pod(p, c);
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)n;
    return of_pod(p, c);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return 0;
}

static struct verdict on_node(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    return of_pod(p, c);
}

static struct verdict permit(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms)
{
    (void)ret_timeout_ms;
    return on_node(p, c, node);
}

static struct verdict placement_generate(const struct plugin_instance *p, struct cycle *c,
                                         struct placements *ret_placements)
{
    (void)ret_placements;
    return of_pod(p, c);
}

static int64_t placement_score(const struct plugin_instance *p, struct cycle *c, const struct placement *placement)
{
    (void)placement;
    return score(p, c, NULL);
}

#define PLUGIN(plugin_name, ...) &(const struct plugin){ .name = plugin_name, .init = init, .fini = fini, __VA_ARGS__ }
#define FILTERS .pre_filter = pre_filter, .filter = filter
#define SCORES .pre_score = of_pod, .score = score

const struct plugin *const dummy_registry[] = {
    PLUGIN("SchedulingGates", .pre_enqueue = of_pod),
    PLUGIN("PrioritySort", .less = less),
    PLUGIN("NodeUnschedulable", .filter = filter),
    PLUGIN("NodeName", .filter = filter),
    PLUGIN("TaintToleration", .filter = filter, SCORES),
    PLUGIN("NodeAffinity", FILTERS, SCORES),
    PLUGIN("NodePorts", FILTERS),
    PLUGIN("NodeResourcesFit", FILTERS, SCORES, .placement_score = placement_score),
    PLUGIN("VolumeRestrictions", FILTERS),
    PLUGIN("NodeVolumeLimits", FILTERS),
    PLUGIN("VolumeBinding", FILTERS, SCORES, .reserve = on_node, .pre_bind = on_node),
    PLUGIN("VolumeZone", FILTERS),
    PLUGIN("PodTopologySpread", FILTERS, SCORES),
    PLUGIN("InterPodAffinity", FILTERS, SCORES),
    PLUGIN("DynamicResources", .pre_enqueue = of_pod, FILTERS, .post_filter = of_pod, .score = score,
           .reserve = on_node, .pre_bind = on_node),
    PLUGIN("DefaultPreemption", .pre_enqueue = of_pod, .post_filter = of_pod),
    PLUGIN("NodeResourcesBalancedAllocation", SCORES),
    PLUGIN("ImageLocality", .score = score),
    PLUGIN("DefaultBinder", .bind = on_node),
    PLUGIN("NodeDeclaredFeatures", FILTERS),
    PLUGIN("GangScheduling", .pre_enqueue = of_pod, .permit = permit),
    PLUGIN("TopologyPlacementGenerator", .placement_generate = placement_generate),
    PLUGIN("PodGroupPodsCount", .placement_score = placement_score),
    NULL,
};
