/* controllers/role_aggregation.h - rules of ClusterRoles that are made of other roles.
 *
 * Upstream: controller/clusterroleaggregation. Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/value.h"

const struct type *cluster_role_type(void);
/* `roles` are all there are, by name. False: the rules are right as they are, or the role has its own. */
bool role_aggregation_plan(struct arena *a, const struct value *role, const struct value *const *roles, size_t n,
                           struct value *ret_role);
