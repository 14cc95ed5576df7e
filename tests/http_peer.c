/* tests/http_peer.c - see http_peer.h. */
#include "tests/http_peer.h"

#include <stdlib.h>

#include "base/mem.h"
#include "http/stream_priv.h"

enum { BIG_MAX = 16 << 20 }; /* of /big, whatever is asked for: fuzzers ask, too */

struct exchange {
    struct peer *peer;
    struct strbuf body;
    uint64_t left; /* of /big */
};

static void on_wake(struct proto *p)
{
    ((struct peer *)p->host_data)->woken = true;
}

static void on_body(struct stream *s, struct str bytes)
{
    struct exchange *x = stream_user(s);
    strbuf_add_str(&x->body, bytes);
    if (!x->peer->hold)
        stream_consume(s, bytes.n);
}

static void answer(struct stream *s, const struct headers *trailers)
{
    struct exchange *x = stream_user(s);
    const struct head *r = stream_request(s);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "%.*s %.*s %.*s", STR_ARG(r->method), STR_ARG(r->target), STR_ARG(strbuf_str(&x->body)));
    if (trailers->n) {
        struct head head = { .status = 200 };
        stream_send_head(s, &head);
        stream_write(s, strbuf_str(&text));
        stream_end(s, trailers);
    } else {
        stream_respond(s, 200, "text/plain", strbuf_str(&text));
    }
    strbuf_fini(&text);
}

static void more(struct stream *s)
{
    struct exchange *x = stream_user(s);
    static char block[1000];
    memset(block, 'b', sizeof(block));
    while (x->left) {
        size_t n = x->left < sizeof(block) ? x->left : sizeof(block);
        if (!stream_write(s, (struct str){ block, n }))
            return;
        x->left -= n;
    }
    stream_end(s, NULL);
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    struct exchange *x = stream_user(s);
    struct peer *peer = x->peer;
    peer->n_closed++;
    strbuf_printf(&peer->log, "closed %d %s\n", result->status, result->message);
    if (peer->waiting == s)
        peer->waiting = NULL;
    strbuf_fini(&x->body);
    free(x);
}

static void log_head(struct stream *s, const struct head *r)
{
    struct exchange *x = stream_user(s);
    strbuf_printf(&x->peer->log, "head %u\n", r->status);
}

static void log_end(struct stream *s, const struct headers *trailers)
{
    struct exchange *x = stream_user(s);
    strbuf_printf(&x->peer->log, "body %.*s\n", STR_ARG(str_first(strbuf_str(&x->body), 200)));
    for (uint32_t i = 0; i < trailers->n; i++)
        strbuf_printf(&x->peer->log, "trailer %.*s: %.*s\n", STR_ARG(trailers->at[i].name),
                      STR_ARG(trailers->at[i].value));
}

static const struct stream_events answer_events = { .body = on_body, .end = answer, .closed = on_closed };
static const struct stream_events wait_events = { .body = on_body, .writable = more, .closed = on_closed };
static const struct stream_events log_events = { .head = log_head, .body = on_body, .end = log_end,
                                                 .closed = on_closed };

static void repeat(struct stream *s, struct str bytes)
{
    stream_write(s, bytes);
    stream_consume(s, bytes.n);
}

static void add_upgrade(struct headers *h, struct arena *a)
{
    headers_add(h, a, STR("connection"), STR("Upgrade"));
    headers_add(h, a, STR("upgrade"), STR("echo"));
}

static const struct stream_events repeat_events = { .body = repeat, .closed = on_closed };

static void grant_upgrade(struct stream *s)
{
    struct head head = { .status = 101 };
    add_upgrade(&head.headers, stream_arena(s));
    stream_send_head(s, &head);
}

static void attach(struct peer *peer, struct stream *s, const struct stream_events *events)
{
    struct exchange *x = mem_zalloc(sizeof(*x));
    x->peer = peer;
    strbuf_init(&x->body, STRBUF_NO_MAX);
    stream_attach(s, events, x);
}

static void on_request(struct proto *p, struct stream *s)
{
    struct peer *peer = p->host_data;
    const struct head *r = stream_request(s);
    peer->n_requests++;
    strbuf_printf(&peer->log, "request %.*s %.*s%.*s\n", STR_ARG(r->method), STR_ARG(r->authority), STR_ARG(r->target));
    bool waits = str_is(r->target, "/later") || str_is(r->target, "/never");
    bool big = str_starts(r->target, STR("/big/"));
    attach(peer, s, waits || big ? &wait_events : &answer_events);
    if (waits)
        peer->waiting = s;
    if (str_is(r->target, "/early")) {
        stream_attach(s, &wait_events, stream_user(s));
        stream_respond(s, 200, "text/plain", STR("early"));
    } else if (str_is(r->target, "/cancel")) {
        struct exchange *x = stream_user(s);
        strbuf_fini(&x->body);
        free(x);
        stream_cancel(s);
    } else if (str_is(r->target, "/upgrade")) {
        stream_attach(s, &repeat_events, stream_user(s));
        grant_upgrade(s);
    } else if (str_is(r->target, "/close")) {
        struct head head = { .status = 200 };
        headers_add(&head.headers, stream_arena(s), STR("connection"), STR("close"));
        stream_attach(s, &wait_events, stream_user(s));
        stream_send_head(s, &head);
        stream_end(s, NULL);
    } else if (big) {
        struct head head = { .status = 200 };
        uint64_t n = strtoull(arena_cstr(stream_arena(s), str_from(r->target, 5)), NULL, 10);
        ((struct exchange *)stream_user(s))->left = n < BIG_MAX ? n : BIG_MAX;
        stream_send_head(s, &head);
        more(s);
    }
}

static const struct proto_host peer_host = { .wake = on_wake, .request = on_request };

void peer_init(struct peer *peer, bool is_server, bool is_h2)
{
    *peer = (struct peer){ .limits = is_server ? http_server_limits : http_client_limits, .now_ms = 1000000 };
    strbuf_init(&peer->sent, STRBUF_NO_MAX);
    strbuf_init(&peer->log, STRBUF_NO_MAX);
    strbuf_init(&peer->unread, STRBUF_NO_MAX);
    struct h1_options o = { .scheme = STR("http") };
    peer->p = is_h2 ? h2_new(is_server, &peer_host, peer, &peer->limits)
                    : h1_new(is_server, &peer_host, peer, &peer->limits, &o);
    peer->p->now_ms = peer->now_ms;
    peer->p->ops->tick(peer->p);
}

void peer_fini(struct peer *peer)
{
    proto_lose(peer->p, STREAM_SHUTDOWN, "the test ends");
    proto_deliver(peer->p);
    peer->p->ops->free(peer->p);
    strbuf_fini(&peer->sent);
    strbuf_fini(&peer->log);
    strbuf_fini(&peer->unread);
}

static void offer(struct peer *peer)
{
    if (!peer->unread.n || peer->p->in_blocked || peer->p->lost)
        return;
    struct strbuf all = peer->unread;
    strbuf_init(&peer->unread, STRBUF_NO_MAX);
    size_t n = peer->p->ops->input(peer->p, strbuf_str(&all));
    strbuf_add_str(&peer->unread, str_from(strbuf_str(&all), n));
    strbuf_fini(&all);
}

void peer_run(struct peer *peer)
{
    peer->p->now_ms = peer->now_ms;
    do {
        peer->woken = false;
        offer(peer);
        for (size_t before = SIZE_MAX; before != peer->sent.n && !peer->p->lost;) {
            struct strbuf out;
            before = peer->sent.n;
            strbuf_init(&out, STRBUF_NO_MAX);
            peer->p->ops->output(peer->p, &out, 65536);
            strbuf_add_str(&peer->sent, strbuf_str(&out));
            strbuf_fini(&out);
        }
        proto_deliver(peer->p);
    } while (peer->woken);
}

void peer_feed(struct peer *peer, struct str bytes, size_t n_piece)
{
    while (bytes.n) {
        struct str piece = str_first(bytes, n_piece ? n_piece : bytes.n);
        bytes = str_from(bytes, piece.n);
        strbuf_add_str(&peer->unread, piece);
        peer_run(peer);
    }
}

void peer_end(struct peer *peer)
{
    peer->p->ops->input_end(peer->p);
    peer_run(peer);
}

void peer_advance(struct peer *peer, int64_t ms)
{
    peer->now_ms += ms;
    peer->p->now_ms = peer->now_ms;
    if (!peer->p->lost && !peer->p->done)
        peer->p->ops->tick(peer->p);
    peer_run(peer);
}

void peer_answer(struct peer *peer, const char *text)
{
    stream_respond(peer->waiting, 200, "text/plain", str_of(text));
    peer_run(peer);
}

struct stream *peer_request(struct peer *peer, const char *method, const char *target, const char *body)
{
    struct stream *s = stream_new(sizeof(*s));
    struct head head = { .method = str_of(method), .scheme = STR("http"), .authority = STR("host"),
                         .target = str_of(target) };
    if (strcmp(target, "/upgrade") == 0)
        add_upgrade(&head.headers, &s->arena);
    head_copy(&s->request, &s->arena, &head);
    s->out_head_ready = true;
    attach(peer, s, &log_events);
    if (body) {
        stream_write(s, str_of(body));
        stream_end(s, NULL);
    }
    peer->p->ops->start(peer->p, s);
    peer_run(peer);
    return s;
}

static bool carry(struct peer *from, struct peer *to)
{
    if (!from->sent.n)
        return false;
    struct strbuf bytes = from->sent;
    strbuf_init(&from->sent, STRBUF_NO_MAX);
    peer_feed(to, strbuf_str(&bytes), 0);
    strbuf_fini(&bytes);
    return true;
}

void peer_connect(struct peer *a, struct peer *b)
{
    peer_run(a);
    peer_run(b);
    for (bool there = true, back = true; there || back;) {
        there = carry(a, b);
        back = carry(b, a);
    }
}

bool peer_ended(const struct peer *peer)
{
    return peer->p->done || peer->p->lost;
}
