/* base/clock.c - see clock.h. */
#include "base/clock.h"

#include <assert.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);
    assert(rc == 0);
    return (int64_t)now.tv_sec * CLOCK_NS_PER_SECOND + now.tv_nsec;
}

static int64_t real_mono_ns(const struct clock *c)
{
    (void)c;
    return read_ns(CLOCK_MONOTONIC);
}

static int64_t real_wall_ns(const struct clock *c)
{
    (void)c;
    return read_ns(CLOCK_REALTIME);
}

const struct clock clock_real = { real_mono_ns, real_wall_ns };

static const struct clock_manual *manual(const struct clock *c)
{
    return (const struct clock_manual *)(const void *)c;
}

static int64_t manual_mono_ns(const struct clock *c)
{
    return atomic_load(&manual(c)->mono_ns);
}

static int64_t manual_wall_ns(const struct clock *c)
{
    return atomic_load(&manual(c)->wall_ns);
}

void clock_manual_init(struct clock_manual *c, int64_t mono_ns, int64_t wall_ns)
{
    c->clock = (struct clock){ manual_mono_ns, manual_wall_ns };
    atomic_init(&c->mono_ns, mono_ns);
    atomic_init(&c->wall_ns, wall_ns);
}

void clock_manual_advance(struct clock_manual *c, int64_t ns)
{
    assert(ns >= 0);
    atomic_fetch_add(&c->mono_ns, ns);
    atomic_fetch_add(&c->wall_ns, ns);
}

void clock_manual_set_wall(struct clock_manual *c, int64_t wall_ns)
{
    atomic_store(&c->wall_ns, wall_ns);
}
