/* api/object_meta.c - see object_meta.h. */
#include "api/object_meta.h"

/* ---- owner references ---- */

/* The version part of "version" or "group/version"; empty for anything else. */
static struct str version_of(struct str api_version, struct str *ret_group)
{
    size_t slash = str_index(api_version, '/');
    if (slash == api_version.n) {
        *ret_group = (struct str){ 0 };
        return api_version;
    }
    struct str version = str_from(api_version, slash + 1);
    *ret_group = str_first(api_version, slash);
    return str_index(version, '/') < version.n ? (struct str){ 0 } : version;
}

static void print_optional_bool(const char *name, enum tristate value, struct strbuf *to)
{
    if (value != TRI_ABSENT)
        strbuf_printf(to, ",\"%s\":%s", name, value == TRI_TRUE ? "true" : "false");
}

static void print_reference(const struct owner_reference *ref, struct strbuf *to)
{
    STRBUF_ADD_LIT(to, "{\"apiVersion\":");
    field_add_json_string(to, ref->api_version);
    STRBUF_ADD_LIT(to, ",\"kind\":");
    field_add_json_string(to, ref->kind);
    STRBUF_ADD_LIT(to, ",\"name\":");
    field_add_json_string(to, ref->name);
    STRBUF_ADD_LIT(to, ",\"uid\":");
    field_add_json_string(to, ref->uid);
    print_optional_bool("controller", ref->controller, to);
    print_optional_bool("blockOwnerDeletion", ref->block_owner_deletion, to);
    strbuf_add_char(to, '}');
}

static struct str reference_json(struct arena *a, const struct owner_reference *ref)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    print_reference(ref, &json);
    return field_take_text(a, &json);
}

static struct str references_json(struct arena *a, const struct owner_reference *refs, size_t n)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    for (size_t i = 0; i < n; i++) {
        strbuf_add_char(&json, i ? ',' : '[');
        print_reference(&refs[i], &json);
    }
    strbuf_add_char(&json, ']');
    return field_take_text(a, &json);
}

static void require(struct str value, struct field_value shown, const char *detail,
                    const struct field_path *at, const char *name, struct field_errors *errs)
{
    struct field_path path = field_child(at, name);
    if (value.n == 0)
        field_invalid(errs, &path, shown, str_of(detail));
}

static void validate_owner_reference(const struct owner_reference *ref, const struct field_path *at,
                                     struct field_errors *errs)
{
    struct str group, version = version_of(ref->api_version, &group);
    require(version, field_str(ref->api_version), "version must not be empty", at, "apiVersion", errs);
    require(ref->kind, field_str(ref->kind), "must not be empty", at, "kind", errs);
    require(ref->name, field_str(ref->name), "must not be empty", at, "name", errs);
    require(ref->uid, field_enum(ref->uid), "must not be empty", at, "uid", errs);
    if (group.n == 0 && str_is(version, "v1") && str_is(ref->kind, "Event"))
        field_invalid(errs, at, field_json(reference_json(errs->arena, ref)),
                      STR("/v1, Kind=Event is disallowed from being an owner"));
}

static struct str two_controllers(struct arena *a, const struct owner_reference *first,
                                  const struct owner_reference *second)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "Only one reference can have Controller set to true. "
                          "Found \"true\" in references for ");
    strbuf_add_str(&text, first->kind);
    strbuf_add_char(&text, '/');
    strbuf_add_str(&text, first->name);
    STRBUF_ADD_LIT(&text, " and ");
    strbuf_add_str(&text, second->kind);
    strbuf_add_char(&text, '/');
    strbuf_add_str(&text, second->name);
    return field_take_text(a, &text);
}

void validate_owner_references(const struct owner_reference *refs, size_t n_refs,
                               const struct field_path *at, struct field_errors *errs)
{
    const struct owner_reference *controller = NULL;
    struct str all = { 0 }; /* written once, however many errors quote it */
    for (size_t i = 0; i < n_refs; i++) {
        validate_owner_reference(&refs[i], at, errs);
        if (refs[i].controller != TRI_TRUE)
            continue;
        if (!controller) {
            controller = &refs[i];
            continue;
        }
        if (!all.p)
            all = references_json(errs->arena, refs, n_refs);
        struct str detail = { 0 }; /* names the first controller, which may be long, again and again */
        if (!field_errors_full(errs))
            detail = two_controllers(errs->arena, controller, &refs[i]);
        field_invalid(errs, at, field_json(all), detail);
    }
}

/* ---- the rest ---- */

void validate_finalizers(struct strs finalizers, const struct field_path *at, struct field_errors *errs)
{
    bool orphan = false, foreground = false;
    for (size_t i = 0; i < finalizers.n; i++) {
        validate_finalizer_name(finalizers.at[i], at, errs);
        orphan |= str_is(finalizers.at[i], "orphan");
        foreground |= str_is(finalizers.at[i], "foregroundDeletion");
    }
    if (orphan && foreground)
        field_invalid(errs, at, field_strs(finalizers.at, finalizers.n),
                      STR("finalizer orphan and foregroundDeletion cannot be both set"));
}

static void validate_managed_fields_entry(const struct managed_fields_entry *entry,
                                          const struct field_path *at, struct field_errors *errs)
{
    struct field_path operation = field_child(at, "operation");
    struct field_path fields_type = field_child(at, "fieldsType");
    struct field_path manager = field_child(at, "manager");
    struct field_path subresource = field_child(at, "subresource");
    if (!str_is(entry->operation, "Apply") && !str_is(entry->operation, "Update"))
        field_invalid(errs, &operation, field_enum(entry->operation),
                      STR("must be `Apply` or `Update`"));
    if (entry->fields_type.n > 0 && !str_is(entry->fields_type, "FieldsV1"))
        field_invalid(errs, &fields_type, field_str(entry->fields_type), STR("must be `FieldsV1`"));
    validate_field_manager(entry->manager, &manager, errs);
    if (entry->subresource.n > SUBRESOURCE_BYTES_MAX)
        field_too_long(errs, &subresource, SUBRESOURCE_BYTES_MAX);
}

void validate_managed_fields(const struct managed_fields_entry *entries, size_t n_entries,
                             const struct field_path *at, struct field_errors *errs)
{
    for (size_t i = 0; i < n_entries; i++) {
        struct field_path path = field_index(at, i);
        validate_managed_fields_entry(&entries[i], &path, errs);
    }
}

static void validate_own_name(const struct object_meta *meta, name_rule *rule,
                              const struct field_path *at, struct field_errors *errs)
{
    struct field_path generate_name = field_child(at, "generateName"), name = field_child(at, "name");
    if (meta->generate_name.n > 0)
        validate_name_errors(rule(meta->generate_name, true), field_str(meta->generate_name),
                             &generate_name, errs);
    if (meta->name.n == 0)
        field_required(errs, &name, STR("name or generateName is required"));
    else
        validate_name_errors(rule(meta->name, false), field_str(meta->name), &name, errs);
}

static void validate_namespace(struct str namespace, bool namespaced, const struct field_path *at,
                               struct field_errors *errs)
{
    struct field_path path = field_child(at, "namespace");
    if (!namespaced && namespace.n > 0)
        field_forbidden(errs, &path, STR("not allowed on this type"));
    if (namespaced && namespace.n == 0)
        field_required(errs, &path, STR(""));
    if (namespaced && namespace.n > 0)
        validate_name_errors(name_is_dns_label(namespace, false), field_str(namespace), &path, errs);
}

void validate_object_meta(const struct object_meta *meta, bool namespaced, name_rule *rule,
                          const struct field_path *at, struct field_errors *errs)
{
    struct field_path generation = field_child(at, "generation"), labels = field_child(at, "labels");
    struct field_path annotations = field_child(at, "annotations");
    struct field_path owner_references = field_child(at, "ownerReferences");
    struct field_path finalizers = field_child(at, "finalizers");
    struct field_path managed_fields = field_child(at, "managedFields");
    validate_own_name(meta, rule, at, errs);
    validate_namespace(meta->namespace, namespaced, at, errs);
    validate_not_negative(meta->generation, &generation, errs);
    validate_labels(meta->labels, &labels, errs);
    validate_annotations(meta->annotations, &annotations, errs);
    validate_owner_references(meta->owner_references, meta->n_owner_references, &owner_references, errs);
    validate_finalizers(meta->finalizers, &finalizers, errs);
    validate_managed_fields(meta->managed_fields, meta->n_managed_fields, &managed_fields, errs);
}
