/* sched/score.c - a chapter of attempt.h: comparing the nodes that fit, and choosing one. */
#include <stdlib.h>

#include "sched/attempt.h"
#include "sched/era.h"
#include "sched/extender.h"
#include "sched/heap_order.h"

static bool fail(struct attempt *a, const char *error)
{
    a->outcome = ATTEMPT_ERROR;
    a->error = error;
    return false;
}

bool attempt_pre_score_with(struct attempt *a, const struct plugin_instance *p)
{
    struct cycle *c = &a->cycle;
    int64_t start_ns = measure_plugin_begin(&a->measure);
    struct verdict v = p->plugin->pre_score(p, c);
    measure_plugin(&a->measure, MEASURED_PRE_SCORE, p, v.code, start_ns);
    if (v.code == V_SKIP)
        c->skip_score |= 1ull << p->index;
    else if (v.code != V_SUCCESS)
        return fail(a, arena_printf(c->arena, "running PreScore plugin \"%s\": %s", p->plugin->name,
                                    v.text ? v.text : ""));
    return true;
}

static bool run_pre_score(struct attempt *a)
{
    const struct point_plugins *points = &a->cycle.profile->points[POINT_PRE_SCORE];
    for (uint8_t i = 0; i < points->n; i++)
        if (!attempt_pre_score_with(a, points->at[i]))
            return false;
    return true;
}

static int64_t *score_nodes(struct attempt *a, const struct plugin_instance *p)
{
    struct cycle *c = &a->cycle;
    int64_t *scores = arena_alloc(c->arena, a->n_feasible * sizeof(*scores));
    int64_t start_ns = measure_plugin_begin(&a->measure);
    if (p->plugin->score_block && !a->bare_nodes) {
        p->plugin->score_block(p, c, scores);
    } else {
        for (uint32_t i = 0; i < a->n_feasible; i++) {
            struct node bare;
            struct node_view view = a->bare_nodes ? node_view_bare(c, a->feasible[i], &bare)
                                                  : node_view_of(c->cache, a->feasible[i]);
            scores[i] = p->plugin->score(p, c, &view);
        }
    }
    measure_plugin(&a->measure, MEASURED_SCORE, p, V_SUCCESS, start_ns);
    if (p->plugin->normalize) {
        start_ns = measure_plugin_begin(&a->measure);
        p->plugin->normalize(p, c, scores);
        measure_plugin(&a->measure, MEASURED_NORMALIZE, p, V_SUCCESS, start_ns);
    }
    return scores;
}

/* Checks the range, applies the weight, adds to the totals. */
static bool add_weighted(struct attempt *a, const struct plugin_instance *p, int64_t weight, int64_t *scores)
{
    for (uint32_t i = 0; i < a->n_feasible; i++) {
        if (scores[i] < 0 || scores[i] > a->cycle.profile->era->score_max)
            return fail(a, arena_printf(a->cycle.arena,
                                        "applying score defaultWeights on Score plugins: plugin \"%s\" returns an "
                                        "invalid score %lld, it should in the range of [0, %lld] after normalizing",
                                        p->plugin->name, (long long)scores[i],
                                        (long long)a->cycle.profile->era->score_max));
        scores[i] *= weight;
        a->totals[i] += scores[i];
    }
    return true;
}

bool attempt_score_position(struct attempt *a, unsigned i)
{
    const struct plugin_instance *p = a->cycle.profile->points[POINT_SCORE].at[i];
    const char *lacks = framework_lacks(&a->cycle, p, POINT_SCORE);
    if (lacks)
        return fail(a, arena_printf(a->cycle.arena, "running Score plugins: plugin \"%s\" failed with: %s",
                                    p->plugin->name, lacks));
    int64_t *scores = score_nodes(a, p);
    if (a->scores)
        a->scores[i] = scores;
    return add_weighted(a, p, a->cycle.profile->weights[i], scores);
}

void attempt_measure_pre_score(struct attempt *a, bool worked)
{
    if (!a->measure.metrics)
        return;
    measure_point(&a->measure, MEASURED_PRE_SCORE, worked ? V_SUCCESS : V_ERROR,
                  a->cycle.profile->points[POINT_PRE_SCORE].n);
    measure_evaluated(&a->measure, EVALUATED_PRE_SCORE, a->measure.profile->pre_scores & ~a->cycle.skip_score, 1);
}

void attempt_measure_score(struct attempt *a, bool worked)
{
    if (!a->measure.metrics)
        return;
    measure_point(&a->measure, MEASURED_SCORE, worked ? V_SUCCESS : V_ERROR, a->cycle.profile->points[POINT_SCORE].n);
    measure_evaluated(&a->measure, EVALUATED_SCORE, a->measure.profile->scores & ~a->cycle.skip_score, a->n_feasible);
}

bool attempt_score(struct attempt *a)
{
    assert(a->n_feasible > 0);
    struct cycle *c = &a->cycle;
    const struct point_plugins *points = &c->profile->points[POINT_SCORE];
    a->totals = ARENA_NEW_N(c->arena, int64_t, a->n_feasible);
    a->scores = ARENA_NEW_N(c->arena, int64_t *, points->n);
    a->scored = true;
    bool prepared = run_pre_score(a);
    attempt_measure_pre_score(a, prepared);
    if (!prepared)
        return false;
    bool scored = true;
    for (uint8_t i = 0; i < points->n && scored; i++)
        scored = c->skip_score >> points->at[i]->index & 1 || attempt_score_position(a, i);
    attempt_measure_score(a, scored);
    if (scored)
        extenders_prioritize(a);
    for (uint32_t i = 0; points->n == 0 && a->sched->n_extenders == 0 && i < a->n_feasible; i++)
        a->totals[i] = c->profile->era->total_without_scores;
    return scored;
}

static int64_t randomizer(const struct attempt *a, uint32_t i)
{
    return a->randomizers ? a->randomizers[i] : 0;
}

/* Where extenders had a say the larger random number wins; what is equal then goes by the order of the
 * heap. */
static uint32_t first_in_heap_order(const struct attempt *a, int64_t best)
{
    uint32_t chosen = UINT32_MAX;
    uint32_t least = UINT32_MAX;
    int64_t largest = 0;
    const uint32_t *places = a->cycle.cache->heap_order.at;
    for (uint32_t i = 0; a->randomizers && i < a->n_feasible; i++)
        if (a->totals[i] == best && a->randomizers[i] > largest)
            largest = a->randomizers[i];
    for (uint32_t i = 0; i < a->n_feasible; i++) {
        uint32_t place = a->totals[i] == best && randomizer(a, i) == largest ? places[i] : UINT32_MAX;
        if (place < least) {
            least = place;
            chosen = i;
        }
    }
    return chosen;
}

/* Of the best nodes another one each time. */
static uint32_t next_in_turn(struct attempt *a, int64_t best)
{
    bool by_name = a->cycle.profile->era->tie_break == TIE_ROUND_ROBIN_BY_NAME;
    return turns_take(&a->sched->turns, a->cycle.cache, a->feasible, a->totals, a->n_feasible, best, by_name);
}

void attempt_select(struct attempt *a)
{
    assert(a->totals);
    int64_t best = INT64_MIN;
    for (uint32_t i = 0; i < a->n_feasible; i++)
        if (a->totals[i] > best)
            best = a->totals[i];
    bool by_chance = a->cycle.profile->era->tie_break == TIE_RANDOM;
    a->chosen = by_chance ? first_in_heap_order(a, best) : next_in_turn(a, best);
    a->node = a->feasible[a->chosen];
}
