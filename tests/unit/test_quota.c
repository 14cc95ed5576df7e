/* tests/unit/test_quota.c - what objects use of quotas, and which quotas are about them. */
#include "api/pod_sums.h"
#include "api/quota.h"
#include "codec/json.h"
#include "tests/test.h"

static struct value decode(struct arena *a, const char *type, const char *json)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s: %s", json, e.message);
    return v;
}

/* ---- Amounts ---- */

#define PODS "pods", "", "core/v1.Pod"
#define CLAIMS "persistentvolumeclaims", "", "core/v1.PersistentVolumeClaim"
#define SERVICES "services", "", "core/v1.Service"
#define DEVICES "resourceclaims", "resource.k8s.io", "resource.k8s.io/v1.ResourceClaim"
#define ASKS(requests, limits) "\"resources\":{\"requests\":{" requests "},\"limits\":{" limits "}}"
#define RESIZED                                                                                                                 \
    "{\"spec\":{\"containers\":[{\"name\":\"c\"," ASKS("\"cpu\":\"1\"", "\"cpu\":\"2\"") "}]},\"status\":{\"containerStatuses\":["  \
    "{\"name\":\"c\"," ASKS("\"cpu\":\"3\"", "\"cpu\":\"4\"") ",\"allocatedResources\":{\"cpu\":\"2\",\"memory\":\"5\"}}]"
enum { NOW = 1000000 };

static const struct {
    const char *what, *plural, *group, *type, *object, *resource, *amount; /* NULL: the resource is not about it */
} amounts[] = {
    { "a pod", PODS, "{}", "pods", "1" },
    { "a pod as an object", PODS, "{}", "count/pods", "1" },
    { "a pod that failed", PODS, "{\"status\":{\"phase\":\"Failed\"}}", "pods", "0" },
    { "a pod that succeeded is still an object", PODS, "{\"status\":{\"phase\":\"Succeeded\"}}", "count/pods", "1" },
    { "a pod that should be gone", PODS, "{\"metadata\":{\"deletionTimestamp\":\"1970-01-12T13:46:00Z\",\"deletionGracePeriodSeconds\":30}}", "pods", "0" },
    { "a pod that has still time", PODS, "{\"metadata\":{\"deletionTimestamp\":\"1970-01-12T13:46:35Z\",\"deletionGracePeriodSeconds\":30}}", "pods", "1" },
    { "requests by a short name", PODS, "{\"spec\":{\"containers\":[{" ASKS("\"cpu\":\"1\"", "\"cpu\":\"2\"") "}]}}", "cpu", "1" },
    { "limits", PODS, "{\"spec\":{\"containers\":[{" ASKS("\"cpu\":\"1\"", "\"cpu\":\"2\"") "}]}}", "limits.cpu", "2" },
    { "limits of devices are none", PODS, "{}", "limits.example.com/gpu", NULL },
    { "huge pages", PODS, "{\"spec\":{\"containers\":[{" ASKS("\"hugepages-2Mi\":\"4Mi\"", "") "}]}}", "requests.hugepages-2Mi", "4Mi" },
    { "devices", PODS, "{\"spec\":{\"containers\":[{" ASKS("\"example.com/gpu\":\"3\"", "") "}]}}", "requests.example.com/gpu", "3" },
    { "devices by their name alone", PODS, "{}", "example.com/gpu", NULL },
    { "storage is of claims", PODS, "{}", "requests.storage", NULL },
    { "overhead does not make a limit", PODS, "{\"spec\":{\"overhead\":{\"cpu\":\"1\"},\"containers\":[{" ASKS("\"cpu\":\"1\"", "") "}]}}", "limits.cpu", "0" },
    { "nor of none at all", PODS, "{\"spec\":{\"overhead\":{\"cpu\":\"1\"},\"containers\":[{" ASKS("", "\"cpu\":\"0\"") "}]}}", "limits.cpu", "0" },
    { "but adds to one", PODS, "{\"spec\":{\"overhead\":{\"cpu\":\"1\"},\"containers\":[{" ASKS("", "\"cpu\":\"1\"") "}]}}", "limits.cpu", "2" },
    { "what a container still has counts", PODS, RESIZED "}}", "requests.cpu", "3" },
    { "its limit, too", PODS, RESIZED "}}", "limits.cpu", "4" },
    { "and what was allocated alone", PODS, RESIZED "}}", "memory", "5" },
    { "what cannot be is not wanted", PODS,
      "{\"spec\":{\"containers\":[{\"name\":\"c\"," ASKS("\"cpu\":\"9\"", "") "}]},\"status\":{\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":\"Infeasible\"}],"
      "\"containerStatuses\":[{\"name\":\"c\"," ASKS("\"cpu\":\"3\"", "") "}]}}", "cpu", "3" },
    { "init containers that end have only their words", PODS,
      "{\"spec\":{\"initContainers\":[{\"name\":\"c\"," ASKS("\"cpu\":\"1\"", "") "}]},\"status\":{\"initContainerStatuses\":[{\"name\":\"c\"," ASKS("\"cpu\":\"3\"", "") "}]}}",
      "cpu", "1" },
    { "a claim", CLAIMS, "{}", "persistentvolumeclaims", "1" },
    { "its storage", CLAIMS, "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1500m\"}}}}", "requests.storage", "2" },
    { "what was allocated may be more", CLAIMS,
      "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},\"status\":{\"allocatedResources\":{\"storage\":\"2Gi\"}}}", "requests.storage", "2Gi" },
    { "of its class", CLAIMS, "{\"spec\":{\"storageClassName\":\"a\",\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}",
      "a.storageclass.storage.k8s.io/requests.storage", "1Gi" },
    { "not of another", CLAIMS, "{\"spec\":{\"storageClassName\":\"b\"}}", "a.storageclass.storage.k8s.io/persistentvolumeclaims", "0" },
    { "the class of old", CLAIMS, "{\"metadata\":{\"annotations\":{\"volume.beta.kubernetes.io/storage-class\":\"a\"}}}",
      "a.storageclass.storage.k8s.io/persistentvolumeclaims", "1" },
    { "a service without ports on nodes", SERVICES, "{\"spec\":{\"type\":\"ClusterIP\",\"ports\":[{},{}]}}", "services.nodeports", "0" },
    { "with them", SERVICES, "{\"spec\":{\"type\":\"NodePort\",\"ports\":[{},{}]}}", "services.nodeports", "2" },
    { "a balancer with those that are given", SERVICES,
      "{\"spec\":{\"type\":\"LoadBalancer\",\"allocateLoadBalancerNodePorts\":false,\"ports\":[{\"nodePort\":30000},{}]}}", "services.nodeports", "1" },
    { "a balancer", SERVICES, "{\"spec\":{\"type\":\"LoadBalancer\"}}", "services.loadbalancers", "1" },
    { "devices of a class", DEVICES,
      "{\"spec\":{\"devices\":{\"requests\":[{\"exactly\":{\"deviceClassName\":\"a\",\"allocationMode\":\"ExactCount\",\"count\":2}},"
      "{\"exactly\":{\"deviceClassName\":\"b\",\"allocationMode\":\"All\"}},{\"exactly\":{\"deviceClassName\":\"a\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}}",
      "a.deviceclass.resource.k8s.io/devices", "3" },
    { "the most of alternatives", DEVICES,
      "{\"spec\":{\"devices\":{\"requests\":[{\"firstAvailable\":[{\"deviceClassName\":\"a\",\"allocationMode\":\"ExactCount\",\"count\":2},"
      "{\"deviceClassName\":\"a\",\"allocationMode\":\"ExactCount\",\"count\":5},{\"deviceClassName\":\"b\",\"allocationMode\":\"ExactCount\",\"count\":9}]}]}}}",
      "a.deviceclass.resource.k8s.io/devices", "5" },
    { "a job", "jobs", "batch", "batch/v1.Job", "{}", "count/jobs.batch", "1" },
    { "another group", "jobs", "batch", "batch/v1.Job", "{}", "count/jobs.apps", NULL },
    { "no group", "jobs", "batch", "batch/v1.Job", "{}", "count/jobs", NULL },
    { "a secret by its old name", "secrets", "", "core/v1.Secret", "{}", "secrets", "1" },
    { "an object without an old name", "endpoints", "", "core/v1.Endpoints", "{}", "endpoints", NULL },
};

TEST(objects_use_amounts)
{
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct value v = decode(&a, amounts[i].type, amounts[i].object);
        struct quota_object o = quota_object(&a, str_of(amounts[i].plural), str_of(amounts[i].group), &v, NOW);
        CHECK_INT(amounts[i].what, quota_counts(&o, str_of(amounts[i].resource)), amounts[i].amount != NULL);
        struct quantity q = quota_amount(&a, &o, str_of(amounts[i].resource));
        CHECK_STR(amounts[i].what, quantity_text(&a, &q), str_of(amounts[i].amount ? amounts[i].amount : "0"));
        arena_fini(&a);
    }
}

TEST(overhead_alone_is_no_limit)
{
    struct arena a;
    arena_init(&a);
    struct value pod = decode(&a, "core/v1.Pod", "{\"spec\":{\"overhead\":{\"cpu\":\"1\"},\"containers\":[{" ASKS("", "\"memory\":\"1\"") "}]}}");
    struct value limits = pod_sum(&a, &pod, "limits"), requests = pod_sum(&a, &pod, "requests");
    CHECK(!value_member(&limits, STR("cpu")) && value_member(&limits, STR("memory")));
    CHECK(value_member(&requests, STR("cpu")));
    arena_fini(&a);
}

/* ---- Scopes ---- */

#define SELECT(name, operator, values) "\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"" name "\",\"operator\":\"" operator "\",\"values\":[" values "]}]}"

static const struct {
    const char *what, *plural, *group, *type, *object, *scopes;
    bool in;
} scopes[] = {
    { "none", PODS, "{}", "", true },
    { "none, of another kind", SERVICES, "{}", "", true },
    { "scopes of pods are not about services", SERVICES, "{}", "\"scopes\":[\"NotTerminating\"]", false },
    { "nor about claims", CLAIMS, "{}", "\"scopes\":[\"NotTerminating\"]", false },
    { "a class that is in", PODS, "{\"spec\":{\"priorityClassName\":\"a\"}}", SELECT("PriorityClass", "In", "\"b\",\"a\""), true },
    { "no class is in none", PODS, "{}", SELECT("PriorityClass", "In", "\"a\""), false },
    { "no class is not in any", PODS, "{}", SELECT("PriorityClass", "NotIn", "\"a\""), true },
    { "a class that is not in", PODS, "{\"spec\":{\"priorityClassName\":\"a\"}}", SELECT("PriorityClass", "NotIn", "\"a\""), false },
    { "a class", PODS, "{\"spec\":{\"priorityClassName\":\"a\"}}", SELECT("PriorityClass", "Exists", ""), true },
    { "a class, as a scope", PODS, "{}", "\"scopes\":[\"PriorityClass\"]", false },
    { "no class", PODS, "{}", SELECT("PriorityClass", "DoesNotExist", ""), true },
    { "zero of something is nothing", PODS, "{\"spec\":{\"containers\":[{" ASKS("\"cpu\":\"0\"", "") "}]}}", "\"scopes\":[\"BestEffort\"]", true },
    { "devices are nothing, too", PODS, "{\"spec\":{\"containers\":[{" ASKS("\"example.com/gpu\":\"1\"", "") "}]}}", "\"scopes\":[\"BestEffort\"]", true },
    { "an init container's are not", PODS, "{\"spec\":{\"initContainers\":[{" ASKS("\"cpu\":\"1\"", "") "}]}}", "\"scopes\":[\"BestEffort\"]", false },
    { "the pod's as a whole neither", PODS, "{\"spec\":{" ASKS("\"cpu\":\"1\"", "") "}}", "\"scopes\":[\"NotBestEffort\"]", true },
    { "all of several", PODS, "{\"spec\":{\"activeDeadlineSeconds\":1}}", "\"scopes\":[\"Terminating\",\"NotBestEffort\"]", false },
    { "a scope that nobody knows", PODS, "{}", "\"scopes\":[\"Sunny\"]", false },
    { "a class of attributes", CLAIMS, "{\"spec\":{\"volumeAttributesClassName\":\"g\"}}", SELECT("VolumeAttributesClass", "In", "\"g\""), true },
    { "one that it still has", CLAIMS, "{\"spec\":{\"volumeAttributesClassName\":\"x\"},\"status\":{\"currentVolumeAttributesClassName\":\"g\"}}",
      SELECT("VolumeAttributesClass", "In", "\"g\""), true },
    { "one that it is to get", CLAIMS, "{\"status\":{\"modifyVolumeStatus\":{\"targetVolumeAttributesClassName\":\"g\"}}}",
      SELECT("VolumeAttributesClass", "Exists", ""), true },
    { "no class of attributes", CLAIMS, "{}", SELECT("VolumeAttributesClass", "NotIn", "\"g\""), true },
    { "none at all", CLAIMS, "{}", SELECT("VolumeAttributesClass", "DoesNotExist", ""), true },
    { "one of two that is not meant", CLAIMS, "{\"spec\":{\"volumeAttributesClassName\":\"g\"}}", SELECT("VolumeAttributesClass", "NotIn", "\"g\""), false },
};

TEST(quotas_are_about_some)
{
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct value v = decode(&a, scopes[i].type, scopes[i].object);
        struct value quota = decode(&a, "core/v1.ResourceQuota", arena_printf(&a, "{\"spec\":{%s}}", scopes[i].scopes));
        struct quota_object o = quota_object(&a, str_of(scopes[i].plural), str_of(scopes[i].group), &v, NOW);
        CHECK_INT(scopes[i].what, quota_in_scopes(&a, &quota, &o), scopes[i].in);
        arena_fini(&a);
    }
}
