/* NodeVolumeLimits as the predicate MaxCSIVolumeCountPred: claims only, no attachments, and limits also from what a node
 * says is allocatable. Upstream: plugins/nodevolumelimits/csi.go, v1.20. */
#include "base/arena_array.h"
#include "plugins/csi_translate.h"
#include "plugins/legacy.h"
#include "plugins/volume_shared.h"

#define TOO_MANY "node(s) exceed max volume count"
#define LIMIT_PREFIX "attachable-volumes-csi-"

struct data {
    struct csi_names names;
};

/* A volume as its driver knows it. */
struct counted {
    sym driver, claim_ns; /* SYM_NONE: a real handle */
    struct str handle;
};

struct volumes {
    struct counted *at; /* no repeats */
    size_t n, cap;
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct data *d = mem_alloc(sizeof(*d));
    csi_names_init(&d->names, p->syms);
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

/* ---- Volumes ---- */

static bool has(const struct volumes *l, const struct counted *v)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].driver == v->driver && l->at[i].claim_ns == v->claim_ns && str_eq(l->at[i].handle, v->handle))
            return true;
    return false;
}

static void add(struct cycle *c, struct volumes *to, struct counted v)
{
    if (v.driver == SYM_EMPTY || v.handle.n == 0 || has(to, &v))
        return;
    to->at = arena_array_more(c->arena, to->at, to->n, &to->cap, sizeof(*to->at));
    to->at[to->n++] = v;
}

static bool is_migrated(const struct plugin_instance *p, const struct csi_node *on, enum pv_source source)
{
    const struct data *d = p->data;
    return source == PV_SOURCE_AWS_EBS && p->features->csi_migration_aws && csi_is_migrated(on, d->names.plugin[source]);
}

static void add_pv(const struct plugin_instance *p, struct cycle *c, const struct csi_node *on, const struct pv *pv,
                   struct volumes *to)
{
    const struct data *d = p->data;
    struct counted v = { pv->driver, SYM_NONE, str_of(pv->handle) };
    if (pv->source != PV_SOURCE_CSI) {
        struct err e;
        err_init(&e, c->arena);
        if (!csi_stands_in(pv->source) || !is_migrated(p, on, pv->source) ||
            csi_handle_of_pv(&d->names, p->syms, pv, &v.handle, &e))
            return;
        v.driver = d->names.driver[pv->source];
    }
    add(c, to, v);
}

/* The class says which driver will make the volume. */
static void add_unbound(const struct plugin_instance *p, struct cycle *c, const struct csi_node *on,
                        const struct pvc *claim, struct volumes *to)
{
    const struct data *d = p->data;
    const struct storage_class *class =
        claim->storage_class == SYM_EMPTY ? NULL : class_by_name(c->objects, p->syms, claim->storage_class);
    if (!class)
        return;
    sym driver = class->provisioner;
    enum pv_source source = csi_source_of_provisioner(&d->names, driver);
    if (source != PV_SOURCE_OTHER) {
        if (!is_migrated(p, on, source))
            return;
        driver = d->names.driver[source];
    }
    add(c, to, (struct counted){ driver, claim->meta.ns, str_of(claim->meta.name) });
}

static void add_volumes(const struct plugin_instance *p, struct cycle *c, const struct csi_node *on,
                        const struct pod *pod, struct volumes *to)
{
    for (uint16_t i = 0; i < pod->n_volumes; i++) {
        if (pod->volumes[i].kind != VOLUME_CLAIM)
            continue;
        const struct pvc *claim = claim_of_volume(c->objects, p->syms, pod, &pod->volumes[i]);
        if (!claim)
            continue;
        const struct pv *pv = claim->volume_name[0] ? volume_by_name(c->objects, claim->volume_name) : NULL;
        if (pv)
            add_pv(p, c, on, pv, to);
        else
            add_unbound(p, c, on, claim, to);
    }
}

/* ---- Limits ---- */

/* -1: none. What the driver says of itself comes before what the node publishes. */
static int64_t limit_of(const struct plugin_instance *p, const struct node *node, const struct csi_node *on, sym driver)
{
    for (uint32_t i = 0; on && i < on->n_drivers; i++)
        if (on->drivers[i].name == driver && on->drivers[i].count >= 0)
            return on->drivers[i].count;
    struct str wanted = sym_text(p->syms, driver), prefix = STR(LIMIT_PREFIX);
    for (uint32_t i = 0; i < node->allocatable.n_scalars; i++) {
        struct str name = sym_text(p->syms, node->allocatable.scalars[i].name);
        if (str_starts(name, prefix) && str_eq(str_from(name, prefix.n), wanted))
            return node->allocatable.scalars[i].amount;
    }
    return -1;
}

static bool fits(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct csi_node *on = csi_node_of(c->objects, n->node);
    struct volumes wanted = { 0 }, there = { 0 };
    add_volumes(p, c, on, c->pod, &wanted);
    if (wanted.n == 0)
        return true;
    for (uint32_t i = 0; i < n->n_pods; i++)
        add_volumes(p, c, on, node_view_pod(n, i), &there);
    for (size_t i = 0; i < wanted.n; i++) {
        sym driver = wanted.at[i].driver;
        int64_t limit = limit_of(p, n->node, on, driver), n_new = 0, n_there = 0;
        for (size_t k = 0; k < wanted.n; k++)
            n_new += wanted.at[k].driver == driver && !has(&there, &wanted.at[k]);
        for (size_t k = 0; k < there.n; k++)
            n_there += there.at[k].driver == driver;
        if (limit >= 0 && n_new && n_there + n_new > limit)
            return false;
    }
    return true;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    if (c->pod->n_volumes == 0)
        return PASS;
    struct arena_mark mark = arena_save(c->arena);
    bool enough = fits(p, c, n);
    arena_rewind(c->arena, mark);
    return enough ? PASS : verdict_text(V_UNSCHEDULABLE, TOO_MANY);
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    if (c->pod->n_volumes == 0)
        return;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    for (size_t id = bitset_next(alive, n_words, 0); id < BITSET_END; id = bitset_next(alive, n_words, id + 1)) {
        struct node_view view = node_view_of(c->cache, (node_id)id);
        if (filter(p, c, &view).code != V_SUCCESS)
            bitset_clear(alive, id);
    }
}

const struct plugin legacy_nodevolumelimits_plugin = {
    .name = "NodeVolumeLimits",
    .init = init,
    .fini = fini,
    .filter = filter,
    .filter_block = filter_block,
};
