/* sim/nodes_needed.h - how many more nodes of a given shape until nothing is pending.
 *
 * Pods that have a node keep it (settle.h): only those that wait are tried on the larger cluster, as a real one would.
 * Every number is tried by a run of its own: up to one that is enough, guessing from how much the last
 * one helped, then down from there, so that the answer is enough and one less is not. Answers up to NEEDED_SURE are the smallest of all;
 * for larger ones a smaller number may be enough where more nodes make things worse in between. As
 * many nodes as pods are pending is the most that is tried: what is pending then needs something
 * else, and the answer is for all the others.
 *
 * Thread: one. Owns: its lists and texts. */
#pragma once

#include "sim/run.h"

enum { NEEDED_SURE = 16 };

/* A pod that no number of these nodes places. */
struct sim_hopeless {
    const char *ns, *name;
    const char *owner, *message; /* owner NULL: nobody */
    bool made;                   /* for its owner: its name says nothing */
};

struct sim_needed {
    struct arena arena;
    const char *like;
    uint32_t n_nodes;          /* the answer */
    uint32_t n_pending_before; /* without any */
    uint32_t n_runs;
    VEC(struct sim_hopeless) hopeless;
};

/* `ended` was run to its end; a drain of it goes on where more nodes let it. To be finished in either case. */
enum err_code sim_needed_init(struct sim_needed *n, struct sim_run *ended, const struct sim_runner *how,
                              const char *like, struct err *e) ERR_MUST_CHECK;
void sim_needed_fini(struct sim_needed *n);
