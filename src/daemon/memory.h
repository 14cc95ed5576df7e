/* daemon/memory.h - gives memory back that a burst of work has left behind.
 *
 * The allocator keeps what was freed, for the next burst; after ten thousand bindings at once that is as much as all that is
 * in use. Now and then, when more than a quarter is unused, it is given back, by a worker.
 *
 * Thread: the loop's. */
#pragma once

#include "http/loop.h"

enum { MEMORY_LOOK_MS = 10000, MEMORY_UNUSED_BYTES_MIN = 16 << 20 };

struct memory {
    struct loop *loop;
    int64_t next_ms;
    bool busy;
};

/* Some times a second. It must not be busy when it is freed: see memory_is_busy. */
void memory_tick(struct memory *m);
bool memory_is_busy(const struct memory *m);
