/* apiserver/exchange.h - one HTTP request to the API server: from its head to the end of its answer.
 *
 *     exchange.c   life: authentication, authorization, the body, the end
 *     answer.c     what is sent: objects, lists, Statuses, documents
 *     dispatch.c   who answers: documents, verbs of resources
 *     reads.c      get, list and watch
 *
 * An exchange lives until its stream is gone and nothing waits for the store any more.
 *
 * Thread: the store's. */
#pragma once

#include "apiserver/encode.h"
#include "apiserver/fresh.h"
#include "apiserver/lists.h"
#include "apiserver/operation.h"
#include "apiserver/route.h"
#include "apiserver/watch.h"
#include "http/gzip.h"

struct list_stream;

struct exchange {
    struct list_node node;
    struct apiserver *server;
    struct stream *stream; /* NULL: gone */
    struct arena arena;
    const struct head *head;
    struct target target;
    struct route route;
    struct endpoint at;
    const struct user *user;
    struct str method;
    struct strbuf body;
    struct operation op;
    bool op_waits;      /* its outcome is still to come */
    struct page_question question; /* to a page that answers later */
    bool asks;                     /* ... and has not yet */
    struct answer_form form;
    bool pretty, mutating, counted, reads_body, answered;
    struct err err;
    struct watcher *watcher;
    struct list_stream *list;
    struct list_options *list_options; /* of a list or watch */
    uint64_t version;          /* that the answer must show at least, or at which a watch begins */
    struct headers extra;     /* of the answer */
    int64_t begun_ns;
    int code;           /* of the answer */
    uint64_t n_sent;
    size_t n_held;      /* of the server's room */
    struct loop_timer timer; /* the request's time is up */
    struct fresh_wait wait;  /* for a version that is still to come, */
    void (*resume)(struct exchange *x, bool is_there); /* and what then; not when the stream is gone or was answered */
};

/* ---- Answers ---- */

/* The outcome of x->op. */
void answer_operation(struct exchange *x);
void answer_bytes(struct exchange *x, int code, const char *content_type, struct str body);
void answer_text(struct exchange *x, int code, const char *text);
void answer_status(struct exchange *x, const struct status *s);
/* What is in x->err; `errs` may be NULL. */
void answer_error(struct exchange *x, const struct field_errors *errs);
/* Items are taken over one by one. */
void answer_list(struct exchange *x, const struct list_answer *list);
void answer_list_more(struct exchange *x);
void answer_list_free(struct exchange *x);
/* The head of a watch. */
void answer_watch(struct exchange *x);
struct encoder exchange_encoder(struct exchange *x);

/* The operation is over: the exchange goes when its stream has. */
void exchange_settled(struct exchange *x);
/* Nobody waits for a page's answer any more. */
void exchange_unask(struct exchange *x);

/* Too much is under way: 429. */
void exchange_refuse(struct exchange *x);
/* False: it would be more than clients may make the server hold. Given back at the end. */
bool exchange_take_room(struct exchange *x, size_t n);
/* The same for an answer that is made as a whole. */
bool exchange_may_answer(const struct exchange *x, size_t n);
/* Goes on when the version is there, or when it does not come in time; maybe at once. */
void exchange_await(struct exchange *x, uint64_t version, void (*resume)(struct exchange *x, bool is_there));

/* ---- Dispatch ---- */

/* Whether a body is waited for. */
bool dispatch_reads_body(const struct exchange *x);
/* All of the request is there. */
void dispatch(struct exchange *x);
/* What form an answer takes; false: it was answered that none is possible. */
bool dispatch_negotiate(struct exchange *x, enum accept_place place);
/* Fills in the operation, which is then to be begun. */
void dispatch_prepare(struct exchange *x);
/* Reads media and options of a DELETE; false: it was answered. */
bool dispatch_read_delete(struct exchange *x);
/* Reads media and options of a POST and fills in the operation; false: it was answered. */
bool dispatch_begin_create(struct exchange *x);

/* ---- Who answers ---- */

void serve_get(struct exchange *x);
void serve_list(struct exchange *x);
void serve_watch(struct exchange *x);
void serve_delete_collection(struct exchange *x);

/* What is not stored; false: it is. */
bool serve_virtual(struct exchange *x);
void serve_kubelet(struct exchange *x);
/* DELETE of all that a list would show; the operation has its options. */
void collection_delete(struct exchange *x, struct list_options *o);
