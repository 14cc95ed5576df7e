/* rules/service_spec.c - see service.h: what may stand in a Service's spec. */
#include "rules/service.h"

#include "api/netaddr.h"
#include "rules/place.h"

enum { CLIENT_IP_SECONDS_MAX = 86400 };

#define ANNOTATION_TOPOLOGY_HINTS "service.kubernetes.io/topology-aware-hints"
#define ANNOTATION_TOPOLOGY_MODE "service.kubernetes.io/topology-mode"
#define ANNOTATION_SOURCE_RANGES "service.beta.kubernetes.io/load-balancer-source-ranges"
#define ONLY_LOAD_BALANCER "may only be used when `type` is 'LoadBalancer'"

static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

bool service_is_headless(const struct place *spec)
{
    struct place ips = place_child(spec, "clusterIPs");
    return place_n(&ips) == 1 && str_is(value_text(&ips.value->items[0]), "None");
}

bool service_has_type(const struct place *spec, const char *type)
{
    return str_is(child_text(spec, "type"), type);
}

bool service_is_externally_accessible(const struct place *spec)
{
    return service_has_type(spec, "LoadBalancer") || service_has_type(spec, "NodePort") ||
           (service_has_type(spec, "ClusterIP") && child_n(spec, "externalIPs"));
}

bool service_needs_health_check(const struct place *spec)
{
    return service_has_type(spec, "LoadBalancer") && str_is(child_text(spec, "externalTrafficPolicy"), "Local");
}

/* ---- Addresses ---- */

static void check_families(const struct place *spec)
{
    static const char *const families[] = { "IPv4", "IPv6", NULL };
    static const char *const policies[] = { "PreferDualStack", "RequireDualStack", "SingleStack", NULL };
    struct place list = place_child(spec, "ipFamilies"), policy = place_child(spec, "ipFamilyPolicy");
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place family = place_item(&list, i);
        place_check_supported(&family, families);
        if (seen_before(&seen, place_text(&family)))
            place_duplicate(&family);
    }
    seen_fini(&seen);
    if (place_is_set(&policy))
        place_check_supported(&policy, policies);
}

/* False when one of them is no address. */
static bool check_each_address(const struct place *ips, const struct value *old)
{
    size_t before = ips->errs->n;
    for (uint32_t i = 0; i < place_n(ips); i++) {
        struct place ip = place_item(ips, i);
        if (i > 0 || !str_is(place_text(&ip), "None"))
            place_check_ip(&ip, old);
        else if (place_n(ips) > 1)
            place_invalid(ips, "'None' must be the first and only value");
    }
    return ips->errs->n == before;
}

static bool is_v6(struct str text)
{
    struct ip_addr ip;
    return ip_parse(text, &ip) && !ip_is_v4_mapped(&ip);
}

static void check_address_families(const struct place *spec, const struct place *ips)
{
    struct place families = place_child(spec, "ipFamilies");
    for (uint32_t i = 0; i < place_n(ips) && i < place_n(&families); i++) {
        struct place ip = place_item(ips, i), family = place_item(&families, i);
        bool v6 = is_v6(place_text(&ip));
        if (str_is(place_text(&family), "IPv4") && v6)
            place_invalidf(&ip, "expected an IPv4 value as indicated by `ipFamilies[%u]`", i);
        if (str_is(place_text(&family), "IPv6") && !v6)
            place_invalidf(&ip, "expected an IPv6 value as indicated by `ipFamilies[%u]`", i);
    }
}

/* Two addresses are of two families; more than two never are one of each. */
static bool is_dual_stack(const struct place *ips)
{
    bool v4 = false, v6 = false;
    for (uint32_t i = 0; i < place_n(ips); i++) {
        bool six = is_v6(value_text(&ips->value->items[i]));
        v6 |= six;
        v4 |= !six;
    }
    return v4 && v6;
}

void service_check_addresses(const struct place *spec, const struct place *old_spec)
{
    if (service_has_type(spec, "ExternalName"))
        return;
    struct place ip = place_child(spec, "clusterIP"), ips = place_child(spec, "clusterIPs");
    uint32_t n = place_n(&ips);
    if (place_text(&ip).n && n == 0)
        place_required(&ips, "");
    else if (place_text(&ip).n && !str_eq(value_text(&ips.value->items[0]), place_text(&ip)))
        place_invalid(&ips, "first value must match `clusterIP`");
    else if (!place_text(&ip).n && n)
        place_invalid(&ips, "must be empty when `clusterIP` is not specified");
    check_families(spec);
    bool valid = check_each_address(&ips, old_spec ? child_value(old_spec, "clusterIPs") : NULL);
    if (n > 2)
        place_invalid(&ips, "may only hold up to 2 values");
    if (!valid)
        return;
    if (n > 1 && !is_dual_stack(&ips))
        place_invalid(&ips, "may specify no more than one IP for each IP family");
    if (!service_is_headless(spec))
        check_address_families(spec, &ips);
}

static void check_external_ips(const struct place *spec, const struct place *old_spec)
{
    struct place ips = place_child(spec, "externalIPs");
    for (uint32_t i = 0; i < place_n(&ips); i++) {
        struct place ip = place_item(&ips, i);
        size_t before = ip.errs->n;
        place_check_ip(&ip, old_spec ? child_value(old_spec, "externalIPs") : NULL);
        if (ip.errs->n == before)
            place_check_endpoint_ip(&ip);
    }
}

/* ---- Ports ---- */

static void check_target_port(const struct place *port)
{
    struct place target = place_child(port, "targetPort");
    if (target.value->kind == VALUE_STRING)
        place_check_names(&target, name_port(place_text(&target)));
    else
        validate_name_errors(name_port_number(place_int(&target)), field_int(place_int(&target)), &target.path,
                             target.errs);
}

static void check_port(const struct place *port, bool needs_name, struct seen *names)
{
    struct place name = place_child(port, "name"), number = place_child(port, "port");
    struct place protocol = place_child(port, "protocol"), app = place_child(port, "appProtocol");
    if (place_text(&name).n) {
        place_check_names(&name, name_dns1123_label(place_text(&name)));
        if (seen_before(names, place_text(&name)))
            place_duplicate(&name);
    } else if (needs_name) {
        place_required(&name, "");
    }
    place_check_port_number(&number);
    place_check_choice(&protocol, protocols);
    check_target_port(port);
    if (place_is_set(&app))
        place_check_qualified_name(&app);
}

static void check_ports(const struct place *spec)
{
    struct place ports = place_child(spec, "ports");
    struct seen names;
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i);
        check_port(&port, place_n(&ports) > 1, &names);
    }
    seen_fini(&names);
}

static void check_no_node_ports(const struct place *spec)
{
    struct place ports = place_child(spec, "ports");
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i), number = place_child(&port, "nodePort");
        if (place_int(&number))
            place_forbidden(&number, "may not be used when `type` is 'ClusterIP'");
    }
}

static struct str protocol_and_number(struct arena *a, const struct place *port, const char *field)
{
    struct str protocol = child_text(port, "protocol");
    return str_of(arena_printf(a, "%.*s/%lld", STR_ARG(protocol), (long long)child_int(port, field)));
}

/* No number twice under one protocol: of nodes, then of the service. */
static void check_distinct_ports(const struct place *spec)
{
    struct place ports = place_child(spec, "ports");
    struct arena *a = spec->errs->arena;
    struct seen nodes, own;
    seen_init(&nodes);
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i), number = place_child(&port, "nodePort");
        if (place_int(&number) && seen_before(&nodes, protocol_and_number(a, &port, "nodePort")))
            place_duplicate(&number);
    }
    seen_fini(&nodes);
    seen_init(&own);
    for (uint32_t i = 0; i < place_n(&ports); i++) {
        struct place port = place_item(&ports, i), protocol = place_child(&port, "protocol");
        if (!seen_before(&own, protocol_and_number(a, &port, "port")))
            continue;
        struct strbuf key;
        strbuf_init(&key, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&key, "{\"Name\":\"\",\"Protocol\":");
        field_add_json_string(&key, place_text(&protocol));
        strbuf_printf(&key, ",\"AppProtocol\":null,\"Port\":%lld,\"TargetPort\":0,\"NodePort\":0}",
                      (long long)child_int(&port, "port"));
        field_duplicate(port.errs, &port.path, field_json(field_take_text(a, &key)));
    }
    seen_fini(&own);
}

/* ---- Types ---- */

static void check_external_name(const struct place *spec)
{
    static const char *const unused[] = { "clusterIPs", "ipFamilies", "ipFamilyPolicy" };
    for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
        struct place field = place_child(spec, unused[i]);
        if (place_n(&field) || field.value->kind == VALUE_STRING)
            place_forbidden(&field, "may not be set for ExternalName services");
    }
    struct place name = place_child(spec, "externalName");
    struct str cname = place_text(&name);
    if (cname.n && cname.p[cname.n - 1] == '.')
        cname = str_first(cname, cname.n - 1);
    if (cname.n)
        validate_name_errors(name_dns1123_subdomain(cname), field_str(cname), &name.path, name.errs);
    else
        place_required(&name, "");
}

static void check_headless(const struct place *spec, const char *detail)
{
    struct place ips = place_child(spec, "clusterIPs");
    if (!service_is_headless(spec))
        return;
    struct place ip = place_item(&ips, 0);
    place_invalid(&ip, detail);
}

static void check_type_needs(const struct place *spec)
{
    struct place ports = place_child(spec, "ports");
    bool external = service_has_type(spec, "ExternalName");
    if (place_n(&ports) == 0 && !service_is_headless(spec) && !external)
        place_required(&ports, "");
    if (service_has_type(spec, "LoadBalancer"))
        check_headless(spec, "may not be set to 'None' for LoadBalancer services");
    if (service_has_type(spec, "NodePort"))
        check_headless(spec, "may not be set to 'None' for NodePort services");
    if (external)
        check_external_name(spec);
}

static void check_affinity(const struct place *spec)
{
    static const char *const affinities[] = { "ClientIP", "None", NULL };
    static const char needed[] = "when session affinity type is ClientIP";
    struct place affinity = place_child(spec, "sessionAffinity"), config = place_child(spec, "sessionAffinityConfig");
    struct place client = place_child(&config, "clientIP"), timeout = place_child(&client, "timeoutSeconds");
    place_check_choice(&affinity, affinities);
    if (str_is(place_text(&affinity), "None") && place_is_set(&config))
        place_forbidden(&config, "must not be set when session affinity is None");
    if (!str_is(place_text(&affinity), "ClientIP"))
        return;
    if (!place_is_set(&config))
        place_required(&config, needed);
    else if (!place_is_set(&client))
        place_required(&client, needed);
    else if (!place_is_set(&timeout))
        place_required(&timeout, needed);
    else if (place_int(&timeout) <= 0 || place_int(&timeout) > CLIENT_IP_SECONDS_MAX)
        place_invalidf(&timeout, "must be greater than 0 and less than %d", CLIENT_IP_SECONDS_MAX);
}

/* ---- Load balancers ---- */

static struct str trim(struct str s)
{
    static const char space[] = " \t\n\v\f\r";
    while (s.n && memchr(space, s.p[0], sizeof(space) - 1))
        s = str_from(s, 1);
    while (s.n && memchr(space, s.p[s.n - 1], sizeof(space) - 1))
        s.n--;
    return s;
}

static void check_source_ranges(const struct place *spec, const struct place *old_spec)
{
    struct place field = place_child(spec, "loadBalancerSourceRanges");
    struct place ranges = place_named(spec, &field, "LoadBalancerSourceRanges"); /* as upstream spells it */
    if (!service_has_type(spec, "LoadBalancer"))
        place_forbidden(&ranges, ONLY_LOAD_BALANCER);
    for (uint32_t i = 0; i < place_n(&ranges); i++) {
        struct place range = place_item(&ranges, i);
        struct value trimmed = value_string(trim(place_text(&range)));
        range.value = &trimmed;
        place_check_cidr(&range, old_spec ? child_value(old_spec, "loadBalancerSourceRanges") : NULL);
    }
}

/* Before there was a field for them, ranges stood in an annotation. */
static void check_annotated_ranges(const struct place *root, const struct place *spec, const struct place *old_root)
{
    const struct value *text = object_annotation(root, ANNOTATION_SOURCE_RANGES);
    const struct value *before = old_root ? object_annotation(old_root, ANNOTATION_SOURCE_RANGES) : NULL;
    if (!text)
        return;
    struct field_path meta = field_child(NULL, "metadata"), all = field_child(&meta, "annotations");
    struct field_path at = field_key(&all, STR(ANNOTATION_SOURCE_RANGES));
    if (!service_has_type(spec, "LoadBalancer"))
        field_forbidden(root->errs, &at, STR(ONLY_LOAD_BALANCER));
    if (before && value_equal(before, text))
        return;
    struct str rest = trim(value_text(text));
    while (rest.n) {
        size_t comma = str_index(rest, ',');
        validate_legacy_cidr(trim(str_first(rest, comma)), true, &at, root->errs);
        bool more = comma < rest.n;
        rest = str_from(rest, comma + 1);
        if (more && rest.n == 0)
            validate_legacy_cidr(STR(""), true, &at, root->errs);
    }
}

void service_check_class(const struct place *spec)
{
    struct place class = place_child(spec, "loadBalancerClass");
    if (!place_is_set(&class))
        return;
    if (service_has_type(spec, "LoadBalancer"))
        place_check_qualified_name(&class);
    else
        place_forbidden(&class, ONLY_LOAD_BALANCER);
}

static void check_load_balancer(const struct place *root, const struct place *spec, const struct place *old_root,
                                const struct place *old_spec)
{
    struct place allocate = place_child(spec, "allocateLoadBalancerNodePorts");
    bool is_balancer = service_has_type(spec, "LoadBalancer");
    if (child_n(spec, "loadBalancerSourceRanges"))
        check_source_ranges(spec, old_spec);
    else
        check_annotated_ranges(root, spec, old_root);
    if (place_is_set(&allocate) && !is_balancer)
        place_forbidden(&allocate, ONLY_LOAD_BALANCER);
    struct place unrooted = place_named(root, &allocate, "allocateLoadBalancerNodePorts");
    if (!place_is_set(&allocate) && is_balancer)
        place_required(&unrooted, "");
    service_check_class(spec);
}

/* ---- Traffic ---- */

static void check_external_traffic(const struct place *spec)
{
    static const char *const policies[] = { "Cluster", "Local", NULL };
    struct place policy = place_child(spec, "externalTrafficPolicy"), port = place_child(spec, "healthCheckNodePort");
    if (service_is_externally_accessible(spec))
        place_check_choice(&policy, policies);
    else if (place_text(&policy).n)
        place_invalid(&policy, "may only be set for externally-accessible services");
    if (!service_needs_health_check(spec)) {
        if (place_int(&port))
            place_invalid(&port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
    } else if (place_int(&port) == 0) {
        place_required(&port, "");
    } else {
        place_check_port_number(&port);
    }
}

static void check_other_traffic(const struct place *spec)
{
    static const char *const policies[] = { "Cluster", "Local", NULL };
    static const char *const distributions[] = { "PreferClose", "PreferSameZone", "PreferSameNode", NULL };
    struct place internal = place_child(spec, "internalTrafficPolicy");
    struct place distribution = place_child(spec, "trafficDistribution");
    bool needs = service_has_type(spec, "NodePort") || service_has_type(spec, "LoadBalancer") ||
                 service_has_type(spec, "ClusterIP");
    if (!place_is_set(&internal) && needs)
        place_required(&internal, "");
    if (place_is_set(&internal))
        place_check_supported(&internal, policies);
    if (place_is_set(&distribution))
        place_check_supported(&distribution, distributions);
}

/* ---- The whole ---- */

static void check_topology_annotations(const struct place *root)
{
    const struct value *hints = object_annotation(root, ANNOTATION_TOPOLOGY_HINTS);
    const struct value *mode = object_annotation(root, ANNOTATION_TOPOLOGY_MODE);
    if (!hints || !mode || value_equal(hints, mode))
        return;
    struct field_path meta = field_child(NULL, "metadata"), all = field_child(&meta, "annotations");
    struct field_path at = field_key(&all, STR(ANNOTATION_TOPOLOGY_MODE));
    field_invalid(root->errs, &at, field_str(value_text(mode)),
                  STR("must match annotations[" ANNOTATION_TOPOLOGY_HINTS "] when both are specified"));
}

void service_check(const struct place *root, const struct place *spec, const struct place *old_root,
                   const struct place *old_spec)
{
    static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL };
    struct place type = place_child(spec, "type"), selector = place_child(spec, "selector");
    check_topology_annotations(root);
    check_type_needs(spec);
    check_ports(spec);
    place_check_labels(&selector);
    check_affinity(spec);
    service_check_addresses(spec, old_spec);
    check_external_ips(spec, old_spec);
    place_check_choice(&type, types);
    if (service_has_type(spec, "ClusterIP"))
        check_no_node_ports(spec);
    check_distinct_ports(spec);
    check_load_balancer(root, spec, old_root, old_spec);
    check_external_traffic(spec);
    check_other_traffic(spec);
}
