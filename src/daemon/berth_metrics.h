/* daemon/berth_metrics.h - metrics of berth's own, which kube-scheduler has no counterpart of; all begin with "berth_".
 *
 * Thread: any; the members are series, to be moved where things happen. Owns: nothing, they are the registry's. */
#pragma once

#include "base/metrics.h"
#include "insight/shadow.h"

struct berth_metrics {
    struct series *events_dropped;  /* Events that were not written: counter */
    struct series *inbox_depth;     /* mail that the scheduling thread has not taken yet: gauge */
    struct series *writes_waiting;  /* bindings, conditions, evictions that are not sent yet: gauge */
    struct series *decode_seconds;  /* one object from its bytes to what the scheduler reads: histogram */
    struct series *turn_seconds;    /* the scheduling thread from waking to sleeping: histogram */
    struct series *decisions_kept;  /* for explanations: gauge */
    struct series *dropped_values;  /* lookups of series that found no room: counter, read from the registry */
    struct metric *watch_restarts;  /* by resource: lists and watches that began anew after an error */
    struct metric *shadow_pods;     /* by class: pods that another scheduler placed, compared with berth's choice */
    struct metric *shadow_plugins;  /* by plugin and class: which one made the difference */
};

void berth_metrics_add(struct metrics *registry, struct berth_metrics *ret_metrics);
/* A list or watch of a resource ("pods") began anew. */
void berth_metrics_watch_restarted(const struct berth_metrics *m, const char *resource);
/* Counts what `now` has more than `told`, which then is the same. */
void berth_metrics_count_shadow(const struct berth_metrics *m, const struct shadow_counts *now, struct shadow_counts *told);
