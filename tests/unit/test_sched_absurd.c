/* Objects that make no sense do not stop the scheduler, nor do they keep others from their nodes. */
#include "tests/unit/sched_world.h"

static void set_node(struct sched_world *w, const char *json)
{
    const struct node *node;
    struct err e;
    err_init(&e, &w->arena);
    if (node_decode(&w->syms, TYPED_JSON, str_of(json), &node, &e))
        FAIL("%s: %s", json, e.message);
    sched_node_set(w->sched, node);
    node_unref(&w->syms, node);
}

static const char *many_tolerations(struct sched_world *w)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "\"tolerations\":[{}");
    for (int i = 0; i < 10000; i++)
        strbuf_printf(&b, ",{\"key\":\"k%d\",\"operator\":\"Exists\"}", i);
    strbuf_add_char(&b, ']');
    const char *text = arena_cstr(&w->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(absurd_objects_are_lived_with)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &tainttoleration_plugin, NULL, 3);
    sched_world_open(&w);
    set_node(&w, "{\"metadata\":{\"name\":\"bare\"}}");
    set_node(&w, "{\"metadata\":{\"name\":\"minus\"},\"status\":{\"allocatable\":{\"cpu\":\"-4\",\"memory\":\"-1\",\"pods\":\"-1\"}}}");
    set_node(&w, "{\"metadata\":{\"name\":\"large\"},\"status\":{\"allocatable\":{\"cpu\":\"1000\",\"memory\":\"9Ei\",\"pods\":\"110\"}}}");
    sched_pod_set(w.sched, world_pod(&w, "minus", NULL, 0, "-5", ""));
    sched_pod_set(w.sched, world_pod(&w, "tolerant", NULL, 0, "1", many_tolerations(&w)));
    sched_pod_set(w.sched, world_pod_of(&w, "{\"metadata\":{\"name\":\"empty\",\"uid\":\"uid-empty\"},"
                                            "\"spec\":{\"schedulerName\":\"default-scheduler\"}}"));
    sched_pod_set(w.sched, world_pod(&w, "lost", "nowhere", 0, "1", "")); /* on a node that is not there */
    while (sched_run_once(w.sched))
        ;
    CHECK_INT("bindings", sched_counts(w.sched).binding, 3);
    for (size_t i = 0; i < w.tickets.n; i++)
        sched_bound(w.sched, w.tickets.at[i], NULL);
    CHECK_INT("placed", sched_counts(w.sched).placed, 3);
    CHECK_INT("errors", sched_counts(w.sched).errors, 0);
    sched_world_close(&w);
}

/* At the ends of time, and when it runs backwards: what is due is not in the past for ever. */
TEST(absurd_clocks_are_lived_with)
{
    static const int64_t times[] = { INT64_MAX - 310000, INT64_MAX - 20000, INT64_MAX, INT64_MIN, -1, INT64_MAX / 2, 0 };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    set_node(&w, "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"}}}");
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "large-%zu", i);
        w.now_ms = times[i];
        sched_pod_set(w.sched, world_pod(&w, name, NULL, 0, "2", ""));
        sched_run_once(w.sched);
        sched_tick(w.sched);
        int64_t due_ms = sched_due_ms(w.sched);
        CHECK(due_ms > -1000 || times[i] < 0);
        CHECK(due_ms > times[i] || times[i] > INT64_MAX / 4);
    }
    sched_world_close(&w);
}

/* A pod with these requests; "" leaves one out. */
static const struct pod *asking(struct sched_world *w, const char *name, const char *cpu, const char *memory)
{
    return world_pod_of(w, arena_printf(&w->arena,
                                        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\","
                                        "\"resourceVersion\":\"1\"},\"spec\":{\"schedulerName\":\"default-scheduler\","
                                        "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":"
                                        "{\"cpu\":\"%s\",\"memory\":\"%s\"}}}]}}",
                                        name, name, cpu, memory));
}

static const char *outcome_of(struct sched_world *w, const struct pod *pod, bool in_detail)
{
    struct attempt a;
    attempt_run(w->sched, &a, pod, (struct attempt_wants){ .reasons = in_detail, .detail = in_detail });
    return a.outcome == ATTEMPT_FITS ? w->sched->cache.rows.at[a.node].node->meta.name
                                     : arena_cstr(&w->arena, str_of(a.error ? a.error : "fits nowhere"));
}

/* Amounts wrap as Go's do: the score is nonsense, and the scheduler says so, by whichever way it is found. */
TEST(absurd_amounts_are_scored_alike_by_both_ways)
{
    static const struct resource_weight weights[] = { { "cpu", 100 }, { "memory", 100 } };
    static const char *const amounts[] = { "0", "1", "-1", "-5", "8", "-9223372036854775808", "9223372036854775807" };
    enum { N = sizeof(amounts) / sizeof(amounts[0]) };
    static const struct shape_point shape[] = { { 0, 0 }, { 100, 10 } };
    for (int type = SCORING_LEAST_ALLOCATED; type <= SCORING_REQUESTED_TO_CAPACITY_RATIO; type++) {
        struct sched_world w;
        struct node_resources_balanced_args balanced = { weights, 2 };
        struct node_resources_fit_args fit = { .strategy = { type, weights, 2, shape, 2 } };
        sched_world_init(&w);
        sched_world_add_plugin(&w, &noderesourcesbalanced_plugin, &balanced, 1);
        w.profile.points[POINT_FILTER].n = 0; /* or hardly any of these would be scored */
        w.profile.instances[2].plugin->fini(&w.profile.instances[2]);
        struct err e;
        err_init(&e, &w.arena);
        CHECK_TEXT("plugin", w.profile.instances[2].plugin->name, "NodeResourcesFit");
        CHECK_INT("init", w.profile.instances[2].plugin->init(&w.profile.instances[2], &fit, &e), ERR_OK);
        sched_world_open(&w);
        const char *const capacities[] = { "4", "8", "-1", "-4", "9223372036854775807", "-9223372036854775808" };
        for (int i = 0; i < 6; i++)
            set_node(&w, arena_printf(&w.arena, "{\"metadata\":{\"name\":\"n%d\"},\"status\":{\"allocatable\":{\"cpu\":\"%s\","
                                                "\"memory\":\"%s\",\"pods\":\"110\"}}}", i, capacities[i], capacities[i]));
        for (int i = 0; i < N; i++) {
            const struct pod *there = asking(&w, arena_printf(&w.arena, "there%d", i), amounts[i], amounts[N - 1 - i]);
            const struct pod *on_node = pod_with_node(&w.syms, there, world_sym(&w, i % 2 ? "n0" : "n3"));
            sched_pod_set(w.sched, on_node);
            pod_unref(&w.syms, on_node);
        }
        for (int i = 0; i < N * N; i++) {
            const struct pod *pod = asking(&w, "p", amounts[i / N], amounts[i % N]);
            const char *what = arena_printf(&w.arena, "%s %s", amounts[i / N], amounts[i % N]);
            CHECK_TEXT(what, outcome_of(&w, pod, false), outcome_of(&w, pod, true));
        }
        sched_world_close(&w);
    }
}

/* Any time may come, and any other after it; pods are tried, wait and come back. */
TEST(clocks_that_jump_are_lived_with)
{
    static const int64_t times[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 0, -1, INT64_MAX, 1000 };
    enum { N = sizeof(times) / sizeof(times[0]) };
    struct sched_world w;
    sched_world_init(&w);
    w.now_ms = INT64_MIN;
    sched_world_open(&w);
    world_node(&w, "n", "1", "");
    for (int i = 0; i < 20; i++)
        sched_pod_set(w.sched, world_pod(&w, arena_printf(&w.arena, "p%d", i), NULL, i % 3, "1", ""));
    for (int i = 0; i < 500; i++) {
        w.now_ms = times[i * 7 / 3 % N];
        sched_run_once(w.sched);
        sched_tick(w.sched);
        (void)sched_due_ms(w.sched);
        if (i % 50 == 49 && w.tickets.n) {
            sched_bound(w.sched, *vec_last(&w.tickets), "not now");
            sched_victim_done(w.sched, *vec_last(&w.tickets), "not now");
        }
    }
    CHECK(sched_counts(w.sched).attempts > 20);
    sched_world_close(&w);
}
