#include "daemon/etcd_beside.h"

#include <limits.h>
#include <string.h>

#include "http/client.h"
#include "http/url.h"

struct question {
    struct strbuf answer;
    uint16_t status;
    bool closed, stopped;
};

static void take_head(struct stream *s, const struct head *response)
{
    struct question *q = stream_user(s);
    q->status = response->status;
}

static void take_body(struct stream *s, struct str bytes)
{
    struct question *q = stream_user(s);
    strbuf_add_str(&q->answer, bytes);
    stream_consume(s, bytes.n);
}

static void take_end(struct stream *s, const struct stream_result *result)
{
    struct question *q = stream_user(s);
    if (result->status != STREAM_OK)
        q->status = 0;
    q->closed = true;
}

static void client_is_done(void *context)
{
    struct question *q = context;
    q->stopped = true;
}

static const struct stream_events events = { .head = take_head, .body = take_body, .closed = take_end };

static bool is_here(struct str url)
{
    static const char *const hosts[] = { "http://127.0.0.1:", "http://localhost:", "http://[::1]:" };
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        if (str_starts(url, str_of(hosts[i])))
            return true;
    return false;
}

static void ask(struct loop *loop, struct arena *a, struct str url, struct question *q)
{
    struct client *client;
    struct stream *stream;
    struct err e;
    err_init(&e, a);
    struct client_options o = { .loop = loop, .connect_ms = ETCD_BESIDE_MS };
    struct client_request r = { .method = "GET", .url = url, .total_ms = ETCD_BESIDE_MS };
    if (client_new(&o, &client, &e))
        return;
    q->closed = client_send(client, &r, &events, q, &stream, &e) != ERR_OK;
    while (!q->closed)
        loop_run_once(loop, true);
    client_stop(client, client_is_done, q);
    while (!q->stopped)
        loop_run_once(loop, true);
    client_free(client);
}

const char *etcd_beside_folder(struct loop *loop, struct arena *a, struct str url)
{
    struct question q = { 0 };
    const char *folder = NULL;
    if (!is_here(url))
        return NULL;
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    strbuf_init(&q.answer, PATH_MAX);
    ask(loop, a, str_of(arena_printf(a, "%.*s" ETCD_BESIDE_PATH, STR_ARG(url))), &q);
    struct str answer = strbuf_str(&q.answer);
    bool is_path = str_starts(answer, STR("/")) && answer.n < PATH_MAX && !memchr(answer.p, '\0', answer.n);
    if (q.status == 200 && is_path)
        folder = arena_cstr(a, answer);
    strbuf_fini(&q.answer);
    return folder;
}
