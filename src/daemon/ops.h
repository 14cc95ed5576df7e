/* daemon/ops.h - the secure port: TLS, who asks, whether they may, and what is served.
 *
 *     struct ops *o = ops_new(&options);
 *     ops_listen(o, &port, &e);       the address is ours; whoever connects waits
 *     ops_serve(o, &handlers);        from here on requests are answered
 *     ops_stop(o, 5000, stopped, x);  what is at hand may end
 *     ops_free(o);
 *
 * The way of a request, as upstream's chain of filters: log, Cache-Control, authentication, authorization, route. A path
 * goes to the route of exactly that path, or to the longest of those that take all below theirs; otherwise it is a 404,
 * after authorization, so that strangers do not learn what there is.
 *
 * A request with a body is answered when all of it, or much of it, is there: some clients do not see an answer that
 * comes while they are still sending.
 *
 * Bounds: those of http/limits.h, OPS_CONNECTIONS_MAX connections, OPS_BODY_BYTES_MAX of a request's body and
 * OPS_BODIES_BYTES_MAX of all.
 *
 * Thread: the loop's.    Owns: its server and TLS context; copies of serving options. Handlers, routes, authn and authz are
 * the caller's and outlive it. */
#pragma once

#include "base/err.h"
#include "daemon/authn.h"
#include "daemon/authz.h"
#include "http/target.h"
#include "http/loop.h"
#include "http/server.h"

enum {
    OPS_CONNECTIONS_MAX = 1000,
    OPS_BODY_BYTES_MAX = 1 << 20, /* for routes that read one and say no limit of their own */
    OPS_BODIES_BYTES_MAX = 64 << 20, /* of all requests together: who sends them may be anybody yet */
    OPS_AWAITED_BODY_BYTES = 64 << 10, /* a request is looked at when it has ended, or so much of it came */
    OPS_STREAMS = 100,            /* of a connection, when the options say 0; as upstream */
    OPS_TLS_LOOK_MS = 60000,      /* between two looks at files of certificates */
    OPS_ROUTES_MAX = 100,
};

struct ops;

/* ---- Listening ---- */

struct ops_sni {
    const char *cert_file, *key_file;
    const char *const *names; /* NULL: those in the certificate */
    size_t n_names;
};

struct ops_options {
    struct loop *loop;
    const char *bind_address; /* "0.0.0.0" and "::": every address of every family */
    int port;
    /* The certificate: files, or texts (self_signed.h) where there are none. */
    const char *cert_file, *key_file;
    struct str cert_pem, key_pem;
    const struct ops_sni *sni;
    size_t n_sni;
    const char *const *cipher_suites; /* Go's names; none: the usual ones */
    size_t n_cipher_suites;
    const int32_t *curves; /* Go's CurveIDs; none: OpenSSL's choice */
    size_t n_curves;
    int min_tls_version; /* 10 to 13; 0 = 12 */
    bool no_http2;
    uint32_t max_streams; /* of an HTTP/2 connection; 0 = OPS_STREAMS */
    bool share_port;
    /* Without TLS, for this machine alone: the address is a loopback one, and so is the name that a request asks for, or another
     * site's page could ask through a name of its own that leads here. */
    bool is_plain;
    bool ask_for_certificates; /* clients are asked for one, and may have none */
    /* Every request goes there instead of through the filters and routes below; NULL: through them. */
    server_handler handler;
    void *context;
    uint32_t connections; /* 0 = OPS_CONNECTIONS_MAX */
};

/* Reads files and binds. On failure the text is complete: `failed to listen on ...`. */
struct ops *ops_new(const struct ops_options *o);
ERR_MUST_CHECK enum err_code ops_listen(struct ops *o, int *ret_port, struct err *e);

/* ---- Serving ---- */

/* A request that may be served, and its answer. Lives in the stream's arena until the exchange is over. */
struct ops_exchange {
    struct ops *ops;
    struct stream *stream;
    const struct head *head;
    struct target target;
    const struct user *user;
    struct str body; /* of routes that read one */
    bool pretty;     /* JSON is for a person */
    /* For a handler that answers later: called when the peer is gone before that; nothing may be sent any more. */
    void (*gone)(struct ops_exchange *x);
    void *later; /* the handler's */
    struct ops_inner *inner;
};

typedef void (*ops_serve_route)(void *context, struct ops_exchange *x);

struct ops_route {
    const char *path;
    bool below;      /* takes every path that begins so; ends in "/" */
    bool is_open;    /* to everybody: nobody is asked who they are */
    bool reads_body; /* served when all of it is there */
    size_t body_bytes_max; /* more is 413, as is what passes OPS_BODIES_BYTES_MAX; 0 = OPS_BODY_BYTES_MAX */
    ops_serve_route serve; /* answers at once, or keeps the exchange and answers later */
    void *context;
};

struct ops_handlers {
    struct authn *authn; /* NULL: everyone is anonymous */
    struct authz *authz; /* NULL: everything is allowed */
    const struct ops_route *routes;
    size_t n_routes;
};

/* At most OPS_ROUTES_MAX routes, of different paths. */
void ops_serve(struct ops *o, const struct ops_handlers *h);
/* As server_stop; `stopped` may be NULL. */
void ops_stop(struct ops *o, int64_t grace_ms, void (*stopped)(void *context), void *context);
/* Only after `stopped`, or if nothing was ever listened to. */
void ops_free(struct ops *o);
struct server_counts ops_counts(const struct ops *o);
struct loop *ops_loop(const struct ops *o);

/* ---- Answering ---- */

/* Adds a header to the answer; before it is sent. */
void ops_add_header(struct ops_exchange *x, const char *name, struct str value);
/* content_type may be NULL. `Cache-Control: no-cache, private` is on every answer to a request that makes sense. */
void ops_answer(struct ops_exchange *x, int status, const char *content_type, struct str body);
/* The same, packed when the client takes that. */
void ops_answer_packed(struct ops_exchange *x, int status, const char *content_type, struct str body);
/* Plain text with a newline behind it and X-Content-Type-Options, as Go's http.Error. */
void ops_answer_error(struct ops_exchange *x, int status, const char *text);
/* The head only; the body is streamed with stream_write and stream_end. */
void ops_begin_answer(struct ops_exchange *x, int status, const char *content_type);
