/* What is kept between attempts is dropped when there is too much of it: classes, memos, columns of counts. A scheduler that
 * keeps hardly any takes the same decisions, in the same words, as one that drops none. */
#include "sched/counts.h"
#include "sched/memo.h"
#include "sched/pod_class.h"
#include "tests/unit/random_engine.h"

enum { RUNS = 16, RUNS_IN_SOAK = 200, STEPS = 1500 };

struct dropped {
    uint64_t classes, memos, columns;
};

/* The hash is over the texts of all failures. */
static uint64_t run(struct sym_table *syms, uint64_t seed, bool forgetful, struct dropped *total)
{
    struct engine g;
    engine_init(&g, syms, seed);
    if (forgetful) {
        pod_classes_limit(g.sched->pod_classes, 1 + seed % 3);
        memos_limit(g.sched->memos, 0);
        counts_limit(g.sched->cache.counts, 0);
    }
    for (g.step = 0; g.step < STEPS; g.step++)
        step(&g);
    uint64_t hash = sched_decision_hash(g.sched) ^ g.sched->rand.state[0];
    total->classes += pod_classes_n_dropped(g.sched->pod_classes);
    total->memos += memos_n_dropped(g.sched->memos);
    total->columns += counts_n_dropped(g.sched->cache.counts);
    engine_fini(&g);
    return hash;
}

TEST(what_is_dropped_changes_no_decision)
{
    uint64_t seed = seed_of_test(1);
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? RUNS_IN_SOAK : RUNS;
    struct dropped none = { 0 }, many = { 0 };
    for (unsigned i = 0; i < n; i++) {
        struct sym_table syms;
        sym_init(&syms);
        uint64_t hash = run(&syms, seed + i, false, &none);
        if (run(&syms, seed + i, true, &many) != hash)
            FAIL("seed %llu: other decisions when little is kept", (unsigned long long)(seed + i));
        sym_fini(&syms);
    }
    printf("%llu classes, %llu memos and %llu columns were dropped\n", (unsigned long long)many.classes,
           (unsigned long long)many.memos, (unsigned long long)many.columns);
    CHECK_INT("dropped without need", none.classes + none.memos + none.columns, 0);
    CHECK(many.classes > 100);
    CHECK(many.memos > 100);
    CHECK(many.columns > 100);
}
