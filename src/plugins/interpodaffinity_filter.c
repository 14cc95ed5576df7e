/* plugins/interpodaffinity_filter.c - required terms: those of the pod, and the anti-affinity of pods
 * that are there.
 *
 * PreFilter counts pods by topology key and domain, in three tables a key: pods that match all of the
 * pod's affinity terms, pods that match its anti-affinity terms, and pods whose own anti-affinity terms
 * match it. Copies of the state share the tables: a copy sees changes on one node only, so it holds
 * that node and a difference a key. */
#include "base/arena_array.h"
#include "plugins/interpodaffinity.h"

#define NO_AFFINITY "node(s) didn't match pod affinity rules"
#define ANTI_AFFINITY "node(s) didn't match pod anti-affinity rules"
#define EXISTING_ANTI_AFFINITY "node(s) didn't satisfy existing pods anti-affinity rules"

/* Counts of one topology key by place (domains.h). n is NULL when no term of that sort has the key. */
struct key_counts {
    struct domains domains;
    struct tally affinity, anti, existing;
};

/* What changed on a copy's node, for one key. */
struct key_delta {
    const struct topology_key *topology;
    int64_t anti, existing;
};

struct base {
    struct key_counts *keys;
    size_t n_keys, keys_cap;
    struct count_part *required, *anti; /* the pod's terms */
    uint32_t n_required, n_anti;
    bool self_matches;         /* the pod matches all of its own affinity terms */
    bool any_existing;         /* some table `existing` has a count */
    uint32_t n_affinity_pairs; /* pairs of key and domain that the tables `affinity` have counts of */
    struct label_set ns_labels;
};

struct state {
    const struct base *base;
    node_id node;     /* the one that pods were added to and removed from; NODE_NONE: none yet */
    int64_t affinity; /* pods added there that match all affinity terms, less those removed */
    struct key_delta *deltas;
    size_t n_deltas, deltas_cap;
};

/* ---- PreFilter ---- */

static struct key_counts *counts_of(struct cycle *c, struct base *base, sym key)
{
    struct domains d = domains_of(c, key);
    for (size_t i = 0; i < base->n_keys; i++)
        if (base->keys[i].domains.topology == d.topology)
            return &base->keys[i];
    base->keys = arena_array_more(c->arena, base->keys, base->n_keys, &base->keys_cap, sizeof(*base->keys));
    base->keys[base->n_keys] = (struct key_counts){ .domains = d };
    return &base->keys[base->n_keys++];
}

/* Pods on nodes that do not want this pod in their domain. */
static void count_existing(struct cycle *c, struct base *base)
{
    struct counted_terms terms = counts_terms_for(c->cache->counts, TERM_REQUIRED_ANTI, c->pod->meta.labels);
    for (uint32_t i = 0; i < terms.n; i++) {
        const struct counted_term *t = terms.at[i];
        if (!affinity_term_matches(&t->term, c->pod, base->ns_labels, c->syms))
            continue;
        struct key_counts *counts = counts_of(c, base, t->term.topology_key);
        base->any_existing = base->any_existing || domains_have_term(c, &counts->domains, t);
        tally_term(c, &counts->domains, t, &counts->existing);
    }
}

static bool matches_all(const struct count_part *parts, uint32_t n, const struct pod *pod, const struct sym_table *syms)
{
    for (uint32_t i = 0; i < n; i++)
        if (!count_part_matches(&parts[i], pod, syms))
            return false;
    return n > 0;
}

static void count_affinity(struct cycle *c, struct base *base, const struct affinity_terms *terms)
{
    if (terms->n == 0)
        return;
    base->self_matches = matches_all(base->required, base->n_required, c->pod, c->syms);
    const int32_t *column = counts_matching(c->cache->counts, base->required, base->n_required, false);
    for (uint32_t i = 0; i < terms->n; i++) {
        struct key_counts *counts = counts_of(c, base, terms->at[i].topology_key);
        if (counts->affinity.n)
            continue; /* the key of an earlier term: the same pods */
        tally_column(c, &counts->domains, column, NULL, &counts->affinity);
        base->n_affinity_pairs += tally_n_places(&counts->domains, &counts->affinity);
    }
}

static void count_anti(struct cycle *c, struct base *base, const struct affinity_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        struct key_counts *counts = counts_of(c, base, terms->at[i].topology_key);
        const int32_t *column = counts_matching(c->cache->counts, &base->anti[i], 1, false);
        tally_column(c, &counts->domains, column, NULL, &counts->anti);
    }
}

static struct count_part *own_parts(struct cycle *c, const struct affinity_terms *terms, uint32_t *ret_n)
{
    struct count_part *parts = arena_alloc(c->arena, terms->n * sizeof(*parts));
    for (uint32_t i = 0; i < terms->n; i++)
        parts[i] = affinity_own_part(c, &terms->at[i]);
    *ret_n = terms->n;
    return parts;
}

struct verdict affinity_pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    const char *error = affinity_error(c->arena, c->pod);
    if (error)
        return verdict_printf(c, V_UNRESOLVABLE, "parsing pod: %s", error);
    const struct pod_affinity *own = affinity_of(c->pod);
    struct base *base = ARENA_NEW(c->arena, struct base);
    base->ns_labels = affinity_namespace_labels(c->objects, c->syms, c->pod->meta.ns);
    count_existing(c, base);
    if (!base->any_existing && own->required.n == 0 && own->required_anti.n == 0)
        return SKIP;
    base->required = own_parts(c, &own->required, &base->n_required);
    base->anti = own_parts(c, &own->required_anti, &base->n_anti);
    count_affinity(c, base, &own->required);
    count_anti(c, base, &own->required_anti);
    struct state *state = ARENA_NEW(c->arena, struct state);
    *state = (struct state){ .base = base, .node = NODE_NONE };
    c->state[p->index] = state;
    return PASS;
}

/* ---- Pods added and removed ---- */

void *affinity_clone_state(const struct plugin_instance *p, struct cycle *c, const void *state)
{
    (void)p;
    const struct state *from = state;
    struct state *copy = arena_alloc(c->arena, sizeof(*copy));
    *copy = *from;
    copy->deltas = NULL;
    copy->deltas_cap = from->n_deltas;
    if (from->n_deltas) {
        copy->deltas = arena_alloc(c->arena, from->n_deltas * sizeof(*copy->deltas));
        memcpy(copy->deltas, from->deltas, from->n_deltas * sizeof(*copy->deltas));
    }
    return copy;
}

/* The difference of a key on the copy's node; NULL when the node is in no domain of it. */
static struct key_delta *delta_of(struct cycle *c, struct state *state, sym key)
{
    const struct topology_key *k = topology_key(c->cache->topology, key);
    if (!k->of_row[state->node])
        return NULL;
    for (size_t i = 0; i < state->n_deltas; i++)
        if (state->deltas[i].topology == k)
            return &state->deltas[i];
    state->deltas = arena_array_more(c->arena, state->deltas, state->n_deltas, &state->deltas_cap,
                                     sizeof(*state->deltas));
    state->deltas[state->n_deltas] = (struct key_delta){ .topology = k };
    return &state->deltas[state->n_deltas++];
}

static void change(struct cycle *c, struct state *state, const struct pod *pod, const struct node_view *on, int by)
{
    const struct base *base = state->base;
    assert(state->node == NODE_NONE || state->node == on->id);
    state->node = on->id;
    const struct affinity_terms *its = &affinity_of(pod)->required_anti;
    for (uint32_t i = 0; i < its->n; i++) {
        if (!affinity_term_matches(&its->at[i], c->pod, base->ns_labels, c->syms))
            continue;
        struct key_delta *delta = delta_of(c, state, its->at[i].topology_key);
        if (delta)
            delta->existing += by;
    }
    if (matches_all(base->required, base->n_required, pod, c->syms))
        state->affinity += by;
    for (uint32_t i = 0; i < base->n_anti; i++) {
        if (!count_part_matches(&base->anti[i], pod, c->syms))
            continue;
        struct key_delta *delta = delta_of(c, state, affinity_of(c->pod)->required_anti.at[i].topology_key);
        if (delta)
            delta->anti += by;
    }
}

void affinity_add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                      const struct node_view *on)
{
    (void)p;
    change(c, state, pod, on, 1);
}

void affinity_remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                         const struct node_view *on)
{
    (void)p;
    change(c, state, pod, on, -1);
}

/* ---- Filter ---- */

/* Whether the changed node and this one share a domain of the key. */
static bool shares_domain(const struct state *state, const struct topology_key *k, node_id row)
{
    return state->node != NODE_NONE && k->of_row[row] && k->of_row[row] == k->of_row[state->node];
}

/* Whether no pod anywhere matches the pod's affinity terms. */
static bool nobody_matches(const struct state *state)
{
    int64_t n_pairs = state->base->n_affinity_pairs;
    for (size_t i = 0; state->affinity && i < state->base->n_keys; i++) {
        const struct key_counts *counts = &state->base->keys[i];
        if (!counts->affinity.n || !counts->domains.topology->of_row[state->node])
            continue;
        int64_t before = counts->affinity.n[domains_place(&counts->domains, state->node)];
        n_pairs += (before + state->affinity != 0) - (before != 0);
    }
    return n_pairs == 0;
}

/* The first pod of a group that wants to be with its like may go anywhere where the keys exist. */
static bool satisfies_affinity(const struct state *state, node_id row)
{
    bool pods_exist = true;
    for (size_t i = 0; i < state->base->n_keys; i++) {
        const struct key_counts *counts = &state->base->keys[i];
        if (!counts->affinity.n)
            continue;
        if (!counts->domains.topology->of_row[row])
            return false;
        int64_t n = counts->affinity.n[domains_place(&counts->domains, row)];
        if (shares_domain(state, counts->domains.topology, row))
            n += state->affinity;
        pods_exist &= n > 0;
    }
    return pods_exist || (nobody_matches(state) && state->base->self_matches);
}

static struct key_delta delta_at(const struct state *state, const struct topology_key *k, node_id row)
{
    for (size_t i = 0; i < state->n_deltas; i++)
        if (state->deltas[i].topology == k && shares_domain(state, k, row))
            return state->deltas[i];
    return (struct key_delta){ 0 };
}

static bool satisfies_anti(const struct state *state, node_id row)
{
    for (size_t i = 0; i < state->base->n_keys; i++) {
        const struct key_counts *counts = &state->base->keys[i];
        if (!counts->anti.n)
            continue;
        int64_t delta = delta_at(state, counts->domains.topology, row).anti;
        if (counts->anti.n[domains_place(&counts->domains, row)] + delta > 0)
            return false;
    }
    return true;
}

static bool satisfies_existing(const struct state *state, node_id row)
{
    for (size_t i = 0; i < state->base->n_keys; i++) {
        const struct key_counts *counts = &state->base->keys[i];
        if (!counts->existing.n)
            continue;
        int64_t delta = delta_at(state, counts->domains.topology, row).existing;
        if (counts->existing.n[domains_place(&counts->domains, row)] + delta > 0)
            return false;
    }
    for (size_t i = 0; i < state->n_deltas; i++) /* also keys that only added pods brought */
        if (state->deltas[i].existing > 0 && shares_domain(state, state->deltas[i].topology, row))
            return false;
    return true;
}

struct verdict affinity_filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct state *state = CYCLE_STATE(p, c, struct state);
    if (!satisfies_affinity(state, n->id))
        return verdict_text(V_UNRESOLVABLE, NO_AFFINITY);
    if (!satisfies_anti(state, n->id))
        return verdict_text(V_UNSCHEDULABLE, ANTI_AFFINITY);
    if (!satisfies_existing(state, n->id))
        return verdict_text(V_UNSCHEDULABLE, EXISTING_ANTI_AFFINITY);
    return PASS;
}

/* ---- All nodes at once ---- */

static void mark_without(const int32_t *restrict counts, uint32_t n, uint8_t *restrict marks)
{
    for (uint32_t i = 0; i < n; i++)
        marks[i] = counts[i] <= 0;
}

static void mark_with(const int32_t *restrict counts, uint32_t n, uint8_t *restrict marks)
{
    for (uint32_t i = 0; i < n; i++)
        marks[i] |= counts[i] > 0;
}

void affinity_filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    const struct state *state = CYCLE_STATE(p, c, struct state);
    const struct base *base = state->base;
    assert(state->node == NODE_NONE);
    bool is_first = base->n_affinity_pairs == 0 && base->self_matches;
    for (size_t i = 0; i < base->n_keys; i++) {
        const struct key_counts *counts = &base->keys[i];
        const struct domains *d = &counts->domains;
        uint8_t *marks = marks_new(c, d);
        if (counts->affinity.n && !is_first)
            mark_without(counts->affinity.n, d->n_places, marks);
        if (counts->anti.n)
            mark_with(counts->anti.n, d->n_places, marks);
        if (counts->existing.n)
            mark_with(counts->existing.n, d->n_places, marks);
        if (!d->by_row)
            marks[0] = counts->affinity.n != NULL; /* no domain */
        marks_drop(c, d, marks, alive);
    }
}
