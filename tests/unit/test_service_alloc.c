/* Addresses and node ports of services: apiserver/service_alloc.c, apiserver/service_pool.c; beside what kube-apiserver
 * v1.36.4 gave for the same requests, recorded in tests/golden/apiserver/services.jsonl. */
#include "apiserver/service_alloc.h"

#include "api/edit.h"
#include "apiserver/service_pool.h"
#include "tests/unit/golden_lines.h"

struct world {
    struct arena arena;
    struct store *store;
    struct stored *objects;
    struct service_alloc *alloc;
    const struct resource *services;
    struct err e;
    struct field_errors errs;
    struct admission_also also[ADMISSION_ALSO_MAX];
    uint32_t n_also;
    struct service_request r;
};

static void world_init(struct world *w, const char *cidr, int port_min, int port_max)
{
    arena_init(&w->arena);
    err_init(&w->e, &w->arena);
    CHECK(!store_new(&(struct store_options){ .clock = NULL }, &w->store, &w->e));
    w->objects = stored_new(w->store);
    w->services = stored_resource("services", "");
    w->alloc = service_alloc_new(&(struct service_alloc_options){
        .objects = w->objects, .cidr = str_of(cidr), .node_port_min = port_min, .node_port_max = port_max, .seed = 7 });
}

static void world_fini(struct world *w)
{
    service_alloc_free(w->alloc);
    stored_free(w->objects);
    store_free(w->store);
    arena_fini(&w->arena);
}

static void begin(struct world *w, struct str name, bool dry)
{
    field_errors_init(&w->errs, &w->arena);
    w->n_also = 0;
    w->r = (struct service_request){ .arena = &w->arena, .type = w->services->type, .namespace = STR("default"), .name = name,
                                     .dry_run = dry, .now_s = 1700000000, .errs = &w->errs, .also = w->also,
                                     .n_also = &w->n_also };
}

static void done(void *context, const struct store_answer *answer)
{
    CHECK_TEXT("commit", answer->problem, NULL);
    *(bool *)context = true;
}

/* The service and what goes with it, in one commit; NULL: it is removed. */
static void commit(struct world *w, const struct value *service)
{
    struct store_write writes[1 + ADMISSION_ALSO_MAX];
    struct strbuf json;
    bool over = false;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (service)
        json_encode(&json, w->services->type, service);
    writes[0] = (struct store_write){ .key = stored_key(&w->arena, w->services, STR("default"), w->r.name),
                                      .value = strbuf_str(&json), .deletes = !service };
    for (uint32_t i = 0; i < w->n_also; i++)
        writes[1 + i] = (struct store_write){ .key = w->also[i].key, .value = w->also[i].value, .deletes = w->also[i].deletes,
                                              .must = w->also[i].revision ? STORE_AT_VERSION : STORE_NOT_EXIST,
                                              .revision = w->also[i].revision };
    CHECK(!store_commit(w->store, &(struct store_commit){ .writes = writes, .n_writes = 1 + w->n_also }, done, &over, &w->e));
    store_poll(w->store);
    CHECK(over);
    service_alloc_settle(w->alloc, &w->r.hold);
    strbuf_fini(&json);
}

static struct value decode(struct world *w, struct str json)
{
    struct value v;
    CHECK_TEXT("service", json_decode(&w->arena, WORK_OWN, w->services->type, json, NULL, &v, &w->e) ? w->e.message : NULL,
               NULL);
    return v;
}

static struct value from_spec(struct world *w, struct str name, const struct value *spec)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_printf(&json, "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%.*s\"},\"spec\":",
                  STR_ARG(name));
    json_encode_plain(&json, spec);
    strbuf_add_char(&json, '}');
    struct str text = arena_str(&w->arena, strbuf_str(&json));
    strbuf_fini(&json);
    return decode(w, text);
}

/* What rules/service.h does before: addresses and ports that an update leaves out. */
static struct value keep(struct world *w, struct value v, const struct value *old)
{
    const struct type *t = w->services->type, *port = schema_type(STR("core/v1.ServicePort"));
    const struct value *ips = value_path(t, old, "spec.clusterIPs");
    if (!str_is(value_text(value_path(t, &v, "spec.type")), "ExternalName") && ips->kind == VALUE_LIST)
        v = edit_set(&w->arena, t, &v, "spec.clusterIPs", *ips);
    const struct value *ports = value_path(t, &v, "spec.ports"), *before = value_path(t, old, "spec.ports");
    if (str_is(value_text(value_path(t, &v, "spec.type")), "LoadBalancer"))
        ports->items[0] = edit_set(&w->arena, port, &ports->items[0], "nodePort",
                                   *value_path(port, &before->items[0], "nodePort"));
    return v;
}

/* ---- As upstream ---- */

static struct str number_or_band(struct arena *a, int64_t number, const struct value *want, int64_t low, int64_t high)
{
    if (want->kind == VALUE_INT)
        return str_of(arena_printf(a, "%lld", (long long)number));
    return number <= low ? STR("low") : number <= high ? STR("high") : STR("outside");
}

static struct str wanted_text(struct arena *a, const struct value *want)
{
    return want->kind == VALUE_INT ? str_of(arena_printf(a, "%lld", (long long)want->i)) : value_text(want);
}

static void check_ports(struct world *w, const char *what, const struct value *service, const struct value *given)
{
    const struct type *t = w->services->type, *port = schema_type(STR("core/v1.ServicePort"));
    const struct value *ports = value_path(t, service, "spec.ports"), *want = value_member(given, STR("ports"));
    const struct value *same = value_member(given, STR("same")), *check = value_member(given, STR("check"));
    if (str_is(value_text(value_path(t, service, "spec.type")), "ClusterIP"))
        return; /* those that were there are dropped by the rules */
    CHECK_INT(what, ports->kind == VALUE_LIST ? ports->n : 0, want->n);
    for (uint32_t i = 0; i < want->n; i++) {
        const struct value *number = value_path(port, &ports->items[i], "nodePort");
        CHECK_STR(what, number_or_band(&w->arena, number->i, &want->items[i], 30085, 32767),
                  wanted_text(&w->arena, &want->items[i]));
        if (same->items[i].i >= 0)
            CHECK_INT(what, number->i, value_path(port, &ports->items[same->items[i].i], "nodePort")->i);
    }
    CHECK_STR(what, number_or_band(&w->arena, value_path(t, service, "spec.healthCheckNodePort")->i, check, 30085, 32767),
              wanted_text(&w->arena, check));
}

static void check_ips(struct world *w, const char *what, const struct value *service, const struct value *given)
{
    const struct value *want = value_member(given, STR("ips"));
    for (uint32_t i = 0; i < want->n; i++) {
        struct str text = value_text(value_path(w->services->type, service, "spec.clusterIPs.0"));
        uint32_t address;
        bool by_band = str_is(value_text(&want->items[i]), "high") || str_is(value_text(&want->items[i]), "low");
        if (by_band && address_parse(text, &address))
            text = address - (10u << 24) <= 256 ? STR("low") : STR("high");
        CHECK_STR(what, text, value_text(&want->items[i]));
    }
}

static void replay(struct world *w, const struct value *row)
{
    struct str name = golden_text(row, "name"), verb = golden_text(row, "verb");
    const char *what = arena_printf(&w->arena, "%.*s %.*s", STR_ARG(name), STR_ARG(verb));
    bool dry = value_member(row, STR("dry"))->b;
    const struct value *stored = stored_get(w->objects, w->services, STR("default"), name);
    struct value old = stored ? value_copy(&w->arena, stored) : (struct value){ 0 };
    begin(w, name, dry);
    if (str_is(verb, "delete")) {
        service_alloc_delete(w->alloc, &w->r, &old);
        commit(w, NULL);
        return;
    }
    struct value v = from_spec(w, name, value_member(row, STR("spec")));
    bool is_update = str_is(verb, "update");
    v = is_update ? keep(w, v, &old) : v;
    enum err_code rc = is_update ? service_alloc_update(w->alloc, &w->r, &old, &v, &w->e)
                                 : service_alloc_create(w->alloc, &w->r, &v, &w->e);
    CHECK_STR(what, rc ? str_of(w->e.message) : STR(""), golden_text(row, "message"));
    CHECK_INT(what, rc ? err_http_status(rc) : is_update ? 200 : 201, golden_int(row, "code"));
    if (rc)
        return;
    check_ips(w, what, &v, value_member(row, STR("given")));
    check_ports(w, what, &v, value_member(row, STR("given")));
    if (dry)
        CHECK_INT(what, w->n_also + w->r.hold.n_ports + w->r.hold.n_addresses, 0);
    else
        commit(w, &v);
}

TEST(as_upstream_gives_them)
{
    struct golden g;
    struct value row;
    struct world w;
    world_init(&w, "10.0.0.0/16", 30000, 32767);
    begin(&w, STR("kubernetes"), false);
    struct value own = decode(&w, STR("{\"spec\":{\"type\":\"ClusterIP\",\"clusterIPs\":[\"10.0.0.1\"]}}"));
    CHECK(!service_alloc_create(w.alloc, &w.r, &own, &w.e));
    commit(&w, &own);
    golden_open(&g, "apiserver/services.jsonl");
    while (golden_next(&g, &row))
        replay(&w, &row);
    CHECK_INT("requests", g.n, 51);
    golden_close(&g);
    world_fini(&w);
}

/* ---- Bands and ends ---- */

static const char node_port[] = "{\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":80}]}}";
static const char cluster_ip[] = "{\"spec\":{\"type\":\"ClusterIP\"}}";

static enum err_code create(struct world *w, const char *json, const char *name, struct value *ret_service)
{
    begin(w, str_of(name), false);
    *ret_service = decode(w, str_of(json));
    return service_alloc_create(w->alloc, &w->r, ret_service, &w->e);
}

static int64_t node_port_of(struct world *w, const struct value *v)
{
    const struct value *ports = value_path(w->services->type, v, "spec.ports");
    return value_path(schema_type(STR("core/v1.ServicePort")), &ports->items[0], "nodePort")->i;
}

TEST(the_lower_band_is_the_last_resort)
{
    struct world w;
    struct value v;
    uint32_t address;
    world_init(&w, "10.9.0.0/27", 100, 149); /* 30 addresses, 16 of them low; 50 ports, 16 low */
    for (int i = 0; i < 30; i++) {
        CHECK(!create(&w, cluster_ip, arena_printf(&w.arena, "a%d", i), &v));
        CHECK(address_parse(value_text(value_path(w.services->type, &v, "spec.clusterIP")), &address));
        CHECK_INT("upper first", (address & 31) <= 16, i >= 14);
        commit(&w, &v);
    }
    CHECK_INT("full", create(&w, cluster_ip, "more", &v), ERR_INTERNAL);
    CHECK_TEXT("full", w.e.message,
               "Internal error occurred: failed to allocate a serviceIP for Service \"more\": range is full");
    world_fini(&w);
}

TEST(the_lower_ports_too)
{
    struct world w;
    struct value v;
    world_init(&w, "10.9.0.0/16", 100, 149);
    for (int i = 0; i < 50; i++) {
        CHECK(!create(&w, node_port, arena_printf(&w.arena, "p%d", i), &v));
        CHECK_INT("upper first", node_port_of(&w, &v) < 116, i >= 34);
        commit(&w, &v);
    }
    CHECK_INT("full", create(&w, node_port, "more", &v), ERR_INTERNAL);
    CHECK_TEXT("full", w.e.message, "Internal error occurred: failed to allocate a nodePort: range is full");
    CHECK_INT("nothing is held", w.r.hold.n_addresses + w.r.hold.n_ports, 0);
    world_fini(&w);
}

/* Commits that are not over yet. */
TEST(two_at_the_same_time_differ)
{
    struct world w;
    struct value a, b;
    world_init(&w, "10.9.0.0/30", 100, 101); /* two of each */
    CHECK(!create(&w, node_port, "a", &a));
    struct service_hold first = w.r.hold;
    CHECK(!create(&w, node_port, "b", &b));
    CHECK(node_port_of(&w, &a) != node_port_of(&w, &b));
    struct value c;
    CHECK_INT("none is left", create(&w, node_port, "c", &c), ERR_INTERNAL);
    service_alloc_settle(w.alloc, &first); /* it failed */
    CHECK(!create(&w, node_port, "c", &c));
    CHECK_INT("free again", node_port_of(&w, &c), node_port_of(&w, &a));
    world_fini(&w);
}

TEST(a_store_with_services_already)
{
    struct world w;
    struct value v, again;
    world_init(&w, "10.9.0.0/16", 100, 149);
    CHECK(!create(&w, "{\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":120}],"
                      "\"clusterIPs\":[\"10.9.0.7\"]}}", "a", &v));
    commit(&w, &v);
    struct service_alloc *second = service_alloc_new(&(struct service_alloc_options){
        .objects = w.objects, .cidr = STR("10.9.0.0/16"), .node_port_min = 100, .node_port_max = 149 });
    service_alloc_free(w.alloc);
    w.alloc = second;
    CHECK_INT("port", create(&w, "{\"spec\":{\"type\":\"NodePort\",\"ports\":[{\"port\":80,\"nodePort\":120}]}}", "b", &again),
              ERR_INVALID);
    CHECK_INT("address", create(&w, "{\"spec\":{\"clusterIPs\":[\"10.9.0.7\"]}}", "b", &again), ERR_INVALID);
    world_fini(&w);
}

TEST(the_address_object)
{
    struct world w;
    struct value v;
    world_init(&w, "10.9.0.0/16", 100, 149);
    CHECK(!create(&w, "{\"spec\":{\"clusterIPs\":[\"10.9.0.7\"]}}", "a", &v));
    CHECK_STR("key", w.also[0].key, STR("/registry/ipaddresses/10.9.0.7"));
    commit(&w, &v);
    const struct resource *row = stored_resource("ipaddresses", "networking.k8s.io");
    const struct value *ip = stored_get(w.objects, row, STR(""), STR("10.9.0.7"));
    CHECK(ip);
    CHECK_STR("parent", value_text(value_path(row->type, ip, "spec.parentRef.name")), STR("a"));
    CHECK_STR("version", value_text(value_path(row->type, ip, "metadata.resourceVersion")),
              str_of(arena_printf(&w.arena, "%llu", (unsigned long long)store_revision(w.store))));
    world_fini(&w);
}

TEST(the_first_address)
{
    struct world w;
    world_init(&w, "10.0.0.0/24", 30000, 32767);
    CHECK_TEXT("first", service_alloc_first(w.alloc, &w.arena), "10.0.0.1");
    world_fini(&w);
}
