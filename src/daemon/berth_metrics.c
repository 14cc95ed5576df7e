/* daemon/berth_metrics.c - see berth_metrics.h. */
#include "daemon/berth_metrics.h"

enum { N_BOUNDS = 14 };

static struct series *counter(struct metrics *r, const char *name, const char *help)
{
    return metric_series(metrics_add_counter(r, &(struct metric_desc){ name, help }), NULL);
}

static struct series *gauge(struct metrics *r, const char *name, const char *help)
{
    return metric_series(metrics_add_gauge(r, &(struct metric_desc){ name, help }), NULL);
}

/* From a microsecond to 67 seconds. */
static struct series *histogram(struct metrics *r, const char *name, const char *help)
{
    double bounds[N_BOUNDS];
    metrics_exponential_bounds(0.000001, 4, N_BOUNDS, bounds);
    return metric_series(metrics_add_histogram(r, &(struct metric_desc){ name, help }, bounds, N_BOUNDS), NULL);
}

static double n_dropped(void *context)
{
    return (double)metrics_n_dropped(context);
}

void berth_metrics_add(struct metrics *r, struct berth_metrics *ret)
{
    *ret = (struct berth_metrics){
        .events_dropped = counter(r, "berth_events_dropped_total", "Events that were given up instead of being written."),
        .inbox_depth = gauge(r, "berth_inbox_depth", "Messages that wait for the scheduling thread."),
        .writes_waiting = gauge(r, "berth_writes_waiting", "Writes that wait to be sent to the API server."),
        .decode_seconds = histogram(r, "berth_decode_seconds", "Time to decode one object."),
        .turn_seconds = histogram(r, "berth_turn_seconds", "Time of one turn of the scheduling thread."),
        .decisions_kept = gauge(r, "berth_decisions_kept", "Decisions that can still be explained."),
        .dropped_values = counter(r, "berth_metric_values_dropped_total",
                                  "Updates of metrics whose label values found no room any more."),
        .watch_restarts = metrics_add_counter(
            r, &(struct metric_desc){ "berth_watch_restarts_total", "Lists and watches that began anew after an error.",
                                      { "resource" } }),
        .shadow_pods = metrics_add_counter(
            r, &(struct metric_desc){ "berth_shadow_pods_total",
                                      "Pods that another scheduler placed, by how that compares with berth's choice.",
                                      { "class" } }),
        .shadow_plugins = metrics_add_counter(
            r, &(struct metric_desc){ "berth_shadow_plugin_disagreements_total",
                                      "Choices of another scheduler that are not berth's, by the plugin that made the difference.",
                                      { "plugin", "class" } }),
    };
    series_read_from(ret->dropped_values, n_dropped, r);
}

void berth_metrics_watch_restarted(const struct berth_metrics *m, const char *resource)
{
    series_inc(metric_series(m->watch_restarts, (struct str[]){ str_of(resource) }));
}

static void count_plugin(const struct berth_metrics *m, const char *plugin, enum shadow_class class, uint64_t n)
{
    if (n)
        series_add(metric_series(m->shadow_plugins, (struct str[]){ str_of(plugin), str_of(shadow_class_name(class)) }),
                   (double)n);
}

/* All classes show from the start, so that a rate sees the first disagreement. */
void berth_metrics_count_shadow(const struct berth_metrics *m, const struct shadow_counts *now, struct shadow_counts *told)
{
    for (enum shadow_class i = 0; i < N_SHADOW_CLASSES; i++)
        series_add(metric_series(m->shadow_pods, (struct str[]){ str_of(shadow_class_name(i)) }),
                   (double)(now->n[i] - told->n[i]));
    for (uint32_t i = 0; i < now->n_plugins; i++) {
        const struct shadow_plugin *p = &now->plugins[i], *old = &told->plugins[i];
        count_plugin(m, p->name, SHADOW_LOWER, p->n_lower - old->n_lower);
        count_plugin(m, p->name, SHADOW_REFUSED, p->n_refused - old->n_refused);
    }
    *told = *now;
}
