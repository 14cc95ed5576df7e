/* sched/decision.h - what the scheduler decided, for those who watch (sched_watch_decisions).
 *
 * A watcher is told of every decision at the moment it is made: a node was chosen for a pod, and nothing has been
 * done about it yet; a pod fits nowhere, or its attempt failed, and nobody has been told; or a pod that had a
 * node loses it again, because Reserve, Permit, PreBind or Bind failed. Whoever watches reads, and changes nothing.
 *
 * Without a watcher none of this costs more than a comparison.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "sched/attempt.h"

enum decision_outcome {
    DECISION_PLACED,        /* on `node`; its binding is about to begin */
    DECISION_UNSCHEDULABLE,
    DECISION_PREEMPTING,    /* the same, and pods on `node` are evicted for it: attempt->cycle.preemption */
    DECISION_ERROR,
    N_DECISION_OUTCOMES
};

struct sched_decision {
    const struct pod *pod;
    const struct profile *profile; /* NULL: none has the pod's schedulerName */
    enum decision_outcome outcome;
    uint32_t n_attempts; /* for this pod, with this one */
    sym node;            /* PLACED, PREEMPTING; else SYM_NONE. Borrowed */
    const char *message; /* NULL: PLACED */
    struct attempt *attempt; /* can be read, and asked as below, until the watcher returns; NULL: the pod had been placed before,
                                and its binding has failed */
};

enum { DECISION_NODES_MAX = 5 };

/* A node that was compared. */
struct decision_node {
    node_id node;
    int64_t total;
    const int64_t *scores; /* score times weight, by position at POINT_SCORE; in the attempt's arena */
};

/* The nodes with the largest totals: the chosen one first, then by total; of equal ones those that the search saw first, or
 * with the smallest row. Returns how many; 0: there was nothing to compare. For an attempt that fits, and wants
 * scores. */
uint32_t decision_best(struct attempt *a, struct decision_node ret_best[DECISION_NODES_MAX]);
/* One node of the same attempt. False: it was not compared. */
bool decision_score(struct attempt *a, node_id node, struct decision_node *ret_node);
