/* apiserver/service_pool.c - see service_pool.h. Upstream: registry/core/service/{ipallocator,portallocator}. */
#include "apiserver/service_pool.h"

#include <stdlib.h>

#include "api/netaddr.h"

/* Upstream's bands, `min(max(LOW, n / STEP), HIGH)` of a range. */
enum {
    ADDRESS_BAND_MIN = 16,
    ADDRESS_BAND_MAX = 256,
    ADDRESS_BAND_STEP = 16,
    PORT_BAND_MIN = 16,
    PORT_BAND_MAX = 128,
    PORT_BAND_STEP = 32,
};

/* ---- Ranges ---- */

static uint32_t band(uint32_t n, uint32_t min, uint32_t max, uint32_t step)
{
    if (n <= min)
        return 0;
    uint32_t part = n / step;
    return part < min ? min : part > max ? max : part;
}

static struct number_range range_new(uint32_t n, uint32_t n_low)
{
    struct number_range r = { .n = n, .n_low = n_low < n ? n_low : 0 };
    r.stored = mem_zalloc((n + 1) * sizeof(*r.stored));
    r.held = mem_zalloc((n + 1) * sizeof(*r.held));
    return r;
}

static void range_free(struct number_range *r)
{
    free(r->stored);
    free(r->held);
}

/* Numbers outside of the range, of objects from another time, are not counted. */
static void count(struct number_range *r, int64_t number, int by)
{
    if (number < 0 || number >= r->n)
        return;
    if (by > 0 && r->stored[number] < UINT16_MAX)
        r->stored[number]++;
    else if (by < 0 && r->stored[number] > 0)
        r->stored[number]--;
}

static uint32_t choose_within(struct service_pool *p, const struct number_range *r, uint32_t from, uint32_t n)
{
    uint32_t start = n ? (uint32_t)rand_below(&p->rand, n) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = from + (start + i) % n;
        if (range_is_free(r, at))
            return at;
    }
    return r->n;
}

uint32_t range_choose(struct service_pool *p, const struct number_range *r)
{
    uint32_t number = choose_within(p, r, r->n_low, r->n - r->n_low);
    return number < r->n ? number : choose_within(p, r, 0, r->n_low);
}

/* ---- Addresses ---- */

bool address_parse(struct str text, uint32_t *ret_address)
{
    struct ip_addr ip;
    if (!ip_parse(text, &ip) || !ip_is_v4_mapped(&ip))
        return false;
    const uint8_t *b = ip.bytes + 12;
    *ret_address = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return true;
}

const char *address_text(struct arena *a, uint32_t address)
{
    return arena_printf(a, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
}

/* ---- What the store has ---- */

static void count_address(struct service_pool *p, struct store_item *item, int by)
{
    struct str namespace, name;
    uint32_t address;
    stored_read_key(p->ip_addresses, store_item_key(item), &namespace, &name);
    if (address_parse(name, &address))
        count(&p->addresses, (int64_t)address - p->first_address, by);
}

static void count_ports(struct service_pool *p, struct store_item *item, int by)
{
    const struct type *t = p->services->type;
    const struct value *v = stored_value(p->objects, p->services, item), *ports = value_path(t, v, "spec.ports");
    static const struct type *port_type;
    if (!port_type)
        port_type = schema_type(STR("core/v1.ServicePort"));
    for (uint32_t i = 0; ports->kind == VALUE_LIST && i < ports->n; i++)
        count(&p->ports, value_path(port_type, &ports->items[i], "nodePort")->i - p->first_port, by);
    const struct value *check = value_path(t, v, "spec.healthCheckNodePort");
    if (check->kind == VALUE_INT)
        count(&p->ports, check->i - p->first_port, by);
}

typedef void count_item(struct service_pool *p, struct store_item *item, int by);

/* All anew, and from here on the changes. */
static void begin(struct service_pool *p, struct store_watch *w, struct number_range *r, const struct resource *row,
                  count_item *of)
{
    struct arena scratch;
    struct err e;
    struct store_list list;
    struct store *s = stored_store(p->objects);
    arena_init(&scratch);
    err_init(&e, &scratch);
    memset(r->stored, 0, r->n * sizeof(*r->stored));
    struct str prefix = w->prefix.n ? w->prefix : stored_prefix(&p->arena, row, STR(""));
    /* The newest state is always there, and a watch from it can always begin. */
    if (store_list(s, &(struct store_range){ .prefix = prefix }, &scratch, &list, &e) ||
        store_watch_init(s, w, prefix, store_revision(s), &e))
        abort();
    for (size_t i = 0; i < list.n; i++)
        of(p, list.items[i], 1);
    arena_fini(&scratch);
}

static void follow(struct service_pool *p, struct store_watch *w, struct number_range *r, const struct resource *row,
                   count_item *of)
{
    struct store_event event;
    enum err_code rc;
    while ((rc = store_watch_next(stored_store(p->objects), w, &event)) == ERR_OK) {
        if (event.prev)
            of(p, event.prev, -1);
        if (event.item)
            of(p, event.item, 1);
    }
    if (rc == ERR_EXPIRED)
        begin(p, w, r, row, of);
}

void service_pool_follow(struct service_pool *p)
{
    if (!p->follows) {
        begin(p, &p->watch_services, &p->ports, p->services, count_ports);
        begin(p, &p->watch_addresses, &p->addresses, p->ip_addresses, count_address);
        p->follows = true;
        return;
    }
    follow(p, &p->watch_services, &p->ports, p->services, count_ports);
    follow(p, &p->watch_addresses, &p->addresses, p->ip_addresses, count_address);
}

/* ---- Life ---- */

void service_pool_init(struct service_pool *p, const struct service_pool_options *o)
{
    uint64_t size = (uint64_t)1 << (32 - o->bits), n = size > 2 ? size - 2 : 0; /* without network and broadcast */
    uint32_t low = band(size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, ADDRESS_BAND_MIN, ADDRESS_BAND_MAX,
                        ADDRESS_BAND_STEP);
    *p = (struct service_pool){ .objects = o->objects, .first_port = o->first_port };
    p->first_address = (uint32_t)((o->network & ~(size - 1)) + 1);
    p->addresses = range_new(n > SERVICE_ADDRESSES_MAX ? SERVICE_ADDRESSES_MAX : (uint32_t)n, low);
    p->ports = range_new(o->n_ports, band(o->n_ports, PORT_BAND_MIN, PORT_BAND_MAX, PORT_BAND_STEP));
    p->services = stored_resource("services", "");
    p->ip_addresses = stored_resource("ipaddresses", "networking.k8s.io");
    rand_init(&p->rand, o->seed);
    arena_init(&p->arena);
}

void service_pool_fini(struct service_pool *p)
{
    range_free(&p->addresses);
    range_free(&p->ports);
    arena_fini(&p->arena);
}
