/* controllers/endpoints_plan.c - see endpoints_plan.h. */
#include "controllers/endpoints_plan.h"

#include "api/edit.h"
#include "api/netaddr.h"
#include "base/arena_array.h"
#include "base/map.h"
#include "base/sort.h"
#include "controllers/port_order.h"
#include "controllers/read.h"
#include "controllers/service_pods.h"

#define MANAGED_BY STR("endpoints.kubernetes.io/managed-by")
#define OVER_CAPACITY STR("endpoints.kubernetes.io/over-capacity")
#define HEADLESS STR("service.kubernetes.io/headless")
#define CONTROLLER "endpoint-controller"

static const struct value absent = { .kind = VALUE_ABSENT };

const struct type *endpoints_type(void)
{
    return schema_type(STR("core/v1.Endpoints"));
}

static const struct type *subset_type(void)
{
    return schema_type(STR("core/v1.EndpointSubset"));
}

static const struct type *address_type(void)
{
    return schema_type(STR("core/v1.EndpointAddress"));
}

static const struct type *port_type(void)
{
    return schema_type(STR("core/v1.EndpointPort"));
}

/* ---- Packing: addresses by port, then ports by addresses ---- */

struct entry {
    struct str key; /* address and uid */
    struct value address;
    bool ready;
};

struct packed_port {
    struct value port; /* absent: addresses without ports */
    struct entry *entries;
    size_t n, cap;
    struct map_str by_key;
    struct str same; /* what ports with the same addresses have in common */
};

struct packing {
    struct arena *a;
    struct packed_port **ports;
    size_t n, cap;
    struct map_str by_port;
};

static struct port_text port_text_of(const struct value *port)
{
    const struct type *t = port_type();
    return (struct port_text){ text_at(t, port, "name"), text_at(t, port, "protocol"), text_at(t, port, "appProtocol"),
                               is_set_at(t, port, "appProtocol"), int_at(t, port, "port", 0) };
}

static struct packed_port *packed_port_of(struct packing *p, const struct value *port)
{
    struct port_text t = port_text_of(port);
    const char *key = arena_printf(p->a, "%.*s/%.*s/%lld/%d%.*s", STR_ARG(t.name), STR_ARG(t.protocol), (long long)t.number,
                                   t.has_app_protocol, STR_ARG(t.app_protocol));
    bool is_new;
    union map_value *v = map_str_put(&p->by_port, str_of(key), &is_new);
    if (!is_new)
        return v->ptr;
    struct packed_port *pp = ARENA_NEW(p->a, struct packed_port);
    pp->port = *port;
    map_str_init(&pp->by_key);
    v->ptr = pp;
    p->ports = arena_array_more(p->a, p->ports, p->n, &p->cap, sizeof(struct packed_port *));
    p->ports[p->n++] = pp;
    return pp;
}

/* Not ready counts more than ready. */
static void pack(struct packing *p, const struct value *port, const struct value *address, bool ready)
{
    struct packed_port *pp = packed_port_of(p, port);
    struct str ip = text_at(address_type(), address, "ip"), uid = text_at(address_type(), address, "targetRef.uid");
    struct str key = str_of(arena_printf(p->a, "%.*s %.*s", STR_ARG(ip), STR_ARG(uid)));
    bool is_new;
    union map_value *v = map_str_put(&pp->by_key, key, &is_new);
    if (!is_new) {
        pp->entries[v->num].ready &= ready;
        return;
    }
    pp->entries = arena_array_more(p->a, pp->entries, pp->n, &pp->cap, sizeof(struct entry));
    v->num = pp->n;
    pp->entries[pp->n++] = (struct entry){ key, *address, ready };
}

static void pack_addresses(struct packing *p, const struct value *subset, const struct value *port)
{
    const struct value *ready = value_path(subset_type(), subset, "addresses");
    const struct value *other = value_path(subset_type(), subset, "notReadyAddresses");
    for (uint32_t i = 0; i < list_length(ready); i++)
        pack(p, port, &ready->items[i], true);
    for (uint32_t i = 0; i < list_length(other); i++)
        pack(p, port, &other->items[i], false);
}

static int by_address(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = str_cmp(text_at(address_type(), &x->address, "ip"), text_at(address_type(), &y->address, "ip"));
    return order ? order : str_cmp(text_at(address_type(), &x->address, "targetRef.uid"),
                                   text_at(address_type(), &y->address, "targetRef.uid"));
}

static int by_port_order(const void *a, const void *b)
{
    struct port_text x = port_text_of(a), y = port_text_of(b);
    return port_order(&x, &y, PORT_OF_ENDPOINTS);
}

static void sort_entries(struct packing *p, struct packed_port *pp)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    sort_stable(p->a, pp->entries, pp->n, sizeof(*pp->entries), by_address);
    for (size_t i = 0; i < pp->n; i++)
        strbuf_printf(&b, "%.*s %d;", STR_ARG(pp->entries[i].key), pp->entries[i].ready);
    pp->same = arena_str(p->a, strbuf_str(&b));
    strbuf_fini(&b);
}

static struct value addresses_of(struct arena *a, const struct packed_port *pp, bool ready)
{
    struct value list = value_list(ARENA_NEW_N(a, struct value, pp->n), 0);
    for (size_t i = 0; i < pp->n; i++)
        if (pp->entries[i].ready == ready)
            list.items[list.n++] = pp->entries[i].address;
    return list.n ? list : absent;
}

static struct value subset_of(struct packing *p, const struct packed_port *first, size_t from)
{
    struct value ports = value_list(ARENA_NEW_N(p->a, struct value, p->n - from), 0);
    for (size_t i = from; i < p->n; i++)
        if (p->ports[i]->port.kind != VALUE_ABSENT && str_eq(p->ports[i]->same, first->same))
            ports.items[ports.n++] = p->ports[i]->port;
    sort_stable(p->a, ports.items, ports.n, sizeof(struct value), by_port_order);
    struct value v = value_struct(p->a, subset_type());
    v = edit_set(p->a, subset_type(), &v, "addresses", addresses_of(p->a, first, true));
    v = edit_set(p->a, subset_type(), &v, "notReadyAddresses", addresses_of(p->a, first, false));
    return edit_set(p->a, subset_type(), &v, "ports", ports.n ? ports : absent);
}

/* Upstream sorts by a hash of the whole subset, so that an address more may turn the order around; here it stays. */
static int by_first_port(const void *a, const void *b)
{
    const struct value *x = value_path(subset_type(), a, "ports"), *y = value_path(subset_type(), b, "ports");
    if (!list_length(x) || !list_length(y))
        return (list_length(x) > 0) - (list_length(y) > 0);
    return by_port_order(&x->items[0], &y->items[0]);
}

static struct value unpack(struct packing *p)
{
    struct map_str seen;
    struct value list = value_list(ARENA_NEW_N(p->a, struct value, p->n), 0);
    map_str_init(&seen);
    for (size_t i = 0; i < p->n; i++)
        sort_entries(p, p->ports[i]);
    for (size_t i = 0; i < p->n; i++) {
        bool is_new;
        map_str_put(&seen, p->ports[i]->same, &is_new);
        if (is_new)
            list.items[list.n++] = subset_of(p, p->ports[i], i);
    }
    map_str_fini(&seen);
    sort_stable(p->a, list.items, list.n, sizeof(struct value), by_first_port);
    return list;
}

static void packing_fini(struct packing *p)
{
    for (size_t i = 0; i < p->n; i++)
        map_str_fini(&p->ports[i]->by_key);
    map_str_fini(&p->by_port);
}

struct value endpoints_repack(struct arena *a, const struct value *subsets)
{
    struct packing p = { .a = a };
    map_str_init(&p.by_port);
    for (uint32_t i = 0; i < list_length(subsets); i++) {
        const struct value *ports = value_path(subset_type(), &subsets->items[i], "ports");
        for (uint32_t k = 0; k < list_length(ports); k++)
            pack_addresses(&p, &subsets->items[i], &ports->items[k]);
        if (!list_length(ports))
            pack_addresses(&p, &subsets->items[i], &absent);
    }
    struct value v = unpack(&p);
    packing_fini(&p);
    return v;
}

/* ---- Addresses of pods ---- */

static bool wants_v6(const struct value *service, const struct value *pod)
{
    struct ip_addr ip;
    const struct value *families = value_path(service_type(), service, "spec.ipFamilies");
    if (list_length(families))
        return str_is(value_text(&families->items[0]), "IPv6");
    if (ip_parse(text_at(service_type(), service, "spec.clusterIP"), &ip))
        return !ip_is_v4_mapped(&ip);
    return ip_parse(text_at(pod_type(), pod, "status.podIP"), &ip) && !ip_is_v4_mapped(&ip);
}

static struct str ip_for(struct arena *a, const struct value *service, const struct value *pod)
{
    const struct value *ips = value_path(pod_type(), pod, "status.podIPs");
    bool v6 = wants_v6(service, pod);
    for (uint32_t i = 0; i < list_length(ips); i++) {
        struct ip_addr ip;
        char text[IP_TEXT_MAX];
        if (!ip_parse(text_at(schema_type(STR("core/v1.PodIP")), &ips->items[i], "ip"), &ip) || v6 == ip_is_v4_mapped(&ip))
            continue;
        size_t n = ip_print(&ip, text);
        return arena_str(a, (struct str){ text, n });
    }
    return (struct str){ NULL, 0 };
}

static struct value address_of(struct arena *a, const struct value *service, const struct value *pod, struct str ip)
{
    const struct type *t = address_type();
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "ip", value_string(ip));
    v = edit_set(a, t, &v, "nodeName", value_string(text_at(pod_type(), pod, "spec.nodeName")));
    v = edit_set(a, t, &v, "targetRef.kind", edit_text("Pod"));
    v = edit_set(a, t, &v, "targetRef.namespace", *value_path(pod_type(), pod, "metadata.namespace"));
    v = edit_set(a, t, &v, "targetRef.name", *value_path(pod_type(), pod, "metadata.name"));
    v = edit_set(a, t, &v, "targetRef.uid", *value_path(pod_type(), pod, "metadata.uid"));
    if (service_sets_hostname(service, pod))
        v = edit_set(a, t, &v, "hostname", *value_path(pod_type(), pod, "spec.hostname"));
    return v;
}

static struct value port_of(struct arena *a, const struct value *from, int64_t number)
{
    const struct type *st = schema_type(STR("core/v1.ServicePort"));
    struct value v = value_struct(a, port_type());
    if (text_at(st, from, "name").n)
        v = edit_set(a, port_type(), &v, "name", *value_path(st, from, "name"));
    v = edit_set(a, port_type(), &v, "port", value_int(number));
    v = edit_set(a, port_type(), &v, "protocol", *value_path(st, from, "protocol"));
    return edit_set(a, port_type(), &v, "appProtocol", *value_path(st, from, "appProtocol"));
}

static void pack_pod(struct packing *p, const struct value *service, const struct value *pod)
{
    bool all = true_at(service_type(), service, "spec.publishNotReadyAddresses");
    if (!service_takes_pod(pod, all))
        return;
    struct str ip = ip_for(p->a, service, pod);
    if (!ip.n)
        return;
    struct value address = address_of(p->a, service, pod, ip);
    bool ready = all || pod_condition_is_true(pod, STR("Ready"));
    const struct value *ports = value_path(service_type(), service, "spec.ports");
    for (uint32_t i = 0; i < list_length(ports); i++) {
        int64_t number;
        if (!service_find_port(&ports->items[i], pod, &number))
            continue;
        struct value port = port_of(p->a, &ports->items[i], number);
        pack(p, &port, &address, ready);
    }
    if (!list_length(ports) && says_at(service_type(), service, "spec.clusterIP", "None"))
        pack(p, &absent, &address, ready);
}

static struct value subsets_for(struct arena *a, const struct endpoints_state *s)
{
    struct packing p = { .a = a };
    map_str_init(&p.by_port);
    for (size_t i = 0; i < s->n_pods; i++)
        pack_pod(&p, s->service, s->pods[i]);
    struct value v = unpack(&p);
    packing_fini(&p);
    return v;
}

/* ---- Not too many ---- */

static uint32_t count(const struct value *subsets, const char *which)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list_length(subsets); i++)
        n += list_length(value_path(subset_type(), &subsets->items[i], which));
    return n;
}

static struct value first_of(const struct value *list, uint32_t n)
{
    return list_length(list) > n ? value_list(list->items, n) : *list;
}

/* Ready ones go first; each subset gives its share. False: there is room for all. */
static bool cut_to_size(struct arena *a, struct value *subsets)
{
    uint32_t n_ready = count(subsets, "addresses"), n_other = count(subsets, "notReadyAddresses");
    if (n_ready + n_other <= ENDPOINTS_MAX)
        return false;
    bool cuts_ready = n_ready > ENDPOINTS_MAX;
    const char *cut = cuts_ready ? "addresses" : "notReadyAddresses";
    uint32_t room = cuts_ready ? ENDPOINTS_MAX : ENDPOINTS_MAX - n_ready, total = cuts_ready ? n_ready : n_other, left = room;
    struct value copy = value_list(ARENA_NEW_N(a, struct value, subsets->n), 0);
    for (uint32_t i = 0; i < subsets->n; i++) {
        const struct value *list = value_path(subset_type(), &subsets->items[i], cut);
        uint64_t share = ((uint64_t)list_length(list) * room + total - 1) / total; /* rounded up */
        struct value kept = first_of(list, share < left ? (uint32_t)share : left);
        left -= list_length(&kept);
        struct value v = edit_set(a, subset_type(), &subsets->items[i], cut, list_length(&kept) ? kept : absent);
        copy.items[copy.n++] = cuts_ready ? edit_set(a, subset_type(), &v, "notReadyAddresses", absent) : v;
    }
    *subsets = copy;
    return true;
}

/* ---- The object ---- */

static bool labels_are_right(struct arena *a, const struct value *has, const struct value *service)
{
    struct value rest = map_without(a, has, HEADLESS);
    rest = map_without(a, &rest, MANAGED_BY);
    const struct value *should = value_path(service_type(), service, "metadata.labels");
    bool none = rest.kind == VALUE_ABSENT && (should->kind == VALUE_ABSENT || should->n == 0);
    return str_is(member_text(has, MANAGED_BY), CONTROLLER) && (none || value_equal(&rest, should));
}

static bool is_right(struct arena *a, const struct endpoints_state *s, const struct value *subsets)
{
    const struct type *t = endpoints_type();
    if (!s->endpoints || !labels_are_right(a, value_path(t, s->endpoints, "metadata.labels"), s->service))
        return false;
    const struct value *has = value_path(t, s->endpoints, "subsets");
    const struct value *annotations = value_path(t, s->endpoints, "metadata.annotations");
    if (count(has, "addresses") + count(has, "notReadyAddresses") > ENDPOINTS_MAX ||
        (annotations->kind == VALUE_MAP && value_member(annotations, OVER_CAPACITY)))
        return false;
    struct value packed = endpoints_repack(a, has);
    return list_length(has) == 0 ? subsets->n == 0 : value_equal(has, subsets) || value_equal(&packed, subsets);
}

static struct value new_endpoints(struct arena *a, const struct value *service)
{
    const struct type *t = endpoints_type();
    struct value v = value_struct(a, t);
    v.slots[SLOT_KIND] = value_string(t->kind);
    v.slots[SLOT_API_VERSION] = edit_text("v1");
    v = edit_set(a, t, &v, "metadata.name", *value_path(service_type(), service, "metadata.name"));
    return edit_set(a, t, &v, "metadata.namespace", *value_path(service_type(), service, "metadata.namespace"));
}

static struct value labels_for(struct arena *a, const struct value *service)
{
    const struct value *from = value_path(service_type(), service, "metadata.labels");
    struct value v = service_has_no_ip(service) ? edit_member(a, from, HEADLESS, edit_text(""))
                                                : map_without(a, from, HEADLESS);
    return edit_member(a, &v, MANAGED_BY, edit_text(CONTROLLER));
}

bool endpoints_plan(struct arena *a, const struct endpoints_state *s, struct value *ret_endpoints)
{
    const struct type *t = endpoints_type();
    struct value subsets = subsets_for(a, s);
    if (is_right(a, s, &subsets))
        return false;
    bool cut = cut_to_size(a, &subsets);
    struct value v = s->endpoints ? *s->endpoints : new_endpoints(a, s->service);
    v = edit_set(a, t, &v, "subsets", subsets.n ? subsets : absent);
    v = edit_set(a, t, &v, "metadata.labels", labels_for(a, s->service));
    struct value notes = trigger_times_annotate(a, value_path(t, &v, "metadata.annotations"), s->changed, s->changed_s);
    notes = cut ? edit_member(a, &notes, OVER_CAPACITY, edit_text("truncated")) : map_without(a, &notes, OVER_CAPACITY);
    *ret_endpoints = edit_set(a, t, &v, "metadata.annotations", notes);
    return true;
}
