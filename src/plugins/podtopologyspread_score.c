/* plugins/podtopologyspread_score.c - soft constraints: the fewer matching pods in a node's domains,
 * the better.
 *
 * A node's raw score is a sum over the constraints of count * weight + maxSkew - 1, in doubles and in
 * the order of the constraints, rounded at the end. The weight is ln(number of domains + 2), so that
 * constraints with many small domains count as much as those with few large ones. For the host name,
 * each node is a domain and its own count is taken. */
#include <math.h>

#include "base/float.h"
#include "plugins/podtopologyspread.h"

struct soft {
    struct spread spread;
    double weight, skew;  /* skew: what each domain gets, maxSkew - 1 */
    const int32_t *sums;  /* by place (domains.h); NULL for the host name */
};

struct soft_state {
    uint32_t n;
    struct soft *softs;
    uint64_t *ignored; /* rows that lack a key and score 0; NULL: none */
    uint32_t n_ignored;
    bool truncates;    /* spread_data */
    bool has_range;    /* these two are known: */
    int64_t min, max;  /* of the scores of all nodes that are not ignored */
};

/* ---- PreScore ---- */

/* Only the system's defaults are for nodes too that lack a key. */
static bool requires_all_keys(const struct plugin_instance *p, const struct pod *pod)
{
    const struct spread_data *d = p->data;
    return pod->n_spread > 0 || !d->system_defaults;
}

static void find_ignored(struct cycle *c, const struct spread *spreads, uint32_t n, struct soft_state *state)
{
    bool all = true;
    for (uint32_t i = 0; i < n; i++)
        all &= topology_covers_all(c->cache->topology, spreads[i].domains.topology);
    if (all)
        return;
    state->ignored = ARENA_NEW_N(c->arena, uint64_t, bitset_words(c->cache->col.n_rows));
    for (uint32_t i = 0; i < c->n_feasible; i++)
        if (!spread_has_all_keys(spreads, n, c->feasible[i])) {
            bitset_set(state->ignored, c->feasible[i]);
            state->n_ignored++;
        }
}

static bool is_ignored(const struct soft_state *state, node_id row)
{
    return state->ignored && bitset_test(state->ignored, row);
}

/* The domain of nodes whose label is empty. A missing label counts as an empty one. */
static uint32_t empty_domain(const struct topology_key *k)
{
    union map_value *found = map_u64_find(&k->by_value, SYM_EMPTY);
    return found ? (uint32_t)found->num : 0;
}

/* Distinct values of the label among the nodes that are scored; no value is one. */
static uint32_t count_domains(struct cycle *c, const struct soft_state *state, const struct topology_key *k)
{
    uint32_t empty = empty_domain(k);
    if (!state->ignored && c->n_feasible == c->cache->order.n) {
        bool some_lack_it = !topology_covers_all(c->cache->topology, k);
        return k->by_value.n + (some_lack_it && !empty);
    }
    uint8_t *seen = ARENA_NEW_N(c->arena, uint8_t, k->domains.n);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        if (!is_ignored(state, c->feasible[i]))
            seen[k->of_row[c->feasible[i]]] = 1;
    if (empty) {
        seen[empty] |= seen[0];
        seen[0] = 0;
    }
    uint32_t n = 0;
    for (size_t d = 0; d < k->domains.n; d++)
        n += seen[d];
    return n;
}

/* Pods on nodes that lack the key. */
static int32_t count_missing(const struct cycle *c, const struct spread *s)
{
    int32_t n = 0;
    const uint64_t *rows = s->rows ? s->rows : c->cache->col.listed;
    for (node_id row = 0; s->counts && row < c->cache->col.n_rows; row++)
        if (bitset_test(rows, row) && !s->domains.topology->of_row[row])
            n += s->counts[row];
    return n;
}

static const int32_t *sum_up(struct cycle *c, const struct spread *s, bool all_keys)
{
    const struct topology_key *k = s->domains.topology;
    struct tally tally = { 0 };
    if (s->counts)
        tally_column(c, &s->domains, s->counts, s->rows, &tally);
    tally_finish(c, &s->domains, &tally);
    uint32_t empty = empty_domain(k);
    if (empty && !all_keys && !topology_covers_all(c->cache->topology, k))
        tally.own[empty] += count_missing(c, s); /* a key that some nodes lack is never by row: the table is ours */
    return tally.n;
}

struct verdict spread_pre_score(const struct plugin_instance *p, struct cycle *c)
{
    struct spread_list list;
    const char *error = spread_constraints(p, c->objects, c->arena, c->pod, true, &list);
    if (error)
        return verdict_printf(c, V_ERROR, "calculating preScoreState: %s", error);
    if (list.n == 0 || c->cache->order.n == 0)
        return SKIP;
    bool all_keys = requires_all_keys(p, c->pod);
    const struct spread *spreads = spread_compile(p, c, &list, all_keys);
    struct soft_state *state = ARENA_NEW(c->arena, struct soft_state);
    state->n = list.n;
    state->truncates = ((const struct spread_data *)p->data)->truncates;
    state->softs = ARENA_NEW_N(c->arena, struct soft, list.n);
    if (all_keys)
        find_ignored(c, spreads, list.n, state);
    for (uint32_t i = 0; i < list.n; i++) {
        state->softs[i].spread = spreads[i];
        uint32_t n_domains = spreads[i].is_hostname ? c->n_feasible - state->n_ignored
                                                    : count_domains(c, state, spreads[i].domains.topology);
        state->softs[i].weight = float_log((double)n_domains + 2);
        state->softs[i].skew = (double)((int64_t)list.at[i].max_skew - 1);
        if (!spreads[i].is_hostname)
            state->softs[i].sums = sum_up(c, &spreads[i], all_keys);
    }
    c->score_state[p->index] = state;
    return PASS;
}

/* ---- Score ---- */

/* Half away from zero. Subtracting a double's whole part is exact, so the rest tells the halves apart;
 * the C library's round gives the same and takes several times as long without SSE4.1. Scores stay far
 * below 2^53. */
static int64_t round_half_away(double x)
{
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

static int64_t raw_score(const struct soft_state *state, double sum)
{
    return state->truncates ? (int64_t)sum : round_half_away(sum);
}

/* Pods on the node that count, by looking at them. */
static int64_t count_pods(const struct plugin_instance *p, const struct cycle *c, const struct matcher *selector,
                          const struct node_view *n)
{
    int64_t count = 0;
    bool counts = !matcher_is_empty(selector) || ((const struct spread_data *)p->data)->counts_all;
    for (uint32_t i = 0; i < n->n_pods && counts; i++) {
        const struct pod *pod = node_view_pod(n, i);
        count += pod->meta.ns == c->pod->meta.ns && !(pod->flags & POD_TERMINATING) &&
                 matcher_matches(selector, pod->meta.labels, p->syms);
    }
    return count;
}

/* What a constraint adds to a score. */
static double term(const struct soft *soft, int64_t count)
{
    return (double)count * soft->weight + soft->skew;
}

int64_t spread_score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct soft_state *state = CYCLE_SCORE_STATE(p, c, struct soft_state);
    double score = 0;
    if (is_ignored(state, n->id))
        return 0;
    for (uint32_t i = 0; i < state->n; i++) {
        const struct soft *soft = &state->softs[i];
        const struct spread *s = &soft->spread;
        if (!s->domains.topology->of_row[n->id])
            continue;
        score += term(soft, s->is_hostname ? count_pods(p, c, &s->rule->selector, n)
                                           : soft->sums[domains_place(&s->domains, n->id)]);
    }
    return raw_score(state, score);
}

/* ---- All nodes at once ---- */

static void add_terms(const struct cycle *c, const struct soft *soft, double *restrict sums)
{
    const struct spread *s = &soft->spread;
    const uint32_t *restrict of_row = s->domains.topology->of_row;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        node_id row = c->feasible[i];
        if (!of_row[row])
            continue;
        int32_t on_host = s->counts ? s->counts[row] : 0;
        sums[i] += term(soft, s->is_hostname ? on_host : soft->sums[domains_place(&s->domains, row)]);
    }
}

static void score_each(struct cycle *c, const struct soft_state *state, int64_t *scores)
{
    double *sums = ARENA_NEW_N(c->arena, double, c->n_feasible);
    for (uint32_t i = 0; i < state->n; i++)
        add_terms(c, &state->softs[i], sums);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = is_ignored(state, c->feasible[i]) ? 0 : raw_score(state, sums[i]);
}

/* A score depends on little: the node's domain of one key and how many pods are on its host. Where that
 * is all, there is a table of both. */
struct score_table {
    const struct domains *domains; /* NULL: all constraints are by host name */
    const int32_t *on_host;        /* pods per row; NULL: none counts */
    uint32_t n_places, n_counts;
    int64_t *scores; /* n_counts for each place */
};

enum { SCORE_TABLE_MAX = 4096 };

/* Whether the constraints are of that sort. */
static bool tabulates(const struct cycle *c, const struct soft_state *state, struct score_table *t)
{
    *t = (struct score_table){ .n_places = 1, .n_counts = 1 };
    bool any_hostname = false;
    for (uint32_t i = 0; i < state->n; i++) {
        const struct spread *s = &state->softs[i].spread;
        if (s->is_hostname) {
            bool fits = topology_covers_all(c->cache->topology, s->domains.topology);
            if (!fits || (any_hostname && s->counts != t->on_host))
                return false;
            t->on_host = s->counts;
            any_hostname = true;
        } else {
            if (t->domains && t->domains->topology != s->domains.topology)
                return false;
            t->domains = &s->domains;
            t->n_places = s->domains.n_places;
        }
    }
    return !state->ignored && !(t->domains && t->domains->by_row);
}

static int32_t largest(const int32_t *column, node_id n_rows)
{
    int32_t max = 0;
    for (node_id row = 0; row < n_rows; row++)
        max = column[row] > max ? column[row] : max;
    return max;
}

static int64_t table_score(const struct soft_state *state, uint32_t place, int64_t on_host)
{
    double score = 0;
    for (uint32_t i = 0; i < state->n; i++) {
        const struct soft *soft = &state->softs[i];
        if (soft->spread.is_hostname)
            score += term(soft, on_host);
        else if (place)
            score += term(soft, soft->sums[place]);
    }
    return raw_score(state, score);
}

static bool fill_table(struct cycle *c, const struct soft_state *state, struct score_table *t)
{
    if (t->on_host)
        t->n_counts = (uint32_t)largest(t->on_host, c->cache->col.n_rows) + 1;
    if ((uint64_t)t->n_places * t->n_counts > SCORE_TABLE_MAX)
        return false;
    t->scores = arena_alloc(c->arena, (size_t)t->n_places * t->n_counts * sizeof(*t->scores));
    for (uint32_t place = 0; place < t->n_places; place++)
        for (uint32_t n = 0; n < t->n_counts; n++)
            t->scores[place * t->n_counts + n] = table_score(state, place, n);
    return true;
}

static void score_by_table(const struct cycle *c, struct soft_state *state, const struct score_table *t,
                           int64_t *restrict scores)
{
    const uint32_t *restrict of_row = t->domains ? t->domains->topology->of_row : NULL;
    const int32_t *restrict on_host = t->on_host;
    const int64_t *restrict table = t->scores;
    const node_id *restrict feasible = c->feasible;
    uint32_t n_counts = t->n_counts;
    int64_t min = INT64_MAX, max = 0;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        node_id row = feasible[i];
        uint32_t place = of_row ? of_row[row] : 0, n = on_host ? (uint32_t)on_host[row] : 0;
        int64_t score = table[place * n_counts + n];
        scores[i] = score;
        min = score < min ? score : min;
        max = score > max ? score : max;
    }
    state->min = min;
    state->max = max;
    state->has_range = true;
}

void spread_score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    struct soft_state *state = CYCLE_SCORE_STATE(p, c, struct soft_state);
    struct score_table table;
    if (tabulates(c, state, &table) && fill_table(c, state, &table))
        score_by_table(c, state, &table, scores);
    else
        score_each(c, state, scores);
}

/* ---- Normalize ---- */

static void find_range(const struct cycle *c, const int64_t *scores, struct soft_state *state)
{
    state->min = INT64_MAX;
    state->max = 0;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        if (is_ignored(state, c->feasible[i]))
            continue;
        state->min = scores[i] < state->min ? scores[i] : state->min;
        state->max = scores[i] > state->max ? scores[i] : state->max;
    }
    state->has_range = true;
}

/* The fewest get most: 100 * (max + min - raw) / max, in integers. */
static void scale_each(const struct cycle *c, const struct soft_state *state, int64_t *scores)
{
    int64_t both = state->max + state->min;
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = is_ignored(state, c->feasible[i]) ? 0 : SCORE_MAX * (both - scores[i]) / state->max;
}

/* The same with one division a value instead of a node. */
static void scale_by_table(struct cycle *c, const struct soft_state *state, int64_t *restrict scores)
{
    int64_t min = state->min, max = state->max;
    int64_t *table = arena_alloc(c->arena, (size_t)(max - min + 1) * sizeof(*table));
    for (int64_t i = 0; i <= max - min; i++)
        table[i] = SCORE_MAX * (max - i) / max;
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = table[scores[i] - min];
}

void spread_normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    struct soft_state *state = CYCLE_SCORE_STATE(p, c, struct soft_state);
    if (!state->has_range)
        find_range(c, scores, state);
    if (state->max <= 0) {
        for (uint32_t i = 0; i < c->n_feasible; i++)
            scores[i] = is_ignored(state, c->feasible[i]) ? 0 : SCORE_MAX;
        return;
    }
    if (!state->ignored && state->max - state->min < c->n_feasible)
        scale_by_table(c, state, scores);
    else
        scale_each(c, state, scores);
}
