/* sched/remedy_pod.c - a chapter of remedy.h: proposals that change what the pod insists on and how much it asks for.
 *
 * Changed lists are put together in scratch memory; a form of its own is made of each changed pod,
 * since plugins may keep references to pods. */
#include "sched/remedy_priv.h"

#include "base/distance.h"
#include "sched/sched_priv.h"

enum {
    RELAX_EACH_MAX = 16,      /* of each list of the pod */
    SELECTOR_NODES_MAX = 256, /* nodes of which it is looked which entries of the selector they lack */
};

static void propose_changed(struct finder *f, struct proposal p, const struct pod *changed)
{
    p.row = NODE_NONE;
    p.pod = finder_keep(f, pod_of_changed(f->s->syms, changed));
    finder_propose(f, &p);
    arena_reset(&f->scratch);
}

/* How many of a list are tried. */
static uint32_t bounded(struct finder *f, uint32_t n)
{
    f->cut |= n > RELAX_EACH_MAX;
    return n < RELAX_EACH_MAX ? n : RELAX_EACH_MAX;
}

void propose_without_gates(struct finder *f)
{
    struct pod changed = *f->pod;
    changed.n_gates = 0;
    propose_changed(f, (struct proposal){ .kind = REMEDY_REMOVE_GATES, .key = SYM_NONE, .value = SYM_NONE,
                                          .size = SIZE_OF(SIZE_SWITCH, REMEDY_REMOVE_GATES) },
                    &changed);
}

enum { DROPPED = 1 << 30 }; /* larger than any step of maxSkew that counts */

static struct proposal relaxed(enum relaxed what, uint32_t index, sym key, sym value)
{
    return (struct proposal){ .kind = REMEDY_RELAX, .relaxed = what, .index = index, .key = key, .value = value,
                              .size = SIZE_OF(SIZE_CONSTRAINT, DROPPED + (int64_t)what) };
}

/* ---- Nodes ---- */

static bool node_has(const struct node *node, const struct label_pair *pair)
{
    return label_set_get(node->meta.labels, pair->key) == pair->value;
}

/* "no node has a=b; node n3 has a=c": the value that is nearest to the one asked for. NULL: some node has it. */
static const char *selector_hint(struct finder *f, const struct label_pair *pair)
{
    const struct cache *cache = &f->s->cache;
    const char *wanted = finder_text(f, pair->value), *nearest = NULL, *on = NULL;
    unsigned best = DISTANCE_BYTES_MAX;
    for (size_t i = 0; i < cache->order.n; i++) {
        const struct node *node = cache->rows.at[cache->order.at[i]].node;
        sym value = label_set_get(node->meta.labels, pair->key);
        if (value == pair->value)
            return NULL;
        unsigned d = value == SYM_NONE ? best : edit_distance(wanted, sym_text(f->s->syms, value).p, best);
        if (d >= best)
            continue;
        best = d;
        nearest = finder_text(f, value);
        on = arena_cstr(f->arena, str_of(node->meta.name));
    }
    const char *key = finder_text(f, pair->key);
    if (!nearest)
        return arena_printf(f->arena, "no node has a label %s", key);
    return arena_printf(f->arena, "no node has %s=%s; node %s has %s=%s", key, wanted, on, key, nearest);
}

static const char *joined(struct finder *f, const char *text, const char *more)
{
    return !more ? text : text ? arena_printf(f->arena, "%s; %s", text, more) : more;
}

/* Without those entries that the node does not have, if they are several: one alone is tried elsewhere. */
static void relax_selectors(struct finder *f, const struct node *node)
{
    const struct pod_node_affinity *own = f->pod->node_affinity;
    struct pod changed = *f->pod;
    struct pod_node_affinity less = *own;
    struct label_pair *pairs = arena_alloc(&f->scratch, own->node_selector.n * sizeof(*pairs));
    const char **names = arena_alloc(f->arena, own->node_selector.n * sizeof(*names));
    struct proposal p = relaxed(RELAX_NODE_SELECTORS, 0, SYM_NONE, SYM_NONE);
    uint32_t n = 0;
    for (uint32_t i = 0; i < own->node_selector.n; i++) {
        const struct label_pair *pair = &own->node_selector.at[i];
        if (node_has(node, pair)) {
            pairs[n++] = *pair;
            continue;
        }
        names[p.n_names++] = arena_printf(f->arena, "%s=%s", finder_text(f, pair->key), finder_text(f, pair->value));
        p.hint = joined(f, p.hint, selector_hint(f, pair));
    }
    if (p.n_names < 2 || p.n_names > RELAX_EACH_MAX)
        return;
    p.names = names;
    p.size += p.n_names;
    less.node_selector = (struct label_set){ pairs, n };
    changed.node_affinity = &less;
    propose_changed(f, p, &changed);
}

/* Whether a proposal drops the same entries. */
static bool is_proposed(const struct finder *f, const struct node *node)
{
    const struct label_set *selector = &f->pod->node_affinity->node_selector;
    for (size_t i = 0; i < f->proposals[REMEDY_RELAX].n; i++) {
        const struct proposal *p = &f->proposals[REMEDY_RELAX].at[i];
        bool same = p->relaxed == RELAX_NODE_SELECTORS;
        for (uint32_t k = 0; same && k < selector->n; k++) {
            sym kept = label_set_get(p->pod->node_affinity->node_selector, selector->at[k].key);
            same = (kept != SYM_NONE) == node_has(node, &selector->at[k]);
        }
        if (same)
            return true;
    }
    return false;
}

static void relax_node_affinity(struct finder *f)
{
    const struct pod_node_affinity *own = f->pod->node_affinity;
    if (!own)
        return;
    for (uint32_t i = 0; i < bounded(f, own->node_selector.n); i++) {
        struct pod changed = *f->pod;
        struct pod_node_affinity less = *own;
        struct label_pair *pairs = arena_alloc(&f->scratch, own->node_selector.n * sizeof(*pairs));
        uint32_t n = 0;
        for (uint32_t k = 0; k < own->node_selector.n; k++)
            if (k != i)
                pairs[n++] = own->node_selector.at[k];
        less.node_selector = (struct label_set){ pairs, n };
        changed.node_affinity = &less;
        const struct label_pair *gone = &own->node_selector.at[i];
        struct proposal p = relaxed(RELAX_NODE_SELECTOR, i, gone->key, gone->value);
        p.hint = selector_hint(f, gone);
        propose_changed(f, p, &changed);
    }
    for (size_t i = 0; own->node_selector.n > 1 && i < f->s->cache.order.n && i < SELECTOR_NODES_MAX; i++) {
        const struct node *node = f->s->cache.rows.at[f->s->cache.order.at[i]].node;
        if (!is_proposed(f, node))
            relax_selectors(f, node);
    }
    if (!own->required.given)
        return;
    struct pod changed = *f->pod;
    struct pod_node_affinity less = *own;
    less.required = (struct node_rules){ 0 };
    changed.node_affinity = &less;
    changed.flags &= ~(uint32_t)POD_HAS_REQUIRED_NODE_AFFINITY;
    propose_changed(f, relaxed(RELAX_NODE_AFFINITY, 0, SYM_NONE, SYM_NONE), &changed);
}

/* ---- Other pods ---- */

static struct affinity_terms without_term(struct finder *f, const struct affinity_terms *terms, uint32_t gone)
{
    struct affinity_term *at = arena_alloc(&f->scratch, terms->n * sizeof(*at));
    uint32_t n = 0;
    for (uint32_t i = 0; i < terms->n; i++)
        if (i != gone)
            at[n++] = terms->at[i];
    return (struct affinity_terms){ .at = at, .n = n };
}

static void relax_pod_affinity(struct finder *f)
{
    const struct pod_affinity *own = f->pod->affinity;
    for (uint32_t i = 0; own && i < bounded(f, own->required.n); i++) {
        struct pod changed = *f->pod;
        struct pod_affinity less = *own;
        less.required = without_term(f, &own->required, i);
        changed.affinity = &less;
        propose_changed(f, relaxed(RELAX_POD_AFFINITY, i, own->required.at[i].topology_key, SYM_NONE), &changed);
    }
    for (uint32_t i = 0; own && i < bounded(f, own->required_anti.n); i++) {
        struct pod changed = *f->pod;
        struct pod_affinity less = *own;
        less.required_anti = without_term(f, &own->required_anti, i);
        changed.affinity = &less;
        sym key = own->required_anti.at[i].topology_key;
        propose_changed(f, relaxed(RELAX_POD_ANTI_AFFINITY, i, key, SYM_NONE), &changed);
    }
}

static bool is_hard(const struct spread_constraint *s)
{
    return !(s->flags & (SPREAD_SOFT | SPREAD_OTHER));
}

static void relax_spread(struct finder *f)
{
    for (uint32_t i = 0; i < bounded(f, f->pod->n_spread); i++) {
        const struct spread_constraint *s = &f->pod->spread[i];
        if (!is_hard(s))
            continue;
        struct proposal p = relaxed(RELAX_MAX_SKEW, i, s->topology_key, SYM_NONE);
        p.row = NODE_NONE;
        p.before = s->max_skew;
        finder_propose(f, &p); /* settle_max_skew makes the pods */
        struct pod changed = *f->pod;
        struct spread_constraint *less = arena_alloc(&f->scratch, f->pod->n_spread * sizeof(*less));
        changed.n_spread = 0;
        for (uint32_t k = 0; k < f->pod->n_spread; k++)
            if (k != i)
                less[changed.n_spread++] = f->pod->spread[k];
        changed.spread = less;
        propose_changed(f, relaxed(RELAX_SPREAD, i, s->topology_key, SYM_NONE), &changed);
    }
}

static struct what_if_answer ask_with_skew(struct finder *f, const struct proposal *p, int32_t max_skew)
{
    struct pod changed = *f->pod;
    arena_reset(&f->scratch);
    struct spread_constraint *spread = arena_alloc(&f->scratch, f->pod->n_spread * sizeof(*spread));
    memcpy(spread, f->pod->spread, f->pod->n_spread * sizeof(*spread));
    spread[p->index].max_skew = max_skew;
    changed.spread = spread;
    const struct pod *form = pod_of_changed(f->s->syms, &changed);
    struct what_if_answer answer = finder_ask(f, form);
    pod_unref(f->s->syms, form);
    return answer;
}

/* Doubles the step until the pod fits, then halves the gap. */
bool settle_max_skew(struct finder *f, struct proposal *p, struct what_if_answer *ret_answer)
{
    if (p->before >= INT32_MAX || !ask_with_skew(f, p, INT32_MAX).places)
        return false;
    int64_t too_small = p->before, enough = INT32_MAX;
    for (int64_t step = 1; p->before + step < enough; step *= 2) {
        if (ask_with_skew(f, p, (int32_t)(p->before + step)).places)
            enough = p->before + step;
        else
            too_small = p->before + step;
    }
    while (enough - too_small > 1) {
        int64_t middle = too_small + (enough - too_small) / 2;
        if (ask_with_skew(f, p, (int32_t)middle).places)
            enough = middle;
        else
            too_small = middle;
    }
    p->now = enough;
    p->size = SIZE_OF(SIZE_CONSTRAINT, enough - p->before);
    *ret_answer = ask_with_skew(f, p, (int32_t)enough);
    return ret_answer->places;
}

/* ---- Ports ---- */

static void relax_ports(struct finder *f)
{
    for (uint32_t i = 0; i < bounded(f, f->pod->n_ports); i++) {
        struct pod changed = *f->pod;
        struct host_port *less = arena_alloc(&f->scratch, f->pod->n_ports * sizeof(*less));
        changed.n_ports = 0;
        for (uint32_t k = 0; k < f->pod->n_ports; k++)
            if (k != i)
                less[changed.n_ports++] = f->pod->ports[k];
        changed.ports = less;
        propose_changed(f, relaxed(RELAX_HOST_PORT, i, SYM_NONE, SYM_NONE), &changed);
    }
}

/* ---- Requests ---- */

void propose_lower_request(struct finder *f, node_id row, const struct remedy_amount *amount)
{
    int64_t now = amount->wanted - amount->missing;
    bool is_its_own = !(f->pod->flags & POD_HAS_OVERHEAD) && strcmp(amount->resource, "pods") != 0;
    if (now <= 0 || !is_its_own)
        return;
    struct proposal p = relaxed(RELAX_REQUEST, 0, SYM_NONE, SYM_NONE);
    p.row = row;
    p.before = amount->wanted;
    p.now = now;
    for (size_t i = 0; i < f->lower.n; i++) {
        struct proposal *known = &f->lower.at[i];
        if (strcmp(known->amounts[0].resource, amount->resource) != 0)
            continue;
        if (known->now >= now)
            return;
        p.amounts = known->amounts;
        p.n_amounts = known->n_amounts;
        *known = p;
        return;
    }
    p.amounts = ARENA_NEW(f->arena, struct remedy_amount);
    p.n_amounts = 1;
    p.amounts[0].resource = arena_cstr(f->arena, str_of(amount->resource));
    vec_push(&f->lower, p);
}

static int64_t lowered(int64_t amount, int64_t by)
{
    return amount > by ? amount - by : 0;
}

static const struct amounts *lower(struct finder *f, const struct amounts *from, const char *resource, int64_t by)
{
    struct amounts *less = ARENA_NEW(&f->scratch, struct amounts);
    *less = *from;
    if (strcmp(resource, "cpu") == 0)
        less->milli_cpu = lowered(from->milli_cpu, by);
    else if (strcmp(resource, "memory") == 0)
        less->memory = lowered(from->memory, by);
    else if (strcmp(resource, "ephemeral-storage") == 0)
        less->ephemeral_storage = lowered(from->ephemeral_storage, by);
    struct scalar_amount *scalars = arena_alloc(&f->scratch, from->n_scalars * sizeof(*scalars));
    for (uint32_t i = 0; i < from->n_scalars; i++) {
        scalars[i] = from->scalars[i];
        if (str_is(sym_text(f->s->syms, scalars[i].name), resource))
            scalars[i].amount = lowered(scalars[i].amount, by);
    }
    less->scalars = scalars;
    return less;
}

static void relax_request(struct finder *f, struct proposal p)
{
    const struct pod *own = f->pod;
    struct pod changed = *own;
    struct remedy_amount *amount = &p.amounts[0];
    int64_t by = p.before - p.now;
    *amount = (struct remedy_amount){ .resource = amount->resource, .missing = by, .free = p.now, .wanted = p.before,
                                      .millionths = (int64_t)((__int128)by * MILLIONTHS / p.before) };
    changed.fit = lower(f, own->fit, amount->resource, by);
    changed.requested = own->requested == own->fit ? changed.fit : lower(f, own->requested, amount->resource, by);
    changed.score = own->score == own->fit         ? changed.fit
                    : own->score == own->requested ? changed.requested
                                                   : lower(f, own->score, amount->resource, by);
    if (strcmp(amount->resource, "cpu") == 0)
        changed.non_zero_milli_cpu = lowered(own->non_zero_milli_cpu, by);
    if (strcmp(amount->resource, "memory") == 0)
        changed.non_zero_memory = lowered(own->non_zero_memory, by);
    p.size = SIZE_OF(SIZE_AMOUNT, amount->millionths);
    propose_changed(f, p, &changed);
}

void propose_relaxations(struct finder *f)
{
    relax_spread(f);
    relax_node_affinity(f);
    relax_pod_affinity(f);
    relax_ports(f);
    for (size_t i = 0; i < f->lower.n; i++)
        relax_request(f, f->lower.at[i]);
}
