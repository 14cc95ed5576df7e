/* forms/volume.c - see volume.h. */
#include "forms/volume.h"

#include <strings.h>

#include "api/schema_slots.h"
#include "forms/resources.h"
#include "forms/volume_priv.h"

#define ANNOTATION_CLASS "volume.beta.kubernetes.io/storage-class"
#define ANNOTATION_BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define ANNOTATION_SELECTED_NODE "volume.kubernetes.io/selected-node"

/* ---- What volumes and claims share ---- */

static nano exact_amount(const struct storage_amount *a)
{
    return (nano)a->bytes * NANO_PER_UNIT - a->short_nanos;
}

int storage_cmp(const struct storage_amount *a, const struct storage_amount *b)
{
    nano left = exact_amount(a), right = exact_amount(b);
    return (left > right) - (left < right);
}

enum err_code build_storage(struct build *b, const struct str *text, const char *what,
                            struct storage_amount *amount)
{
    if (!text || !text->p)
        return ERR_OK;
    nano exact = 0;
    if (nano_parse(*text, &exact, b->e))
        return err_wrap(b->e, "%s", what);
    int64_t bytes = nano_round(exact, NANO_PER_UNIT);
    *amount = (struct storage_amount){ bytes, (int32_t)((nano)bytes * NANO_PER_UNIT - exact), true };
    return ERR_OK;
}

static uint8_t access_modes(const fill_strs *modes)
{
    uint8_t bits = 0;
    for (uint32_t i = 0; i < modes->n; i++) {
        struct str mode = modes->at[i];
        if (str_is(mode, "ReadWriteOnce"))
            bits |= ACCESS_READ_WRITE_ONCE;
        else if (str_is(mode, "ReadOnlyMany"))
            bits |= ACCESS_READ_ONLY_MANY;
        else if (str_is(mode, "ReadWriteMany"))
            bits |= ACCESS_READ_WRITE_MANY;
        else if (str_is(mode, "ReadWriteOncePod"))
            bits |= ACCESS_READ_WRITE_ONCE_POD;
        else
            bits |= ACCESS_OTHER;
    }
    return bits;
}

static enum volume_mode parse_mode(struct str mode)
{
    if (!mode.p || str_is(mode, "Filesystem"))
        return MODE_FILESYSTEM;
    return str_is(mode, "Block") ? MODE_BLOCK : MODE_OTHER;
}

static sym build_class(struct build *b, const struct meta_in *meta, struct str class_name)
{
    const struct str *annotation = fill_map_find(&meta->annotations, STR(ANNOTATION_CLASS));
    return build_sym(b, annotation ? *annotation : class_name);
}

/* Index of a text in a list of names that ends with NULL; 0 when it is not there. */
static uint8_t index_of(struct str text, const char *const *names)
{
    for (uint8_t i = 1; names[i]; i++)
        if (str_is(text, names[i]))
            return i;
    return 0;
}

/* ---- PersistentVolume ---- */

struct pv_source_in {
    struct str driver, handle, kind;
};

struct claim_ref_in {
    struct str ns, name, uid;
};

struct pv_affinity_in {
    struct node_selector_in *required;
};

struct pv_spec_in {
    fill_map capacity;
    struct pv_source_in *sources[N_PV_SOURCES];
    fill_strs access_modes;
    struct claim_ref_in *claim;
    struct str storage_class, mode, attributes_class;
    struct pv_affinity_in *affinity;
};

struct phase_in {
    struct str phase;
};

struct pv_in {
    struct meta_in meta;
    struct pv_spec_in spec;
    struct phase_in status;
};

#define PV_SOURCE_TYPE(name, schema_name, ...)                                                     \
    static const struct fill_row name##_rows[] = { __VA_ARGS__ };                                  \
    static const struct fill_type name##_type =                                                    \
        FILL_TYPE(core_v1_##schema_name, struct pv_source_in, name##_rows)
#define HANDLE(slot) [SLOT_core_v1_##slot] = FILL_STR(struct pv_source_in, handle)

PV_SOURCE_TYPE(csi, CSIPersistentVolumeSource, HANDLE(CSIPersistentVolumeSource_volumeHandle),
               [SLOT_core_v1_CSIPersistentVolumeSource_driver] = FILL_STR(struct pv_source_in, driver));
PV_SOURCE_TYPE(ebs, AWSElasticBlockStoreVolumeSource, HANDLE(AWSElasticBlockStoreVolumeSource_volumeID));
PV_SOURCE_TYPE(gce, GCEPersistentDiskVolumeSource, HANDLE(GCEPersistentDiskVolumeSource_pdName));
PV_SOURCE_TYPE(azure_disk, AzureDiskVolumeSource, HANDLE(AzureDiskVolumeSource_diskURI),
               [SLOT_core_v1_AzureDiskVolumeSource_kind] = FILL_STR(struct pv_source_in, kind));
PV_SOURCE_TYPE(azure_file, AzureFilePersistentVolumeSource, { .how = FILL_HOW_SKIP });
PV_SOURCE_TYPE(cinder, CinderPersistentVolumeSource, HANDLE(CinderPersistentVolumeSource_volumeID));
PV_SOURCE_TYPE(portworx, PortworxVolumeSource, HANDLE(PortworxVolumeSource_volumeID));
PV_SOURCE_TYPE(vsphere, VsphereVirtualDiskVolumeSource, { .how = FILL_HOW_SKIP });

static const struct fill_row claim_ref_rows[] = {
    [SLOT_core_v1_ObjectReference_namespace] = FILL_STR(struct claim_ref_in, ns),
    [SLOT_core_v1_ObjectReference_name] = FILL_STR(struct claim_ref_in, name),
    [SLOT_core_v1_ObjectReference_uid] = FILL_STR(struct claim_ref_in, uid),
};
static const struct fill_type claim_ref_type =
    FILL_TYPE(core_v1_ObjectReference, struct claim_ref_in, claim_ref_rows);

static const struct fill_row pv_affinity_rows[] = {
    [SLOT_core_v1_VolumeNodeAffinity_required] =
        FILL_POINTER(struct pv_affinity_in, required, &fill_node_selector),
};
static const struct fill_type pv_affinity_type =
    FILL_TYPE(core_v1_VolumeNodeAffinity, struct pv_affinity_in, pv_affinity_rows);

#define PV_SOURCE(field, source, type)                                                             \
    [SLOT_core_v1_PersistentVolumeSpec_##field] = FILL_POINTER(struct pv_spec_in, sources[source], &(type))

static const struct fill_row pv_spec_rows[] = {
    [SLOT_core_v1_PersistentVolumeSpec_capacity] = FILL_MAP(struct pv_spec_in, capacity),
    PV_SOURCE(csi, PV_SOURCE_CSI, csi_type),
    PV_SOURCE(awsElasticBlockStore, PV_SOURCE_AWS_EBS, ebs_type),
    PV_SOURCE(gcePersistentDisk, PV_SOURCE_GCE_PD, gce_type),
    PV_SOURCE(azureDisk, PV_SOURCE_AZURE_DISK, azure_disk_type),
    PV_SOURCE(azureFile, PV_SOURCE_AZURE_FILE, azure_file_type),
    PV_SOURCE(cinder, PV_SOURCE_CINDER, cinder_type),
    PV_SOURCE(portworxVolume, PV_SOURCE_PORTWORX, portworx_type),
    PV_SOURCE(vsphereVolume, PV_SOURCE_VSPHERE, vsphere_type),
    [SLOT_core_v1_PersistentVolumeSpec_accessModes] = FILL_STRS(struct pv_spec_in, access_modes),
    [SLOT_core_v1_PersistentVolumeSpec_claimRef] = FILL_POINTER(struct pv_spec_in, claim, &claim_ref_type),
    [SLOT_core_v1_PersistentVolumeSpec_storageClassName] = FILL_STR(struct pv_spec_in, storage_class),
    [SLOT_core_v1_PersistentVolumeSpec_volumeMode] = FILL_STR(struct pv_spec_in, mode),
    [SLOT_core_v1_PersistentVolumeSpec_volumeAttributesClassName] =
        FILL_STR(struct pv_spec_in, attributes_class),
    [SLOT_core_v1_PersistentVolumeSpec_nodeAffinity] =
        FILL_POINTER(struct pv_spec_in, affinity, &pv_affinity_type),
};
static const struct fill_type pv_spec_type =
    FILL_TYPE(core_v1_PersistentVolumeSpec, struct pv_spec_in, pv_spec_rows);

static const struct fill_row pv_status_rows[] = {
    [SLOT_core_v1_PersistentVolumeStatus_phase] = FILL_STR(struct phase_in, phase),
};
static const struct fill_type pv_status_type =
    FILL_TYPE(core_v1_PersistentVolumeStatus, struct phase_in, pv_status_rows);

static const struct fill_row pv_rows[] = {
    [SLOT_core_v1_PersistentVolume_metadata] = FILL_STRUCT(struct pv_in, meta, &fill_meta_annotated),
    [SLOT_core_v1_PersistentVolume_spec] = FILL_STRUCT(struct pv_in, spec, &pv_spec_type),
    [SLOT_core_v1_PersistentVolume_status] = FILL_STRUCT(struct pv_in, status, &pv_status_type),
};
static const struct fill_type fill_pv = FILL_TYPE(core_v1_PersistentVolume, struct pv_in, pv_rows);

static enum err_code build_claim_ref(struct build *b, const struct claim_ref_in *in, struct pv *v)
{
    if (!in)
        return ERR_OK;
    struct claim_ref *claim = ARENA_NEW(b->arena, struct claim_ref);
    if (build_name(b, in->name, "spec.claimRef.name", &claim->name) ||
        build_name(b, in->uid, "spec.claimRef.uid", &claim->uid))
        return b->e->code;
    claim->ns = build_sym(b, in->ns);
    v->claim = claim;
    return ERR_OK;
}

static enum err_code build_source(struct build *b, const struct pv_spec_in *in, struct pv *v)
{
    v->handle = "";
    for (uint8_t source = PV_SOURCE_CSI; source < N_PV_SOURCES; source++) {
        const struct pv_source_in *s = in->sources[source];
        if (!s)
            continue;
        v->source = source;
        v->driver = build_sym(b, s->driver);
        struct str kind = s->kind;
        v->unmanaged_disk = kind.p && !(kind.n == 7 && strncasecmp(kind.p, "Managed", 7) == 0);
        return build_name(b, s->handle, "spec: handle of the volume", &v->handle);
    }
    return ERR_OK;
}

static enum err_code pv_build(struct build *b, const void *input, void *form)
{
    static const char *const phases[] = { [PV_OTHER] = "", [PV_PENDING] = "Pending", [PV_AVAILABLE] = "Available",
                                          [PV_BOUND] = "Bound", [PV_RELEASED] = "Released",
                                          [PV_FAILED] = "Failed", NULL };
    const struct pv_in *in = input;
    struct pv *v = form;
    if (build_meta(b, &in->meta, &v->meta) || build_claim_ref(b, in->spec.claim, v) ||
        build_source(b, &in->spec, v) ||
        build_storage(b, fill_map_find(&in->spec.capacity, STR("storage")), "spec.capacity.storage", &v->capacity))
        return b->e->code;
    v->storage_class = build_class(b, &in->meta, in->spec.storage_class);
    v->attributes_class = build_sym(b, in->spec.attributes_class);
    v->affinity = build_node_rules(b, in->spec.affinity ? in->spec.affinity->required : NULL);
    v->access = access_modes(&in->spec.access_modes);
    v->mode = (uint8_t)parse_mode(in->spec.mode);
    v->phase = index_of(in->status.phase, phases);
    v->deleting = in->meta.deletion_time.given;
    return ERR_OK;
}

static void pv_walk(struct walk *w, void *form)
{
    struct pv *v = form;
    walk_meta(w, &v->meta);
    walk_sym(w, v->storage_class);
    walk_sym(w, v->attributes_class);
    walk_sym(w, v->driver);
    WALK_TEXT(w, v->handle);
    walk_node_rules(w, &v->affinity);
    if (!v->claim)
        return;
    WALK_ARRAY(w, v->claim, 1);
    struct claim_ref *claim = walk_into(v->claim);
    WALK_TEXT(w, claim->name);
    WALK_TEXT(w, claim->uid);
    walk_sym(w, claim->ns);
}

static const struct form_type pv_type = { &fill_pv, sizeof(struct pv), pv_build, pv_walk };

FORM_FUNCTIONS(pv, pv_type)

const struct pv *pv_with_claim(struct sym_table *syms, const struct pv *v, const struct claim_ref *claim)
{
    struct pv changed = *v;
    changed.claim = claim;
    return form_copy(&pv_type, syms, &changed);
}

const struct pv *pv_bound(struct sym_table *syms, const struct pv *v, const struct claim_ref *claim,
                          const char *version)
{
    struct pv changed = *v;
    changed.claim = claim;
    changed.phase = PV_BOUND;
    changed.meta.resource_version = version;
    return form_copy(&pv_type, syms, &changed);
}

/* ---- PersistentVolumeClaim ---- */

struct storage_request_in {
    fill_map requests;
};

struct pvc_spec_in {
    fill_strs access_modes;
    struct selector_in *selector;
    struct storage_request_in resources;
    struct str volume_name, storage_class, mode, attributes_class;
};

struct pvc_in {
    struct meta_in meta;
    struct pvc_spec_in spec;
    struct phase_in status;
};

static const struct fill_row storage_request_rows[] = {
    [SLOT_core_v1_VolumeResourceRequirements_requests] = FILL_MAP(struct storage_request_in, requests),
};
static const struct fill_type storage_request_type =
    FILL_TYPE(core_v1_VolumeResourceRequirements, struct storage_request_in, storage_request_rows);

static const struct fill_row pvc_spec_rows[] = {
    [SLOT_core_v1_PersistentVolumeClaimSpec_accessModes] = FILL_STRS(struct pvc_spec_in, access_modes),
    [SLOT_core_v1_PersistentVolumeClaimSpec_selector] = FILL_POINTER(struct pvc_spec_in, selector, &fill_selector),
    [SLOT_core_v1_PersistentVolumeClaimSpec_resources] =
        FILL_STRUCT(struct pvc_spec_in, resources, &storage_request_type),
    [SLOT_core_v1_PersistentVolumeClaimSpec_volumeName] = FILL_STR(struct pvc_spec_in, volume_name),
    [SLOT_core_v1_PersistentVolumeClaimSpec_storageClassName] = FILL_STR(struct pvc_spec_in, storage_class),
    [SLOT_core_v1_PersistentVolumeClaimSpec_volumeMode] = FILL_STR(struct pvc_spec_in, mode),
    [SLOT_core_v1_PersistentVolumeClaimSpec_volumeAttributesClassName] =
        FILL_STR(struct pvc_spec_in, attributes_class),
};
static const struct fill_type pvc_spec_type =
    FILL_TYPE(core_v1_PersistentVolumeClaimSpec, struct pvc_spec_in, pvc_spec_rows);

static const struct fill_row pvc_status_rows[] = {
    [SLOT_core_v1_PersistentVolumeClaimStatus_phase] = FILL_STR(struct phase_in, phase),
};
static const struct fill_type pvc_status_type =
    FILL_TYPE(core_v1_PersistentVolumeClaimStatus, struct phase_in, pvc_status_rows);

static const struct fill_row pvc_rows[] = {
    [SLOT_core_v1_PersistentVolumeClaim_metadata] = FILL_STRUCT(struct pvc_in, meta, &fill_meta_annotated),
    [SLOT_core_v1_PersistentVolumeClaim_spec] = FILL_STRUCT(struct pvc_in, spec, &pvc_spec_type),
    [SLOT_core_v1_PersistentVolumeClaim_status] = FILL_STRUCT(struct pvc_in, status, &pvc_status_type),
};
static const struct fill_type fill_pvc = FILL_TYPE(core_v1_PersistentVolumeClaim, struct pvc_in, pvc_rows);

static enum err_code build_controller_uid(struct build *b, const struct meta_in *meta, struct pvc *c)
{
    for (uint32_t i = 0; i < meta->owners.n; i++)
        if (meta->owners.at[i].controller == 1)
            return build_name(b, meta->owners.at[i].uid, "metadata.ownerReferences.uid", &c->controller_uid);
    return ERR_OK;
}

static enum err_code pvc_build(struct build *b, const void *input, void *form)
{
    static const char *const phases[] = { [PVC_OTHER] = "", [PVC_PENDING] = "Pending", [PVC_BOUND] = "Bound",
                                          [PVC_LOST] = "Lost", NULL };
    const struct pvc_in *in = input;
    struct pvc *c = form;
    const struct str *node = fill_map_find(&in->meta.annotations, STR(ANNOTATION_SELECTED_NODE));
    c->selected_node = node ? build_sym(b, *node) : SYM_NONE;
    if (build_meta(b, &in->meta, &c->meta) || build_controller_uid(b, &in->meta, c) ||
        build_name(b, in->spec.volume_name, "spec.volumeName", &c->volume_name) ||
        build_storage(b, fill_map_find(&in->spec.resources.requests, STR("storage")),
                      "spec.resources.requests.storage", &c->request))
        return b->e->code;
    c->storage_class = build_class(b, &in->meta, in->spec.storage_class);
    c->attributes_class = build_sym(b, in->spec.attributes_class);
    c->selector = build_matcher(b, in->spec.selector);
    c->has_selector = in->spec.selector != NULL;
    c->access = access_modes(&in->spec.access_modes);
    c->mode = (uint8_t)parse_mode(in->spec.mode);
    c->phase = index_of(in->status.phase, phases);
    c->bind_completed = fill_map_find(&in->meta.annotations, STR(ANNOTATION_BIND_COMPLETED)) != NULL;
    c->has_annotations = in->meta.annotations.n > 0;
    c->deleting = in->meta.deletion_time.given;
    return ERR_OK;
}

static void pvc_walk(struct walk *w, void *form)
{
    struct pvc *c = form;
    walk_meta(w, &c->meta);
    walk_sym(w, c->storage_class);
    walk_sym(w, c->attributes_class);
    walk_sym(w, c->selected_node);
    WALK_TEXT(w, c->volume_name);
    WALK_TEXT(w, c->controller_uid);
    walk_matcher(w, &c->selector);
}

static const struct form_type pvc_type = { &fill_pvc, sizeof(struct pvc), pvc_build, pvc_walk };

FORM_FUNCTIONS(pvc, pvc_type)

const struct pvc *pvc_with_node(struct sym_table *syms, const struct pvc *c, sym node_name)
{
    struct pvc changed = *c;
    changed.selected_node = node_name;
    changed.has_annotations = true;
    return form_copy(&pvc_type, syms, &changed);
}

const struct pvc *pvc_bound(struct sym_table *syms, const struct pvc *c, const char *volume, const char *version)
{
    struct pvc changed = *c;
    changed.volume_name = volume;
    changed.phase = PVC_BOUND;
    changed.bind_completed = changed.has_annotations = true;
    changed.meta.resource_version = version;
    return form_copy(&pvc_type, syms, &changed);
}
