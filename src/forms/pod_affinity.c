/* forms/pod_affinity.c - where a pod may and would like to be: nodes, other pods, spreading. */
#include "forms/pod_priv.h"

/* ---- Nodes ---- */

static void build_preferred(struct build *b, const struct node_affinity_in *in, struct pod_node_affinity *to)
{
    struct weighted_rules rules = build_weighted_rules(b, in->preferred.at, in->preferred.n);
    struct preferred_node_term *terms = ARENA_NEW_N(b->arena, struct preferred_node_term, rules.n);
    for (uint32_t i = 0; i < rules.n; i++)
        terms[i] = (struct preferred_node_term){ rules.at[i].rule, rules.at[i].weight };
    to->preferred = terms;
    to->n_preferred = rules.n;
    to->preferred_error = rules.error;
}

static void build_node_affinity(struct build *b, const struct pod_in *in, struct pod *pod)
{
    const struct node_affinity_in *node = in->spec.affinity ? in->spec.affinity->node : NULL;
    if (in->spec.node_selector.given)
        pod->flags |= POD_HAS_NODE_SELECTOR;
    if (!in->spec.node_selector.n && !node)
        return;
    struct pod_node_affinity *to = ARENA_NEW(b->arena, struct pod_node_affinity);
    pod->node_affinity = to;
    to->node_selector = build_labels(b, &in->spec.node_selector);
    if (!node)
        return;
    to->required = build_node_rules(b, node->required);
    if (node->required)
        pod->flags |= POD_HAS_REQUIRED_NODE_AFFINITY;
    if (node->preferred.given)
        pod->flags |= POD_HAS_PREFERRED_NODE_AFFINITY;
    build_preferred(b, node, to);
}

/* ---- Other pods ---- */

static const char *term_error(const struct affinity_term *t)
{
    if (t->selector.mode == MATCHER_INVALID)
        return t->selector.error;
    return t->namespace_selector.mode == MATCHER_INVALID ? t->namespace_selector.error : NULL;
}

static struct affinity_term build_term(struct build *b, const struct pod_in *in, const struct affinity_term_in *t)
{
    struct affinity_term term = {
        .selector = build_matcher(b, t->selector),
        .namespace_selector = build_matcher(b, t->namespace_selector),
        .topology_key = build_sym(b, t->topology_key),
    };
    bool own = t->namespaces.n == 0 && !t->namespace_selector;
    size_t n;
    term.namespaces = own ? build_sym_set(b, &in->meta.ns, 1, &n)
                          : build_sym_set(b, t->namespaces.at, t->namespaces.n, &n);
    term.n_namespaces = (uint32_t)n;
    return term;
}

static void walk_term(struct walk *w, struct affinity_term *term)
{
    walk_matcher(w, &term->selector);
    walk_matcher(w, &term->namespace_selector);
    walk_syms(w, &term->namespaces, term->n_namespaces);
    walk_sym(w, term->topology_key);
}

static void walk_terms(struct walk *w, struct affinity_terms *terms)
{
    WALK_TEXT(w, terms->error);
    WALK_ARRAY(w, terms->at, terms->n);
    for (uint32_t i = 0; i < terms->n; i++)
        walk_term(w, walk_into(&terms->at[i]));
}

/* One term that does not parse undoes the list. `stride` leads from one term to the next. */
static struct affinity_terms build_terms(struct build *b, const struct pod_in *in,
                                         const struct affinity_term_in *first, size_t stride, uint32_t n)
{
    struct affinity_term *terms = ARENA_NEW_N(b->arena, struct affinity_term, n);
    for (uint32_t i = 0; i < n; i++) {
        const void *item = (const char *)first + i * stride;
        terms[i] = build_term(b, in, item);
        const char *error = term_error(&terms[i]);
        if (!error)
            continue;
        struct affinity_terms built = { .at = terms, .n = i + 1 };
        struct walk undo = { .syms = b->syms, .mode = WALK_UNREF };
        walk_terms(&undo, &built);
        return (struct affinity_terms){ .error = error };
    }
    return (struct affinity_terms){ .at = terms, .n = n };
}

static struct affinity_terms build_required(struct build *b, const struct pod_in *in,
                                            const struct pod_affinity_in *affinity)
{
    return build_terms(b, in, affinity->required.at, sizeof(*affinity->required.at), affinity->required.n);
}

static struct affinity_terms build_weighted(struct build *b, const struct pod_in *in,
                                            const struct pod_affinity_in *affinity)
{
    const struct weighted_term_in *at = affinity->preferred.at;
    struct affinity_terms terms = build_terms(b, in, at ? &at->term : NULL, sizeof(*at), affinity->preferred.n);
    for (uint32_t i = 0; i < terms.n; i++) {
        struct affinity_term *term = walk_into(&terms.at[i]);
        term->weight = (int32_t)at[i].weight.value;
    }
    return terms;
}

static void build_pod_affinity(struct build *b, const struct pod_in *in, struct pod *pod)
{
    const struct affinity_in *affinity = in->spec.affinity;
    if (!affinity || (!affinity->pod && !affinity->anti))
        return;
    pod->flags |= POD_HAS_AFFINITY;
    struct pod_affinity *to = ARENA_NEW(b->arena, struct pod_affinity);
    pod->affinity = to;
    if (affinity->pod) {
        to->required = build_required(b, in, affinity->pod);
        to->preferred = build_weighted(b, in, affinity->pod);
    }
    if (affinity->anti) {
        to->required_anti = build_required(b, in, affinity->anti);
        to->preferred_anti = build_weighted(b, in, affinity->anti);
    }
}

void pod_build_affinity(struct build *b, const struct pod_in *in, struct pod *pod)
{
    build_node_affinity(b, in, pod);
    build_pod_affinity(b, in, pod);
}

static void walk_node_affinity(struct walk *w, const struct pod_node_affinity **pointer)
{
    if (!*pointer)
        return;
    WALK_ARRAY(w, *pointer, 1);
    struct pod_node_affinity *a = walk_into(*pointer);
    walk_labels(w, &a->node_selector);
    walk_node_rules(w, &a->required);
    WALK_TEXT(w, a->preferred_error);
    WALK_ARRAY(w, a->preferred, a->n_preferred);
    for (uint32_t i = 0; i < a->n_preferred; i++)
        walk_node_rule(w, walk_into(&a->preferred[i].term));
}

void pod_walk_affinity(struct walk *w, struct pod *pod)
{
    walk_node_affinity(w, &pod->node_affinity);
    if (!pod->affinity)
        return;
    WALK_ARRAY(w, pod->affinity, 1);
    struct pod_affinity *a = walk_into(pod->affinity);
    walk_terms(w, &a->required);
    walk_terms(w, &a->required_anti);
    walk_terms(w, &a->preferred);
    walk_terms(w, &a->preferred_anti);
}

/* ---- Spreading ---- */

/* matchLabelKeys: the pod must have the same value. A selector that selects nothing stays so. */
static void merge_own_labels(struct build *b, const fill_strs *keys, struct label_set own, struct matcher *m)
{
    if (m->mode != MATCHER_ALL_OF || keys->n == 0)
        return;
    size_t n_keys;
    const sym *set = build_sym_set(b, keys->at, keys->n, &n_keys);
    struct match_rule *rules = ARENA_NEW_N(b->arena, struct match_rule, m->n + n_keys);
    if (m->n)
        memcpy(rules, m->at, m->n * sizeof(*rules));
    size_t n = m->n;
    for (size_t i = 0; i < n_keys; i++) {
        sym value = label_set_get(own, set[i]);
        if (value == SYM_NONE) {
            sym_unref(b->syms, set[i]);
            continue;
        }
        sym *values = arena_alloc(b->arena, sizeof(*values));
        *values = sym_ref(b->syms, value);
        rules[n++] = (struct match_rule){ .key = set[i], .op = MATCH_IN, .n_values = 1, .values = values };
    }
    m->at = rules;
    m->n = (uint16_t)n;
}

/* Of a constraint; its rules are counted in 16 bits. */
static struct matcher spread_matcher(struct build *b, const struct spread_in *in, struct label_set own)
{
    size_t n = in->match_label_keys.n;
    if (in->selector)
        n += in->selector->match_labels.n + in->selector->expressions.n;
    if (n > UINT16_MAX)
        return (struct matcher){ .mode = MATCHER_INVALID, .error = "the constraint has more than 65535 requirements" };
    struct matcher m = build_matcher(b, in->selector);
    merge_own_labels(b, &in->match_label_keys, own, &m);
    return m;
}

static uint8_t spread_flags(const struct spread_in *in)
{
    uint8_t flags = 0;
    if (str_is(in->when_unsatisfiable, "ScheduleAnyway"))
        flags |= SPREAD_SOFT;
    else if (!str_is(in->when_unsatisfiable, "DoNotSchedule"))
        flags |= SPREAD_OTHER;
    if (in->affinity_policy.p && !str_is(in->affinity_policy, "Honor"))
        flags |= SPREAD_IGNORE_AFFINITY;
    if (str_is(in->taints_policy, "Honor"))
        flags |= SPREAD_HONOR_TAINTS;
    return flags;
}

void pod_build_spread(struct build *b, const struct pod_in *in, struct pod *pod)
{
    uint32_t n = in->spec.spread.n;
    struct spread_constraint *spread = ARENA_NEW_N(b->arena, struct spread_constraint, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct spread_in *c = &in->spec.spread.at[i];
        spread[i] = (struct spread_constraint){
            .selector = spread_matcher(b, c, pod->meta.labels),
            .topology_key = build_sym(b, c->topology_key),
            .max_skew = (int32_t)c->max_skew.value,
            .min_domains = c->min_domains.given ? (int32_t)c->min_domains.value : 1,
            .flags = spread_flags(c),
        };
    }
    pod->spread = spread;
    pod->n_spread = (uint16_t)n; /* at most FILL_ITEMS_MAX */
}

void pod_walk_spread(struct walk *w, struct pod *pod)
{
    WALK_ARRAY(w, pod->spread, pod->n_spread);
    for (uint16_t i = 0; i < pod->n_spread; i++) {
        struct spread_constraint *c = walk_into(&pod->spread[i]);
        walk_matcher(w, &c->selector);
        walk_sym(w, c->topology_key);
    }
}
