/* sched/decision.c - see decision.h.
 *
 * The quick way (choose.c) finds the best node without any list of scores. What it went by is still there: sums of
 * local scores by row, and the scores that were computed over all nodes. So the few best are picked out of these,
 * and only for them each local plugin is asked again. */
#include "sched/decision.h"

#include "sched/pod_class.h"

struct best {
    struct decision_node *at;
    uint32_t index[DECISION_NODES_MAX]; /* in the attempt's list of feasible nodes, if it made one */
    uint32_t n;
};

/* Behind all that are as good. The chosen node is at [0] and stays there. */
static void insert(struct best *b, node_id node, uint32_t index, int64_t total)
{
    uint32_t at = b->n;
    if (at == DECISION_NODES_MAX) {
        if (total <= b->at[at - 1].total)
            return;
        at--;
    } else {
        b->n++;
    }
    for (; at > 1 && b->at[at - 1].total < total; at--) {
        b->at[at] = b->at[at - 1];
        b->index[at] = b->index[at - 1];
    }
    b->at[at] = (struct decision_node){ .node = node, .total = total };
    b->index[at] = index;
}

static bool is_wanted(const struct best *b, int64_t total)
{
    return b->n < DECISION_NODES_MAX || total > b->at[b->n - 1].total;
}

/* Out of a class: words whose best is not wanted are passed over. */
static void pick_by_class(const struct attempt *a, struct best *b)
{
    const struct quick_choice *q = &a->quick;
    size_t n_words = bitset_words(a->cycle.cache->col.n_rows);
    insert(b, a->node, 0, q->class->partial[a->node]);
    for (size_t w = 0; w < n_words; w++) {
        if (!is_wanted(b, q->class->best[w]))
            continue;
        for (uint64_t left = q->alive[w]; left; left &= left - 1) {
            node_id row = (node_id)(w * 64 + (size_t)__builtin_ctzll(left));
            if (row != a->node && is_wanted(b, q->class->partial[row]))
                insert(b, row, 0, q->class->partial[row]);
        }
    }
}

/* Whether any of the eight is above; written for the compiler, which makes it a few instructions. */
static bool any_above(const int64_t *totals, int64_t bound)
{
    int above = 0;
    for (int i = 0; i < 8; i++)
        above |= totals[i] > bound;
    return above;
}

static void pick_by_totals(const struct attempt *a, struct best *b)
{
    uint32_t i = 0;
    insert(b, a->node, a->chosen, a->totals[a->chosen]);
    while (i < a->n_feasible) {
        if (b->n == DECISION_NODES_MAX && a->n_feasible - i >= 8 && !any_above(a->totals + i, b->at[b->n - 1].total)) {
            i += 8;
            continue;
        }
        if (i != a->chosen && is_wanted(b, a->totals[i]))
            insert(b, a->feasible[i], i, a->totals[i]);
        i++;
    }
}

/* Of the score at position i: for all nodes the same, unless it is one that is kept or asked again. */
static int64_t same_for_all(struct attempt *a, unsigned i)
{
    const struct plugin_instance *p = a->cycle.profile->points[POINT_SCORE].at[i];
    int64_t same = 0;
    bool skips = a->cycle.skip_score >> p->index & 1;
    if (!skips && p->plugin->uniform_score && p->plugin->uniform_score(p, &a->cycle, &same))
        return same * a->cycle.profile->weights[i];
    return 0;
}

static void score_position(struct attempt *a, const struct best *b, unsigned i, int64_t *const *scores)
{
    const struct profile *profile = a->cycle.profile;
    const struct plugin_instance *p = profile->points[POINT_SCORE].at[i];
    const struct quick_choice *q = &a->quick;
    bool local = q->class && q->local >> i & 1, listed = a->scores && a->scores[i];
    int64_t same = q->class && !local && !listed ? same_for_all(a, i) : 0;
    for (uint32_t k = 0; k < b->n; k++) {
        struct node_view view;
        if (local) {
            view = node_view_of(a->cycle.cache, b->at[k].node);
            scores[k][i] = p->plugin->score(p, &a->cycle, &view) * profile->weights[i];
        } else {
            scores[k][i] = listed ? a->scores[i][b->index[k]] : same;
        }
    }
}

/* Of all that were picked. */
static void score(struct attempt *a, struct best *b)
{
    uint8_t n_plugins = a->cycle.profile->points[POINT_SCORE].n;
    int64_t *scores[DECISION_NODES_MAX];
    for (uint32_t k = 0; k < b->n; k++)
        scores[k] = arena_alloc(a->cycle.arena, n_plugins * sizeof(int64_t));
    for (uint8_t i = 0; i < n_plugins && b->n; i++)
        score_position(a, b, i, scores);
    for (uint32_t k = 0; k < b->n; k++) {
        b->at[k].scores = scores[k];
        if (!a->quick.class)
            continue;
        b->at[k].total = 0; /* the sums of the quick way leave out what all nodes get */
        for (uint8_t i = 0; i < n_plugins; i++)
            b->at[k].total += scores[k][i];
    }
}

uint32_t decision_best(struct attempt *a, struct decision_node ret_best[DECISION_NODES_MAX])
{
    struct best b = { .at = ret_best };
    assert(a->outcome == ATTEMPT_FITS);
    if (a->totals)
        pick_by_totals(a, &b);
    else if (a->quick.class && a->n_feasible > 1)
        pick_by_class(a, &b);
    score(a, &b);
    return b.n;
}

bool decision_score(struct attempt *a, node_id node, struct decision_node *ret_node)
{
    struct best b = { .at = ret_node };
    assert(a->outcome == ATTEMPT_FITS);
    for (uint32_t i = 0; a->totals && i < a->n_feasible && !b.n; i++)
        if (a->feasible[i] == node)
            insert(&b, node, i, a->totals[i]);
    if (!a->totals && a->quick.class && a->n_feasible > 1 && bitset_test(a->quick.alive, node))
        insert(&b, node, 0, 0);
    score(a, &b);
    return b.n == 1;
}
