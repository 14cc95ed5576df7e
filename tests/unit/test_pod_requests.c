/* What a pod asks of a node: the three sums of forms/pod.h. */
#include "forms/pod.h"

#include "tests/test.h"

#define Mi (1ll << 20)
#define Gi (1ll << 30)

#define REQUESTS(list) "\"resources\":{\"requests\":{" list "}}"
#define CONTAINER(list) "{\"name\":\"c\"," REQUESTS(list) "}"
#define SIDECAR(list) "{\"name\":\"s\",\"restartPolicy\":\"Always\"," REQUESTS(list) "}"
#define STATUS(name, now, allocated)                                                                \
    "{\"name\":\"" name "\",\"resources\":{\"requests\":{" now "}},\"allocatedResources\":{" allocated "}}"
#define INFEASIBLE "\"conditions\":[{\"type\":\"PodResizePending\",\"reason\":\"Infeasible\"}],"

struct want {
    int64_t cpu, memory;
};

static const struct {
    const char *name, *json;
    struct want requested, fit, score, non_zero;
} rows[] = {
    { "nothing at all", "{}", { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } },
    { "a container without requests counts with defaults in scores alone", "{\"spec\":{\"containers\":[{}]}}",
      { 0, 0 }, { 0, 0 }, { 100, 200 * Mi }, { 100, 200 * Mi } },
    { "an explicit 0 is no reason for a default", "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"0\"") "]}}",
      { 0, 0 }, { 0, 0 }, { 0, 200 * Mi }, { 0, 200 * Mi } },
    { "sums come before rounding",
      "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"1500u\",\"memory\":\"500m\"") "," CONTAINER(
          "\"cpu\":\"1500u\",\"memory\":\"500m\"") "]}}",
      { 3, 1 }, { 3, 1 }, { 3, 1 }, { 3, 1 } },
    { "init containers, sidecars and overhead",
      "{\"spec\":{\"initContainers\":[" CONTAINER("\"cpu\":\"2\",\"memory\":\"10Mi\"") "," SIDECAR("\"cpu\":\"300m\"") ","
      CONTAINER("\"cpu\":\"1900m\",\"memory\":\"700Mi\"") "," SIDECAR("\"cpu\":\"100m\",\"memory\":\"50Mi\"") "],"
      "\"containers\":[" CONTAINER("\"cpu\":\"500m\",\"memory\":\"100Mi\"") ","
      CONTAINER("\"memory\":\"100Mi\",\"ephemeral-storage\":\"1Gi\"") "],"
      "\"overhead\":{\"cpu\":\"10m\",\"memory\":\"1Mi\"}}}",
      { 2210, 735051776 }, { 2210, 735051776 }, { 2210, 944766976 }, { 2210, 944766976 } },
    { "a pod-level request replaces the sum, but not in scores",
      "{\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"2\"}},\"containers\":[" CONTAINER("\"cpu\":\"500m\",\"memory\":\"100Mi\"")
      "," CONTAINER("") "],\"overhead\":{\"cpu\":\"10m\"}}}",
      { 2010, 100 * Mi }, { 2010, 100 * Mi }, { 610, 300 * Mi }, { 2010, 100 * Mi } },
    { "with a pod-level request only what is missing at both levels is assumed",
      "{\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"2\"}},\"containers\":[{},{}]}}",
      { 2000, 0 }, { 2000, 0 }, { 200, 400 * Mi }, { 2000, 400 * Mi } },
    { "a pod-level request of another resource is none",
      "{\"spec\":{\"resources\":{\"requests\":{\"ephemeral-storage\":\"2\"}},\"containers\":[{}]}}",
      { 0, 0 }, { 0, 0 }, { 100, 200 * Mi }, { 100, 200 * Mi } },
    { "a resized container counts with the largest of spec, status and allocation",
      "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"1\",\"memory\":\"1Gi\"") "]},\"status\":{\"containerStatuses\":["
      STATUS("c", "\"cpu\":\"2\"", "\"memory\":\"3Gi\"") "]}}",
      { 2000, 3 * Gi }, { 1000, Gi }, { 1000, Gi }, { 2000, 3 * Gi } },
    { "an infeasible resize leaves the spec out",
      "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"4\",\"memory\":\"9Gi\"") "]},\"status\":{" INFEASIBLE
      "\"containerStatuses\":[" STATUS("c", "\"cpu\":\"2\"", "\"cpu\":\"1\"") "]}}",
      { 2000, 0 }, { 4000, 9 * Gi }, { 4000, 9 * Gi }, { 2000, 200 * Mi } },
    { "a status without resources changes nothing",
      "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"1\",\"memory\":\"1\"") "]},\"status\":{\"containerStatuses\":[{\"name\":"
      "\"c\",\"allocatedResources\":{\"cpu\":\"5\"}}]}}",
      { 1000, 1 }, { 1000, 1 }, { 1000, 1 }, { 1000, 1 } },
    { "the status of an init container that ends does not count, that of a sidecar does",
      "{\"spec\":{\"initContainers\":[" CONTAINER("\"cpu\":\"1\",\"memory\":\"1\"") "," SIDECAR("\"cpu\":\"1\",\"memory\":\"1\"")
      "]},\"status\":{\"initContainerStatuses\":[" STATUS("c", "\"cpu\":\"8\"", "") "," STATUS("s", "\"cpu\":\"3\"", "")
      "]}}",
      { 3000, 1 }, { 1000, 1 }, { 1000, 1 }, { 3000, 1 } },
    { "the pod-level status counts too",
      "{\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}},\"containers\":[{}]},\"status\":{"
      "\"resources\":{\"requests\":{\"cpu\":\"2\"}},\"allocatedResources\":{\"cpu\":\"3\"}}}",
      { 3000, Gi }, { 1000, Gi }, { 100, 200 * Mi }, { 3000, Gi } },
    { "an infeasible pod-level resize may leave nothing",
      "{\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"containers\":[{}]},\"status\":{" INFEASIBLE "\"resources\":{}}}",
      { 0, 0 }, { 1000, 0 }, { 100, 200 * Mi }, { 0, 200 * Mi } },
    { "negative requests count on nodes and are nothing to fit",
      "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"-1\",\"memory\":\"-1500m\"") "]}}",
      { -1000, -2 }, { 0, 0 }, { -1000, -2 }, { -1000, -2 } },
    { "amounts beyond int64 end there",
      "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"1e30\",\"memory\":\"8Ei\"") "," CONTAINER("\"cpu\":\"1\",\"memory\":\"8Ei\"")
      "]}}",
      { INT64_MAX, INT64_MAX }, { INT64_MAX, INT64_MAX }, { INT64_MAX, INT64_MAX }, { INT64_MAX, INT64_MAX } },
};

static void check(const char *name, const char *which, int64_t cpu, int64_t memory, struct want want)
{
    char what[200];
    snprintf(what, sizeof(what), "%s: %s", name, which);
    CHECK_INT(what, cpu, want.cpu);
    CHECK_INT(what, memory, want.memory);
}

TEST(requests_are_summed)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pod *p;
        if (pod_decode(&syms, TYPED_JSON, str_of(rows[i].json), &p, &e))
            FAIL("%s: %s", rows[i].name, e.message);
        check(rows[i].name, "requested", p->requested->milli_cpu, p->requested->memory, rows[i].requested);
        check(rows[i].name, "fit", p->fit->milli_cpu, p->fit->memory, rows[i].fit);
        check(rows[i].name, "score", p->score->milli_cpu, p->score->memory, rows[i].score);
        check(rows[i].name, "non-zero", p->non_zero_milli_cpu, p->non_zero_memory, rows[i].non_zero);
        pod_unref(&syms, p);
    }
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(scalars_are_summed_by_name)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const char *json =
        "{\"spec\":{\"resources\":{\"requests\":{\"hugepages-2Mi\":\"6Mi\",\"example.com/b\":\"9\"}},\"containers\":["
        CONTAINER("\"example.com/b\":\"1\",\"hugepages-2Mi\":\"2Mi\",\"ephemeral-storage\":\"1Ki\"") ","
        CONTAINER("\"example.com/b\":\"1500m\",\"example.com/a\":\"0\",\"odd\":\"x\",\"pods\":\"x\"") "]}}";
    const struct pod *p;
    CHECK(!pod_decode(&syms, TYPED_JSON, str_of(json), &p, &e));
    CHECK_INT("ephemeral", p->requested->ephemeral_storage, 1024);
    CHECK_INT("scalars", p->requested->n_scalars, 3);
    static const struct {
        const char *name;
        int64_t amount;
    } want[] = { { "example.com/a", 0 }, { "example.com/b", 3 }, { "hugepages-2Mi", 6 * Mi } };
    for (size_t i = 0; i < 3; i++) {
        CHECK_STR("name", sym_text(&syms, p->requested->scalars[i].name), str_of(want[i].name));
        CHECK_INT(want[i].name, p->requested->scalars[i].amount, want[i].amount);
    }
    CHECK_INT("without pod level", amounts_scalar(p->score, p->requested->scalars[2].name), 2 * Mi);
    CHECK(p->flags & POD_HAS_POD_LEVEL_RESOURCES);
    pod_unref(&syms, p);
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(sums_that_agree_share_memory)
{
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    const struct pod *p, *q;
    const char *json = "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"1\",\"memory\":\"1Gi\"") "]}}";
    CHECK(!pod_decode(&syms, TYPED_JSON, str_of(json), &p, &e));
    CHECK(p->fit == p->requested && p->score == p->requested);
    q = pod_with_node(&syms, p, SYM_EMPTY);
    CHECK(q->fit == q->requested && q->score == q->requested && q->fit != p->fit);
    pod_unref(&syms, p);
    CHECK_INT("after the original is gone", q->score->memory, Gi);
    pod_unref(&syms, q);
    sym_fini(&syms);
    arena_fini(&a);
}

TEST(what_does_not_parse_is_refused)
{
    static const struct {
        const char *name, *json, *want;
    } refused[] = {
        { "a container", "{\"spec\":{\"containers\":[" CONTAINER("\"cpu\":\"much\"") "]}}",
          "container c: requests: cpu: quantities must match" },
        { "a status", "{\"spec\":{\"containers\":[" CONTAINER("") "]},\"status\":{\"containerStatuses\":["
          STATUS("c", "\"cpu\":\"1x\"", "") "]}}", "status of container c: resources: cpu: " },
        { "the overhead", "{\"spec\":{\"overhead\":{\"memory\":\"\"}}}", "spec.overhead: memory: " },
        { "the pod level", "{\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"?\"}}}}", "spec.resources.requests: cpu: " },
    };
    struct arena a;
    arena_init(&a);
    struct err e;
    err_init(&e, &a);
    struct sym_table syms;
    sym_init(&syms);
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct pod *p;
        CHECK_INT(refused[i].name, pod_decode(&syms, TYPED_JSON, str_of(refused[i].json), &p, &e), ERR_BAD_REQUEST);
        CHECK_STR(refused[i].name, str_first(str_of(e.message), strlen(refused[i].want)), str_of(refused[i].want));
    }
    CHECK_INT("syms", sym_n_live(&syms), 1);
    sym_fini(&syms);
    arena_fini(&a);
}
