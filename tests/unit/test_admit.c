/* Admission: what becomes of a pod, and why one is refused, in the words of upstream. */
#include "api/admit.h"
#include "api/generate_name.h"
#include "api/pod_sums.h"
#include "api/quota.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "tests/test.h"

static struct value decode(struct arena *a, const char *type, const char *json)
{
    struct err e;
    err_init(&e, a);
    struct value v;
    if (json_decode(a, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s\n%s", e.message, json);
    return v;
}

/* The value at a path of a pod, as JSON; "" when it is not there. */
static const char *at(struct arena *a, const struct value *pod, const char *path)
{
    const struct type *t = schema_type(STR("core/v1.Pod"));
    const struct value *v = value_path(t, pod, path);
    if (v->kind == VALUE_INT)
        return arena_printf(a, "%lld", (long long)v->i);
    if (v->kind == VALUE_STRING)
        return arena_cstr(a, value_text(v));
    const char *text = "";
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n; i++)
        text = arena_printf(a, "%s%s%.*s=%.*s", text, i ? " " : "", STR_ARG(v->members[i].key),
                            STR_ARG(value_text(&v->members[i].value)));
    return text;
}

#define POD(spec) "{\"metadata\":{\"name\":\"p\"},\"spec\":{" spec "}}"
#define CONTAINERS(resources) "\"containers\":[{\"name\":\"c\",\"resources\":{" resources "}}]"

/* ---- Priority ---- */

static const struct {
    const char *what, *pod, *class, *priority, *policy, *name, *message;
} priorities[] = {
    { "none", POD(""), NULL, "0", "PreemptLowerPriority", "", NULL },
    { "a class", POD("\"priorityClassName\":\"high\""), "{\"metadata\":{\"name\":\"high\"},\"value\":5,\"preemptionPolicy\":\"Never\"}", "5",
      "Never", "high", NULL },
    { "the default class", POD(""), "{\"metadata\":{\"name\":\"usual\"},\"value\":7}", "7", "PreemptLowerPriority", "usual", NULL },
    { "a class of every cluster", POD("\"priorityClassName\":\"system-node-critical\""), NULL, "2000001000", "PreemptLowerPriority",
      "system-node-critical", NULL },
    { "no such class", POD("\"priorityClassName\":\"nope\""), NULL, NULL, NULL, NULL, "no PriorityClass with name nope was found" },
    { "another number", POD("\"priority\":5"), NULL, NULL, NULL, NULL,
      "the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given "
      "PriorityClass name" },
    { "the same number", POD("\"priority\":0"), NULL, "0", "PreemptLowerPriority", "", NULL },
};

TEST(priority_comes_from_the_class)
{
    for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct value pod = decode(&a, "core/v1.Pod", priorities[i].pod), changed, class = { 0 };
        if (priorities[i].class)
            class = decode(&a, "scheduling.k8s.io/v1.PriorityClass", priorities[i].class);
        enum err_code code = admit_priority(&a, &pod, priorities[i].class ? &class : NULL, &changed, &e);
        CHECK_INT(priorities[i].what, code, priorities[i].message ? ERR_FORBIDDEN : ERR_OK);
        if (code) {
            CHECK_TEXT(priorities[i].what, e.message, priorities[i].message);
        } else {
            CHECK_TEXT(priorities[i].what, at(&a, &changed, "spec.priority"), priorities[i].priority);
            CHECK_TEXT(priorities[i].what, at(&a, &changed, "spec.preemptionPolicy"), priorities[i].policy);
            CHECK_TEXT(priorities[i].what, at(&a, &changed, "spec.priorityClassName"), priorities[i].name);
        }
        arena_fini(&a);
    }
}

/* ---- Tolerations ---- */

static const struct {
    const char *what, *tolerations;
    uint32_t n;
} tolerations[] = {
    { "none", "", 2 },
    { "one of the keys", "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}", 2 },
    { "the key with another effect", "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}", 3 },
    { "all keys", "{\"operator\":\"Exists\"}", 1 },
    { "all keys, one effect", "{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}", 1 },
    { "another key", "{\"key\":\"k\",\"operator\":\"Exists\"}", 3 },
};

TEST(pods_stay_a_while_on_lost_nodes)
{
    for (size_t i = 0; i < sizeof(tolerations) / sizeof(tolerations[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod = decode(&a, "core/v1.Pod", arena_printf(&a, "{\"spec\":{\"tolerations\":[%s]}}", tolerations[i].tolerations));
        struct value once = admit_tolerations(&a, &pod), twice = admit_tolerations(&a, &once);
        CHECK_INT(tolerations[i].what, value_path(schema_type(STR("core/v1.Pod")), &once, "spec.tolerations")->n, tolerations[i].n);
        CHECK(value_equal(&once, &twice));
        arena_fini(&a);
    }
}

/* ---- RuntimeClass ---- */

#define CLASS "{\"metadata\":{\"name\":\"k\"},\"handler\":\"h\",\"overhead\":{\"podFixed\":{\"cpu\":\"1\"}},\"scheduling\":{\"nodeSelector\":{\"r\":\"k\"}}}"

static const struct {
    const char *what, *pod, *class, *overhead, *selector, *message;
} runtimes[] = {
    { "all of it", POD("\"nodeSelector\":{\"a\":\"b\"}"), CLASS, "cpu=1", "a=b r=k", NULL },
    { "the same overhead", POD("\"overhead\":{\"cpu\":\"1\"}"), CLASS, "cpu=1", "r=k", NULL },
    { "another overhead", POD("\"overhead\":{\"cpu\":\"2\"}"), CLASS, NULL, NULL,
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead" },
    { "overhead from nowhere", POD("\"overhead\":{\"cpu\":\"2\"}"), "{\"handler\":\"h\"}", NULL, NULL,
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead" },
    { "not there", POD("\"runtimeClassName\":\"nope\""), NULL, NULL, NULL, "pod rejected: RuntimeClass \"nope\" not found" },
};

TEST(a_runtime_class_adds_its_part)
{
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct value pod = decode(&a, "core/v1.Pod", runtimes[i].pod), changed, class = { 0 };
        if (runtimes[i].class)
            class = decode(&a, "node.k8s.io/v1.RuntimeClass", runtimes[i].class);
        enum err_code code = admit_runtime_class(&a, &pod, runtimes[i].class ? &class : NULL, &changed, &e);
        CHECK_INT(runtimes[i].what, code, runtimes[i].message ? ERR_FORBIDDEN : ERR_OK);
        if (code) {
            CHECK_TEXT(runtimes[i].what, e.message, runtimes[i].message);
        } else {
            CHECK_TEXT(runtimes[i].what, at(&a, &changed, "spec.overhead"), runtimes[i].overhead);
            CHECK_TEXT(runtimes[i].what, at(&a, &changed, "spec.nodeSelector"), runtimes[i].selector);
        }
        arena_fini(&a);
    }
}

/* ---- LimitRanges ---- */

static const struct {
    const char *what, *limits, *resources, *requests, *bounds, *message; /* requests and limits of the container */
} ranges[] = {
    { "defaults", "{\"type\":\"Container\",\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{\"cpu\":\"1\"}}", "", "cpu=1", "cpu=2", NULL },
    { "what is given stays", "{\"type\":\"Container\",\"default\":{\"cpu\":\"2\"},\"defaultRequest\":{\"cpu\":\"1\"}}",
      "\"requests\":{\"cpu\":\"500m\"}", "cpu=500m", "cpu=2", NULL },
    { "a range of pods gives nothing", "{\"type\":\"Pod\",\"min\":{\"cpu\":\"0\"}}", "\"requests\":{\"cpu\":\"1\"}", "cpu=1", "", NULL },
    { "too little", "{\"type\":\"Container\",\"min\":{\"cpu\":\"100m\"}}", "\"requests\":{\"cpu\":\"50m\"}", NULL, NULL,
      "minimum cpu usage per Container is 100m, but request is 50m" },
    { "no request", "{\"type\":\"Container\",\"min\":{\"cpu\":\"100m\"}}", "", NULL, NULL,
      "minimum cpu usage per Container is 100m.  No request is specified" },
    { "too much", "{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}}", "\"limits\":{\"cpu\":\"2\"}", NULL, NULL,
      "maximum cpu usage per Container is 1, but limit is 2" },
    { "no limit of the pod", "{\"type\":\"Pod\",\"max\":{\"memory\":\"1Gi\"}}", "", NULL, NULL,
      "maximum memory usage per Pod is 1Gi.  No limit is specified" },
    { "a ratio", "{\"type\":\"Container\",\"maxLimitRequestRatio\":{\"cpu\":\"4\"}}", "\"limits\":{\"cpu\":\"2\"},\"requests\":{\"cpu\":\"100m\"}",
      NULL, NULL, "cpu max limit to request ratio per Container is 4, but provided ratio is 20.000000" },
    { "several", "{\"type\":\"Container\",\"max\":{\"cpu\":\"1\"}},{\"type\":\"Pod\",\"max\":{\"cpu\":\"1\"}}", "\"limits\":{\"cpu\":\"2\"}", NULL,
      NULL, "[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1, but limit is 2]" },
};

TEST(limit_ranges_give_and_refuse)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct value pod = decode(&a, "core/v1.Pod", arena_printf(&a, "{\"spec\":{" CONTAINERS("%s") "}}", ranges[i].resources)), changed;
        struct value range = decode(&a, "core/v1.LimitRange", arena_printf(&a, "{\"spec\":{\"limits\":[%s]}}", ranges[i].limits));
        const struct value *all[] = { &range };
        enum err_code code = admit_limit_ranges(&a, &pod, all, 1, &changed, &e);
        CHECK_INT(ranges[i].what, code, ranges[i].message ? ERR_FORBIDDEN : ERR_OK);
        if (code) {
            CHECK_TEXT(ranges[i].what, e.message, ranges[i].message);
        } else {
            CHECK_TEXT(ranges[i].what, at(&a, &changed, "spec.containers.0.resources.requests"), ranges[i].requests);
            CHECK_TEXT(ranges[i].what, at(&a, &changed, "spec.containers.0.resources.limits"), ranges[i].bounds);
            if (i == 0)
                CHECK_TEXT(ranges[i].what, at(&a, &changed, "metadata.annotations"),
                           "kubernetes.io/limit-ranger=LimitRanger plugin set: cpu request for container c; cpu limit for container c");
        }
        arena_fini(&a);
    }
}

/* ---- Sums ---- */

#define ASKS(name, cpu, rest) "{\"name\":\"" name "\",\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}" rest "}"

static const struct {
    const char *what, *spec, *requests;
} sums[] = {
    { "containers run together", "\"containers\":[" ASKS("a", "1", "") "," ASKS("b", "500m", "") "]", "cpu=1500m" },
    { "before them one after the other", "\"initContainers\":[" ASKS("a", "3", "") "," ASKS("b", "2", "") "],\"containers\":[" ASKS("c", "1", "") "]",
      "cpu=3" },
    { "or beside all that follow", "\"initContainers\":[" ASKS("a", "1", ",\"restartPolicy\":\"Always\"") "," ASKS("b", "2", "") "],\"containers\":["
      ASKS("c", "1", "") "]", "cpu=3" },
    { "and beside the containers", "\"initContainers\":[" ASKS("a", "2", ",\"restartPolicy\":\"Always\"") "],\"containers\":[" ASKS("c", "2", "") "]",
      "cpu=4" },
    { "overhead", "\"overhead\":{\"cpu\":\"250m\",\"memory\":\"1Mi\"},\"containers\":[" ASKS("a", "1", "") "]", "cpu=1250m memory=1Mi" },
    { "the pod as a whole", "\"resources\":{\"requests\":{\"cpu\":\"7\"}},\"containers\":[" ASKS("a", "1", "") "]", "cpu=7" },
};

TEST(a_pod_asks_in_all)
{
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct value pod = decode(&a, "core/v1.Pod", arena_printf(&a, "{\"spec\":{%s}}", sums[i].spec));
        struct value sum = pod_sum(&a, &pod, "requests");
        const char *text = "";
        for (uint32_t k = 0; k < sum.n; k++)
            text = arena_printf(&a, "%s%s%.*s=%.*s", text, k ? " " : "", STR_ARG(sum.members[k].key),
                                STR_ARG(value_text(&sum.members[k].value)));
        CHECK_TEXT(sums[i].what, text, sums[i].requests);
        arena_fini(&a);
    }
}

/* ---- Quotas ---- */

#define REQUESTS(cpu) CONTAINERS("\"requests\":{\"cpu\":\"" cpu "\"}")

static const struct {
    const char *what, *quota, *used, *spec, *message, *now; /* now: what is used of the first resource */
} quotas[] = {
    { "room", "\"hard\":{\"pods\":\"2\"}", "{\"pods\":\"1\"}", REQUESTS("1"), NULL, "2" },
    { "no room", "\"hard\":{\"pods\":\"2\"}", "{\"pods\":\"2\"}", REQUESTS("1"),
      "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2", NULL },
    { "two at once", "\"hard\":{\"cpu\":\"2\",\"pods\":\"1\"}", "{\"pods\":\"1\",\"cpu\":\"1500m\"}", REQUESTS("1"),
      "exceeded quota: q, requested: cpu=1,pods=1, used: cpu=1500m,pods=1, limited: cpu=2,pods=1", NULL },
    { "limits", "\"hard\":{\"limits.cpu\":\"1\"}", "{}", CONTAINERS("\"limits\":{\"cpu\":\"2\"}"),
      "exceeded quota: q, requested: limits.cpu=2, used: limits.cpu=0, limited: limits.cpu=1", NULL },
    { "an extended resource", "\"hard\":{\"requests.nvidia.com/gpu\":\"1\"}", "{}", CONTAINERS("\"requests\":{\"nvidia.com/gpu\":\"2\"}"),
      "exceeded quota: q, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=1", NULL },
    { "words are missing", "\"hard\":{\"cpu\":\"1\",\"limits.memory\":\"1\"}", "{}", CONTAINERS(""),
      "failed quota: q: must specify cpu for: c; limits.memory for: c", NULL },
    { "other things", "\"hard\":{\"services\":\"0\",\"requests.storage\":\"0\"}", "{}", REQUESTS("1"), NULL, NULL },
    { "only pods that end", "\"hard\":{\"pods\":\"0\"},\"scopes\":[\"Terminating\"]", "{}", REQUESTS("1"), NULL, NULL },
    { "a pod that ends", "\"hard\":{\"pods\":\"0\"},\"scopes\":[\"Terminating\"]", "{}", "\"activeDeadlineSeconds\":5," REQUESTS("1"),
      "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0", NULL },
    { "only pods that ask for nothing", "\"hard\":{\"pods\":\"0\"},\"scopes\":[\"BestEffort\"]", "{}", REQUESTS("1"), NULL, NULL },
    { "another class", "\"hard\":{\"pods\":\"0\"},\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"PriorityClass\",\"operator\":\"In\","
      "\"values\":[\"high\"]}]}", "{}", "\"priorityClassName\":\"low\"," REQUESTS("1"), NULL, NULL },
    { "the class", "\"hard\":{\"pods\":\"0\"},\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"PriorityClass\",\"operator\":\"In\","
      "\"values\":[\"high\"]}]}", "{}", "\"priorityClassName\":\"high\"," REQUESTS("1"),
      "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0", NULL },
};

TEST(quotas_let_in_what_is_within)
{
    for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct err e;
        err_init(&e, &a);
        struct value pod = decode(&a, "core/v1.Pod", arena_printf(&a, "{\"spec\":{%s}}", quotas[i].spec)), now;
        struct value quota = decode(&a, "core/v1.ResourceQuota",
                                    arena_printf(&a, "{\"metadata\":{\"name\":\"q\"},\"spec\":{%s},\"status\":{\"used\":%s}}",
                                                 quotas[i].quota, quotas[i].used));
        const struct value *used = value_path(schema_type(STR("core/v1.ResourceQuota")), &quota, "status.used");
        enum err_code code = quota_admit(&a, &quota, used, &pod, &now, &e);
        CHECK_INT(quotas[i].what, code, quotas[i].message ? ERR_FORBIDDEN : ERR_OK);
        if (code)
            CHECK_TEXT(quotas[i].what, e.message, quotas[i].message);
        else if (quotas[i].now)
            CHECK_STR(quotas[i].what, value_text(&now.members[0].value), str_of(quotas[i].now));
        arena_fini(&a);
    }
}

/* ---- Names ---- */

TEST(names_are_made)
{
    enum { MANY = 20000 };
    struct arena a;
    arena_init(&a);
    struct map_str seen;
    map_str_init(&seen);
    for (uint32_t i = 0; i < MANY; i++) {
        const char *name = name_generate(&a, STR("web-"), i);
        CHECK_INT("letters", strlen(name), 4 + NAME_SUFFIX_LETTERS);
        CHECK_INT("of the alphabet", strspn(name + 4, name_alphabet), NAME_SUFFIX_LETTERS);
        bool is_new;
        map_str_put(&seen, str_of(name), &is_new);
        CHECK(is_new);
    }
    char long_base[100];
    memset(long_base, 'x', sizeof(long_base));
    CHECK_INT("cut", strlen(name_generate(&a, (struct str){ long_base, 100 }, 0)), 63);
    map_str_fini(&seen);
    arena_fini(&a);
}
