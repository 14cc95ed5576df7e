/* tests/fuzz/fuzz_engine.c - a scheduler under events that bytes choose: nodes, pods and objects come, change and go,
 * answers come early, late, with errors or to nobody, time passes.
 *
 * The first byte chooses the world (shapes of pods, gates), the others what happens in it (random_engine.h). Now and
 * then, and at the end, the scheduler is compared with the truth (engine_check.h). All of it happens twice: the same
 * events lead to the same decisions, and no sym is left over. */
#include "tests/unit/engine_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BYTES_MAX = 600, CHECK_EVERY = 64 };

static uint64_t play(struct sym_table *syms, uint8_t world, struct str choices, bool check)
{
    struct engine g;
    engine_init(&g, syms, world);
    g.w.choices = choices;
    for (; g.w.choices.n; g.step++) {
        step(&g);
        if (check && g.step % CHECK_EVERY == CHECK_EVERY - 1)
            check_engine(&g);
    }
    check_engine(&g);
    uint64_t hash = sched_decision_hash(g.sched);
    engine_fini(&g);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2 || n > BYTES_MAX)
        return 0;
    struct sym_table syms;
    struct str choices = { (const char *)data + 1, n - 1 };
    sym_init(&syms);
    uint64_t first = play(&syms, data[0], choices, true);
    uint32_t n_live = sym_n_live(&syms);
    uint64_t second = play(&syms, data[0], choices, false);
    CHECK(first == second);
    CHECK_INT("syms that nobody gave up", sym_n_live(&syms), n_live);
    sym_fini(&syms);
    return 0;
}
