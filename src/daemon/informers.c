/* daemon/informers.c - see informers.h. */
#include "daemon/informers.h"

#include <stdlib.h>

#include "daemon/berth_metrics.h"
#include "daemon/inflow.h"

/* One resource's reflector, and what its functions are called with. */
struct informer {
    struct informers *all;
    enum watched resource;
    struct reflector *reflector;
    uint64_t n_errors; /* that metrics have counted */
};

struct informers {
    struct informers_options o;
    struct informer at[N_WATCHED];
    struct inflow *inflow;
    struct loop_timer timer;
    bool started, stopped;
};

/* ---- What arrives ---- */

static void there_is_room(void *context)
{
    struct informers *i = context;
    for (int r = 0; !i->stopped && r < N_WATCHED; r++)
        reflector_resume(i->at[r].reflector);
}

static bool take(void *context, enum reflected what, const struct watch_object *object)
{
    struct informer *one = context;
    return inflow_add(one->all->inflow, what, one->resource, object);
}

/* ---- Time ---- */

enum { LOOK_MS = 200 }; /* how often reflectors are asked when they are due: answers change that, and they tell nobody */

static void tick(struct loop_timer *t)
{
    struct informers *i = LIST_ITEM(t, struct informers, timer);
    for (int r = 0; r < N_WATCHED; r++)
        reflector_tick(i->at[r].reflector);
    loop_timer_set(i->o.loop, &i->timer, loop_now_ms(i->o.loop) + LOOK_MS);
}

/* ---- The whole ---- */

struct informers *informers_new(const struct informers_options *o)
{
    struct informers *i = mem_zalloc(sizeof(*i));
    i->o = *o;
    i->timer.fire = tick;
    i->inflow = inflow_new(
        &(struct inflow_options){ .loop = o->loop, .engine = o->engine, .room = there_is_room, .context = i });
    for (int r = 0; r < N_WATCHED; r++) {
        i->at[r].all = i;
        i->at[r].resource = (enum watched)r;
        i->at[r].reflector = reflector_new(&(struct reflector_options){
            .api = o->api,
            .clock = loop_clock(o->loop),
            .path = watched_rows[r].path,
            .selector = watched_rows[r].selector,
            .no_streaming = o->no_streaming,
            .may_be_missing = watched_rows[r].may_be_missing,
            .sink = { &i->at[r], take },
            .seed = o->seed + (uint64_t)r,
        });
    }
    return i;
}

void informers_start(struct informers *i)
{
    if (i->started || i->stopped)
        return;
    i->started = true;
    for (int r = 0; r < N_WATCHED; r++)
        reflector_start(i->at[r].reflector);
    tick(&i->timer);
}

void informers_stop(struct informers *i)
{
    if (i->stopped)
        return;
    i->stopped = true;
    loop_timer_stop(i->o.loop, &i->timer);
    for (int r = 0; r < N_WATCHED; r++) {
        reflector_free(i->at[r].reflector);
        i->at[r].reflector = NULL;
    }
    inflow_stop(i->inflow);
}

void informers_free(struct informers *i)
{
    if (!i)
        return;
    informers_stop(i);
    inflow_free(i->inflow);
    free(i);
}

void informers_publish(struct informers *i, const struct berth_metrics *m)
{
    for (int r = 0; r < N_WATCHED && !i->stopped; r++) {
        uint64_t now = reflector_counts(i->at[r].reflector).errors;
        for (; i->at[r].n_errors < now; i->at[r].n_errors++)
            berth_metrics_watch_restarted(m, strrchr(watched_rows[r].path, '/') + 1);
    }
}
