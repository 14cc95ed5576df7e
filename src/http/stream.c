/* http/stream.c - see stream.h and stream_priv.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/stream_priv.h"

enum { OUT_KEPT_BYTES = 16384 };

static const struct stream_events no_events;

static _Thread_local size_t n_waiting; /* own bytes of all streams of the thread */

struct stream *stream_new(size_t size)
{
    assert(size >= sizeof(struct stream));
    struct stream *s = mem_zalloc(size);
    arena_init_small(&s->arena);
    strbuf_init(&s->out, STRBUF_NO_MAX);
    s->events = &no_events;
    return s;
}

static void drop_own(struct stream *s)
{
    n_waiting -= s->out.n - s->out_at;
    strbuf_reset(&s->out);
    s->out_at = 0;
}

static void drop_shared(struct stream *s)
{
    for (size_t i = s->shared_first; i < s->shared.n; i++)
        blob_unref(s->shared.at[i]);
    vec_fini(&s->shared);
    s->shared_first = s->shared_at = s->n_shared = 0;
}

void stream_reset(struct stream *s)
{
    assert(!list_has(&s->node));
    assert(!list_has(&s->blocked_node));
    drop_own(s);
    drop_shared(s);
    struct arena arena = s->arena;
    struct strbuf out = s->out;
    arena_reset(&arena);
    *s = (struct stream){ .arena = arena, .out = out, .events = &no_events };
}

void stream_free(struct stream *s)
{
    assert(!list_has(&s->node));
    assert(!list_has(&s->blocked_node));
    if (s->release)
        s->release(s);
    arena_fini(&s->arena);
    drop_own(s);
    strbuf_fini(&s->out);
    drop_shared(s);
    free(s);
}

void stream_attach(struct stream *s, const struct stream_events *events, void *user)
{
    s->events = events ? events : &no_events;
    s->user = user;
}

void *stream_user(const struct stream *s)
{
    return s->user;
}

/* ---- What is known ---- */

const struct head *stream_request(const struct stream *s)
{
    return &s->request;
}

struct arena *stream_arena(struct stream *s)
{
    return &s->arena;
}

struct str stream_peer_address(const struct stream *s)
{
    return s->proto && s->proto->host->peer_address ? s->proto->host->peer_address(s->proto) : STR("");
}

const struct tls_peer *stream_tls_peer(const struct stream *s)
{
    return s->proto && s->proto->host->tls_peer ? s->proto->host->tls_peer(s->proto) : NULL;
}

bool stream_is_tls(const struct stream *s)
{
    return s->proto && s->proto->host->is_tls && s->proto->host->is_tls(s->proto);
}

/* ---- Incoming ---- */

static const struct stream_events *reader(const struct stream *s)
{
    return s->detached ? &no_events : s->filter ? s->filter : s->events;
}

void stream_tell_head(struct stream *s)
{
    s->in_head_done = true;
    const struct stream_events *to = reader(s);
    if (to->head)
        to->head(s, &s->response);
}

/* Bytes that nobody wants count as read. */
void stream_tell_body(struct stream *s, struct str bytes)
{
    s->n_in_unread += bytes.n;
    const struct stream_events *to = reader(s);
    if (to->body)
        to->body(s, bytes);
    else
        s->proto->ops->stream_consumed(s->proto, s, bytes.n);
}

void stream_tell_end(struct stream *s)
{
    s->in_ended = true;
    const struct stream_events *to = reader(s);
    if (to->end)
        to->end(s, &s->in_trailers);
}

void stream_consume(struct stream *s, size_t n)
{
    if (s->filter_consumed)
        n = s->filter_consumed(s, n);
    if (n && s->proto && !s->closed)
        s->proto->ops->stream_consumed(s->proto, s, n);
}

/* ---- Outgoing ---- */

static void tell_output(struct stream *s)
{
    if (s->proto && !s->closed)
        s->proto->ops->stream_output(s->proto, s);
}

void stream_send_head(struct stream *s, const struct head *response)
{
    assert(!s->out_head_ready);
    head_copy(&s->response, &s->arena, response);
    s->out_head_ready = true;
    tell_output(s);
}

static void begin_waiting(struct stream *s)
{
    if (stream_pending(s) == 0 && s->proto)
        s->out_moved_ms = s->proto->now_ms;
}

/* What was sent already gives its room back, before it is more than what waits: a long body that never comes to rest
 * stays as small as what is pending. */
static void close_gap(struct stream *s)
{
    size_t n_left = s->out.n - s->out_at;
    if (s->out_at < n_left || s->out_at == 0)
        return;
    memmove(s->out.p, s->out.p + s->out_at, n_left);
    s->out.n = n_left;
    s->out_at = 0;
}

static void append_shared(struct stream *s, struct blob *own_blob)
{
    begin_waiting(s);
    vec_push(&s->shared, own_blob);
    s->n_shared += own_blob->n;
}

/* Behind what is shared only what is shared can stand. */
static void append(struct stream *s, struct str bytes)
{
    if (s->n_shared) {
        append_shared(s, blob_new(bytes));
        return;
    }
    begin_waiting(s);
    close_gap(s);
    strbuf_add_str(&s->out, bytes);
    n_waiting += bytes.n;
}

static bool has_room(struct stream *s)
{
    const struct http_limits *limits = s->proto ? s->proto->limits : &http_client_limits;
    if (stream_pending(s) < limits->out_bytes)
        return true;
    s->out_refused = true;
    if (s->proto && !list_has(&s->blocked_node))
        list_push(&s->proto->blocked, &s->blocked_node);
    return false;
}

bool stream_write(struct stream *s, struct str bytes)
{
    assert(!s->out_ended);
    if (s->closed || s->detached)
        return true; /* `closed` is on its way: dropped */
    if (!has_room(s))
        return false;
    append(s, bytes);
    tell_output(s);
    return true;
}

bool stream_write_shared(struct stream *s, struct blob *b)
{
    assert(!s->out_ended);
    if (s->closed || s->detached || b->n == 0)
        return true;
    if (!has_room(s))
        return false;
    append_shared(s, blob_ref(b));
    tell_output(s);
    return true;
}

bool stream_takes_more(struct stream *s)
{
    return s->closed || s->detached || has_room(s);
}

size_t stream_bytes_waiting(void)
{
    return n_waiting;
}

void stream_end(struct stream *s, const struct headers *trailers)
{
    assert(!s->out_ended);
    if (trailers && trailers->n) {
        headers_copy(&s->out_trailers, &s->arena, trailers);
        s->out_has_trailers = true;
    }
    s->out_ended = true;
    tell_output(s);
}

void stream_respond(struct stream *s, uint16_t status, const char *content_type, struct str body)
{
    struct head head = { .status = status };
    if (content_type)
        headers_add(&head.headers, &s->arena, STR("content-type"), str_of(content_type));
    if (!status_has_no_body(status)) {
        headers_add(&head.headers, &s->arena, STR("content-length"), number_text(&s->arena, body.n));
        append(s, body);
    }
    s->out_ended = true;
    stream_send_head(s, &head);
}

struct str stream_piece(const struct stream *s)
{
    if (s->out_at < s->out.n)
        return str_from(strbuf_str(&s->out), s->out_at);
    return s->n_shared ? str_from(blob_str(s->shared.at[s->shared_first]), s->shared_at) : STR("");
}

/* A long-lived idle stream keeps no room for its largest write. */
static void pull_own(struct stream *s, size_t n)
{
    s->out_at += n;
    n_waiting -= n;
    if (s->out_at < s->out.n)
        return;
    if (s->out.cap > OUT_KEPT_BYTES)
        strbuf_fini(&s->out);
    strbuf_reset(&s->out);
    s->out_at = 0;
}

/* Those that are gone leave a gap in front, which is closed before it is more than half. */
static void pull_shared(struct stream *s, size_t n)
{
    s->n_shared -= n;
    s->shared_at += n;
    if (s->shared_at < s->shared.at[s->shared_first]->n)
        return;
    blob_unref(s->shared.at[s->shared_first++]);
    s->shared_at = 0;
    size_t n_left = s->shared.n - s->shared_first;
    if (s->shared_first < n_left)
        return;
    memmove(s->shared.at, s->shared.at + s->shared_first, n_left * sizeof(s->shared.at[0]));
    s->shared.n = n_left;
    s->shared_first = 0;
}

void stream_pulled(struct stream *s, size_t n)
{
    s->n_out_pulled += n;
    s->out_moved_ms = s->proto->now_ms;
    while (n) {
        size_t n_piece = str_first(stream_piece(s), n).n;
        if (s->out_at < s->out.n)
            pull_own(s, n_piece);
        else
            pull_shared(s, n_piece);
        n -= n_piece;
    }
}

void stream_pull(struct stream *s, size_t n, struct strbuf *to)
{
    while (n) {
        struct str piece = str_first(stream_piece(s), n);
        strbuf_add_str(to, piece);
        stream_pulled(s, piece.n);
        n -= piece.n;
    }
}

/* ---- The end ---- */

void stream_close(struct stream *s, enum stream_status status, const char *format, ...)
{
    struct proto *p = s->proto;
    if (s->closed)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(s->message, sizeof(s->message), format, args);
    va_end(args);
    s->closed = true;
    s->result = (struct stream_result){
        .status = status, .message = s->message,
        .maybe_processed = s->out_head_sent && status != STREAM_REFUSED && status != STREAM_UNREACHABLE,
    };
    if (list_has(&s->blocked_node))
        list_remove(&s->blocked_node);
    list_remove(&s->node);
    p->n_streams--;
    list_push(&p->finished, &s->node);
    proto_wake(p);
}

void stream_cancel(struct stream *s)
{
    if (s->detached)
        return;
    s->detached = true;
    s->user = NULL;
    if (!s->proto)
        s->cancel_waiting(s);
    else if (!s->closed)
        s->proto->ops->stream_abort(s->proto, s, STREAM_PEER_CLOSED, "cancelled");
}

void stream_place(struct stream *s, struct proto *p)
{
    s->proto = p;
    s->started_ms = s->out_moved_ms = p->now_ms;
    list_push(&p->streams, &s->node);
    p->n_streams++;
    p->n_exchanges++;
    if (s->out_refused) /* while it had no connection */
        list_push(&p->blocked, &s->blocked_node);
}

void stream_unplace(struct stream *s)
{
    assert(s->closed);
    s->proto = NULL;
    s->n_out_pulled = 0;
    s->closed = s->out_head_sent = s->out_done = s->h2_deferred = s->in_head_done = s->in_ended = false;
    s->h2_id = 0;
    s->n_in_unread = 0;
    s->n_informational = s->in_head_bytes = 0;
    s->response = (struct head){ 0 };
    s->in_trailers = (struct headers){ 0 };
}

void stream_close_waiting(struct stream *s, enum stream_status status, const char *message)
{
    assert(!s->proto);
    struct stream_result result = { .status = status, .message = message };
    const struct stream_events *to = reader(s);
    if (to->closed)
        to->closed(s, &result);
    stream_free(s);
}
