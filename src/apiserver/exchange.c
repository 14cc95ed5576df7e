/* apiserver/exchange.c - see exchange.h. Upstream: apiserver's server/config.go (the chain of filters), endpoints/filters. */
#include "apiserver/exchange.h"

#include <assert.h>
#include <stdlib.h>

#include "apiserver/impersonate.h"
#include "apiserver/registry_priv.h"
#include "apiserver/server_metrics.h"
#include "base/log.h"

#define TOO_MANY "Too many requests, please try again later.\n"

enum { FIRST_CLASS_FACTOR = 10 }; /* how many more of their requests may be under way */

/* ---- The end ---- */

static void count_done(struct exchange *x)
{
    struct apiserver *s = x->server;
    if (x->counted && x->mutating)
        s->n_writing--;
    else if (x->counted)
        s->n_reading--;
    x->counted = false;
    server_metrics_inflight(s->metrics, s->n_reading, s->n_writing);
}

static void give_room(struct exchange *x)
{
    room_give(&x->server->room, x->n_held);
    x->n_held = 0;
}

static void free_if_over(struct exchange *x)
{
    if (x->stream || x->op_waits)
        return;
    loop_timer_stop(x->server->o.loop, &x->timer);
    list_remove(&x->node);
    give_room(x);
    operation_fini(&x->op);
    strbuf_fini(&x->body);
    arena_fini(&x->arena);
    free(x);
}

static void report(struct exchange *x)
{
    int64_t took_ns = clock_mono_ns(loop_clock(x->server->o.loop)) - x->begun_ns;
    LOG(3, "HTTP", KS("verb", x->route.verb), KS("URI", x->head->target), KI("latency_us", took_ns / 1000),
        KS("userAgent", headers_get(&x->head->headers, "user-agent")), KS("srcIP", stream_peer_address(x->stream)),
        KI("resp", x->code));
    server_metrics_request(x->server->metrics, &x->route, x->at.subresource ? x->at.subresource->name : "", x->code,
                           (double)took_ns / 1e9, x->n_sent, x->op.write.dry_run || x->op.delete.dry_run);
}

void exchange_unask(struct exchange *x)
{
    if (x->asks && x->question.gone)
        x->question.gone(&x->question);
    x->asks = false;
}

static void closed(struct stream *s, const struct stream_result *result)
{
    struct exchange *x = stream_user(s);
    (void)result;
    report(x);
    if (x->watcher) {
        watch_free(x->watcher);
        server_metrics_watch_ended(x->server->metrics, &x->route);
    }
    x->watcher = NULL;
    exchange_unask(x);
    answer_list_free(x);
    fresh_stop(&x->server->fresh, &x->wait);
    count_done(x);
    x->stream = NULL;
    free_if_over(x);
}

/* ---- Too much ---- */

/* Leases and their like must not wait behind others: members of system:masters and the components of a control plane have
 * a part of the room to themselves. */
static bool is_first_class(const struct user *u)
{
    return str_list_has(&u->groups, STR(GROUP_MASTERS)) || str_list_has(&u->groups, STR("system:nodes")) ||
           str_is(u->name, "system:kube-scheduler") || str_is(u->name, "system:kube-controller-manager");
}

void exchange_refuse(struct exchange *x)
{
    headers_add(&x->extra, &x->arena, STR("retry-after"), STR("1"));
    server_metrics_terminated(x->server->metrics, &x->route, "", 429);
    answer_text(x, 429, TOO_MANY);
}

bool exchange_take_room(struct exchange *x, size_t n)
{
    if (!room_has(&x->server->room, n, is_first_class(x->user)))
        return false;
    room_take(&x->server->room, n);
    x->n_held += n;
    return true;
}

bool exchange_may_answer(const struct exchange *x, size_t n)
{
    return room_has_at_once(&x->server->room, n, is_first_class(x->user));
}

/* ---- The body ---- */

static void too_large(struct exchange *x)
{
    err_set(&x->err, ERR_TOO_LARGE, "Request entity too large: limit is %d", REQUEST_BYTES_MAX);
    answer_error(x, NULL);
}

static void body(struct stream *s, struct str bytes)
{
    struct exchange *x = stream_user(s);
    stream_consume(s, bytes.n);
    if (x->answered || !x->reads_body)
        return;
    if (!exchange_take_room(x, bytes.n)) {
        exchange_refuse(x);
        return;
    }
    strbuf_add_str(&x->body, bytes);
    if (x->body.overflow)
        too_large(x);
}

static void ended(struct stream *s, const struct headers *trailers)
{
    struct exchange *x = stream_user(s);
    (void)trailers;
    if (!x->answered && x->reads_body)
        dispatch(x);
}

static void writable(struct stream *s)
{
    struct exchange *x = stream_user(s);
    if (x->watcher)
        watch_writable(x->watcher);
    else if (x->list)
        answer_list_more(x);
}

static const struct stream_events events = { .body = body, .end = ended, .writable = writable, .closed = closed };

/* ---- Who, and whether they may ---- */

static int64_t now_s(const struct exchange *x)
{
    return clock_wall_ns(loop_clock(x->server->o.loop)) / 1000000000;
}

static const struct user *anonymous(struct exchange *x)
{
    struct user *u = ARENA_NEW(&x->arena, struct user);
    struct str *group = ARENA_NEW(&x->arena, struct str);
    *group = STR(GROUP_UNAUTHENTICATED);
    *u = (struct user){ .name = STR(USER_ANONYMOUS), .groups = { group, 1 } };
    return u;
}

static double seconds_since(const struct exchange *x, int64_t begun_ns)
{
    return (double)(clock_mono_ns(loop_clock(x->server->o.loop)) - begun_ns) / 1e9;
}

static bool find_user(struct exchange *x)
{
    struct api_authn *authn = x->server->o.authn;
    if (!authn) {
        x->user = anonymous(x);
        return true;
    }
    int64_t begun_ns = clock_mono_ns(loop_clock(x->server->o.loop));
    bool found = !api_authn_find(authn, &x->arena, x->head, x->target.path, stream_tls_peer(x->stream), now_s(x), &x->user,
                                 &x->err);
    server_metrics_authenticated(x->server->metrics, found, seconds_since(x, begun_ns));
    if (found)
        return true;
    LOG(3, "Unable to authenticate the request", KS("err", x->err.message));
    x->err.kind = x->err.name = NULL;
    err_set(&x->err, ERR_UNAUTHORIZED, "Unauthorized");
    answer_error(x, NULL);
    return false;
}

/* A watch by its query is one to authorizers, too. */
static struct authz_attributes attributes_of(const struct exchange *x)
{
    const struct route *r = &x->route;
    return (struct authz_attributes){ .user = x->user, .verb = r->verb, .is_resource = r->is_resource, .group = r->group,
                                      .version = r->version, .resource = r->resource, .subresource = r->subresource,
                                      .namespace = r->namespace, .name = r->name, .path = r->path };
}

static bool refuse(struct exchange *x)
{
    headers_add(&x->extra, &x->arena, STR("x-content-type-options"), STR("nosniff"));
    answer_error(x, NULL);
    return false;
}

static bool may(struct exchange *x)
{
    struct authz_attributes q = attributes_of(x);
    struct str reason = STR("");
    if (!x->server->o.authz)
        return true;
    int64_t begun_ns = clock_mono_ns(loop_clock(x->server->o.loop));
    bool allowed = api_authz_decide(x->server->o.authz, &x->arena, &q, &reason) == AUTHZ_ALLOW;
    server_metrics_authorized(x->server->metrics, allowed, seconds_since(x, begun_ns));
    if (allowed)
        return true;
    api_authz_refuse(&q, reason, &x->err);
    return refuse(x);
}

static bool become(struct exchange *x)
{
    struct authz_attributes q = attributes_of(x);
    if (!x->server->impersonation ||
        !impersonation_find(x->server->impersonation, &x->arena, &x->head->headers, &q, &x->user, &x->err))
        return true;
    return refuse(x);
}

/* ---- How many at once ---- */

static bool is_long_running(const struct exchange *x)
{
    static const char *const subresources[] = { "attach", "exec", "proxy", "log", "portforward" };
    if (str_is(x->route.verb, "watch") || str_is(x->route.verb, "proxy"))
        return true;
    for (size_t i = 0; i < sizeof(subresources) / sizeof(subresources[0]); i++)
        if (str_is(x->route.subresource, subresources[i]))
            return true;
    return false;
}

static bool is_read(const struct exchange *x)
{
    return str_is(x->route.verb, "get") || str_is(x->route.verb, "list") || str_is(x->route.verb, "watch");
}

static uint32_t most_at_once(const struct exchange *x)
{
    const struct apiserver_options *o = &x->server->o;
    uint32_t max = x->mutating ? o->mutating_inflight : o->requests_inflight;
    if (max == 0)
        return UINT32_MAX;
    return is_first_class(x->user) && max < UINT32_MAX / FIRST_CLASS_FACTOR ? max * FIRST_CLASS_FACTOR : max;
}

/* What may be large; health and metrics are answered in any case. */
static bool is_large(const struct exchange *x)
{
    return x->route.is_resource || str_starts(x->target.path, STR("/openapi/"));
}

static bool has_room(struct exchange *x)
{
    struct apiserver *s = x->server;
    x->mutating = !is_read(x);
    uint32_t *n = x->mutating ? &s->n_writing : &s->n_reading;
    bool counts = !is_long_running(x);
    if ((counts && *n >= most_at_once(x)) || (is_large(x) && !exchange_take_room(x, 0))) {
        exchange_refuse(x);
        return false;
    }
    if (!counts)
        return true;
    (*n)++;
    x->counted = true;
    server_metrics_inflight(s->metrics, s->n_reading, s->n_writing);
    return true;
}

/* ---- The beginning ---- */

static void time_is_up(struct loop_timer *t)
{
    struct exchange *x = LIST_ITEM(t, struct exchange, timer);
    if (x->answered || !x->stream)
        return;
    exchange_unask(x);
    err_set(&x->err, ERR_TIMEOUT, "Timeout: request did not complete within the allotted timeout");
    answer_error(x, NULL);
}

static bool read_timeout(struct exchange *x)
{
    int64_t asked_ns = 0, max_ms = x->server->o.request_timeout_ms;
    if (is_long_running(x))
        return true;
    if (options_read_timeout(&x->target, &asked_ns, &x->err)) {
        answer_error(x, NULL);
        return false;
    }
    int64_t ms = asked_ns > 0 && asked_ns / 1000000 < max_ms ? asked_ns / 1000000 : max_ms;
    x->timer.fire = time_is_up;
    loop_timer_set(x->server->o.loop, &x->timer, loop_now_ms(x->server->o.loop) + ms);
    return true;
}

static void begin(struct exchange *x)
{
    if (!target_read(&x->arena, x->head->target, &x->target)) {
        err_set(&x->err, ERR_BAD_REQUEST, "the path of the request cannot be read");
        answer_error(x, NULL);
        return;
    }
    x->pretty = wants_pretty(x->head, &x->target);
    if (route_read(&x->arena, x->method, &x->target, &x->route, &x->err)) {
        answer_text(x, 500, arena_printf(&x->arena, "Internal Server Error: %.*s\n", STR_ARG(x->head->target)));
        return;
    }
    if (!find_user(x) || !become(x) || !has_room(x) || !may(x) || !read_timeout(x))
        return;
    x->reads_body = dispatch_reads_body(x);
    if (!x->reads_body)
        dispatch(x);
}

void apiserver_handle(void *apiserver, struct stream *s, const struct head *request)
{
    struct apiserver *server = apiserver;
    struct exchange *x = mem_zalloc(sizeof(*x));
    arena_init(&x->arena);
    x->server = server;
    x->stream = s;
    x->head = request;
    x->method = request->method;
    x->begun_ns = clock_mono_ns(loop_clock(server->o.loop));
    strbuf_init(&x->body, REQUEST_BYTES_MAX);
    err_init(&x->err, &x->arena);
    operation_init(&x->op, server, &x->arena);
    list_push(&server->exchanges, &x->node);
    stream_attach(s, &events, x);
    if (server->stopping) {
        err_set(&x->err, ERR_UNAVAILABLE, "apiserver is shutting down");
        answer_error(x, NULL);
        return;
    }
    begin(x);
}

static void wait_over(struct fresh_wait *w, bool is_there)
{
    struct exchange *x = LIST_ITEM(w, struct exchange, wait);
    if (!x->answered) /* its time may have been up before */
        x->resume(x, is_there);
}

void exchange_await(struct exchange *x, uint64_t version, void (*resume)(struct exchange *x, bool is_there))
{
    x->resume = resume;
    x->wait.over = wait_over;
    if (version <= store_revision(x->server->o.store))
        resume(x, true);
    else if (!fresh_begin(&x->server->fresh, &x->wait, version))
        resume(x, false);
}

/* The client may take its time with the answer: what it sent is not needed for that. */
void exchange_settled(struct exchange *x)
{
    x->op_waits = false;
    strbuf_fini(&x->body);
    if (!x->list)
        give_room(x);
    free_if_over(x);
}
