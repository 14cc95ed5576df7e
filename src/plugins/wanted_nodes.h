/* plugins/wanted_nodes.h - which nodes a pod's nodeSelector and required node affinity allow, remembered.
 *
 * Pods of one controller ask the same; the answer for the last few distinct questions is kept as a
 * bitset of rows, and only rows that changed since are asked again.
 *
 * Thread: scheduling thread only.    Owns: a reference to one pod a question, whose rules are the
 * question. */
#pragma once

#include "sched/framework.h"

enum { WANTED_NODES_KEPT = 8 };

struct wanted_entry {
    const struct pod *example; /* NULL: free */
    uint64_t *rows;            /* bitset */
    size_t n_words;
    uint64_t generation; /* of the cache when it was last brought up to date */
    uint64_t last_used;
};

struct wanted_nodes {
    struct wanted_entry entries[WANTED_NODES_KEPT];
    uint64_t now; /* counts uses */
};

void wanted_nodes_fini(struct wanted_nodes *w, struct sym_table *syms);
/* Rows of nodes that the pod may go to; columns.n_rows bits. Valid until another pod is asked about, or
 * nodes change. */
const uint64_t *wanted_nodes_of(struct wanted_nodes *w, const struct cache *cache, const struct pod *pod);
