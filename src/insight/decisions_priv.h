/* insight/decisions_priv.h - a kept decision; shared by decisions.c and decisions_json.c only. */
#pragma once

#include "insight/decisions.h"
#include "insight/refusals.h"
#include "sched/decision.h"

struct kept_node {
    int64_t total;
    sym name;
};

/* One block in the ring: this, then the best nodes, their scores (by node, then by position at POINT_SCORE), and texts:
 * the pod's name and uid, and "namespace/name" of victims, each with its end. */
struct kept_decision {
    uint64_t sequence;
    int64_t wall_ns;
    const struct profile *profile; /* NULL: no profile has the pod's schedulerName */
    struct refusal_block *refusals;
    uint32_t n_bytes; /* of the whole */
    uint32_t n_attempts, n_nodes, n_feasible, n_victims;
    sym ns, node; /* node SYM_NONE: none */
    uint8_t outcome, n_best, n_plugins, n_victims_kept;
};

static inline const struct kept_node *kept_nodes(const struct kept_decision *k)
{
    return (const struct kept_node *)(k + 1);
}

static inline const int64_t *kept_scores(const struct kept_decision *k)
{
    return (const int64_t *)(kept_nodes(k) + k->n_best);
}

static inline const char *kept_name(const struct kept_decision *k)
{
    return (const char *)(kept_scores(k) + (size_t)k->n_best * k->n_plugins);
}

static inline const char *kept_uid(const struct kept_decision *k)
{
    return kept_name(k) + strlen(kept_name(k)) + 1;
}

static inline const char *kept_victims(const struct kept_decision *k)
{
    return kept_uid(k) + strlen(kept_uid(k)) + 1;
}

struct decisions {
    struct sched *sched;
    struct sym_table *syms;
    const struct clock *clock;
    struct refusals *refusals;
    char *ring;
    size_t ring_bytes, write; /* where the next record goes */
    uint32_t *offsets;        /* of records, a ring as well */
    uint32_t n_max, first, n;
    size_t n_bytes, refusals_bytes_max;
    uint64_t n_seen; /* the sequence of the newest */
};

/* The i-th newest, from 0. */
static inline const struct kept_decision *decisions_newest(const struct decisions *d, uint32_t i)
{
    return (const struct kept_decision *)(d->ring + d->offsets[(d->first + d->n - 1 - i) % d->n_max]);
}

/* decisions_json.c */
void kept_decision_add_json(struct strbuf *to, const struct decisions *d, const struct kept_decision *k);
