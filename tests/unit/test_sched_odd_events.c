/* Events that no API server sends, or not in this order: twice, out of order, of pods that turn into others. None of
 * them leaves anything behind in the scheduler, and no pod is lost over them. */
#include "sched/queue.h"
#include "tests/unit/sched_world.h"

static void open_world(struct sched_world *w)
{
    sched_world_init(w);
    sched_world_open(w);
    world_node(w, "n1", "4", "");
}

static const struct pod *named(struct sched_world *w, const char *uid, const char *ns, const char *name, const char *version,
                               const char *scheduler, const char *node)
{
    return world_pod_of(
        w, arena_printf(&w->arena,
                        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%s\"},"
                        "\"spec\":{\"schedulerName\":\"%s\",\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\","
                        "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}",
                        name, ns, uid, version, scheduler, node));
}

/* Nothing waits, nothing is on a node, nothing is being bound. */
static void check_empty(struct sched_world *w)
{
    struct sched_counts n = sched_counts(w->sched);
    queue_check(sched_queue(w->sched));
    CHECK_INT("waiting", n.active + n.backoff + n.unschedulable_waiting + n.gated, 0);
    CHECK_INT("binding", n.binding, 0);
    CHECK_INT("on nodes", sched_cache(w->sched)->pods.n, 0);
    CHECK_INT("cpu in use", sched_cache(w->sched)->col.used_milli_cpu[0], 0);
}

TEST(a_pod_under_another_name_is_another_pod)
{
    static const char *const names[][2] = { { "default", "b" }, { "other", "a" }, { "other", "b" } };
    for (size_t i = 0; i < 3; i++) {
        struct sched_world w;
        open_world(&w);
        sched_pod_set(w.sched, named(&w, "u", "default", "a", "1", "default-scheduler", ""));
        sched_pod_set(w.sched, named(&w, "u", names[i][0], names[i][1], "2", "default-scheduler", ""));
        CHECK_INT("waiting", sched_counts(w.sched).active, 1);
        CHECK(sched_run_once(w.sched));
        CHECK(!sched_run_once(w.sched));
        CHECK_INT("binding", w.tickets.n, 1);
        sched_bound(w.sched, w.tickets.at[0], "no");
        sched_pod_removed(w.sched, "u");
        check_empty(&w);
        sched_world_close(&w);
    }
}

TEST(a_pod_under_another_name_while_it_is_tried)
{
    struct sched_world w;
    open_world(&w);
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "1", "default-scheduler", ""));
    CHECK(sched_run_once(w.sched));
    sched_pod_set(w.sched, named(&w, "u", "default", "b", "2", "default-scheduler", ""));
    queue_check(sched_queue(w.sched));
    sched_bound(w.sched, w.tickets.at[0], "no");
    queue_check(sched_queue(w.sched));
    sched_pod_removed(w.sched, "u");
    check_empty(&w);
    sched_world_close(&w);
}

TEST(a_pod_that_loses_its_node_waits_again)
{
    struct sched_world w;
    open_world(&w);
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "1", "default-scheduler", "n1"));
    CHECK_INT("cpu in use", sched_cache(w.sched)->col.used_milli_cpu[0], 1000);
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "2", "default-scheduler", ""));
    CHECK_INT("cpu in use", sched_cache(w.sched)->col.used_milli_cpu[0], 0);
    CHECK_INT("waiting", sched_counts(w.sched).active, 1);
    CHECK(sched_run_once(w.sched));
    CHECK_INT("binding", sched_counts(w.sched).binding, 1);
    sched_bound(w.sched, w.tickets.at[0], NULL);
    sched_pod_removed(w.sched, "u");
    check_empty(&w);
    sched_world_close(&w);
}

TEST(a_pod_that_another_scheduler_gets_is_not_tried)
{
    struct sched_world w;
    open_world(&w);
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "1", "default-scheduler", ""));
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "2", "someone-else", ""));
    CHECK(!sched_run_once(w.sched));
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "3", "default-scheduler", ""));
    CHECK_INT("waiting", sched_counts(w.sched).active, 1);
    sched_pod_removed(w.sched, "u");
    check_empty(&w);
    sched_world_close(&w);
}

TEST(the_end_of_a_pod_does_not_end_its_successor_of_the_same_name)
{
    struct sched_world w;
    open_world(&w);
    sched_pod_set(w.sched, named(&w, "u1", "default", "a", "1", "default-scheduler", ""));
    sched_pod_set(w.sched, named(&w, "u2", "default", "a", "2", "default-scheduler", ""));
    sched_pod_removed(w.sched, "u1"); /* the watch was late */
    CHECK_INT("waiting", sched_counts(w.sched).active, 1);
    CHECK(sched_run_once(w.sched));
    sched_bound(w.sched, w.tickets.at[0], NULL);
    sched_pod_removed(w.sched, "u2");
    sched_pod_removed(w.sched, "u2");
    check_empty(&w);
    sched_world_close(&w);
}

TEST(answers_come_twice_and_to_nobody)
{
    struct sched_world w;
    open_world(&w);
    sched_pod_set(w.sched, named(&w, "u", "default", "a", "1", "default-scheduler", ""));
    CHECK(sched_run_once(w.sched));
    io_ticket ticket = w.tickets.at[0];
    sched_volumes_bound(w.sched, ticket, NULL); /* of the wrong kind */
    sched_victim_done(w.sched, ticket, "no");
    sched_bound(w.sched, 0, NULL);
    sched_bound(w.sched, UINT64_MAX, "no");
    CHECK_INT("binding", sched_counts(w.sched).binding, 1);
    sched_bound(w.sched, ticket, NULL);
    sched_bound(w.sched, ticket, "no");
    sched_bound(w.sched, ticket, NULL);
    CHECK_INT("placed", sched_counts(w.sched).placed, 1);
    sched_pod_removed(w.sched, "u");
    check_empty(&w);
    sched_world_close(&w);
}

TEST(what_is_not_there_is_removed)
{
    struct sched_world w;
    open_world(&w);
    sched_node_removed(w.sched, world_sym(&w, "never"));
    sched_node_removed(w.sched, world_sym(&w, "n1"));
    sched_node_removed(w.sched, world_sym(&w, "n1"));
    sched_pod_removed(w.sched, "never");
    sched_pod_removed(w.sched, "");
    for (enum object_kind kind = 0; kind < N_OBJECT_KINDS; kind++)
        sched_object_removed(w.sched, kind, SYM_EMPTY, STR("never"));
    world_node(&w, "n1", "4", "");
    check_empty(&w);
    sched_world_close(&w);
}

TEST(things_without_names)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    world_node(&w, "", "4", "");
    sched_pod_set(w.sched, named(&w, "", "", "", "", "default-scheduler", ""));
    sched_pod_set(w.sched, named(&w, "", "", "", "1", "default-scheduler", ""));
    while (sched_run_once(w.sched))
        ;
    queue_check(sched_queue(w.sched));
    for (size_t i = 0; i < w.tickets.n; i++)
        sched_bound(w.sched, w.tickets.at[i], NULL);
    queue_check(sched_queue(w.sched));
    sched_pod_removed(w.sched, "");
    check_empty(&w);
    sched_node_removed(w.sched, SYM_EMPTY);
    sched_world_close(&w);
}
