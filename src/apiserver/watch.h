/* apiserver/watch.h - watches: what changes, to everybody who wants to know, each event made once for all.
 *
 * Watchers of a resource are a group with one place in the store's log. A watcher whose client keeps up is live: an event is
 * encoded once for each form that was asked for and written to all live ones. One that is behind (it began at an older
 * version, or its client does not read) has a place of its own and goes on when there is room; it costs no buffer, delays
 * nobody, and is told so and cut when the log has left it behind.
 *
 * Thread: the store's.    Owns: items that are still to be sent to new watchers. */
#pragma once

#include "apiserver/encode.h"
#include "http/loop.h"
#include "http/stream.h"

struct room;
struct server_metrics;
struct watch_hub;
struct watcher;

/* The room is borrowed: watchers that are behind are ended when there is none. */
struct watch_hub *watch_hub_new(struct loop *l, struct stored *objects, struct server_metrics *metrics, struct room *room,
                                uint64_t seed);
/* No watcher is left. */
void watch_hub_free(struct watch_hub *h);
/* After the store was polled. */
void watch_hub_poll(struct watch_hub *h);

struct watch_options {
    struct stream *stream;          /* its head has been sent */
    struct arena *arena;            /* lives as long as the watcher */
    struct encoder encoder;
    struct str namespace;           /* empty: all */
    const struct list_options *list;
    uint64_t version;               /* of the query */
    int64_t seconds;                /* how long */
    const struct status *refusal;   /* told as the only event; NULL: none. Borrowed by watch_begin */
    void (*ended)(void *context);   /* it ended the stream by itself; the watcher is still to be freed */
    void *context;
};

struct watcher *watch_begin(struct watch_hub *h, const struct watch_options *o);
/* The stream takes bytes again. */
void watch_writable(struct watcher *w);
/* The stream is gone or was ended. */
void watch_free(struct watcher *w);
/* Ends all streams. */
void watch_hub_stop(struct watch_hub *h);
