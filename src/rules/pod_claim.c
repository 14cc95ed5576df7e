/* rules/pod_claim.c - see pod.h: the spec of a claim on a volume, of its own or as a template in a pod. */
#include "rules/pod_priv.h"

static const char *const access_modes[] = { "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL };

static void check_access_modes(const struct value *modes, const struct field_path *at, struct field_errors *errs)
{
    bool single = false, others = false;
    for (uint32_t i = 0; i < pod_count(modes); i++) {
        struct str mode = value_text(&modes->items[i]);
        bool known = pod_check_one_of(mode, access_modes, at, errs);
        single |= str_is(mode, "ReadWriteOncePod");
        others |= known && !str_is(mode, "ReadWriteOncePod");
    }
    if (single && others)
        field_forbidden(errs, at, STR("may not use ReadWriteOncePod with other access modes"));
}

static void check_storage(const struct value *resources, const struct field_path *at, struct field_errors *errs)
{
    const struct value *requests = GET(resources, VolumeResourceRequirements, requests);
    const struct value *storage = requests->kind == VALUE_MAP ? value_member(requests, STR("storage")) : NULL;
    const struct field_path *path = AT_KEY(at, STR("storage"));
    if (!storage) {
        field_required(errs, path, STR(""));
        return;
    }
    struct quantity amount = pod_amount(errs->arena, value_text(storage));
    if (quantity_sign(&amount) <= 0)
        field_invalid(errs, path, field_str(value_text(storage)), STR("must be greater than zero"));
}

/* A source of data; `ref` may be in another namespace. Both have apiGroup, kind and name in the same places. */
static void check_source(const struct value *source, const struct field_path *at, struct field_errors *errs)
{
    _Static_assert(SAME_SLOT(TypedLocalObjectReference, TypedObjectReference, apiGroup) &&
                       SAME_SLOT(TypedLocalObjectReference, TypedObjectReference, kind) &&
                       SAME_SLOT(TypedLocalObjectReference, TypedObjectReference, name),
                   "one check for both");
    struct str group = TEXT(source, TypedObjectReference, apiGroup), kind = TEXT(source, TypedObjectReference, kind);
    if (source->kind == VALUE_ABSENT)
        return;
    pod_require(TEXT(source, TypedObjectReference, name), at, "name", errs);
    pod_require(kind, at, "kind", errs);
    if (!group.n && !str_is(kind, "PersistentVolumeClaim"))
        field_invalid(errs, at, field_str(kind),
                      STR("must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
    if (group.n)
        pod_check_name(name_dns1123_subdomain(group), group, AT(at, "apiGroup"), errs);
}

static bool same_source(const struct value *source, const struct value *ref)
{
    return value_equal(GET(source, TypedLocalObjectReference, apiGroup), GET(ref, TypedObjectReference, apiGroup)) &&
           str_eq(TEXT(source, TypedLocalObjectReference, kind), TEXT(ref, TypedObjectReference, kind)) &&
           str_eq(TEXT(source, TypedLocalObjectReference, name), TEXT(ref, TypedObjectReference, name));
}

/* The value shown is a path, which has no fields that JSON knows of. */
static void check_sources(const struct value *spec, const struct field_path *at, struct field_errors *errs)
{
    const struct value *source = GET(spec, PersistentVolumeClaimSpec, dataSource);
    const struct value *ref = GET(spec, PersistentVolumeClaimSpec, dataSourceRef);
    struct str namespace = TEXT(ref, TypedObjectReference, namespace);
    check_source(source, AT(at, "dataSource"), errs);
    check_source(ref, AT(at, "dataSourceRef"), errs);
    if (namespace.n)
        pod_check_name(name_dns1123_label(namespace), namespace, AT(AT(at, "dataSourceRef"), "namespace"), errs);
    if (source->kind == VALUE_ABSENT || ref->kind == VALUE_ABSENT)
        return;
    if (namespace.n)
        field_invalid(errs, at, field_json(STR("{}")), STR("may not be specified when dataSourceRef.namespace is specified"));
    else if (!same_source(source, ref))
        field_invalid(errs, at, field_json(STR("{}")), STR("must match dataSourceRef"));
}

void rules_check_claim_spec(const struct value *spec, bool lenient, const struct field_path *at,
                            struct field_errors *errs)
{
    static const char *const volume_modes[] = { "Block", "Filesystem", NULL };
    const struct value *modes = GET(spec, PersistentVolumeClaimSpec, accessModes);
    struct str class = TEXT(spec, PersistentVolumeClaimSpec, storageClassName);
    struct str attributes = TEXT(spec, PersistentVolumeClaimSpec, volumeAttributesClassName);
    if (!pod_count(modes))
        field_required(errs, AT(at, "accessModes"), STR("at least 1 access mode is required"));
    rules_check_label_selector(errs->arena, GET(spec, PersistentVolumeClaimSpec, selector), lenient, AT(at, "selector"),
                               errs);
    check_access_modes(modes, AT(at, "accessModes"), errs);
    check_storage(GET(spec, PersistentVolumeClaimSpec, resources), AT(at, "resources"), errs);
    if (class.n)
        pod_check_name(name_dns1123_subdomain(class), class, AT(at, "storageClassName"), errs);
    if (IS_SET(spec, PersistentVolumeClaimSpec, volumeMode))
        pod_check_one_of(TEXT(spec, PersistentVolumeClaimSpec, volumeMode), volume_modes, AT(at, "volumeMode"), errs);
    check_sources(spec, at, errs);
    if (attributes.n)
        pod_check_name(name_dns1123_subdomain(attributes), attributes, AT(at, "volumeAttributesClassName"), errs);
}
