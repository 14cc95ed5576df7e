/* daemon/informers.h - the loop's side of what comes in: a reflector for every resource, and batches to the engine.
 *
 * Batches are bounded (inflow.h): when the engine is behind, reflectors are stopped, and so the server.
 *
 * Thread: the loop's.    Owns: reflectors. */
#pragma once

#include "client/reflector.h"
#include "daemon/engine.h"
#include "daemon/watched.h"
#include "http/loop.h"

struct berth_metrics;
struct informers;

struct informers_options {
    struct loop *loop;
    const struct api *api;
    struct engine *engine;
    bool no_streaming; /* lists come in pages from the start */
    uint64_t seed;
};

struct informers *informers_new(const struct informers_options *o);
/* The engine has ended: no batch is on its way any more but in the loop's mail. */
void informers_free(struct informers *i);

void informers_start(struct informers *i);
/* Nothing is received any more. */
void informers_stop(struct informers *i);

/* Counts what has begun anew since the last time. */
void informers_publish(struct informers *i, const struct berth_metrics *m);
