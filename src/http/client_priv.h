/* http/client_priv.h - what client.c (requests) and pool.c (origins and connections) share. */
#pragma once

#include "base/map.h"
#include "http/client.h"
#include "http/conn.h"
#include "http/dial.h"
#include "http/gzip.h"
#include "http/stream_priv.h"

struct client {
    struct client_options options;
    struct map_str origins; /* key -> struct origin */
    struct client_counts counts;
    struct tls_context *tls, *proxy_tls;
    struct loop_task finish;
    bool stopping;
    void (*stopped)(void *context);
    void *stopped_context;
};

/* A request, from client_send to `closed`; the stream stands first. */
struct call {
    struct stream s;
    struct client *client;
    struct origin *origin;
    struct loop_timer deadline; /* while it waits */
    struct str body;            /* kept, to be sent again; unless it streams */
    bool streams_body, wants_gzip;
    bool wants_fresh; /* a kept connection was closed under it: the next one must be new */
    unsigned n_retries;
    struct inflater *inflater;
    uint64_t n_compressed, n_plain_unread; /* compressed bytes not yet given back; plain bytes not yet consumed */
};

#define CALL(stream) ((struct call *)(stream))

/* pool.c */
struct origin *pool_find(struct client *c, const struct url *u);
/* Takes the call into the line of its origin; false: the line is full. */
bool pool_wait(struct origin *o, struct call *call);
void pool_leave(struct call *call);
void pool_stop(struct client *c);
void pool_free(struct client *c);
bool pool_is_empty(const struct client *c);

/* client.c: the connection could not be had. */
void call_fail(struct call *call, enum stream_status status, const char *message);
/* Makes it as new, to be sent again. */
void call_rewind(struct call *call);
void client_check_stopped(struct client *c);
