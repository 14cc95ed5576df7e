/* apiserver/exchange.h - one HTTP request to the API server: from its head to the end of its answer.
 *
 *     exchange.c   life: authentication, authorization, the body, the end
 *     answer.c     what is sent: objects, lists, Statuses, documents
 *     dispatch.c   who answers: documents, verbs of resources
 *
 * An exchange lives until its stream is gone and nothing waits for the store any more.
 *
 * Thread: the store's. */
#pragma once

#include "apiserver/encode.h"
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
    struct headers extra;     /* of the answer */
    int64_t begun_ns;
    int code;           /* of the answer */
    uint64_t n_sent;
    struct loop_timer timer; /* the request's time is up */
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

/* ---- Dispatch ---- */

/* Whether a body is waited for. */
bool dispatch_reads_body(const struct exchange *x);
/* All of the request is there. */
void dispatch(struct exchange *x);
/* Reads media and options of a POST and fills in the operation; false: it was answered. */
bool dispatch_begin_create(struct exchange *x);

/* ---- Who answers besides ---- */

/* What is not stored; false: it is. */
bool serve_virtual(struct exchange *x);
void serve_kubelet(struct exchange *x);
/* DELETE of all that a list would show; the operation has its options. */
void collection_delete(struct exchange *x, struct list_options *o);
