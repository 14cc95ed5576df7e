/* What the controllers of workloads share: facts about pods, ranking, claims, expectations, slow start. */
#include "api/schema_slots.h"
#include "codec/json.h"
#include "controllers/expectations.h"
#include "controllers/pod_control.h"
#include "tests/test.h"

#define S 1000000000ll /* nanoseconds */

static struct arena arena;

static void fresh(void)
{
    arena_fini(&arena); /* of nothing, the first time */
    arena_init(&arena);
}

static struct value decode(const char *type, const char *json)
{
    struct err e;
    struct value v;
    fresh();
    err_init(&e, &arena);
    if (json_decode(&arena, WORK_OWN, schema_type(str_of(type)), str_of(json), NULL, &v, &e))
        FAIL("%s", e.message);
    return v;
}

static struct pod_facts *facts_of(const char *json)
{
    struct value pod = decode("core/v1.Pod", json);
    return pod_facts_new(&pod);
}

TEST(facts_are_read_from_a_pod)
{
    struct pod_facts *f = facts_of(
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\",\"creationTimestamp\":\"1970-01-01T00:01:40Z\","
        "\"labels\":{\"b\":\"2\",\"a\":\"1\"},\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":\"-7\"},"
        "\"ownerReferences\":[{\"kind\":\"X\",\"name\":\"x\",\"uid\":\"1\"},"
        "{\"kind\":\"ReplicaSet\",\"name\":\"r\",\"uid\":\"2\",\"controller\":true}]},"
        "\"spec\":{\"nodeName\":\"m\",\"initContainers\":[{\"name\":\"s\",\"restartPolicy\":\"Always\"},{\"name\":\"i\"}]},"
        "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
        "\"lastTransitionTime\":\"1970-01-01T00:02:00Z\"}],\"containerStatuses\":[{\"restartCount\":1},{\"restartCount\":4}],"
        "\"initContainerStatuses\":[{\"name\":\"s\",\"restartCount\":2},{\"name\":\"i\",\"restartCount\":9}]}}");
    CHECK_STR("", f->name, STR("a"));
    CHECK_STR("", f->namespace, STR("n"));
    CHECK_STR("", f->owner_uid, STR("2"));
    CHECK_STR("", f->owner_kind, STR("ReplicaSet"));
    CHECK_STR("", f->node_name, STR("m"));
    CHECK_INT("", f->labels.n, 2);
    CHECK_STR("", f->labels.at[0].key, STR("a"));
    CHECK_INT("", f->created_s, 100);
    CHECK_INT("", f->ready_s, 120);
    CHECK_INT("", f->deletion_cost, -7);
    CHECK_INT("", f->n_restarts, 4);
    CHECK_INT("", f->n_sidecar_restarts, 2);
    CHECK(is_pod_active(f));
    CHECK(!is_pod_terminating(f));
    CHECK(is_pod_ready(f));
    CHECK(!is_pod_available(f, 10, 129));
    CHECK(is_pod_available(f, 10, 130));
    CHECK(is_pod_available(f, 0, 0));
    pod_facts_free(f);
}

TEST(pods_that_ended_or_are_deleted_do_not_count)
{
    static const struct {
        const char *what, *pod;
        bool active, terminating;
    } rows[] = {
        { "no status yet", "{}", true, false },
        { "failed", "{\"status\":{\"phase\":\"Failed\"}}", false, false },
        { "succeeded", "{\"status\":{\"phase\":\"Succeeded\"}}", false, false },
        { "deleted", "{\"metadata\":{\"deletionTimestamp\":\"2020-01-01T00:00:00Z\"}}", false, true },
        { "deleted after its end",
          "{\"metadata\":{\"deletionTimestamp\":\"2020-01-01T00:00:00Z\"},\"status\":{\"phase\":\"Failed\"}}", false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pod_facts *f = facts_of(rows[i].pod);
        CHECK_INT(rows[i].what, is_pod_active(f), rows[i].active);
        CHECK_INT(rows[i].what, is_pod_terminating(f), rows[i].terminating);
        pod_facts_free(f);
    }
}

TEST(costs_of_deletion_are_plain_numbers)
{
    static const struct {
        const char *text;
        int32_t cost;
    } rows[] = { { "5", 5 }, { "0", 0 }, { "-3", -3 }, { "+3", 0 }, { "03", 0 }, { "x", 0 }, { "", 0 },
                 { "2147483647", 2147483647 }, { "2147483648", 0 }, { "-", 0 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[200];
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":\"%s\"}}}", rows[i].text);
        struct pod_facts *f = facts_of(json);
        CHECK_INT(rows[i].text, f->deletion_cost, rows[i].cost);
        pod_facts_free(f);
    }
}

/* The first of each pair is deleted first. */
TEST(what_is_deleted_first)
{
#define ON .node_name = STR("m")
    static const struct {
        const char *what;
        struct pod_facts first, second;
        int32_t first_rank, second_rank;
    } rows[] = {
        { "without a node", { .ready = true, .phase = POD_IS_RUNNING }, { ON }, 0, 0 },
        { "pending before running", { ON, .ready = true, .deletion_cost = 9 }, { ON, .phase = POD_IS_RUNNING }, 0, 0 },
        { "unknown before running", { ON, .phase = POD_IS_UNKNOWN }, { ON, .phase = POD_IS_RUNNING }, 0, 0 },
        { "not ready", { ON, .deletion_cost = 9 }, { ON, .ready = true }, 0, 0 },
        { "the cheaper", { ON, .deletion_cost = -1, .created_s = 10 }, { ON, .created_s = 9000 }, 0, 5 },
        { "more neighbours", { ON, .created_s = 1 }, { ON, .created_s = 9000 }, 2, 1 },
        { "ready for a shorter time", { ON, .ready = true, .ready_s = 9900 }, { ON, .ready = true, .ready_s = 10 }, 0, 0 },
        { "about as long ready: by uid", { ON, .uid = STR("a"), .ready = true, .ready_s = 10 },
          { ON, .uid = STR("b"), .ready = true, .ready_s = 11 }, 0, 0 },
        { "restarted more often", { ON, .n_restarts = 2, .created_s = 1 }, { ON, .n_restarts = 1, .created_s = 9000 }, 0, 0 },
        { "sidecar restarted more often", { ON, .n_sidecar_restarts = 1, .created_s = 1 }, { ON, .created_s = 9000 }, 0, 0 },
        { "younger", { ON, .created_s = 9990 }, { ON, .created_s = 10 }, 0, 0 },
        { "without a time", { ON }, { ON, .created_s = 9999 }, 0, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int turned = 0; turned < 2; turned++) {
            fresh();
            struct ranked_pod pods[2];
            pods[turned] = (struct ranked_pod){ &rows[i].first, rows[i].first_rank };
            pods[!turned] = (struct ranked_pod){ &rows[i].second, rows[i].second_rank };
            pods_rank(&arena, pods, 2, 10000 * S);
            if (pods[0].facts != &rows[i].first)
                FAIL("%s%s", rows[i].what, turned ? ", turned" : "");
        }
}

TEST(claims)
{
    static const struct {
        const char *what, *its_owner;
        bool owner_deleted, its_deleted, matches;
        enum claim_decision want;
    } rows[] = {
        { "of another owner", "other", false, false, true, CLAIM_IGNORE },
        { "ours", "me", false, false, true, CLAIM_OWNED },
        { "ours, while we are being deleted", "me", true, false, true, CLAIM_OWNED },
        { "ours, but the labels changed", "me", false, false, false, CLAIM_RELEASE },
        { "ours, labels changed, we are being deleted", "me", true, false, false, CLAIM_IGNORE },
        { "an orphan that matches", "", false, false, true, CLAIM_ADOPT },
        { "an orphan that does not", "", false, false, false, CLAIM_IGNORE },
        { "an orphan that is being deleted", "", false, true, true, CLAIM_IGNORE },
        { "an orphan, we are being deleted", "", true, false, true, CLAIM_IGNORE },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_INT(rows[i].what, claim_decide(STR("me"), rows[i].owner_deleted, str_of(rows[i].its_owner),
                                             rows[i].its_deleted, rows[i].matches), rows[i].want);
}

TEST(a_pod_of_a_template)
{
    struct value t = decode("core/v1.PodTemplateSpec",
                            "{\"metadata\":{\"name\":\"not taken\",\"labels\":{\"a\":\"1\"},\"annotations\":{\"b\":\"2\"},"
                            "\"finalizers\":[\"x/y\"]},\"spec\":{\"nodeName\":\"m\"}}");
    struct object_reference owner = { .kind = STR("ReplicaSet"), .ns = STR("n"), .name = STR("web"), .uid = STR("7"),
                                      .api_version = STR("apps/v1") };
    struct value pod = pod_from_template(&arena, &t, &owner);
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, schema_type(STR("core/v1.Pod")), &pod);
    CHECK_STR("pod", strbuf_str(&json),
              STR("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"generateName\":\"web-\",\"namespace\":\"n\","
                  "\"labels\":{\"a\":\"1\"},\"annotations\":{\"b\":\"2\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
                  "\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"7\",\"controller\":true,\"blockOwnerDeletion\":true}],"
                  "\"finalizers\":[\"x/y\"]},\"spec\":{\"containers\":null,\"nodeName\":\"m\"},\"status\":{}}"));
    strbuf_fini(&json);
}

TEST(expectations_are_fulfilled_or_time_out)
{
    struct expectations *x = expectations_new();
    struct str key = STR("n/web");
    CHECK(expectations_satisfied(x, key, 0));
    expectations_expect_creations(x, key, 2, 1000);
    CHECK(!expectations_satisfied(x, key, 1000));
    expectations_creation_observed(x, key);
    expectations_deletion_observed(x, key, STR("p"));
    CHECK(!expectations_satisfied(x, key, 1000 + EXPECTATIONS_TIMEOUT_MS));
    CHECK(expectations_satisfied(x, key, 1001 + EXPECTATIONS_TIMEOUT_MS));
    expectations_creation_observed(x, key);
    CHECK(expectations_satisfied(x, key, 1000));
    expectations_creation_observed(x, key); /* of somebody else's */
    CHECK(expectations_satisfied(x, key, 1000));
    expectations_expect_deletions(x, key, 2000);
    expectations_add_deletion(x, key, STR("p"));
    expectations_add_deletion(x, key, STR("p"));
    expectations_add_deletion(x, key, STR("q"));
    expectations_deletion_observed(x, key, STR("p"));
    expectations_deletion_observed(x, key, STR("p"));
    CHECK(!expectations_satisfied(x, key, 2000));
    expectations_deletion_observed(x, key, STR("q"));
    CHECK(expectations_satisfied(x, key, 2000));
    expectations_expect_creations(x, key, 2, 1000);
    expectations_forget(x, key);
    CHECK(expectations_satisfied(x, key, 1000));
    expectations_expect_creations(x, key, 2, 1000);
    expectations_free(x);
}

static uint32_t n_begun, n_done;

static void count_begin(struct slow_start *s, uint32_t i)
{
    (void)s;
    CHECK_INT("in order", i, n_begun);
    n_begun++;
}

static void count_done(struct slow_start *s)
{
    (void)s;
    n_done++;
}

TEST(batches_double_until_one_fails)
{
    static const struct {
        const char *what;
        uint32_t n, fails_at, want_begun, want_fine;
    } rows[] = {
        { "none", 0, 99, 0, 0 },
        { "one", 1, 99, 1, 1 },
        { "all of ten", 10, 99, 10, 10 },
        { "the first fails", 10, 0, 1, 0 },
        { "the fifth fails: its batch of four goes on", 10, 4, 7, 6 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slow_start s = { .n = rows[i].n, .begin = count_begin, .done = count_done };
        n_begun = n_done = 0;
        slow_start_run(&s);
        for (uint32_t ended = 0; ended < n_begun; ended++)
            slow_start_ended(&s, ended != rows[i].fails_at);
        CHECK_INT(rows[i].what, n_begun, rows[i].want_begun);
        CHECK_INT(rows[i].what, s.n_fine, rows[i].want_fine);
        CHECK_INT(rows[i].what, n_done, 1);
    }
}
