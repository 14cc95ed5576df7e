/* controllers/volume_protection.h - claims and volumes that are in use stay, though somebody deleted them.
 *
 * Upstream: controller/volume/pvcprotection and pvprotection. Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

#define CLAIM_FINALIZER "kubernetes.io/pvc-protection"
#define VOLUME_FINALIZER "kubernetes.io/pv-protection"

/* The object with the finalizer, or without it as nobody uses it any more; false: it is right as it is. */
bool protection_plan(struct arena *a, const struct type *t, const struct value *v, struct str finalizer, bool in_use,
                     struct value *ret_object);
/* Whether a pod that is on a node uses the claim of its namespace. */
bool protection_pod_uses(const struct value *pod, const struct value *claim);
