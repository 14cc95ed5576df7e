/* tests/unit/test_controller_small.c - mirrored Endpoints, how long kubelets keep objects, tokens of new nodes: decisions without any
 * server. */
#include "codec/json.h"
#include "controllers/bootstrap_tokens.h"
#include "controllers/endpoint_mirror.h"
#include "controllers/endpoints_plan.h"
#include "controllers/node_ttl.h"
#include "controllers/read.h"
#include "tests/test.h"

static struct value parse(struct arena *a, const char *type, const char *text)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    char *json = arena_printf(a, "%s", text);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        CHECK_TEXT(json, e.message, "");
    return v;
}

/* ---- Mirrors ---- */

#define PORT "{'name':'http','port':80,'protocol':'TCP'}"
#define DNS "{'name':'dns','port':53,'protocol':'UDP'}"
#define ONE(ip) "{'addresses':[{'ip':'" ip "'}],'ports':[" PORT "]}"
#define META(name) "'metadata':{'name':'" name "','labels':{'endpointslice.kubernetes.io/managed-by':'endpointslicemirroring-controller.k8s.io'," \
    "'kubernetes.io/service-name':'svc'},'ownerReferences':[{'apiVersion':'v1','kind':'Endpoints','name':'svc','uid':'u'}]}"
#define SLICE(name, family, ip, port) "{" META(name) ",'addressType':'" family "','endpoints':[{'addresses':['" ip "'],'conditions':{'ready':true}}]," \
    "'ports':[" port "]}"

static const struct {
    const char *what, *subsets;
    const char *slices[3];
    const char *actions; /* verb, name or family of a new one, endpoints */
    uint32_t n_invalid, n_skipped;
} mirrors[] = {
    { "a new slice", ONE("10.0.0.1"), { 0 }, "create IPv4:10.0.0.1", 0, 0 },
    { "one of each family", "{'addresses':[{'ip':'10.0.0.1'},{'ip':'fd00::1'}],'ports':[" PORT "]}", { 0 },
      "create IPv4:10.0.0.1 create IPv6:fd00::1", 0, 0 },
    { "ready and not", "{'addresses':[{'ip':'10.0.0.1'}],'notReadyAddresses':[{'ip':'10.0.0.2'}],'ports':[" PORT "]}", { 0 },
      "create IPv4:10.0.0.1,10.0.0.2-", 0, 0 },
    { "right as it is", ONE("10.0.0.1"), { SLICE("s", "IPv4", "10.0.0.1", PORT) }, "", 0, 0 },
    { "another address", ONE("10.0.0.2"), { SLICE("s", "IPv4", "10.0.0.1", PORT) }, "update s:10.0.0.2", 0, 0 },
    { "other ports take its place", ONE("10.0.0.1"), { SLICE("s", "IPv4", "10.0.0.1", DNS) }, "update s+:10.0.0.1", 0, 0 },
    { "but not of another family", ONE("10.0.0.1"), { SLICE("s", "IPv6", "fd00::1", DNS) }, "create IPv4:10.0.0.1 delete s", 0, 0 },
    { "one is enough", ONE("10.0.0.1"), { SLICE("s", "IPv4", "10.0.0.1", PORT), SLICE("t", "IPv4", "10.0.0.1", PORT) }, "delete t", 0, 0 },
    { "none is wanted", "", { SLICE("s", "IPv4", "10.0.0.1", PORT) }, "delete s", 0, 0 },
    { "the same ports twice are one", ONE("10.0.0.1") "," ONE("10.0.0.2"), { 0 }, "create IPv4:10.0.0.1,10.0.0.2", 0, 0 },
    { "what is no address is left out", "{'addresses':[{'ip':'x'},{'ip':'10.0.0.1'}],'ports':[" PORT "]}", { 0 }, "create IPv4:10.0.0.1", 1, 1 },
};

static const char *slice_text(struct arena *a, const struct slice_action *action)
{
    static const char *const verbs[] = { "create", "update", "delete" };
    const struct type *et = schema_type(STR("discovery.k8s.io/v1.Endpoint"));
    const struct value *list = value_path(slice_type(), &action->slice, "endpoints");
    struct str name = text_at(slice_type(), &action->slice, "metadata.name");
    bool recycled = name.n && is_set_at(slice_type(), &action->slice, "metadata.generateName");
    const char *text = arena_printf(a, "%s %.*s%s", verbs[action->verb],
                                    STR_ARG(name.n ? name : text_at(slice_type(), &action->slice, "addressType")), recycled ? "+" : "");
    for (uint32_t i = 0; action->verb != SLICE_DELETE && i < list_length(list); i++)
        text = arena_printf(a, "%s%s%.*s%s", text, i ? "," : ":", STR_ARG(text_at(et, &list->items[i], "addresses.0")),
                            true_at(et, &list->items[i], "conditions.ready") ? "" : "-");
    return text;
}

TEST(mirrored_endpoints)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(mirrors) / sizeof(mirrors[0]); i++, arena_reset(&a)) {
        struct value slices[3], endpoints = parse(&a, "core/v1.Endpoints",
            arena_printf(&a, "{'metadata':{'name':'svc','namespace':'n','uid':'u'},'subsets':[%s]}", mirrors[i].subsets));
        const struct value *have[3];
        size_t n = 0;
        for (; n < 3 && mirrors[i].slices[n]; n++) {
            slices[n] = parse(&a, "discovery.k8s.io/v1.EndpointSlice", mirrors[i].slices[n]);
            have[n] = &slices[n];
        }
        struct mirror_plan p = endpoint_mirror_plan(&a, &endpoints, have, n);
        const char *text = "";
        for (size_t k = 0; k < p.n; k++)
            text = arena_printf(&a, "%s%s%s", text, k ? " " : "", slice_text(&a, &p.at[k]));
        CHECK_TEXT(mirrors[i].what, text, mirrors[i].actions);
        CHECK_INT(mirrors[i].what, p.n_invalid, mirrors[i].n_invalid);
        CHECK_INT(mirrors[i].what, p.n_skipped, mirrors[i].n_skipped);
    }
    arena_fini(&a);
}

TEST(who_is_mirrored)
{
    static const struct {
        const char *what, *meta;
        bool wanted;
    } cases[] = {
        { "anybody", "{}", true },
        { "not who says so", "{'labels':{'endpointslice.kubernetes.io/skip-mirror':'true'}}", false },
        { "only with that word", "{'labels':{'endpointslice.kubernetes.io/skip-mirror':'yes'}}", true },
        { "not who elects a leader", "{'annotations':{'control-plane.alpha.kubernetes.io/leader':''}}", false },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value v = parse(&a, "core/v1.Endpoints", arena_printf(&a, "{'metadata':%s}", cases[i].meta));
        CHECK_INT(cases[i].what, endpoints_want_mirror(&v), cases[i].wanted);
    }
    arena_fini(&a);
}

/* ---- Nodes ---- */

TEST(steps_of_a_growing_cluster)
{
    static const struct {
        uint32_t n_nodes;
        int seconds;
    } way[] = { { 1, 0 }, { 100, 0 }, { 101, 15 }, { 90, 15 }, { 89, 0 }, { 501, 30 }, { 450, 30 }, { 449, 15 }, { 5000, 300 },
                { 1800, 300 }, { 1799, 60 }, { 0, 0 } };
    int step = 0;
    for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
        step = node_ttl_step(step, way[i].n_nodes);
        CHECK_INT("seconds", node_ttl_seconds(step), way[i].seconds);
    }
}

/* ---- Tokens ---- */

/* Data is base64: abcdef, 0123456789abcdef, true, and times. */
#define ID "'token-id':'YWJjZGVm'"
#define SECRET "'token-secret':'MDEyMzQ1Njc4OWFiY2RlZg=='"
#define SIGNS "'usage-bootstrap-signing':'dHJ1ZQ=='"
#define UNTIL_2020 "'expiration':'MjAyMC0wMS0wMVQwMDowMDowMFo='" /* 2020-01-01T00:00:00Z: 1577836800 */
#define UNREADABLE "'expiration':'c29vbg=='"

enum { BEFORE_S = 1577836700, AFTER_S = 1577836801 };

static const struct {
    const char *what, *name, *data;
    int64_t now_s, left_ms;
    bool good;
} tokens[] = {
    { "a token", "bootstrap-token-abcdef", ID "," SECRET "," SIGNS, BEFORE_S, -1, true },
    { "of another name", "bootstrap-token-abcdeg", ID "," SECRET "," SIGNS, BEFORE_S, -1, false },
    { "without its secret", "bootstrap-token-abcdef", ID "," SIGNS, BEFORE_S, -1, false },
    { "for something else", "bootstrap-token-abcdef", ID "," SECRET, BEFORE_S, -1, false },
    { "that is still good", "bootstrap-token-abcdef", ID "," SECRET "," SIGNS "," UNTIL_2020, BEFORE_S, 100000, true },
    { "that is not any more", "bootstrap-token-abcdef", ID "," SECRET "," SIGNS "," UNTIL_2020, AFTER_S, 0, false },
    { "until nobody knows when", "bootstrap-token-abcdef", ID "," SECRET "," SIGNS "," UNREADABLE, BEFORE_S, 0, false },
};

TEST(tokens_of_new_nodes)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++, arena_reset(&a)) {
        struct value v = parse(&a, "core/v1.Secret", arena_printf(&a, "{'metadata':{'name':'%s'},'type':'bootstrap.kubernetes.io/token',"
                                                                  "'data':{%s}}", tokens[i].name, tokens[i].data));
        struct bootstrap_token t;
        CHECK_INT(tokens[i].what, bootstrap_token_read(&v, tokens[i].now_s, &t), tokens[i].good);
        CHECK_INT(tokens[i].what, bootstrap_token_left_ms(&v, tokens[i].now_s * 1000), tokens[i].left_ms);
    }
    arena_fini(&a);
}

TEST(signed_cluster_info)
{
    static const char signature[] = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..psz1NayrXM3IaFzKZGsb5n_mBl7MjtlsZ1xE8MRmF_4";
    struct bootstrap_token t = { STR("abcdef"), STR("0123456789abcdef") };
    struct arena a;
    struct value signed_map, again;
    arena_init(&a);
    CHECK_TEXT("as others sign it", arena_cstr(&a, bootstrap_sign(&a, STR("content"), &t)), signature);
    struct value map = parse(&a, "core/v1.ConfigMap", "{'data':{'kubeconfig':'content','jws-kubeconfig-old123':'x','other':'y'}}");
    CHECK(bootstrap_sign_map(&a, &map, &t, 1, &signed_map));
    const struct value *data = value_path(schema_type(STR("core/v1.ConfigMap")), &signed_map, "data");
    CHECK_TEXT("signed", arena_cstr(&a, member_text(data, STR("jws-kubeconfig-abcdef"))), signature);
    CHECK(!value_member(data, STR("jws-kubeconfig-old123")));
    CHECK(value_member(data, STR("other")));
    CHECK(!bootstrap_sign_map(&a, &signed_map, &t, 1, &again));
    struct value nothing = parse(&a, "core/v1.ConfigMap", "{'data':{'x':'y'}}");
    CHECK(!bootstrap_sign_map(&a, &nothing, &t, 1, &again));
    arena_fini(&a);
}
