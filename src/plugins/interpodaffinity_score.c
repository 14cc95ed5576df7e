/* plugins/interpodaffinity_score.c - preferred terms: those of the pod, and those of pods that are
 * there, required affinity included.
 *
 * Every pod that a term matches adds the term's weight to its domain of the term's topology key,
 * anti-affinity takes it away. A node's raw score is the sum over the keys of what its domains have. */
#include "base/arena_array.h"
#include "plugins/interpodaffinity.h"

struct key_sums {
    struct domains domains;
    int64_t *of_place; /* domains.h */
};

struct score_state {
    struct key_sums *keys;
    size_t n_keys, keys_cap;
    bool any;         /* some term matched a pod in some domain */
    bool has_range;   /* these two are known: */
    int64_t min, max; /* of the scores of all nodes */
};

/* ---- PreScore ---- */

static struct key_sums *sums_of(struct cycle *c, struct score_state *state, sym key)
{
    struct domains d = domains_of(c, key);
    for (size_t i = 0; i < state->n_keys; i++)
        if (state->keys[i].domains.topology == d.topology)
            return &state->keys[i];
    state->keys = arena_array_more(c->arena, state->keys, state->n_keys, &state->keys_cap, sizeof(*state->keys));
    state->keys[state->n_keys] = (struct key_sums){ .domains = d, .of_place = weights_new(c, &d) };
    return &state->keys[state->n_keys++];
}

static void add_own(struct cycle *c, struct score_state *state, const struct affinity_terms *terms, int sign)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct affinity_term *t = &terms->at[i];
        struct count_part part = affinity_own_part(c, t);
        const int32_t *column = counts_matching(c->cache->counts, &part, 1, false);
        struct key_sums *sums = sums_of(c, state, t->topology_key);
        state->any = state->any || domains_have_pod(c, &sums->domains, column);
        weights_add_column(c, &sums->domains, column, sign * (int64_t)t->weight, sums->of_place);
    }
}

/* `fixed_weight` 0: each term has its own. */
static void add_existing(struct cycle *c, struct score_state *state, struct label_set ns_labels, enum term_kind kind,
                         int64_t fixed_weight, int sign)
{
    struct counted_terms terms = counts_terms_for(c->cache->counts, kind, c->pod->meta.labels);
    for (uint32_t i = 0; i < terms.n; i++) {
        const struct counted_term *t = terms.at[i];
        if (!affinity_term_matches(&t->term, c->pod, ns_labels, c->syms))
            continue;
        struct key_sums *sums = sums_of(c, state, t->term.topology_key);
        int64_t weight = fixed_weight ? fixed_weight : t->term.weight;
        state->any = state->any || domains_have_term(c, &sums->domains, t);
        weights_add_term(c, &sums->domains, t, sign * weight, sums->of_place);
    }
}

struct verdict affinity_pre_score(const struct plugin_instance *p, struct cycle *c)
{
    const struct inter_pod_affinity_args *args = p->data;
    const struct pod_affinity *own = affinity_of(c->pod);
    bool has_own = own->preferred.n || own->preferred.error || own->preferred_anti.n || own->preferred_anti.error;
    if (args->ignore_preferred_terms_of_existing_pods && !has_own)
        return SKIP;
    const char *error = affinity_error(c->arena, c->pod);
    if (error)
        return verdict_printf(c, V_ERROR, "failed to parse pod: %s", error);
    struct label_set ns_labels = affinity_namespace_labels(c->objects, c->syms, c->pod->meta.ns);
    struct score_state *state = ARENA_NEW(c->arena, struct score_state);
    add_own(c, state, &own->preferred, 1);
    add_own(c, state, &own->preferred_anti, -1);
    if (args->hard_pod_affinity_weight > 0)
        add_existing(c, state, ns_labels, TERM_REQUIRED, args->hard_pod_affinity_weight, 1);
    add_existing(c, state, ns_labels, TERM_PREFERRED, 0, 1);
    add_existing(c, state, ns_labels, TERM_PREFERRED_ANTI, 0, -1);
    if (!state->any)
        return SKIP;
    c->score_state[p->index] = state;
    return PASS;
}

/* ---- Score ---- */

int64_t affinity_score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct score_state *state = CYCLE_SCORE_STATE(p, c, struct score_state);
    int64_t score = 0;
    for (size_t i = 0; i < state->n_keys; i++)
        score += state->keys[i].of_place[domains_place(&state->keys[i].domains, n->id)];
    return score;
}

/* Adds a key's sums to the scores, or writes them; tells their range on the way. Inlined, so that the
 * two choices are made outside of the loop. */
static inline __attribute__((always_inline)) void add_sums(const struct cycle *c, struct score_state *state,
                                                           const struct key_sums *sums, bool is_first, bool by_row,
                                                           int64_t *restrict scores)
{
    const uint32_t *restrict of_row = sums->domains.topology->of_row;
    const int64_t *restrict of_place = sums->of_place;
    const node_id *restrict feasible = c->feasible;
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        int64_t score = of_place[by_row ? feasible[i] : of_row[feasible[i]]] + (is_first ? 0 : scores[i]);
        scores[i] = score;
        min = score < min ? score : min;
        max = score > max ? score : max;
    }
    state->min = min;
    state->max = max;
}

void affinity_score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    struct score_state *state = CYCLE_SCORE_STATE(p, c, struct score_state);
    for (size_t i = 0; i < state->n_keys; i++) {
        const struct key_sums *sums = &state->keys[i];
        if (i == 0 && sums->domains.by_row)
            add_sums(c, state, sums, true, true, scores);
        else if (i == 0)
            add_sums(c, state, sums, true, false, scores);
        else
            add_sums(c, state, sums, false, sums->domains.by_row, scores);
    }
    state->has_range = true;
}

/* ---- Normalize ---- */

static void find_range(const struct cycle *c, const int64_t *scores, struct score_state *state)
{
    state->min = INT64_MAX;
    state->max = INT64_MIN;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        state->min = scores[i] < state->min ? scores[i] : state->min;
        state->max = scores[i] > state->max ? scores[i] : state->max;
    }
    state->has_range = true;
}

static int64_t scaled(int64_t above_min, int64_t range)
{
    return (int64_t)((double)SCORE_MAX * ((double)above_min / (double)range)); /* in this order, then cut off */
}

void affinity_normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    struct score_state *state = CYCLE_SCORE_STATE(p, c, struct score_state);
    if (!state->has_range)
        find_range(c, scores, state);
    int64_t min = state->min, range = c->n_feasible ? state->max - min : 0;
    if (range == 0) {
        for (uint32_t i = 0; i < c->n_feasible; i++)
            scores[i] = 0;
        return;
    }
    if (range >= c->n_feasible) {
        for (uint32_t i = 0; i < c->n_feasible; i++)
            scores[i] = scaled(scores[i] - min, range);
        return;
    }
    /* Fewer distinct values than nodes: divide once a value. */
    int64_t *table = arena_alloc(c->arena, ((size_t)range + 1) * sizeof(*table));
    for (int64_t i = 0; i <= range; i++)
        table[i] = scaled(i, range);
    for (uint32_t i = 0; i < c->n_feasible; i++)
        scores[i] = table[scores[i] - min];
}
