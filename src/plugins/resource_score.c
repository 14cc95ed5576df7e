/* plugins/resource_score.c - see resource_score.h.
 *
 * The block form computes in doubles: every product of an amount below 2^53/100 and 100 is exact, and
 * so is a division of two such numbers rounded down, because a quotient that is not whole differs from
 * the next whole number by more than a double's error. Larger amounts take the integer way. */
#include "plugins/resource_score.h"

#include <math.h>

#include "base/arith.h"

#define EXACT_MAX (1ll << 46) /* 100 times that is below 2^53 */

struct shape_point *shape_scaled(const struct shape_point *shape, uint32_t n)
{
    struct shape_point *scaled = mem_zalloc(mem_product(n, sizeof(*scaled)));
    for (uint32_t i = 0; i < n; i++)
        scaled[i] = (struct shape_point){ shape[i].utilization, shape[i].score * (SCORE_MAX / 10) };
    return scaled;
}

int64_t shape_score(const struct shape_point *shape, uint32_t n, int64_t utilization)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct shape_point *b = &shape[i];
        if (utilization > b->utilization)
            continue;
        if (i == 0)
            return b->score;
        const struct shape_point *a = &shape[i - 1];
        return a->score + (int64_t)(b->score - a->score) * (utilization - a->utilization) /
                              (b->utilization - a->utilization);
    }
    return n ? shape[n - 1].score : 0;
}

void resource_scorer_init(struct resource_scorer *s, struct sym_table *syms, const struct scoring_strategy *strategy)
{
    assert(strategy->resources || strategy->n_resources == 0);
    *s = (struct resource_scorer){ .type = strategy->type, .n_resources = strategy->n_resources };
    s->resources = mem_zalloc(mem_product(strategy->n_resources, sizeof(*s->resources)));
    for (uint32_t i = 0; i < strategy->n_resources; i++) {
        struct str name = str_of(strategy->resources[i].name);
        s->resources[i] = (struct scored_resource){ sym_intern_static(syms, name), strategy->resources[i].weight,
                                                    (uint8_t)resource_kind_of(name) };
    }
    s->shape = shape_scaled(strategy->shape, strategy->n_shape);
    s->n_shape = strategy->n_shape;
}

void resource_scorer_fini(struct resource_scorer *s)
{
    free(s->resources);
    free((void *)(uintptr_t)s->shape);
}

static int64_t amount_of(const struct amounts *a, const struct scored_resource *r)
{
    switch ((enum resource_kind)r->kind) {
    case RESOURCE_CPU:
        return a->milli_cpu;
    case RESOURCE_MEMORY:
        return a->memory;
    case RESOURCE_EPHEMERAL:
        return a->ephemeral_storage;
    case RESOURCE_SCALAR:
        return amounts_scalar(a, r->name);
    default:
        return 0;
    }
}

struct resource_query *resource_scorer_prepare(const struct resource_scorer *s, struct cycle *c,
                                               const struct amounts *want, bool non_zero)
{
    struct resource_query *q = arena_alloc(c->arena, sizeof(*q));
    q->non_zero = non_zero;
    q->want = arena_alloc(c->arena, s->n_resources * sizeof(*q->want));
    q->scored = arena_alloc(c->arena, s->n_resources * sizeof(*q->scored));
    for (uint32_t i = 0; i < s->n_resources; i++) {
        q->want[i] = amount_of(want, &s->resources[i]);
        bool scalar = s->resources[i].kind == RESOURCE_SCALAR;
        q->scored[i] = s->resources[i].kind != RESOURCE_IGNORED && !(scalar && q->want[i] == 0);
    }
    return q;
}

void resource_scorer_key(const struct resource_scorer *s, const struct amounts *want, struct strbuf *key)
{
    for (uint32_t i = 0; i < s->n_resources; i++)
        class_key_num(key, amount_of(want, &s->resources[i]));
}

bool resource_on_node(const struct resource_scorer *s, const struct resource_query *q, uint32_t i,
                      const struct node_view *n, int64_t *ret_alloc, int64_t *ret_used)
{
    const struct scored_resource *r = &s->resources[i];
    if (!q->scored[i])
        return false;
    *ret_alloc = amount_of(&n->node->allocatable, r);
    switch ((enum resource_kind)r->kind) {
    case RESOURCE_CPU:
        *ret_used = q->non_zero ? n->non_zero_milli_cpu : n->milli_cpu;
        break;
    case RESOURCE_MEMORY:
        *ret_used = q->non_zero ? n->non_zero_memory : n->memory;
        break;
    case RESOURCE_EPHEMERAL:
        *ret_used = n->ephemeral;
        break;
    default:
        *ret_used = node_view_scalar_used(n, r->name);
    }
    return *ret_alloc != 0;
}

static int64_t points(const struct resource_scorer *s, int64_t requested, int64_t alloc)
{
    switch (s->type) {
    case SCORING_LEAST_ALLOCATED:
        return requested > alloc ? 0 : wrap_div(wrap_mul(wrap_sub(alloc, requested), SCORE_MAX), alloc);
    case SCORING_MOST_ALLOCATED:
        return wrap_div(wrap_mul(requested > alloc ? alloc : requested, SCORE_MAX), alloc);
    case SCORING_REQUESTED_TO_CAPACITY_RATIO:
        return shape_score(s->shape, s->n_shape,
                           requested > alloc ? 100 : wrap_div(wrap_mul(requested, 100), alloc));
    }
    return 0;
}

int64_t resource_scorer_score(const struct resource_scorer *s, const struct resource_query *q,
                              const struct node_view *n)
{
    int64_t sum = 0, weights = 0;
    bool by_shape = s->type == SCORING_REQUESTED_TO_CAPACITY_RATIO;
    for (uint32_t i = 0; i < s->n_resources; i++) {
        int64_t alloc, used;
        if (!resource_on_node(s, q, i, n, &alloc, &used))
            continue;
        int64_t p = points(s, wrap_add(used, q->want[i]), alloc);
        if (by_shape && p <= 0)
            continue; /* counts in neither sum */
        sum = wrap_add(sum, wrap_mul(p, s->resources[i].weight));
        weights += s->resources[i].weight;
    }
    if (weights == 0)
        return 0;
    return by_shape ? wrap_double(round((double)sum / (double)weights)) : wrap_div(sum, weights);
}

/* The usual case: least allocated, cpu and memory with weight 1, amounts that doubles hold exactly. */
static bool plain_least_allocated(const struct resource_scorer *s, const struct resource_query *q)
{
    return s->type == SCORING_LEAST_ALLOCATED && s->n_resources == 2 && q->non_zero &&
           s->resources[0].kind == RESOURCE_CPU && s->resources[1].kind == RESOURCE_MEMORY &&
           s->resources[0].weight == 1 && s->resources[1].weight == 1 && q->want[0] >= 0 && q->want[1] >= 0 &&
           q->want[0] < EXACT_MAX && q->want[1] < EXACT_MAX;
}

/* Two resources of a node: allocatable amounts above 0, used ones not below, none too large. As numbers without a sign,
 * whatever is out of bounds has a high bit. */
static bool exact(int64_t alloc_a, int64_t used_a, int64_t alloc_b, int64_t used_b)
{
    uint64_t bits = ((uint64_t)alloc_a - 1) | (uint64_t)used_a | ((uint64_t)alloc_b - 1) | (uint64_t)used_b;
    return bits < EXACT_MAX;
}

static double free_share(int64_t alloc, int64_t requested)
{
    double free_part = (double)(alloc - requested);
    return free_part < 0 ? 0 : trunc(free_part * SCORE_MAX / (double)alloc);
}

void resource_scorer_score_block(const struct resource_scorer *s, struct cycle *c, const struct resource_query *q,
                                 int64_t *scores)
{
    const struct columns *col = &c->cache->col;
    bool plain = plain_least_allocated(s, q);
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        node_id id = c->feasible[i];
        int64_t cpu = col->alloc_milli_cpu[id], memory = col->alloc_memory[id];
        int64_t used_cpu = col->non_zero_milli_cpu[id], used_memory = col->non_zero_memory[id];
        if (plain && exact(cpu, used_cpu, memory, used_memory)) {
            double sum = free_share(cpu, used_cpu + q->want[0]) + free_share(memory, used_memory + q->want[1]);
            scores[i] = (int64_t)sum / 2;
        } else {
            struct node_view view = node_view_of(c->cache, id);
            scores[i] = resource_scorer_score(s, q, &view);
        }
    }
}
