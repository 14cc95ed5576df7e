/* daemon/client_metrics.h - requests to the API server on /metrics: client-go's rest_client_* families.
 *
 * One serves all struct rest of a process: give each its observer (rest_options.observer).
 *
 * Thread: the loop's.    Owns: itself; the metrics are the registry's. */
#pragma once

#include "base/metrics.h"
#include "client/rest.h"

struct client_metrics;

/* `host` is the server's "host:port", as labels show it. The registry must outlive it. */
struct client_metrics *client_metrics_new(struct metrics *registry, struct str host);
/* After the last rest that it observes. */
void client_metrics_free(struct client_metrics *m);
struct rest_observer client_metrics_observer(struct client_metrics *m);
