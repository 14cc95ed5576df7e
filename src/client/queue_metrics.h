/* client/queue_metrics.h - workqueue_*: client-go's metrics of work queues, by the name of a queue.
 *
 * Thread: any; series are the registry's. */
#pragma once

#include "base/metrics.h"

struct work_queue_families;
struct work_queue_families *work_queue_families_new(struct metrics *registry);
void work_queue_families_free(struct work_queue_families *f);

struct work_queue_metrics {
    struct series *adds, *depth, *retries, *waited, *worked, *unfinished, *longest;
};
/* All of them show from now on. */
struct work_queue_metrics work_queue_metrics_of(struct work_queue_families *f, const char *name);
/* Of what is no queue, but does the same work: one item was done that waited and worked so long. */
void work_queue_metrics_done(const struct work_queue_metrics *q, double waited_s, double worked_s);
