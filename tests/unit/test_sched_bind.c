/* What became of bindings, told through the whole scheduler. */
#include "tests/unit/sched_world.h"

static void bind_one(struct sched_world *w)
{
    sched_world_init(w);
    sched_world_open(w);
    world_node(w, "n", "1", "");
    sched_pod_set(w->sched, world_pod(w, "a", NULL, 0, "1", ""));
    CHECK(sched_run_once(w->sched));
    CHECK_TEXT("the only node", world_log(w), "bind a n\n");
}

TEST(a_bound_pod_that_is_deleted_before_the_watch_shows_it_frees_its_node)
{
    struct sched_world w;
    bind_one(&w);
    sched_bound(w.sched, w.tickets.at[0], NULL);
    sched_pod_removed(w.sched, "uid-a");
    CHECK(!cache_find_pod(sched_cache(w.sched), "uid-a"));
    world_log(&w);
    sched_pod_set(w.sched, world_pod(&w, "b", NULL, 0, "1", ""));
    CHECK(sched_run_once(w.sched));
    CHECK_TEXT("room again", world_log(&w), "bind b n\n");
    sched_world_close(&w);
}

TEST(a_pod_that_is_deleted_while_it_is_bound_frees_its_node_at_once)
{
    struct sched_world w;
    bind_one(&w);
    sched_pod_removed(w.sched, "uid-a");
    CHECK(!cache_find_pod(sched_cache(w.sched), "uid-a"));
    sched_bound(w.sched, w.tickets.at[0], "pods \"a\" not found");
    CHECK_INT("bindings", sched_counts(w.sched).binding, 0);
    CHECK_INT("it does not come back", sched_run_once(w.sched), false);
    sched_world_close(&w);
}

/* The note of an event has a limit, the message of a condition has none. */
TEST(the_note_of_an_event_is_cut)
{
    static const struct {
        const char *what;
        size_t n_message;
        bool cut;
    } rows[] = { { "as long as may be", 1024, false }, { "one byte more", 1025, true }, { "long", 5000, true } };
    static const char before[] = "running Bind plugin \"DefaultBinder\": ";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sched_world w;
        bind_one(&w);
        char error[5001] = "";
        memset(error, 'x', rows[i].n_message - strlen(before));
        sched_bound(w.sched, w.tickets.at[0], error);
        struct str log = str_of(world_log(&w)), whole = str_of(arena_printf(&w.arena, "%s%s", before, error));
        const char *note = rows[i].cut ? arena_printf(&w.arena, "%.*s ...", 1020, whole.p) : whole.p;
        CHECK_STR(rows[i].what, log, str_of(arena_printf(&w.arena, "event Warning FailedScheduling %s\n"
                                                                   "status a SchedulerError: %s\nnominate a \n",
                                                         note, whole.p)));
        sched_world_close(&w);
    }
}
