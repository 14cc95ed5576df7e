/* sched/memo.c - see memo.h. */
#include "sched/memo.h"

#include "base/mem.h"
#include "sched/pod_class.h"
#include "sched/sched_priv.h"

struct memo {
    struct str key; /* heap */
    struct memo_row *rows;
    node_id n_rows;
    uint64_t last_used;
    struct memo_failure failure;
};

struct memos {
    VEC(struct memo *) memos; /* there are few: a memo is large */
    uint64_t now;
    struct strbuf key;
    /* Which rows have nominated pods, followed through the nominator's log. */
    uint64_t *nominated, *has_nominated;
    node_id n_rows;
    uint64_t nominator_version, order_epoch;
    size_t bytes_max;
    uint64_t n_dropped;
};

struct memos *memos_new(void)
{
    struct memos *m = mem_zalloc(sizeof(*m));
    m->bytes_max = MEMOS_BYTES_MAX;
    strbuf_init(&m->key, STRBUF_NO_MAX);
    return m;
}

void memos_limit(struct memos *m, size_t bytes_max)
{
    m->bytes_max = bytes_max;
}

uint64_t memos_n_dropped(const struct memos *m)
{
    return m->n_dropped;
}

static void free_memo(struct memo *memo)
{
    for (node_id i = 0; i < memo->n_rows; i++)
        free(memo->rows[i].victims);
    free(memo->rows);
    free(memo->failure.message);
    free((void *)(uintptr_t)memo->key.p);
    free(memo);
}

void memos_free(struct memos *m)
{
    for (size_t i = 0; i < m->memos.n; i++)
        free_memo(m->memos.at[i]);
    vec_fini(&m->memos);
    free(m->nominated);
    free(m->has_nominated);
    strbuf_fini(&m->key);
    free(m);
}

static bool only_local_filters(const struct cycle *c)
{
    return !(c->profile->plan.general_filter_mask & ~c->skip_filter) && c->sched->n_extenders == 0;
}

static void drop_oldest(struct memos *m)
{
    size_t oldest = 0;
    for (size_t i = 1; i < m->memos.n; i++)
        if (m->memos.at[i]->last_used < m->memos.at[oldest]->last_used)
            oldest = i;
    free_memo(m->memos.at[oldest]);
    vec_remove_swap(&m->memos, oldest);
    m->n_dropped++;
}

static struct memo *add_memo(struct memos *m, node_id n_rows)
{
    size_t bytes = n_rows * sizeof(struct memo_row);
    while (m->memos.n && (m->memos.n + 1) * bytes > m->bytes_max)
        drop_oldest(m);
    struct memo *memo = mem_zalloc(sizeof(*memo));
    char *key = mem_alloc(m->key.n);
    memcpy(key, m->key.p, m->key.n);
    memo->key = (struct str){ key, m->key.n };
    memo->rows = mem_zalloc(bytes);
    memo->n_rows = n_rows;
    vec_push(&m->memos, memo);
    return memo;
}

/* Rows are few at first and may become more. */
static void grow(struct memo *memo, node_id n_rows)
{
    memo->rows = mem_realloc(memo->rows, n_rows * sizeof(*memo->rows));
    memset(memo->rows + memo->n_rows, 0, (n_rows - memo->n_rows) * sizeof(*memo->rows));
    memo->n_rows = n_rows;
}

static void follow_node(struct memos *m, const struct cycle *c, sym node)
{
    node_id row = cache_find_node(c->cache, node);
    if (row == NODE_NONE)
        return;
    const struct nominated_list *list = nominator_on(&c->sched->nominator, node);
    m->nominated[row] = list ? list->version : 0;
    bitset_put(m->has_nominated, row, list != NULL);
}

static void follow_all(struct memos *m, const struct cycle *c)
{
    const struct nominator *n = &c->sched->nominator;
    m->n_rows = c->cache->col.n_rows;
    m->nominated = mem_realloc(m->nominated, m->n_rows * sizeof(*m->nominated));
    m->has_nominated = mem_realloc(m->has_nominated, bitset_words(m->n_rows) * sizeof(*m->has_nominated));
    memset(m->nominated, 0, m->n_rows * sizeof(*m->nominated));
    bitset_zero(m->has_nominated, bitset_words(m->n_rows));
    for (struct map_u64_slot *s = map_u64_next(&n->by_node, NULL); s; s = map_u64_next(&n->by_node, s))
        follow_node(m, c, (sym)s->key);
}

/* Rows change their node only when the order is made anew, so between that the log is enough. */
static void follow_nominations(struct memos *m, const struct cycle *c)
{
    const struct nominator *n = &c->sched->nominator;
    bool afresh = m->order_epoch != c->cache->order_epoch || m->n_rows != c->cache->col.n_rows ||
                  n->last_version - m->nominator_version >= NOMINATOR_LOG_MAX;
    if (afresh)
        follow_all(m, c);
    else
        for (uint64_t v = m->nominator_version + 1; v <= n->last_version; v++)
            follow_node(m, c, n->changes[v % NOMINATOR_LOG_MAX]);
    m->nominator_version = n->last_version;
    m->order_epoch = c->cache->order_epoch;
}

static struct memo *find_memo(struct memos *m, struct cycle *c)
{
    pod_class_key(&m->key, c, 0);
    strbuf_add(&m->key, &c->pod->priority, sizeof(c->pod->priority));
    for (size_t i = 0; i < m->memos.n; i++)
        if (str_eq(m->memos.at[i]->key, strbuf_str(&m->key)))
            return m->memos.at[i];
    return add_memo(m, c->cache->col.n_rows);
}

struct memo_view memos_view(struct memos *m, struct cycle *c)
{
    follow_nominations(m, c);
    struct memo_view view = { .nominated = m->nominated,
                              .has_nominated = m->has_nominated,
                              .own_nomination = nominator_node_of(&c->sched->nominator, c->pod->meta.uid) };
    if (!only_local_filters(c))
        return view;
    struct memo *memo = find_memo(m, c);
    if (memo->n_rows < c->cache->col.n_rows)
        grow(memo, c->cache->col.n_rows);
    memo->last_used = ++m->now;
    view.rows = memo->rows;
    return view;
}

/* ---- Failures ---- */

struct memo_failure *memos_failure(struct memos *m, struct cycle *c)
{
    bool is_promised = c->pod->nominated_node != SYM_EMPTY ||
                       nominator_node_of(&c->sched->nominator, c->pod->meta.uid) != SYM_EMPTY;
    if (is_promised || c->narrowed || !c->profile->plan.repeats_post_filter || !only_local_filters(c))
        return NULL;
    struct memo *memo = find_memo(m, c);
    memo->last_used = ++m->now;
    return &memo->failure;
}

/* The versions that a failure of now depends on. */
static struct memo_failure versions_of(const struct cycle *c)
{
    return (struct memo_failure){
        .generation = c->cache->generation,
        .order_epoch = c->cache->order_epoch,
        .nominations = c->sched->nominator.last_version,
        .never_preempts = c->pod->flags & POD_NEVER_PREEMPTS,
    };
}

bool memo_failure_holds(const struct memo_failure *f, const struct cycle *c)
{
    struct memo_failure now = versions_of(c);
    return f->generation && f->generation == now.generation && f->order_epoch == now.order_epoch &&
           f->nominations == now.nominations && f->never_preempts == now.never_preempts;
}

void memo_failure_keep(struct memo_failure *to, const struct memo_failure *f, const struct cycle *c, const char *message)
{
    assert(message);
    free(to->message);
    *to = versions_of(c);
    to->rejectors = f->rejectors;
    to->pending = f->pending;
    to->n_potential = f->n_potential;
    to->nominate = f->nominate;
    to->tried_preemption = f->tried_preemption;
    to->message = mem_alloc(strlen(message) + 1);
    strcpy(to->message, message);
}
