/* rules/flowcontrol.c - FlowSchema and PriorityLevelConfiguration. */
#include <math.h>

#include "rules/place.h"

enum { PRECEDENCE_MAX = 10000, QUEUES_MAX = 10000000, HASH_BITS_MAX = 60 };

#define GROUP "flowcontrol.apiserver.k8s.io/v1."

/* ---- Rules of a schema ---- */

static bool has_wildcard(const struct place *list)
{
    for (uint32_t i = 0; i < place_n(list); i++)
        if (str_is(value_text(&list->value->items[i]), "*"))
            return true;
    return false;
}

/* Something must be there, and beside "*" nothing else. True when single items are to be looked at. */
static bool check_wild_list(const struct place *list, const char *none, const char *others)
{
    bool wild = has_wildcard(list);
    if (place_n(list) == 0)
        place_required(list, none);
    else if (wild && place_n(list) > 1)
        place_invalid(list, others);
    return place_n(list) && !wild;
}

static void check_verbs(const struct place *rule)
{
    static const char *const known[] = { "create", "delete", "deletecollection", "get", "list", "patch",
                                         "proxy", "update", "watch", NULL };
    struct place verbs = place_child(rule, "verbs");
    if (!check_wild_list(&verbs, "verbs must contain at least one value", "if '*' is present, must not specify other verbs"))
        return;
    for (uint32_t i = 0; i < place_n(&verbs); i++)
        if (!text_is_one_of(value_text(&verbs.value->items[i]), known)) {
            place_not_supported(&verbs, known);
            return;
        }
}

static bool contains(struct str text, const char *part)
{
    for (size_t i = 0; i < text.n; i++)
        if (str_starts(str_from(text, i), str_of(part)))
            return true;
    return false;
}

/* What is wrong with a path like /healthz/..., or NULL. */
static const char *url_fault(struct str url)
{
    size_t n_stars = 0;
    for (size_t i = 0; i < url.n; i++)
        n_stars += url.p[i] == '*';
    if (url.n == 0)
        return "must not be empty";
    if (str_is(url, "/"))
        return NULL;
    if (url.p[0] != '/')
        return "must start with slash";
    if (contains(url, " "))
        return "must not contain white-space";
    if (contains(url, "//"))
        return "must not contain double slash";
    return n_stars > 1 || (n_stars == 1 && !str_ends(url, STR("/*"))) ? "wildcard can only do suffix matching" : NULL;
}

static void check_url_rule(const struct place *rule)
{
    struct place urls = place_child(rule, "nonResourceURLs");
    check_verbs(rule);
    if (!check_wild_list(&urls, "nonResourceURLs must contain at least one value",
                         "if '*' is present, must not specify other non-resource URLs"))
        return;
    for (uint32_t i = 0; i < place_n(&urls); i++) {
        struct place url = place_item(&urls, i);
        const char *fault = url_fault(place_text(&url));
        if (fault)
            place_invalid(&url, fault);
    }
}

static void check_namespaces(const struct place *rule)
{
    struct place list = place_child(rule, "namespaces");
    if (place_n(&list) == 0 && child_bool(rule, "clusterScope"))
        return;
    if (!check_wild_list(&list, "resource rules that are not cluster scoped must supply at least one namespace",
                         "if '*' is present, must not specify other namespaces"))
        return;
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        struct name_errors found = name_dns1123_label(place_text(&one));
        for (size_t k = 0; k < found.n; k++)
            place_invalidf(&one, "each member of this list must be '*' or a DNS-1123 label; %s", found.at[k]);
    }
}

static void check_resource_rule(const struct place *rule)
{
    struct place groups = place_child(rule, "apiGroups"), resources = place_child(rule, "resources");
    check_verbs(rule);
    check_wild_list(&groups, "resource rules must supply at least one api group",
                    "if '*' is present, must not specify other api groups");
    check_wild_list(&resources, "resource rules must supply at least one resource",
                    "if '*' is present, must not specify other resources");
    check_namespaces(rule);
}

/* ---- Subjects ---- */

static void check_service_account(const struct place *subject)
{
    struct place account = place_child(subject, "serviceAccount"), name = place_child(&account, "name");
    struct place namespace = place_child(&account, "namespace");
    if (place_text(&name).n == 0)
        place_required(&name, "");
    else if (!str_is(place_text(&name), "*"))
        place_check_names(&name, name_dns1123_subdomain(place_text(&name)));
    if (place_text(&namespace).n)
        place_check_names(&namespace, name_dns1123_label(place_text(&namespace)));
    else
        place_required(&namespace, "must specify namespace for service account");
}

static void check_subject(const struct place *subject)
{
    static const char *const kinds[] = { "Group", "ServiceAccount", "User", NULL };
    static const struct {
        const char *kind, *field, *missing, *forbidden;
    } parts[] = {
        { "ServiceAccount", "serviceAccount", "serviceAccount is required when subject kind is 'ServiceAccount'",
          "serviceAccount is forbidden when subject kind is not 'ServiceAccount'" },
        { "User", "user", "user is required when subject kind is 'User'",
          "user is forbidden when subject kind is not 'User'" },
        { "Group", "group", "group is required when subject kind is 'Group'",
          "group is forbidden when subject kind is not 'Group'" },
    };
    struct place kind = place_child(subject, "kind");
    if (!text_is_one_of(place_text(&kind), kinds)) {
        place_not_supported(&kind, kinds);
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        struct place part = place_child(subject, parts[i].field), name = place_child(&part, "name");
        if (!str_is(place_text(&kind), parts[i].kind))
            continue;
        if (!place_is_set(&part))
            place_required(&part, parts[i].missing);
        else if (i == 0)
            check_service_account(subject);
        else if (place_text(&name).n == 0)
            place_required(&name, "");
    }
    for (size_t i = 0; i < 3; i++) {
        struct place part = place_child(subject, parts[i].field);
        if (!str_is(place_text(&kind), parts[i].kind) && place_is_set(&part))
            place_forbidden(&part, parts[i].forbidden);
    }
}

static void each(const struct place *at, const char *field, void (*check)(const struct place *item))
{
    struct place list = place_child(at, field);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place item = place_item(&list, i);
        check(&item);
    }
}

static void check_rule(const struct place *rule)
{
    struct place subjects = place_child(rule, "subjects");
    if (place_n(&subjects) == 0)
        place_required(&subjects, "subjects must contain at least one value");
    each(rule, "subjects", check_subject);
    if (child_n(rule, "resourceRules") == 0 && child_n(rule, "nonResourceRules") == 0)
        place_required(rule, "at least one of resourceRules and nonResourceRules has to be non-empty");
    each(rule, "resourceRules", check_resource_rule);
    each(rule, "nonResourceRules", check_url_rule);
}

/* ---- Schemas ---- */

static void check_precedence(const struct place *spec, struct str name)
{
    struct place precedence = place_child(spec, "matchingPrecedence");
    if (place_int(&precedence) <= 0)
        place_invalid(&precedence, "must be a positive value");
    if (place_int(&precedence) > PRECEDENCE_MAX)
        place_invalidf(&precedence, "must not be greater than %d", PRECEDENCE_MAX);
    if (place_int(&precedence) == 1 && !str_is(name, "exempt"))
        place_invalid(&precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
}

static void check_conditions(const struct place *root)
{
    struct place status = place_child(root, "status"), list = place_child(&status, "conditions");
    struct seen types;
    seen_init(&types);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i), type = place_child(&one, "type");
        if (seen_before(&types, place_text(&type)))
            place_duplicate(&type);
        if (place_text(&type).n == 0)
            place_required(&type, "");
    }
    seen_fini(&types);
}

static struct str name_of(const struct place *root)
{
    struct place meta = place_child(root, "metadata");
    return child_text(&meta, "name");
}

static void validate_schema(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char *const methods[] = { "ByNamespace", "ByUser", NULL };
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place method = place_child(&spec, "distinguisherMethod"), type = place_child(&method, "type");
    struct place level = place_child(&spec, "priorityLevelConfiguration"), name = place_child(&level, "name");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_precedence(&spec, name_of(&root));
    if (place_is_set(&method) && !text_is_one_of(place_text(&type), methods))
        field_not_supported(errs, &type.path, place_shown_as_go(&method), methods, 2); /* upstream shows the whole */
    if (place_text(&name).n)
        place_check_names(&name, name_dns1123_subdomain(place_text(&name)));
    else
        place_required(&name, "must reference a priority level");
    each(&spec, "rules", check_rule);
    check_conditions(&root);
}

/* What a server cannot do without stays as it was made. */
static void check_mandatory(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct str name = name_of(&root);
    if ((str_is(name, "exempt") || str_is(name, "catch-all")) && !place_same(&spec, &old_spec))
        field_invalid(errs, &spec.path, place_shown_as_go(&spec),
                      str_of(arena_printf(c->arena, "spec of '%.*s' must equal the fixed value", STR_ARG(name))));
}

static void validate_schema_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    validate_schema(c, new, errs);
    check_mandatory(c, new, old, errs);
}

static void validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    (void)old;
    struct place root = place_root(c, new, errs);
    check_conditions(&root);
}

/* ---- Priority levels ---- */

static void check_queuing(const struct place *queuing)
{
    struct place limit = place_child(queuing, "queueLengthLimit"), queues = place_child(queuing, "queues");
    struct place hand = place_child(queuing, "handSize");
    int64_t n = place_int(&queues), size = place_int(&hand);
    if (place_int(&limit) <= 0)
        place_invalid(&limit, "must be positive");
    if (n <= 0)
        place_invalid(&queues, "must be positive");
    else if (n > QUEUES_MAX)
        place_invalidf(&queues, "must not be greater than %d", QUEUES_MAX);
    if (size <= 0)
        place_invalid(&hand, "must be positive");
    else if (size > n)
        place_invalidf(&hand, "should not be greater than queues (%lld)", (long long)n);
    else if (ceil(log2((double)n) * (double)size) > HASH_BITS_MAX)
        place_invalidf(&hand, "required entropy bits of deckSize %lld and handSize %lld should not be greater than %d",
                       (long long)n, (long long)size, HASH_BITS_MAX);
}

static void check_response(const struct place *limited)
{
    static const char *const types[] = { "Queue", "Reject", NULL };
    struct place response = place_child(limited, "limitResponse"), type = place_child(&response, "type");
    struct place queuing = place_child(&response, "queuing");
    bool rejects = str_is(place_text(&type), "Reject"), queues = str_is(place_text(&type), "Queue");
    if (rejects && place_is_set(&queuing))
        place_forbidden(&queuing, "must be nil if limited.limitResponse.type is not Limited");
    else if (queues && !place_is_set(&queuing))
        place_required(&queuing, "must not be empty if limited.limitResponse.type is Limited");
    else if (queues)
        check_queuing(&queuing);
    else if (!rejects)
        place_check_choice(&type, types);
}

static void check_shares(const struct place *at)
{
    struct place shares = place_child(at, "nominalConcurrencyShares");
    if (place_int(&shares) < 0)
        place_invalid(&shares, "must be a non-negative integer");
}

static void check_lendable(const struct place *at)
{
    struct place lendable = place_child(at, "lendablePercent");
    if (place_int(&lendable) < 0 || place_int(&lendable) > 100)
        place_invalid(&lendable, "must be between 0 and 100, inclusive");
}

static void check_limited(const struct place *limited)
{
    struct place borrowing = place_child(limited, "borrowingLimitPercent");
    check_shares(limited);
    check_response(limited);
    check_lendable(limited);
    if (place_int(&borrowing) < 0)
        place_invalid(&borrowing, "if specified, must be a non-negative integer");
}

static void check_level(const struct place *spec, struct str name)
{
    static const char *const types[] = { "Exempt", "Limited", NULL };
    struct place type = place_child(spec, "type"), limited = place_child(spec, "limited");
    struct place exempt = place_child(spec, "exempt");
    bool is_exempt = str_is(place_text(&type), "Exempt"), is_limited = str_is(place_text(&type), "Limited");
    if (str_is(name, "exempt") != is_exempt)
        place_invalid(&type, "must be 'Exempt' if and only if `name` is 'exempt'");
    if (!is_exempt && !is_limited)
        place_check_choice(&type, types);
    if (is_exempt && place_is_set(&limited))
        place_forbidden(&limited, "must be nil if the type is not Limited");
    if (is_exempt && place_is_set(&exempt)) {
        check_shares(&exempt);
        check_lendable(&exempt);
    }
    if (is_limited && place_is_set(&exempt))
        place_forbidden(&exempt, "must be nil if the type is Limited");
    if (is_limited && !place_is_set(&limited))
        place_required(&limited, "must not be empty when type is Limited");
    else if (is_limited)
        check_limited(&limited);
}

static void check_whole_level(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char forbidden[] = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place meta = place_child(&root, "metadata");
    struct place annotations = place_child(&meta, "annotations");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    if (object_annotation(&root, forbidden))
        place_forbidden(&annotations, arena_printf(c->arena, "annotation '%s' is forbidden", forbidden));
    check_level(&spec, name_of(&root));
}

static void validate_level(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    check_whole_level(c, new, errs);
    check_conditions(&root);
}

static void check_mandatory_level(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct str name = name_of(&root);
    bool exempt = str_is(name, "exempt");
    struct place type = place_child(&spec, "type"), old_type = place_child(&old_spec, "type");
    struct place limited = place_child(&spec, "limited"), old_limited = place_child(&old_spec, "limited");
    bool same = exempt ? place_same(&type, &old_type) && place_same(&limited, &old_limited) : place_same(&spec, &old_spec);
    if (same || (!exempt && !str_is(name, "catch-all")))
        return;
    const char *text = exempt ? "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
                              : "spec of 'catch-all' must equal the fixed value";
    field_invalid(errs, &spec.path, place_shown_as_go(&spec), str_of(text));
}

static void validate_level_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    check_whole_level(c, new, errs);
    check_mandatory_level(c, new, old, errs);
    check_conditions(&root);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_all_but_status[] = { "metadata", "spec", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = rules_keep_all_but_status, .validate_update = validate_status,
      .reset_fields = reset_all_but_status },
    { 0 },
};

const struct kind_rules flowcontrol_rules[] = {
    { .type = GROUP "FlowSchema", .generation = GENERATION_SPEC, .prepare_create = rules_drop_status,
      .prepare_update = rules_keep_status, .validate_create = validate_schema, .validate_update = validate_schema_update,
      .reset_fields = reset_status, .subs = subs },
    { .type = GROUP "PriorityLevelConfiguration", .generation = GENERATION_SPEC, .prepare_create = rules_drop_status,
      .prepare_update = rules_keep_status, .validate_create = validate_level, .validate_update = validate_level_update,
      .reset_fields = reset_status, .subs = subs },
    { 0 },
};
