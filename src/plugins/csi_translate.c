/* plugins/csi_translate.c - see csi_translate.h. */
#include "plugins/csi_translate.h"

#include <strings.h>

#include "api/names.h"

#define NO_HANDLE "UNSPECIFIED" /* part of a handle that the driver finds out by itself */

/* source, in-tree plugin, driver, topology label ("": the affinity stays as it is), whether it stands in */
#define IN_TREE(X)                                                                                       \
    X(AWS_EBS, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", true)        \
    X(GCE_PD, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", true)             \
    X(AZURE_DISK, "kubernetes.io/azure-disk", "disk.csi.azure.com", "", true)                            \
    X(AZURE_FILE, "kubernetes.io/azure-file", "file.csi.azure.com", "", false)                           \
    X(CINDER, "kubernetes.io/cinder", "cinder.csi.openstack.org", CINDER_ZONE, true)                     \
    X(PORTWORX, "kubernetes.io/portworx-volume", "pxd.portworx.com", "", true)                           \
    X(VSPHERE, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "", false)
#define CINDER_ZONE "topology.cinder.csi.openstack.org/zone"

void csi_names_init(struct csi_names *names, struct sym_table *syms)
{
    for (int i = 0; i < N_PV_SOURCES; i++)
        names->plugin[i] = names->driver[i] = names->topology[i] = SYM_NONE;
#define X(source, in_tree, csi, label, stands_in)                                                       \
    names->plugin[PV_SOURCE_##source] = sym_intern_static(syms, STR(in_tree));                          \
    names->driver[PV_SOURCE_##source] = sym_intern_static(syms, STR(csi));                              \
    if (label[0])                                                                                       \
        names->topology[PV_SOURCE_##source] = sym_intern_static(syms, STR(label));
    IN_TREE(X)
#undef X
    names->zone = sym_intern_static(syms, STR("topology.kubernetes.io/zone"));
    names->region = sym_intern_static(syms, STR("topology.kubernetes.io/region"));
    names->zone_beta = sym_intern_static(syms, STR("failure-domain.beta.kubernetes.io/zone"));
    names->region_beta = sym_intern_static(syms, STR("failure-domain.beta.kubernetes.io/region"));
}

bool csi_stands_in(enum pv_source source)
{
    switch (source) {
#define X(source, in_tree, csi, label, stands_in)                                                       \
    case PV_SOURCE_##source:                                                                            \
        return stands_in;
        IN_TREE(X)
#undef X
    default:
        return false;
    }
}

enum pv_source csi_source_of_volume(const struct pod_volume *v)
{
    static const uint8_t source_of[N_VOLUME_KINDS] = {
        [VOLUME_GCE_PD] = PV_SOURCE_GCE_PD,         [VOLUME_AWS_EBS] = PV_SOURCE_AWS_EBS,
        [VOLUME_AZURE_DISK] = PV_SOURCE_AZURE_DISK, [VOLUME_AZURE_FILE] = PV_SOURCE_AZURE_FILE,
        [VOLUME_CINDER] = PV_SOURCE_CINDER,         [VOLUME_PORTWORX] = PV_SOURCE_PORTWORX,
        [VOLUME_VSPHERE] = PV_SOURCE_VSPHERE,
    };
    return source_of[v->kind];
}

enum pv_source csi_source_of_provisioner(const struct csi_names *names, sym provisioner)
{
    for (unsigned i = 0; i < N_PV_SOURCES; i++)
        if (names->plugin[i] == provisioner)
            return (enum pv_source)i;
    return PV_SOURCE_OTHER;
}

bool csi_is_migrated(const struct csi_node *csi_node, sym plugin)
{
    for (uint32_t i = 0; csi_node && i < csi_node->n_migrated_plugins; i++)
        if (csi_node->migrated_plugins[i] == plugin)
            return true;
    return false;
}

bool zone_label_next(struct str *rest, struct str *ret_part)
{
    if (!rest->p)
        return false;
    const char *cut = rest->n ? memmem(rest->p, rest->n, "__", 2) : NULL;
    if (cut) {
        *ret_part = str_range(rest->p, cut);
        *rest = str_range(cut + 2, rest->p + rest->n);
    } else {
        *ret_part = *rest;
        *rest = (struct str){ NULL, 0 };
    }
    return true;
}

/* ---- Handles ---- */

/* "aws://zone/vol-1" is vol-1; what does not look like a URL is taken as it is. */
static enum err_code ebs_handle(struct str id, struct str *ret_handle, struct err *e)
{
    struct str scheme = STR("aws://");
    if (!str_starts(id, scheme)) {
        *ret_handle = id;
        return ERR_OK;
    }
    struct str path = str_from(id, scheme.n);
    path = str_from(path, str_index(path, '/'));
    path = str_first(path, str_index(path, '?'));
    path = str_first(path, str_index(path, '#'));
    while (path.n && path.p[0] == '/')
        path = str_from(path, 1);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    if (!str_starts(path, STR("vol-")) || str_index(path, '/') < path.n)
        return err_set(e, ERR_INVALID,
                       "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (%.*s)",
                       STR_ARG(id));
    *ret_handle = path;
    return ERR_OK;
}

static enum err_code azure_handle(struct str uri, bool unmanaged, struct str *ret_handle, struct err *e)
{
    if (unmanaged)
        return err_set(e, ERR_INVALID, "kind is not supported in csi migration");
    *ret_handle = uri;
    return ERR_OK;
}

/* "us-central1-a" is in us-central1. */
static enum err_code gce_region_of(struct str zone, struct str *ret_region, struct err *e)
{
    size_t first = str_index(zone, '-');
    size_t second = first + 1 + str_index(str_from(zone, first + 1), '-');
    size_t third = second + 1 + str_index(str_from(zone, second + 1), '-');
    if (second >= zone.n || third < zone.n)
        return err_set(e, ERR_INVALID,
                       "failed to get region from zones: zone in unexpected format, expected: "
                       "{locale}-{region}-{zone}, got: %.*s",
                       STR_ARG(zone));
    *ret_region = str_first(zone, second);
    return ERR_OK;
}

static enum err_code gce_region(struct str zones, struct str *ret_region, struct err *e)
{
    struct str region = { 0 }, zone;
    while (zone_label_next(&zones, &zone)) {
        struct str next = { 0 };
        if (gce_region_of(zone, &next, e))
            return e->code;
        if (region.p && !str_eq(region, next))
            return err_set(e, ERR_INVALID, "failed to get region from zones: multiple or no regions gotten from zones");
        region = next;
    }
    *ret_region = region;
    return ERR_OK;
}

static struct str gce_text(struct arena *arena, const char *level, struct str place, struct str disk)
{
    return str_of(arena_printf(arena, "projects/" NO_HANDLE "/%s/%.*s/disks/%.*s", level, STR_ARG(place),
                               STR_ARG(disk)));
}

static enum err_code gce_handle(struct str zones, struct str disk, struct str *ret_handle, struct err *e)
{
    struct str rest = zones, first = { 0 }, region = { 0 };
    zone_label_next(&rest, &first);
    if (rest.p) {
        if (gce_region(zones, &region, e))
            return e->code;
        *ret_handle = gce_text(e->arena, "regions", region, disk);
    } else {
        *ret_handle = gce_text(e->arena, "zones", first.n ? first : STR(NO_HANDLE), disk);
    }
    return ERR_OK;
}

static struct str label_text(const struct sym_table *syms, struct label_set labels, sym key)
{
    sym value = label_set_get(labels, key);
    return value == SYM_NONE ? STR("") : sym_text(syms, value);
}

enum err_code csi_handle_of_pv(const struct csi_names *names, const struct sym_table *syms, const struct pv *pv,
                               struct str *ret_handle, struct err *e)
{
    struct str id = str_of(pv->handle);
    if (pv->source == PV_SOURCE_AWS_EBS)
        return ebs_handle(id, ret_handle, e);
    if (pv->source == PV_SOURCE_AZURE_DISK)
        return azure_handle(id, pv->unmanaged_disk, ret_handle, e);
    if (pv->source == PV_SOURCE_GCE_PD) {
        struct str zones = label_text(syms, pv->meta.labels, names->zone_beta);
        return gce_handle(zones.n ? zones : label_text(syms, pv->meta.labels, names->zone), id, ret_handle, e);
    }
    *ret_handle = id;
    return ERR_OK;
}

enum err_code csi_handle_of_volume(const struct sym_table *syms, const struct pod_volume *v, struct str *ret_handle,
                                   struct err *e)
{
    struct str id = sym_text(syms, v->names[0]);
    if (v->kind == VOLUME_AWS_EBS)
        return ebs_handle(id, ret_handle, e);
    if (v->kind == VOLUME_GCE_PD)
        return gce_handle(STR(""), id, ret_handle, e);
    if (v->kind == VOLUME_AZURE_DISK) {
        struct str kind = sym_text(syms, v->names[1]);
        bool managed = kind.n == 0 || (kind.n == 7 && strncasecmp(kind.p, "Managed", 7) == 0);
        return azure_handle(id, !managed, ret_handle, e);
    }
    *ret_handle = id;
    return ERR_OK;
}

/* ---- Node affinity ---- */

static uint32_t n_values(const struct match_rule *r)
{
    bool one = r->op == MATCH_GT || r->op == MATCH_LT;
    return one ? 1 : r->n_values;
}

/* Rules of a term; a broken one has none, and never matches whatever its keys are called. */
static uint16_t n_rules(const struct node_rule *term)
{
    return term->labels.mode == MATCHER_ALL_OF ? term->labels.n : 0;
}

/* Whether a key appears, and in *ret_valued whether it does with a value. */
static bool uses_key(const struct node_rules *rules, sym key, bool *ret_valued)
{
    bool uses = false;
    *ret_valued = false;
    for (uint16_t i = 0; rules->given && i < rules->n; i++)
        for (uint16_t k = 0; k < n_rules(&rules->at[i]); k++) {
            const struct match_rule *r = &rules->at[i].labels.at[k];
            uses |= r->key == key;
            *ret_valued |= r->key == key && n_values(r);
        }
    return uses;
}

/* The rules once more with room for one more rule a term; at least one term when `grow`. */
static struct node_rules copy_rules(struct arena *arena, const struct node_rules *from, bool grow)
{
    struct node_rules copy = *from;
    uint16_t n = !from->given || from->n == 0 ? grow : from->n;
    struct node_rule *terms = ARENA_NEW_N(arena, struct node_rule, n);
    for (uint16_t i = 0; i < n; i++) {
        terms[i] = from->given && from->n ? from->at[i] : (struct node_rule){ .empty = true };
        if (terms[i].empty)
            terms[i].labels = (struct matcher){ .mode = MATCHER_ALL_OF };
        uint16_t n_old = n_rules(&terms[i]);
        struct match_rule *r = ARENA_NEW_N(arena, struct match_rule, (size_t)n_old + 1);
        if (n_old)
            memcpy(r, terms[i].labels.at, n_old * sizeof(*r));
        if (terms[i].labels.mode == MATCHER_ALL_OF)
            terms[i].labels.at = r;
    }
    copy.at = terms;
    copy.n = n;
    copy.given = from->given || grow;
    return copy;
}

/* The copy is ours to change. */
static struct match_rule *rules_of(const struct node_rule *term)
{
    return (struct match_rule *)(uintptr_t)term->labels.at;
}

static void rename_key(const struct node_rules *copy, sym from, sym to)
{
    for (uint16_t i = 0; i < copy->n; i++)
        for (uint16_t k = 0; k < n_rules(&copy->at[i]); k++)
            if (copy->at[i].labels.at[k].key == from)
                rules_of(&copy->at[i])[k].key = to;
}

static int compare_syms(const void *a, const void *b)
{
    sym x = *(const sym *)a, y = *(const sym *)b;
    return (x > y) - (x < y);
}

struct zone_values {
    sym *at; /* ascending; those that no object has are left out */
    uint16_t n;
    bool any, broken;
};

/* Zones of a label. One that is no label value cannot be asked for: then no node matches. */
static struct zone_values zones_of(struct arena *arena, const struct sym_table *syms, struct str label)
{
    struct zone_values zones = { .at = ARENA_NEW_N(arena, sym, label.n / 2 + 1) };
    struct str part;
    while (zone_label_next(&label, &part)) {
        if (part.n == 0)
            continue;
        zones.any = true;
        zones.broken |= name_label_value(part).n > 0;
        sym value = sym_find(syms, part);
        if (value != SYM_NONE && zones.n < UINT16_MAX)
            zones.at[zones.n++] = value;
    }
    if (zones.n)
        qsort(zones.at, zones.n, sizeof(sym), compare_syms);
    return zones;
}

/* Every term also asks for one of the zones. */
static void add_zones(const struct node_rules *copy, sym key, const struct zone_values *zones)
{
    struct node_rule *terms = (struct node_rule *)(uintptr_t)copy->at;
    for (uint16_t i = 0; i < copy->n; i++) {
        struct node_rule *t = &terms[i];
        t->empty = false;
        t->broken |= zones->broken || t->labels.mode != MATCHER_ALL_OF || t->labels.n == UINT16_MAX;
        if (t->broken)
            continue;
        rules_of(t)[t->labels.n] = (struct match_rule){ .key = key, .op = MATCH_IN, .n_values = zones->n,
                                                       .values = zones->at };
        t->labels.n++;
    }
}

/* Which spelling of the zone's key the volume uses: its affinity counts before its labels, new before old. */
static bool uses_beta(const struct csi_names *names, const struct pv *pv)
{
    bool valued;
    if (uses_key(&pv->affinity, names->zone, &valued))
        return false;
    if (uses_key(&pv->affinity, names->zone_beta, &valued))
        return true;
    return label_set_get(pv->meta.labels, names->zone) == SYM_NONE &&
           label_set_get(pv->meta.labels, names->zone_beta) != SYM_NONE;
}

enum err_code csi_affinity_of_pv(const struct csi_names *names, const struct sym_table *syms, const struct pv *pv,
                                 struct node_rules *ret_rules, struct err *e)
{
    struct str handle;
    if (csi_handle_of_pv(names, syms, pv, &handle, e))
        return e->code;
    *ret_rules = pv->affinity;
    sym topology = names->topology[pv->source];
    if (topology == SYM_NONE)
        return ERR_OK;
    bool beta = uses_beta(names, pv), has_zones, has_regions;
    sym zone = beta ? names->zone_beta : names->zone;
    uses_key(&pv->affinity, zone, &has_zones);
    uses_key(&pv->affinity, names->region_beta, &has_regions);
    struct zone_values zones = zones_of(e->arena, syms, label_text(syms, pv->meta.labels, zone));
    struct node_rules copy = copy_rules(e->arena, &pv->affinity, !has_zones && zones.any);
    if (has_zones)
        rename_key(&copy, zone, topology);
    else if (zones.any)
        add_zones(&copy, topology, &zones);
    if (beta && has_regions)
        rename_key(&copy, names->region_beta, names->region);
    *ret_rules = copy;
    return ERR_OK;
}
