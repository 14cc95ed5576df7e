/* http/h2.c - HTTP/2, both ends, on nghttp2.
 *
 * nghttp2 keeps the protocol's rules; what a peer may do how often is counted in front of it (h2_guard.h). The window
 * of the connection is given back as bytes arrive, the window of a stream as its reader consumes: one slow reader
 * never stops the others, and a connection holds at most streams * in_window_bytes unread.
 *
 * A stream is known to nghttp2 by its user data, and by nothing else: when that is taken away, nghttp2's callbacks see
 * that nobody is there. Its memory goes at proto_deliver, outside of all callbacks. */
#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/h2_guard.h"
#include "http/stream_priv.h"

enum {
    CONNECTION_WINDOW_BYTES = 4 << 20,
    FRAME_HEAD_BYTES = 9,
    GOAWAY_GRACE_MS = 1000, /* between the notice of an end and the end, for requests on their way */
};

struct h2 {
    struct proto p;
    nghttp2_session *session;
    struct h2_guard guard;
    int64_t started_ms, idle_since_ms, last_frame_ms;
    int64_t ping_sent_ms; /* 0 = none under way */
    int64_t goaway_ms;    /* when the last GOAWAY is due; 0 = none planned */
    bool settings_seen, goaway_final;
    bool deaf; /* a limit was passed: nothing is read any more */
    struct strbuf *out; /* within h2_output: where frames go, up to about out_max */
    size_t out_max;
};

#define OF(user_data) ((struct h2 *)(user_data))

static struct stream *stream_of(struct h2 *h, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h->session, id);
}

/* ---- Ending ---- */

static void calm(struct h2 *h, const char *limit)
{
    proto_fail(&h->p, "http/2: the peer passed the limit %s", limit);
    nghttp2_session_terminate_session(h->session, NGHTTP2_ENHANCE_YOUR_CALM);
    h->p.shutting_down = true;
}

/* Whether the connection has served its time. */
static void check_done(struct h2 *h)
{
    struct proto *p = &h->p;
    if (p->shutting_down && !p->is_server && p->n_streams == 0 && !h->goaway_final) {
        h->goaway_final = true;
        nghttp2_session_terminate_session(h->session, NGHTTP2_NO_ERROR);
    }
    if (h->goaway_final && p->n_streams == 0)
        p->done = true;
    if (!nghttp2_session_want_read(h->session) && !nghttp2_session_want_write(h->session))
        p->done = true;
}

static void forget(struct h2 *h, struct stream *s)
{
    if (s->h2_id)
        nghttp2_session_set_stream_user_data(h->session, s->h2_id, NULL);
    h->idle_since_ms = h->p.now_ms;
}

/* ---- Sending ---- */

/* How much of a body goes into the next frame. */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *room, size_t n_room, uint32_t *flags,
                         nghttp2_data_source *source, void *user_data)
{
    (void)source;
    (void)room;
    struct h2 *h = OF(user_data);
    struct stream *s = stream_of(h, id);
    if (!s)
        return NGHTTP2_ERR_DEFERRED; /* a reset is on its way */
    size_t n_pending = stream_pending(s), n = n_pending < n_room ? n_pending : n_room;
    if (n == 0 && !s->out_ended) {
        s->h2_deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (!s->out_ended || n < n_pending)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (s->out_has_trailers) {
        nghttp2_nv *fields = mem_alloc(mem_product(s->out_trailers.n, sizeof(*fields)));
        for (uint32_t i = 0; i < s->out_trailers.n; i++)
            fields[i] = (nghttp2_nv){
                .name = (uint8_t *)(uintptr_t)s->out_trailers.at[i].name.p, .namelen = s->out_trailers.at[i].name.n,
                .value = (uint8_t *)(uintptr_t)s->out_trailers.at[i].value.p, .valuelen = s->out_trailers.at[i].value.n,
            };
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, id, fields, s->out_trailers.n);
        free(fields);
    }
    return (ssize_t)n;
}

/* Follows read_body at once: the frame goes straight to where the connection takes its output from. */
static int send_body(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t n,
                     nghttp2_data_source *source, void *user_data)
{
    (void)session;
    (void)source;
    struct h2 *h = OF(user_data);
    struct stream *s = stream_of(h, frame->hd.stream_id);
    assert(s);
    assert(frame->data.padlen == 0);
    strbuf_add(h->out, head, FRAME_HEAD_BYTES);
    stream_pull(s, n, h->out);
    if (n)
        h2_guard_earn_window_updates(&h->guard, 2);
    return h->out->n < h->out_max ? 0 : NGHTTP2_ERR_PAUSE;
}

struct fields {
    nghttp2_nv *at;
    size_t n;
};

static void add_field(struct fields *f, struct str name, struct str value)
{
    f->at[f->n++] = (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name.p, .namelen = name.n,
                                  .value = (uint8_t *)(uintptr_t)(value.p ? value.p : ""), .valuelen = value.n };
}

static void add_fields(struct fields *f, const struct headers *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (!header_is_hop_by_hop(h->at[i].name) && !str_is(h->at[i].name, "host"))
            add_field(f, h->at[i].name, h->at[i].value);
}

static struct fields make_room(struct stream *s, const struct headers *h)
{
    return (struct fields){ .at = ARENA_NEW_N(&s->arena, nghttp2_nv, h->n + 8u) };
}

/* A body that is all there gets its length said. */
static void add_length(struct stream *s, struct fields *f, const struct headers *h)
{
    if (!s->out_ended || s->out_has_trailers || headers_get(h, "content-length").p)
        return;
    add_field(f, STR("content-length"), number_text(&s->arena, stream_pending(s)));
}

static void say_last_goaway(struct h2 *h);

static void submit_response(struct h2 *h, struct stream *s)
{
    const struct head *r = &s->response;
    bool no_body = status_has_no_body(r->status) || str_is(s->request.method, "HEAD");
    struct fields f = make_room(s, &r->headers);
    struct str date = h->p.host->date ? h->p.host->date(&h->p) : STR("");
    nghttp2_data_provider body = { .read_callback = read_body };
    s->out_head_sent = true;
    add_field(&f, STR(":status"), number_text(&s->arena, r->status));
    if (!no_body)
        add_length(s, &f, &r->headers);
    if (date.n && !headers_get(&r->headers, "date").p)
        add_field(&f, STR("date"), date);
    add_fields(&f, &r->headers);
    if (no_body)
        stream_pulled(s, stream_pending(s)); /* dropped */
    bool at_once = no_body || (s->out_ended && stream_pending(s) == 0 && !s->out_has_trailers);
    if (nghttp2_submit_response(h->session, s->h2_id, f.at, f.n, at_once ? NULL : &body) != 0)
        nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->h2_id, NGHTTP2_INTERNAL_ERROR);
    if (headers_has_word(&r->headers, "connection", "close") && !h->goaway_final)
        say_last_goaway(h);
}

static void submit_request(struct h2 *h, struct stream *s)
{
    const struct head *r = &s->request;
    struct fields f = make_room(s, &r->headers);
    nghttp2_data_provider body = { .read_callback = read_body };
    bool at_once = s->out_ended && stream_pending(s) == 0 && !s->out_has_trailers;
    add_field(&f, STR(":method"), r->method);
    add_field(&f, STR(":scheme"), r->scheme);
    add_field(&f, STR(":authority"), r->authority);
    add_field(&f, STR(":path"), r->target);
    if (!at_once || str_is(r->method, "POST") || str_is(r->method, "PUT") || str_is(r->method, "PATCH"))
        add_length(s, &f, &r->headers);
    add_fields(&f, &r->headers);
    int32_t id = nghttp2_submit_request(h->session, NULL, f.at, f.n, at_once ? NULL : &body, s);
    if (id < 0) {
        stream_close(s, STREAM_REFUSED, "http/2: %s", nghttp2_strerror(id));
        return;
    }
    s->h2_id = id;
    s->out_head_sent = true;
    h2_guard_earn_window_updates(&h->guard, 2);
}

static void h2_stream_output(struct proto *p, struct stream *s)
{
    struct h2 *h = (struct h2 *)p;
    if (p->is_server && s->out_head_ready && !s->out_head_sent) {
        if (s->response.status == 101) { /* not in HTTP/2 */
            nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->h2_id, NGHTTP2_INTERNAL_ERROR);
            return;
        }
        submit_response(h, s);
    } else if (s->h2_deferred) {
        s->h2_deferred = false;
        nghttp2_session_resume_data(h->session, s->h2_id);
    }
    proto_wake(p);
}

/* ---- Receiving ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct h2 *h = OF(user_data);
    if (!h->p.is_server || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct stream *s = proto_new_stream(&h->p);
    s->h2_id = frame->hd.stream_id;
    s->request.version = HTTP_2;
    stream_place(s, &h->p);
    nghttp2_session_set_stream_user_data(session, s->h2_id, s);
    h2_guard_earn_window_updates(&h->guard, 2);
    return 0;
}

static void take_pseudo(struct stream *s, struct str name, struct str value)
{
    struct head *r = &s->request;
    if (str_is(name, ":method"))
        r->method = arena_str(&s->arena, value);
    else if (str_is(name, ":scheme"))
        r->scheme = arena_str(&s->arena, value);
    else if (str_is(name, ":authority"))
        r->authority = arena_str(&s->arena, value);
    else if (str_is(name, ":path"))
        r->target = arena_str(&s->arena, value);
    else if (str_is(name, ":status"))
        s->response.status = (uint16_t)((value.p[0] - '0') * 100 + (value.p[1] - '0') * 10 + (value.p[2] - '0'));
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name_p, size_t n_name,
                     const uint8_t *value_p, size_t n_value, uint8_t flags, void *user_data)
{
    (void)session;
    (void)flags;
    struct h2 *h = OF(user_data);
    struct stream *s = stream_of(h, frame->hd.stream_id);
    struct str name = { (const char *)name_p, n_name }, value = { (const char *)value_p, n_value };
    if (!s || s->answer_ourselves)
        return 0;
    struct headers *fields = h->p.is_server ? &s->request.headers : &s->response.headers;
    struct headers *to = s->in_head_done ? &s->in_trailers : fields;
    uint32_t max = s->in_head_done ? h->p.limits->trailer_bytes : h->p.limits->head_bytes;
    s->in_head_bytes += (uint32_t)(n_name + n_value);
    if (s->in_head_bytes > max || to->n >= h->p.limits->head_fields) {
        s->answer_ourselves = 431;
        return h->p.is_server && !s->in_head_done ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (str_is(name, ":path") && n_value > h->p.limits->target_bytes)
        s->answer_ourselves = 414;
    else if (n_name && name.p[0] == ':')
        take_pseudo(s, name, value);
    else
        headers_add(to, &s->arena, name, value);
    return 0;
}

/* Host stands for :authority where that is missing; two that differ are two readings of one request. */
static bool settle_authority(struct stream *s)
{
    struct head *r = &s->request;
    struct str host = headers_get(&r->headers, "host");
    if (!host.p)
        return true;
    if (r->authority.n == 0)
        r->authority = host;
    uint32_t n = 0;
    bool same = str_eq(host, r->authority) && headers_count(&r->headers, "host") == 1;
    for (uint32_t i = 0; i < r->headers.n; i++)
        if (!str_is(r->headers.at[i].name, "host"))
            r->headers.at[n++] = r->headers.at[i];
    r->headers.n = n;
    return same;
}

static void request_head_done(struct h2 *h, struct stream *s)
{
    s->in_head_done = true;
    s->in_head_bytes = 0;
    if (!s->answer_ourselves && str_is(s->request.method, "CONNECT"))
        s->answer_ourselves = 405;
    if (!s->answer_ourselves && !settle_authority(s))
        s->answer_ourselves = 400;
    if (s->answer_ourselves) {
        stream_respond(s, s->answer_ourselves, "text/plain; charset=utf-8", STR(""));
        return;
    }
    int32_t id = s->h2_id;
    h->p.host->request(&h->p, s);
    if (stream_of(h, id) == s && !s->out_head_ready &&
        headers_has_word(&s->request.headers, "expect", "100-continue")) {
        nghttp2_nv status = { .name = (uint8_t *)(uintptr_t)":status", .namelen = 7,
                              .value = (uint8_t *)(uintptr_t)"100", .valuelen = 3 };
        nghttp2_submit_headers(h->session, NGHTTP2_FLAG_NONE, id, NULL, &status, 1, NULL);
    }
}

static int response_head_done(struct h2 *h, struct stream *s)
{
    s->in_head_bytes = 0;
    if (s->response.status / 100 != 1) {
        s->response.version = HTTP_2;
        stream_tell_head(s);
        return 0;
    }
    s->response = (struct head){ 0 };
    if (++s->n_informational <= h->p.limits->informational)
        return 0;
    proto_fail(&h->p, "http/2: too many 1xx answers");
    return nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->h2_id, NGHTTP2_PROTOCOL_ERROR);
}

static void control_frame(struct h2 *h, const nghttp2_frame *frame)
{
    switch (frame->hd.type) {
    case NGHTTP2_SETTINGS:
        h->settings_seen = true;
        proto_wake(&h->p); /* there may be room for more streams */
        break;
    case NGHTTP2_PING:
        if (!(frame->hd.flags & NGHTTP2_FLAG_ACK))
            break;
        h->ping_sent_ms = 0;
        if (h->goaway_ms)
            h->goaway_ms = h->p.now_ms; /* the peer has read the notice */
        break;
    case NGHTTP2_GOAWAY:
        h->p.shutting_down = true;
        if (frame->goaway.error_code != NGHTTP2_NO_ERROR)
            proto_fail(&h->p, "http/2: the peer ended the connection: %s",
                       nghttp2_http2_strerror(frame->goaway.error_code));
        proto_wake(&h->p);
        break;
    default:
        break;
    }
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    (void)session;
    struct h2 *h = OF(user_data);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) {
        control_frame(h, frame);
        return 0;
    }
    int32_t id = frame->hd.stream_id;
    struct stream *s = stream_of(h, id);
    if (s && frame->hd.type == NGHTTP2_HEADERS && !s->in_head_done) {
        if (h->p.is_server)
            request_head_done(h, s);
        else if (response_head_done(h, s) != 0)
            return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    s = stream_of(h, id); /* an event may have cancelled it */
    if (s && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) && s->in_head_done)
        stream_tell_end(s);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n, void *user_data)
{
    (void)flags;
    struct h2 *h = OF(user_data);
    struct stream *s = stream_of(h, id);
    nghttp2_session_consume_connection(session, n);
    if (s)
        stream_tell_body(s, (struct str){ (const char *)p, n });
    else
        nghttp2_session_consume_stream(session, id, n);
    return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct h2 *h = OF(user_data);
    if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
        frame->rst_stream.error_code != NGHTTP2_CANCEL) {
        /* Making us reset streams costs a peer no reset of its own. */
        const char *limit = h2_guard_count(&h->guard, H2_REFUSED, h->p.now_ms);
        if (limit)
            calm(h, limit);
        return 0;
    }
    bool is_message = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!is_message || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct stream *s = stream_of(h, frame->hd.stream_id);
    if (!s)
        return 0;
    s->out_done = true;
    if (h->p.is_server && !s->in_ended) /* the answer is out: the rest of the request may stay where it is */
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->h2_id, NGHTTP2_NO_ERROR);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user_data)
{
    (void)session;
    struct h2 *h = OF(user_data);
    struct stream *s = stream_of(h, id);
    if (!s)
        return 0;
    forget(h, s);
    bool complete = h->p.is_server ? s->out_done : s->in_ended;
    if (code == NGHTTP2_NO_ERROR && complete)
        stream_close(s, STREAM_OK, "%s", "");
    else if (code == NGHTTP2_REFUSED_STREAM)
        stream_close(s, STREAM_REFUSED, "http/2: the peer refused the stream");
    else if (h->p.error[0])
        stream_close(s, STREAM_PROTOCOL, "%s", h->p.error);
    else
        stream_close(s, code == NGHTTP2_PROTOCOL_ERROR ? STREAM_PROTOCOL : STREAM_PEER_CLOSED,
                     "http/2: stream reset: %s",
                     nghttp2_http2_strerror(code));
    return 0;
}

/* ---- Bytes ---- */

static size_t h2_input(struct proto *p, struct str bytes)
{
    struct h2 *h = (struct h2 *)p;
    if (p->done || h->deaf)
        return bytes.n;
    h->last_frame_ms = p->now_ms;
    const char *limit = h2_guard_input(&h->guard, bytes, p->now_ms);
    if (limit) {
        calm(h, limit);
        h->deaf = true;
        proto_wake(p);
        return bytes.n;
    }
    ssize_t n = nghttp2_session_mem_recv(h->session, (const uint8_t *)bytes.p, bytes.n);
    if (n < 0) {
        proto_lose(p, STREAM_PROTOCOL, nghttp2_strerror((int)n));
        proto_wake(p);
        return bytes.n;
    }
    check_done(h);
    proto_wake(p);
    return bytes.n;
}

static void h2_input_end(struct proto *p)
{
    proto_lose(p, STREAM_PEER_CLOSED, p->error[0] ? p->error : "the peer closed the connection");
}

static void h2_output(struct proto *p, struct strbuf *out, size_t max)
{
    struct h2 *h = (struct h2 *)p;
    h->out = out;
    h->out_max = max;
    while (out->n < max) {
        const uint8_t *bytes;
        ssize_t n = nghttp2_session_mem_send(h->session, &bytes);
        if (n < 0)
            proto_lose(p, STREAM_PROTOCOL, nghttp2_strerror((int)n));
        if (n <= 0)
            break;
        strbuf_add(out, bytes, (size_t)n);
    }
    h->out = NULL;
    check_done(h);
}

/* ---- Time ---- */

static int64_t tick_ping(struct h2 *h)
{
    const struct http_limits *l = h->p.limits;
    if (!l->read_idle_ms)
        return NEVER_MS;
    if (h->ping_sent_ms) {
        if (h->p.now_ms < h->ping_sent_ms + l->ping_ms)
            return h->ping_sent_ms + l->ping_ms;
        proto_lose(&h->p, STREAM_TIMEOUT, "http/2: no answer to a PING");
        proto_wake(&h->p);
        return NEVER_MS;
    }
    if (h->p.now_ms < h->last_frame_ms + l->read_idle_ms)
        return h->last_frame_ms + l->read_idle_ms;
    h->ping_sent_ms = h->p.now_ms;
    nghttp2_submit_ping(h->session, NGHTTP2_FLAG_NONE, NULL);
    proto_wake(&h->p);
    return h->ping_sent_ms + l->ping_ms;
}

static void say_last_goaway(struct h2 *h)
{
    h->goaway_ms = 0;
    h->goaway_final = true;
    nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h->session),
                          NGHTTP2_NO_ERROR, NULL, 0);
    proto_wake(&h->p);
}

/* Without exchanges: the greeting, then the next request, must come in time. A header block must come to its end. */
static int64_t tick_idle(struct h2 *h)
{
    const struct http_limits *l = h->p.limits;
    int64_t next_ms = NEVER_MS;
    if (l->head_ms && (h->guard.block_since_ms || !h->settings_seen)) {
        next_ms = (h->guard.block_since_ms ? h->guard.block_since_ms : h->started_ms) + l->head_ms;
        if (next_ms > h->p.now_ms)
            return next_ms;
        proto_fail(&h->p, "http/2: a header block took too long");
        nghttp2_session_terminate_session(h->session, NGHTTP2_ENHANCE_YOUR_CALM);
        proto_wake(&h->p);
        return NEVER_MS;
    }
    if (l->idle_ms && h->p.n_streams == 0 && !h->goaway_final) {
        next_ms = h->idle_since_ms + l->idle_ms;
        if (next_ms > h->p.now_ms)
            return next_ms;
        h->p.shutting_down = true;
        say_last_goaway(h);
        return NEVER_MS;
    }
    return next_ms;
}

static int64_t h2_tick(struct proto *p)
{
    struct h2 *h = (struct h2 *)p;
    if (!h->started_ms)
        h->started_ms = h->idle_since_ms = h->last_frame_ms = p->now_ms;
    if (p->done || p->lost)
        return NEVER_MS;
    int64_t next_ms = proto_tick_streams(p);
    next_ms = earlier_ms(next_ms, tick_idle(h));
    next_ms = earlier_ms(next_ms, tick_ping(h));
    if (h->goaway_ms && h->goaway_ms <= p->now_ms)
        say_last_goaway(h);
    if (h->goaway_ms)
        next_ms = earlier_ms(next_ms, h->goaway_ms);
    check_done(h);
    return next_ms;
}

/* ---- The rest of the interface ---- */

/* A server first says that the end is near and still takes what is on its way. */
static void h2_shutdown(struct proto *p)
{
    struct h2 *h = (struct h2 *)p;
    if (p->is_server && !h->goaway_ms && !h->goaway_final) {
        nghttp2_submit_shutdown_notice(h->session);
        nghttp2_submit_ping(h->session, NGHTTP2_FLAG_NONE, NULL);
        h->goaway_ms = p->now_ms + GOAWAY_GRACE_MS;
    }
    p->shutting_down = true;
    check_done(h);
    proto_wake(p);
}

static void h2_free(struct proto *p)
{
    struct h2 *h = (struct h2 *)p;
    nghttp2_session_del(h->session);
    proto_fini(p);
    free(h);
}

static bool h2_has_room(const struct proto *p)
{
    const struct h2 *h = (const struct h2 *)p;
    uint32_t max = nghttp2_session_get_remote_settings(h->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    max = max < p->limits->streams ? max : p->limits->streams;
    return !p->done && !p->lost && !p->shutting_down && p->n_streams < max &&
           nghttp2_session_check_request_allowed(h->session);
}

static void h2_start(struct proto *p, struct stream *s)
{
    stream_place(s, p);
    submit_request((struct h2 *)p, s);
    proto_wake(p);
}

static void h2_stream_consumed(struct proto *p, struct stream *s, size_t n)
{
    struct h2 *h = (struct h2 *)p;
    if (n > s->n_in_unread)
        n = s->n_in_unread;
    s->n_in_unread -= n;
    if (n && s->h2_id) {
        nghttp2_session_consume_stream(h->session, s->h2_id, n);
        proto_wake(p);
    }
}

static void h2_stream_abort(struct proto *p, struct stream *s, enum stream_status status, const char *why)
{
    struct h2 *h = (struct h2 *)p;
    nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->h2_id, NGHTTP2_CANCEL);
    forget(h, s);
    stream_close(s, status, "%s", why);
}

static const struct proto_ops h2_ops = {
    .input = h2_input,
    .input_end = h2_input_end,
    .output = h2_output,
    .tick = h2_tick,
    .shutdown = h2_shutdown,
    .free = h2_free,
    .has_room = h2_has_room,
    .start = h2_start,
    .stream_output = h2_stream_output,
    .stream_consumed = h2_stream_consumed,
    .stream_abort = h2_stream_abort,
};

static void make_session(struct h2 *h)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    int rc = nghttp2_session_callbacks_new(&callbacks) | nghttp2_option_new(&option);
    assert(rc == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_body);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_send_header_block_length(option, 1 << 20);
    rc = h->p.is_server ? nghttp2_session_server_new2(&h->session, callbacks, h, option)
                        : nghttp2_session_client_new2(&h->session, callbacks, h, option);
    assert(rc == 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
}

static void greet(struct h2 *h)
{
    const struct http_limits *l = h->p.limits;
    nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, l->in_window_bytes },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, l->head_bytes },
        { h->p.is_server ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS : NGHTTP2_SETTINGS_ENABLE_PUSH,
          h->p.is_server ? l->streams : 0 },
    };
    nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, sizeof(settings) / sizeof(settings[0]));
    nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW_BYTES);
}

struct proto *h2_new(bool is_server, const struct proto_host *host, void *host_data, const struct http_limits *limits)
{
    struct h2 *h = mem_zalloc(sizeof(*h));
    proto_init(&h->p, &h2_ops, is_server, host, host_data, limits);
    h->p.is_h2 = true;
    make_session(h);
    h2_guard_init(&h->guard, limits, is_server ? sizeof(H2_PREFACE) - 1 : 0, 0);
    greet(h);
    return &h->p;
}
