/* sim/trace_stats.h - what is kept of a run in virtual time: levels over time, and how long pods waited.
 *
 * Levels (what is in use, how many run and wait) hold from one change to the next. They are summed exactly, over equal
 * stretches of time that double in length when there are TRACE_SAMPLES_MAX of them, so that memory is bounded and means
 * are weighted by time. Waits are counted by their length, so that percentiles are exact: the least wait that at least
 * that share of all waits does not exceed (nearest rank).
 *
 * Thread: one. */
#pragma once

#include "base/map.h"
#include "base/vec.h"

enum { TRACE_SAMPLES_MAX = 500 };

struct trace_level {
    int64_t milli_cpu, memory, running, waiting;
};

/* Level times milliseconds. */
struct trace_sums {
    __int128 milli_cpu, memory, running, waiting;
    int64_t ms;
};

struct trace_samples {
    int64_t width_ms; /* of each; the last one may be shorter */
    uint32_t n;
    struct trace_sums at[TRACE_SAMPLES_MAX];
    struct trace_sums total;
    struct trace_level peak;
};

struct trace_mean {
    double milli_cpu, memory, running, waiting;
};

void trace_samples_init(struct trace_samples *s);
/* The level held from one time to another; times go on from call to call, from 0. */
void trace_samples_add(struct trace_samples *s, const struct trace_level *level, int64_t from_ms, int64_t to_ms);
/* The level was reached, for however short. */
void trace_samples_peak(struct trace_samples *s, const struct trace_level *level);
struct trace_mean trace_sums_mean(const struct trace_sums *s);

struct trace_priority_waits {
    int32_t priority;
    struct map_u64 counts; /* milliseconds -> pods */
};

struct trace_waits {
    VEC(struct trace_priority_waits) by_priority; /* by priority, highest first */
};

struct trace_wait_stats {
    uint64_t n;
    double mean_ms;
    int64_t p50_ms, p90_ms, p99_ms, max_ms; /* 0 without any */
};

void trace_waits_init(struct trace_waits *w);
void trace_waits_fini(struct trace_waits *w);
void trace_waits_add(struct trace_waits *w, int32_t priority, int64_t wait_ms);
/* Of one waits, or of all when it is NULL. */
struct trace_wait_stats trace_waits_stats(const struct trace_waits *w, const struct trace_priority_waits *one);
