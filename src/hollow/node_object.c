/* hollow/node_object.c - see node_object.h. Upstream: kubelet's nodestatus/setters.go. */
#include "hollow/node_object.h"

#include "api/edit.h"
#include "api/schema_slots.h"
#include "controllers/read.h"

#define SHAPE(field) SLOT_berth_dev_v1alpha1_HollowNodeShape_##field
#define KUBELET_VERSION "v1.36.4"

static const struct value absent = { .kind = VALUE_ABSENT };

static const struct type *node_type_here(void)
{
    return schema_type(STR("core/v1.Node"));
}

static struct value object_of(struct arena *a, const char *type, const char *api_version, struct str name)
{
    const struct type *t = schema_type(str_of(type));
    struct value v = value_struct(a, t);
    v.slots[SLOT_KIND] = value_string(t->kind);
    v.slots[SLOT_API_VERSION] = edit_text(api_version);
    return edit_set(a, t, &v, "metadata.name", value_string(name));
}

static struct str text_or(const struct value *v, const char *otherwise)
{
    struct str text = value_text(v);
    return text.n ? text : str_of(otherwise);
}

static void put(struct arena *a, struct value *map, const char *key, struct str text)
{
    if (text.n)
        *map = edit_member(a, map, str_of(key), value_string(text));
}

/* ---- What a machine is ---- */

static struct value labels_of(struct arena *a, const struct node_shape *s)
{
    struct str arch = text_or(value_slot(s->shape, SHAPE(architecture)), "amd64");
    struct str os = text_or(value_slot(s->shape, SHAPE(operatingSystem)), "linux");
    struct str instance = text_or(value_slot(s->shape, SHAPE(instanceType)), "hollow");
    struct str region = value_text(value_slot(s->shape, SHAPE(region)));
    const struct value *more = value_slot(s->shape, SHAPE(labels));
    struct value map = absent;
    put(a, &map, "beta.kubernetes.io/arch", arch);
    put(a, &map, "beta.kubernetes.io/os", os);
    put(a, &map, "kubernetes.io/arch", arch);
    put(a, &map, "kubernetes.io/hostname", s->name);
    put(a, &map, "kubernetes.io/os", os);
    put(a, &map, "node.kubernetes.io/instance-type", instance);
    put(a, &map, "topology.kubernetes.io/zone", s->zone);
    put(a, &map, "topology.kubernetes.io/region", region);
    for (uint32_t i = 0; more->kind == VALUE_MAP && i < more->n; i++)
        map = edit_member(a, &map, more->members[i].key, more->members[i].value);
    return map;
}

static struct value capacity_of(struct arena *a, const struct node_shape *s)
{
    static const struct {
        const char *resource, *amount;
    } defaults[] = { { "cpu", "4" }, { "memory", "16Gi" }, { "pods", "110" }, { "ephemeral-storage", "100Gi" } };
    struct value map = *value_slot(s->shape, SHAPE(capacity));
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        if (!member_text(&map, str_of(defaults[i].resource)).n)
            map = edit_member(a, &map, str_of(defaults[i].resource), edit_text(defaults[i].amount));
    return map;
}

static struct value allocatable_of(struct arena *a, const struct node_shape *s, const struct value *capacity)
{
    const struct value *given = value_slot(s->shape, SHAPE(allocatable));
    struct value map = *capacity;
    for (uint32_t i = 0; given->kind == VALUE_MAP && i < given->n; i++)
        map = edit_member(a, &map, given->members[i].key, given->members[i].value);
    return map;
}

/* Nodes are in 172.16.0.0/12, their pods in 10.128.0.0/9, in the order of their numbers. */
static const char *host_address(struct arena *a, uint32_t number)
{
    uint32_t n = number + 2; /* neither the network nor its router */
    return arena_printf(a, "172.%u.%u.%u", 16 + (n >> 16), n >> 8 & 255, n & 255);
}

static const char *pod_network(struct arena *a, const struct node_shape *s)
{
    uint32_t n = s->number << s->host_bits;
    return arena_printf(a, "10.%u.%u.%u/%u", 128 + (n >> 16), n >> 8 & 255, n & 255, 32 - s->host_bits);
}

static struct value addresses_of(struct arena *a, const struct node_shape *s)
{
    const struct type *t = schema_type(STR("core/v1.NodeAddress"));
    struct value ip = value_struct(a, t), name = value_struct(a, t);
    ip = edit_set(a, t, &ip, "type", edit_text("InternalIP"));
    ip = edit_set(a, t, &ip, "address", edit_text(host_address(a, s->number)));
    name = edit_set(a, t, &name, "type", edit_text("Hostname"));
    name = edit_set(a, t, &name, "address", value_string(s->name));
    struct value list = edit_append(a, &absent, ip);
    return edit_append(a, &list, name);
}

static struct value info_of(struct arena *a, const struct node_shape *s)
{
    const struct type *t = schema_type(STR("core/v1.NodeSystemInfo"));
    struct str arch = text_or(value_slot(s->shape, SHAPE(architecture)), "amd64");
    struct str os = text_or(value_slot(s->shape, SHAPE(operatingSystem)), "linux");
    const char *id = arena_printf(a, "%032x", s->number + 1);
    const struct {
        const char *field;
        struct str text;
    } rows[] = {
        { "machineID", str_of(id) }, { "systemUUID", str_of(id) }, { "bootID", str_of(id) },
        { "kernelVersion", STR("6.12.0-hollow") }, { "osImage", STR("berth hollow node") },
        { "containerRuntimeVersion", STR("containerd://2.1.0-hollow") }, { "kubeletVersion", STR(KUBELET_VERSION) },
        { "kubeProxyVersion", STR("") }, { "operatingSystem", os }, { "architecture", arch },
    };
    struct value v = value_struct(a, t);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        v = edit_set(a, t, &v, rows[i].field, value_string(rows[i].text));
    return v;
}

/* ---- Conditions ---- */

static const struct {
    const char *type, *status, *reason, *message;
} well[] = {
    { "MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available" },
    { "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure" },
    { "PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available" },
    { "Ready", "True", "KubeletReady", "kubelet is posting ready status" },
};
enum { N_WELL = sizeof(well) / sizeof(well[0]) };

static bool is_own_condition(struct str type)
{
    for (int i = 0; i < N_WELL; i++)
        if (str_is(type, well[i].type))
            return true;
    return false;
}

static struct value condition(struct arena *a, const struct value *olds, int which, int64_t now_s)
{
    const struct type *t = schema_type(STR("core/v1.NodeCondition"));
    const struct value *old = entry_with(t, olds, "type", str_of(well[which].type));
    bool same = old && says_at(t, old, "status", well[which].status);
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "type", edit_text(well[which].type));
    v = edit_set(a, t, &v, "status", edit_text(well[which].status));
    v = edit_set(a, t, &v, "reason", edit_text(well[which].reason));
    v = edit_set(a, t, &v, "message", edit_text(well[which].message));
    v = edit_set(a, t, &v, "lastHeartbeatTime", value_time(now_s, 0));
    return edit_set(a, t, &v, "lastTransitionTime", same ? *value_path(t, old, "lastTransitionTime") : value_time(now_s, 0));
}

struct value node_heartbeat(struct arena *a, const struct value *node, int64_t now_s)
{
    const struct type *t = node_type_here(), *ct = schema_type(STR("core/v1.NodeCondition"));
    const struct value *olds = value_path(t, node, "status.conditions");
    struct value list = value_list(ARENA_NEW_N(a, struct value, list_length(olds) + N_WELL), 0);
    for (uint32_t i = 0; i < list_length(olds); i++)
        if (!is_own_condition(text_at(ct, &olds->items[i], "type")))
            list.items[list.n++] = olds->items[i];
    for (int i = 0; i < N_WELL; i++)
        list.items[list.n++] = condition(a, olds, i, now_s);
    return edit_set(a, t, node, "status.conditions", list);
}

/* ---- Objects ---- */

struct value node_object(struct arena *a, const struct node_shape *s, int64_t now_s)
{
    const struct type *t = node_type_here();
    const char *network = pod_network(a, s);
    struct value capacity = capacity_of(a, s);
    struct value notes = edit_member(a, value_slot(s->shape, SHAPE(annotations)), STR(NODE_HOLLOW), edit_text("running"));
    struct value v = object_of(a, "core/v1.Node", "v1", s->name);
    v = edit_set(a, t, &v, "metadata.labels", labels_of(a, s));
    v = edit_set(a, t, &v, "metadata.annotations", notes);
    v = edit_set(a, t, &v, "spec.podCIDR", edit_text(network));
    v = edit_set(a, t, &v, "spec.podCIDRs", edit_append(a, &absent, edit_text(network)));
    v = edit_set(a, t, &v, "spec.providerID", edit_text(arena_printf(a, "hollow://%.*s", STR_ARG(s->name))));
    v = edit_set(a, t, &v, "spec.taints", *value_slot(s->shape, SHAPE(taints)));
    v = edit_set(a, t, &v, "spec.unschedulable", *value_slot(s->shape, SHAPE(unschedulable)));
    v = edit_set(a, t, &v, "status.capacity", capacity);
    v = edit_set(a, t, &v, "status.allocatable", allocatable_of(a, s, &capacity));
    v = edit_set(a, t, &v, "status.addresses", addresses_of(a, s));
    v = edit_set(a, t, &v, "status.nodeInfo", info_of(a, s));
    v = edit_set(a, t, &v, "status.images", *value_slot(s->shape, SHAPE(images)));
    v = edit_set(a, t, &v, "status.daemonEndpoints.kubeletEndpoint.Port", value_int(10250));
    return node_heartbeat(a, &v, now_s);
}

static struct value driver_of(struct arena *a, const struct node_shape *s, const struct value *given)
{
    const struct type *from = schema_type(STR("berth.dev/v1alpha1.HollowDriver")), *to = schema_type(STR("storage.k8s.io/v1.CSINodeDriver"));
    struct value v = value_struct(a, to);
    v = edit_set(a, to, &v, "name", *value_path(from, given, "name"));
    v = edit_set(a, to, &v, "nodeID", value_string(s->name));
    v = edit_set(a, to, &v, "topologyKeys", *value_path(from, given, "topologyKeys"));
    return is_set_at(from, given, "volumes") ? edit_set(a, to, &v, "allocatable.count", *value_path(from, given, "volumes")) : v;
}

struct value node_csi_object(struct arena *a, const struct node_shape *s)
{
    const struct value *drivers = value_slot(s->shape, SHAPE(csiDrivers));
    struct value list = absent;
    if (!list_length(drivers))
        return absent;
    for (uint32_t i = 0; i < drivers->n; i++)
        list = edit_append(a, &list, driver_of(a, s, &drivers->items[i]));
    struct value v = object_of(a, "storage.k8s.io/v1.CSINode", "storage.k8s.io/v1", s->name);
    return edit_set(a, schema_type(STR("storage.k8s.io/v1.CSINode")), &v, "spec.drivers", list);
}

static struct value owner_of(struct arena *a, const struct value *node)
{
    const struct type *t = schema_type(STR("meta/v1.OwnerReference"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "apiVersion", edit_text("v1"));
    v = edit_set(a, t, &v, "kind", edit_text("Node"));
    v = edit_set(a, t, &v, "name", *value_path(node_type_here(), node, "metadata.name"));
    v = edit_set(a, t, &v, "uid", *value_path(node_type_here(), node, "metadata.uid"));
    return edit_append(a, &absent, v);
}

struct value node_lease_object(struct arena *a, const struct value *node, const struct value *old, int64_t now_ns)
{
    const struct type *t = schema_type(STR("coordination.k8s.io/v1.Lease"));
    struct str name = text_at(node_type_here(), node, "metadata.name");
    struct value v = old ? *old : object_of(a, "coordination.k8s.io/v1.Lease", "coordination.k8s.io/v1", name);
    if (!old) {
        v = edit_set(a, t, &v, "metadata.namespace", edit_text("kube-node-lease"));
        v = edit_set(a, t, &v, "metadata.ownerReferences", owner_of(a, node));
        v = edit_set(a, t, &v, "spec.holderIdentity", value_string(name));
        v = edit_set(a, t, &v, "spec.leaseDurationSeconds", value_int(NODE_LEASE_S));
    }
    int64_t second = now_ns / 1000000000, micros = now_ns % 1000000000 / 1000;
    return edit_set(a, t, &v, "spec.renewTime", value_time(second, (uint32_t)micros * 1000));
}

bool node_is_hollow(const struct value *node)
{
    return member_text(value_path(node_type_here(), node, "metadata.annotations"), STR(NODE_HOLLOW)).n > 0;
}

bool node_is_stopped(const struct value *node)
{
    return str_is(member_text(value_path(node_type_here(), node, "metadata.annotations"), STR(NODE_HOLLOW)), NODE_STOPPED);
}
