/* sim/run.h - one run of an input that was completed: copied, changed if asked for, expanded, and
 * run to its end, with all rounds of a drain.
 *
 * Thread: one. Owns: the copy and the world; `from`, the sym table and the setup must live longer. */
#pragma once

#include "sim/drain.h"

struct sim_runner {
    const struct setup *setup;
    uint64_t seed;
};

/* Stays where it is: the world knows the address. */
struct sim_run {
    struct sim_input in; /* has the warnings of what it was copied from, too */
    struct sim_world world;
    struct sim_drain drain; /* how far it came; without nodes: there was none */
};

/* A copy of the input to run, which may be changed before sim_run_start. `drain` is one that began
 * on that input, or NULL. */
void sim_run_init(struct sim_run *r, const struct sim_input *from, const struct sim_drain *drain);
/* Makes the world, ready to be run. */
enum err_code sim_run_open(struct sim_run *r, const struct sim_runner *how, struct err *e) ERR_MUST_CHECK;
/* The same, and runs it. */
enum err_code sim_run_start(struct sim_run *r, const struct sim_runner *how, struct err *e) ERR_MUST_CHECK;
/* Also after a start that failed or never was. */
void sim_run_fini(struct sim_run *r);
