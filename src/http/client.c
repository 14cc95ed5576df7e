/* http/client.c - see client.h: one request, from its making to its end. Connections are pool.c's. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/client_priv.h"

/* ---- The end of a call ---- */

static void call_release(struct stream *s)
{
    struct call *call = CALL(s);
    loop_timer_stop(call->client->options.loop, &call->deadline);
    inflater_free(call->inflater);
}

void call_fail(struct call *call, enum stream_status status, const char *message)
{
    stream_close_waiting(&call->s, status, message);
}

static void cancel_waiting(struct stream *s)
{
    pool_leave(CALL(s));
    stream_free(s);
}

static void on_deadline(struct loop_timer *t)
{
    struct call *call = HEAP_ITEM(&t->node, struct call, deadline.node);
    pool_leave(call);
    call_fail(call, STREAM_TIMEOUT, "timed out while waiting for a connection");
}

/* ---- Between protocol and user ---- */

static void drop_header(struct headers *h, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (!str_is(h->at[i].name, name))
            h->at[n++] = h->at[i];
    h->n = n;
}

static void on_head(struct stream *s, const struct head *response)
{
    struct call *call = CALL(s);
    if (call->wants_gzip && str_is_nocase(headers_get(&response->headers, "content-encoding"), "gzip") &&
        !str_is(s->request.method, "HEAD") && !status_has_no_body(response->status)) {
        call->inflater = inflater_new();
        drop_header(&s->response.headers, "content-encoding");
        drop_header(&s->response.headers, "content-length");
    }
    if (s->events->head)
        s->events->head(s, response);
}

static bool use_plain(void *context, struct str plain)
{
    struct call *call = context;
    struct stream *s = &call->s;
    if (s->events->body) {
        call->n_plain_unread += plain.n;
        s->events->body(s, plain);
    }
    return !s->detached && !s->closed;
}

/* Compressed bytes are given back when all that came out of them is consumed. */
static uint64_t consumed(struct stream *s, size_t n)
{
    struct call *call = CALL(s);
    if (!call->inflater)
        return n;
    call->n_plain_unread -= n < call->n_plain_unread ? n : call->n_plain_unread;
    if (call->n_plain_unread)
        return 0;
    uint64_t give = call->n_compressed;
    call->n_compressed = 0;
    return give;
}

static void on_body(struct stream *s, struct str bytes)
{
    struct call *call = CALL(s);
    if (!call->inflater) {
        if (s->events->body)
            s->events->body(s, bytes);
        else
            stream_consume(s, bytes.n);
        return;
    }
    /* A piece too many: it is not given back before the user has consumed what came before it. */
    call->n_compressed += bytes.n;
    const char *wrong = inflater_input(call->inflater, bytes, use_plain, call);
    if (wrong && !s->detached && !s->closed)
        s->proto->ops->stream_abort(s->proto, s, STREAM_PROTOCOL, wrong);
    else if (!s->detached && !s->closed && call->n_plain_unread == 0)
        stream_consume(s, 0);
}

static void on_end(struct stream *s, const struct headers *trailers)
{
    struct call *call = CALL(s);
    if (call->inflater && !inflater_is_done(call->inflater)) {
        if (!s->closed)
            s->proto->ops->stream_abort(s->proto, s, STREAM_PROTOCOL, "gzip body is cut short");
        return;
    }
    if (s->events->end)
        s->events->end(s, trailers);
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    if (s->events->closed)
        s->events->closed(s, result);
}

static const struct stream_events filter_events = { .head = on_head, .body = on_body, .end = on_end,
                                                    .closed = on_closed };

/* ---- Making a call ---- */

void call_rewind(struct call *call)
{
    struct stream *s = &call->s;
    stream_unplace(s);
    inflater_free(call->inflater);
    call->inflater = NULL;
    call->n_compressed = call->n_plain_unread = 0;
    if (!call->streams_body) {
        strbuf_reset(&s->out);
        s->out_at = 0;
        strbuf_add_str(&s->out, call->body);
    }
}

static void fill_head(struct call *call, const struct client_request *r, const struct url *u)
{
    struct stream *s = &call->s;
    struct head head = { .method = str_of(r->method), .scheme = str_of(u->scheme), .authority = u->authority,
                         .target = u->target };
    if (r->headers)
        head.headers = *r->headers;
    head_copy(&s->request, &s->arena, &head);
    if (r->gzip && !headers_get(&s->request.headers, "accept-encoding").p) {
        headers_add(&s->request.headers, &s->arena, STR("accept-encoding"), STR("gzip"));
        call->wants_gzip = true;
    }
    s->out_head_ready = true;
}

static void fill_body(struct call *call, const struct client_request *r)
{
    struct stream *s = &call->s;
    call->streams_body = r->streams_body;
    if (r->streams_body)
        return;
    call->body = arena_str(&s->arena, r->body);
    strbuf_add_str(&s->out, r->body);
    s->out_ended = true;
}

static void set_times(struct call *call, const struct client_request *r, int64_t now_ms)
{
    struct stream *s = &call->s;
    call->deadline.fire = on_deadline;
    if (r->head_ms)
        s->head_deadline_ms = now_ms + r->head_ms;
    if (r->total_ms)
        s->deadline_ms = now_ms + r->total_ms;
    int64_t waits_until_ms = s->deadline_ms && s->head_deadline_ms ? earlier_ms(s->deadline_ms, s->head_deadline_ms)
                                                                    : s->deadline_ms + s->head_deadline_ms;
    if (waits_until_ms)
        loop_timer_set(call->client->options.loop, &call->deadline, waits_until_ms);
}

enum err_code client_send(struct client *c, const struct client_request *r, const struct stream_events *events,
                          void *user,
                          struct stream **ret_stream, struct err *e)
{
    struct url u;
    if (c->stopping)
        return err_set(e, ERR_UNAVAILABLE, "the client stops");
    struct call *call = (struct call *)stream_new(sizeof(*call));
    struct stream *s = &call->s;
    if (url_parse(r->url, &s->arena, &u, e)) {
        stream_free(s);
        return e->code;
    }
    call->client = c;
    s->release = call_release;
    stream_attach(s, events, user);
    s->filter = &filter_events;
    s->filter_consumed = consumed;
    s->cancel_waiting = cancel_waiting;
    fill_head(call, r, &u);
    fill_body(call, r);
    struct origin *o = pool_find(c, &u);
    if (!pool_wait(o, call)) {
        stream_free(s);
        return err_set(e, ERR_TOO_MANY_REQUESTS, "too many requests wait for a connection to %.*s",
                       STR_ARG(u.authority));
    }
    set_times(call, r, loop_now_ms(c->options.loop));
    c->counts.n_requests++;
    *ret_stream = s;
    return ERR_OK;
}

/* ---- Life ---- */

void client_check_stopped(struct client *c)
{
    loop_defer(c->options.loop, &c->finish);
}

static void finish_stop(struct loop_task *t)
{
    struct client *c = LIST_ITEM(&t->node, struct client, finish.node);
    if (!c->stopping || !c->stopped || !pool_is_empty(c))
        return;
    void (*stopped)(void *) = c->stopped;
    c->stopped = NULL;
    stopped(c->stopped_context); /* last: it may free the client */
}

enum err_code client_new(const struct client_options *o, struct client **ret_client, struct err *e)
{
    struct client *c = mem_zalloc(sizeof(*c));
    c->options = *o;
    if (!c->options.limits)
        c->options.limits = &http_client_limits;
    if (!c->options.connections)
        c->options.connections = CLIENT_CONNECTIONS_MAX;
    if (!c->options.connect_ms)
        c->options.connect_ms = CLIENT_CONNECT_MS;
    map_str_init(&c->origins);
    c->finish.run = finish_stop;
    if (o->tls)
        c->tls = tls_context_ref(o->tls);
    else if (tls_context_new(&(struct tls_options){ 0 }, &c->tls, e)) {
        map_str_fini(&c->origins);
        free(c);
        return e->code;
    }
    c->proxy_tls = tls_context_ref(o->proxy_tls ? o->proxy_tls : c->tls);
    *ret_client = c;
    return ERR_OK;
}

void client_stop(struct client *c, void (*stopped)(void *context), void *context)
{
    assert(!c->stopping);
    c->stopping = true;
    c->stopped = stopped;
    c->stopped_context = context;
    pool_stop(c);
    client_check_stopped(c);
}

void client_free(struct client *c)
{
    if (!c)
        return;
    assert(pool_is_empty(c));
    loop_task_stop(&c->finish);
    pool_free(c);
    map_str_fini(&c->origins);
    tls_context_unref(c->tls);
    tls_context_unref(c->proxy_tls);
    free(c);
}

struct client_counts client_counts(const struct client *c)
{
    return c->counts;
}
