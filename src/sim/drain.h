/* sim/drain.h - nodes are emptied as `kubectl drain --ignore-daemonsets --delete-emptydir-data` does
 * it.
 *
 * The nodes are cordoned and their pods evicted: those of controllers are made again under the same
 * name, without a node, and are tried after all others. Pods of DaemonSets and static pods stay;
 * pods without a controller block, or are deleted with force; budgets (budget.h) are respected. It
 * goes in rounds: the first one changes the input; after a run, pods that found a node are healthy
 * again, and budgets may allow more. It is over when everything has left or nothing moves any more.
 * No pod is evicted twice, so what tolerates the cordon and comes back stays.
 *
 * Thread: one. Owns: its lists and texts; texts of pods are the input's. */
#pragma once

#include "sim/world.h"

/* A pod that should have left its node and did not. */
struct sim_stay {
    const char *ns, *name, *node;
    const char *owner;  /* as in struct sim_object */
    const char *reason;
    const char *budget; /* "shop/cart"; NULL: it is no budget */
    int64_t allowed, healthy, desired; /* of the budget */
};

/* A pod that nobody makes again. */
struct sim_lost {
    const char *ns, *name, *node;
    const char *reason;
};

typedef VEC(struct sim_lost) sim_lost_vec;

struct sim_drain {
    struct arena arena;
    struct sym_table *syms;
    bool force;
    struct map_u64 nodes;      /* syms of the names, with a reference; of nodes that are being drained */
    VEC(const char *) names;   /* of the same */
    VEC(struct sim_stay) stays; /* after the last round */
    sim_lost_vec lost;
    uint32_t n_evicted, n_rounds; /* pods that are made again; rounds in which some left */
};

void sim_drain_init(struct sim_drain *d, struct sym_table *syms, bool force);
void sim_drain_fini(struct sim_drain *d);
/* The same drain, as far as it has come, to be gone on with on another world. */
void sim_drain_copy(struct sim_drain *to, const struct sim_drain *from);

/* Cordons the node and marks it; a node that is marked already stays so. */
void sim_drain_node(struct sim_drain *d, struct sim_input *in, struct sim_object *node);
/* The first round: on an input that is completed and not expanded yet. */
void sim_drain_input(struct sim_drain *d, struct sim_input *in);
/* All further rounds, on a world that was run with that input. */
void sim_drain_world(struct sim_drain *d, struct sim_world *w);
