/* EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: no more disks of one kind on a node than fit.
 *
 * Disks are counted once a node, by what identifies them, whether a pod names them itself or through a claim. A claim that
 * is not bound, or whose volume is gone, counts if its class makes such disks. The limit is what the node publishes, else
 * KUBE_MAX_PD_VOLS, else a number of the kind. A node that hands such disks over to a CSI driver is left to
 * NodeVolumeLimits. Upstream: plugins/nodevolumelimits/non_csi.go, v1.20. */
#include <stdlib.h>

#include "base/arena_array.h"
#include "plugins/csi_translate.h"
#include "plugins/legacy.h"
#include "plugins/volume_shared.h"

#define TOO_MANY "node(s) exceed max volume count"

enum { EBS_NITRO_MAX = 25 }; /* disks on newer kinds of machines */

struct disk_kind {
    enum pv_source source;
    uint8_t volume; /* enum of a pod's own volumes */
    const char *allocatable;
    int64_t limit;
    bool by_machine; /* fewer on some kinds of machines */
};

static const struct disk_kind ebs = { PV_SOURCE_AWS_EBS, VOLUME_AWS_EBS, "attachable-volumes-aws-ebs", 39, true };
static const struct disk_kind gce_pd = { PV_SOURCE_GCE_PD, VOLUME_GCE_PD, "attachable-volumes-gce-pd", 16, false };
static const struct disk_kind azure = { PV_SOURCE_AZURE_DISK, VOLUME_AZURE_DISK, "attachable-volumes-azure-disk", 16, false };
static const struct disk_kind cinder = { PV_SOURCE_CINDER, VOLUME_CINDER, "attachable-volumes-cinder", 256, false };

struct data {
    const struct disk_kind *kind;
    sym allocatable, provisioner, machine, machine_beta;
    int64_t limit_of_environment; /* 0: none */
};

static enum err_code make(struct plugin_instance *p, const struct disk_kind *kind)
{
    struct csi_names names;
    csi_names_init(&names, p->syms);
    struct data *d = mem_zalloc(sizeof(*d));
    const char *given = getenv("KUBE_MAX_PD_VOLS");
    char *end = NULL;
    long limit = given ? strtol(given, &end, 10) : 0;
    *d = (struct data){
        .kind = kind,
        .allocatable = sym_intern_static(p->syms, str_of(kind->allocatable)),
        .provisioner = names.plugin[kind->source],
        .machine = sym_intern_static(p->syms, STR("node.kubernetes.io/instance-type")),
        .machine_beta = sym_intern_static(p->syms, STR("beta.kubernetes.io/instance-type")),
        .limit_of_environment = given && *given && !*end && limit > 0 ? limit : 0,
    };
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

/* ---- Disks ---- */

/* A disk by its own name, or by that of a claim without volume. */
struct disk {
    struct str name;
    sym claim_ns; /* SYM_NONE: the disk's own name */
};

struct disks {
    struct disk *at; /* no repeats */
    size_t n, cap;
};

static bool has(const struct disks *l, const struct disk *d)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].claim_ns == d->claim_ns && str_eq(l->at[i].name, d->name))
            return true;
    return false;
}

static void add(struct arena *a, struct disks *l, struct disk d)
{
    if (has(l, &d))
        return;
    l->at = arena_array_more(a, l->at, l->n, &l->cap, sizeof(*l->at));
    l->at[l->n++] = d;
}

static bool class_makes_it(const struct data *d, const struct cycle *c, const struct pvc *claim)
{
    const struct storage_class *class =
        claim->storage_class == SYM_EMPTY ? NULL : class_by_name(c->objects, c->syms, claim->storage_class);
    return class && class->provisioner == d->provisioner;
}

static void add_claimed(const struct data *d, struct cycle *c, const struct pod *pod, const struct pod_volume *v,
                        struct disks *to)
{
    const struct pvc *claim = claim_of_volume(c->objects, c->syms, pod, v);
    if (!claim)
        return;
    const struct pv *pv = claim->volume_name[0] ? volume_by_name(c->objects, claim->volume_name) : NULL;
    if (pv && pv->source == d->kind->source)
        add(c->arena, to, (struct disk){ str_of(pv->handle), SYM_NONE });
    else if (!pv && class_makes_it(d, c, claim))
        add(c->arena, to, (struct disk){ sym_text(c->syms, v->names[0]), pod->meta.ns });
}

static void add_disks(const struct data *d, struct cycle *c, const struct pod *pod, struct disks *to)
{
    for (uint16_t i = 0; i < pod->n_volumes; i++) {
        const struct pod_volume *v = &pod->volumes[i];
        if (v->kind == d->kind->volume)
            add(c->arena, to, (struct disk){ sym_text(c->syms, v->names[0]), SYM_NONE });
        else if (v->kind == VOLUME_CLAIM)
            add_claimed(d, c, pod, v, to);
    }
}

/* ---- The limit of a node ---- */

/* ^[cmr]5.*|t3|z1d, whose first part alone is anchored: as upstream. */
static bool is_nitro(struct str machine)
{
    bool fifth = machine.n >= 2 && strchr("cmr", machine.p[0]) && machine.p[1] == '5';
    return fifth || memmem(machine.p, machine.n, "t3", 2) || memmem(machine.p, machine.n, "z1d", 3);
}

static int64_t limit_of(const struct plugin_instance *p, const struct node *node)
{
    const struct data *d = p->data;
    for (uint32_t i = 0; i < node->allocatable.n_scalars; i++)
        if (node->allocatable.scalars[i].name == d->allocatable)
            return node->allocatable.scalars[i].amount;
    if (d->limit_of_environment)
        return d->limit_of_environment;
    sym machine = label_set_get(node->meta.labels, d->machine);
    if (machine == SYM_NONE)
        machine = label_set_get(node->meta.labels, d->machine_beta);
    bool few = d->kind->by_machine && machine != SYM_NONE && is_nitro(sym_text(p->syms, machine));
    return few ? EBS_NITRO_MAX : d->kind->limit;
}

static bool is_migrated(const struct plugin_instance *p, const struct cycle *c, const struct node *node)
{
    const struct data *d = p->data;
    return d->kind->source == PV_SOURCE_AWS_EBS && p->features->csi_migration_aws &&
           csi_is_migrated(csi_node_of(c->objects, node), d->provisioner);
}

/* False: nothing to count. */
static bool count(const struct plugin_instance *p, struct cycle *c, const struct node_view *n, int64_t *ret_new,
                  int64_t *ret_room)
{
    const struct data *d = p->data;
    struct disks wanted = { 0 }, there = { 0 };
    struct arena_mark mark = arena_save(c->arena);
    add_disks(d, c, c->pod, &wanted);
    bool counts = wanted.n && !is_migrated(p, c, n->node);
    for (uint32_t i = 0; counts && i < n->n_pods; i++)
        add_disks(d, c, node_view_pod(n, i), &there);
    *ret_new = 0;
    for (size_t i = 0; counts && i < wanted.n; i++)
        *ret_new += !has(&there, &wanted.at[i]);
    *ret_room = counts ? limit_of(p, n->node) - (int64_t)there.n : 0;
    arena_rewind(c->arena, mark);
    return counts;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    int64_t n_new, room;
    if (c->pod->n_volumes == 0 || !count(p, c, n, &n_new, &room) || n_new <= room)
        return PASS;
    return verdict_text(V_UNSCHEDULABLE, TOO_MANY);
}

bool legacy_disks_counted(const struct plugin_instance *p, struct cycle *c, const struct node_view *n,
                          int64_t *ret_new, int64_t *ret_room)
{
    return p->plugin->filter == filter && c->pod->n_volumes && count(p, c, n, ret_new, ret_room);
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

#define LIMITS_PLUGIN(ident, kind_name, plugin_name)                                                      \
    static enum err_code init_##kind_name(struct plugin_instance *p, const void *args, struct err *e)    \
    {                                                                                                     \
        (void)args;                                                                                       \
        (void)e;                                                                                          \
        return make(p, &kind_name);                                                                       \
    }                                                                                                     \
    const struct plugin ident = {                                                                         \
        .name = plugin_name, .init = init_##kind_name, .fini = fini, .filter = filter, .filter_block = filter_block, \
    }

LIMITS_PLUGIN(legacy_ebslimits_plugin, ebs, "EBSLimits");
LIMITS_PLUGIN(legacy_gcepdlimits_plugin, gce_pd, "GCEPDLimits");
LIMITS_PLUGIN(legacy_azuredisklimits_plugin, azure, "AzureDiskLimits");
LIMITS_PLUGIN(legacy_cinderlimits_plugin, cinder, "CinderLimits");
