/* questions_run, small: every kind of question is asked, some find a node and some do not, and the same seed asks the same. */
#include "plugins/plugins.h"
#include "sim/questions.h"
#include "tests/test.h"

static void run(uint64_t seed, struct question_result *ret_results)
{
    struct arena arena;
    struct sym_table syms;
    struct setup setup;
    struct err e;
    arena_init(&arena);
    sym_init(&syms);
    err_init(&e, &arena);
    struct questions_options o = { .n_nodes = 120, .n_pods = 3600, .n_questions = 150, .n_remedies = 48, .seed = seed };
    if (setup_from_text(&setup, &syms, (struct str){ NULL, 0 }, plugin_registry, &e))
        FAIL("%s", e.message);
    if (questions_run(&o, &syms, &setup, ret_results, &e))
        FAIL("%s", e.message);
    setup_fini(&setup);
    sym_fini(&syms);
    arena_fini(&arena);
}

TEST(all_kinds_of_questions_are_asked)
{
    struct question_result first[N_QUESTIONS], second[N_QUESTIONS];
    run(1, first);
    run(1, second);
    for (int q = 0; q < N_QUESTIONS; q++) {
        CHECK_INT(first[q].name, first[q].n, q == QUESTION_REMEDIES ? 48 : 150);
        CHECK_INT(first[q].name, first[q].n_placed, second[q].n_placed);
        CHECK(first[q].n_placed > 0);
        CHECK(q == QUESTION_REMEDIES || first[q].n_placed < first[q].n);
        CHECK(first[q].per_second > 0 && first[q].p50_ns <= first[q].p99_ns && first[q].p99_ns <= first[q].max_ns);
    }
    CHECK(first[QUESTION_NODE].n_placed > first[QUESTION_WHERE].n_placed);
}
