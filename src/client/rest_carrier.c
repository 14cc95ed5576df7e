/* client/rest_carrier.c - see rest.h: from a configuration to connections, and their change with the certificates. */
#include <assert.h>
#include <stdlib.h>

#include "client/rest_priv.h"

/* ---- Connections ---- */

static void check_stopped(struct rest *r)
{
    if (!r->stopping || r->counts.n_carriers)
        return;
    void (*stopped)(void *context) = r->stopped;
    stopped(r->stopped_context); /* last: it may free the rest */
}

static void count_carriers(struct rest *r, int by)
{
    r->counts.n_carriers += (uint32_t)by;
    if (r->observer.carriers)
        r->observer.carriers(r->observer.context, by);
}

static void carrier_stopped(void *context)
{
    struct carrier *c = context;
    struct rest *r = c->rest;
    client_free(c->client);
    free(c);
    count_carriers(r, -1);
    check_stopped(r);
}

static void stop_carrier(struct loop_task *t)
{
    struct carrier *c = LIST_ITEM(&t->node, struct carrier, stop.node);
    c->is_stopping = true;
    client_stop(c->client, carrier_stopped, c);
}

/* Later: its last call may end within an event of one of its connections. */
static void check_left(struct carrier *c)
{
    if (c->is_left && !c->n_calls && !c->is_stopping)
        loop_defer(c->rest->loop, &c->stop);
}

void carrier_leave(struct carrier *c)
{
    assert(c->n_calls);
    c->n_calls--;
    check_left(c);
}

static enum err_code carrier_new(struct rest *r, struct carrier **ret_carrier, struct err *e)
{
    struct client_options o = { .loop = r->loop, .limits = r->limits, .tls = r->tls, .proxies = &r->proxies };
    struct client *client;
    if (client_new(&o, &client, e))
        return e->code;
    struct carrier *c = mem_zalloc(sizeof(*c));
    *c = (struct carrier){ .rest = r, .client = client, .stop.run = stop_carrier };
    count_carriers(r, 1);
    *ret_carrier = c;
    return ERR_OK;
}

static enum err_code change_carrier(struct rest *r, struct err *e)
{
    struct carrier *old = r->carrier, *fresh = NULL;
    if (carrier_new(r, &fresh, e))
        return e->code;
    r->carrier = fresh;
    rest_end_streams(r, old);
    old->is_left = true;
    check_left(old);
    return ERR_OK;
}

/* Connections keep the certificate that they began with, which may be about to end: none is used for long. */
static void files_changed(void *context, const char *error)
{
    struct rest *r = context;
    struct arena a;
    struct err e;
    if (error || r->stopping)
        return; /* the old ones serve */
    arena_init(&a);
    err_init(&e, &a);
    (void)!change_carrier(r, &e); /* without a new one the old one serves */
    arena_fini(&a);
}

/* ---- From the configuration ---- */

static bool has_tls(const struct client_config *c)
{
    return c->ca_file.n || c->ca_data.n || c->cert_file.n || c->cert_data.n || c->insecure_skip_tls_verify;
}

static enum err_code set_url(struct rest *r, const struct client_config *config, struct err *e)
{
    struct str server = config->server;
    struct url u;
    bool has_scheme = str_starts(server, STR("http://")) || str_starts(server, STR("https://"));
    const char *scheme = has_scheme ? "" : has_tls(config) ? "https://" : "http://";
    while (server.n && server.p[server.n - 1] == '/')
        server.n--;
    r->base_url = arena_printf(&r->arena, "%s%.*s", scheme, STR_ARG(server));
    if (server.n == 0 || url_parse(str_of(r->base_url), e->arena, &u, e))
        return err_set(e, ERR_INVALID, "host must be a URL or a host:port pair: \"%.*s\"", STR_ARG(config->server));
    return ERR_OK;
}

static const char *file_unless_data(struct arena *a, struct str file, struct str data)
{
    return file.n && !data.n ? arena_cstr(a, file) : NULL;
}

static void drop_tls(struct rest *r)
{
    if (r->watch)
        tls_watch_free(r->watch);
    if (r->tls)
        tls_context_unref(r->tls);
    r->watch = NULL;
    r->tls = NULL;
}

static enum err_code set_tls(struct rest *r, const struct client_config *config, struct err *e)
{
    struct arena *a = e->arena;
    bool has_ca = config->ca_file.n || config->ca_data.n, has_cert = config->cert_file.n || config->cert_data.n;
    if (config->insecure_skip_tls_verify && has_ca)
        return err_set(e, ERR_INVALID, "specifying a root certificates file with the insecure flag is not allowed");
    struct tls_cert_source cert = {
        .cert_file = file_unless_data(a, config->cert_file, config->cert_data), .cert_pem = config->cert_data,
        .key_file = file_unless_data(a, config->key_file, config->key_data), .key_pem = config->key_data,
    };
    struct tls_options o = {
        .certs = &cert, .n_certs = has_cert,
        .ca_file = file_unless_data(a, config->ca_file, config->ca_data), .ca_pem = config->ca_data,
        .insecure_skip_verify = config->insecure_skip_tls_verify,
        .server_name = config->tls_server_name.n ? arena_cstr(a, config->tls_server_name) : NULL,
    };
    struct tls_context *tls;
    if (tls_context_new(&o, &tls, e))
        return e->code;
    drop_tls(r);
    r->tls = tls;
    if (cert.cert_file || cert.key_file || o.ca_file)
        r->watch = tls_watch_new(r->loop, r->tls, r->tls_look_ms, files_changed, r);
    return ERR_OK;
}

/* A program has printed them. */
static enum err_code use_cert(void *context, struct str cert_pem, struct str key_pem, struct err *e)
{
    struct rest *r = context;
    struct client_config config = *r->config;
    config.cert_data = cert_pem;
    config.key_data = key_pem;
    return set_tls(r, &config, e) || change_carrier(r, e) ? e->code : ERR_OK;
}

static const char *get_environment(const char *name)
{
    return getenv(name);
}

static enum err_code set_proxies(struct rest *r, const struct client_config *config,
                                 const char *(*env)(const char *name), struct err *e)
{
    if (config->proxy_url.n)
        return proxy_rules_for_all(config->proxy_url, &r->arena, &r->proxies, e);
    return proxy_rules_from_environment(env ? env : get_environment, &r->arena, &r->proxies, e);
}

static void set_words(struct rest *r, const struct client_config *config, const struct rest_options *o)
{
    const char *type = media_content_type(o->media);
    r->media = o->media;
    r->accept = o->accept ? arena_cstr(&r->arena, str_of(o->accept)) : arena_printf(&r->arena, "%s, */*", type);
    r->user_agent = arena_cstr(&r->arena, str_of(o->user_agent));
    r->gzip = o->gzip && !config->disable_compression;
    r->limits = o->limits;
    r->tls_look_ms = o->tls_look_ms ? o->tls_look_ms : REST_TLS_LOOK_MS;
    r->config = config;
}

/* ---- Life ---- */

enum err_code rest_new(const struct client_config *config, const struct rest_options *o, struct rest **ret_rest,
                       struct err *e)
{
    struct rest *r = mem_zalloc(sizeof(*r));
    r->loop = o->loop;
    arena_init(&r->arena);
    set_words(r, config, o);
    r->observer = o->observer;
    r->has_rate = o->qps > 0;
    rate_init(&r->rate, o->qps, o->burst, clock_mono_ns(loop_clock(r->loop)));
    rest_init_calls(r);
    if (set_url(r, config, e) || set_proxies(r, config, o->env, e) || set_tls(r, config, e) ||
        credentials_new(config, r->loop, use_cert, r, &r->credentials, e) || carrier_new(r, &r->carrier, e)) {
        rest_free(r);
        return e->code;
    }
    *ret_rest = r;
    return ERR_OK;
}

void rest_stop(struct rest *r, void (*stopped)(void *context), void *context)
{
    assert(!r->stopping);
    rest_cancel_all(r);
    r->stopping = true;
    r->stopped = stopped;
    r->stopped_context = context;
    r->carrier->is_left = true;
    check_left(r->carrier);
}

void rest_free(struct rest *r)
{
    if (!r)
        return;
    assert(r->counts.n_carriers == 0);
    drop_tls(r);
    credentials_free(r->credentials);
    map_u64_fini(&r->calls);
    arena_fini(&r->arena);
    free(r);
}
