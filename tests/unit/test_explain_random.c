/* Explanations amid random events hold (asked_engine.h), and a run in which pods are explained after every step takes the
 * same decisions as one in which nobody asks. */
#include "tests/unit/asked_engine.h"

enum { RUNS = 24, RUNS_IN_SOAK = 200, STEPS = 1500 };

static uint64_t run_unasked(struct sym_table *syms, uint64_t seed)
{
    struct engine g;
    engine_init(&g, syms, seed);
    for (g.step = 0; g.step < STEPS; g.step++)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched);
    engine_fini(&g);
    return hash;
}

static uint64_t run_asked(struct sym_table *syms, uint64_t seed, struct asked *a)
{
    engine_init(&a->g, syms, seed);
    asked_init(a, seed);
    for (a->g.step = 0; a->g.step < STEPS; a->g.step++)
        one_step(a);
    uint64_t hash = sched_decision_hash(a->g.sched);
    engine_fini(&a->g);
    asked_fini(a);
    return hash;
}

TEST(explaining_changes_nothing_and_says_what_comes)
{
    uint64_t seed = seed_of_test(1);
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? RUNS_IN_SOAK : RUNS;
    struct asked *a = calloc(1, sizeof(*a));
    for (unsigned i = 0; i < n; i++) {
        struct sym_table syms;
        sym_init(&syms);
        uint64_t unasked = run_unasked(&syms, seed + i);
        uint32_t n_live = sym_n_live(&syms);
        if (run_asked(&syms, seed + i, a) != unasked)
            FAIL("seed %llu: being asked led to other decisions", (unsigned long long)(seed + i));
        CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
        sym_fini(&syms);
    }
    printf("%u attempts fit, %u did not, %u preempted; %u pods with a node and %u gated ones were explained\n",
           a->n_fits, a->n_rejected, a->n_preempts, a->n_running, a->n_gated);
    CHECK(a->n_fits > 0 && a->n_rejected > 0 && a->n_preempts > 0 && a->n_running > 0 && a->n_gated > 0);
    free(a);
}
