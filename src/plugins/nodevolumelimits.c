/* NodeVolumeLimits: no more volumes of a CSI driver on a node than the driver says it can attach there.
 * Points: PreFilter (skips pods without volumes that could count), Filter. Upstream:
 * plugins/nodevolumelimits, v1.36.
 *
 * A volume is counted once a node, under its driver and handle: the handle of the persistent volume,
 * that of the driver which stands in for an in-tree volume, or, while there is no volume yet, the
 * claim. Volumes that the node still has attached after their pod is gone count too; a pod that wants
 * one of these again counts it twice, as upstream.
 *
 * What the pod wants is worked out once for nodes with and once for nodes without a CSINode, for only
 * the former hand in-tree volumes over. Most nodes are then settled by a bound: all claims of all pods
 * there would fit. */
#include "base/arena_array.h"
#include "base/sort.h"
#include "plugins/csi_translate.h"
#include "plugins/volume_shared.h"

#define TOO_MANY "node(s) exceed max volume count"
#define NOT_INSTALLED "%s CSI driver is not installed on the node"

/* A volume as a driver knows it. */
struct counted_volume {
    sym driver;
    sym claim_ns; /* of a claim without volume, whose name is the handle; SYM_NONE: a real handle */
    struct str handle;
};

struct counted_volumes {
    struct counted_volume *at; /* in the cycle's arena */
    size_t n, cap;
};

/* What the pod wants. */
struct wanted {
    bool known;
    struct verdict failure; /* code V_SUCCESS: none */
    struct counted_volumes volumes; /* sorted, no repeats */
};

struct state {
    struct wanted wanted[2]; /* on nodes without and with a CSINode */
};

/* VolumeAttachments by node. */
struct attachments {
    bool built;
    uint64_t version;     /* of the objects that it was made from */
    struct map_u64 first; /* node name -> position in the list of objects + 1 */
    VEC(uint32_t) next;   /* by position: the next one of the node + 1; 0: none */
};

struct data {
    struct csi_names names;
    struct attachments attachments;
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    (void)e;
    struct data *d = mem_zalloc(sizeof(*d));
    csi_names_init(&d->names, p->syms);
    map_u64_init(&d->attachments.first);
    p->data = d;
    return ERR_OK;
}

static void forget(struct plugin_instance *p)
{
    ((struct data *)p->data)->attachments.built = false;
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    map_u64_fini(&d->attachments.first);
    vec_fini(&d->attachments.next);
    free(d);
}

/* ---- Lists of volumes ---- */

static int compare_volumes(const void *a, const void *b)
{
    const struct counted_volume *x = a, *y = b;
    if (x->driver != y->driver)
        return x->driver < y->driver ? -1 : 1;
    if (x->claim_ns != y->claim_ns)
        return x->claim_ns < y->claim_ns ? -1 : 1;
    return str_cmp(x->handle, y->handle);
}

static void volumes_add(struct arena *arena, struct counted_volumes *l, struct counted_volume item)
{
    l->at = arena_array_more(arena, l->at, l->n, &l->cap, sizeof(*l->at));
    l->at[l->n++] = item;
}

static void volumes_sort(struct arena *scratch, struct counted_volumes *l)
{
    size_t n_kept = 0;
    sort_stable(scratch, l->at, l->n, sizeof(*l->at), compare_volumes);
    for (size_t i = 0; i < l->n; i++)
        if (i == 0 || compare_volumes(&l->at[i], &l->at[n_kept - 1]) != 0)
            l->at[n_kept++] = l->at[i];
    l->n = n_kept;
}

static bool volumes_have(const struct counted_volumes *l, const struct counted_volume *item)
{
    return l->n && bsearch(item, l->at, l->n, sizeof(*l->at), compare_volumes);
}

static int64_t volumes_count(const struct counted_volumes *l, sym driver)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->at[i].driver == driver;
    return n;
}

/* ---- Volumes of a pod ---- */

/* One look at volumes: of which pod, on which node, and where to put them. */
struct survey {
    const struct plugin_instance *p;
    struct cycle *c;
    const struct pod *pod;
    bool has_csi_node; /* only then do drivers stand in for in-tree volumes */
    bool is_new;       /* the pod that is tried: its claims must exist */
    const struct wanted *only; /* drivers to look for; NULL: all */
    struct counted_volumes *to;
};

static bool looks_for(const struct survey *s, sym driver)
{
    if (!s->only)
        return true;
    for (size_t i = 0; i < s->only->volumes.n; i++)
        if (s->only->volumes.at[i].driver == driver)
            return true;
    return false;
}

static void add(const struct survey *s, struct counted_volume item)
{
    if (looks_for(s, item.driver))
        volumes_add(s->c->arena, s->to, item);
}

/* A volume that exists; one that no driver knows does not count. */
static void add_pv(const struct survey *s, const struct pv *pv)
{
    const struct data *d = s->p->data;
    struct counted_volume item = { pv->driver, SYM_NONE, str_of(pv->handle) };
    if (pv->source != PV_SOURCE_CSI) {
        struct err e;
        err_init(&e, s->c->arena);
        if (!s->has_csi_node || !csi_stands_in(pv->source) ||
            csi_handle_of_pv(&d->names, s->p->syms, pv, &item.handle, &e))
            return;
        item.driver = d->names.driver[pv->source];
    }
    if (item.driver != SYM_EMPTY && item.handle.n)
        add(s, item);
}

/* A volume that is still to be made: the driver is the provisioner of its class. */
static void add_unbound(const struct survey *s, const struct pvc *claim)
{
    const struct data *d = s->p->data;
    const struct storage_class *class =
        claim->storage_class == SYM_EMPTY ? NULL : class_by_name(s->c->objects, s->p->syms, claim->storage_class);
    if (!class || class->provisioner == SYM_EMPTY)
        return;
    sym driver = class->provisioner;
    enum pv_source source = csi_source_of_provisioner(&d->names, driver);
    if (source != PV_SOURCE_OTHER) {
        if (!s->has_csi_node || !csi_stands_in(source))
            return;
        driver = d->names.driver[source];
    }
    add(s, (struct counted_volume){ driver, claim->meta.ns, str_of(claim->meta.name) });
}

static struct verdict add_claim(const struct survey *s, const struct pod_volume *v)
{
    struct cycle *c = s->c;
    const struct sym_table *syms = s->p->syms;
    if (v->names[0] == SYM_EMPTY)
        return verdict_text(V_ERROR, "PersistentVolumeClaim had no name");
    const char *ns = sym_text(syms, s->pod->meta.ns).p, *name = sym_text(syms, v->names[0]).p;
    const struct pvc *claim = claim_of_volume(c->objects, syms, s->pod, v);
    if (!claim && s->is_new)
        return verdict_printf(c, V_UNRESOLVABLE, "looking up PVC %s/%s: " CLAIM_NOT_FOUND, ns, name, name);
    if (!claim)
        return PASS;
    if (v->kind == VOLUME_EPHEMERAL && !claim_belongs_to(claim, s->pod))
        return verdict_printf(c, V_ERROR, NOT_THE_OWNER, ns, name, ns, s->pod->meta.name);
    const struct pv *pv = claim->volume_name[0] ? volume_by_name(c->objects, claim->volume_name) : NULL;
    if (pv)
        add_pv(s, pv);
    else
        add_unbound(s, claim);
    return PASS;
}

static struct verdict add_inline(const struct survey *s, const struct pod_volume *v)
{
    const struct data *d = s->p->data;
    enum pv_source source = csi_source_of_volume(v);
    if (!s->has_csi_node || !csi_stands_in(source))
        return PASS;
    struct counted_volume item = { d->names.driver[source], SYM_NONE, { 0 } };
    struct err e;
    err_init(&e, s->c->arena);
    if (csi_handle_of_volume(s->p->syms, v, &item.handle, &e))
        return verdict_printf(s->c, V_ERROR, "converting volume from inline to csi: %s", e.message);
    add(s, item);
    return PASS;
}

static struct verdict add_volumes(const struct survey *s)
{
    for (uint16_t i = 0; i < s->pod->n_volumes; i++) {
        const struct pod_volume *v = &s->pod->volumes[i];
        struct verdict verdict = volume_has_claim(v) ? add_claim(s, v) : add_inline(s, v);
        if (verdict.code != V_SUCCESS)
            return verdict;
    }
    return PASS;
}

static const struct wanted *wanted_on(const struct plugin_instance *p, struct cycle *c, bool has_csi_node)
{
    if (!c->state[p->index]) /* the profile has no PreFilter of ours */
        c->state[p->index] = ARENA_NEW(c->arena, struct state);
    struct wanted *w = &CYCLE_STATE(p, c, struct state)->wanted[has_csi_node];
    if (w->known)
        return w;
    struct survey s = { p, c, c->pod, has_csi_node, .is_new = true, .to = &w->volumes };
    w->known = true;
    w->failure = add_volumes(&s);
    volumes_sort(c->arena, &w->volumes);
    return w;
}

/* ---- What a node has ---- */

static void index_attachments(struct attachments *a, const struct objects *o)
{
    struct object_list all = objects_all(o, OBJECT_VOLUME_ATTACHMENT);
    map_u64_fini(&a->first);
    map_u64_init(&a->first);
    vec_reset(&a->next);
    vec_reserve(&a->next, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct volume_attachment *va = all.at[i];
        union map_value *first = map_u64_put(&a->first, va->node_name, NULL);
        vec_push(&a->next, (uint32_t)first->num);
        first->num = i + 1;
    }
    a->version = objects_version(o, OBJECT_VOLUME_ATTACHMENT);
    a->built = true;
}

/* Position + 1 of a node's first attachment; 0: it has none. */
static uint32_t first_attachment(const struct plugin_instance *p, const struct cycle *c, const struct node *node)
{
    struct attachments *a = &((struct data *)p->data)->attachments;
    if (!a->built || a->version != objects_version(c->objects, OBJECT_VOLUME_ATTACHMENT))
        index_attachments(a, c->objects);
    union map_value *first = map_u64_find(&a->first, node->name);
    return first ? (uint32_t)first->num : 0;
}

static void add_attachments(const struct survey *s, uint32_t first)
{
    const struct attachments *a = &((const struct data *)s->p->data)->attachments;
    struct object_list all = objects_all(s->c->objects, OBJECT_VOLUME_ATTACHMENT);
    for (uint32_t at = first; at; at = a->next.at[at - 1]) {
        const struct volume_attachment *va = all.at[at - 1];
        const struct pv *pv = va->volume_name ? volume_by_name(s->c->objects, va->volume_name) : NULL;
        if (va->attacher != SYM_EMPTY && pv && pv->source == PV_SOURCE_CSI)
            add(s, (struct counted_volume){ va->attacher, SYM_NONE, str_of(pv->handle) });
    }
}

/* The driver's limit on the node; -1: none. */
static int32_t limit_of(const struct csi_node *csi_node, sym driver)
{
    int32_t limit = -1;
    for (uint32_t i = 0; i < csi_node->n_drivers; i++)
        if (csi_node->drivers[i].name == driver && csi_node->drivers[i].count >= 0)
            limit = csi_node->drivers[i].count;
    return limit;
}

static bool has_limits(const struct csi_node *csi_node)
{
    for (uint32_t i = 0; csi_node && i < csi_node->n_drivers; i++)
        if (csi_node->drivers[i].count >= 0)
            return true;
    return false;
}

/* Smallest limit of a driver that the pod wants. */
static int64_t least_limit(const struct csi_node *csi_node, const struct wanted *w)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < w->volumes.n; i++) {
        int32_t limit = limit_of(csi_node, w->volumes.at[i].driver);
        least = limit >= 0 && limit < least ? limit : least;
    }
    return least;
}

/* At most so many volumes of any driver are in use on the node. INT64_MAX: only a closer look can tell,
 * or fail. */
static int64_t volumes_bound(const struct plugin_instance *p, const struct cycle *c, const struct node_view *n)
{
    const struct attachments *a = &((const struct data *)p->data)->attachments;
    int64_t bound = 0;
    for (uint32_t i = 0; i < n->n_pods; i++) {
        const struct pod *pod = node_view_pod(n, i);
        for (uint16_t k = 0; k < pod->n_volumes; k++) {
            const struct pod_volume *v = &pod->volumes[k];
            if (v->kind == VOLUME_CLAIM ? v->names[0] == SYM_EMPTY
                                        : v->kind == VOLUME_EPHEMERAL || csi_stands_in(csi_source_of_volume(v)))
                return INT64_MAX;
            bound += v->kind == VOLUME_CLAIM;
        }
    }
    for (uint32_t at = first_attachment(p, c, n->node); at; at = a->next.at[at - 1])
        bound++;
    return bound;
}

/* Volumes that the pod brings and pods on the node do not use yet. */
static int64_t count_new(const struct wanted *w, const struct counted_volumes *in_use, sym driver)
{
    int64_t n = 0;
    for (size_t i = 0; i < w->volumes.n; i++)
        n += w->volumes.at[i].driver == driver && !volumes_have(in_use, &w->volumes.at[i]);
    return n;
}

static struct verdict compare_limits(const struct survey *s, const struct csi_node *csi_node,
                                     const struct counted_volumes *in_use, const struct counted_volumes *attached)
{
    const struct counted_volumes *wanted = &s->only->volumes;
    for (size_t i = 0; i < wanted->n; i++) {
        sym driver = wanted->at[i].driver;
        if (i && driver == wanted->at[i - 1].driver)
            continue; /* sorted: the same driver again */
        int32_t limit = limit_of(csi_node, driver);
        int64_t n_new = limit >= 0 ? count_new(s->only, in_use, driver) : 0;
        if (n_new && volumes_count(attached, driver) + n_new > limit)
            return verdict_text(V_UNSCHEDULABLE, TOO_MANY);
    }
    return PASS;
}

static struct verdict check_node(const struct plugin_instance *p, struct cycle *c, const struct node_view *n,
                                 const struct csi_node *csi_node, const struct wanted *w)
{
    struct counted_volumes in_use = { 0 };
    struct survey s = { p, c, NULL, .has_csi_node = true, .only = w, .to = &in_use };
    for (uint32_t i = 0; i < n->n_pods; i++) {
        s.pod = node_view_pod(n, i);
        struct verdict v = add_volumes(&s);
        if (v.code != V_SUCCESS)
            return v;
    }
    volumes_sort(c->arena, &in_use);
    struct counted_volumes attached = { 0 };
    for (size_t i = 0; i < in_use.n; i++)
        volumes_add(c->arena, &attached, in_use.at[i]);
    s.to = &attached;
    add_attachments(&s, first_attachment(p, c, n->node));
    volumes_sort(c->arena, &attached);
    return compare_limits(&s, csi_node, &in_use, &attached);
}

/* Scratch memory goes back to the arena unless a failure's text is in it. */
static struct verdict check_limits(const struct plugin_instance *p, struct cycle *c, const struct node_view *n,
                                   const struct csi_node *csi_node, const struct wanted *w)
{
    int64_t bound = volumes_bound(p, c, n);
    if (bound < INT64_MAX && bound + (int64_t)w->volumes.n <= least_limit(csi_node, w))
        return PASS;
    struct arena_mark mark = arena_save(c->arena);
    struct verdict v = check_node(p, c, n, csi_node, w);
    if (v.code != V_ERROR)
        arena_rewind(c->arena, mark);
    return v;
}

/* ---- Points ---- */

static bool may_count(const struct pod *pod)
{
    for (uint16_t i = 0; i < pod->n_volumes; i++)
        if (volume_has_claim(&pod->volumes[i]) || csi_source_of_volume(&pod->volumes[i]) != PV_SOURCE_OTHER)
            return true;
    return false;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    if (!may_count(c->pod))
        return SKIP;
    c->state[p->index] = ARENA_NEW(c->arena, struct state);
    return PASS;
}

static bool is_installed(const struct plugin_instance *p, const struct cycle *c, const struct csi_node *csi_node,
                         sym driver)
{
    const struct csi_driver *d =
        objects_get(c->objects, OBJECT_CSI_DRIVER, SYM_EMPTY, sym_text(p->syms, driver));
    if (!d || !d->prevent_pod_scheduling_if_missing)
        return true;
    for (uint32_t i = 0; csi_node && i < csi_node->n_drivers; i++)
        if (csi_node->drivers[i].name == driver)
            return true;
    return false;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct csi_node *csi_node = csi_node_of(c->objects, n->node);
    const struct wanted *w = wanted_on(p, c, csi_node != NULL);
    if (w->failure.code != V_SUCCESS)
        return w->failure;
    for (size_t i = 0; p->features->volume_limit_scaling && i < w->volumes.n; i++) {
        sym driver = w->volumes.at[i].driver;
        if (!is_installed(p, c, csi_node, driver))
            return verdict_printf(c, V_UNSCHEDULABLE, NOT_INSTALLED, sym_text(p->syms, driver).p);
    }
    return w->volumes.n && has_limits(csi_node) ? check_limits(p, c, n, csi_node, w) : PASS;
}

/* ---- Hints ---- */

static int32_t count_or_0(const struct csi_node *csi_node, sym driver)
{
    int32_t limit = limit_of(csi_node, driver);
    return limit > 0 ? limit : 0;
}

static enum hint csi_node_changed(const struct hint_context *h, const struct pod *waiting,
                                  const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct csi_node *old = event->old_object, *now = event->new_object;
    for (uint32_t i = 0; i < now->n_drivers; i++)
        if (now->drivers[i].count > count_or_0(old, now->drivers[i].name))
            return HINT_QUEUE;
    return HINT_SKIP;
}

static enum hint pod_deleted(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    const struct pod *gone = event->old_object;
    bool held_a_node = gone->node_name != SYM_EMPTY || gone->nominated_node != SYM_EMPTY;
    return held_a_node && may_count(gone) ? HINT_QUEUE : HINT_SKIP;
}

static enum hint attachment_deleted(const struct hint_context *h, const struct pod *waiting,
                                    const struct cluster_event *event)
{
    const struct data *d = h->plugin->data;
    const struct volume_attachment *gone = event->old_object;
    for (uint16_t i = 0; i < waiting->n_volumes; i++) {
        const struct pod_volume *v = &waiting->volumes[i];
        enum pv_source source = csi_source_of_volume(v);
        if (v->kind == VOLUME_CLAIM || (source != PV_SOURCE_OTHER && d->names.driver[source] == gone->attacher))
            return HINT_QUEUE;
    }
    return HINT_SKIP;
}

const struct plugin nodevolumelimits_plugin = {
    .name = "NodeVolumeLimits",
    .init = init,
    .fini = fini,
    .forget = forget,
    .pre_filter = pre_filter,
    .filter = filter,
    .events = (const struct plugin_event[]){ { RES_CSI_NODE, ACT_ADD, NULL },
                                             { RES_CSI_NODE, ACT_UPDATE, csi_node_changed },
                                             { RES_POD, ACT_DELETE, pod_deleted },
                                             { RES_PERSISTENT_VOLUME_CLAIM, ACT_ADD, hint_claim_or_ephemeral },
                                             { RES_VOLUME_ATTACHMENT, ACT_DELETE, attachment_deleted },
                                             { 0 } },
};
