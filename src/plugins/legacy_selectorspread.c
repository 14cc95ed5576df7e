/* SelectorSpread: the pods of one service or controller go to different nodes and zones. SelectorSpreadPriority and, by
 * another name, ServiceSpreadingPriority. Upstream: plugins/selectorspread, v1.20.
 *
 * A node's raw score is the number of such pods on it. Where nodes have zones, two thirds of the result are the zone's. */
#include "plugins/legacy.h"

struct data {
    sym zone, region, zone_beta, region_beta;
};

/* A region and a zone; both SYM_EMPTY: none. */
struct zone {
    sym region, zone;
    int64_t n_pods;
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct data *d = mem_alloc(sizeof(*d));
    d->zone = sym_intern_static(p->syms, STR("topology.kubernetes.io/zone"));
    d->region = sym_intern_static(p->syms, STR("topology.kubernetes.io/region"));
    d->zone_beta = sym_intern_static(p->syms, STR("failure-domain.beta.kubernetes.io/zone"));
    d->region_beta = sym_intern_static(p->syms, STR("failure-domain.beta.kubernetes.io/region"));
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

/* A pod with spread constraints of its own is left to these. */
static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    if (c->pod->n_spread)
        return SKIP;
    struct matcher *selector = ARENA_NEW(c->arena, struct matcher);
    *selector = legacy_selector(p, c->objects, c->arena, c->pod);
    c->score_state[p->index] = selector;
    return PASS;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    return legacy_count_pods(n, c->pod->meta.ns, CYCLE_SCORE_STATE(p, c, struct matcher), p->syms);
}

static bool uniform_score(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score)
{
    *ret_score = p->era->score_max;
    return matcher_is_empty(CYCLE_SCORE_STATE(p, c, struct matcher));
}

/* The beta label counts even when it is empty. */
static sym label_of(const struct node *node, sym beta, sym now)
{
    sym value = label_set_get(node->meta.labels, beta);
    if (value == SYM_NONE)
        value = label_set_get(node->meta.labels, now);
    return value == SYM_NONE ? SYM_EMPTY : value;
}

/* The zone of each feasible node by index in *ret_zones; UINT32_MAX: none. */
static uint32_t find_zones(const struct plugin_instance *p, struct cycle *c, const int64_t *counts, struct zone *zones,
                           uint32_t *ret_zone_of)
{
    const struct data *d = p->data;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        const struct node *node = c->cache->rows.at[c->feasible[i]].node;
        struct zone z = { label_of(node, d->region_beta, d->region), label_of(node, d->zone_beta, d->zone), 0 };
        ret_zone_of[i] = UINT32_MAX;
        if (z.region == SYM_EMPTY && z.zone == SYM_EMPTY)
            continue;
        uint32_t k = 0;
        while (k < n && (zones[k].region != z.region || zones[k].zone != z.zone))
            k++;
        if (k == n)
            zones[n++] = z;
        zones[k].n_pods += counts[i];
        ret_zone_of[i] = k;
    }
    return n;
}

static double part(double most, int64_t max, int64_t count)
{
    return max > 0 ? most * ((double)(max - count) / (double)max) : most;
}

static void normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    const double zone_weighting = 2.0 / 3.0;
    double most = (double)p->era->score_max;
    struct zone *zones = arena_alloc(c->arena, c->n_feasible * sizeof(*zones));
    uint32_t *zone_of = arena_alloc(c->arena, c->n_feasible * sizeof(*zone_of));
    uint32_t n_zones = find_zones(p, c, scores, zones, zone_of);
    int64_t max = 0, max_zone = 0;
    for (uint32_t i = 0; i < c->n_feasible; i++)
        max = scores[i] > max ? scores[i] : max;
    for (uint32_t i = 0; i < n_zones; i++)
        max_zone = zones[i].n_pods > max_zone ? zones[i].n_pods : max_zone;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        double s = part(most, max, scores[i]);
        if (zone_of[i] != UINT32_MAX)
            s = s * (1.0 - zone_weighting) + zone_weighting * part(most, max_zone, zones[zone_of[i]].n_pods);
        scores[i] = (int64_t)s;
    }
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    return legacy_may_be_selected(c);
}

const struct plugin legacy_selectorspread_plugin = {
    .name = "SelectorSpread",
    .init = init,
    .fini = fini,
    .pre_score = pre_score,
    .score = score,
    .normalize = normalize,
    .uniform_score = uniform_score,
    .needs_feasible = needs_feasible,
    .events = (const struct plugin_event[]){ { 0 } },
};
