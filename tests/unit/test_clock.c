/* Clock: the real one moves, the manual one only when told. */
#include "base/clock.h"

#include "tests/test.h"

TEST(the_real_clock_never_steps_back)
{
    int64_t last = clock_mono_ns(&clock_real);
    CHECK(last > 0);
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_mono_ns(&clock_real);
        CHECK(now >= last);
        last = now;
    }
    CHECK(clock_wall_ns(&clock_real) > 1600000000ll * CLOCK_NS_PER_SECOND);
}

TEST(a_manual_clock_moves_only_when_told)
{
    struct clock_manual c;
    clock_manual_init(&c, 5 * CLOCK_NS_PER_MS, 100);
    CHECK_INT("ms", clock_mono_ms(&c.clock), 5);
    CHECK_INT("wall", clock_wall_ns(&c.clock), 100);
    clock_manual_advance(&c, 1999999);
    CHECK_INT("ms", clock_mono_ms(&c.clock), 6);
    CHECK_INT("ns", clock_mono_ns(&c.clock), 6999999);
    CHECK_INT("wall", clock_wall_ns(&c.clock), 2000099);
    clock_manual_set_wall(&c, 50);
    CHECK_INT("wall", clock_wall_ns(&c.clock), 50);
    CHECK_INT("ns", clock_mono_ns(&c.clock), 6999999);
}
