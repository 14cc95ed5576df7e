/* daemon/informers.c - see informers.h. */
#include "daemon/informers.h"

#include <stdlib.h>

#include "daemon/berth_metrics.h"
#include "daemon/intake.h"

/* One resource's reflector, and what its functions are called with. */
struct informer {
    struct informers *all;
    enum watched resource;
    struct reflector *reflector;
    uint64_t n_errors; /* that metrics have counted */
};

/* Lives until the last batch is back, which may be after the informers. */
struct flow {
    _Atomic uint32_t n_refs;
    _Atomic size_t n_bytes; /* in batches that are with the engine */
    _Atomic bool waits;     /* somebody was turned away and wants to be told */
    struct loop *loop;
    struct informers *informers; /* the loop's; NULL: gone */
    struct loop_mail room;
    _Atomic bool room_is_posted;
};

struct informers {
    struct informers_options o;
    struct informer at[N_WATCHED];
    struct flow *flow;
    struct intake_batch *filling; /* NULL: nothing has arrived in this turn */
    struct loop_task post;
    struct loop_timer timer;
    bool started, stopped;
};

/* ---- Batches on their way ---- */

static void flow_unref(struct flow *f)
{
    if (atomic_fetch_sub(&f->n_refs, 1) == 1)
        free(f);
}

/* On the loop: the engine has made room. */
static void there_is_room(struct loop_mail *own_mail)
{
    struct flow *f = MAIL_ITEM(own_mail, struct flow, room);
    atomic_store(&f->room_is_posted, false);
    struct informers *i = f->informers;
    for (int r = 0; i && !i->stopped && r < N_WATCHED; r++)
        reflector_resume(i->at[r].reflector);
    flow_unref(f);
}

/* On the scheduling thread. */
static void batch_done(struct intake_batch *own_batch)
{
    struct flow *f = own_batch->context;
    size_t n = own_batch->n_bytes;
    intake_batch_free(own_batch);
    size_t left = atomic_fetch_sub(&f->n_bytes, n) - n;
    if (left <= INFORMERS_BYTES_MAX / 2 && atomic_exchange(&f->waits, false) &&
        !atomic_exchange(&f->room_is_posted, true)) {
        atomic_fetch_add(&f->n_refs, 1);
        if (!loop_post(f->loop, &f->room)) { /* a full loop: the next batch tells it */
            atomic_store(&f->room_is_posted, false);
            atomic_store(&f->waits, true);
            flow_unref(f);
        }
    }
    flow_unref(f);
}

static void post_batch(struct loop_task *t)
{
    struct informers *i = LIST_ITEM(t, struct informers, post);
    struct intake_batch *b = i->filling;
    if (!b)
        return;
    i->filling = NULL;
    atomic_fetch_add(&i->flow->n_bytes, b->n_bytes);
    atomic_fetch_add(&i->flow->n_refs, 1);
    engine_post(i->o.engine, &b->mail);
}

static bool is_full(const struct informers *i)
{
    size_t filling = i->filling ? i->filling->n_bytes : 0;
    return atomic_load(&i->flow->n_bytes) + filling > INFORMERS_BYTES_MAX;
}

static bool take(void *context, enum reflected what, const struct watch_object *object)
{
    struct informer *one = context;
    struct informers *i = one->all;
    if (!i->filling) {
        i->filling = intake_batch_new(batch_done, i->flow);
        loop_defer(i->o.loop, &i->post);
    }
    intake_batch_add(i->filling, what, one->resource, object);
    if (!is_full(i))
        return true;
    atomic_store(&i->flow->waits, true);
    /* The engine may have taken the last batch before it could see that somebody waits. */
    return !is_full(i) && atomic_exchange(&i->flow->waits, false);
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
    i->post.run = post_batch;
    i->timer.fire = tick;
    i->flow = mem_zalloc(sizeof(*i->flow));
    atomic_store(&i->flow->n_refs, 1);
    i->flow->loop = o->loop;
    i->flow->informers = i;
    i->flow->room.run = there_is_room;
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
    loop_task_stop(&i->post);
    if (i->filling)
        intake_batch_free(i->filling);
    i->filling = NULL;
}

void informers_free(struct informers *i)
{
    if (!i)
        return;
    informers_stop(i);
    i->flow->informers = NULL;
    flow_unref(i->flow);
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
