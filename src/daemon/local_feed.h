/* daemon/local_feed.h - what comes in, from the store of the same process: the stand-in for informers.h.
 *
 * A list of all that is watched, as the store has it at one revision, then every change after it, in the store's order: a
 * place in its log. When the engine is behind (inflow.h) the place stands still, which costs nothing; when the log no
 * longer reaches back to it, everything is listed again, and intake.h finds out what is gone.
 *
 * Thread: the store's.    Owns: references to listed items that are not handed on yet. */
#pragma once

#include "apiserver/stored.h"
#include "daemon/engine.h"
#include "http/loop.h"

struct local_feed;

struct local_feed_options {
    struct loop *loop;
    struct stored *objects;
    struct engine *engine;
};

struct local_feed *local_feed_new(const struct local_feed_options *o);
/* Begins with what there is. */
void local_feed_start(struct local_feed *f);
/* After the store was polled. */
void local_feed_poll(struct local_feed *f);
/* Nothing is handed on any more. Before the store goes. */
void local_feed_stop(struct local_feed *f);
/* The engine has ended. */
void local_feed_free(struct local_feed *f);
/* How often everything was listed. */
uint64_t local_feed_n_lists(const struct local_feed *f);
