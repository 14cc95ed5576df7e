/* sim/changed.h - what if: a cluster is run, changed as it then stands, and run again.
 *
 * Pods that have found a node in the first run keep it (settle.h), unless a change takes it from them. What differs
 * between the two runs is therefore the changes' doing.
 *
 * Thread: one, the owner of the sym table. Owns: both runs and the input between them. */
#pragma once

#include "sim/change.h"
#include "sim/run.h"

struct sim_change_list {
    const struct sim_change *at;
    size_t n;
    bool force; /* drains delete pods without a controller, too */
};

/* Stays where it is: the worlds know the address. */
struct sim_changed {
    struct sim_run before;
    struct sim_input in; /* how `before` ended, with the changes */
    struct sim_changes done;
    struct sim_run after;
};

/* `given` is complete and not expanded; it stays as it is and must live longer. To be finished in either case. */
enum err_code sim_changed_init(struct sim_changed *c, const struct sim_input *given,
                               const struct sim_change_list *changes, const struct sim_runner *how,
                               struct err *e) ERR_MUST_CHECK;
void sim_changed_fini(struct sim_changed *c);

/* All of them, in their order. */
enum err_code sim_changes_apply(struct sim_changes *c, struct sim_input *in, const struct sim_change_list *changes,
                                struct err *e) ERR_MUST_CHECK;
