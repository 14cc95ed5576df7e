/* controllers/statefulset_decide.h - what is to be done for a StatefulSet: its state in, actions and status out.
 *
 * Upstream: controller/statefulset, updateStatefulSet.
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "base/arena.h"

enum { STATEFULSET_PODS_AT_ONCE_MAX = 500 }; /* made in one turn */

struct statefulset_pod {
    struct str name, revision; /* of its label */
    int64_t ordinal;
    bool pending, running, ended; /* of its phase */
    bool ready, available, terminating;
    bool matches;        /* identity and volumes are those of its ordinal */
    bool claims_missing; /* that its templates name */
    bool claims_differ;  /* their owners are not those of the retention policy */
};

struct statefulset_facts {
    int64_t replicas, start, partition; /* partition -1: none given */
    int64_t current_replicas;           /* of the status so far */
    bool parallel, on_delete, deleted;
    struct str current_revision, update_revision;
};

struct statefulset_state {
    struct arena *arena;
    struct statefulset_facts set;
    const struct statefulset_pod *pods; /* with an ordinal */
    size_t n_pods;
    /* Whether a claim of an ordinal still belongs to a pod that is gone. */
    bool (*claim_is_stale)(void *context, int64_t ordinal);
    void *context;
};

enum statefulset_verb {
    STATEFULSET_CREATE,      /* the claims, then the pod */
    STATEFULSET_DELETE,
    STATEFULSET_UPDATE,      /* identity and volumes of a pod */
    STATEFULSET_MAKE_CLAIMS, /* that a pending pod lacks */
    STATEFULSET_OWN_CLAIMS,  /* owners by the retention policy */
};

struct statefulset_action {
    enum statefulset_verb verb;
    int64_t ordinal;
    const struct statefulset_pod *pod; /* NULL: there is none */
    bool of_current; /* a pod of the current revision, not of the update's */
};

struct statefulset_counts {
    int64_t replicas, ready, available, current, updated;
};

struct statefulset_plan {
    struct statefulset_action *actions; /* in this order; the first that fails ends it */
    size_t n_actions, cap;
    struct statefulset_counts counts;
    bool completes; /* the update: its revision becomes the current one */
};

struct statefulset_plan statefulset_decide(const struct statefulset_state *s);
/* The number behind the name of the set and a hyphen; -1: it is no pod of the set. */
int64_t statefulset_ordinal(struct str set_name, struct str pod_name);
