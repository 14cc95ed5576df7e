/* sched/cache.h - the live state of the cluster: nodes, the pods on them, and sums, in columns.
 *
 * A node is a row: `node_id`, dense, reused after the node is gone. A property that cycles read for
 * many nodes is a column (struct columns); what is read for one node at a time is in its struct
 * node_row. A pod is on a row because a watch showed it there (added) or because the scheduler has just
 * decided so (assumed); either counts the same. A row without a Node object that still has pods is a
 * ghost: no cycle sees it.
 *
 * Every change of a row gives it the next generation and an entry in the change log, so that whoever keeps
 * something computed per node can repair just the rows that moved (cache_changes).
 *
 * The list of nodes that cycles walk (`order`) is the node tree's: zones in the order of their first
 * appearance, one node of each in turn. As upstream it is made anew only when a node comes or goes
 * (cache_update_order).
 *
 * Thread: scheduling thread only; readers outside get a snapshot (snapshot.h).
 * Owns: one reference per node and per pod. Time: none. */
#pragma once

#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "forms/node.h"
#include "forms/pod.h"

typedef uint32_t node_id;
typedef VEC(node_id) node_id_vec;
#define NODE_NONE ((node_id)UINT32_MAX)

enum { CACHE_LOG_MAX = 4096 }; /* changes that can be repaired one by one; beyond, everything is computed again */

/* Names of the labels that make a zone. */
struct zone_keys {
    sym region_beta, region, zone_beta, zone;
};

/* A pod on a row. */
struct placed {
    const struct pod *pod; /* node_name is the row's name */
    node_id node;
    uint32_t index; /* in the row's pods */
    bool assumed;
    uint32_t label_group, index_in_group; /* counts.h: pods with equal namespace and labels */
    uint32_t *terms;        /* counts.h: numbers of its affinity terms */
    uint32_t n_terms;
};

struct node_row {
    const struct node *node; /* NULL: ghost or free */
    sym name;                /* holds a reference while in use; SYM_NONE: free */
    uint64_t zone;           /* where the tree has it */
    uint64_t generation;
    VEC(struct placed *) pods; /* removal swaps with the last */
    VEC(struct host_port) ports; /* of all pods; a set, not a count, as upstream's */
};

struct scalar_column {
    sym name;
    int64_t *alloc, *used; /* per row */
};

/* Hot properties per row; arrays have n_rows_max entries, a multiple of 64, rows in use are below n_rows. */
struct columns {
    node_id n_rows, n_rows_max;
    int64_t *alloc_milli_cpu, *alloc_memory, *alloc_ephemeral;
    int64_t *used_milli_cpu, *used_memory, *used_ephemeral;
    int64_t *non_zero_milli_cpu, *non_zero_memory;
    int32_t *alloc_pods, *n_pods;
    uint32_t *taint_set;                 /* 0 = no taints */
    uint64_t *listed;                    /* bitset: has a Node object and is in the order */
    uint64_t *unschedulable;             /* bitset: spec.unschedulable */
    VEC(struct scalar_column) scalars;
};

struct taint_set {
    const struct node *holder; /* one node that has it; its taints are used */
    const struct taint_form *taints;
    uint32_t n_taints, n_rows; /* n_rows 0: the number is free */
};

struct image_state {
    int64_t size_bytes; /* as the first node that had it said */
    uint32_t n_nodes;
};

struct cache {
    struct sym_table *syms;
    struct columns col;
    VEC(struct node_row) rows; /* by node_id */
    VEC(node_id) free_rows;
    struct map_u64 row_of_name; /* sym -> node_id */
    struct map_str pods;        /* uid -> struct placed */
    uint32_t n_assumed;         /* of these */
    node_id_vec order;          /* what cycles walk */
    VEC(uint32_t) position;     /* by node_id: index in order, UINT32_MAX = not listed */
    VEC(uint32_t) heap_order;   /* heap_order.h, for as many places as there are nodes */
    VEC(uint32_t) heap_least;   /* the least of each 64 of them */
    bool order_is_stale, order_is_identity; /* identity: order[i] == i for all */
    uint64_t order_epoch;       /* grows when the order is made anew */
    struct node_tree *tree;
    VEC(struct taint_set) taint_sets; /* by number; 0 is the empty set */
    struct map_u64 images;            /* sym -> struct image_state */
    struct map_u64 used_claims;       /* namespace << 32 | claim -> number of pods on nodes that use it */
    struct topology *topology;        /* topology.h: domains per topology key */
    struct counts *counts;            /* counts.h: pods per node by selector and by term */
    uint64_t generation;              /* of the newest change */
    node_id changes[CACHE_LOG_MAX];   /* row of generation g at g % CACHE_LOG_MAX */
    struct zone_keys zone_keys;
};

/* Sums of requests wrap as Go's do: amounts that absurd do not fit anywhere, and nothing else depends
 * on them. */
static inline int64_t account(int64_t sum, int64_t amount, bool add)
{
    return (int64_t)(add ? (uint64_t)sum + (uint64_t)amount : (uint64_t)sum - (uint64_t)amount);
}

static inline bool host_port_equal(struct host_port a, struct host_port b)
{
    return a.port == b.port && a.ip == b.ip && a.protocol == b.protocol;
}

void cache_init(struct cache *c, struct sym_table *syms);
void cache_fini(struct cache *c);

/* Nodes. Adding one that is there is an update and the reverse; removing an unknown one is NOT_FOUND. */
void cache_add_node(struct cache *c, const struct node *node);
void cache_update_node(struct cache *c, const struct node *node);
enum err_code cache_remove_node(struct cache *c, sym name, struct err *e) ERR_MUST_CHECK;

/* Pods. One is assumed when a node was chosen for it, and added when the API server shows it there; what was assumed is
 * confirmed by adding it, wherever it turns up, or forgotten when its binding fails; what was added is removed. The texts
 * of refusals are upstream's. */
enum err_code cache_assume(struct cache *c, const struct pod *pod, struct err *e) ERR_MUST_CHECK;
enum err_code cache_forget(struct cache *c, const struct pod *pod, struct err *e) ERR_MUST_CHECK;
enum err_code cache_add_pod(struct cache *c, const struct pod *pod, struct err *e) ERR_MUST_CHECK;
enum err_code cache_remove_pod(struct cache *c, const struct pod *pod, struct err *e) ERR_MUST_CHECK;
/* NULL when the uid is not there. */
const struct placed *cache_find_pod(const struct cache *c, const char *uid);
static inline bool cache_is_assumed(const struct cache *c, const char *uid)
{
    const struct placed *p = cache_find_pod(c, uid);
    return p && p->assumed;
}

/* NODE_NONE when there is no such row (ghosts have one). */
node_id cache_find_node(const struct cache *c, sym name);
/* A row with a Node object that is in the order, or NODE_NONE: what a cycle may use. */
node_id cache_listed_node(const struct cache *c, sym name);

/* Makes `order` anew if the set of nodes changed; call at the start of a cycle. */
void cache_update_order(struct cache *c);

/* ---- What-ifs (what_if.h): states that last for an attempt or two. Each has its exact inverse; the
 * inverses are called in the reverse order, and nothing else may change the cache in between. ---- */

/* The row's node looks like this; zone, order and images stay. Inverse: the same with the node as it was. */
void cache_suppose_node(struct cache *c, node_id id, const struct node *node);
/* A node without images that nobody has heard of, last in an order that is not stale. Inverse: cache_drop_new_node. */
node_id cache_suppose_new_node(struct cache *c, const struct node *node);
void cache_drop_new_node(struct cache *c, node_id id, bool order_was_identity);
/* The pod is not on its row, if it was on one, and its uid is not known. Inverse: cache_put_back, after which also the
 * order of the row's pods and ports is what it was. */
struct lifted_pod {
    struct placed *placed;   /* NULL: it was on no row */
    struct host_port *ports; /* heap; of the row, as they were */
    size_t n_ports;
};
struct lifted_pod cache_lift(struct cache *c, const char *uid);
void cache_put_back(struct cache *c, struct lifted_pod lifted);

/* Rows changed after generation `since`, each once or more, newest last; false when the log does not
 * reach back that far (everything may have changed). */
bool cache_changes(const struct cache *c, uint64_t since, void (*each)(void *context, node_id row),
                   void *context);

/* NULL when no node has it. */
const struct image_state *cache_image(const struct cache *c, sym image);
/* Pods on nodes that use the claim (persistentVolumeClaim volumes only). */
uint32_t cache_claim_users(const struct cache *c, sym ns, sym claim);

/* The column of a scalar resource; NULL when no node and no pod ever had any. */
const struct scalar_column *cache_scalar(const struct cache *c, sym name);
/* Amount of a scalar resource in use on a row; 0 when unknown. */
int64_t cache_scalar_used(const struct cache *c, node_id row, sym name);
