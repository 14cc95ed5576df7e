/* http/stream_priv.h - the inside of an exchange, for the protocols and for the client that holds it before. */
#pragma once

#include "base/blob.h"
#include "base/vec.h"
#include "http/proto.h"

struct stream {
    struct proto *proto;   /* NULL: waits for a connection */
    struct list_node node; /* of proto->streams or ->finished, or the client's */
    struct list_node blocked_node;
    const struct stream_events *events;
    void *user;
    struct arena arena;
    struct head request, response;
    struct headers in_trailers, out_trailers;
    void (*cancel_waiting)(struct stream *s); /* clients: nobody wants a stream without connection any more */
    /* Clients may put themselves between protocol and user (decompression); NULL = straight to the user. */
    const struct stream_events *filter;
    uint64_t (*filter_consumed)(struct stream *s, size_t n); /* bytes to give back to the protocol */
    void (*release)(struct stream *s); /* what else must go with it; may be NULL */

    /* The body to be sent: from out_at on, and behind that what is shared, of the first from shared_at on. */
    struct strbuf out;
    size_t out_at;
    VEC(struct blob *) shared;
    size_t shared_first, shared_at;
    size_t n_shared; /* bytes */
    uint64_t n_in_unread, n_out_pulled;
    int64_t started_ms, out_moved_ms;
    int64_t deadline_ms;      /* whole exchange; 0 = none */
    int64_t head_deadline_ms; /* clients: for the response's head; 0 = none */
    int32_t h2_id;            /* 0 = none */
    uint32_t n_informational;
    uint16_t answer_ourselves; /* servers: this status instead of calling anyone; 0 = no */
    uint32_t in_head_bytes;    /* read so far */
    bool in_head_done, in_ended;
    bool out_head_ready, out_head_sent, out_ended, out_done, out_has_trailers;
    bool out_refused;  /* stream_write said no, and `writable` is owed */
    bool h2_deferred;  /* nghttp2 waits for us to have more */
    bool detached;     /* cancelled by its user: no event any more */
    bool closed;
    struct stream_result result;
    char message[160];
};

/* `size` may be more than the stream: it stands first in what the caller wants to keep with it. */
struct stream *stream_new(size_t size);
void stream_free(struct stream *s);
/* As new; keeps its memory. Not for streams that stand in something larger. */
void stream_reset(struct stream *s);

/* How much of its body waits to be sent. */
static inline size_t stream_pending(const struct stream *s)
{
    return s->out.n - s->out_at + s->n_shared;
}
/* The first bytes of it that stand together; empty when there are none. */
struct str stream_piece(const struct stream *s);
/* n bytes of what is pending were sent. */
void stream_pulled(struct stream *s, size_t n);
/* Takes n bytes of it. */
void stream_pull(struct stream *s, size_t n, struct strbuf *to);

/* From the protocols: what came in. */
void stream_tell_head(struct stream *s);
void stream_tell_body(struct stream *s, struct str bytes);
void stream_tell_end(struct stream *s);
/* It is over; the user hears of it at proto_deliver. */
void stream_close(struct stream *s, enum stream_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts it on a connection. */
void stream_place(struct stream *s, struct proto *p);
/* Takes it from one, to be placed again; the caller puts back what was pulled of its body. */
void stream_unplace(struct stream *s);
/* For one that has no connection: tells `closed` and frees. */
void stream_close_waiting(struct stream *s, enum stream_status status, const char *message);
