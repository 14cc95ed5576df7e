/* store/history.h - the recent changes of the store, oldest first: a ring of events, each with the state before it.
 *
 * An event has a number that is never used again (`seq`), so a watch is a number: it costs nothing while it waits, and
 * it knows that it was overtaken when its number is below the first one held.
 *
 * What it holds in memory are the states that are no longer current: each of them is the state before
 * exactly one event, so the bytes are the sum of these and of the deletions.
 *
 * Thread: one at a time.    Owns: a reference to every item in it. */
#pragma once

#include "store/item.h"

struct history_event {
    struct store_item *item; /* what the key became; its mod_revision is that of the event */
    struct store_item *prev; /* what it was; NULL = it did not exist */
};

struct history {
    struct history_event *ring; /* mask + 1 of them */
    uint64_t mask;
    uint64_t first, end; /* seq of the oldest event, and of the next one that comes */
    size_t n_bytes;
};

void history_init(struct history *h);
void history_fini(struct history *h);

/* Takes over both references. */
void history_push(struct history *h, struct history_event own_event);
/* The oldest; its references are the caller's. There must be one. */
struct history_event history_pop(struct history *h);
/* seq of the first event after a revision; `end` when there is none. */
uint64_t history_after(const struct history *h, uint64_t revision);

static inline struct history_event *history_at(const struct history *h, uint64_t seq)
{
    assert(seq >= h->first);
    assert(seq < h->end);
    return &h->ring[seq & h->mask];
}
