/* sim/capacity.h - how many more copies of a pod fit, and what runs out first.
 *
 * Copies are placed one at a time on a world that was run, without preemption, until one finds no
 * node. Pods that are pending stay out of it.
 *
 * Thread: one. Owns: its lists and texts. */
#pragma once

#include "sim/world.h"

enum { SIM_CAPACITY_MAX = 1000000 }; /* copies */

struct sim_reason {
    const char *text; /* the scheduler's */
    uint32_t n_nodes;
};

struct sim_capacity {
    struct arena arena;
    const char *pod;      /* "Pod default/web" */
    uint32_t n_copies;
    bool at_limit;        /* SIM_CAPACITY_MAX fit: more were not tried */
    VEC(uint32_t) on_node; /* copies by the world's nodes */
    const char *message;  /* the scheduler's, for the first copy that does not fit; NULL at the limit */
    VEC(struct sim_reason) reasons; /* of the same, the most common first */
    const char *runs_out; /* the reason that counts, in plain words; NULL at the limit */
};

/* The pod that a file describes: its one Pod, or the template of its one controller, with the
 * classes of the cluster. `file` is an input that was read and nothing else; `cluster` is complete.
 * A reference for the caller. */
enum err_code sim_capacity_pod(struct sim_input *file, const struct sim_input *cluster, const struct pod **ret_pod,
                               const char **ret_name, struct err *e) ERR_MUST_CHECK;

/* `w` keeps its pods and accounts, but its scheduler has the copies afterwards: it cannot be run on. */
void sim_capacity_init(struct sim_capacity *c, struct sim_world *w, const struct pod *pod, const char *name);
void sim_capacity_fini(struct sim_capacity *c);

/* "3 Insufficient cpu, 2 Too many pods" out of the message of a pod that fits nowhere; the whole
 * message when it is another. */
void sim_reasons_of(struct arena *a, const char *message, struct sim_reason *ret_reasons, size_t n_max, size_t *ret_n);
