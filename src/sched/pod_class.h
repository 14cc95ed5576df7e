/* sched/pod_class.h - pods that ask the same of a node, and what is known of every node for them.
 *
 * Most rules look at the pod and at one node alone: taints, affinity to nodes, ports, free resources,
 * how full the node would be. Their answers are the same for all pods of a class (the pods that a
 * controller makes), and change only on rows that changed. So a class keeps, per row, whether all such
 * filters pass and the sum of such scores, and before each use repairs the rows that the cache's log
 * says have moved. What depends on other nodes (spreading, affinity between pods, volumes) is computed
 * anew in every cycle, on top.
 *
 * Plugins say which of their rules are of that kind, and by what of the pod classes are told apart (class_key.h).
 *
 * Thread: scheduling thread only. Bounded: classes not used longest are dropped (POD_CLASSES_MAX,
 * POD_CLASSES_BYTES_MAX). */
#pragma once

#include "base/strbuf.h"
#include "sched/framework.h"

enum { POD_CLASSES_MAX = 1024, POD_CLASSES_BYTES_MAX = 256 << 20 };

struct pod_classes;

struct pod_class {
    uint64_t id;      /* no other class ever has it */
    uint64_t *alive;  /* bitset by row: listed, and every local filter passes */
    int32_t *partial; /* by row, where alive: sum of weight times score of the local scores */
    int32_t *best;    /* by word of alive: the largest partial there; INT32_MIN without any */
    bool out_of_range; /* a score was below 0 or above 100: the sums mean nothing, and scoring will fail */
};

struct pod_classes *pod_classes_new(void);
void pod_classes_free(struct pod_classes *k);
/* Fewer classes than POD_CLASSES_MAX, and how many were dropped so far: for tests, which cannot make that many. */
void pod_classes_limit(struct pod_classes *k, uint32_t n_max);
uint64_t pod_classes_n_dropped(const struct pod_classes *k);

/* The class of c->pod under its profile, up to date. PreFilter has run, and PreScore of the local
 * plugins. Valid until the next call. `local_scores` is the mask of score positions that `partial`
 * sums. */
const struct pod_class *pod_classes_get(struct pod_classes *k, struct cycle *c, uint64_t local_scores);
/* What makes the class: the local rules that have a say, and what they read of the pod. PreFilter has run. Without scores
 * it tells how filters answer. */
void pod_class_key(struct strbuf *key, const struct cycle *c, uint64_t local_scores);
