/* Who goes first, by when pods started: a pod without a start time has started now, by the wall clock of the outside. */
#include "tests/unit/sched_world.h"

/* The world's wall clock reads 1800000001 s at first: 2027-01-15T08:00:01Z. */
#define LONG_AGO "\"2020-01-01T00:00:00Z\""
#define IN_TWO_MINUTES "\"2027-01-15T08:02:00Z\""

/* A pod of priority 0 on a node; `start` is JSON or NULL. */
static void place(struct sched_world *w, const char *name, const char *node, const char *start)
{
    const char *json = arena_printf(
        &w->arena,
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\",\"resourceVersion\":\"1\"},"
        "\"spec\":{\"nodeName\":\"%s\",\"schedulerName\":\"default-scheduler\",\"priority\":0,\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},\"status\":{%s%s}}",
        name, name, node, start ? "\"startTime\":" : "", start ? start : "");
    sched_pod_set(w->sched, world_pod_of(w, json));
}

/* The names of the pods that are evicted for one that wants `cpu`, joined by spaces. */
static const char *evicted_for(struct sched_world *w, const char *name, const char *cpu)
{
    world_log(w);
    sched_pod_set(w->sched, world_pod(w, name, NULL, 10, cpu, ""));
    CHECK(sched_run_once(w->sched));
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    const char *mark = "evict ";
    for (const char *at = strstr(world_log(w), mark); at; at = strstr(at + 1, mark)) {
        const char *from = at + strlen(mark);
        strbuf_printf(&names, "%s%.*s", names.n ? " " : "", (int)strcspn(from, " "), from);
    }
    const char *text = arena_cstr(&w->arena, strbuf_str(&names));
    strbuf_fini(&names);
    return text;
}

TEST(of_two_nodes_the_one_whose_pod_has_just_started_is_cleared)
{
    for (int first_is_old = 0; first_is_old < 2; first_is_old++) {
        struct sched_world w;
        sched_world_init(&w);
        sched_world_open(&w);
        world_node(&w, "n1", "1", "");
        world_node(&w, "n2", "1", "");
        place(&w, first_is_old ? "old" : "new", "n1", first_is_old ? LONG_AGO : NULL);
        place(&w, first_is_old ? "new" : "old", "n2", first_is_old ? NULL : LONG_AGO);
        CHECK_TEXT("victim", evicted_for(&w, "p", "1"), "new");
        sched_world_close(&w);
    }
}

TEST(of_two_pods_of_a_node_the_one_that_has_just_started_goes)
{
    for (int old_comes_first = 0; old_comes_first < 2; old_comes_first++) {
        struct sched_world w;
        sched_world_init(&w);
        sched_world_open(&w);
        world_node(&w, "n", "2", "");
        place(&w, old_comes_first ? "old" : "new", "n", old_comes_first ? LONG_AGO : NULL);
        place(&w, old_comes_first ? "new" : "old", "n", old_comes_first ? NULL : LONG_AGO);
        CHECK_TEXT("victim", evicted_for(&w, "p", "1"), "new");
        sched_world_close(&w);
    }
}

/* A kubelet whose clock is ahead: its pod is the younger one until that time has come. The node does not change meanwhile,
 * so what is remembered of it must not outlive the moment. */
TEST(now_moves_on)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    world_node(&w, "n", "3", "");
    place(&w, "starts-now", "n", NULL);
    place(&w, "ahead", "n", IN_TWO_MINUTES);
    place(&w, "old", "n", LONG_AGO);
    CHECK_TEXT("before", evicted_for(&w, "p", "1"), "ahead");
    sched_victim_done(w.sched, w.tickets.at[0], "not today");
    sched_pod_removed(w.sched, "uid-p");
    w.now_ms += 300 * 1000;
    CHECK_TEXT("after", evicted_for(&w, "q", "1"), "starts-now");
    sched_victim_done(w.sched, w.tickets.at[1], "not today");
    sched_pod_removed(w.sched, "uid-q");
    w.now_ms -= 300 * 1000;
    CHECK_TEXT("put back", evicted_for(&w, "r", "1"), "ahead");
    sched_world_close(&w);
}
