/* Feature gates on their way from --feature-gates through a set-up to the engine. */
#include "config/setup.h"
#include "sched/queue.h"
#include "tests/unit/sched_world.h"

struct story {
    struct sched_world w;
    struct setup setup;
};

static enum err_code load(struct story *s, const char *gates, struct err *e)
{
    struct setup_source from = { .feature_gates = gates };
    return setup_load(&s->setup, &s->w.syms, &from, plugin_registry, e);
}

static void open_story(struct story *s, const char *gates)
{
    struct err e;
    sched_world_init(&s->w);
    err_init(&e, &s->w.arena);
    if (load(s, gates, &e))
        FAIL("%s", e.message);
    s->w.profiles[0] = s->setup.profiles[0];
    s->w.features = s->setup.features;
    sched_world_open(&s->w);
}

/* The setup goes after the scheduler and before the names. */
static void close_story(struct story *s)
{
    sched_free(s->w.sched);
    setup_fini(&s->setup);
    s->w.profiles[0] = &s->w.profile;
    sched_world_open(&s->w);
    sched_world_close(&s->w);
}

TEST(gates_that_are_not_known_are_an_error)
{
    struct story s;
    struct err e;
    sched_world_init(&s.w);
    err_init(&e, &s.w.arena);
    CHECK(load(&s, "Nonsense=true", &e) != ERR_OK);
    CHECK_TEXT("message", e.message, "feature gates: unrecognized feature gate: Nonsense");
    CHECK(load(&s, "GangScheduling=true", &e) != ERR_OK);
    sched_world_open(&s.w);
    sched_world_close(&s.w);
}

/* A pod that failed and was woken: it is tried before its back-off is over when nobody else is ready. */
TEST(pods_are_popped_from_the_backoff_queue)
{
    for (int on = 0; on < 2; on++) {
        struct story s;
        open_story(&s, on ? "SchedulerPopFromBackoffQ=true" : "SchedulerPopFromBackoffQ=false");
        world_node(&s.w, "n", "1", "");
        sched_pod_set(s.w.sched, world_pod(&s.w, "p", NULL, 0, "2", ""));
        CHECK(sched_run_once(s.w.sched));
        world_node(&s.w, "n2", "4", "");
        CHECK_INT("waits for its back-off", sched_counts(s.w.sched).backoff, 1);
        CHECK_INT("tried early", sched_run_once(s.w.sched), on);
        close_story(&s);
    }
}

static struct verdict waits(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms)
{
    (void)p;
    (void)c;
    (void)node;
    *ret_timeout_ms = 1000;
    return (struct verdict){ .code = V_WAIT };
}

TEST(a_pod_that_takes_its_time_says_where_it_goes)
{
    static const struct plugin waiter = { .name = "Waiter", .permit = waits };
    for (int on = 0; on < 2; on++) {
        struct sched_world w;
        sched_world_init(&w);
        w.features.nominated_node_name_for_expectation = on;
        sched_world_add_plugin(&w, &waiter, NULL, 0);
        sched_world_open(&w);
        world_node(&w, "n", "1", "");
        sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", ""));
        CHECK(sched_run_once(w.sched));
        CHECK_TEXT("log", world_log(&w), on ? "nominate p n\n" : "");
        sched_world_close(&w);
    }
}

/* By default on; the plugin may be enabled by name while the gate is off, and then does nothing. */
TEST(declared_features_matter)
{
    static const char *const needs = "\"hostNetwork\":true,\"hostUsers\":false";
    for (int on = 0; on < 2; on++) {
        struct sched_world w;
        sched_world_init(&w);
        w.features.node_declared_features = on;
        sched_world_add_plugin(&w, &nodedeclaredfeatures_plugin, NULL, 0);
        sched_world_open(&w);
        world_node(&w, "n", "1", "");
        sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", needs));
        CHECK(sched_run_once(w.sched));
        CHECK_INT("bound", strcmp(world_log(&w), "bind p n\n") == 0, !on);
        sched_world_close(&w);
    }
}

/* The queue knows of pod groups: pods of one are tried again after their back-off, whatever hints say. */
TEST(pods_of_a_group_do_not_wait_for_events)
{
    for (int on = 0; on < 2; on++) {
        struct story s;
        open_story(&s, on ? "GenericWorkload=true" : "GenericWorkload=false");
        world_node(&s.w, "n", "1", "");
        sched_pod_set(s.w.sched, world_pod(&s.w, "p", NULL, 0, "2", "\"schedulingGroup\":{\"podGroupName\":\"g\"}"));
        CHECK(sched_run_once(s.w.sched));
        CHECK_INT("waits", sched_counts(s.w.sched).unschedulable_waiting, !on);
        close_story(&s);
    }
}
