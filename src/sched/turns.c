/* sched/turns.c - see turns.h. */
#include "sched/turns.h"

#include <stdlib.h>

#include "base/bitset.h"

static int descending(const void *a, const void *b, void *context)
{
    const struct cache *cache = context;
    return strcmp(cache->rows.at[*(const node_id *)b].node->meta.name, cache->rows.at[*(const node_id *)a].node->meta.name);
}

/* Nodes that are only supposed come and go without a new epoch, but change the number. */
static void sort_names(struct turns *t, const struct cache *cache)
{
    if (t->epoch == cache->order_epoch && t->by_name.n == cache->order.n)
        return;
    vec_reset(&t->by_name);
    for (size_t i = 0; i < cache->order.n; i++)
        vec_push(&t->by_name, cache->order.at[i]);
    qsort_r(t->by_name.at, t->by_name.n, sizeof(*t->by_name.at), descending, (void *)(uintptr_t)cache);
    t->epoch = cache->order_epoch;
}

/* The place-th of the best nodes in the order of `nodes`. */
static uint32_t nth(const int64_t *totals, uint32_t n, int64_t best, uint64_t place)
{
    for (uint32_t i = 0; i < n; i++)
        if (totals[i] == best && place-- == 0)
            return i;
    return 0;
}

static uint32_t nth_by_name(struct turns *t, const struct cache *cache, const node_id *nodes, const int64_t *totals,
                            uint32_t n, int64_t best, uint64_t place)
{
    size_t n_words = bitset_words(cache->col.n_rows);
    uint64_t *ties = calloc(n_words ? n_words : 1, sizeof(*ties));
    node_id found = nodes[0];
    assert(ties);
    sort_names(t, cache);
    for (uint32_t i = 0; i < n; i++)
        if (totals[i] == best)
            bitset_set(ties, nodes[i]);
    for (size_t i = 0; i < t->by_name.n; i++)
        if (bitset_test(ties, t->by_name.at[i]) && place-- == 0) {
            found = t->by_name.at[i];
            break;
        }
    free(ties);
    uint32_t at = 0;
    while (at < n && nodes[at] != found)
        at++;
    return at < n ? at : 0;
}

uint32_t turns_take(struct turns *t, const struct cache *cache, const node_id *nodes, const int64_t *totals, uint32_t n,
                    int64_t best, bool by_name)
{
    uint64_t n_ties = 0;
    for (uint32_t i = 0; i < n; i++)
        n_ties += totals[i] == best;
    assert(n_ties > 0);
    uint64_t place = t->n_taken++ % n_ties;
    return by_name ? nth_by_name(t, cache, nodes, totals, n, best, place) : nth(totals, n, best, place);
}

void turns_fini(struct turns *t)
{
    vec_fini(&t->by_name);
}
