/* forms/node.c - see node.h. */
#include "forms/node.h"

#include "api/schema_slots.h"
#include "base/sort.h"
#include "codec/json.h"
#include "forms/inputs.h"

struct taint_in {
    struct str key, value, effect;
};

struct image_in {
    fill_strs names;
    struct fill_int size_bytes;
};

struct node_condition_in {
    struct str type, status;
};

struct node_spec_in {
    fill_bool unschedulable;
    FILL_LIST_OF(struct taint_in) taints;
};

struct node_status_in {
    fill_map allocatable;
    FILL_LIST_OF(struct image_in) images;
    FILL_LIST_OF(struct node_condition_in) conditions;
    fill_strs declared_features;
};

struct node_in {
    struct meta_in meta;
    struct node_spec_in spec;
    struct node_status_in status;
};

static const struct fill_row taint_rows[] = {
    [SLOT_core_v1_Taint_key] = FILL_STR(struct taint_in, key),
    [SLOT_core_v1_Taint_value] = FILL_STR(struct taint_in, value),
    [SLOT_core_v1_Taint_effect] = FILL_STR(struct taint_in, effect),
};
static const struct fill_type taint_type = FILL_TYPE(core_v1_Taint, struct taint_in, taint_rows);

static const struct fill_row spec_rows[] = {
    [SLOT_core_v1_NodeSpec_unschedulable] = FILL_BOOL(struct node_spec_in, unschedulable),
    [SLOT_core_v1_NodeSpec_taints] = FILL_LIST(struct node_spec_in, taints, &taint_type),
};
static const struct fill_type spec_type = FILL_TYPE(core_v1_NodeSpec, struct node_spec_in, spec_rows);

static const struct fill_row image_rows[] = {
    [SLOT_core_v1_ContainerImage_names] = FILL_STRS(struct image_in, names),
    [SLOT_core_v1_ContainerImage_sizeBytes] = FILL_INT(struct image_in, size_bytes),
};
static const struct fill_type image_type = FILL_TYPE(core_v1_ContainerImage, struct image_in, image_rows);

static const struct fill_row condition_rows[] = {
    [SLOT_core_v1_NodeCondition_type] = FILL_STR(struct node_condition_in, type),
    [SLOT_core_v1_NodeCondition_status] = FILL_STR(struct node_condition_in, status),
};
static const struct fill_type condition_type =
    FILL_TYPE(core_v1_NodeCondition, struct node_condition_in, condition_rows);

static const struct fill_row status_rows[] = {
    [SLOT_core_v1_NodeStatus_allocatable] = FILL_MAP(struct node_status_in, allocatable),
    [SLOT_core_v1_NodeStatus_images] = FILL_LIST(struct node_status_in, images, &image_type),
    [SLOT_core_v1_NodeStatus_conditions] = FILL_LIST(struct node_status_in, conditions, &condition_type),
    [SLOT_core_v1_NodeStatus_declaredFeatures] = FILL_STRS(struct node_status_in, declared_features),
};
static const struct fill_type status_type = FILL_TYPE(core_v1_NodeStatus, struct node_status_in, status_rows);

static const struct fill_row node_rows[] = {
    [SLOT_core_v1_Node_metadata] = FILL_STRUCT(struct node_in, meta, &fill_meta_annotated),
    [SLOT_core_v1_Node_spec] = FILL_STRUCT(struct node_in, spec, &spec_type),
    [SLOT_core_v1_Node_status] = FILL_STRUCT(struct node_in, status, &status_type),
};
static const struct fill_type fill_node = FILL_TYPE(core_v1_Node, struct node_in, node_rows);

/* ---- Building ---- */

static enum err_code build_allocatable(struct build *b, const struct node_in *in, struct node *node)
{
    const fill_map *list = &in->status.allocatable;
    struct resource_axes axes = { .arena = b->arena, .e = b->e };
    struct portion *vector;
    if (axes_add(&axes, list))
        return b->e->code;
    axes_seal(&axes);
    if (axes_parse(&axes, list, &vector))
        return err_wrap(b->e, "status.allocatable");
    const struct str *pods = fill_map_find(list, STR("pods"));
    nano n_pods = 0;
    if (pods && nano_parse(*pods, &n_pods, b->e))
        return err_wrap(b->e, "status.allocatable: pods");
    node->allocatable = axes_amounts(&axes, b->syms, vector);
    int64_t rounded = nano_round(n_pods, NANO_PER_UNIT);
    node->allocatable.pods = rounded > INT32_MAX ? INT32_MAX : rounded < INT32_MIN ? INT32_MIN : (int32_t)rounded;
    return ERR_OK;
}

static void build_taints(struct build *b, const struct node_in *in, struct node *node)
{
    uint32_t n = in->spec.taints.n;
    struct taint_form *taints = ARENA_NEW_N(b->arena, struct taint_form, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct taint_in *t = &in->spec.taints.at[i];
        enum taint_effect effect = taint_effect_parse(t->effect);
        taints[i] = (struct taint_form){ build_sym(b, t->key), build_sym(b, t->value),
                                         (uint8_t)(effect == EFFECT_ANY ? EFFECT_OTHER : effect) };
    }
    node->taints = taints;
    node->n_taints = n;
}

static int compare_images(const void *a, const void *b)
{
    sym left = ((const struct node_image *)a)->name, right = ((const struct node_image *)b)->name;
    return (left > right) - (left < right);
}

static void build_images(struct build *b, const struct node_in *in, struct node *node)
{
    size_t n = 0;
    for (uint32_t i = 0; i < in->status.images.n; i++)
        n += in->status.images.at[i].names.n;
    struct node_image *images = ARENA_NEW_N(b->arena, struct node_image, n);
    n = 0;
    for (uint32_t i = 0; i < in->status.images.n; i++) {
        const struct image_in *image = &in->status.images.at[i];
        for (uint32_t k = 0; k < image->names.n; k++)
            images[n++] = (struct node_image){ build_sym(b, image->names.at[k]), image->size_bytes.value };
    }
    sort_stable(b->arena, images, n, sizeof(*images), compare_images);
    for (size_t i = 0; i < n; i++) {
        if (node->n_images && images[node->n_images - 1].name == images[i].name)
            sym_unref(b->syms, images[i].name);
        else
            images[node->n_images++] = images[i];
    }
    node->images = images;
}

/* Sums do not depend on the order, as comparing maps does not. */
static uint64_t hash_pair(const struct sym_table *syms, struct str key, struct str value)
{
    return hash_fold(hash_str(&syms->seed, key) | 1, hash_str(&syms->seed, value) + 1);
}

static const struct {
    const char *type;
    const char *fine;  /* another status sets the flag; NULL: see `bad` */
    const char *bad;   /* this status sets it */
    uint32_t flag;
} condition_flags[] = {
    { "Ready", "True", NULL, NODE_NOT_READY },
    { "OutOfDisk", "False", NULL, NODE_OUT_OF_DISK },
    { "NetworkUnavailable", "False", NULL, NODE_NETWORK_UNAVAILABLE },
    { "MemoryPressure", NULL, "True", NODE_MEMORY_PRESSURE },
    { "DiskPressure", NULL, "True", NODE_DISK_PRESSURE },
    { "PIDPressure", NULL, "True", NODE_PID_PRESSURE },
};

static void build_conditions(const struct node_in *in, struct node *node)
{
    for (uint32_t i = 0; i < in->status.conditions.n; i++) {
        const struct node_condition_in *c = &in->status.conditions.at[i];
        for (size_t k = 0; k < sizeof(condition_flags) / sizeof(condition_flags[0]); k++) {
            const char *fine = condition_flags[k].fine, *bad = condition_flags[k].bad;
            if (str_is(c->type, condition_flags[k].type) && (fine ? !str_is(c->status, fine) : str_is(c->status, bad)))
                node->flags |= condition_flags[k].flag;
        }
        if (str_is(c->type, "Ready"))
            node->flags = str_is(c->status, "True") ? node->flags | NODE_SAYS_READY : node->flags & ~(uint32_t)NODE_SAYS_READY;
    }
}

/* An annotation that cannot be read says nothing. */
static void read_avoided(struct build *b, struct str text, struct node *node)
{
#define OWNER_SLOT(field) SLOT_meta_v1_OwnerReference_##field
    struct err e;
    struct value v;
    struct work work = work_init((int64_t)text.n * 4);
    err_init(&e, b->arena);
    if (json_decode(b->arena, &work, schema_type(STR("core/v1.AvoidPods")), text, NULL, &v, &e))
        return;
    const struct value *list = value_slot(&v, SLOT_core_v1_AvoidPods_preferAvoidPods);
    struct avoided_controller *avoids = ARENA_NEW_N(b->arena, struct avoided_controller, list->kind == VALUE_LIST ? list->n : 0);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *signature = value_slot(&list->items[i], SLOT_core_v1_PreferAvoidPodsEntry_podSignature);
        const struct value *owner = value_slot(signature, SLOT_core_v1_PodSignature_podController);
        if (owner->kind == VALUE_STRUCT)
            avoids[node->n_avoids++] =
                (struct avoided_controller){ build_sym(b, value_text(value_slot(owner, OWNER_SLOT(kind)))),
                                             build_sym(b, value_text(value_slot(owner, OWNER_SLOT(uid)))) };
    }
    node->avoids = avoids;
#undef OWNER_SLOT
}

static void hash_changes(struct build *b, const struct node_in *in, struct node *node)
{
    for (uint32_t i = 0; i < in->status.conditions.n; i++) {
        const struct node_condition_in *c = &in->status.conditions.at[i];
        node->conditions_hash += hash_pair(b->syms, c->type, c->status);
    }
    fill_map annotations = fill_map_settled(b->arena, &in->meta.annotations);
    for (uint32_t i = 0; i < annotations.n; i++)
        node->annotations_hash += hash_pair(b->syms, annotations.at[i].key, annotations.at[i].value);
    for (uint32_t i = 0; i < annotations.n; i++)
        if (str_is(annotations.at[i].key, "scheduler.alpha.kubernetes.io/preferAvoidPods"))
            read_avoided(b, annotations.at[i].value, node);
}

static void build_features(struct build *b, const struct node_in *in, struct node *node)
{
    const fill_strs *features = &in->status.declared_features;
    size_t n;
    node->declared_features = build_sym_set(b, features->at, features->n, &n);
    node->n_declared_features = (uint32_t)n;
    for (uint32_t i = 0; i < features->n; i++) {
        if (str_is(features->at[i], "RestartAllContainersOnContainerExits"))
            node->flags |= NODE_HAS_RESTART_ALL;
        if (str_is(features->at[i], "UserNamespacesHostNetworkSupport"))
            node->flags |= NODE_HAS_USERNS_HOSTNET;
    }
}

static enum err_code build(struct build *b, const void *input, void *form)
{
    const struct node_in *in = input;
    struct node *node = form;
    if (build_meta(b, &in->meta, &node->meta))
        return b->e->code;
    node->name = build_sym(b, in->meta.name);
    if (in->spec.unschedulable == 1)
        node->flags |= NODE_UNSCHEDULABLE;
    if (build_allocatable(b, in, node))
        return b->e->code;
    build_images(b, in, node);
    build_taints(b, in, node);
    build_features(b, in, node);
    build_conditions(in, node);
    hash_changes(b, in, node);
    return ERR_OK;
}

static void walk(struct walk *w, void *form)
{
    struct node *node = form;
    walk_meta(w, &node->meta);
    walk_sym(w, node->name);
    WALK_ARRAY(w, node->allocatable.scalars, node->allocatable.n_scalars);
    for (uint32_t i = 0; i < node->allocatable.n_scalars; i++)
        walk_sym(w, node->allocatable.scalars[i].name);
    WALK_ARRAY(w, node->taints, node->n_taints);
    for (uint32_t i = 0; i < node->n_taints; i++) {
        walk_sym(w, node->taints[i].key);
        walk_sym(w, node->taints[i].value);
    }
    WALK_ARRAY(w, node->images, node->n_images);
    for (uint32_t i = 0; i < node->n_images; i++)
        walk_sym(w, node->images[i].name);
    WALK_ARRAY(w, node->avoids, node->n_avoids);
    for (uint32_t i = 0; i < node->n_avoids; i++) {
        walk_sym(w, node->avoids[i].kind);
        walk_sym(w, node->avoids[i].uid);
    }
    walk_syms(w, &node->declared_features, node->n_declared_features);
}

static const struct form_type type = { &fill_node, sizeof(struct node), build, walk };

FORM_FUNCTIONS(node, type)

const struct node *node_of_changed(struct sym_table *syms, const struct node *changed)
{
    return form_copy(&type, syms, changed);
}

bool node_taints_equal(const struct node *a, const struct node *b)
{
    bool same = a->n_taints == b->n_taints;
    for (uint32_t i = 0; same && i < a->n_taints; i++)
        same = a->taints[i].key == b->taints[i].key && a->taints[i].value == b->taints[i].value &&
               a->taints[i].effect == b->taints[i].effect;
    return same;
}
