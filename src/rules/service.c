/* rules/service.c - Service: new ones, changes, status, warnings. What may stand in the spec: service_spec.c; addresses and
 * ports: service_begin.c and whoever gives them out. */
#include "rules/service.h"

#include "rules/balancer.h"
#include "rules/place.h"

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    size_t before = errs->n;
    service_begin(c, new, NULL, errs);
    if (errs->n > before)
        return;
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_label, errs);
    service_check(&root, &spec, NULL, NULL);
}

/* ---- Changes ---- */

static void say_unchangeable(const struct place *list, size_t i, const struct place *shown)
{
    struct field_path at = field_index(&list->path, i);
    field_invalid(list->errs, &at, place_shown(shown), STR("may not change once set"));
}

static void check_single_stack(const struct place *spec, const char *detail)
{
    struct place policy = place_child(spec, "ipFamilyPolicy");
    if (!str_is(place_text(&policy), "SingleStack"))
        place_invalid(&policy, detail);
}

static void check_address_changes(const struct place *spec, const struct place *old)
{
    struct place is = place_child(spec, "clusterIPs"), was = place_child(old, "clusterIPs");
    uint32_t n = place_n(&is), n_was = place_n(&was);
    if (service_is_headless(spec) && service_is_headless(old))
        return;
    bool first_changed = n && n_was && !value_equal(&is.value->items[0], &was.value->items[0]);
    if (n != n_was && first_changed)
        say_unchangeable(&is, 0, &is);
    for (uint32_t i = 0; n == n_was && i < n; i++)
        if (!value_equal(&is.value->items[i], &was.value->items[i]))
            say_unchangeable(&is, i, &is);
    struct field_path first = field_index(&is.path, 0);
    if (n == 0 && n_was)
        field_invalid(is.errs, &first, place_shown(&is), STR("primary clusterIP can not be unset"));
    if (n == 1 && n_was > 1)
        check_single_stack(spec, "must be set to 'SingleStack' when releasing the secondary clusterIP");
}

static void check_family_changes(const struct place *spec, const struct place *old)
{
    struct place is = place_child(spec, "ipFamilies"), was = place_child(old, "ipFamilies");
    struct place ips = place_child(spec, "clusterIPs");
    uint32_t n = place_n(&is), n_was = place_n(&was);
    if (service_is_headless(spec) || service_is_headless(old))
        return;
    for (uint32_t i = 0; n == n_was && i < n; i++)
        if (!value_equal(&is.value->items[i], &was.value->items[i]))
            say_unchangeable(&is, 0, &is);
    struct field_path first = field_index(&is.path, 0);
    if (n < n_was && place_n(&ips) == 0)
        field_invalid(is.errs, &first, place_shown(&is), STR("primary ipFamily can not be unset"));
    if (n != n_was && n && n_was && !value_equal(&is.value->items[0], &was.value->items[0]))
        say_unchangeable(&is, 0, &ips); /* upstream shows the addresses here */
    if (n == 1 && n_was > 1)
        check_single_stack(spec, "must be set to 'SingleStack' when releasing the secondary ipFamily");
}

static void check_changes(const struct place *spec, const struct place *old)
{
    if (!service_has_type(spec, "ExternalName") && !service_has_type(old, "ExternalName")) {
        check_address_changes(spec, old);
        check_family_changes(spec, old);
    }
    struct place class = place_child(spec, "loadBalancerClass"), old_class = place_child(old, "loadBalancerClass");
    bool both = service_has_type(spec, "LoadBalancer") && service_has_type(old, "LoadBalancer");
    if (both && !value_equal(class.value, old_class.value))
        place_invalid(&class, "may not change once set");
    service_check_class(spec);
    struct place port = place_child(spec, "healthCheckNodePort");
    bool checked = service_needs_health_check(spec) && service_needs_health_check(old);
    if (checked && place_int(&port) != child_int(old, "healthCheckNodePort"))
        place_forbidden(&port, "field is immutable");
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    size_t before = errs->n;
    service_begin(c, new, old, errs);
    if (errs->n > before)
        return;
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    rules_check_meta_update(c, new, old, errs);
    check_changes(&spec, &old_spec);
    service_check(&root, &spec, &old_root, &old_spec);
}

/* ---- Status ---- */

static void validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place status = place_child(&root, "status");
    struct place old_root = place_root(c, old, errs), old_status = place_child(&old_root, "status");
    struct place balancer = place_child(&status, "loadBalancer");
    struct place old_balancer = place_child(&old_status, "loadBalancer");
    struct place ingress = place_child(&balancer, "ingress");
    rules_check_meta_update(c, new, old, errs);
    if (!service_has_type(&spec, "LoadBalancer") && place_n(&ingress))
        place_forbidden(&ingress, "may only be used when `spec.type` is 'LoadBalancer'");
    else
        balancer_check_status(&balancer, &old_balancer, true);
}

static void warn_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    balancer_warn_status(c, new);
}

/* ---- Warnings ---- */

static void warn_about_ips(const struct rules_context *c, const struct place *spec, const char *field)
{
    struct place list = place_child(spec, field);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place ip = place_item(&list, i);
        warn_about_ip(c, &ip.path, place_text(&ip));
    }
}

static void warn_headless(const struct rules_context *c, const struct place *spec)
{
    if (child_text(spec, "loadBalancerIP").n)
        warnings_add(c->warnings, "spec.loadBalancerIP is ignored for headless services");
    if (child_n(spec, "externalIPs"))
        warnings_add(c->warnings, "spec.externalIPs is ignored for headless services");
    if (!str_is(child_text(spec, "sessionAffinity"), "None"))
        warnings_add(c->warnings, "spec.SessionAffinity is ignored for headless services");
}

static void warn_by_type(const struct rules_context *c, const struct place *spec, bool headless)
{
    bool external = service_has_type(spec, "ExternalName");
    if (child_n(spec, "externalIPs") && !headless && !external)
        warnings_add(c->warnings, "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    struct place ip = place_child(spec, "loadBalancerIP"), ranges = place_child(spec, "loadBalancerSourceRanges");
    if (place_text(&ip).n)
        warn_about_ip(c, &ip.path, place_text(&ip));
    for (uint32_t i = 0; i < place_n(&ranges); i++) {
        struct place range = place_item(&ranges, i);
        warn_about_cidr(c, &range.path, place_text(&range));
    }
    if (external && child_n(spec, "externalIPs"))
        warnings_add(c->warnings, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!external && child_text(spec, "externalName").n)
        warnings_add(c->warnings, "spec.externalName is ignored when spec.type is not \"ExternalName\"");
    if (str_is(child_text(spec, "trafficDistribution"), "PreferClose"))
        warnings_add(c->warnings, "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
}

static void warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct place root = place_root(c, new, &errs), spec = place_child(&root, "spec");
    bool headless = service_has_type(&spec, "ClusterIP") && str_is(child_text(&spec, "clusterIP"), "None");
    if (object_annotation(&root, "service.kubernetes.io/topology-aware-hints"))
        warnings_add(c->warnings, "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
                                  "service.kubernetes.io/topology-mode instead");
    if (child_text(&spec, "clusterIP").n && !str_is(child_text(&spec, "clusterIP"), "None"))
        warn_about_ips(c, &spec, "clusterIPs");
    if (headless)
        warn_headless(c, &spec);
    warn_about_ips(c, &spec, "externalIPs");
    warn_by_type(c, &spec, headless);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = rules_keep_spec, .validate_update = validate_status, .reset_fields = reset_spec,
      .warn = warn_status },
    { 0 },
};

const struct kind_rules service_rules[] = {
    { .type = "core/v1.Service", .name = name_is_dns_label, .flags = RULES_CREATE_ON_UPDATE | RULES_RETURNS_DELETED,
      .prepare_create = service_prepare_create, .prepare_update = service_prepare_update,
      .validate_create = validate_create, .validate_update = validate_update, .warn = warn, .reset_fields = reset_status,
      .subs = subs },
    { 0 },
};
