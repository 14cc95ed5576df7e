/* plugins/resource_score.h - how free or how full a node would be with the pod on it, as points.
 *
 * Shared by NodeResourcesFit (three strategies) and NodeResourcesBalancedAllocation. A query is what
 * one pod asks: for every configured resource its amount, or that it is not scored.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "plugins/plugins.h"

struct scored_resource {
    sym name;
    int64_t weight;
    uint8_t kind;  /* enum resource_kind */
};

struct resource_scorer {
    enum scoring_type type;
    struct scored_resource *resources;
    uint32_t n_resources;
    const struct shape_point *shape; /* scores 0..100 */
    uint32_t n_shape;
};

struct resource_query {
    int64_t *want;         /* by resource of the scorer */
    bool *scored;          /* false: a scalar that the pod does not request */
    bool non_zero;         /* compare with the non-zero account of the node */
};

/* The points of a configured shape with their scores 0..10 as 0..100; to be freed. */
struct shape_point *shape_scaled(const struct shape_point *shape, uint32_t n);
/* The broken line through such points. */
int64_t shape_score(const struct shape_point *shape, uint32_t n, int64_t utilization);

void resource_scorer_init(struct resource_scorer *s, struct sym_table *syms, const struct scoring_strategy *strategy);
void resource_scorer_fini(struct resource_scorer *s);

/* `non_zero`: cpu and memory in use count 100m and 200Mi for containers without a request. */
struct resource_query *resource_scorer_prepare(const struct resource_scorer *s, struct cycle *c,
                                               const struct amounts *want, bool non_zero);
/* For a class key: all that a query reads of the amounts. */
void resource_scorer_key(const struct resource_scorer *s, const struct amounts *want, struct strbuf *key);
int64_t resource_scorer_score(const struct resource_scorer *s, const struct resource_query *q,
                              const struct node_view *n);
void resource_scorer_score_block(const struct resource_scorer *s, struct cycle *c, const struct resource_query *q,
                                 int64_t *scores);

/* What a node has of a resource and has given away; false: the resource does not count there. */
bool resource_on_node(const struct resource_scorer *s, const struct resource_query *q, uint32_t i,
                      const struct node_view *n, int64_t *ret_alloc, int64_t *ret_used);
