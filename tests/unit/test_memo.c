/* Memo: a run in which nothing is remembered between attempts takes the same decisions, in the same words, as one in which
 * failures are repeated. */
#include "sched/memo.h"
#include "tests/unit/random_engine.h"

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
