/* controllers/taints.h - how long a pod may stay on a node with taints of effect NoExecute.
 *
 * Upstream: controller/tainteviction. Thread: any. */
#pragma once

#include "api/value.h"

enum { TAINT_STAYS = -1 };

/* In seconds, 0: not at all, TAINT_STAYS: forever. `taints` are all of the node's, `tolerations` all of the pod's. */
int64_t taints_tolerated_s(const struct value *taints, const struct value *tolerations);
bool taints_have_no_execute(const struct value *taints);
