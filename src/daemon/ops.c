/* daemon/ops.c - see ops.h. Upstream: cmd/kube-scheduler/app/server.go, apiserver/pkg/server/mux, endpoints/filters. */
#include "daemon/ops.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "apiserver/status_object.h"
#include "http/gzip.h"
#include "http/tls_names.h"

struct ops {
    struct ops_options options;
    struct arena arena; /* of the options' texts */
    struct http_limits limits;
    struct server *server;
    struct tls_context *tls;
    struct tls_watch *tls_watch;
    struct ops_handlers handlers;
    const struct ops_route *by_priority[OPS_ROUTES_MAX]; /* those that take what is below, best first */
    size_t n_below;
    size_t bodies_bytes; /* of all exchanges, waiting to be served */
    void (*stopped)(void *context);
    void *stopped_context;
};

/* What handlers need not see of an exchange. */
struct ops_inner {
    struct ops_exchange *x;
    const struct ops_route *route; /* NULL: 404 */
    struct authn_call authn;
    struct authz_call authz;
    struct headers headers; /* of the answer */
    struct strbuf body;
    uint64_t n_body; /* bytes that came */
    int64_t begun_ns;
    bool is_path;    /* its target makes sense */
    bool begun, allowed, body_ended, too_large, served;
};

/* ---- Answers ---- */

void ops_add_header(struct ops_exchange *x, const char *name, struct str value)
{
    headers_add(&x->inner->headers, stream_arena(x->stream), str_of(name), value);
}

static void log_answer(const struct ops_exchange *x, int status)
{
    char latency[32];
    int64_t ns = clock_mono_ns(loop_clock(x->ops->options.loop)) - x->inner->begun_ns;
    snprintf(latency, sizeof(latency), "%lld.%03lldms", (long long)(ns / CLOCK_NS_PER_MS),
             (long long)(ns / 1000 % 1000));
    LOG(3, "HTTP", KS("verb", x->head->method), KS("URI", x->head->target), KS("latency", latency),
        KS("userAgent", headers_get(&x->head->headers, "user-agent")), KS("srcIP", stream_peer_address(x->stream)),
        KI("resp", status));
}

/* As upstream: who may be anybody holds no HTTP/2 connection, which costs a server much and a client little. */
static bool ends_connection(const struct ops_exchange *x)
{
    if (x->inner->route && x->inner->route->is_open)
        return false;
    return x->head->version == HTTP_2 && (!x->user || str_is(x->user->name, USER_ANONYMOUS) ||
                                          str_list_has(&x->user->groups, STR(GROUP_UNAUTHENTICATED)));
}

static void send_head(struct ops_exchange *x, int status, const char *content_type, const uint64_t *length)
{
    struct arena *a = stream_arena(x->stream);
    struct head head = { .status = (uint16_t)status };
    if (x->inner->is_path) /* otherwise no filter has seen it, as in Go */
        headers_add(&head.headers, a, STR("cache-control"), STR("no-cache, private"));
    if (content_type)
        headers_add(&head.headers, a, STR("content-type"), str_of(content_type));
    for (uint32_t i = 0; i < x->inner->headers.n; i++)
        headers_add_borrowed(&head.headers, a, x->inner->headers.at[i].name, x->inner->headers.at[i].value);
    if (length)
        headers_add(&head.headers, a, STR("content-length"), number_text(a, *length));
    if (ends_connection(x))
        headers_add(&head.headers, a, STR("connection"), STR("close"));
    if (LOG_ON(3))
        log_answer(x, status);
    x->gone = NULL;
    stream_send_head(x->stream, &head);
}

void ops_begin_answer(struct ops_exchange *x, int status, const char *content_type)
{
    send_head(x, status, content_type, NULL);
}

void ops_answer(struct ops_exchange *x, int status, const char *content_type, struct str body)
{
    uint64_t length = body.n;
    send_head(x, status, content_type, &length);
    stream_write(x->stream, body); /* the first of an answer is always taken */
    stream_end(x->stream, NULL);
}

void ops_answer_packed(struct ops_exchange *x, int status, const char *content_type, struct str body)
{
    if (!accepts_gzip(&x->head->headers)) {
        ops_answer(x, status, content_type, body);
        return;
    }
    struct deflater *d = deflater_new();
    struct strbuf packed;
    strbuf_init(&packed, STRBUF_NO_MAX);
    deflater_input(d, body, false, true, &packed);
    ops_add_header(x, "content-encoding", STR("gzip"));
    ops_answer(x, status, content_type, strbuf_str(&packed));
    strbuf_fini(&packed);
    deflater_free(d);
}

void ops_answer_error(struct ops_exchange *x, int status, const char *text)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    strbuf_add_text(&body, text);
    strbuf_add_char(&body, '\n');
    ops_add_header(x, "x-content-type-options", STR("nosniff"));
    ops_answer(x, status, "text/plain; charset=utf-8", strbuf_str(&body));
    strbuf_fini(&body);
}

static void answer_status(struct ops_exchange *x, int code, const char *reason, struct str message, bool details)
{
    struct strbuf body;
    strbuf_init(&body, STRBUF_NO_MAX);
    status_add_failure(&body, code, reason, message, details, x->pretty);
    ops_answer(x, code, "application/json", strbuf_str(&body));
    strbuf_fini(&body);
}

/* Texts that a peer chose must not look like HTML; quotes may stay. As upstream. */
static void add_plain(struct strbuf *to, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        const char *instead = text.p[i] == '&' ? "&amp;" : text.p[i] == '<' ? "&lt;" : text.p[i] == '>' ? "&gt;" : NULL;
        if (instead)
            strbuf_add_text(to, instead);
        else
            strbuf_add_char(to, text.p[i]);
    }
}

static void answer_forbidden(struct ops_exchange *x)
{
    const struct authz_call *c = &x->inner->authz;
    struct strbuf words, message;
    strbuf_init(&words, STRBUF_NO_MAX);
    strbuf_init(&message, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&words, "User ");
    strbuf_add_quoted_shown(&words, c->user->name);
    strbuf_printf(&words, " cannot %.*s path ", STR_ARG(c->verb));
    strbuf_add_quoted_shown(&words, c->path);
    STRBUF_ADD_LIT(&message, "forbidden: ");
    add_plain(&message, strbuf_str(&words));
    if (c->reason.n) {
        STRBUF_ADD_LIT(&message, ": ");
        strbuf_add_str(&message, c->reason);
    }
    LOG(4, "Forbidden", KS("URI", x->head->target), KS("reason", c->reason));
    ops_add_header(x, "x-content-type-options", STR("nosniff"));
    answer_status(x, 403, "Forbidden", strbuf_str(&message), true);
    strbuf_fini(&words);
    strbuf_fini(&message);
}

static void answer_internal_error(struct ops_exchange *x, struct str why)
{
    struct strbuf words, text;
    strbuf_init(&words, STRBUF_NO_MAX);
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&words, "Internal Server Error: ");
    strbuf_add_quoted_shown(&words, x->head->target);
    strbuf_printf(&words, ": %.*s", STR_ARG(why));
    add_plain(&text, strbuf_str(&words));
    ops_answer_error(x, 500, strbuf_cstr(&text));
    strbuf_fini(&words);
    strbuf_fini(&text);
}

/* ---- Routes ---- */

static const struct ops_route *find_route(const struct ops *o, struct str path)
{
    for (size_t i = 0; i < o->handlers.n_routes; i++)
        if (!o->handlers.routes[i].below && str_is(path, o->handlers.routes[i].path))
            return &o->handlers.routes[i];
    for (size_t i = 0; i < o->n_below; i++)
        if (str_starts(path, str_of(o->by_priority[i]->path)))
            return o->by_priority[i];
    return NULL;
}

static size_t n_slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* Most slashes first, then the longest, as upstream. */
static int by_depth(const void *a, const void *b)
{
    const char *x = (*(const struct ops_route *const *)a)->path, *y = (*(const struct ops_route *const *)b)->path;
    size_t n_x = n_slashes(x), n_y = n_slashes(y);
    if (n_x != n_y)
        return n_x > n_y ? -1 : 1;
    return strlen(x) != strlen(y) ? (strlen(x) > strlen(y) ? -1 : 1) : strcmp(y, x);
}

static void drop_body(struct ops_exchange *x)
{
    x->ops->bodies_bytes -= x->inner->body.n;
    strbuf_fini(&x->inner->body);
    strbuf_init(&x->inner->body, 0);
}

static void keep_body(struct ops_exchange *x, struct str bytes)
{
    struct ops_inner *in = x->inner;
    if (in->too_large)
        return;
    size_t before = in->body.n;
    if (x->ops->bodies_bytes + bytes.n <= OPS_BODIES_BYTES_MAX)
        strbuf_add_str(&in->body, bytes);
    x->ops->bodies_bytes += in->body.n - before;
    in->too_large = in->body.n - before != bytes.n;
    if (in->too_large)
        drop_body(x);
}

/* When all that it needs is there. */
static void serve_if_ready(struct ops_exchange *x)
{
    struct ops_inner *in = x->inner;
    const struct ops_route *route = in->route;
    if (!in->allowed || in->served || (route && route->reads_body && !in->body_ended && !in->too_large))
        return;
    in->served = true;
    if (!route) {
        ops_answer_error(x, 404, "404 page not found");
    } else if (in->too_large) {
        ops_answer_error(x, 413, "the request's body is too large");
    } else {
        x->body = arena_str(stream_arena(x->stream), strbuf_str(&in->body));
        drop_body(x);
        route->serve(route->context, x); /* last: the stream may be another's after it */
    }
}

/* ---- Filters ---- */

static void authorized(struct authz_call *c)
{
    struct ops_exchange *x = LIST_ITEM(c, struct ops_inner, authz)->x;
    if (c->answer == AUTHZ_DENIED) {
        answer_forbidden(x);
    } else if (c->answer == AUTHZ_FAILED) {
        answer_internal_error(x, c->reason);
    } else {
        x->inner->allowed = true;
        serve_if_ready(x);
    }
}

static struct str lower_verb(struct arena *a, struct str method)
{
    char *verb = arena_cstr(a, method);
    for (size_t i = 0; i < method.n; i++)
        if (verb[i] >= 'A' && verb[i] <= 'Z')
            verb[i] = (char)(verb[i] | 0x20);
    return (struct str){ verb, method.n };
}

static void authenticated(struct authn_call *c)
{
    struct ops_exchange *x = LIST_ITEM(c, struct ops_inner, authn)->x;
    struct ops_inner *in = x->inner;
    x->user = c->user;
    if (!c->user) {
        LOG_ERROR(c->why, "Unable to authenticate the request");
        answer_status(x, 401, "Unauthorized", STR("Unauthorized"), false);
        return;
    }
    in->authz = (struct authz_call){ .arena = stream_arena(x->stream), .user = x->user, .path = x->target.path,
                                     .verb = lower_verb(stream_arena(x->stream), x->head->method),
                                     .answer = AUTHZ_ALLOWED, .done = authorized };
    if (!x->ops->handlers.authz || authz_ask(x->ops->handlers.authz, &in->authz))
        authorized(&in->authz);
}

static bool asks_for_loopback(const struct head *request)
{
    static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
    struct str host = request->authority;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t n = strlen(names[i]);
        if (host.n >= n && memcmp(host.p, names[i], n) == 0 && (host.n == n || host.p[n] == ':'))
            return true;
    }
    return false;
}

static void begin(struct ops_exchange *x)
{
    if (!x->inner->is_path) {
        ops_add_header(x, "connection", STR("close"));
        ops_answer(x, 400, "text/plain; charset=utf-8", STR("400 Bad Request"));
        return;
    }
    if (x->ops->options.is_plain && !asks_for_loopback(x->head)) {
        ops_answer_error(x, 421, "this address answers to localhost alone");
        return;
    }
    if (x->inner->route && x->inner->route->is_open) {
        x->inner->allowed = true;
        serve_if_ready(x);
        return;
    }
    static const struct str group = { GROUP_UNAUTHENTICATED, sizeof(GROUP_UNAUTHENTICATED) - 1 };
    static const struct user anonymous = { .name = { USER_ANONYMOUS, sizeof(USER_ANONYMOUS) - 1 },
                                           .groups = { &group, 1 } };
    struct ops_inner *in = x->inner;
    in->authn = (struct authn_call){ .arena = stream_arena(x->stream), .head = x->head, .user = &anonymous,
                                     .peer = stream_tls_peer(x->stream), .done = authenticated };
    if (!x->ops->handlers.authn || authn_ask(x->ops->handlers.authn, &in->authn))
        authenticated(&in->authn);
}

/* ---- Exchanges ---- */

static void go_on(struct ops_exchange *x)
{
    struct ops_inner *in = x->inner;
    if (!in->begun && (in->body_ended || in->n_body > OPS_AWAITED_BODY_BYTES)) {
        in->begun = true;
        begin(x);
    } else {
        serve_if_ready(x);
    }
}

static void on_body(struct stream *s, struct str bytes)
{
    struct ops_exchange *x = stream_user(s);
    struct ops_inner *in = x->inner;
    stream_consume(s, bytes.n);
    in->n_body += bytes.n;
    if (!in->served && in->route && in->route->reads_body)
        keep_body(x, bytes);
    go_on(x);
}

static void on_end(struct stream *s, const struct headers *trailers)
{
    (void)trailers;
    struct ops_exchange *x = stream_user(s);
    x->inner->body_ended = true;
    go_on(x);
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    (void)result;
    struct ops_exchange *x = stream_user(s);
    struct ops_inner *in = x->inner;
    authn_leave(&in->authn);
    authz_leave(&in->authz);
    drop_body(x);
    if (x->gone)
        x->gone(x);
}

static const struct stream_events exchange_events = { .body = on_body, .end = on_end, .closed = on_closed };

static void on_request(void *context, struct stream *s, const struct head *request)
{
    struct ops *o = context;
    struct arena *a = stream_arena(s);
    struct ops_exchange *x = ARENA_NEW(a, struct ops_exchange);
    struct ops_inner *in = x->inner = ARENA_NEW(a, struct ops_inner);
    in->x = x;
    in->begun_ns = clock_mono_ns(loop_clock(o->options.loop));
    x->ops = o;
    x->stream = s;
    x->head = request;
    stream_attach(s, &exchange_events, x);
    in->is_path = target_read(a, request->target, &x->target);
    x->pretty = wants_pretty(request, &x->target);
    in->route = in->is_path ? find_route(o, x->target.path) : NULL;
    size_t max = in->route && in->route->body_bytes_max ? in->route->body_bytes_max : OPS_BODY_BYTES_MAX;
    strbuf_init(&in->body, max);
}

/* ---- Listening ---- */

static const char *copy(struct arena *a, const char *text)
{
    return text && text[0] ? arena_cstr(a, str_of(text)) : NULL;
}

static void add_certs(struct ops *o, struct tls_cert_source *certs)
{
    const struct ops_options *p = &o->options;
    certs[0] = p->cert_file ? (struct tls_cert_source){ .cert_file = p->cert_file, .key_file = p->key_file }
                            : (struct tls_cert_source){ .cert_pem = p->cert_pem, .key_pem = p->key_pem };
    for (size_t i = 0; i < p->n_sni; i++)
        certs[1 + i] = (struct tls_cert_source){ .cert_file = p->sni[i].cert_file, .key_file = p->sni[i].key_file,
                                                 .names = p->sni[i].names, .n_names = p->sni[i].n_names };
}

static enum err_code make_tls(struct ops *o, struct err *e)
{
    const struct ops_options *p = &o->options;
    struct tls_cert_source *certs = ARENA_NEW_N(&o->arena, struct tls_cert_source, 1 + p->n_sni);
    struct tls_chosen_ciphers ciphers;
    struct tls_options t = { .is_server = true, .certs = certs, .n_certs = 1 + p->n_sni, .no_http2 = p->no_http2,
                             .client_certs = p->ask_for_certificates ? TLS_CLIENT_CERTS_REQUESTED
                                                                     : TLS_CLIENT_CERTS_IGNORED };
    add_certs(o, certs);
    if (tls_choose_ciphers(p->cipher_suites, p->n_cipher_suites, &o->arena, &ciphers, e) ||
        tls_choose_groups(p->curves, p->n_curves, &o->arena, &t.groups, e))
        return e->code;
    t.ciphers = ciphers.list;
    t.min_version = ciphers.only_tls13 ? 13 : p->min_tls_version;
    return tls_context_new(&t, &o->tls, e);
}

static void files_changed(void *context, const char *error)
{
    (void)context;
    if (error)
        LOG_ERROR(error, "Unable to use the serving certificate's files; the old ones stay");
    else
        LOG(1, "Reloaded the serving certificate");
}

static const char *address_text(struct ops *o)
{
    const char *address = o->options.bind_address;
    if (strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0)
        return arena_printf(&o->arena, ":%d", o->options.port);
    return arena_printf(&o->arena, strchr(address, ':') ? "[%s]:%d" : "%s:%d", address, o->options.port);
}

enum err_code ops_listen(struct ops *o, int *ret_port, struct err *e)
{
    if (!o->options.is_plain && make_tls(o, e))
        return e->code;
    server_hold(o->server);
    if (server_listen(o->server, address_text(o), o->tls, ret_port, e))
        return err_wrap(e, "failed to create listener");
    if (o->tls)
        o->tls_watch = tls_watch_new(o->options.loop, o->tls, OPS_TLS_LOOK_MS, files_changed, o);
    return ERR_OK;
}

struct ops *ops_new(const struct ops_options *options)
{
    struct ops *o = mem_zalloc(sizeof(*o));
    arena_init(&o->arena);
    o->options = *options;
    o->options.bind_address = arena_cstr(&o->arena, str_of(options->bind_address));
    o->options.cert_file = copy(&o->arena, options->cert_file);
    o->options.key_file = copy(&o->arena, options->key_file);
    o->limits = http_server_limits;
    o->limits.streams = options->max_streams ? options->max_streams : OPS_STREAMS;
    o->server = server_new(&(struct server_options){
        .loop = options->loop, .handler = options->handler ? options->handler : on_request,
        .context = options->handler ? options->context : o, .limits = &o->limits,
        .connections = options->connections ? options->connections : OPS_CONNECTIONS_MAX, .no_http2 = options->no_http2, .share_port = options->share_port });
    return o;
}

void ops_serve(struct ops *o, const struct ops_handlers *h)
{
    assert(h->n_routes <= OPS_ROUTES_MAX);
    o->handlers = *h;
    for (size_t i = 0; i < h->n_routes; i++)
        if (h->routes[i].below)
            o->by_priority[o->n_below++] = &h->routes[i];
    if (o->n_below)
        qsort(o->by_priority, o->n_below, sizeof(o->by_priority[0]), by_depth);
    server_release(o->server);
}

/* ---- The end ---- */

static void on_stopped(void *context)
{
    struct ops *o = context;
    if (o->stopped)
        o->stopped(o->stopped_context);
}

void ops_stop(struct ops *o, int64_t grace_ms, void (*stopped)(void *context), void *context)
{
    o->stopped = stopped;
    o->stopped_context = context;
    server_stop(o->server, grace_ms, on_stopped, o);
}

void ops_free(struct ops *o)
{
    if (!o)
        return;
    if (o->tls_watch)
        tls_watch_free(o->tls_watch);
    server_free(o->server);
    tls_context_unref(o->tls);
    arena_fini(&o->arena);
    free(o);
}

struct server_counts ops_counts(const struct ops *o)
{
    return server_counts(o->server);
}

struct loop *ops_loop(const struct ops *o)
{
    return o->options.loop;
}
