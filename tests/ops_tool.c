/* tests/ops_tool.c - the secure port of daemon/ops.h as a program, for foreign clients: curl, openssl, go tool pprof.
 *
 *     ops_tool [--port N] [--bind ADDRESS] [--cert FILE --key FILE] [--cert-dir DIR] [--sni CERT,KEY]
 *              [--authn KUBECONFIG] [--authz KUBECONFIG] [--client-ca FILE] [--proxy-ca FILE --proxy-name NAME]
 *              [--lookup] [--token-ttl-ms N] [--access-ttl-ms N] [--open PATH,...] [--min-tls N] [--cipher NAME]
 *              [--curve N] [--no-http2] [--no-profiling] [--look-ms N] [--delay-ms N] [--v N]
 *
 * Prints "listening PORT" as soon as the address is taken, and "serving" when requests are answered, --delay-ms later. The
 * metrics page tells how often reviews were sent. Besides the usual endpoints:
 *   /berth/whoami   the user          /berth/echo     the body          /berth/later    answers after 50 ms
 *   /berth/ill      makes the check "mood" fail, until it is asked again
 * It ends, gracefully, on SIGTERM. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "client/rest.h"
#include "daemon/ca_file.h"
#include "daemon/delegation.h"
#include "daemon/endpoints.h"
#include "daemon/self_signed.h"

static int argc_;
static char **argv_;
static struct loop *loop;
static struct ops *ops;
static struct authn *authn;
static struct authz *authz;
static struct delegation *delegation;
static struct endpoints *endpoints;
static struct ca_file *client_ca, *proxy_ca;
static struct rest *rests[2];
static struct arena arena;
static struct err error;
static bool ill;
static int n_to_stop, n_resets;

static const char *option(const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc_; i++)
        if (strcmp(argv_[i], name) == 0)
            return argv_[i + 1];
    return otherwise;
}

static bool flag(const char *name)
{
    for (int i = 1; i < argc_; i++)
        if (strcmp(argv_[i], name) == 0)
            return true;
    return false;
}

static _Noreturn void die(void)
{
    fprintf(stderr, "ops_tool: %s\n", error.message);
    exit(1);
}

/* ---- What is served ---- */

static const char *mood(void *context)
{
    (void)context;
    return ill ? "something is wrong" : NULL;
}

static void serve_ill(void *context, struct ops_exchange *x)
{
    (void)context;
    ill = !ill;
    ops_answer(x, 200, "text/plain", STR("so be it\n"));
}

static void serve_whoami(void *context, struct ops_exchange *x)
{
    (void)context;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "%.*s|%.*s|", STR_ARG(x->user->name), STR_ARG(x->user->uid));
    for (size_t i = 0; i < x->user->groups.n; i++)
        strbuf_printf(&text, "%s%.*s", i ? "," : "", STR_ARG(x->user->groups.at[i]));
    for (size_t i = 0; i < x->user->n_extra; i++) {
        strbuf_printf(&text, "|%.*s=", STR_ARG(x->user->extra[i].key));
        for (size_t k = 0; k < x->user->extra[i].values.n; k++)
            strbuf_printf(&text, "%s%.*s", k ? "," : "", STR_ARG(x->user->extra[i].values.at[k]));
    }
    strbuf_add_char(&text, '\n');
    ops_answer(x, 200, "text/plain", strbuf_str(&text));
    strbuf_fini(&text);
}

static void serve_echo(void *context, struct ops_exchange *x)
{
    (void)context;
    ops_answer(x, 200, "application/octet-stream", x->body);
}

struct later {
    struct ops_exchange *x;
    struct loop_timer timer;
};

static void answer_later(struct loop_timer *t)
{
    struct later *l = HEAP_ITEM(&t->node, struct later, timer.node);
    ops_begin_answer(l->x, 200, "text/plain");
    stream_write(l->x->stream, STR("at last\n"));
    stream_end(l->x->stream, NULL);
    free(l);
}

static void later_gone(struct ops_exchange *x)
{
    struct later *l = x->later;
    loop_timer_stop(loop, &l->timer);
    free(l);
}

static void serve_later(void *context, struct ops_exchange *x)
{
    (void)context;
    struct later *l = mem_zalloc(sizeof(*l));
    l->x = x;
    l->timer.fire = answer_later;
    x->later = l;
    x->gone = later_gone;
    loop_timer_set(loop, &l->timer, loop_now_ms(loop) + 50);
}

static const struct ops_route others[] = {
    { .path = "/berth/whoami", .serve = serve_whoami },
    { .path = "/berth/echo", .reads_body = true, .body_bytes_max = 1000000, .serve = serve_echo },
    { .path = "/berth/later", .serve = serve_later },
    { .path = "/berth/ill", .serve = serve_ill },
};

static bool write_metrics(void *context, struct strbuf *to)
{
    (void)context;
    struct reviews_counts n = authn_counts(authn), z = authz_counts(authz);
    strbuf_printf(to, "token_reviews_sent %llu\ntoken_reviews_kept %u\naccess_reviews_sent %llu\naccess_reviews_kept %u\n"
                      "resets %d\n",
                  (unsigned long long)n.n_sent, n.n_kept, (unsigned long long)z.n_sent, z.n_kept, n_resets);
    return true;
}

static void reset_metrics(void *context)
{
    (void)context;
    n_resets++;
}

static bool nothing(void *context, struct strbuf *to)
{
    (void)context;
    (void)to;
    return false;
}

static void observe(void *context, const char *check, const char *type, bool good)
{
    (void)context;
    LOG(5, "health", KS("check", check), KS("type", type), KB("good", good));
}

static void make_endpoints(void)
{
    static const struct health_check checks[] = { { .name = "shutdown" }, { .name = "mood", .problem = mood } };
    static const struct endpoints_metrics pages[] = { { "/metrics", write_metrics, reset_metrics, NULL },
                                                      { "/metrics/resources", nothing, reset_metrics, NULL } };
    static const struct flagz_pair flags[] = { { "bind-address", "127.0.0.1" }, { "v", "<4>" } };
    struct endpoints_options o = {
        .loop = loop, .metrics = pages, .n_metrics = 2, .configz = STR("{\"parallelism\":16}"),
        .healthz = { .name = "healthz", .observe = observe }, .livez = { .name = "livez", .observe = observe },
        .readyz = { .name = "readyz", .checks = checks, .n_checks = 2, .observe = observe },
        .zpages = { .component = "kube-scheduler", .flags = flags, .n_flags = 2, .start_s = 1000000000,
                    .go_version = "none", .binary_version = "1.36.4", .emulation_version = "1.36" },
        .flagz = true, .statusz = true, .profiling = !flag("--no-profiling"), .others = others,
        .n_others = sizeof(others) / sizeof(others[0]), .seed = 1 };
    endpoints = endpoints_new(&o);
}

/* ---- Who may ask ---- */

static const struct api *client_of(const char *kubeconfig, int which)
{
    struct kubeconfig file;
    struct client_config *config = ARENA_NEW(&arena, struct client_config);
    struct kubeconfig_sources from = { .path = kubeconfig };
    struct rest_options o = { .loop = loop, .qps = 200, .burst = 400, .user_agent = "ops_tool", .media = MEDIA_JSON };
    if (!kubeconfig)
        return NULL;
    if (kubeconfig_load(&arena, &from, &file, &error) ||
        kubeconfig_resolve(&arena, &file, &(struct kubeconfig_overrides){ 0 }, config, &error) ||
        rest_new(config, &o, &rests[which], &error))
        die();
    return rest_api(rests[which]);
}

static enum err_code use_client_ca(void *context, struct str pem, struct err *e)
{
    (void)context;
    return authn_set_client_ca(authn, pem, e);
}

static enum err_code use_proxy_ca(void *context, struct str pem, struct err *e)
{
    (void)context;
    static const struct str user = { "x-remote-user", 13 }, group = { "X-Remote-Group", 14 }, uid = { "x-remote-uid", 12 },
                            extra = { "x-remote-extra-", 15 };
    struct str *name = ARENA_NEW(&arena, struct str);
    *name = str_of(option("--proxy-name", ""));
    struct authn_proxy p = { pem, { name, name->n > 0 }, { &user, 1 }, { &uid, 1 }, { &group, 1 }, { &extra, 1 } };
    return authn_set_proxy(authn, &p, e);
}

static void looked_up(void *context, const char *problem)
{
    (void)context;
    printf("lookup %s\n", problem ? problem : "done");
    fflush(stdout);
}

static void make_auth(void)
{
    int64_t look_ms = atoll(option("--look-ms", "0"));
    const struct api *authn_api = client_of(option("--authn", NULL), 0), *authz_api = client_of(option("--authz", NULL), 1);
    authn = authn_new(&(struct authn_options){ .loop = loop, .api = authn_api,
                                               .token_ttl_ms = atoll(option("--token-ttl-ms", "10000")) });
    if (option("--client-ca", NULL) &&
        ca_file_new(loop, option("--client-ca", NULL), look_ms, use_client_ca, NULL, &client_ca, &error))
        die();
    if (option("--proxy-ca", NULL) &&
        ca_file_new(loop, option("--proxy-ca", NULL), look_ms, use_proxy_ca, NULL, &proxy_ca, &error))
        die();
    if (flag("--lookup"))
        delegation = delegation_new(&(struct delegation_options){ .loop = loop, .api = authn_api, .authn = authn,
                                                                  .client_ca = true, .proxy = true, .read = looked_up });
    struct str paths[10], rest = str_of(option("--open", "/healthz,/readyz,/livez"));
    size_t n = 0;
    for (; rest.n && n < 10; rest = str_from(rest, str_index(rest, ',') + 1))
        paths[n++] = str_first(rest, str_index(rest, ','));
    int64_t ttl_ms = atoll(option("--access-ttl-ms", "10000"));
    if (authz_new(&(struct authz_options){ .loop = loop, .api = authz_api, .open_paths = { paths, n },
                                           .allowed_ttl_ms = ttl_ms, .denied_ttl_ms = ttl_ms }, &authz, &error))
        die();
}

/* ---- The program ---- */

static void one_stopped(void *context)
{
    (void)context;
    if (--n_to_stop == 0)
        loop_stop(loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_close((uv_handle_t *)handle, NULL);
    n_to_stop = 1 + (rests[0] != NULL) + (rests[1] != NULL);
    delegation_free(delegation);
    ca_file_free(client_ca);
    ca_file_free(proxy_ca);
    ops_stop(ops, 5000, one_stopped, NULL);
    for (int i = 0; i < 2; i++)
        if (rests[i])
            rest_stop(rests[i], one_stopped, NULL);
}

static void listen_now(void)
{
    static struct ops_sni sni;
    static const char *cipher;
    static int32_t curve;
    struct ops_options o = { .loop = loop, .bind_address = option("--bind", "127.0.0.1"),
                             .port = atoi(option("--port", "0")), .cert_file = option("--cert", NULL),
                             .key_file = option("--key", NULL), .min_tls_version = atoi(option("--min-tls", "0")),
                             .no_http2 = flag("--no-http2"), .ask_for_certificates = true };
    struct self_signed_options s = { .bind_address = o.bind_address, .cert_dir = option("--cert-dir", NULL),
                                     .name = "kube-scheduler", .clock = &clock_real, .key = TLS_NEW_KEY_RSA_2048 };
    if (!o.cert_file && self_signed_pair(&s, &arena, &o.cert_pem, &o.key_pem, &error))
        die();
    if ((cipher = option("--cipher", NULL))) {
        o.cipher_suites = &cipher;
        o.n_cipher_suites = 1;
    }
    if ((curve = atoi(option("--curve", "0")))) {
        o.curves = &curve;
        o.n_curves = 1;
    }
    struct str pair = str_of(option("--sni", ""));
    if (pair.n) {
        sni = (struct ops_sni){ .cert_file = arena_cstr(&arena, str_first(pair, str_index(pair, ','))),
                                .key_file = arena_cstr(&arena, str_from(pair, str_index(pair, ',') + 1)) };
        o.sni = &sni;
        o.n_sni = 1;
    }
    int port;
    ops = ops_new(&o);
    if (ops_listen(ops, &port, &error))
        die();
    printf("listening %d\n", port);
    fflush(stdout);
}

static void serve_now(struct loop_timer *t)
{
    (void)t;
    struct ops_handlers h = { .authn = authn, .authz = authz };
    h.routes = endpoints_routes(endpoints, &h.n_routes);
    ops_serve(ops, &h);
    printf("serving\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uv_signal_t signal_handle;
    struct loop_timer delay = { .fire = serve_now };
    argc_ = argc;
    argv_ = argv;
    signal(SIGPIPE, SIG_IGN);
    arena_init(&arena);
    err_init(&error, &arena);
    log_set_level_number(atoi(option("--v", "0")));
    loop = loop_new(NULL);
    listen_now();
    make_auth();
    make_endpoints();
    uv_signal_init(loop_uv(loop), &signal_handle);
    uv_signal_start(&signal_handle, on_signal, SIGTERM);
    loop_timer_set(loop, &delay, loop_now_ms(loop) + atoll(option("--delay-ms", "0")));
    loop_run(loop);
    ops_free(ops);
    endpoints_free(endpoints);
    authz_free(authz);
    authn_free(authn);
    for (int i = 0; i < 2; i++)
        if (rests[i])
            rest_free(rests[i]);
    loop_free(loop);
    arena_fini(&arena);
    return 0;
}
