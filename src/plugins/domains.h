/* plugins/domains.h - columns of nodes summed up by topology domain; what spreading and pod affinity
 * share.
 *
 * A table has an entry for every place. Usually a place is the number of a domain (topology.h), 0 for
 * no domain, whose entry stays 0. Where every node is a domain of its own, as with host names, places
 * are rows: then most columns are tables already. Entries of rows without a node mean nothing.
 *
 * Counts are 32 bits wide and wrap: more matches of pods and terms than that do not fit into memory.
 *
 * Thread: scheduling thread only.    Memory: tables belong to the cycle. */
#pragma once

#include "plugins/plugins.h"
#include "sched/counts.h"
#include "sched/topology.h"

struct domains {
    const struct topology_key *topology;
    uint32_t n_places;
    bool by_row;
};

struct domains domains_of(const struct cycle *c, sym topology_key);

static inline uint32_t domains_place(const struct domains *d, node_id row)
{
    return d->by_row ? row : d->topology->of_row[row];
}

/* Whether the place is a domain that has nodes. */
static inline bool domains_has_nodes(const struct domains *d, uint32_t place)
{
    return d->by_row ? d->topology->of_row[place] : d->topology->domains.at[place].n_nodes;
}

/* ---- Counting pods ---- */

/* A table of counts. */
struct tally {
    const int32_t *n; /* by place; NULL: nothing was counted yet */
    int32_t *own;     /* the same, or NULL while it is somebody else's column */
};

/* Adds the pods of a column; with `rows` only on these nodes. */
void tally_column(struct cycle *c, const struct domains *d, const int32_t *column, const uint64_t *rows,
                  struct tally *t);
/* Adds the pods that carry a term. */
void tally_term(struct cycle *c, const struct domains *d, const struct counted_term *term, struct tally *t);
/* Makes it a table of zeros if nothing was counted. */
void tally_finish(struct cycle *c, const struct domains *d, struct tally *t);
/* Places with a count. */
uint32_t tally_n_places(const struct domains *d, const struct tally *t);

/* ---- Weighing pods ---- */

int64_t *weights_new(struct cycle *c, const struct domains *d);
/* Adds `weight` for every pod of the column. */
void weights_add_column(const struct cycle *c, const struct domains *d, const int32_t *column, int64_t weight,
                        int64_t *to);
void weights_add_term(const struct cycle *c, const struct domains *d, const struct counted_term *term, int64_t weight,
                      int64_t *to);

/* Whether the column, or the term, has a pod in some domain. */
bool domains_have_pod(const struct cycle *c, const struct domains *d, const int32_t *column);
bool domains_have_term(const struct cycle *c, const struct domains *d, const struct counted_term *term);

/* ---- Dropping nodes ---- */

/* One zero a place. */
uint8_t *marks_new(struct cycle *c, const struct domains *d);
/* Clears the bits of rows whose place is marked 1. */
void marks_drop(const struct cycle *c, const struct domains *d, const uint8_t *marks, uint64_t *alive);
