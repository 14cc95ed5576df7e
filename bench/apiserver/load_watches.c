/* bench/apiserver/load_watches.c - see load.h: watchers that count what they are told while pods are made. */
#include <stdio.h>

#include "base/mem.h"
#include "bench/apiserver/load.h"

enum { PODS_UNDER_WAY = 16 }; /* made before all watchers have heard of the first of them: nobody falls far behind */

struct fan {
    struct load *l;
    struct client *maker; /* of the pods, on a connection of its own */
    uint32_t n_watchers, n_ready, n_sent;
    double began, cpu;
};

static void fail(struct stream *s, const struct stream_result *result)
{
    (void)s;
    load_die(result->message[0] ? result->message : "a watch was ended");
}

/* ---- Pods ---- */

static void on_made_head(struct stream *s, const struct head *response)
{
    (void)s;
    if (response->status != 201)
        load_die("a pod was not made");
}

static void on_made(struct stream *s, const struct stream_result *result)
{
    (void)s;
    if (result->status != STREAM_OK)
        load_die(result->message);
}

static const struct stream_events maker_events = { .head = on_made_head, .closed = on_made };

static void make_pod(struct fan *f)
{
    struct load *l = f->l;
    char url[LOAD_URL_BYTES], room[LOAD_BODY_BYTES];
    struct err e;
    struct stream *s;
    int n = snprintf(url, sizeof(url), "%s/api/v1/namespaces/bench/pods", l->o.url);
    struct client_request q = { .method = "POST", .url = { url, (size_t)n }, .headers = &l->write_headers,
                                .body = load_pod(l, l->o.first + f->n_sent++, 0, false, room) };
    err_init(&e, &l->arena);
    if (client_send(f->maker, &q, &maker_events, f, &s, &e))
        load_die(e.message);
}

static void make_pods(struct fan *f)
{
    uint64_t n_heard = f->l->result.n_done / f->n_watchers;
    while (f->n_sent < f->l->o.n && f->n_sent < n_heard + PODS_UNDER_WAY)
        make_pod(f);
}

/* ---- Watchers ---- */

static void begin(struct fan *f)
{
    f->began = load_now();
    f->cpu = load_server_cpu(f->l);
    make_pods(f);
}

static void on_head(struct stream *s, const struct head *response)
{
    struct fan *f = stream_user(s);
    if (response->status != 200)
        load_die("a watch was refused");
    if (++f->n_ready == f->n_watchers)
        begin(f);
}

/* An event in JSON ends with a newline, and no other stands in it. */
static uint64_t count_events(struct str bytes)
{
    uint64_t n = 0;
    for (const char *at = bytes.p, *end = bytes.p + bytes.n; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        n++;
    return n;
}

static void on_body(struct stream *s, struct str bytes)
{
    struct fan *f = stream_user(s);
    struct load_result *result = &f->l->result;
    result->n_bytes += bytes.n;
    result->n_done += count_events(bytes);
    stream_consume(s, bytes.n);
    if (result->n_done == (uint64_t)f->n_watchers * f->l->o.n)
        loop_stop(f->l->loop);
    else
        make_pods(f);
}

static const struct stream_events watch_events = { .head = on_head, .body = on_body, .closed = fail };

void load_watches(struct load *l)
{
    struct fan f = { .l = l, .n_watchers = l->o.connections * l->o.depth };
    char url[LOAD_URL_BYTES];
    struct err e;
    int n = snprintf(url, sizeof(url), "%s/api/v1/namespaces/bench/pods?watch=1&resourceVersion=%u&timeoutSeconds=3600", l->o.url,
                     l->o.objects);
    struct client_request q = { .method = "GET", .url = { url, (size_t)n }, .headers = &l->headers };
    load_open(l, l->o.connections + 1);
    f.maker = l->clients[l->o.connections];
    err_init(&e, &l->arena);
    for (uint32_t i = 0; i < f.n_watchers; i++) {
        struct stream *s;
        if (client_send(l->clients[i % l->o.connections], &q, &watch_events, &f, &s, &e))
            load_die(e.message);
    }
    loop_run(l->loop);
    l->result.seconds = load_now() - f.began;
    l->result.server_cpu = load_server_cpu(l) - f.cpu;
    load_close(l);
}
