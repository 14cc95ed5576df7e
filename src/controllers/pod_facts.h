/* controllers/pod_facts.h - what the controllers of workloads look at in a pod, and what follows from it.
 *
 * A pod of some kilobytes is a few hundred bytes here, so that thousands can be kept at hand. Facts are read once, when the pod
 * changes, and never changed.
 *
 * Thread: any.    Owns: one block, texts included. */
#pragma once

#include "api/labels.h"
#include "api/value.h"

enum pod_phase_fact { POD_IS_PENDING, POD_IS_UNKNOWN, POD_IS_RUNNING, POD_IS_SUCCEEDED, POD_IS_FAILED };

struct pod_facts {
    struct str namespace, name, uid, node_name;
    struct str affine_node; /* of a DaemonSet's pod that has no node yet: the one that its affinity names */
    struct str owner_kind, owner_name, owner_uid; /* of its controller; empty: it has none */
    struct labels labels;
    int64_t created_s;
    int64_t deleted_s;  /* when it is to be gone; 0: nobody deleted it */
    int64_t ready_s;    /* since when it is ready; 0: is not, or nobody knows */
    int32_t deletion_cost;
    int32_t n_restarts, n_sidecar_restarts; /* of the container that restarted most */
    enum pod_phase_fact phase;
    bool ready;
};

/* `pod` is of core/v1.Pod, or of meta/v1.PartialObjectMetadata: what is not metadata stays zero. */
struct pod_facts *pod_facts_new(const struct value *pod);
void pod_facts_free(struct pod_facts *f);

/* Has not ended and is not being deleted: counts as a replica. */
bool is_pod_active(const struct pod_facts *f);
/* Is being deleted and has not ended yet. */
bool is_pod_terminating(const struct pod_facts *f);
bool is_pod_ready(const struct pod_facts *f);
/* Has been ready for as long as it takes. */
bool is_pod_available(const struct pod_facts *f, int32_t min_ready_s, int64_t now_s);

/* A pod that may be deleted, with the number of pods beside it that count against it. */
struct ranked_pod {
    const struct pod_facts *facts;
    int32_t rank;
};

/* Those that are to be deleted first come first. Upstream's ActivePodsWithRanks; `scratch` is for the sort. Among those that
 * are alike the order is as upstream's random one: by uid. */
void pods_rank(struct arena *scratch, struct ranked_pod *pods, size_t n, int64_t now_ns);
