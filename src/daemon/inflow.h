/* daemon/inflow.h - objects on their way from the loop to the engine, in batches and bounded.
 *
 * What is added within one turn of the loop is one batch. Batches that the engine has not taken in yet hold at most
 * INFORMERS_BYTES_MAX; whoever adds more than that is told to stop, and told again when half of them are gone.
 *
 * Thread: the loop's.    Owns: the batch that is being filled. */
#pragma once

#include "daemon/engine.h"
#include "daemon/intake.h"
#include "http/loop.h"

#define INFORMERS_BYTES_MAX (32 << 20)

struct inflow;

struct inflow_options {
    struct loop *loop;
    struct engine *engine;
    void (*room)(void *context); /* there is room again */
    void *context;
};

struct inflow *inflow_new(const struct inflow_options *o);
/* Nothing is added any more; what was not sent is dropped. */
void inflow_stop(struct inflow *f);
/* The engine has ended: no batch is on its way any more but in the loop's mail. */
void inflow_free(struct inflow *f);

/* False: no more until `room`. What was passed is taken in any case. `object` may be NULL. */
bool inflow_add(struct inflow *f, enum reflected what, enum watched resource, const struct watch_object *object);
