/* sched/nominate.h - pods that have been promised a node, by preemption or by another component.
 *
 * They do not occupy the node, but a pod of lower priority may use it only if it would fit beside them.
 *
 * Thread: scheduling thread only.    Owns: one reference per pod. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "forms/pod.h"

enum { NOMINATOR_LOG_MAX = 256 };

struct nominated {
    const struct pod *pod;
    sym node; /* holds a reference */
};

struct nominator {
    struct sym_table *syms;
    struct map_str by_uid;  /* uid -> struct nominated */
    struct map_u64 by_node; /* sym -> struct nominated_list */
    uint64_t last_version;
    sym changes[NOMINATOR_LOG_MAX]; /* the node whose list got version v at v % NOMINATOR_LOG_MAX; holds no reference */
};

struct nominated_list {
    VEC(struct nominated *) pods;
    uint64_t version; /* another one after every change, and never one that a list had before */
};

void nominator_init(struct nominator *n, struct sym_table *syms);
void nominator_fini(struct nominator *n);

/* `node`: what a cycle decided, or SYM_NONE to take the pod's own status.nominatedNodeName. An empty
 * name ends the nomination. */
void nominator_add(struct nominator *n, const struct pod *pod, sym node);
void nominator_remove(struct nominator *n, const char *uid);
/* A new version of the pod. While neither version names a node, what the scheduler itself nominated stays. */
void nominator_update(struct nominator *n, const struct pod *old, const struct pod *pod);
/* SYM_EMPTY when it is not nominated. */
sym nominator_node_of(const struct nominator *n, const char *uid);
/* NULL when nobody is nominated there. */
const struct nominated_list *nominator_on(const struct nominator *n, sym node);
