/* base/metrics.h - counters, gauges and histograms, and their Prometheus text form.
 *
 *     struct metric *attempts = metrics_add_counter(m, &(struct metric_desc){
 *         "scheduler_schedule_attempts_total", "Number of attempts ...", { "result", "profile" } });
 *     struct series *ok = metric_series(attempts, (struct str[]){ STR("scheduled"), profile });
 *     series_inc(ok);
 *
 * A metric has one series per set of label values; without labels it has one from the start. Series are
 * never removed, so a pointer to one may be kept for the life of the registry: hot paths look it up once.
 * metrics_reset empties them and takes them off the page; the next update shows them again.
 *
 * Bound: a metric holds at most n_series_max label sets, of values of at most METRIC_VALUE_BYTES_MAX. Beyond
 * that metric_series returns a series that takes updates and is not shown, and counts the call in
 * metrics_n_dropped: a peer that makes up label values costs one counter, not memory.
 *
 * Output: metrics by name, series by label values (labels in the order of their names), numbers as Go
 * prints them; a metric without series is left out. A histogram's count is the sum of its buckets as read;
 * its sum may run a few observations ahead or behind.
 *
 * What an operator may say about metrics (metrics_disable, metrics_allow_values) is said before metrics are added.
 *
 * Thread: any. Updates are atomic and never lock; metric_series, adding metrics, metrics_reset and metrics_write lock.
 * An update while metrics_reset runs may count before it, after it, or of a histogram in part.
 * Owns: all metrics and series, and copies of their texts. */
#pragma once

#include "base/strbuf.h"

#define METRIC_LABELS_MAX 9
#define METRIC_SERIES_MAX 10000 /* when n_series_max is 0 */
#define METRIC_VALUE_BYTES_MAX 1024 /* of one label value */
#define METRICS_ALLOWED_MAX 1000 /* labels with a list of allowed values */
/* As Go's handler answers who asks for nothing in particular. */
#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

struct metrics;
struct metric;
struct series;

/* How long a metric is promised to stay; stands before its help: "[STABLE] ...". */
enum metric_stability { STABILITY_NONE, STABILITY_INTERNAL, STABILITY_ALPHA, STABILITY_BETA, STABILITY_STABLE, N_STABILITIES };

struct metric_desc {
    const char *name, *help;
    const char *labels[METRIC_LABELS_MAX + 1]; /* ends with NULL */
    uint32_t n_series_max;                     /* 0 = METRIC_SERIES_MAX */
    enum metric_stability stability;           /* NONE: the help stands alone */
};

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* --disabled-metrics: a metric of that name, added already or later, is not shown. */
void metrics_disable(struct metrics *m, struct str name);
/* --allow-metric-labels: from now on a value of the metric's label that is not among `values` (commas between) becomes
 * "unexpected" and is counted. Of a label that is named twice the last list counts. False: there is no room for more. */
bool metrics_allow_values(struct metrics *m, struct str metric, struct str label, struct str values);
/* Metrics about metrics, as every Kubernetes component has them: registered_metrics_total and so on. */
void metrics_add_meta(struct metrics *m);

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
/* The same, but a new one is not shown before its first update. */
struct series *metric_series_unseen(struct metric *metric, const struct str *values);

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

/* As DELETE /metrics: metrics with labels have no series any more that show, counters without labels are 0; gauges and
 * histograms without labels stay, and what is asked for when it is shown. */
void metrics_reset(struct metrics *m);
/* A label's value, as text that may stand between its quotes: for whoever writes a page of his own. */
void metrics_add_label_value(struct strbuf *out, struct str value);
/* Appends all metrics in text format 0.0.4. */
void metrics_write(struct metrics *m, struct strbuf *out);
/* Calls of metric_series that found their metric full or a value too long. */
uint64_t metrics_n_dropped(const struct metrics *m);
