/* rules/policy.c - admission policies and their bindings. Expressions must be there and are not compiled. */
#include "rules/registration.h"
#include "rules/resource.h"

#define GROUP "admissionregistration.k8s.io/v1."

enum { AUDIT_ANNOTATIONS_MAX = 20, VALUE_EXPRESSION_BYTES_MAX = 5 << 10 };

static const char *const failure_policies[] = { "Fail", "Ignore", NULL };
static const char *const match_policies[] = { "Equivalent", "Exact", NULL };

/* ---- What a policy looks at ---- */

static void check_group_version(const struct place *version)
{
    struct str text = place_text(version);
    size_t slash = str_index(text, '/');
    struct str group = slash < text.n ? str_first(text, slash) : STR("");
    struct str name = slash < text.n ? str_from(text, slash + 1) : text;
    struct arena *a = version->errs->arena;
    if (text.n == 0) {
        place_required(version, "");
        return;
    }
    if (str_index(name, '/') < name.n) {
        place_invalidf(version, "unexpected GroupVersion string: %.*s", STR_ARG(text));
        return;
    }
    struct name_errors found = name_dns1123_subdomain(group);
    if (group.n && found.n)
        field_invalid(version->errs, &version->path, field_str(group), validate_join(a, found, ","));
    found = name_dns1035_label(name);
    if (name.n == 0)
        place_invalid(version, "version must be specified");
    else if (found.n)
        field_invalid(version->errs, &version->path, field_str(name), validate_join(a, found, ","));
}

static void check_param_kind(const struct place *param)
{
    struct place version = place_child(param, "apiVersion"), kind = place_child(param, "kind");
    struct str text = place_text(&kind);
    char *lower = arena_cstr(param->errs->arena, text);
    for (size_t i = 0; i < text.n; i++)
        lower[i] = (char)(lower[i] >= 'A' && lower[i] <= 'Z' ? lower[i] - 'A' + 'a' : lower[i]);
    check_group_version(&version);
    struct name_errors found = name_dns1035_label((struct str){ lower, text.n });
    if (text.n == 0)
        place_required(&kind, "");
    else if (found.n)
        place_invalidf(&kind, "may have mixed case, but should otherwise match: %.*s",
                       STR_ARG(validate_join(param->errs->arena, found, ",")));
}

static void check_named_rules(const struct place *match, const char *field)
{
    struct place rules = place_child(match, field);
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i), names = place_child(&rule, "resourceNames");
        struct seen seen;
        seen_init(&seen);
        for (uint32_t k = 0; k < place_n(&names); k++) {
            struct place name = place_item(&names, k);
            place_check_names(&name, name_path_segment(place_text(&name)));
            if (seen_before(&seen, place_text(&name)))
                place_duplicate(&name);
        }
        seen_fini(&seen);
        registration_check_rule(&rule);
    }
}

static void check_match(const struct place *match)
{
    static const char *const selectors[] = { "namespaceSelector", "objectSelector" };
    struct place policy = place_child(match, "matchPolicy");
    if (!place_is_set(match))
        return;
    if (!place_is_set(&policy))
        place_required(&policy, "");
    else
        place_check_supported(&policy, match_policies);
    for (size_t i = 0; i < 2; i++) {
        struct place selector = place_child(match, selectors[i]);
        if (!place_is_set(&selector))
            place_required(&selector, "");
        else
            place_check_selector(&selector, false);
    }
    check_named_rules(match, "resourceRules");
    check_named_rules(match, "excludeResourceRules");
}

static void check_constraints(const struct place *spec)
{
    struct place match = place_child(spec, "matchConstraints"), rules = place_child(&match, "resourceRules");
    if (!place_is_set(&match)) {
        place_required(&match, "");
        return;
    }
    check_match(&match);
    if (place_n(&rules) == 0)
        place_required(&rules, "");
}

/* What is deleted cannot be changed. */
static void check_mutating_operations(const struct place *match)
{
    static const char *const known[] = { "*", "CONNECT", "CREATE", "UPDATE", NULL };
    struct place rules = place_child(match, "resourceRules");
    struct field_path at = field_child(&rules.path, "operations");
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i), operations = place_child(&rule, "operations");
        for (uint32_t k = 0; k < place_n(&operations); k++) {
            struct place operation = place_item(&operations, k);
            operation.path = at;
            place_check_supported(&operation, known);
        }
    }
}

/* ---- What a policy says ---- */

static bool is_cel_identifier(struct str name)
{
    static const char *const reserved[] = {
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
        "import", "let", "loop", "package", "namespace", "return", "var", "void", "while", NULL,
    };
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.n && !text_is_one_of(name, reserved);
}

static bool is_blank(struct str text)
{
    return registration_trim(text).n == 0;
}

static void check_variables(const struct place *spec)
{
    struct place variables = place_child(spec, "variables");
    for (uint32_t i = 0; i < place_n(&variables); i++) {
        struct place one = place_item(&variables, i), name = place_child(&one, "name");
        struct place expression = place_child(&one, "expression");
        if (is_blank(place_text(&name)))
            place_required(&name, "name is not specified");
        else if (!is_cel_identifier(place_text(&name)))
            place_invalid(&name, "must be a valid CEL identifier");
        if (is_blank(place_text(&expression)))
            place_required(&expression, "expression is not specified");
    }
}

static bool has_newline(struct str text)
{
    return str_index(text, '\n') < text.n || str_index(text, '\r') < text.n;
}

static void check_validation(const struct place *validation)
{
    static const char *const reasons[] = { "Forbidden", "Invalid", "RequestEntityTooLarge", NULL };
    struct place expression = place_child(validation, "expression"), message = place_child(validation, "message");
    struct place by = place_child(validation, "messageExpression"), reason = place_child(validation, "reason");
    if (is_blank(place_text(&expression)))
        place_required(&expression, "expression is not specified");
    if (place_text(&by).n && is_blank(place_text(&by)))
        place_invalid(&by, "must be non-empty if specified");
    if (place_text(&message).n && is_blank(place_text(&message)))
        place_invalid(&message, "must be non-empty if specified");
    else if (has_newline(registration_trim(place_text(&message))))
        place_invalid(&message, "must not contain line breaks");
    if (place_is_set(&reason))
        place_check_supported(&reason, reasons);
}

static void check_audit_annotation(const struct place *annotation, struct str policy)
{
    struct place key = place_child(annotation, "key"), value = place_child(annotation, "valueExpression");
    struct arena *a = key.errs->arena;
    if (policy.n) {
        struct str name = str_of(arena_printf(a, "%.*s/%.*s", STR_ARG(policy), STR_ARG(place_text(&key))));
        validate_name_errors(name_label_key(name), field_str(name), &key.path, key.errs);
    } else {
        place_invalid(&key, "requires metadata.name be non-empty");
    }
    struct str text = registration_trim(place_text(&value));
    if (text.n == 0)
        place_required(&value, "valueExpression is not specified");
    else if (text.n > VALUE_EXPRESSION_BYTES_MAX)
        place_required(&value, arena_printf(a, "must not exceed %d bytes in length", VALUE_EXPRESSION_BYTES_MAX));
}

static void check_audit_annotations(const struct place *spec, struct str policy)
{
    struct place list = place_child(spec, "auditAnnotations");
    struct seen keys;
    if (place_n(&list) > AUDIT_ANNOTATIONS_MAX)
        field_invalid(list.errs, &list.path, place_shown_as_go(&list), STR("must not have more than 20 auditAnnotations"));
    seen_init(&keys);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i), key = place_child(&one, "key");
        check_audit_annotation(&one, policy);
        if (seen_before(&keys, place_text(&key)))
            place_duplicate(&key);
    }
    seen_fini(&keys);
}

static void check_common(const struct place *spec)
{
    struct place policy = place_child(spec, "failurePolicy"), param = place_child(spec, "paramKind");
    if (!place_is_set(&policy))
        place_required(&policy, "");
    else
        place_check_supported(&policy, failure_policies);
    if (place_is_set(&param))
        check_param_kind(&param);
    check_constraints(spec);
}

/* ---- Validating ---- */

static void validate_policy(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char none[] = "validations or auditAnnotations must contain at least one item";
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place spec = place_child(&root, "spec");
    struct place conditions = place_child(&spec, "matchConditions"), validations = place_child(&spec, "validations");
    struct place annotations = place_child(&spec, "auditAnnotations");
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    check_common(&spec);
    registration_check_match_conditions(&conditions);
    check_variables(&spec);
    if (place_n(&validations) == 0 && place_n(&annotations) == 0) {
        place_required(&validations, none);
        place_required(&annotations, none);
        return;
    }
    for (uint32_t i = 0; i < place_n(&validations); i++) {
        struct place validation = place_item(&validations, i);
        check_validation(&validation);
    }
    check_audit_annotations(&spec, child_text(&meta, "name"));
}

static void validate_policy_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    (void)old;
    validate_policy(c, new, errs);
}

static void validate_policy_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place checking = place_child(&status, "typeChecking"), list = place_child(&checking, "expressionWarnings");
    struct place conditions = place_child(&status, "conditions");
    (void)old;
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i), warning = place_child(&one, "warning");
        struct place ref = place_child(&one, "fieldRef");
        if (place_text(&warning).n == 0)
            place_required(&warning, "");
        if (is_blank(place_text(&ref)))
            place_required(&ref, "");
    }
    resource_check_conditions(&conditions);
}

/* ---- Mutating ---- */

static void check_patch(const struct place *mutation, const char *wanted, const char *other, const char *type)
{
    struct place is = place_child(mutation, wanted), not = place_child(mutation, other);
    struct place expression = place_child(&is, "expression");
    struct arena *a = mutation->errs->arena;
    if (!place_is_set(&is))
        place_required(&is, arena_printf(a, "must be specified when patchType is %s", type));
    else if (is_blank(place_text(&expression)))
        place_required(&expression, "");
    if (place_is_set(&not))
        field_invalid(not.errs, &not.path, field_str(str_of(arena_printf(a, "{%s}", other))),
                      str_of(arena_printf(a, "must not be specified when patchType is %s", type)));
}

static void check_mutation(const struct place *mutation)
{
    static const char *const types[] = { "ApplyConfiguration", "JSONPatch", NULL };
    struct place type = place_child(mutation, "patchType");
    if (str_is(place_text(&type), "JSONPatch"))
        check_patch(mutation, "jsonPatch", "applyConfiguration", "JSONPatch");
    else if (str_is(place_text(&type), "ApplyConfiguration"))
        check_patch(mutation, "applyConfiguration", "jsonPatch", "ApplyConfiguration");
    else
        place_check_choice(&type, types);
}

static void validate_mutating(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char *const reinvocations[] = { "IfNeeded", "Never", NULL };
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place match = place_child(&spec, "matchConstraints"), conditions = place_child(&spec, "matchConditions");
    struct place mutations = place_child(&spec, "mutations"), reinvocation = place_child(&spec, "reinvocationPolicy");
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    check_common(&spec);
    check_mutating_operations(&match);
    registration_check_match_conditions(&conditions);
    check_variables(&spec);
    if (place_n(&mutations) == 0)
        place_required(&mutations, "mutations must contain at least one item");
    for (uint32_t i = 0; i < place_n(&mutations); i++) {
        struct place mutation = place_item(&mutations, i);
        check_mutation(&mutation);
    }
    place_check_choice(&reinvocation, reinvocations);
}

static void validate_mutating_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    (void)old;
    validate_mutating(c, new, errs);
}

/* ---- Bindings ---- */

static void check_param_reference(const struct place *param)
{
    static const char *const actions[] = { "Deny", "Allow", NULL };
    static const char both[] = "name and selector are mutually exclusive";
    struct place name = place_child(param, "name"), selector = place_child(param, "selector");
    struct place action = place_child(param, "parameterNotFoundAction");
    if (place_text(&name).n)
        place_check_names(&name, name_path_segment(place_text(&name)));
    if (place_text(&name).n && place_is_set(&selector))
        place_forbidden(&name, both);
    if (place_is_set(&selector))
        place_check_selector(&selector, false);
    if (place_text(&name).n && place_is_set(&selector))
        place_forbidden(&selector, both);
    if (place_text(&name).n == 0 && !place_is_set(&selector))
        place_required(param, "one of name or selector must be specified");
    place_check_choice(&action, actions);
}

static void check_actions(const struct place *actions)
{
    static const char *const known[] = { "Audit", "Deny", "Warn", NULL };
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(actions); i++) {
        struct place action = place_item(actions, i);
        place_check_supported(&action, known);
        if (seen_before(&seen, place_text(&action)))
            place_duplicate(&action);
    }
    if (map_str_find(&seen.texts, STR("Deny")) && map_str_find(&seen.texts, STR("Warn")))
        place_invalid(actions, "must not contain both Deny and Warn (repeating the same validation failure information in the "
                               "API response and headers serves no purpose)");
    if (place_n(actions) == 0)
        place_required(actions, "at least one validation action is required");
    seen_fini(&seen);
}

static void validate_binding(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place policy = place_child(&spec, "policyName"), param = place_child(&spec, "paramRef");
    struct place match = place_child(&spec, "matchResources");
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    place_check_required_name(&policy, name_dns1123_subdomain);
    if (place_is_set(&param))
        check_param_reference(&param);
    check_match(&match);
    if (str_starts(c->type->kind, STR("Mutating"))) {
        check_mutating_operations(&match);
        return;
    }
    struct place actions = place_child(&spec, "validationActions");
    check_actions(&actions);
}

static void validate_binding_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    (void)old;
    validate_binding(c, new, errs);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", "metadata", NULL };

static const struct sub_rules policy_subs[] = {
    { .name = "status", .prepare_update = rules_keep_all_but_status, .validate_update = validate_policy_status,
      .reset_fields = reset_spec },
    { 0 },
};

const struct kind_rules policy_rules[] = {
    { .type = GROUP "ValidatingAdmissionPolicy", .flags = RULES_NEEDS_VERSION, .generation = GENERATION_SPEC,
      .prepare_create = rules_drop_status, .prepare_update = rules_keep_status, .validate_create = validate_policy,
      .validate_update = validate_policy_update, .reset_fields = reset_status, .subs = policy_subs },
    { .type = GROUP "ValidatingAdmissionPolicyBinding", .flags = RULES_NEEDS_VERSION, .generation = GENERATION_SPEC,
      .validate_create = validate_binding, .validate_update = validate_binding_update },
    { .type = GROUP "MutatingAdmissionPolicy", .flags = RULES_NEEDS_VERSION, .generation = GENERATION_SPEC,
      .validate_create = validate_mutating, .validate_update = validate_mutating_update },
    { .type = GROUP "MutatingAdmissionPolicyBinding", .flags = RULES_NEEDS_VERSION, .generation = GENERATION_SPEC,
      .validate_create = validate_binding, .validate_update = validate_binding_update },
    { 0 },
};
