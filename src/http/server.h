/* http/server.h - a server: listens, takes connections, hands every request to one handler.
 *
 * The handler gets a stream (stream.h) and may answer at once, later, or for hours. HTTP/1.1 and HTTP/2 look the same:
 * over TLS the client chooses by ALPN, without TLS by the first bytes it sends.
 *
 * Thread: the loop's.    Owns: listeners and connections; shares the TLS contexts. */
#pragma once

#include "http/limits.h"
#include "http/loop.h"
#include "http/stream.h"
#include "http/tls.h"

#define SERVER_CONNECTIONS_MAX 20000 /* when the options say 0 */

struct server;

/* Attach to the stream or answer; whoever does neither makes it a 500. */
typedef void (*server_handler)(void *context, struct stream *s, const struct head *request);

struct server_options {
    struct loop *loop;
    server_handler handler;
    void *context;
    const struct http_limits *limits; /* NULL = http_server_limits; must outlive the server */
    /* One more without TLS is answered with 503, with TLS closed. 0 = SERVER_CONNECTIONS_MAX. */
    uint32_t connections;
    bool no_http2;
    bool share_port; /* several processes may listen on one port, and the kernel deals connections out */
};

struct server_counts {
    uint64_t n_accepted, n_refused; /* connections; refused at the limit */
    uint64_t n_requests;
    uint64_t n_failed;              /* connections that ended with an error (tls, protocol, limit, time) */
    uint32_t n_connections;         /* now */
};

struct server *server_new(const struct server_options *o);
/* From here on connections wait unanswered, until server_release: an address can be taken before one can serve. */
void server_hold(struct server *v);
void server_release(struct server *v);
/* "127.0.0.1:8080", "[::1]:0", ":443" (every address), "unix:/path". tls may be NULL. ret_port may be NULL. */
ERR_MUST_CHECK enum err_code server_listen(struct server *v, const char *address, struct tls_context *tls,
                                           int *ret_port,
                                           struct err *e);
/* No new connections or requests; what is at hand may end until the deadline, then it is cut. `stopped` follows, once,
 * when nothing is left. */
void server_stop(struct server *v, int64_t grace_ms, void (*stopped)(void *context), void *context);
/* Only after `stopped`, or if nothing was ever listened to. */
void server_free(struct server *v);
struct server_counts server_counts(const struct server *v);
