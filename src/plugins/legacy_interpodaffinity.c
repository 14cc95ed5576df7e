/* InterPodAffinity as the predicate MatchInterPodAffinity and the priority InterPodAffinityPriority: the rules of today,
 * but every refusal has two reasons, the general one and its own, and the range of scores always holds 0. */
#include "plugins/interpodaffinity.h"
#include "plugins/legacy.h"

#define ANY_RULE "node(s) didn't match pod affinity/anti-affinity"

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    return interpodaffinity_plugin.init(p, args, e);
}

static void fini(struct plugin_instance *p)
{
    interpodaffinity_plugin.fini(p);
}

/* The texts of today's verdicts are constants: their address can be the detail. */
static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    struct verdict v = affinity_filter(p, c, n);
    if (verdict_rejects(v))
        return (struct verdict){ v.code, (uintptr_t)v.text, NULL };
    return v;
}

static void reasons(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to)
{
    (void)p;
    (void)c;
    vec_push(&to->texts, ANY_RULE);
    vec_push(&to->texts, (const char *)(uintptr_t)v.detail);
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    int64_t min = 0, max = 0;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        min = scores[i] < min ? scores[i] : min;
        max = scores[i] > max ? scores[i] : max;
    }
    double range = (double)(max - min), most = (double)p->era->score_max;
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = range > 0 ? (int64_t)(most * ((double)(scores[i] - min) / range)) : 0;
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false;
}

const struct plugin legacy_interpodaffinity_plugin = {
    .name = "InterPodAffinity",
    .init = init,
    .fini = fini,
    .pre_filter = affinity_pre_filter,
    .clone_state = affinity_clone_state,
    .add_pod = affinity_add_pod,
    .remove_pod = affinity_remove_pod,
    .filter = filter,
    .filter_block = affinity_filter_block,
    .reasons = reasons,
    .pre_score = affinity_pre_score,
    .score = affinity_score,
    .score_block = affinity_score_block,
    .normalize = normalize,
    .needs_feasible = needs_feasible,
};
