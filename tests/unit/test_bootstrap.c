/* Objects that a server makes when it starts: apiserver/bootstrap.c; beside those of kube-apiserver v1.36.4, recorded in
 * tests/golden/apiserver/bootstrap.jsonl. */
#include "api/edit.h"
#include "apiserver/bootstrap.h"

#include "rules/rules.h"
#include "tests/unit/golden_lines.h"

static const struct bootstrap_options usual = {
    .service_cidr = { "10.0.0.0/16", 11 }, .service_ip = "10.0.0.1", .advertise_address = "192.0.2.2", .port = 21602,
    .now_s = 1700000000,
};

/* Those that differ from start to start, or are made with the object. */
static bool is_passed_over(struct str key)
{
    return str_is(key, "lastTransitionTime") || str_is(key, "generation");
}

/* Whether everything in `want` is in `got`; both plain documents. */
static bool holds(const struct value *got, const struct value *want)
{
    if (!got || got->kind != want->kind)
        return false;
    for (uint32_t i = 0; want->kind == VALUE_MAP && i < want->n; i++)
        if (!is_passed_over(want->members[i].key) &&
            !holds(value_member(got, want->members[i].key), &want->members[i].value))
            return false;
    if (want->kind == VALUE_LIST && got->n != want->n)
        return false;
    for (uint32_t i = 0; want->kind == VALUE_LIST && i < want->n; i++)
        if (!holds(&got->items[i], &want->items[i]))
            return false;
    return want->kind == VALUE_MAP || want->kind == VALUE_LIST || value_equal(got, want);
}

static struct value plain(struct arena *a, const struct bootstrap_object *b)
{
    struct strbuf json;
    struct err e;
    struct value v;
    err_init(&e, a);
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, b->resource->type, &b->value);
    CHECK(!json_decode_plain(a, WORK_OWN, arena_str(a, strbuf_str(&json)), &v, &e));
    strbuf_fini(&json);
    return v;
}

static const struct bootstrap_object *find(const struct bootstrap_object *at, size_t n, const struct value *row)
{
    const struct value *meta = value_member(row, STR("metadata"));
    struct str kind = golden_text(row, "kind"), name = golden_text(meta, "name");
    for (size_t i = 0; i < n; i++)
        if (str_eq(at[i].resource->kind, kind) && str_eq(at[i].name, name))
            return &at[i];
    FAIL("no %.*s %.*s", STR_ARG(kind), STR_ARG(name));
}

/* With the spec that it gets on the way to the store. */
static struct bootstrap_object prepared(struct arena *a, const struct bootstrap_object *b)
{
    struct bootstrap_object out = *b;
    const struct type *t = b->resource->type;
    const struct kind_rules *k = rules_of(t);
    struct rules_context c = { .arena = a, .type = t, .served = t, .namespaced = b->resource->namespaced };
    if (!k || !k->prepare_create || schema_slot(t, STR("spec")) < 0)
        return out;
    struct value v = k->prepare_create(&c, &b->value);
    out.value = edit_set(a, t, &b->value, "spec", *value_path(t, &v, "spec"));
    return out;
}

TEST(all_that_upstream_makes)
{
    struct golden g;
    struct value row;
    size_t n;
    golden_open(&g, "apiserver/bootstrap.jsonl");
    struct bootstrap_object *all = bootstrap_objects(&g.arena, &usual, &n);
    while (golden_next(&g, &row)) {
        const struct bootstrap_object *b = find(all, n, &row);
        if (b->stays)
            continue; /* the day of the recording */
        struct bootstrap_object whole = prepared(&g.arena, b);
        struct value own = plain(&g.arena, &whole);
        struct value *status = value_member(&row, STR("status"));
        if (status && (status->n == 0 || value_member(status, STR("loadBalancer"))))
            *status = value_null(); /* says nothing */
        for (uint32_t i = 0; i < row.n; i++)
            if (row.members[i].value.kind != VALUE_NULL && !holds(value_member(&own, row.members[i].key), &row.members[i].value))
                FAIL("%.*s %.*s: %.*s differs", STR_ARG(b->resource->kind), STR_ARG(b->name), STR_ARG(row.members[i].key));
    }
    CHECK_INT("recorded", g.n, 51);
    CHECK_INT("made", n, 51);
    golden_close(&g);
}

static size_t count(const struct bootstrap_object *at, size_t n, const char *kind)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += str_is(at[i].resource->kind, kind);
    return found;
}

TEST(no_endpoints_on_loopback)
{
    struct arena a;
    size_t n;
    struct bootstrap_options o = usual;
    arena_init(&a);
    o.advertise_address = "127.0.0.1";
    struct bootstrap_object *all = bootstrap_objects(&a, &o, &n);
    CHECK_INT("endpoints", count(all, n, "Endpoints") + count(all, n, "EndpointSlice"), 0);
    CHECK_INT("service", count(all, n, "Service"), 1);
    arena_fini(&a);
}

TEST(who_is_trusted)
{
    struct arena a;
    size_t n;
    struct bootstrap_options o = usual;
    const struct str names[] = { STR("proxy"), STR("a\"b") };
    arena_init(&a);
    const struct bootstrap_object *none = bootstrap_objects(&a, &o, &n);
    CHECK_INT("nobody, but what tracks tokens", count(none, n, "ConfigMap"), 1);
    o.client_ca_pem = STR("CA\n");
    o.proxy_ca_pem = STR("PROXY\n");
    o.proxy_names = (struct str_list){ names, 2 };
    struct bootstrap_object *all = bootstrap_objects(&a, &o, &n);
    const struct bootstrap_object *b = &all[n - 1];
    CHECK_STR("name", b->name, STR("extension-apiserver-authentication"));
    const struct value *data = value_path(b->resource->type, &b->value, "data");
    CHECK_STR("ca", value_text(value_member(data, STR("client-ca-file"))), STR("CA\n"));
    CHECK_STR("names", value_text(value_member(data, STR("requestheader-allowed-names"))), STR("[\"proxy\",\"a\\\"b\"]"));
    CHECK_STR("headers", value_text(value_member(data, STR("requestheader-group-headers"))), STR("[]"));
    arena_fini(&a);
}

TEST(since_when_tokens_are_tracked)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    struct bootstrap_options o = usual;
    o.now_s = 86400 * 366 - 1; /* the last second of a day */
    struct bootstrap_object *all = bootstrap_objects(&a, &o, &n);
    for (size_t i = 0; i < n; i++) {
        const struct value *data = value_path(all[i].resource->type, &all[i].value, "data");
        bool is_it = str_is(all[i].name, "kube-apiserver-legacy-service-account-token-tracking");
        CHECK_INT("stays", all[i].stays, is_it);
        if (is_it)
            CHECK_STR("since", value_text(value_member(data, STR("since"))), STR("1971-01-01"));
    }
    arena_fini(&a);
}

TEST(a_node_port_of_its_own)
{
    struct arena a;
    size_t n;
    struct bootstrap_options o = usual;
    arena_init(&a);
    o.node_port = 30443;
    struct bootstrap_object *all = bootstrap_objects(&a, &o, &n);
    for (size_t i = 0; i < n; i++)
        if (str_is(all[i].resource->kind, "Service"))
            CHECK_STR("type", value_text(value_path(all[i].resource->type, &all[i].value, "spec.type")), STR("NodePort"));
    arena_fini(&a);
}
