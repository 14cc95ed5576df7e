/* http/stream.h - one exchange: a request and its response, each a head, a body that streams, and trailers.
 *
 * The same for both ends and both protocols. What comes in is told by events; what goes out is written here, kept
 * until the connection has room, and never waits.
 *
 *   reading   Every body event counts against the exchange's window (limits.in_window_bytes); stream_consume gives the
 *             bytes back. Who does not consume stops the peer, not the connection (HTTP/2) or only its own (HTTP/1).
 *   writing   stream_write takes all or nothing. Nothing means that limits.out_bytes wait already: the `writable` event
 *             comes when there is room again.
 *   end       `closed` is the last event and comes exactly once; the stream is gone after it. stream_cancel ends at any
 *             time, without any further event: the stream is gone when it returns.
 *
 * Events may call everything here. They never come from within one of these calls.
 *
 * Thread: the loop's.    Owns: all that it holds; a server's or client's connection owns the stream. */
#pragma once

#include "base/blob.h"
#include "base/strbuf.h"
#include "http/headers.h"
#include "http/tls.h"

struct stream;

enum stream_status {
    STREAM_OK,          /* both messages came to their end */
    STREAM_UNREACHABLE, /* no connection: address, proxy, TLS */
    STREAM_REFUSED,     /* the peer did not look at it and says so */
    STREAM_PEER_CLOSED, /* the connection or the exchange was cut */
    STREAM_PROTOCOL,    /* the peer broke the protocol or a limit */
    STREAM_TIMEOUT,
    STREAM_SHUTDOWN,    /* we end */
};

struct stream_result {
    enum stream_status status;
    const char *message; /* complete for a user; empty when all is well */
    bool maybe_processed; /* clients: something was sent, and the peer may have acted on it */
};

struct stream_events {
    void (*head)(struct stream *s, const struct head *response); /* clients only */
    void (*body)(struct stream *s, struct str bytes);
    void (*end)(struct stream *s, const struct headers *trailers); /* of what comes in */
    void (*writable)(struct stream *s);
    void (*closed)(struct stream *s, const struct stream_result *result);
};

/* Members may be NULL: the event is dropped, and body bytes are consumed at once. */
void stream_attach(struct stream *s, const struct stream_events *events, void *user);
void *stream_user(const struct stream *s);

/* ---- What is known ---- */

const struct head *stream_request(const struct stream *s);
/* For memory that should live as long as the exchange. */
struct arena *stream_arena(struct stream *s);
/* "127.0.0.1:1234", "unix"; empty without a connection. */
struct str stream_peer_address(const struct stream *s);
/* The peer's certificate; NULL when it has shown none. */
const struct tls_peer *stream_tls_peer(const struct stream *s);
bool stream_is_tls(const struct stream *s);

/* ---- Reading ---- */

void stream_consume(struct stream *s, size_t n);

/* ---- Writing ---- */

/* Servers, once. Without Content-Length the body's length is found out or the body is streamed. Status 101 (HTTP/1
 * only, to a request that asked for it) turns the connection into a plain two-way stream of bytes, told by further
 * body events. `connection: close` among its fields ends the connection after it: HTTP/1 says so, HTTP/2 takes no
 * further exchange. */
void stream_send_head(struct stream *s, const struct head *response);
/* All or nothing; false: wait for `writable`. Never refuses while less than limits.out_bytes wait. */
bool stream_write(struct stream *s, struct str bytes);
/* The same with bytes that many streams send: they are not copied, and the stream keeps a reference. */
bool stream_write_shared(struct stream *s, struct blob *b);
/* Whether stream_write would take something; else `writable` comes when it does. */
bool stream_takes_more(struct stream *s);
/* Written to streams of this thread and not yet sent, without what is shared. */
size_t stream_bytes_waiting(void);
/* trailers may be NULL. */
void stream_end(struct stream *s, const struct headers *trailers);
/* Head, body and end at once; the body may be of any size. content_type may be NULL. */
void stream_respond(struct stream *s, uint16_t status, const char *content_type, struct str body);
void stream_cancel(struct stream *s);
