/* api/defaults.c - see defaults.h. */
#include "api/defaults.h"

#include <assert.h>

#include "api/defaults_priv.h"
#include "api/edit.h"
#include "api/image_name.h"
#include "api/pod_sums.h"
#include "api/quantity.h"

/* ---- Simple ones ---- */

/* A name of a type in a table. Tables are searched for every struct of an object: mostly that is comparing lengths. */
#define TYPE(name) { name, sizeof(name) - 1 }

/* By type; a literal is a text in quotes, a number, true, false or {}. */
struct row {
    struct str type;
    const char *field, *literal;
};

static const struct row rows[] = { /* sorted by type */
    { TYPE("admissionregistration.k8s.io/v1.MatchResources"), "matchPolicy", "\"Equivalent\"" },
    { TYPE("admissionregistration.k8s.io/v1.MatchResources"), "namespaceSelector", "{}" },
    { TYPE("admissionregistration.k8s.io/v1.MatchResources"), "objectSelector", "{}" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingAdmissionPolicySpec"), "failurePolicy", "\"Fail\"" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingWebhook"), "failurePolicy", "\"Fail\"" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingWebhook"), "matchPolicy", "\"Equivalent\"" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingWebhook"), "namespaceSelector", "{}" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingWebhook"), "objectSelector", "{}" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingWebhook"), "reinvocationPolicy", "\"Never\"" },
    { TYPE("admissionregistration.k8s.io/v1.MutatingWebhook"), "timeoutSeconds", "10" },
    { TYPE("admissionregistration.k8s.io/v1.NamedRuleWithOperations"), "scope", "\"*\"" },
    { TYPE("admissionregistration.k8s.io/v1.RuleWithOperations"), "scope", "\"*\"" },
    { TYPE("admissionregistration.k8s.io/v1.ServiceReference"), "port", "443" },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingAdmissionPolicySpec"), "failurePolicy", "\"Fail\"" },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingWebhook"), "failurePolicy", "\"Fail\"" },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingWebhook"), "matchPolicy", "\"Equivalent\"" },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingWebhook"), "namespaceSelector", "{}" },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingWebhook"), "objectSelector", "{}" },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingWebhook"), "timeoutSeconds", "10" },
    { TYPE("apiextensions.k8s.io/v1.ServiceReference"), "port", "443" },
    { TYPE("apiregistration.k8s.io/v1.ServiceReference"), "port", "443" },
    { TYPE("apps/v1.DaemonSetSpec"), "revisionHistoryLimit", "10" },
    { TYPE("apps/v1.DaemonSetUpdateStrategy"), "type", "\"RollingUpdate\"" },
    { TYPE("apps/v1.DeploymentSpec"), "progressDeadlineSeconds", "600" },
    { TYPE("apps/v1.DeploymentSpec"), "replicas", "1" },
    { TYPE("apps/v1.DeploymentSpec"), "revisionHistoryLimit", "10" },
    { TYPE("apps/v1.DeploymentStrategy"), "type", "\"RollingUpdate\"" },
    { TYPE("apps/v1.ReplicaSetSpec"), "replicas", "1" },
    { TYPE("apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy"), "whenDeleted", "\"Retain\"" },
    { TYPE("apps/v1.StatefulSetPersistentVolumeClaimRetentionPolicy"), "whenScaled", "\"Retain\"" },
    { TYPE("apps/v1.StatefulSetSpec"), "persistentVolumeClaimRetentionPolicy", "{}" },
    { TYPE("apps/v1.StatefulSetSpec"), "podManagementPolicy", "\"OrderedReady\"" },
    { TYPE("apps/v1.StatefulSetSpec"), "replicas", "1" },
    { TYPE("apps/v1.StatefulSetSpec"), "revisionHistoryLimit", "10" },
    { TYPE("apps/v1.StatefulSetUpdateStrategy"), "type", "\"RollingUpdate\"" },
    { TYPE("authentication.k8s.io/v1.TokenRequestSpec"), "expirationSeconds", "3600" },
    { TYPE("autoscaling/v1.HorizontalPodAutoscalerSpec"), "minReplicas", "1" },
    { TYPE("autoscaling/v2.HorizontalPodAutoscalerSpec"), "minReplicas", "1" },
    { TYPE("batch/v1.CronJobSpec"), "concurrencyPolicy", "\"Allow\"" },
    { TYPE("batch/v1.CronJobSpec"), "failedJobsHistoryLimit", "1" },
    { TYPE("batch/v1.CronJobSpec"), "successfulJobsHistoryLimit", "3" },
    { TYPE("batch/v1.CronJobSpec"), "suspend", "false" },
    { TYPE("batch/v1.PodFailurePolicyOnPodConditionsPattern"), "status", "\"True\"" },
    { TYPE("core/v1.AzureDiskVolumeSource"), "readOnly", "false" },
    { TYPE("core/v1.ConfigMapVolumeSource"), "defaultMode", "420" },
    { TYPE("core/v1.Container"), "terminationMessagePath", "\"/dev/termination-log\"" },
    { TYPE("core/v1.Container"), "terminationMessagePolicy", "\"File\"" },
    { TYPE("core/v1.DownwardAPIVolumeSource"), "defaultMode", "420" },
    { TYPE("core/v1.EndpointPort"), "protocol", "\"TCP\"" },
    { TYPE("core/v1.EphemeralContainer"), "terminationMessagePath", "\"/dev/termination-log\"" },
    { TYPE("core/v1.EphemeralContainer"), "terminationMessagePolicy", "\"File\"" },
    { TYPE("core/v1.FileKeySelector"), "optional", "false" },
    { TYPE("core/v1.GRPCAction"), "service", "\"\"" },
    { TYPE("core/v1.HTTPGetAction"), "path", "\"/\"" },
    { TYPE("core/v1.HTTPGetAction"), "scheme", "\"HTTP\"" },
    { TYPE("core/v1.HostPathVolumeSource"), "type", "\"\"" },
    { TYPE("core/v1.NamespaceStatus"), "phase", "\"Active\"" },
    { TYPE("core/v1.ObjectFieldSelector"), "apiVersion", "\"v1\"" },
    { TYPE("core/v1.PersistentVolumeClaimSpec"), "volumeMode", "\"Filesystem\"" },
    { TYPE("core/v1.PersistentVolumeClaimStatus"), "phase", "\"Pending\"" },
    { TYPE("core/v1.PersistentVolumeStatus"), "phase", "\"Pending\"" },
    { TYPE("core/v1.PodSpec"), "dnsPolicy", "\"ClusterFirst\"" },
    { TYPE("core/v1.PodSpec"), "restartPolicy", "\"Always\"" },
    { TYPE("core/v1.PodSpec"), "schedulerName", "\"default-scheduler\"" },
    { TYPE("core/v1.PodSpec"), "securityContext", "{}" },
    { TYPE("core/v1.PodSpec"), "terminationGracePeriodSeconds", "30" },
    { TYPE("core/v1.Probe"), "failureThreshold", "3" },
    { TYPE("core/v1.Probe"), "periodSeconds", "10" },
    { TYPE("core/v1.Probe"), "successThreshold", "1" },
    { TYPE("core/v1.Probe"), "timeoutSeconds", "1" },
    { TYPE("core/v1.ProjectedVolumeSource"), "defaultMode", "420" },
    { TYPE("core/v1.Secret"), "type", "\"Opaque\"" },
    { TYPE("core/v1.SecretVolumeSource"), "defaultMode", "420" },
    { TYPE("core/v1.ServiceAccountTokenProjection"), "expirationSeconds", "3600" },
    { TYPE("core/v1.ServicePort"), "protocol", "\"TCP\"" },
    { TYPE("core/v1.ServiceSpec"), "sessionAffinity", "\"None\"" },
    { TYPE("core/v1.ServiceSpec"), "type", "\"ClusterIP\"" },
    { TYPE("discovery.k8s.io/v1.EndpointPort"), "name", "\"\"" },
    { TYPE("discovery.k8s.io/v1.EndpointPort"), "protocol", "\"TCP\"" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.ExemptPriorityLevelConfiguration"), "lendablePercent", "0" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.ExemptPriorityLevelConfiguration"), "nominalConcurrencyShares", "0" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.FlowSchemaSpec"), "matchingPrecedence", "1000" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.LimitedPriorityLevelConfiguration"), "lendablePercent", "0" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.LimitedPriorityLevelConfiguration"), "nominalConcurrencyShares", "30" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.QueuingConfiguration"), "handSize", "8" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.QueuingConfiguration"), "queueLengthLimit", "50" },
    { TYPE("flowcontrol.apiserver.k8s.io/v1.QueuingConfiguration"), "queues", "64" },
    { TYPE("networking.k8s.io/v1.IngressClassParametersReference"), "scope", "\"Cluster\"" },
    { TYPE("networking.k8s.io/v1.NetworkPolicyPort"), "protocol", "\"TCP\"" },
    { TYPE("rbac.authorization.k8s.io/v1.RoleRef"), "apiGroup", "\"rbac.authorization.k8s.io\"" },
    { TYPE("resource.k8s.io/v1.DeviceSubRequest"), "allocationMode", "\"ExactCount\"" },
    { TYPE("resource.k8s.io/v1.ExactDeviceRequest"), "allocationMode", "\"ExactCount\"" },
    { TYPE("scheduling.k8s.io/v1.PriorityClass"), "preemptionPolicy", "\"PreemptLowerPriority\"" },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), "attachRequired", "true" },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), "fsGroupPolicy", "\"ReadWriteOnceWithFSType\"" },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), "podInfoOnMount", "false" },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), "requiresRepublish", "false" },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), "seLinuxMount", "false" },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), "storageCapacity", "false" },
    { TYPE("storage.k8s.io/v1.StorageClass"), "reclaimPolicy", "\"Delete\"" },
    { TYPE("storage.k8s.io/v1.StorageClass"), "volumeBindingMode", "\"Immediate\"" },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static struct value literal_value(struct arena *a, const struct field *f, const char *literal)
{
    size_t n = strlen(literal);
    if (*literal == '"')
        return value_string((struct str){ literal + 1, n - 2 });
    if (*literal == '{')
        return value_struct(a, f->type);
    if (*literal == 't' || *literal == 'f')
        return value_bool(*literal == 't');
    int64_t number = 0;
    for (const char *c = literal; *c; c++)
        number = number * 10 + (*c - '0');
    return value_int(number);
}

/* As Go sees it: a field without a pointer cannot tell its zero from nothing. */
static bool is_unset(const struct field *f, const struct value *v)
{
    if (v->kind == VALUE_ABSENT)
        return true;
    if (f->flags & FIELD_PTR || f->shape != SHAPE_ONE)
        return false;
    return (v->kind == VALUE_STRING && v->n == 0) || (v->kind == VALUE_INT && v->i == 0);
}

/* A struct that is changed on the way: copied once, when the first change comes. */
struct draft {
    struct arena *arena;
    const struct type *type;
    struct value value;
    bool is_copy;
};

static void put(struct draft *d, int slot, struct value to)
{
    if (!d->is_copy) {
        struct value copy = value_struct(d->arena, d->type);
        memcpy(copy.slots, d->value.slots, d->type->n_fields * sizeof(*copy.slots));
        d->value = copy;
        d->is_copy = true;
    }
    d->value.slots[slot] = to;
}

static int slot_of(const struct draft *d, const char *field)
{
    int slot = schema_slot(d->type, str_of(field));
    assert(slot >= 0);
    return slot;
}

static const struct value *get(const struct draft *d, const char *field)
{
    return &d->value.slots[slot_of(d, field)];
}

static void fill(struct draft *d, const char *field, struct value to)
{
    int slot = slot_of(d, field);
    if (is_unset(&d->type->fields[slot], &d->value.slots[slot]))
        put(d, slot, to);
}

/* The first row of a type, or N_ROWS. */
static size_t first_row(struct str type)
{
    size_t low = 0, high = N_ROWS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (str_cmp(rows[middle].type, type) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < N_ROWS && str_eq(type, rows[low].type) ? low : N_ROWS;
}

static void fill_rows(struct draft *d)
{
    for (size_t i = first_row(d->type->name); i < N_ROWS && str_eq(d->type->name, rows[i].type); i++) {
        int slot = slot_of(d, rows[i].field);
        const struct field *f = &d->type->fields[slot];
        if (is_unset(f, &d->value.slots[slot]))
            put(d, slot, literal_value(d->arena, f, rows[i].literal));
    }
    for (int slot = 0; slot < d->type->n_fields; slot++) {
        const struct field *f = &d->type->fields[slot];
        if (f->default_json && f->shape == SHAPE_ONE && is_unset(f, &d->value.slots[slot]))
            put(d, slot, literal_value(d->arena, f, f->default_json));
    }
}

/* ---- Amounts ---- */

/* Maps of amounts, of which none is finer than a thousandth; sorted by type. */
static const struct {
    struct str type;
    const char *field;
} amounts[] = {
    { TYPE("core/v1.ContainerStatus"), "allocatedResources" },
    { TYPE("core/v1.LimitRangeItem"), "default" },
    { TYPE("core/v1.LimitRangeItem"), "defaultRequest" },
    { TYPE("core/v1.LimitRangeItem"), "max" },
    { TYPE("core/v1.LimitRangeItem"), "maxLimitRequestRatio" },
    { TYPE("core/v1.LimitRangeItem"), "min" },
    { TYPE("core/v1.NodeStatus"), "allocatable" },
    { TYPE("core/v1.NodeStatus"), "capacity" },
    { TYPE("core/v1.PersistentVolumeClaimStatus"), "allocatedResources" },
    { TYPE("core/v1.PersistentVolumeClaimStatus"), "capacity" },
    { TYPE("core/v1.PersistentVolumeSpec"), "capacity" },
    { TYPE("core/v1.PodSpec"), "overhead" },
    { TYPE("core/v1.PodStatus"), "allocatedResources" },
    { TYPE("core/v1.ResourceQuotaSpec"), "hard" },
    { TYPE("core/v1.ResourceQuotaStatus"), "hard" },
    { TYPE("core/v1.ResourceQuotaStatus"), "used" },
    { TYPE("core/v1.ResourceRequirements"), "limits" },
    { TYPE("core/v1.ResourceRequirements"), "requests" },
    { TYPE("core/v1.VolumeResourceRequirements"), "limits" },
    { TYPE("core/v1.VolumeResourceRequirements"), "requests" },
};

/* Rounded up where it is finer; true when it was. */
static bool round_amount(struct arena *a, struct value *amount)
{
    struct quantity q;
    struct err ignored;
    bool exact;
    err_init(&ignored, a);
    if (quantity_parse(a, value_text(amount), &q, &ignored) ||
        quantity_round_up(a, &q, QUANTITY_MILLI, &exact, &ignored) || exact)
        return false;
    *amount = value_string(quantity_text(a, &q));
    return true;
}

static void round_map(struct draft *d, const char *field)
{
    const struct value *map = get(d, field);
    struct value copy = *map;
    bool changed = false;
    for (uint32_t i = 0; map->kind == VALUE_MAP && i < map->n; i++) {
        struct value amount = map->members[i].value;
        if (!round_amount(d->arena, &amount))
            continue;
        if (!changed) {
            copy.members = ARENA_NEW_N(d->arena, struct member, map->n);
            memcpy(copy.members, map->members, map->n * sizeof(*copy.members));
        }
        copy.members[i].value = amount;
        changed = true;
    }
    if (changed)
        put(d, slot_of(d, field), copy);
}

static void round_amounts(struct draft *d)
{
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        if (str_eq(d->type->name, amounts[i].type))
            round_map(d, amounts[i].field);
}

typedef bool takes_resource(struct str resource);

/* The map with those members of `more` that it lacks and that `takes`; the members of both, sorted once. */
static struct value fill_amounts(struct arena *a, const struct value *map, const struct value *more, takes_resource *takes)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0, n_more = more->kind == VALUE_MAP ? more->n : 0, n_old = n;
    struct member *members = ARENA_NEW_N(a, struct member, n + n_more);
    if (n)
        memcpy(members, map->members, n * sizeof(*members));
    for (uint32_t i = 0; i < n_more; i++)
        if (takes(more->members[i].key) && !(n_old && value_member(map, more->members[i].key)))
            members[n++] = more->members[i];
    return n > n_old ? value_map(members, value_sort_members(members, n)) : *map;
}

static bool is_any(struct str resource)
{
    (void)resource;
    return true;
}

/* ---- Functions of types inside others ---- */

/* Always for the newest; a name that is none is somebody else's to refuse. */
static void fill_pull_policy(struct draft *d, const char *image, const char *policy)
{
    bool newest = image_name_is_latest(value_text(get(d, image)));
    fill(d, policy, edit_text(newest ? "Always" : "IfNotPresent"));
}

static void fill_container(struct draft *d)
{
    fill_pull_policy(d, "image", "imagePullPolicy");
}

static void fill_image_volume(struct draft *d)
{
    fill_pull_policy(d, "reference", "pullPolicy");
}

/* Nothing but a name: an empty directory. */
static void fill_volume(struct draft *d)
{
    int name = slot_of(d, "name"), empty = slot_of(d, "emptyDir");
    for (int slot = 0; slot < d->type->n_fields; slot++)
        if (slot != name && d->value.slots[slot].kind != VALUE_ABSENT)
            return;
    put(d, empty, value_struct(d->arena, d->type->fields[empty].type));
}

static void fill_service_port(struct draft *d)
{
    const struct value *target = get(d, "targetPort");
    bool unset = target->kind == VALUE_ABSENT || (target->kind == VALUE_INT && target->i == 0) ||
                 (target->kind == VALUE_STRING && target->n == 0);
    if (unset && get(d, "port")->kind == VALUE_INT)
        put(d, slot_of(d, "targetPort"), *get(d, "port"));
}

static void fill_service(struct draft *d)
{
    struct str type = value_text(get(d, "type"));
    if (!str_is(type, "ExternalName"))
        fill(d, "internalTrafficPolicy", edit_text("Cluster"));
    const struct value *external = get(d, "externalIPs");
    bool is_balancer = str_is(type, "LoadBalancer");
    if (is_balancer || str_is(type, "NodePort") || (external->kind == VALUE_LIST && external->n))
        fill(d, "externalTrafficPolicy", edit_text("Cluster"));
    if (is_balancer)
        fill(d, "allocateLoadBalancerNodePorts", value_bool(true));
}

static const struct row rolling_rows[] = {
    { TYPE("apps/v1.RollingUpdateDaemonSet"), "maxSurge", "0" },
    { TYPE("apps/v1.RollingUpdateDaemonSet"), "maxUnavailable", "1" },
    { TYPE("apps/v1.RollingUpdateDeployment"), "maxSurge", "\"25%\"" },
    { TYPE("apps/v1.RollingUpdateDeployment"), "maxUnavailable", "\"25%\"" },
    { TYPE("apps/v1.RollingUpdateStatefulSetStrategy"), "partition", "0" },
};

/* The strategy's own struct is made and filled only for the strategy that has one. */
static void fill_rolling_update(struct draft *d)
{
    if (!str_is(value_text(get(d, "type")), "RollingUpdate"))
        return;
    int slot = slot_of(d, "rollingUpdate");
    const struct type *t = d->type->fields[slot].type;
    struct draft inside = { d->arena, t, *get(d, "rollingUpdate"), false };
    if (inside.value.kind == VALUE_ABSENT)
        inside.value = value_struct(d->arena, t);
    for (size_t i = 0; i < sizeof(rolling_rows) / sizeof(rolling_rows[0]); i++)
        if (str_eq(t->name, rolling_rows[i].type)) {
            const struct field *f = &t->fields[slot_of(&inside, rolling_rows[i].field)];
            fill(&inside, rolling_rows[i].field, literal_value(d->arena, f, rolling_rows[i].literal));
        }
    if (inside.value.slots != get(d, "rollingUpdate")->slots)
        put(d, slot, inside.value);
}

/* Strategies and probes are structs without pointers: they are there even when nothing was written. */
static void make_struct(struct draft *d, const char *field)
{
    int slot = slot_of(d, field);
    if (d->value.slots[slot].kind == VALUE_ABSENT)
        put(d, slot, value_struct(d->arena, d->type->fields[slot].type));
}

static void fill_status(struct draft *d)
{
    make_struct(d, "status");
}

static void fill_deployment(struct draft *d)
{
    make_struct(d, "strategy");
    make_struct(d, "template");
}

static void fill_updates(struct draft *d)
{
    make_struct(d, "updateStrategy");
    make_struct(d, "template");
}

/* Claims in a StatefulSet say what they are. */
static void fill_stateful_set(struct draft *d)
{
    const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
    const struct value *claims = get(d, "volumeClaimTemplates");
    fill_updates(d);
    uint32_t n = claims->kind == VALUE_LIST ? claims->n : 0;
    struct value *items = ARENA_NEW_N(d->arena, struct value, n);
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        struct draft claim = { d->arena, t, claims->items[i], false };
        fill(&claim, "kind", edit_text("PersistentVolumeClaim"));
        fill(&claim, "apiVersion", edit_text("v1"));
        changed |= claim.is_copy;
        items[i] = claim.value;
    }
    if (changed)
        put(d, slot_of(d, "volumeClaimTemplates"), value_list(items, n));
}

/* Of all owners of a template but ReplicationControllers, which may have none. */
static void fill_template(struct draft *d)
{
    make_struct(d, "template");
}

static void fill_job_template(struct draft *d)
{
    make_struct(d, "jobTemplate");
}

static void fill_spec(struct draft *d)
{
    make_struct(d, "spec");
}

/* What may be used at most is what is given, and what is given is what is asked for. */
static void fill_limit(struct draft *d)
{
    if (!str_is(value_text(get(d, "type")), "Container"))
        return;
    static const struct {
        const char *to, *from;
    } steps[] = { { "default", "max" }, { "defaultRequest", "default" }, { "defaultRequest", "min" } };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct value all = fill_amounts(d->arena, get(d, steps[i].to), get(d, steps[i].from), is_any);
        if (all.kind == VALUE_MAP)
            put(d, slot_of(d, steps[i].to), all);
    }
}

static void fill_driver(struct draft *d)
{
    if (get(d, "volumeLifecycleModes")->kind == VALUE_ABSENT)
        put(d, slot_of(d, "volumeLifecycleModes"),
            edit_append(d->arena, &(struct value){ 0 }, edit_text("Persistent")));
}

static void fill_node_status(struct draft *d)
{
    const struct value *capacity = get(d, "capacity");
    const struct value *allocatable = get(d, "allocatable");
    if ((allocatable->kind != VALUE_MAP || !allocatable->n) && capacity->kind == VALUE_MAP)
        put(d, slot_of(d, "allocatable"), *capacity);
}

/* A timeout for affinity to clients, and nothing where there is none. */
static void fill_affinity(struct draft *d)
{
    const struct value *seconds = value_path(d->type, &d->value, "sessionAffinityConfig.clientIP.timeoutSeconds");
    struct str affinity = value_text(get(d, "sessionAffinity"));
    int slot = slot_of(d, "sessionAffinityConfig");
    if (str_is(affinity, "None") && d->value.slots[slot].kind != VALUE_ABSENT)
        put(d, slot, (struct value){ .kind = VALUE_ABSENT });
    if (str_is(affinity, "ClientIP") && seconds->kind == VALUE_ABSENT) {
        put(d, slot, (struct value){ .kind = VALUE_ABSENT });
        put(d, slot, edit_set(d->arena, d->type->fields[slot].type, get(d, "sessionAffinityConfig"),
                              "clientIP.timeoutSeconds", value_int(10800)));
    }
}

static void fill_service_spec(struct draft *d)
{
    fill_affinity(d);
    fill_service(d);
}

static void fill_device_request(struct draft *d)
{
    if (str_is(value_text(get(d, "allocationMode")), "ExactCount"))
        fill(d, "count", value_int(1));
}

/* Users and groups belong to the group that names them; service accounts to the core group. */
static void fill_subject(struct draft *d)
{
    struct str kind = value_text(get(d, "kind"));
    if (str_is(kind, "User") || str_is(kind, "Group"))
        fill(d, "apiGroup", edit_text("rbac.authorization.k8s.io"));
}

static void fill_role_reference(struct draft *d)
{
    make_struct(d, "roleRef");
}

static void fill_policy_types(struct draft *d)
{
    const struct value *types = get(d, "policyTypes"), *egress = get(d, "egress");
    if (types->kind == VALUE_LIST && types->n)
        return;
    struct value list = edit_append(d->arena, &(struct value){ 0 }, edit_text("Ingress"));
    if (egress->kind == VALUE_LIST && egress->n)
        list = edit_append(d->arena, &list, edit_text("Egress"));
    put(d, slot_of(d, "policyTypes"), list);
}

static void fill_definition(struct draft *d)
{
    struct value names = *get(d, "names");
    const struct type *t = d->type->fields[slot_of(d, "names")].type;
    struct str kind = value_text(value_path(t, &names, "kind"));
    if (kind.n && !value_text(value_path(t, &names, "singular")).n) {
        char *lower = arena_cstr(d->arena, kind);
        for (size_t i = 0; i < kind.n; i++)
            lower[i] = (char)(lower[i] >= 'A' && lower[i] <= 'Z' ? lower[i] - 'A' + 'a' : lower[i]);
        names = edit_set(d->arena, t, &names, "singular", value_string((struct str){ lower, kind.n }));
    }
    if (kind.n && !value_text(value_path(t, &names, "listKind")).n)
        names = edit_set(d->arena, t, &names, "listKind", edit_text(arena_printf(d->arena, "%.*sList", STR_ARG(kind))));
    put(d, slot_of(d, "names"), names);
    int conversion = slot_of(d, "conversion");
    if (d->value.slots[conversion].kind == VALUE_ABSENT)
        put(d, conversion, edit_set(d->arena, d->type->fields[conversion].type, &d->value.slots[conversion], "strategy",
                                    edit_text("None")));
}

/* serviceAccount is the older name of serviceAccountName, which counts where both are given. */
static void fill_pod_spec(struct draft *d)
{
    struct str name = value_text(get(d, "serviceAccountName")), old = value_text(get(d, "serviceAccount"));
    if (!name.n && old.n)
        put(d, slot_of(d, "serviceAccountName"), value_string(old));
    else if (!str_eq(name, old))
        put(d, slot_of(d, "serviceAccount"), value_string(name));
}

/* ---- Functions of whole objects ---- */

static void set_path(struct draft *d, const char *path, struct value to)
{
    d->value = edit_set(d->arena, d->type, &d->value, path, to);
    d->is_copy = false; /* only the way to the place is ours */
}

static const struct value *at_path(const struct draft *d, const char *path)
{
    return value_path(d->type, &d->value, path);
}

/* A limit without a request is the request, too. */
static bool fill_requests(struct draft *container)
{
    const struct value *limits = value_path(container->type, &container->value, "resources.limits");
    const struct value *requests = value_path(container->type, &container->value, "resources.requests");
    struct value filled = fill_amounts(container->arena, requests, limits, is_any);
    if (filled.kind != VALUE_MAP || filled.members == requests->members)
        return false;
    set_path(container, "resources.requests", filled);
    return true;
}

/* In the host's network a container's port is the host's. */
static bool fill_host_ports(struct draft *container)
{
    const struct type *port = schema_type(STR("core/v1.ContainerPort"));
    int from = schema_slot(port, STR("containerPort")), to = schema_slot(port, STR("hostPort"));
    const struct value *ports = get(container, "ports");
    bool changed = false;
    uint32_t n = ports->kind == VALUE_LIST ? ports->n : 0;
    struct value *items = ARENA_NEW_N(container->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        struct draft d = { container->arena, port, ports->items[i], false };
        if (is_unset(&port->fields[to], &d.value.slots[to]) && d.value.slots[from].kind == VALUE_INT)
            put(&d, to, d.value.slots[from]);
        changed |= d.is_copy;
        items[i] = d.value;
    }
    if (changed)
        put(container, slot_of(container, "ports"), value_list(items, n));
    return changed;
}

static void fill_containers(struct draft *pod, const char *path, bool (*fill_one)(struct draft *container))
{
    const struct type *container = schema_type(STR("core/v1.Container"));
    const struct value *list = at_path(pod, path);
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct value *items = ARENA_NEW_N(pod->arena, struct value, n);
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        struct draft d = { pod->arena, container, list->items[i], false };
        changed |= fill_one(&d);
        items[i] = d.value;
    }
    if (changed)
        set_path(pod, path, value_list(items, n));
}

static bool is_huge_page(struct str resource)
{
    return str_starts(resource, STR("hugepages-"));
}

/* Of what the pod as a whole can have: cpu, memory, huge pages. */
static bool is_of_whole_pods(struct str resource)
{
    return str_is(resource, "cpu") || str_is(resource, "memory") || is_huge_page(resource);
}

/* Huge pages must be limited: what containers use of them together. Where the pod asks for some, it says so itself. */
static void fill_pod_pages(struct draft *pod)
{
    const struct value *limits = at_path(pod, "spec.resources.limits");
    const struct value *requests = at_path(pod, "spec.resources.requests");
    bool any = (limits->kind == VALUE_MAP && limits->n) || (requests->kind == VALUE_MAP && requests->n);
    struct value sums = pod_sum_containers(pod->arena, at_path(pod, "spec"), "limits");
    if (!any || sums.kind != VALUE_MAP)
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < sums.n; i++)
        if (requests->kind != VALUE_MAP || !value_member(requests, sums.members[i].key))
            sums.members[n++] = sums.members[i];
    sums.n = n;
    struct value filled = fill_amounts(pod->arena, limits, &sums, is_huge_page);
    if (filled.n != (limits->kind == VALUE_MAP ? limits->n : 0))
        set_path(pod, "spec.resources.limits", filled);
}

static bool is_cpu_or_memory(struct str resource)
{
    return str_is(resource, "cpu") || str_is(resource, "memory");
}

/* Where the pod is limited it asks for what its containers ask for, and else for as much as it may use. */
static void fill_pod_requests(struct draft *pod)
{
    const struct value *limits = at_path(pod, "spec.resources.limits");
    const struct value *requests = at_path(pod, "spec.resources.requests");
    if (limits->kind != VALUE_MAP || !limits->n)
        return;
    struct value sums = pod_sum_containers(pod->arena, at_path(pod, "spec"), "requests");
    struct value filled = fill_amounts(pod->arena, requests, &sums, is_cpu_or_memory);
    filled = fill_amounts(pod->arena, &filled, limits, is_of_whole_pods);
    if (filled.kind == VALUE_MAP && filled.n != (requests->kind == VALUE_MAP ? requests->n : 0))
        set_path(pod, "spec.resources.requests", filled);
}

/* Annotations of very old clients, which once were init containers. */
static void drop_init_annotations(struct draft *d)
{
    static const char *const old[] = { "pod.alpha.kubernetes.io/init-containers", "pod.beta.kubernetes.io/init-containers",
                                       "pod.alpha.kubernetes.io/init-container-statuses",
                                       "pod.beta.kubernetes.io/init-container-statuses" };
    const struct value *map = at_path(d, "metadata.annotations");
    bool found = false;
    for (size_t i = 0; map->kind == VALUE_MAP && i < sizeof(old) / sizeof(old[0]); i++)
        found |= value_member(map, str_of(old[i])) != NULL;
    if (!found)
        return;
    struct member *members = ARENA_NEW_N(d->arena, struct member, map->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < map->n; i++) {
        bool dropped = false;
        for (size_t k = 0; k < sizeof(old) / sizeof(old[0]); k++)
            dropped |= str_is(map->members[i].key, old[k]);
        if (!dropped)
            members[n++] = map->members[i];
    }
    set_path(d, "metadata.annotations", n ? value_map(members, n) : (struct value){ .kind = VALUE_ABSENT });
}

/* podIP is the first of podIPs; where both are given and differ, podIP counts. */
static void fill_pod_ips(struct draft *d)
{
    const struct type *t = schema_type(STR("core/v1.PodIP"));
    const struct value *list = at_path(d, "status.podIPs"), *ip = at_path(d, "status.podIP");
    bool any = list->kind == VALUE_LIST && list->n;
    struct str first = any ? value_text(value_path(t, &list->items[0], "ip")) : STR("");
    if (any && !value_text(ip).n)
        set_path(d, "status.podIP", value_string(first));
    if (!value_text(ip).n || (any && str_eq(first, value_text(ip))))
        return;
    struct value none = { .kind = VALUE_ABSENT }, entry = edit_set(d->arena, t, &none, "ip", *ip);
    set_path(d, "status.podIPs", edit_append(d->arena, &none, entry));
}

/* Addresses of load balancers are of one's own unless something else is said. */
static void fill_balancer_modes(struct draft *d)
{
    const struct type *t = schema_type(STR("core/v1.LoadBalancerIngress"));
    const struct value *list = at_path(d, "status.loadBalancer.ingress");
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    if (n == 0 || !str_is(value_text(at_path(d, "spec.type")), "LoadBalancer"))
        return;
    struct value *items = ARENA_NEW_N(d->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        bool needs = value_text(value_path(t, &list->items[i], "ip")).n &&
                     value_path(t, &list->items[i], "ipMode")->kind == VALUE_ABSENT;
        items[i] = needs ? edit_set(d->arena, t, &list->items[i], "ipMode", edit_text("VIP")) : list->items[i];
    }
    set_path(d, "status.loadBalancer.ingress", value_list(items, n));
}

/* Of volumes that are objects: those within other objects keep what they have. */
static void fill_persistent_volume(struct draft *d)
{
    if (!value_text(at_path(d, "spec.persistentVolumeReclaimPolicy")).n)
        set_path(d, "spec.persistentVolumeReclaimPolicy", edit_text("Retain"));
    if (at_path(d, "spec.volumeMode")->kind == VALUE_ABSENT)
        set_path(d, "spec.volumeMode", edit_text("Filesystem"));
}

/* The version that is stored has been stored from the beginning. */
static void fill_stored_versions(struct draft *d)
{
    const struct type *t = schema_type(STR("apiextensions.k8s.io/v1.CustomResourceDefinitionVersion"));
    const struct value *stored = at_path(d, "status.storedVersions"), *versions = at_path(d, "spec.versions");
    if (stored->kind == VALUE_LIST && stored->n)
        return;
    for (uint32_t i = 0; versions->kind == VALUE_LIST && i < versions->n; i++)
        if (value_path(t, &versions->items[i], "storage")->b) {
            struct value name = *value_path(t, &versions->items[i], "name");
            set_path(d, "status.storedVersions", edit_append(d->arena, &(struct value){ 0 }, name));
            return;
        }
}

/* What templates keep as it was written and pods get. */
static void fill_pod(struct draft *d)
{
    if (at_path(d, "spec")->kind != VALUE_STRUCT)
        return;
    fill_containers(d, "spec.containers", fill_requests);
    fill_containers(d, "spec.initContainers", fill_requests);
    fill_pod_pages(d);
    fill_pod_requests(d);
    const struct value *grace = at_path(d, "spec.terminationGracePeriodSeconds");
    if (grace->kind == VALUE_INT && grace->i < 0)
        set_path(d, "spec.terminationGracePeriodSeconds", value_int(1));
    drop_init_annotations(d);
    fill_pod_ips(d);
    if (at_path(d, "spec.enableServiceLinks")->kind == VALUE_ABSENT)
        set_path(d, "spec.enableServiceLinks", value_bool(true));
    if (at_path(d, "spec.hostNetwork")->b) {
        fill_containers(d, "spec.containers", fill_host_ports);
        fill_containers(d, "spec.initContainers", fill_host_ports);
    }
}

static void fill_labels(struct draft *d)
{
    const struct value *labels = at_path(d, "spec.template.metadata.labels");
    const struct value *own = at_path(d, "metadata.labels");
    if (labels->kind == VALUE_MAP && (own->kind != VALUE_MAP || !own->n))
        set_path(d, "metadata.labels", *labels);
}

static void fill_autoscaler(struct draft *d)
{
    d->value = defaults_autoscaler(d->arena, d->type, &d->value);
    d->is_copy = false;
}

/* Jobs alone: those that a CronJob is going to make get nothing before they are made. */
static void fill_job(struct draft *d)
{
    const struct type *t = schema_type(STR("batch/v1.JobSpec"));
    struct draft spec = { d->arena, t, *get(d, "spec"), false };
    if (spec.value.kind != VALUE_STRUCT)
        return;
    if (get(&spec, "completions")->kind == VALUE_ABSENT && get(&spec, "parallelism")->kind == VALUE_ABSENT)
        fill(&spec, "completions", value_int(1));
    fill(&spec, "parallelism", value_int(1));
    fill(&spec, "backoffLimit", value_int(get(&spec, "backoffLimitPerIndex")->kind == VALUE_INT ? INT32_MAX : 6));
    fill(&spec, "completionMode", edit_text("NonIndexed"));
    fill(&spec, "suspend", value_bool(false));
    bool has_policy = get(&spec, "podFailurePolicy")->kind == VALUE_STRUCT;
    fill(&spec, "podReplacementPolicy", edit_text(has_policy ? "Failed" : "TerminatingOrFailed"));
    fill(&spec, "manualSelector", value_bool(false));
    if (spec.is_copy)
        put(d, slot_of(d, "spec"), spec.value);
}

static void fill_replication_controller(struct draft *d)
{
    const struct value *labels = at_path(d, "spec.template.metadata.labels");
    const struct value *selector = at_path(d, "spec.selector");
    if (labels->kind == VALUE_MAP && (selector->kind != VALUE_MAP || !selector->n))
        set_path(d, "spec.selector", *labels);
    fill_labels(d);
}

/* The label that every namespace has and that selectors of namespaces use. */
static void fill_namespace(struct draft *d)
{
    struct str name = value_text(at_path(d, "metadata.name"));
    if (name.n)
        set_path(d, "metadata.labels", edit_member(d->arena, at_path(d, "metadata.labels"),
                                                   STR("kubernetes.io/metadata.name"), value_string(name)));
}

/* ---- The walk ---- */

struct function {
    struct str type;
    void (*fill)(struct draft *d);
};

/* Of a type: after its rows and before what is inside, or after that. */
static const struct function first_functions[] = {
    { TYPE("admissionregistration.k8s.io/v1.MutatingAdmissionPolicy"), fill_spec },
    { TYPE("admissionregistration.k8s.io/v1.ValidatingAdmissionPolicy"), fill_spec },
    { TYPE("apps/v1.DaemonSet"), fill_spec },
    { TYPE("apps/v1.DaemonSetSpec"), fill_updates },
    { TYPE("apps/v1.DaemonSetUpdateStrategy"), fill_rolling_update },
    { TYPE("apps/v1.Deployment"), fill_spec },
    { TYPE("apps/v1.DeploymentSpec"), fill_deployment },
    { TYPE("apps/v1.DeploymentStrategy"), fill_rolling_update },
    { TYPE("apps/v1.ReplicaSet"), fill_spec },
    { TYPE("apps/v1.ReplicaSetSpec"), fill_template },
    { TYPE("apps/v1.StatefulSet"), fill_spec },
    { TYPE("apps/v1.StatefulSetSpec"), fill_stateful_set },
    { TYPE("apps/v1.StatefulSetUpdateStrategy"), fill_rolling_update },
    { TYPE("autoscaling/v1.HorizontalPodAutoscaler"), fill_spec },
    { TYPE("autoscaling/v2.HorizontalPodAutoscaler"), fill_spec },
    { TYPE("batch/v1.CronJob"), fill_spec },
    { TYPE("batch/v1.CronJobSpec"), fill_job_template },
    { TYPE("batch/v1.Job"), fill_spec },
    { TYPE("batch/v1.JobSpec"), fill_template },
    { TYPE("batch/v1.JobTemplateSpec"), fill_spec },
    { TYPE("core/v1.Container"), fill_container },
    { TYPE("core/v1.EphemeralContainer"), fill_container },
    { TYPE("core/v1.ImageVolumeSource"), fill_image_volume },
    { TYPE("core/v1.Namespace"), fill_status },
    { TYPE("core/v1.PersistentVolume"), fill_status },
    { TYPE("core/v1.PersistentVolumeClaim"), fill_status },
    { TYPE("core/v1.Pod"), fill_spec },
    { TYPE("core/v1.PodTemplate"), fill_template },
    { TYPE("core/v1.PodTemplateSpec"), fill_spec },
    { TYPE("core/v1.Service"), fill_spec },
    { TYPE("core/v1.Volume"), fill_volume },
    { TYPE("rbac.authorization.k8s.io/v1.ClusterRoleBinding"), fill_role_reference },
    { TYPE("rbac.authorization.k8s.io/v1.RoleBinding"), fill_role_reference },
};
static const struct function last_functions[] = {
    { TYPE("apiextensions.k8s.io/v1.CustomResourceDefinition"), fill_stored_versions },
    { TYPE("apiextensions.k8s.io/v1.CustomResourceDefinitionSpec"), fill_definition },
    { TYPE("autoscaling/v2.HorizontalPodAutoscaler"), fill_autoscaler },
    { TYPE("batch/v1.Job"), fill_job },
    { TYPE("core/v1.LimitRangeItem"), fill_limit },
    { TYPE("core/v1.Namespace"), fill_namespace },
    { TYPE("core/v1.NodeStatus"), fill_node_status },
    { TYPE("core/v1.PersistentVolume"), fill_persistent_volume },
    { TYPE("core/v1.Pod"), fill_pod },
    { TYPE("core/v1.PodSpec"), fill_pod_spec },
    { TYPE("core/v1.PodTemplateSpec"), drop_init_annotations },
    { TYPE("core/v1.ReplicationController"), fill_replication_controller },
    { TYPE("core/v1.ServicePort"), fill_service_port },
    { TYPE("core/v1.Service"), fill_balancer_modes },
    { TYPE("core/v1.ServiceSpec"), fill_service_spec },
    { TYPE("networking.k8s.io/v1.NetworkPolicySpec"), fill_policy_types },
    { TYPE("rbac.authorization.k8s.io/v1.Subject"), fill_subject },
    { TYPE("resource.k8s.io/v1.DeviceSubRequest"), fill_device_request },
    { TYPE("resource.k8s.io/v1.ExactDeviceRequest"), fill_device_request },
    { TYPE("storage.k8s.io/v1.CSIDriverSpec"), fill_driver },
};

static void call(struct draft *d, const struct function *functions, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(d->type->name, functions[i].type))
            functions[i].fill(d);
}

static bool fill_struct(struct arena *a, const struct type *t, struct value *v);

/* A list or map of structs; copied when something in it changed. */
static bool fill_items(struct arena *a, const struct type *t, struct value *v)
{
    bool changed = false;
    struct value copy = *v;
    if (v->kind == VALUE_LIST)
        copy.items = ARENA_NEW_N(a, struct value, v->n);
    else
        copy.members = ARENA_NEW_N(a, struct member, v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->kind == VALUE_MAP)
            copy.members[i].key = v->members[i].key;
        struct value *item = v->kind == VALUE_LIST ? &copy.items[i] : &copy.members[i].value;
        *item = v->kind == VALUE_LIST ? v->items[i] : v->members[i].value;
        changed |= fill_struct(a, t, item);
    }
    if (changed)
        *v = copy;
    return changed;
}

static bool fill_value(struct arena *a, const struct type *t, struct value *v)
{
    if (v->kind == VALUE_STRUCT)
        return fill_struct(a, t, v);
    return (v->kind == VALUE_LIST || v->kind == VALUE_MAP) && fill_items(a, t, v);
}

static bool fill_struct(struct arena *a, const struct type *t, struct value *v)
{
    if (v->kind != VALUE_STRUCT)
        return false;
    struct draft d = { a, t, *v, false };
    fill_rows(&d);
    call(&d, first_functions, sizeof(first_functions) / sizeof(first_functions[0]));
    for (int slot = 0; slot < t->n_fields; slot++) {
        struct value inside = d.value.slots[slot];
        if (t->fields[slot].kind == KIND_STRUCT && fill_value(a, t->fields[slot].type, &inside))
            put(&d, slot, inside);
    }
    call(&d, last_functions, sizeof(last_functions) / sizeof(last_functions[0]));
    round_amounts(&d);
    bool changed = d.value.slots != v->slots;
    *v = d.value;
    return changed;
}

/* Objects that have defaults, or contain what has. */
static const struct str objects[] = {
    TYPE("apps/v1.DaemonSet"), TYPE("apps/v1.Deployment"), TYPE("apps/v1.ReplicaSet"), TYPE("apps/v1.StatefulSet"),
    TYPE("authentication.k8s.io/v1.TokenRequest"),
    TYPE("autoscaling/v1.HorizontalPodAutoscaler"), TYPE("autoscaling/v2.HorizontalPodAutoscaler"),
    TYPE("batch/v1.CronJob"), TYPE("batch/v1.Job"), TYPE("core/v1.LimitRange"), TYPE("core/v1.Namespace"),
    TYPE("core/v1.Node"), TYPE("core/v1.PersistentVolume"), TYPE("core/v1.PersistentVolumeClaim"), TYPE("core/v1.Pod"),
    TYPE("core/v1.PodTemplate"), TYPE("core/v1.ReplicationController"), TYPE("core/v1.ResourceQuota"),
    TYPE("core/v1.Secret"), TYPE("core/v1.Service"), TYPE("scheduling.k8s.io/v1.PriorityClass"),
    TYPE("storage.k8s.io/v1.CSIDriver"), TYPE("storage.k8s.io/v1.StorageClass"),
    TYPE("admissionregistration.k8s.io/v1.MutatingAdmissionPolicy"),
    TYPE("admissionregistration.k8s.io/v1.MutatingAdmissionPolicyBinding"),
    TYPE("admissionregistration.k8s.io/v1.MutatingWebhookConfiguration"),
    TYPE("admissionregistration.k8s.io/v1.ValidatingAdmissionPolicy"),
    TYPE("admissionregistration.k8s.io/v1.ValidatingAdmissionPolicyBinding"),
    TYPE("admissionregistration.k8s.io/v1.ValidatingWebhookConfiguration"),
    TYPE("apiextensions.k8s.io/v1.CustomResourceDefinition"), TYPE("apiregistration.k8s.io/v1.APIService"),
    TYPE("core/v1.Endpoints"), TYPE("discovery.k8s.io/v1.EndpointSlice"),
    TYPE("flowcontrol.apiserver.k8s.io/v1.FlowSchema"),
    TYPE("flowcontrol.apiserver.k8s.io/v1.PriorityLevelConfiguration"), TYPE("networking.k8s.io/v1.IngressClass"),
    TYPE("networking.k8s.io/v1.NetworkPolicy"), TYPE("rbac.authorization.k8s.io/v1.ClusterRoleBinding"),
    TYPE("rbac.authorization.k8s.io/v1.RoleBinding"), TYPE("resource.k8s.io/v1.ResourceClaim"),
    TYPE("resource.k8s.io/v1.ResourceClaimTemplate"), TYPE("resource.k8s.io/v1.ResourceSlice"),
    TYPE("resource.k8s.io/v1.DeviceClass"), TYPE("storage.k8s.io/v1.VolumeAttachment"),
};

/* A spec that nobody gave is one with nothing in it, and has its defaults. */
static void fill_absent_spec(struct arena *a, const struct type *t, struct value *v)
{
    int slot = schema_slot(t, STR("spec"));
    if (slot < 0 || v->kind != VALUE_STRUCT || v->slots[slot].kind != VALUE_ABSENT || t->fields[slot].kind != KIND_STRUCT)
        return;
    struct value spec = value_struct(a, t->fields[slot].type);
    if (fill_struct(a, t->fields[slot].type, &spec))
        *v = edit_set(a, t, v, "spec", spec);
}

struct value defaults_apply(struct arena *a, const struct type *t, const struct value *v)
{
    struct value filled = *v;
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        if (str_eq(t->name, objects[i])) {
            fill_absent_spec(a, t, &filled);
            fill_struct(a, t, &filled);
        }
    return filled;
}

/* ---- Pods from a server ---- */

static bool container_is_complete(const struct type *container, const struct value *v, bool host_network)
{
    const struct value *limits = value_path(container, v, "resources.limits");
    const struct value *requests = value_path(container, v, "resources.requests");
    for (uint32_t i = 0; limits->kind == VALUE_MAP && i < limits->n; i++)
        if (requests->kind != VALUE_MAP || !value_member(requests, limits->members[i].key))
            return false;
    const struct type *port = schema_type(STR("core/v1.ContainerPort"));
    const struct value *ports = value_path(container, v, "ports");
    for (uint32_t i = 0; host_network && ports->kind == VALUE_LIST && i < ports->n; i++)
        if (value_path(port, &ports->items[i], "hostPort")->i == 0)
            return false;
    return true;
}

static bool containers_are_complete(const struct type *t, const struct value *pod, const char *path)
{
    const struct type *container = schema_type(STR("core/v1.Container"));
    const struct value *list = value_path(t, pod, path);
    bool host_network = value_path(t, pod, "spec.hostNetwork")->b;
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (!container_is_complete(container, &list->items[i], host_network))
            return false;
    return true;
}

bool defaults_pod_is_complete(const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    return value_text(value_path(t, pod, "spec.schedulerName")).n && containers_are_complete(t, pod, "spec.containers") &&
           containers_are_complete(t, pod, "spec.initContainers") &&
           value_path(t, pod, "spec.resources.limits")->kind != VALUE_MAP;
}
