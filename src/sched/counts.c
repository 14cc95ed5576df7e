/* sched/counts.c - see counts.h.
 *
 * Columns and terms are found by a key: their content written as a row of 32-bit numbers, since all
 * names are syms already. A column holds the syms of its key, so a number in a key means one text for
 * as long as the key exists. */
#include "sched/counts.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "sched/cache.h"
#include "sched/selector_index.h"

enum {
    SPARSE_MIN = 32,         /* rows of a term that always stay in the short form, */
    SPARSE_PART_OF_ROWS = 16 /* and how much of all rows may be in it before a column takes less room */
};

typedef VEC(sym) sym_vec;

struct label_group {
    const struct pod *example; /* any pod of the group; holds a reference */
    struct str key;            /* heap */
    VEC(struct placed *) pods;
};

struct column {
    struct str key; /* heap */
    struct count_part *parts;
    unsigned n_parts;
    bool skip_terminating;
    struct arena arena; /* the copies */
    sym_vec syms;       /* references held */
    int32_t *n_pods;    /* per row */
    uint64_t last_used;
    int indexed_at; /* selector_index, by the first part */
};

struct term_entry {
    struct counted_term counted; /* first: counted_term pointers are entries */
    struct str key;
    struct arena arena;
    sym_vec syms;
    uint32_t number, index_in_kind;
    int indexed_at; /* selector_index */
};

struct counts {
    const struct cache *cache;
    uint32_t n_rows_max;
    uint64_t cycle;
    struct map_str group_of_key;
    VEC(struct label_group *) groups; /* by number; NULL: free */
    VEC(uint32_t) free_groups;
    struct map_str column_of_key;
    VEC(struct column *) columns;
    struct map_str term_of_key;
    VEC(struct term_entry *) terms; /* by number; NULL: free */
    VEC(uint32_t) free_terms;
    VEC(struct counted_term *) by_kind[N_TERM_KINDS];
    struct selector_index column_index, term_index[N_TERM_KINDS];
    struct strbuf key;   /* scratch */
    item_vec found;      /* scratch */
    VEC(struct counted_term *) may_match; /* of the last counts_terms_for */
    size_t bytes_max;
    uint64_t n_dropped;
};

/* ---- Keys ---- */

static void key_num(struct strbuf *key, uint32_t n)
{
    strbuf_add(key, &n, sizeof(n));
}

static void key_syms(struct strbuf *key, const sym *at, uint32_t n)
{
    key_num(key, n);
    strbuf_add(key, at, n * sizeof(*at));
}

static void key_matcher(struct strbuf *key, const struct matcher *m)
{
    key_num(key, m->mode);
    if (m->mode != MATCHER_ALL_OF)
        return;
    key_num(key, m->n);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct match_rule *r = &m->at[i];
        key_num(key, r->key);
        key_num(key, r->op);
        key_syms(key, r->values, r->n_values);
    }
}

static struct str key_copy(const struct strbuf *key)
{
    char *copy = mem_alloc(key->n ? key->n : 1);
    memcpy(copy, key->p, key->n);
    return (struct str){ copy, key->n };
}

/* ---- Copies that outlive the pod they came from ---- */

static sym hold(struct counts *c, sym_vec *held, sym s)
{
    vec_push(held, sym_ref(c->cache->syms, s));
    return s;
}

static const sym *copy_syms(struct counts *c, struct arena *a, sym_vec *held, const sym *from, uint32_t n)
{
    sym *copy = arena_alloc(a, n * sizeof(*copy));
    for (uint32_t i = 0; i < n; i++)
        copy[i] = hold(c, held, from[i]);
    return copy;
}

static struct matcher copy_matcher(struct counts *c, struct arena *a, sym_vec *held, const struct matcher *m)
{
    if (m->mode != MATCHER_ALL_OF)
        return (struct matcher){ .mode = MATCHER_NOTHING };
    struct match_rule *at = arena_alloc(a, m->n * sizeof(*at));
    for (uint32_t i = 0; i < m->n; i++) {
        at[i] = m->at[i];
        assert(at[i].op != MATCH_GT && at[i].op != MATCH_LT); /* which selectors of labels do not have */
        hold(c, held, at[i].key);
        at[i].values = copy_syms(c, a, held, m->at[i].values, m->at[i].n_values);
    }
    return (struct matcher){ .mode = MATCHER_ALL_OF, .n = m->n, .at = at };
}

static void let_go(struct counts *c, sym_vec *held)
{
    for (size_t i = 0; i < held->n; i++)
        sym_unref(c->cache->syms, held->at[i]);
    vec_fini(held);
}

/* ---- Label groups ---- */

static void group_key(struct strbuf *key, const struct pod *pod)
{
    strbuf_reset(key);
    key_num(key, pod->meta.ns);
    key_num(key, pod->flags & POD_TERMINATING);
    strbuf_add(key, pod->meta.labels.at, pod->meta.labels.n * sizeof(*pod->meta.labels.at));
}

static bool namespace_in(const struct count_part *part, sym ns)
{
    if (part->any_namespace)
        return true;
    uint32_t low = 0, high = part->n_namespaces;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (part->namespaces[middle] < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < part->n_namespaces && part->namespaces[low] == ns;
}

bool count_part_matches(const struct count_part *part, const struct pod *pod, const struct sym_table *syms)
{
    return namespace_in(part, pod->meta.ns) && matcher_matches(part->selector, pod->meta.labels, syms);
}

static bool column_takes(const struct counts *c, const struct column *column, const struct pod *pod)
{
    if (column->skip_terminating && pod->flags & POD_TERMINATING)
        return false;
    for (unsigned i = 0; i < column->n_parts; i++)
        if (!count_part_matches(&column->parts[i], pod, c->cache->syms))
            return false;
    return true;
}

static uint32_t group_of(struct counts *c, const struct pod *pod)
{
    group_key(&c->key, pod);
    union map_value *entry = map_str_find(&c->group_of_key, strbuf_str(&c->key));
    if (entry)
        return (uint32_t)entry->num;
    struct label_group *group = mem_zalloc(sizeof(*group));
    group->key = key_copy(&c->key);
    group->example = pod_ref(pod);
    if (!c->free_groups.n) {
        vec_push(&c->groups, NULL);
        vec_push(&c->free_groups, (uint32_t)c->groups.n - 1);
    }
    uint32_t number = vec_pop(&c->free_groups);
    c->groups.at[number] = group;
    map_str_put(&c->group_of_key, group->key, NULL)->num = number;
    return number;
}

static void free_group(struct counts *c, uint32_t number)
{
    struct label_group *group = c->groups.at[number];
    map_str_remove(&c->group_of_key, group->key, NULL);
    pod_unref(c->cache->syms, group->example);
    free((void *)(uintptr_t)group->key.p);
    vec_fini(&group->pods);
    free(group);
    c->groups.at[number] = NULL;
    vec_push(&c->free_groups, number);
}

/* Adds `by` for the pod to every column that takes it. */
static void count_in_columns(struct counts *c, const struct placed *p, int by)
{
    vec_reset(&c->found);
    selector_index_find(&c->column_index, p->pod->meta.labels, &c->found);
    for (size_t i = 0; i < c->found.n; i++) {
        struct column *column = c->found.at[i];
        if (column_takes(c, column, p->pod))
            column->n_pods[p->node] += by;
    }
}

/* ---- Terms ---- */

static void term_key(struct strbuf *key, enum term_kind kind, const struct affinity_term *t)
{
    strbuf_reset(key);
    key_num(key, kind);
    key_num(key, (uint32_t)t->weight);
    key_num(key, t->topology_key);
    key_syms(key, t->namespaces, t->n_namespaces);
    key_matcher(key, &t->selector);
    key_matcher(key, &t->namespace_selector);
}

static struct term_entry *new_term(struct counts *c, enum term_kind kind, const struct affinity_term *t)
{
    struct term_entry *e = mem_zalloc(sizeof(*e));
    arena_init(&e->arena);
    e->key = key_copy(&c->key);
    e->counted.kind = kind;
    e->counted.term = (struct affinity_term){
        .selector = copy_matcher(c, &e->arena, &e->syms, &t->selector),
        .namespace_selector = copy_matcher(c, &e->arena, &e->syms, &t->namespace_selector),
        .namespaces = copy_syms(c, &e->arena, &e->syms, t->namespaces, t->n_namespaces),
        .n_namespaces = t->n_namespaces,
        .topology_key = hold(c, &e->syms, t->topology_key),
        .weight = t->weight,
    };
    if (!c->free_terms.n) {
        vec_push(&c->terms, NULL);
        vec_push(&c->free_terms, (uint32_t)c->terms.n - 1);
    }
    e->number = vec_pop(&c->free_terms);
    c->terms.at[e->number] = e;
    e->index_in_kind = (uint32_t)c->by_kind[kind].n;
    vec_push(&c->by_kind[kind], &e->counted);
    map_str_put(&c->term_of_key, e->key, NULL)->ptr = e;
    e->indexed_at = selector_index_add(&c->term_index[kind], &e->counted.term.selector, &e->counted);
    return e;
}

static void free_term(struct counts *c, struct term_entry *e)
{
    enum term_kind kind = e->counted.kind;
    selector_index_remove(&c->term_index[kind], &e->counted.term.selector, e->indexed_at, &e->counted);
    vec_remove_swap(&c->by_kind[kind], e->index_in_kind);
    if (e->index_in_kind < c->by_kind[kind].n)
        ((struct term_entry *)c->by_kind[kind].at[e->index_in_kind])->index_in_kind = e->index_in_kind;
    map_str_remove(&c->term_of_key, e->key, NULL);
    c->terms.at[e->number] = NULL;
    vec_push(&c->free_terms, e->number);
    let_go(c, &e->syms);
    free((void *)(uintptr_t)e->key.p);
    free(e->counted.dense);
    vec_fini(&e->counted.sparse);
    arena_fini(&e->arena);
    free(e);
}

static void make_dense(struct counts *c, struct counted_term *t)
{
    t->dense = mem_zalloc(c->n_rows_max * sizeof(*t->dense));
    for (size_t i = 0; i < t->sparse.n; i++)
        t->dense[t->sparse.at[i].row] = t->sparse.at[i].n;
    vec_fini(&t->sparse);
}

/* Where the row is, or would be, in the short form, which is by ascending row. */
static size_t sparse_place(const struct counted_term *t, uint32_t row)
{
    size_t low = 0, high = t->sparse.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->sparse.at[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_term(struct counts *c, struct counted_term *t, uint32_t row, int by)
{
    t->n_pods += (uint32_t)by;
    if (t->dense) {
        t->dense[row] += by;
        return;
    }
    size_t at = sparse_place(t, row);
    if (at == t->sparse.n || t->sparse.at[at].row != row)
        vec_insert(&t->sparse, at, (struct row_count){ .row = row });
    t->sparse.at[at].n += by;
    if (t->sparse.at[at].n == 0)
        vec_remove(&t->sparse, at);
    else if (t->sparse.n > SPARSE_MIN && t->sparse.n > c->n_rows_max / SPARSE_PART_OF_ROWS)
        make_dense(c, t);
}

static void add_terms(struct counts *c, struct placed *p, enum term_kind kind, const struct affinity_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        term_key(&c->key, kind, &terms->at[i]);
        union map_value *entry = map_str_find(&c->term_of_key, strbuf_str(&c->key));
        struct term_entry *e = entry ? entry->ptr : new_term(c, kind, &terms->at[i]);
        count_term(c, &e->counted, p->node, 1);
        p->terms[p->n_terms++] = e->number;
    }
}

static void add_all_terms(struct counts *c, struct placed *p)
{
    const struct pod_affinity *a = p->pod->affinity;
    p->n_terms = 0;
    if (!a)
        return;
    uint32_t n = a->required.n + a->required_anti.n + a->preferred.n + a->preferred_anti.n;
    p->terms = n ? mem_alloc(n * sizeof(*p->terms)) : NULL;
    add_terms(c, p, TERM_REQUIRED, &a->required);
    add_terms(c, p, TERM_REQUIRED_ANTI, &a->required_anti);
    add_terms(c, p, TERM_PREFERRED, &a->preferred);
    add_terms(c, p, TERM_PREFERRED_ANTI, &a->preferred_anti);
}

static void remove_all_terms(struct counts *c, struct placed *p)
{
    for (uint32_t i = 0; i < p->n_terms; i++) {
        struct term_entry *e = c->terms.at[p->terms[i]];
        count_term(c, &e->counted, p->node, -1);
        if (e->counted.n_pods == 0)
            free_term(c, e);
    }
    free(p->terms);
    p->terms = NULL;
    p->n_terms = 0;
}

struct counted_terms counts_terms(const struct counts *c, enum term_kind kind)
{
    return (struct counted_terms){ c->by_kind[kind].at, (uint32_t)c->by_kind[kind].n };
}

struct counted_terms counts_terms_for(struct counts *c, enum term_kind kind, struct label_set labels)
{
    vec_reset(&c->found);
    vec_reset(&c->may_match);
    selector_index_find(&c->term_index[kind], labels, &c->found);
    for (size_t i = 0; i < c->found.n; i++)
        vec_push(&c->may_match, c->found.at[i]);
    return (struct counted_terms){ c->may_match.at, (uint32_t)c->may_match.n };
}

/* ---- Pods ---- */

void counts_add_pod(struct counts *c, struct placed *p)
{
    p->label_group = group_of(c, p->pod);
    struct label_group *group = c->groups.at[p->label_group];
    p->index_in_group = (uint32_t)group->pods.n;
    vec_push(&group->pods, p);
    count_in_columns(c, p, 1);
    add_all_terms(c, p);
}

void counts_remove_pod(struct counts *c, struct placed *p)
{
    remove_all_terms(c, p);
    count_in_columns(c, p, -1);
    struct label_group *group = c->groups.at[p->label_group];
    vec_remove_swap(&group->pods, p->index_in_group);
    if (p->index_in_group < group->pods.n)
        group->pods.at[p->index_in_group]->index_in_group = p->index_in_group;
    else if (group->pods.n == 0)
        free_group(c, p->label_group);
}

/* ---- Columns ---- */

static void free_column(struct counts *c, struct column *column)
{
    selector_index_remove(&c->column_index, column->parts[0].selector, column->indexed_at, column);
    map_str_remove(&c->column_of_key, column->key, NULL);
    let_go(c, &column->syms);
    free((void *)(uintptr_t)column->key.p);
    free(column->n_pods);
    arena_fini(&column->arena);
    free(column);
}

/* Drops the column that was not asked for longest, unless this cycle needs all of them. */
static bool drop_oldest(struct counts *c)
{
    size_t oldest = 0;
    for (size_t i = 1; i < c->columns.n; i++)
        if (c->columns.at[i]->last_used < c->columns.at[oldest]->last_used)
            oldest = i;
    if (c->columns.n == 0 || c->columns.at[oldest]->last_used == c->cycle)
        return false;
    free_column(c, c->columns.at[oldest]);
    vec_remove_swap(&c->columns, oldest);
    c->n_dropped++;
    return true;
}

void counts_limit(struct counts *c, size_t bytes_max)
{
    c->bytes_max = bytes_max;
}

uint64_t counts_n_dropped(const struct counts *c)
{
    return c->n_dropped;
}

static void make_room(struct counts *c)
{
    size_t bytes = c->n_rows_max * sizeof(int32_t);
    while ((c->columns.n + 1) * bytes > c->bytes_max && drop_oldest(c))
        ;
}

static void count_present_pods(struct counts *c, struct column *column)
{
    for (size_t i = 0; i < c->groups.n; i++) {
        const struct label_group *group = c->groups.at[i];
        if (!group || !column_takes(c, column, group->example))
            continue;
        for (size_t k = 0; k < group->pods.n; k++)
            column->n_pods[group->pods.at[k]->node]++;
    }
}

static struct column *new_column(struct counts *c, const struct count_part *parts, unsigned n_parts,
                                 bool skip_terminating)
{
    make_room(c);
    struct column *column = mem_zalloc(sizeof(*column));
    arena_init(&column->arena);
    column->key = key_copy(&c->key);
    column->n_parts = n_parts;
    column->skip_terminating = skip_terminating;
    column->parts = arena_alloc(&column->arena, n_parts * sizeof(*column->parts));
    for (unsigned i = 0; i < n_parts; i++) {
        struct matcher *selector = arena_alloc(&column->arena, sizeof(*selector));
        *selector = copy_matcher(c, &column->arena, &column->syms, parts[i].selector);
        column->parts[i] = (struct count_part){
            .selector = selector,
            .namespaces = copy_syms(c, &column->arena, &column->syms, parts[i].namespaces, parts[i].n_namespaces),
            .n_namespaces = parts[i].n_namespaces,
            .any_namespace = parts[i].any_namespace,
        };
    }
    column->n_pods = mem_zalloc((c->n_rows_max ? c->n_rows_max : 1) * sizeof(*column->n_pods));
    count_present_pods(c, column);
    column->indexed_at = selector_index_add(&c->column_index, column->parts[0].selector, column);
    map_str_put(&c->column_of_key, column->key, NULL)->ptr = column;
    vec_push(&c->columns, column);
    return column;
}

const int32_t *counts_matching(struct counts *c, const struct count_part *parts, unsigned n_parts,
                               bool skip_terminating)
{
    assert(n_parts > 0);
    strbuf_reset(&c->key);
    key_num(&c->key, n_parts << 1 | skip_terminating);
    for (unsigned i = 0; i < n_parts; i++) {
        key_num(&c->key, parts[i].any_namespace);
        key_syms(&c->key, parts[i].namespaces, parts[i].n_namespaces);
        key_matcher(&c->key, parts[i].selector);
    }
    union map_value *entry = map_str_find(&c->column_of_key, strbuf_str(&c->key));
    struct column *column = entry ? entry->ptr : new_column(c, parts, n_parts, skip_terminating);
    column->last_used = c->cycle;
    return column->n_pods;
}

void counts_next_cycle(struct counts *c)
{
    c->cycle++;
}

/* ---- Beginning, growth, end ---- */

struct counts *counts_new(const struct cache *cache)
{
    struct counts *c = mem_zalloc(sizeof(*c));
    c->bytes_max = COUNTS_BYTES_MAX;
    c->cache = cache;
    map_str_init(&c->group_of_key);
    map_str_init(&c->column_of_key);
    map_str_init(&c->term_of_key);
    selector_index_init(&c->column_index);
    for (int i = 0; i < N_TERM_KINDS; i++)
        selector_index_init(&c->term_index[i]);
    strbuf_init(&c->key, STRBUF_NO_MAX);
    return c;
}

static int32_t *grow_rows(int32_t *column, uint32_t old, uint32_t n)
{
    column = mem_realloc(column, n * sizeof(*column));
    memset(column + old, 0, (n - old) * sizeof(*column));
    return column;
}

void counts_grow(struct counts *c, uint32_t n_rows_max)
{
    uint32_t old = c->n_rows_max;
    if (n_rows_max <= old)
        return;
    for (size_t i = 0; i < c->columns.n; i++)
        c->columns.at[i]->n_pods = grow_rows(c->columns.at[i]->n_pods, old, n_rows_max);
    for (size_t i = 0; i < c->terms.n; i++)
        if (c->terms.at[i] && c->terms.at[i]->counted.dense)
            c->terms.at[i]->counted.dense = grow_rows(c->terms.at[i]->counted.dense, old, n_rows_max);
    c->n_rows_max = n_rows_max;
}

void counts_free(struct counts *c)
{
    for (size_t i = 0; i < c->columns.n; i++)
        free_column(c, c->columns.at[i]);
    for (size_t i = 0; i < c->terms.n; i++)
        if (c->terms.at[i])
            free_term(c, c->terms.at[i]);
    for (uint32_t i = 0; i < c->groups.n; i++)
        if (c->groups.at[i])
            free_group(c, i);
    vec_fini(&c->columns);
    vec_fini(&c->terms);
    vec_fini(&c->free_terms);
    vec_fini(&c->groups);
    vec_fini(&c->free_groups);
    for (int i = 0; i < N_TERM_KINDS; i++) {
        vec_fini(&c->by_kind[i]);
        selector_index_fini(&c->term_index[i]);
    }
    selector_index_fini(&c->column_index);
    vec_fini(&c->found);
    vec_fini(&c->may_match);
    map_str_fini(&c->group_of_key);
    map_str_fini(&c->column_of_key);
    map_str_fini(&c->term_of_key);
    strbuf_fini(&c->key);
    free(c);
}
