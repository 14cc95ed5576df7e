/* client/queue_metrics.c - see queue_metrics.h. */
#include "client/queue_metrics.h"

#include <stdlib.h>

#include "base/mem.h"

struct work_queue_families {
    struct metric *adds, *depth, *retries, *waited, *worked, *unfinished, *longest;
};

static struct metric *add_work_histogram(struct metrics *r, const char *name, const char *help)
{
    double bounds[10];
    metrics_exponential_bounds(10e-9, 10, 10, bounds);
    return metrics_add_histogram(r, &(struct metric_desc){ name, help, { "name" }, .stability = STABILITY_BETA }, bounds, 10);
}

struct work_queue_families *work_queue_families_new(struct metrics *r)
{
#define DESC(name, help) (&(struct metric_desc){ "workqueue_" name, help, { "name" }, .stability = STABILITY_BETA })
    struct work_queue_families *f = mem_zalloc(sizeof(*f));
    f->adds = metrics_add_counter(r, DESC("adds_total", "Total number of adds handled by workqueue"));
    f->depth = metrics_add_gauge(r, DESC("depth", "Current depth of workqueue"));
    f->retries = metrics_add_counter(r, DESC("retries_total", "Total number of retries handled by workqueue"));
    f->waited = add_work_histogram(r, "workqueue_queue_duration_seconds",
                                   "How long in seconds an item stays in workqueue before being requested.");
    f->worked = add_work_histogram(r, "workqueue_work_duration_seconds",
                                   "How long in seconds processing an item from workqueue takes.");
    f->unfinished = metrics_add_gauge(
        r, DESC("unfinished_work_seconds",
                "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large "
                "values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which "
                "this increases."));
    f->longest = metrics_add_gauge(
        r, DESC("longest_running_processor_seconds",
                "How many seconds has the longest running processor for workqueue been running."));
#undef DESC
    return f;
}

void work_queue_families_free(struct work_queue_families *f)
{
    free(f);
}

struct work_queue_metrics work_queue_metrics_of(struct work_queue_families *f, const char *name)
{
    struct str value = str_of(name);
    return (struct work_queue_metrics){
        .adds = metric_series(f->adds, &value),
        .depth = metric_series(f->depth, &value),
        .retries = metric_series(f->retries, &value),
        .waited = metric_series(f->waited, &value),
        .worked = metric_series(f->worked, &value),
        .unfinished = metric_series(f->unfinished, &value),
        .longest = metric_series(f->longest, &value),
    };
}

void work_queue_metrics_done(const struct work_queue_metrics *q, double waited_s, double worked_s)
{
    series_inc(q->adds);
    series_observe(q->waited, waited_s);
    series_observe(q->worked, worked_s);
}
