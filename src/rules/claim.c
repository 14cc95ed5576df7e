/* rules/claim.c - PersistentVolumeClaim. */
#include "api/edit.h"
#include "api/quantity.h"
#include "rules/diff.h"
#include "rules/volume.h"

#define ANNOTATION_CLASS "volume.beta.kubernetes.io/storage-class"
#define SNAPSHOT_GROUP "snapshot.storage.k8s.io"

/* What the claim before had that a new one could not. */
struct leniency {
    bool any_selector_values, any_source_group;
};

/* ---- Sources ---- */

static struct str group_of(const struct place *source)
{
    return child_text(source, "apiGroup");
}

static void check_source(const struct place *source, bool any_group)
{
    struct place name = place_child(source, "name"), kind = place_child(source, "kind");
    struct place group = place_child(source, "apiGroup");
    if (place_text(&name).n == 0)
        place_required(&name, "");
    if (place_text(&kind).n == 0)
        place_required(&kind, "");
    if (place_text(&group).n == 0 && !str_is(place_text(&kind), "PersistentVolumeClaim"))
        field_invalid(source->errs, &source->path, field_str(place_text(&kind)),
                      STR("must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
    if (place_text(&group).n && !any_group)
        place_check_names(&group, name_dns1123_subdomain(place_text(&group)));
}

static void check_source_reference(const struct place *reference, bool any_group)
{
    struct place namespace = place_child(reference, "namespace");
    check_source(reference, any_group);
    if (place_text(&namespace).n)
        place_check_names(&namespace, name_dns1123_label(place_text(&namespace)));
}

static bool same_sources(const struct place *source, const struct place *reference)
{
    static const char *const names[] = { "apiGroup", "kind", "name" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!value_equal(child_value(source, names[i]), child_value(reference, names[i])))
            return false;
    return true;
}

static void check_sources(const struct place *spec, bool any_group)
{
    struct place source = place_child(spec, "dataSource"), reference = place_child(spec, "dataSourceRef");
    if (place_is_set(&source))
        check_source(&source, any_group);
    if (place_is_set(&reference))
        check_source_reference(&reference, any_group);
    if (!place_is_set(&source) || !place_is_set(&reference))
        return;
    /* upstream shows the path as a value, which is a struct without visible fields */
    if (child_text(&reference, "namespace").n)
        field_invalid(spec->errs, &spec->path, field_json(STR("{}")),
                      STR("may not be specified when dataSourceRef.namespace is specified"));
    else if (!same_sources(&source, &reference))
        field_invalid(spec->errs, &spec->path, field_json(STR("{}")), STR("must match dataSourceRef"));
}

/* ---- The spec ---- */

/* The member of resources.requests or another map, or nothing. */
static struct place storage_of(const struct place *map, const struct field_path *at)
{
    static const struct value nothing = { .kind = VALUE_ABSENT };
    struct place p = *map;
    const struct value *amount = map->value->kind == VALUE_MAP ? value_member(map->value, STR("storage")) : NULL;
    p.value = amount ? amount : &nothing;
    p.path = field_key(at, STR("storage"));
    p.is_item = true;
    return p;
}

static void check_size(const struct place *spec)
{
    struct place resources = place_child(spec, "resources"), requests = place_child(&resources, "requests");
    struct place size = storage_of(&requests, &resources.path);
    if (!place_is_set(&size))
        place_required(&size, "");
    else
        volume_check_positive(&size);
}

static void check_spec(const struct place *spec, struct leniency lenient)
{
    struct place modes = place_child(spec, "accessModes"), selector = place_child(spec, "selector");
    struct place class = place_child(spec, "storageClassName");
    struct place attributes = place_child(spec, "volumeAttributesClassName");
    if (place_n(&modes) == 0)
        place_required(&modes, "at least 1 access mode is required");
    if (place_is_set(&selector))
        place_check_selector(&selector, lenient.any_selector_values);
    volume_check_access_modes(spec, NULL);
    check_size(spec);
    if (place_text(&class).n)
        place_check_names(&class, name_dns1123_subdomain(place_text(&class)));
    volume_check_volume_mode(spec);
    check_sources(spec, lenient.any_source_group);
    if (place_text(&attributes).n)
        place_check_names(&attributes, name_dns1123_subdomain(place_text(&attributes)));
}

static void check_claim(const struct rules_context *c, const struct value *new, struct leniency lenient,
                        struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_spec(&spec, lenient);
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_claim(c, new, (struct leniency){ 0 }, errs);
}

/* ---- Changes ---- */

static bool has_odd_group(const struct place *spec, const char *field)
{
    struct place source = place_child(spec, field);
    return place_is_set(&source) && group_of(&source).n && name_dns1123_subdomain(group_of(&source)).n;
}

static struct leniency leniency_of(const struct rules_context *c, const struct value *old)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct place root = place_root(c, old, &errs), spec = place_child(&root, "spec");
    struct place selector = place_child(&spec, "selector");
    return (struct leniency){
        .any_selector_values = place_is_set(&selector) && !place_check_selector(&selector, false),
        .any_source_group = has_odd_group(&spec, "dataSource") || has_odd_group(&spec, "dataSourceRef"),
    };
}

static struct str annotated_class(const struct place *root, bool *ret_is_set)
{
    const struct value *text = object_annotation(root, ANNOTATION_CLASS);
    *ret_is_set = text != NULL;
    return text ? value_text(text) : STR("");
}

/* From the annotation to the field, without a change of the class. */
static bool moves_class(const struct place *root, const struct place *spec, const struct place *old_root,
                        const struct place *old_spec)
{
    bool was_set, is_set;
    struct str was = annotated_class(old_root, &was_set), is = annotated_class(root, &is_set);
    return was_set && !child_is_set(old_spec, "storageClassName") && child_is_set(spec, "storageClassName") &&
           str_eq(child_text(spec, "storageClassName"), was) && (!is_set || str_eq(is, was));
}

/* A claim without a class may get one later. */
static bool gets_class(const struct place *spec, const struct place *old_root, const struct place *old_spec)
{
    bool was_set;
    struct str was = annotated_class(old_root, &was_set);
    return child_is_set(spec, "storageClassName") && !child_is_set(old_spec, "storageClassName") &&
           (!was_set || str_eq(child_text(spec, "storageClassName"), was));
}

static void check_annotation(const struct place *root, const struct place *old_root)
{
    bool was_set, is_set;
    struct str was = annotated_class(old_root, &was_set), is = annotated_class(root, &is_set);
    if (str_eq(was, is))
        return;
    struct field_path meta = field_child(NULL, "metadata"), all = field_child(&meta, "annotations");
    struct field_path at = field_child(&all, ANNOTATION_CLASS);
    field_invalid(root->errs, &at, field_str(is), STR("field is immutable"));
}

static bool is_bound(const struct rules_context *c, const struct value *claim)
{
    return str_is(value_text(value_path(c->type, claim, "status.phase")), "Bound");
}

/* The new spec with all that may change as it was before: what is left must be the same. */
static struct value without_allowed(const struct rules_context *c, const struct value *new, const struct place *root,
                                    const struct place *spec, const struct place *old_root, const struct place *old_spec)
{
    struct arena *a = c->arena;
    struct value out = *spec->value;
    const struct value *requests = value_path(spec->type, spec->value, "resources.requests");
    const struct value *old_requests = value_path(spec->type, old_spec->value, "resources.requests");
    const struct value *old_size = old_requests->kind == VALUE_MAP ? value_member(old_requests, STR("storage")) : NULL;
    if (moves_class(root, spec, old_root, old_spec) || gets_class(spec, old_root, old_spec))
        out = edit_set(a, spec->type, &out, "storageClassName", *child_value(old_spec, "storageClassName"));
    if (child_text(old_spec, "volumeName").n == 0)
        out = edit_set(a, spec->type, &out, "volumeName", *child_value(old_spec, "volumeName"));
    if (!is_bound(c, new))
        return out;
    if (requests->kind == VALUE_MAP && old_size)
        out = edit_set(a, spec->type, &out, "resources.requests", edit_member(a, requests, STR("storage"), *old_size));
    return edit_set(a, spec->type, &out, "volumeAttributesClassName", *child_value(old_spec, "volumeAttributesClassName"));
}

static bool is_smaller(struct arena *a, const struct value *size, const struct value *than, bool or_equal)
{
    struct err e;
    struct quantity x = { 0 }, y = { 0 };
    err_init(&e, a);
    if (size->n && quantity_parse(a, value_text(size), &x, &e))
        return false;
    if (than->n && quantity_parse(a, value_text(than), &y, &e))
        return false;
    int order = quantity_cmp(&x, &y);
    return order < 0 || (or_equal && order == 0);
}

static const struct value *storage_at(const struct rules_context *c, const struct value *claim, const char *path)
{
    static const struct value nothing = { .kind = VALUE_ABSENT };
    const struct value *map = value_path(c->type, claim, path);
    const struct value *amount = map->kind == VALUE_MAP ? value_member(map, STR("storage")) : NULL;
    return amount ? amount : &nothing;
}

/* An expansion that failed may be tried again with less, but not with less than there is. */
static void check_shrinking(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    const struct value *is = storage_at(c, new, "spec.resources.requests");
    const struct value *was = storage_at(c, old, "spec.resources.requests");
    struct field_path spec = field_child(NULL, "spec"), resources = field_child(&spec, "resources");
    struct field_path requests = field_child(&resources, "requests"), at = field_child(&requests, "storage");
    if (is_smaller(c->arena, is, was, false) && is_smaller(c->arena, is, storage_at(c, old, "status.capacity"), true))
        field_forbidden(errs, &at, STR("field can not be less than status.capacity"));
}

static void check_attributes_change(const struct rules_context *c, const struct place *spec, const struct place *old_spec,
                                    const struct value *old)
{
    struct place class = place_child(spec, "volumeAttributesClassName");
    struct place old_class = place_child(old_spec, "volumeAttributesClassName");
    if (place_same(&class, &old_class))
        return;
    if (value_path(c->type, old, "status.currentVolumeAttributesClassName")->kind == VALUE_ABSENT)
        return;
    if (!place_is_set(&class))
        place_forbidden(&class, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil");
    else if (place_text(&class).n == 0)
        place_forbidden(&class,
                        "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil");
}

static struct value with_both_sources(struct arena *a, const struct type *t, const struct value *spec);

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct value old_filled = with_both_sources(c->arena, spec.type, old_spec.value);
    old_spec.value = &old_filled;
    rules_check_meta_update(c, new, old, errs);
    check_claim(c, new, leniency_of(c, old), errs);
    if (!moves_class(&root, &spec, &old_root, &old_spec))
        check_annotation(&root, &old_root);
    struct value rest = without_allowed(c, new, &root, &spec, &old_root, &old_spec);
    struct place left = spec;
    left.value = &rest;
    if (!place_same(&left, &old_spec))
        place_forbidden(&spec, rules_diff_text(c->arena, "spec is immutable after creation except resources.requests and "
                                               "volumeAttributesClassName for bound claims",
                                               place_shown_as_go(&old_spec).text, place_shown_as_go(&left).text));
    check_shrinking(c, new, old, errs);
    struct place mode = place_child(&spec, "volumeMode"), old_mode = place_child(&old_spec, "volumeMode");
    struct place top_mode = place_named(&root, &mode, "volumeMode");
    place_check_immutable(&top_mode, &old_mode);
    check_attributes_change(c, &spec, &old_spec, old);
}

/* ---- Status ---- */

static bool is_native(struct str resource)
{
    size_t slash = str_index(resource, '/');
    return slash == resource.n || str_ends(str_first(resource, slash), STR("kubernetes.io"));
}

/* False when the key is no name for what a claim can have. */
static bool check_resource_key(const struct place *map, struct str key)
{
    static const char *const known[] = { "storage" };
    size_t before = map->errs->n;
    validate_name_errors(name_label_key(key), field_str(key), &map->path, map->errs);
    if (map->errs->n == before && is_native(key) && !str_is(key, "storage"))
        field_not_supported(map->errs, &map->path, field_str(key), known, 1);
    return map->errs->n == before;
}

static void check_resize(const struct place *status)
{
    static const char *const states[] = { "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizePending",
                                          "NodeResizeInProgress", "NodeResizeInfeasible", NULL };
    static const char *const sorted[] = { "ControllerResizeInProgress", "ControllerResizeInfeasible",
                                          "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending" };
    struct place map = place_child(status, "allocatedResourceStatuses");
    for (uint32_t i = 0; i < place_n(&map); i++) {
        struct str key = map.value->members[i].key;
        check_resource_key(&map, key);
        if (!text_is_one_of(value_text(&map.value->members[i].value), states))
            field_not_supported(map.errs, &map.path, field_str(key), sorted, 5);
    }
}

static void check_allocated(const struct place *status)
{
    struct place map = place_child(status, "allocatedResources");
    for (uint32_t i = 0; i < place_n(&map); i++) {
        struct place amount = place_member(&map, i);
        if (!check_resource_key(&map, map.value->members[i].key))
            continue;
        size_t before = map.errs->n;
        volume_check_basic_amount(&amount);
        if (map.errs->n == before)
            place_check_amount(&amount);
    }
}

static void validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place capacity = place_child(&status, "capacity");
    rules_check_meta_update(c, new, old, errs);
    for (uint32_t i = 0; i < place_n(&capacity); i++) {
        struct place amount = place_member(&capacity, i);
        volume_check_basic_amount(&amount);
    }
    check_resize(&status);
    check_allocated(&status);
}

/* ---- Preparing ---- */

static struct value copied_source(struct arena *a, const struct type *to, const struct type *from,
                                  const struct value *source)
{
    static const char *const names[] = { "apiGroup", "kind", "name" };
    struct value out = value_struct(a, to);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        out = edit_set(a, to, &out, names[i], *value_path(from, source, names[i]));
    return out;
}

/* dataSource is the older of two fields for one thing: who sets one gets both. */
static struct value with_both_sources(struct arena *a, const struct type *t, const struct value *spec)
{
    const struct value *source = value_path(t, spec, "dataSource"), *reference = value_path(t, spec, "dataSourceRef");
    const struct type *source_type = t->fields[schema_slot(t, STR("dataSource"))].type;
    const struct type *reference_type = t->fields[schema_slot(t, STR("dataSourceRef"))].type;
    bool has_source = source->kind == VALUE_STRUCT, has_reference = reference->kind == VALUE_STRUCT;
    if (has_source && !has_reference)
        return edit_set(a, t, spec, "dataSourceRef", copied_source(a, reference_type, source_type, source));
    if (has_reference && !has_source && value_text(value_path(reference_type, reference, "namespace")).n == 0)
        return edit_set(a, t, spec, "dataSource", copied_source(a, source_type, reference_type, reference));
    return *spec;
}

static bool is_claim_or_snapshot(const struct place *source)
{
    struct str kind = child_text(source, "kind"), group = group_of(source);
    return (str_is(kind, "PersistentVolumeClaim") && group.n == 0) ||
           (str_is(kind, "VolumeSnapshot") && str_is(group, SNAPSHOT_GROUP));
}

/* `old` is NULL for a new claim. */
static struct value prepare_spec(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old ? old : new, &none), old_spec = place_child(&old_root, "spec");
    struct place source = place_child(&spec, "dataSource"), reference = place_child(&spec, "dataSourceRef");
    bool had_reference = old && child_is_set(&old_spec, "dataSourceRef");
    bool had_any = had_reference || (old && child_is_set(&old_spec, "dataSource"));
    struct value out = *spec.value;
    if (out.kind != VALUE_STRUCT)
        return *new;
    bool drops_reference = place_is_set(&reference) && child_text(&reference, "namespace").n && !had_reference;
    if (drops_reference) /* other namespaces are behind a gate that is closed */
        out = edit_set(c->arena, spec.type, &out, "dataSourceRef", (struct value){ 0 });
    bool has_reference = place_is_set(&reference) && !drops_reference;
    if (!had_any && !has_reference && !is_claim_or_snapshot(&source))
        out = edit_set(c->arena, spec.type, &out, "dataSource", (struct value){ 0 });
    return edit_set(c->arena, c->type, new, "spec", with_both_sources(c->arena, spec.type, &out));
}

static struct value prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value out = rules_drop_status(c, new);
    out = edit_set(c->arena, c->type, &out, "status.phase", edit_text("Pending"));
    return prepare_spec(c, &out, NULL);
}

static struct value prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value out = rules_keep_status(c, new, old);
    return prepare_spec(c, &out, old);
}

/* ---- Warnings ---- */

static void warn_fraction(const struct rules_context *c, const struct value *claim, const char *list)
{
    const struct value *amount = storage_at(c, claim, arena_printf(c->arena, "spec.resources.%s", list));
    struct err e;
    struct quantity q;
    err_init(&e, c->arena);
    if (amount->n && !quantity_parse(c->arena, value_text(amount), &q, &e) && quantity_milli(&q) % 1000)
        warnings_add(c->warnings, "spec.resources.%s[storage]: fractional byte value \"%.*s\" is invalid, must be an "
                     "integer", list, STR_ARG(value_text(amount)));
}

static void warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none);
    if (object_annotation(&root, ANNOTATION_CLASS))
        warnings_add(c->warnings, "metadata.annotations[" ANNOTATION_CLASS "]: deprecated since v1.8; use "
                                  "\"storageClassName\" attribute instead");
    warn_fraction(c, new, "requests");
    warn_fraction(c, new, "limits");
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = rules_keep_spec, .validate_update = validate_status, .reset_fields = reset_spec },
    { 0 },
};

const struct kind_rules claim_rules[] = {
    { .type = "core/v1.PersistentVolumeClaim", .flags = RULES_RETURNS_DELETED, .prepare_create = prepare_create,
      .prepare_update = prepare_update, .validate_create = validate_create, .validate_update = validate_update,
      .warn = warn, .reset_fields = reset_status, .subs = subs },
    { 0 },
};
