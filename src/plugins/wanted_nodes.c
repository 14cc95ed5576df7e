/* plugins/wanted_nodes.c - see wanted_nodes.h. */
#include "plugins/wanted_nodes.h"

#include "plugins/plugins.h"

/* ---- The same question ---- */

static bool same_rule(const struct match_rule *a, const struct match_rule *b)
{
    if (a->key != b->key || a->op != b->op || a->n_values != b->n_values)
        return false;
    if (a->op == MATCH_GT || a->op == MATCH_LT)
        return a->number == b->number;
    return a->n_values == 0 || memcmp(a->values, b->values, a->n_values * sizeof(*a->values)) == 0;
}

static bool same_rules(const struct match_rule *a, const struct match_rule *b, uint16_t n)
{
    for (uint16_t i = 0; i < n; i++)
        if (!same_rule(&a[i], &b[i]))
            return false;
    return true;
}

static bool same_matcher(const struct matcher *a, const struct matcher *b)
{
    return a->mode == b->mode && (a->mode != MATCHER_ALL_OF || (a->n == b->n && same_rules(a->at, b->at, a->n)));
}

static bool same_term(const struct node_rule *a, const struct node_rule *b)
{
    return a->empty == b->empty && a->broken == b->broken && a->n_fields == b->n_fields &&
           same_rules(a->fields, b->fields, a->n_fields) && same_matcher(&a->labels, &b->labels);
}

static bool same_terms(const struct node_rules *a, const struct node_rules *b)
{
    bool same = a->given == b->given && a->n == b->n;
    for (uint16_t i = 0; same && i < a->n; i++)
        same = same_term(&a->at[i], &b->at[i]);
    return same;
}

static bool same_question(const struct pod *a, const struct pod *b)
{
    static const struct pod_node_affinity none;
    const struct pod_node_affinity *x = a->node_affinity ? a->node_affinity : &none;
    const struct pod_node_affinity *y = b->node_affinity ? b->node_affinity : &none;
    size_t n_bytes = x->node_selector.n * sizeof(*x->node_selector.at);
    return x->node_selector.n == y->node_selector.n &&
           (n_bytes == 0 || memcmp(x->node_selector.at, y->node_selector.at, n_bytes) == 0) &&
           same_terms(&x->required, &y->required);
}

/* ---- The answer ---- */

struct update {
    struct wanted_entry *entry;
    const struct cache *cache;
};

static void update_row(void *context, node_id row)
{
    const struct update *u = context;
    const struct node *node = u->cache->rows.at[row].node;
    bitset_put(u->entry->rows, row, node && pod_wants_node(u->entry->example, node, u->cache->syms));
}

static void bring_up_to_date(struct wanted_entry *e, const struct cache *cache, bool is_new)
{
    size_t n_words = bitset_words(cache->col.n_rows);
    if (n_words > e->n_words) {
        e->rows = mem_realloc(e->rows, n_words * sizeof(*e->rows));
        bitset_zero(e->rows + e->n_words, n_words - e->n_words);
        e->n_words = n_words;
    }
    struct update u = { e, cache };
    if (is_new || !cache_changes(cache, e->generation, update_row, &u))
        for (node_id row = 0; row < cache->col.n_rows; row++)
            update_row(&u, row);
    e->generation = cache->generation;
}

static void forget(struct wanted_entry *e, struct sym_table *syms)
{
    if (e->example)
        pod_unref(syms, e->example);
    e->example = NULL;
}

/* The entry of the question, or else the free one or the one not asked longest. */
static struct wanted_entry *entry_for(struct wanted_nodes *w, const struct pod *pod)
{
    struct wanted_entry *oldest = &w->entries[0];
    for (int i = 0; i < WANTED_NODES_KEPT; i++) {
        struct wanted_entry *e = &w->entries[i];
        if (e->example && same_question(e->example, pod))
            return e;
        if (e->last_used < oldest->last_used)
            oldest = e;
    }
    return oldest;
}

const uint64_t *wanted_nodes_of(struct wanted_nodes *w, const struct cache *cache, const struct pod *pod)
{
    assert(pod);
    struct wanted_entry *e = entry_for(w, pod);
    bool is_new = !e->example || !same_question(e->example, pod);
    if (is_new) {
        forget(e, cache->syms);
        e->example = pod_ref(pod);
    }
    e->last_used = ++w->now;
    bring_up_to_date(e, cache, is_new);
    return e->rows;
}

void wanted_nodes_fini(struct wanted_nodes *w, struct sym_table *syms)
{
    for (int i = 0; i < WANTED_NODES_KEPT; i++) {
        forget(&w->entries[i], syms);
        free(w->entries[i].rows);
    }
}
