/* http/server.c - see server.h. */
#include "http/server.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/conn.h"
#include "http/stream_priv.h"

enum { BACKLOG = 1024 };

struct server {
    struct server_options options;
    struct list listeners, conns;
    struct server_counts counts;
    struct loop_timer deadline;
    struct loop_task finish;
    bool stopping, held;
    void (*stopped)(void *context);
    void *stopped_context;
    int64_t date_s; /* second of the text below */
    char date[HTTP_DATE_BYTES + 1];
};

struct listener {
    union {
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } socket;
    struct list_node node;
    struct server *server;
    struct tls_context *tls;
    bool is_pipe;
    bool waiting; /* a connection came while the server was held; libuv keeps the others in the kernel */
};

struct server_conn {
    struct list_node node;
    struct server *server;
    struct conn *conn;
    bool has_tls;
};

/* ---- Connections ---- */

static void speak(struct server_conn *sc, bool h2)
{
    const struct server_options *o = &sc->server->options;
    struct h1_options h1 = { .scheme = sc->has_tls ? STR("https") : STR("http") };
    conn_set_deadline(sc->conn, 0, NULL);
    struct proto *p = h2 ? h2_new(true, &conn_host, sc->conn, o->limits) : h1_new(true, &conn_host, sc->conn,
                                                                                  o->limits, &h1);
    conn_speak(sc->conn, p);
    if (sc->server->stopping)
        p->ops->shutdown(p);
}

static void on_ready(struct conn *c, struct str alpn)
{
    struct server_conn *sc = conn_owner(c);
    const struct http_limits *l = sc->server->options.limits;
    if (sc->has_tls)
        speak(sc, str_is(alpn, "h2"));
    else if (l->head_ms)
        conn_set_deadline(c, loop_now_ms(conn_loop(c)) + l->head_ms, "");
}

/* Without TLS the greeting of HTTP/2 decides. */
static void on_first_bytes(struct conn *c, struct str bytes)
{
    struct server_conn *sc = conn_owner(c);
    struct str preface = STR(H2_PREFACE);
    size_t n = bytes.n < preface.n ? bytes.n : preface.n;
    bool may_be_h2 = !sc->server->options.no_http2 && memcmp(bytes.p, preface.p, n) == 0;
    if (!may_be_h2)
        speak(sc, false);
    else if (n == preface.n)
        speak(sc, true);
}

static void finish_stop(struct loop_task *t)
{
    struct server *v = LIST_ITEM(&t->node, struct server, finish.node);
    if (!v->stopping || !v->stopped || !list_is_empty(&v->conns) || !list_is_empty(&v->listeners))
        return;
    void (*stopped)(void *) = v->stopped;
    loop_timer_stop(v->options.loop, &v->deadline);
    v->stopped = NULL;
    stopped(v->stopped_context); /* last: it may free the server */
}

static void on_closed(struct conn *c, const char *why)
{
    struct server_conn *sc = conn_owner(c);
    struct server *v = sc->server;
    if (why[0]) {
        v->counts.n_failed++;
        LOG(4, "http: connection ended", KS("peer", conn_peer_address(c)), KS("why", why));
    }
    list_remove(&sc->node);
    v->counts.n_connections--;
    free(sc);
    loop_defer(v->options.loop, &v->finish);
}

static void on_request(struct conn *c, struct stream *s)
{
    struct server *v = ((struct server_conn *)conn_owner(c))->server;
    const struct stream_events *none = s->events;
    v->counts.n_requests++;
    v->options.handler(v->options.context, s, stream_request(s));
    if (!s->closed && !s->detached && s->events == none && !s->out_head_ready)
        stream_respond(s, 500, "text/plain; charset=utf-8", STR("no handler\n"));
}

static struct str on_date(struct conn *c)
{
    struct server *v = ((struct server_conn *)conn_owner(c))->server;
    int64_t wall_ns = clock_wall_ns(loop_clock(v->options.loop)), second = wall_ns / CLOCK_NS_PER_SECOND;
    if (second != v->date_s) {
        v->date_s = second;
        http_date(wall_ns, v->date);
    }
    return str_of(v->date);
}

static const struct conn_events server_conn_events = {
    .ready = on_ready,
    .first_bytes = on_first_bytes,
    .closed = on_closed,
    .request = on_request,
    .date = on_date,
};

static void too_many(struct server *v, struct server_conn *sc)
{
    v->counts.n_refused++;
    if (!sc->has_tls) {
        static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n"
                                     "Connection: close\r\nRetry-After: 1\r\nContent-Length: 21\r\n\r\n"
                                     "too many connections\n";
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)answer, sizeof(answer) - 1);
        uv_try_write(conn_socket(sc->conn), &buf, 1);
    }
    conn_close(sc->conn, "too many connections");
}

static void on_connection(uv_stream_t *socket, int status)
{
    struct listener *l = socket->data;
    struct server *v = l->server;
    if (status < 0) {
        LOG_ERROR(uv_strerror(status), "http: cannot take a connection");
        return;
    }
    if (v->held) {
        l->waiting = true;
        return;
    }
    struct server_conn *sc = mem_zalloc(sizeof(*sc));
    sc->server = v;
    sc->has_tls = l->tls != NULL;
    sc->conn = conn_new(v->options.loop, &server_conn_events, sc, v->options.limits, l->is_pipe);
    list_push(&v->conns, &sc->node);
    v->counts.n_connections++;
    int rc = uv_accept(socket, conn_socket(sc->conn));
    if (rc < 0) {
        conn_close(sc->conn, uv_strerror(rc));
        return;
    }
    v->counts.n_accepted++;
    if (v->counts.n_connections > v->options.connections) {
        too_many(v, sc);
        return;
    }
    if (l->tls)
        conn_add_tls(sc->conn, l->tls, NULL);
    conn_open(sc->conn);
}

/* ---- Listeners ---- */

static void listener_closed(uv_handle_t *handle)
{
    struct listener *l = handle->data;
    struct server *v = l->server;
    list_remove(&l->node);
    tls_context_unref(l->tls);
    free(l);
    loop_defer(v->options.loop, &v->finish);
}

/* "host:port", "[host]:port"; an empty host is every address. */
static bool parse_address(const char *text, struct sockaddr_storage *ret_address)
{
    const char *colon = strrchr(text, ':');
    char host[64], *end;
    if (!colon)
        return false;
    long port = strtol(colon + 1, &end, 10);
    size_t n = (size_t)(colon - text);
    if (end == colon + 1 || *end || port < 0 || port > 65535 || n >= sizeof(host))
        return false;
    bool v6 = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    snprintf(host, sizeof(host), "%.*s", v6 ? (int)n - 2 : (int)n, text + v6);
    memset(ret_address, 0, sizeof(*ret_address));
    if (n == 0)
        return uv_ip6_addr("::", (int)port, (struct sockaddr_in6 *)ret_address) == 0;
    return v6 ? uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)ret_address) == 0
              : uv_ip4_addr(host, (int)port, (struct sockaddr_in *)ret_address) == 0;
}

/* libuv has no option for it: its socket is made here, before it binds. */
static int share_port(struct listener *l, int family)
{
    const int on = 1;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    int rc = setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ? uv_translate_sys_error(errno)
                                                                          : uv_tcp_open(&l->socket.tcp, fd);
    if (rc < 0)
        close(fd);
    return rc;
}

static int bind_address(struct listener *l, const struct sockaddr_storage *sa)
{
    int rc = l->server->options.share_port ? share_port(l, sa->ss_family) : 0;
    return rc < 0 ? rc : uv_tcp_bind(&l->socket.tcp, (const struct sockaddr *)sa, 0);
}

/* Binds TCP; a machine without IPv6 listens on all of IPv4 where every address is meant. libuv sets SO_REUSEADDR. */
static int bind_tcp(struct listener *l, const char *address)
{
    struct sockaddr_storage sa;
    if (!parse_address(address, &sa))
        return UV_EINVAL;
    int rc = bind_address(l, &sa);
    if (rc == UV_EAFNOSUPPORT && address[0] == ':') {
        uv_ip4_addr("0.0.0.0", ntohs(((struct sockaddr_in6 *)&sa)->sin6_port), (struct sockaddr_in *)&sa);
        rc = bind_address(l, &sa);
    }
    return rc;
}

/* A socket that a process left behind is taken away; any other file is not. */
static int bind_pipe(struct listener *l, const char *path)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
        unlink(path);
    return uv_pipe_bind(&l->socket.pipe, path);
}

static int port_of(struct listener *l)
{
    struct sockaddr_storage sa;
    int n = sizeof(sa);
    if (l->is_pipe || uv_tcp_getsockname(&l->socket.tcp, (struct sockaddr *)&sa, &n) != 0)
        return 0;
    return ntohs(((struct sockaddr_in *)&sa)->sin_port); /* in the same place for both families */
}

enum err_code server_listen(struct server *v, const char *address, struct tls_context *tls, int *ret_port,
                            struct err *e)
{
    struct listener *l = mem_zalloc(sizeof(*l));
    uv_loop_t *uv = loop_uv(v->options.loop);
    l->server = v;
    l->is_pipe = strncmp(address, "unix:", 5) == 0;
    int rc = l->is_pipe ? uv_pipe_init(uv, &l->socket.pipe, 0) : uv_tcp_init(uv, &l->socket.tcp);
    assert(rc == 0);
    l->socket.stream.data = l;
    list_push(&v->listeners, &l->node);
    l->tls = tls ? tls_context_ref(tls) : NULL;
    rc = l->is_pipe ? bind_pipe(l, address + 5) : bind_tcp(l, address);
    if (rc == 0)
        rc = uv_listen(&l->socket.stream, BACKLOG, on_connection);
    if (rc < 0) {
        uv_close((uv_handle_t *)&l->socket.stream, listener_closed);
        return err_set(e, ERR_IO, "listen on %s: %s", address, uv_strerror(rc));
    }
    if (ret_port)
        *ret_port = port_of(l);
    return ERR_OK;
}

/* ---- Life ---- */

static void cut_all(struct loop_timer *t)
{
    struct server *v = HEAP_ITEM(&t->node, struct server, deadline.node);
    for (struct list_node *n = list_first(&v->conns); n; n = list_next(&v->conns, n))
        conn_stop(LIST_ITEM(n, struct server_conn, node)->conn, "the server stops");
}

struct server *server_new(const struct server_options *o)
{
    struct server *v = mem_zalloc(sizeof(*v));
    v->options = *o;
    if (!v->options.limits)
        v->options.limits = &http_server_limits;
    if (!v->options.connections)
        v->options.connections = SERVER_CONNECTIONS_MAX;
    list_init(&v->listeners);
    list_init(&v->conns);
    v->deadline.fire = cut_all;
    v->finish.run = finish_stop;
    v->date_s = -1;
    return v;
}

void server_hold(struct server *v)
{
    v->held = true;
}

void server_release(struct server *v)
{
    v->held = false;
    for (struct list_node *n = list_first(&v->listeners); n; n = list_next(&v->listeners, n)) {
        struct listener *l = LIST_ITEM(n, struct listener, node);
        if (l->waiting && !uv_is_closing((uv_handle_t *)&l->socket.stream))
            on_connection(&l->socket.stream, 0);
        l->waiting = false;
    }
}

static void stop_conn(struct server_conn *sc)
{
    struct proto *p = conn_proto(sc->conn);
    if (!p) {
        conn_close(sc->conn, "");
        return;
    }
    p->now_ms = loop_now_ms(conn_loop(sc->conn));
    p->ops->shutdown(p);
}

void server_stop(struct server *v, int64_t grace_ms, void (*stopped)(void *context), void *context)
{
    assert(!v->stopping);
    v->stopping = true;
    v->stopped = stopped;
    v->stopped_context = context;
    for (struct list_node *n = list_first(&v->listeners); n; n = list_next(&v->listeners, n)) {
        struct listener *l = LIST_ITEM(n, struct listener, node);
        if (!uv_is_closing((uv_handle_t *)&l->socket.stream))
            uv_close((uv_handle_t *)&l->socket.stream, listener_closed);
    }
    for (struct list_node *n = list_first(&v->conns); n; n = list_next(&v->conns, n))
        stop_conn(LIST_ITEM(n, struct server_conn, node));
    loop_timer_set(v->options.loop, &v->deadline, loop_now_ms(v->options.loop) + grace_ms);
    loop_defer(v->options.loop, &v->finish);
}

void server_free(struct server *v)
{
    if (!v)
        return;
    assert(list_is_empty(&v->conns));
    assert(list_is_empty(&v->listeners));
    loop_timer_stop(v->options.loop, &v->deadline);
    loop_task_stop(&v->finish);
    free(v);
}

struct server_counts server_counts(const struct server *v)
{
    return v->counts;
}
