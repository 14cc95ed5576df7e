/* daemon/health_metrics.c - see health_metrics.h. */
#include "daemon/health_metrics.h"

#include "daemon/process_metrics.h"

struct health_metrics health_metrics_add(struct metrics *r)
{
    process_metrics_add_start(r);
    return (struct health_metrics){
        .last = metrics_add_gauge(r, &(struct metric_desc){ "kubernetes_healthcheck",
                                                            "This metric records the result of a single healthcheck.",
                                                            { "name", "type" }, .stability = STABILITY_STABLE }),
        .total = metrics_add_counter(r, &(struct metric_desc){ "kubernetes_healthchecks_total",
                                                               "This metric records the results of all healthcheck.",
                                                               { "name", "type", "status" },
                                                               .stability = STABILITY_STABLE }),
    };
}

void health_metrics_note(const struct health_metrics *m, const char *check, const char *endpoint, bool healthy)
{
    struct str values[] = { str_of(check), str_of(endpoint), healthy ? STR("success") : STR("error") };
    series_set(metric_series(m->last, values), healthy);
    series_inc(metric_series(m->total, values));
}
