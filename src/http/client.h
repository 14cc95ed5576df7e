/* http/client.h - a client: requests in, exchanges (stream.h) out; connections are found, made, kept and ended here.
 *
 * For each origin (scheme, host, port) requests share connections: over TLS HTTP/2 if the server speaks it, with as
 * many exchanges at once as it allows; otherwise HTTP/1.1 connections that are kept for the next request. A request
 * waits for a connection without holding anything up; waiting requests are bounded.
 *
 * A request is sent again by itself only where nobody can have acted on it: the server refused the stream or left it
 * out of its GOAWAY, or a kept HTTP/1.1 connection turned out to be closed under a request without side effects. For
 * all else stream_result.maybe_processed says what is known. Redirects are never followed.
 *
 * Thread: the loop's.    Owns: connections and waiting requests; shares the TLS contexts. */
#pragma once

#include "http/limits.h"
#include "http/loop.h"
#include "http/proxy.h"
#include "http/stream.h"
#include "http/tls.h"

#define CLIENT_CONNECTIONS_MAX 100 /* for one origin, when the options say 0 */
#define CLIENT_WAITING_MAX 10000   /* requests without connection, for one origin; one more fails at once */
#define CLIENT_RETRIES_MAX 3
#define CLIENT_CONNECT_MS 30000    /* when the options say 0; name, connection and proxy together */

struct client;

struct client_options {
    struct loop *loop;
    const struct http_limits *limits;   /* NULL = http_client_limits; must outlive the client */
    struct tls_context *tls;            /* for https; NULL = the system's authorities */
    struct tls_context *proxy_tls;      /* for https proxies; NULL = the same */
    const struct proxy_rules *proxies;  /* NULL = none; must outlive the client */
    uint32_t connections;               /* for one origin; 0 = CLIENT_CONNECTIONS_MAX */
    int64_t connect_ms;                 /* 0 = CLIENT_CONNECT_MS */
    bool http2_without_tls;             /* http means HTTP/2 with prior knowledge */
};

struct client_request {
    const char *method;
    struct str url;
    const struct headers *headers; /* may be NULL; without Host */
    struct str body;               /* all of it ... */
    bool streams_body;             /* ... or it is written with stream_write and stream_end */
    bool gzip;                     /* ask for it, and undo it before the user sees the body */
    int64_t head_ms;               /* until the answer's head; 0 = any time */
    int64_t total_ms;              /* until its end, waiting included; 0 = any time */
};

/* The system's authorities, and TLS, are set up here: an error is possible. */
ERR_MUST_CHECK enum err_code client_new(const struct client_options *o, struct client **ret_client, struct err *e);
/* Every exchange gets `closed`; `stopped` follows when all connections are gone. */
void client_stop(struct client *c, void (*stopped)(void *context), void *context);
/* Only after `stopped`. */
void client_free(struct client *c);

/* An error is about the request itself (address); everything else is told by `closed`. */
ERR_MUST_CHECK enum err_code client_send(struct client *c, const struct client_request *r,
                                         const struct stream_events *events,
                                         void *user, struct stream **ret_stream, struct err *e);

struct client_counts {
    uint64_t n_dialed, n_requests, n_retried;
    uint32_t n_connections, n_waiting; /* now */
};
struct client_counts client_counts(const struct client *c);
