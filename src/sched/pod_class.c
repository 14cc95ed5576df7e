/* sched/pod_class.c - see pod_class.h. */
#include "sched/pod_class.h"

#include "base/arith.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct entry {
    struct pod_class class; /* first: pod_class pointers are entries */
    struct str key;         /* heap */
    uint64_t generation;    /* of the cache, up to which rows are right */
    uint64_t order_epoch;   /* of the set of nodes */
    node_id n_rows_max;
    uint64_t last_used;
};

struct pod_classes {
    struct map_str by_key;
    VEC(struct entry *) entries;
    struct entry *last; /* used last: pods of one class often come in a row; NULL: gone */
    uint64_t now;
    struct strbuf key; /* scratch */
    uint32_t n_max;
    uint64_t n_dropped, n_made;
};

struct pod_classes *pod_classes_new(void)
{
    struct pod_classes *k = mem_zalloc(sizeof(*k));
    k->n_max = POD_CLASSES_MAX;
    map_str_init(&k->by_key);
    strbuf_init(&k->key, STRBUF_NO_MAX);
    return k;
}

void pod_classes_limit(struct pod_classes *k, uint32_t n_max)
{
    assert(n_max > 0);
    k->n_max = n_max;
}

uint64_t pod_classes_n_dropped(const struct pod_classes *k)
{
    return k->n_dropped;
}

static void free_entry(struct pod_classes *k, struct entry *e)
{
    if (k->last == e)
        k->last = NULL;
    map_str_remove(&k->by_key, e->key, NULL);
    free((void *)(uintptr_t)e->key.p);
    free(e->class.alive);
    free(e->class.partial);
    free(e->class.best);
    free(e);
}

void pod_classes_free(struct pod_classes *k)
{
    for (size_t i = 0; i < k->entries.n; i++)
        free_entry(k, k->entries.at[i]);
    vec_fini(&k->entries);
    map_str_fini(&k->by_key);
    strbuf_fini(&k->key);
    free(k);
}

/* ---- The key ---- */

/* After what a plugin appended stands how long that was, so that two plugins' parts cannot be taken for each other's. */
static void end_part(struct strbuf *key, size_t begin)
{
    uint32_t n = (uint32_t)(key->n - begin);
    strbuf_add(key, &n, sizeof(n));
}

void pod_class_key(struct strbuf *key, const struct cycle *c, uint64_t local_scores)
{
    const struct profile *profile = c->profile;
    const struct profile_plan *plan = &profile->plan;
    uint64_t skipped = c->skip_filter & plan->local_filter_mask;
    strbuf_reset(key);
    strbuf_add(key, &profile, sizeof(profile));
    strbuf_add(key, &local_scores, sizeof(local_scores));
    strbuf_add(key, &skipped, sizeof(skipped));
    for (uint8_t i = 0; i < plan->local_filters.n; i++) {
        const struct plugin_instance *p = plan->local_filters.at[i];
        size_t begin = key->n;
        if (skipped >> p->index & 1)
            continue;
        p->plugin->filter_key(p, c, key);
        end_part(key, begin);
    }
    for (uint64_t left = local_scores; left; left &= left - 1) {
        const struct plugin_instance *p = profile->points[POINT_SCORE].at[__builtin_ctzll(left)];
        size_t begin = key->n;
        p->plugin->score_key(p, c, key);
        end_part(key, begin);
    }
}

/* ---- Rows ---- */

struct work {
    struct entry *e;
    struct cycle *c;
    uint64_t local_scores;
};

static bool local_filters_pass(struct cycle *c, const struct node_view *view)
{
    const struct point_plugins *filters = &c->profile->plan.local_filters;
    for (uint8_t i = 0; i < filters->n; i++) {
        const struct plugin_instance *p = filters->at[i];
        if (!(c->skip_filter >> p->index & 1) && p->plugin->filter(p, c, view).code != V_SUCCESS)
            return false;
    }
    return true;
}

static int32_t local_score(const struct work *w, const struct node_view *view)
{
    const struct profile *profile = w->c->profile;
    int64_t sum = 0;
    for (uint64_t left = w->local_scores; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct plugin_instance *p = profile->points[POINT_SCORE].at[i];
        int64_t score = p->plugin->score(p, w->c, view);
        w->e->class.out_of_range |= score < 0 || score > SCORE_MAX;
        sum = wrap_add(sum, wrap_mul(score, profile->weights[i]));
    }
    return (int32_t)sum;
}

static void find_best(struct pod_class *class, size_t word)
{
    int32_t best = INT32_MIN;
    for (uint64_t left = class->alive[word]; left; left &= left - 1) {
        int32_t value = class->partial[word * 64 + (size_t)__builtin_ctzll(left)];
        best = value > best ? value : best;
    }
    class->best[word] = best;
}

static void repair_row(void *context, node_id row)
{
    struct work *w = context;
    const struct cache *cache = w->c->cache;
    bool fits = false;
    if (bitset_test(cache->col.listed, row)) {
        struct node_view view = node_view_of(cache, row);
        fits = local_filters_pass(w->c, &view);
        if (fits)
            w->e->class.partial[row] = local_score(w, &view);
    }
    bitset_put(w->e->class.alive, row, fits);
    find_best(&w->e->class, row / 64);
}

static void filter_all(struct work *w)
{
    struct cycle *c = w->c;
    uint64_t *alive = w->e->class.alive;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    bitset_copy(alive, c->cache->col.listed, n_words);
    const struct point_plugins *filters = &c->profile->plan.local_filters;
    for (uint8_t i = 0; i < filters->n; i++) {
        const struct plugin_instance *p = filters->at[i];
        if (c->skip_filter >> p->index & 1)
            continue;
        if (p->plugin->filter_block) {
            p->plugin->filter_block(p, c, alive);
            continue;
        }
        for (size_t row = bitset_next(alive, n_words, 0); row < BITSET_END;
             row = bitset_next(alive, n_words, row + 1)) {
            struct node_view view = node_view_of(c->cache, (node_id)row);
            if (p->plugin->filter(p, c, &view).code != V_SUCCESS)
                bitset_clear(alive, row);
        }
    }
}

static void add_scores(struct work *w, const node_id *rows, const int64_t *scores, uint32_t n, uint32_t weight)
{
    uint32_t *partial = (uint32_t *)w->e->class.partial; /* wraps where scores are out of range */
    bool out_of_range = false;
    for (uint32_t k = 0; k < n; k++) {
        out_of_range |= (uint64_t)scores[k] > SCORE_MAX;
        partial[rows[k]] += (uint32_t)scores[k] * weight;
    }
    w->e->class.out_of_range |= out_of_range;
}

/* The block forms score a list of nodes: here all that are alive. */
static void score_all(struct work *w)
{
    struct cycle *c = w->c;
    const uint64_t *alive = w->e->class.alive;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    node_id *rows = arena_alloc(c->arena, c->cache->order.n * sizeof(*rows));
    uint32_t n = 0;
    for (size_t row = bitset_next(alive, n_words, 0); row < BITSET_END; row = bitset_next(alive, n_words, row + 1)) {
        w->e->class.partial[row] = 0;
        rows[n++] = (node_id)row;
    }
    const node_id *feasible = c->feasible;
    uint32_t n_feasible = c->n_feasible;
    c->feasible = rows;
    c->n_feasible = n;
    int64_t *scores = arena_alloc(c->arena, n * sizeof(*scores));
    for (uint64_t left = w->local_scores; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct plugin_instance *p = c->profile->points[POINT_SCORE].at[i];
        p->plugin->score_block(p, c, scores);
        add_scores(w, rows, scores, n, (uint32_t)c->profile->weights[i]);
    }
    c->feasible = feasible;
    c->n_feasible = n_feasible;
    for (size_t word = 0; word < n_words; word++)
        find_best(&w->e->class, word);
}

static void grow(struct entry *e, node_id n_rows_max)
{
    e->class.alive = mem_realloc(e->class.alive, bitset_words(n_rows_max) * sizeof(uint64_t));
    e->class.partial = mem_realloc(e->class.partial, n_rows_max * sizeof(int32_t));
    e->class.best = mem_realloc(e->class.best, bitset_words(n_rows_max) * sizeof(int32_t));
    e->n_rows_max = n_rows_max;
}

/* ---- Classes ---- */

static void drop_oldest(struct pod_classes *k)
{
    size_t oldest = 0;
    for (size_t i = 1; i < k->entries.n; i++)
        if (k->entries.at[i]->last_used < k->entries.at[oldest]->last_used)
            oldest = i;
    free_entry(k, k->entries.at[oldest]);
    vec_remove_swap(&k->entries, oldest);
    k->n_dropped++;
}

static struct entry *new_entry(struct pod_classes *k, node_id n_rows_max)
{
    size_t bytes = (size_t)n_rows_max * (sizeof(int32_t) + 1);
    while (k->entries.n && (k->entries.n >= k->n_max || (k->entries.n + 1) * bytes > POD_CLASSES_BYTES_MAX))
        drop_oldest(k);
    struct entry *e = mem_zalloc(sizeof(*e));
    e->class.id = ++k->n_made;
    char *key = mem_alloc(k->key.n);
    memcpy(key, k->key.p, k->key.n);
    e->key = (struct str){ key, k->key.n };
    map_str_put(&k->by_key, e->key, NULL)->ptr = e;
    vec_push(&k->entries, e);
    return e;
}

static struct entry *find_entry(const struct pod_classes *k)
{
    if (k->last && str_eq(k->last->key, strbuf_str(&k->key)))
        return k->last;
    union map_value *found = map_str_find(&k->by_key, strbuf_str(&k->key));
    return found ? found->ptr : NULL;
}

const struct pod_class *pod_classes_get(struct pod_classes *k, struct cycle *c, uint64_t local_scores)
{
    assert(c->profile->plan.settled);
    assert(!(local_scores & ~c->profile->plan.local_scores));
    pod_class_key(&k->key, c, local_scores);
    struct entry *found = find_entry(k), *e = found ? found : new_entry(k, c->cache->col.n_rows_max);
    struct work w = { e, c, local_scores };
    bool fresh = found && e->order_epoch == c->cache->order_epoch && e->n_rows_max == c->cache->col.n_rows_max;
    if (!fresh || !cache_changes(c->cache, e->generation, repair_row, &w)) {
        if (e->n_rows_max != c->cache->col.n_rows_max)
            grow(e, c->cache->col.n_rows_max);
        e->class.out_of_range = false;
        filter_all(&w);
        score_all(&w);
    }
    e->generation = c->cache->generation;
    e->order_epoch = c->cache->order_epoch;
    e->last_used = ++k->now;
    k->last = e;
    return &e->class;
}
