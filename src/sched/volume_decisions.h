/* sched/volume_decisions.h - what VolumeBinding has decided for a pod's unbound claims, to be written
 * by whoever embeds the scheduler (sched_io.bind_volumes).
 *
 * Written are first all bindings, then all provisions, each as an update of the version given here:
 * when the object has changed meanwhile, the decision is void and the binding fails. Then every claim
 * must become bound before the timeout.
 *
 * Memory: the arena of the binding. Thread: scheduling thread only; immutable. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/sym.h"

/* A volume that is there already: its claimRef becomes the claim. */
struct volume_binding {
    const char *volume, *volume_version; /* name and resourceVersion of the PersistentVolume */
    const char *claim, *claim_uid, *claim_version;
    bool by_controller; /* annotation pv.kubernetes.io/bound-by-controller: "yes" is to be there too */
};

/* A volume to be made for the node: the claim gets the annotation volume.kubernetes.io/selected-node. */
struct volume_provision {
    const char *claim, *claim_version;
};

struct volume_decisions {
    sym ns;   /* of the pod and of all claims */
    sym node; /* name of the node */
    const struct volume_binding *bindings;
    const struct volume_provision *provisions;
    uint32_t n_bindings, n_provisions;
    int64_t timeout_ms; /* until all claims are bound */
};
