/* daemon/secure_port.c - see secure_port.h. */
#include "daemon/secure_port.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "client/rest.h"
#include "daemon/ca_file.h"
#include "daemon/connections.h"
#include "daemon/delegation.h"
#include "daemon/endpoints.h"
#include "daemon/serving.h"

enum {
    REVIEW_QPS = 200, /* as upstream */
    REVIEW_BURST = 400,
    STOP_MS = 5000, /* that requests at hand may still take */
    N_CHECKS_MAX = 3,
};

struct reviewer {
    struct client_config config;
    struct rest *rest; /* NULL: there is none */
};

struct secure_port {
    struct secure_port_options o;
    struct arena arena;
    struct ops *ops;
    const char *listens_on; /* address and port */
    struct reviewer authn_client, authz_client;
    struct authn *authn;
    struct authz *authz;
    struct ca_file *client_ca, *proxy_ca;
    struct delegation *delegation;
    struct endpoints *endpoints;
    struct health_check healthz[N_CHECKS_MAX], readyz[N_CHECKS_MAX];
    void (*begun)(void *context, const char *error);
    void (*stopped)(void *context);
    void *context;
    uint32_t n_to_stop;
    bool serves;
};

/* ---- Flags to options ---- */

static const char *text(struct secure_port *p, struct str s)
{
    return arena_cstr(&p->arena, s);
}

static struct str_list list_of(const struct flag_strings *from)
{
    return (struct str_list){ from->at, from->n };
}

static enum err_code listen_there(struct secure_port *p, struct err *e)
{
    struct self_signed_options self = { .name = p->o.component, .key = TLS_NEW_KEY_RSA_2048 };
    struct ops_options o;
    if (serving_options(p->o.flags, p->o.loop, self, &p->arena, &o, e))
        return e->code;
    p->ops = ops_new(&o);
    int port;
    if (ops_listen(p->ops, &port, e))
        return e->code;
    p->listens_on = arena_printf(&p->arena, strchr(o.bind_address, ':') ? "[%s]:%d" : "%s:%d", o.bind_address, port);
    LOG_PLAIN(0, arena_printf(&p->arena, "Serving securely on %s", p->listens_on));
    return ERR_OK;
}

/* ---- Who asks, and who says so ---- */

/* Without a kubeconfig, and outside of a cluster, there is none. */
static enum err_code make_reviewer(struct secure_port *p, struct reviewer *r, struct str kubeconfig, const char *flag,
                                   struct err *e)
{
    enum err_code rc = client_config_find(&p->arena, text(p, kubeconfig), NULL, &r->config, e);
    if (rc == ERR_NOT_FOUND && kubeconfig.n == 0) {
        return ERR_OK;
    }
    if (rc)
        return err_wrap(e, "failed to get delegated %s kubeconfig", flag);
    struct rest_options o = { .loop = p->o.loop, .qps = REVIEW_QPS, .burst = REVIEW_BURST, .media = MEDIA_JSON,
                              .user_agent = p->o.component };
    return rest_new(&r->config, &o, &r->rest, e);
}

static const struct api *api_of(const struct reviewer *r)
{
    return r->rest ? rest_api(r->rest) : NULL;
}

static enum err_code use_client_ca(void *context, struct str pem, struct err *e)
{
    struct secure_port *p = context;
    return authn_set_client_ca(p->authn, pem, e);
}

static enum err_code use_proxy_ca(void *context, struct str pem, struct err *e)
{
    struct secure_port *p = context;
    const struct scheduler_flags *f = p->o.flags;
    struct authn_proxy proxy = {
        .ca_pem = pem,
        .allowed_names = list_of(&f->requestheader_allowed_names),
        .user_headers = list_of(&f->requestheader_username_headers),
        .uid_headers = list_of(&f->requestheader_uid_headers),
        .group_headers = list_of(&f->requestheader_group_headers),
        .extra_prefixes = list_of(&f->requestheader_extra_headers_prefix),
    };
    return authn_set_proxy(p->authn, &proxy, e);
}

static enum err_code read_authorities(struct secure_port *p, struct err *e)
{
    const struct scheduler_flags *f = p->o.flags;
    struct loop *l = p->o.loop;
    if (f->client_ca_file.n &&
        ca_file_new(l, text(p, f->client_ca_file), 0, use_client_ca, p, &p->client_ca, e))
        return err_wrap(e, "unable to load client CA provider");
    if (f->requestheader_client_ca_file.n &&
        ca_file_new(l, text(p, f->requestheader_client_ca_file), 0, use_proxy_ca, p, &p->proxy_ca, e))
        return err_wrap(e, "unable to load request header CA");
    return ERR_OK;
}

static int64_t ms(int64_t ns)
{
    return ns / CLOCK_NS_PER_MS;
}

#define WITHOUT_LOOKUP(file, what)                                                                                     \
    "No authentication-kubeconfig provided in order to lookup " file " in configmap/extension-apiserver-authentication in " \
    "kube-system, so " what " authentication won't work."

/* Upstream's words for what does not work without a kubeconfig. */
static void warn_of_missing_clients(const struct secure_port *p)
{
    const struct scheduler_flags *f = p->o.flags;
    bool looks_up = !p->authn_client.rest && !f->authentication_skip_lookup;
    if (looks_up && f->client_ca_file.n == 0)
        LOG_WARNING(WITHOUT_LOOKUP("client-ca-file", "client certificate"));
    if (looks_up && f->requestheader_client_ca_file.n == 0)
        LOG_WARNING(WITHOUT_LOOKUP("requestheader-client-ca-file", "request-header client certificate"));
    if (!p->authz_client.rest)
        LOG_WARNING("No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens won't work.");
}

static enum err_code make_guards(struct secure_port *p, struct err *e)
{
    const struct scheduler_flags *f = p->o.flags;
    if (make_reviewer(p, &p->authn_client, f->authentication_kubeconfig, "authentication", e) ||
        make_reviewer(p, &p->authz_client, f->authorization_kubeconfig, "authorization", e))
        return e->code;
    warn_of_missing_clients(p);
    p->authn = authn_new(&(struct authn_options){ .loop = p->o.loop,
                                                  .api = api_of(&p->authn_client),
                                                  .token_ttl_ms = ms(f->authentication_token_webhook_cache_ttl_ns),
                                                  .seed = p->o.seed });
    struct authz_options authz = { .loop = p->o.loop,
                                   .api = api_of(&p->authz_client),
                                   .allowed_ttl_ms = ms(f->authorization_webhook_cache_authorized_ttl_ns),
                                   .denied_ttl_ms = ms(f->authorization_webhook_cache_unauthorized_ttl_ns),
                                   .open_paths = list_of(&f->authorization_always_allow_paths),
                                   .seed = p->o.seed };
    if (authz_new(&authz, &p->authz, e))
        return e->code;
    return read_authorities(p, e);
}

/* ---- What is served ---- */

static const char *not_synced(void *context)
{
    const struct secure_port *p = context;
    return p->o.is_synced(p->o.context) ? NULL : p->o.not_synced;
}

static const char *is_stopping(void *context)
{
    const struct secure_port *p = context;
    return p->o.is_stopping(p->o.context) ? "process is shutting down" : NULL;
}

static void observe(void *context, const char *check, const char *type, bool good)
{
    const struct secure_port *p = context;
    health_metrics_note(&p->o.health, check, type, good);
}

static bool write_metrics(void *context, struct strbuf *to)
{
    metrics_write(context, to);
    return true;
}

static void reset_metrics(void *context)
{
    metrics_reset(context);
}

static const struct flagz_pair *flagz_pairs(struct secure_port *p, size_t *ret_n)
{
    struct flag_text *from = flag_set_texts(p->o.flag_set, p->o.flag_values, &p->arena, ret_n);
    struct flagz_pair *at = ARENA_NEW_N(&p->arena, struct flagz_pair, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        at[i] = (struct flagz_pair){ from[i].name, text(p, from[i].value) };
    return at;
}

static void make_endpoints(struct secure_port *p)
{
    /* Upstream never joins this check to its elector, so it cannot fail. */
    struct health_check leader = { "leaderElection", NULL, NULL };
    size_t n_healthz = 0, n_readyz = 0;
    if (p->o.leader_elects)
        p->healthz[n_healthz++] = p->readyz[n_readyz++] = leader;
    p->readyz[n_readyz++] = (struct health_check){ "shutdown", is_stopping, p };
    p->readyz[n_readyz++] = (struct health_check){ p->o.sync_check, not_synced, p };
    struct endpoints_metrics pages[] = { { "/metrics", write_metrics, reset_metrics, p->o.metrics },
                                         { "/metrics/slis", write_metrics, reset_metrics, p->o.slis } };
    const struct component_version *v = &p->o.gates->versions.emulated;
    struct endpoints_options o = {
        .loop = p->o.loop,
        .healthz = { "healthz", p->healthz, n_healthz, observe, p },
        .livez = { "livez", NULL, 0, observe, p },
        .readyz = { "readyz", p->readyz, n_readyz, observe, p },
        .metrics = pages,
        .n_metrics = 2,
        .configz = p->o.configz,
        .zpages = { .component = p->o.component,
                    .start_s = clock_wall_ns(loop_clock(p->o.loop)) / CLOCK_NS_PER_SECOND,
                    .go_version = "none, this is berth",
                    .binary_version = "1.36.4",
                    .emulation_version = arena_printf(&p->arena, "%llu.%llu", (unsigned long long)v->major,
                                                      (unsigned long long)v->minor) },
        .flagz = gate_on(p->o.gates, GATE_ComponentFlagz),
        .statusz = gate_on(p->o.gates, GATE_ComponentStatusz),
        .profiling = p->o.profiling,
        .others = p->o.routes,
        .n_others = p->o.n_routes,
        .seed = p->o.seed,
    };
    o.zpages.flags = flagz_pairs(p, &o.zpages.n_flags);
    p->endpoints = endpoints_new(&o);
}

/* ---- Life ---- */

enum err_code secure_port_new(const struct secure_port_options *o, struct secure_port **ret_port, struct err *e)
{
    struct secure_port *p = mem_zalloc(sizeof(*p));
    p->o = *o;
    arena_init(&p->arena);
    *ret_port = p; /* also when it is not complete: the process ends then, and all with it */
    if (listen_there(p, e) || make_guards(p, e))
        return e->code;
    make_endpoints(p);
    return ERR_OK;
}

static void serve(struct secure_port *p, const char *error)
{
    if (p->serves)
        return;
    p->serves = true;
    size_t n;
    const struct ops_route *routes = endpoints_routes(p->endpoints, &n);
    ops_serve(p->ops, &(struct ops_handlers){ p->authn, p->authz, routes, n });
    p->begun(p->context, error);
}

static void looked_up(void *context, const char *error)
{
    struct secure_port *p = context;
    if (!error) {
        serve(p, NULL);
    } else if (p->o.flags->authentication_tolerate_lookup_failure) {
        LOG_WARNING(arena_printf(&p->arena, "Error looking up in-cluster authentication configuration: %s", error));
        LOG_WARNING("Continuing without authentication configuration. This may treat all requests as anonymous.");
        LOG_WARNING("To require authentication configuration lookup to succeed, set --authentication-tolerate-lookup-failure=false");
        serve(p, NULL);
    } else {
        p->begun(p->context, error);
    }
}

void secure_port_begin(struct secure_port *p, void (*begun)(void *context, const char *error), void *context)
{
    const struct scheduler_flags *f = p->o.flags;
    p->begun = begun;
    p->context = context;
    if (f->authentication_skip_lookup || !p->authn_client.rest) {
        serve(p, NULL);
        return;
    }
    p->delegation = delegation_new(&(struct delegation_options){ .loop = p->o.loop,
                                                                 .api = rest_api(p->authn_client.rest),
                                                                 .authn = p->authn,
                                                                 .client_ca = f->client_ca_file.n == 0,
                                                                 .proxy = f->requestheader_client_ca_file.n == 0,
                                                                 .read = looked_up,
                                                                 .context = p,
                                                                 .seed = p->o.seed });
}

static void one_stopped(void *context)
{
    struct secure_port *p = context;
    if (--p->n_to_stop)
        return;
    LOG(0, "[graceful-termination] secure server is exiting");
    p->stopped(p->context);
}

/* After the last request is answered nobody needs a review. */
static void ops_stopped(void *context)
{
    struct secure_port *p = context;
    delegation_free(p->delegation);
    p->delegation = NULL;
    if (p->authn_client.rest)
        rest_stop(p->authn_client.rest, one_stopped, p);
    if (p->authz_client.rest)
        rest_stop(p->authz_client.rest, one_stopped, p);
    one_stopped(p);
}

void secure_port_stop(struct secure_port *p, void (*stopped)(void *context), void *context)
{
    p->stopped = stopped;
    p->context = context;
    p->n_to_stop = 1 + (p->authn_client.rest != NULL) + (p->authz_client.rest != NULL);
    LOG_PLAIN(0, arena_printf(&p->arena, "Stopped listening on %s", p->listens_on));
    LOG(0, "[graceful-termination] secure server has stopped listening");
    ops_stop(p->ops, STOP_MS, ops_stopped, p);
}

void secure_port_free(struct secure_port *p)
{
    if (!p)
        return;
    ops_free(p->ops);
    endpoints_free(p->endpoints);
    authn_free(p->authn);
    authz_free(p->authz);
    ca_file_free(p->client_ca);
    ca_file_free(p->proxy_ca);
    rest_free(p->authn_client.rest);
    rest_free(p->authz_client.rest);
    arena_fini(&p->arena);
    free(p);
}
