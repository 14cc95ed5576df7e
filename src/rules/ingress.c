/* rules/ingress.c - Ingress and IngressClass. */
#include "api/netaddr.h"
#include "rules/balancer.h"
#include "rules/place.h"

enum { CONTROLLER_BYTES_MAX = 250 };

#define ANNOTATION_CLASS "kubernetes.io/ingress.class"

/* What old objects may keep. */
struct leniency {
    bool any_secret_name, any_wildcard_rule;
};

static void check_path_segment(const struct place *p)
{
    place_check_required_name(p, name_path_segment);
}

static void check_group(const struct place *p)
{
    if (place_is_set(p))
        place_check_names(p, name_dns1123_subdomain(place_text(p)));
}

/* ---- Backends ---- */

static void check_resource_backend(const struct place *backend)
{
    struct place resource = place_child(backend, "resource"), group = place_child(&resource, "apiGroup");
    struct place kind = place_child(&resource, "kind"), name = place_child(&resource, "name");
    check_group(&group);
    check_path_segment(&kind);
    check_path_segment(&name);
}

static void check_service_backend(const struct place *backend)
{
    struct place service = place_child(backend, "service"), name = place_child(&service, "name");
    struct place port = place_child(&service, "port"), port_name = place_child(&port, "name");
    struct place number = place_child(&port, "number");
    place_check_required_name(&name, name_dns1123_label);
    bool has_name = place_text(&port_name).n > 0, has_number = place_int(&number) != 0;
    if (has_name && has_number)
        field_invalid(backend->errs, &backend->path, field_str(STR("")), STR("cannot set both port name & port number"));
    else if (has_name)
        place_check_names(&port_name, name_port(place_text(&port_name)));
    else if (has_number)
        place_check_port_number(&number);
    else
        place_required(backend, "port name or number is required");
}

static void check_backend(const struct place *backend)
{
    bool resource = child_is_set(backend, "resource"), service = child_is_set(backend, "service");
    if (resource != service) {
        if (resource)
            check_resource_backend(backend);
        else
            check_service_backend(backend);
        return;
    }
    field_invalid(backend->errs, &backend->path, field_str(STR("")),
                  resource ? STR("cannot set both resource and service backends")
                           : STR("resource or service backend is required"));
}

/* ---- Rules ---- */

static bool contains(struct str text, struct str part)
{
    for (size_t i = 0; i + part.n <= text.n; i++)
        if (str_starts(str_from(text, i), part))
            return true;
    return false;
}

static void check_exact_path(const struct place *path)
{
    static const char *const parts[] = { "//", "/./", "/../", "%2f", "%2F" };
    static const char *const ends[] = { "/..", "/." };
    struct str text = place_text(path);
    if (!str_starts(text, STR("/")))
        place_invalid(path, "must be an absolute path");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (contains(text, str_of(parts[i])))
            place_invalidf(path, "must not contain '%s'", parts[i]);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (str_ends(text, str_of(ends[i])))
            place_invalidf(path, "cannot end with '%s'", ends[i]);
}

static void check_path(const struct place *one)
{
    static const char *const types[] = { "Exact", "ImplementationSpecific", "Prefix", NULL };
    struct place path = place_child(one, "path"), type = place_child(one, "pathType");
    struct place backend = place_child(one, "backend");
    if (!place_is_set(&type)) {
        place_required(&type, "pathType must be specified");
        return;
    }
    struct str text = place_text(&path);
    if (!text_is_one_of(place_text(&type), types))
        place_not_supported(&type, types);
    else if (!str_is(place_text(&type), "ImplementationSpecific"))
        check_exact_path(&path);
    else if (text.n && text.p[0] != '/')
        place_invalid(&path, "must be an absolute path");
    check_backend(&backend);
}

static void check_http(const struct place *rule)
{
    struct place http = place_child(rule, "http"), paths = place_child(&http, "paths");
    if (!place_is_set(&http))
        return;
    if (place_n(&paths) == 0)
        place_required(&paths, "");
    for (uint32_t i = 0; i < place_n(&paths); i++) {
        struct place path = place_item(&paths, i);
        check_path(&path);
    }
}

static bool is_wildcard(struct str host)
{
    return str_index(host, '*') < host.n;
}

static void check_host(const struct place *host)
{
    bool wildcard = is_wildcard(place_text(host));
    place_check_names(host, (wildcard ? name_wildcard_dns1123_subdomain : name_dns1123_subdomain)(place_text(host)));
}

static void check_rules(const struct place *spec, struct leniency lenient)
{
    struct place rules = place_child(spec, "rules");
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i), host = place_child(&rule, "host");
        struct ip_addr ip;
        if (place_text(&host).n) {
            if (ip_parse(place_text(&host), &ip))
                place_invalid(&host, "must be a DNS name, not an IP address");
            check_host(&host);
        }
        if (!lenient.any_wildcard_rule || !is_wildcard(place_text(&host)))
            check_http(&rule);
    }
}

static void check_tls(const struct place *spec, struct leniency lenient)
{
    struct place list = place_child(spec, "tls");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place tls = place_item(&list, i), hosts = place_child(&tls, "hosts");
        struct place secret = place_child(&tls, "secretName");
        for (uint32_t k = 0; k < place_n(&hosts); k++) {
            struct place host = place_item(&hosts, k);
            check_host(&host);
        }
        if (!lenient.any_secret_name && place_text(&secret).n)
            place_check_names(&secret, name_dns1123_subdomain(place_text(&secret)));
    }
}

static void check_spec(const struct place *spec, struct leniency lenient)
{
    struct place rules = place_child(spec, "rules"), backend = place_child(spec, "defaultBackend");
    struct place class = place_child(spec, "ingressClassName");
    if (place_n(&rules) == 0 && !place_is_set(&backend))
        field_invalid(spec->errs, &spec->path, place_shown(&rules),
                      STR("either `defaultBackend` or `rules` must be specified"));
    if (place_is_set(&backend))
        check_backend(&backend);
    check_rules(spec, lenient);
    check_tls(spec, lenient);
    if (place_is_set(&class))
        place_check_names(&class, name_dns1123_subdomain(place_text(&class)));
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place class = place_child(&spec, "ingressClassName");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_spec(&spec, (struct leniency){ 0 });
    const struct value *annotation = object_annotation(&root, ANNOTATION_CLASS);
    if (!annotation || !place_is_set(&class) || str_eq(value_text(annotation), place_text(&class)))
        return;
    struct field_path all = field_child(NULL, "annotations"), at = field_child(&all, ANNOTATION_CLASS);
    field_invalid(errs, &at, field_str(value_text(annotation)),
                  STR("must match `ingressClassName` when both are specified"));
}

/* What an old object has that a new one could not. */
static struct leniency leniency_of(const struct rules_context *c, const struct value *old)
{
    struct field_errors errs;
    struct leniency lenient = { 0 };
    field_errors_init(&errs, c->arena);
    struct place root = place_root(c, old, &errs), spec = place_child(&root, "spec");
    struct place rules = place_child(&spec, "rules"), list = place_child(&spec, "tls");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place tls = place_item(&list, i);
        struct str secret = child_text(&tls, "secretName");
        lenient.any_secret_name |= secret.n && name_dns1123_subdomain(secret).n;
    }
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i);
        errs.n = 0;
        if (is_wildcard(child_text(&rule, "host")))
            check_http(&rule);
        lenient.any_wildcard_rule |= errs.n > 0;
    }
    return lenient;
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta_update(c, new, old, errs);
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_spec(&spec, leniency_of(c, old));
}

static void validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place old_root = place_root(c, old, errs), old_status = place_child(&old_root, "status");
    struct place balancer = place_child(&status, "loadBalancer");
    struct place old_balancer = place_child(&old_status, "loadBalancer");
    rules_check_meta_update(c, new, old, errs);
    balancer_check_status(&balancer, &old_balancer, false);
}

static void warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    if (!old && object_annotation(&root, ANNOTATION_CLASS) && !child_is_set(&spec, "ingressClassName"))
        warnings_add(c->warnings, "annotation \"" ANNOTATION_CLASS "\" is deprecated, please use 'spec.ingressClassName' "
                                  "instead");
}

static void warn_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    balancer_warn_status(c, new);
}

/* ---- IngressClass ---- */

static void check_parameter_scope(const struct place *parameters)
{
    static const char *const scopes[] = { "Cluster", "Namespace", NULL };
    struct place scope = place_child(parameters, "scope"), namespace = place_child(parameters, "namespace");
    if (!place_is_set(&scope)) {
        place_required(&scope, "");
        return;
    }
    place_check_supported(&scope, scopes);
    if (str_is(place_text(&scope), "Namespace")) {
        if (!place_is_set(&namespace))
            place_required(&namespace, "`parameters.scope` is set to 'Namespace'");
        else
            place_check_names(&namespace, name_dns1123_label(place_text(&namespace)));
    }
    if (str_is(place_text(&scope), "Cluster") && place_is_set(&namespace))
        place_forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
}

static void validate_class(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place controller = place_child(&spec, "controller"), parameters = place_child(&spec, "parameters");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    if (place_text(&controller).n > CONTROLLER_BYTES_MAX)
        field_too_long(errs, &controller.path, CONTROLLER_BYTES_MAX);
    validate_domain_prefixed_path(place_text(&controller), &controller.path, errs);
    if (!place_is_set(&parameters))
        return;
    struct place group = place_child(&parameters, "apiGroup"), kind = place_child(&parameters, "kind");
    struct place name = place_child(&parameters, "name");
    check_group(&group);
    check_path_segment(&kind);
    check_path_segment(&name);
    check_parameter_scope(&parameters);
}

static void validate_class_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct place controller = place_child(&spec, "controller"), old_controller = place_child(&old_spec, "controller");
    rules_check_meta_update(c, new, old, errs);
    place_check_immutable(&controller, &old_controller);
    validate_class(c, new, errs);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = rules_keep_spec, .validate_update = validate_status, .reset_fields = reset_spec,
      .warn = warn_status },
    { 0 },
};

const struct kind_rules ingress_rules[] = {
    { .type = "networking.k8s.io/v1.Ingress", .generation = GENERATION_SPEC, .prepare_create = rules_drop_status,
      .prepare_update = rules_keep_status, .validate_create = validate_create, .validate_update = validate_update,
      .warn = warn, .reset_fields = reset_status, .subs = subs },
    { .type = "networking.k8s.io/v1.IngressClass", .generation = GENERATION_SPEC, .validate_create = validate_class,
      .validate_update = validate_class_update },
    { 0 },
};
