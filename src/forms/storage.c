/* forms/storage.c - see storage.h. */
#include "forms/storage.h"

#include "api/schema_slots.h"
#include "forms/volume_priv.h"

#define ANNOTATION_MIGRATED_PLUGINS "storage.alpha.kubernetes.io/migrated-plugins"

/* ---- StorageClass ---- */

struct class_in {
    struct meta_in meta;
    struct str provisioner, binding_mode;
    struct node_selector_in topologies; /* read as node selector terms whose operator is In */
};

static const struct fill_row topology_expression_rows[] = {
    [SLOT_core_v1_TopologySelectorLabelRequirement_key] = FILL_STR(struct expression_in, key),
    [SLOT_core_v1_TopologySelectorLabelRequirement_values] = FILL_STRS(struct expression_in, values),
};
static const struct fill_type topology_expression_type =
    FILL_TYPE(core_v1_TopologySelectorLabelRequirement, struct expression_in, topology_expression_rows);

static const struct fill_row topology_rows[] = {
    [SLOT_core_v1_TopologySelectorTerm_matchLabelExpressions] =
        FILL_LIST(struct term_in, expressions, &topology_expression_type),
};
static const struct fill_type topology_type = FILL_TYPE(core_v1_TopologySelectorTerm, struct term_in, topology_rows);

static const struct fill_row class_rows[] = {
    [SLOT_storage_v1_StorageClass_metadata] = FILL_STRUCT(struct class_in, meta, &fill_meta),
    [SLOT_storage_v1_StorageClass_provisioner] = FILL_STR(struct class_in, provisioner),
    [SLOT_storage_v1_StorageClass_volumeBindingMode] = FILL_STR(struct class_in, binding_mode),
    [SLOT_storage_v1_StorageClass_allowedTopologies] = FILL_LIST(struct class_in, topologies.terms, &topology_type),
};
static const struct fill_type fill_class = FILL_TYPE(storage_v1_StorageClass, struct class_in, class_rows);

static enum binding_mode parse_binding_mode(struct str mode)
{
    if (!mode.p)
        return BINDING_NOT_GIVEN;
    if (str_is(mode, "Immediate"))
        return BINDING_IMMEDIATE;
    return str_is(mode, "WaitForFirstConsumer") ? BINDING_WAIT_FOR_FIRST_CONSUMER : BINDING_OTHER;
}

static struct node_rules build_topologies(struct build *b, const struct node_selector_in *in)
{
    for (uint32_t i = 0; i < in->terms.n; i++)
        for (uint32_t k = 0; k < in->terms.at[i].expressions.n; k++)
            in->terms.at[i].expressions.at[k].op = STR("In");
    return build_node_rules(b, in->terms.n ? in : NULL);
}

static enum err_code class_build(struct build *b, const void *input, void *form)
{
    const struct class_in *in = input;
    struct storage_class *c = form;
    if (build_meta(b, &in->meta, &c->meta))
        return b->e->code;
    c->provisioner = build_sym(b, in->provisioner);
    c->binding_mode = parse_binding_mode(in->binding_mode);
    c->allowed_topologies = build_topologies(b, &in->topologies);
    return ERR_OK;
}

static void class_walk(struct walk *w, void *form)
{
    struct storage_class *c = form;
    walk_meta(w, &c->meta);
    walk_sym(w, c->provisioner);
    walk_node_rules(w, &c->allowed_topologies);
}

static const struct form_type class_class = { &fill_class, sizeof(struct storage_class), class_build, class_walk };

FORM_FUNCTIONS(storage_class, class_class)

/* ---- CSINode ---- */

struct count_in {
    struct fill_int count;
};

struct node_driver_in {
    struct str name;
    struct count_in *allocatable;
};

struct csi_node_spec_in {
    FILL_LIST_OF(struct node_driver_in) drivers;
};

struct csi_node_in {
    struct meta_in meta;
    struct csi_node_spec_in spec;
};

static const struct fill_row count_rows[] = {
    [SLOT_storage_v1_VolumeNodeResources_count] = FILL_INT(struct count_in, count),
};
static const struct fill_type count_type = FILL_TYPE(storage_v1_VolumeNodeResources, struct count_in, count_rows);

static const struct fill_row node_driver_rows[] = {
    [SLOT_storage_v1_CSINodeDriver_name] = FILL_STR(struct node_driver_in, name),
    [SLOT_storage_v1_CSINodeDriver_allocatable] = FILL_POINTER(struct node_driver_in, allocatable, &count_type),
};
static const struct fill_type node_driver_type =
    FILL_TYPE(storage_v1_CSINodeDriver, struct node_driver_in, node_driver_rows);

static const struct fill_row csi_node_spec_rows[] = {
    [SLOT_storage_v1_CSINodeSpec_drivers] = FILL_LIST(struct csi_node_spec_in, drivers, &node_driver_type),
};
static const struct fill_type csi_node_spec_type =
    FILL_TYPE(storage_v1_CSINodeSpec, struct csi_node_spec_in, csi_node_spec_rows);

static const struct fill_row csi_node_rows[] = {
    [SLOT_storage_v1_CSINode_metadata] = FILL_STRUCT(struct csi_node_in, meta, &fill_meta_annotated),
    [SLOT_storage_v1_CSINode_spec] = FILL_STRUCT(struct csi_node_in, spec, &csi_node_spec_type),
};
static const struct fill_type fill_csi_node = FILL_TYPE(storage_v1_CSINode, struct csi_node_in, csi_node_rows);

/* A negative count is refused by the API server; here it admits nothing. */
static int32_t driver_limit(const struct node_driver_in *d)
{
    if (!d->allocatable || !d->allocatable->count.given)
        return -1;
    return d->allocatable->count.value < 0 ? 0 : (int32_t)d->allocatable->count.value;
}

static void build_migrated(struct build *b, const struct meta_in *meta, struct csi_node *n)
{
    const struct str *annotation = fill_map_find(&meta->annotations, STR(ANNOTATION_MIGRATED_PLUGINS));
    if (!annotation || annotation->n == 0)
        return;
    size_t n_parts = 1;
    for (size_t i = 0; i < annotation->n; i++)
        n_parts += annotation->p[i] == ',';
    struct str *parts = ARENA_NEW_N(b->arena, struct str, n_parts), rest = *annotation;
    for (size_t i = 0; i < n_parts; i++) {
        parts[i] = str_first(rest, str_index(rest, ','));
        rest = str_from(rest, parts[i].n + 1);
    }
    size_t n_set;
    n->migrated_plugins = build_sym_set(b, parts, n_parts, &n_set);
    n->n_migrated_plugins = (uint32_t)n_set;
}

static enum err_code csi_node_build(struct build *b, const void *input, void *form)
{
    const struct csi_node_in *in = input;
    struct csi_node *n = form;
    if (build_meta(b, &in->meta, &n->meta))
        return b->e->code;
    build_migrated(b, &in->meta, n);
    struct csi_node_driver *drivers = ARENA_NEW_N(b->arena, struct csi_node_driver, in->spec.drivers.n);
    for (uint32_t i = 0; i < in->spec.drivers.n; i++) {
        const struct node_driver_in *d = &in->spec.drivers.at[i];
        drivers[i] = (struct csi_node_driver){ build_sym(b, d->name), driver_limit(d) };
    }
    n->drivers = drivers;
    n->n_drivers = in->spec.drivers.n;
    return ERR_OK;
}

static void csi_node_walk(struct walk *w, void *form)
{
    struct csi_node *n = form;
    walk_meta(w, &n->meta);
    WALK_ARRAY(w, n->drivers, n->n_drivers);
    for (uint32_t i = 0; i < n->n_drivers; i++)
        walk_sym(w, n->drivers[i].name);
    walk_syms(w, &n->migrated_plugins, n->n_migrated_plugins);
}

static const struct form_type csi_node_type = { &fill_csi_node, sizeof(struct csi_node), csi_node_build,
                                                  csi_node_walk };

FORM_FUNCTIONS(csi_node, csi_node_type)

/* ---- CSIDriver ---- */

struct driver_spec_in {
    fill_bool storage_capacity, prevent;
};

struct driver_in {
    struct meta_in meta;
    struct driver_spec_in spec;
};

static const struct fill_row driver_spec_rows[] = {
    [SLOT_storage_v1_CSIDriverSpec_storageCapacity] = FILL_BOOL(struct driver_spec_in, storage_capacity),
    [SLOT_storage_v1_CSIDriverSpec_preventPodSchedulingIfMissing] = FILL_BOOL(struct driver_spec_in, prevent),
};
static const struct fill_type driver_spec_type =
    FILL_TYPE(storage_v1_CSIDriverSpec, struct driver_spec_in, driver_spec_rows);

static const struct fill_row driver_rows[] = {
    [SLOT_storage_v1_CSIDriver_metadata] = FILL_STRUCT(struct driver_in, meta, &fill_meta),
    [SLOT_storage_v1_CSIDriver_spec] = FILL_STRUCT(struct driver_in, spec, &driver_spec_type),
};
static const struct fill_type fill_driver = FILL_TYPE(storage_v1_CSIDriver, struct driver_in, driver_rows);

static enum err_code driver_build(struct build *b, const void *input, void *form)
{
    const struct driver_in *in = input;
    struct csi_driver *d = form;
    d->storage_capacity = in->spec.storage_capacity == 1;
    d->prevent_pod_scheduling_if_missing = in->spec.prevent == 1;
    return build_meta(b, &in->meta, &d->meta);
}

static void driver_walk(struct walk *w, void *form)
{
    walk_meta(w, &((struct csi_driver *)form)->meta);
}

static const struct form_type driver_type = { &fill_driver, sizeof(struct csi_driver), driver_build, driver_walk };

FORM_FUNCTIONS(csi_driver, driver_type)

/* ---- CSIStorageCapacity ---- */

struct capacity_in {
    struct meta_in meta;
    struct selector_in *node_topology;
    struct str storage_class, capacity, maximum_volume_size;
};

static const struct fill_row capacity_rows[] = {
    [SLOT_storage_v1_CSIStorageCapacity_metadata] = FILL_STRUCT(struct capacity_in, meta, &fill_meta),
    [SLOT_storage_v1_CSIStorageCapacity_nodeTopology] =
        FILL_POINTER(struct capacity_in, node_topology, &fill_selector),
    [SLOT_storage_v1_CSIStorageCapacity_storageClassName] = FILL_STR(struct capacity_in, storage_class),
    [SLOT_storage_v1_CSIStorageCapacity_capacity] = FILL_QUANTITY(struct capacity_in, capacity),
    [SLOT_storage_v1_CSIStorageCapacity_maximumVolumeSize] =
        FILL_QUANTITY(struct capacity_in, maximum_volume_size),
};
static const struct fill_type fill_capacity =
    FILL_TYPE(storage_v1_CSIStorageCapacity, struct capacity_in, capacity_rows);

static enum err_code capacity_build(struct build *b, const void *input, void *form)
{
    const struct capacity_in *in = input;
    struct csi_storage_capacity *c = form;
    if (build_meta(b, &in->meta, &c->meta) || build_storage(b, &in->capacity, "capacity", &c->capacity) ||
        build_storage(b, &in->maximum_volume_size, "maximumVolumeSize", &c->maximum_volume_size))
        return b->e->code;
    c->storage_class = build_sym(b, in->storage_class);
    c->node_topology = build_matcher(b, in->node_topology);
    return ERR_OK;
}

static void capacity_walk(struct walk *w, void *form)
{
    struct csi_storage_capacity *c = form;
    walk_meta(w, &c->meta);
    walk_sym(w, c->storage_class);
    walk_matcher(w, &c->node_topology);
}

static const struct form_type capacity_type = { &fill_capacity, sizeof(struct csi_storage_capacity),
                                                  capacity_build, capacity_walk };

FORM_FUNCTIONS(csi_storage_capacity, capacity_type)

/* ---- VolumeAttachment ---- */

struct attachment_source_in {
    struct str volume_name;
};

struct attachment_spec_in {
    struct str attacher, node_name;
    struct attachment_source_in source;
};

struct attachment_in {
    struct meta_in meta;
    struct attachment_spec_in spec;
};

static const struct fill_row attachment_source_rows[] = {
    [SLOT_storage_v1_VolumeAttachmentSource_persistentVolumeName] =
        FILL_STR(struct attachment_source_in, volume_name),
};
static const struct fill_type attachment_source_type =
    FILL_TYPE(storage_v1_VolumeAttachmentSource, struct attachment_source_in, attachment_source_rows);

static const struct fill_row attachment_spec_rows[] = {
    [SLOT_storage_v1_VolumeAttachmentSpec_attacher] = FILL_STR(struct attachment_spec_in, attacher),
    [SLOT_storage_v1_VolumeAttachmentSpec_nodeName] = FILL_STR(struct attachment_spec_in, node_name),
    [SLOT_storage_v1_VolumeAttachmentSpec_source] =
        FILL_STRUCT(struct attachment_spec_in, source, &attachment_source_type),
};
static const struct fill_type attachment_spec_type =
    FILL_TYPE(storage_v1_VolumeAttachmentSpec, struct attachment_spec_in, attachment_spec_rows);

static const struct fill_row attachment_rows[] = {
    [SLOT_storage_v1_VolumeAttachment_metadata] = FILL_STRUCT(struct attachment_in, meta, &fill_meta),
    [SLOT_storage_v1_VolumeAttachment_spec] = FILL_STRUCT(struct attachment_in, spec, &attachment_spec_type),
};
static const struct fill_type fill_attachment =
    FILL_TYPE(storage_v1_VolumeAttachment, struct attachment_in, attachment_rows);

static enum err_code attachment_build(struct build *b, const void *input, void *form)
{
    const struct attachment_in *in = input;
    struct volume_attachment *a = form;
    if (build_meta(b, &in->meta, &a->meta))
        return b->e->code;
    struct str volume = in->spec.source.volume_name;
    if (volume.p && build_name(b, volume, "spec.source.persistentVolumeName", &a->volume_name))
        return b->e->code;
    a->attacher = build_sym(b, in->spec.attacher);
    a->node_name = build_sym(b, in->spec.node_name);
    return ERR_OK;
}

static void attachment_walk(struct walk *w, void *form)
{
    struct volume_attachment *a = form;
    walk_meta(w, &a->meta);
    walk_sym(w, a->attacher);
    walk_sym(w, a->node_name);
    WALK_TEXT(w, a->volume_name);
}

static const struct form_type attachment_type = { &fill_attachment, sizeof(struct volume_attachment),
                                                    attachment_build, attachment_walk };

FORM_FUNCTIONS(volume_attachment, attachment_type)
