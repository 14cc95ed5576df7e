/* Policy files and algorithm providers: config/policy.c and its chapters, and what the levels make of one decision. */
#include "config/points.h"
#include "config/policy_source.h"
#include "plugins/plugins.h"
#include "sched/attempt.h"
#include "sched/sched.h"
#include "tests/test.h"

struct world {
    struct arena arena;
    struct sym_table syms;
    struct setup setup;
    struct err e;
};

/* The message of what failed, or "". */
static const char *open_world(struct world *w, const char *level, const char *policy, const char *provider)
{
    arena_init(&w->arena);
    sym_init(&w->syms);
    err_init(&w->e, &w->arena);
    struct setup_legacy legacy = {
        .level = *level ? level_find(str_of(level)) : level_for_policies(),
        .has_policy = policy != NULL,
        .policy = str_of(policy ? policy : ""),
        .provider = provider,
        .hard_pod_affinity_weight = 1,
    };
    struct setup_source from = { .legacy = &legacy };
    return setup_load(&w->setup, &w->syms, &from, plugin_registry, &w->e) ? w->e.message : "";
}

static void close_world(struct world *w, bool opened)
{
    if (opened)
        setup_fini(&w->setup);
    sym_fini(&w->syms);
    arena_fini(&w->arena);
}

/* "A B" or, for scores, "A=1 B=2". */
static const char *plugins_at(struct world *w, enum extension_point point)
{
    const struct profile *p = w->setup.profiles[0];
    const char *text = "";
    for (uint8_t i = 0; i < p->points[point].n; i++) {
        const char *name = p->points[point].at[i]->plugin->name;
        text = point == POINT_SCORE ? arena_printf(&w->arena, "%s%s%s=%lld", text, i ? " " : "", name, (long long)p->weights[i])
                                    : arena_printf(&w->arena, "%s%s%s", text, i ? " " : "", name);
    }
    return text;
}

TEST(policies_become_profiles)
{
    static const struct {
        const char *name, *level, *policy, *filter, *score;
    } rows[] = {
        { "two empty lists leave the mandatory predicates", "v1.20",
          "{\"kind\":\"Policy\",\"apiVersion\":\"v1\",\"predicates\":[],\"priorities\":[]}",
          "NodeUnschedulable TaintToleration", "" },
        { "the Policy of release 1.0", "v1.20",
          "{\"kind\":\"Policy\",\"apiVersion\":\"v1\",\"predicates\":[{\"name\":\"MatchNodeSelector\"},"
          "{\"name\":\"PodFitsResources\"},{\"name\":\"PodFitsPorts\"},{\"name\":\"NoDiskConflict\"},"
          "{\"name\":\"S\",\"argument\":{\"serviceAffinity\":{\"labels\":[\"region\"]}}},"
          "{\"name\":\"L\",\"argument\":{\"labelsPresence\":{\"labels\":[\"foo\"],\"presence\":true}}}],"
          "\"priorities\":[{\"name\":\"LeastRequestedPriority\",\"weight\":1},"
          "{\"name\":\"ServiceSpreadingPriority\",\"weight\":2},"
          "{\"name\":\"A\",\"weight\":3,\"argument\":{\"serviceAntiAffinity\":{\"label\":\"zone\"}}},"
          "{\"name\":\"B\",\"weight\":4,\"argument\":{\"labelPreference\":{\"label\":\"bar\",\"presence\":true}}}]}",
          "NodeUnschedulable NodePorts NodeAffinity NodeResourcesFit VolumeRestrictions TaintToleration NodeLabel "
          "ServiceAffinity",
          "NodeResourcesLeastAllocated=1 NodeLabel=4 PodTopologySpread=2 ServiceAffinity=3" },
        { "weights count once a label, and EqualPriority is nothing", "v1.20",
          "{\"kind\":\"Policy\",\"apiVersion\":\"v1\",\"predicates\":[],\"priorities\":["
          "{\"name\":\"EqualPriority\",\"weight\":2},"
          "{\"name\":\"a\",\"weight\":3,\"argument\":{\"serviceAntiAffinity\":{\"label\":\"zone\"}}},"
          "{\"name\":\"b\",\"weight\":3,\"argument\":{\"serviceAntiAffinity\":{\"label\":\"rack\"}}},"
          "{\"name\":\"c\",\"weight\":4,\"argument\":{\"labelPreference\":{\"label\":\"x\",\"presence\":true}}},"
          "{\"name\":\"d\",\"weight\":4,\"argument\":{\"labelPreference\":{\"label\":\"y\",\"presence\":false}}}]}",
          "NodeUnschedulable TaintToleration", "NodeLabel=8 ServiceAffinity=6" },
        { "YAML reads like JSON", "v1.20", "kind: Policy\napiVersion: v1\npredicates:\n- name: HostName\npriorities: []\n",
          "NodeUnschedulable NodeName TaintToleration", "" },
        { "a lenient level takes names of all releases", "",
          "{\"predicates\":[{\"name\":\"CheckNodeMemoryPressure\"}],\"priorities\":[]}",
          "NodeUnschedulable TaintToleration CheckNodeMemoryPressure", "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        const char *failed = open_world(&w, rows[i].level, rows[i].policy, NULL);
        CHECK_TEXT(rows[i].name, failed, "");
        if (!*failed) {
            CHECK_TEXT(rows[i].name, plugins_at(&w, POINT_FILTER), rows[i].filter);
            CHECK_TEXT(rows[i].name, plugins_at(&w, POINT_SCORE), rows[i].score);
        }
        close_world(&w, !*failed);
    }
}

TEST(wrong_policies_are_refused)
{
#define POLICY(body) "{\"kind\":\"Policy\",\"apiVersion\":\"v1\"," body "}"
    static const struct {
        const char *name, *policy, *message;
        bool fatal;
    } rows[] = {
        { "an unknown predicate", POLICY("\"predicates\":[{\"name\":\"X\"}]"),
          "Invalid configuration: Predicate type not found for \"X\"", true },
        { "a weight of 0", POLICY("\"priorities\":[{\"name\":\"LeastRequestedPriority\",\"weight\":0}]"),
          "couldn't create scheduler from policy: priority LeastRequestedPriority should have a positive weight applied "
          "to it or it has overflown",
          false },
        { "two arguments",
          POLICY("\"predicates\":[{\"name\":\"X\",\"argument\":{\"serviceAffinity\":{\"labels\":[\"a\"]},"
                 "\"labelsPresence\":{\"labels\":[\"b\"],\"presence\":true}}}]"),
          "Exactly 1 predicate argument is required, numArgs: 2, Predicate: X", true },
        { "a priority that needs an argument", POLICY("\"priorities\":[{\"name\":\"NodeLabel\",\"weight\":1}]"),
          "couldn't create scheduler from policy: priority NodeLabel needs an argument", false },
        { "a weight that turns negative in 32 bits",
          POLICY("\"priorities\":[{\"name\":\"LeastRequestedPriority\",\"weight\":2147483648}]"),
          "couldn't create scheduler from policy: priority LeastRequestedPriority has a weight that 32 bits cannot hold",
          false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        const char *failed = open_world(&w, "v1.20", rows[i].policy, NULL);
        CHECK_TEXT(rows[i].name, failed, rows[i].message);
        CHECK_INT(rows[i].name, w.setup.fatal, rows[i].fatal);
        close_world(&w, !*failed);
    }
    struct world w;
    CHECK_TEXT("an unknown provider", open_world(&w, "v1.20", NULL, "X"),
              "couldn't create scheduler using provider \"X\": algorithm provider \"X\" is not registered");
    close_world(&w, false);
}

/* ---- One decision ---- */

static int64_t no_time(void *context)
{
    (void)context;
    return 0;
}

static void add_node(struct sched *s, struct world *w, const char *name)
{
    const struct node *node;
    const char *json = arena_printf(&w->arena,
                                    "{\"metadata\":{\"name\":\"%s\"},\"status\":{\"allocatable\":"
                                    "{\"cpu\":\"4\",\"memory\":\"10000\",\"pods\":\"10\"}}}",
                                    name);
    CHECK(!node_decode(&w->syms, TYPED_JSON, str_of(json), &node, &w->e));
    sched_node_set(s, node);
    node_unref(&w->syms, node);
}

static struct sched *start(struct world *w)
{
    struct sched_options options = { .syms = &w->syms, .profiles = w->setup.profiles, .n_profiles = 1,
                                     .features = w->setup.features, .io = { .now_ms = no_time, .wall_s = no_time } };
    return sched_new(&options);
}

static const struct pod *waiting_pod(struct world *w)
{
    const struct pod *pod;
    CHECK(!pod_decode(&w->syms, TYPED_JSON,
                      STR("{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{"
                          "\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"image\":\"i\","
                          "\"resources\":{\"requests\":{\"cpu\":\"3\",\"memory\":\"5000\"}}}]}}"),
                      &pod, &w->e));
    return pod;
}

/* cpu 3000 of 4000 and memory 5000 of 10000 are requested with the pod. */
TEST(formulas_of_both_scales)
{
    static const struct {
        const char *name, *level, *priority;
        int64_t score;
    } rows[] = {
        /* (1000 * 10 / 4000 + 5000 * 10 / 10000) / 2 = (2 + 5) / 2 */
        { "least requested, to 10", "v1.11", "LeastRequestedPriority", 3 },
        /* (25 + 50) / 2 */
        { "least requested, to 100", "v1.20", "LeastRequestedPriority", 37 },
        /* (3000 * 10 / 4000 + 5000 * 10 / 10000) / 2 = (7 + 5) / 2 */
        { "most requested, to 10", "v1.11", "MostRequestedPriority", 6 },
        { "most requested, to 100", "v1.20", "MostRequestedPriority", 62 }, /* (75 + 50) / 2 */
        { "balanced, to 10", "v1.11", "BalancedResourceAllocation", 7 },   /* 10 - |0.75 - 0.5| * 10, cut off */
        { "balanced, to 100", "v1.20", "BalancedResourceAllocation", 75 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        char policy[200];
        snprintf(policy, sizeof(policy),
                 "{\"kind\":\"Policy\",\"apiVersion\":\"v1\",\"predicates\":[],\"priorities\":[{\"name\":\"%s\",\"weight\":1}]}",
                 rows[i].priority);
        CHECK_TEXT(rows[i].name, open_world(&w, rows[i].level, policy, NULL), "");
        struct sched *s = start(&w);
        add_node(s, &w, "a");
        const struct pod *pod = waiting_pod(&w);
        struct attempt a;
        CHECK(attempt_begin(s, &a, pod, (struct attempt_wants){ .detail = true, .all_nodes = true }));
        CHECK(attempt_pre_filter(&a) && attempt_filter(&a) && attempt_score(&a));
        CHECK_INT(rows[i].name, a.totals[0], rows[i].score);
        pod_unref(&w.syms, pod);
        sched_free(s);
        close_world(&w, true);
    }
}

TEST(ties_are_broken_as_the_release_did)
{
    static const struct {
        const char *level, *order;
    } rows[] = {
        { "v1.3", "cbac" },  /* in turn, by name, the last one first */
        { "v1.11", "cbac" },
        { "v1.15", "abca" }, /* in turn, in the order of the nodes */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world w;
        CHECK_TEXT(rows[i].level, open_world(&w, rows[i].level, NULL, NULL), "");
        struct sched *s = start(&w);
        for (const char *const *name = (const char *const[]){ "a", "b", "c", NULL }; *name; name++)
            add_node(s, &w, *name);
        const struct pod *pod = waiting_pod(&w);
        char order[5] = "";
        for (int k = 0; k < 4; k++) {
            struct attempt a;
            attempt_run(s, &a, pod, (struct attempt_wants){ .reasons = true });
            CHECK(a.node != NODE_NONE);
            order[k] = sched_cache(s)->rows.at[a.node].node->meta.name[0];
        }
        CHECK_TEXT(rows[i].level, order, rows[i].order);
        pod_unref(&w.syms, pod);
        sched_free(s);
        close_world(&w, true);
    }
}
