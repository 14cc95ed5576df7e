/* apiserver/service_alloc.c - see service_alloc.h. Upstream: registry/core/service/storage/alloc.go. */
#include "apiserver/service_alloc.h"

#include <assert.h>
#include <stdlib.h>

#include "api/edit.h"
#include "api/netaddr.h"
#include "api/time.h"
#include "apiserver/service_pool.h"
#include "apiserver/status_object.h"
#include "base/map.h"

/* What a dry run gets for its first node port is one more: out of most ranges, so that nobody takes it for real. */
enum { DRY_RUN_PORT = 32768 };

struct service_alloc {
    struct service_pool pool;
    uint32_t network;
    uint64_t n_addresses; /* of the whole range, network and broadcast apart */
    char *cidr_text;
    int last_port;
};

/* A request while it is worked on. */
struct work_on {
    struct service_alloc *s;
    struct service_request *r;
    struct value *service;
    struct err *e;
    uint32_t last_dry_port;
};

/* ---- Services ---- */

static const struct type *port_type(void)
{
    return schema_type(STR("core/v1.ServicePort"));
}

static struct str text_at(const struct type *t, const struct value *v, const char *path)
{
    return value_text(value_path(t, v, path));
}

static int64_t int_at(const struct type *t, const struct value *v, const char *path)
{
    const struct value *at = value_path(t, v, path);
    return at->kind == VALUE_INT ? at->i : 0;
}

static bool is_of(const struct type *t, const struct value *service, const char *type)
{
    return str_is(text_at(t, service, "spec.type"), type);
}

static bool has_node_ports(const struct type *t, const struct value *service)
{
    return is_of(t, service, "NodePort") || is_of(t, service, "LoadBalancer");
}

/* Ports that nobody asked for: not for load balancers that do not want them. */
static bool gives_node_ports(const struct type *t, const struct value *service)
{
    const struct value *wanted = value_path(t, service, "spec.allocateLoadBalancerNodePorts");
    return is_of(t, service, "NodePort") ||
           (is_of(t, service, "LoadBalancer") && (wanted->kind != VALUE_BOOL || wanted->b));
}

static bool needs_health_check(const struct type *t, const struct value *service)
{
    return is_of(t, service, "LoadBalancer") && str_is(text_at(t, service, "spec.externalTrafficPolicy"), "Local");
}

static bool is_headless(const struct type *t, const struct value *service)
{
    return str_is(text_at(t, service, "spec.clusterIPs.0"), "None");
}

static bool has_addresses(const struct type *t, const struct value *service)
{
    return !is_of(t, service, "ExternalName") && !is_headless(t, service);
}

static const struct value *ports_of(const struct type *t, const struct value *service, uint32_t *ret_n)
{
    const struct value *ports = value_path(t, service, "spec.ports");
    *ret_n = ports->kind == VALUE_LIST ? ports->n : 0;
    return ports->items;
}

static void put(struct work_on *w, const char *path, struct value to)
{
    *w->service = edit_set(w->r->arena, w->r->type, w->service, path, to);
}

static enum err_code invalid(struct work_on *w)
{
    return status_invalid("Service", arena_cstr(w->r->arena, w->r->name), w->r->errs, w->e);
}

/* ---- Numbers that are held ---- */

static void hold(struct arena *a, struct number_range *range, uint32_t **list, uint32_t *n, uint32_t number)
{
    if ((*n & (*n - 1)) == 0) { /* 0 or a power of two: full, the room doubles */
        uint32_t *more = ARENA_NEW_N(a, uint32_t, *n ? 2 * *n : 1);
        if (*n)
            memcpy(more, *list, *n * sizeof(*more));
        *list = more;
    }
    (*list)[(*n)++] = number;
    range->held[number]++;
}

void service_alloc_settle(struct service_alloc *s, struct service_hold *h)
{
    for (uint32_t i = 0; i < h->n_addresses; i++)
        s->pool.addresses.held[h->addresses[i]]--;
    for (uint32_t i = 0; i < h->n_ports; i++)
        s->pool.ports.held[h->ports[i]]--;
    *h = (struct service_hold){ 0 };
}

/* ---- IPAddress objects ---- */

static struct admission_also *add_also(struct service_request *r)
{
    assert(*r->n_also < ADMISSION_ALSO_MAX);
    struct admission_also *also = &r->also[(*r->n_also)++];
    *also = (struct admission_also){ .revision = 0 };
    return also;
}

static const char *time_text(struct arena *a, int64_t seconds)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    timestamp_add(&b, (struct timestamp){ seconds, 0 });
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static const char *new_uid(struct work_on *w)
{
    uint64_t u[2] = { rand_u64(&w->s->pool.rand), rand_u64(&w->s->pool.rand) };
    return arena_printf(w->r->arena, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(u[0] >> 32),
                        (unsigned)(u[0] >> 16 & 0xffff), (unsigned)(u[0] & 0xfff), (unsigned)(0x8000 | (u[1] >> 48 & 0x3fff)),
                        (unsigned long long)(u[1] & 0xffffffffffffull));
}

#define OWNED_FIELDS                                                                             \
    "{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:ipaddress.kubernetes.io/ip-family\":{},"        \
    "\"f:ipaddress.kubernetes.io/managed-by\":{}}},\"f:spec\":{\"f:parentRef\":{\".\":{},"      \
    "\"f:name\":{},\"f:namespace\":{},\"f:resource\":{}}}}"

/* The object as it is stored; it is part of the commit that is made next. */
static struct str ip_address_json(struct work_on *w, const char *address)
{
    struct arena *a = w->r->arena;
    const char *now = time_text(a, w->r->now_s);
    return str_of(arena_printf(
        a,
        "{\"kind\":\"IPAddress\",\"apiVersion\":\"networking.k8s.io/v1\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
        "\"resourceVersion\":\"%llu\",\"creationTimestamp\":\"%s\","
        "\"labels\":{\"ipaddress.kubernetes.io/ip-family\":\"IPv4\","
        "\"ipaddress.kubernetes.io/managed-by\":\"ipallocator.k8s.io\"},"
        "\"managedFields\":[{\"manager\":\"kube-apiserver\","
        "\"operation\":\"Update\",\"apiVersion\":\"networking.k8s.io/v1\",\"time\":\"%s\",\"fieldsType\":\"FieldsV1\","
        "\"fieldsV1\":" OWNED_FIELDS "}]},\"spec\":{\"parentRef\":{\"resource\":\"services\",\"namespace\":\"%.*s\","
        "\"name\":\"%.*s\"}}}",
        address, new_uid(w), (unsigned long long)store_next_revision(stored_store(w->s->pool.objects)), now, now,
        STR_ARG(w->r->namespace), STR_ARG(w->r->name)));
}

static void take_address(struct work_on *w, uint32_t address)
{
    struct service_pool *p = &w->s->pool;
    const char *text = address_text(w->r->arena, address);
    struct admission_also *also = add_also(w->r);
    also->key = stored_key(w->r->arena, p->ip_addresses, STR(""), str_of(text));
    also->value = ip_address_json(w, text);
    if (address - p->first_address < p->addresses.n)
        hold(w->r->arena, &p->addresses, &w->r->hold.addresses, &w->r->hold.n_addresses, address - p->first_address);
}

/* Removes what is there under the name; nothing is fine. */
static void drop_object(struct service_alloc *s, struct service_request *r, const struct resource *row, struct str ns,
                        struct str name)
{
    struct str key = stored_key(r->arena, row, ns, name);
    struct store_item *item = store_get(stored_store(s->pool.objects), key);
    if (!item)
        return;
    struct admission_also *also = add_also(r);
    also->key = key;
    also->revision = item->mod_revision;
    also->deletes = true;
}

static void drop_addresses(struct service_alloc *s, struct service_request *r, const struct value *old)
{
    const struct value *ips = value_path(r->type, old, "spec.clusterIPs");
    if (r->dry_run || !has_addresses(r->type, old) || ips->kind != VALUE_LIST)
        return;
    for (uint32_t i = 0; i < ips->n; i++)
        drop_object(s, r, s->pool.ip_addresses, STR(""), value_text(&ips->items[i]));
}

/* ---- Cluster IPs ---- */

static enum err_code refuse_address(struct work_on *w, const char *why)
{
    const struct value *ips = value_path(w->r->type, w->service, "spec.clusterIPs");
    struct field_path spec = field_child(NULL, "spec"), at = field_child(&spec, "clusterIPs");
    struct str *shown = ARENA_NEW_N(w->r->arena, struct str, ips->n);
    for (uint32_t i = 0; i < ips->n; i++)
        shown[i] = value_text(&ips->items[i]);
    field_invalid(w->r->errs, &at, field_strs(shown, ips->n),
                  str_of(arena_printf(w->r->arena, "failed to allocate IP %.*s: %s", STR_ARG(shown[0]), why)));
    return invalid(w);
}

static bool is_taken(struct work_on *w, uint32_t address, struct str text)
{
    struct service_pool *p = &w->s->pool;
    uint32_t number = address - p->first_address;
    if (number < p->addresses.n)
        return !range_is_free(&p->addresses, number);
    return stored_get(p->objects, p->ip_addresses, STR(""), text) != NULL;
}

static enum err_code refuse_outside(struct work_on *w, struct str text)
{
    if (!w->r->dry_run)
        return refuse_address(w, "the provided network does not match the current range");
    return refuse_address(w, arena_printf(w->r->arena,
                                          "the provided IP (%.*s) is not in the valid range. The range of valid IPs "
                                          "is %s",
                                          STR_ARG(text), w->s->cidr_text));
}

static enum err_code take_asked_address(struct work_on *w, struct str text)
{
    uint32_t address;
    if (!address_parse(text, &address)) /* rules/service.h has refused it before */
        return refuse_outside(w, text);
    struct str plain = str_of(address_text(w->r->arena, address));
    uint64_t from_network = address - w->s->network;
    if (address <= w->s->network || from_network > w->s->n_addresses)
        return refuse_outside(w, plain);
    if (w->r->dry_run) /* upstream does not look further then */
        return ERR_OK;
    if (is_taken(w, address, plain))
        return refuse_address(w, "provided IP is already allocated");
    take_address(w, address);
    return ERR_OK;
}

static enum err_code take_any_address(struct work_on *w)
{
    struct service_pool *p = &w->s->pool;
    struct arena *a = w->r->arena;
    uint32_t address = w->s->network; /* what a dry run shows */
    if (!w->r->dry_run) {
        uint32_t number = range_choose(p, &p->addresses);
        if (number == p->addresses.n)
            return err_set(w->e, ERR_INTERNAL,
                           "Internal error occurred: failed to allocate a serviceIP for Service \"%.*s\": range is "
                           "full",
                           STR_ARG(w->r->name));
        address = p->first_address + number;
        take_address(w, address);
    }
    struct value *items = ARENA_NEW(a, struct value);
    items[0] = edit_text(address_text(a, address));
    put(w, "spec.clusterIP", items[0]);
    put(w, "spec.clusterIPs", value_list(items, 1));
    return ERR_OK;
}

static enum err_code take_addresses(struct work_on *w)
{
    if (!has_addresses(w->r->type, w->service))
        return ERR_OK;
    struct str asked = text_at(w->r->type, w->service, "spec.clusterIPs.0");
    return asked.n ? take_asked_address(w, asked) : take_any_address(w);
}

/* ---- Node ports ---- */

/* NULL: it is taken now. Otherwise upstream's reason. */
static const char *take_port(struct work_on *w, int64_t port)
{
    struct service_pool *p = &w->s->pool;
    int64_t number = port - p->first_port;
    bool inside = number >= 0 && number < p->ports.n;
    if (w->r->dry_run) { /* upstream does not look at the range then */
        w->last_dry_port = port > w->last_dry_port ? (uint32_t)port : w->last_dry_port;
        return inside && !range_is_free(&p->ports, (uint32_t)number) ? "provided port is already allocated" : NULL;
    }
    if (!inside)
        return arena_printf(w->r->arena, "provided port is not in the valid range. The range of valid ports is %d-%d",
                            p->first_port, w->s->last_port);
    if (!range_is_free(&p->ports, (uint32_t)number))
        return "provided port is already allocated";
    hold(w->r->arena, &p->ports, &w->r->hold.ports, &w->r->hold.n_ports, (uint32_t)number);
    return NULL;
}

/* 0: all are taken. */
static int64_t take_any_port(struct work_on *w)
{
    struct service_pool *p = &w->s->pool;
    if (w->r->dry_run) {
        w->last_dry_port = (w->last_dry_port ? w->last_dry_port : DRY_RUN_PORT) + 1;
        return w->last_dry_port;
    }
    uint32_t number = range_choose(p, &p->ports);
    if (number == p->ports.n)
        return 0;
    hold(w->r->arena, &p->ports, &w->r->hold.ports, &w->r->hold.n_ports, number);
    return p->first_port + (int64_t)number;
}

static enum err_code refuse_port(struct work_on *w, uint32_t i, int64_t port, const char *why)
{
    struct field_path spec = field_child(NULL, "spec"), ports = field_child(&spec, "ports");
    struct field_path item = field_index(&ports, i), at = field_child(&item, "nodePort");
    field_invalid(w->r->errs, &at, field_int(port), str_of(why));
    return invalid(w);
}

static enum err_code no_port_left(struct work_on *w)
{
    return err_set(w->e, ERR_INTERNAL, "Internal error occurred: failed to allocate a nodePort: range is full");
}

/* What one port of a service wants: `asked` is 0 for any. */
static enum err_code give_port(struct work_on *w, uint32_t i, int64_t asked, int64_t *ret_port)
{
    const char *why = asked ? take_port(w, asked) : NULL;
    if (why)
        return refuse_port(w, i, asked, why);
    *ret_port = asked ? asked : take_any_port(w);
    return *ret_port ? ERR_OK : no_port_left(w);
}

/* A service's ports by number: TCP and UDP 53 share a node port. Services of the same number come with at most one of
 * each protocol; the map keeps the work linear for those that do not. */
static void note_asked(struct map_u64 *asked, const struct value *ports, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;) { /* the first one counts */
        int64_t node_port = int_at(port_type(), &ports[i], "nodePort");
        if (node_port)
            map_u64_put(asked, (uint64_t)int_at(port_type(), &ports[i], "port"), NULL)->num = (uint64_t)node_port;
    }
}

static enum err_code give_new_port(struct work_on *w, uint32_t i, struct map_u64 *asked, struct map_u64 *given,
                                   struct value *port)
{
    const struct type *t = port_type();
    uint64_t number = (uint64_t)int_at(t, port, "port");
    int64_t own = int_at(t, port, "nodePort"), node_port;
    const union map_value *before = map_u64_find(given, number), *first = map_u64_find(asked, number);
    if (own == 0 && !gives_node_ports(w->r->type, w->service))
        return ERR_OK;
    if (before && own && own != (int64_t)before->num)
        return give_port(w, i, own, &node_port);
    if (before) {
        node_port = (int64_t)before->num;
    } else {
        if (give_port(w, i, first ? (int64_t)first->num : 0, &node_port))
            return w->e->code;
        map_u64_put(given, number, NULL)->num = (uint64_t)node_port;
    }
    *port = edit_set(w->r->arena, t, port, "nodePort", value_int(node_port));
    return ERR_OK;
}

static enum err_code give_new_ports(struct work_on *w)
{
    uint32_t n;
    const struct value *ports = ports_of(w->r->type, w->service, &n);
    struct value *items = ARENA_NEW_N(w->r->arena, struct value, n);
    struct map_u64 asked, given;
    enum err_code rc = ERR_OK;
    map_u64_init(&asked);
    map_u64_init(&given);
    note_asked(&asked, ports, n);
    for (uint32_t i = 0; i < n && !rc; i++) {
        items[i] = ports[i];
        rc = give_new_port(w, i, &asked, &given, &items[i]);
    }
    map_u64_fini(&asked);
    map_u64_fini(&given);
    if (!rc && n)
        put(w, "spec.ports", value_list(items, n));
    return rc;
}

static enum err_code give_health_port(struct work_on *w)
{
    int64_t asked = int_at(w->r->type, w->service, "spec.healthCheckNodePort");
    const char *why = asked ? take_port(w, asked) : NULL;
    if (why)
        return err_set(w->e, ERR_INTERNAL, "Internal error occurred: failed to allocate requested HealthCheck "
                                           "NodePort %lld: %s",
                       (long long)asked, why);
    int64_t port = asked ? asked : take_any_port(w);
    if (!port)
        return err_set(w->e, ERR_INTERNAL, "Internal error occurred: failed to allocate a HealthCheck NodePort 0: "
                                           "range is full");
    put(w, "spec.healthCheckNodePort", value_int(port));
    return ERR_OK;
}

/* ---- Updates ---- */

static void note_ports(struct map_u64 *to, const struct type *t, const struct value *service)
{
    uint32_t n;
    const struct value *ports = ports_of(t, service, &n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t port = int_at(port_type(), &ports[i], "nodePort");
        if (port)
            map_u64_put(to, (uint64_t)port, NULL)->num = 1;
    }
}

/* Protocol and node port as one key; a service must not have the same twice. */
static uint64_t port_key(const struct value *port)
{
    struct str protocol = text_at(port_type(), port, "protocol");
    return (uint64_t)int_at(port_type(), port, "nodePort") << 8 | (uint8_t)(protocol.n ? protocol.p[0] : 'T');
}

static enum err_code change_port(struct work_on *w, uint32_t i, struct map_u64 *known, struct map_u64 *seen,
                                 struct value *port)
{
    int64_t own = int_at(port_type(), port, "nodePort"), node_port = own;
    if (own == 0 && !gives_node_ports(w->r->type, w->service))
        return ERR_OK;
    if (!own || !map_u64_find(known, (uint64_t)own)) {
        if (give_port(w, i, own, &node_port))
            return w->e->code;
        map_u64_put(known, (uint64_t)node_port, NULL)->num = 1;
        *port = edit_set(w->r->arena, port_type(), port, "nodePort", value_int(node_port));
    }
    if (map_u64_find(seen, port_key(port)))
        return err_set(w->e, ERR_UNKNOWN, "duplicate nodePort: {%.*s %lld}",
                       STR_ARG(text_at(port_type(), port, "protocol")), (long long)node_port);
    map_u64_put(seen, port_key(port), NULL)->num = 1;
    return ERR_OK;
}

static enum err_code change_ports(struct work_on *w, const struct value *old)
{
    uint32_t n;
    const struct value *ports = ports_of(w->r->type, w->service, &n);
    struct value *items = ARENA_NEW_N(w->r->arena, struct value, n);
    struct map_u64 known, seen;
    enum err_code rc = ERR_OK;
    map_u64_init(&known);
    map_u64_init(&seen);
    note_ports(&known, w->r->type, old);
    for (uint32_t i = 0; i < n && !rc; i++) {
        items[i] = ports[i];
        rc = change_port(w, i, &known, &seen, &items[i]);
    }
    map_u64_fini(&known);
    map_u64_fini(&seen);
    if (!rc && n)
        put(w, "spec.ports", value_list(items, n));
    return rc;
}

static enum err_code change_addresses(struct work_on *w, const struct value *old)
{
    const struct type *t = w->r->type;
    bool was_external = is_of(t, old, "ExternalName"), is_external = is_of(t, w->service, "ExternalName");
    if (was_external && !is_external)
        return take_addresses(w);
    if (!was_external && is_external)
        drop_addresses(w->s, w->r, old);
    return ERR_OK;
}

/* ---- The three ---- */

static enum err_code settled(struct work_on *w, enum err_code rc)
{
    if (rc)
        service_alloc_settle(w->s, &w->r->hold);
    return rc;
}

static enum err_code create(struct work_on *w)
{
    const struct type *t = w->r->type;
    if (take_addresses(w) || (has_node_ports(t, w->service) && give_new_ports(w)) ||
        (needs_health_check(t, w->service) && give_health_port(w)))
        return w->e->code;
    return ERR_OK;
}

enum err_code service_alloc_create(struct service_alloc *s, struct service_request *r, struct value *service,
                                   struct err *e)
{
    struct work_on w = { .s = s, .r = r, .service = service, .e = e };
    service_pool_follow(&s->pool);
    return settled(&w, create(&w));
}

static enum err_code update(struct work_on *w, const struct value *old)
{
    const struct type *t = w->r->type;
    if (change_addresses(w, old) || (has_node_ports(t, w->service) && change_ports(w, old)))
        return w->e->code;
    if (!needs_health_check(t, old) && needs_health_check(t, w->service))
        return give_health_port(w);
    return ERR_OK;
}

enum err_code service_alloc_update(struct service_alloc *s, struct service_request *r, const struct value *old,
                                   struct value *service, struct err *e)
{
    struct work_on w = { .s = s, .r = r, .service = service, .e = e };
    service_pool_follow(&s->pool);
    return settled(&w, update(&w, old));
}

void service_alloc_delete(struct service_alloc *s, struct service_request *r, const struct value *old)
{
    if (r->dry_run)
        return;
    drop_addresses(s, r, old);
    drop_object(s, r, stored_resource("endpoints", ""), r->namespace, r->name);
}

/* ---- Life ---- */

struct service_alloc *service_alloc_new(const struct service_alloc_options *o)
{
    struct service_alloc *s = mem_zalloc(sizeof(*s));
    struct ip_addr address;
    unsigned bits;
    bool is_cidr = cidr_parse(o->cidr, &address, &bits);
    assert(is_cidr && bits <= 32 && o->node_port_max >= o->node_port_min);
    char text[IP_TEXT_MAX];
    ip_print(&address, text);
    uint32_t first;
    address_parse(str_of(text), &first);
    uint64_t size = (uint64_t)1 << (32 - bits);
    s->network = (uint32_t)(first & ~(size - 1));
    s->n_addresses = size > 2 ? size - 2 : 0;
    struct service_pool_options pool = { .objects = o->objects, .network = s->network, .bits = bits, .seed = o->seed,
                                         .first_port = o->node_port_min,
                                         .n_ports = (uint32_t)(o->node_port_max - o->node_port_min + 1) };
    service_pool_init(&s->pool, &pool);
    s->last_port = o->node_port_max;
    s->cidr_text = arena_printf(&s->pool.arena, "%s/%u", address_text(&s->pool.arena, s->network), bits);
    return s;
}

void service_alloc_free(struct service_alloc *s)
{
    if (!s)
        return;
    service_pool_fini(&s->pool);
    free(s);
}

const char *service_alloc_first(const struct service_alloc *s, struct arena *a)
{
    return address_text(a, s->pool.first_address);
}
