/* Traces in virtual time: a small one worked out by hand, one node against a plain model of a queue, random ones against
 * what must always hold, and the ways of single pods. */
#include <stdlib.h>

#include "base/rand.h"
#include "codec/json.h"
#include "sim/trace_make.h"
#include "tests/unit/trace_world.h"

#define NODE4 TRACE_NODE("n1", "4", "8Gi", "10")
#define CONTAINERS(cpu) "containers: [{name: c, image: i, resources: {requests: {cpu: '" cpu "'}}}]"
#define POD(name, spec) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {" spec "}\n"
#define OWNED(name, spec)                                                                  \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, " \
    "uid: u, controller: true}]}\nspec: {" spec "}\n"
#define DEPLOYMENT(name, spec)                                                             \
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " name "}\nspec: {replicas: 0, selector: {matchLabels: {app: x}}, " \
    "template: {metadata: {labels: {app: x}}, spec: {" spec "}}}\n"

static void run_or_fail(struct trace_world *t, const char *what, const char *cluster, const char *csv)
{
    if (!trace_world_run(t, cluster, csv))
        FAIL("%s: %s", what, t->e.message);
}

static void has(struct trace_world *t, const char *part)
{
    const char *json = trace_world_json(t);
    if (!strstr(json, part))
        FAIL("no %s in\n%s", part, json);
}

/* Four cpus. a and b fill them at 10; c (all four) and d (one) wait. b ends at 60: c does not fit, d does, until 70. a ends
 * at 100, and c runs from then to 130.
 * cpu: 2 for 10s, 4 for 50s, 3 for 10s, 2 for 30s, 4 for 30s: 430 of 130s; waiting: 1 for 10s, 2 for 30s, 1 for 40s. */
TEST(a_small_trace_worked_out_by_hand)
{
    struct trace_world t;
    run_or_fail(&t, "small", NODE4, TRACE_COLUMNS "0,100,2,1Gi,,\n10,50,2,1Gi,,\n20,30,4,1Gi,,\n30,10,1,1Gi,,\n");
    const struct trace_run *r = &t.run;
    CHECK_INT("arrived", r->counts.arrived, 4);
    CHECK_INT("started", r->counts.started, 4);
    CHECK_INT("finished", r->counts.finished, 4);
    CHECK_INT("end", r->changed_ms, 130000);
    CHECK(r->samples.total.milli_cpu == (__int128)430 * 1000 * 1000);
    CHECK(r->samples.total.memory == (__int128)190 * 1000 << 30);
    CHECK(r->samples.total.waiting == 110 * 1000);
    CHECK_INT("peak", r->samples.peak.milli_cpu, 4000);
    CHECK_INT("most waiting", r->samples.peak.waiting, 2);
    has(&t, "\"waitSeconds\":{\"p50\":0,\"p90\":80,\"p99\":80,\"max\":80,\"mean\":27.5,\"pods\":4}");
    has(&t, "\"makespanSeconds\":130,\"endSeconds\":130,\"throughputPerHour\":110.769,\"finishedPerHour\":110.769,");
    has(&t, "\"capacity\":{\"cpuMilli\":4000,\"memoryBytes\":8589934592,\"pods\":10},\n"
            "\"utilization\":{\"cpu\":{\"mean\":0.82692,\"peak\":1},\"memory\":{\"mean\":0.18269,\"peak\":0.25},");
    has(&t, "\"queue\":{\"mean\":0.846,\"max\":2}");
    has(&t, "{\"timeSeconds\":59,\"cpuMilli\":4000,\"memoryBytes\":2147483648,\"running\":2,\"waiting\":2},\n"
            "{\"timeSeconds\":60,\"cpuMilli\":3000,\"memoryBytes\":2147483648,\"running\":2,\"waiting\":1},\n");
    trace_world_close(&t);
}

TEST(who_is_preempted_starts_over)
{
    struct trace_world t;
    run_or_fail(&t, "preemption", NODE4, TRACE_COLUMNS "0,100,4,1Gi,0,\n50,10,4,1Gi,10,\n");
    has(&t, "\"pods\":{\"given\":0,\"arrived\":2,\"started\":2,\"finished\":2,\"running\":0,\"waiting\":0,\"lost\":0}");
    has(&t, "\"preemptions\":1,\"lostSeconds\":50,");
    has(&t, "\"makespanSeconds\":160,");
    has(&t, "\"restartWaitSeconds\":{\"p50\":10,\"p90\":10,\"p99\":10,\"max\":10,\"mean\":10,\"pods\":1}");
    has(&t, "{\"priority\":10,\"p50\":0,\"p90\":0,\"p99\":0,\"max\":0,\"mean\":0,\"pods\":1},\n{\"priority\":0,");
    trace_world_close(&t);
}

static const struct {
    const char *what, *cluster, *csv;
    unsigned given, arrived, started, finished, running, waiting, lost;
    int64_t end_ms;
} ways[] = {
    { "nothing at all", NODE4, TRACE_COLUMNS, 0, 0, 0, 0, 0, 0, 0, 0 },
    { "no nodes", "", TRACE_COLUMNS "5,1,1,1,,\n", 0, 1, 0, 0, 0, 1, 0, 5000 },
    { "for ever", NODE4, TRACE_COLUMNS "5,,1,1,,2\n", 0, 2, 2, 0, 2, 0, 0, 5000 },
    { "no time at all", NODE4, TRACE_COLUMNS "5,0,4,1,,3\n", 0, 3, 3, 3, 0, 0, 0, 5000 },
    { "one after the other", NODE4, TRACE_COLUMNS "5,10,4,1,,3\n", 0, 3, 3, 3, 0, 0, 0, 35000 },
    { "none of them", NODE4, TRACE_COLUMNS "5,10,4,1,,0\n", 0, 0, 0, 0, 0, 0, 0, 0 },
    { "nothing requested: as many as the node takes", NODE4, TRACE_COLUMNS "0,7,,,,12\n", 0, 12, 12, 12, 0, 0, 0, 14000 },
    { "too large for any node", NODE4, TRACE_COLUMNS "0,7,5,1,,3\n1,7,1,1,,\n", 0, 4, 1, 1, 0, 3, 0, 8000 },
    { "finishes come before arrivals", NODE4, TRACE_COLUMNS "0,10,4,1,,\n10,10,4,1,,\n", 0, 2, 2, 2, 0, 0, 0, 20000 },
    { "a pod that is there occupies", NODE4 POD("p", "nodeName: n1, " CONTAINERS("3")), TRACE_COLUMNS "0,7,1,1,,2\n",
      1, 2, 2, 2, 1, 0, 0, 14000 },
    { "a pod without a node arrives first and stays", NODE4 POD("p", CONTAINERS("3")), TRACE_COLUMNS "0,7,1,1,,2\n",
      0, 3, 3, 2, 1, 0, 0, 14000 },
    { "a pod of nobody is preempted for good", NODE4 POD("p", "nodeName: n1, " CONTAINERS("3")), TRACE_COLUMNS "1,7,4,1,5,\n",
      1, 1, 1, 1, 0, 0, 1, 8000 },
    { "a controller's pod comes back", NODE4 OWNED("p", "nodeName: n1, " CONTAINERS("3")), TRACE_COLUMNS "1,7,4,1,5,\n",
      1, 1, 1, 1, 1, 0, 0, 8000 },
    { "a pod that never preempts waits", NODE4 POD("p", "nodeName: n1, " CONTAINERS("3"))
      DEPLOYMENT("d", "preemptionPolicy: Never, " CONTAINERS("4")), "arrival,duration,priority,template\n1,7,5,d\n",
      1, 1, 0, 0, 1, 1, 0, 1000 },
};

TEST(pods_go_their_ways)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct trace_world t;
        run_or_fail(&t, ways[i].what, ways[i].cluster, ways[i].csv);
        CHECK_INT(ways[i].what, t.run.counts.given, ways[i].given);
        CHECK_INT(ways[i].what, t.run.counts.arrived, ways[i].arrived);
        CHECK_INT(ways[i].what, t.run.counts.started, ways[i].started);
        CHECK_INT(ways[i].what, t.run.counts.finished, ways[i].finished);
        CHECK_INT(ways[i].what, t.run.level.running, ways[i].running);
        CHECK_INT(ways[i].what, t.run.level.waiting, ways[i].waiting);
        CHECK_INT(ways[i].what, t.run.counts.lost, ways[i].lost);
        CHECK_INT(ways[i].what, t.run.changed_ms, ways[i].end_ms);
        trace_world_close(&t);
    }
}

static const struct {
    const char *what, *cluster, *csv, *reason;
    unsigned n_pods;
} reasons[] = {
    { "too large, those behind the first too", NODE4, TRACE_COLUMNS "0,7,5,1,,3\n1,7,5,1,,\n",
      "0/1 nodes are available: 1 Insufficient cpu.", 4 },
    { "a gate", NODE4 DEPLOYMENT("d", "schedulingGates: [{name: g}], " CONTAINERS("1")), "arrival,duration,template\n0,1,d\n",
      "waits for scheduling gate g", 1 },
    { "another scheduler", NODE4 DEPLOYMENT("d", "schedulerName: s, " CONTAINERS("1")), "arrival,duration,template\n0,1,d\n",
      "no profile is named \"s\" (spec.schedulerName)", 1 },
};

TEST(who_still_waits_says_why)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct trace_world t;
        run_or_fail(&t, reasons[i].what, reasons[i].cluster, reasons[i].csv);
        CHECK_INT(reasons[i].what, t.run.reasons.n, 1);
        CHECK_INT(reasons[i].what, t.run.reasons.at[0].n_pods, reasons[i].n_pods);
        CHECK_STR(reasons[i].what, str_first(str_of(t.run.reasons.at[0].message), strlen(reasons[i].reason)),
                  str_of(reasons[i].reason));
        trace_world_close(&t);
    }
}

#define TWO_NODES NODE4 "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2, labels: {disk: fast}}\nstatus: {capacity: {cpu: '4', " \
                        "memory: 8Gi, pods: '10'}}\n"

static const struct {
    const char *what, *cluster, *csv;
    int64_t milli_cpu, memory; /* on the second node at the end */
} templates[] = {
    { "a deployment's", TWO_NODES DEPLOYMENT("d", "nodeSelector: {disk: fast}, " CONTAINERS("1")),
      "arrival,duration,template\n0,,d\n", 1000, 0 },
    { "with requests of its own", TWO_NODES DEPLOYMENT("d", "nodeSelector: {disk: fast}, " CONTAINERS("1")),
      "arrival,duration,cpu,memory,template,count\n0,,2,1Gi,Deployment/d,2\n", 4000, 2ll << 30 },
    { "with memory of its own", TWO_NODES DEPLOYMENT("d", "nodeSelector: {disk: fast}, " CONTAINERS("1")),
      "arrival,duration,cpu,memory,template\n0,,,1Gi,Deployment/default/d\n", 1000, 1ll << 30 },
    { "limits are requests", TWO_NODES DEPLOYMENT("d", "nodeSelector: {disk: fast}, containers: [{name: c, resources: {limits: "
      "{cpu: '3'}}}, {name: e, resources: {requests: {cpu: '1'}}}]"), "arrival,duration,cpu,memory,template\n0,,2,,d\n", 3000, 0 },
    { "a pod's", TWO_NODES POD("p", "nodeSelector: {disk: fast}, " CONTAINERS("1")),
      "arrival,duration,cpu,memory,template\n0,,2,1Gi,Pod/p\n", 3000, 1ll << 30 },
    { "a pod's as it is", TWO_NODES POD("p", "nodeSelector: {disk: fast}, " CONTAINERS("1")),
      "arrival,duration,priority,template\n0,,5,p\n", 2000, 0 },
};

TEST(templates_say_the_rest)
{
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++) {
        struct trace_world t;
        run_or_fail(&t, templates[i].what, templates[i].cluster, templates[i].csv);
        CHECK_INT(templates[i].what, t.run.level.waiting, 0);
        CHECK_INT(templates[i].what, t.world.nodes.at[0].after.pods, 0);
        CHECK_INT(templates[i].what, t.world.nodes.at[1].after.milli_cpu, templates[i].milli_cpu);
        CHECK_INT(templates[i].what, t.world.nodes.at[1].after.memory, templates[i].memory);
        trace_world_close(&t);
    }
}

static const struct {
    const char *what, *cluster, *csv, *message;
} refusals[] = {
    { "no such template", NODE4, "arrival,duration,template\n0,1,d\n",
      "trace.csv, line 2, column \"template\": \"d\": no pod or controller of that name is given" },
    { "two of that name", NODE4 DEPLOYMENT("d", CONTAINERS("1")) POD("d", CONTAINERS("1")), "arrival,duration,template\n0,1,d\n",
      "trace.csv, line 2, column \"template\": \"d\" could be Deployment default/d and Pod default/d: write KIND/NAMESPACE/NAME" },
    { "no container", NODE4 DEPLOYMENT("d", "hostNetwork: true"), "arrival,duration,template\n0,1,d\n",
      "trace.csv, line 2, column \"template\": the template of Deployment default/d has no containers" },
    { "a pod of several containers", NODE4 POD("p", "containers: [{name: a}, {name: b}]"),
      "arrival,duration,cpu,memory,template\n0,1,,,p\n0,1,1,,p\n",
      "trace.csv, line 3, column \"template\": cpu and memory cannot replace those of a Pod with several containers" },
    { "a pod of another namespace", NODE4 POD("p", CONTAINERS("1")), "arrival,duration,template,namespace\n0,1,p,other\n",
      "trace.csv, line 2, column \"template\": a Pod cannot be used in another namespace" },
    { "a finished pod", NODE4 POD("p", CONTAINERS("1")) "status: {phase: Failed}\n", "arrival,duration,template\n0,1,p\n",
      "trace.csv, line 2, column \"template\": Pod default/p is left out of the cluster" },
    { "a name that is taken", NODE4 POD("trace-1", CONTAINERS("1")), TRACE_COLUMNS "0,1,1,1,,1\n0,1,1,1,,1\n",
      "trace.csv, line 3: pod default/trace-1 is given already: use another name or namespace" },
};

TEST(what_cannot_be_run_is_named)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct trace_world t;
        CHECK(!trace_world_run(&t, refusals[i].cluster, refusals[i].csv));
        CHECK_TEXT(refusals[i].what, t.e.message, refusals[i].message);
        trace_world_close(&t);
    }
}

TEST(too_many_pods_at_once_are_refused)
{
    struct trace_world t;
    CHECK(trace_world_open(&t, NODE4, STR(TRACE_COLUMNS "0,1,1,1,,3\n0.5,1,1,1,,2\n")));
    t.run.alive_max = 4;
    CHECK(trace_run(&t.run, &t.e));
    CHECK_TEXT("message", t.e.message, "trace.csv, line 3: more than 4 pods wait or run at once");
    trace_world_close(&t);
}

/* Five that fit nowhere come first, one failure a second: the sixth has its turn after five seconds. */
TEST(failures_in_a_second_are_bounded)
{
    struct trace_world t;
    CHECK(trace_world_open(&t, NODE4, STR(TRACE_COLUMNS "0,1,5,1,,\n0,1,6,1,,\n0,1,7,1,,\n0,1,8,1,,\n0,1,9,1,,\n0,1,1,1,,\n")));
    t.run.failures_per_second_max = 1;
    CHECK(!trace_run(&t.run, &t.e));
    CHECK_INT("started", t.run.counts.started, 1);
    CHECK_INT("wait", trace_waits_stats(&t.run.waits, NULL).max_ms, 5000);
    CHECK_INT("reasons", t.run.level.waiting, 5);
    trace_world_close(&t);
}

/* The run does not end before the last of many who wait has had its turn. */
TEST(everyone_has_a_turn_before_the_end)
{
    enum { N = 500 };
    struct strbuf csv;
    strbuf_init(&csv, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&csv, TRACE_COLUMNS);
    for (int i = 0; i < N; i++)
        strbuf_printf(&csv, "0,1,%d,1,,\n", 5 + i);
    STRBUF_ADD_LIT(&csv, "0,1,1,1,,\n");
    struct trace_world t;
    CHECK(trace_world_open(&t, NODE4, strbuf_str(&csv)));
    t.run.failures_per_second_max = 1;
    CHECK(!trace_run(&t.run, &t.e));
    CHECK_INT("wait", trace_waits_stats(&t.run.waits, NULL).max_ms, N * 1000);
    CHECK_INT("waiting", t.run.level.waiting, N);
    trace_world_close(&t);
    strbuf_fini(&csv);
}

/* ---- One node and equal pods: a queue with as many servers as pods fit ---- */

struct client {
    int64_t arrival_ms, duration_ms;
};

static int compare_ms(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Stable, and not the sort under test. */
static void sort_clients(struct client *clients, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct client c = clients[i];
        size_t to = i;
        for (; to > 0 && clients[to - 1].arrival_ms > c.arrival_ms; to--)
            clients[to] = clients[to - 1];
        clients[to] = c;
    }
}

/* First come, first served: each begins when he is there and a server is free. Returns the end of the last one. */
static int64_t serve(const struct client *clients, size_t n, size_t n_servers, int64_t *ret_waits)
{
    int64_t free_at[8] = { 0 }, end = 0;
    for (size_t i = 0; i < n; i++) {
        qsort(free_at, n_servers, sizeof(*free_at), compare_ms);
        int64_t start = free_at[0] > clients[i].arrival_ms ? free_at[0] : clients[i].arrival_ms;
        ret_waits[i] = start - clients[i].arrival_ms;
        free_at[0] = start + clients[i].duration_ms;
        end = free_at[0] > end ? free_at[0] : end;
    }
    qsort(ret_waits, n, sizeof(*ret_waits), compare_ms);
    return end;
}

static void check_waits(const struct trace_run *r, const int64_t *waits, size_t n)
{
    CHECK_INT("priorities", r->waits.by_priority.n, 1);
    const struct map_u64 *counts = &r->waits.by_priority.at[0].counts;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && waits[to] == waits[from]; to++)
            continue;
        union map_value *v = map_u64_find(counts, (uint64_t)waits[from]);
        if (!v || v->num != to - from)
            FAIL("%zu pods should wait %lld ms", to - from, (long long)waits[from]);
    }
}

TEST(one_node_is_a_queue_with_servers)
{
    static const char *const cpus[] = { "1", "2", "3", "5", "8" };
    static const size_t n_servers[] = { 1, 2, 3, 5, 8 };
    struct rand rand;
    rand_init(&rand, 11);
    for (int round = 0; round < 40; round++) {
        enum { N = 150 };
        struct client clients[N];
        int64_t waits[N];
        size_t kind = rand_below(&rand, 5);
        /* from a little too slow to much too fast for the servers */
        uint64_t gap_ms = (1 + rand_below(&rand, 40)) * 1000 / n_servers[kind] + 1;
        struct strbuf csv;
        strbuf_init(&csv, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&csv, "arrival,duration,cpu,memory\n");
        int64_t now = 0;
        for (int i = 0; i < N; i++) {
            now += (int64_t)rand_below(&rand, 2 * gap_ms); /* sometimes at the same time */
            clients[i] = (struct client){ now, (int64_t)rand_below(&rand, 40000) };
        }
        rand_shuffle(&rand, clients, N, sizeof(*clients));
        for (int i = 0; i < N; i++)
            strbuf_printf(&csv, "%lldms,%lldms,1,1Mi\n", (long long)clients[i].arrival_ms, (long long)clients[i].duration_ms);
        struct arena scratch;
        arena_init(&scratch);
        sort_clients(clients, N);
        int64_t end = serve(clients, N, n_servers[kind], waits);
        struct trace_world t;
        const char *cluster = arena_printf(&scratch, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '%s', "
                                           "memory: 8Gi, pods: '110'}}\n", cpus[kind]);
        run_or_fail(&t, "queue", cluster, strbuf_cstr(&csv));
        CHECK_INT("end", t.run.changed_ms, end);
        check_waits(&t.run, waits, N);
        trace_world_close(&t);
        arena_fini(&scratch);
        strbuf_fini(&csv);
    }
}

/* ---- What always holds ---- */

struct check {
    int64_t last_ms;
    uint64_t n_steps;
};

static void check_always(void *context, const struct trace_run *r)
{
    struct check *c = context;
    const struct trace_counts *n = &r->counts;
    CHECK(r->time_ms >= c->last_ms);
    c->last_ms = r->time_ms;
    c->n_steps++;
    CHECK_INT("everyone is somewhere", n->given + n->arrived, n->finished + n->lost + (uint64_t)r->level.running +
                                                              (uint64_t)r->level.waiting);
    CHECK_INT("everyone has a record", r->alive.n, r->level.running + r->level.waiting);
    struct sim_amounts sum = { 0 };
    for (size_t i = 0; i < r->world->nodes.n; i++) {
        const struct sim_node *node = &r->world->nodes.at[i];
        CHECK(node->after.milli_cpu <= node->allocatable.milli_cpu);
        CHECK(node->after.memory <= node->allocatable.memory);
        CHECK(node->after.pods <= node->allocatable.pods && node->after.pods >= 0);
        sum.milli_cpu += node->after.milli_cpu;
        sum.memory += node->after.memory;
        sum.pods += node->after.pods;
    }
    CHECK_INT("cpu of all nodes", r->level.milli_cpu, sum.milli_cpu);
    CHECK_INT("memory of all nodes", r->level.memory, sum.memory);
    CHECK_INT("pods of all nodes", r->level.running, sum.pods);
}

static void random_cluster(struct strbuf *to, struct rand *rand)
{
    uint64_t n = 1 + rand_below(rand, 6);
    for (uint64_t i = 0; i < n; i++)
        strbuf_printf(to, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%llu}\nstatus: {capacity: {cpu: '%llu', memory: %lluGi, "
                          "pods: '%llu'}}\n", (unsigned long long)i, (unsigned long long)(1 + rand_below(rand, 16)),
                      (unsigned long long)(1 + rand_below(rand, 32)), (unsigned long long)(2 + rand_below(rand, 20)));
    for (uint64_t i = 0; i < 4; i++)
        strbuf_printf(to, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p%llu%s}\nspec: {%scontainers: [{name: c, resources: "
                          "{requests: {cpu: 500m}}}]}\n", (unsigned long long)i,
                      i % 2 ? ", ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: u, controller: true}]" : "",
                      i < 2 ? "nodeName: n0, " : "");
}

static void random_trace(struct strbuf *to, struct rand *rand, uint64_t n)
{
    static const char *const cpus[] = { "", "100m", "500m", "1", "2", "5", "40" };
    static const char *const memories[] = { "", "64Mi", "1Gi", "3Gi" };
    STRBUF_ADD_LIT(to, "arrival,duration,cpu,memory,priority,count,name\n");
    uint64_t shapes = 1 + rand_below(rand, 7);
    for (uint64_t i = 0; i < n; i++) {
        strbuf_printf(to, "%llu.%llu,", (unsigned long long)rand_below(rand, 600), (unsigned long long)rand_below(rand, 1000));
        if (rand_below(rand, 40))
            strbuf_printf(to, "%llu.5", (unsigned long long)rand_below(rand, 90));
        strbuf_printf(to, ",%s,%s,%d,%llu,%s\n", cpus[rand_below(rand, shapes)], memories[rand_below(rand, 4)],
                      rand_below(rand, 3) ? 0 : (int)rand_below(rand, 3) * 10, (unsigned long long)rand_below(rand, 4),
                      rand_below(rand, 2) ? "job" : "");
    }
}

static void check_end(const struct trace_world *t, const struct check *c)
{
    const struct trace_run *r = &t->run;
    CHECK(c->n_steps > 0);
    CHECK_INT("all of the trace came", r->n_made, t->trace.n_pods);
    CHECK_INT("everyone's first wait", trace_waits_stats(&r->waits, NULL).n, r->counts.started);
    CHECK(trace_waits_stats(&r->waits, NULL).max_ms <= r->changed_ms);
    uint64_t n_reasons = 0;
    for (size_t i = 0; i < r->reasons.n; i++)
        n_reasons += r->reasons.at[i].n_pods;
    CHECK_INT("a reason for everyone who waits", n_reasons, r->level.waiting);
    CHECK_INT("time", r->samples.total.ms, r->changed_ms);
}

TEST(random_traces_keep_what_must_hold)
{
    struct rand rand;
    rand_init(&rand, 23);
    uint64_t n_preemptions = 0, n_waiting = 0;
    for (int round = 0; round < 60; round++) {
        struct strbuf cluster, csv, first;
        strbuf_init(&cluster, STRBUF_NO_MAX);
        strbuf_init(&csv, STRBUF_NO_MAX);
        strbuf_init(&first, STRBUF_NO_MAX);
        random_cluster(&cluster, &rand);
        random_trace(&csv, &rand, 10 + rand_below(&rand, 120));
        for (int again = 0; again < 2; again++) {
            struct trace_world t;
            struct check c = { 0 };
            if (!trace_world_open(&t, strbuf_cstr(&cluster), strbuf_str(&csv)))
                FAIL("%s", t.e.message);
            t.run.observe = check_always;
            t.run.observe_context = &c;
            if (trace_run(&t.run, &t.e))
                FAIL("%s", t.e.message);
            check_end(&t, &c);
            n_preemptions += t.run.counts.preemptions;
            n_waiting += (uint64_t)t.run.level.waiting;
            trace_world_json(&t);
            trace_report_text(&t.text, &t.run, true, 0);
            if (again)
                CHECK_STR("the same again", strbuf_str(&t.text), strbuf_str(&first));
            else
                strbuf_add_str(&first, strbuf_str(&t.text));
            trace_world_close(&t);
        }
        strbuf_fini(&cluster);
        strbuf_fini(&csv);
        strbuf_fini(&first);
    }
    CHECK(n_preemptions > 100 && n_waiting > 100); /* so that there was something to get wrong */
}

TEST(the_report_is_json)
{
    static const char *const traces[] = { TRACE_COLUMNS, TRACE_COLUMNS "0,,1,1,,\n", TRACE_COLUMNS "0,1.5,9,1,,\n3,1,1,1,2,3\n" };
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        struct trace_world t;
        run_or_fail(&t, "json", NODE4, traces[i]);
        struct value v;
        const char *json = trace_world_json(&t);
        if (json_decode_plain(&t.in.arena, WORK_OWN, str_of(json), &v, &t.e))
            FAIL("%s in\n%s", t.e.message, json);
        const struct value *samples = value_member(&v, STR("samples"));
        CHECK(samples && samples->kind == VALUE_LIST && samples->n >= 1);
        trace_world_close(&t);
    }
}

static bool collect(void *context, struct str piece)
{
    strbuf_add_str(context, piece);
    return true;
}

TEST(a_made_trace_runs)
{
    struct strbuf csv;
    strbuf_init(&csv, STRBUF_NO_MAX);
    CHECK(trace_make(&(struct trace_make){ 2000, 1, 24 }, collect, &csv));
    struct trace_world t;
    run_or_fail(&t, "made", TRACE_NODE("a", "32", "128Gi", "110") TRACE_NODE("b", "32", "128Gi", "110")
                TRACE_NODE("c", "32", "128Gi", "110"), strbuf_cstr(&csv));
    CHECK_INT("finished", t.run.counts.finished, 2000);
    trace_report_text(&t.text, &t.run, false, 0);
    CHECK(strstr(strbuf_cstr(&t.text), "2000 pods arrived, 2000 started, 2000 finished"));
    trace_world_close(&t);
    strbuf_fini(&csv);
}
