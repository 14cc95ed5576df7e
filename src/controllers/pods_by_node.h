/* controllers/pods_by_node.h - which pods are on which node, kept from the cluster's changes.
 *
 * Thread: the store's.    Owns: copies of names. */
#pragma once

#include "base/map.h"
#include "controllers/cluster.h"

struct pods_by_node {
    struct cluster *cluster;
    struct map_str nodes; /* name -> a set of keys */
};

void pods_by_node_init(struct pods_by_node *x, struct cluster *c);
void pods_by_node_fini(struct pods_by_node *x);
/* With each change of a pod. */
void pods_by_node_changed(struct pods_by_node *x, const struct resource *r, struct store_item *item, struct store_item *prev);
/* "namespace/name" of each pod on the node, in the arena. */
size_t pods_by_node_list(const struct pods_by_node *x, struct str node, struct arena *a, const struct str **ret_keys);
