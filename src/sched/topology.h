/* sched/topology.h - domains: for a topology key, which nodes share its value.
 *
 * A key is registered when a pod first asks about it; from then on a column says the domain of every
 * row: 0 when the node lacks the label or there is no node, else a dense number. The number of a value
 * that no node has any more goes to the next new value. Of keys beyond TOPOLOGY_KEYS_MAX those that
 * nobody asked for longest are dropped, between cycles. A key that no node has costs no column of its
 * own.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "forms/match.h"

enum { TOPOLOGY_KEYS_MAX = 256 };

struct domain {
    sym value;
    uint32_t n_nodes;
};

struct topology_key {
    sym key;
    bool owns_column;            /* false: of_row is the one that all keys without domains share */
    uint32_t *of_row;            /* column: domain of each row; 0 = none */
    uint32_t n_placed;           /* rows with a domain */
    VEC(struct domain) domains;  /* by number; 0 is no domain */
    VEC(uint32_t) free_domains;
    struct map_u64 by_value;     /* sym -> number */
    uint64_t last_used;
};

struct topology;
struct cache;

struct topology *topology_new(struct sym_table *syms);
void topology_free(struct topology *t);
void topology_grow(struct topology *t, uint32_t n_rows_max);
/* The labels of a row's node have changed; `present` false: there is no node. `labels` must live until
 * the next call for this row. */
void topology_set_labels(struct topology *t, uint32_t row, struct label_set labels, bool present);
/* The column of a key; registers it. Valid until nodes change or the next cycle begins. */
const struct topology_key *topology_key(struct topology *t, sym key);
/* Whether every node has the label. */
bool topology_covers_all(const struct topology *t, const struct topology_key *k);
/* Whether, besides, no two nodes share a value: as with host names. */
bool topology_is_by_node(const struct topology *t, const struct topology_key *k);
void topology_next_cycle(struct topology *t);
