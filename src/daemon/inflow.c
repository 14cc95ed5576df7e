/* daemon/inflow.c - see inflow.h. */
#include "daemon/inflow.h"

#include <stdlib.h>

/* Lives until the last batch is back, which may be after its owner. */
struct flow {
    _Atomic uint32_t n_refs;
    _Atomic size_t n_bytes; /* in batches that are with the engine */
    _Atomic bool waits;     /* somebody was turned away and wants to be told */
    struct loop *loop;
    struct inflow *owner; /* the loop's; NULL: gone */
    struct loop_mail room;
    _Atomic bool room_is_posted;
};

struct inflow {
    struct inflow_options o;
    struct flow *flow;
    struct intake_batch *filling; /* NULL: nothing has arrived in this turn */
    struct loop_task post;
    bool stopped;
};

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
    struct inflow *i = f->owner;
    if (i && !i->stopped)
        i->o.room(i->o.context);
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
    struct inflow *i = LIST_ITEM(t, struct inflow, post);
    struct intake_batch *b = i->filling;
    if (!b)
        return;
    i->filling = NULL;
    atomic_fetch_add(&i->flow->n_bytes, b->n_bytes);
    atomic_fetch_add(&i->flow->n_refs, 1);
    engine_post(i->o.engine, &b->mail);
}

static bool is_full(const struct inflow *i)
{
    size_t filling = i->filling ? i->filling->n_bytes : 0;
    return atomic_load(&i->flow->n_bytes) + filling > INFORMERS_BYTES_MAX;
}

bool inflow_add(struct inflow *i, enum reflected what, enum watched resource, const struct watch_object *object)
{
    if (!i->filling) {
        i->filling = intake_batch_new(batch_done, i->flow);
        loop_defer(i->o.loop, &i->post);
    }
    intake_batch_add(i->filling, what, resource, object);
    if (!is_full(i))
        return true;
    atomic_store(&i->flow->waits, true);
    /* The engine may have taken the last batch before it could see that somebody waits. */
    return !is_full(i) && atomic_exchange(&i->flow->waits, false);
}

struct inflow *inflow_new(const struct inflow_options *o)
{
    struct inflow *i = mem_zalloc(sizeof(*i));
    i->o = *o;
    i->post.run = post_batch;
    i->flow = mem_zalloc(sizeof(*i->flow));
    atomic_store(&i->flow->n_refs, 1);
    i->flow->loop = o->loop;
    i->flow->owner = i;
    i->flow->room.run = there_is_room;
    return i;
}

void inflow_stop(struct inflow *i)
{
    i->stopped = true;
    loop_task_stop(&i->post);
    if (i->filling)
        intake_batch_free(i->filling);
    i->filling = NULL;
}

void inflow_free(struct inflow *i)
{
    if (!i)
        return;
    inflow_stop(i);
    i->flow->owner = NULL;
    flow_unref(i->flow);
    free(i);
}
