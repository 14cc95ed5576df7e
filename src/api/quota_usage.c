/* api/quota_usage.c - what objects of a kind use of resources that quotas limit; see quota.h. */
#include "api/edit.h"
#include "api/pod_sums.h"
#include "api/quota.h"

#define CLASS_SUFFIX ".storageclass.storage.k8s.io/"
#define DEVICES_SUFFIX ".deviceclass.resource.k8s.io/devices"
/* What a request for all devices of a class may get at most. */
enum { DEVICES_OF_ALL = 32 };

static struct quantity whole(int64_t number)
{
    return quantity_make(number, 0, QUANTITY_DECIMAL_SI);
}

static struct quantity member_amount(struct arena *a, const struct value *map, struct str key)
{
    const struct value *v = value_member(map, key);
    struct quantity q = { 0 };
    struct err ignored;
    err_init(&ignored, a);
    if (v && quantity_parse(a, value_text(v), &q, &ignored))
        q = (struct quantity){ 0 };
    return q;
}

static const struct value *of(const struct quota_object *o, const char *type, const char *path)
{
    return value_path(schema_type(str_of(type)), o->value, path);
}

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (str_is(text, *words))
            return true;
    return false;
}

/* ---- Pods ---- */

static bool is_finished(const struct value *pod, int64_t now_s)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    struct str phase = value_text(value_path(t, pod, "status.phase"));
    const struct value *gone = value_path(t, pod, "metadata.deletionTimestamp");
    const struct value *grace = value_path(t, pod, "metadata.deletionGracePeriodSeconds");
    if (str_is(phase, "Failed") || str_is(phase, "Succeeded"))
        return true;
    return gone->kind == VALUE_TIME && grace->kind == VALUE_INT && now_s - gone->i > grace->i;
}

/* The larger amount of each resource. */
static struct value larger(struct arena *a, const struct value *x, const struct value *y)
{
    uint32_t n_x = x->kind == VALUE_MAP ? x->n : 0, n_y = y->kind == VALUE_MAP ? y->n : 0, n = 0;
    struct member *members = ARENA_NEW_N(a, struct member, n_x + n_y);
    for (uint32_t i = 0; i < n_x; i++) {
        struct quantity mine = member_amount(a, x, x->members[i].key), other = member_amount(a, y, x->members[i].key);
        bool keeps = !value_member(y, x->members[i].key) || quantity_cmp(&mine, &other) >= 0;
        members[n++] = keeps ? x->members[i] : (struct member){ x->members[i].key,
                                                                *value_member(y, x->members[i].key) };
    }
    for (uint32_t i = 0; i < n_y; i++)
        if (!value_member(x, y->members[i].key))
            members[n++] = y->members[i];
    return value_map(members, value_sort_members(members, n));
}

static bool resize_is_infeasible(const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.Pod")), *c = schema_type(STR("core/v1.PodCondition"));
    const struct value *list = value_path(t, pod, "status.conditions");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(c, &list->items[i], "type")), "PodResizePending"))
            return str_is(value_text(value_path(c, &list->items[i], "reason")), "Infeasible");
    return false;
}

/* A container that is being resized uses what it still has and what it is to have, whatever is more. */
static struct value with_status(struct arena *a, const struct value *container, const struct value *status,
                                bool infeasible)
{
    const struct type *t = schema_type(STR("core/v1.Container")), *s = schema_type(STR("core/v1.ContainerStatus"));
    const struct value none = { 0 };
    if (value_path(s, status, "resources")->kind != VALUE_STRUCT)
        return *container;
    struct value requests = larger(a, value_path(s, status, "resources.requests"),
                                   value_path(s, status, "allocatedResources"));
    requests = larger(a, infeasible ? &none : value_path(t, container, "resources.requests"), &requests);
    struct value limits = larger(a, infeasible ? &none : value_path(t, container, "resources.limits"),
                                 value_path(s, status, "resources.limits"));
    struct value changed = edit_set(a, t, container, "resources.requests", requests);
    return edit_set(a, t, &changed, "resources.limits", limits);
}

/* Statuses by the names of their containers. */
static struct value by_name(struct arena *a, const struct value *list)
{
    const struct type *s = schema_type(STR("core/v1.ContainerStatus"));
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct member *members = ARENA_NEW_N(a, struct member, n);
    for (uint32_t i = 0; i < n; i++)
        members[i] = (struct member){ value_text(value_path(s, &list->items[i], "name")), list->items[i] };
    return value_map(members, value_sort_members(members, n));
}

static void use_statuses(struct arena *a, struct value *pod, const char *list_path, const char *status_path)
{
    const struct type *t = schema_type(STR("core/v1.Pod")), *c = schema_type(STR("core/v1.Container"));
    const struct value *list = value_path(t, pod, list_path);
    struct value statuses = by_name(a, value_path(t, pod, status_path));
    if (list->kind != VALUE_LIST || !statuses.n)
        return;
    bool init = str_is(str_of(list_path), "spec.initContainers"), infeasible = resize_is_infeasible(pod);
    struct value *items = ARENA_NEW_N(a, struct value, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *status = value_member(&statuses, value_text(value_path(c, &list->items[i], "name")));
        bool counts = status &&
            (!init || str_is(value_text(value_path(c, &list->items[i], "restartPolicy")), "Always"));
        items[i] = counts ? with_status(a, &list->items[i], status, infeasible) : list->items[i];
    }
    *pod = edit_set(a, t, pod, list_path, value_list(items, list->n));
}

/* What a resource of a quota means of a pod: "requests.cpu" and "cpu" are the request of cpu. False: nothing. */
static bool means(struct str resource, bool *ret_limits, struct str *ret_name)
{
    static const char *const plain[] = { "cpu", "memory", "ephemeral-storage", NULL };
    *ret_limits = str_starts(resource, STR("limits."));
    bool requests = str_starts(resource, STR("requests."));
    *ret_name = str_from(resource, *ret_limits ? 7 : requests ? 9 : 0);
    if (is_one_of(*ret_name, plain))
        return true;
    if (*ret_limits)
        return false;
    if (str_starts(*ret_name, STR("hugepages-")))
        return true;
    bool native = str_index(resource, '/') == resource.n || memmem(resource.p, resource.n, "kubernetes.io/", 14);
    return requests && (!native || str_starts(*ret_name, STR("deviceclass.resource.kubernetes.io/")));
}

static bool pod_counts(struct str resource)
{
    bool limits;
    struct str name;
    return str_is(resource, "pods") || str_is(resource, "count/pods") || means(resource, &limits, &name);
}

static struct quantity pod_amount(struct arena *a, const struct quota_object *o, struct str resource)
{
    bool limits;
    struct str name;
    if (str_is(resource, "count/pods") || (str_is(resource, "pods") && !o->finished))
        return whole(1);
    if (o->finished || !means(resource, &limits, &name))
        return whole(0);
    return member_amount(a, limits ? &o->limits : &o->requests, name);
}

/* ---- PersistentVolumeClaims ---- */

static struct str class_of(const struct value *claim)
{
    const struct type *t = schema_type(STR("core/v1.PersistentVolumeClaim"));
    const struct value *old = value_member(value_path(t, claim, "metadata.annotations"),
                                           STR("volume.beta.kubernetes.io/storage-class"));
    return value_text(old ? old : value_path(t, claim, "spec.storageClassName"));
}

/* The part of a resource behind its storage class, which goes to *ret_class; all of it when it names none. */
static struct str without_class(struct str resource, struct str *ret_class)
{
    const struct str suffix = STR(CLASS_SUFFIX);
    const char *hit = resource.n ? memmem(resource.p, resource.n, suffix.p, suffix.n) : NULL;
    *ret_class = hit ? str_range(resource.p, hit) : STR("");
    return hit ? str_from(resource, (size_t)(hit - resource.p) + suffix.n) : resource;
}

static bool claim_counts(struct str resource)
{
    struct str class, rest = without_class(resource, &class);
    return str_is(rest, "persistentvolumeclaims") || str_is(rest, "requests.storage") ||
           str_is(resource, "count/persistentvolumeclaims");
}

static struct quantity storage_amount(struct arena *a, const struct quota_object *o)
{
    const char *t = "core/v1.PersistentVolumeClaim";
    struct quantity asked = member_amount(a, of(o, t, "spec.resources.requests"), STR("storage"));
    struct quantity given = member_amount(a, of(o, t, "status.allocatedResources"), STR("storage"));
    struct quantity q = quantity_cmp(&given, &asked) > 0 ? given : asked;
    struct err ignored;
    err_init(&ignored, a);
    bool exact;
    return quantity_round_up(a, &q, 0, &exact, &ignored) ? asked : q;
}

static struct quantity claim_amount(struct arena *a, const struct quota_object *o, struct str resource)
{
    struct str class, rest = without_class(resource, &class);
    if (class.n && !str_eq(class, class_of(o->value)))
        return whole(0);
    return str_is(rest, "requests.storage") ? storage_amount(a, o) : whole(1);
}

/* ---- Services ---- */

static bool service_counts(struct str resource)
{
    static const char *const names[] = { "count/services", "services", "services.nodeports", "services.loadbalancers",
                                         NULL };
    return is_one_of(resource, names);
}

static int64_t node_ports(const struct quota_object *o, bool given_only)
{
    const struct value *ports = of(o, "core/v1.Service", "spec.ports");
    int64_t n = 0;
    for (uint32_t i = 0; ports->kind == VALUE_LIST && i < ports->n; i++)
        n += !given_only || value_path(schema_type(STR("core/v1.ServicePort")), &ports->items[i], "nodePort")->i != 0;
    return n;
}

static struct quantity service_amount(const struct quota_object *o, struct str resource)
{
    struct str type = value_text(of(o, "core/v1.Service", "spec.type"));
    bool balancer = str_is(type, "LoadBalancer");
    const struct value *allocates = of(o, "core/v1.Service", "spec.allocateLoadBalancerNodePorts");
    if (str_is(resource, "services.loadbalancers"))
        return whole(balancer);
    if (str_is(resource, "services.nodeports"))
        return whole(balancer || str_is(type, "NodePort")
                         ? node_ports(o, balancer && allocates->kind == VALUE_BOOL && !allocates->b)
                         : 0);
    return whole(1);
}

/* ---- ResourceClaims ---- */

static bool device_claim_counts(struct str resource)
{
    return str_is(resource, "count/resourceclaims.resource.k8s.io") || str_ends(resource, STR(DEVICES_SUFFIX));
}

/* Of one request or alternative; types of both have the same fields. */
static int64_t devices_of(const struct type *t, const struct value *request, struct str class)
{
    struct str mode = value_text(value_path(t, request, "allocationMode"));
    if (!str_eq(value_text(value_path(t, request, "deviceClassName")), class))
        return 0;
    if (str_is(mode, "All"))
        return DEVICES_OF_ALL;
    return str_is(mode, "ExactCount") ? value_path(t, request, "count")->i : 0;
}

static struct quantity device_claim_amount(struct arena *a, const struct quota_object *o, struct str resource)
{
    const struct type *t = schema_type(STR("resource.k8s.io/v1.DeviceRequest"));
    const struct type *exact = schema_type(STR("resource.k8s.io/v1.ExactDeviceRequest"));
    const struct type *alternative = schema_type(STR("resource.k8s.io/v1.DeviceSubRequest"));
    const struct value *requests = of(o, "resource.k8s.io/v1.ResourceClaim", "spec.devices.requests");
    struct quantity sum = whole(0);
    if (!str_ends(resource, STR(DEVICES_SUFFIX)))
        return whole(1);
    struct str class = str_first(resource, resource.n - (sizeof(DEVICES_SUFFIX) - 1));
    for (uint32_t i = 0; requests->kind == VALUE_LIST && i < requests->n; i++) {
        const struct value *list = value_path(t, &requests->items[i], "firstAvailable");
        int64_t most = 0;
        for (uint32_t k = 0; list->kind == VALUE_LIST && k < list->n; k++) {
            int64_t n = devices_of(alternative, &list->items[k], class);
            most = n > most ? n : most;
        }
        if (list->kind != VALUE_LIST || !list->n)
            most = devices_of(exact, value_path(t, &requests->items[i], "exactly"), class);
        struct quantity more = whole(most);
        struct err ignored;
        err_init(&ignored, a);
        if (quantity_add(a, &sum, &more, &ignored))
            return sum;
    }
    return sum;
}

/* ---- Any ---- */

/* "count/jobs.batch"; some kinds of old have a name besides. */
static bool object_counts(const struct quota_object *o, struct str resource)
{
    static const char *const named[] = { "configmaps", "resourcequotas", "replicationcontrollers", "secrets", NULL };
    if (!o->group.n && str_eq(resource, o->plural))
        return is_one_of(resource, named);
    if (!str_starts(resource, STR("count/")))
        return false;
    struct str rest = str_from(resource, 6);
    if (!str_starts(rest, o->plural))
        return false;
    rest = str_from(rest, o->plural.n);
    return o->group.n ? rest.n > 1 && rest.p[0] == '.' && str_eq(str_from(rest, 1), o->group) : !rest.n;
}

bool quota_counts(const struct quota_object *o, struct str resource)
{
    switch (o->sort) {
    case QUOTA_PODS: return pod_counts(resource);
    case QUOTA_CLAIMS: return claim_counts(resource);
    case QUOTA_SERVICES: return service_counts(resource);
    case QUOTA_DEVICE_CLAIMS: return device_claim_counts(resource);
    case QUOTA_OBJECTS: return object_counts(o, resource);
    }
    return false;
}

struct quantity quota_amount(struct arena *a, const struct quota_object *o, struct str resource)
{
    if (!quota_counts(o, resource))
        return whole(0);
    switch (o->sort) {
    case QUOTA_PODS: return pod_amount(a, o, resource);
    case QUOTA_CLAIMS: return claim_amount(a, o, resource);
    case QUOTA_SERVICES: return service_amount(o, resource);
    case QUOTA_DEVICE_CLAIMS: return device_claim_amount(a, o, resource);
    case QUOTA_OBJECTS: break;
    }
    return whole(1);
}

enum quota_sort quota_sort_of(struct str plural, struct str group)
{
    static const struct {
        const char *plural, *group;
        enum quota_sort sort;
    } sorts[] = {
        { "pods", "", QUOTA_PODS },
        { "persistentvolumeclaims", "", QUOTA_CLAIMS },
        { "services", "", QUOTA_SERVICES },
        { "resourceclaims", "resource.k8s.io", QUOTA_DEVICE_CLAIMS },
    };
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
        if (str_is(plural, sorts[i].plural) && str_is(group, sorts[i].group))
            return sorts[i].sort;
    return QUOTA_OBJECTS;
}

struct quota_object quota_object(struct arena *a, struct str plural, struct str group, const struct value *v,
                                 int64_t now_s)
{
    struct quota_object o = { .sort = quota_sort_of(plural, group), .plural = plural, .group = group, .value = v };
    if (o.sort != QUOTA_PODS)
        return o;
    struct value pod = *v;
    use_statuses(a, &pod, "spec.containers", "status.containerStatuses");
    use_statuses(a, &pod, "spec.initContainers", "status.initContainerStatuses");
    o.finished = is_finished(v, now_s);
    o.requests = pod_sum(a, &pod, "requests");
    o.limits = pod_sum(a, &pod, "limits");
    return o;
}
