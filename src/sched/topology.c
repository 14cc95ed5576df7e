/* sched/topology.c - see topology.h. */
#include "sched/topology.h"

#include "base/mem.h"

/* What a row's node has for labels, so that a key registered later can be filled. */
struct row_labels {
    struct label_set labels;
    bool present;
};

struct topology {
    struct sym_table *syms;
    struct row_labels *rows;
    uint32_t *no_domains; /* column of zeros, of keys that no node has */
    uint32_t n_rows_max, n_present;
    uint64_t now; /* counts uses */
    VEC(struct topology_key *) keys;
    struct map_u64 by_key; /* sym -> struct topology_key */
};

struct topology *topology_new(struct sym_table *syms)
{
    struct topology *t = mem_zalloc(sizeof(*t));
    t->syms = syms;
    map_u64_init(&t->by_key);
    return t;
}

static void free_key(struct topology *t, struct topology_key *k)
{
    sym_unref(t->syms, k->key);
    for (size_t i = 1; i < k->domains.n; i++)
        if (k->domains.at[i].n_nodes)
            sym_unref(t->syms, k->domains.at[i].value);
    if (k->owns_column)
        free(k->of_row);
    vec_fini(&k->domains);
    vec_fini(&k->free_domains);
    map_u64_fini(&k->by_value);
    free(k);
}

void topology_free(struct topology *t)
{
    for (size_t i = 0; i < t->keys.n; i++)
        free_key(t, t->keys.at[i]);
    vec_fini(&t->keys);
    map_u64_fini(&t->by_key);
    free(t->no_domains);
    free(t->rows);
    free(t);
}

static uint32_t *grow_column(uint32_t *column, uint32_t old, uint32_t n)
{
    column = mem_realloc(column, n * sizeof(*column));
    memset(column + old, 0, (n - old) * sizeof(*column));
    return column;
}

void topology_grow(struct topology *t, uint32_t n_rows_max)
{
    if (n_rows_max <= t->n_rows_max)
        return;
    uint32_t old = t->n_rows_max;
    t->rows = mem_realloc(t->rows, n_rows_max * sizeof(*t->rows));
    memset(t->rows + old, 0, (n_rows_max - old) * sizeof(*t->rows));
    t->no_domains = grow_column(t->no_domains, old, n_rows_max);
    for (size_t i = 0; i < t->keys.n; i++) {
        struct topology_key *k = t->keys.at[i];
        k->of_row = k->owns_column ? grow_column(k->of_row, old, n_rows_max) : t->no_domains;
    }
    t->n_rows_max = n_rows_max;
}

static uint32_t join_domain(struct topology *t, struct topology_key *k, sym value)
{
    if (!k->owns_column) {
        k->of_row = mem_zalloc(t->n_rows_max * sizeof(*k->of_row));
        k->owns_column = true;
    }
    k->n_placed++;
    bool is_new;
    union map_value *entry = map_u64_put(&k->by_value, value, &is_new);
    if (is_new) {
        if (!k->free_domains.n) {
            vec_push(&k->domains, (struct domain){ 0 });
            vec_push(&k->free_domains, (uint32_t)k->domains.n - 1);
        }
        entry->num = vec_pop(&k->free_domains);
        k->domains.at[entry->num] = (struct domain){ .value = sym_ref(t->syms, value) };
    }
    k->domains.at[entry->num].n_nodes++;
    return (uint32_t)entry->num;
}

static void leave_domain(struct topology *t, struct topology_key *k, uint32_t number)
{
    struct domain *d = &k->domains.at[number];
    k->n_placed--;
    if (--d->n_nodes)
        return;
    map_u64_remove(&k->by_value, d->value, NULL);
    sym_unref(t->syms, d->value);
    vec_push(&k->free_domains, number);
}

/* Joins before it leaves, so that a node that stays where it was keeps the domain's number. */
static void place_row(struct topology *t, struct topology_key *k, uint32_t row)
{
    const struct row_labels *r = &t->rows[row];
    sym value = r->present ? label_set_get(r->labels, k->key) : SYM_NONE;
    uint32_t old = k->of_row[row];
    uint32_t now = value == SYM_NONE ? 0 : join_domain(t, k, value);
    if (now != old)
        k->of_row[row] = now;
    if (old)
        leave_domain(t, k, old);
}

void topology_set_labels(struct topology *t, uint32_t row, struct label_set labels, bool present)
{
    t->n_present += present;
    t->n_present -= t->rows[row].present;
    t->rows[row] = (struct row_labels){ labels, present };
    for (size_t i = 0; i < t->keys.n; i++)
        place_row(t, t->keys.at[i], row);
}

static struct topology_key *add_key(struct topology *t, sym key)
{
    struct topology_key *k = mem_zalloc(sizeof(*k));
    k->key = sym_ref(t->syms, key);
    k->of_row = t->no_domains;
    map_u64_init(&k->by_value);
    vec_push(&k->domains, (struct domain){ .value = SYM_NONE });
    for (uint32_t row = 0; row < t->n_rows_max; row++)
        place_row(t, k, row);
    vec_push(&t->keys, k);
    map_u64_put(&t->by_key, key, NULL)->ptr = k;
    return k;
}

const struct topology_key *topology_key(struct topology *t, sym key)
{
    union map_value *found = map_u64_find(&t->by_key, key);
    struct topology_key *k = found ? found->ptr : add_key(t, key);
    k->last_used = ++t->now;
    return k;
}

bool topology_covers_all(const struct topology *t, const struct topology_key *k)
{
    return k->n_placed == t->n_present;
}

bool topology_is_by_node(const struct topology *t, const struct topology_key *k)
{
    return topology_covers_all(t, k) && k->by_value.n == k->n_placed;
}

static int latest_first(const void *a, const void *b)
{
    const struct topology_key *x = *(struct topology_key *const *)a, *y = *(struct topology_key *const *)b;
    return x->last_used > y->last_used ? -1 : x->last_used < y->last_used;
}

/* What a cycle asked for stays until here, however many keys it had: plugins hold pointers to them. */
void topology_next_cycle(struct topology *t)
{
    if (t->keys.n <= TOPOLOGY_KEYS_MAX)
        return;
    qsort(t->keys.at, t->keys.n, sizeof(*t->keys.at), latest_first);
    while (t->keys.n > TOPOLOGY_KEYS_MAX) {
        struct topology_key *k = vec_pop(&t->keys);
        map_u64_remove(&t->by_key, k->key, NULL);
        free_key(t, k);
    }
}
