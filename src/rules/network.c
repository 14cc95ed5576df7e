/* rules/network.c - NetworkPolicy, IPAddress, ServiceCIDR. */
#include "api/edit.h"
#include "api/netaddr.h"
#include "rules/place.h"

static const char *const protocols[] = { "TCP", "UDP", "SCTP", NULL };

/* ---- NetworkPolicy ---- */

/* What the old object has that a new one could not. */
struct leniency {
    bool any_selector_values;
    struct seen *cidrs; /* NULL: a new one */
};

static void check_numeric_port(const struct place *port, const struct place *end)
{
    place_check_names(port, name_port_number(place_int(port)));
    if (!place_is_set(end))
        return;
    if (place_int(end) < place_int(port))
        field_invalid(end->errs, &end->path, field_int(place_int(port)), STR("must be greater than or equal to `port`"));
    place_check_port_number(end);
}

static void check_policy_port(const struct place *one)
{
    struct place protocol = place_child(one, "protocol"), port = place_child(one, "port");
    struct place end = place_child(one, "endPort");
    if (place_is_set(&protocol))
        place_check_supported(&protocol, protocols);
    if (!place_is_set(&port)) {
        if (place_is_set(&end))
            place_invalid(&end, "may not be specified when `port` is not specified");
    } else if (port.value->kind == VALUE_INT) {
        check_numeric_port(&port, &end);
    } else {
        if (place_is_set(&end))
            place_invalid(&end, "may not be specified when `port` is non-numeric");
        place_check_names(&port, name_port(place_text(&port)));
    }
}

static void check_range(const struct place *cidr, const struct leniency *lenient)
{
    size_t before = cidr->errs->n;
    place_check_cidr(cidr, NULL);
    if (cidr->errs->n > before && lenient->cidrs && map_str_find(&lenient->cidrs->texts, place_text(cidr)))
        cidr->errs->n = before;
}

/* Whether `inner` is a part of `outer` and not the whole. */
static bool is_strict_subset(const struct ip_addr *outer, unsigned outer_bits, const struct ip_addr *inner,
                             unsigned inner_bits)
{
    if (outer->written_as_v4 != inner->written_as_v4 || outer_bits >= inner_bits)
        return false;
    unsigned from = outer->written_as_v4 ? 96 : 0;
    for (unsigned i = from; i < from + outer_bits; i++)
        if ((outer->bytes[i / 8] ^ inner->bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

static void check_block(const struct place *block, const struct leniency *lenient)
{
    struct place cidr = place_child(block, "cidr"), excepts = place_child(block, "except");
    struct ip_addr outer, inner;
    unsigned outer_bits, inner_bits;
    if (place_text(&cidr).n == 0) {
        place_required(&cidr, "");
        return;
    }
    check_range(&cidr, lenient);
    if (!cidr_parse(place_text(&cidr), &outer, &outer_bits))
        return;
    for (uint32_t i = 0; i < place_n(&excepts); i++) {
        struct place except = place_item(&excepts, i);
        check_range(&except, lenient);
        if (cidr_parse(place_text(&except), &inner, &inner_bits) &&
            !is_strict_subset(&outer, outer_bits, &inner, inner_bits))
            place_invalid(&except, "must be a strict subset of `cidr`");
    }
}

static void check_peer(const struct place *peer, const struct leniency *lenient)
{
    struct place pods = place_child(peer, "podSelector"), namespaces = place_child(peer, "namespaceSelector");
    struct place block = place_child(peer, "ipBlock");
    if (place_is_set(&pods))
        place_check_selector(&pods, lenient->any_selector_values);
    if (place_is_set(&namespaces))
        place_check_selector(&namespaces, lenient->any_selector_values);
    if (place_is_set(&block))
        check_block(&block, lenient);
    int n = place_is_set(&pods) + place_is_set(&namespaces) + place_is_set(&block);
    if (n == 0)
        place_required(peer, "must specify a peer");
    else if (n > 1 && place_is_set(&block))
        place_forbidden(peer, "may not specify both ipBlock and another peer");
}

struct direction {
    const char *rules, *peers;
};
static const struct direction directions[] = { { "ingress", "from" }, { "egress", "to" } };

static void check_policy_rules(const struct place *spec, const struct direction *d, const struct leniency *lenient)
{
    struct place rules = place_child(spec, d->rules);
    for (uint32_t i = 0; i < place_n(&rules); i++) {
        struct place rule = place_item(&rules, i), ports = place_child(&rule, "ports");
        struct place peers = place_child(&rule, d->peers);
        for (uint32_t k = 0; k < place_n(&ports); k++) {
            struct place port = place_item(&ports, k);
            check_policy_port(&port);
        }
        for (uint32_t k = 0; k < place_n(&peers); k++) {
            struct place peer = place_item(&peers, k);
            check_peer(&peer, lenient);
        }
    }
}

static void check_policy(const struct place *spec, const struct leniency *lenient)
{
    static const char *const types[] = { "Ingress", "Egress", NULL };
    struct place pods = place_child(spec, "podSelector"), list = place_child(spec, "policyTypes");
    place_check_selector(&pods, lenient->any_selector_values);
    for (size_t i = 0; i < 2; i++)
        check_policy_rules(spec, &directions[i], lenient);
    if (place_n(&list) > 2) {
        place_invalid(&list, "may not specify more than two policyTypes");
        return;
    }
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place type = place_item(&list, i);
        place_check_supported(&type, types);
    }
}

static void validate_policy(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_policy(&spec, &(struct leniency){ 0 });
}

typedef void visit_range(const struct place *cidr, const void *data);

/* Calls `visit` at every ipBlock.cidr and ipBlock.except[i]. */
static void each_range(const struct place *spec, visit_range *visit, const void *data)
{
    for (size_t d = 0; d < 2; d++) {
        struct place rules = place_child(spec, directions[d].rules);
        for (uint32_t i = 0; i < place_n(&rules); i++) {
            struct place rule = place_item(&rules, i), peers = place_child(&rule, directions[d].peers);
            for (uint32_t k = 0; k < place_n(&peers); k++) {
                struct place peer = place_item(&peers, k), block = place_child(&peer, "ipBlock");
                struct place cidr = place_child(&block, "cidr"), excepts = place_child(&block, "except");
                if (place_is_set(&block))
                    visit(&cidr, data);
                for (uint32_t e = 0; e < place_n(&excepts); e++) {
                    struct place except = place_item(&excepts, e);
                    visit(&except, data);
                }
            }
        }
    }
}

static void collect_range(const struct place *cidr, const void *data)
{
    struct seen *const *to = data;
    seen_before(*to, place_text(cidr));
}

static void validate_policy_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    struct field_errors old_errs;
    field_errors_init(&old_errs, c->arena);
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, &old_errs), old_spec = place_child(&old_root, "spec");
    struct place old_pods = place_child(&old_spec, "podSelector");
    struct seen ranges, *to = &ranges;
    seen_init(&ranges);
    each_range(&old_spec, collect_range, &to);
    struct leniency lenient = { !place_check_selector(&old_pods, false), &ranges };
    rules_check_meta_update(c, new, old, errs);
    check_policy(&spec, &lenient);
    seen_fini(&ranges);
}

static void warn_range(const struct place *cidr, const void *data)
{
    const struct rules_context *c = data;
    warn_about_cidr(c, &cidr->path, place_text(cidr));
}

static void warn_policy(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    each_range(&spec, warn_range, c);
}

/* ---- IPAddress ---- */

/* The canonical form of an address. */
static struct name_errors name_is_ip(struct str name, bool prefix)
{
    (void)prefix;
    struct name_errors found = { 0 };
    struct ip_addr ip;
    char canonical[IP_TEXT_MAX];
    if (!ip_parse(name, &ip))
        found.at[found.n++] = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    else if (ip.leading_zeros)
        found.at[found.n++] = "must not have leading 0s";
    else if (ip_is_v4_mapped(&ip) && !ip.written_as_v4)
        found.at[found.n++] = "must not be an IPv4-mapped IPv6 address";
    else if (ip_print(&ip, canonical), !str_is(name, canonical))
        found.at[found.n++] = "must be in canonical form";
    return found;
}

/* The one text that names the address itself, which checks of names cannot make. */
static void complete_canonical(struct field_errors *errs, struct str name)
{
    struct ip_addr ip;
    char canonical[IP_TEXT_MAX];
    if (!ip_parse(name, &ip))
        return;
    ip_print(&ip, canonical);
    for (size_t i = 0; i < errs->n; i++)
        if (str_is(errs->at[i].detail, "must be in canonical form"))
            errs->at[i].detail = str_of(arena_printf(errs->arena, "must be in canonical form (\"%s\")", canonical));
}

static void validate_address(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place spec = place_child(&root, "spec");
    struct place parent = place_child(&spec, "parentRef");
    struct place group = place_child(&parent, "group"), resource = place_child(&parent, "resource");
    struct place name = place_child(&parent, "name"), namespace = place_child(&parent, "namespace");
    rules_check_meta(c, new, name_is_ip, errs);
    complete_canonical(errs, child_text(&meta, "name"));
    if (!place_is_set(&parent)) {
        place_required(&parent, "");
        return;
    }
    if (place_text(&group).n)
        place_check_names(&group, name_dns1123_subdomain(place_text(&group)));
    place_check_required_name(&resource, name_path_segment);
    place_check_required_name(&name, name_path_segment);
    if (place_text(&namespace).n)
        place_check_names(&namespace, name_path_segment(place_text(&namespace)));
}

static void validate_address_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place parent = place_child(&spec, "parentRef");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct place old_parent = place_child(&old_spec, "parentRef");
    validate_address(c, new, errs);
    rules_check_meta_update(c, new, old, errs);
    place_check_immutable(&parent, &old_parent);
}

/* ---- ServiceCIDR ---- */

static bool cidr_is_v6(const struct value *text, bool *ret_v6)
{
    struct ip_addr ip;
    unsigned bits;
    if (!cidr_parse(value_text(text), &ip, &bits))
        return false;
    *ret_v6 = !ip.written_as_v4;
    return true;
}

static void check_cidrs(const struct place *spec)
{
    struct place cidrs = place_child(spec, "cidrs");
    uint32_t n = place_n(&cidrs);
    if (n == 0) {
        place_required(&cidrs, "at least one CIDR required");
        return;
    }
    if (n > 2) {
        field_invalid(cidrs.errs, &cidrs.path, place_shown_as_go(spec), STR("may only hold up to 2 values"));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct place cidr = place_item(&cidrs, i);
        validate_cidr(place_text(&cidr), &cidr.path, cidr.errs);
    }
    bool first, second;
    if (n == 2 && cidr_is_v6(&cidrs.value->items[0], &first) && cidr_is_v6(&cidrs.value->items[1], &second) &&
        first == second)
        place_invalid(&cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
}

static void validate_cidr_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_cidrs(&spec);
}

static void check_same_cidr(const struct place *cidrs, const struct place *old, uint32_t i)
{
    struct place cidr = place_item(cidrs, i);
    if (!value_equal(cidr.value, &old->value->items[i]))
        place_invalid(&cidr, "field is immutable");
}

static void validate_cidr_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                 struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place cidrs = place_child(&spec, "cidrs");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct place old_cidrs = place_child(&old_spec, "cidrs");
    rules_check_meta_update(c, new, old, errs);
    if (place_n(&cidrs) == place_n(&old_cidrs)) {
        for (uint32_t i = 0; i < place_n(&cidrs); i++)
            check_same_cidr(&cidrs, &old_cidrs, i);
    } else if (place_n(&old_cidrs) == 1 && place_n(&cidrs) == 2) { /* a second family may join */
        check_same_cidr(&cidrs, &old_cidrs, 0);
        check_cidrs(&spec);
    } else {
        place_invalid(&cidrs, "field is immutable");
    }
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_all_but_status[] = { "metadata", "spec", NULL };

static const struct sub_rules cidr_subs[] = {
    { .name = "status", .prepare_update = rules_keep_all_but_status, .validate_update = rules_check_meta_update,
      .reset_fields = reset_all_but_status },
    { 0 },
};

const struct kind_rules network_rules[] = {
    { .type = "networking.k8s.io/v1.NetworkPolicy", .generation = GENERATION_SPEC, .validate_create = validate_policy,
      .validate_update = validate_policy_update, .warn = warn_policy },
    { .type = "networking.k8s.io/v1.IPAddress", .name = name_is_ip, .validate_create = validate_address,
      .validate_update = validate_address_update },
    { .type = "networking.k8s.io/v1.ServiceCIDR", .prepare_create = rules_drop_status,
      .prepare_update = rules_keep_status, .validate_create = validate_cidr_create,
      .validate_update = validate_cidr_update, .reset_fields = reset_status, .subs = cidr_subs },
    { 0 },
};
