/* PodTopologySpread and InterPodAffinity on random small clusters, against the plain rules of plain_affinity.h. Held
 * equal to them are the filter of one node and of all nodes at once, the same after pods were added to and removed from
 * copies of the state, raw and normalized scores of one node and of all, and the columns that they read after any
 * history of changes. */
#include "tests/unit/plain_affinity.h"
#include "tests/unit/random_cluster.h"

enum { CLUSTERS = 120, CYCLES = 12, CHANGES_ON_COPY = 6 };

/* ---- Comparing filters ---- */

/* Either plugin's plain state. */
struct plain {
    bool is_spread;
    struct plain_spread spread;
    struct plain_affinity affinity;
};

static struct plain plain_make(struct cluster *cl, bool is_spread)
{
    struct plain s = { .is_spread = is_spread };
    if (is_spread)
        s.spread = plain_spread_make(cl);
    else
        s.affinity = plain_affinity_make(cl);
    return s;
}

static struct plain plain_copy(const struct plain *from)
{
    struct plain copy = { .is_spread = from->is_spread };
    if (from->is_spread)
        copy.spread = plain_spread_copy(&from->spread);
    else
        copy.affinity = plain_affinity_copy(&from->affinity);
    return copy;
}

static void plain_fini(struct plain *s)
{
    if (s->is_spread)
        plain_spread_fini(&s->spread);
    else
        plain_affinity_fini(&s->affinity);
}

static void plain_change(struct plain *s, const struct pod *pod, const struct node *node, int by)
{
    if (s->is_spread)
        plain_spread_change(&s->spread, pod, node, by);
    else
        plain_affinity_change(&s->affinity, pod, node, by);
}

static const char *plain_filter(const struct plain *s, const struct node *node)
{
    return s->is_spread ? plain_spread_filter(&s->spread, node) : plain_affinity_filter(&s->affinity, node);
}

/* Whether PreFilter should skip the pod. */
static bool plain_skips(const struct plain *s)
{
    if (s->is_spread)
        return s->spread.list.n == 0;
    const struct pod_affinity *own = terms_of(s->affinity.cl->pod);
    return own->required.n == 0 && own->required_anti.n == 0 && s->affinity.existing.pairs.n == 0;
}

static void check_nodes(struct cluster *cl, const struct plain *plain, uint64_t seed)
{
    const struct plugin_instance *p = cluster_plugin(cl);
    for (size_t i = 0; i < cl->cache.order.n; i++) {
        struct node_view view = node_view_of(&cl->cache, cl->cache.order.at[i]);
        const char *want = plain_filter(plain, view.node), *got = p->plugin->filter(p, &cl->cycle, &view).text;
        if (strcmp(want ? want : "fits", got ? got : "fits") != 0)
            FAIL("seed %llu, pod %s on %s: got %s, want %s", (unsigned long long)seed, cl->pod->meta.name,
                 view.node->meta.name, got ? got : "fits", want ? want : "fits");
    }
}

static void check_block(struct cluster *cl, const struct plain *plain, uint64_t seed)
{
    const struct plugin_instance *p = cluster_plugin(cl);
    size_t n_words = bitset_words(cl->cache.col.n_rows);
    uint64_t *alive = arena_alloc(&cl->arena, n_words * sizeof(*alive));
    bitset_copy(alive, cl->cache.col.listed, n_words);
    p->plugin->filter_block(p, &cl->cycle, alive);
    for (size_t row = 0; row < cl->cache.col.n_rows; row++) {
        bool listed = bitset_test(cl->cache.col.listed, row);
        bool want = listed && !plain_filter(plain, cl->cache.rows.at[row].node);
        if (bitset_test(alive, row) != want)
            FAIL("seed %llu, pod %s, row %zu: the block says %d", (unsigned long long)seed, cl->pod->meta.name, row,
                 !want);
    }
}

/* Adds and removes pods on a copy of one node, and compares after each. */
static void check_copies(struct random_cluster *r, const struct plain *plain, uint64_t seed)
{
    struct cluster *cl = &r->cl;
    void **before = cl->cycle.state;
    cl->cycle.state = cycle_clone_state(&cl->cycle);
    struct plain changed = plain_copy(plain);
    const struct node *node = listed_node(cl, below(r, (unsigned)cl->cache.order.n));
    struct node_view view = node_view_of(&cl->cache, cluster_row(cl, node->meta.name));
    struct node_view *copy = node_view_clone(&cl->cycle, &view);
    VEC(const struct pod *) added = { 0 };
    for (int i = 0; i < CHANGES_ON_COPY; i++) {
        if (copy->n_pods && chance(r, 50)) {
            const struct pod *pod = node_view_pod(copy, below(r, copy->n_pods));
            plain_change(&changed, pod, node, -1);
            node_view_remove(&cl->cycle, copy, pod);
        } else {
            const struct pod *pod = random_pod(r, node->meta.name);
            vec_push(&added, pod);
            plain_change(&changed, pod, node, 1);
            node_view_add(&cl->cycle, copy, pod);
        }
        check_nodes(cl, &changed, seed);
        if (chance(r, 30))
            cl->cycle.state = cycle_clone_state(&cl->cycle);
    }
    cl->cycle.state = before;
    check_nodes(cl, plain, seed); /* the original has not moved */
    for (size_t i = 0; i < added.n; i++)
        pod_unref(&cl->syms, added.at[i]);
    vec_fini(&added);
    plain_fini(&changed);
}

static int check_filters(struct random_cluster *r, bool is_spread, uint64_t seed)
{
    struct cluster *cl = &r->cl;
    struct plain plain = plain_make(cl, is_spread);
    struct verdict v = cluster_pre_filter(cl);
    CHECK_INT("pre_filter", v.code, plain_skips(&plain) ? V_SKIP : V_SUCCESS);
    if (v.code == V_SUCCESS) {
        check_nodes(cl, &plain, seed);
        check_block(cl, &plain, seed);
        check_copies(r, &plain, seed);
    }
    plain_fini(&plain);
    return v.code == V_SUCCESS;
}

/* ---- Comparing scores ---- */

static void pick_feasible(struct random_cluster *r)
{
    struct cluster *cl = &r->cl;
    uint64_t *without = ARENA_NEW_N(&cl->arena, uint64_t, bitset_words(cl->cache.col.n_rows));
    if (chance(r, 60))
        for (node_id row = 0; row < cl->cache.col.n_rows; row++)
            bitset_put(without, row, chance(r, 40));
    cluster_set_feasible(cl, without);
}

/* The raw scores that the rules give, in *ret_raw those before normalizing; false: the plugin should skip. */
static bool plain_scores(struct cluster *cl, bool is_spread, int64_t *ret_raw, int64_t *ret_scores)
{
    uint32_t n = cl->cycle.n_feasible;
    if (is_spread) {
        struct spread_list list;
        if (spread_constraints(cluster_plugin(cl), cl->objects, &cl->arena, cl->pod, true, &list))
            FAIL("constraints do not parse");
        if (list.n == 0)
            return false;
        plain_spread_scores(cl, &list, cl->pod->n_spread > 0, ret_scores);
        for (uint32_t i = 0; i < n; i++)
            ret_raw[i] = ret_scores[i] == -1 ? 0 : ret_scores[i];
        plain_spread_normalize(ret_scores, n);
        return true;
    }
    const struct inter_pod_affinity_args *args = cluster_plugin(cl)->data;
    if (!plain_affinity_scores(cl, args->hard_pod_affinity_weight, ret_scores))
        return false;
    if (n)
        memcpy(ret_raw, ret_scores, n * sizeof(*ret_raw));
    plain_affinity_normalize(ret_scores, n);
    return true;
}

static int check_scores(struct random_cluster *r, bool is_spread, uint64_t seed)
{
    struct cluster *cl = &r->cl;
    const struct plugin_instance *p = cluster_plugin(cl);
    pick_feasible(r);
    uint32_t n = cl->cycle.n_feasible;
    int64_t *raw = ARENA_NEW_N(&cl->arena, int64_t, n), *scores = ARENA_NEW_N(&cl->arena, int64_t, n);
    int64_t *block = ARENA_NEW_N(&cl->arena, int64_t, n);
    bool any = plain_scores(cl, is_spread, raw, scores);
    struct verdict v = p->plugin->pre_score(p, &cl->cycle);
    CHECK_INT("pre_score", v.code, any ? V_SUCCESS : V_SKIP);
    if (!any)
        return 0;
    p->plugin->score_block(p, &cl->cycle, block);
    for (uint32_t i = 0; i < n; i++) {
        struct node_view view = node_view_of(&cl->cache, cl->cycle.feasible[i]);
        const char *what = arena_printf(&cl->arena, "seed %llu, pod %s on %s", (unsigned long long)seed,
                                        cl->pod->meta.name, view.node->meta.name);
        CHECK_INT(what, p->plugin->score(p, &cl->cycle, &view), raw[i]);
        CHECK_INT(what, block[i], raw[i]);
    }
    p->plugin->normalize(p, &cl->cycle, block);
    for (uint32_t i = 0; i < n; i++)
        CHECK_INT("normalized", block[i], scores[i]);
    return 1;
}

/* ---- The columns ---- */

/* How many pods on the row carry a term like this one: the sum over all terms must be all terms of all pods. */
static void check_term_counts(struct cluster *cl, int *n_dense)
{
    int64_t n_counted = 0, n_carried = 0;
    for (int kind = 0; kind < N_TERM_KINDS; kind++) {
        struct counted_terms terms = counts_terms(cl->cache.counts, (enum term_kind)kind);
        for (uint32_t i = 0; i < terms.n; i++) {
            CHECK(terms.at[i]->n_pods > 0);
            n_counted += terms.at[i]->n_pods;
            int64_t n_rows = 0;
            for (size_t k = 0; k < terms.at[i]->sparse.n; k++) {
                CHECK(terms.at[i]->sparse.at[k].n > 0);
                n_rows += terms.at[i]->sparse.at[k].n;
            }
            for (node_id row = 0; terms.at[i]->dense && row < cl->cache.col.n_rows; row++)
                n_rows += terms.at[i]->dense[row];
            CHECK_INT("pods of a term", n_rows, terms.at[i]->n_pods);
            *n_dense += terms.at[i]->dense != NULL;
        }
    }
    for (struct map_str_slot *s = NULL; (s = map_str_next(&cl->cache.pods, s));) {
        const struct pod_affinity *a = terms_of(((const struct placed *)s->value.ptr)->pod);
        n_carried += a->required.n + a->required_anti.n + a->preferred.n + a->preferred_anti.n;
    }
    CHECK_INT("terms", n_counted, n_carried);
}

/* A column asked for again after changes must say what a walk over the pods says. */
static void check_column(struct cluster *cl, const struct matcher *selector, sym ns, bool skip_terminating)
{
    struct count_part part = { .selector = selector, .namespaces = &ns, .n_namespaces = 1 };
    const int32_t *column = counts_matching(cl->cache.counts, &part, 1, skip_terminating);
    for (node_id row = 0; row < cl->cache.col.n_rows; row++) {
        int64_t n = 0;
        for (size_t k = 0; k < cl->cache.rows.at[row].pods.n; k++) {
            const struct pod *pod = cl->cache.rows.at[row].pods.at[k]->pod;
            n += pod->meta.ns == ns && !(skip_terminating && pod->flags & POD_TERMINATING) &&
                 matcher_matches(selector, pod->meta.labels, &cl->syms);
        }
        CHECK_INT("column", column[row], n);
    }
}

TEST(columns_say_what_a_walk_over_the_pods_says)
{
    int n_dense = 0;
    for (uint64_t seed = 1; seed <= CLUSTERS / 4; seed++) {
        struct random_cluster r;
        random_cluster_init(&r, seed, &nodename_plugin, NULL);
        struct cluster *cl = &r.cl;
        const struct pod *with_selectors[8];
        for (int i = 0; i < 8; i++)
            do {
                with_selectors[i] = random_pod(&r, NULL);
                if (with_selectors[i]->n_spread == 0)
                    pod_unref(&cl->syms, with_selectors[i]);
                else
                    break;
            } while (true);
        for (int i = 0; i < CYCLES; i++) {
            for (int k = 0; k < 5; k++)
                random_change(&r);
            for (int k = 0; k < 8; k++)
                check_column(cl, &with_selectors[k]->spread[0].selector, with_selectors[k]->meta.ns, k % 2);
            check_term_counts(cl, &n_dense);
            counts_next_cycle(cl->cache.counts);
        }
        for (int i = 0; i < 8; i++)
            pod_unref(&cl->syms, with_selectors[i]);
        random_cluster_fini(&r);
    }
    CHECK(n_dense > 0); /* both forms of counted terms are tried */
}

/* ---- Histories ---- */

/* Cycles with changes between them; returns how many were neither skipped by filters nor by scores. */
static int run_history(uint64_t seed, const struct plugin *plugin, const void *args)
{
    bool is_spread = plugin == &podtopologyspread_plugin;
    struct random_cluster r;
    random_cluster_init(&r, seed, plugin, args);
    int n_filtered = 0, n_scored = 0;
    for (int i = 0; i < CYCLES; i++) {
        for (unsigned k = below(&r, 6); k > 0; k--)
            random_change(&r);
        cluster_begin(&r.cl, random_pod(&r, NULL));
        if (r.cl.cache.order.n == 0)
            continue;
        n_filtered += check_filters(&r, is_spread, seed);
        n_scored += check_scores(&r, is_spread, seed);
    }
    random_cluster_fini(&r);
    return n_filtered < n_scored ? n_filtered : n_scored;
}

TEST(spreading_by_blocks_nodes_copies_and_rules_is_the_same)
{
    static const struct pod_topology_spread_args args = { .system_defaulting = true };
    int n = 0;
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++)
        n += run_history(seed, &podtopologyspread_plugin, &args);
    CHECK(n > CLUSTERS); /* the clusters are not so random that nothing is tried */
}

TEST(affinity_by_blocks_nodes_copies_and_rules_is_the_same)
{
    static const struct inter_pod_affinity_args args = { .hard_pod_affinity_weight = 3 };
    int n = 0;
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++)
        n += run_history(seed, &interpodaffinity_plugin, &args);
    CHECK(n > CLUSTERS);
}
