/* DynamicResources: devices claimed by pods. berth does not allocate devices yet: a pod that claims any
 * is refused with a reason that says so, and every other pod passes as upstream lets it pass. Points:
 * PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind. Upstream:
 * plugins/dynamicresources, v1.36. */
#include "plugins/plugins.h"

#define NO_STATE "not found"
#define NOT_YET "pod uses spec.resourceClaims, which this scheduler does not allocate yet"

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)p;
    (void)ret_names;
    bool claims = c->pod->claims && c->pod->claims->n;
    return claims ? verdict_text(V_UNRESOLVABLE, NOT_YET) : SKIP;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return PASS;
}

static struct verdict pre_enqueue(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    (void)c;
    return PASS; /* claims are refused at PreFilter, where the reason is seen */
}

/* As upstream: without its own PreFilter, because the profile or an earlier plugin left it out, the state is not found. */
static bool has_state(const struct plugin_instance *p, const struct cycle *c)
{
    return c->pre_filter_ran >> p->index & 1;
}

static struct verdict nothing_to_reserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    return has_state(p, c) ? PASS : verdict_text(V_ERROR, NO_STATE);
}

static struct verdict nothing_to_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    return has_state(p, c) ? SKIP : verdict_text(V_ERROR, NO_STATE);
}

static struct verdict post_filter(const struct plugin_instance *p, struct cycle *c)
{
    if (!has_state(p, c))
        return verdict_text(V_ERROR, NO_STATE);
    bool claims = c->pod->claims && c->pod->claims->n;
    return verdict_text(V_UNSCHEDULABLE, claims ? "still not schedulable" : "no new claims to deallocate");
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    (void)p;
    (void)c;
    (void)n;
    return 0;
}

static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    (void)p;
    (void)c;
    *ret_score = 0;
    return true;
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    (void)p;
    memset(scores, 0, c->n_feasible * sizeof(*scores));
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)c;
    (void)at;
    return missing == POINT_PRE_FILTER ? NO_STATE : NULL;
}

const struct plugin dynamicresources_plugin = {
    .name = "DynamicResources",
    .pre_enqueue = pre_enqueue,
    .pre_filter = pre_filter,
    .filter = filter,
    .post_filter = post_filter,
    .repeatable_post_filter = true,
    .score = score,
    .score_block = score_block,
    .uniform_score = uniform_score,
    .fails_without = fails_without,
    .reserve = nothing_to_reserve,
    .pre_bind_pre_flight = nothing_to_bind,
    .pre_bind = nothing_to_bind,
    .filter_key = class_key_nothing,
    .events = (const struct plugin_event[]){
        { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL | ACT_UPDATE_NODE_ALLOCATABLE, NULL },
        { RES_DEVICE_CLASS, ACT_ADD | ACT_UPDATE, NULL },
        { RES_RESOURCE_SLICE, ACT_ADD | ACT_UPDATE, NULL },
        { 0 } },
};
