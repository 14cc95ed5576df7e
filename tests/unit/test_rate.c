/* The token bucket and the lanes. */
#include <stdlib.h>

#include "base/mem.h"
#include "client/rate.h"
#include "tests/test.h"

#define SECOND INT64_C(1000000000)
#define LAST (N_API_LANES - 1)

static struct rate rate;
static struct rate_waiter waiters[1000];

static int take_all(int64_t now_ns)
{
    int n = 0;
    while (rate_next(&rate, LAST, now_ns))
        n++;
    return n;
}

static void join_all(int n)
{
    for (int i = 0; i < n; i++)
        CHECK(rate_join(&rate, &waiters[i], API_LANE_BIND));
}

TEST(a_burst_goes_at_once_and_then_as_many_a_second)
{
    int64_t start = 12345;
    rate_init(&rate, 50, 100, start);
    join_all(300);
    CHECK_INT("burst", take_all(start), 100);
    CHECK_INT("nothing is left", take_all(start), 0);
    CHECK_INT("due", rate_due_ns(&rate, LAST) - start, SECOND / 50 + 1);
    CHECK_INT("when due", take_all(rate_due_ns(&rate, LAST)), 1);
    CHECK_INT("a second", take_all(start + SECOND + 10), 49);
    CHECK_INT("a long rest fills the bucket and no more", take_all(start + 3600 * SECOND), 100);
    CHECK_INT("rest", take_all(start + 7200 * SECOND), 50);
    CHECK(rate_due_ns(&rate, LAST) == RATE_NEVER);
}

TEST(without_limit_all_go)
{
    for (int qps = -1; qps <= 0; qps++) {
        rate_init(&rate, qps, 1, 0);
        join_all(1000);
        CHECK_INT("due", rate_due_ns(&rate, LAST), 0);
        CHECK_INT("all", take_all(0), 1000);
    }
}

TEST(a_burst_below_one_still_lets_requests_through)
{
    rate_init(&rate, 10, 0, 0);
    join_all(2);
    CHECK_INT("first", take_all(0), 1);
    CHECK_INT("second", take_all(SECOND), 1);
}

TEST(a_clock_that_steps_back_gives_and_takes_nothing)
{
    rate_init(&rate, 1, 1, 10 * SECOND);
    join_all(3);
    CHECK_INT("burst", take_all(10 * SECOND), 1);
    CHECK_INT("back", take_all(SECOND), 0);
    CHECK_INT("again there", take_all(11 * SECOND), 1);
}

TEST(a_tiny_rate_is_due_far_away_not_in_the_past)
{
    rate_init(&rate, 1e-300, 1, 0);
    join_all(2);
    CHECK_INT("burst", take_all(0), 1);
    CHECK(rate_due_ns(&rate, LAST) >= SECOND);
}

TEST(lanes_are_served_in_order_and_each_first_come_first_served)
{
    static const enum api_lane came[] = { API_LANE_EVENT, API_LANE_BIND,  API_LANE_STATUS, API_LANE_BIND,
                                          API_LANE_EVICT, API_LANE_LEASE, API_LANE_READ,   API_LANE_EVENT };
    static const int served[] = { 5, 6, 1, 3, 4, 2, 0, 7 };
    rate_init(&rate, 1, 8, 0);
    for (int i = 0; i < 8; i++)
        CHECK(rate_join(&rate, &waiters[i], came[i]));
    for (int i = 0; i < 8; i++)
        CHECK_INT("served", rate_next(&rate, LAST, 0) - waiters, served[i]);
}

TEST(lanes_behind_the_last_one_asked_for_wait)
{
    rate_init(&rate, 1, 8, 0);
    CHECK(rate_join(&rate, &waiters[0], API_LANE_BIND));
    CHECK(!rate_next(&rate, API_LANE_LEASE, 0));
    CHECK(rate_due_ns(&rate, API_LANE_LEASE) == RATE_NEVER);
    CHECK(rate_join(&rate, &waiters[1], API_LANE_LEASE));
    CHECK(rate_next(&rate, API_LANE_LEASE, 0) == &waiters[1]);
    CHECK(rate_next(&rate, API_LANE_BIND, 0) == &waiters[0]);
}

TEST(who_leaves_is_not_served_and_may_leave_twice)
{
    rate_init(&rate, 1, 8, 0);
    join_all(3);
    rate_leave(&rate, &waiters[1]);
    rate_leave(&rate, &waiters[1]);
    CHECK(rate_next(&rate, LAST, 0) == &waiters[0]);
    CHECK(rate_next(&rate, LAST, 0) == &waiters[2]);
    CHECK(!rate_next(&rate, LAST, 0));
}

TEST(a_full_lane_turns_away_and_others_do_not)
{
    struct rate_waiter *many = mem_zalloc((RATE_LANE_MAX + 1) * sizeof(*many)), other = { 0 };
    rate_init(&rate, 1, 1, 0);
    for (int i = 0; i < RATE_LANE_MAX; i++)
        CHECK(rate_join(&rate, &many[i], API_LANE_EVENT));
    CHECK(!rate_join(&rate, &many[RATE_LANE_MAX], API_LANE_EVENT));
    CHECK(rate_join(&rate, &other, API_LANE_BIND));
    CHECK(rate_next(&rate, LAST, 0) == &other);
    rate_leave(&rate, &many[7]);
    CHECK(rate_join(&rate, &many[RATE_LANE_MAX], API_LANE_EVENT));
    free(many);
}
