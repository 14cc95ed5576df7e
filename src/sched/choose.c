/* sched/choose.c - a chapter of attempt.h: the quick way, to the same choice as filter and score make, from
 * what the pod's class knows of every node (pod_class.h).
 *
 * It is taken when every node is to be compared, no extender has a say, and no plugin filters or scores
 * without the point that prepares it. It leaves no statuses and no
 * scores behind; who wants to know them (explain, tests) takes the other way. A property test holds the
 * two equal. */
#include "sched/attempt.h"
#include "sched/pod_class.h"
#include "sched/era.h"
#include "sched/heap_order.h"

/* How the scores of this attempt come about. */
struct scoring {
    uint64_t local;   /* positions whose scores the class has */
    uint64_t general; /* positions that must be computed over the feasible nodes */
};

bool choose_can(const struct attempt *a)
{
    const struct profile *profile = a->cycle.profile;
    int32_t percent = profile->percentage_of_nodes_to_score >= 0 ? profile->percentage_of_nodes_to_score
                                                                 : a->sched->percentage_of_nodes_to_score;
    return !a->wants.detail && profile->plan.has_quick_way && a->sched->n_extenders == 0 && (percent <= 0 || percent >= 100) &&
           !a->narrowed.given && a->cycle.pod->nominated_node == SYM_EMPTY;
}

/* PreScore of plugins whose scores are local; they do not look at the other nodes. */
static void prepare_local(struct attempt *a, struct scoring *s)
{
    struct cycle *c = &a->cycle;
    for (uint64_t left = c->profile->plan.local_scores; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct plugin_instance *p = c->profile->points[POINT_SCORE].at[i];
        int64_t start_ns = measure_plugin_begin(&a->measure);
        uint8_t code = p->plugin->pre_score ? p->plugin->pre_score(p, c).code : V_SUCCESS;
        if (p->plugin->pre_score)
            measure_plugin(&a->measure, MEASURED_PRE_SCORE, p, code, start_ns);
        if (code == V_SKIP)
            c->skip_score |= 1ull << p->index;
        else
            s->local |= 1ull << i;
    }
}

/* Whether a filter looks beyond the node itself, or nominated pods must be looked at too. */
static bool has_general_filters(const struct attempt *a)
{
    return a->cycle.profile->plan.general_filter_mask & ~a->cycle.skip_filter || a->sched->nominator.by_node.n > 0;
}

/* For those who want to know: whom the filter has just refused. `before` follows what is alive. */
static void note_refusals(struct attempt *a, const struct plugin_instance *p, const uint64_t *alive, uint64_t *before,
                          size_t n_words)
{
    struct general_refusal r = { .plugin = p };
    for (size_t w = 0; w < n_words; w++) {
        uint64_t gone = before[w] & ~alive[w];
        if (gone && !r.n_nodes)
            r.example = (node_id)(w * 64 + (size_t)__builtin_ctzll(gone));
        r.n_nodes += bitset_popcount(gone);
        before[w] = alive[w];
    }
    if (r.n_nodes)
        a->quick.refusals[a->quick.n_refusals++] = r;
}

/* Those filters, on what is alive. */
static bool filter_general(struct attempt *a, uint64_t *alive, size_t n_words)
{
    const struct point_plugins *filters = &a->cycle.profile->plan.general_filters;
    uint64_t *before = NULL;
    if (a->wants.scores) {
        before = arena_alloc(a->cycle.arena, n_words * sizeof(*before));
        bitset_copy(before, alive, n_words);
        a->quick.refusals = ARENA_NEW_N(a->cycle.arena, struct general_refusal, filters->n + 1u);
    }
    for (uint8_t i = 0; i < filters->n; i++) {
        if (a->cycle.skip_filter >> filters->at[i]->index & 1)
            continue;
        if (!attempt_filter_with(a, filters->at[i], alive, n_words))
            return false;
        if (before)
            note_refusals(a, filters->at[i], alive, before, n_words);
    }
    bool goes_on = attempt_filter_beside_nominated(a, alive);
    if (goes_on && before)
        note_refusals(a, NULL, alive, before, n_words);
    return goes_on;
}

/* PreScore of the others, over the feasible nodes. */
static bool pre_score_general(struct attempt *a)
{
    const struct point_plugins *others = &a->cycle.profile->plan.general_pre_scores;
    for (uint8_t i = 0; i < others->n; i++)
        if (!attempt_pre_score_with(a, others->at[i]))
            return false;
    return true;
}

static bool prepare_general(struct attempt *a, struct scoring *s)
{
    struct cycle *c = &a->cycle;
    if (!pre_score_general(a))
        return false;
    for (uint64_t left = c->profile->plan.general_scores; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct plugin_instance *p = c->profile->points[POINT_SCORE].at[i];
        int64_t same; /* which does not matter: every node gets it */
        bool skips = c->skip_score >> p->index & 1;
        if (!skips && !(p->plugin->uniform_score && p->plugin->uniform_score(p, c, &same)))
            s->general |= 1ull << i;
    }
    return true;
}

/* Appends the alive rows from `from` on, below `to`. */
static void list_rows(struct attempt *a, const uint64_t *alive, size_t from, size_t to)
{
    for (size_t w = from / 64; w < bitset_words(to); w++) {
        uint64_t left = alive[w];
        if (w == from / 64)
            left &= UINT64_MAX << from % 64;
        if (w == to / 64)
            left &= (1ull << to % 64) - 1;
        for (; left; left &= left - 1)
            a->feasible[a->n_feasible++] = (node_id)(w * 64 + (size_t)__builtin_ctzll(left));
    }
}

/* In search order: from where this search begins, around to just before. */
static void list_feasible(struct attempt *a, const uint64_t *alive)
{
    const struct cache *cache = a->cycle.cache;
    size_t n = cache->order.n, start = a->sched->start_index;
    a->feasible = arena_alloc(a->cycle.arena, n * sizeof(*a->feasible));
    a->n_feasible = 0;
    if (cache->order_is_identity) {
        list_rows(a, alive, start, n);
        list_rows(a, alive, 0, start);
    } else {
        for (size_t i = 0; i < n; i++) {
            node_id row = cache->order.at[start + i < n ? start + i : start + i - n];
            if (bitset_test(alive, row))
                a->feasible[a->n_feasible++] = row;
        }
    }
    a->cycle.feasible = a->feasible;
    a->cycle.n_feasible = a->n_feasible;
}

/* ---- The choice when only local and uniform scores count ---- */

/* Whether PreScore of some plugin may want the list of feasible nodes. */
static bool wants_list(const struct attempt *a)
{
    const struct point_plugins *others = &a->cycle.profile->plan.general_pre_scores;
    for (uint8_t i = 0; i < others->n; i++) {
        const struct plugin_instance *p = others->at[i];
        if (!p->plugin->needs_feasible || p->plugin->needs_feasible(p, &a->cycle))
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

/* Alive rows before `row`. */
static uint32_t rank_of(const uint64_t *alive, size_t row)
{
    uint32_t n = (uint32_t)bitset_count(alive, row / 64);
    return n + bitset_popcount(alive[row / 64] & ((1ull << row % 64) - 1));
}

/* No rank from `rank` to `rank` + 63 has a smaller place. */
static uint32_t least_place(const struct cache *cache, uint32_t rank)
{
    uint32_t block = rank / 64, least = cache->heap_least.at[block];
    bool more = rank % 64 && block + 1 < cache->heap_least.n;
    return more && cache->heap_least.at[block + 1] < least ? cache->heap_least.at[block + 1] : least;
}

/* Of alive rows of one word, ranked from `rank` on. */
static void consider_rows(struct pick *pick, const uint32_t *heap_order, uint64_t rows, const int32_t *partial,
                          int32_t best, uint32_t rank, node_id first_row)
{
    for (; rows; rows &= rows - 1, rank++) {
        unsigned i = (unsigned)__builtin_ctzll(rows);
        if (partial[i] == best)
            consider(pick, heap_order[rank], first_row + i);
    }
}

/* Rows in order: a row's rank among the feasible is the number of alive bits before it, counted from
 * where the search begins; rows before that come after all others. Words that cannot have the first of
 * the best are passed over. */
static node_id first_best(const struct attempt *a, const uint64_t *alive, const int32_t *partial,
                          const int32_t *best_of, int32_t best)
{
    const struct cache *cache = a->cycle.cache;
    const uint32_t *heap_order = cache->heap_order.at;
    struct pick pick = { UINT32_MAX, NODE_NONE };
    size_t n_words = bitset_words(cache->col.n_rows), start = a->sched->start_index;
    uint32_t n_before = rank_of(alive, start), n = 0;
    for (size_t w = 0; w < n_words; w++) {
        uint32_t rank = n >= n_before ? n - n_before : n + a->n_feasible - n_before; /* of the word's first alive row */
        const int32_t *values = partial + w * 64;
        if (w == start / 64) { /* ranks begin anew within the word */
            uint64_t before = (1ull << start % 64) - 1;
            consider_rows(&pick, heap_order, alive[w] & before, values, best, rank, (node_id)(w * 64));
            consider_rows(&pick, heap_order, alive[w] & ~before, values, best, 0, (node_id)(w * 64));
        } else if (best_of[w] == best && least_place(cache, rank) <= pick.least) {
            consider_rows(&pick, heap_order, alive[w], values, best, rank, (node_id)(w * 64));
        }
        n += bitset_popcount(alive[w]);
    }
    return pick.row;
}

/* The same where the order of nodes is not that of rows. */
static node_id first_best_in_order(const struct attempt *a, const uint64_t *alive, const int32_t *partial, int32_t best)
{
    const struct cache *cache = a->cycle.cache;
    struct pick pick = { UINT32_MAX, NODE_NONE };
    size_t n = cache->order.n, start = a->sched->start_index;
    uint32_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        node_id row = cache->order.at[start + i < n ? start + i : start + i - n];
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
    const int32_t *best_of = class->best;
    if (alive != class->alive) {
        int32_t *fewer = arena_alloc(a->cycle.arena, n_words * sizeof(*fewer));
        best_by_word(alive, class->partial, n_words, fewer);
        best_of = fewer;
    }
    int32_t best = best_of_words(best_of, n_words);
    a->node = a->cycle.cache->order_is_identity ? first_best(a, alive, class->partial, best_of, best)
                                                : first_best_in_order(a, alive, class->partial, best);
}

/* ---- The choice when some scores are computed over the feasible nodes ---- */

static bool choose_by_totals(struct attempt *a, const struct scoring *s, const int32_t *partial)
{
    struct cycle *c = &a->cycle;
    a->totals = arena_alloc(c->arena, a->n_feasible * sizeof(*a->totals));
    if (a->wants.scores) /* what is computed anyway is kept */
        a->scores = ARENA_NEW_N(c->arena, int64_t *, c->profile->points[POINT_SCORE].n);
    for (uint32_t i = 0; i < a->n_feasible; i++)
        a->totals[i] = partial[a->feasible[i]];
    for (uint64_t left = s->general; left; left &= left - 1)
        if (!attempt_score_position(a, (unsigned)__builtin_ctzll(left)))
            return false;
    attempt_select(a);
    return true;
}

/* Each filter counts all nodes: which of them an earlier one had dropped is not known. */
static void measure_filter(struct attempt *a, bool worked)
{
    if (!a->measure.metrics)
        return;
    measure_point(&a->measure, MEASURED_FILTER, worked ? V_SUCCESS : V_ERROR, a->cycle.profile->points[POINT_FILTER].n);
    measure_evaluated(&a->measure, EVALUATED_FILTER, a->measure.profile->filters & ~a->cycle.skip_filter,
                      a->cycle.cache->order.n);
}

static void choose(struct attempt *a, struct scoring s, const struct pod_class *class)
{
    assert(!a->wants.detail);
    struct cycle *c = &a->cycle;
    size_t n_words = bitset_words(c->cache->col.n_rows);
    const uint64_t *alive = class->alive;
    if (has_general_filters(a)) {
        uint64_t *fewer = arena_alloc(c->arena, n_words * sizeof(*fewer));
        bitset_copy(fewer, class->alive, n_words);
        if (!filter_general(a, fewer, n_words)) {
            measure_filter(a, false);
            return;
        }
        alive = fewer;
    }
    measure_filter(a, true);
    a->quick = (struct quick_choice){ .class = class, .alive = alive, .local = s.local, .refusals = a->quick.refusals,
                                      .n_refusals = a->quick.n_refusals };
    a->sched->start_index %= (uint32_t)c->cache->order.n; /* all nodes were looked at: once around */
    a->n_feasible = (uint32_t)bitset_count(alive, n_words);
    a->n_evaluated = (uint32_t)c->cache->order.n;
    c->n_feasible = a->n_feasible;
    if (a->n_feasible == 0) {
        if (a->wants.reasons)
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
    bool prepared = prepare_general(a, &s), scored = true;
    attempt_measure_pre_score(a, prepared);
    if (!prepared)
        return;
    if (s.general == 0 && c->profile->era->tie_break == TIE_RANDOM) {
        choose_by_class(a, alive, class, n_words);
    } else {
        if (!list)
            list_feasible(a, alive);
        scored = choose_by_totals(a, &s, class->partial);
    }
    attempt_measure_score(a, scored);
}

bool choose_run(struct attempt *a)
{
    struct scoring s = { 0 };
    prepare_local(a, &s);
    const struct pod_class *class = pod_classes_get(a->sched->pod_classes, &a->cycle, s.local);
    if (class->out_of_range) {
        a->cycle.skip_score = 0;
        return false;
    }
    choose(a, s, class);
    return true;
}
