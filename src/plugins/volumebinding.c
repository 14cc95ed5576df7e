/* VolumeBinding: claims are bound, or can be bound or provisioned where the pod goes.
 * Points: PreFilter (skips pods without claims), Filter, PreScore, Score, Reserve, PreBind. Upstream:
 * plugins/volumebinding, v1.36.
 *
 * volume_plan.h knows which volumes the claims would get on a node. Reserve assumes that they do, in an
 * overlay that only this plugin sees, so that the next pod does not get the same volumes; PreBind has
 * the decisions written and waits until the volume controller has bound the claims. Unreserve takes the
 * assumptions back.
 *
 * A plan is not kept per node but made again for the node that is chosen: it would be the same. */
#include <math.h>

#include "base/arith.h"

#include "plugins/resource_score.h"
#include "plugins/volume_plan.h"
#include "sched/era.h"
#include "sched/volume_decisions.h"

#define NO_STATE "not found"
#define NOT_CREATED_YET "waiting for ephemeral volume controller to create the persistentvolumeclaim \"%s\""

struct data {
    struct volume_binder binder;
    int64_t timeout_ms;
    struct shape_point *shape; /* scores 0..100 */
    uint32_t n_shape;
};

/* What stands in c->state: from PreFilter on a struct prepared, from Reserve on a struct reservation. */
enum stage { STAGE_PREPARED, STAGE_RESERVED };

struct prepared {
    enum stage stage;
    bool filtered;                /* Filter has looked at nodes */
    struct volume_claims *claims; /* NULL: none */
};

struct reservation { /* in the binding's arena */
    enum stage stage;
    const struct volume_decisions *decisions; /* NULL: all claims are bound */
};

static const struct prepared without_claims = { STAGE_PREPARED, false, NULL };
static const struct reservation all_bound = { STAGE_RESERVED, NULL };

/* Constants have their place there too: nobody changes them. */
static void set_state(const struct plugin_instance *p, struct cycle *c, const void *state)
{
    c->state[p->index] = (void *)(uintptr_t)state;
}

static void assume_nothing(struct data *d, struct sym_table *syms)
{
    assumed_init(&d->binder.volumes, OBJECT_PERSISTENT_VOLUME, syms);
    assumed_init(&d->binder.claims, OBJECT_PERSISTENT_VOLUME_CLAIM, syms);
}

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    assert(args);
    (void)e;
    const struct volume_binding_args *a = args;
    struct data *d = mem_zalloc(sizeof(*d));
    csi_names_init(&d->binder.names, p->syms);
    assume_nothing(d, p->syms);
    d->binder.no_provisioner = sym_intern_static(p->syms, STR("kubernetes.io/no-provisioner"));
    d->timeout_ms = a->bind_timeout_s > INT64_MAX / 1000 ? INT64_MAX : a->bind_timeout_s * 1000;
    d->shape = shape_scaled(a->shape, a->n_shape);
    d->n_shape = a->n_shape;
    p->data = d;
    return ERR_OK;
}

static void forget(struct plugin_instance *p)
{
    struct data *d = p->data;
    assumed_fini(&d->binder.volumes);
    assumed_fini(&d->binder.claims);
    assume_nothing(d, p->syms);
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    assumed_fini(&d->binder.volumes);
    assumed_fini(&d->binder.claims);
    free(d->shape);
    free(d);
}

/* ---- PreFilter and Filter ---- */

/* Whether a claim may be used at all; PASS or the reason why not. */
static struct verdict check_claim(struct cycle *c, const struct pod_volume *v)
{
    const char *name = sym_text(c->syms, v->names[0]).p, *ns = sym_text(c->syms, c->pod->meta.ns).p;
    const struct pvc *claim = claim_of_volume(c->objects, c->syms, c->pod, v);
    if (!claim && v->kind == VOLUME_EPHEMERAL)
        return verdict_printf(c, V_UNRESOLVABLE, NOT_CREATED_YET, name);
    if (!claim)
        return verdict_printf(c, V_UNRESOLVABLE, CLAIM_NOT_FOUND, name);
    if (claim->phase == PVC_LOST)
        return verdict_printf(c, V_UNRESOLVABLE,
                              "persistentvolumeclaim \"%s\" bound to non-existent persistentvolume \"%s\"", name,
                              claim->volume_name);
    if (claim->deleting)
        return verdict_printf(c, V_UNRESOLVABLE, "persistentvolumeclaim \"%s\" is being deleted", name);
    if (v->kind == VOLUME_EPHEMERAL && !claim_belongs_to(claim, c->pod))
        return verdict_printf(c, V_UNRESOLVABLE, NOT_THE_OWNER, ns, name, ns, c->pod->meta.name);
    return PASS;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    const struct data *d = p->data;
    bool any = false;
    for (uint16_t i = 0; i < c->pod->n_volumes; i++) {
        if (!volume_has_claim(&c->pod->volumes[i]))
            continue;
        any = true;
        struct verdict v = check_claim(c, &c->pod->volumes[i]);
        if (v.code != V_SUCCESS)
            return v;
    }
    if (!any) {
        set_state(p, c, &without_claims);
        return SKIP;
    }
    struct prepared *st = ARENA_NEW(c->arena, struct prepared);
    struct verdict v = volume_claims_prepare(&d->binder, c, &st->claims);
    if (v.code == V_SUCCESS)
        c->state[p->index] = st;
    return v;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    struct prepared *st = CYCLE_STATE(p, c, struct prepared);
    if (!st)
        return verdict_text(V_ERROR, NO_STATE);
    st->filtered = true;
    const struct volume_plan *plan = volume_plan_make(&d->binder, c, st->claims, n->node);
    if (plan->error)
        return verdict_text(V_ERROR, plan->error);
    return plan->conflicts ? (struct verdict){ V_UNRESOLVABLE, plan->conflicts, NULL } : PASS;
}

static void reasons(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to)
{
    const struct {
        uint32_t conflict;
        const char *text;
    } texts[] = {
        { PLAN_NODE_CONFLICT, p->era->volume_conflict },
        { PLAN_BIND_CONFLICT, "node(s) didn't find available persistent volumes to bind" },
        { PLAN_NO_SPACE, "node(s) did not have enough free storage" },
        { PLAN_NO_VOLUME, p->era->volume_missing },
    };
    (void)c;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (v.detail & texts[i].conflict)
            vec_push(&to->texts, texts[i].text);
}

/* ---- Score (gate StorageCapacityScoring) ---- */

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    if (!p->features->storage_capacity_scoring)
        return SKIP;
    return c->state[p->index] ? PASS : verdict_text(V_ERROR, NO_STATE);
}

/* Storage of one class. */
struct class_usage {
    sym storage_class;
    int64_t requested, capacity;
};

static struct class_usage *usage_of(struct class_usage *at, uint32_t *n, sym class)
{
    for (uint32_t i = 0; i < *n; i++)
        if (at[i].storage_class == class)
            return &at[i];
    at[*n] = (struct class_usage){ .storage_class = class };
    return &at[(*n)++];
}

/* Volumes that are there count for themselves; else what is to be made counts against its capacity,
 * which several claims of a class share. */
static uint32_t sum_usage(const struct volume_plan *plan, struct class_usage *at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->n_bindings; i++) {
        const struct planned_binding *b = &plan->bindings[i];
        struct class_usage *u = usage_of(at, &n, b->pv->storage_class);
        u->requested = wrap_add(u->requested, b->claim->pvc->request.bytes);
        u->capacity = wrap_add(u->capacity, b->pv->capacity.bytes);
    }
    for (uint32_t i = 0; plan->n_bindings == 0 && i < plan->n_provisions; i++) {
        const struct planned_provision *r = &plan->provisions[i];
        if (!r->capacity)
            continue;
        struct class_usage *u = usage_of(at, &n, r->claim->pvc->storage_class);
        u->capacity = r->capacity->capacity.bytes;
        u->requested = wrap_add(u->requested, r->claim->pvc->request.bytes);
    }
    return n;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    const struct prepared *st = CYCLE_STATE(p, c, struct prepared);
    if (!p->features->storage_capacity_scoring || !st->filtered)
        return 0;
    const struct volume_plan *plan = volume_plan_make(&d->binder, c, st->claims, n->node);
    struct arena_mark mark = arena_save(c->arena);
    struct class_usage *usage = ARENA_NEW_N(c->arena, struct class_usage, st->claims->n_delayed);
    uint32_t n_classes = sum_usage(plan, usage);
    int64_t sum = 0;
    for (uint32_t i = 0; i < n_classes; i++) {
        const struct class_usage *u = &usage[i];
        bool full = u->capacity <= 0 || u->requested > u->capacity;
        int64_t utilization = full ? 100 : wrap_mul(u->requested, 100) / u->capacity;
        sum += shape_score(d->shape, d->n_shape, utilization);
    }
    arena_rewind(c->arena, mark);
    return n_classes ? (int64_t)round((double)sum / n_classes) : 0;
}

/* ---- Reserve ---- */

static const char *keep(struct cycle *c, const char *text)
{
    return arena_cstr(c->binding_arena, str_of(text));
}

static bool names_exactly(const struct pv *pv, const struct pvc *claim)
{
    return pv->claim && pv->claim->ns == claim->meta.ns && strcmp(pv->claim->name, claim->meta.name) == 0 &&
           strcmp(pv->claim->uid, claim->meta.uid) == 0;
}

/* A volume that a user has given to the claim by name gets no mark of the controller. */
static struct volume_binding decide_binding(struct cycle *c, const struct planned_binding *b)
{
    const struct pvc *claim = b->claim->pvc;
    return (struct volume_binding){
        .volume = keep(c, b->pv->meta.name),
        .volume_version = keep(c, b->pv->meta.resource_version),
        .claim = keep(c, claim->meta.name),
        .claim_uid = keep(c, claim->meta.uid),
        .claim_version = keep(c, claim->meta.resource_version),
        .by_controller = !b->pv->claim,
    };
}

static struct volume_decisions *decide(const struct data *d, struct cycle *c, sym node, const struct volume_plan *plan)
{
    struct arena *arena = c->binding_arena;
    struct volume_binding *bindings = ARENA_NEW_N(arena, struct volume_binding, plan->n_bindings);
    struct volume_provision *provisions = ARENA_NEW_N(arena, struct volume_provision, plan->n_provisions);
    for (uint32_t i = 0; i < plan->n_bindings; i++)
        bindings[i] = decide_binding(c, &plan->bindings[i]);
    for (uint32_t i = 0; i < plan->n_provisions; i++) {
        const struct pvc *claim = plan->provisions[i].claim->pvc;
        provisions[i] = (struct volume_provision){ keep(c, claim->meta.name), keep(c, claim->meta.resource_version) };
    }
    struct volume_decisions *decisions = ARENA_NEW(arena, struct volume_decisions);
    *decisions = (struct volume_decisions){ c->pod->meta.ns, node, bindings, provisions, plan->n_bindings,
                                            plan->n_provisions, d->timeout_ms };
    return decisions;
}

static enum err_code assume_binding(struct data *d, struct cycle *c, const struct planned_binding *b, struct err *e)
{
    const struct pvc *claim = b->claim->pvc;
    if (names_exactly(b->pv, claim))
        return ERR_OK;
    struct claim_ref ref = { claim->meta.name, claim->meta.uid, claim->meta.ns };
    return assumed_set(&d->binder.volumes, c->objects, pv_with_claim(c->syms, b->pv, &ref), e);
}

static enum err_code assume_all(struct data *d, struct cycle *c, sym node, const struct volume_plan *plan,
                                struct err *e)
{
    for (uint32_t i = 0; i < plan->n_bindings; i++)
        if (assume_binding(d, c, &plan->bindings[i], e))
            return e->code;
    for (uint32_t i = 0; i < plan->n_provisions; i++) {
        const struct pvc *claim = plan->provisions[i].claim->pvc;
        if (assumed_set(&d->binder.claims, c->objects, pvc_with_node(c->syms, claim, node), e))
            return e->code;
    }
    return ERR_OK;
}

static void drop_all(struct data *d, const struct volume_decisions *decisions)
{
    for (uint32_t i = 0; i < decisions->n_bindings; i++) {
        const struct volume_binding *b = &decisions->bindings[i];
        assumed_drop(&d->binder.volumes, SYM_EMPTY, str_of(b->volume), b->volume_version);
    }
    for (uint32_t i = 0; i < decisions->n_provisions; i++) {
        const struct volume_provision *r = &decisions->provisions[i];
        assumed_drop(&d->binder.claims, decisions->ns, str_of(r->claim), r->claim_version);
    }
}

static struct verdict reserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    struct data *d = p->data;
    const struct prepared *st = CYCLE_STATE(p, c, struct prepared);
    if (!st)
        return verdict_text(V_ERROR, NO_STATE);
    if (!st->filtered || st->claims->n_delayed == 0) {
        set_state(p, c, &all_bound);
        return PASS;
    }
    const struct node *on = c->cache->rows.at[node].node;
    const struct volume_plan *plan = volume_plan_make(&d->binder, c, st->claims, on);
    struct reservation *r = ARENA_NEW(c->binding_arena, struct reservation);
    *r = (struct reservation){ STAGE_RESERVED, decide(d, c, on->name, plan) };
    struct err e;
    err_init(&e, c->binding_arena);
    if (assume_all(d, c, on->name, plan, &e)) {
        drop_all(d, r->decisions);
        set_state(p, c, &all_bound);
        return verdict_text(V_ERROR, e.message);
    }
    c->state[p->index] = r;
    return PASS;
}

/* NULL: nothing was reserved. */
static const struct volume_decisions *decisions_of(const struct plugin_instance *p, const struct cycle *c)
{
    const struct reservation *r = c->state[p->index];
    return r && r->stage == STAGE_RESERVED ? r->decisions : NULL;
}

static void unreserve(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    const struct volume_decisions *decisions = decisions_of(p, c);
    if (decisions)
        drop_all(p->data, decisions);
}

/* ---- PreBind ---- */

/* A profile without our Reserve: nothing is assumed, but the volumes are bound. */
static struct verdict decide_late(const struct plugin_instance *p, struct cycle *c, node_id node,
                                  const struct prepared *st)
{
    const struct data *d = p->data;
    const struct node *on = c->cache->rows.at[node].node;
    if (!st->filtered)
        return verdict_printf(c, V_ERROR, "no pod volume found for node \"%s\"", on->meta.name);
    const struct volume_plan *plan = volume_plan_make(&d->binder, c, st->claims, on);
    struct reservation *r = ARENA_NEW(c->binding_arena, struct reservation);
    *r = (struct reservation){ STAGE_RESERVED, decide(d, c, on->name, plan) };
    c->state[p->index] = r;
    return PASS;
}

static struct verdict pre_bind_pre_flight(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    const struct prepared *st = CYCLE_STATE(p, c, struct prepared);
    if (!st)
        return verdict_text(V_ERROR, NO_STATE);
    if (st->stage == STAGE_PREPARED)
        return decide_late(p, c, node, st);
    return decisions_of(p, c) ? PASS : SKIP;
}

static struct verdict pre_bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)node;
    const struct volume_decisions *decisions = decisions_of(p, c);
    return decisions ? framework_bind_volumes(c, decisions) : PASS;
}

/* ---- Hints ---- */

static bool same_rule(const struct match_rule *a, const struct match_rule *b)
{
    return a->key == b->key && a->op == b->op && a->n_values == b->n_values &&
           (a->n_values == 0 || memcmp(a->values, b->values, a->n_values * sizeof(*a->values)) == 0);
}

static bool same_term(const struct node_rule *a, const struct node_rule *b)
{
    if (a->labels.mode != b->labels.mode || a->empty != b->empty || a->broken != b->broken)
        return false;
    if (a->labels.mode != MATCHER_ALL_OF)
        return true;
    if (a->labels.n != b->labels.n)
        return false;
    for (uint16_t i = 0; i < a->labels.n; i++)
        if (!same_rule(&a->labels.at[i], &b->labels.at[i]))
            return false;
    return true;
}

static bool same_topologies(const struct node_rules *a, const struct node_rules *b)
{
    if (a->given != b->given || a->n != b->n)
        return false;
    for (uint16_t i = 0; a->given && i < a->n; i++)
        if (!same_term(&a->at[i], &b->at[i]))
            return false;
    return true;
}

static enum hint class_changed(const struct hint_context *h, const struct pod *waiting,
                               const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct storage_class *old = event->old_object, *now = event->new_object;
    return old && same_topologies(&old->allowed_topologies, &now->allowed_topologies) ? HINT_SKIP : HINT_QUEUE;
}

static enum hint csi_node_changed(const struct hint_context *h, const struct pod *waiting,
                                  const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct csi_node *old = event->old_object, *now = event->new_object;
    bool same = old && old->n_migrated_plugins == now->n_migrated_plugins &&
                (now->n_migrated_plugins == 0 ||
                 memcmp(old->migrated_plugins, now->migrated_plugins, now->n_migrated_plugins * sizeof(sym)) == 0);
    return same ? HINT_SKIP : HINT_QUEUE;
}

static enum hint driver_changed(const struct hint_context *h, const struct pod *waiting,
                                const struct cluster_event *event)
{
    const struct csi_driver *old = event->old_object, *now = event->new_object;
    if (!old->storage_capacity || now->storage_capacity)
        return HINT_SKIP;
    sym name = sym_find(h->syms, str_of(now->meta.name));
    for (uint16_t i = 0; i < waiting->n_volumes; i++)
        if (waiting->volumes[i].kind == VOLUME_CSI_INLINE && waiting->volumes[i].names[0] == name)
            return HINT_QUEUE;
    return HINT_SKIP;
}

static enum hint capacity_changed(const struct hint_context *h, const struct pod *waiting,
                                  const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct csi_storage_capacity *old = event->old_object, *now = event->new_object;
    if (!old)
        return HINT_QUEUE;
    const struct storage_amount *before = volume_limit(old), *after = volume_limit(now);
    return after->given && (!before->given || after->bytes > before->bytes) ? HINT_QUEUE : HINT_SKIP;
}

static bool needs_feasible(const struct plugin_instance *p, const struct cycle *c)
{
    (void)p;
    (void)c;
    return false;
}

/* As upstream, whose words these are. Filter looks for itself. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)c;
    bool scores = at == POINT_SCORE && p->features->storage_capacity_scoring;
    return scores && missing == POINT_PRE_FILTER ? NO_STATE : NULL;
}

const struct plugin volumebinding_plugin = {
    .name = "VolumeBinding",
    .init = init,
    .fini = fini,
    .forget = forget,
    .pre_filter = pre_filter,
    .filter = filter,
    .reasons = reasons,
    .pre_score = pre_score,
    .fails_without = fails_without,
    .needs_feasible = needs_feasible,
    .score = score,
    .reserve = reserve,
    .unreserve = unreserve,
    .pre_bind_pre_flight = pre_bind_pre_flight,
    .pre_bind = pre_bind,
    .events = (const struct plugin_event[]){
        { RES_STORAGE_CLASS, ACT_ADD | ACT_UPDATE, class_changed },
        { RES_PERSISTENT_VOLUME_CLAIM, ACT_ADD | ACT_UPDATE, hint_claim_or_ephemeral },
        { RES_PERSISTENT_VOLUME, ACT_ADD | ACT_UPDATE, NULL },
        { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_LABEL, NULL },
        { RES_CSI_NODE, ACT_ADD | ACT_UPDATE, csi_node_changed },
        { RES_CSI_DRIVER, ACT_UPDATE, driver_changed },
        { RES_CSI_STORAGE_CAPACITY, ACT_ADD | ACT_UPDATE, capacity_changed },
        { 0 } },
};
