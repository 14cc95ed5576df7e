/* tests/unit/test_controller_endpoints.c - which EndpointSlices and Endpoints a service should have. */
#include "controllers/endpoint_slices.h"
#include "controllers/endpoints_plan.h"
#include "controllers/port_order.h"
#include "controllers/read.h"
#include "tests/unit/controller_world.h"

#define SERVICE(spec) "{\"metadata\":{\"name\":\"s\",\"namespace\":\"d\",\"uid\":\"u\",\"labels\":{\"l\":\"1\"}},\"spec\":{" spec "}}"
#define PLAIN "\"clusterIP\":\"10.0.0.9\",\"ipFamilies\":[\"IPv4\"],\"ports\":[{\"name\":\"p\",\"port\":80,\"targetPort\":8080,\"protocol\":\"TCP\"}]"
#define NAMED "\"clusterIP\":\"10.0.0.9\",\"ipFamilies\":[\"IPv4\"],\"ports\":[{\"name\":\"p\",\"port\":80,\"targetPort\":\"web\",\"protocol\":\"TCP\"}]"
#define BOTH "\"clusterIP\":\"None\",\"ipFamilies\":[\"IPv4\",\"IPv6\"]"
#define POD_IN(name, ip, meta, spec, ready)                                                                                     \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"d\",\"uid\":\"" name "\"" meta "},\"spec\":{\"nodeName\":\"n\"" spec "},"  \
    "\"status\":{\"podIP\":\"" ip "\",\"podIPs\":[{\"ip\":\"" ip "\"}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"
#define POD(name, ip) POD_IN(name, ip, "", "", "True")
#define UNREADY(name, ip) POD_IN(name, ip, "", "", "False")
#define GOING(name, ip) POD_IN(name, ip, ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "", "True")
#define WEB(name, ip, number)                                                                                                   \
    POD_IN(name, ip, "", ",\"containers\":[{\"ports\":[{\"name\":\"web\",\"containerPort\":" number ",\"protocol\":\"TCP\"}]}]", "True")
#define ENDED                                                                                                                   \
    "{\"metadata\":{\"name\":\"e\"},\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Failed\",\"podIP\":\"10.1.0.9\"}}"
#define LABELS                                                                                                                  \
    "\"labels\":{\"l\":\"1\",\"kubernetes.io/service-name\":\"s\",\"endpointslice.kubernetes.io/managed-by\":"                    \
    "\"endpointslice-controller.k8s.io\"}"
#define OWNED ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"name\":\"s\",\"uid\":\"u\"}]"
#define PORTS ",\"ports\":[{\"name\":\"p\",\"port\":8080,\"protocol\":\"TCP\"}]"
#define SLICE_WITH(name, labels, owned, ports, endpoints)                                                                       \
    "{\"metadata\":{\"name\":\"" name "\"," labels owned "},\"addressType\":\"IPv4\"" ports ",\"endpoints\":[" endpoints "]}"
#define SLICE(name, endpoints) SLICE_WITH(name, LABELS, OWNED, PORTS, endpoints)
#define ENDPOINT(name, ip)                                                                                                      \
    "{\"addresses\":[\"" ip "\"],\"conditions\":{\"ready\":true,\"serving\":true,\"terminating\":false},\"nodeName\":\"n\","        \
    "\"zone\":\"z\",\"targetRef\":{\"kind\":\"Pod\",\"namespace\":\"d\",\"name\":\"" name "\",\"uid\":\"" name "\"}}"

static const struct {
    const char *what, *service, *pods, *slices, *plan;
} slice_rows[] = {
    { "no pods: a slice without anything", SERVICE(PLAIN), NULL, NULL, "create s- IPv4 []" },
    { "which stays", SERVICE(PLAIN), NULL, SLICE_WITH("s-1", LABELS, OWNED, "", ""), "" },
    { "a pod", SERVICE(PLAIN), POD("a", "10.1.0.1"), NULL, "create s- IPv4 [p:8080] 10.1.0.1(rs-)" },
    { "takes the place of the empty slice", SERVICE(PLAIN), POD("a", "10.1.0.1"), SLICE_WITH("s-1", LABELS, OWNED, "", ""),
      "update s-1 IPv4 [p:8080] 10.1.0.1(rs-)" },
    { "a pod that is there already", SERVICE(PLAIN), POD("a", "10.1.0.1"), SLICE("s-1", ENDPOINT("a", "10.1.0.1")), "" },
    { "another one joins it", SERVICE(PLAIN), POD("a", "10.1.0.1") "\n" POD("b", "10.1.0.2"), SLICE("s-1", ENDPOINT("a", "10.1.0.1")),
      "update s-1 IPv4 [p:8080] 10.1.0.1(rs-) 10.1.0.2(rs-)" },
    { "not ready", SERVICE(PLAIN), UNREADY("a", "10.1.0.1"), SLICE("s-1", ENDPOINT("a", "10.1.0.1")), "update s-1 IPv4 [p:8080] 10.1.0.1(---)" },
    { "not ready, but published", SERVICE(PLAIN ",\"publishNotReadyAddresses\":true"), UNREADY("a", "10.1.0.1"), NULL,
      "create s- IPv4 [p:8080] 10.1.0.1(r--)" },
    { "being deleted", SERVICE(PLAIN), GOING("a", "10.1.0.1"), NULL, "create s- IPv4 [p:8080] 10.1.0.1(-st)" },
    { "ended pods are none", SERVICE(PLAIN), ENDED, NULL, "create s- IPv4 []" },
    { "the last pod goes: its slice becomes the empty one", SERVICE(PLAIN), NULL, SLICE("s-1", ENDPOINT("a", "10.1.0.1")), "update s-1 IPv4 []" },
    { "a port by name, at each pod another number", SERVICE(NAMED), WEB("a", "10.1.0.1", "1") "\n" WEB("b", "10.1.0.2", "2"), NULL,
      "create s- IPv4 [p:2] 10.1.0.2(rs-)\ncreate s- IPv4 [p:1] 10.1.0.1(rs-)" },
    { "a pod without such a port", SERVICE(NAMED), POD("a", "10.1.0.1"), NULL, "create s- IPv4 [] 10.1.0.1(rs-)" },
    { "other ports of the service: another slice, under the same name", SERVICE(NAMED), WEB("a", "10.1.0.1", "1"),
      SLICE("s-1", ENDPOINT("a", "10.1.0.1")), "update s-1 IPv4 [p:1] 10.1.0.1(rs-)" },
    { "two families", SERVICE(BOTH), POD("a", "10.1.0.1") "\n" POD("b", "fd00::0001"), NULL,
      "create s- IPv4 [] 10.1.0.1(rs-)\ncreate s- IPv6 [] fd00::1(rs-)" },
    { "a family less", SERVICE(BOTH), NULL, SLICE_WITH("s-1", "\"labels\":{}", OWNED, "", "") , "update s-1 IPv4 []\ncreate s- IPv6 []" },
    { "of another service by that name", SERVICE(PLAIN), POD("a", "10.1.0.1"), SLICE_WITH("s-1", LABELS, "", PORTS, ""),
      "create s- IPv4 [p:8080] 10.1.0.1(rs-)\ndelete s-1" },
    { "other labels of the service", SERVICE(PLAIN), POD("a", "10.1.0.1"),
      SLICE_WITH("s-1", "\"labels\":{\"l\":\"0\"}", OWNED, PORTS, ENDPOINT("a", "10.1.0.1")), "update s-1 IPv4 [p:8080] 10.1.0.1(rs-)" },
    { "hints to stay in the zone", SERVICE(PLAIN ",\"trafficDistribution\":\"PreferClose\""), POD("a", "10.1.0.1"),
      SLICE("s-1", ENDPOINT("a", "10.1.0.1")), "update s-1 IPv4 [p:8080] 10.1.0.1(rs-)@z" },
    { "a service that goes gets no new slices",
      "{\"metadata\":{\"name\":\"s\",\"uid\":\"u\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{" PLAIN "}}", POD("a", "10.1.0.1"), NULL, "" },
};

static void add_endpoint(struct strbuf *b, const struct value *e)
{
    const struct type *t = schema_type(STR("discovery.k8s.io/v1.Endpoint"));
    strbuf_printf(b, " %.*s(%c%c%c)", STR_ARG(value_text(&value_path(t, e, "addresses")->items[0])),
                  true_at(t, e, "conditions.ready") ? 'r' : '-', true_at(t, e, "conditions.serving") ? 's' : '-',
                  true_at(t, e, "conditions.terminating") ? 't' : '-');
    const struct value *zones = value_path(t, e, "hints.forZones");
    for (uint32_t i = 0; i < list_length(zones); i++)
        strbuf_printf(b, "@%.*s", STR_ARG(text_at(schema_type(STR("discovery.k8s.io/v1.ForZone")), &zones->items[i], "name")));
}

static void add_action(struct strbuf *b, const struct slice_action *action)
{
    static const char *const verbs[] = { "create", "update", "delete" };
    const struct type *t = slice_type(), *pt = schema_type(STR("discovery.k8s.io/v1.EndpointPort"));
    const struct value *v = &action->slice, *ports = value_path(t, v, "ports"), *list = value_path(t, v, "endpoints");
    struct str name = text_at(t, v, action->verb == SLICE_CREATE ? "metadata.generateName" : "metadata.name");
    strbuf_printf(b, "%s%s %.*s", b->n ? "\n" : "", verbs[action->verb], STR_ARG(name));
    if (action->verb == SLICE_DELETE)
        return;
    strbuf_printf(b, " %.*s [", STR_ARG(text_at(t, v, "addressType")));
    for (uint32_t i = 0; i < list_length(ports); i++)
        strbuf_printf(b, "%s%.*s:%lld", i ? " " : "", STR_ARG(text_at(pt, &ports->items[i], "name")),
                      (long long)int_at(pt, &ports->items[i], "port", -1));
    strbuf_add_text(b, "]");
    for (uint32_t i = 0; i < list_length(list); i++)
        add_endpoint(b, &list->items[i]);
}

static const struct value *node_n(void *context, struct str name)
{
    return str_is(name, "n") ? context : NULL;
}

static struct slice_plan plan_of(struct arena *a, const char *service, const char *pods, const char *slices)
{
    static struct value node, s;
    const struct value **all_pods, **all_slices;
    node = world_decode(a, "core/v1.Node", STR("{\"metadata\":{\"labels\":{\"topology.kubernetes.io/zone\":\"z\"}}}"));
    s = world_decode(a, "core/v1.Service", str_of(service));
    struct slice_state state = { .service = &s, .node = node_n, .context = &node };
    state.n_pods = world_decode_all(a, "core/v1.Pod", pods, &all_pods);
    state.n_slices = world_decode_all(a, "discovery.k8s.io/v1.EndpointSlice", slices, &all_slices);
    state.pods = all_pods;
    state.slices = all_slices;
    return endpoint_slices_plan(a, &state);
}

TEST(slices_of_a_service)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(slice_rows) / sizeof(slice_rows[0]); i++) {
        struct slice_plan plan = plan_of(&a, slice_rows[i].service, slice_rows[i].pods, slice_rows[i].slices);
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        for (size_t k = 0; k < plan.n; k++)
            add_action(&b, &plan.at[k]);
        if (!str_is(strbuf_str(&b), slice_rows[i].plan))
            FAIL("%s: %.*s instead of %s", slice_rows[i].what, STR_ARG(strbuf_str(&b)), slice_rows[i].plan);
        strbuf_fini(&b);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(a_pod_on_an_unknown_node_waits)
{
    struct arena a;
    arena_init(&a);
    struct slice_plan plan = plan_of(&a, SERVICE(PLAIN),
                                     "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"nodeName\":\"gone\"},"
                                     "\"status\":{\"podIP\":\"10.1.0.1\",\"podIPs\":[{\"ip\":\"10.1.0.1\"}]}}", NULL);
    CHECK(plan.incomplete && plan.n == 1);
    arena_fini(&a);
}

static const char *many_pods(struct arena *a, int n)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (int i = 0; i < n; i++)
        strbuf_printf(&b, "%s{\"metadata\":{\"name\":\"p%d\"},\"spec\":{\"nodeName\":\"n\"},\"status\":{\"podIP\":\"10.1.%d.%d\",\"podIPs\":[{\"ip\":\"10.1.%d.%d\"}]}}",
                      i ? "\n" : "", i, i / 100, i % 100, i / 100, i % 100);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(at_most_100_endpoints_in_a_slice)
{
    struct arena a;
    arena_init(&a);
    struct slice_plan plan = plan_of(&a, SERVICE(PLAIN), many_pods(&a, 250), NULL);
    size_t total = 0;
    CHECK(plan.n == 3);
    for (size_t i = 0; i < plan.n; i++) {
        uint32_t n = list_length(value_path(slice_type(), &plan.at[i].slice, "endpoints"));
        CHECK(n <= ENDPOINTS_OF_SLICE_MAX);
        total += n;
    }
    CHECK(total == 250);
    arena_fini(&a);
}

/* ---- Endpoints ---- */

static const struct {
    const char *what, *service, *pods, *has, *subsets; /* NULL: nothing is to be done */
} endpoints_rows[] = {
    { "no pods", SERVICE(PLAIN), NULL, NULL, "[]" },
    { "ready and not ready", SERVICE(PLAIN), POD("b", "10.1.0.2") "\n" POD("a", "10.1.0.1") "\n" UNREADY("c", "10.1.0.3"), NULL,
      "[10.1.0.1 10.1.0.2 !10.1.0.3 p:8080]" },
    { "being deleted: gone", SERVICE(PLAIN), GOING("a", "10.1.0.1"), NULL, "[]" },
    { "unless all are published", SERVICE(PLAIN ",\"publishNotReadyAddresses\":true"), GOING("a", "10.1.0.1") "\n" UNREADY("b", "10.1.0.2"), NULL,
      "[10.1.0.1 10.1.0.2 p:8080]" },
    { "subsets by port", SERVICE(NAMED), WEB("a", "10.1.0.1", "1") "\n" WEB("b", "10.1.0.2", "2") "\n" WEB("c", "10.1.0.3", "1"), NULL,
      "[10.1.0.1 10.1.0.3 p:1][10.1.0.2 p:2]" },
    { "without ports", SERVICE("\"clusterIP\":\"None\""), POD("a", "10.1.0.1"), NULL, "[10.1.0.1]" },
    { "the first family alone", SERVICE(BOTH), POD("a", "fd00::1"), NULL, "[]" },
    { "right as they are", SERVICE(PLAIN), NULL,
      "{\"metadata\":{\"labels\":{\"l\":\"1\",\"endpoints.kubernetes.io/managed-by\":\"endpoint-controller\"}}}", NULL },
    { "nobody manages them", SERVICE(PLAIN), NULL, "{\"metadata\":{\"labels\":{\"l\":\"1\"}}}", "[]" },
};

static void add_addresses(struct strbuf *b, const struct value *list, const char *mark)
{
    for (uint32_t i = 0; i < list_length(list); i++)
        strbuf_printf(b, "%s%s%.*s", b->p[b->n - 1] == '[' ? "" : " ", mark,
                      STR_ARG(text_at(schema_type(STR("core/v1.EndpointAddress")), &list->items[i], "ip")));
}

static void add_subset(struct strbuf *b, const struct value *subset)
{
    const struct type *t = schema_type(STR("core/v1.EndpointSubset")), *pt = schema_type(STR("core/v1.EndpointPort"));
    const struct value *ports = value_path(t, subset, "ports");
    strbuf_add_text(b, "[");
    add_addresses(b, value_path(t, subset, "addresses"), "");
    add_addresses(b, value_path(t, subset, "notReadyAddresses"), "!");
    for (uint32_t i = 0; i < list_length(ports); i++)
        strbuf_printf(b, " %.*s:%lld", STR_ARG(text_at(pt, &ports->items[i], "name")), (long long)int_at(pt, &ports->items[i], "port", 0));
    strbuf_add_text(b, "]");
}

TEST(endpoints_of_a_service)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(endpoints_rows) / sizeof(endpoints_rows[0]); i++) {
        const struct value **pods;
        struct value service = world_decode(&a, "core/v1.Service", str_of(endpoints_rows[i].service)), has, v;
        if (endpoints_rows[i].has)
            has = world_decode(&a, "core/v1.Endpoints", str_of(endpoints_rows[i].has));
        struct endpoints_state s = { .service = &service, .endpoints = endpoints_rows[i].has ? &has : NULL };
        s.n_pods = world_decode_all(&a, "core/v1.Pod", endpoints_rows[i].pods, &pods);
        s.pods = pods;
        bool writes = endpoints_plan(&a, &s, &v);
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        const struct value *subsets = writes ? value_path(endpoints_type(), &v, "subsets") : NULL;
        for (uint32_t k = 0; writes && k < list_length(subsets); k++)
            add_subset(&b, &subsets->items[k]);
        if (b.n == 0)
            strbuf_add_text(&b, "[]");
        if (writes != (endpoints_rows[i].subsets != NULL) || (writes && !str_is(strbuf_str(&b), endpoints_rows[i].subsets)))
            FAIL("%s: %.*s", endpoints_rows[i].what, STR_ARG(strbuf_str(&b)));
        strbuf_fini(&b);
        arena_reset(&a);
    }
    arena_fini(&a);
}

TEST(endpoints_are_cut_at_1000)
{
    struct arena a;
    struct value v;
    struct strbuf b;
    arena_init(&a);
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, "{\"subsets\":[{\"addresses\":[");
    for (int i = 0; i < 1500; i++)
        strbuf_printf(&b, "%s{\"ip\":\"10.%d.%d.1\"}", i ? "," : "", i / 200, i % 200);
    strbuf_add_text(&b, "],\"ports\":[{\"port\":1}]}]}");
    struct value has = world_decode(&a, "core/v1.Endpoints", strbuf_str(&b));
    struct value packed = endpoints_repack(&a, value_path(endpoints_type(), &has, "subsets"));
    CHECK(list_length(&packed) == 1);
    const struct value **pods = ARENA_NEW_N(&a, const struct value *, 1500);
    struct value service = world_decode(&a, "core/v1.Service", STR(SERVICE(PLAIN)));
    for (int i = 0; i < 1500; i++) {
        struct value *pod = ARENA_NEW(&a, struct value);
        *pod = world_decode(&a, "core/v1.Pod", str_of(arena_printf(&a, "{\"metadata\":{\"name\":\"p%d\",\"uid\":\"%d\"},\"status\":{\"podIP\":\"x\",\"podIPs\":[{\"ip\":\"10.%d.%d.1\"}],"
            "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}", i, i, i / 200, i % 200, i % 3 ? "True" : "False")));
        pods[i] = pod;
    }
    struct endpoints_state s = { .service = &service, .pods = pods, .n_pods = 1500 };
    CHECK(endpoints_plan(&a, &s, &v));
    const struct type *t = schema_type(STR("core/v1.EndpointSubset"));
    const struct value *subset = &value_path(endpoints_type(), &v, "subsets")->items[0];
    CHECK(list_length(value_path(t, subset, "addresses")) == 1000);
    CHECK(list_length(value_path(t, subset, "notReadyAddresses")) == 0);
    const struct value *notes = value_path(endpoints_type(), &v, "metadata.annotations");
    CHECK(str_is(member_text(notes, STR("endpoints.kubernetes.io/over-capacity")), "truncated"));
    strbuf_fini(&b);
    arena_fini(&a);
}

TEST(subsets_are_repacked)
{
    static const struct {
        const char *what, *endpoints, *subsets;
    } packs[] = {
        { "ready once and not ready once is not ready",
          "{\"subsets\":[{\"addresses\":[{\"ip\":\"1.1.1.1\"}],\"ports\":[{\"name\":\"a\",\"port\":1}]},{\"notReadyAddresses\":[{\"ip\":\"1.1.1.1\"}],"
          "\"ports\":[{\"name\":\"a\",\"port\":1}]}]}", "[!1.1.1.1 a:1]" },
        { "ports with the same addresses stand together",
          "{\"subsets\":[{\"addresses\":[{\"ip\":\"1.1.1.1\"}],\"ports\":[{\"name\":\"http\",\"port\":80,\"protocol\":\"TCP\"}]},"
          "{\"addresses\":[{\"ip\":\"1.1.1.1\"}],\"ports\":[{\"name\":\"dns\",\"port\":53,\"protocol\":\"TCP\"}]}]}", "[1.1.1.1 dns:53 http:80]" },
        { "two pods at one address are two",
          "{\"subsets\":[{\"addresses\":[{\"ip\":\"1.1.1.1\",\"targetRef\":{\"uid\":\"b\"}},{\"ip\":\"1.1.1.1\",\"targetRef\":{\"uid\":\"a\"}}]}]}",
          "[1.1.1.1 1.1.1.1]" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(packs) / sizeof(packs[0]); i++) {
        struct value has = world_decode(&a, "core/v1.Endpoints", str_of(packs[i].endpoints));
        struct value packed = endpoints_repack(&a, value_path(endpoints_type(), &has, "subsets"));
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        for (uint32_t k = 0; k < list_length(&packed); k++)
            add_subset(&b, &packed.items[k]);
        CHECK_STR(packs[i].what, strbuf_str(&b), str_of(packs[i].subsets));
        strbuf_fini(&b);
    }
    arena_fini(&a);
}

/* ---- Ports ---- */

static const struct port_text ports_in_order[2][6] = {
    [PORT_OF_SLICE] = { { STR("http"), STR("TCP"), STR("h2"), true, 80 }, { STR("https"), STR("TCP"), { 0 }, false, 443 },
                        { STR("x"), STR("TCP"), { 0 }, false, 81 }, { STR("dns"), STR("TCP"), { 0 }, false, 53 },
                        { STR("http"), STR("TCP"), { 0 }, false, 80 }, { STR("metrics"), STR("TCP"), { 0 }, false, 9090 } },
    [PORT_OF_ENDPOINTS] = { { STR("dns"), STR("TCP"), { 0 }, false, 53 }, { STR("http"), STR("TCP"), { 0 }, false, 80 },
                            { STR("x"), STR("TCP"), { 0 }, false, 81 }, { STR("https"), STR("TCP"), { 0 }, false, 443 },
                            { STR("metrics"), STR("TCP"), { 0 }, false, 9090 }, { STR("http"), STR("TCP"), STR("h2"), true, 80 } },
};

/* As Go sorted them by fnv.New128a of what it prints. */
TEST(ports_in_the_order_of_their_hashes)
{
    for (enum port_form f = PORT_OF_SLICE; f <= PORT_OF_ENDPOINTS; f++)
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++)
                CHECK_INT("order", port_order(&ports_in_order[f][i], &ports_in_order[f][k], f), (i > k) - (i < k));
}
