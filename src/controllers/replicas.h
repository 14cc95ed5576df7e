/* controllers/replicas.h - what is to be done about the pods of a ReplicaSet or a ReplicationController: state in, actions out.
 *
 * Both kinds are decided alike; a row says in what they differ. Upstream: controller/replicaset, and controller/replication,
 * which adapts the former.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/selector.h"
#include "controllers/pod_facts.h"

enum { REPLICAS_BURST = 500 }; /* pods made or deleted in one turn */

struct replicas_kind {
    const char *controller; /* service account and reporter */
    const char *plural, *group, *type, *condition_type;
    bool selector_is_map;
    bool counts_terminating;
};
extern const struct replicas_kind replica_set_kind, replication_controller_kind;

/* What the object says. */
struct replicas_spec {
    struct str uid;
    bool deleted;
    int32_t wanted, min_ready_s;
    struct selector selector; /* of pods */
};

struct replicas_state {
    const struct replicas_spec *spec;
    const struct pod_facts *const *pods; /* its own, and those of its namespace that have no controller */
    size_t n_pods;
    const struct pod_facts *const *related; /* of all ReplicaSets that have the same owner */
    size_t n_related;
    bool expects; /* what was ordered has not been seen yet */
    int64_t now_ns;
};

struct pods_to {
    const struct pod_facts **at;
    size_t n;
};

/* Claims come first: while there are any, nothing else is decided. */
struct replicas_plan {
    struct pods_to adopt, release;
    struct pods_to active, terminating; /* ours */
    uint32_t n_create;
    struct pods_to delete;
};
struct replicas_plan replicas_decide(struct arena *a, const struct replicas_state *s);

/* The object with the counts that its status is to have. `object` is of the kind's type. */
struct value replicas_with_counts(struct arena *a, const struct replicas_kind *k, const struct value *object,
                                  const struct replicas_spec *spec, const struct replicas_plan *plan, int64_t now_s);

/* How the orders of a turn ended. */
struct replicas_failure {
    const char *reason; /* "FailedCreate", "FailedDelete"; NULL: all went well */
    const char *message;
};
/* And with the condition that tells of a failure, or without it. */
struct value replicas_with_conditions(struct arena *a, const struct replicas_kind *k, const struct value *object,
                                      const struct replicas_failure *failure, int64_t now_s);
/* When one of the active pods becomes available, at the latest: milliseconds from now; -1: none will by itself. */
int64_t replicas_next_check_ms(const struct replicas_spec *spec, const struct pods_to *active, int64_t now_ns);
