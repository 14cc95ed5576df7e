/* daemon/health_metrics.h - the page /metrics/slis: what health checks said.
 *
 * It is a registry of its own, with the start of the process; DELETE resets it like the other.
 *
 * Thread: any. */
#pragma once

#include "base/metrics.h"

struct health_metrics {
    struct metric *last, *total;
};

struct health_metrics health_metrics_add(struct metrics *registry);
/* A check of that name, asked for at `endpoint` ("healthz", "livez", "readyz"), went well or did not. */
void health_metrics_note(const struct health_metrics *m, const char *check, const char *endpoint, bool healthy);
