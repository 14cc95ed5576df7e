/* A whole scheduler under random events in random order (random_engine.h), checked every few hundred steps
 * (engine_check.h). Each seed runs twice in one table of syms, and once between with other names of nodes: the same
 * events lead to the same decisions, and no sym is left over. */
#include "tests/unit/engine_check.h"

enum { RUNS = 30, RUNS_IN_SOAK = 400, STEPS = 5000, CHECK_EVERY = 200, OTHER_NODES = 1000 };

/* Returns the hash of all decisions. */
static uint64_t run(struct sym_table *syms, uint64_t seed, unsigned first_node, struct sched_counts *ret_counts)
{
    struct engine g;
    engine_init(&g, syms, seed);
    g.w.first_node = first_node;
    for (g.step = 0; g.step < STEPS; g.step++) {
        step(&g);
        if (g.step % CHECK_EVERY == CHECK_EVERY - 1)
            check_engine(&g);
    }
    uint64_t hash = sched_decision_hash(g.sched);
    *ret_counts = sched_counts(g.sched);
    engine_fini(&g);
    return hash;
}

TEST(random_events_keep_the_engine_consistent)
{
    uint64_t seed = seed_of_test(1);
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? RUNS_IN_SOAK : RUNS;
    struct sched_counts total = { 0 }, counts;
    for (unsigned i = 0; i < n; i++) {
        struct sym_table syms;
        sym_init(&syms);
        uint64_t first = run(&syms, seed + i, 0, &counts);
        uint32_t n_live = sym_n_live(&syms);
        run(&syms, seed + i, OTHER_NODES, &counts);
        CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
        uint64_t second = run(&syms, seed + i, 0, &counts);
        if (first != second)
            FAIL("seed %llu: the same events led to other decisions", (unsigned long long)seed + i);
        sym_fini(&syms);
        total.attempts += counts.attempts;
        total.placed += counts.placed;
        total.unschedulable += counts.unschedulable;
        total.errors += counts.errors;
    }
    printf("%llu attempts, %llu placed, %llu unschedulable, %llu errors\n", (unsigned long long)total.attempts,
           (unsigned long long)total.placed, (unsigned long long)total.unschedulable, (unsigned long long)total.errors);
    CHECK(total.placed > 0 && total.unschedulable > 0 && total.errors > 0);
}
