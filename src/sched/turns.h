/* sched/turns.h - equal nodes one after the other: how v1.2 to v1.15 broke ties (era.h).
 *
 * The order of names is made once for a set of nodes. Thread: scheduling thread only. */
#pragma once

#include "base/vec.h"
#include "sched/cache.h"

struct turns {
    uint64_t n_taken;    /* ties that were broken */
    uint64_t epoch;      /* of the cache's order that `by_name` was made from; 0: none yet */
    node_id_vec by_name; /* descending */
};

/* The index in `nodes` of the one whose turn it is among those whose total is `best`, of which there is one at least. */
uint32_t turns_take(struct turns *t, const struct cache *cache, const node_id *nodes, const int64_t *totals, uint32_t n,
                    int64_t best, bool by_name);
void turns_fini(struct turns *t);
