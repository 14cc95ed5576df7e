/* The quick ways of the engine against the plain ones, on random clusters with random changes in between:
 *   - a plugin's filter_block and score_block against its filter and score of one node, on plain and on simulated views;
 *   - uniform_score against the normalized scores of all nodes;
 *   - attempts by the quick way (classes that are repaired, memos that are kept) against those in detail with memos made anew:
 *     outcome, node, texts, rejectors, where the next search begins, and what preemption chooses. */
#include "sched/attempt.h"
#include "sched/memo.h"
#include "tests/unit/random_profiles.h"

enum { CLUSTERS = 400, ATTEMPTS = 60, CHANGES_MAX = 6, CLUSTERS_IN_SOAK = 3000 };

struct blocks {
    struct random_world w;
    struct sym_table syms;
    struct setup setup;
    struct sched *sched;
    struct arena arena; /* what is kept of one attempt, to be compared */
    uint64_t seed;
    unsigned n_pods;
    VEC(const char *) uids; /* of pods that the scheduler knows */
};

static int64_t fixed_now(void *context)
{
    (void)context;
    return 1000;
}

static int64_t fixed_wall(void *context)
{
    (void)context;
    return 1800000000;
}

static void blocks_init(struct blocks *b, uint64_t seed)
{
    *b = (struct blocks){ .seed = seed };
    sym_init(&b->syms);
    arena_init(&b->arena);
    struct rand rand;
    rand_init(&rand, seed);
    unsigned n_nodes = rand_below(&rand, 4) ? 4 + (unsigned)rand_below(&rand, 20) : 60 + (unsigned)rand_below(&rand, 120);
    random_world_init(&b->w, &b->syms, seed, n_nodes);
    if (setup_from_text(&b->setup, &b->syms, config_of_seed(&b->w, seed), world_registry(), &b->w.e))
        FAIL("%s", b->w.e.message);
    b->sched = sched_new(&(struct sched_options){ .syms = &b->syms,
                                                  .profiles = b->setup.profiles,
                                                  .n_profiles = b->setup.n_profiles,
                                                  .features = b->setup.features,
                                                  .io = { .now_ms = fixed_now, .wall_s = fixed_wall },
                                                  .percentage_of_nodes_to_score = 100,
                                                  .seed = seed });
    set_static_objects(&b->w, b->sched);
}

static void blocks_fini(struct blocks *b)
{
    sched_free(b->sched);
    vec_fini(&b->uids);
    random_world_fini(&b->w);
    setup_fini(&b->setup);
    arena_fini(&b->arena);
    sym_fini(&b->syms);
}

/* ---- Changes ---- */

static const struct pod *new_pod(struct blocks *b, const char *node, const char *nominated)
{
    struct random_world *w = &b->w;
    const char *name = arena_printf(&w->texts, "p%u", b->n_pods++);
    struct pod_text text = { .name = name, .uid = name, .version = 1, .node = node, .nominated = nominated,
                             .terminating = node && chance(w, 5) };
    return pod_of_shape(w, &w->shapes[below(w, N_SHAPES)], &text);
}

/* On a node, or promised one. */
static void add_known_pod(struct blocks *b)
{
    struct random_world *w = &b->w;
    const char *node = node_name_of(w, below(w, w->n_nodes));
    bool placed = chance(w, 90);
    const struct pod *pod = new_pod(b, placed ? node : NULL, placed ? NULL : node);
    vec_push(&b->uids, arena_cstr(&w->texts, str_of(pod->meta.uid)));
    sched_pod_set(b->sched, pod);
    pod_unref(&b->syms, pod);
}

static void change(struct blocks *b)
{
    struct random_world *w = &b->w;
    unsigned number = below(w, w->n_nodes), dice = below(w, 100);
    if (dice < 15) {
        const struct node *node = random_node(w, number);
        sched_node_set(b->sched, node);
        node_unref(&b->syms, node);
    } else if (dice < 20) {
        sym name = node_sym(w, number);
        if (name != SYM_NONE)
            sched_node_removed(b->sched, name);
    } else if (dice < 55 && b->uids.n) {
        unsigned i = below(w, (unsigned)b->uids.n);
        sched_pod_removed(b->sched, b->uids.at[i]);
        vec_remove_swap(&b->uids, i);
    } else {
        add_known_pod(b);
    }
}

/* ---- Block forms ---- */

static void check_filter(struct blocks *b, struct attempt *a, const struct plugin_instance *p)
{
    const struct cache *cache = sched_cache(b->sched);
    struct cycle *c = &a->cycle;
    size_t n_words = bitset_words(cache->col.n_rows);
    uint64_t *alive = arena_alloc(c->arena, n_words * sizeof(*alive));
    bitset_copy(alive, cache->col.listed, n_words);
    for (size_t i = 0; i < cache->order.n; i++)
        if (chance(&b->w, 10))
            bitset_clear(alive, cache->order.at[i]);
    uint64_t *before = arena_alloc(c->arena, n_words * sizeof(*before));
    bitset_copy(before, alive, n_words);
    if (p->plugin->filter_block)
        p->plugin->filter_block(p, c, alive);
    for (node_id id = 0; id < cache->col.n_rows; id++) {
        if (!bitset_test(before, id)) {
            if (p->plugin->filter_block && bitset_test(alive, id))
                FAIL("seed %llu: the block of %s revives row %u", (unsigned long long)b->seed, p->plugin->name, id);
            continue;
        }
        struct node_view view = node_view_of(cache, id), *copy = node_view_clone(c, &view);
        bool passes = p->plugin->filter(p, c, &view).code == V_SUCCESS;
        if (p->plugin->filter_block && bitset_test(alive, id) != passes)
            FAIL("seed %llu: %s on %s for %s: the block says %d", (unsigned long long)b->seed, p->plugin->name,
                 view.node->meta.name, c->pod->meta.name, !passes);
        if ((p->plugin->filter(p, c, copy).code == V_SUCCESS) != passes)
            FAIL("seed %llu: %s on %s for %s: on a copy %d", (unsigned long long)b->seed, p->plugin->name,
                 view.node->meta.name, c->pod->meta.name, !passes);
    }
}

static void check_score(struct blocks *b, struct attempt *a, const struct plugin_instance *p)
{
    struct cycle *c = &a->cycle;
    int64_t *scores = arena_alloc(c->arena, a->n_feasible * sizeof(*scores));
    for (uint32_t i = 0; i < a->n_feasible; i++) {
        struct node_view view = node_view_of(c->cache, a->feasible[i]);
        scores[i] = p->plugin->score(p, c, &view);
    }
    if (p->plugin->score_block) {
        int64_t *block = arena_alloc(c->arena, a->n_feasible * sizeof(*block));
        p->plugin->score_block(p, c, block);
        for (uint32_t i = 0; i < a->n_feasible; i++)
            if (block[i] != scores[i])
                FAIL("seed %llu: score of %s on %s for %s: %lld as block, %lld alone", (unsigned long long)b->seed,
                     p->plugin->name, c->cache->rows.at[a->feasible[i]].node->meta.name, c->pod->meta.name,
                     (long long)block[i], (long long)scores[i]);
    }
    if (p->plugin->normalize)
        p->plugin->normalize(p, c, scores);
    int64_t same;
    if (!p->plugin->uniform_score || !p->plugin->uniform_score(p, c, &same))
        return;
    for (uint32_t i = 0; i < a->n_feasible; i++)
        if (scores[i] != same)
            FAIL("seed %llu: uniform score of %s is %lld, on a node %lld", (unsigned long long)b->seed, p->plugin->name,
                 (long long)same, (long long)scores[i]);
}

static void check_blocks(struct blocks *b, const struct pod *pod)
{
    struct attempt a;
    uint32_t start = b->sched->start_index;
    if (!attempt_begin(b->sched, &a, pod, (struct attempt_wants){ .reasons = true }) || !attempt_pre_filter(&a))
        return;
    const struct profile *profile = a.cycle.profile;
    for (uint8_t i = 0; i < profile->points[POINT_FILTER].n; i++) {
        const struct plugin_instance *p = profile->points[POINT_FILTER].at[i];
        if (!(a.cycle.skip_filter >> p->index & 1) && !framework_lacks(&a.cycle, p, POINT_FILTER))
            check_filter(b, &a, p);
    }
    bool fits = attempt_filter(&a);
    b->sched->start_index = start;
    if (!fits)
        return;
    for (uint8_t i = 0; i < profile->points[POINT_PRE_SCORE].n; i++) {
        const struct plugin_instance *p = profile->points[POINT_PRE_SCORE].at[i];
        if (p->plugin->pre_score(p, &a.cycle).code == V_SKIP)
            a.cycle.skip_score |= 1ull << p->index;
    }
    for (uint8_t i = 0; i < profile->points[POINT_SCORE].n; i++) {
        const struct plugin_instance *p = profile->points[POINT_SCORE].at[i];
        if (!(a.cycle.skip_score >> p->index & 1) && !framework_lacks(&a.cycle, p, POINT_SCORE))
            check_score(b, &a, p);
    }
}

/* ---- Attempts ---- */

/* All that matters of an attempt, as text. */
static const char *describe(struct blocks *b, struct attempt *a)
{
    struct strbuf t;
    strbuf_init(&t, STRBUF_NO_MAX);
    strbuf_printf(&t, "outcome %d, node %s, error %s, rejectors %llx, pending %llx, next start %u", (int)a->outcome,
                  a->node == NODE_NONE ? "none" : b->sched->cache.rows.at[a->node].node->meta.name,
                  a->error ? a->error : "none", (unsigned long long)a->rejectors, (unsigned long long)a->pending,
                  b->sched->start_index);
    if (a->outcome == ATTEMPT_REJECTED) {
        const char *post_filter;
        attempt_post_filter(a, &post_filter);
        strbuf_printf(&t, "\n  %s", attempt_fit_error(a, post_filter));
        const struct candidate *chosen = a->cycle.preemption ? a->cycle.preemption->chosen : NULL;
        for (uint32_t i = 0; chosen && i < chosen->n_victims; i++)
            strbuf_printf(&t, "\n  victim %s on row %u", chosen->victims[i]->meta.name, chosen->node);
    }
    const char *text = arena_cstr(&b->arena, strbuf_str(&t));
    strbuf_fini(&t);
    return text;
}

static void check_attempt(struct blocks *b, const struct pod *pod)
{
    struct sched *s = b->sched;
    struct attempt a;
    arena_reset(&b->arena);
    uint32_t start = s->start_index;
    struct rand rand = s->rand;
    attempt_run(s, &a, pod, (struct attempt_wants){ .reasons = true });
    const char *quick = describe(b, &a);
    s->start_index = start;
    s->rand = rand;
    struct memos *kept = s->memos;
    s->memos = memos_new();
    attempt_run(s, &a, pod, (struct attempt_wants){ .reasons = true, .detail = true });
    const char *plain = describe(b, &a);
    memos_free(s->memos);
    s->memos = kept;
    if (strcmp(quick, plain) != 0)
        FAIL("seed %llu, pod %s of %s: the quick way gives\n  %s\nthe plain one\n  %s", (unsigned long long)b->seed,
             pod->meta.name, a.cycle.profile ? a.cycle.profile->scheduler_name : "?", quick, plain);
}

static void run_cluster(uint64_t seed)
{
    struct blocks b;
    blocks_init(&b, seed);
    for (unsigned i = 0; i < b.w.n_nodes * 4; i++)
        change(&b);
    for (unsigned i = 0; i < b.w.n_nodes; i++)
        if (chance(&b.w, 80)) {
            const struct node *node = random_node(&b.w, i);
            sched_node_set(b.sched, node);
            node_unref(&b.syms, node);
        }
    for (int i = 0; i < ATTEMPTS; i++) {
        const struct pod *pod = new_pod(&b, NULL, chance(&b.w, 5) ? node_name_of(&b.w, below(&b.w, b.w.n_nodes)) : NULL);
        check_blocks(&b, pod);
        check_attempt(&b, pod);
        pod_unref(&b.syms, pod);
        for (unsigned n = below(&b.w, CHANGES_MAX); n > 0; n--)
            change(&b);
    }
    blocks_fini(&b);
}

TEST(blocks_and_quick_ways_equal_the_plain_ones)
{
    uint64_t seed = seed_of_test(1);
    unsigned n = getenv("SEED") ? 1 : getenv("SOAK") ? CLUSTERS_IN_SOAK : CLUSTERS;
    for (unsigned i = 0; i < n; i++)
        run_cluster(seed + i);
}
