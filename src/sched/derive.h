/* sched/derive.h - what an update of a node or a pod means to waiting pods, as events.
 *
 * Upstream compares whole objects; here the typed forms are compared, which hold what scheduling can see. So
 * a change of something that is not in them (the time of a taint, a resource of no class) makes no event of
 * its own.
 *
 * Thread: scheduling thread only. The events borrow both objects. */
#pragma once

#include "sched/framework.h"

enum { DERIVED_MAX = 7 };

struct derived_events {
    struct cluster_event at[DERIVED_MAX];
    uint8_t n;
};

/* In upstream's order; UpdateNodeTaint comes twice when the node became schedulable and its taints changed
 * too. None when nothing of interest changed. */
void derive_node_events(const struct node *old, const struct node *node, bool declared_features,
                        struct derived_events *ret_events);
/* At least one: the plain Update when no particular one fits. The resource follows the new node name. */
void derive_pod_events(const struct pod *old, const struct pod *pod, struct derived_events *ret_events);
