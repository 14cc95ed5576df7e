/* controllers/node_health.h - what becomes of a node that is heard of, and of one that is not.
 *
 * Upstream: controller/nodelifecycle. A node that gave no sign of life for the grace period has conditions that nobody knows;
 * conditions become taints: NoSchedule for each, NoExecute for a node that is not ready or out of reach.
 *
 * Not there: evictions are not slowed down by zones when many nodes fail, except that none happens when no node at all is
 * ready: then it is more likely that we are cut off.
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/value.h"

enum { NODE_MONITOR_GRACE_S = 50, NODE_STARTUP_GRACE_S = 60 };

struct node_health_state {
    const struct value *node;
    int64_t heard_s;  /* when there was a sign of life last: a new heartbeat or lease */
    int64_t now_s;
    bool any_ready; /* some node of the cluster is */
};

struct node_health_plan {
    bool writes_status, writes_spec; /* the status first */
    struct value node;
    bool lost;        /* it was ready, and is not any more, as nobody hears of it */
    int64_t again_s;  /* when to look again; 0: after its next change */
};

const struct type *node_type(void);
bool node_condition_is(const struct value *node, struct str type, const char *status);
struct node_health_plan node_health_plan(struct arena *a, const struct node_health_state *s);
