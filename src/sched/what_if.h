/* sched/what_if.h - would this pod find a node if the cluster were a little different?
 *
 * Between what_if_begin and what_if_end the state may be changed for a while: nodes that look different,
 * a node more, pods lifted off their nodes. what_if_ask makes a trial (trial.h) for a pod on that state,
 * without preemption: every other pod stays where it is; nominated pods count as always. what_if_undo
 * takes all changes back.
 *
 * Afterwards the scheduler decides as if nobody had asked: rows, their pods and ports, the order of nodes
 * and where the next search begins are what they were, also in their order. What is remembered between
 * attempts (pod_class.h, memo.h) is kept apart, so that changed pods and rows do not get into it. Only
 * generations have moved on, and the arena of the scheduler's last attempt is gone.
 *
 * Extenders are not asked: with any configured, no answer would be worth anything (what_if_can).
 *
 * Thread: scheduling thread only, between attempts.    Owns: references to what it replaced. */
#pragma once

#include "sched/sched.h"

struct pod_classes;
struct memos;

enum what_if_step_kind { WHAT_IF_NODE, WHAT_IF_NEW_NODE, WHAT_IF_POD };

/* What has to be taken back. */
struct what_if_step {
    enum what_if_step_kind kind;
    bool order_was_identity;  /* WHAT_IF_NEW_NODE */
    node_id row;
    const struct node *node;  /* WHAT_IF_NODE: as it was; a reference */
    struct lifted_pod lifted; /* WHAT_IF_POD */
};

struct what_if {
    struct sched *sched;
    struct pod_classes *pod_classes; /* the scheduler's own */
    struct memos *memos;     /* the same */
    VEC(struct what_if_step) steps;
    bool order_was_stale;
};

struct what_if_answer {
    bool enters_queue;   /* no gate keeps the pod out, and it is not being deleted */
    bool places;
    sym node;            /* where; borrowed from the cache until the change is undone */
    uint32_t n_feasible; /* nodes that it fits on, as far as the search looked */
};

bool what_if_can(const struct sched *s);
void what_if_begin(struct what_if *w, struct sched *s);
/* Undoes what is not undone. */
void what_if_end(struct what_if *w);

/* The node on the row looks like this. */
void what_if_node(struct what_if *w, node_id row, const struct node *node);
/* One node more, without images; no node, pod or nomination may know its name. */
void what_if_new_node(struct what_if *w, const struct node *node);
/* The pod is not on its node, which has a Node object. */
void what_if_without(struct what_if *w, const struct placed *placed);
void what_if_undo(struct what_if *w);

struct what_if_answer what_if_ask(struct what_if *w, const struct pod *pod);
