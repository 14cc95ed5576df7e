/* apiserver/server.h - the API server: requests in, answers out, on a store.
 *
 *     struct apiserver *s = apiserver_new(&options);
 *     server_options.handler = apiserver_handle, .context = s;      every request comes here
 *     store_options.wake -> loop_wake, then apiserver_poll(s)       when the store has news
 *     apiserver_stop(s); server_stop(...); apiserver_free(s);
 *
 * The way of a request, as upstream's chain of filters: panic-free reading of the target, too many in flight (429),
 * authentication, impersonation, authorization, then discovery, OpenAPI, health, metrics, or the registry (operation.h).
 *
 * Thread: the loop's, which is the store's.    Owns: nothing that is in its options. */
#pragma once

#include "apiserver/admission.h"
#include "apiserver/authn.h"
#include "apiserver/authz.h"
#include "apiserver/stored.h"
#include "base/metrics.h"
#include "http/loop.h"
#include "http/server.h"

struct apiserver;
struct page_question;

/* Something that is served besides the API itself: /metrics, /healthz and their like. Asked after authorization. */
struct apiserver_page {
    const char *path;
    bool below; /* takes every path below it, too; ends in "/" */
    /* Fills in the body; returns the HTTP status. The content type is text/plain; charset=utf-8 when left alone. */
    int (*write)(void *context, const struct head *request, const struct target *t, struct strbuf *body,
                 const char **content_type);
    void *context;
    /* Instead of `write`, of whoever answers later: page_answer, once, unless `gone` was called before. */
    void (*ask)(void *context, struct page_question *q);
    bool reads_body; /* of `ask`: a body is waited for */
};

/* A request to a page that answers later; lives until it is answered or gone. */
struct page_question {
    struct str method, target, body;
    bool pretty; /* JSON is for a person */
    void (*gone)(struct page_question *q); /* the page's: who asked has gone away or waited too long; may be NULL */
    void *later;                           /* the page's */
};

void page_answer(struct page_question *q, int code, const char *content_type, struct str body);

struct apiserver_options {
    struct loop *loop;
    struct store *store;
    struct stored *objects;
    struct api_authn *authn;      /* NULL: everyone is anonymous */
    struct api_authz *authz;      /* NULL: everything is allowed */
    struct admission *admission;  /* NULL: none */
    struct sa_tokens *tokens;     /* NULL: no tokens are made */
    struct metrics *metrics;      /* NULL: nothing is counted */
    const struct apiserver_page *pages; /* live as long */
    size_t n_pages;
    struct rules_settings rules;
    const char *address;          /* HOST:PORT, as discovery tells it */
    uint32_t requests_inflight, mutating_inflight; /* 0: no limit */
    int64_t request_timeout_ms;   /* 0: 60000 */
    int64_t min_watch_seconds;    /* 0: 1800; watches without a time-out last so long to twice that */
    int64_t event_ttl_ms;         /* 0: an hour */
    bool default_accounts;        /* a new namespace has its service account at once */
    bool relaxed_leases;          /* leases and events are answered before they are synced to disk */
    struct str service_cidr;      /* "10.0.0.0/24" */
    int node_port_min, node_port_max;
    uint64_t seed;
};

struct apiserver *apiserver_new(const struct apiserver_options *o);
void apiserver_free(struct apiserver *s);
/* Further ones, behind those of the options: of somebody who needs the server to begin with. Once; they live as long. */
void apiserver_add_pages(struct apiserver *s, const struct apiserver_page *pages, size_t n);
/* A server_handler. */
void apiserver_handle(void *apiserver, struct stream *s, const struct head *request);
/* Takes what the store has finished: answers go out, watchers are told. */
void apiserver_poll(struct apiserver *s);
/* Watches end, new requests get 503; what is under way may finish. */
void apiserver_stop(struct apiserver *s);
