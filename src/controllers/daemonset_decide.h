/* controllers/daemonset_decide.h - what is to be done about the pods of a DaemonSet: nodes and pods in, orders and counts out.
 *
 * Upstream: controller/daemon: manage, rollingUpdate, updateDaemonSetStatus.
 *
 * Thread: any.    Memory: the arena; the plan refers to the state. */
#pragma once

#include "base/arena.h"

enum { DAEMONSET_BURST = 250 }; /* pods made, and deleted, in one turn */

struct daemon_node {
    struct str name;
    bool run;   /* a pod is to be there */
    bool go_on; /* a pod that is there may stay */
};

struct daemon_pod {
    struct str name, uid;
    struct str node;             /* where it is, or has to go; empty: nobody can tell */
    struct str hash, generation; /* of its labels */
    int64_t created_s;
    bool scheduled, deleted, failed, succeeded, ready, available;
};

struct daemon_amount {
    int64_t n;
    bool percent; /* of the nodes that are to run a pod, rounded up */
};

struct daemonset_spec {
    struct str hash;       /* of the current revision */
    struct str generation; /* of the template, in decimal; empty: none is known */
    bool rolling;          /* else pods are replaced when somebody deletes them */
    struct daemon_amount max_unavailable, max_surge;
};

struct daemonset_state {
    struct arena *arena;
    struct daemonset_spec spec;
    const struct daemon_node *nodes; /* by ascending name */
    size_t n_nodes;
    const struct daemon_pod *pods; /* its own */
    size_t n_pods;
    bool expects; /* what was ordered has not been seen yet: only counts are wanted */
    /* Asked before a pod that failed is deleted: 0 gives leave, and the next time takes longer; else how long to wait. */
    int64_t (*wait_ms)(void *context, struct str node);
    void *context;
};

enum daemon_why { DAEMON_TOO_MANY, DAEMON_FAILED, DAEMON_SUCCEEDED };

struct daemon_deletion {
    const struct daemon_pod *pod;
    enum daemon_why why;
};

struct daemonset_counts {
    int64_t desired, current, misscheduled, ready, updated, available;
};

struct daemonset_plan {
    const struct str *create_on; /* names of nodes */
    size_t n_create;
    const struct daemon_deletion *delete;
    size_t n_delete;
    struct daemonset_counts counts;
    int64_t look_again_ms; /* 0: nothing waits for its time */
};

struct daemonset_plan daemonset_decide(const struct daemonset_state *s);
