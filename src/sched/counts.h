/* sched/counts.h - how many pods of a kind are on each node, kept up to date pod by pod.
 *
 * Two questions of affinity and spreading would need a walk over all pods in every cycle; here each is
 * a column that every pod that comes or goes updates:
 *   - counts_matching: pods that match a selector (or several at once) in given namespaces. A column is made when it
 *     is first asked for, by looking at the pods there are, and dropped when the columns together grow too large and
 *     it was not asked for longest.
 *   - counts_terms: pods that carry an affinity term of their own, by distinct term.
 * Pods with equal namespace and labels are a label group: a new column looks at each group once, not at
 * each pod. A pod that comes or goes is compared with the columns that share a label with it
 * (selector_index.h), not with all.
 *
 * Thread: scheduling thread only.    Owns: copies of selectors and terms, with references to their syms. */
#pragma once

#include "base/vec.h"
#include "forms/pod.h"

enum { COUNTS_BYTES_MAX = 256 << 20 }; /* of matching columns */

struct cache;
struct placed;
struct counts;

struct counts *counts_new(const struct cache *cache);
void counts_free(struct counts *c);
/* Less than COUNTS_BYTES_MAX, and how many columns were dropped so far: for tests. */
void counts_limit(struct counts *c, size_t bytes_max);
uint64_t counts_n_dropped(const struct counts *c);
void counts_grow(struct counts *c, uint32_t n_rows_max);

/* The cache placed or displaces the pod; fills p->label_group and p->terms. */
void counts_add_pod(struct counts *c, struct placed *p);
void counts_remove_pod(struct counts *c, struct placed *p);

/* What a pod must match: its labels, and its namespace. */
struct count_part {
    const struct matcher *selector;
    const sym *namespaces; /* ascending */
    uint32_t n_namespaces;
    bool any_namespace;
};

bool count_part_matches(const struct count_part *part, const struct pod *pod, const struct sym_table *syms);

/* Pods per row that match every part; terminating ones left out if asked. The column is valid for this
 * cycle: it is not dropped before counts_next_cycle. */
const int32_t *counts_matching(struct counts *c, const struct count_part *parts, unsigned n_parts,
                               bool skip_terminating);
void counts_next_cycle(struct counts *c);

enum term_kind { TERM_REQUIRED, TERM_REQUIRED_ANTI, TERM_PREFERRED, TERM_PREFERRED_ANTI, N_TERM_KINDS };

struct row_count {
    uint32_t row;
    int32_t n;
};

/* A distinct affinity term that pods on nodes carry. */
struct counted_term {
    enum term_kind kind;
    struct affinity_term term; /* the copy; weight included */
    uint32_t n_pods;
    int32_t *dense;               /* pods per row, or NULL: then `sparse` */
    VEC(struct row_count) sparse; /* rows that have any, ascending */
};

struct counted_terms {
    struct counted_term *const *at;
    uint32_t n;
};
/* Those of a kind, each with at least one pod; a seam for tests. */
struct counted_terms counts_terms(const struct counts *c, enum term_kind kind);
/* Those of them that may match a pod with these labels; no other does. Valid until the next call. */
struct counted_terms counts_terms_for(struct counts *c, enum term_kind kind, struct label_set labels);
