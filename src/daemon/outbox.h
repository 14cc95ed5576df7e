/* daemon/outbox.h - what the scheduler wants of the world, on its way from the scheduling thread to the loop, and the
 * answers on their way back.
 *
 * Implements io.h. Writes are gathered and go to the loop as one mail when the thread has made some attempts or has
 * nothing more to do (outbox_flush). OUTBOX_WRITES_MAX of them may be open, Events apart: then no more attempts are
 * made until there is room, so that an API server that is slow, or a low rate, makes the scheduler wait and not grow.
 *
 * Thread: scheduling thread, except outbox_answer and what comes after it: the loop's.
 * Owns: writes that are not flushed yet. */
#pragma once

#include "base/clock.h"
#include "daemon/write.h"
#include "http/loop.h"
#include "sched/io.h"

#define OUTBOX_WRITES_MAX 1500 /* a half more than the client has at the server at once (REST_IN_FLIGHT_MAX) */

struct engine;
struct extender_calls;
struct outbox;

struct outbox_options {
    struct engine *engine;
    const struct clock *clock;
    enum media media; /* of bodies */
    struct extender_calls *extenders; /* NULL: there are none */
};

struct outbox *outbox_new(const struct outbox_options *o);
void outbox_free(struct outbox *b);
/* The outbox is the context. */
struct sched_io outbox_io(struct outbox *b);
/* Where writes go: called on the loop for each, in order, which owns it then. Nothing leaves before this is set. */
void outbox_connect(struct outbox *b, struct loop *loop, void (*take)(void *context, struct write *own_write),
                    void *context);

void outbox_flush(struct outbox *b);
bool outbox_is_full(const struct outbox *b);

/* A write has been answered (`error` NULL: it worked), for those with a ticket. */
void outbox_answer(struct engine *e, enum write_kind kind, io_ticket ticket, const char *error);
/* What a binding waits for has been written: from now on the engine looks whether it comes true. */
void outbox_volumes_written(struct engine *e, io_ticket ticket, struct volume_job *own_job);
/* A write is over, Events apart. */
void outbox_closed(struct engine *e);
