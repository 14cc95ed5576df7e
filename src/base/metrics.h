/* base/metrics.h - counters, gauges and histograms, and their Prometheus text form.
 *
 *     struct metric *attempts = metrics_add_counter(m, &(struct metric_desc){
 *         "scheduler_schedule_attempts_total", "Number of attempts ...", { "result", "profile" } });
 *     struct series *ok = metric_series(attempts, (struct str[]){ STR("scheduled"), profile });
 *     series_inc(ok);
 *
 * A metric has one series per set of label values; without labels it has one from the start. Series are
 * never removed, so a pointer to one may be kept for the life of the registry: hot paths look it up once.
 *
 * Bound: a metric holds at most n_series_max label sets, of values of at most METRIC_VALUE_BYTES_MAX. Beyond
 * that metric_series returns a series that takes updates and is not shown, and counts the call in
 * metrics_n_dropped: a peer that makes up label values costs one counter, not memory.
 *
 * Output: metrics by name, series by label values (labels in the order of their names), numbers as Go
 * prints them; a metric without series is left out. A histogram's count is the sum of its buckets as read;
 * its sum may run a few observations ahead or behind.
 *
 * Thread: any. Updates are atomic and never lock; metric_series, adding metrics and metrics_write lock.
 * Owns: all metrics and series, and copies of their texts. */
#pragma once

#include "base/strbuf.h"

#define METRIC_LABELS_MAX 8
#define METRIC_SERIES_MAX 10000 /* when n_series_max is 0 */
#define METRIC_VALUE_BYTES_MAX 1024 /* of one label value */
#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct metrics;
struct metric;
struct series;

struct metric_desc {
    const char *name, *help;
    const char *labels[METRIC_LABELS_MAX + 1]; /* ends with NULL */
    uint32_t n_series_max;                     /* 0 = METRIC_SERIES_MAX */
};

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* Names and labels are ours: a name that is malformed or taken is a mistake in the program and aborts. */
struct metric *metrics_add_counter(struct metrics *m, const struct metric_desc *desc);
struct metric *metrics_add_gauge(struct metrics *m, const struct metric_desc *desc);
/* Upper bounds, rising; the bucket for everything (+Inf) is added. */
struct metric *metrics_add_histogram(struct metrics *m, const struct metric_desc *desc, const double *bounds,
                                     uint32_t n_bounds);
/* n bounds: start, start + width, ... and start, start * factor, ... */
void metrics_linear_bounds(double start, double width, uint32_t n, double *ret_bounds);
void metrics_exponential_bounds(double start, double factor, uint32_t n, double *ret_bounds);

/* The series of these label values, in the order of the labels in the description; made when it is new.
 * `values` may be NULL for a metric without labels. */
struct series *metric_series(struct metric *metric, const struct str *values);

/* Counters take no negative amounts. */
void series_inc(struct series *s);
void series_add(struct series *s, double amount);
void series_set(struct series *s, double value);     /* gauges */
void series_observe(struct series *s, double value); /* histograms */
/* From now on the value is asked for when it is shown; read is called by the thread that writes, under the
 * registry's lock. For counters and gauges; set before other threads write. */
void series_read_from(struct series *s, double (*read)(void *context), void *context);

/* What has been added up or set; of a histogram the number of observations. */
double series_value(const struct series *s);

/* Appends all metrics in text format 0.0.4. */
void metrics_write(struct metrics *m, struct strbuf *out);
/* Calls of metric_series that found their metric full or a value too long. */
uint64_t metrics_n_dropped(const struct metrics *m);
