/* daemon/endpoints.h - what every component serves: health, metrics, configuration, flags, debugging; as routes for ops.h.
 *
 * Thread: the loop's.    Owns: the routes and copies of texts; what functions look at is the caller's. */
#pragma once

#include "daemon/health.h"
#include "daemon/ops.h"
#include "daemon/zpages.h"

struct endpoints;

/* A page of metrics in Prometheus's text format; DELETE on it resets. */
struct endpoints_metrics {
    const char *path;
    /* False: there is nothing now, not even a type (upstream's answer of who does not lead). */
    bool (*write)(void *context, struct strbuf *to);
    void (*reset)(void *context); /* NULL: DELETE is answered like any other method */
    void *context;
};

struct endpoints_options {
    struct loop *loop;
    struct health healthz, livez, readyz; /* without checks: ping alone */
    const struct endpoints_metrics *metrics;
    size_t n_metrics;
    struct str configz;   /* the configuration as JSON, served as {"componentconfig":...}; empty: no such endpoint */
    struct zpages zpages; /* paths are filled in here */
    bool flagz, statusz;
    bool profiling; /* /debug/... */
    const struct ops_route *others; /* further ones, which live as long as this */
    size_t n_others;
    uint64_t seed;
};

struct endpoints *endpoints_new(const struct endpoints_options *o);
void endpoints_free(struct endpoints *e);
const struct ops_route *endpoints_routes(const struct endpoints *e, size_t *ret_n);
