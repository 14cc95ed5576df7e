/* sched/snapshot.h - a copy of the cache for readers outside the scheduling thread.
 *
 * Rows have the numbers that they have in the cache (node_id). snapshot_update copies those rows whose
 * generation has moved since the last time; the others stay as they are. What it then shows is the
 * state of one moment: every row with a Node object is in the order, exactly once, and sums are those
 * of the pods that are listed.
 *
 * Node and pod forms are shared, not copied. They are immutable and may be read by any thread, but
 * references are counted without locks and given up by the owner of the sym table: so a reader takes no
 * reference of its own, and what it found is valid only as long as the snapshot is not updated. A sym
 * in a form is no more than a number to a reader, as the table belongs to the scheduling thread; the
 * texts that readers need are here beside it (sym.h: a text stays where it is while a reference is
 * held).
 *
 * Thread: snapshot_new, snapshot_update and snapshot_free on the scheduling thread, the owner of the
 * sym table. All else only reads, from any number of threads at once. Update and readers must not
 * overlap: who shares a snapshot holds a lock of his own around snapshot_update and around reading, or
 * hands the snapshot over and takes it back. The scheduling thread may go on changing the cache and the
 * sym table while others read. Owns: one reference per node, per pod and per text. May outlive the
 * cache, but not the sym table. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "sched/cache.h"

struct snapshot_pod {
    const struct pod *pod;
    struct str ns;
    bool assumed; /* decided by the scheduler, not yet seen on a watch */
};

/* A scalar resource that the node has or that pods on it use. */
struct snapshot_scalar {
    sym id;
    struct str name;
    int64_t alloc, used;
};

struct snapshot_row {
    struct str name;         /* p is NULL: no node has this number */
    const struct node *node; /* NULL: ghost, pods without a Node object; or free */
    int64_t used_milli_cpu, used_memory, used_ephemeral;
    int64_t non_zero_milli_cpu, non_zero_memory;
    VEC(struct snapshot_pod) pods; /* in the order of the cache's row */
    VEC(struct snapshot_scalar) scalars;
    sym name_id;
    uint64_t generation; /* of the row when it was copied */
};

struct snapshot {
    struct sym_table *syms;
    VEC(struct snapshot_row) rows; /* by node_id */
    node_id_vec order;             /* as cycles walk the nodes */
    struct map_str row_of_name;    /* ghosts too */
    uint64_t generation;           /* of the cache when it was copied */
    uint64_t order_epoch;          /* of the cache's order that was copied */
    uint64_t n_copied;             /* rows so far, for tests and measurements */
};

/* Empty until the first update. */
struct snapshot *snapshot_new(struct sym_table *syms);
void snapshot_free(struct snapshot *s);
/* Always with the same cache. */
void snapshot_update(struct snapshot *s, const struct cache *c);

/* NULL when there is neither a Node of this name nor a pod on it. */
const struct snapshot_row *snapshot_find(const struct snapshot *s, struct str node_name);
/* The i-th node of the order; it has a Node object. */
static inline const struct snapshot_row *snapshot_at(const struct snapshot *s, size_t i)
{
    assert(i < s->order.n);
    return &s->rows.at[s->order.at[i]];
}
