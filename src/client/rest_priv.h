/* client/rest_priv.h - what rest.c (calls) and rest_carrier.c (configuration and connections) share. */
#pragma once

#include "base/map.h"
#include "client/credentials.h"
#include "client/rate.h"
#include "client/rest.h"
#include "http/client.h"

#define DEADLINE_EXCEEDED "context deadline exceeded"

/* Connections that were made with the same certificates. */
struct carrier {
    struct rest *rest;
    struct client *client;
    uint32_t n_calls; /* that run on it */
    bool is_left;     /* by new calls: it ends with its last one */
    bool is_stopping;
    struct loop_task stop;
};

struct rest {
    struct loop *loop;
    struct arena arena; /* for its whole life */
    struct api api;
    enum media media;
    const char *base_url, *accept, *user_agent;
    bool gzip;
    const struct http_limits *limits;
    struct rest_observer observer;
    bool has_rate;

    struct rate rate;
    struct loop_task pump;
    struct loop_timer rate_timer;
    struct credentials *credentials;
    struct tls_context *tls; /* NULL: the system's */
    struct tls_watch *watch; /* NULL: nothing is in files */
    int64_t tls_look_ms;
    const struct client_config *config; /* the caller's; read again only for a program's certificates */
    struct proxy_rules proxies;
    struct carrier *carrier; /* of new calls */

    struct map_u64 calls; /* id -> struct call */
    uint64_t last_id;
    uint32_t n_streams;
    struct rest_counts counts;
    bool stopping;
    void (*stopped)(void *context);
    void *stopped_context;
};

/* A request or stream, from `send` or `open` to its end. It is at one place at a time: in a lane, waiting for
 * credentials, in an exchange, in a pause before the next try, or (a stream that is over) waiting for `resume`. */
struct call {
    struct rest *rest;
    api_call id;
    struct arena arena;
    struct api_request request; /* copied */
    struct str url;
    int64_t deadline_ms;        /* 0: none */
    int64_t begin_ns, lane_ns;  /* when it began, and when it began to wait for its turn: for the observer */
    bool is_stream;
    api_done done; /* of a request */
    void *done_context;
    struct api_stream to; /* of a stream */

    struct rate_waiter turn;
    bool has_slot; /* counts as in flight */
    struct credentials_waiter pass;
    struct loop_timer pause;
    struct loop_timer deadline; /* unless an exchange watches it */
    unsigned n_retries;
    bool reached; /* a try may have reached the server */

    /* The exchange */
    struct carrier *carrier;
    struct stream *stream;
    uint64_t credentials; /* the version that it carries */
    int status;           /* 0: no answer yet */
    bool is_tried;        /* the observer knows how this try went */
    enum media media;
    int64_t retry_ms;     /* not -1: the answer is dropped and the next try waits so long */
    size_t n_dropped;
    bool is_complete;     /* all of the answer is there */
    struct strbuf bytes;  /* the answer; of a stream what came while it was paused */

    /* Streams */
    bool is_started, is_paused;
    bool is_over; /* the exchange has ended, and that is still to be told */
    const char *end_error;

    struct loop_task task; /* begins a stream, tells bytes after `resume`, or: */
    const char *failure;   /* the call has failed */
};

/* rest.c */
void rest_init_calls(struct rest *r);
void rest_cancel_all(struct rest *r);
void rest_end_streams(struct rest *r, const struct carrier *on);

/* rest_carrier.c: a call on it has ended. */
void carrier_leave(struct carrier *c);
