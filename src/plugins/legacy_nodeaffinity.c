/* NodeAffinity as the predicate MatchNodeSelector and the priority NodeAffinityPriority: the rules of today without a
 * PreFilter, in the words of v1.20. */
#include "plugins/legacy.h"

#define NOT_WANTED "node(s) didn't match Pod's node affinity"

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    return pod_wants_node(c->pod, n->node, p->syms) ? PASS : verdict_text(V_UNRESOLVABLE, NOT_WANTED);
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    nodeaffinity_plugin.filter_key(p, c, key);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct pod_node_affinity *a = c->pod->node_affinity;
    int64_t sum = 0;
    for (uint32_t i = 0; a && i < a->n_preferred; i++)
        if (node_rule_matches(&a->preferred[i].term, n->node->meta.labels, n->node->name, p->syms))
            sum += a->preferred[i].weight;
    return sum;
}

/* Without preferences every node gets the same. */
static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    (void)p;
    *ret_score = 0;
    return !(c->pod->flags & POD_HAS_PREFERRED_NODE_AFFINITY);
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false;
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    legacy_normalize_by_max(scores, c->n_feasible, p->era->score_max, false);
}

const struct plugin legacy_nodeaffinity_plugin = {
    .name = "NodeAffinity",
    .filter = filter,
    .filter_key = filter_key,
    .score = score,
    .normalize = normalize,
    .uniform_score = uniform_score,
    .needs_feasible = needs_feasible,
};
