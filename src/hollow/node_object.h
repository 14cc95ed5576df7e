/* hollow/node_object.h - the objects of a hollow node as a kubelet, and those who set it up, write them: Node, CSINode, Lease.
 *
 * A node is hollow when it has the annotation NODE_HOLLOW: "running", or "stopped" when it is to be silent. Whoever makes a Node
 * with it gets one more.
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "hollow/node_shapes.h"

#define NODE_HOLLOW "berth.dev/hollow"
#define NODE_STOPPED "stopped"

enum { NODE_DEFAULT_PODS = 110, NODE_LEASE_S = 40 };

struct value node_object(struct arena *a, const struct node_shape *s, int64_t now_s);
/* Absent: it has no drivers. */
struct value node_csi_object(struct arena *a, const struct node_shape *s);
/* Renewed now; `old` may be NULL. `node` is its owner. */
struct value node_lease_object(struct arena *a, const struct value *node, const struct value *old, int64_t now_ns);
/* The node with new heartbeats, and all conditions of a node that is well. */
struct value node_heartbeat(struct arena *a, const struct value *node, int64_t now_s);

bool node_is_hollow(const struct value *node);
bool node_is_stopped(const struct value *node);
