/* client/rest.c - see rest.h: one call, from `send` or `open` to its end. What it is carried by is rest_carrier.c's. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/rest_priv.h"

static void try_now(struct call *call);
static void wait_in_lane(struct call *call);

/* ---- Calls ---- */

static struct call *find(const struct rest *r, api_call id)
{
    union map_value *v = map_u64_find(&r->calls, id);
    return v ? v->ptr : NULL;
}

static void pump_later(struct rest *r)
{
    loop_defer(r->loop, &r->pump);
}

static void give_slot_back(struct call *call)
{
    if (!call->has_slot)
        return;
    call->has_slot = false;
    call->rest->counts.n_in_flight--;
    pump_later(call->rest);
}

/* Its exchange is over, or given up. */
static void leave_carrier(struct call *call)
{
    struct carrier *carrier = call->carrier;
    call->stream = NULL;
    call->carrier = NULL;
    if (carrier)
        carrier_leave(carrier);
}

/* Nobody can find it any more. */
static void unlist(struct call *call)
{
    struct rest *r = call->rest;
    map_u64_remove(&r->calls, call->id, NULL);
    r->n_streams -= call->is_stream;
    r->counts.n_calls--;
    rate_leave(&r->rate, &call->turn);
    credentials_leave(&call->pass);
    loop_timer_stop(r->loop, &call->deadline);
    loop_timer_stop(r->loop, &call->pause);
    loop_task_stop(&call->task);
    give_slot_back(call);
    if (call->stream) {
        stream_cancel(call->stream);
        leave_carrier(call);
    }
}

static void call_free(struct call *call)
{
    strbuf_fini(&call->bytes);
    arena_fini(&call->arena);
    free(call);
}

/* ---- Who watches ---- */

static int64_t now_ns(const struct rest *r)
{
    return clock_mono_ns(loop_clock(r->loop));
}

static void tell_tried(struct call *call, int status)
{
    const struct rest_observer *o = &call->rest->observer;
    if (o->tried && !call->is_tried)
        o->tried(o->context, call->request.method, status, call->request.body.n, call->is_stream);
    call->is_tried = true;
}

static void tell_retried(struct call *call)
{
    const struct rest_observer *o = &call->rest->observer;
    if (o->retried)
        o->retried(o->context, call->request.method, call->status);
}

static void tell_waited(struct call *call)
{
    const struct rest_observer *o = &call->rest->observer;
    if (o->waited && call->rest->has_rate)
        o->waited(o->context, call->request.method, now_ns(call->rest) - call->lane_ns);
}

static void tell_finished(struct call *call, const struct api_answer *answer)
{
    const struct rest_observer *o = &call->rest->observer;
    if (o->finished)
        o->finished(o->context, call->request.method, now_ns(call->rest) - call->begin_ns, answer->body.n,
                    answer->status != 0);
}

/* ---- The end ---- */

/* "Get" for "GET", as Go's errors have it. */
static const char *title(struct arena *a, const char *method)
{
    char *text = arena_cstr(a, str_of(method));
    for (char *p = text; *p && *++p;)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return text;
}

static void end_stream(struct call *call, const char *error)
{
    unlist(call);
    call->to.end(call->to.context, error);
    call_free(call);
}

static void finish(struct call *call, struct api_answer answer)
{
    unlist(call);
    tell_finished(call, &answer);
    call->done(call->done_context, &answer);
    call_free(call);
}

static void fail(struct call *call, const char *problem)
{
    struct arena *a = &call->arena;
    const char *error = arena_printf(a, "%s \"%.*s\": %s", title(a, call->request.method), STR_ARG(call->url), problem);
    if (call->is_stream)
        end_stream(call, error);
    else
        finish(call, (struct api_answer){ .error = error, .unsent = !call->reached });
}

static void on_deadline(struct loop_timer *t)
{
    fail(HEAP_ITEM(&t->node, struct call, deadline.node), DEADLINE_EXCEEDED);
}

/* ---- Trying again ---- */

static void on_pause_over(struct loop_timer *t)
{
    struct call *call = HEAP_ITEM(&t->node, struct call, pause.node);
    if (call->is_stream)
        try_now(call);
    else
        wait_in_lane(call);
}

static void watch_deadline(struct call *call)
{
    if (call->deadline_ms)
        loop_timer_set(call->rest->loop, &call->deadline, call->deadline_ms);
}

static void try_later(struct call *call, int64_t wait_ms)
{
    struct rest *r = call->rest;
    give_slot_back(call);
    watch_deadline(call);
    tell_retried(call);
    call->n_retries++;
    call->retry_ms = -1;
    loop_timer_set(r->loop, &call->pause, loop_now_ms(r->loop) + wait_ms);
}

static bool may_wait(const struct call *call, int64_t wait_ms)
{
    return call->n_retries < REST_RETRIES_MAX &&
           (!call->deadline_ms || loop_now_ms(call->rest->loop) + wait_ms < call->deadline_ms);
}

/* How long to wait before the next try; -1: the answer counts. */
static int64_t retry_wait_ms(const struct call *call, const struct head *h)
{
    uint64_t seconds;
    struct str after = headers_get(&h->headers, "retry-after");
    if ((h->status != 429 && h->status < 500) || !parse_length(after, &seconds))
        return -1;
    int64_t wait_ms = 1000 * (int64_t)(seconds < REST_RETRY_AFTER_S_MAX ? seconds : REST_RETRY_AFTER_S_MAX);
    return may_wait(call, wait_ms) ? wait_ms : -1;
}

/* ---- What comes from the server ---- */

static enum media media_of(const struct head *h)
{
    struct arena a;
    struct err e;
    enum media media = MEDIA_JSON; /* also of what we do not know: decoding will say so */
    arena_init(&a);
    err_init(&e, &a);
    if (media_of_content_type(headers_get(&h->headers, "content-type"), &media, &e))
        media = MEDIA_JSON;
    arena_fini(&a);
    return media;
}

static void on_head(struct stream *s, const struct head *h)
{
    struct call *call = stream_user(s);
    call->status = h->status;
    tell_tried(call, h->status);
    call->media = media_of(h);
    call->reached = true;
    if (h->status == 401)
        credentials_refused(call->rest->credentials, call->credentials);
    call->retry_ms = retry_wait_ms(call, h);
    if (call->retry_ms < 0 && call->is_stream)
        call->to.head(call->to.context, call->status, call->media);
}

/* What is in `bytes` is not consumed yet: so a stream that is not read holds its server up. */
static void tell_data(struct call *call, struct str bytes)
{
    struct rest *r = call->rest;
    api_call id = call->id;
    bool more = call->to.data(call->to.context, bytes);
    if (find(r, id) != call)
        return;
    call->is_paused = !more;
    if (call->stream)
        stream_consume(call->stream, bytes.n);
}

static void drop(struct call *call, size_t n)
{
    call->n_dropped += n;
    stream_consume(call->stream, n);
    if (call->n_dropped <= REST_DROPPED_BYTES_MAX)
        return;
    stream_cancel(call->stream);
    leave_carrier(call);
    try_later(call, call->retry_ms);
}

static void collect(struct call *call, struct str bytes)
{
    strbuf_add_str(&call->bytes, bytes);
    if (call->bytes.overflow)
        fail(call, arena_printf(&call->arena, "the answer has more than %d bytes", API_ANSWER_BYTES_MAX));
    else
        stream_consume(call->stream, bytes.n);
}

static void on_body(struct stream *s, struct str bytes)
{
    struct call *call = stream_user(s);
    if (call->retry_ms >= 0)
        drop(call, bytes.n);
    else if (!call->is_stream)
        collect(call, bytes);
    else if (call->is_paused || call->bytes.n)
        strbuf_add_str(&call->bytes, bytes); /* the window bounds it */
    else
        tell_data(call, bytes);
}

static void on_end(struct stream *s, const struct headers *trailers)
{
    struct call *call = stream_user(s);
    (void)trailers;
    call->is_complete = true;
}

static void stream_is_over(struct call *call, const char *error)
{
    if (!call->is_paused && !call->bytes.n) {
        end_stream(call, error);
        return;
    }
    call->is_over = true;
    call->end_error = error ? arena_cstr(&call->arena, str_of(error)) : NULL;
}

static void exchange_failed(struct call *call, const struct stream_result *result)
{
    bool began = call->status != 0;
    if (!began)
        tell_tried(call, 0);
    bool was_cut = result->status == STREAM_PEER_CLOSED || result->status == STREAM_REFUSED;
    const char *problem = result->status == STREAM_TIMEOUT ? DEADLINE_EXCEEDED : result->message;
    call->reached |= result->maybe_processed;
    if (!began && was_cut && strcmp(call->request.method, "GET") == 0 && may_wait(call, REST_CUT_RETRY_MS))
        try_later(call, REST_CUT_RETRY_MS);
    else if (began && call->is_stream)
        stream_is_over(call, problem);
    else
        fail(call, arena_cstr(&call->arena, str_of(problem)));
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    struct call *call = stream_user(s);
    leave_carrier(call);
    if (call->retry_ms >= 0)
        try_later(call, call->retry_ms);
    else if (!call->is_complete)
        exchange_failed(call, result);
    else if (call->is_stream)
        stream_is_over(call, NULL);
    else
        finish(call, (struct api_answer){ .status = call->status, .media = call->media,
                                          .body = strbuf_str(&call->bytes) });
}

static const struct stream_events events = { .head = on_head, .body = on_body, .end = on_end, .closed = on_closed };

/* ---- To the server ---- */

static void fill_headers(struct call *call, struct headers *h)
{
    struct rest *r = call->rest;
    struct arena *a = &call->arena;
    headers_add(h, a, STR("accept"), str_of(call->request.accept ? call->request.accept : r->accept));
    headers_add(h, a, STR("user-agent"), str_of(r->user_agent));
    if (call->request.media_type)
        headers_add(h, a, STR("content-type"), str_of(call->request.media_type));
    credentials_add(r->credentials, h, a);
}

static void dispatch(struct call *call)
{
    struct rest *r = call->rest;
    struct err e;
    struct headers headers = { 0 };
    int64_t left_ms = call->deadline_ms - loop_now_ms(r->loop);
    struct client_request request = { .method = call->request.method, .url = call->url, .headers = &headers,
                                      .body = call->request.body, .gzip = r->gzip && !call->is_stream };
    if (call->deadline_ms)
        request.total_ms = left_ms > 0 ? left_ms : 1;
    err_init(&e, &call->arena);
    fill_headers(call, &headers);
    call->status = 0;
    call->is_tried = call->is_complete = false;
    call->n_dropped = 0;
    strbuf_reset(&call->bytes);
    call->credentials = credentials_version(r->credentials);
    if (client_send(r->carrier->client, &request, &events, call, &call->stream, &e)) {
        call->stream = NULL;
        tell_tried(call, 0);
        fail(call, e.message);
        return;
    }
    loop_timer_stop(r->loop, &call->deadline); /* the exchange knows what of it was sent when its time is over */
    call->carrier = r->carrier;
    call->carrier->n_calls++;
    r->counts.n_tries++;
    r->counts.n_retries += call->n_retries > 0;
}

static void on_pass(struct credentials_waiter *w, const char *error)
{
    struct call *call = LIST_ITEM(&w->node, struct call, pass.node);
    if (error)
        fail(call, arena_printf(&call->arena, "getting credentials: %s", error));
    else
        dispatch(call);
}

static void try_now(struct call *call)
{
    if (credentials_ready(call->rest->credentials, &call->pass))
        dispatch(call);
}

static void wait_in_lane(struct call *call)
{
    call->lane_ns = now_ns(call->rest);
    if (rate_join(&call->rest->rate, &call->turn, call->request.lane)) {
        pump_later(call->rest);
        return;
    }
    call->failure = "too many requests wait for their turn";
    loop_defer(call->rest->loop, &call->task);
}

/* Lets go whoever may. When enough are at the server, only leases are. */
static void pump(struct rest *r)
{
    int64_t now = now_ns(r);
    struct rate_waiter *w;
    enum api_lane last;
    do {
        last = r->counts.n_in_flight < REST_IN_FLIGHT_MAX ? N_API_LANES - 1 : API_LANE_LEASE;
        w = rate_next(&r->rate, last, now);
        if (w) {
            struct call *call = LIST_ITEM(&w->node, struct call, turn.node);
            call->has_slot = true;
            r->counts.n_in_flight++;
            tell_waited(call);
            try_now(call);
        }
    } while (w);
    int64_t due_ns = rate_due_ns(&r->rate, last);
    if (due_ns != RATE_NEVER)
        loop_timer_set(r->loop, &r->rate_timer, due_ns / CLOCK_NS_PER_MS + 1);
}

static void on_pump(struct loop_task *t)
{
    pump(LIST_ITEM(&t->node, struct rest, pump.node));
}

static void on_rate(struct loop_timer *t)
{
    pump(HEAP_ITEM(&t->node, struct rest, rate_timer.node));
}

/* ---- Later than the call that asked for it ---- */

static void tell_held(struct call *call)
{
    struct rest *r = call->rest;
    api_call id = call->id;
    struct strbuf held = call->bytes;
    strbuf_init(&call->bytes, API_ANSWER_BYTES_MAX);
    if (held.n)
        tell_data(call, strbuf_str(&held));
    strbuf_fini(&held);
    if (find(r, id) == call && call->is_over && !call->is_paused)
        end_stream(call, call->end_error);
}

static void on_task(struct loop_task *t)
{
    struct call *call = LIST_ITEM(&t->node, struct call, task.node);
    if (call->failure)
        fail(call, call->failure);
    else if (!call->is_started) {
        call->is_started = true;
        try_now(call);
    } else if (!call->is_paused)
        tell_held(call);
}

/* ---- struct api ---- */

static struct call *call_new(struct rest *r, const struct api_request *request)
{
    struct call *call = mem_zalloc(sizeof(*call));
    struct arena *a = &call->arena;
    assert(!r->stopping);
    arena_init_small(a);
    strbuf_init(&call->bytes, API_ANSWER_BYTES_MAX);
    call->rest = r;
    call->id = ++r->last_id;
    call->begin_ns = now_ns(r);
    call->request = *request;
    call->request.method = arena_cstr(a, str_of(request->method));
    call->request.media_type = request->media_type ? arena_cstr(a, str_of(request->media_type)) : NULL;
    call->request.accept = request->accept ? arena_cstr(a, str_of(request->accept)) : NULL;
    call->request.body = arena_str(a, request->body);
    call->url = str_of(arena_printf(a, "%s%.*s", r->base_url, STR_ARG(request->target)));
    call->retry_ms = -1;
    call->pass.ready = on_pass;
    call->deadline.fire = on_deadline;
    call->pause.fire = on_pause_over;
    call->task.run = on_task;
    if (request->timeout_ms > 0)
        call->deadline_ms = loop_now_ms(r->loop) + request->timeout_ms;
    watch_deadline(call);
    map_u64_put(&r->calls, call->id, NULL)->ptr = call;
    r->counts.n_calls++;
    return call;
}

static api_call send_request(void *context, const struct api_request *request, api_done done, void *done_context)
{
    struct call *call = call_new(context, request);
    call->done = done;
    call->done_context = done_context;
    wait_in_lane(call);
    return call->id;
}

static api_call open_stream(void *context, const struct api_request *request, const struct api_stream *stream)
{
    struct rest *r = context;
    struct call *call = call_new(r, request);
    call->is_stream = true;
    call->to = *stream;
    if (r->n_streams++ >= REST_STREAMS_MAX)
        call->failure = "too many streams";
    loop_defer(r->loop, &call->task);
    return call->id;
}

static void resume(void *context, api_call id)
{
    struct rest *r = context;
    struct call *call = find(r, id);
    if (!call || !call->is_paused)
        return;
    call->is_paused = false;
    loop_defer(r->loop, &call->task);
}

static void cancel(void *context, api_call id)
{
    struct call *call = find(context, id);
    if (!call)
        return;
    unlist(call);
    call_free(call);
}

/* ---- Connections that are left ---- */

void rest_end_streams(struct rest *r, const struct carrier *on)
{
    struct map_u64_slot *slot = NULL;
    while ((slot = map_u64_next(&r->calls, slot))) {
        struct call *call = slot->value.ptr;
        if (!call->is_stream || call->carrier != on)
            continue;
        stream_cancel(call->stream);
        leave_carrier(call);
        call->failure = "the client's certificates have changed";
        loop_defer(r->loop, &call->task);
    }
}

/* ---- Life ---- */

void rest_init_calls(struct rest *r)
{
    map_u64_init(&r->calls);
    r->pump.run = on_pump;
    r->rate_timer.fire = on_rate;
    r->api = (struct api){ .context = r, .media = r->media, .send = send_request, .open = open_stream,
                           .resume = resume, .cancel = cancel };
}

void rest_cancel_all(struct rest *r)
{
    struct map_u64_slot *slot;
    while ((slot = map_u64_next(&r->calls, NULL)))
        cancel(r, slot->key);
    loop_task_stop(&r->pump);
    loop_timer_stop(r->loop, &r->rate_timer);
}

void rest_set_token(struct rest *r, struct str token)
{
    credentials_set_token(r->credentials, token);
}

const struct api *rest_api(const struct rest *r)
{
    return &r->api;
}

struct rest_counts rest_counts(const struct rest *r)
{
    return r->counts;
}
