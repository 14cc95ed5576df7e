/* config/points.c - see points.h. */
#include "config/points.h"

#include "config/slots.h"

const struct point_name point_names[N_SETS] = {
    [POINT_PRE_ENQUEUE] = { "preEnqueue", "PreEnqueuePlugin", SLOT(Plugins, preEnqueue) },
    [POINT_QUEUE_SORT] = { "queueSort", "QueueSortPlugin", SLOT(Plugins, queueSort) },
    [POINT_PRE_FILTER] = { "preFilter", "PreFilterPlugin", SLOT(Plugins, preFilter) },
    [POINT_FILTER] = { "filter", "FilterPlugin", SLOT(Plugins, filter) },
    [POINT_POST_FILTER] = { "postFilter", "PostFilterPlugin", SLOT(Plugins, postFilter) },
    [POINT_PRE_SCORE] = { "preScore", "PreScorePlugin", SLOT(Plugins, preScore) },
    [POINT_SCORE] = { "score", "ScorePlugin", SLOT(Plugins, score) },
    [POINT_RESERVE] = { "reserve", "ReservePlugin", SLOT(Plugins, reserve) },
    [POINT_PERMIT] = { "permit", "PermitPlugin", SLOT(Plugins, permit) },
    [POINT_PRE_BIND] = { "preBind", "PreBindPlugin", SLOT(Plugins, preBind) },
    [POINT_BIND] = { "bind", "BindPlugin", SLOT(Plugins, bind) },
    [POINT_POST_BIND] = { "postBind", "PostBindPlugin", SLOT(Plugins, postBind) },
    [POINT_PLACEMENT_GENERATE] = { "placementGenerate", "PlacementGeneratePlugin", SLOT(Plugins, placementGenerate) },
    [POINT_PLACEMENT_SCORE] = { "placementScore", "PlacementScorePlugin", SLOT(Plugins, placementScore) },
    [SET_MULTI_POINT] = { "multiPoint", NULL, SLOT(Plugins, multiPoint) },
};

const enum extension_point point_order[N_POINTS] = {
    POINT_PRE_FILTER,         POINT_FILTER,          POINT_POST_FILTER, POINT_RESERVE,
    POINT_PRE_SCORE,          POINT_SCORE,           POINT_PRE_BIND,    POINT_BIND,
    POINT_POST_BIND,          POINT_PERMIT,          POINT_PRE_ENQUEUE, POINT_QUEUE_SORT,
    POINT_PLACEMENT_GENERATE, POINT_PLACEMENT_SCORE,
};

bool plugin_extends(const struct plugin *p, enum extension_point point)
{
    assert(point < N_POINTS);
    switch (point) {
    case POINT_PRE_ENQUEUE:
        return p->pre_enqueue;
    case POINT_QUEUE_SORT:
        return p->less;
    case POINT_PRE_FILTER:
        return p->pre_filter;
    case POINT_FILTER:
        return p->filter;
    case POINT_POST_FILTER:
        return p->post_filter;
    case POINT_PRE_SCORE:
        return p->pre_score;
    case POINT_SCORE:
        return p->score;
    case POINT_RESERVE:
        return p->reserve;
    case POINT_PERMIT:
        return p->permit;
    case POINT_PRE_BIND:
        return p->pre_bind;
    case POINT_BIND:
        return p->bind;
    case POINT_POST_BIND:
        return p->post_bind;
    case POINT_PLACEMENT_GENERATE:
        return p->placement_generate;
    case POINT_PLACEMENT_SCORE:
        return p->placement_score;
    case N_POINTS:
        break;
    }
    return false;
}
