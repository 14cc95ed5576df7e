/* plugins/volume_plan.c - see volume_plan.h: the volumes that a pod's claims would get on one node. */
#include "plugins/volume_plan.h"

#include "base/bitset.h"

/* ---- Bound claims ---- */

/* The affinity of a bound volume: the driver's when the node has handed the in-tree plugin over. NULL:
 * *ret_error. */
static const struct node_rules *affinity_on(const struct volume_binder *b, struct cycle *c, struct bound_claim *claim,
                                            const struct csi_node *csi_node, const char **ret_error)
{
    if (!claim->in_tree || !csi_is_migrated(csi_node, b->names.plugin[claim->pv->source]))
        return &claim->pv->affinity;
    if (!claim->translated) {
        struct err e;
        err_init(&e, c->arena);
        if (csi_affinity_of_pv(&b->names, c->syms, claim->pv, &claim->affinity, &e))
            claim->error = arena_printf(c->arena, "could not translate pv: %s", e.message);
        claim->translated = true;
    }
    *ret_error = claim->error;
    return claim->error ? NULL : &claim->affinity;
}

/* The first claim that does not agree with the node decides. */
static void check_bound(const struct volume_binder *b, struct cycle *c, const struct volume_claims *claims,
                        const struct node *node, struct volume_plan *plan)
{
    const struct csi_node *csi_node = claims->any_in_tree ? csi_node_of(c->objects, node) : NULL;
    for (uint32_t i = 0; i < claims->n_bound; i++) {
        struct bound_claim *claim = &claims->bound[i];
        if (!claim->pv) {
            plan->conflicts |= PLAN_NO_VOLUME;
            return;
        }
        const struct node_rules *rules = affinity_on(b, c, claim, csi_node, &plan->error);
        if (!rules)
            return;
        if (!node_rules_match(rules, node->meta.labels, SYM_EMPTY, c->syms)) {
            plan->conflicts |= PLAN_NODE_CONFLICT;
            return;
        }
    }
}

/* ---- Volumes that are there ---- */

static bool reaches(const struct cycle *c, const struct pv *pv, const struct node *node)
{
    return node_rules_match(&pv->affinity, node->meta.labels, SYM_EMPTY, c->syms);
}

/* Of the volumes that name the claim already the first by name; BITSET_END: none. */
static size_t find_bound(const struct volume_claims *claims, const struct delayed_claim *d)
{
    size_t n_words = bitset_words(claims->n_pool), best = BITSET_END;
    for (size_t i = bitset_next(d->bound, n_words, 0); i < BITSET_END; i = bitset_next(d->bound, n_words, i + 1))
        if (!bitset_test(claims->taken, i) &&
            (best == BITSET_END || strcmp(claims->pool[i]->meta.name, claims->pool[best]->meta.name) < 0))
            best = i;
    return best;
}

static bool will_do(const struct cycle *c, const struct volume_claims *claims, const struct delayed_claim *d,
                    size_t volume, const struct node *node)
{
    return bitset_test(d->fits, volume) && !bitset_test(claims->taken, volume) &&
           reaches(c, claims->pool[volume], node);
}

/* Position of the first volume that is pinned to this label or comes after such. */
static uint32_t first_pinned(const struct volume_claims *claims, sym key, sym value)
{
    uint32_t low = 0, high = claims->n_pinned;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct pinned_volume *p = &claims->pinned[middle];
        if (p->key < key || (p->key == key && p->value < value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The smallest of the volumes that are pinned to a label of the node; BITSET_END: none. */
static size_t find_pinned(const struct cycle *c, const struct volume_claims *claims, const struct delayed_claim *d,
                          const struct node *node)
{
    size_t best = BITSET_END;
    for (uint32_t k = 0; k < claims->n_pin_keys; k++) {
        sym key = claims->pin_keys[k], value = label_set_get(node->meta.labels, key);
        if (value == SYM_NONE)
            continue;
        const struct pinned_volume *p = &claims->pinned[first_pinned(claims, key, value)];
        const struct pinned_volume *end = claims->pinned + claims->n_pinned;
        for (; p < end && p->key == key && p->value == value && p->volume < best; p++)
            if (will_do(c, claims, d, p->volume, node))
                best = p->volume;
    }
    return best;
}

/* The volume for a claim: the one that names it, which may be out of the node's reach, else the
 * smallest that does. BITSET_END: none. */
static size_t find_volume(const struct cycle *c, const struct volume_claims *claims, const struct delayed_claim *d,
                          const struct node *node)
{
    size_t n_words = bitset_words(claims->n_pool);
    size_t bound = d->bound ? find_bound(claims, d) : BITSET_END;
    if (bound < BITSET_END)
        return reaches(c, claims->pool[bound], node) ? bound : BITSET_END;
    size_t pinned = find_pinned(c, claims, d, node);
    for (size_t i = bitset_next(claims->loose, n_words, 0); i < pinned; i = bitset_next(claims->loose, n_words, i + 1))
        if (will_do(c, claims, d, i, node))
            return i;
    return pinned;
}

/* Claims that find nothing are to be provisioned. */
static void match_claims(struct cycle *c, const struct volume_claims *claims, const struct node *node,
                         struct volume_plan *plan)
{
    for (uint32_t i = claims->n_selected; i < claims->n_delayed; i++) {
        const struct delayed_claim *d = &claims->delayed[i];
        size_t found = find_volume(c, claims, d, node);
        if (found == BITSET_END) {
            plan->provisions[plan->n_provisions++] = (struct planned_provision){ .claim = d };
            continue;
        }
        bitset_set(claims->taken, found);
        plan->bindings[plan->n_bindings++] = (struct planned_binding){ d, claims->pool[found] };
    }
    if (plan->n_bindings)
        bitset_zero(claims->taken, bitset_words(claims->n_pool));
}

/* ---- Volumes to be made ---- */

static const struct csi_storage_capacity *find_capacity(const struct cycle *c, const struct volume_claims *claims,
                                                        const struct delayed_claim *d, const struct node *node)
{
    size_t n_words = bitset_words(claims->n_capacities);
    for (size_t i = bitset_next(d->sufficient, n_words, 0); i < BITSET_END;
         i = bitset_next(d->sufficient, n_words, i + 1))
        if (matcher_matches(&claims->capacities[i]->node_topology, node->meta.labels, c->syms))
            return claims->capacities[i];
    return NULL;
}

/* The first claim that cannot be served decides. Every claim is looked at alone: their sum may well be
 * too much. */
static uint32_t check_provisions(const struct volume_binder *b, const struct cycle *c,
                                 const struct volume_claims *claims, const struct node *node,
                                 struct volume_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_provisions; i++) {
        const struct delayed_claim *d = plan->provisions[i].claim;
        sym provisioner = d->storage_class->provisioner;
        if (provisioner == SYM_EMPTY || provisioner == b->no_provisioner ||
            !node_rules_match(&d->storage_class->allowed_topologies, node->meta.labels, SYM_EMPTY, c->syms))
            return PLAN_BIND_CONFLICT;
        if (!d->sufficient)
            continue;
        plan->provisions[i].capacity = find_capacity(c, claims, d, node);
        if (!plan->provisions[i].capacity)
            return PLAN_NO_SPACE;
    }
    return 0;
}

/* As upstream, the outcome of provisioning replaces that of matching: a claim without volume is no
 * conflict when it can be provisioned. */
static void plan_delayed(const struct volume_binder *b, struct cycle *c, const struct volume_claims *claims,
                         const struct node *node, struct volume_plan *plan)
{
    for (uint32_t i = 0; i < claims->n_selected; i++) {
        const struct delayed_claim *d = &claims->delayed[i];
        if (d->pvc->selected_node != node->name) {
            plan->conflicts |= PLAN_BIND_CONFLICT;
            return;
        }
        plan->provisions[plan->n_provisions++] = (struct planned_provision){ .claim = d };
    }
    plan->error = claims->error;
    if (plan->error)
        return;
    match_claims(c, claims, node, plan);
    plan->conflicts |= check_provisions(b, c, claims, node, plan);
}

const struct volume_plan *volume_plan_make(const struct volume_binder *b, struct cycle *c, struct volume_claims *claims,
                                           const struct node *node)
{
    struct volume_plan *plan = claims->plan;
    plan->conflicts = plan->n_bindings = plan->n_provisions = 0;
    plan->error = NULL;
    check_bound(b, c, claims, node, plan);
    if (!plan->error && claims->n_delayed)
        plan_delayed(b, c, claims, node, plan);
    return plan;
}
