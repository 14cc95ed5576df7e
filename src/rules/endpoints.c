/* rules/endpoints.c - Endpoints and EndpointSlice. */
#include "api/edit.h"
#include "api/netaddr.h"
#include "rules/place.h"

enum { ENDPOINTS_MAX = 1000, ADDRESSES_MAX = 100, SLICE_PORTS_MAX = 20000, TOPOLOGY_LABELS_MAX = 16, HINTS_MAX = 8 };

static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

/* Errors of a part that was stored as it is are forgotten: rules were laxer once. */
static void forgive_unchanged(const struct place *part, const struct place *old, size_t n_errs_before)
{
    if (part->errs->n > n_errs_before && place_same(part, old))
        part->errs->n = n_errs_before;
}

static struct str label_of(const struct place *root, const char *key)
{
    struct place meta = place_child(root, "metadata");
    const struct value *labels = child_value(&meta, "labels");
    const struct value *label = labels->kind == VALUE_MAP ? value_member(labels, str_of(key)) : NULL;
    return label ? value_text(label) : STR("");
}

static void check_node_name(const struct place *p)
{
    place_check_names(p, name_is_dns_subdomain(place_text(p), false));
}

/* ---- Endpoints ---- */

static void check_address(const struct place *address)
{
    struct place ip = place_child(address, "ip"), host = place_child(address, "hostname");
    struct place node = place_child(address, "nodeName");
    place_check_ip(&ip, NULL);
    if (place_text(&host).n)
        place_check_names(&host, name_dns1123_label(place_text(&host)));
    if (place_is_set(&node))
        check_node_name(&node);
    place_check_endpoint_ip(&ip);
}

static void check_port(const struct place *port, bool needs_name)
{
    struct place name = place_child(port, "name"), number = place_child(port, "port");
    struct place protocol = place_child(port, "protocol"), app = place_child(port, "appProtocol");
    if (place_text(&name).n)
        place_check_names(&name, name_dns1123_label(place_text(&name)));
    else if (needs_name)
        place_required(&name, "");
    place_check_port_number(&number);
    place_check_choice(&protocol, protocols);
    if (place_is_set(&app))
        place_check_qualified_name(&app);
}

static void check_subsets(const struct place *subsets)
{
    static const char *const lists[] = { "addresses", "notReadyAddresses" };
    for (uint32_t i = 0; i < place_n(subsets); i++) {
        struct place subset = place_item(subsets, i), ports = place_child(&subset, "ports");
        if (child_n(&subset, lists[0]) == 0 && child_n(&subset, lists[1]) == 0)
            place_required(&subset, "must specify `addresses` or `notReadyAddresses`");
        for (size_t l = 0; l < 2; l++) {
            struct place list = place_child(&subset, lists[l]);
            for (uint32_t k = 0; k < place_n(&list); k++) {
                struct place address = place_item(&list, k);
                check_address(&address);
            }
        }
        for (uint32_t k = 0; k < place_n(&ports); k++) {
            struct place port = place_item(&ports, k);
            check_port(&port, place_n(&ports) > 1);
        }
    }
}

static void validate_endpoints(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), subsets = place_child(&root, "subsets");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_subsets(&subsets);
}

static void validate_endpoints_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                      struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), subsets = place_child(&root, "subsets");
    struct place old_root = place_root(c, old, errs), old_subsets = place_child(&old_root, "subsets");
    rules_check_meta_update(c, new, old, errs);
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    size_t before = errs->n;
    check_subsets(&subsets);
    forgive_unchanged(&subsets, &old_subsets, before);
}

static void warn_endpoints(const struct rules_context *c, const struct value *new, const struct value *old)
{
    static const char *const lists[] = { "addresses", "notReadyAddresses" };
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), subsets = place_child(&root, "subsets");
    if (str_is(label_of(&root, "endpoints.kubernetes.io/managed-by"), "endpoint-controller"))
        return;
    for (uint32_t i = 0; i < place_n(&subsets); i++) {
        struct place subset = place_item(&subsets, i);
        for (size_t l = 0; l < 2; l++) {
            struct place list = place_child(&subset, lists[l]);
            for (uint32_t k = 0; k < place_n(&list); k++) {
                struct place address = place_item(&list, k), ip = place_child(&address, "ip");
                warn_about_ip(c, &ip.path, place_text(&ip));
            }
        }
    }
}

/* ---- EndpointSlice ---- */

static void check_slice_address(const struct place *address, const struct place *addresses, struct str type)
{
    size_t before = address->errs->n;
    struct ip_addr ip;
    bool v6 = str_is(type, "IPv6");
    if (str_is(type, "FQDN")) {
        validate_fully_qualified_domain_name(place_text(address), &address->path, address->errs);
        return;
    }
    if (!v6 && !str_is(type, "IPv4"))
        return;
    if (v6)
        validate_ip(place_text(address), &address->path, address->errs);
    else
        place_check_ip(address, NULL);
    if (address->errs->n > before)
        return;
    bool is_v6 = ip_parse(place_text(address), &ip) && !ip_is_v4_mapped(&ip);
    if (v6 != is_v6)
        field_invalid(address->errs, &addresses->path, field_str(place_text(address)),
                      v6 ? STR("must be an IPv6 address") : STR("must be an IPv4 address"));
    place_check_endpoint_ip(address);
}

static void check_slice_addresses(const struct place *endpoint, struct str type)
{
    struct place addresses = place_child(endpoint, "addresses");
    uint32_t n = place_n(&addresses);
    if (n == 0)
        place_required(&addresses, "must contain at least 1 address");
    else if (n > ADDRESSES_MAX)
        field_too_many(addresses.errs, &addresses.path, n, ADDRESSES_MAX);
    for (uint32_t i = 0; i < n; i++) {
        struct place address = place_item(&addresses, i);
        check_slice_address(&address, &addresses, type);
    }
}

static struct name_errors check_zone(struct str name)
{
    return name_label_value(name);
}

static struct name_errors check_node(struct str name)
{
    return name_is_dns_subdomain(name, false);
}

/* False when there are too many of them. */
static bool check_hint_list(const struct place *hints, const char *field, name_check *check)
{
    struct place list = place_child(hints, field);
    if (place_n(&list) > HINTS_MAX) {
        field_too_many(list.errs, &list.path, place_n(&list), HINTS_MAX);
        return false;
    }
    struct seen names;
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place hint = place_item(&list, i), name = place_child(&hint, "name");
        if (seen_before(&names, place_text(&name)))
            place_duplicate(&name);
        place_check_names(&name, check(place_text(&name)));
    }
    seen_fini(&names);
    return true;
}

static void check_endpoint(const struct place *endpoint, struct str type)
{
    struct place node = place_child(endpoint, "nodeName"), topology = place_child(endpoint, "deprecatedTopology");
    struct place host = place_child(endpoint, "hostname"), hints = place_child(endpoint, "hints");
    check_slice_addresses(endpoint, type);
    if (place_is_set(&node))
        check_node_name(&node);
    if (place_n(&topology) > TOPOLOGY_LABELS_MAX)
        field_too_many(topology.errs, &topology.path, place_n(&topology), TOPOLOGY_LABELS_MAX);
    place_check_labels(&topology);
    if (place_is_set(&host))
        place_check_names(&host, name_dns1123_label(place_text(&host)));
    if (place_is_set(&hints) && check_hint_list(&hints, "forZones", check_zone))
        check_hint_list(&hints, "forNodes", check_node);
}

static void check_endpoints(const struct place *endpoints, struct str type)
{
    if (place_n(endpoints) > ENDPOINTS_MAX) {
        field_too_many(endpoints->errs, &endpoints->path, place_n(endpoints), ENDPOINTS_MAX);
        return;
    }
    for (uint32_t i = 0; i < place_n(endpoints); i++) {
        struct place endpoint = place_item(endpoints, i);
        check_endpoint(&endpoint, type);
    }
}

static void check_slice_ports(const struct place *ports)
{
    if (place_n(ports) > SLICE_PORTS_MAX) {
        field_too_many(ports->errs, &ports->path, place_n(ports), SLICE_PORTS_MAX);
        return;
    }
    struct seen names;
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(ports); i++) {
        struct place port = place_item(ports, i), name = place_child(&port, "name");
        struct place protocol = place_child(&port, "protocol"), app = place_child(&port, "appProtocol");
        if (place_text(&name).n)
            place_check_names(&name, name_dns1123_label(place_text(&name)));
        if (seen_before(&names, place_text(&name)))
            place_duplicate(&name);
        if (!place_is_set(&protocol))
            place_required(&protocol, "");
        else
            place_check_supported(&protocol, protocols);
        if (place_is_set(&app))
            place_check_qualified_name(&app);
    }
    seen_fini(&names);
}

/* `old` is NULL for a new one. */
static void check_slice(const struct rules_context *c, const struct value *new, const struct place *old,
                        struct field_errors *errs)
{
    static const char *const types[] = { "FQDN", "IPv4", "IPv6", NULL };
    struct place root = place_root(c, new, errs), type = place_child(&root, "addressType");
    struct place ports = place_child(&root, "ports"), endpoints = place_child(&root, "endpoints");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    place_check_choice(&type, types);
    check_slice_ports(&ports);
    size_t before = errs->n;
    check_endpoints(&endpoints, place_text(&type));
    if (!old)
        return;
    struct place old_endpoints = place_child(old, "endpoints"), old_type = place_child(old, "addressType");
    forgive_unchanged(&endpoints, &old_endpoints, before);
    place_check_immutable(&type, &old_type);
}

static void validate_slice(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_slice(c, new, NULL, errs);
}

static void validate_slice_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place old_root = place_root(c, old, errs);
    check_slice(c, new, &old_root, errs);
}

/* The node as a topology label names it, or NULL. */
static const struct value *host_of(const struct place *endpoint)
{
    const struct value *topology = child_value(endpoint, "deprecatedTopology");
    return topology->kind == VALUE_MAP ? value_member(topology, STR("kubernetes.io/hostname")) : NULL;
}

/* Names of nodes that old endpoints have as a topology label. */
static void collect_topology_nodes(const struct place *old, struct seen *to)
{
    struct place list = place_child(old, "endpoints");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place endpoint = place_item(&list, i);
        const struct value *host = host_of(&endpoint);
        if (host && host->n)
            seen_before(to, value_text(host));
    }
}

/* v1 has no topology labels: they go, and a node's name in them moves to its field. */
static struct value without_topology(struct arena *a, const struct place *endpoint, struct seen *nodes)
{
    struct value out = *endpoint->value;
    const struct value *topology = child_value(endpoint, "deprecatedTopology");
    if (topology->kind == VALUE_ABSENT)
        return out;
    const struct value *host = host_of(endpoint);
    if (host && !child_is_set(endpoint, "nodeName") && map_str_find(&nodes->texts, value_text(host)) &&
        name_is_dns_subdomain(value_text(host), false).n == 0)
        out = edit_set(a, endpoint->type, &out, "nodeName", *host);
    return edit_set(a, endpoint->type, &out, "deprecatedTopology", (struct value){ 0 });
}

static struct value prepare_slice_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), endpoints = place_child(&root, "endpoints");
    struct place old_root = place_root(c, old ? old : new, &none), old_endpoints = place_child(&old_root, "endpoints");
    if ((old && place_same(&endpoints, &old_endpoints)) || place_n(&endpoints) == 0)
        return *new;
    struct seen nodes;
    seen_init(&nodes);
    if (old)
        collect_topology_nodes(&old_root, &nodes);
    struct value *items = ARENA_NEW_N(c->arena, struct value, place_n(&endpoints));
    for (uint32_t i = 0; i < place_n(&endpoints); i++) {
        struct place endpoint = place_item(&endpoints, i);
        items[i] = without_topology(c->arena, &endpoint, &nodes);
    }
    seen_fini(&nodes);
    return edit_set(c->arena, c->type, new, "endpoints", value_list(items, place_n(&endpoints)));
}

static struct value prepare_slice(const struct rules_context *c, const struct value *new)
{
    return prepare_slice_update(c, new, NULL);
}

static void warn_slice(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), list = place_child(&root, "endpoints");
    struct str manager = label_of(&root, "endpointslice.kubernetes.io/managed-by");
    if (!old && str_is(child_text(&root, "addressType"), "FQDN"))
        warnings_add(c->warnings, "spec.addressType: FQDN endpoints are deprecated");
    if (str_is(manager, "endpointslice-controller.k8s.io") || str_is(manager, "endpointslicemirroring-controller.k8s.io"))
        return;
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place endpoint = place_item(&list, i), addresses = place_child(&endpoint, "addresses");
        for (uint32_t k = 0; k < place_n(&addresses); k++) {
            struct place address = place_item(&addresses, k);
            warn_about_ip(c, &address.path, place_text(&address));
        }
    }
}

const struct kind_rules endpoints_rules[] = {
    { .type = "core/v1.Endpoints", .flags = RULES_CREATE_ON_UPDATE, .validate_create = validate_endpoints,
      .validate_update = validate_endpoints_update, .warn = warn_endpoints },
    { .type = "discovery.k8s.io/v1.EndpointSlice", .generation = GENERATION_LABELS, .prepare_create = prepare_slice,
      .prepare_update = prepare_slice_update, .validate_create = validate_slice,
      .validate_update = validate_slice_update, .warn = warn_slice },
    { 0 },
};
