/* NodeResourcesLeastAllocated, NodeResourcesMostAllocated, RequestedToCapacityRatio and NodeResourcesBalancedAllocation:
 * LeastRequestedPriority, MostRequestedPriority, RequestedToCapacityRatioPriority and BalancedResourceAllocation.
 *
 * cpu and memory count 100m and 200Mi for containers without a request, other resources as requested. Upstream:
 * plugins/noderesources, v1.20. */
#include <math.h>

#include "base/arith.h"
#include "plugins/legacy.h"

struct scored {
    sym name;
    int64_t weight;
    uint8_t kind; /* enum resource_kind */
};

struct data {
    enum scoring_type type;
    bool balances; /* none of the types: how even cpu and memory are used */
    struct scored *resources;
    uint32_t n_resources;
    struct shape_point *shape; /* scores up to the era's maximum */
    uint32_t n_shape;
};

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    free(d->resources);
    free(d->shape);
    free(d);
}

static void keep_resources(struct plugin_instance *p, struct data *d, const struct scoring_strategy *from)
{
    d->n_resources = from->n_resources;
    d->resources = mem_zalloc(mem_product(from->n_resources ? from->n_resources : 1, sizeof(*d->resources)));
    for (uint32_t i = 0; i < from->n_resources; i++) {
        struct str name = str_of(from->resources[i].name);
        d->resources[i] = (struct scored){ sym_intern_static(p->syms, name), from->resources[i].weight,
                                           (uint8_t)resource_kind_of(name) };
    }
}

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)e;
    assert(args);
    const struct scoring_strategy *from = args;
    struct data *d = mem_zalloc(sizeof(*d));
    d->type = from->type;
    keep_resources(p, d, from);
    p->data = d;
    return ERR_OK;
}

static enum err_code check_shape(const struct scoring_strategy *s, struct err *e)
{
    if (s->n_shape == 0)
        return err_set(e, ERR_INVALID, "at least one point must be specified");
    for (uint32_t i = 1; i < s->n_shape; i++)
        if (s->shape[i - 1].utilization >= s->shape[i].utilization)
            return err_set(e, ERR_INVALID,
                           "utilization values must be sorted. Utilization[%u]==%d >= Utilization[%u]==%d", i - 1,
                           s->shape[i - 1].utilization, i, s->shape[i].utilization);
    for (uint32_t i = 0; i < s->n_shape; i++) {
        const struct shape_point *point = &s->shape[i];
        if (point->utilization < 0)
            return err_set(e, ERR_INVALID, "utilization values must not be less than 0. Utilization[%u]==%d", i,
                           point->utilization);
        if (point->utilization > 100)
            return err_set(e, ERR_INVALID, "utilization values must not be greater than 100. Utilization[%u]==%d", i,
                           point->utilization);
        if (point->score < 0)
            return err_set(e, ERR_INVALID, "score values must not be less than 0. Score[%u]==%d", i, point->score);
        if (point->score > 10)
            return err_set(e, ERR_INVALID, "score values must not be greater than 10. Score[%u]==%d", i, point->score);
    }
    return ERR_OK;
}

static enum err_code init_ratio(struct plugin_instance *p, const void *args, struct err *e)
{
    const struct scoring_strategy *s = args;
    if (check_shape(s, e))
        return e->code;
    for (uint32_t i = 0; i < s->n_resources; i++)
        if (s->resources[i].weight < 1)
            return err_set(e, ERR_INVALID, "resource %s weight %lld must not be less than 1", s->resources[i].name,
                           (long long)s->resources[i].weight);
    if (init(p, args, e))
        return e->code;
    struct data *d = p->data;
    d->n_shape = s->n_shape;
    d->shape = mem_zalloc(mem_product(s->n_shape, sizeof(*d->shape)));
    for (uint32_t i = 0; i < s->n_shape; i++)
        d->shape[i] = (struct shape_point){ s->shape[i].utilization,
                                            s->shape[i].score * (int32_t)(p->era->score_max / 10) };
    return ERR_OK;
}

static enum err_code init_balanced(struct plugin_instance *p, const void *args, struct err *e)
{
    (void)args;
    static const struct resource_weight both[] = { { "cpu", 1 }, { "memory", 1 } };
    struct scoring_strategy s = { .resources = both, .n_resources = 2 };
    enum err_code code = init(p, &s, e);
    ((struct data *)p->data)->balances = true;
    return code;
}

/* ---- Amounts ---- */

/* As v1.20: the pod's overhead enters the sum of cpu in whole cores, rounded up, but counted as millicores. */
static int64_t pod_cpu(const struct pod *pod)
{
    int64_t overhead = pod->overhead_milli_cpu;
    return wrap_add(wrap_sub(pod->score->milli_cpu, overhead), (overhead + 999) / 1000);
}

static void amounts_on(const struct scored *r, const struct pod *pod, const struct node_view *n, int64_t *ret_alloc,
                       int64_t *ret_requested)
{
    const struct amounts *alloc = &n->node->allocatable;
    switch ((enum resource_kind)r->kind) {
    case RESOURCE_CPU:
        *ret_alloc = alloc->milli_cpu;
        *ret_requested = wrap_add(n->non_zero_milli_cpu, pod_cpu(pod));
        break;
    case RESOURCE_MEMORY:
        *ret_alloc = alloc->memory;
        *ret_requested = wrap_add(n->non_zero_memory, pod->score->memory);
        break;
    case RESOURCE_EPHEMERAL:
        *ret_alloc = alloc->ephemeral_storage;
        *ret_requested = wrap_add(n->ephemeral, pod->score->ephemeral_storage);
        break;
    default:
        *ret_alloc = amounts_scalar(alloc, r->name);
        *ret_requested = wrap_add(node_view_scalar_used(n, r->name), amounts_scalar(pod->score, r->name));
    }
}

/* ---- Formulas ---- */

static int64_t shape_at(const struct data *d, int64_t utilization)
{
    for (uint32_t i = 0; i < d->n_shape; i++) {
        const struct shape_point *b = &d->shape[i];
        if (utilization > b->utilization)
            continue;
        if (i == 0)
            return b->score;
        const struct shape_point *a = &d->shape[i - 1];
        return a->score + (int64_t)(b->score - a->score) * (utilization - a->utilization) /
                              (b->utilization - a->utilization);
    }
    return d->shape[d->n_shape - 1].score;
}

static int64_t points(const struct data *d, int64_t most, int64_t requested, int64_t alloc)
{
    switch (d->type) {
    case SCORING_LEAST_ALLOCATED:
        return alloc == 0 || requested > alloc ? 0 : wrap_div(wrap_mul(wrap_sub(alloc, requested), most), alloc);
    case SCORING_MOST_ALLOCATED:
        return alloc == 0 ? 0 : requested > alloc ? most : wrap_div(wrap_mul(requested, most), alloc);
    case SCORING_REQUESTED_TO_CAPACITY_RATIO:
        return shape_at(d, alloc == 0 || requested > alloc
                               ? 100
                               : 100 - wrap_div(wrap_mul(wrap_sub(alloc, requested), 100), alloc));
    }
    return 0;
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    bool by_shape = d->type == SCORING_REQUESTED_TO_CAPACITY_RATIO;
    int64_t sum = 0, weights = 0;
    for (uint32_t i = 0; i < d->n_resources; i++) {
        int64_t alloc, requested;
        amounts_on(&d->resources[i], c->pod, n, &alloc, &requested);
        int64_t each = points(d, p->era->score_max, requested, alloc);
        if (by_shape && each <= 0)
            continue; /* counts in neither sum */
        sum = wrap_add(sum, wrap_mul(each, d->resources[i].weight));
        weights += d->resources[i].weight;
    }
    if (weights == 0)
        return 0;
    return by_shape ? wrap_double(round((double)sum / (double)weights)) : wrap_div(sum, weights);
}

static double share(int64_t requested, int64_t alloc)
{
    return alloc == 0 ? 1 : (double)requested / (double)alloc;
}

/* What the last of the disk limits that had something to count found; false: there is no room to compare with. */
static bool count_disks(struct cycle *c, const struct node_view *n, int64_t *ret_new, int64_t *ret_room)
{
    const struct point_plugins *filters = &c->profile->points[POINT_FILTER];
    for (uint8_t i = filters->n; i-- > 0;)
        if (legacy_disks_counted(filters->at[i], c, n, ret_new, ret_room))
            return *ret_room > 0;
    return false;
}

static int64_t balance_of_three(double a, double b, double c, double most)
{
    double mean = (a + b + c) / 3;
    double variance = ((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 3;
    return c >= 1 ? 0 : (int64_t)((1 - variance) * most);
}

static int64_t score_balance(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    double of[2];
    for (uint32_t i = 0; i < 2; i++) {
        int64_t alloc, requested;
        amounts_on(&d->resources[i], c->pod, n, &alloc, &requested);
        of[i] = share(requested, alloc);
    }
    int64_t n_new = 0, room = 0;
    if (of[0] >= 1 || of[1] >= 1)
        return 0;
    if (p->features->balance_attached_node_volumes && count_disks(c, n, &n_new, &room))
        return balance_of_three(of[0], of[1], (double)n_new / (double)room, (double)p->era->score_max);
    return (int64_t)((1 - fabs(of[0] - of[1])) * (double)p->era->score_max);
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    const struct data *d = p->data;
    for (uint32_t i = 0; i < c->n_feasible; i++) {
        struct node_view view = node_view_of(c->cache, c->feasible[i]);
        scores[i] = d->balances ? score_balance(p, c, &view) : score(p, c, &view);
    }
}

static void score_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    const struct data *d = p->data;
    for (uint32_t i = 0; i < d->n_resources; i++)
        switch ((enum resource_kind)d->resources[i].kind) {
        case RESOURCE_CPU:
            class_key_num(key, pod_cpu(c->pod));
            break;
        case RESOURCE_MEMORY:
            class_key_num(key, c->pod->score->memory);
            break;
        case RESOURCE_EPHEMERAL:
            class_key_num(key, c->pod->score->ephemeral_storage);
            break;
        default:
            class_key_num(key, amounts_scalar(c->pod->score, d->resources[i].name));
        }
}

#define RESOURCE_PLUGIN(ident, plugin_name, init_fn, score_fn)                                            \
    const struct plugin ident = {                                                                         \
        .name = plugin_name, .init = init_fn, .fini = fini, .score = score_fn, .score_block = score_block, \
        .score_key = score_key, .events = (const struct plugin_event[]){ { 0 } },                         \
    }

RESOURCE_PLUGIN(legacy_leastallocated_plugin, "NodeResourcesLeastAllocated", init, score);
RESOURCE_PLUGIN(legacy_mostallocated_plugin, "NodeResourcesMostAllocated", init, score);
RESOURCE_PLUGIN(legacy_capacityratio_plugin, "RequestedToCapacityRatio", init_ratio, score);
RESOURCE_PLUGIN(legacy_balanced_plugin, "NodeResourcesBalancedAllocation", init_balanced, score_balance);
