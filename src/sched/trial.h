/* sched/trial.h - an attempt for the asking: what the scheduler would do with a pod now, without any effect.
 *
 * It is made on the scheduler's own state and by its own code. A pod that has a node is lifted off it until the end, and
 * what it was promised counts no more. Extenders are not asked, since they may have effects of their own. While the
 * trial lasts the attempt can be read, and PostFilter be tried on it (attempt.h).
 *
 * Afterwards the scheduler decides as if nobody had asked: rows, pods and ports, where the next search begins, the random
 * numbers and whether the order of nodes has to be made anew are what they were. Queue, nominations, hash of
 * decisions and clocks were not touched. Only generations have moved on, caches that no decision depends on are
 * warmer, and the arena of the scheduler's last attempt is gone.
 *
 * Thread: scheduling thread only, between attempts or ahead of one (sched_watch_attempts); one trial at a time.
 * Owns: a reference to the pod, until trial_end. */
#pragma once

#include "sched/attempt.h"

struct trial {
    struct attempt attempt;
    const struct pod *pod;    /* that is tried: as if it had no node; a reference */
    struct lifted_pod lifted; /* lifted.placed: where it is; NULL: nowhere */
    uint32_t n_extenders;     /* that are not asked */
    /* to be put back */
    uint32_t start_index;
    struct rand rand;
    bool order_was_stale;
    bool begun; /* the attempt has not ended before its first chapter */
};

/* `pod` is one of the scheduler's, in its newest version (sched_pod), or one that it does not know. */
void trial_begin(struct trial *t, struct sched *s, const struct pod *pod, struct attempt_wants wants);
/* The attempt, up to the choice. */
void trial_run(struct trial *t);
void trial_end(struct trial *t);
