/* Snapshots: updated step by step they equal a fresh copy, and another thread can read them. */
#include "sched/snapshot.h"

#include <pthread.h>

#include "base/rand.h"
#include "tests/unit/cluster.h"

enum { N_NODES = 40, N_PODS = 120, N_STEPS = 4000, N_THREAD_STEPS = 1500 };

struct changes {
    struct cluster cl;
    struct rand rand;
    const struct pod *pods[N_PODS]; /* in the cache; NULL: not */
};

static unsigned below(struct changes *ch, unsigned n)
{
    return (unsigned)rand_below(&ch->rand, n);
}

static void changes_init(struct changes *ch, uint64_t seed)
{
    memset(ch->pods, 0, sizeof(ch->pods));
    rand_init(&ch->rand, seed);
    cluster_init(&ch->cl, &nodename_plugin, NULL);
}

static void changes_fini(struct changes *ch)
{
    for (int i = 0; i < N_PODS; i++)
        if (ch->pods[i])
            pod_unref(&ch->cl.syms, ch->pods[i]);
    cluster_fini(&ch->cl);
}

/* ---- Random changes ---- */

static void change_node(struct changes *ch)
{
    struct cluster *cl = &ch->cl;
    unsigned number = below(ch, N_NODES);
    sym name = sym_find(&cl->syms, str_of(arena_printf(&cl->texts, "n%u", number)));
    node_id id = name == SYM_NONE ? NODE_NONE : cache_find_node(&cl->cache, name);
    bool is_there = id != NODE_NONE && cl->cache.rows.at[id].node;
    if (is_there && below(ch, 2))
        CHECK(cache_remove_node(&cl->cache, name, &cl->e) == ERR_OK);
    else
        cluster_node(cl, "{'metadata':{'name':'n%u','labels':{'topology.kubernetes.io/zone':'z%u'}},'status':"
                     "{'allocatable':{'cpu':'%u','x.io/%u':'%u'}}}",
                     number, below(ch, 3), 1 + below(ch, 64), below(ch, 3), below(ch, 3));
}

static const struct pod *random_pod(struct changes *ch, unsigned number, const char *node)
{
    return cluster_decode_pod(&ch->cl,
                              "{'metadata':{'name':'p%u','namespace':'ns%u','uid':'u%u'},'spec':{'nodeName':'%s',"
                              "'containers':[{'name':'c','resources':{'requests':{'cpu':'%um','memory':'%u',"
                              "'ephemeral-storage':'%u','x.io/%u':'%u'}}}]}}",
                              number, below(ch, 3), number, node, below(ch, 500), below(ch, 1000), below(ch, 10),
                              below(ch, 3), below(ch, 3));
}

static void put_pod(struct changes *ch, unsigned number)
{
    struct cluster *cl = &ch->cl;
    const struct pod *pod = random_pod(ch, number, arena_printf(&cl->texts, "n%u", below(ch, N_NODES)));
    enum err_code rc = below(ch, 2) ? cache_assume(&cl->cache, pod, &cl->e) : cache_add_pod(&cl->cache, pod, &cl->e);
    CHECK(rc == ERR_OK);
    ch->pods[number] = pod;
}

/* Forgotten, confirmed or removed; updated or removed if it was confirmed before. */
static void change_placed(struct changes *ch, unsigned number)
{
    struct cluster *cl = &ch->cl;
    const struct pod *old = ch->pods[number], *now = NULL;
    bool assumed = cache_is_assumed(&cl->cache, old->meta.uid);
    enum err_code rc;
    if (below(ch, 2)) {
        now = random_pod(ch, number, sym_text(&cl->syms, old->node_name).p);
        rc = assumed ? ERR_OK : cache_remove_pod(&cl->cache, old, &cl->e);
        CHECK(rc == ERR_OK);
        rc = cache_add_pod(&cl->cache, now, &cl->e);
    } else {
        rc = assumed && below(ch, 2) ? cache_forget(&cl->cache, old, &cl->e) : cache_remove_pod(&cl->cache, old, &cl->e);
    }
    CHECK(rc == ERR_OK);
    ch->pods[number] = now;
    pod_unref(&cl->syms, old);
}

static void change(struct changes *ch)
{
    if (below(ch, 4) == 0) {
        change_node(ch);
    } else {
        unsigned number = below(ch, N_PODS);
        if (ch->pods[number])
            change_placed(ch, number);
        else
            put_pod(ch, number);
    }
    if (below(ch, 3) == 0)
        cache_update_order(&ch->cl.cache);
    arena_reset(&ch->cl.texts);
}

/* ---- Equal to the cache ---- */

static void check_scalars(const struct cache *c, node_id id, const struct snapshot_row *row)
{
    size_t n = 0;
    for (size_t i = 0; i < c->col.scalars.n; i++) {
        const struct scalar_column *want = &c->col.scalars.at[i];
        if (!want->alloc[id] && !want->used[id])
            continue;
        CHECK(n < row->scalars.n);
        const struct snapshot_scalar *got = &row->scalars.at[n++];
        CHECK(got->id == want->name && got->alloc == want->alloc[id] && got->used == want->used[id]);
        CHECK(str_eq(got->name, sym_text(c->syms, want->name)));
    }
    CHECK_INT("scalars", row->scalars.n, n);
}

static void check_row(const struct cache *c, node_id id, const struct snapshot_row *row)
{
    const struct node_row *want = &c->rows.at[id];
    CHECK(row->node == want->node);
    CHECK_INT("pods", row->pods.n, want->pods.n);
    for (size_t i = 0; i < want->pods.n; i++) {
        CHECK(row->pods.at[i].pod == want->pods.at[i]->pod && row->pods.at[i].assumed == want->pods.at[i]->assumed);
        CHECK(str_eq(row->pods.at[i].ns, sym_text(c->syms, want->pods.at[i]->pod->meta.ns)));
    }
    CHECK_INT("cpu", row->used_milli_cpu, c->col.used_milli_cpu[id]);
    CHECK_INT("memory", row->used_memory, c->col.used_memory[id]);
    CHECK_INT("ephemeral", row->used_ephemeral, c->col.used_ephemeral[id]);
    CHECK_INT("non-zero cpu", row->non_zero_milli_cpu, c->col.non_zero_milli_cpu[id]);
    CHECK_INT("non-zero memory", row->non_zero_memory, c->col.non_zero_memory[id]);
    check_scalars(c, id, row);
}

static void check_equals_cache(const struct snapshot *s, const struct cache *c)
{
    CHECK_INT("generation", s->generation, c->generation);
    CHECK_INT("rows", s->rows.n, c->rows.n);
    CHECK_INT("names", s->row_of_name.n, c->row_of_name.n);
    for (node_id id = 0; id < c->rows.n; id++) {
        sym name = c->rows.at[id].name;
        CHECK((name == SYM_NONE) == (s->rows.at[id].name.p == NULL));
        if (name != SYM_NONE)
            CHECK(snapshot_find(s, sym_text(c->syms, name)) == &s->rows.at[id]);
        check_row(c, id, &s->rows.at[id]);
    }
}

static void check_equal(const struct snapshot *a, const struct snapshot *b)
{
    CHECK_INT("rows", a->rows.n, b->rows.n);
    for (size_t i = 0; i < a->rows.n; i++) {
        const struct snapshot_row *x = &a->rows.at[i], *y = &b->rows.at[i];
        CHECK(x->name.p == y->name.p && x->name.n == y->name.n && x->node == y->node);
        CHECK(x->pods.n == y->pods.n && x->generation == y->generation);
        CHECK(x->used_milli_cpu == y->used_milli_cpu && x->scalars.n == y->scalars.n);
    }
    CHECK_INT("nodes", a->order.n, b->order.n);
    for (size_t i = 0; i < a->order.n; i++)
        CHECK_INT("order", a->order.at[i], b->order.at[i]);
}

/* What holds by itself, without a look at the cache. */
static void check_alone(const struct snapshot *s)
{
    size_t n_nodes = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        const struct snapshot_row *row = &s->rows.at[i];
        int64_t cpu = 0;
        for (size_t k = 0; k < row->pods.n; k++) {
            cpu += row->pods.at[k].pod->requested->milli_cpu;
            CHECK(row->pods.at[k].pod->meta.name[0] == 'p' && str_starts(row->pods.at[k].ns, STR("ns")));
            CHECK_INT("node of the pod", row->pods.at[k].pod->node_name, row->name_id);
        }
        CHECK_INT("cpu", row->used_milli_cpu, cpu);
        CHECK(!row->node || str_is(row->name, row->node->meta.name));
        CHECK(!row->name.p || snapshot_find(s, row->name) == row);
        n_nodes += row->node != NULL;
    }
    CHECK_INT("order", s->order.n, n_nodes);
    for (size_t i = 0; i < s->order.n; i++)
        CHECK(snapshot_at(s, i)->node);
}

TEST(updated_step_by_step_it_equals_a_fresh_copy)
{
    static struct changes ch;
    changes_init(&ch, 1);
    struct cache *c = &ch.cl.cache;
    struct snapshot *s = snapshot_new(&ch.cl.syms), *rare = snapshot_new(&ch.cl.syms);
    for (int step = 0; step < N_STEPS; step++) {
        change(&ch);
        if (step == N_STEPS / 8)
            snapshot_update(rare, c);
        if (below(&ch, 3))
            continue;
        snapshot_update(s, c);
        check_equals_cache(s, c);
        check_alone(s);
        struct snapshot *fresh = snapshot_new(&ch.cl.syms);
        snapshot_update(fresh, c);
        check_equal(s, fresh);
        snapshot_free(fresh);
    }
    CHECK("more changes than the log holds" && c->generation - rare->generation > CACHE_LOG_MAX);
    snapshot_update(rare, c);
    check_equals_cache(rare, c);
    check_alone(rare);
    snapshot_free(s);
    snapshot_free(rare);
    changes_fini(&ch);
}

TEST(only_rows_that_changed_are_copied)
{
    static struct changes ch;
    changes_init(&ch, 2);
    struct cluster *cl = &ch.cl;
    for (int i = 0; i < 100; i++)
        cluster_node(cl, "{'metadata':{'name':'n%d'}}", i);
    struct snapshot *s = snapshot_new(&cl->syms);
    CHECK("nothing before the first update" && !snapshot_find(s, STR("n7")));
    snapshot_update(s, &cl->cache);
    CHECK_INT("all", s->n_copied, 100);
    snapshot_update(s, &cl->cache);
    CHECK_INT("none", s->n_copied, 100);
    for (int i = 0; i < 3; i++)
        cluster_node(cl, "{'metadata':{'name':'n7'}}");
    CHECK("the old one until then" && snapshot_find(s, STR("n7"))->node);
    snapshot_update(s, &cl->cache);
    CHECK_INT("one", s->n_copied, 101);
    for (int i = 0; i < CACHE_LOG_MAX; i++)
        cache_update_node(&cl->cache, snapshot_find(s, STR("n8"))->node);
    cluster_node(cl, "{'metadata':{'name':'n9'}}");
    snapshot_update(s, &cl->cache);
    CHECK_INT("two, though the log has overflowed", s->n_copied, 103);
    check_equals_cache(s, &cl->cache);
    snapshot_free(s);
    changes_fini(&ch);
}

TEST(what_it_shows_outlives_the_change)
{
    static struct changes ch;
    changes_init(&ch, 3);
    struct cluster *cl = &ch.cl;
    cluster_node(cl, "{'metadata':{'name':'n1'}}");
    const struct pod *pod = random_pod(&ch, 1, "n1");
    CHECK(cache_add_pod(&cl->cache, pod, &cl->e) == ERR_OK);
    struct snapshot *s = snapshot_new(&cl->syms);
    snapshot_update(s, &cl->cache);
    CHECK(cache_remove_pod(&cl->cache, pod, &cl->e) == ERR_OK);
    pod_unref(&cl->syms, pod);
    CHECK(cache_remove_node(&cl->cache, sym_find(&cl->syms, STR("n1")), &cl->e) == ERR_OK);
    const struct snapshot_row *row = snapshot_find(s, STR("n1"));
    CHECK_TEXT("pod", row->pods.at[0].pod->meta.uid, "u1");
    CHECK_TEXT("node", row->node->meta.name, "n1");
    snapshot_update(s, &cl->cache);
    CHECK("gone" && !snapshot_find(s, STR("n1")) && s->order.n == 0);
    snapshot_free(s);
    changes_fini(&ch);
}

TEST(a_node_may_come_back_under_another_number)
{
    static struct changes ch;
    changes_init(&ch, 4);
    struct cluster *cl = &ch.cl;
    static const char *const names[] = { "a", "b" };
    for (int i = 0; i < 2; i++)
        cluster_node(cl, "{'metadata':{'name':'%s'}}", names[i]);
    struct snapshot *s = snapshot_new(&cl->syms);
    snapshot_update(s, &cl->cache);
    for (int i = 0; i < 2; i++)
        CHECK(cache_remove_node(&cl->cache, sym_find(&cl->syms, str_of(names[i])), &cl->e) == ERR_OK);
    for (int i = 0; i < 2; i++)
        cluster_node(cl, "{'metadata':{'name':'%s'}}", names[i]);
    CHECK_INT("swapped", cluster_row(cl, "a"), 1);
    snapshot_update(s, &cl->cache);
    check_equals_cache(s, &cl->cache);
    snapshot_free(s);
    changes_fini(&ch);
}

/* ---- Another thread ---- */

struct shared {
    pthread_mutex_t lock; /* around reading and around the update */
    const struct snapshot *s;
    bool stop;
    unsigned n_reads;
};

static void *read_all(void *context)
{
    struct shared *sh = context;
    for (bool stop = false; !stop;) {
        pthread_mutex_lock(&sh->lock);
        check_alone(sh->s);
        sh->n_reads++;
        stop = sh->stop;
        pthread_mutex_unlock(&sh->lock);
        sched_yield();
    }
    return NULL;
}

TEST(a_reader_needs_no_more_than_the_lock)
{
    static struct changes ch;
    changes_init(&ch, 5);
    struct snapshot *s = snapshot_new(&ch.cl.syms);
    struct shared sh = { .lock = PTHREAD_MUTEX_INITIALIZER, .s = s };
    pthread_t reader;
    CHECK(pthread_create(&reader, NULL, read_all, &sh) == 0);
    for (int step = 0; step < N_THREAD_STEPS; step++) {
        change(&ch); /* the cache and the sym table change while the reader reads */
        if (below(&ch, 4))
            continue;
        pthread_mutex_lock(&sh.lock);
        snapshot_update(s, &ch.cl.cache);
        pthread_mutex_unlock(&sh.lock);
    }
    pthread_mutex_lock(&sh.lock);
    sh.stop = true;
    pthread_mutex_unlock(&sh.lock);
    CHECK(pthread_join(reader, NULL) == 0);
    CHECK(sh.n_reads > 0);
    check_alone(s);
    snapshot_free(s);
    changes_fini(&ch);
}
