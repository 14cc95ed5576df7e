/* sched/node_tree.h - nodes by zone, and the order that comes from taking one of each zone in turn.
 *
 * Zones keep the order of their first appearance, nodes the order in which they came to their zone. A zone
 * without nodes is gone, and comes back at the end.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "base/vec.h"
#include "sched/cache.h"

struct node_tree;

struct node_tree *node_tree_new(void);
void node_tree_free(struct node_tree *t);

/* The zone of a node: region and zone labels, the beta ones first; 0 when it has neither. */
uint64_t node_tree_zone(const struct zone_keys *keys, struct label_set labels);

void node_tree_add(struct node_tree *t, uint64_t zone, node_id node);
void node_tree_remove(struct node_tree *t, uint64_t zone, node_id node);
/* Round robin over the zones, into `order` (reset first). */
void node_tree_list(const struct node_tree *t, node_id_vec *order);
