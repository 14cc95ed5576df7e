/* plugins/volume_claims.c - see volume_plan.h: what is known of a pod's claims before any node is
 * looked at. */
#include "base/bitset.h"
#include "base/sort.h"
#include "plugins/volume_plan.h"

#define UNBOUND_IMMEDIATE "pod has unbound immediate PersistentVolumeClaims"

/* ---- Sorting claims ---- */

enum claim_state { CLAIM_BOUND, CLAIM_DELAYED, CLAIM_IMMEDIATE, CLAIM_FAILED };

/* A claim that names a volume already, but is not said to be bound, is the volume controller's business. */
static enum claim_state classify(const struct cycle *c, const struct pvc *claim, const struct storage_class **ret_class)
{
    if (claim_is_bound(claim))
        return CLAIM_BOUND;
    const struct storage_class *class =
        claim->storage_class == SYM_EMPTY ? NULL : class_by_name(c->objects, c->syms, claim->storage_class);
    if (!class)
        return CLAIM_IMMEDIATE;
    if (class->binding_mode == BINDING_NOT_GIVEN)
        return CLAIM_FAILED;
    *ret_class = class;
    bool delayed = class->binding_mode == BINDING_WAIT_FOR_FIRST_CONSUMER && !claim->volume_name[0];
    return delayed ? CLAIM_DELAYED : CLAIM_IMMEDIATE;
}

static struct bound_claim bound_claim(const struct volume_binder *b, const struct cycle *c, const struct pvc *claim)
{
    const struct pv *pv = assumed_get(&b->volumes, c->objects, SYM_EMPTY, str_of(claim->volume_name));
    return (struct bound_claim){ .pv = pv, .in_tree = pv && csi_stands_in(pv->source) };
}

static int by_selection_and_request(const void *a, const void *b)
{
    const struct pvc *x = ((const struct delayed_claim *)a)->pvc, *y = ((const struct delayed_claim *)b)->pvc;
    bool selected_x = x->selected_node != SYM_NONE, selected_y = y->selected_node != SYM_NONE;
    if (selected_x || selected_y)
        return selected_y - selected_x; /* among each other they stay as they are */
    return storage_cmp(&x->request, &y->request);
}

static struct verdict sort_claims(const struct volume_binder *b, struct cycle *c, struct volume_claims *to)
{
    bool any_immediate = false;
    for (uint16_t i = 0; i < c->pod->n_volumes; i++) {
        const struct pod_volume *v = &c->pod->volumes[i];
        if (!volume_has_claim(v))
            continue;
        const struct pvc *claim =
            assumed_get(&b->claims, c->objects, c->pod->meta.ns, sym_text(c->syms, v->names[0]));
        const struct storage_class *class = NULL;
        switch (classify(c, claim, &class)) {
        case CLAIM_BOUND:
            to->bound[to->n_bound] = bound_claim(b, c, claim);
            to->any_in_tree |= to->bound[to->n_bound++].in_tree;
            break;
        case CLAIM_DELAYED:
            to->delayed[to->n_delayed++] = (struct delayed_claim){ .pvc = claim, .storage_class = class };
            to->n_selected += claim->selected_node != SYM_NONE;
            break;
        case CLAIM_IMMEDIATE:
            any_immediate = true;
            break;
        case CLAIM_FAILED:
            return verdict_printf(c, V_ERROR, CLASS_WITHOUT_MODE, sym_text(c->syms, claim->storage_class).p);
        }
    }
    sort_stable(c->arena, to->delayed, to->n_delayed, sizeof(*to->delayed), by_selection_and_request);
    return any_immediate ? verdict_text(V_UNRESOLVABLE, UNBOUND_IMMEDIATE) : PASS;
}

/* ---- Volumes for delayed claims ---- */

/* Without a uid the reference is a user's, to whatever claim has the name. */
static bool names_claim(const struct pv *pv, const struct pvc *claim)
{
    const struct claim_ref *ref = pv->claim;
    return ref && ref->ns == claim->meta.ns && strcmp(ref->name, claim->meta.name) == 0 &&
           (!ref->uid[0] || strcmp(ref->uid, claim->meta.uid) == 0);
}

static bool is_large_and_alike(const struct pv *pv, const struct pvc *claim)
{
    return pv->storage_class == claim->storage_class && !pv->deleting && storage_cmp(&pv->capacity, &claim->request) >= 0 &&
           pv->mode == claim->mode && pv->attributes_class == claim->attributes_class;
}

static bool is_free_for(const struct pv *pv, const struct pvc *claim, const struct sym_table *syms)
{
    return !pv->claim && pv->phase == PV_AVAILABLE && !(claim->access & ~pv->access) &&
           (!claim->has_selector || matcher_matches(&claim->selector, pv->meta.labels, syms));
}

static bool is_of_interest(const struct pv *pv, const struct volume_claims *claims)
{
    if (pv->deleting || (!pv->claim && pv->phase != PV_AVAILABLE))
        return false;
    for (uint32_t i = claims->n_selected; i < claims->n_delayed; i++) {
        const struct pvc *claim = claims->delayed[i].pvc;
        if (pv->storage_class == claim->storage_class && (!pv->claim || names_claim(pv, claim)))
            return true;
    }
    return false;
}

static int by_capacity_and_name(const void *a, const void *b)
{
    const struct pv *x = *(const struct pv *const *)a, *y = *(const struct pv *const *)b;
    int order = storage_cmp(&x->capacity, &y->capacity);
    return order ? order : strcmp(x->meta.name, y->meta.name);
}

static void fill_pool(const struct volume_binder *b, struct cycle *c, struct volume_claims *claims)
{
    struct object_list all = objects_all(c->objects, OBJECT_PERSISTENT_VOLUME);
    VEC(const struct pv *) found = { 0 };
    for (uint32_t i = 0; i < all.n; i++) {
        const struct pv *pv = all.at[i];
        if (!is_of_interest(pv, claims))
            continue;
        pv = assumed_over(&b->volumes, pv);
        if (is_of_interest(pv, claims))
            vec_push(&found, pv);
    }
    claims->pool = arena_alloc(c->arena, found.n * sizeof(*claims->pool));
    if (found.n)
        memcpy(claims->pool, found.at, found.n * sizeof(*claims->pool));
    claims->n_pool = (uint32_t)found.n;
    vec_fini(&found);
    sort_stable(c->arena, claims->pool, claims->n_pool, sizeof(*claims->pool), by_capacity_and_name);
    claims->taken = ARENA_NEW_N(c->arena, uint64_t, bitset_words(claims->n_pool));
}

/* ---- Volumes by the nodes that reach them ---- */

/* The label that a node must have to reach the volume: one rule of its only term. NULL: there is no such. */
static const struct match_rule *pin_of(const struct pv *pv)
{
    if (!pv->affinity.given || pv->affinity.n != 1 || pv->affinity.at[0].labels.mode != MATCHER_ALL_OF)
        return NULL;
    const struct matcher *m = &pv->affinity.at[0].labels;
    for (uint16_t i = 0; i < m->n; i++)
        if (m->at[i].op == MATCH_IN && m->at[i].n_values == 1)
            return &m->at[i];
    return NULL;
}

/* Whether pins are looked up by this key; a few different ones are enough. */
static bool use_pin_key(struct volume_claims *claims, sym key)
{
    for (uint32_t i = 0; i < claims->n_pin_keys; i++)
        if (claims->pin_keys[i] == key)
            return true;
    if (claims->n_pin_keys == PIN_KEYS_MAX)
        return false;
    claims->pin_keys[claims->n_pin_keys++] = key;
    return true;
}

static int by_pin(const void *a, const void *b)
{
    const struct pinned_volume *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->volume > y->volume) - (x->volume < y->volume);
}

static void pin_volumes(struct cycle *c, struct volume_claims *claims)
{
    claims->pinned = arena_alloc(c->arena, claims->n_pool * sizeof(*claims->pinned));
    claims->loose = ARENA_NEW_N(c->arena, uint64_t, bitset_words(claims->n_pool));
    for (uint32_t i = 0; i < claims->n_pool; i++) {
        const struct match_rule *pin = pin_of(claims->pool[i]);
        if (pin && use_pin_key(claims, pin->key))
            claims->pinned[claims->n_pinned++] = (struct pinned_volume){ pin->key, pin->values[0], i };
        else
            bitset_set(claims->loose, i);
    }
    sort_stable(c->arena, claims->pinned, claims->n_pinned, sizeof(*claims->pinned), by_pin);
}

/* ---- Candidates ---- */

static void find_candidates(struct cycle *c, const struct volume_claims *claims, struct delayed_claim *d)
{
    size_t n_words = bitset_words(claims->n_pool);
    d->fits = ARENA_NEW_N(c->arena, uint64_t, n_words);
    for (uint32_t i = 0; i < claims->n_pool; i++) {
        const struct pv *pv = claims->pool[i];
        if (!is_large_and_alike(pv, d->pvc))
            continue;
        if (names_claim(pv, d->pvc)) {
            if (!d->bound)
                d->bound = ARENA_NEW_N(c->arena, uint64_t, n_words);
            bitset_set(d->bound, i);
        } else if (is_free_for(pv, d->pvc, c->syms)) {
            bitset_set(d->fits, i);
        }
    }
}

static void find_volumes(const struct volume_binder *b, struct cycle *c, struct volume_claims *claims)
{
    fill_pool(b, c, claims);
    pin_volumes(c, claims);
    for (uint32_t i = claims->n_selected; i < claims->n_delayed; i++) {
        struct delayed_claim *d = &claims->delayed[i];
        if (d->pvc->has_selector && d->pvc->selector.mode == MATCHER_INVALID) {
            claims->error = arena_printf(c->arena, "error creating internal label selector for claim: %s/%s: %s",
                                         sym_text(c->syms, d->pvc->meta.ns).p, d->pvc->meta.name,
                                         d->pvc->selector.error);
            return;
        }
        find_candidates(c, claims, d);
    }
}

/* ---- Capacities for claims to be provisioned ---- */

/* Only drivers that ask for it have their capacity looked at, and only for claims that say how much
 * they need. */
static bool checks_capacity(const struct cycle *c, const struct delayed_claim *d)
{
    const struct csi_driver *driver =
        objects_get(c->objects, OBJECT_CSI_DRIVER, SYM_EMPTY, sym_text(c->syms, d->storage_class->provisioner));
    return d->pvc->request.given && driver && driver->storage_capacity;
}

static bool is_large_enough(const struct csi_storage_capacity *k, const struct pvc *claim)
{
    const struct storage_amount *limit = volume_limit(k);
    return limit->given && limit->bytes >= claim->request.bytes;
}

static int by_name(const void *a, const void *b)
{
    const struct csi_storage_capacity *const *x = a, *const *y = b;
    return strcmp((*x)->meta.name, (*y)->meta.name);
}

static bool is_of_a_class(const struct csi_storage_capacity *k, const struct volume_claims *claims)
{
    for (uint32_t i = 0; i < claims->n_delayed; i++)
        if (k->storage_class == claims->delayed[i].pvc->storage_class)
            return true;
    return false;
}

static void list_capacities(struct cycle *c, struct volume_claims *claims)
{
    struct object_list all = objects_all(c->objects, OBJECT_CSI_STORAGE_CAPACITY);
    claims->capacities = arena_alloc(c->arena, all.n * sizeof(*claims->capacities));
    for (uint32_t i = 0; i < all.n; i++)
        if (is_of_a_class(all.at[i], claims))
            claims->capacities[claims->n_capacities++] = all.at[i];
    sort_stable(c->arena, claims->capacities, claims->n_capacities, sizeof(*claims->capacities), by_name);
}

static void find_capacities(struct cycle *c, struct volume_claims *claims)
{
    for (uint32_t i = 0; i < claims->n_delayed; i++) {
        struct delayed_claim *d = &claims->delayed[i];
        if (!checks_capacity(c, d))
            continue;
        if (!claims->capacities)
            list_capacities(c, claims);
        d->sufficient = ARENA_NEW_N(c->arena, uint64_t, bitset_words(claims->n_capacities));
        for (uint32_t k = 0; k < claims->n_capacities; k++)
            if (claims->capacities[k]->storage_class == d->pvc->storage_class && is_large_enough(claims->capacities[k], d->pvc))
                bitset_set(d->sufficient, k);
    }
}

/* ---- All together ---- */

static uint32_t count_claims(const struct pod *pod)
{
    uint32_t n = 0;
    for (uint16_t i = 0; i < pod->n_volumes; i++)
        n += volume_has_claim(&pod->volumes[i]);
    return n;
}

static struct volume_plan *new_plan(struct cycle *c, uint32_t n_delayed)
{
    struct volume_plan *plan = ARENA_NEW(c->arena, struct volume_plan);
    plan->bindings = ARENA_NEW_N(c->arena, struct planned_binding, n_delayed);
    plan->provisions = ARENA_NEW_N(c->arena, struct planned_provision, n_delayed);
    return plan;
}

struct verdict volume_claims_prepare(const struct volume_binder *b, struct cycle *c, struct volume_claims **ret_claims)
{
    struct volume_claims *claims = ARENA_NEW(c->arena, struct volume_claims);
    uint32_t n = count_claims(c->pod);
    claims->bound = ARENA_NEW_N(c->arena, struct bound_claim, n);
    claims->delayed = ARENA_NEW_N(c->arena, struct delayed_claim, n);
    struct verdict v = sort_claims(b, c, claims);
    if (v.code != V_SUCCESS)
        return v;
    if (claims->n_delayed > claims->n_selected)
        find_volumes(b, c, claims);
    if (claims->n_delayed)
        find_capacities(c, claims);
    claims->plan = new_plan(c, claims->n_delayed);
    *ret_claims = claims;
    return PASS;
}
