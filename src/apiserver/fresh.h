/* apiserver/fresh.h - requests that wait for a version which is still to come.
 *
 * Whoever asks for what is at least as new as a version gets it when the store is there; not within FRESH_WAIT_MS, and the
 * wait fails. All wait equally long, so those that end first are the first of one list, with one timer; a heap by version
 * finds those whose version is there. A wait that goes on costs nothing.
 *
 * Thread: the store's.    Owns: nothing; a wait is part of whoever waits. */
#pragma once

#include "base/heap.h"
#include "base/list.h"
#include "http/loop.h"

enum {
    FRESH_WAIT_MS = 3000,    /* as upstream's watch cache */
    FRESH_WAITS_MAX = 4096,
};

struct fresh_wait {
    struct heap_node by_version;
    struct list_node by_deadline;
    uint64_t version;
    int64_t deadline_ms;
    /* Once, from fresh_poll or from a timer; the wait is over then. */
    void (*over)(struct fresh_wait *w, bool is_there);
};

struct fresh {
    struct loop *loop;
    struct heap by_version;
    struct list by_deadline;
    struct loop_timer timer; /* of the first deadline */
};

void fresh_init(struct fresh *f, struct loop *l);
/* Nobody waits any more. */
void fresh_fini(struct fresh *f);
/* False: too many wait already, and this one does not. */
bool fresh_begin(struct fresh *f, struct fresh_wait *w, uint64_t version);
/* Nobody wants to know any more; nothing when it does not wait. */
void fresh_stop(struct fresh *f, struct fresh_wait *w);
/* After the store was polled: `revision` can be read now. */
void fresh_poll(struct fresh *f, uint64_t revision);
