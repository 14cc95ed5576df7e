/* http/pool.c - the client's connections: for each origin a line of calls that wait and the connections that serve
 * them.
 *
 * Serving (origin_serve, deferred): calls go to connections with room, oldest first. For what is left, connections are
 * made: as many as calls wait when the origin is known to speak HTTP/1, one at a time when it speaks HTTP/2 or is not
 * known yet.
 *
 * A connection: dial -> [TLS to the proxy] -> [tunnel] -> [TLS] -> HTTP. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/client_priv.h"
#include "http/tunnel.h"

enum speaks { SPEAKS_UNKNOWN, SPEAKS_H1, SPEAKS_H2 };

struct origin {
    struct client *client;
    struct arena arena;
    struct str key;
    struct url url;
    const struct url *proxy; /* NULL = none */
    struct str proxy_authorization;
    bool is_https, tunnels;  /* tunnels: through the proxy, as any https does */
    enum speaks speaks;
    struct list waiting, links;
    uint32_t n_waiting, n_links, n_making; /* making: not yet speaking HTTP */
    struct loop_task task;
};

/* A connection, from its making on. */
struct link {
    struct list_node node;
    struct origin *origin;
    struct dial *dial; /* NULL = connected */
    struct conn *conn; /* NULL = dialing */
    bool tunneled, speaking, closing;
    char error[400];
};

static void origin_serve(struct loop_task *t);

static void serve_soon(struct origin *o)
{
    loop_defer(o->client->options.loop, &o->task);
}

/* ---- The line ---- */

bool pool_wait(struct origin *o, struct call *call)
{
    if (o->n_waiting >= CLIENT_WAITING_MAX)
        return false;
    call->origin = o;
    list_push(&o->waiting, &call->s.node);
    o->n_waiting++;
    o->client->counts.n_waiting++;
    serve_soon(o);
    return true;
}

void pool_leave(struct call *call)
{
    struct origin *o = call->origin;
    list_remove(&call->s.node);
    o->n_waiting--;
    o->client->counts.n_waiting--;
}

static void fail_waiting(struct origin *o, enum stream_status status, const char *message)
{
    for (struct list_node *n; (n = list_first(&o->waiting));) {
        struct call *call = (struct call *)LIST_ITEM(n, struct stream, node);
        pool_leave(call);
        call_fail(call, status, message);
    }
}

/* ---- Links ---- */

static void link_gone(struct link *k)
{
    struct origin *o = k->origin;
    list_remove(&k->node);
    o->n_links--;
    o->client->counts.n_connections--;
    if (!k->speaking) {
        o->n_making--;
        /* Nothing else can serve those who wait: they get the reason. */
        if (!k->closing && o->n_links == 0)
            fail_waiting(o, STREAM_UNREACHABLE, k->error[0] ? k->error : "the connection was closed");
    }
    free(k);
    serve_soon(o);
    client_check_stopped(o->client);
}

static void link_closed(struct conn *c, const char *why)
{
    struct link *k = conn_owner(c);
    if (!k->error[0])
        snprintf(k->error, sizeof(k->error), "%s", why);
    link_gone(k);
}

static void link_fail(struct link *k, const char *error)
{
    snprintf(k->error, sizeof(k->error), "%s", error);
    conn_close(k->conn, error);
}

static void speak(struct link *k, bool h2)
{
    struct origin *o = k->origin;
    const struct http_limits *limits = o->client->options.limits;
    struct h1_options h1 = { .absolute_form = o->proxy && !o->tunnels, .proxy_authorization = o->proxy_authorization };
    k->speaking = true;
    o->n_making--;
    o->speaks = h2 ? SPEAKS_H2 : SPEAKS_H1;
    conn_set_deadline(k->conn, 0, NULL);
    conn_speak(k->conn, h2 ? h2_new(false, &conn_host, k->conn, limits) : h1_new(false, &conn_host, k->conn, limits,
                                                                                 &h1));
    serve_soon(o);
}

static void tunnel_over(void *context, const char *error)
{
    struct link *k = context;
    struct origin *o = k->origin;
    if (error) {
        link_fail(k, error);
        return;
    }
    k->tunneled = true;
    conn_speak(k->conn, NULL);
    if (o->is_https)
        conn_add_tls(k->conn, o->client->tls, o->url.host);
    else
        speak(k, o->client->options.http2_without_tls);
}

/* The layer at hand is up: what comes next? */
static void link_ready(struct conn *c, struct str alpn)
{
    struct link *k = conn_owner(c);
    struct origin *o = k->origin;
    const struct client_options *options = &o->client->options;
    if (o->tunnels && !k->tunneled) {
        conn_set_deadline(c, loop_now_ms(options->loop) + options->connect_ms, "proxy: no answer");
        conn_speak(c, tunnel_new(o->proxy, o->url.host, o->url.port, &conn_host, c, options->limits, tunnel_over, k));
        return;
    }
    speak(k, o->is_https ? str_is(alpn, "h2") : options->http2_without_tls);
}

static void link_bytes(struct conn *c, struct str bytes)
{
    (void)c;
    (void)bytes; /* of TLS that begins in a moment */
}

static void link_progressed(struct conn *c)
{
    struct link *k = conn_owner(c);
    if (k->origin->n_waiting)
        serve_soon(k->origin);
}

static bool is_safe_to_repeat(const struct stream *s)
{
    struct str m = s->request.method;
    return str_is(m, "GET") || str_is(m, "HEAD") || str_is(m, "OPTIONS");
}

/* See client.h for what is sent again. */
static bool link_reclaim(struct conn *c, struct stream *s, const struct stream_result *result)
{
    struct link *k = conn_owner(c);
    struct call *call = CALL(s);
    const struct proto *p = conn_proto(c);
    bool refused = result->status == STREAM_REFUSED;
    bool stale = result->status == STREAM_PEER_CLOSED && !p->is_h2 && p->n_exchanges > 1 && !s->in_head_done &&
                 is_safe_to_repeat(s);
    if (!(refused || stale) || k->origin->client->stopping || call->n_retries >= CLIENT_RETRIES_MAX ||
        (call->streams_body && s->n_out_pulled > 0) || k->origin->n_waiting >= CLIENT_WAITING_MAX)
        return false;
    call->n_retries++;
    call->wants_fresh |= stale;
    k->origin->client->counts.n_retried++;
    call_rewind(call);
    if (s->deadline_ms)
        loop_timer_set(k->origin->client->options.loop, &call->deadline, s->deadline_ms);
    return pool_wait(k->origin, call);
}

static const struct conn_events link_events = {
    .ready = link_ready,
    .first_bytes = link_bytes,
    .progressed = link_progressed,
    .closed = link_closed,
    .reclaim = link_reclaim,
};

static void dialed(void *context, struct conn *own_conn, const char *error)
{
    struct link *k = context;
    struct origin *o = k->origin;
    k->dial = NULL;
    if (!own_conn) {
        snprintf(k->error, sizeof(k->error), "%s", error);
        link_gone(k);
        return;
    }
    k->conn = own_conn;
    conn_give(own_conn, &link_events, k);
    if (o->proxy && strcmp(o->proxy->scheme, "https") == 0)
        conn_add_tls(own_conn, o->client->proxy_tls, o->proxy->host);
    else if (!o->proxy && o->is_https)
        conn_add_tls(own_conn, o->client->tls, o->url.host);
    conn_open(own_conn);
}

static void make_link(struct origin *o)
{
    const struct client_options *options = &o->client->options;
    const struct url *to = o->proxy ? o->proxy : &o->url;
    struct link *k = mem_zalloc(sizeof(*k));
    k->origin = o;
    list_push(&o->links, &k->node);
    o->n_links++;
    o->n_making++;
    o->client->counts.n_connections++;
    o->client->counts.n_dialed++;
    k->dial = dial_start(options->loop, to->host, to->port, options->connect_ms, options->limits, dialed, k);
}

/* ---- Serving ---- */

static struct link *link_with_room(struct origin *o, bool fresh)
{
    for (struct list_node *n = list_first(&o->links); n; n = list_next(&o->links, n)) {
        struct link *k = LIST_ITEM(n, struct link, node);
        struct proto *p = k->speaking ? conn_proto(k->conn) : NULL;
        if (p && p->ops->has_room(p) && (!fresh || p->is_h2 || p->n_exchanges == 0))
            return k;
    }
    return NULL;
}

static void start_call(struct link *k, struct call *call)
{
    struct proto *p = conn_proto(k->conn);
    pool_leave(call);
    loop_timer_stop(k->origin->client->options.loop, &call->deadline);
    p->now_ms = loop_now_ms(k->origin->client->options.loop);
    p->ops->start(p, &call->s);
}

static void origin_serve(struct loop_task *t)
{
    struct origin *o = LIST_ITEM(&t->node, struct origin, task.node);
    for (struct list_node *n = list_first(&o->waiting), *after; n; n = after) {
        struct call *call = (struct call *)LIST_ITEM(n, struct stream, node);
        struct link *k = link_with_room(o, call->wants_fresh);
        after = list_next(&o->waiting, n);
        if (k)
            start_call(k, call);
        else if (!call->wants_fresh)
            break;
        else if (o->n_links >= o->client->options.connections && (k = link_with_room(o, false)))
            conn_close(k->conn, ""); /* makes room for a new one */
    }
    uint32_t want = o->speaks == SPEAKS_H1 ? o->n_waiting : o->n_waiting ? 1 : 0;
    while (o->n_making < want && o->n_links < o->client->options.connections && !o->client->stopping)
        make_link(o);
}

/* ---- Origins ---- */

static struct origin *origin_new(struct client *c, struct str key, const struct url *u)
{
    struct origin *o = mem_zalloc(sizeof(*o));
    o->client = c;
    arena_init(&o->arena);
    o->key = arena_str(&o->arena, key);
    o->url = *u;
    o->url.scheme = arena_cstr(&o->arena, str_of(u->scheme));
    o->url.host = arena_cstr(&o->arena, str_of(u->host));
    o->is_https = strcmp(u->scheme, "https") == 0;
    o->proxy = c->options.proxies ? proxy_for(c->options.proxies, &o->url) : NULL;
    o->tunnels = o->proxy && (o->is_https || strncmp(o->proxy->scheme, "socks5", 6) == 0);
    if (o->proxy)
        o->proxy_authorization = proxy_authorization(o->proxy, &o->arena);
    list_init(&o->waiting);
    list_init(&o->links);
    o->task.run = origin_serve;
    return o;
}

struct origin *pool_find(struct client *c, const struct url *u)
{
    char key[300];
    snprintf(key, sizeof(key), "%s://%s:%d", u->scheme, u->host, u->port);
    union map_value *found = map_str_find(&c->origins, str_of(key));
    if (found)
        return found->ptr;
    struct origin *o = origin_new(c, str_of(key), u);
    map_str_put(&c->origins, o->key, NULL)->ptr = o;
    return o;
}

static void stop_link(struct link *k)
{
    k->closing = true;
    if (k->dial) {
        struct dial *d = k->dial;
        k->dial = NULL;
        dial_cancel(d);
        link_gone(k);
    } else {
        conn_stop(k->conn, "the client stops");
    }
}

void pool_stop(struct client *c)
{
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&c->origins, slot));) {
        struct origin *o = slot->value.ptr;
        fail_waiting(o, STREAM_SHUTDOWN, "the client stops");
        for (struct list_node *n = list_first(&o->links), *after; n; n = after) {
            after = list_next(&o->links, n);
            stop_link(LIST_ITEM(n, struct link, node));
        }
    }
}

bool pool_is_empty(const struct client *c)
{
    return c->counts.n_connections == 0 && c->counts.n_waiting == 0;
}

void pool_free(struct client *c)
{
    for (struct map_str_slot *slot = NULL; (slot = map_str_next(&c->origins, slot));) {
        struct origin *o = slot->value.ptr;
        loop_task_stop(&o->task);
        arena_fini(&o->arena);
        free(o);
    }
}
