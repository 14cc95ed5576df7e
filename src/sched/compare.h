/* sched/compare.h - what the scheduler holds against what the API server lists.
 *
 * Nodes are compared by name: listed ones with all rows of the cache, ghosts too. Pods are compared by
 * uid: listed ones with those on rows and those that wait in the queue. A popped pod is in neither, so
 * that one is missed while its attempt lasts, as upstream's comparer finds it (debugger/comparer.go). A
 * name that is twice on one side counts twice.
 *
 * Thread: scheduling thread only. Results live in the arena, their texts as long as the listed ones and
 * as the cache and the queue stay unchanged. */
#pragma once

#include "api/labels.h"
#include "base/arena.h"
#include "sched/cache.h"

struct queue;

struct mismatch {
    struct strs missed;    /* listed, but not held; sorted by bytes */
    struct strs redundant; /* held, but not listed; likewise */
};

static inline bool mismatch_is_empty(const struct mismatch *m)
{
    return m->missed.n == 0 && m->redundant.n == 0;
}

struct mismatch compare_nodes(const struct cache *c, struct strs listed_names, struct arena *arena);
struct mismatch compare_pods(const struct cache *c, const struct queue *q, struct strs listed_uids,
                             struct arena *arena);
