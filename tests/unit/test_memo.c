/* Memo: a run in which nothing is remembered between attempts takes the same decisions, in the same words, as one in which
 * failures are repeated. */
#include "sched/memo.h"
#include "tests/unit/random_engine.h"
#include "tests/unit/sched_world.h"

enum { RUNS = 24, RUNS_IN_SOAK = 300, STEPS = 1500 };

static void forget(void *context, const struct pod *pod)
{
    struct sched *s = context;
    (void)pod;
    memos_free(s->memos);
    s->memos = memos_new();
}

/* The hash is over the texts of all failures. */
static uint64_t run(struct sym_table *syms, uint64_t seed, bool forgetful, uint64_t *n_repeated)
{
    struct engine g;
    engine_init(&g, syms, seed);
    if (forgetful)
        sched_watch_attempts(g.sched, forget, g.sched);
    for (g.step = 0; g.step < STEPS; g.step++)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched) ^ g.sched->rand.state[0];
    *n_repeated += g.sched->n_repeated;
    engine_fini(&g);
    return hash;
}

TEST(what_is_remembered_changes_no_decision)
{
    uint64_t seed = seed_of_test(1), n_repeated = 0, n_forgotten = 0;
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? RUNS_IN_SOAK : RUNS;
    for (unsigned i = 0; i < n; i++) {
        struct sym_table syms;
        sym_init(&syms);
        uint64_t hash = run(&syms, seed + i, false, &n_repeated);
        if (run(&syms, seed + i, true, &n_forgotten) != hash)
            FAIL("seed %llu: other decisions when nothing is remembered", (unsigned long long)(seed + i));
        sym_fini(&syms);
    }
    printf("%llu failures were repeated\n", (unsigned long long)n_repeated);
    CHECK(n_repeated > 0);
    CHECK_INT("repeated though forgotten", n_forgotten, 0);
}

TEST(as_many_memos_are_kept_as_have_room)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_open(&w);
    memos_limit(w.sched->memos, 2 * sizeof(struct memo_row));
    world_node(&w, "n", "1", "");
    static const char *const cpus[] = { "2", "3", "2", "4", "3", "4" };
    static const unsigned dropped[] = { 0, 0, 0, 1, 2, 2 };
    for (int i = 0; i < 6; i++) {
        sched_pod_set(w.sched, world_pod(&w, arena_printf(&w.arena, "p%d", i), NULL, 0, cpus[i], ""));
        CHECK(sched_run_once(w.sched));
        CHECK_INT(cpus[i], memos_n_dropped(w.sched->memos), dropped[i]);
    }
    sched_world_close(&w);
}
