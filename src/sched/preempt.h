/* sched/preempt.h - making room: which pods of lower priority would have to go, and from which node.
 *
 * On each node where evicting may help, all pods of lower priority leave a copy of the node; if the pod fits then, they come
 * back, those that a disruption budget protects and the more important ones first, as long as it still fits. Who is left
 * out is a victim. Of the nodes the one is taken whose victims break the fewest budgets; then whose most important
 * victim is the least important; then by the least sum of priorities, the fewest victims, the latest start of
 * the most important one; then the first.
 *
 * Thread: scheduling thread only. Memory: the cycle's arena. */
#pragma once

#include "sched/framework.h"

struct candidate {
    node_id node;
    const struct pod **victims; /* most important first; in an extender's order when it chose them */
    uint32_t n_victims;
    int64_t n_violations; /* of disruption budgets; an extender may say anything */
};

struct preemption {
    const struct plugin_instance *by;
    uint32_t n_potential;         /* nodes among which a random one was the first to be looked at */
    struct candidate *candidates; /* those without violations first */
    uint32_t n_candidates;
    const struct candidate *chosen;       /* NULL: none helps */
    struct filter_status *dry_run;        /* by node_id: why evicting does not help there; may be NULL */
    bool keeps_nomination;                /* nothing was chosen, but what the pod was promised stays promised */
};

struct preemption_limits {
    int32_t percentage, absolute; /* how many candidate nodes are enough, of those that might help */
};

/* Looks for a node where evicting helps. PASS: `chosen` is set. A rejection has the text for the
 * PostFilter message, without its "preemption: ". */
struct verdict preempt_find(struct cycle *c, struct preemption_limits limits, struct preemption *ret);
/* Whether the pod may preempt at all; else a rejection with the text. */
struct verdict preempt_eligible(struct cycle *c);
/* The nodes among which upstream's criteria leave the choice open, of a preemption that found candidates; a seam for
 * tests. */
uint32_t preempt_ties(struct cycle *c, const struct preemption *p, const struct candidate **ret_ties);
