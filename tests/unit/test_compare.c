/* The comparer. */
#include "sched/compare.h"

#include "sched/queue.h"
#include "tests/unit/sched_world.h"

enum { LISTED_MAX = 8 };

/* "a b" as a list. */
static struct strs split(struct arena *arena, const char *text)
{
    struct str *at = ARENA_NEW_N(arena, struct str, LISTED_MAX);
    size_t n = 0;
    for (const char *from = text; *from;) {
        size_t length = strcspn(from, " ");
        CHECK(n < LISTED_MAX);
        at[n++] = (struct str){ from, length };
        from += length + (from[length] == ' ');
    }
    return (struct strs){ at, n };
}

static const char *join(struct arena *arena, struct strs list)
{
    const char *text = "";
    for (size_t i = 0; i < list.n; i++)
        text = arena_printf(arena, "%s%s%.*s", text, i ? " " : "", STR_ARG(list.at[i]));
    return text;
}

static void check(struct arena *arena, const char *what, struct mismatch m, const char *missed, const char *redundant)
{
    CHECK_TEXT(what, join(arena, m.missed), missed);
    CHECK_TEXT(what, join(arena, m.redundant), redundant);
    CHECK_INT(what, mismatch_is_empty(&m), !missed[0] && !redundant[0]);
}

TEST(nodes_are_compared_by_name)
{
    static const struct {
        const char *what, *listed, *missed, *redundant;
    } table[] = {
        { "all there", "n2 n1 ghost", "", "" },
        { "nothing listed", "", "", "ghost n1 n2" },
        { "one more listed, first", "a n1 n2 ghost", "a", "" },
        { "one more listed, last", "n1 n2 z ghost", "z", "" },
        { "a ghost is redundant", "n1 n2", "", "ghost" },
        { "both, sorted", "z n1 ghost a", "a z", "n2" },
        { "a prefix is another name", "n n1 n2 ghost", "n", "" },
        { "a name listed twice is missed once", "n1 n1 n2 ghost", "n1", "" },
    };
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    world_node(&w, "n1", "4", "");
    world_node(&w, "n2", "4", "");
    world_node(&w, "gone", "4", "");
    sched_node_removed(w.sched, world_sym(&w, "gone"));
    sched_pod_set(w.sched, world_pod(&w, "p", "ghost", 0, "1", ""));
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        check(&w.arena, table[i].what,
              compare_nodes(sched_cache(w.sched), split(&w.arena, table[i].listed), &w.arena), table[i].missed,
              table[i].redundant);
    sched_world_close(&w);
}

static struct mismatch pods(struct sched_world *w, const char *listed)
{
    return compare_pods(sched_cache(w->sched), sched_queue(w->sched), split(&w->arena, listed), &w->arena);
}

TEST(pods_are_compared_by_uid)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    check(&w.arena, "an empty cluster", pods(&w, ""), "", "");
    world_node(&w, "n1", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "placed", "n1", 0, "1", ""));
    sched_pod_set(w.sched, world_pod(&w, "ghost", "n9", 0, "1", ""));
    sched_pod_set(w.sched, world_pod(&w, "large", NULL, 9, "64", ""));
    CHECK(sched_run_once(w.sched));
    CHECK_INT("waits", queue_counts(sched_queue(w.sched)).unschedulable, 1);
    sched_pod_set(w.sched, world_pod(&w, "ready", NULL, 0, "1", ""));
    check(&w.arena, "on nodes, ready, waiting", pods(&w, "uid-placed uid-ghost uid-large uid-ready"), "", "");
    check(&w.arena, "some missed, some redundant", pods(&w, "uid-large uid-new uid-ghost"), "uid-new",
          "uid-placed uid-ready");
    check(&w.arena, "nothing listed", pods(&w, ""), "", "uid-ghost uid-large uid-placed uid-ready");
    sched_world_close(&w);
}

TEST(popped_pods_are_missed_until_they_are_assumed)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    world_node(&w, "n1", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "p", NULL, 0, "1", ""));
    struct queued_pod *qp = queue_pop(sched_queue(w.sched), w.now_ms);
    CHECK(qp);
    check(&w.arena, "popped", pods(&w, "uid-p"), "uid-p", "");
    struct arena arena;
    struct err e;
    arena_init(&arena);
    err_init(&e, &arena);
    queue_done(sched_queue(w.sched), qp);
    CHECK(queue_add_unschedulable(sched_queue(w.sched), qp, NULL, (struct rejectors){ 0 }, w.now_ms, &e) == ERR_OK);
    CHECK_INT("backs off", queue_counts(sched_queue(w.sched)).backoff, 1);
    check(&w.arena, "backing off after an error", pods(&w, "uid-p"), "", "");
    arena_fini(&arena);
    sched_world_close(&w);
}
