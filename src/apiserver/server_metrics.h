/* apiserver/server_metrics.h - what an API server counts, under upstream's names; and its store, under berth's.
 *
 *     struct server_metrics *m = server_metrics_new(registry, objects);
 *     server_metrics_request(m, &labels, 200, seconds, bytes);     when a request is over
 *     server_metrics_long_running(m, &labels, 1);                  a watch began; -1 when it ends
 *
 * Series are looked up by their labels; those of the requests that come again and again are kept at hand.
 *
 * Thread: the store's.    Owns: itself; the metrics are the registry's. */
#pragma once

#include "apiserver/stored.h"
#include "base/metrics.h"

/* Requests of different labels whose series are at hand. */
enum { SERVER_METRICS_KEPT = 1024 };

struct server_metrics;

/* What a request is told apart by. Verb and scope are constants of the program: they are compared by address first. */
struct request_labels {
    const char *verb;             /* GET LIST WATCH POST PUT PATCH APPLY DELETE DELETECOLLECTION CONNECT; a constant */
    const struct resource *resource; /* NULL: none of a resource */
    struct str subresource;       /* empty: none; of others than resources the path, as upstream has it: "/healthz" */
    const char *scope;            /* "resource", "namespace", "cluster" or ""; a constant */
    bool dry_run;
};

/* The registry may be NULL: nothing is counted. */
struct server_metrics *server_metrics_new(struct metrics *registry, struct stored *objects);
void server_metrics_free(struct server_metrics *m);

void server_metrics_request(struct server_metrics *m, const struct request_labels *l, int code, double seconds,
                            uint64_t answer_bytes);
/* One that the server gave up or refused to protect itself: 429, 504. */
void server_metrics_terminated(struct server_metrics *m, const struct request_labels *l, int code);
/* Watches and their like: by 1 when one begins, by -1 when it ends. */
void server_metrics_long_running(struct server_metrics *m, const struct request_labels *l, int by);
void server_metrics_watch_event(struct server_metrics *m, const struct resource *r, size_t bytes);
/* How many are served now. */
void server_metrics_inflight(struct server_metrics *m, uint32_t n_reading, uint32_t n_writing);
/* One plugin and one object. `type` is "admit" or "validate", `operation` "CREATE" and so on. */
void server_metrics_admission(struct server_metrics *m, const char *plugin, const char *operation, const char *type,
                              bool rejected, double seconds);
/* Whether a request's user was found out, and whether it was allowed. */
void server_metrics_authenticated(struct server_metrics *m, bool success, double seconds);
void server_metrics_authorized(struct server_metrics *m, bool allowed, double seconds);
