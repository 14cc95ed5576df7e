/* http/proto.h - what HTTP/1 and HTTP/2 have in common below an exchange and above a socket.
 *
 * A protocol has no socket: its host puts bytes of the peer in and takes bytes for the peer out. The host is a
 * connection (conn.c), a test or a fuzz target. It calls, with `now_ms` set before each call:
 *
 *   input      bytes that came; what is not taken is offered again after the next wake
 *   input_end  none will come any more
 *   output     appends what should be sent, about `max` bytes; called again until it adds nothing
 *   tick       looks at deadlines; returns the next one
 *   deliver    after each of these: tells users what was put off (writable, closed)
 *
 * Events of streams may call back into the protocol at any time; so nothing is freed before `deliver`.
 *
 * Thread: the loop's.    Owns: its streams. */
#pragma once

#include "base/list.h"
#include "http/limits.h"
#include "http/stream.h"

#define NEVER_MS INT64_MAX

struct proto;

struct proto_ops {
    size_t (*input)(struct proto *p, struct str bytes);
    void (*input_end)(struct proto *p);
    void (*output)(struct proto *p, struct strbuf *out, size_t max);
    int64_t (*tick)(struct proto *p);
    /* No new exchanges; those at hand may end. Then it is done. */
    void (*shutdown)(struct proto *p);
    void (*free)(struct proto *p);
    /* Clients: room for one more exchange now. */
    bool (*has_room)(const struct proto *p);
    void (*start)(struct proto *p, struct stream *s);
    /* Of a stream: something new to send; n bytes were read; nobody wants it any more, or it failed by our decision. */
    void (*stream_output)(struct proto *p, struct stream *s);
    void (*stream_consumed)(struct proto *p, struct stream *s, size_t n);
    void (*stream_abort)(struct proto *p, struct stream *s, enum stream_status status, const char *why);
};

struct proto_host {
    /* Soon call input (with what was not taken) and output. */
    void (*wake)(struct proto *p);
    /* Servers: a request has come; attach to the stream or it is answered with 500. */
    void (*request)(struct proto *p, struct stream *s);
    /* Clients; may be NULL. True: the stream is taken back (to be tried elsewhere) and lives on. */
    bool (*reclaim)(struct proto *p, struct stream *s, const struct stream_result *result);
    /* Of the connection. */
    struct str (*peer_address)(struct proto *p);
    const struct tls_peer *(*tls_peer)(struct proto *p);
    bool (*is_tls)(struct proto *p);
    /* For Date; empty = none. */
    struct str (*date)(struct proto *p);
};

struct proto {
    const struct proto_ops *ops;
    const struct proto_host *host;
    void *host_data;
    const struct http_limits *limits;
    bool is_server, is_h2;
    int64_t now_ms;
    struct list streams;   /* those that go on */
    struct list blocked;   /* those that are owed a `writable` */
    struct list finished;  /* those that are owed a `closed` */
    struct list spare;     /* servers: for the next requests, while the connection is busy */
    uint32_t n_spare;
    uint32_t n_streams;    /* in `streams` */
    uint64_t n_exchanges;  /* begun so far */
    bool in_blocked;       /* stop reading: a body waits for its reader */
    bool shutting_down;
    bool done;             /* close the connection when all output is sent */
    bool lost;             /* close it now */
    char error[160];       /* why, when it was not the plan */
};

struct h1_options {
    bool absolute_form;              /* clients of a proxy without a tunnel */
    struct str proxy_authorization;  /* sent with each request; borrowed */
    struct str scheme;               /* servers: of the listener, "http" or "https" */
};

struct proto *h1_new(bool is_server, const struct proto_host *host, void *host_data, const struct http_limits *limits,
                     const struct h1_options *o);
struct proto *h2_new(bool is_server, const struct proto_host *host, void *host_data, const struct http_limits *limits);

/* What HTTP/2 connections begin with. */
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

/* The connection is gone: every stream gets `closed`. */
void proto_lose(struct proto *p, enum stream_status status, const char *message);
void proto_deliver(struct proto *p);
static inline void proto_wake(struct proto *p)
{
    p->host->wake(p);
}

/* ---- For the protocols ---- */

void proto_init(struct proto *p, const struct proto_ops *ops, bool is_server, const struct proto_host *host,
                void *host_data,
                const struct http_limits *limits);
/* Streams left are freed without a word; hosts call proto_lose and proto_deliver before. */
void proto_fini(struct proto *p);
void proto_fail(struct proto *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Servers: a stream for a request. */
struct stream *proto_new_stream(struct proto *p);
/* Deadlines of the streams; returns the next. */
int64_t proto_tick_streams(struct proto *p);

static inline int64_t earlier_ms(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
