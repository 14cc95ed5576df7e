/* bench/apiserver/load_requests.c - see load.h: one request after the other on every place under way. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench/apiserver/load.h"

struct task {
    const char *name, *method, *path; /* of the pods, or below one pod */
    bool one;                         /* about one pod */
    bool body, status, patch;
    bool nodes; /* about nodes, not pods */
    uint16_t code;
};

static const struct task tasks[] = {
    { "create", "POST", "", .body = true, .code = 201 },
    { "nodes", "POST", "", .body = true, .nodes = true, .code = 201 },
    { "get", "GET", "", .one = true, .code = 200 },
    { "status", "PUT", "/status", .one = true, .body = true, .status = true, .code = 200 },
    { "patch", "PATCH", "/status", .one = true, .patch = true, .code = 200 },
    { "list", "GET", "", .code = 200 },
    { "delete", "DELETE", "?gracePeriodSeconds=0", .one = true, .code = 200 },
};

struct run {
    struct load *l;
    const struct task *task;
    uint32_t n_sent;
    float *ms; /* of every request that was answered */
};

struct place {
    struct run *run;
    struct client *client;
    double began;
};

static const struct task *find_task(const char *name)
{
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        if (strcmp(tasks[i].name, name) == 0)
            return &tasks[i];
    load_die("an unknown task");
    return NULL;
}

static struct str body_of(struct run *r, uint32_t pod, uint32_t change, char room[LOAD_BODY_BYTES])
{
    if (r->task->patch) {
        int n = snprintf(room, LOAD_BODY_BYTES, "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"message\":\"%u\"}]}}",
                         change);
        return (struct str){ room, (size_t)n };
    }
    if (r->task->nodes)
        return load_node(r->l, pod, room);
    return r->task->body ? load_pod(r->l, pod, change, r->task->status, room) : STR("");
}

static const struct stream_events events;

static void send_next(struct place *p)
{
    struct run *r = p->run;
    struct load *l = r->l;
    char url[LOAD_URL_BYTES], room[LOAD_BODY_BYTES];
    struct err e;
    struct stream *s;
    if (r->n_sent == l->o.n)
        return;
    uint32_t i = r->n_sent++, pod = l->o.first + (l->o.objects ? i % l->o.objects : i);
    int n = r->task->one
                ? snprintf(url, sizeof(url), "%s/api/v1/namespaces/bench/pods/web-66b6c48dd5-%06u%s", l->o.url, pod, r->task->path)
                : snprintf(url, sizeof(url), "%s/api/v1/%s%s", l->o.url, r->task->nodes ? "nodes" : "namespaces/bench/pods",
                           r->task->path);
    struct client_request q = { .method = r->task->method, .url = { url, (size_t)n },
                                .headers = r->task->body || r->task->patch ? &l->write_headers : &l->headers,
                                .body = body_of(r, pod, l->o.first + i, room) };
    err_init(&e, &l->arena);
    p->began = load_now();
    if (client_send(p->client, &q, &events, p, &s, &e))
        load_die(e.message);
}

static void on_head(struct stream *s, const struct head *response)
{
    struct place *p = stream_user(s);
    if (response->status == p->run->task->code)
        return;
    if (p->run->l->result.n_failed++ == 0)
        fprintf(stderr, "load: the answer is %d\n", response->status);
}

static void on_body(struct stream *s, struct str bytes)
{
    struct place *p = stream_user(s);
    p->run->l->result.n_bytes += bytes.n;
    stream_consume(s, bytes.n);
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    struct place *p = stream_user(s);
    struct load *l = p->run->l;
    if (result->status != STREAM_OK && l->result.n_failed++ == 0)
        fprintf(stderr, "load: %s\n", result->message);
    p->run->ms[l->result.n_done++] = (float)((load_now() - p->began) * 1e3);
    if (l->result.n_done == l->o.n)
        loop_stop(l->loop);
    else
        send_next(p);
}

static const struct stream_events events = { .head = on_head, .body = on_body, .closed = on_closed };

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void load_requests(struct load *l)
{
    struct run r = { .l = l, .task = find_task(l->o.task), .ms = mem_zalloc(l->o.n * sizeof(*r.ms)) };
    uint32_t n_places = l->o.connections * l->o.depth;
    struct place *places = mem_zalloc(n_places * sizeof(*places));
    load_open(l, l->o.connections);
    double began = load_now(), cpu = load_server_cpu(l);
    for (uint32_t i = 0; i < n_places; i++) {
        places[i] = (struct place){ .run = &r, .client = l->clients[i % l->n_clients] };
        send_next(&places[i]);
    }
    loop_run(l->loop);
    l->result.seconds = load_now() - began;
    l->result.server_cpu = load_server_cpu(l) - cpu;
    qsort(r.ms, l->o.n, sizeof(*r.ms), compare);
    l->result.p50_ms = r.ms[l->o.n / 2];
    l->result.p99_ms = r.ms[l->o.n - 1 - l->o.n / 100];
    load_close(l);
    free(places);
    free(r.ms);
}
