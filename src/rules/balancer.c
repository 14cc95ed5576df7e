/* rules/balancer.c - see balancer.h. */
#include "rules/balancer.h"

#include "api/edit.h"
#include "api/netaddr.h"

/* Addresses that the object had before: those may stay as they are. */
static struct value addresses_of(const struct place *balancer)
{
    struct place list = place_child(balancer, "ingress");
    struct value *items = ARENA_NEW_N(balancer->errs->arena, struct value, place_n(&list));
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        items[i] = *child_value(&one, "ip");
    }
    return value_list(items, place_n(&list));
}

static void check_mode(const struct place *ingress)
{
    static const char *const modes[] = { "Proxy", "VIP", NULL };
    struct place mode = place_child(ingress, "ipMode");
    bool has_ip = child_text(ingress, "ip").n > 0;
    if (!place_is_set(&mode)) {
        if (has_ip)
            place_required(&mode, "must be specified when `ip` is set");
    } else if (!has_ip) {
        place_forbidden(&mode, "may not be specified when `ip` is not set");
    } else {
        place_check_supported(&mode, modes);
    }
}

void balancer_check_status(const struct place *balancer, const struct place *old_balancer, bool with_mode)
{
    struct place list = place_child(balancer, "ingress");
    struct value before = addresses_of(old_balancer);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i), ip = place_child(&one, "ip"), host = place_child(&one, "hostname");
        struct ip_addr addr;
        if (place_text(&ip).n)
            place_check_ip(&ip, &before);
        if (with_mode)
            check_mode(&one);
        if (place_text(&host).n == 0)
            continue;
        place_check_names(&host, name_dns1123_subdomain(place_text(&host)));
        if (ip_parse(place_text(&host), &addr))
            place_invalid(&host, "must be a DNS name, not an IP address");
    }
}

void balancer_warn_status(const struct rules_context *c, const struct value *object)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, object, &none), status = place_child(&root, "status");
    struct place balancer = place_child(&status, "loadBalancer"), list = place_child(&balancer, "ingress");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        if (child_text(&one, "ip").n)
            warn_about_ip(c, &one.path, child_text(&one, "ip"));
    }
}
