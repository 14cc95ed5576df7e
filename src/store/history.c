/* store/history.c - see history.h. */
#include "store/history.h"

#include <stdlib.h>

enum { FIRST_EVENTS = 256 };

void history_init(struct history *h)
{
    *h = (struct history){ .mask = FIRST_EVENTS - 1, .ring = mem_alloc(FIRST_EVENTS * sizeof(*h->ring)) };
}

void history_fini(struct history *h)
{
    while (h->first < h->end) {
        struct history_event event = history_pop(h);
        store_item_unref(event.item);
        store_item_unref(event.prev);
    }
    free(h->ring);
}

static size_t event_bytes(const struct history_event *event)
{
    return sizeof(*event) + (event->prev ? store_item_bytes(event->prev) : 0)
           + (event->item->deleted ? store_item_bytes(event->item) : 0);
}

static void grow(struct history *h)
{
    uint64_t mask = h->mask * 2 + 1;
    struct history_event *ring = mem_alloc(mem_product(mask + 1, sizeof(*ring)));
    for (uint64_t seq = h->first; seq < h->end; seq++)
        ring[seq & mask] = h->ring[seq & h->mask];
    free(h->ring);
    h->ring = ring;
    h->mask = mask;
}

void history_push(struct history *h, struct history_event own_event)
{
    if (h->end - h->first > h->mask)
        grow(h);
    h->n_bytes += event_bytes(&own_event);
    h->ring[h->end++ & h->mask] = own_event;
}

struct history_event history_pop(struct history *h)
{
    struct history_event event = *history_at(h, h->first);
    h->n_bytes -= event_bytes(&event);
    h->first++;
    return event;
}

uint64_t history_after(const struct history *h, uint64_t revision)
{
    uint64_t low = h->first, high = h->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (history_at(h, middle)->item->mod_revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
