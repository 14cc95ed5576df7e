/* TaintToleration as the predicate PodToleratesNodeTaints and the priority TaintTolerationPriority: the rules of today,
 * but a refusal names the first taint that is not tolerated. A verdict's detail is that taint: key and value. */
#include "plugins/legacy.h"

static bool tolerated(const struct pod *pod, const struct taint_form *taint, const struct sym_table *syms)
{
    for (uint32_t i = 0; i < pod->n_tolerations; i++)
        if (tolerates(&pod->tolerations[i], taint, syms, false))
            return true;
    return false;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    for (uint32_t i = 0; i < n->node->n_taints; i++) {
        const struct taint_form *taint = &n->node->taints[i];
        bool hard = taint->effect == EFFECT_NO_SCHEDULE || taint->effect == EFFECT_NO_EXECUTE;
        if (hard && !tolerated(c->pod, taint, p->syms))
            return (struct verdict){ V_UNRESOLVABLE, (uint64_t)taint->key << 32 | taint->value, NULL };
    }
    return PASS;
}

static void reasons(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to)
{
    (void)c;
    vec_push(&to->texts, arena_printf(to->arena, "node(s) had taint {%s: %s}, that the pod didn't tolerate",
                                      sym_text(p->syms, (sym)(v.detail >> 32)).p, sym_text(p->syms, (sym)v.detail).p));
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    tainttoleration_plugin.filter_block(p, c, alive);
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    tainttoleration_plugin.filter_key(p, c, key);
}

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    return tainttoleration_plugin.pre_score(p, c);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    return tainttoleration_plugin.score(p, c, n);
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    tainttoleration_plugin.score_block(p, c, scores);
}

static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    bool uniform = tainttoleration_plugin.uniform_score(p, c, ret_score);
    if (uniform)
        *ret_score = p->era->score_max;
    return uniform;
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false;
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    legacy_normalize_by_max(scores, c->n_feasible, p->era->score_max, true);
}

const struct plugin legacy_tainttoleration_plugin = {
    .name = "TaintToleration",
    .filter = filter,
    .filter_block = filter_block,
    .filter_key = filter_key,
    .reasons = reasons,
    .pre_score = pre_score,
    .score = score,
    .score_block = score_block,
    .normalize = normalize,
    .uniform_score = uniform_score,
    .needs_feasible = needs_feasible,
};
