/* rules/volume.c - PersistentVolume; see volume.h. */
#include "rules/volume.h"

#include "api/edit.h"
#include "api/quantity.h"
#include "rules/diff.h"
#include "rules/pod.h"

#define ANNOTATION_CLASS "volume.beta.kubernetes.io/storage-class"
#define ANNOTATION_MOUNT_OPTIONS "volume.beta.kubernetes.io/mount-options"

static const char *const volume_modes[] = { "Block", "Filesystem", NULL };

/* ---- Shared with claims ---- */

void volume_check_access_modes(const struct place *spec, const char *none_detail)
{
    static const char *const modes[] = { "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL };
    struct place list = place_child(spec, "accessModes");
    bool alone = false, others = false;
    if (place_n(&list) == 0 && none_detail)
        place_required(&list, none_detail);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place mode = place_item(&list, i);
        mode.path = list.path;
        bool known = text_is_one_of(place_text(&mode), modes), once = str_is(place_text(&mode), "ReadWriteOncePod");
        if (!known)
            place_not_supported(&mode, modes);
        alone |= once;
        others |= known && !once;
    }
    if (alone && others)
        place_forbidden(&list, "may not use ReadWriteOncePod with other access modes");
}

void volume_check_volume_mode(const struct place *spec)
{
    struct place mode = place_child(spec, "volumeMode");
    if (place_is_set(&mode))
        place_check_supported(&mode, volume_modes);
}

bool volume_check_positive(const struct place *amount)
{
    if (place_amount_sign(amount) > 0)
        return true;
    place_invalid(amount, "must be greater than zero");
    return false;
}

void volume_check_basic_amount(const struct place *amount)
{
    struct err e;
    err_init(&e, amount->errs->arena);
    struct quantity q;
    if (!quantity_parse(amount->errs->arena, place_text(amount), &q, &e) && quantity_value(&q) < 0)
        field_invalid(amount->errs, &amount->path, field_int(quantity_value(&q)), STR("must be a valid resource quantity"));
}

/* ---- Node affinity ---- */

static void check_node_affinity(const struct place *affinity, bool any_values)
{
    struct place required = place_child(affinity, "required");
    if (place_is_set(&required))
        rules_check_node_selector(required.value, any_values, &required.path, required.errs);
    else
        place_required(&required, "must specify required node constraints");
}

/* ---- The spec ---- */

static void forbid_inline(const struct place *spec, const char *field)
{
    struct place p = place_child(spec, field);
    bool empty = p.value->kind == VALUE_MAP || p.value->kind == VALUE_STRING ? p.value->n == 0 : !place_is_set(&p);
    if (!empty)
        place_forbidden(&p, "may not be specified in the context of inline volumes");
}

static void check_inline(const struct place *spec)
{
    struct place csi = place_child(spec, "csi");
    forbid_inline(spec, "claimRef");
    forbid_inline(spec, "capacity");
    if (!place_is_set(&csi))
        place_required(&csi, "has to be specified in the context of inline volumes");
}

static void check_capacity(const struct place *spec)
{
    static const char *const known[] = { "storage", NULL };
    struct place capacity = place_child(spec, "capacity");
    if (place_n(&capacity) == 0)
        place_required(&capacity, "");
    if (place_n(&capacity) != 1 || !value_member(capacity.value, STR("storage")))
        place_not_supported(&capacity, known);
    for (uint32_t i = 0; i < place_n(&capacity); i++) {
        struct place amount = place_member(&capacity, i);
        volume_check_basic_amount(&amount);
        volume_check_positive(&amount);
    }
}

static void check_reclaim_policy(const struct place *spec, const struct volume_context *v)
{
    static const char *const policies[] = { "Delete", "Recycle", "Retain", NULL };
    struct place policy = place_child(spec, "persistentVolumeReclaimPolicy");
    if (place_text(&policy).n == 0)
        return;
    if (!v->is_inline)
        place_check_supported(&policy, policies);
    else if (!str_is(place_text(&policy), "Retain"))
        place_forbidden(&policy, "may only be Retain in the context of inline volumes");
}

/* A path that is / and nothing else. */
static bool is_whole_disk(struct str path)
{
    size_t depth = 0;
    if (!str_starts(path, STR("/")))
        return false;
    while (path.n) {
        size_t slash = str_index(path, '/');
        struct str part = str_first(path, slash);
        if (str_is(part, ".."))
            depth -= depth > 0;
        else if (part.n && !str_is(part, "."))
            depth++;
        path = str_from(path, slash + 1);
    }
    return depth == 0;
}

static void check_not_recycled(const struct place *spec)
{
    struct place policy = place_child(spec, "persistentVolumeReclaimPolicy"), host = place_child(spec, "hostPath");
    if (place_is_set(&host) && str_is(place_text(&policy), "Recycle") && is_whole_disk(child_text(&host, "path")))
        place_forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
}

static void check_class_name(const struct place *name)
{
    place_check_names(name, name_dns1123_subdomain(place_text(name)));
}

static void check_names_and_mode(const struct place *spec, const struct volume_context *v)
{
    struct place class = place_child(spec, "storageClassName"), mode = place_child(spec, "volumeMode");
    if (v->is_inline)
        forbid_inline(spec, "storageClassName");
    else if (place_text(&class).n)
        check_class_name(&class);
    if (!v->is_inline)
        volume_check_volume_mode(spec);
    else if (place_is_set(&mode) && !str_is(place_text(&mode), "Filesystem"))
        place_forbidden(&mode, "may not specify volumeMode other than Filesystem in the context of inline volumes");
}

static void check_attributes_class(const struct place *spec)
{
    struct place class = place_child(spec, "volumeAttributesClassName"), csi = place_child(spec, "csi");
    if (!place_is_set(&class))
        return;
    if (place_text(&class).n == 0)
        place_required(&class, "an empty string is disallowed");
    else
        check_class_name(&class);
    if (!place_is_set(&csi))
        place_required(&csi, "has to be specified when using volumeAttributesClassName");
}

void volume_check_spec(const struct place *spec, const struct volume_context *v)
{
    struct place affinity = place_child(spec, "nodeAffinity");
    if (v->is_inline)
        check_inline(spec);
    volume_check_access_modes(spec, "");
    if (!v->is_inline)
        check_capacity(spec);
    check_reclaim_policy(spec, v);
    if (v->is_inline)
        forbid_inline(spec, "nodeAffinity");
    else if (place_is_set(&affinity))
        check_node_affinity(&affinity, v->any_node_label_values);
    volume_check_source(spec, v, place_is_set(&affinity) && !v->is_inline);
    check_not_recycled(spec);
    check_names_and_mode(spec, v);
    if (!v->is_inline)
        check_attributes_class(spec);
}

/* ---- New volumes and changes ---- */

/* Types of volumes that are mounted with options, which stood in an annotation once. */
static void check_mount_options(const struct place *root, const struct place *spec)
{
    static const char *const mounted[] = { "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs",  "rbd",
                                           "quobyte", "iscsi", "cinder", "cephfs", "azureFile", "vsphereVolume",
                                           "azureDisk", "photonPersistentDisk" };
    for (size_t i = 0; i < sizeof(mounted) / sizeof(mounted[0]); i++)
        if (child_is_set(spec, mounted[i]))
            return;
    struct field_path meta = field_child(NULL, "metadata"), all = field_child(&meta, "annotations");
    struct field_path at = field_child(&all, ANNOTATION_MOUNT_OPTIONS);
    if (object_annotation(root, ANNOTATION_MOUNT_OPTIONS))
        field_forbidden(root->errs, &at, STR("may not specify mount options for this volume type"));
}

static void check_volume(const struct rules_context *c, const struct value *new, bool any_node_label_values,
                         struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place spec = place_child(&root, "spec");
    struct volume_context v = { .name = child_text(&meta, "name"), .any_node_label_values = any_node_label_values };
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    volume_check_spec(&spec, &v);
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    check_volume(c, new, false, errs);
    check_mount_options(&root, &spec);
}

static bool has_odd_node_labels(const struct place *old_spec)
{
    struct place affinity = place_child(old_spec, "nodeAffinity"), required = place_child(&affinity, "required");
    struct place terms = place_child(&required, "nodeSelectorTerms");
    for (uint32_t i = 0; i < place_n(&terms); i++) {
        struct place term = place_item(&terms, i), list = place_child(&term, "matchExpressions");
        for (uint32_t k = 0; k < place_n(&list); k++) {
            struct place e = place_item(&list, k), values = place_child(&e, "values");
            for (uint32_t n = 0; n < place_n(&values); n++)
                if (name_label_value(value_text(&values.value->items[n])).n)
                    return true;
        }
    }
    return false;
}

/* In the order of Go's struct. */
static const char *const source_fields[] = {
    "gcePersistentDisk", "awsElasticBlockStore", "hostPath", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "flexVolume",
    "cinder", "cephfs", "fc", "flocker", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
    "portworxVolume", "scaleIO", "local", "storageos", "csi",
};
enum { N_SOURCE_FIELDS = sizeof(source_fields) / sizeof(source_fields[0]) };

/* The source alone, as Go writes it. */
static struct str source_json(const struct place *spec)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    for (size_t i = 0; i < N_SOURCE_FIELDS; i++) {
        struct place one = place_child(spec, source_fields[i]);
        strbuf_add_char(&json, i ? ',' : '{');
        place_add_go_member(&json, &one);
    }
    strbuf_add_char(&json, '}');
    return field_take_text(spec->errs->arena, &json);
}

/* A secret for expansions may be added later. */
static struct value without_new_secret(struct arena *a, const struct place *spec, const struct place *old)
{
    struct place csi = place_child(spec, "csi"), old_csi = place_child(old, "csi");
    bool expands = place_is_set(&csi) && child_is_set(&csi, "controllerExpandSecretRef");
    if (!expands || !place_is_set(&old_csi) || child_is_set(&old_csi, "controllerExpandSecretRef"))
        return *spec->value;
    return edit_set(a, spec->type, spec->value, "csi.controllerExpandSecretRef", (struct value){ 0 });
}

static void check_same_source(const struct place *spec, const struct place *old)
{
    struct arena *a = spec->errs->arena;
    struct value value = without_new_secret(a, spec, old);
    struct place is = *spec;
    is.value = &value;
    struct field_path at = field_child(&spec->path, "persistentvolumesource");
    for (size_t i = 0; i < N_SOURCE_FIELDS; i++) {
        struct place x = place_child(&is, source_fields[i]), y = place_child(old, source_fields[i]);
        if (place_same(&x, &y))
            continue;
        field_forbidden(spec->errs, &at, str_of(rules_diff_text(a, "spec.persistentvolumesource is immutable after creation",
                                                                source_json(old), source_json(&is))));
        return;
    }
}

static void check_changes(const struct place *root, const struct place *spec, const struct place *old)
{
    struct place mode = place_child(spec, "volumeMode"), affinity = place_child(spec, "nodeAffinity");
    struct place old_mode = place_child(old, "volumeMode"), old_affinity = place_child(old, "nodeAffinity");
    struct place class = place_child(spec, "volumeAttributesClassName");
    struct place old_class = place_child(old, "volumeAttributesClassName");
    struct place top_mode = place_named(root, &mode, "volumeMode");
    struct field_path top_affinity = field_child(NULL, "nodeAffinity");
    check_same_source(spec, old);
    place_check_immutable(&top_mode, &old_mode);
    if (place_is_set(&old_affinity) && !place_same(&affinity, &old_affinity))
        field_invalid(spec->errs, &top_affinity, place_shown_as_go(&affinity),
                      STR("field is immutable, except for updating from beta label to GA"));
    if (place_is_set(&old_class) && !place_is_set(&class))
        place_forbidden(&class, "update from non-nil value to nil is forbidden");
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    bool odd = has_odd_node_labels(&old_spec);
    check_volume(c, new, odd, errs);
    check_mount_options(&root, &spec);
    check_volume(c, new, odd, errs); /* twice, as upstream does: causes are listed twice, too */
    check_changes(&root, &spec, &old_spec);
}

/* ---- Preparing ---- */

static struct value prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value out = rules_drop_status(c, new);
    out = edit_set(c->arena, c->type, &out, "status.phase", edit_text("Pending"));
    return edit_set(c->arena, c->type, &out, "status.lastPhaseTransitionTime", value_time(c->now_s, 0));
}

static struct value prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    static const char at[] = "status.lastPhaseTransitionTime";
    struct value out = rules_keep_spec(c, new, old);
    const struct value *phase = value_path(c->type, new, "status.phase");
    const struct value *was = value_path(c->type, old, "status.phase");
    const struct value *time = value_path(c->type, new, at), *old_time = value_path(c->type, old, at);
    bool same_phase = str_eq(value_text(phase), value_text(was));
    if (same_phase && time->kind == VALUE_ABSENT)
        return edit_set(c->arena, c->type, &out, at, *old_time);
    if (!same_phase && (time->kind == VALUE_ABSENT || value_equal(time, old_time)))
        return edit_set(c->arena, c->type, &out, at, value_time(c->now_s, 0));
    return out;
}

/* ---- Warnings ---- */

void volume_warn_label(const struct rules_context *c, const struct field_path *at, struct str key, bool named)
{
    static const struct {
        const char *old, *fate;
    } labels[] = {
        { "beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead" },
        { "beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead" },
        { "failure-domain.beta.kubernetes.io/region",
          "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead" },
        { "failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead" },
        { "beta.kubernetes.io/instance-type",
          "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead" },
        { "app.kubernetes.io/created-by", "deprecated since v1.9" },
        { "scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead" },
    };
    struct str path = field_path_text(c->arena, at);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        if (str_is(key, labels[i].old))
            warnings_add(c->warnings, "%.*s: %s%s%s", STR_ARG(path), named ? labels[i].old : "", named ? " is " : "",
                         labels[i].fate);
}

static void warn_affinity(const struct rules_context *c, const struct place *spec)
{
    struct place affinity = place_child(spec, "nodeAffinity"), required = place_child(&affinity, "required");
    struct place terms = place_child(&required, "nodeSelectorTerms");
    for (uint32_t i = 0; i < place_n(&terms); i++) {
        struct place term = place_item(&terms, i), list = place_child(&term, "matchExpressions");
        for (uint32_t k = 0; k < place_n(&list); k++) {
            struct place e = place_item(&list, k), key = place_child(&e, "key");
            volume_warn_label(c, &key.path, place_text(&key), true);
        }
    }
}

static void warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    static const struct {
        const char *field, *shown, *fate;
    } sources[] = {
        { "cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+" },
        { "photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+" },
        { "scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+" },
        { "storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+" },
        { "glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+" },
        { "rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+" },
    };
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    if (object_annotation(&root, ANNOTATION_CLASS))
        warnings_add(c->warnings, "metadata.annotations[" ANNOTATION_CLASS "]: deprecated since v1.8; use "
                                  "\"storageClassName\" attribute instead");
    if (object_annotation(&root, ANNOTATION_MOUNT_OPTIONS))
        warnings_add(c->warnings, "metadata.annotations[" ANNOTATION_MOUNT_OPTIONS "]: deprecated since v1.31; use "
                                  "\"mountOptions\" attribute instead");
    if (str_is(child_text(&spec, "persistentVolumeReclaimPolicy"), "Recycle"))
        warnings_add(c->warnings, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
                                  "the recommended approach is to use dynamic provisioning.");
    warn_affinity(c, &spec);
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (child_is_set(&spec, sources[i].field))
            warnings_add(c->warnings, "spec.%s: %s", sources[i].shown, sources[i].fate);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = prepare_status, .validate_update = rules_check_meta_update,
      .reset_fields = reset_spec },
    { 0 },
};

const struct kind_rules volume_rules[] = {
    { .type = "core/v1.PersistentVolume", .flags = RULES_RETURNS_DELETED, .prepare_create = prepare_create,
      .prepare_update = rules_keep_status, .validate_create = validate_create, .validate_update = validate_update,
      .warn = warn, .reset_fields = reset_status, .subs = subs },
    { 0 },
};
