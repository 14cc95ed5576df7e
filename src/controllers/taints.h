/* controllers/taints.h - which taints of a node a pod tolerates, and for how long.
 *
 * Upstream: controller/tainteviction. Thread: any. */
#pragma once

#include "api/value.h"

enum { TAINT_STAYS = -1 };

/* In seconds, 0: not at all, TAINT_STAYS: forever. `taints` are all of the node's, `tolerations` all of the pod's. */
int64_t taints_tolerated_s(const struct value *taints, const struct value *tolerations);
bool taints_have_no_execute(const struct value *taints);
/* Whether each taint of effect NoExecute, or with `also_no_schedule` of either, has a toleration. */
bool taints_all_tolerated(const struct value *taints, const struct value *tolerations, bool also_no_schedule);
