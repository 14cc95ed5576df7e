/* http/conn.h - a socket, TLS on it if wanted, and a protocol on that: carries bytes between them and keeps the time.
 *
 * Its owner (server.c, client.c) opens the socket, may put TLS on it (twice: through an https proxy), and gives it a
 * protocol when it is ready. Whatever happens, everything is told from the loop's deferred tasks or the socket's
 * callbacks, never from within a call.
 *
 * Bounds: one read (LOOP_READ_BYTES) of input that the protocol does not take yet, then reading stops; one batch of
 * output (CONN_BATCH_BYTES and a frame) at the socket, then nothing more is taken from the protocol.
 *
 * Thread: the loop's.    Owns: socket, TLS sessions, protocol; itself until `closed` has been told. */
#pragma once

#include "http/loop.h"
#include "http/proto.h"
#include "http/tls.h"

#define CONN_BATCH_BYTES 65536
#define CONN_TLS_MAX 2

struct conn;

struct conn_events {
    /* TLS is up, or there is none: time for conn_speak. */
    void (*ready)(struct conn *c, struct str alpn);
    /* Bytes came while there is no protocol: the owner may conn_speak now, or wait for more (at most a read). */
    void (*first_bytes)(struct conn *c, struct str bytes);
    /* After each batch: exchanges may have begun or ended. May be NULL. */
    void (*progressed)(struct conn *c);
    /* The last word; the connection is freed soon. `why` is empty for a regular end. */
    void (*closed)(struct conn *c, const char *why);
    /* For HTTP; see proto.h. */
    void (*request)(struct conn *c, struct stream *s);
    bool (*reclaim)(struct conn *c, struct stream *s, const struct stream_result *result);
    struct str (*date)(struct conn *c);
};

/* is_pipe: a Unix socket. `owner` is for the events. */
struct conn *conn_new(struct loop *l, const struct conn_events *events, void *owner, const struct http_limits *limits,
                      bool is_pipe);
void *conn_owner(const struct conn *c);
/* Another owner takes it over. */
void conn_give(struct conn *c, const struct conn_events *events, void *owner);
struct loop *conn_loop(const struct conn *c);
/* To accept into or to connect; TCP_NODELAY is set by conn_open. */
uv_stream_t *conn_socket(struct conn *c);
/* The socket is connected: reading begins, and TLS if there is any. */
void conn_open(struct conn *c);
/* Before conn_open, or later on top of what is there (then the protocol must be gone: conn_speak(c, NULL)). */
void conn_add_tls(struct conn *c, struct tls_context *context, const char *host);
/* Takes the protocol; one that was there is freed. */
void conn_speak(struct conn *c, struct proto *own_proto);
struct proto *conn_proto(const struct conn *c);
extern const struct proto_host conn_host; /* for protocols of a connection; host_data is the connection */

/* The owner's own deadline, beside those of TLS and protocol; 0 = none. Passing it closes. */
void conn_set_deadline(struct conn *c, int64_t deadline_ms, const char *why);
/* Ends soon and without waiting for anything. `closed` follows. */
void conn_close(struct conn *c, const char *why);
/* The same, by our own wish: exchanges end with STREAM_SHUTDOWN. */
void conn_stop(struct conn *c, const char *why);
/* Work is waiting (output, or input that may go on now). */
void conn_wake(struct conn *c);
struct str conn_peer_address(struct conn *c);
