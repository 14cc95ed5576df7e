/* tests/api_connection.h - an HTTP/1 connection to the server of an api_world, without a socket. */
#pragma once

#include "http/proto.h"
#include "tests/api_world.h"

struct connection {
    struct api_world *world;
    struct proto *p; /* NULL: none now */
    struct strbuf unread, sent;
    bool woken, deaf;
};

static inline void connection_wake(struct proto *p)
{
    ((struct connection *)p->host_data)->woken = true;
}

static inline void connection_request(struct proto *p, struct stream *s)
{
    apiserver_handle(((struct connection *)p->host_data)->world->server, s, stream_request(s));
}

static const struct proto_host connection_host = { .wake = connection_wake, .request = connection_request };

static inline void connection_open(struct connection *c)
{
    struct h1_options o = { .scheme = STR("http") };
    c->p = h1_new(true, &connection_host, c, &http_server_limits, &o);
}

static inline void connection_cut(struct connection *c)
{
    if (!c->p)
        return;
    proto_lose(c->p, STREAM_PEER_CLOSED, "the test says so");
    proto_deliver(c->p);
    c->p->ops->free(c->p);
    c->p = NULL;
    strbuf_reset(&c->unread);
}

static inline void connection_offer(struct connection *c)
{
    if (!c->unread.n || c->p->in_blocked || c->p->lost)
        return;
    struct strbuf all = c->unread;
    strbuf_init(&c->unread, STRBUF_NO_MAX);
    size_t n = c->p->ops->input(c->p, strbuf_str(&all));
    strbuf_add_str(&c->unread, str_from(strbuf_str(&all), n));
    strbuf_fini(&all);
}

static inline void connection_take_output(struct connection *c)
{
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    do {
        strbuf_reset(&out);
        c->p->ops->output(c->p, &out, 65536);
        strbuf_add_str(&c->sent, strbuf_str(&out));
    } while (out.n && !c->p->lost);
    strbuf_fini(&out);
}

/* Until it is quiet; a connection that has ended is gone. */
static inline void connection_run(struct connection *c)
{
    if (!c->p)
        return;
    c->p->now_ms = loop_now_ms(c->world->loop);
    c->p->ops->tick(c->p);
    do {
        c->woken = false;
        connection_offer(c);
        if (!c->deaf)
            connection_take_output(c);
        proto_deliver(c->p);
    } while (c->woken && !c->deaf);
    if (c->p->lost || (c->p->done && !c->deaf))
        connection_cut(c);
}

static inline void connection_feed(struct connection *c, struct str bytes)
{
    if (!c->p)
        connection_open(c);
    strbuf_add_str(&c->unread, bytes);
    connection_run(c);
}

static inline void connection_init(struct connection *c, struct api_world *w)
{
    *c = (struct connection){ .world = w };
    strbuf_init(&c->unread, STRBUF_NO_MAX);
    strbuf_init(&c->sent, STRBUF_NO_MAX);
}

static inline void connection_fini(struct connection *c)
{
    connection_cut(c);
    strbuf_fini(&c->unread);
    strbuf_fini(&c->sent);
}

/* As the user of the token "a", of JSON. `headers` are lines, or empty. */
static inline void connection_ask(struct connection *c, const char *method, const char *target, const char *headers,
                                  const char *body)
{
    struct arena *a = &c->world->arena;
    connection_feed(c, str_of(arena_printf(a, "%s %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\n"
                                           "Content-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n%s",
                                           method, target, headers, strlen(body), body)));
}

/* The body of one answer in `sent`: chunked or of a known length. */
static inline struct str connection_body(struct arena *a, struct str sent)
{
    const char *end = memmem(sent.p, sent.n, "\r\n\r\n", 4);
    if (!end)
        return STR("");
    struct str head = str_first(sent, (size_t)(end - sent.p)), rest = str_from(sent, head.n + 4);
    if (!memmem(head.p, head.n, "chunked", 7))
        return arena_str(a, rest);
    char *body = arena_alloc(a, rest.n + 1);
    size_t n = 0;
    while (rest.n) {
        size_t line = str_index(rest, '\n');
        size_t n_chunk = strtoul(arena_cstr(a, str_first(rest, line)), NULL, 16);
        struct str chunk = str_first(str_from(rest, line + 1), n_chunk);
        memcpy(body + n, chunk.p, chunk.n);
        n += chunk.n;
        rest = str_from(rest, line + 1 + n_chunk + 2);
    }
    return (struct str){ body, n };
}
