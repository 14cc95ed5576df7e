/* Defaults of the API server: every row, and what needs more than a row. */
#include "api/defaults.c"

#include "base/strbuf.h"
#include "codec/json.h"
#include "tests/test.h"

TEST(rows_are_sorted_and_name_fields)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct type *t = schema_type(rows[i].type);
        if (!t)
            FAIL("no type %s", rows[i].type.p);
        int slot = schema_slot(t, str_of(rows[i].field));
        if (slot < 0)
            FAIL("%s has no field %s", rows[i].type.p, rows[i].field);
        CHECK(i == 0 || str_cmp(rows[i - 1].type, rows[i].type) <= 0);
        struct value v = literal_value(&a, &t->fields[slot], rows[i].literal);
        bool is_text = t->fields[slot].kind == KIND_STRING;
        if (is_text != (v.kind == VALUE_STRING) && t->fields[slot].kind != KIND_INT_OR_STRING)
            FAIL("%s.%s: %s", rows[i].type.p, rows[i].field, rows[i].literal);
    }
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        CHECK(schema_type(objects[i]));
    for (size_t i = 0; i < sizeof(first_functions) / sizeof(first_functions[0]); i++)
        CHECK(schema_type(first_functions[i].type));
    for (size_t i = 0; i < sizeof(last_functions) / sizeof(last_functions[0]); i++)
        CHECK(schema_type(last_functions[i].type));
    arena_fini(&a);
}

static struct value decode(struct arena *a, const struct type *t, const char *json)
{
    struct err e;
    err_init(&e, a);
    struct value v;
    if (json_decode(a, WORK_OWN, t, str_of(json), NULL, &v, &e))
        FAIL("%s\n%s", e.message, json);
    return v;
}

#define CONTAINER_DEFAULTS "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":\"File\""
#define SPEC_DEFAULTS "\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\""
#define SPEC_END "\"securityContext\":{},\"schedulerName\":\"default-scheduler\""

static const struct {
    const char *what, *type, *from, *to;
} cases[] = {
    { "a class of volumes", "storage.k8s.io/v1.StorageClass", "{\"provisioner\":\"p\"}",
      "{\"provisioner\":\"p\",\"reclaimPolicy\":\"Delete\",\"volumeBindingMode\":\"Immediate\"}" },
    { "what is given stays", "storage.k8s.io/v1.StorageClass",
      "{\"provisioner\":\"p\",\"reclaimPolicy\":\"Retain\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}",
      "{\"provisioner\":\"p\",\"reclaimPolicy\":\"Retain\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}" },
    { "a pod in the host's network", "core/v1.Pod",
      "{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"ports\":[{\"containerPort\":80},"
      "{\"hostPort\":9,\"containerPort\":81}],\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":"
      "\"1\"}}}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"ports\":[{\"hostPort\":80,\"containerPort\":80,\"protocol\":\"TCP\"},"
      "{\"hostPort\":9,\"containerPort\":81,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},"
      "\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}," CONTAINER_DEFAULTS ",\"imagePullPolicy\":\"IfNotPresent\"}],"
      SPEC_DEFAULTS ",\"hostNetwork\":true," SPEC_END ",\"enableServiceLinks\":true},\"status\":{}}" },
    { "requests of a pod as a whole", "core/v1.Pod",
      "{\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"4\",\"memory\":\"1Gi\"}},\"containers\":[{\"name\":\"c\",\"image\":\"i:1\","
      "\"resources\":{\"requests\":{\"cpu\":\"1500u\"},\"limits\":{\"hugepages-2Mi\":\"2Mi\"}}}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"resources\":{\"limits\":{\"hugepages-2Mi\":\"2Mi\"},"
      "\"requests\":{\"cpu\":\"2m\",\"hugepages-2Mi\":\"2Mi\"}}," CONTAINER_DEFAULTS ",\"imagePullPolicy\":\"IfNotPresent\"}],"
      SPEC_DEFAULTS "," SPEC_END ",\"enableServiceLinks\":true,\"resources\":{\"limits\":{\"cpu\":\"4\",\"hugepages-2Mi\":"
      "\"2Mi\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"2m\",\"hugepages-2Mi\":\"2Mi\",\"memory\":\"1Gi\"}}},\"status\":{}}" },
    { "older names in a pod", "core/v1.Pod",
      "{\"metadata\":{\"annotations\":{\"pod.beta.kubernetes.io/init-containers\":\"[]\"}},\"spec\":{\"serviceAccount\":\"s\","
      "\"terminationGracePeriodSeconds\":-1},\"status\":{\"podIP\":\"1.2.3.4\",\"podIPs\":[{\"ip\":\"5.6.7.8\"},{\"ip\":\"::1\"}]}}",
      "{\"spec\":{\"containers\":null,\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":1,\"dnsPolicy\":\"ClusterFirst\","
      "\"serviceAccountName\":\"s\",\"serviceAccount\":\"s\"," SPEC_END ",\"enableServiceLinks\":true},\"status\":{\"podIP\":"
      "\"1.2.3.4\",\"podIPs\":[{\"ip\":\"1.2.3.4\"}]}}" },
    { "a template keeps what its author wrote", "apps/v1.ReplicaSet",
      "{\"spec\":{\"template\":{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"ports\":"
      "[{\"containerPort\":80}],\"resources\":{\"limits\":{\"cpu\":\"2\"}}}]}}}}",
      "{\"spec\":{\"replicas\":1,\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
      "\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"2\"}}," CONTAINER_DEFAULTS
      ",\"imagePullPolicy\":\"Always\"}]," SPEC_DEFAULTS ",\"hostNetwork\":true," SPEC_END "}}},\"status\":{\"replicas\":0}}" },
    { "a Deployment's strategy", "apps/v1.Deployment", "{\"spec\":{\"template\":{}}}",
      "{\"spec\":{\"replicas\":1,\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{\"containers\":null," SPEC_DEFAULTS ","
      SPEC_END "}},\"strategy\":{\"type\":"
      "\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":\"25%\",\"maxSurge\":\"25%\"}},\"revisionHistoryLimit\":10,"
      "\"progressDeadlineSeconds\":600},\"status\":{}}" },
    { "another strategy", "apps/v1.Deployment", "{\"spec\":{\"replicas\":0,\"strategy\":{\"type\":\"Recreate\"}}}",
      "{\"spec\":{\"replicas\":0,\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{\"containers\":null," SPEC_DEFAULTS "," SPEC_END "}},\"strategy\":{\"type\":"
      "\"Recreate\"},\"revisionHistoryLimit\":10,\"progressDeadlineSeconds\":600},\"status\":{}}" },
    { "a Job without numbers", "batch/v1.Job", "{\"spec\":{}}",
      "{\"spec\":{\"parallelism\":1,\"completions\":1,\"backoffLimit\":6,\"manualSelector\":false,\"template\":{\"metadata\":{},\"spec\":"
      "{\"containers\":null," SPEC_DEFAULTS "," SPEC_END "}},\"completionMode\":\"NonIndexed\",\"suspend\":false,\"podReplacementPolicy\":\"TerminatingOrFailed\"},"
      "\"status\":{}}" },
    { "a Job that is a queue", "batch/v1.Job", "{\"spec\":{\"parallelism\":3,\"backoffLimitPerIndex\":1}}",
      "{\"spec\":{\"parallelism\":3,\"backoffLimit\":2147483647,\"backoffLimitPerIndex\":1,\"manualSelector\":false,\"template\":"
      "{\"metadata\":{},\"spec\":{\"containers\":null," SPEC_DEFAULTS "," SPEC_END "}},\"completionMode\":\"NonIndexed\",\"suspend\":false,\"podReplacementPolicy\":"
      "\"TerminatingOrFailed\"},\"status\":{}}" },
    { "a LimitRange", "core/v1.LimitRange",
      "{\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"2\"},\"min\":{\"cpu\":\"1\",\"memory\":\"1\"}},{\"type\":\"Pod\","
      "\"max\":{\"cpu\":\"2\"}}]}}",
      "{\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{\"cpu\":\"2\"},\"min\":{\"cpu\":\"1\",\"memory\":\"1\"},\"default\":{\"cpu\":"
      "\"2\"},\"defaultRequest\":{\"cpu\":\"2\",\"memory\":\"1\"}},{\"type\":\"Pod\",\"max\":{\"cpu\":\"2\"}}]}}" },
    { "a Node", "core/v1.Node", "{\"status\":{\"capacity\":{\"cpu\":\"4\"}}}",
      "{\"spec\":{},\"status\":{\"capacity\":{\"cpu\":\"4\"},\"allocatable\":{\"cpu\":\"4\"},\"daemonEndpoints\":{\"kubeletEndpoint\":"
      "{\"Port\":0}},\"nodeInfo\":{\"machineID\":\"\",\"systemUUID\":\"\",\"bootID\":\"\",\"kernelVersion\":\"\",\"osImage\":\"\","
      "\"containerRuntimeVersion\":\"\",\"kubeletVersion\":\"\",\"kubeProxyVersion\":\"\",\"operatingSystem\":\"\",\"architecture\":\"\"}}}" },
    { "a Namespace", "core/v1.Namespace", "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"}}}",
      "{\"metadata\":{\"name\":\"a\",\"labels\":{\"kubernetes.io/metadata.name\":\"a\",\"x\":\"y\"}},\"spec\":{},\"status\":{\"phase\":"
      "\"Active\"}}" },
    { "a Service", "core/v1.Service", "{\"spec\":{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80},{\"port\":1,\"targetPort\":\"x\"}]}}",
      "{\"spec\":{\"ports\":[{\"protocol\":\"TCP\",\"port\":80,\"targetPort\":80},{\"protocol\":\"TCP\",\"port\":1,\"targetPort\":\"x\"}],"
      "\"type\":\"LoadBalancer\",\"sessionAffinity\":\"None\",\"externalTrafficPolicy\":\"Cluster\",\"allocateLoadBalancerNodePorts\":true,"
      "\"internalTrafficPolicy\":\"Cluster\"},\"status\":{\"loadBalancer\":{}}}" },
    { "a kind without defaults", "core/v1.ConfigMap", "{\"data\":{\"a\":\"b\"}}", "{\"data\":{\"a\":\"b\"}}" },
};

static const char *encode(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    json_encode(&b, t, v);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* The second time changes nothing, and what they were made of stays as it was. */
TEST(what_is_not_there_is_filled_in)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        arena_init(&a);
        const struct type *t = schema_type(str_of(cases[i].type));
        struct value v = decode(&a, t, cases[i].from), want = decode(&a, t, cases[i].to);
        const char *before = encode(&a, t, &v);
        struct value once = defaults_apply(&a, t, &v), twice = defaults_apply(&a, t, &once);
        CHECK_TEXT(cases[i].what, encode(&a, t, &once), encode(&a, t, &want));
        CHECK_TEXT(cases[i].what, encode(&a, t, &twice), encode(&a, t, &once));
        CHECK_TEXT(cases[i].what, encode(&a, t, &v), before);
        arena_fini(&a);
    }
}

static const struct {
    const char *image, *policy;
} images[] = {
    { "nginx", "Always" }, { "nginx:latest", "Always" }, { "nginx:1.27", "IfNotPresent" }, { "host:5000/nginx", "Always" },
    { "host:5000/nginx:1", "IfNotPresent" }, { "nginx@sha256:0123", "IfNotPresent" },
    { "", "IfNotPresent" }, { "nginx ", "IfNotPresent" }, { "Nginx", "IfNotPresent" }, { "Host/nginx", "Always" },
    { "a/b/c.d_e__f---g", "Always" }, { "a___b", "IfNotPresent" }, { "a..b", "IfNotPresent" }, { "a/-b", "IfNotPresent" },
    { "[::1]:5000/a", "Always" }, { "localhost/a:latest", "Always" }, { "host:x/a", "IfNotPresent" }, { "a:.b", "IfNotPresent" },
    { "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "IfNotPresent" },
    { "nginx:latest@sha256:0123456789abcdef0123456789abcdef", "Always" },
    { "nginx:latest@sha256:0123", "IfNotPresent" },
};

TEST(images_are_pulled)
{
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        struct arena a;
        arena_init(&a);
        const struct type *t = schema_type(STR("core/v1.Pod"));
        const char *json = arena_printf(&a, "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%s\"}]}}", images[i].image);
        struct value v = decode(&a, t, json), filled = defaults_apply(&a, t, &v);
        CHECK_STR(images[i].image, value_text(value_path(t, &filled, "spec.containers.0.imagePullPolicy")), str_of(images[i].policy));
        arena_fini(&a);
    }
}

static const struct {
    const char *what, *spec;
    bool complete;
} pods[] = {
    { "as from a server", "\"schedulerName\":\"s\",\"containers\":[{\"name\":\"c\"}]", true },
    { "no scheduler", "\"containers\":[{\"name\":\"c\"}]", false },
    { "a limit without a request", "\"schedulerName\":\"s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]", false },
    { "both", "\"schedulerName\":\"s\",\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"},\"requests\":{\"cpu\":\"1\"}}}]",
      true },
    { "no host port", "\"schedulerName\":\"s\",\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":1}]}]", false },
    { "a host port", "\"schedulerName\":\"s\",\"hostNetwork\":true,\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":1,"
      "\"hostPort\":1}]}]", true },
    { "not in the host's network", "\"schedulerName\":\"s\",\"containers\":[{\"name\":\"c\",\"ports\":[{\"containerPort\":1}]}]", true },
    { "of an init container", "\"schedulerName\":\"s\",\"initContainers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]", false },
};

TEST(pods_from_a_server_are_known)
{
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct value v = decode(&a, schema_type(STR("core/v1.Pod")), arena_printf(&a, "{\"spec\":{%s}}", pods[i].spec));
        CHECK_INT(pods[i].what, defaults_pod_is_complete(&v), pods[i].complete);
        arena_fini(&a);
    }
}
