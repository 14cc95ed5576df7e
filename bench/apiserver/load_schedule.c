/* bench/apiserver/load_schedule.c - see load.h: pods are made as fast as the server takes them, and one watch of pods with a node
 * tells when somebody has placed each of them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench/apiserver/load.h"

#define VERSION "\"resourceVersion\":\""
#define POD_NAME "\"name\":\"web-66b6c48dd5-"
#define WATCH "?watch=1&fieldSelector=spec.nodeName%%21%%3D&resourceVersion=" /* of pods that have a node */

struct scheduling {
    struct load *l;
    uint32_t n_sent;
    double *sent;      /* when, by pod */
    float *ms;         /* from there to its node; 0: not yet */
    struct strbuf part; /* of an event that has not arrived whole */
    unsigned long version; /* of the last event */
    double began, cpu;
};

struct place {
    struct scheduling *s;
    struct client *client;
};

/* ---- Making pods ---- */

static const struct stream_events made_events;

static void make_pod(struct place *p)
{
    struct scheduling *x = p->s;
    struct load *l = x->l;
    char url[LOAD_URL_BYTES], room[LOAD_BODY_BYTES];
    struct err e;
    struct stream *s;
    if (x->n_sent == l->o.n)
        return;
    uint32_t i = x->n_sent++;
    int n = snprintf(url, sizeof(url), "%s/api/v1/namespaces/bench/pods", l->o.url);
    struct client_request q = { .method = "POST", .url = { url, (size_t)n }, .headers = &l->write_headers,
                                .body = load_pod(l, l->o.first + i, 0, false, room) };
    err_init(&e, &l->arena);
    x->sent[i] = load_now();
    if (client_send(p->client, &q, &made_events, p, &s, &e))
        load_die(e.message);
}

static void on_made_head(struct stream *s, const struct head *response)
{
    struct place *p = stream_user(s);
    if (response->status != 201 && p->s->l->result.n_failed++ == 0)
        fprintf(stderr, "load: the answer is %d\n", response->status);
}

static void on_made(struct stream *s, const struct stream_result *result)
{
    struct place *p = stream_user(s);
    if (result->status != STREAM_OK)
        load_die(result->message);
    make_pod(p);
}

static void drop(struct stream *s, struct str bytes)
{
    stream_consume(s, bytes.n);
}

static const struct stream_events made_events = { .head = on_made_head, .body = drop, .closed = on_made };

/* ---- Watching ---- */

static void take_event(struct scheduling *x, struct str line)
{
    const char *name = memmem(line.p, line.n, POD_NAME, sizeof(POD_NAME) - 1);
    const char *version = memmem(line.p, line.n, VERSION, sizeof(VERSION) - 1);
    struct load *l = x->l;
    if (!name || !version)
        return;
    x->version = strtoul(version + sizeof(VERSION) - 1, NULL, 10);
    unsigned long i = strtoul(name + sizeof(POD_NAME) - 1, NULL, 10) - l->o.first;
    if (i >= l->o.n || x->ms[i] > 0)
        return;
    x->ms[i] = (float)((load_now() - x->sent[i]) * 1e3);
    if (++l->result.n_done == l->o.n)
        loop_stop(l->loop);
}

static void on_events(struct stream *s, struct str bytes)
{
    struct scheduling *x = stream_user(s);
    x->l->result.n_bytes += bytes.n;
    stream_consume(s, bytes.n);
    for (size_t n; (n = str_index(bytes, '\n')) < bytes.n; bytes = str_from(bytes, n + 1)) {
        strbuf_add_str(&x->part, str_first(bytes, n));
        take_event(x, (struct str){ strbuf_cstr(&x->part), x->part.n });
        strbuf_reset(&x->part);
    }
    strbuf_add_str(&x->part, bytes);
}

static void on_watching(struct stream *s, const struct head *response)
{
    (void)s;
    if (response->status != 200)
        load_die("the watch was refused");
}

static void watch(struct scheduling *x);

/* A busy server ends watches of who is behind: the next one goes on from there. */
static void on_watch_end(struct stream *s, const struct stream_result *result)
{
    struct scheduling *x = stream_user(s);
    if (result->status != STREAM_OK)
        load_die(result->message);
    strbuf_reset(&x->part);
    watch(x);
}

static const struct stream_events watch_events = { .head = on_watching, .body = on_events, .closed = on_watch_end };

static void watch(struct scheduling *x)
{
    struct load *l = x->l;
    struct client *c = l->clients[l->o.connections];
    char url[LOAD_URL_BYTES];
    struct err e;
    struct stream *s;
    int n = snprintf(url, sizeof(url), "%s/api/v1/namespaces/bench/pods" WATCH "%lu&timeoutSeconds=3600", l->o.url, x->version);
    struct client_request q = { .method = "GET", .url = { url, (size_t)n }, .headers = &l->headers };
    err_init(&e, &l->arena);
    if (client_send(c, &q, &watch_events, x, &s, &e))
        load_die(e.message);
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void load_schedule(struct load *l)
{
    struct scheduling x = { .l = l, .sent = mem_zalloc(l->o.n * sizeof(*x.sent)), .ms = mem_zalloc(l->o.n * sizeof(*x.ms)) };
    uint32_t n_places = l->o.connections * l->o.depth;
    struct place *places = mem_zalloc(n_places * sizeof(*places));
    strbuf_init(&x.part, STRBUF_NO_MAX);
    load_open(l, l->o.connections + 1);
    x.version = l->o.objects;
    watch(&x);
    x.began = load_now();
    x.cpu = load_server_cpu(l);
    for (uint32_t i = 0; i < n_places; i++) {
        places[i] = (struct place){ .s = &x, .client = l->clients[i % l->o.connections] };
        make_pod(&places[i]);
    }
    loop_run(l->loop);
    l->result.seconds = load_now() - x.began;
    l->result.server_cpu = load_server_cpu(l) - x.cpu;
    qsort(x.ms, l->o.n, sizeof(*x.ms), compare);
    l->result.p50_ms = x.ms[l->o.n / 2];
    l->result.p99_ms = x.ms[l->o.n - 1 - l->o.n / 100];
    load_close(l);
}
