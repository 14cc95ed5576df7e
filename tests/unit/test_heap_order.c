/* The order in which a heap gives out equal totals. */
#include "sched/heap_order.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/test.h"

TEST(eight_equal_nodes_are_preferred_in_this_order)
{
    static const uint32_t want[] = { 0, 1, 3, 7, 4, 2, 5, 6 };
    uint32_t places[8], least[1];
    heap_order_fill(places, least, 8);
    CHECK_INT("least", least[0], 0);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_INT("place", places[want[i]], i);
}

TEST(no_node_and_one_node)
{
    uint32_t place = 77, least = 77;
    heap_order_fill(&place, &least, 0);
    CHECK_INT("none", place, 77);
    heap_order_fill(&place, &least, 1);
    CHECK_INT("one", place, 0);
}

/* Numbers, keys and the walk over the tree agree, whatever the length of the list. */
TEST(keys_sort_as_the_numbers_do)
{
    for (uint32_t n = 2; n <= 300; n++) {
        uint32_t *places = mem_alloc(n * sizeof(*places)), *at = mem_alloc(n * sizeof(*at));
        uint32_t least[300 / 64 + 1];
        heap_order_fill(places, least, n);
        for (uint32_t i = 0; i < n; i++)
            CHECK(least[i / 64] <= places[i]);
        for (uint32_t i = 0; i < n; i++)
            at[i] = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
            CHECK(places[i] < n);
            CHECK_INT("taken once", at[places[i]], UINT32_MAX);
            at[places[i]] = i;
        }
        for (uint32_t i = 1; i < n; i++)
            CHECK(heap_order_key(at[i - 1]) < heap_order_key(at[i]));
        free(places);
        free(at);
    }
}

TEST(keys_hold_for_the_largest_index)
{
    CHECK(heap_order_key(0) < heap_order_key(1));
    CHECK(heap_order_key(1) < heap_order_key(2));
    CHECK(heap_order_key(UINT32_MAX / 2) < heap_order_key(UINT32_MAX - 1));
    CHECK(heap_order_key(UINT32_MAX - 2) < heap_order_key(UINT32_MAX - 1));
}
