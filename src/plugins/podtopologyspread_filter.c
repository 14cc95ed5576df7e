/* plugins/podtopologyspread_filter.c - hard constraints: no domain may have more than maxSkew pods
 * above the emptiest.
 *
 * PreFilter sums the matching pods by domain. Copies of the state share these sums: a copy sees changes
 * on one node only, so it holds that node and one difference a constraint. The smallest sum with that
 * one domain changed follows from the two smallest sums of the original. */
#include "plugins/podtopologyspread.h"

#define SKEWED "node(s) didn't match pod topology spread constraints"
#define MISSING_LABEL SKEWED " (missing required label)"

/* Sums of one constraint, by place (domains.h). */
struct sums {
    const int32_t *of_place; /* 0 for a place that does not count */
    uint8_t *present;        /* by place: counts; NULL: all that have nodes do */
    uint32_t n_present;
    int64_t min;             /* over the places that count */
    bool ranked;             /* the two below are known */
    uint32_t lowest;         /* place of the smallest sum */
    int64_t min_of_others;   /* the smallest without that one; INT64_MAX: there is no other */
};

struct hard_base {
    uint32_t n;
    struct spread *spreads;
    struct sums *sums;
    bool *self_matches;
    bool counts_outside; /* spread_data */
};

struct hard_state {
    struct hard_base *base;
    node_id node;    /* the one that pods were added to and removed from; NODE_NONE: none yet */
    int64_t *deltas; /* by constraint; NULL while node is NODE_NONE */
};

/* ---- PreFilter ---- */

static bool counts_here(const struct spread *s, const struct sums *sums, uint32_t place)
{
    return sums->present ? sums->present[place] : domains_has_nodes(&s->domains, place);
}

static void mark_present(struct cycle *c, const struct spread *s, struct sums *sums)
{
    const struct domains *d = &s->domains;
    sums->present = marks_new(c, d);
    for (node_id base = 0; base < c->cache->col.n_rows; base += 64)
        for (uint64_t todo = s->rows[base / 64]; todo; todo &= todo - 1)
            sums->present[domains_place(d, base + (node_id)__builtin_ctzll(todo))] = 1;
    if (!d->by_row)
        sums->present[0] = 0;
    for (uint32_t place = 0; place < d->n_places; place++)
        sums->n_present += sums->present[place];
}

/* Of all rows with a node, each a domain. */
static int32_t min_by_row(const uint32_t *restrict of_row, const int32_t *restrict sums, uint32_t n_rows)
{
    int32_t min = INT32_MAX;
    for (uint32_t row = 0; row < n_rows; row++) {
        int32_t sum = of_row[row] ? sums[row] : INT32_MAX;
        min = sum < min ? sum : min;
    }
    return min;
}

static int32_t min_of_present(const struct spread *s, const struct sums *sums)
{
    int32_t min = INT32_MAX; /* as upstream; with no domain, minDomains makes it 0 */
    for (uint32_t place = 0; place < s->domains.n_places; place++)
        if (counts_here(s, sums, place) && sums->of_place[place] < min)
            min = sums->of_place[place];
    return min;
}

/* Domains that do not count keep no pods. */
static const int32_t *drop_absent(struct cycle *c, const struct domains *d, const struct sums *sums)
{
    int32_t *own = arena_alloc(c->arena, d->n_places * sizeof(*own));
    for (uint32_t place = 0; place < d->n_places; place++)
        own[place] = sums->present[place] ? sums->of_place[place] : 0;
    return own;
}

static struct sums sum_up(struct cycle *c, const struct spread *s, bool counts_outside)
{
    const struct domains *d = &s->domains;
    struct tally tally = { 0 };
    if (s->counts)
        tally_column(c, d, s->counts, counts_outside ? NULL : s->rows, &tally);
    tally_finish(c, d, &tally);
    struct sums sums = { .of_place = tally.n, .n_present = d->topology->by_value.n };
    if (s->rows) {
        sums.n_present = 0;
        mark_present(c, s, &sums);
        if (counts_outside)
            sums.of_place = drop_absent(c, d, &sums);
    }
    sums.min = d->by_row && !s->rows ? min_by_row(d->topology->of_row, sums.of_place, d->n_places)
                                     : min_of_present(s, &sums);
    return sums;
}

struct verdict spread_pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    struct spread_list list;
    const char *error = spread_constraints(p, c->objects, c->arena, c->pod, false, &list);
    if (error)
        return verdict_printf(c, V_ERROR, "get constraints from pod: %s", error);
    if (list.n == 0)
        return SKIP;
    struct hard_base *base = ARENA_NEW(c->arena, struct hard_base);
    base->n = list.n;
    base->counts_outside = ((const struct spread_data *)p->data)->counts_outside;
    base->spreads = spread_compile(p, c, &list, true);
    base->sums = arena_alloc(c->arena, list.n * sizeof(*base->sums));
    base->self_matches = arena_alloc(c->arena, list.n * sizeof(*base->self_matches));
    for (uint32_t i = 0; i < list.n; i++) {
        base->sums[i] = sum_up(c, &base->spreads[i], base->counts_outside);
        base->self_matches[i] = matcher_matches(&list.at[i].selector, c->pod->meta.labels, p->syms);
    }
    struct hard_state *state = ARENA_NEW(c->arena, struct hard_state);
    *state = (struct hard_state){ .base = base, .node = NODE_NONE };
    c->state[p->index] = state;
    return PASS;
}

/* ---- Pods added and removed ---- */

void *spread_clone_state(const struct plugin_instance *p, struct cycle *c, const void *state)
{
    (void)p;
    const struct hard_state *from = state;
    struct hard_state *copy = arena_alloc(c->arena, sizeof(*copy));
    *copy = *from;
    if (from->deltas) {
        copy->deltas = arena_alloc(c->arena, from->base->n * sizeof(*copy->deltas));
        memcpy(copy->deltas, from->deltas, from->base->n * sizeof(*copy->deltas));
    }
    return copy;
}

/* As upstream this also counts pods that are being deleted, and those that {} selects. */
static void change(const struct plugin_instance *p, struct cycle *c, struct hard_state *state, const struct pod *pod,
                   const struct node_view *on, int by)
{
    struct hard_base *base = state->base;
    if (pod->meta.ns != c->pod->meta.ns || !spread_has_all_keys(base->spreads, base->n, on->id))
        return;
    if (!state->deltas)
        state->deltas = ARENA_NEW_N(c->arena, int64_t, base->n);
    assert(state->node == NODE_NONE || state->node == on->id);
    state->node = on->id;
    for (uint32_t i = 0; i < base->n; i++) {
        const struct spread *s = &base->spreads[i];
        bool included = !s->rows || (base->counts_outside ? base->sums[i].present[domains_place(&s->domains, on->id)]
                                                          : bitset_test(s->rows, on->id));
        if (included && matcher_matches(&s->rule->selector, pod->meta.labels, p->syms))
            state->deltas[i] += by;
    }
}

void spread_add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                    const struct node_view *on)
{
    change(p, c, state, pod, on, 1);
}

void spread_remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                       const struct node_view *on)
{
    change(p, c, state, pod, on, -1);
}

/* ---- Filter ---- */

static void rank(const struct spread *s, struct sums *sums)
{
    int64_t lowest = INT64_MAX;
    sums->min_of_others = INT64_MAX;
    for (uint32_t place = 0; place < s->domains.n_places; place++) {
        if (!counts_here(s, sums, place))
            continue;
        int64_t sum = sums->of_place[place];
        if (sum < lowest) {
            sums->min_of_others = lowest;
            lowest = sum;
            sums->lowest = place;
        } else if (sum < sums->min_of_others) {
            sums->min_of_others = sum;
        }
    }
    sums->ranked = true;
}

/* The smallest sum when the one of `changed`, a place that counts, is `now`. */
static int64_t min_with(const struct spread *s, struct sums *sums, uint32_t changed, int64_t now)
{
    if (!sums->ranked)
        rank(s, sums);
    int64_t others = sums->lowest == changed ? sums->min_of_others : sums->of_place[sums->lowest];
    return now < others ? now : others;
}

/* Whether the constraint lets the pod into the domain. */
static bool fits(const struct hard_state *state, uint32_t i, uint32_t place)
{
    const struct spread *s = &state->base->spreads[i];
    struct sums *sums = &state->base->sums[i];
    int64_t here = sums->of_place[place], min = sums->min;
    if (state->deltas && state->deltas[i]) {
        uint32_t changed = domains_place(&s->domains, state->node);
        int64_t now = sums->of_place[changed] + state->deltas[i];
        here = place == changed ? now : here;
        min = min_with(s, sums, changed, now);
    }
    if ((int64_t)sums->n_present < s->rule->min_domains)
        min = 0;
    return here + state->base->self_matches[i] - min <= s->rule->max_skew;
}

struct verdict spread_filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct hard_state *state = CYCLE_STATE(p, c, struct hard_state);
    for (uint32_t i = 0; i < state->base->n; i++) {
        const struct domains *d = &state->base->spreads[i].domains;
        if (!d->topology->of_row[n->id])
            return verdict_text(V_UNRESOLVABLE, MISSING_LABEL);
        if (!fits(state, i, domains_place(d, n->id)))
            return verdict_text(V_UNSCHEDULABLE, SKEWED);
    }
    return PASS;
}

static uint8_t mark_above(const int32_t *restrict sums, uint32_t n, int32_t most, uint8_t *restrict marks)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t above = sums[i] > most;
        marks[i] = above;
        any |= above;
    }
    return any;
}

/* Marks the domains that are too full; returns whether there are any. Only for a state without changes. */
static bool mark_full(const struct hard_state *state, uint32_t i, uint8_t *marks)
{
    const struct spread *s = &state->base->spreads[i];
    const struct sums *sums = &state->base->sums[i];
    int64_t min = (int64_t)sums->n_present < s->rule->min_domains ? 0 : sums->min;
    int64_t most = min + s->rule->max_skew - state->base->self_matches[i];
    if (most >= INT32_MAX)
        return false;
    return mark_above(sums->of_place, s->domains.n_places, most < INT32_MIN ? INT32_MIN : (int32_t)most, marks);
}

void spread_filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    const struct hard_state *state = CYCLE_STATE(p, c, struct hard_state);
    assert(!state->deltas);
    for (uint32_t i = 0; i < state->base->n; i++) {
        const struct domains *d = &state->base->spreads[i].domains;
        uint8_t *marks = marks_new(c, d);
        bool drops_some = mark_full(state, i, marks);
        if (!topology_covers_all(c->cache->topology, d->topology)) {
            marks[0] = 1; /* no domain */
            drops_some = true;
        }
        if (drops_some)
            marks_drop(c, d, marks, alive);
    }
}
