/* sched/tell.h - what the scheduler says of its work in the log: upstream's words, keys and levels (pkg/scheduler, v1.36). Up to
 * level 3 only, and never for each node of an attempt. docs/compatibility.md has the list.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "sched/sched_priv.h"

/* Objects come and go: `what` is the whole message. */
void tell_pod_event(const struct sched *s, const char *what, const struct pod *pod);
void tell_node_event(const struct sched *s, const char *what, const struct node *node);
/* The order of nodes, by zones: "Added node to NodeTree" and its like. */
void tell_node_tree(const struct sched *s, const char *what, const struct node *node);

void tell_attempt(const struct sched *s, const struct pod *pod);
void tell_skipped(const struct sched *s, const struct pod *pod);
void tell_bound(const struct sched *s, const struct binding *b);
void tell_not_bound(const struct sched *s, const struct binding *b);

/* Preemption: whether somebody could be evicted; n_potential nodes were looked at. */
void tell_no_candidate(const struct sched *s, const struct pod *pod, uint32_t n_potential);
void tell_target(const struct sched *s, const struct pod *pod, sym node);
/* Then its course; `node` is where room is made. */
void tell_preemption_begins(const struct sched *s, const struct pod *preemptor, sym node, uint32_t n_victims,
                            uint32_t n_to_delete);
void tell_going_already(const struct sched *s, const struct pod *preemptor, const struct pod *victim);
void tell_sent_back(const struct sched *s, const struct pod *preemptor, const struct pod *victim, bool in_pre_bind);
/* error NULL: it worked. */
void tell_evicted(const struct sched *s, const struct pod *preemptor, const struct pod *victim, const char *error);
void tell_preemption_ends(const struct sched *s, const struct pod *preemptor, sym node, bool failed);
