/* rules/rbac.c - Role, ClusterRole, RoleBinding, ClusterRoleBinding. */
#include "rules/place.h"

#define GROUP "rbac.authorization.k8s.io"

/* ---- Roles ---- */

static void check_rule(const struct place *rule, bool namespaced)
{
    struct place verbs = place_child(rule, "verbs"), urls = place_child(rule, "nonResourceURLs");
    struct place groups = place_child(rule, "apiGroups"), resources = place_child(rule, "resources");
    if (place_n(&verbs) == 0)
        place_required(&verbs, "verbs must contain at least one value");
    if (place_n(&urls)) {
        if (namespaced)
            place_invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        if (place_n(&groups) || place_n(&resources) || child_n(rule, "resourceNames"))
            place_invalid(&urls, "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (place_n(&groups) == 0)
        place_required(&groups, "resource rules must supply at least one api group");
    if (place_n(&resources) == 0)
        place_required(&resources, "resource rules must supply at least one resource");
}

static void check_rules(const struct rules_context *c, const struct place *root)
{
    struct place rules = place_child(root, "rules");
    rules_check_meta(c, root->value, name_is_path_segment, root->errs);
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i);
        check_rule(&rule, c->namespaced);
    }
}

static bool can_be_made(const struct place *selector)
{
    struct field_errors none;
    field_errors_init(&none, selector->errs->arena);
    struct place quiet = *selector;
    quiet.errs = &none;
    return place_check_selector(&quiet, false);
}

/* A selector that cannot be made is an error of its own, which shows nothing. */
static void check_aggregation(const struct place *root, bool any_values)
{
    struct place aggregation = place_child(root, "aggregationRule");
    struct place selectors = place_child(&aggregation, "clusterRoleSelectors");
    if (!place_is_set(&aggregation))
        return;
    if (place_n(&selectors) == 0)
        place_required(&selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    for (uint32_t i = 0; i < place_n(&selectors); i++) {
        struct place selector = place_item(&selectors, i);
        place_check_selector(&selector, any_values);
        if (!can_be_made(&selector))
            field_invalid(root->errs, &selector.path, field_json(STR("null")), STR("invalid label selector."));
    }
}

static void validate_role(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    check_rules(c, &root);
    if (!c->namespaced)
        check_aggregation(&root, false);
}

static bool has_odd_selector(const struct rules_context *c, const struct value *old)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct place root = place_root(c, old, &errs), aggregation = place_child(&root, "aggregationRule");
    struct place selectors = place_child(&aggregation, "clusterRoleSelectors");
    for (uint32_t i = 0; i < place_n(&selectors); i++) {
        struct place selector = place_item(&selectors, i);
        if (!can_be_made(&selector))
            return true;
    }
    return false;
}

static void validate_role_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                 struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    check_rules(c, &root);
    if (!c->namespaced)
        check_aggregation(&root, has_odd_selector(c, old));
    rules_check_meta_update(c, new, old, errs);
}

/* ---- Bindings ---- */

static void check_subject(const struct place *subject, bool namespaced)
{
    static const char *const kinds[] = { "ServiceAccount", "User", "Group", NULL };
    static const char *const groups[] = { GROUP, NULL }, *const no_group[] = { "", NULL };
    struct place name = place_child(subject, "name"), kind = place_child(subject, "kind");
    struct place group = place_child(subject, "apiGroup"), namespace = place_child(subject, "namespace");
    if (place_text(&name).n == 0)
        place_required(&name, "");
    if (!text_is_one_of(place_text(&kind), kinds)) {
        place_not_supported(&kind, kinds);
    } else if (!str_is(place_text(&kind), "ServiceAccount")) {
        place_check_supported(&group, groups);
    } else {
        if (place_text(&name).n)
            place_check_names(&name, name_dns1123_subdomain(place_text(&name)));
        place_check_supported(&group, no_group);
        if (!namespaced && place_text(&namespace).n == 0)
            place_required(&namespace, "");
    }
}

static void validate_binding(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char *const groups[] = { GROUP, NULL };
    static const char *const kinds[] = { "Role", "ClusterRole", NULL };
    struct place root = place_root(c, new, errs), role = place_child(&root, "roleRef");
    struct place group = place_child(&role, "apiGroup"), kind = place_child(&role, "kind");
    struct place name = place_child(&role, "name"), subjects = place_child(&root, "subjects");
    rules_check_meta(c, new, name_is_path_segment, errs);
    place_check_supported(&group, groups);
    place_check_supported(&kind, c->namespaced ? kinds : kinds + 1);
    place_check_required_name(&name, name_path_segment);
    for (uint32_t i = 0; i < place_n(&subjects); i++) {
        struct place subject = place_item(&subjects, i);
        check_subject(&subject, c->namespaced);
    }
}

static void validate_binding_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), role = place_child(&root, "roleRef");
    struct place old_root = place_root(c, old, errs), old_role = place_child(&old_root, "roleRef");
    validate_binding(c, new, errs);
    rules_check_meta_update(c, new, old, errs);
    if (!place_same(&role, &old_role))
        field_invalid(errs, &role.path, place_shown_as_go(&role), STR("cannot change roleRef"));
}

#define ROLE(kind)                                                                                                     \
    { .type = GROUP "/v1." kind, .name = name_is_path_segment, .flags = RULES_CREATE_ON_UPDATE,                        \
      .validate_create = validate_role, .validate_update = validate_role_update }
#define BINDING(kind)                                                                                                  \
    { .type = GROUP "/v1." kind, .name = name_is_path_segment, .flags = RULES_CREATE_ON_UPDATE,                        \
      .validate_create = validate_binding, .validate_update = validate_binding_update }

const struct kind_rules rbac_rules[] = {
    ROLE("Role"), ROLE("ClusterRole"), BINDING("RoleBinding"), BINDING("ClusterRoleBinding"), { 0 },
};
