/* PodTopologySpread of v1.20: the rules of today, but default constraints select by all services and controllers, raw
 * scores are cut off, and without constraints every node is best. */
#include "plugins/legacy.h"
#include "plugins/podtopologyspread.h"

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    enum err_code code = spread_init(p, args, e);
    struct spread_data *d = p->data;
    if (!code) {
        d->selector_of = legacy_selector;
        d->truncates = true;
        d->counts_all = true;
        d->counts_outside = true;
    }
    return code;
}

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    struct verdict v = spread_pre_score(p, c);
    return v.code == V_SKIP ? PASS : v; /* no state: nothing to compare */
}

static bool has_nothing(const struct plugin_instance *p, const struct cycle *c)
{
    return !c->score_state[p->index];
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    return has_nothing(p, c) ? p->era->score_max : spread_score(p, c, n);
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    if (!has_nothing(p, c)) {
        spread_score_block(p, c, scores);
        return;
    }
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = p->era->score_max;
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    if (has_nothing(p, c))
        return;
    spread_normalize(p, c, scores);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = scores[i] * p->era->score_max / SCORE_MAX;
}

static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    *ret_score = p->era->score_max;
    return has_nothing(p, c);
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    return c->pod->n_spread || legacy_may_be_selected(c);
}

const struct plugin legacy_podtopologyspread_plugin = {
    .name = "PodTopologySpread",
    .init = init,
    .fini = spread_fini,
    .pre_filter = spread_pre_filter,
    .clone_state = spread_clone_state,
    .add_pod = spread_add_pod,
    .remove_pod = spread_remove_pod,
    .filter = spread_filter,
    .filter_block = spread_filter_block,
    .pre_score = pre_score,
    .score = score,
    .score_block = score_block,
    .normalize = normalize,
    .uniform_score = uniform_score,
    .needs_feasible = needs_feasible,
};
