/* http/conn.c - see conn.h.
 *
 *   in    socket -> TLS (0, 1 or 2 layers) -> protocol; what it does not take stays in c->in
 *   out   protocol -> TLS -> socket, at once if it takes it, else c->flight waits for it
 *
 * Life: opening -> (handshake) -> ready -> protocol -> [draining: done, the rest is sent] -> [lingering: the peer may
 * read it and close] -> closing -> freed. Errors go straight to closing. */
#include "http/conn.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/stream_priv.h"

/* An active connection looks at its deadlines at most so often; a quiet one sleeps until the next. */
enum { TICK_MS = 50 };

struct conn {
    union {
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } socket;
    struct loop *loop;
    const struct conn_events *events;
    void *owner;
    const struct http_limits *limits;
    struct proto *proto;
    struct proto *old_proto; /* replaced; freed by the next task */
    struct tls_session *tls[CONN_TLS_MAX];
    unsigned n_tls, n_tls_up;
    struct loop_task task;
    struct loop_timer timer;
    struct strbuf in;     /* plain bytes that the protocol has not taken */
    struct strbuf out;    /* for the socket: small things from TLS, sent with the next batch */
    struct strbuf flight; /* at the socket; must not move */
    uv_write_t write;
    uv_shutdown_t shutdown;
    int64_t write_since_ms;
    int64_t deadline_ms;      /* 0 = none */
    const char *deadline_why;
    bool is_pipe, open, reading, writing, lingering, closing, closed, peer_known;
    bool input_ended; /* the peer sends no more */
    bool input_end_told;
    bool stopped;     /* by our own wish */
    bool drained;     /* the last flush found nothing more to send */
    char why[160];
    char peer_address[64];
    struct arena peer_arena;
    const struct tls_peer *peer;
};

static void run_task(struct loop_task *t);
static void on_timer(struct loop_timer *t);

#define OF_TASK(t) LIST_ITEM(&(t)->node, struct conn, task.node)

/* ---- Making one ---- */

struct conn *conn_new(struct loop *l, const struct conn_events *events, void *owner, const struct http_limits *limits,
                      bool is_pipe)
{
    struct conn *c = mem_zalloc(sizeof(*c));
    int rc = is_pipe ? uv_pipe_init(loop_uv(l), &c->socket.pipe, 0) : uv_tcp_init(loop_uv(l), &c->socket.tcp);
    assert(rc == 0);
    c->socket.stream.data = c;
    c->loop = l;
    c->events = events;
    c->owner = owner;
    c->limits = limits;
    c->is_pipe = is_pipe;
    c->task.run = run_task;
    c->timer.fire = on_timer;
    strbuf_init(&c->in, STRBUF_NO_MAX);
    strbuf_init(&c->out, STRBUF_NO_MAX);
    strbuf_init(&c->flight, STRBUF_NO_MAX);
    arena_init(&c->peer_arena);
    return c;
}

void *conn_owner(const struct conn *c)
{
    return c->owner;
}

void conn_give(struct conn *c, const struct conn_events *events, void *owner)
{
    c->events = events;
    c->owner = owner;
}

struct loop *conn_loop(const struct conn *c)
{
    return c->loop;
}

uv_stream_t *conn_socket(struct conn *c)
{
    return &c->socket.stream;
}

struct proto *conn_proto(const struct conn *c)
{
    return c->proto;
}

void conn_wake(struct conn *c)
{
    if (!c->closed)
        loop_defer(c->loop, &c->task);
}

static void free_conn(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    loop_task_stop(&c->task);
    if (c->proto)
        c->proto->ops->free(c->proto);
    if (c->old_proto)
        c->old_proto->ops->free(c->old_proto);
    for (unsigned i = 0; i < c->n_tls; i++)
        tls_session_free(c->tls[i]);
    strbuf_fini(&c->in);
    strbuf_fini(&c->out);
    strbuf_fini(&c->flight);
    arena_fini(&c->peer_arena);
    free(c);
}

void conn_close(struct conn *c, const char *why)
{
    if (c->closing)
        return;
    c->closing = true;
    if (why && why != c->why)
        snprintf(c->why, sizeof(c->why), "%s", why);
    conn_wake(c);
}

void conn_stop(struct conn *c, const char *why)
{
    c->stopped |= !c->closing;
    conn_close(c, why);
}

/* Tells everyone, then gives the socket back. */
static void close_now(struct conn *c)
{
    if (c->closed)
        return;
    if (c->proto) {
        bool regular = c->proto->done && !c->why[0];
        proto_lose(c->proto, c->stopped ? STREAM_SHUTDOWN : STREAM_PEER_CLOSED,
                   c->why[0] ? c->why : "the connection was closed");
        proto_deliver(c->proto);
        if (!c->why[0] && !regular)
            snprintf(c->why, sizeof(c->why), "%s", c->proto->error);
    }
    c->closed = true;
    loop_timer_stop(c->loop, &c->timer);
    loop_task_stop(&c->task);
    c->events->closed(c, c->why);
    uv_close((uv_handle_t *)&c->socket.stream, free_conn);
}

/* ---- Out ---- */

static void on_written(uv_write_t *write, int status)
{
    struct conn *c = write->data;
    c->writing = false;
    strbuf_fini(&c->flight);
    if (status < 0 && !c->closed)
        conn_close(c, uv_strerror(status));
    conn_wake(c);
}

/* Hands the bytes to the socket, what it does not take at once waits there. */
static void send_bytes(struct conn *c, struct str bytes)
{
    assert(!c->writing);
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes.p, (unsigned)bytes.n);
    int n = uv_try_write(&c->socket.stream, &buf, 1);
    if (n < 0 && n != UV_EAGAIN) {
        conn_close(c, uv_strerror(n));
        return;
    }
    bytes = str_from(bytes, n > 0 ? (size_t)n : 0);
    if (bytes.n == 0)
        return;
    strbuf_add_str(&c->flight, bytes);
    buf = uv_buf_init(c->flight.p, (unsigned)c->flight.n);
    c->write.data = c;
    c->writing = true;
    c->write_since_ms = loop_now_ms(c->loop);
    int rc = uv_write(&c->write, &c->socket.stream, &buf, 1, on_written);
    if (rc < 0) {
        c->writing = false;
        conn_close(c, uv_strerror(rc));
    }
}

/* Bytes of layer i's peer go through the layers below. */
static void send_below(struct conn *c, unsigned layer, struct str bytes)
{
    if (layer == 0) {
        strbuf_add_str(&c->out, bytes);
        return;
    }
    struct strbuf below;
    strbuf_init(&below, STRBUF_NO_MAX);
    tls_session_write(c->tls[layer - 1], bytes, &below);
    send_below(c, layer - 1, strbuf_str(&below));
    strbuf_fini(&below);
}

static void take_output(struct conn *c, struct strbuf *to)
{
    struct strbuf *plain = c->n_tls ? loop_scratch(c->loop, 0) : to;
    if (!c->proto || c->n_tls_up < c->n_tls)
        return;
    c->proto->now_ms = loop_now_ms(c->loop);
    c->proto->ops->output(c->proto, plain, CONN_BATCH_BYTES);
    if (c->n_tls == 1)
        tls_session_write(c->tls[0], strbuf_str(plain), to);
    else if (c->n_tls && plain->n) {
        send_below(c, c->n_tls, strbuf_str(plain));
        strbuf_add_str(to, strbuf_str(&c->out));
        strbuf_fini(&c->out);
    }
}

static void flush(struct conn *c)
{
    enum { BATCHES_MAX = 16 }; /* then others get their turn */
    c->drained = false;
    for (int i = 0; i < BATCHES_MAX && c->open && !c->writing && !c->closing; i++) {
        struct strbuf *batch = loop_scratch(c->loop, 1);
        strbuf_add_str(batch, strbuf_str(&c->out));
        strbuf_fini(&c->out);
        take_output(c, batch);
        if (batch->n == 0) {
            c->drained = true;
            return;
        }
        send_bytes(c, strbuf_str(batch));
        if (i == BATCHES_MAX - 1)
            conn_wake(c);
    }
}

/* ---- In ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct conn *c = handle->data;
    *buf = uv_buf_init(loop_read_room(c->loop), LOOP_READ_BYTES);
}

/* Offers bytes to the protocol; keeps what it does not take. */
static void offer(struct conn *c, struct str bytes)
{
    size_t n = bytes.n;
    if (c->proto) {
        c->proto->now_ms = loop_now_ms(c->loop);
        n = c->proto->ops->input(c->proto, bytes);
        conn_wake(c);
    } else {
        c->events->first_bytes(c, bytes);
        if (c->proto) {
            offer(c, bytes);
            return;
        }
        n = 0;
    }
    if (n < bytes.n)
        strbuf_add_str(&c->in, str_from(bytes, n));
}

static void offer_plain(struct conn *c, struct str bytes)
{
    if (c->in.n == 0) {
        offer(c, bytes);
        return;
    }
    struct strbuf all = c->in;
    strbuf_init(&c->in, STRBUF_NO_MAX);
    strbuf_add_str(&all, bytes);
    offer(c, strbuf_str(&all));
    strbuf_fini(&all);
}

static void layer_input(struct conn *c, unsigned layer, struct str bytes);

static void tls_is_up(struct conn *c, unsigned layer)
{
    c->n_tls_up = layer + 1;
    if (layer + 1 < c->n_tls) {
        layer_input(c, layer + 1, (struct str){ 0 }); /* the next one begins to speak */
        return;
    }
    conn_set_deadline(c, 0, NULL);
    c->events->ready(c, tls_session_alpn(c->tls[layer]));
}

static void layer_input(struct conn *c, unsigned layer, struct str bytes)
{
    if (layer == c->n_tls) {
        if (bytes.n)
            offer_plain(c, bytes);
        return;
    }
    struct tls_session *tls = c->tls[layer];
    struct strbuf *plain = loop_scratch(c->loop, layer == 0 ? 0 : 2), cipher;
    bool was_up = tls_session_state(tls) == TLS_OPEN;
    strbuf_init(&cipher, STRBUF_NO_MAX);
    enum tls_state state = tls_session_input(tls, bytes, plain, &cipher);
    send_below(c, layer, strbuf_str(&cipher));
    strbuf_fini(&cipher);
    if (!was_up && (state == TLS_OPEN || state == TLS_CLOSED))
        tls_is_up(c, layer);
    if (plain->n)
        layer_input(c, layer + 1, strbuf_str(plain));
    if (state == TLS_FAILED) {
        flush(c); /* the alert tells the peer */
        conn_close(c, tls_session_error(tls));
    } else if (state == TLS_CLOSED) {
        c->input_ended = true;
    }
    conn_wake(c);
}

static void set_reading(struct conn *c);

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct conn *c = stream->data;
    if (c->closing || c->closed || n == 0)
        return;
    if (n < 0) {
        c->input_ended = true;
        if (n != UV_EOF || c->lingering || !c->proto)
            conn_close(c, n == UV_EOF ? c->why : uv_strerror((int)n));
        conn_wake(c);
        uv_read_stop(stream);
        c->reading = false;
        return;
    }
    if (c->lingering)
        return; /* dropped */
    layer_input(c, 0, (struct str){ buf->base, (size_t)n });
    set_reading(c);
}

static void set_reading(struct conn *c)
{
    bool blocked = c->proto ? c->in.n > 0 || c->proto->in_blocked : c->in.n >= LOOP_READ_BYTES;
    bool want = c->open && !c->closing && !c->input_ended && (c->lingering || !blocked);
    if (want == c->reading)
        return;
    c->reading = want;
    if (want)
        uv_read_start(&c->socket.stream, on_alloc, on_read);
    else
        uv_read_stop(&c->socket.stream);
}

/* ---- The course of things ---- */

static void on_shut(uv_shutdown_t *shutdown, int status)
{
    (void)shutdown;
    (void)status;
}

/* All is sent. The peer may still be sending: closing now could make its system drop what it has not read yet. */
static void linger(struct conn *c)
{
    if (!c->proto->is_server || !c->limits->linger_ms || c->input_ended) {
        conn_close(c, c->proto->error);
        return;
    }
    c->lingering = true;
    snprintf(c->why, sizeof(c->why), "%s", c->proto->error);
    conn_set_deadline(c, loop_now_ms(c->loop) + c->limits->linger_ms, c->why);
    uv_shutdown(&c->shutdown, &c->socket.stream, on_shut);
}

static void say_good_bye(struct conn *c)
{
    for (unsigned i = c->n_tls_up; i > 0; i--) {
        struct strbuf cipher;
        strbuf_init(&cipher, STRBUF_NO_MAX);
        tls_session_close(c->tls[i - 1], &cipher);
        send_below(c, i - 1, strbuf_str(&cipher));
        strbuf_fini(&cipher);
    }
    flush(c);
}

static void check_end(struct conn *c)
{
    struct proto *p = c->proto;
    if (!p || c->lingering || c->closing)
        return;
    if (p->lost) {
        conn_close(c, p->error);
    } else if (p->done && !c->writing && c->drained) {
        say_good_bye(c);
        if (!c->writing)
            linger(c);
    }
}

static void tick(struct conn *c, bool now)
{
    int64_t now_ms = loop_now_ms(c->loop), next_ms = NEVER_MS;
    if (!now) {
        if (!loop_timer_is_set(&c->timer) || c->timer.deadline_ms > now_ms + TICK_MS)
            loop_timer_set(c->loop, &c->timer, now_ms + TICK_MS);
        return;
    }
    if (c->proto && !c->lingering && !c->closing) {
        c->proto->now_ms = now_ms;
        next_ms = c->proto->ops->tick(c->proto);
    }
    if (c->deadline_ms)
        next_ms = earlier_ms(next_ms, c->deadline_ms);
    if (c->writing && c->limits->write_stall_ms)
        next_ms = earlier_ms(next_ms, c->write_since_ms + c->limits->write_stall_ms);
    if (next_ms != NEVER_MS)
        loop_timer_set(c->loop, &c->timer, next_ms > now_ms ? next_ms : now_ms + 1);
}

static void on_timer(struct loop_timer *t)
{
    struct conn *c = HEAP_ITEM(&t->node, struct conn, timer.node);
    int64_t now_ms = loop_now_ms(c->loop);
    if (c->deadline_ms && now_ms >= c->deadline_ms)
        conn_close(c, c->deadline_why);
    else if (c->writing && c->limits->write_stall_ms && now_ms >= c->write_since_ms + c->limits->write_stall_ms)
        conn_close(c, "the peer does not read");
    tick(c, true);
}

/* All that is put off ends here: input that may go on, output, news for users, the end. */
static void run_task(struct loop_task *t)
{
    struct conn *c = OF_TASK(t);
    if (c->old_proto) {
        c->old_proto->ops->free(c->old_proto);
        c->old_proto = NULL;
    }
    if (c->in.n && c->proto && !c->proto->in_blocked && !c->closing)
        offer_plain(c, STR(""));
    if (c->input_ended && !c->input_end_told && c->proto && c->in.n == 0 && !c->closing && !c->lingering) {
        c->input_end_told = true;
        c->proto->now_ms = loop_now_ms(c->loop);
        c->proto->ops->input_end(c->proto);
    }
    flush(c);
    if (c->proto) {
        proto_deliver(c->proto);
        check_end(c);
    }
    if (c->closing) {
        close_now(c);
        return;
    }
    set_reading(c);
    if (c->events->progressed)
        c->events->progressed(c);
    if (c->proto || c->writing)
        tick(c, false);
}

void conn_open(struct conn *c)
{
    c->open = true;
    if (!c->is_pipe)
        uv_tcp_nodelay(&c->socket.tcp, 1);
    set_reading(c);
    if (c->n_tls == 0) {
        c->events->ready(c, STR(""));
    } else {
        conn_set_deadline(c, loop_now_ms(c->loop) + c->limits->handshake_ms, "TLS handshake timed out");
        layer_input(c, 0, (struct str){ 0 });
    }
    conn_wake(c);
}

void conn_add_tls(struct conn *c, struct tls_context *context, const char *host)
{
    assert(c->n_tls < CONN_TLS_MAX);
    assert(!c->proto);
    c->tls[c->n_tls++] = tls_session_new(context, host);
    if (!c->open)
        return;
    conn_set_deadline(c, loop_now_ms(c->loop) + c->limits->handshake_ms, "TLS handshake timed out");
    layer_input(c, c->n_tls - 1, (struct str){ 0 });
}

void conn_speak(struct conn *c, struct proto *own_proto)
{
    if (c->proto) {
        assert(!c->old_proto);
        c->old_proto = c->proto; /* the caller may stand inside of it */
    }
    c->proto = own_proto;
    if (own_proto) {
        own_proto->now_ms = loop_now_ms(c->loop);
        own_proto->ops->tick(own_proto); /* its times begin now */
    }
    conn_wake(c);
}

void conn_set_deadline(struct conn *c, int64_t deadline_ms, const char *why)
{
    c->deadline_ms = deadline_ms;
    c->deadline_why = why;
    if (deadline_ms && (!loop_timer_is_set(&c->timer) || c->timer.deadline_ms > deadline_ms))
        loop_timer_set(c->loop, &c->timer, deadline_ms);
}

/* ---- For protocols ---- */

struct str conn_peer_address(struct conn *c)
{
    if (c->peer_address[0] == 0 && c->is_pipe) {
        snprintf(c->peer_address, sizeof(c->peer_address), "unix");
    } else if (c->peer_address[0] == 0) {
        struct sockaddr_storage address;
        int n = sizeof(address);
        char text[INET6_ADDRSTRLEN] = "";
        if (uv_tcp_getpeername(&c->socket.tcp, (struct sockaddr *)&address, &n) == 0)
            uv_ip_name((struct sockaddr *)&address, text, sizeof(text));
        bool v6 = address.ss_family == AF_INET6;
        unsigned port = ntohs(((struct sockaddr_in *)&address)->sin_port); /* in the same place for both */
        if (text[0])
            snprintf(c->peer_address, sizeof(c->peer_address), v6 ? "[%s]:%u" : "%s:%u", text, port);
    }
    return str_of(c->peer_address);
}

static void host_wake(struct proto *p)
{
    conn_wake(p->host_data);
}

static void host_request(struct proto *p, struct stream *s)
{
    struct conn *c = p->host_data;
    c->events->request(c, s);
}

static bool host_reclaim(struct proto *p, struct stream *s, const struct stream_result *result)
{
    struct conn *c = p->host_data;
    return c->events->reclaim && c->events->reclaim(c, s, result);
}

static struct str host_peer_address(struct proto *p)
{
    return conn_peer_address(p->host_data);
}

static const struct tls_peer *host_tls_peer(struct proto *p)
{
    struct conn *c = p->host_data;
    if (!c->n_tls)
        return NULL;
    if (!c->peer_known) {
        c->peer = tls_session_peer(c->tls[c->n_tls - 1], &c->peer_arena);
        c->peer_known = true;
    }
    return c->peer;
}

static bool host_is_tls(struct proto *p)
{
    const struct conn *c = p->host_data;
    return c->n_tls > 0;
}

static struct str host_date(struct proto *p)
{
    struct conn *c = p->host_data;
    return c->events->date ? c->events->date(c) : STR("");
}

const struct proto_host conn_host = {
    .wake = host_wake,
    .request = host_request,
    .reclaim = host_reclaim,
    .peer_address = host_peer_address,
    .tls_peer = host_tls_peer,
    .is_tls = host_is_tls,
    .date = host_date,
};
