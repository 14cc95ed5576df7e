/* rules/registration.c - webhook configurations; see registration.h. */
#include "rules/registration.h"

#define GROUP "admissionregistration.k8s.io/v1."

enum { MATCH_CONDITIONS_MAX = 64, TIMEOUT_SECONDS_MAX = 30 };

/* ---- Rules ---- */

static bool has_wildcard(const struct place *list)
{
    for (uint32_t i = 0; i < place_n(list); i++)
        if (str_is(value_text(&list->value->items[i]), "*"))
            return true;
    return false;
}

static void check_wild_list(const struct place *list, const char *others)
{
    if (place_n(list) == 0)
        place_required(list, "");
    if (place_n(list) > 1 && has_wildcard(list))
        place_invalid(list, others);
}

/* resource/subresource, either of which may be "*": what is covered by one before is not to be said again. */
static void check_subresource(const struct place *one, size_t slash, struct seen *all_subs, struct seen *all_resources)
{
    struct str text = place_text(one), resource = str_first(text, slash), sub = str_from(text, slash + 1);
    if (map_str_find(&all_subs->texts, resource))
        place_invalidf(one, "if '%.*s/*' is present, must not specify %.*s", STR_ARG(resource), STR_ARG(text));
    if (map_str_find(&all_resources->texts, sub))
        place_invalidf(one, "if '*/%.*s' is present, must not specify %.*s", STR_ARG(sub), STR_ARG(text));
    if (str_is(sub, "*"))
        seen_before(all_subs, resource);
    if (str_is(resource, "*"))
        seen_before(all_resources, sub);
}

static void check_resources(const struct place *list)
{
    struct seen all_subs, all_resources;
    bool everything = false, all_plain = false, has_plain = false;
    if (place_n(list) == 0)
        place_required(list, "");
    seen_init(&all_subs);
    seen_init(&all_resources);
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place one = place_item(list, i);
        struct str text = place_text(&one);
        size_t slash = str_index(text, '/');
        if (text.n == 0) {
            place_required(&one, "");
            continue;
        }
        everything |= str_is(text, "*/*");
        all_plain |= str_is(text, "*");
        if (slash == text.n)
            has_plain = !str_is(text, "*"); /* of the last one, as upstream has it */
        else
            check_subresource(&one, slash, &all_subs, &all_resources);
    }
    seen_fini(&all_subs);
    seen_fini(&all_resources);
    if (place_n(list) > 1 && everything)
        place_invalid(list, "if '*/*' is present, must not specify other resources");
    if (all_plain && has_plain)
        place_invalid(list, "if '*' is present, must not specify other resources without subresources");
}

void registration_check_rule(const struct place *rule)
{
    static const char *const known[] = { "*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL };
    static const char *const scopes[] = { "*", "Cluster", "Namespaced", NULL };
    struct place operations = place_child(rule, "operations"), groups = place_child(rule, "apiGroups");
    struct place versions = place_child(rule, "apiVersions"), resources = place_child(rule, "resources");
    struct place scope = place_child(rule, "scope");
    check_wild_list(&operations, "if '*' is present, must not specify other operations");
    for (uint32_t i = 0; i < place_n(&operations); i++) {
        struct place operation = place_item(&operations, i);
        place_check_supported(&operation, known);
    }
    check_wild_list(&groups, "if '*' is present, must not specify other API groups");
    check_wild_list(&versions, "if '*' is present, must not specify other API versions");
    for (uint32_t i = 0; i < place_n(&versions); i++) {
        struct place version = place_item(&versions, i);
        if (place_text(&version).n == 0)
            place_required(&version, "");
    }
    check_resources(&resources);
    if (place_is_set(&scope))
        place_check_supported(&scope, scopes);
}

struct str registration_trim(struct str s)
{
    static const char space[] = " \t\n\v\f\r";
    while (s.n && memchr(space, s.p[0], sizeof(space) - 1))
        s = str_from(s, 1);
    while (s.n && memchr(space, s.p[s.n - 1], sizeof(space) - 1))
        s.n--;
    return s;
}

void registration_check_match_conditions(const struct place *conditions)
{
    struct seen names;
    if (place_n(conditions) > MATCH_CONDITIONS_MAX)
        field_too_many(conditions->errs, &conditions->path, place_n(conditions), MATCH_CONDITIONS_MAX);
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(conditions); i++) {
        struct place one = place_item(conditions, i), name = place_child(&one, "name");
        struct place expression = place_child(&one, "expression");
        if (registration_trim(place_text(&expression)).n == 0)
            place_required(&expression, "");
        place_check_required_name(&name, name_label_key);
        if (place_text(&name).n && seen_before(&names, place_text(&name)))
            place_duplicate(&name);
    }
    seen_fini(&names);
}

/* ---- Clients ---- */

/* scheme://user@host/path?query#fragment */
struct url {
    struct str scheme, host, user, query, fragment;
    bool has_user;
};

static struct url split_url(struct str text)
{
    struct url url = { 0 };
    size_t hash = str_index(text, '#');
    url.fragment = str_from(text, hash + 1);
    text = str_first(text, hash);
    size_t mark = str_index(text, '?');
    url.query = str_from(text, mark + 1);
    text = str_first(text, mark);
    size_t colon = str_index(text, ':'), slash = str_index(text, '/');
    if (colon < text.n && colon < slash) {
        url.scheme = str_first(text, colon);
        text = str_from(text, colon + 1);
    }
    if (!str_starts(text, STR("//")))
        return url;
    text = str_from(text, 2);
    url.host = str_first(text, str_index(text, '/'));
    size_t at = str_index(url.host, '@');
    url.has_user = at < url.host.n;
    if (url.has_user) {
        url.user = str_first(url.host, at);
        url.host = str_from(url.host, at + 1);
    }
    return url;
}

static void say_url(const struct place *at, struct str part, const char *detail)
{
    field_invalid(at->errs, &at->path, field_str(part), str_of(detail));
}

void registration_check_url(const struct place *place)
{
    struct url url = split_url(place_text(place));
    if (!str_is(url.scheme, "https"))
        say_url(place, url.scheme, "'https' is the only allowed URL scheme; desired format: https://host[/path]");
    if (url.host.n == 0)
        say_url(place, url.host, "host must be specified; desired format: https://host[/path]");
    if (url.has_user)
        say_url(place, url.user, "user information is not permitted in the URL");
    if (url.fragment.n)
        say_url(place, url.fragment, "fragments are not permitted in the URL");
    if (url.query.n)
        say_url(place, url.query, "query parameters are not permitted in the URL");
}

static void check_service_path(const struct place *path)
{
    struct str text = place_text(path);
    if (text.n == 0 || str_is(text, "/"))
        return;
    if (str_is(text, "//")) {
        place_invalid(path, "segment[0] may not be empty");
        return;
    }
    if (text.p[0] != '/')
        place_invalid(path, "must start with a '/'");
    struct str rest = str_from(text, 1);
    if (str_ends(rest, STR("/")))
        rest.n--;
    for (unsigned i = 0;; i++) {
        size_t slash = str_index(rest, '/');
        struct name_errors found = name_dns1123_subdomain(str_first(rest, slash));
        if (slash == 0)
            place_invalidf(path, "segment[%u] may not be empty", i);
        for (size_t k = 0; slash && k < found.n; k++)
            place_invalidf(path, "segment[%u]: %s", i, found.at[k]);
        if (slash == rest.n)
            return;
        rest = str_from(rest, slash + 1);
    }
}

/* Upstream's callers for webhooks confuse name and namespace: the error about one is told about the other. */
void registration_check_service(const struct place *service, bool names_swapped)
{
    struct place name = place_child(service, "name"), namespace = place_child(service, "namespace");
    struct place port = place_child(service, "port"), path = place_child(service, "path");
    if ((names_swapped ? place_text(&namespace) : place_text(&name)).n == 0)
        place_required(&name, "");
    if ((names_swapped ? place_text(&name) : place_text(&namespace)).n == 0)
        place_required(&namespace, "");
    struct name_errors found = name_port_number(place_int(&port));
    if (found.n)
        place_invalidf(&port, "port is not valid: %s", found.at[0]);
    check_service_path(&path);
}

void registration_check_client(const struct place *client)
{
    struct place url = place_child(client, "url"), service = place_child(client, "service");
    if (place_is_set(&url) == place_is_set(&service))
        place_required(client, "exactly one of url or service is required");
    else if (place_is_set(&url))
        registration_check_url(&url);
    else
        registration_check_service(&service, true);
}

/* ---- Webhooks ---- */

/* What the old configuration had that a new one could not. */
struct leniency {
    bool side_effects, any_versions, repeated_names, any_selector_values;
};

static bool is_review_version(struct str version)
{
    return str_is(version, "v1") || str_is(version, "v1beta1");
}

static void check_review_versions(const struct place *versions, bool any)
{
    struct seen seen;
    bool accepted = false;
    if (place_n(versions) == 0) {
        place_required(versions, "must specify one of v1, v1beta1");
        return;
    }
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(versions); i++) {
        struct place version = place_item(versions, i);
        if (seen_before(&seen, place_text(&version))) {
            place_invalid(&version, "duplicate version");
            continue;
        }
        place_check_names(&version, name_dns1035_label(place_text(&version)));
        accepted |= is_review_version(place_text(&version));
    }
    seen_fini(&seen);
    if (!any && !accepted)
        place_invalid(versions, "must include at least one of v1, v1beta1");
}

static void check_side_effects(const struct place *hook, bool any)
{
    static const char *const none[] = { "None", "NoneOnDryRun", NULL };
    static const char *const all[] = { "None", "NoneOnDryRun", "Some", "Unknown", NULL };
    struct place effects = place_child(hook, "sideEffects");
    if (!place_is_set(&effects))
        place_required(&effects, any ? "must specify one of None, NoneOnDryRun, Some, Unknown"
                                     : "must specify one of None, NoneOnDryRun");
    else
        place_check_supported(&effects, any ? all : none);
}

static void check_policies(const struct place *hook)
{
    static const char *const failures[] = { "Fail", "Ignore", NULL }, *const matches[] = { "Equivalent", "Exact", NULL };
    struct place failure = place_child(hook, "failurePolicy"), match = place_child(hook, "matchPolicy");
    if (place_is_set(&failure))
        place_check_supported(&failure, failures);
    if (place_is_set(&match))
        place_check_supported(&match, matches);
}

static void check_hook(const struct place *hook, bool mutating, const struct leniency *lenient)
{
    static const char *const reinvocations[] = { "IfNeeded", "Never", NULL };
    static const char *const selectors[] = { "namespaceSelector", "objectSelector" };
    struct place name = place_child(hook, "name"), rules = place_child(hook, "rules");
    struct place timeout = place_child(hook, "timeoutSeconds"), client = place_child(hook, "clientConfig");
    struct place conditions = place_child(hook, "matchConditions");
    validate_fully_qualified_name(place_text(&name), &name.path, name.errs);
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i);
        registration_check_rule(&rule);
    }
    check_policies(hook);
    check_side_effects(hook, lenient->side_effects);
    if (place_is_set(&timeout) && (place_int(&timeout) < 1 || place_int(&timeout) > TIMEOUT_SECONDS_MAX))
        place_invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
    for (size_t i = 0; i < 2; i++) {
        struct place selector = place_child(hook, selectors[i]);
        if (place_is_set(&selector))
            place_check_selector(&selector, lenient->any_selector_values);
    }
    if (mutating) {
        struct place reinvocation = place_child(hook, "reinvocationPolicy");
        if (place_is_set(&reinvocation))
            place_check_supported(&reinvocation, reinvocations);
    }
    registration_check_client(&client);
    registration_check_match_conditions(&conditions);
}

static void check_configuration(const struct rules_context *c, const struct value *new, const struct leniency *lenient,
                                struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), hooks = place_child(&root, "webhooks");
    bool mutating = str_starts(c->type->kind, STR("Mutating"));
    struct seen names;
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(&hooks); i++) {
        struct place hook = place_item(&hooks, i), name = place_child(&hook, "name");
        struct place versions = place_child(&hook, "admissionReviewVersions");
        check_hook(&hook, mutating, lenient);
        check_review_versions(&versions, lenient->any_versions);
        if (!lenient->repeated_names && place_text(&name).n && seen_before(&names, place_text(&name)))
            place_duplicate(&name);
    }
    seen_fini(&names);
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_configuration(c, new, &(struct leniency){ 0 }, errs);
}

static bool knows_version(const struct place *hook)
{
    struct place versions = place_child(hook, "admissionReviewVersions");
    for (uint32_t i = 0; i < place_n(&versions); i++)
        if (is_review_version(value_text(&versions.value->items[i])))
            return true;
    return place_n(&versions) == 0;
}

static struct leniency leniency_of(const struct rules_context *c, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, old, &none), hooks = place_child(&root, "webhooks");
    struct leniency lenient = { 0 };
    struct seen names;
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(&hooks); i++) {
        struct place hook = place_item(&hooks, i);
        struct place namespaces = place_child(&hook, "namespaceSelector");
        struct place objects = place_child(&hook, "objectSelector");
        struct str effects = child_text(&hook, "sideEffects");
        lenient.side_effects |= !str_is(effects, "None") && !str_is(effects, "NoneOnDryRun");
        lenient.any_versions |= !knows_version(&hook);
        lenient.repeated_names |= seen_before(&names, child_text(&hook, "name"));
        lenient.any_selector_values |= (place_is_set(&namespaces) && !place_check_selector(&namespaces, false)) ||
                                       (place_is_set(&objects) && !place_check_selector(&objects, false));
    }
    seen_fini(&names);
    return lenient;
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct leniency lenient = leniency_of(c, old);
    check_configuration(c, new, &lenient, errs);
}

const struct kind_rules registration_rules[] = {
    { .type = GROUP "ValidatingWebhookConfiguration", .flags = RULES_NEEDS_VERSION, .generation = GENERATION_SPEC,
      .validate_create = validate_create, .validate_update = validate_update },
    { .type = GROUP "MutatingWebhookConfiguration", .flags = RULES_NEEDS_VERSION, .generation = GENERATION_SPEC,
      .validate_create = validate_create, .validate_update = validate_update },
    { 0 },
};
