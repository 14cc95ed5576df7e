/* apiserver/inner.h - requests to the API server from within its own process: the way of a request without its socket.
 *
 * Route, authorization, options, registry, log and metrics are those of exchange.h; what is missing is what a socket is for:
 * finding out who asks, reading a body piece by piece, writing an answer. Verbs of single objects alone: get, create, update,
 * patch, delete. Lists and watches are for whoever stands outside; inside there is the store.
 *
 * A call is begun by the loop after inner_send has returned, all that were sent in one go one after the other: their commits
 * go to the disk together. It is answered once, or never when it was cancelled: what is on its way to the disk is done then
 * all the same.
 *
 * Thread: the store's.    Owns: copies of what it is sent. */
#pragma once

#include "apiserver/server.h"

struct inner;
struct inner_call;

struct inner_request {
    struct str method, target;
    struct str content_type; /* of the body; empty: it has none */
    struct str body;
};

/* Good within the callback. */
struct inner_answer {
    int code;        /* HTTP's */
    struct str body; /* JSON: an object or a Status */
};

typedef void inner_done(void *context, const struct inner_answer *answer);

/* `user` is who asks in all of its calls; copied. */
struct inner *inner_new(struct apiserver *s, const struct user *user, struct str user_agent);
/* The server ends: nothing is answered any more. The store must not be polled again. */
void inner_free(struct inner *i);

struct inner_call *inner_send(struct inner *i, const struct inner_request *r, inner_done *done, void *context);
/* Not after its answer. */
void inner_cancel(struct inner_call *c);
/* Calls that are not answered yet. */
uint32_t inner_n_open(const struct inner *i);
