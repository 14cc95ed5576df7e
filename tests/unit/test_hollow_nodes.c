/* tests/unit/test_hollow_nodes.c - which hollow nodes a file asks for, what is wrong with one, and their addresses. */
#include "controllers/read.h"
#include "hollow/node_addresses.h"
#include "hollow/node_object.h"
#include "tests/unit/controller_world.h"

enum { NOW_S = 1767225600 };

/* ---- Files ---- */

static const struct {
    const char *what, *text, *names; /* name/zone, separated by spaces */
} files[] = {
    { "nothing", "", "" },
    { "one", "nodes: [{name: a}]", "a" },
    { "some", "nodes:\n- {name: w, count: 3, zones: [x, z]}\n- {name: m}\n", "w-0/x w-1/z w-2/x m" },
    { "none of a shape", "nodes: [{name: w, count: 0}, {name: v, count: 1}]", "v-0" },
    { "with its kind", "apiVersion: berth.dev/v1alpha1\nkind: HollowNodes\nnodes: [{name: a}]", "a" },
    { "JSON", "{\"nodes\":[{\"name\":\"a\"}]}", "a" },
};

TEST(files_of_nodes)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct arena a;
        struct err e;
        struct node_shapes s;
        struct strbuf b;
        arena_init(&a);
        err_init(&e, &a);
        strbuf_init(&b, STRBUF_NO_MAX);
        if (node_shapes_parse(&a, str_of(files[i].text), &s, &e))
            FAIL("%s: %s", files[i].what, e.message);
        for (uint32_t k = 0; k < s.n; k++)
            strbuf_printf(&b, "%s%.*s%s%.*s", k ? " " : "", STR_ARG(s.at[k].name), s.at[k].zone.n ? "/" : "", STR_ARG(s.at[k].zone));
        CHECK_STR(files[i].what, strbuf_str(&b), str_of(files[i].names));
        strbuf_fini(&b);
        arena_fini(&a);
    }
}

static const struct {
    const char *what, *text, *error;
} faults[] = {
    { "no YAML", "nodes: [", "yaml: line 1: did not find expected node content" },
    { "another kind", "kind: Pod", "this is \"Pod\" of \"\", not HollowNodes of berth.dev/v1alpha1" },
    { "a field that nobody knows", "nodes: [{name: a, cpus: 3}]", "unknown field \"nodes[0].cpus\"" },
    { "a field twice", "nodes:\n- name: a\n  name: b\n", "line 3: key \"name\" already set in map" },
    { "another type", "nodes: [{name: a, count: many}]", "nodes[0].count: string where int32 is expected" },
    { "no name", "nodes: [{count: 3}]", "nodes[0]: name: Required value" },
    { "no such name", "nodes: [{name: a}, {name: A_b}]",
      "nodes[1]: metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
      "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
    { "a name twice", "nodes: [{name: a-1}, {name: a, count: 2}]", "two nodes are named \"a-1\"" },
    { "fewer than none", "nodes: [{name: a, count: -1}]", "nodes[0]: count: there may be 0 to 32768 nodes in all" },
    { "too many", "nodes: [{name: a, count: 32768}, {name: b}]", "nodes[1]: count: there may be 0 to 32768 nodes in all" },
    { "an effect that there is not", "nodes: [{name: a, taints: [{key: k, effect: Never}]}]",
      "nodes[0]: metadata.taints[0].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"" },
    { "no amount", "nodes: [{name: a, capacity: {cpu: lots}}]",
      "nodes[0].capacity.cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
    { "too many pods", "nodes: [{name: a, capacity: {pods: 5000}}]", "nodes[0]: capacity[pods]: a node may have 0 to 4096 pods" },
    { "not enough addresses", "nodes: [{name: a, count: 9000, capacity: {pods: 1100}}]",
      "9000 nodes with up to 1100 pods have not enough addresses in 10.128.0.0/9" },
    { "no zone", "nodes: [{name: a, zones: [\"\"]}]", "nodes[0]: zones[0]: is empty" },
};

TEST(faults_of_files)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct arena a;
        struct err e;
        struct node_shapes s;
        arena_init(&a);
        err_init(&e, &a);
        CHECK(node_shapes_parse(&a, str_of(faults[i].text), &s, &e) == ERR_BAD_REQUEST);
        CHECK_STR(faults[i].what, str_of(e.message), str_of(faults[i].error));
        arena_fini(&a);
    }
}

/* ---- Objects ---- */

#define FULL \
    "nodes: [{name: a}, {name: g, zones: [z], region: r, instanceType: big, architecture: arm64, labels: {disk: ssd}, " \
    "annotations: {x: v}, capacity: {cpu: 8, nvidia.com/gpu: 2}, allocatable: {cpu: 7500m}, taints: [{key: k, effect: NoSchedule}], " \
    "images: [{names: [\"nginx:1\"], sizeBytes: 7}], csiDrivers: [{name: d.example, volumes: 3, topologyKeys: [t]}]}]"

static const struct {
    const char *path, *is;
} full[] = {
    { "metadata.labels", "{\"beta.kubernetes.io/arch\":\"arm64\",\"beta.kubernetes.io/os\":\"linux\",\"disk\":\"ssd\",\"kubernetes.io/arch\":\"arm64\","
      "\"kubernetes.io/hostname\":\"g\",\"kubernetes.io/os\":\"linux\",\"node.kubernetes.io/instance-type\":\"big\","
      "\"topology.kubernetes.io/region\":\"r\",\"topology.kubernetes.io/zone\":\"z\"}" },
    { "metadata.annotations", "{\"berth.dev/hollow\":\"running\",\"x\":\"v\"}" },
    { "spec", "{\"podCIDR\":\"10.128.1.0/24\",\"podCIDRs\":[\"10.128.1.0/24\"],\"providerID\":\"hollow://g\","
      "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}" },
    { "status.capacity", "{\"cpu\":\"8\",\"ephemeral-storage\":\"100Gi\",\"memory\":\"16Gi\",\"nvidia.com/gpu\":\"2\",\"pods\":\"110\"}" },
    { "status.allocatable", "{\"cpu\":\"7500m\",\"ephemeral-storage\":\"100Gi\",\"memory\":\"16Gi\",\"nvidia.com/gpu\":\"2\",\"pods\":\"110\"}" },
    { "status.addresses", "[{\"type\":\"InternalIP\",\"address\":\"172.16.0.3\"},{\"type\":\"Hostname\",\"address\":\"g\"}]" },
    { "status.images", "[{\"names\":[\"nginx:1\"],\"sizeBytes\":7}]" },
};

TEST(objects_of_a_node)
{
    struct arena a;
    struct err e;
    struct node_shapes s;
    arena_init(&a);
    err_init(&e, &a);
    if (node_shapes_parse(&a, STR(FULL), &s, &e))
        FAIL("%s", e.message);
    struct value node = node_object(&a, &s.at[1], NOW_S), csi = node_csi_object(&a, &s.at[1]);
    const char *json = world_json(&a, "core/v1.Node", &node);
    for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++)
        if (!strstr(json, full[i].is))
            FAIL("%s is not %s in %s", full[i].path, full[i].is, json);
    CHECK_STR("drivers", str_of(world_json(&a, "storage.k8s.io/v1.CSINode", &csi)),
              STR("{\"kind\":\"CSINode\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":\"g\"},\"spec\":{\"drivers\":[{\"name\":"
                  "\"d.example\",\"nodeID\":\"g\",\"topologyKeys\":[\"t\"],\"allocatable\":{\"count\":3}}]}}"));
    CHECK(node_csi_object(&a, &s.at[0]).kind == VALUE_ABSENT);
    CHECK(node_is_hollow(&node) && !node_is_stopped(&node));
    arena_fini(&a);
}

TEST(heartbeats)
{
    const struct type *t = schema_type(STR("core/v1.Node"));
    struct arena a;
    arena_init(&a);
    struct value node = world_decode(&a, "core/v1.Node", STR("{\"status\":{\"conditions\":[{\"type\":\"Other\",\"status\":\"True\"},{\"type\":\"Ready\","
                                                             "\"status\":\"Unknown\"},{\"type\":\"DiskPressure\",\"status\":\"False\","
                                                             "\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]}}"));
    node = node_heartbeat(&a, &node, NOW_S);
    const struct value *list = value_path(t, &node, "status.conditions");
    const struct type *ct = schema_type(STR("core/v1.NodeCondition"));
    CHECK(list->n == 5);
    CHECK(says_at(ct, &list->items[0], "type", "Other"));
    const struct value *ready = entry_with(ct, list, "type", STR("Ready")), *disk = entry_with(ct, list, "type", STR("DiskPressure"));
    CHECK(says_at(ct, ready, "status", "True") && says_at(ct, ready, "reason", "KubeletReady"));
    CHECK(value_path(ct, ready, "lastTransitionTime")->i == NOW_S);
    CHECK(value_path(ct, disk, "lastTransitionTime")->i == 1577836800 && value_path(ct, disk, "lastHeartbeatTime")->i == NOW_S);
    arena_fini(&a);
}

/* ---- Addresses ---- */

TEST(addresses_of_pods)
{
    struct node_addresses x;
    struct arena a;
    arena_init(&a);
    node_addresses_init(&x, STR("10.1.2.0/29"));
    CHECK(x.n == 5);
    CHECK(node_addresses_mark(&x, pod_address_parse(STR("10.1.2.3"))));
    CHECK(!node_addresses_mark(&x, pod_address_parse(STR("10.1.3.3"))));
    CHECK_STR("the first", pod_address_text(&a, node_addresses_take(&x)), STR("10.1.2.2"));
    CHECK_STR("not the one that is taken", pod_address_text(&a, node_addresses_take(&x)), STR("10.1.2.4"));
    node_addresses_give_back(&x, pod_address_parse(STR("10.1.2.2")));
    CHECK_STR("not yet the one that was given back", pod_address_text(&a, node_addresses_take(&x)), STR("10.1.2.5"));
    CHECK_STR("the last", pod_address_text(&a, node_addresses_take(&x)), STR("10.1.2.6"));
    CHECK_STR("round", pod_address_text(&a, node_addresses_take(&x)), STR("10.1.2.2"));
    CHECK(node_addresses_take(&x) == 0);
    node_addresses_fini(&x);
    static const char *const none[] = { "", "nonsense", "fd00::/64", "10.0.0.0/8", "10.0.0.0/31" };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        node_addresses_init(&x, str_of(none[i]));
        CHECK(x.n == 0 && node_addresses_take(&x) == 0);
        node_addresses_fini(&x);
    }
    arena_fini(&a);
}
