/* TaintToleration: hard taints keep pods away that do not tolerate them; soft ones cost points.
 * Points: Filter, PreScore, Score, Normalize. Upstream: plugins/tainttoleration, v1.36.
 *
 * Nodes share few distinct lists of taints, so the block forms decide once a list. */
#include "plugins/plugins.h"

#define UNTOLERATED "node(s) had untolerated taint(s)"

static bool compare_gate(const struct plugin_instance *p)
{
    return p->features->taint_toleration_comparison_operators;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    bool fits = tolerates_all_hard(c->pod, n->node->taints, n->node->n_taints, p->syms, compare_gate(p));
    return fits ? PASS : verdict_text(V_UNRESOLVABLE, UNTOLERATED);
}

static void drop_rows_with(const struct columns *col, uint32_t taint_set, uint64_t *alive)
{
    for (node_id row = 0; row < col->n_rows; row++)
        if (col->taint_set[row] == taint_set)
            bitset_clear(alive, row);
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    const struct cache *cache = c->cache;
    for (uint32_t i = 1; i < cache->taint_sets.n; i++) {
        const struct taint_set *set = &cache->taint_sets.at[i];
        if (set->n_rows && !tolerates_all_hard(c->pod, set->taints, set->n_taints, p->syms, compare_gate(p)))
            drop_rows_with(&cache->col, i, alive);
    }
}

static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    class_key_count(key, c->pod->n_tolerations);
    for (uint32_t i = 0; i < c->pod->n_tolerations; i++) {
        const struct toleration_form *t = &c->pod->tolerations[i];
        class_key_sym(key, c, t->key);
        class_key_sym(key, c, t->value);
        class_key_num(key, t->op << 8 | t->effect);
    }
}

/* Soft taints that no toleration for soft or any taints covers. */
static int64_t count_soft(const struct plugin_instance *p, const struct pod *pod, const struct taint_form *taints,
                          uint32_t n_taints)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < n_taints; i++) {
        if (taints[i].effect != EFFECT_PREFER_NO_SCHEDULE)
            continue;
        bool covered = false;
        for (uint32_t k = 0; k < pod->n_tolerations && !covered; k++) {
            const struct toleration_form *t = &pod->tolerations[k];
            bool soft = t->effect == EFFECT_ANY || t->effect == EFFECT_PREFER_NO_SCHEDULE;
            covered = soft && tolerates(t, &taints[i], p->syms, compare_gate(p));
        }
        n += !covered;
    }
    return n;
}

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    const struct cache *cache = c->cache;
    int64_t *of_set = arena_alloc(c->arena, cache->taint_sets.n * sizeof(*of_set));
    for (uint32_t i = 0; i < cache->taint_sets.n; i++) {
        const struct taint_set *set = &cache->taint_sets.at[i];
        of_set[i] = i && set->n_rows ? count_soft(p, c->pod, set->taints, set->n_taints) : 0;
    }
    c->score_state[p->index] = of_set;
    return PASS;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    return count_soft(p, c->pod, n->node->taints, n->node->n_taints);
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    const int64_t *of_set = CYCLE_SCORE_STATE(p, c, int64_t);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = of_set[c->cache->col.taint_set[c->feasible[i]]];
}

/* No soft taint that counts: everybody is best. */
static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    const int64_t *of_set = CYCLE_SCORE_STATE(p, c, int64_t);
    for (uint32_t i = 0; i < c->cache->taint_sets.n; i++)
        if (of_set[i])
            return false;
    *ret_score = SCORE_MAX;
    return true;
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false;
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    (void)p;
    normalize_by_max(scores, c->n_feasible, true);
}

static bool tolerates_node(const struct hint_context *h, const struct pod *pod, const struct node *node)
{
    return tolerates_all_hard(pod, node->taints, node->n_taints, h->syms, compare_gate(h->plugin));
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    const struct node *old = event->old_object, *now = event->new_object;
    bool was_fine = old && tolerates_node(h, waiting, old);
    return !was_fine && tolerates_node(h, waiting, now) ? HINT_QUEUE : HINT_SKIP;
}

static enum hint toleration_changed(const struct hint_context *h, const struct pod *waiting,
                                    const struct cluster_event *event)
{
    (void)h;
    const struct pod *now = event->new_object;
    return strcmp(now->meta.uid, waiting->meta.uid) == 0 ? HINT_QUEUE : HINT_SKIP;
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)c;
    (void)at;
    return missing == POINT_PRE_SCORE ? "failed to read \"PreScoreTaintToleration\" from cycleState: not found" : NULL;
}

const struct plugin tainttoleration_plugin = {
    .name = "TaintToleration",
    .filter = filter,
    .filter_block = filter_block,
    .pre_score = pre_score,
    .score = score,
    .score_block = score_block,
    .normalize = normalize,
    .fails_without = fails_without,
    .uniform_score = uniform_score,
    .needs_feasible = needs_feasible,
    .filter_key = filter_key,
    .events = (const struct plugin_event[]){ { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_TAINT, node_changed },
                                             { RES_POD, ACT_UPDATE_POD_TOLERATION, toleration_changed },
                                             { 0 } },
};
