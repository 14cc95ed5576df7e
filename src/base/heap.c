/* base/heap.c - see heap.h. The children of index i are 2i+1 and 2i+2; nothing leaves after its child. */
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_CAP = 64 };

void heap_init(struct heap *h, heap_less less, void *context)
{
    *h = (struct heap){ .less = less, .context = context };
}

void heap_fini(struct heap *h)
{
    free(h->nodes);
    *h = (struct heap){ .less = h->less, .context = h->context };
}

static void put(struct heap *h, uint32_t i, struct heap_node *node)
{
    h->nodes[i] = node;
    node->place = i + 1;
}

static void sift_up(struct heap *h, uint32_t i, struct heap_node *node)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / 2;
        if (!h->less(node, h->nodes[parent], h->context))
            break;
        put(h, i, h->nodes[parent]);
        i = parent;
    }
    put(h, i, node);
}

/* Whether it moved; if not, it may still have to go up. */
static bool sift_down(struct heap *h, uint32_t i, struct heap_node *node)
{
    uint32_t start = i;
    for (;;) {
        uint64_t left = 2 * (uint64_t)i + 1;
        if (left >= h->n)
            break;
        uint32_t child = (uint32_t)left;
        if (left + 1 < h->n && h->less(h->nodes[left + 1], h->nodes[left], h->context))
            child++;
        if (!h->less(h->nodes[child], node, h->context))
            break;
        put(h, i, h->nodes[child]);
        i = child;
    }
    put(h, i, node);
    return i != start;
}

static void settle(struct heap *h, uint32_t i, struct heap_node *node)
{
    if (!sift_down(h, i, node))
        sift_up(h, i, node);
}

void heap_push(struct heap *h, struct heap_node *node)
{
    assert(!heap_has(node));
    if (h->n == h->cap) {
        assert(h->cap <= UINT32_MAX / 2);
        h->cap = h->cap ? h->cap * 2 : FIRST_CAP;
        h->nodes = mem_realloc(h->nodes, mem_product(h->cap, sizeof(*h->nodes)));
    }
    sift_up(h, h->n++, node);
}

void heap_update(struct heap *h, struct heap_node *node)
{
    assert(heap_has(node));
    assert(h->nodes[node->place - 1] == node);
    settle(h, node->place - 1, node);
}

void heap_remove(struct heap *h, struct heap_node *node)
{
    assert(heap_has(node));
    uint32_t i = node->place - 1;
    assert(i < h->n);
    assert(h->nodes[i] == node);
    struct heap_node *last = h->nodes[--h->n];
    if (last != node)
        settle(h, i, last);
    node->place = 0;
}

struct heap_node *heap_pop(struct heap *h)
{
    struct heap_node *top = heap_top(h);
    if (top)
        heap_remove(h, top);
    return top;
}
