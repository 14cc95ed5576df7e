/* sim/trace_make.h - synthetic traces: CSV as trace.h reads it, made up after what public cluster traces have in
 * common.
 *
 * Jobs arrive as a Poisson process whose rate follows the time of day, three times as many at noon as at midnight. A
 * job is of one of a few kinds, which differ in size, priority, number of equal pods and duration; durations are
 * log-normal, those of services have a heavy (Pareto) tail. Most pods are small and short, most of the load is in few
 * large and long ones. Kinds and numbers are in docs/traces.md. Same options: same bytes.
 *
 * Thread: any. */
#pragma once

#include "base/strbuf.h"

enum { TRACE_MAKE_PODS_MAX = 1 << 26, TRACE_MAKE_HOURS_MAX = 100000 };

struct trace_make {
    uint64_t n_pods; /* from 1 to TRACE_MAKE_PODS_MAX */
    uint64_t seed;
    double hours;    /* over which they arrive; over 0, at most TRACE_MAKE_HOURS_MAX */
};

/* Hands out the text in pieces through `write`, which returns false to stop; false when it was stopped. */
bool trace_make(const struct trace_make *m, bool (*write)(void *context, struct str piece), void *context);
