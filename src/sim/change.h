/* sim/change.h - what-if: changes of a simulation's input.
 *
 * A change is applied to an input that is complete (forms.h) and is going to be expanded: what controllers do about it,
 * expansion does. It is a copy of what was given, or, for a what-if, what a run of that has become (changed.h). Pods that lose their node and have a controller other
 * than a DaemonSet are made again: they keep their name, have no node and are tried after all
 * others.
 *
 * Thread: one, the owner of the sym table. Memory: the input's. */
#pragma once

#include "sim/drain.h"
#include "sim/expand.h"

enum {
    SIM_ADDED_NODES_MAX = 100000,
    SIM_SCALE_MAX = SIM_MADE_PODS_MAX,
};

enum sim_change_kind { SIM_CORDON, SIM_DRAIN, SIM_DRAIN_SELECTED, SIM_REMOVE_NODE, SIM_ADD_NODES, SIM_SCALE };

struct sim_change {
    enum sim_change_kind kind;
    /* Of a node (ADD_NODES: what the new ones are like); a label selector; "KIND/[NAMESPACE/]NAME=N". */
    const char *name;
    int64_t n;        /* ADD_NODES, SCALE */
};

/* What the changes did, beside changing the input. */
struct sim_changes {
    struct sim_drain drain; /* its first round; without nodes: there is none */
    sim_lost_vec lost;      /* pods of removed nodes that nobody makes again */
};

void sim_changes_init(struct sim_changes *c, struct sym_table *syms, bool force_drain);
void sim_changes_fini(struct sim_changes *c);

/* An error names what is not there, and what may have been meant. */
enum err_code sim_change_apply(struct sim_changes *c, struct sim_input *in, const struct sim_change *change,
                               struct err *e) ERR_MUST_CHECK;
/* "3 more nodes like node-1" */
const char *sim_change_text(struct arena *a, const struct sim_change *change);

/* The object of that kind, or an error with names that are similar. */
enum err_code sim_change_find(const struct sim_input *in, const char *kind, const char *ns, const char *name,
                              struct sim_object **ret_object, struct err *e) ERR_MUST_CHECK;
/* N nodes like the one named so (as ADD_NODES). */
enum err_code sim_add_nodes(struct sim_input *in, const char *like, int64_t n, struct err *e) ERR_MUST_CHECK;
/* "KIND/[NAMESPACE/]NAME=..." gets n replicas (as SCALE); see scale.c. */
enum err_code sim_scale(struct sim_input *in, const char *what, int64_t n, struct err *e) ERR_MUST_CHECK;
