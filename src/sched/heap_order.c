/* sched/heap_order.c - see heap_order.h. */
#include "sched/heap_order.h"

void heap_order_fill(uint32_t *places, uint32_t *least, uint32_t n)
{
    uint32_t stack[64], depth = 0, next = 0; /* the tree of 2^32 nodes is 32 deep */
    if (n)
        stack[depth++] = 0;
    while (depth) {
        uint32_t index = stack[--depth];
        places[index] = next++;
        uint64_t left = 2 * (uint64_t)index + 1;
        if (left + 1 < n)
            stack[depth++] = (uint32_t)(left + 1);
        if (left < n)
            stack[depth++] = (uint32_t)left;
    }
    for (uint32_t i = 0; i < n; i++)
        if (i % 64 == 0 || places[i] < least[i / 64])
            least[i / 64] = places[i];
}
