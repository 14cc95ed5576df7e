/* rules/service_begin.c - see service.h: what is filled in and what is dropped when the type changes. */
#include "rules/service.h"

#include "api/edit.h"
#include "api/netaddr.h"
#include "rules/place.h"

/* A service on its way: the value changes, `spec` always looks at the newest. */
struct draft {
    const struct rules_context *c;
    struct field_errors *errs;
    struct value value;
};

static struct place spec_of(const struct draft *d, struct place *root)
{
    *root = place_root(d->c, &d->value, d->errs);
    return place_child(root, "spec");
}

static void put(struct draft *d, const char *path, struct value to)
{
    d->value = edit_set(d->c->arena, d->c->type, &d->value, path, to);
}

static void drop(struct draft *d, const char *path)
{
    put(d, path, (struct value){ .kind = VALUE_ABSENT });
}

static struct value one_text(struct arena *a, struct value text)
{
    return edit_append(a, &(struct value){ .kind = VALUE_ABSENT }, text);
}

static bool same_child(const struct place *a, const struct place *b, const char *name)
{
    struct place x = place_child(a, name), y = place_child(b, name);
    return place_same(&x, &y);
}

static bool needs_cluster_ip(const struct place *spec)
{
    return !service_has_type(spec, "ExternalName");
}

static bool needs_node_port(const struct place *spec)
{
    return service_has_type(spec, "NodePort") || service_has_type(spec, "LoadBalancer");
}

/* ---- What an update left out ---- */

static void collect_node_ports(const struct place *spec, struct map_u64 *to)
{
    struct place ports = place_child(spec, "ports");
    map_u64_init(to);
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i);
        if (child_int(&port, "nodePort"))
            map_u64_put(to, (uint64_t)child_int(&port, "nodePort"), NULL);
    }
}

/* By the port's name. */
static void collect_named_ports(const struct place *spec, struct map_str *to)
{
    struct place ports = place_child(spec, "ports");
    map_str_init(to);
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i);
        struct str name = child_text(&port, "name");
        map_str_put(to, name.n ? name : STR(""), NULL)->num = (uint64_t)child_int(&port, "nodePort");
    }
}

/* A port without a node port gets that of the old port of its name, unless another one of the service has taken it. */
static void keep_node_ports(struct draft *d, const struct place *old)
{
    struct place root, spec = spec_of(d, &root), ports = place_child(&spec, "ports");
    struct map_u64 taken;
    struct map_str before;
    collect_node_ports(&spec, &taken);
    collect_named_ports(old, &before);
    uint32_t n = place_n(&ports);
    struct value *items = ARENA_NEW_N(d->c->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        struct place port = place_item(&ports, i);
        struct str name = child_text(&port, "name");
        const union map_value *number = map_str_find(&before, name.n ? name : STR(""));
        items[i] = *port.value;
        if (!child_int(&port, "nodePort") && number && number->num && !map_u64_find(&taken, number->num))
            items[i] = edit_set(d->c->arena, port.type, port.value, "nodePort", value_int((int64_t)number->num));
    }
    if (n)
        put(d, "spec.ports", value_list(items, n));
    map_u64_fini(&taken);
    map_str_fini(&before);
}

static void keep_allocated(struct draft *d, const struct place *old)
{
    struct place root, spec = spec_of(d, &root);
    if (needs_cluster_ip(old) && needs_cluster_ip(&spec)) {
        if (child_text(&spec, "clusterIP").n == 0)
            put(d, "spec.clusterIP", *child_value(old, "clusterIP"));
        if (child_n(&spec, "clusterIPs") == 0 && child_n(old, "clusterIPs"))
            put(d, "spec.clusterIPs", *child_value(old, "clusterIPs"));
    }
    if (needs_node_port(old) && needs_node_port(&spec))
        keep_node_ports(d, old);
    if (service_needs_health_check(old) && service_needs_health_check(&spec) && !child_int(&spec, "healthCheckNodePort"))
        put(d, "spec.healthCheckNodePort", *child_value(old, "healthCheckNodePort"));
}

/* clusterIP is the older field: who sets it alone means the first of clusterIPs. */
static void normalize_cluster_ips(struct draft *d, const struct place *old)
{
    struct place root, spec = spec_of(d, &root);
    struct value first = *child_value(&spec, "clusterIP");
    if (!old) {
        if (first.n && child_n(&spec, "clusterIPs") == 0)
            put(d, "spec.clusterIPs", one_text(d->c->arena, first));
        return;
    }
    if (same_child(&spec, old, "clusterIP"))
        return;
    if (!same_child(&spec, old, "clusterIPs"))
        return;
    if (first.n == 0)
        drop(d, "spec.clusterIPs");
    else
        put(d, "spec.clusterIPs", one_text(d->c->arena, first));
}

/* ---- Families ---- */

static bool policy_is(const struct place *spec, const char *policy)
{
    return str_is(child_text(spec, "ipFamilyPolicy"), policy);
}

/* A service that prefers two families and has what it had: nothing to find out. */
static bool is_settled(const struct place *spec, const struct place *old)
{
    return old && str_eq(child_text(old, "type"), child_text(spec, "type")) && policy_is(spec, "PreferDualStack") &&
           (!child_is_set(old, "ipFamilyPolicy") || policy_is(old, "PreferDualStack")) &&
           same_child(old, spec, "clusterIPs") && same_child(old, spec, "ipFamilies");
}

/* Without a selector nobody knows which families its endpoints will have. */
static bool is_headless_without_selector(const struct place *spec)
{
    return str_is(child_text(spec, "clusterIP"), "None") && child_n(spec, "selector") == 0;
}

static void fill_policy(struct draft *d, const struct place *old)
{
    struct place root, spec = spec_of(d, &root);
    if (child_is_set(&spec, "ipFamilyPolicy"))
        return;
    if (old && child_is_set(old, "ipFamilyPolicy"))
        put(d, "spec.ipFamilyPolicy", *child_value(old, "ipFamilyPolicy"));
    else
        put(d, "spec.ipFamilyPolicy", edit_text(is_headless_without_selector(&spec) ? "RequireDualStack" : "SingleStack"));
}

static struct value first_of(const struct value *list)
{
    return value_list(list->items, 1);
}

static void check_reduced(struct draft *d, const struct place *old)
{
    struct place root, spec = spec_of(d, &root), policy = place_child(&spec, "ipFamilyPolicy");
    static const struct {
        const char *field, *path, *fault;
    } lists[] = {
        { "clusterIPs", "spec.clusterIPs", "must be 'SingleStack' to release the secondary cluster IP" },
        { "ipFamilies", "spec.ipFamilies", "must be 'SingleStack' to release the secondary IP family" },
    };
    for (size_t i = 0; i < 2; i++) {
        uint32_t n = child_n(&spec, lists[i].field);
        if (!policy_is(&spec, "SingleStack")) {
            if (n && n < child_n(old, lists[i].field))
                place_invalid(&policy, lists[i].fault);
        } else if (n > 1 && same_child(old, &spec, lists[i].field)) {
            put(d, lists[i].path, first_of(child_value(&spec, lists[i].field)));
        }
    }
}

static void check_single(struct draft *d)
{
    struct place root, spec = spec_of(d, &root), policy = place_child(&spec, "ipFamilyPolicy");
    if (!policy_is(&spec, "SingleStack"))
        return;
    if (child_n(&spec, "clusterIPs") == 2)
        place_invalid(&policy, "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified");
    if (child_n(&spec, "ipFamilies") == 2)
        place_invalid(&policy, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified");
}

/* Families of addresses that came without. */
static void fill_from_addresses(struct draft *d)
{
    struct place root, spec = spec_of(d, &root), ips = place_child(&spec, "clusterIPs");
    struct value families = *child_value(&spec, "ipFamilies");
    for (uint32_t i = 0; i < place_n(&ips); i++) {
        struct place ip = place_item(&ips, i);
        struct ip_addr addr;
        if (str_is(place_text(&ip), "None"))
            break;
        if (i < (families.kind == VALUE_LIST ? families.n : 0) || !ip_parse(place_text(&ip), &addr))
            continue;
        if (addr.written_as_v4)
            families = edit_append(d->c->arena, &families, edit_text("IPv4"));
        else
            field_invalid(d->errs, &ip.path, place_shown(&ips), STR("IPv6 is not configured on this cluster"));
    }
    put(d, "spec.ipFamilies", families);
}

static void fill_headless(struct draft *d)
{
    struct place root, spec = spec_of(d, &root);
    struct value families = *child_value(&spec, "ipFamilies");
    if (child_n(&spec, "ipFamilies") == 0)
        families = one_text(d->c->arena, edit_text("IPv4"));
    if (families.n < 2 && !policy_is(&spec, "SingleStack")) {
        bool has_v4 = str_is(value_text(&families.items[0]), "IPv4");
        families = edit_append(d->c->arena, &families, edit_text(has_v4 ? "IPv6" : "IPv4"));
    }
    put(d, "spec.ipFamilies", families);
}

static void fill_configured(struct draft *d)
{
    struct place root, spec = spec_of(d, &root);
    struct place policy = place_child(&spec, "ipFamilyPolicy"), families = place_child(&spec, "ipFamilies");
    size_t before = d->errs->n;
    if (policy_is(&spec, "RequireDualStack"))
        place_invalid(&policy, "this cluster is not configured for dual-stack services");
    for (uint32_t i = 0; i < place_n(&families); i++) {
        struct place family = place_item(&families, i);
        if (!str_is(place_text(&family), "IPv4"))
            place_invalid(&family, "not configured on this cluster");
    }
    if (d->errs->n == before && place_n(&families) == 0)
        put(d, "spec.ipFamilies", one_text(d->c->arena, edit_text("IPv4")));
}

static void fill_families(struct draft *d, const struct place *old)
{
    struct place root, spec = spec_of(d, &root);
    if (!needs_cluster_ip(&spec) || is_settled(&spec, old))
        return;
    fill_policy(d, old);
    spec = spec_of(d, &root);
    service_check_addresses(&spec, old);
    if (d->errs->n)
        return;
    if (old)
        check_reduced(d, old);
    check_single(d);
    fill_from_addresses(d);
    if (d->errs->n)
        return;
    spec = spec_of(d, &root);
    if (is_headless_without_selector(&spec))
        fill_headless(d);
    else
        fill_configured(d);
}

struct value service_begin(const struct rules_context *c, const struct value *new, const struct value *old,
                           struct field_errors *errs)
{
    struct draft d = { c, errs, *new };
    struct place old_root, old_spec;
    if (old) {
        old_root = place_root(c, old, errs);
        old_spec = place_child(&old_root, "spec");
        keep_allocated(&d, &old_spec);
    }
    normalize_cluster_ips(&d, old ? &old_spec : NULL);
    fill_families(&d, old ? &old_spec : NULL);
    return d.value;
}

/* ---- Preparing ---- */

static struct value begin_quietly(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct value begun = service_begin(c, new, old, &errs);
    return errs.n ? *new : begun;
}

/* Upstream keeps the policy of a name that is external and never shows it; one that is none is still to be refused. */
static struct value without_hidden_policy(const struct rules_context *c, const struct value *v)
{
    struct str policy = value_text(value_path(c->type, v, "spec.internalTrafficPolicy"));
    if (!str_is(value_text(value_path(c->type, v, "spec.type")), "ExternalName") ||
        (!str_is(policy, "Cluster") && !str_is(policy, "Local")))
        return *v;
    return edit_set(c->arena, c->type, v, "spec.internalTrafficPolicy", (struct value){ 0 });
}

struct value service_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value begun = begin_quietly(c, new, NULL);
    begun = rules_drop_status(c, &begun);
    return without_hidden_policy(c, &begun);
}

static void drop_node_ports(struct draft *d)
{
    struct place root, spec = spec_of(d, &root), ports = place_child(&spec, "ports");
    uint32_t n = place_n(&ports);
    struct value *items = ARENA_NEW_N(d->c->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = edit_set(d->c->arena, ports.type, &ports.value->items[i], "nodePort", (struct value){ 0 });
    if (n)
        put(d, "spec.ports", value_list(items, n));
}

static bool has_only_old_node_ports(const struct place *spec, const struct place *old)
{
    struct place ports = place_child(spec, "ports");
    struct map_u64 known;
    collect_node_ports(old, &known);
    bool only = true;
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i);
        int64_t number = child_int(&port, "nodePort");
        only &= !number || map_u64_find(&known, (uint64_t)number);
    }
    map_u64_fini(&known);
    return only;
}

static void drop_same(struct draft *d, const struct place *spec, const struct place *old, const char *field,
                      const char *path)
{
    if (same_child(spec, old, field))
        drop(d, path);
}

/* What the new type has no use for goes, unless the client changed it: then it is an error to be told. */
static void drop_by_type(struct draft *d, const struct place *old)
{
    struct value request = d->value; /* stays while the draft changes */
    struct place root = place_root(d->c, &request, d->errs), was = place_child(&root, "spec");
    if (needs_cluster_ip(old) && !needs_cluster_ip(&was)) {
        if (same_child(&was, old, "clusterIP") && same_child(&was, old, "clusterIPs")) {
            drop(d, "spec.clusterIP");
            drop(d, "spec.clusterIPs");
        }
        drop_same(d, &was, old, "ipFamilies", "spec.ipFamilies");
        drop_same(d, &was, old, "ipFamilyPolicy", "spec.ipFamilyPolicy");
    }
    if (needs_node_port(old) && !needs_node_port(&was) && has_only_old_node_ports(&was, old))
        drop_node_ports(d);
    if (service_needs_health_check(old) && !service_needs_health_check(&was))
        drop_same(d, &was, old, "healthCheckNodePort", "spec.healthCheckNodePort");
    if (service_has_type(old, "LoadBalancer") && !service_has_type(&was, "LoadBalancer")) {
        drop_same(d, &was, old, "allocateLoadBalancerNodePorts", "spec.allocateLoadBalancerNodePorts");
        drop_same(d, &was, old, "loadBalancerClass", "spec.loadBalancerClass");
    }
    if (service_is_externally_accessible(old) && !service_is_externally_accessible(&was))
        drop_same(d, &was, old, "externalTrafficPolicy", "spec.externalTrafficPolicy");
    if (!service_has_type(&was, "LoadBalancer"))
        drop(d, "status.loadBalancer");
}

struct value service_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors errs;
    field_errors_init(&errs, c->arena);
    struct value begun = begin_quietly(c, new, old);
    struct draft d = { c, &errs, rules_keep_status(c, &begun, old) };
    struct place old_root = place_root(c, old, &errs), old_spec = place_child(&old_root, "spec");
    drop_by_type(&d, &old_spec);
    return without_hidden_policy(c, &d.value);
}
