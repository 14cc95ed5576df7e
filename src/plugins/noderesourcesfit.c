/* NodeResourcesFit: a node fits when what the pod requests is free there; how free or how full decides
 * the score. Points: PreFilter, Filter, PreScore, Score. Upstream: plugins/noderesources, v1.36.
 *
 * A verdict's detail is a set of bits: which resources are short. Scalars are numbered as in the pod's
 * request. */
#include "plugins/plugins.h"

#include "plugins/resource_score.h"

enum {
    SHORT_PODS = 1 << 0,
    SHORT_CPU = 1 << 1,
    SHORT_MEMORY = 1 << 2,
    SHORT_EPHEMERAL = 1 << 3,
    FIRST_SCALAR_BIT = 4,
    SCALAR_BITS = 60, /* a pod with more scalars reports the first of them */
};

struct data {
    const struct node_resources_fit_args *args;
    struct resource_scorer scorer;
};

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    assert(args);
    (void)e;
    struct data *d = mem_zalloc(sizeof(*d));
    d->args = args;
    resource_scorer_init(&d->scorer, p->syms, &d->args->strategy);
    p->data = d;
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    struct data *d = p->data;
    resource_scorer_fini(&d->scorer);
    free(d);
}

/* ---- Filter ---- */

/* Extended resources that the configuration leaves to somebody else. */
static bool ignored(const struct plugin_instance *p, sym name)
{
    const struct data *d = p->data;
    if (d->args->n_ignored_resources == 0 && d->args->n_ignored_groups == 0)
        return false;
    struct str text = sym_text(p->syms, name);
    if (!resource_is_extended(text))
        return false;
    for (uint32_t i = 0; i < d->args->n_ignored_resources; i++)
        if (str_is(text, d->args->ignored_resources[i]))
            return true;
    struct str group = str_first(text, str_index(text, '/'));
    for (uint32_t i = 0; i < d->args->n_ignored_groups; i++)
        if (str_is(group, d->args->ignored_groups[i]))
            return true;
    return false;
}

static struct verdict pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names)
{
    (void)ret_names;
    const struct amounts *want = c->pod->fit;
    bool *skip = arena_alloc(c->arena, want->n_scalars * sizeof(*skip));
    for (uint32_t i = 0; i < want->n_scalars; i++)
        skip[i] = want->scalars[i].amount == 0 || ignored(p, want->scalars[i].name);
    c->state[p->index] = skip;
    return PASS;
}

/* Bits of `used` that leave too little of `alloc`; *unresolvable when even the empty node is too small. */
static uint64_t too_little(int64_t want, int64_t alloc, int64_t used, uint64_t bit, bool *unresolvable)
{
    if (want <= 0 || want <= (int64_t)((uint64_t)alloc - (uint64_t)used))
        return 0;
    *unresolvable |= want > alloc;
    return bit;
}

static struct verdict filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct amounts *want = c->pod->fit, *alloc = &n->node->allocatable;
    const bool *skip = CYCLE_STATE(p, c, bool);
    bool unresolvable = false;
    uint64_t detail = (int64_t)n->n_pods + 1 > alloc->pods ? SHORT_PODS : 0;
    detail |= too_little(want->milli_cpu, alloc->milli_cpu, n->milli_cpu, SHORT_CPU, &unresolvable);
    detail |= too_little(want->memory, alloc->memory, n->memory, SHORT_MEMORY, &unresolvable);
    detail |=
        too_little(want->ephemeral_storage, alloc->ephemeral_storage, n->ephemeral, SHORT_EPHEMERAL, &unresolvable);
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        if (skip[i])
            continue;
        sym name = want->scalars[i].name;
        uint64_t bit = 1ull << (FIRST_SCALAR_BIT + (i < SCALAR_BITS ? i : SCALAR_BITS - 1));
        detail |= too_little(want->scalars[i].amount, amounts_scalar(alloc, name), node_view_scalar_used(n, name), bit,
                             &unresolvable);
    }
    if (!detail)
        return PASS;
    return (struct verdict){ unresolvable ? V_UNRESOLVABLE : V_UNSCHEDULABLE, detail, NULL };
}

static void keep_fitting(uint64_t *alive, const int64_t *alloc, const int64_t *used, node_id n_rows, int64_t want)
{
    for (node_id base = 0; base < n_rows; base += 64) {
        if (!alive[base / 64])
            continue;
        node_id end = n_rows - base < 64 ? n_rows - base : 64;
        uint64_t fits = 0;
        for (node_id i = 0; i < end; i++)
            fits |= (uint64_t)((int64_t)((uint64_t)alloc[base + i] - (uint64_t)used[base + i]) >= want) << i;
        alive[base / 64] &= fits;
    }
}

static void keep_roomy(uint64_t *alive, const int32_t *alloc_pods, const int32_t *n_pods, node_id n_rows)
{
    for (node_id base = 0; base < n_rows; base += 64) {
        if (!alive[base / 64])
            continue;
        node_id end = n_rows - base < 64 ? n_rows - base : 64;
        uint64_t fits = 0;
        for (node_id i = 0; i < end; i++)
            fits |= (uint64_t)(n_pods[base + i] < alloc_pods[base + i]) << i;
        alive[base / 64] &= fits;
    }
}

static void filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive)
{
    const struct amounts *want = c->pod->fit;
    const struct columns *col = &c->cache->col;
    const bool *skip = CYCLE_STATE(p, c, bool);
    node_id n = col->n_rows;
    keep_roomy(alive, col->alloc_pods, col->n_pods, n);
    if (want->milli_cpu > 0)
        keep_fitting(alive, col->alloc_milli_cpu, col->used_milli_cpu, n, want->milli_cpu);
    if (want->memory > 0)
        keep_fitting(alive, col->alloc_memory, col->used_memory, n, want->memory);
    if (want->ephemeral_storage > 0)
        keep_fitting(alive, col->alloc_ephemeral, col->used_ephemeral, n, want->ephemeral_storage);
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        if (skip[i] || want->scalars[i].amount <= 0)
            continue;
        const struct scalar_column *s = cache_scalar(c->cache, want->scalars[i].name);
        if (s)
            keep_fitting(alive, s->alloc, s->used, n, want->scalars[i].amount);
        else
            bitset_zero(alive, bitset_words(n)); /* no node has ever had any */
    }
}

static void reasons(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to)
{
    static const char *const fixed[] = { "Too many pods", "Insufficient cpu", "Insufficient memory",
                                         "Insufficient ephemeral-storage" };
    for (unsigned bit = 0; bit < FIRST_SCALAR_BIT; bit++)
        if (v.detail >> bit & 1)
            vec_push(&to->texts, fixed[bit]);
    for (unsigned i = 0; i < SCALAR_BITS && i < c->pod->fit->n_scalars; i++)
        if (v.detail >> (FIRST_SCALAR_BIT + i) & 1)
            vec_push(&to->texts, arena_printf(to->arena, "Insufficient %s",
                                              sym_text(p->syms, c->pod->fit->scalars[i].name).p));
}

/* The names and order of scalars are also what a refusal's detail counts by. */
static void filter_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    (void)p;
    const struct amounts *want = c->pod->fit;
    class_key_num(key, want->milli_cpu);
    class_key_num(key, want->memory);
    class_key_num(key, want->ephemeral_storage);
    class_key_count(key, want->n_scalars);
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        class_key_sym(key, c, want->scalars[i].name);
        class_key_num(key, want->scalars[i].amount);
    }
}

/* ---- Score ---- */

static struct verdict pre_score(const struct plugin_instance *p, struct cycle *c)
{
    const struct data *d = p->data;
    c->score_state[p->index] = resource_scorer_prepare(&d->scorer, c, c->pod->score, true);
    return PASS;
}

/* A profile without our PreScore: as upstream, it is made up for. */
static const struct resource_query *query_of(const struct plugin_instance *p, struct cycle *c)
{
    if (!c->score_state[p->index])
        pre_score(p, c);
    return CYCLE_SCORE_STATE(p, c, struct resource_query);
}

static int64_t score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n)
{
    const struct data *d = p->data;
    return resource_scorer_score(&d->scorer, query_of(p, c), n);
}

static void score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores)
{
    const struct data *d = p->data;
    resource_scorer_score_block(&d->scorer, c, query_of(p, c), scores);
}

static void score_key(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key)
{
    const struct data *d = p->data;
    resource_scorer_key(&d->scorer, c->pod->score, key);
}

/* ---- Hints ---- */

static bool had_a_node(const struct pod *pod)
{
    return pod->node_name != SYM_EMPTY || pod->nominated_node != SYM_EMPTY;
}

/* Whether something that `waiting` requests got smaller. */
static bool shrank(const struct pod *waiting, const struct pod *old, const struct pod *now)
{
    const struct amounts *want = waiting->fit, *a = old->requested, *b = now->requested;
    if ((want->milli_cpu && b->milli_cpu < a->milli_cpu) || (want->memory && b->memory < a->memory) ||
        (want->ephemeral_storage && b->ephemeral_storage < a->ephemeral_storage))
        return true;
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        sym name = want->scalars[i].name;
        if (want->scalars[i].amount && amounts_scalar(b, name) < amounts_scalar(a, name))
            return true;
    }
    return false;
}

static enum hint pod_changed(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    const struct pod *old = event->old_object, *now = event->new_object;
    if (!now)
        return had_a_node(old) ? HINT_QUEUE : HINT_SKIP;
    if (strcmp(now->meta.uid, waiting->meta.uid) == 0)
        return HINT_QUEUE;
    return now->node_name != SYM_EMPTY && shrank(waiting, old, now) ? HINT_QUEUE : HINT_SKIP;
}

static bool fits_empty(const struct amounts *want, const struct amounts *alloc)
{
    if (alloc->pods < 1 || want->milli_cpu > alloc->milli_cpu || want->memory > alloc->memory ||
        want->ephemeral_storage > alloc->ephemeral_storage)
        return false;
    for (uint32_t i = 0; i < want->n_scalars; i++)
        if (want->scalars[i].amount > amounts_scalar(alloc, want->scalars[i].name))
            return false;
    return true;
}

static bool grew(const struct amounts *want, const struct amounts *old, const struct amounts *now)
{
    if (now->pods > old->pods || (want->milli_cpu && now->milli_cpu > old->milli_cpu) ||
        (want->memory && now->memory > old->memory) ||
        (want->ephemeral_storage && now->ephemeral_storage > old->ephemeral_storage))
        return true;
    for (uint32_t i = 0; i < want->n_scalars; i++) {
        sym name = want->scalars[i].name;
        if (want->scalars[i].amount && amounts_scalar(now, name) > amounts_scalar(old, name))
            return true;
    }
    return false;
}

static enum hint node_changed(const struct hint_context *h, const struct pod *waiting,
                              const struct cluster_event *event)
{
    (void)h;
    const struct node *old = event->old_object, *now = event->new_object;
    if (!fits_empty(waiting->fit, &now->allocatable))
        return HINT_SKIP;
    return !old || grew(waiting->fit, &old->allocatable, &now->allocatable) ? HINT_QUEUE : HINT_SKIP;
}

/* As upstream, whose words these are. */
static const char *fails_without(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at)
{
    (void)p;
    (void)c;
    return missing == POINT_PRE_FILTER && at == POINT_FILTER ? "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"
                                                            : NULL;
}

const struct plugin noderesourcesfit_plugin = {
    .name = "NodeResourcesFit",
    .init = init,
    .fini = fini,
    .pre_filter = pre_filter,
    .filter = filter,
    .filter_block = filter_block,
    .reasons = reasons,
    .pre_score = pre_score,
    .score = score,
    .score_block = score_block,
    .fails_without = fails_without,
    .filter_key = filter_key,
    .score_key = score_key,
    .events = (const struct plugin_event[]){ { RES_POD, ACT_DELETE | ACT_UPDATE_POD_SCALE_DOWN, pod_changed },
                                             { RES_NODE, ACT_ADD | ACT_UPDATE_NODE_ALLOCATABLE, node_changed },
                                             { 0 } },
};
