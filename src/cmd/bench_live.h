/* cmd/bench_live.h - `berth bench` against any API server and scheduler: a workload's objects are created there, and a
 * watch tells when its pods get nodes.
 *
 * Everything that is created has a label of the run and is deleted at the end, also after Ctrl-C: exactly what was
 * made, by name. Nothing else of the cluster is touched.
 *
 * Thread: main. */
#pragma once

#include <sys/types.h>

#include "cmd/cluster.h"
#include "sim/workload.h"

#define BENCH_LIVE_LABEL "berth-bench" /* its value is the run's */

enum {
    BENCH_LIVE_IN_FLIGHT = 200, /* requests at once, when the options say none */
    BENCH_LIVE_IN_FLIGHT_MAX = 900,
    BENCH_LIVE_TIMEOUT_S = 300,
};

struct bench_live_options {
    const struct command *c;
    struct cluster_options cluster;
    bool json;        /* of the output */
    bool json_bodies; /* requests are JSON; otherwise protobuf */
    bool keep, yes;
    uint32_t in_flight, timeout_s;
    pid_t scheduler_pid; /* 0: none */
};

struct bench_live_result {
    uint32_t n_measured, n_bound;
    double seconds, throughput; /* from the first request that creates a measured pod to the last one's node */
    double interval_p50, interval_min, interval_max; /* pods a second, of whole seconds; 0: there was none */
    uint32_t n_intervals;
    double bound_ms_p50, bound_ms_p99, bound_ms_p999, bound_ms_max; /* of one pod: from its request to its node */
    double create_seconds;                                          /* until all were created */
    double cpu_seconds;                                             /* of the scheduler's process, meanwhile */
    long rss_bytes, rss_bytes_max;
    bool has_process;
};

/* Runs one workload and prints its figures. 0, or the exit code after saying why. */
int bench_live_run(const struct bench_live_options *o, const struct workload *w);
int bench_live_heading(const struct bench_live_options *o);
