/* sched/choose.c - the quick way through an attempt: the same choice as filter and score make, from what the pod's class
 * knows of every node (class.h).
 *
 * It is taken when every node is to be compared and no extender has a say. It leaves no statuses and no scores behind; who
 * wants to know them (explain, tests) takes the other way. A property test holds the two equal. */
#include "sched/attempt.h"
#include "sched/class.h"
#include "sched/heap_order.h"

/* How the scores of this attempt come about. */
struct scoring {
    uint64_t local;   /* positions whose scores the class has */
    uint64_t general; /* positions that must be computed over the feasible nodes */
    int64_t uniform;  /* what every node gets from the rest */
};

bool choose_can(const struct attempt *a)
{
    const struct profile *profile = a->cycle.profile;
    int32_t percent = profile->percentage_of_nodes_to_score >= 0 ? profile->percentage_of_nodes_to_score
                                                                 : a->sched->percentage_of_nodes_to_score;
    return profile_has(profile, POINT_SCORE) && profile->tie_break == TIE_HEAP_ORDER && a->sched->n_extenders == 0 &&
           (percent <= 0 || percent >= 100) && !a->narrowed.given && a->cycle.pod->nominated_node == SYM_EMPTY;
}

/* PreScore of plugins whose scores are local; they do not look at the other nodes. */
static void prepare_local(struct attempt *a, struct scoring *s)
{
    struct cycle *c = &a->cycle;
    const struct point_plugins *points = &c->profile->points[POINT_SCORE];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (!p->plugin->local_score)
            continue;
        struct verdict v = p->plugin->pre_score ? p->plugin->pre_score(p, c) : PASS;
        if (v.code == V_SKIP)
            c->skip_score |= 1ull << p->index;
        else
            s->local |= 1ull << i;
    }
}

/* Whether a filter looks beyond the node itself, or nominated pods must be looked at too. */
static bool has_general_filters(const struct attempt *a)
{
    const struct point_plugins *points = &a->cycle.profile->points[POINT_FILTER];
    for (uint8_t i = 0; i < points->n; i++)
        if (!points->at[i]->plugin->local_filter && !(a->cycle.skip_filter >> points->at[i]->index & 1))
            return true;
    return a->sched->nominator.by_node.n > 0;
}

/* Those filters, on what is alive. */
static bool filter_general(struct attempt *a, uint64_t *alive, size_t n_words)
{
    const struct point_plugins *points = &a->cycle.profile->points[POINT_FILTER];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        if (p->plugin->local_filter || a->cycle.skip_filter >> p->index & 1)
            continue;
        if (!attempt_filter_with(a, p, alive, n_words))
            return false;
    }
    return attempt_filter_beside_nominated(a, alive);
}

/* PreScore of the others, over the feasible nodes. */
static bool prepare_general(struct attempt *a, struct scoring *s)
{
    struct cycle *c = &a->cycle;
    const struct point_plugins *points = &c->profile->points[POINT_SCORE];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        int64_t score;
        if (p->plugin->local_score)
            continue;
        struct verdict v = p->plugin->pre_score ? p->plugin->pre_score(p, c) : PASS;
        if (v.code == V_SKIP) {
            c->skip_score |= 1ull << p->index;
        } else if (v.code != V_SUCCESS) {
            a->outcome = ATTEMPT_ERROR;
            a->error = arena_printf(c->arena, "running PreScore plugin \"%s\": %s", p->plugin->name, v.text ? v.text : "");
            return false;
        } else if (p->plugin->uniform_score && p->plugin->uniform_score(p, c, &score)) {
            s->uniform += score * c->profile->weights[i];
        } else {
            s->general |= 1ull << i;
        }
    }
    return true;
}

static void list_feasible(struct attempt *a, const uint64_t *alive)
{
    const struct cache *cache = a->cycle.cache;
    size_t n_words = bitset_words(cache->col.n_rows);
    uint32_t n = 0;
    a->feasible = arena_alloc(a->cycle.arena, cache->order.n * sizeof(*a->feasible));
    if (cache->order_is_identity) {
        for (size_t w = 0; w < n_words; w++)
            for (uint64_t left = alive[w]; left; left &= left - 1)
                a->feasible[n++] = (node_id)(w * 64 + (size_t)__builtin_ctzll(left));
    } else {
        for (size_t i = 0; i < cache->order.n; i++)
            if (bitset_test(alive, cache->order.at[i]))
                a->feasible[n++] = cache->order.at[i];
    }
    a->n_feasible = n;
    a->cycle.feasible = a->feasible;
    a->cycle.n_feasible = n;
}

/* ---- The choice when only local and uniform scores count ---- */

/* Whether PreScore of some plugin may want the list of feasible nodes. */
static bool wants_list(const struct attempt *a)
{
    const struct point_plugins *points = &a->cycle.profile->points[POINT_SCORE];
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin *p = points->at[i]->plugin;
        if (p->pre_score && !p->local_score && (!p->needs_feasible || p->needs_feasible(points->at[i], &a->cycle)))
            return true;
    }
    return false;
}

static int32_t best_of_words(const int32_t *best_by_word, size_t n_words)
{
    int32_t best = INT32_MIN;
    for (size_t w = 0; w < n_words; w++)
        best = best_by_word[w] > best ? best_by_word[w] : best;
    return best;
}

/* The best of each word where fewer rows are alive than the class has. */
static void best_by_word(const uint64_t *alive, const int32_t *partial, size_t n_words, int32_t *ret_best)
{
    for (size_t w = 0; w < n_words; w++) {
        int32_t best = INT32_MIN;
        for (uint64_t left = alive[w]; left; left &= left - 1) {
            int32_t value = partial[w * 64 + (size_t)__builtin_ctzll(left)];
            best = value > best ? value : best;
        }
        ret_best[w] = best;
    }
}

struct pick {
    uint32_t least; /* place in the heap's order */
    node_id row;
};

static void consider(struct pick *pick, uint32_t place, node_id row)
{
    if (place < pick->least)
        *pick = (struct pick){ place, row };
}

/* No rank from `rank` to `rank` + 63 has a smaller place. */
static uint32_t least_place(const struct cache *cache, uint32_t rank)
{
    uint32_t block = rank / 64, least = cache->heap_least.at[block];
    bool more = rank % 64 && block + 1 < cache->heap_least.n;
    return more && cache->heap_least.at[block + 1] < least ? cache->heap_least.at[block + 1] : least;
}

/* Rows in order: a row's rank among the feasible is the number of alive bits before it. Words that cannot have the first of
 * the best are passed over. */
static node_id first_best(const struct cache *cache, const uint64_t *alive, const struct pod_class *class,
                          const int32_t *best_of, int32_t best)
{
    const uint32_t *places = cache->heap_order.at;
    struct pick pick = { UINT32_MAX, NODE_NONE };
    size_t n_words = bitset_words(cache->col.n_rows);
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        if (best_of[w] != best || least_place(cache, rank) > pick.least) {
            rank += bitset_popcount(alive[w]);
            continue;
        }
        const int32_t *at = class->partial + w * 64;
        for (uint64_t left = alive[w]; left; left &= left - 1, rank++) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            if (at[bit] == best)
                consider(&pick, places[rank], (node_id)(w * 64 + bit));
        }
    }
    return pick.row;
}

/* The same where the order of nodes is not that of rows. */
static node_id first_best_in_order(const struct cache *cache, const uint64_t *alive, const int32_t *partial, int32_t best)
{
    struct pick pick = { UINT32_MAX, NODE_NONE };
    uint32_t rank = 0;
    for (size_t i = 0; i < cache->order.n; i++) {
        node_id row = cache->order.at[i];
        if (!bitset_test(alive, row))
            continue;
        if (partial[row] == best)
            consider(&pick, cache->heap_order.at[rank], row);
        rank++;
    }
    return pick.row;
}

static void choose_by_class(struct attempt *a, const uint64_t *alive, const struct pod_class *class, size_t n_words)
{
    const struct cache *cache = a->cycle.cache;
    const int32_t *best_of = class->best;
    if (alive != class->alive) {
        int32_t *fewer = arena_alloc(a->cycle.arena, n_words * sizeof(*fewer));
        best_by_word(alive, class->partial, n_words, fewer);
        best_of = fewer;
    }
    int32_t best = best_of_words(best_of, n_words);
    a->node = cache->order_is_identity ? first_best(cache, alive, class, best_of, best)
                                       : first_best_in_order(cache, alive, class->partial, best);
}

/* ---- The choice when some scores are computed over the feasible nodes ---- */

static bool choose_by_totals(struct attempt *a, const struct scoring *s, const int32_t *partial)
{
    struct cycle *c = &a->cycle;
    a->totals = arena_alloc(c->arena, a->n_feasible * sizeof(*a->totals));
    for (uint32_t i = 0; i < a->n_feasible; i++)
        a->totals[i] = partial[a->feasible[i]];
    for (uint64_t left = s->general; left; left &= left - 1)
        if (!attempt_score_position(a, (unsigned)__builtin_ctzll(left)))
            return false;
    attempt_select(a);
    return true;
}

void choose_run(struct attempt *a)
{
    struct cycle *c = &a->cycle;
    struct scoring s = { 0 };
    prepare_local(a, &s);
    const struct pod_class *class = classes_get(a->sched->classes, c, s.local);
    size_t n_words = bitset_words(c->cache->col.n_rows);
    const uint64_t *alive = class->alive;
    if (has_general_filters(a)) {
        uint64_t *fewer = arena_alloc(c->arena, n_words * sizeof(*fewer));
        bitset_copy(fewer, class->alive, n_words);
        if (!filter_general(a, fewer, n_words))
            return;
        alive = fewer;
    }
    a->n_feasible = (uint32_t)bitset_count(alive, n_words);
    c->n_feasible = a->n_feasible;
    if (a->n_feasible == 0) {
        attempt_diagnose(a);
        if (a->outcome != ATTEMPT_ERROR)
            a->outcome = ATTEMPT_REJECTED;
        return;
    }
    if (a->n_feasible == 1) {
        a->node = (node_id)bitset_next(alive, n_words, 0);
        return;
    }
    bool list = wants_list(a);
    if (list)
        list_feasible(a, alive);
    if (!prepare_general(a, &s))
        return;
    if (s.general == 0) {
        choose_by_class(a, alive, class, n_words);
        return;
    }
    if (!list)
        list_feasible(a, alive);
    choose_by_totals(a, &s, class->partial);
}
