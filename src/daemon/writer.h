/* daemon/writer.h - carries out what the scheduler wants written, at the API server.
 *
 * Writes about one pod go out one after the other, in the order in which they came: the nomination before the volumes,
 * the volumes before the binding. Writes about different pods do not wait for each other; lanes and rate are the
 * client's (api.h). Status patches are tried again as upstream does; a binding whose answer does not come is settled
 * by reading the pod.
 *
 * Who may have lost the lease writes nothing more: `may_act` is asked before every request.
 *
 * Thread: the loop's.    Owns: the writes that it was given. */
#pragma once

#include "daemon/engine.h"
#include "daemon/write.h"
#include "http/loop.h"

struct writer;

struct writer_options {
    struct loop *loop;
    const struct api *api;
    struct engine *engine; /* answers go there */
    struct event_recorder *events;
    bool (*may_act)(void *context); /* NULL: always */
    void *context;
    uint64_t seed;
};

struct writer *writer_new(const struct writer_options *o);
/* Gives up what is under way, without answers. */
void writer_free(struct writer *w);

void writer_add(struct writer *w, struct write *own_write);

/* Does what time brings; to be called some times a second. */
void writer_tick(struct writer *w);
/* Bindings whose pod had to be read, because their answer did not come. */
uint64_t writer_n_settled(const struct writer *w);
/* Writes that wait or are under way, Events apart. */
uint32_t writer_n_open(const struct writer *w);
