/* controllers/pod_index.h - the pods of a cluster by their controller, by namespace, and those without a controller.
 *
 * Kept from the cluster's changes, and told on in the same order to the controllers of workloads: each pod is read once for all
 * of them. Costs nothing before somebody watches. What was written is here when the cluster was polled, not before.
 *
 * Thread: the store's.    Owns: the facts, which are good until the next poll. */
#pragma once

#include "controllers/cluster.h"
#include "controllers/pod_facts.h"

struct pod_index;

struct pod_index *pod_index_new(struct cluster *c);
/* The same about objects of another kind that have owners, ReplicaSets or Jobs: of those the metadata alone is read, the facts
 * that only pods have stay zero. */
struct pod_index *owned_index_new(struct cluster *c, const struct resource *r);
void pod_index_free(struct pod_index *x);

/* `is` is NULL when the pod is gone, `was` when it is new. */
typedef void pod_changed(void *context, const struct pod_facts *is, const struct pod_facts *was);

/* Before the cluster is polled for the first time: then every pod is told as new. */
void pod_index_watch(struct pod_index *x, pod_changed *changed, void *context);

/* NULL: none. */
const struct pod_facts *pod_index_find(const struct pod_index *x, struct str namespace, struct str name);

/* Each gives an array in the arena, in the order in which pods were seen last, and its length. */
typedef const struct pod_facts *const *pod_list;
size_t pod_index_of_owner(const struct pod_index *x, struct str uid, struct arena *a, pod_list *ret_pods);
size_t pod_index_orphans(const struct pod_index *x, struct str namespace, struct arena *a, pod_list *ret_pods);
size_t pod_index_of_namespace(const struct pod_index *x, struct str namespace, struct arena *a, pod_list *ret_pods);
uint32_t pod_index_n_of_owner(const struct pod_index *x, struct str uid);
