/* base/clock.h - time as a value that is handed in, so that tests and the simulator can set it.
 *
 * Two times: monotonic, for distances and deadlines, from an arbitrary start, never steps back; wall,
 * since 1970-01-01 UTC, for what people and peers read.
 *
 * Thread: any. A manual clock may be set by one thread while others read it. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define CLOCK_NS_PER_MS 1000000
#define CLOCK_NS_PER_SECOND 1000000000

struct clock {
    int64_t (*mono_ns)(const struct clock *c);
    int64_t (*wall_ns)(const struct clock *c);
};

/* The clock of the machine. */
extern const struct clock clock_real;

/* Stands still until it is moved. */
struct clock_manual {
    struct clock clock; /* first: a pointer to it is a pointer to the manual clock */
    _Atomic int64_t mono_ns, wall_ns;
};

void clock_manual_init(struct clock_manual *c, int64_t mono_ns, int64_t wall_ns);
/* Moves both times; not back. */
void clock_manual_advance(struct clock_manual *c, int64_t ns);
/* Steps the wall time alone, as an administrator may. */
void clock_manual_set_wall(struct clock_manual *c, int64_t wall_ns);

static inline int64_t clock_mono_ns(const struct clock *c)
{
    return c->mono_ns(c);
}

static inline int64_t clock_mono_ms(const struct clock *c)
{
    return c->mono_ns(c) / CLOCK_NS_PER_MS;
}

static inline int64_t clock_wall_ns(const struct clock *c)
{
    return c->wall_ns(c);
}
