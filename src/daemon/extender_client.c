/* daemon/extender_client.c - see extender_client.h. Upstream: pkg/scheduler/extender.go, v1.36. */
#include "daemon/extender_client.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/client.h"

struct extender_client {
    struct loop *loop;
    const struct extender_config *const *extenders;
    uint32_t n_extenders;
    struct arena arena;
    struct proxy_rules proxies;
    struct client **clients; /* one for each extender */
    uint32_t n_running;      /* clients that are not stopped yet */
    void (*stopped)(void *context);
    void *stopped_context;
};

/* ---- TLS ---- */

static const char *file_unless_data(struct arena *a, struct str file, struct str data)
{
    return file.n && !data.n ? arena_cstr(a, file) : NULL;
}

/* NULL: the system's authorities. */
static enum err_code make_tls(const struct extender_config *x, struct tls_context **ret_tls, struct err *e)
{
    static const struct extender_tls none;
    const struct extender_tls *t = x->tls ? x->tls : &none;
    bool has_ca = t->ca_file.n || t->ca_data.n, has_cert = t->cert_file.n || t->cert_data.n;
    bool insecure = t->insecure || (x->enable_https && !has_ca); /* as upstream */
    *ret_tls = NULL;
    if (!has_ca && !has_cert && !insecure && !t->server_name.n)
        return ERR_OK;
    if (insecure && has_ca)
        return err_set(e, ERR_INVALID, "specifying a root certificates file with the insecure flag is not allowed");
    struct tls_cert_source cert = {
        .cert_file = file_unless_data(e->arena, t->cert_file, t->cert_data), .cert_pem = t->cert_data,
        .key_file = file_unless_data(e->arena, t->key_file, t->key_data), .key_pem = t->key_data,
    };
    struct tls_options o = {
        .certs = &cert, .n_certs = has_cert,
        .ca_file = file_unless_data(e->arena, t->ca_file, t->ca_data), .ca_pem = t->ca_data,
        .insecure_skip_verify = insecure,
        .server_name = t->server_name.n ? arena_cstr(e->arena, t->server_name) : NULL,
    };
    return tls_context_new(&o, ret_tls, e);
}

static enum err_code make_client(struct extender_client *c, uint32_t which, struct err *e)
{
    struct tls_context *tls;
    if (make_tls(c->extenders[which], &tls, e))
        return e->code;
    struct client_options o = { .loop = c->loop, .tls = tls, .proxies = &c->proxies };
    enum err_code code = client_new(&o, &c->clients[which], e);
    if (tls)
        tls_context_unref(tls);
    return code;
}

/* ---- Life ---- */

static const char *get_environment(const char *name)
{
    return getenv(name);
}

enum err_code extender_client_new(const struct extender_client_options *o, struct extender_client **ret_client,
                                  struct err *e)
{
    struct extender_client *c = mem_zalloc(sizeof(*c));
    *c = (struct extender_client){ .loop = o->loop, .extenders = o->extenders, .n_extenders = o->n_extenders };
    arena_init(&c->arena);
    c->clients = ARENA_NEW_N(&c->arena, struct client *, o->n_extenders);
    enum err_code code = proxy_rules_from_environment(o->env ? o->env : get_environment, &c->arena, &c->proxies, e);
    for (uint32_t i = 0; !code && i < o->n_extenders; i++)
        if ((code = make_client(c, i, e)))
            err_wrap(e, "extender %.*s", STR_ARG(o->extenders[i]->url_prefix));
    if (code) {
        extender_client_free(c);
        return code;
    }
    *ret_client = c;
    return ERR_OK;
}

static void client_stopped(void *context)
{
    struct extender_client *c = context;
    if (--c->n_running)
        return;
    void (*stopped)(void *context) = c->stopped;
    stopped(c->stopped_context); /* last: it may free us */
}

void extender_client_stop(struct extender_client *c, void (*stopped)(void *context), void *context)
{
    c->stopped = stopped;
    c->stopped_context = context;
    c->n_running = c->n_extenders + 1;
    for (uint32_t i = 0; i < c->n_extenders; i++)
        client_stop(c->clients[i], client_stopped, c);
    client_stopped(c); /* our own: without extenders there is nobody else */
}

void extender_client_free(struct extender_client *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_extenders; i++)
        if (c->clients[i])
            client_free(c->clients[i]);
    arena_fini(&c->arena);
    free(c);
}

/* ---- Words ---- */

int64_t extender_timeout_ms(const struct extender_config *x)
{
    int64_t ms = x->http_timeout_ns / CLOCK_NS_PER_MS;
    if (x->http_timeout_ns == 0)
        return EXTENDER_TIMEOUT_MS;
    return ms > 0 ? ms : 1;
}

char *extender_url(struct arena *a, const struct extender_config *x, const char *verb)
{
    struct str prefix = x->url_prefix;
    while (prefix.n && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    return arena_printf(a, "%.*s/%s", STR_ARG(prefix), verb);
}

static const char *post_error(struct arena *a, const char *url, const char *why)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&b, "Post ");
    strbuf_add_quoted(&b, str_of(url));
    strbuf_printf(&b, ": %s", why);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

const char *extender_timeout_text(struct arena *a, const char *url)
{
    return post_error(a, url, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
}

/* Go's words for a connection that could not be made: the step that failed stands before the reason. */
static const char *unreachable(struct arena *a, const char *message)
{
    struct str m = str_of(message);
    const char *unknown_name = ": unknown node or service";
    if (str_starts(m, STR("lookup ")) && str_ends(m, str_of(unknown_name)))
        return arena_printf(a, "dial tcp: %.*s: no such host", STR_ARG(str_first(m, m.n - strlen(unknown_name))));
    if (str_starts(m, STR("lookup ")))
        return arena_printf(a, "dial tcp: %s", message);
    const char *refused = ": connection refused";
    if (str_starts(m, STR("dial tcp ")) && str_ends(m, str_of(refused)))
        return arena_printf(a, "%.*s: connect: connection refused", STR_ARG(str_first(m, m.n - strlen(refused))));
    return message;
}

/* ---- Exchanges ---- */

struct exchange {
    struct arena arena;
    const char *url, *verb;
    struct strbuf body;
    bool has_head;
    const char *error; /* known before the end */
    struct loop_task fail;
    extender_done done;
    void *context;
};

static void finish(struct exchange *x, const char *error)
{
    x->done(x->context, error, error ? (struct str){ 0 } : strbuf_str(&x->body));
    strbuf_fini(&x->body);
    arena_fini(&x->arena);
    free(x);
}

static void fail_later(struct loop_task *t)
{
    struct exchange *x = LIST_ITEM(&t->node, struct exchange, fail.node);
    finish(x, x->error);
}

/* Nothing more is wanted of the peer. */
static void give_up(struct stream *s, struct exchange *x, const char *error)
{
    stream_cancel(s);
    finish(x, error);
}

static void on_head(struct stream *s, const struct head *response)
{
    struct exchange *x = stream_user(s);
    x->has_head = true;
    if (response->status != 200)
        give_up(s, x, arena_printf(&x->arena, "failed %s with extender at URL %s, code %u", x->verb, x->url,
                                   response->status));
}

static void on_body(struct stream *s, struct str bytes)
{
    struct exchange *x = stream_user(s);
    strbuf_add_str(&x->body, bytes);
    if (x->body.overflow)
        give_up(s, x, arena_printf(&x->arena, "the answer of the extender at URL %s is longer than %d bytes", x->url,
                                   EXTENDER_ANSWER_BYTES_MAX));
    else
        stream_consume(s, bytes.n);
}

static const char *failure_text(struct exchange *x, const struct stream_result *result)
{
    switch (result->status) {
    case STREAM_TIMEOUT:
        return x->has_head ? "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
                           : extender_timeout_text(&x->arena, x->url);
    case STREAM_PEER_CLOSED:
        return x->has_head ? "unexpected EOF" : post_error(&x->arena, x->url, "EOF");
    case STREAM_UNREACHABLE:
        return post_error(&x->arena, x->url, unreachable(&x->arena, result->message));
    case STREAM_OK:
        return NULL;
    default:
        return x->has_head ? result->message : post_error(&x->arena, x->url, result->message);
    }
}

static void on_closed(struct stream *s, const struct stream_result *result)
{
    struct exchange *x = stream_user(s);
    finish(x, failure_text(x, result));
}

void extender_client_send(struct extender_client *c, uint32_t which, const char *verb, struct str body,
                          extender_done done, void *context)
{
    static const struct stream_events events = { .head = on_head, .body = on_body, .closed = on_closed };
    assert(which < c->n_extenders);
    const struct extender_config *config = c->extenders[which];
    struct exchange *x = mem_zalloc(sizeof(*x));
    *x = (struct exchange){ .fail.run = fail_later, .done = done, .context = context };
    arena_init(&x->arena);
    strbuf_init(&x->body, EXTENDER_ANSWER_BYTES_MAX);
    x->url = extender_url(&x->arena, config, verb);
    x->verb = arena_cstr(&x->arena, str_of(verb));
    struct headers headers = { 0 };
    headers_add_borrowed(&headers, &x->arena, STR("user-agent"), STR("Go-http-client/1.1"));
    headers_add_borrowed(&headers, &x->arena, STR("content-type"), STR("application/json"));
    struct client_request r = { .method = "POST", .url = str_of(x->url), .headers = &headers, .body = body,
                                .gzip = true, .total_ms = extender_timeout_ms(config) };
    struct err e;
    err_init(&e, &x->arena);
    struct stream *s;
    if (client_send(c->clients[which], &r, &events, x, &s, &e)) {
        x->error = post_error(&x->arena, x->url, e.message);
        loop_defer(c->loop, &x->fail);
    }
}
