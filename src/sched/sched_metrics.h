/* sched/sched_metrics.h - what a scheduler tells of itself on /metrics: kube-scheduler's names, labels, helps and buckets
 * (v1.36.4). docs/compatibility.md says which numbers mean something else here.
 *
 * One belongs to one scheduler (sched_options.metrics). Nothing that is measured is ever looked at by a decision: the
 * clock here is not that of io.h, and a recording is the same with and without.
 *
 * Counts and durations of attempts move as they happen. What the queue and the cache know anyway (pending_pods,
 * queue_incoming_pods_total, unschedulable_pods, inflight_events, cache_size, goroutines, plugin_evaluation_total) costs
 * nothing until sched_publish_metrics (sched.h) writes it down: call it before the scheduling thread sleeps, and about
 * once a second while it does not.
 *
 * Thread: scheduling thread only, but for what goes through the registry, whose pages any thread may write.
 * Owns: its tables; the metrics are the registry's. */
#pragma once

#include "base/clock.h"
#include "base/metrics.h"
#include "sched/plugin.h"

struct sched_metrics;

struct sched_metrics_options {
    struct metrics *registry;  /* must outlive it */
    const struct clock *clock; /* must outlive it; NULL: the machine's */
    struct features features;
    bool batching;        /* gate OpportunisticBatching: its families show, as if no two pods were ever alike */
    bool async_api_calls; /* gate SchedulerAsyncAPICalls */
    bool samples_first;   /* of every ten attempts the first is looked at plugin by plugin, instead of the last: so that
                             a page that is read early has all families */
};

/* Adds the families to the registry. */
struct sched_metrics *sched_metrics_new(const struct sched_metrics_options *options);
void sched_metrics_free(struct sched_metrics *m);

/* With async_api_calls: a call waits, or one that waited has begun (by -1); one has ended. `type` as upstream's:
 * "pod_binding", "pod_status_patch". */
void sched_metrics_api_call_waits(struct sched_metrics *m, const char *type, int by);
void sched_metrics_api_call_done(struct sched_metrics *m, const char *type, bool worked, double seconds);
