/* sim/difference.h - two runs compared: which pods are elsewhere, which nodes are used more or less.
 *
 * A pod is the same in both worlds when it has the same namespace and name; a pod of a DaemonSet
 * when it is for the same node, because the names of those that were made follow the list of nodes.
 * Nodes and zones are the same by name.
 *
 * Thread: one. Both worlds have been run, share one sym table and must live longer. */
#pragma once

#include "sim/report.h"

enum sim_shift {
    SIM_MOVED,          /* on another node */
    SIM_NOW_PENDING,    /* had a node, or was preempted, and is pending */
    SIM_NOW_PLACED,     /* was pending and has a node */
    SIM_GONE,           /* is not there any more */
    SIM_NEW,            /* was not there; has a node or is pending */
    SIM_NOW_PREEMPTED,
    SIM_NOT_PREEMPTED,  /* was preempted and has a node */
    N_SIM_SHIFTS
};

/* "moved", "pending", ... as the JSON report has it. */
const char *sim_shift_name(enum sim_shift shift);

struct sim_shifted {
    enum sim_shift shift;
    const struct sim_pod *before, *after; /* NULL: not there */
};

/* A node or a zone; NULL: not there. */
struct sim_use {
    const char *name, *zone;
    bool was_there, is_there;
    struct sim_amounts allocatable_before, allocatable_after;
    struct sim_amounts before, after; /* requests at the end of either run */
};

struct sim_difference {
    struct arena arena;
    const struct sim_world *before, *after;
    VEC(struct sim_shifted) pods; /* in the order of `after`, then those that are gone in the order of `before` */
    VEC(struct sim_use) nodes;    /* all; in the order of `before`, new ones behind */
    VEC(struct sim_use) zones;    /* by name */
    struct sim_use cluster;
    uint32_t n[N_SIM_SHIFTS];
};

void sim_difference_init(struct sim_difference *d, const struct sim_world *before, const struct sim_world *after);
void sim_difference_fini(struct sim_difference *d);

/* Whether either the node's size or what is requested of it differs. */
bool sim_use_differs(const struct sim_use *u);
/* "" for pods without a node. */
const char *sim_node_name(const struct sim_world *w, const struct sim_pod *p);
