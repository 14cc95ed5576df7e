/* NodeResourcesBalancedAllocation: nodes whose resources would be used more evenly with the pod get
 * more points. Points: PreScore (skips pods that request none of the resources), Score. Upstream:
 * plugins/noderesources, v1.36. */
#include "plugins/plugins.h"

#include <math.h>

#include "base/arith.h"

#include "plugins/resource_score.h"

struct data {
    struct resource_scorer scorer; /* only its list of resources is used */
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    assert(args);
    (void)e;
    const struct node_resources_balanced_args *a = args;
    struct data *d = mem_zalloc(sizeof(*d));
    struct scoring_strategy strategy = { .resources = a->resources, .n_resources = a->n_resources };
    resource_scorer_init(&d->scorer, p->syms, &strategy);
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    resource_scorer_fini(&d->scorer);
    free(d);
}

static bool wants_any(const struct data *d, const struct resource_query *q)
{
    for (uint32_t i = 0; i < d->scorer.n_resources; i++)
        if (q->want[i])
            return true;
    return false;
}

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    const struct data *d = p->data;
    struct resource_query *q = resource_scorer_prepare(&d->scorer, c, c->pod->requested, false);
    c->score_state[p->index] = q;
    return wants_any(d, q) ? PASS : SKIP;
}

/* A profile without our PreScore: as upstream, it is made up for; NULL: every node gets 0. */
static const struct resource_query *query_of(const struct plugin_instance *p, struct cycle *c)
{
    if (!c->score_state[p->index])
        pre_score(p, c);
    const struct resource_query *q = CYCLE_SCORE_STATE(p, c, struct resource_query);
    bool skips = c->profile->without_pre_score >> p->index & 1 && !wants_any(p->data, q);
    return skips ? NULL : q;
}

/* 100 when all fractions are equal, less the further they are apart. */
static int64_t balance(const double *fractions, uint32_t n)
{
    double deviation = 0;
    if (n == 2) {
        deviation = fabs((fractions[0] - fractions[1]) / 2);
    } else if (n > 2) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += fractions[i];
        double mean = sum / n;
        for (uint32_t i = 0; i < n; i++)
            squares += (fractions[i] - mean) * (fractions[i] - mean);
        deviation = sqrt(squares / n);
    }
    return wrap_double((1 - deviation) * (double)SCORE_MAX);
}

static double fraction(int64_t used, int64_t alloc)
{
    double f = (double)used / (double)alloc;
    return f > 1 ? 1 : f;
}

static int64_t points(const double *with, const double *without, uint32_t n)
{
    return wrap_add(SCORE_MAX / 2, wrap_sub(wrap_add(SCORE_MAX / 2, balance(with, n)), balance(without, n)) / 2);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    const struct resource_query *q = query_of(p, c);
    if (!q)
        return 0;
    uint32_t n_max = d->scorer.n_resources, n_counted = 0;
    struct arena_mark mark = arena_save(c->arena);
    double *with = arena_alloc(c->arena, n_max * sizeof(*with)),
           *without = arena_alloc(c->arena, n_max * sizeof(*with));
    for (uint32_t i = 0; i < n_max; i++) {
        int64_t alloc, used;
        if (!resource_on_node(&d->scorer, q, i, n, &alloc, &used))
            continue;
        with[n_counted] = fraction(wrap_add(used, q->want[i]), alloc);
        without[n_counted++] = fraction(used, alloc);
    }
    int64_t result = points(with, without, n_counted);
    arena_rewind(c->arena, mark);
    return result;
}

/* cpu and memory, as by default. */
static bool plain(const struct resource_scorer *s)
{
    return s->n_resources == 2 && s->resources[0].kind == RESOURCE_CPU && s->resources[1].kind == RESOURCE_MEMORY;
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    const struct data *d = p->data;
    const struct resource_query *q = query_of(p, c);
    const struct columns *col = &c->cache->col;
    bool is_plain = q && plain(&d->scorer);
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        node_id id = c->feasible[i];
        int64_t cpu = col->alloc_milli_cpu[id], memory = col->alloc_memory[id];
        if (is_plain && cpu && memory) {
            int64_t used_cpu = col->used_milli_cpu[id], used_memory = col->used_memory[id];
            double with[2] = { fraction(wrap_add(used_cpu, q->want[0]), cpu),
                               fraction(wrap_add(used_memory, q->want[1]), memory) };
            double without[2] = { fraction(used_cpu, cpu), fraction(used_memory, memory) };
            scores[i] = points(with, without, 2);
        } else {
            struct node_view view = node_view_of(c->cache, id);
            scores[i] = score(p, c, &view);
        }
    }
}

static void score_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    const struct data *d = p->data;
    resource_scorer_key(&d->scorer, c->pod->requested, key);
}

const struct plugin noderesourcesbalanced_plugin = {
    .name = "NodeResourcesBalancedAllocation",
    .init = init,
    .fini = fini,
    .pre_score = pre_score,
    .score = score,
    .score_block = score_block,
    .score_key = score_key,
    .events = (const struct plugin_event[]){ { 0 } },
};
