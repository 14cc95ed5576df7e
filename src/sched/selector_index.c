/* sched/selector_index.c - see selector_index.h. */
#include "sched/selector_index.h"

void selector_index_init(struct selector_index *x)
{
    *x = (struct selector_index){ 0 };
    map_u64_init(&x->by_pair);
}

static void free_list(item_vec *list)
{
    vec_fini(list);
    free(list);
}

void selector_index_fini(struct selector_index *x)
{
    for (struct map_u64_slot *s = NULL; (s = map_u64_next(&x->by_pair, s));)
        free_list(s->value.ptr);
    map_u64_fini(&x->by_pair);
    vec_fini(&x->rest);
}

static uint64_t pair_key(sym key, sym value)
{
    return (uint64_t)key << 32 | value;
}

static item_vec *list_of(const struct selector_index *x, sym key, sym value)
{
    union map_value *entry = map_u64_find(&x->by_pair, pair_key(key, value));
    return entry ? entry->ptr : NULL;
}

static size_t items_under(const struct selector_index *x, const struct match_rule *r)
{
    size_t n = 0;
    for (uint16_t i = 0; i < r->n_values; i++) {
        const item_vec *list = list_of(x, r->key, r->values[i]);
        n += list ? list->n : 0;
    }
    return n;
}

static int best_rule(const struct selector_index *x, const struct matcher *m)
{
    int best = SELECTOR_INDEX_REST;
    size_t best_n_items = 0;
    for (uint16_t i = 0; i < m->n; i++) {
        const struct match_rule *r = &m->at[i];
        if (r->op != MATCH_IN || r->n_values == 0 || r->n_values > SELECTOR_INDEX_VALUES_MAX)
            continue;
        size_t n_items = items_under(x, r);
        bool better = best < 0 || r->n_values < m->at[best].n_values ||
                      (r->n_values == m->at[best].n_values && n_items < best_n_items);
        if (better) {
            best = i;
            best_n_items = n_items;
        }
    }
    return best;
}

int selector_index_add(struct selector_index *x, const struct matcher *selector, void *item)
{
    if (selector->mode != MATCHER_ALL_OF)
        return SELECTOR_INDEX_NOWHERE;
    int where = best_rule(x, selector);
    if (where < 0) {
        vec_push(&x->rest, item);
        return where;
    }
    const struct match_rule *r = &selector->at[where];
    for (uint16_t i = 0; i < r->n_values; i++) {
        union map_value *entry = map_u64_put(&x->by_pair, pair_key(r->key, r->values[i]), NULL);
        if (!entry->ptr)
            entry->ptr = mem_zalloc(sizeof(item_vec));
        vec_push((item_vec *)entry->ptr, item);
    }
    return where;
}

static void take_out(item_vec *list, const void *item)
{
    size_t i = 0;
    while (i < list->n && list->at[i] != item)
        i++;
    assert(i < list->n);
    vec_remove_swap(list, i);
}

void selector_index_remove(struct selector_index *x, const struct matcher *selector, int where, void *item)
{
    if (where == SELECTOR_INDEX_NOWHERE)
        return;
    if (where == SELECTOR_INDEX_REST) {
        take_out(&x->rest, item);
        return;
    }
    const struct match_rule *r = &selector->at[where];
    for (uint16_t i = 0; i < r->n_values; i++) {
        item_vec *list = list_of(x, r->key, r->values[i]);
        take_out(list, item);
        if (list->n)
            continue;
        free_list(list);
        map_u64_remove(&x->by_pair, pair_key(r->key, r->values[i]), NULL);
    }
}

static void append(item_vec *to, const item_vec *list)
{
    for (size_t i = 0; i < list->n; i++)
        vec_push(to, list->at[i]);
}

void selector_index_find(const struct selector_index *x, struct label_set labels, item_vec *to)
{
    append(to, &x->rest);
    if (x->by_pair.n == 0)
        return;
    for (uint32_t i = 0; i < labels.n; i++) {
        const item_vec *list = list_of(x, labels.at[i].key, labels.at[i].value);
        if (list)
            append(to, list);
    }
}
