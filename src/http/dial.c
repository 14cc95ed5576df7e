/* http/dial.c - see dial.h. */
#include "http/dial.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

struct attempt {
    struct dial *dial;
    struct conn *conn; /* NULL = not begun or over */
    struct request *request;
    struct sockaddr_storage address;
};

/* What libuv holds; it may outlive the attempt. */
struct request {
    uv_connect_t connect;
    struct attempt *attempt; /* NULL = nobody waits any more */
};

struct dial {
    struct loop *loop;
    const struct http_limits *limits;
    char host[256];
    int port;
    dial_done done;
    void *context;
    uv_getaddrinfo_t lookup;
    bool looking, over;
    struct loop_timer next, deadline;
    struct attempt attempts[DIAL_ADDRESSES_MAX];
    unsigned n_attempts, n_begun, n_open; /* open: whose connection is not freed yet */
    char error[400];
};

static void begin_next(struct dial *d);

/* The memory stays until the resolver and every attempt have let go of it. */
static void release(struct dial *d)
{
    if (d->over && !d->looking && d->n_open == 0)
        free(d);
}

static void finish(struct dial *d, struct conn *winner)
{
    dial_done done = d->over ? NULL : d->done;
    d->over = true;
    loop_timer_stop(d->loop, &d->next);
    loop_timer_stop(d->loop, &d->deadline);
    for (unsigned i = 0; i < d->n_begun; i++)
        if (d->attempts[i].conn && d->attempts[i].conn != winner)
            conn_close(d->attempts[i].conn, "");
    if (done)
        done(d->context, winner, d->error);
    if (d->looking)
        uv_cancel((uv_req_t *)&d->lookup);
}

/* ---- Attempts ---- */

static void attempt_closed(struct conn *c, const char *why)
{
    (void)why;
    struct attempt *a = conn_owner(c);
    struct dial *d = a->dial;
    a->conn = NULL;
    if (a->request)
        a->request->attempt = NULL;
    d->n_open--;
    if (!d->over) {
        if (d->n_begun < d->n_attempts)
            begin_next(d);
        else if (d->n_open == 0)
            finish(d, NULL);
    }
    release(d);
}

static void attempt_ready(struct conn *c, struct str alpn)
{
    (void)c;
    (void)alpn;
}

static void attempt_bytes(struct conn *c, struct str bytes)
{
    (void)c;
    (void)bytes;
}

static const struct conn_events attempt_events = { .ready = attempt_ready, .first_bytes = attempt_bytes,
                                                   .closed = attempt_closed };

static void fail_attempt(struct attempt *a, int rc)
{
    char address[64] = "?";
    uv_ip_name((struct sockaddr *)&a->address, address, sizeof(address));
    snprintf(a->dial->error, sizeof(a->dial->error), "dial tcp %s:%d: %s", address, a->dial->port, uv_strerror(rc));
    conn_close(a->conn, "");
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct attempt *a = ((struct request *)connect->data)->attempt;
    free(connect->data);
    if (!a)
        return;
    struct dial *d = a->dial;
    a->request = NULL;
    if (d->over)
        return;
    if (status < 0) {
        fail_attempt(a, status);
        return;
    }
    struct conn *winner = a->conn;
    finish(d, winner); /* gives it to its new owner */
    a->conn = NULL;
    d->n_open--;
    release(d);
}

static void begin_next(struct dial *d)
{
    struct attempt *a = &d->attempts[d->n_begun++];
    a->dial = d;
    a->conn = conn_new(d->loop, &attempt_events, a, d->limits, false);
    a->request = mem_zalloc(sizeof(*a->request));
    a->request->attempt = a;
    a->request->connect.data = a->request;
    d->n_open++;
    int rc = uv_tcp_connect(&a->request->connect, (uv_tcp_t *)conn_socket(a->conn), (struct sockaddr *)&a->address,
                            on_connect);
    if (rc < 0) {
        free(a->request);
        a->request = NULL;
        fail_attempt(a, rc);
    }
    if (d->n_begun < d->n_attempts)
        loop_timer_set(d->loop, &d->next, loop_now_ms(d->loop) + DIAL_NEXT_MS);
}

static void on_next(struct loop_timer *t)
{
    struct dial *d = HEAP_ITEM(&t->node, struct dial, next.node);
    if (d->n_begun < d->n_attempts)
        begin_next(d);
}

/* ---- Names ---- */

static void add_address(struct dial *d, const struct addrinfo *info)
{
    if (d->n_attempts < DIAL_ADDRESSES_MAX)
        memcpy(&d->attempts[d->n_attempts++].address, info->ai_addr, info->ai_addrlen);
}

/* The family of the first, then the other, in turns. */
static void take_addresses(struct dial *d, const struct addrinfo *all)
{
    const struct addrinfo *at[2] = { all, all };
    int families[2] = { all->ai_family, all->ai_family == AF_INET ? AF_INET6 : AF_INET };
    for (int turn = 0; at[0] || at[1]; turn ^= 1) {
        while (at[turn] && at[turn]->ai_family != families[turn])
            at[turn] = at[turn]->ai_next;
        if (at[turn]) {
            add_address(d, at[turn]);
            at[turn] = at[turn]->ai_next;
        }
    }
}

static void on_lookup(uv_getaddrinfo_t *lookup, int status, struct addrinfo *all)
{
    struct dial *d = lookup->data;
    d->looking = false;
    if (!d->over && status == 0 && all) {
        take_addresses(d, all);
        begin_next(d);
    } else if (!d->over) {
        snprintf(d->error, sizeof(d->error), "lookup %s: %s", d->host, uv_strerror(status));
        finish(d, NULL);
    }
    uv_freeaddrinfo(all);
    release(d);
}

static void on_deadline(struct loop_timer *t)
{
    struct dial *d = HEAP_ITEM(&t->node, struct dial, deadline.node);
    if (!d->error[0])
        snprintf(d->error, sizeof(d->error), "dial tcp %s:%d: i/o timeout", d->host, d->port);
    finish(d, NULL);
    release(d);
}

struct dial *dial_start(struct loop *l, const char *host, int port, int64_t connect_ms,
                        const struct http_limits *limits,
                        dial_done done, void *context)
{
    struct dial *d = mem_zalloc(sizeof(*d));
    *d = (struct dial){ .loop = l, .limits = limits, .port = port, .done = done, .context = context };
    char service[8];
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    snprintf(d->host, sizeof(d->host), "%s", host);
    snprintf(service, sizeof(service), "%d", port);
    d->next.fire = on_next;
    d->deadline.fire = on_deadline;
    d->lookup.data = d;
    loop_timer_set(l, &d->deadline, loop_now_ms(l) + connect_ms);
    d->looking = true;
    int rc = uv_getaddrinfo(loop_uv(l), &d->lookup, on_lookup, host, service, &hints);
    if (rc < 0) { /* no name at all; told from the loop like everything else */
        d->looking = false;
        snprintf(d->error, sizeof(d->error), "lookup %s: %s", host, uv_strerror(rc));
        loop_timer_set(l, &d->deadline, loop_now_ms(l));
    }
    return d;
}

void dial_cancel(struct dial *d)
{
    d->over = true;
    finish(d, NULL);
    release(d);
}
