/* Words of rows that the quick way passes over hold no better place: sched/choose.c's bound on 64 places in a row. */
#include "sched/choose.c"

#include "sched/heap_order.h"
#include "tests/test.h"

TEST(no_place_of_the_next_64_is_below_the_bound)
{
    for (uint32_t n = 1; n < 1500; n += n < 300 ? 1 : 97) {
        struct cache c = { 0 };
        vec_reserve(&c.heap_order, n);
        vec_reserve(&c.heap_least, bitset_words(n));
        c.heap_order.n = n;
        c.heap_least.n = bitset_words(n);
        heap_order_fill(c.heap_order.at, c.heap_least.at, n);
        for (uint32_t rank = 0; rank < n; rank++) {
            uint32_t bound = least_place(&c, rank), least = UINT32_MAX;
            for (uint32_t i = rank; i < n && i < rank + 64; i++)
                least = c.heap_order.at[i] < least ? c.heap_order.at[i] : least;
            if (bound > least)
                FAIL("%u places: from %u on the least is %u, the bound %u", n, rank, least, bound);
            uint32_t end = (rank / 64 + (rank % 64 ? 2 : 1)) * 64, of_blocks = UINT32_MAX; /* which they lie in */
            for (uint32_t i = rank / 64 * 64; i < n && i < end; i++)
                of_blocks = c.heap_order.at[i] < of_blocks ? c.heap_order.at[i] : of_blocks;
            CHECK_INT("bound", bound, of_blocks);
        }
        vec_fini(&c.heap_order);
        vec_fini(&c.heap_least);
    }
}
