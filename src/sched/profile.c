/* sched/profile.c - a chapter of plugin.h: what attempts look up of a profile, found out once. */
#include <assert.h>

#include "sched/era.h"
#include "sched/plugin.h"

static uint64_t plugins_at(const struct profile *p, enum extension_point point)
{
    uint64_t mask = 0;
    for (uint8_t i = 0; i < p->points[point].n; i++)
        mask |= 1ull << p->points[point].at[i]->index;
    return mask;
}

static void find_unprepared(struct profile *p)
{
    uint64_t filter = plugins_at(p, POINT_FILTER), score = plugins_at(p, POINT_SCORE);
    p->without_pre_filter = p->without_pre_score = 0;
    for (uint8_t i = 0; i < p->n_instances && i < PLUGINS_MAX; i++) {
        p->without_pre_filter |= (uint64_t)(p->instances[i].plugin->pre_filter != NULL) << i;
        p->without_pre_score |= (uint64_t)(p->instances[i].plugin->pre_score != NULL) << i;
    }
    p->without_pre_filter &= (filter | score) & ~plugins_at(p, POINT_PRE_FILTER);
    p->without_pre_score &= score & ~plugins_at(p, POINT_PRE_SCORE);
}

/* What plugin.h asks of a plugin that says its rules are local. */
static void check_local(const struct plugin *p)
{
    assert(!p->filter_key || p->filter);
    assert(!p->filter_key || !p->clone_state);
    assert(!p->score_key || p->score);
    assert(!p->score_key || p->score_block);
    assert(!p->score_key || !p->normalize);
}

static void sort_filters(struct profile *p)
{
    const struct point_plugins *at = &p->points[POINT_FILTER];
    struct profile_plan *plan = &p->plan;
    for (uint8_t i = 0; i < at->n; i++) {
        bool local = at->at[i]->plugin->filter_key;
        struct point_plugins *to = local ? &plan->local_filters : &plan->general_filters;
        *(local ? &plan->local_filter_mask : &plan->general_filter_mask) |= 1ull << at->at[i]->index;
        to->at[to->n++] = at->at[i];
    }
}

static void sort_scores(struct profile *p)
{
    const struct point_plugins *at = &p->points[POINT_SCORE];
    struct profile_plan *plan = &p->plan;
    for (uint8_t i = 0; i < at->n; i++) {
        bool local = at->at[i]->plugin->score_key;
        *(local ? &plan->local_scores : &plan->general_scores) |= 1ull << i;
    }
    const struct point_plugins *pre = &p->points[POINT_PRE_SCORE];
    for (uint8_t i = 0; i < pre->n; i++)
        if (!pre->at[i]->plugin->score_key)
            plan->general_pre_scores.at[plan->general_pre_scores.n++] = pre->at[i];
}

/* Whether the sum that a class keeps of local scores always has room; weights are anything an int32
 * holds. */
static bool sum_has_room(const struct profile *p)
{
    int64_t most = 0;
    for (uint64_t left = p->plan.local_scores; left; left &= left - 1)
        most += p->weights[__builtin_ctzll(left)] * SCORE_MAX;
    return most <= INT32_MAX;
}

static bool repeats_post_filter(const struct profile *p)
{
    const struct point_plugins *at = &p->points[POINT_POST_FILTER];
    for (uint8_t i = 0; i < at->n; i++)
        if (!at->at[i]->plugin->repeatable_post_filter)
            return false;
    return true;
}

void profile_settle(struct profile *p)
{
    assert(p->n_instances <= PLUGINS_MAX);
    p->plan = (struct profile_plan){ .settled = true };
    if (!p->era)
        p->era = &era_modern;
    for (uint8_t i = 0; i < p->n_instances; i++)
        p->instances[i].era = p->era;
    for (uint8_t i = 0; i < p->n_instances; i++)
        check_local(p->instances[i].plugin);
    find_unprepared(p);
    sort_filters(p);
    sort_scores(p);
    p->plan.has_quick_way = profile_has(p, POINT_SCORE) && sum_has_room(p) &&
                            !(p->without_pre_filter | p->without_pre_score);
    p->plan.repeats_post_filter = repeats_post_filter(p);
}

void profile_take(struct profile *p)
{
    assert(!p->in_use);
    assert(p->n_instances <= PLUGINS_MAX);
    p->in_use = true;
}

void profile_give_back(struct profile *p)
{
    for (uint8_t i = 0; i < p->n_instances; i++)
        if (p->instances[i].plugin->forget)
            p->instances[i].plugin->forget(&p->instances[i]);
    p->in_use = false;
}
