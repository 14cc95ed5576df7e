/* rules/extension.c - CustomResourceDefinition. What its schemas say is not looked at here. */
#include "api/edit.h"
#include "base/utf8.h"
#include "rules/registration.h"

enum { WARNING_BYTES_MAX = 256 };

#define ANNOTATION_APPROVED "api-approved.kubernetes.io"
#define SEE_ENHANCEMENT ", see https://github.com/kubernetes/enhancements/pull/1111"

/* All that is wrong in one text. */
static void check_joined(const struct place *p, struct name_errors found, const char *before)
{
    if (found.n)
        place_invalidf(p, "%s%.*s", before, STR_ARG(validate_join(p->errs->arena, found, ",")));
}

static struct str lower(struct arena *a, struct str text)
{
    char *out = arena_cstr(a, text);
    for (size_t i = 0; i < text.n; i++)
        out[i] = (char)(out[i] >= 'A' && out[i] <= 'Z' ? out[i] - 'A' + 'a' : out[i]);
    return (struct str){ out, text.n };
}

/* ---- Names ---- */

static void check_names(const struct place *names)
{
    static const char mixed[] = "may have mixed case, but should otherwise match: ";
    static const struct {
        const char *field;
        bool any_case;
    } single[] = { { "plural", false }, { "singular", false }, { "kind", true }, { "listKind", true } };
    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
        struct place name = place_child(names, single[i].field);
        struct str text = single[i].any_case ? lower(names->errs->arena, place_text(&name)) : place_text(&name);
        if (text.n)
            check_joined(&name, name_dns1035_label(text), single[i].any_case ? mixed : "");
    }
    struct place short_names = place_child(names, "shortNames"), categories = place_child(names, "categories");
    struct place kind = place_child(names, "kind"), list_kind = place_child(names, "listKind");
    for (uint32_t i = 0; i < place_n(&short_names); i++) {
        struct place name = place_item(&short_names, i);
        check_joined(&name, name_dns1035_label(place_text(&name)), "");
    }
    if (place_text(&kind).n && str_eq(place_text(&kind), place_text(&list_kind)))
        place_invalid(&list_kind, "kind and listKind may not be the same");
    for (uint32_t i = 0; i < place_n(&categories); i++) {
        struct place category = place_item(&categories, i);
        check_joined(&category, name_dns1035_label(place_text(&category)), "");
    }
}

static void require_names(const struct place *names)
{
    static const char *const needed[] = { "plural", "singular", "kind", "listKind" };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        struct place name = place_child(names, needed[i]);
        if (place_text(&name).n == 0)
            place_required(&name, "");
    }
}

/* ---- Versions ---- */

static bool check_json_path(const struct place *path)
{
    if (place_text(path).p[0] == '.')
        return true;
    place_invalid(path, "must be a simple json path starting with .");
    return false;
}

/* `at` is the place of the subresources, "scale" and the rest are one element of the path. */
static void check_replicas_path(const struct place *at, const struct place *scale, const char *field, const char *shown,
                                const char *under, const char *fault)
{
    struct place inner = place_child(scale, field), path = place_named(at, &inner, shown);
    if (place_text(&path).n == 0)
        place_required(&path, "");
    else if (check_json_path(&path) && !str_starts(place_text(&path), str_of(under)))
        place_invalid(&path, fault);
}

static void check_subresources(const struct place *at)
{
    struct place scale = place_child(at, "scale"), inner = place_child(&scale, "labelSelectorPath");
    struct place labels = place_named(at, &inner, "scale.labelSelectorPath");
    if (!place_is_set(&scale))
        return;
    check_replicas_path(at, &scale, "specReplicasPath", "scale.specReplicasPath", ".spec.",
                        "should be a json path under .spec");
    check_replicas_path(at, &scale, "statusReplicasPath", "scale.statusReplicasPath", ".status.",
                        "should be a json path under .status");
    struct str text = place_text(&labels);
    if (text.n && check_json_path(&labels) && !str_starts(text, STR(".spec.")) && !str_starts(text, STR(".status.")))
        place_invalid(&labels, "should be a json path under either .spec or .status");
}

static void check_columns(const struct place *columns)
{
    static const char *const types[] = { "boolean", "date", "integer", "number", "string", NULL };
    static const char *const formats[] = { "byte", "date", "date-time", "double", "float", "int32", "int64", "password",
                                           NULL };
    static const char one_type[] = "must be one of boolean,date,integer,number,string";
    for (uint32_t i = 0; i < place_n(columns); i++) {
        struct place column = place_item(columns, i), name = place_child(&column, "name");
        struct place type = place_child(&column, "type"), format = place_child(&column, "format");
        struct place inner = place_child(&column, "jsonPath"), path = place_named(&column, &inner, "JSONPath");
        if (place_text(&name).n == 0)
            place_required(&name, "");
        if (place_text(&type).n == 0)
            place_required(&type, one_type);
        else if (!text_is_one_of(place_text(&type), types))
            place_invalid(&type, one_type);
        if (place_text(&format).n && !text_is_one_of(place_text(&format), formats))
            place_invalid(&format, "must be one of byte,date,date-time,double,float,int32,int64,password");
        if (place_text(&path).n == 0)
            place_required(&path, "");
        else
            check_json_path(&path);
    }
}

static void check_warning_characters(const struct place *warning)
{
    struct str text = place_text(warning);
    for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
        uint32_t rune;
        n = utf8_decode(str_from(text, i), &rune);
        if (n && !utf8_printable(rune)) {
            place_invalidf(warning, "must only contain printable UTF-8 characters; non-printable character found at "
                           "index %zu", i);
            return;
        }
    }
}

static void check_deprecation(const struct place *version)
{
    struct place warning = place_child(version, "deprecationWarning");
    if (!place_is_set(&warning))
        return;
    if (!child_bool(version, "deprecated")) {
        place_invalid(&warning, "can only be set for deprecated versions");
        return;
    }
    if (place_text(&warning).n > WARNING_BYTES_MAX)
        place_invalid(&warning, "must be <= 256 characters long");
    if (place_text(&warning).n == 0)
        place_invalid(&warning, "must not be an empty string");
    check_warning_characters(&warning);
}

/* Whether all versions have the same: then errors speak of the definition as a whole. */
static bool is_common(const struct place *versions, const char *field)
{
    for (uint32_t i = 1; i < place_n(versions); i++) {
        struct place first = place_item(versions, 0), one = place_item(versions, i);
        struct place a = place_child(&first, field), b = place_child(&one, field);
        if (!place_same(&a, &b))
            return false;
    }
    return true;
}

static const char *const by_version[] = { "schema", "subresources", "additionalPrinterColumns", "selectableFields" };
enum { N_BY_VERSION = sizeof(by_version) / sizeof(by_version[0]) };

/* The versions without what they have in common. */
static struct field_value shown_versions(const struct place *versions)
{
    struct arena *a = versions->errs->arena;
    struct value *items = ARENA_NEW_N(a, struct value, place_n(versions));
    for (uint32_t i = 0; i < place_n(versions); i++)
        items[i] = versions->value->items[i];
    for (size_t f = 0; f < N_BY_VERSION; f++) {
        bool common = is_common(versions, by_version[f]);
        for (uint32_t i = 0; common && i < place_n(versions); i++)
            items[i] = edit_set(a, versions->type, &items[i], by_version[f], (struct value){ 0 });
    }
    struct value list = value_list(items, place_n(versions));
    struct place shown = *versions;
    if (place_is_set(versions))
        shown.value = &list;
    return place_shown_as_go(&shown);
}

static void check_version(const struct place *version, bool common_subresources, bool common_columns)
{
    struct place name = place_child(version, "name"), subresources = place_child(version, "subresources");
    struct place columns = place_child(version, "additionalPrinterColumns");
    check_joined(&name, name_dns1035_label(place_text(&name)), "");
    check_deprecation(version);
    if (!common_subresources)
        check_subresources(&subresources);
    if (!common_columns)
        check_columns(&columns);
}

static void check_version_names(const struct place *versions)
{
    struct seen names;
    uint32_t n_stored = 0;
    bool repeated = false;
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(versions); i++) {
        struct place version = place_item(versions, i);
        n_stored += child_bool(&version, "storage");
        repeated |= seen_before(&names, child_text(&version, "name"));
    }
    seen_fini(&names);
    if (repeated)
        field_invalid(versions->errs, &versions->path, shown_versions(versions), STR("must contain unique version names"));
    if (n_stored != 1)
        field_invalid(versions->errs, &versions->path, shown_versions(versions),
                      STR("must have exactly one version marked as storage version"));
}

static void check_versions(const struct place *spec)
{
    struct place versions = place_child(spec, "versions");
    bool common_subresources = is_common(&versions, "subresources");
    bool common_columns = is_common(&versions, "additionalPrinterColumns");
    for (uint32_t i = 0; i < place_n(&versions); i++) {
        struct place version = place_item(&versions, i), schema = place_child(&version, "schema");
        struct place open = place_child(&schema, "openAPIV3Schema");
        if (!place_is_set(&open))
            place_required(&open, "");
    }
    for (uint32_t i = 0; i < place_n(&versions); i++) {
        struct place version = place_item(&versions, i);
        check_version(&version, common_subresources, common_columns);
    }
    check_version_names(&versions);
    if (place_n(&versions) == 0)
        return;
    struct place first = place_item(&versions, 0), name = place_child(&first, "name");
    struct place version = place_named(spec, &name, "version"); /* the field of old for a single one */
    if (place_text(&name).n)
        check_joined(&version, name_dns1035_label(place_text(&name)), "");
}

static void check_common_parts(const struct place *spec)
{
    struct place versions = place_child(spec, "versions");
    if (place_n(&versions) == 0)
        return;
    struct place first = place_item(&versions, 0);
    struct place subresources = place_child(&first, "subresources");
    struct place of_all = place_named(spec, &subresources, "subresources");
    struct place columns = place_child(&first, "additionalPrinterColumns");
    struct place all_columns = place_named(spec, &columns, "additionalPrinterColumns");
    if (is_common(&versions, "subresources"))
        check_subresources(&of_all);
    if (is_common(&versions, "additionalPrinterColumns"))
        check_columns(&all_columns);
}

/* ---- Conversion ---- */

static void check_review_versions(const struct place *versions, bool any)
{
    struct seen seen;
    bool accepted = false;
    if (place_n(versions) == 0)
        place_required(versions, "");
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(versions); i++) {
        struct place version = place_item(versions, i);
        struct str text = place_text(&version);
        if (seen_before(&seen, text)) {
            place_invalid(&version, "duplicate version");
            continue;
        }
        place_check_names(&version, name_dns1035_label(text));
        accepted |= str_is(text, "v1") || str_is(text, "v1beta1");
    }
    seen_fini(&seen);
    if (place_n(versions) && !any && !accepted)
        place_invalid(versions, "must include at least one of v1, v1beta1");
}

static void check_conversion(const struct place *spec, bool any_versions)
{
    static const char *const strategies[] = { "None", "Webhook", NULL };
    struct place conversion = place_child(spec, "conversion"), strategy = place_child(&conversion, "strategy");
    struct place webhook = place_child(&conversion, "webhook"), inner = place_child(&webhook, "clientConfig");
    struct place client = place_named(&conversion, &inner, "webhookClientConfig");
    struct place versions = place_child(&webhook, "conversionReviewVersions");
    struct place reviewed = place_named(&conversion, &versions, "conversionReviewVersions");
    if (!place_is_set(&conversion))
        return;
    place_check_choice(&strategy, strategies);
    if (!str_is(place_text(&strategy), "Webhook")) {
        if (place_is_set(&client))
            place_forbidden(&client, "should not be set when strategy is not set to Webhook");
        if (place_n(&reviewed))
            place_forbidden(&reviewed, "should not be set when strategy is not set to Webhook");
        return;
    }
    if (place_is_set(&client))
        registration_check_client(&client);
    else
        place_required(&client, "required when strategy is set to Webhook");
    check_review_versions(&reviewed, any_versions);
}

/* ---- Definitions ---- */

static void check_group(const struct place *group)
{
    struct str text = place_text(group);
    struct name_errors found = name_dns1123_subdomain(text);
    if (text.n == 0)
        place_required(group, "");
    else if (found.n)
        check_joined(group, found, "");
    else if (str_index(text, '.') == text.n)
        place_invalid(group, "should be a domain with at least one dot");
}

static void check_spec(const struct place *spec, bool any_review_versions)
{
    static const char *const scopes[] = { "Cluster", "Namespaced", NULL };
    struct place group = place_child(spec, "group"), scope = place_child(spec, "scope");
    struct place names = place_child(spec, "names");
    check_group(&group);
    place_check_choice(&scope, scopes);
    check_versions(spec);
    require_names(&names);
    check_names(&names);
    check_common_parts(spec);
    check_conversion(spec, any_review_versions);
}

static void check_stored_versions(const struct place *root)
{
    struct place status = place_child(root, "status"), stored = place_child(&status, "storedVersions");
    struct place spec = place_child(root, "spec"), versions = place_child(&spec, "versions");
    struct seen known, kept;
    if (place_n(&stored) == 0) {
        place_invalid(&stored, "must have at least one stored version");
        return;
    }
    seen_init(&known);
    seen_init(&kept);
    for (uint32_t i = 0; i < place_n(&stored); i++)
        seen_before(&kept, value_text(&stored.value->items[i]));
    for (uint32_t i = 0; i < place_n(&versions); i++) {
        struct place version = place_item(&versions, i);
        struct str name = child_text(&version, "name");
        bool was_kept = map_str_remove(&kept.texts, name, NULL); /* a name that comes again is no longer there */
        seen_before(&known, name);
        if (child_bool(&version, "storage") && !was_kept)
            place_invalidf(&stored, "must have the storage version %.*s", STR_ARG(name));
    }
    for (uint32_t i = 0; i < place_n(&stored); i++) {
        struct place one = place_item(&stored, i);
        struct str name = place_text(&one);
        if (!map_str_find(&known.texts, name))
            place_invalidf(&one, "missing from spec.versions; %.*s was previously a storage version, and must remain in "
                                 "spec.versions until a storage migration ensures no data remains persisted in %.*s and "
                                 "removes %.*s from status.storedVersions", STR_ARG(name), STR_ARG(name), STR_ARG(name));
    }
    seen_fini(&known);
    seen_fini(&kept);
}

enum approval { APPROVED, APPROVAL_MISSING, APPROVAL_BYPASSED, APPROVAL_INVALID };

static enum approval approval_of(const struct place *root)
{
    const struct value *annotation = object_annotation(root, ANNOTATION_APPROVED);
    struct str text = annotation ? value_text(annotation) : STR("");
    size_t colon = str_index(text, ':');
    struct str rest = str_from(text, colon + 1);
    if (text.n == 0)
        return APPROVAL_MISSING;
    if (str_starts(text, STR("unapproved")))
        return APPROVAL_BYPASSED;
    bool is_url = colon > 0 && str_starts(rest, STR("//")) && rest.n > 2 && rest.p[2] != '/';
    return is_url ? APPROVED : APPROVAL_INVALID;
}

/* Groups of the community need somebody's word. */
static void check_approval(const struct place *root, const struct place *old)
{
    static const char *const domains[] = { ".k8s.io", ".kubernetes.io" };
    struct place spec = place_child(root, "spec");
    struct str group = str_of(arena_printf(root->errs->arena, ".%.*s", STR_ARG(child_text(&spec, "group"))));
    if (!str_ends(group, str_of(domains[0])) && !str_ends(group, str_of(domains[1])))
        return;
    enum approval is = approval_of(root);
    if (old && approval_of(old) == is)
        return;
    struct field_path meta = field_child(NULL, "metadata"), all = field_child(&meta, "annotations");
    struct field_path at = field_key(&all, STR(ANNOTATION_APPROVED));
    if (is == APPROVAL_MISSING)
        field_required(root->errs, &at, STR("protected groups must have approval annotation \"" ANNOTATION_APPROVED "\""
                                            SEE_ENHANCEMENT));
    if (is == APPROVAL_INVALID)
        field_invalid(root->errs, &at, field_str(value_text(object_annotation(root, ANNOTATION_APPROVED))),
                      STR("protected groups must have approval annotation \"" ANNOTATION_APPROVED "\" with either a URL or a "
                          "reason starting with \"unapproved\"" SEE_ENHANCEMENT));
}

static void check_preserve(const struct place *root, const struct place *old)
{
    struct place spec = place_child(root, "spec"), preserve = place_child(&spec, "preserveUnknownFields");
    if (old) {
        struct place old_spec = place_child(old, "spec");
        if (child_bool(&old_spec, "preserveUnknownFields"))
            return;
    }
    if (place_bool(&preserve))
        place_invalid(&preserve, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                 "spec.versions[*].schema instead");
}

/* What follows the spec's own errors. */
static void check_rest(const struct place *root, const struct place *old)
{
    struct place status = place_child(root, "status"), accepted = place_child(&status, "acceptedNames");
    check_names(&accepted);
    check_stored_versions(root);
    check_approval(root, old);
    check_preserve(root, old);
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place name = place_child(&meta, "name");
    struct place spec = place_child(&root, "spec"), names = place_child(&spec, "names");
    struct str plural = child_text(&names, "plural"), group = child_text(&spec, "group");
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    const char *wanted = arena_printf(c->arena, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group));
    if (!str_is(place_text(&name), wanted))
        place_invalid(&name, "must be spec.names.plural+\".\"+spec.group");
    check_spec(&spec, false);
    check_rest(&root, NULL);
}

static bool is_established(const struct place *old)
{
    struct place status = place_child(old, "status"), list = place_child(&status, "conditions");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        if (str_is(child_text(&one, "type"), "Established") && str_is(child_text(&one, "status"), "True"))
            return true;
    }
    return false;
}

static bool has_odd_review_versions(const struct place *old_spec)
{
    struct place conversion = place_child(old_spec, "conversion"), webhook = place_child(&conversion, "webhook");
    struct place versions = place_child(&webhook, "conversionReviewVersions");
    for (uint32_t i = 0; i < place_n(&versions); i++) {
        struct str text = value_text(&versions.value->items[i]);
        if (str_is(text, "v1") || str_is(text, "v1beta1"))
            return false;
    }
    return place_n(&versions) > 0;
}

static void check_fixed(const struct place *spec, const struct place *old, bool established)
{
    struct place names = place_child(spec, "names"), old_names = place_child(old, "names");
    struct place scope = place_child(spec, "scope"), old_scope = place_child(old, "scope");
    struct place kind = place_child(&names, "kind"), old_kind = place_child(&old_names, "kind");
    struct place group = place_child(spec, "group"), old_group = place_child(old, "group");
    struct place plural = place_child(&names, "plural"), old_plural = place_child(&old_names, "plural");
    if (established) {
        place_check_immutable(&scope, &old_scope);
        place_check_immutable(&kind, &old_kind);
    }
    place_check_immutable(&group, &old_group);
    place_check_immutable(&plural, &old_plural);
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    rules_check_generic_meta_update(c, new, old, errs);
    check_spec(&spec, has_odd_review_versions(&old_spec));
    check_fixed(&spec, &old_spec, is_established(&old_root));
    check_rest(&root, &old_root);
}

static void validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place accepted = place_child(&status, "acceptedNames");
    rules_check_generic_meta_update(c, new, old, errs);
    check_names(&accepted);
}

/* The version that is stored from now on is one of those that ever were. */
static struct value with_stored_version(const struct rules_context *c, const struct value *new)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    struct place list = place_child(&spec, "versions");
    const struct value *stored = value_path(c->type, new, "status.storedVersions");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place version = place_item(&list, i);
        if (!child_bool(&version, "storage"))
            continue;
        for (uint32_t k = 0; stored->kind == VALUE_LIST && k < stored->n; k++)
            if (str_eq(value_text(&stored->items[k]), child_text(&version, "name")))
                return *new;
        return edit_set(c->arena, c->type, new, "status.storedVersions",
                        edit_append(c->arena, stored, *child_value(&version, "name")));
    }
    return *new;
}

static struct value prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value out = rules_drop_status(c, new);
    return with_stored_version(c, &out);
}

static struct value prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value out = rules_keep_status(c, new, old);
    return with_stored_version(c, &out);
}

static const char *const reset_status[] = { "status", NULL };

static const char *const reset_spec[] = { "spec", NULL };

static const struct sub_rules definition_subs[] = {
    { .name = "status", .prepare_update = rules_keep_spec, .validate_update = validate_status, .reset_fields = reset_spec },
    { 0 },
};

const struct kind_rules extension_rules[] = {
    { .type = "apiextensions.k8s.io/v1.CustomResourceDefinition", .flags = RULES_NEEDS_VERSION,
      .generation = GENERATION_SPEC, .prepare_create = prepare_create, .prepare_update = prepare_update,
      .validate_create = validate_create, .validate_update = validate_update, .reset_fields = reset_status,
      .subs = definition_subs },
    { 0 },
};
