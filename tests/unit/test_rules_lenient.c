/* What older servers let through may stay in an object, and may not be added to one: a real server that could be recorded
 * has no such objects any more. */
#include "api/defaults.h"
#include "codec/json.h"
#include "rules/rules.h"
#include "tests/test.h"

#define META "\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"resourceVersion\":\"1\"}"
#define CLUSTER_META "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}"
#define SERVICE(ip)                                                                                                    \
    "{" META ",\"spec\":{\"clusterIP\":\"None\",\"clusterIPs\":[\"None\"],\"selector\":{\"a\":\"b\"},"                 \
    "\"externalIPs\":[\"" ip "\"]}}"
#define ENDPOINTS(ip) "{" META ",\"subsets\":[{\"addresses\":[{\"ip\":\"" ip "\"}]}]}"
#define SLICE(ip) "{" META ",\"addressType\":\"IPv4\",\"endpoints\":[{\"addresses\":[\"" ip "\"]}]}"
#define INGRESS(secret, path)                                                                                          \
    "{" META ",\"spec\":{\"rules\":[{\"host\":\"*.a\",\"http\":{\"paths\":[{\"path\":\"" path "\",\"pathType\":"       \
    "\"Exact\",\"backend\":{\"service\":{\"name\":\"s\",\"port\":{\"number\":1}}}}]}}],\"tls\":[{\"secretName\":"      \
    "\"" secret "\"}]}}"
#define POLICY(value, cidr)                                                                                            \
    "{" META ",\"spec\":{\"podSelector\":{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":"        \
    "[\"" value                                                                                                        \
    "\"]}]},\"ingress\":[{\"from\":[{\"ipBlock\":{\"cidr\":\"" cidr "\"}}]}]}}"
#define CAPACITY(value)                                                                                                \
    "{" META ",\"storageClassName\":\"c\",\"nodeTopology\":{\"matchExpressions\":[{\"key\":\"k\",\"operator\":"        \
    "\"In\",\"values\":[\"" value "\"]}]}}"
#define ROLE(value)                                                                                                    \
    "{" CLUSTER_META ",\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchExpressions\":[{\"key\":\"k\","          \
    "\"operator\":\"In\",\"values\":[\"" value "\"]}]}]}}"
#define CLAIM(value, group)                                                                                            \
    "{" META ",\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1\"}},"        \
    "\"selector\":"                                                                                                    \
    "{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"" value "\"]}]},\"dataSourceRef\":"       \
    "{\"apiGroup\":\""                                                                                                 \
    group "\",\"kind\":\"K\",\"name\":\"d\"},\"dataSource\":{\"apiGroup\":\"" group "\",\"kind\":\"K\",\"name\":"      \
    "\"d\"}}}"
#define VOLUME(value)                                                                                                  \
    "{" CLUSTER_META ",\"spec\":{\"capacity\":{\"storage\":\"1\"},\"accessModes\":[\"ReadWriteOnce\"],\"csi\":"        \
    "{\"driver\":\"d\","                                                                                               \
    "\"volumeHandle\":\"h\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":"            \
    "[{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"" value "\"]}]}]}}}}"
#define HOOK(name, effects, version)                                                                                   \
    "{\"name\":\"" name "\",\"sideEffects\":\"" effects "\",\"admissionReviewVersions\":[\"" version "\"],"            \
    "\"clientConfig\":{\"url\":\"https://a\"}}"
#define HOOKS(list) "{" CLUSTER_META ",\"webhooks\":[" list "]}"
#define DEFINITION(preserve, version)                                                                                  \
    "{\"metadata\":{\"name\":\"foos.a.b\",\"resourceVersion\":\"1\"},\"spec\":{\"group\":\"a.b\",\"scope\":"           \
    "\"Cluster\",\"names\":"                                                                                           \
    "{\"plural\":\"foos\",\"kind\":\"Foo\"},\"preserveUnknownFields\":" preserve ",\"versions\":[{\"name\":"           \
    "\"v1\",\"storage\":"                                                                                              \
    "true,\"served\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}],\"conversion\":{\"strategy\":"      \
    "\"Webhook\","                                                                                                     \
    "\"webhook\":{\"clientConfig\":{\"url\":\"https://a\"},\"conversionReviewVersions\":[\"" version "\"]}}}}"
#define DEVICES(effect, more)                                                                                          \
    "{" CLUSTER_META ",\"spec\":{\"driver\":\"d\",\"allNodes\":true,\"pool\":{\"name\":\"p\","                         \
    "\"resourceSliceCount\":1},"                                                                                       \
    "\"devices\":[{\"name\":\"x\",\"taints\":[{\"key\":\"k\",\"effect\":\"" effect "\",\"timeAdded\":"                 \
    "\"2026-01-01T00:00:00Z\"}]}" more "]}}"

static const struct {
    const char *what, *type, *old, *new;
    bool refused;
} rows[] = {
    { "an address with zeros stays", "core/v1.Service", SERVICE("01.2.3.4"), SERVICE("01.2.3.4"), false },
    { "another one is refused", "core/v1.Service", SERVICE("01.2.3.4"), SERVICE("02.2.3.4"), true },
    { "endpoints that are the same", "core/v1.Endpoints", ENDPOINTS("127.0.0.1"), ENDPOINTS("127.0.0.1"), false },
    { "endpoints that are not", "core/v1.Endpoints", ENDPOINTS("127.0.0.1"), ENDPOINTS("127.0.0.2"), true },
    { "a slice that is the same", "discovery.k8s.io/v1.EndpointSlice", SLICE("127.0.0.1"), SLICE("127.0.0.1"), false },
    { "a slice that is not", "discovery.k8s.io/v1.EndpointSlice", SLICE("127.0.0.1"), SLICE("127.0.0.2"), true },
    { "odd names of secrets", "networking.k8s.io/v1.Ingress", INGRESS("S_", "/"), INGRESS("T_", "/"), false },
    { "the first odd name", "networking.k8s.io/v1.Ingress", INGRESS("s", "/"), INGRESS("T_", "/"), true },
    { "odd rules for many hosts", "networking.k8s.io/v1.Ingress", INGRESS("s", "a"), INGRESS("s", "b"), false },
    { "the first odd rule", "networking.k8s.io/v1.Ingress", INGRESS("s", "/"), INGRESS("s", "b"), true },
    { "odd values of selectors", "networking.k8s.io/v1.NetworkPolicy", POLICY("a b", "10.0.0.0/8"),
      POLICY("c d", "10.0.0.0/8"), false },
    { "the first odd value", "networking.k8s.io/v1.NetworkPolicy", POLICY("a", "10.0.0.0/8"),
      POLICY("c d", "10.0.0.0/8"), true },
    { "an odd range stays", "networking.k8s.io/v1.NetworkPolicy", POLICY("a", "10.0.0.1/8"), POLICY("b", "10.0.0.1/8"),
      false },
    { "another odd range", "networking.k8s.io/v1.NetworkPolicy", POLICY("a", "10.0.0.1/8"), POLICY("b", "10.0.0.2/8"),
      true },
    { "odd labels of nodes", "storage.k8s.io/v1.CSIStorageCapacity", CAPACITY("a b"), CAPACITY("a b"), false },
    { "odd selectors of roles do not", "rbac.authorization.k8s.io/v1.ClusterRole", ROLE("a b"), ROLE("a b"), true },
    { "odd selectors of claims", "core/v1.PersistentVolumeClaim", CLAIM("a b", "a.b"), CLAIM("a b", "a.b"), false },
    { "odd groups of sources", "core/v1.PersistentVolumeClaim", CLAIM("a", "A_"), CLAIM("a", "A_"), false },
    { "odd nodes of volumes", "core/v1.PersistentVolume", VOLUME("a b"), VOLUME("a b"), false },
    { "webhooks with effects", "admissionregistration.k8s.io/v1.ValidatingWebhookConfiguration",
      HOOKS(HOOK("a.b.c", "Some", "v1")), HOOKS(HOOK("a.b.d", "Some", "v1")), false },
    { "the first webhook with effects", "admissionregistration.k8s.io/v1.ValidatingWebhookConfiguration",
      HOOKS(HOOK("a.b.c", "None", "v1")), HOOKS(HOOK("a.b.d", "Some", "v1")), true },
    { "webhooks of odd versions", "admissionregistration.k8s.io/v1.MutatingWebhookConfiguration",
      HOOKS(HOOK("a.b.c", "None", "v7")), HOOKS(HOOK("a.b.d", "None", "v8")), false },
    { "webhooks of one name", "admissionregistration.k8s.io/v1.MutatingWebhookConfiguration",
      HOOKS(HOOK("a.b.c", "None", "v1") "," HOOK("a.b.c", "None", "v1")),
      HOOKS(HOOK("a.b.d", "None", "v1") "," HOOK("a.b.d", "None", "v1")), false },
    { "unknown fields are kept", "apiextensions.k8s.io/v1.CustomResourceDefinition", DEFINITION("true", "v1"),
      DEFINITION("true", "v1"), false },
    { "unknown fields from now on", "apiextensions.k8s.io/v1.CustomResourceDefinition", DEFINITION("false", "v1"),
      DEFINITION("true", "v1"), true },
    { "odd versions of reviews", "apiextensions.k8s.io/v1.CustomResourceDefinition", DEFINITION("false", "v7"),
      DEFINITION("false", "v8"), false },
    { "the first odd version", "apiextensions.k8s.io/v1.CustomResourceDefinition", DEFINITION("false", "v1"),
      DEFINITION("false", "v8"), true },
    { "taints of a device stay", "resource.k8s.io/v1.ResourceSlice", DEVICES("X", ""), DEVICES("X", ",{\"name\":\"y\"}"),
      false },
    { "other taints", "resource.k8s.io/v1.ResourceSlice", DEVICES("X", ""), DEVICES("Y", ""), true },
};

static struct value object_of(struct arena *a, const struct type *t, const char *json)
{
    struct err e;
    struct value v;
    err_init(&e, a);
    if (json_decode(a, WORK_OWN, t, str_of(json), NULL, &v, &e))
        FAIL("%s\n%s", e.message, json);
    return defaults_apply(a, t, &v);
}

static bool is_namespaced(const struct type *t)
{
    for (size_t i = 0; i < schema_n_resources; i++)
        if (schema_resources[i].type == t)
            return schema_resources[i].namespaced;
    return false;
}

TEST(what_was_let_through_may_stay)
{
    static const struct user somebody = { .name = { "u", 1 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        const struct type *t = schema_type(str_of(rows[i].type));
        const struct kind_rules *k = rules_of(t);
        struct warnings warnings = { .arena = &a };
        struct rules_context c = { .arena = &a, .type = t, .namespaced = is_namespaced(t), .now_s = 1800000000,
                                   .user = &somebody, .warnings = &warnings };
        struct value old = object_of(&a, t, rows[i].old), new = object_of(&a, t, rows[i].new);
        struct field_errors errs;
        field_errors_init(&errs, &a);
        new = k->prepare_update ? k->prepare_update(&c, &new, &old) : new;
        k->validate_update(&c, &new, &old, &errs);
        if ((errs.n > 0) != rows[i].refused)
            FAIL("%s: %.*s", rows[i].what, STR_ARG(field_errors_text(&a, &errs)));
        arena_fini(&a);
    }
}
