/* tests/vectors/names.c - names.jsonl.gz: validation of names, addresses and object metadata. */
#include <stdlib.h>

#include "api/names.h"
#include "api/object_meta.h"
#include "api/validate.h"
#include "tests/vectors/vectors.h"

/* ---- what a record may ask for ---- */

static const struct {
    const char *name;
    name_check *check;
} text_checks[] = {
    { "dns1123Label", name_dns1123_label },
    { "dns1123Subdomain", name_dns1123_subdomain },
    { "dns1123SubdomainWithUnderscore", name_dns1123_subdomain_with_underscore },
    { "dns1035Label", name_dns1035_label },
    { "wildcardDNS1123Subdomain", name_wildcard_dns1123_subdomain },
    { "qualifiedName", name_label_key },
    { "labelValue", name_label_value },
    { "portName", name_port },
    { "cIdentifier", name_c_identifier },
    { "envVarName", name_env_var },
    { "relaxedEnvVarName", name_relaxed_env_var },
    { "configMapKey", name_config_map_key },
    { "httpHeaderName", name_http_header },
    { "percent", name_percent },
    { "decimalInteger", name_decimal_integer },
    { "pathSegmentName", name_path_segment },
    { "pathSegmentPrefix", name_path_segment_prefix },
};

static const struct {
    const char *name;
    name_rule *rule;
    bool prefix;
} rules[] = {
    { "nameIsDNSSubdomain", name_is_dns_subdomain, false },
    { "nameIsDNSLabel", name_is_dns_label, false },
    { "nameIsDNS1035Label", name_is_dns1035_label, false },
    { "generateNameIsDNSSubdomain", name_is_dns_subdomain, true },
    { "generateNameIsDNSLabel", name_is_dns_label, true },
    { "generateNameIsDNS1035Label", name_is_dns1035_label, true },
};

static const struct {
    const char *name, *path;
    void (*check)(struct str text, const struct field_path *at, struct field_errors *errs);
} field_checks[] = {
    { "fullyQualifiedName", "field", validate_fully_qualified_name },
    { "fullyQualifiedDomainName", "field", validate_fully_qualified_domain_name },
    { "domainPrefixedPath", "field", validate_domain_prefixed_path },
    { "domainPrefixedKey", "field", validate_domain_prefixed_key },
    { "ip", "field", validate_ip },
    { "cidr", "field", validate_cidr },
    { "finalizerName", "field", validate_finalizer_name },
    { "fieldManager", "fieldManager", validate_field_manager },
};

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- metadata out of a record ---- */

static struct labels read_labels(struct arena *a, yyjson_val *object)
{
    struct label *at = ARENA_NEW_N(a, struct label, yyjson_obj_size(object));
    size_t n = 0, i, n_all;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, n_all, key, value)
        at[n++] = (struct label){ { yyjson_get_str(key), yyjson_get_len(key) },
                                  { yyjson_get_str(value), yyjson_get_len(value) } };
    return (struct labels){ at, labels_sort(a, at, n) };
}

static enum tristate read_tristate(yyjson_val *object, const char *name)
{
    if (!vector_has(object, name))
        return TRI_ABSENT;
    return vector_bool(object, name) ? TRI_TRUE : TRI_FALSE;
}

static void read_owner_references(struct arena *a, yyjson_val *list, struct object_meta *meta)
{
    struct owner_reference *refs = ARENA_NEW_N(a, struct owner_reference, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *ref;
    yyjson_arr_foreach(list, i, n, ref)
        refs[i] = (struct owner_reference){
            .api_version = vector_str(ref, "apiVersion"), .kind = vector_str(ref, "kind"),
            .name = vector_str(ref, "name"), .uid = vector_str(ref, "uid"),
            .controller = read_tristate(ref, "controller"),
            .block_owner_deletion = read_tristate(ref, "blockOwnerDeletion"),
        };
    meta->owner_references = refs;
    meta->n_owner_references = yyjson_arr_size(list);
}

static void read_managed_fields(struct arena *a, yyjson_val *list, struct object_meta *meta)
{
    struct managed_fields_entry *entries =
        ARENA_NEW_N(a, struct managed_fields_entry, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *entry;
    yyjson_arr_foreach(list, i, n, entry)
        entries[i] = (struct managed_fields_entry){
            .manager = vector_str(entry, "manager"), .operation = vector_str(entry, "operation"),
            .fields_type = vector_str(entry, "fieldsType"),
            .subresource = vector_str(entry, "subresource"),
        };
    meta->managed_fields = entries;
    meta->n_managed_fields = yyjson_arr_size(list);
}

static struct strs read_strs(struct arena *a, yyjson_val *list)
{
    if (!list)
        return (struct strs){ 0 };
    struct str *at = ARENA_NEW_N(a, struct str, yyjson_arr_size(list));
    size_t i, n;
    yyjson_val *text;
    yyjson_arr_foreach(list, i, n, text)
        at[i] = (struct str){ yyjson_get_str(text), yyjson_get_len(text) };
    return (struct strs){ at, yyjson_arr_size(list) };
}

static struct object_meta read_meta(struct arena *a, yyjson_val *object)
{
    struct object_meta meta = {
        .name = vector_str(object, "name"),
        .generate_name = vector_str(object, "generateName"),
        .namespace = vector_str(object, "namespace"),
        .generation = vector_num(object, "generation"),
        .labels = read_labels(a, yyjson_obj_get(object, "labels")),
        .annotations = read_labels(a, yyjson_obj_get(object, "annotations")),
        .finalizers = read_strs(a, yyjson_obj_get(object, "finalizers")),
    };
    read_owner_references(a, yyjson_obj_get(object, "ownerReferences"), &meta);
    read_managed_fields(a, yyjson_obj_get(object, "managedFields"), &meta);
    return meta;
}

/* ---- comparing ---- */

static void compare_texts(struct vector_case *c, const struct str *got, size_t n_got)
{
    yyjson_val *want = yyjson_obj_get(c->record, "errors");
    if (!vector_int(c, "number of errors", (int64_t)n_got, (int64_t)yyjson_arr_size(want)))
        return;
    size_t i, n;
    yyjson_val *text;
    yyjson_arr_foreach(want, i, n, text)
        vector_text(c, "error", got[i], (struct str){ yyjson_get_str(text), yyjson_get_len(text) });
}

static void compare_names(struct vector_case *c, struct name_errors found)
{
    struct str texts[NAME_ERRORS_MAX];
    for (size_t i = 0; i < found.n; i++)
        texts[i] = str_of(found.at[i]);
    compare_texts(c, texts, found.n);
}

static void compare_field_errors(struct vector_case *c, const struct field_errors *errs)
{
    struct str *texts = ARENA_NEW_N(c->arena, struct str, errs->n);
    for (size_t i = 0; i < errs->n; i++)
        texts[i] = field_error_text(c->arena, &errs->at[i]);
    compare_texts(c, texts, errs->n);
}

static void check_meta(struct vector_case *c)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct object_meta meta = read_meta(c->arena, yyjson_obj_get(c->record, "meta"));
    struct field_path at = field_child(NULL, "metadata");
    validate_object_meta(&meta, vector_bool(c->record, "namespaced"), name_is_dns_subdomain, &at, &errs);
    compare_field_errors(c, &errs);
}

void check_names(struct vector_case *c)
{
    struct str check = vector_str(c->record, "check"), in = vector_str(c->record, "in");
    for (size_t i = 0; i < N_OF(text_checks); i++)
        if (str_is(check, text_checks[i].name))
            return compare_names(c, text_checks[i].check(in));
    for (size_t i = 0; i < N_OF(rules); i++)
        if (str_is(check, rules[i].name))
            return compare_names(c, rules[i].rule(in, rules[i].prefix));
    for (size_t i = 0; i < N_OF(field_checks); i++)
        if (str_is(check, field_checks[i].name)) {
            struct field_errors errs;
            field_errors_init(&errs, c->arena);
            struct field_path at = field_child(NULL, field_checks[i].path);
            field_checks[i].check(in, &at, &errs);
            return compare_field_errors(c, &errs);
        }
    if (str_is(check, "portNum"))
        return compare_names(c, name_port_number(strtoll(arena_cstr(c->arena, in), NULL, 10)));
    if (str_is(check, "objectMeta"))
        return check_meta(c);
    vector_mismatch(c, "unknown check %.*s", STR_ARG(check));
}
