/* base/heap.h - binary heap of items that know their place, so that any of them can move or leave.
 *
 * An item embeds a struct heap_node, zeroed while it is in no heap; HEAP_ITEM leads back to the item.
 * push, pop, update and remove take O(log n) comparisons; looking at the least item is free.
 *
 * Items that compare equal leave in no promised order, but always in the same one for the same calls,
 * and that is the order of Go's container/heap: the sift rules are the same, so queues of pods with equal
 * keys drain here as they do upstream.
 *
 * Thread: one at a time.    Owns: the array, not the items. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
    uint32_t place; /* index + 1; 0 = in no heap */
};

#define HEAP_ITEM(node, type, member) ((type *)((uintptr_t)(node) - offsetof(type, member)))

/* Whether a must leave before b. */
typedef bool (*heap_less)(const struct heap_node *a, const struct heap_node *b, void *context);

struct heap {
    struct heap_node **nodes;
    uint32_t n, cap;
    heap_less less;
    void *context; /* for less */
};

void heap_init(struct heap *h, heap_less less, void *context);
/* The items are only forgotten: their nodes keep old places. */
void heap_fini(struct heap *h);

static inline bool heap_has(const struct heap_node *node)
{
    return node->place != 0;
}

/* NULL when empty. */
static inline struct heap_node *heap_top(const struct heap *h)
{
    return h->n ? h->nodes[0] : NULL;
}

/* The node must be in no heap. */
void heap_push(struct heap *h, struct heap_node *node);
/* NULL when empty. */
struct heap_node *heap_pop(struct heap *h);
/* The keys of the item have changed. */
void heap_update(struct heap *h, struct heap_node *node);
void heap_remove(struct heap *h, struct heap_node *node);
