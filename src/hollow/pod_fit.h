/* hollow/pod_fit.h - whether a node has room for a pod that nobody chose it for: the check with which a kubelet refuses pods.
 *
 * Upstream: kubelet's lifecycle/predicate.go, its resources alone.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

struct pod_refusal {
    const char *reason, *message; /* "OutOfcpu"; NULL: it fits */
};

/* `others` are the pods on the node that have not ended. */
struct pod_refusal pod_fit(struct arena *a, const struct value *pod, const struct value *node, const struct value *const *others,
                           size_t n_others);
