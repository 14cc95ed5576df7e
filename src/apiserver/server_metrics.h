/* apiserver/server_metrics.h - what an API server counts, under upstream's names; and its store, under berth's.
 *
 *     struct server_metrics *m = server_metrics_new(registry, objects);
 *     server_metrics_request(m, &route, "status", 200, seconds, bytes, dry_run);     when a request is over
 *     server_metrics_watch_begun(m, &route);                                         and _ended
 *
 * Series are looked up by their labels; those of the requests that come again and again are kept at hand.
 *
 * Thread: the store's.    Owns: itself; the metrics are the registry's. */
#pragma once

#include "apiserver/route.h"
#include "apiserver/stored.h"
#include "base/metrics.h"

/* Requests of different labels whose series are at hand. */
enum { SERVER_METRICS_KEPT = 1024 };

struct server_metrics;

/* The registry may be NULL: nothing is counted. */
struct server_metrics *server_metrics_new(struct metrics *registry, struct stored *objects);
void server_metrics_free(struct server_metrics *m);

/* `sub` is the subresource, or empty. */
void server_metrics_request(struct server_metrics *m, const struct route *r, const char *sub, int code, double seconds,
                            uint64_t answer_bytes, bool dry_run);
/* One that the server gave up or refused to protect itself: 429, 504. */
void server_metrics_terminated(struct server_metrics *m, const struct route *r, const char *sub, int code);
/* Watches and their like, as long as they last. */
void server_metrics_watch_begun(struct server_metrics *m, const struct route *r);
void server_metrics_watch_ended(struct server_metrics *m, const struct route *r);
void server_metrics_watch_event(struct server_metrics *m, const struct resource *r, size_t bytes);
/* How many are served now. */
void server_metrics_inflight(struct server_metrics *m, uint32_t n_reading, uint32_t n_writing);
/* Whether a request's user was found out, and whether it was allowed. */
void server_metrics_authenticated(struct server_metrics *m, bool success, double seconds);
void server_metrics_authorized(struct server_metrics *m, bool allowed, double seconds);
