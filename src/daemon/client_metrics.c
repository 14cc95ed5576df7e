/* daemon/client_metrics.c - see client_metrics.h. */
#include "daemon/client_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

struct client_metrics {
    char *host;
    struct metric *requests, *retries, *seconds, *waits, *request_bytes, *answer_bytes;
    struct series *carriers, *carriers_made;
};

#define DESC(name, help, ...) (&(struct metric_desc){ "rest_client_" name, help, { __VA_ARGS__ }, .stability = STABILITY_ALPHA })

static const double of_seconds[] = { 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60 };
static const double of_bytes[] = { 64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216 };
static const double of_ages[] = { 600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000 };

#define BOUNDS(array) (array), sizeof(array) / sizeof((array)[0])

/* Programs that give credentials are run, but not measured: these say that there are none. */
static void add_exec_families(struct metrics *r)
{
    struct metric *ttl = metrics_add_gauge(
        r, DESC("exec_plugin_ttl_seconds",
                "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec plugin. The "
                "value is in seconds until certificate expiry (negative if already expired). If auth exec plugins are "
                "unused or manage no TLS certificates, the value will be +INF.",
                NULL));
    series_set(metric_series(ttl, NULL), (double)INFINITY);
    metrics_add_histogram(
        r, DESC("exec_plugin_certificate_rotation_age",
                "Histogram of the number of seconds the last auth exec plugin client certificate lived before being "
                "rotated. If auth exec plugin client certificates are unused, histogram will contain no data.",
                NULL),
        BOUNDS(of_ages));
}

static void add_transport_families(struct client_metrics *m, struct metrics *r)
{
    m->carriers = metric_series(metrics_add_gauge(r, DESC("transport_cache_entries",
                                                          "Number of transport entries in the internal cache.", NULL)),
                                NULL);
    struct metric *made = metrics_add_counter(
        r, DESC("transport_create_calls_total",
                "Number of calls to get a new transport, partitioned by the result of the operation hit: obtained from the "
                "cache, miss: created and added to the cache, miss-gc: recreated and added back to the cache after being "
                "garbage collected, uncacheable: created and not cached",
                "result"));
    m->carriers_made = metric_series_unseen(made, (struct str[]){ STR("miss") });
    metrics_add_counter(r, DESC("transport_cert_rotation_gc_calls_total",
                                "Number of times a cert rotation goroutine cancel func is called via GC cleanup of the "
                                "associated transport",
                                NULL));
}

struct client_metrics *client_metrics_new(struct metrics *r, struct str host)
{
    struct client_metrics *m = mem_zalloc(sizeof(*m));
    m->host = mem_zalloc(host.n + 1);
    memcpy(m->host, host.p, host.n);
    m->requests = metrics_add_counter(
        r, DESC("requests_total", "Number of HTTP requests, partitioned by status code, method, and host.", "code", "method",
                "host"));
    m->retries = metrics_add_counter(
        r, DESC("request_retries_total", "Number of request retries, partitioned by status code, verb, and host.", "code",
                "verb", "host"));
    m->seconds = metrics_add_histogram(r, DESC("request_duration_seconds",
                                               "Request latency in seconds. Broken down by verb, and host.", "verb", "host"),
                                       BOUNDS(of_seconds));
    m->waits = metrics_add_histogram(
        r, DESC("rate_limiter_duration_seconds", "Client side rate limiter latency in seconds. Broken down by verb, and host.",
                "verb", "host"),
        BOUNDS(of_seconds));
    m->request_bytes = metrics_add_histogram(
        r, DESC("request_size_bytes", "Request size in bytes. Broken down by verb and host.", "verb", "host"),
        BOUNDS(of_bytes));
    m->answer_bytes = metrics_add_histogram(
        r, DESC("response_size_bytes", "Response size in bytes. Broken down by verb and host.", "verb", "host"),
        BOUNDS(of_bytes));
    add_exec_families(r);
    add_transport_families(m, r);
    return m;
}

void client_metrics_free(struct client_metrics *m)
{
    free(m->host);
    free(m);
}

/* ---- What is told ---- */

static void count_code(const struct client_metrics *m, struct metric *metric, const char *method, int status)
{
    char code[16] = "<error>";
    if (status)
        snprintf(code, sizeof(code), "%d", status);
    series_inc(metric_series(metric, (struct str[]){ str_of(code), str_of(method), str_of(m->host) }));
}

static void observe(const struct client_metrics *m, struct metric *metric, const char *method, double value)
{
    series_observe(metric_series(metric, (struct str[]){ str_of(method), str_of(m->host) }), value);
}

static void tried(void *context, const char *method, int status, size_t request_bytes, bool is_stream)
{
    const struct client_metrics *m = context;
    count_code(m, m->requests, method, status);
    if (!is_stream)
        observe(m, m->request_bytes, method, (double)request_bytes);
}

static void retried(void *context, const char *method, int status)
{
    const struct client_metrics *m = context;
    count_code(m, m->retries, method, status);
}

static void waited(void *context, const char *method, int64_t ns)
{
    const struct client_metrics *m = context;
    observe(m, m->waits, method, (double)ns / CLOCK_NS_PER_SECOND);
}

static void finished(void *context, const char *method, int64_t ns, size_t answer_bytes, bool answered)
{
    const struct client_metrics *m = context;
    observe(m, m->seconds, method, (double)ns / CLOCK_NS_PER_SECOND);
    if (answered)
        observe(m, m->answer_bytes, method, (double)answer_bytes);
}

static void carriers(void *context, int by)
{
    const struct client_metrics *m = context;
    series_add(m->carriers, by);
    if (by > 0)
        series_inc(m->carriers_made);
}

struct rest_observer client_metrics_observer(struct client_metrics *m)
{
    return (struct rest_observer){ m, tried, retried, waited, finished, carriers };
}
