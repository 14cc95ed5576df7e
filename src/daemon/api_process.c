/* daemon/api_process.c - see api_process.h: the story of an API server's process. */
#include "daemon/api_process.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "apiserver/server.h"
#include "apiserver/service_alloc.h"
#include "base/log.h"
#include "config/apiserver_check.h"
#include "config/config.h"
#include "config/scheduler_check.h"
#include "controllers/controllers.h"
#include "daemon/api_bootstrap.h"
#include "daemon/api_health.h"
#include "daemon/api_keys.h"
#include "daemon/api_pages.h"
#include "daemon/ca_file.h"
#include "daemon/etcd_beside.h"
#include "daemon/memory.h"
#include "daemon/process_metrics.h"
#include "daemon/serving.h"
#include "hollow/hollow.h"
#include "store/lmdb.h"

enum { N_SIGNALS = 2 };

struct process {
    const struct api_process_options *o;
    const struct apiserver_flags *flags;
    struct scheduler_flags shared; /* those that all components have */
    struct arena arena;
    uint64_t seed;
    struct loop *loop;
    struct metrics *metrics, *slis;
    struct health_metrics health_metrics;
    const char *data_folder, *keys_folder; /* empty: none */
    struct str cidr;
    struct store *store;
    struct stored *objects;
    struct sa_tokens *tokens;
    struct api_authn *authn;
    struct api_authz *authz;
    struct admission *admission;
    struct api_health health;
    struct api_pages *pages;
    struct apiserver *server;
    struct api_bootstrap *bootstrap;
    struct cluster *cluster;
    struct controllers *controllers;
    struct hollow *hollow; /* NULL: nobody asked for such nodes */
    struct work_queue_families *work_queues;
    const char *const *controllers_choice; /* ends with NULL */
    bool is_beside_etcd;                   /* berth's place holder, as test suites start it */
    struct ops_options serving;
    struct ops *ops;
    struct ca_file *client_ca;
    struct str client_ca_pem, proxy_ca_pem;
    const char *bind_address, *advertise_address, *url;
    struct memory memory;
    struct loop_timer tick, delay;
    int64_t forget_at_ms;
    uint64_t forget_up_to; /* the revision at the end of the last interval; 0: before the first */
    uv_async_t store_news;
    uv_signal_t signals[N_SIGNALS];
    uint32_t n_open_handles;
    bool waits_for_nodes; /* all else is ready */
    bool stopping;
};

/* ---- Texts ---- */

static const char *text(struct process *p, struct str s)
{
    return arena_cstr(&p->arena, s);
}

/* Ends with NULL. */
static const char *const *texts(struct process *p, const struct flag_strings *from)
{
    const char **at = ARENA_NEW_N(&p->arena, const char *, from->n + 1);
    for (size_t i = 0; i < from->n; i++)
        at[i] = text(p, from->at[i]);
    return at;
}

static struct str_list list_of(const struct flag_strings *from)
{
    return (struct str_list){ from->at, from->n };
}

static uint64_t random_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = (uint64_t)clock_mono_ns(&clock_real) ^ (uint64_t)getpid();
    return seed;
}

/* ---- Metrics ---- */

static enum err_code make_metrics(struct process *p, struct err *e)
{
    struct flag_pairs labels;
    if (scheduler_metric_labels(&p->shared, &p->arena, &labels, e))
        return e->code;
    p->metrics = metrics_new();
    p->slis = metrics_new();
    for (size_t i = 0; i < p->flags->disabled_metrics.n; i++)
        metrics_disable(p->metrics, p->flags->disabled_metrics.at[i]);
    for (size_t i = 0; i < labels.n; i++) {
        struct str label = labels.at[i].key, metric = flag_take_until(&label, ',');
        metrics_allow_values(p->metrics, metric, label, labels.at[i].value);
    }
    process_metrics_add(p->metrics);
    p->health_metrics = health_metrics_add(p->slis);
    component_metrics_add(p->metrics, &p->o->build, p->o->gates);
    p->work_queues = work_queue_families_new(p->metrics);
    return ERR_OK;
}

static const char *durability(const struct process *p)
{
    return p->flags->memory ? "memory" : p->flags->relaxed_durability ? "relaxed" : "synced";
}

static void add_durability_metric(struct process *p)
{
    struct metric *mode = metrics_add_gauge(
        p->metrics, &(struct metric_desc){ "berth_store_durability",
                                           "1 for how writes are kept: synced to disk before they are answered, "
                                           "relaxed for "
                                           "leases and events, or in memory only.",
                                           { "mode" } });
    series_set(metric_series(mode, (struct str[]){ str_of(durability(p)) }), 1);
}

/* ---- The store ---- */

/* NULL: there is no place holder for etcd. */
static const char *folder_beside(struct process *p)
{
    struct flag_strings servers = p->flags->etcd_servers;
    const char *folder = servers.n ? etcd_beside_folder(p->loop, &p->arena, servers.at[0]) : NULL;
    p->is_beside_etcd = folder != NULL;
    return folder ? arena_printf(&p->arena, "%s/berth", folder) : NULL;
}

static const char *folder_of_user(struct process *p)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return arena_printf(&p->arena, "%s/berth/apiserver", state);
    return arena_printf(&p->arena, "%s/.local/state/berth/apiserver", home && home[0] ? home : "/var/lib");
}

static void find_folders(struct process *p)
{
    if (p->flags->memory)
        p->data_folder = "";
    else if (p->flags->data_dir.n)
        p->data_folder = text(p, p->flags->data_dir);
    else
        p->data_folder = folder_beside(p);
    if (!p->data_folder)
        p->data_folder = folder_of_user(p);
    p->keys_folder = api_keys_folder(p->flags, p->data_folder, &p->arena);
}

static void wake(void *context)
{
    struct process *p = context;
    uv_async_send(&p->store_news);
}

static void tell_ready(void *context);

/* What the store has finished: answers first, then those who act on what they see. */
static void poll(struct process *p)
{
    apiserver_poll(p->server);
    cluster_poll(p->cluster);
    if (p->o->guest)
        p->o->guest->poll(p->o->guest->context);
    if (p->waits_for_nodes)
        tell_ready(p);
}

static void take_news(uv_async_t *handle)
{
    struct process *p = handle->data;
    if (p->controllers)
        poll(p);
}

static enum err_code open_store(struct process *p, struct err *e)
{
    struct engine *engine = NULL;
    struct lmdb_options o = { .folder = p->data_folder, .early = p->flags->relaxed_durability };
    uv_async_init(loop_uv(p->loop), &p->store_news, take_news);
    p->store_news.data = p;
    p->n_open_handles++;
    if (p->data_folder[0] && (make_folder_of(p->data_folder, &p->arena, e) || lmdb_open(&o, &engine, e)))
        return err_wrap(e, "--data-dir %s", p->data_folder);
    struct store_options s = { .clock = loop_clock(p->loop), .own_engine = engine, .wake = wake, .context = p };
    if (store_new(&s, &p->store, e))
        return err_wrap(e, "--data-dir %s", p->data_folder);
    p->objects = stored_new(p->store);
    return ERR_OK;
}

/* ---- The address ---- */

/* Where this machine is reached from others: from where it would ask a far one. Nothing is sent. */
static const char *own_address(struct process *p)
{
    struct sockaddr_in far = { .sin_family = AF_INET, .sin_port = htons(9) }, own;
    socklen_t n = sizeof(own);
    char name[INET_ADDRSTRLEN];
    inet_pton(AF_INET, "192.0.2.1", &far.sin_addr); /* of no network there is */
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && connect(fd, (struct sockaddr *)&far, sizeof(far)) == 0 &&
                 getsockname(fd, (struct sockaddr *)&own, &n) == 0 &&
                 inet_ntop(AF_INET, &own.sin_addr, name, sizeof(name));
    if (fd >= 0)
        close(fd);
    return found ? arena_printf(&p->arena, "%s", name) : "127.0.0.1";
}

static bool is_unspecified(const char *address)
{
    return strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
}

static void find_addresses(struct process *p)
{
    char *bind = arena_alloc(&p->arena, IP_TEXT_MAX), *advertise = arena_alloc(&p->arena, IP_TEXT_MAX);
    ip_print(&p->flags->bind_address, bind);
    ip_print(&p->flags->advertise_address, advertise);
    p->bind_address = bind;
    bool local = is_unspecified(bind) || strncmp(bind, "127.", 4) == 0 || strcmp(bind, "::1") == 0;
    p->advertise_address = !is_unspecified(advertise) ? advertise : local ? own_address(p) : bind;
    p->url = arena_printf(&p->arena, strchr(bind, ':') ? "https://[%s]:%d" : "https://%s:%d",
                          is_unspecified(bind) ? "127.0.0.1" : bind, (int)p->flags->secure_port);
}

/* The address of default/kubernetes. */
static const char *service_address(struct process *p)
{
    struct ip_addr network;
    unsigned bits;
    char *first = arena_alloc(&p->arena, IP_TEXT_MAX);
    cidr_parse(p->cidr, &network, &bits);
    for (unsigned bit = 96 + bits; bit < 128; bit++)
        network.bytes[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
    for (int i = 15; i >= 12 && ++network.bytes[i] == 0; i--)
        ;
    ip_print(&network, first);
    return first;
}

/* Certificates, and who trusts them. */
static enum err_code make_certificates(struct process *p, struct err *e)
{
    const char *names[] = { "kubernetes.default.svc", "kubernetes.default", "kubernetes" };
    const char *addresses[] = { service_address(p), p->advertise_address };
    struct self_signed_options self = { .name = "apiserver", .key = TLS_NEW_KEY_P256, .cert_dir = p->keys_folder,
                                        .names = names, .n_names = 3, .addresses = addresses, .n_addresses = 2 };
    if (serving_options(&p->shared, p->loop, self, &p->arena, &p->serving, e))
        return e->code;
    if (!api_keys_lacks_clients(p->flags))
        return ERR_OK;
    if (!p->keys_folder[0]) {
        LOG_WARNING("Nobody is known to this server: no flag says whom to know, and there is no folder for a kubeconfig");
        return ERR_OK;
    }
    struct str trusted = p->serving.cert_pem;
    if (p->serving.cert_pem.n == 0 && config_read_file(&p->arena, p->serving.cert_file, &trusted, e))
        return e->code;
    if (api_keys_admin(p->keys_folder, p->url, trusted, loop_clock(p->loop), &p->arena, &p->client_ca_pem, e))
        return e->code;
    LOG(0, "No flag says whom to know: there is a kubeconfig for an administrator",
        KS("file", arena_printf(&p->arena, "%s/admin.kubeconfig", p->keys_folder)));
    return ERR_OK;
}

static enum err_code take_address(struct process *p, struct err *e)
{
    int port;
    p->serving.handler = apiserver_handle;
    p->serving.context = p->server;
    p->serving.connections = SERVER_CONNECTIONS_MAX;
    p->serving.max_streams = p->serving.max_streams ? p->serving.max_streams : API_STREAMS;
    p->ops = ops_new(&p->serving);
    return ops_listen(p->ops, &port, e);
}

/* ---- Who asks, and who may ---- */

static enum err_code make_tokens(struct process *p, struct err *e)
{
    const struct apiserver_flags *f = p->flags;
    static const char *const issuer[] = { "https://kubernetes.default.svc.cluster.local", NULL };
    struct api_token_keys keys;
    if (api_keys_tokens(f, p->keys_folder, loop_clock(p->loop), &p->arena, &keys, e))
        return e->code;
    struct sa_tokens_options o = {
        .issuers = f->service_account_issuer.n ? texts(p, &f->service_account_issuer) : issuer,
        .audiences = f->api_audiences.n ? texts(p, &f->api_audiences) : NULL,
        .signing_key_pem = keys.signing_pem,
        .key_pems = keys.pems,
        .n_key_pems = keys.n_pems,
        .max_expiration_s = f->service_account_max_token_expiration_ns / CLOCK_NS_PER_SECOND,
        .jwks_uri = f->service_account_jwks_uri.n ? text(p, f->service_account_jwks_uri) : NULL,
        .external_address = arena_printf(&p->arena, "%s:%d",
                                         f->external_hostname.n ? text(p, f->external_hostname) : p->advertise_address,
                                         (int)f->secure_port),
    };
    return sa_tokens_new(&o, &p->tokens, e);
}

static enum err_code use_client_ca(void *context, struct str pem, struct err *e)
{
    struct process *p = context;
    p->client_ca_pem = arena_str(&p->arena, pem);
    return p->authn ? api_authn_set_client_ca(p->authn, pem, e) : ERR_OK;
}

static enum err_code read_file(struct process *p, struct str path, const char *what, struct str *ret_text,
                               struct err *e)
{
    if (path.n && config_read_file(&p->arena, text(p, path), ret_text, e))
        return err_wrap(e, "%s", what);
    return ERR_OK;
}

static enum err_code make_authn(struct process *p, struct err *e)
{
    const struct apiserver_flags *f = p->flags;
    struct str tokens = { NULL, 0 };
    if (f->client_ca_file.n && ca_file_new(p->loop, text(p, f->client_ca_file), 0, use_client_ca, p, &p->client_ca, e))
        return err_wrap(e, "unable to load client CA provider");
    if (read_file(p, f->requestheader_client_ca_file, "unable to load request header CA", &p->proxy_ca_pem, e) ||
        read_file(p, f->token_auth_file, "--token-auth-file", &tokens, e))
        return e->code;
    struct api_authn_options o = {
        .objects = p->objects,
        .tokens = p->tokens,
        .client_ca_pem = p->client_ca_pem,
        .token_file = tokens,
        .proxy_ca_pem = p->proxy_ca_pem,
        .proxy_names = list_of(&f->requestheader_allowed_names),
        .proxy_user_headers = list_of(&f->requestheader_username_headers),
        .proxy_uid_headers = list_of(&f->requestheader_uid_headers),
        .proxy_group_headers = list_of(&f->requestheader_group_headers),
        .proxy_extra_prefixes = list_of(&f->requestheader_extra_headers_prefix),
        .anonymous = apiserver_takes_anonymous(f),
        .anonymous_health = true,
    };
    return api_authn_new(&o, &p->authn, e);
}

static enum authz_verdict may(void *context, struct arena *a, const struct authz_attributes *q, struct str *ret_reason)
{
    return api_authz_decide(context, a, q, ret_reason);
}

static enum err_code make_guards(struct process *p, struct err *e)
{
    struct flag_strings modes = apiserver_modes(p->flags, &p->arena);
    struct api_authz_options z = { .objects = p->objects, .modes = texts(p, &modes) };
    struct flag_strings enable = p->flags->enable_admission_plugins;
    for (size_t i = 0; i < p->flags->admission_control.n; i++)
        flag_strings_push(&p->arena, &enable, p->flags->admission_control.at[i]);
    if (make_tokens(p, e) || api_authz_new(&z, &p->authz, e))
        return e->code;
    struct admission_options a = { .enable = texts(p, &enable), .authorize = may, .authorize_context = p->authz,
                                   .disable = texts(p, &p->flags->disable_admission_plugins), .metrics = p->metrics };
    if (admission_new(&a, &p->admission, e))
        return e->code;
    return ERR_OK;
}

static bool has_rbac(const struct process *p)
{
    for (size_t i = 0; i < p->flags->authorization_mode.n; i++)
        if (str_is(p->flags->authorization_mode.at[i], "RBAC"))
            return true;
    return false;
}

/* ---- The server ---- */

static bool is_stopping(void *context)
{
    const struct process *p = context;
    return p->stopping;
}

static void make_pages(struct process *p)
{
    api_health_init(&p->health, &(struct api_health_options){ .objects = p->objects, .metrics = &p->health_metrics,
                                                              .durability = durability(p), .rbac = has_rbac(p),
                                                              .is_stopping = is_stopping, .context = p },
                    &p->arena);
    p->pages = api_pages_new(&(struct api_pages_options){ .loop = p->loop, .flags = p->flags, .gates = p->o->gates,
                                                          .build = p->o->build, .metrics = p->metrics, .slis = p->slis,
                                                          .health = &p->health, .tokens = p->tokens, .seed = p->seed });
}

static int64_t ms(int64_t ns)
{
    return ns / CLOCK_NS_PER_MS;
}

/* Test suites that start an etcd and an API server expect what those two do: nobody else changes what they write or adds to
 * what they count. Deletion is the exception that they wait for. */
static const char *const *choose_controllers(struct process *p)
{
    static const char *const of_suites[] = { "garbage-collector-controller", "namespace-controller", NULL };
    const struct flag_strings *chosen = &p->flags->controllers;
    bool not_chosen = chosen->n == 1 && str_is(chosen->at[0], "*");
    return p->is_beside_etcd && not_chosen ? of_suites : texts(p, chosen);
}

static void make_server(struct process *p)
{
    const struct apiserver_flags *f = p->flags;
    p->controllers_choice = choose_controllers(p);
    struct apiserver_options o = {
        .loop = p->loop,
        .store = p->store,
        .objects = p->objects,
        .authn = p->authn,
        .authz = p->authz,
        .admission = p->admission,
        .tokens = p->tokens,
        .metrics = p->metrics,
        .rules = { .allow_privileged = f->allow_privileged },
        .address = arena_printf(&p->arena, "%s:%d", p->advertise_address, (int)f->secure_port),
        .requests_inflight = (uint32_t)f->max_requests_inflight,
        .mutating_inflight = (uint32_t)f->max_mutating_requests_inflight,
        .request_timeout_ms = ms(f->request_timeout_ns),
        .min_watch_seconds = f->min_request_timeout,
        .event_ttl_ms = ms(f->event_ttl_ns),
        .default_accounts = controllers_chooses(p->controllers_choice, "serviceaccount-controller"),
        .relaxed_leases = f->relaxed_durability,
        .service_cidr = p->cidr,
        .node_port_min = f->service_node_port_range.first,
        .node_port_max = f->service_node_port_range.first + f->service_node_port_range.n - 1,
        .seed = p->seed,
    };
    o.pages = api_pages_rows(p->pages, &o.n_pages);
    p->server = apiserver_new(&o);
}

static bool is_allowed(void *context, struct arena *a, const struct authz_attributes *q)
{
    const struct process *p = context;
    struct str reason;
    return !p->authz || api_authz_decide(p->authz, a, q, &reason) == AUTHZ_ALLOW;
}

static enum err_code read_signing(struct process *p, struct cluster_signing *ret, struct err *e)
{
    const struct apiserver_flags *f = p->flags;
    ret->lifetime_s = f->cluster_signing_duration_ns / CLOCK_NS_PER_SECOND;
    if (!f->cluster_signing_cert_file.n || !f->cluster_signing_key_file.n)
        return ERR_OK;
    if (config_read_file(&p->arena, arena_cstr(&p->arena, f->cluster_signing_cert_file), &ret->cert_pem, e))
        return err_wrap(e, "--cluster-signing-cert-file");
    if (config_read_file(&p->arena, arena_cstr(&p->arena, f->cluster_signing_key_file), &ret->key_pem, e))
        return err_wrap(e, "--cluster-signing-key-file");
    return ERR_OK;
}

/* Pods are told to trust the certificate that was made here; of one that was given only its owner knows who vouches. */
static enum err_code make_controllers(struct process *p, struct err *e)
{
    p->cluster = cluster_new(p->server, p->loop, p->objects);
    struct controllers_options o = { .cluster = p->cluster, .choice = p->controllers_choice,
                                     .root_ca_pem = p->o->root_ca_pem.n ? p->o->root_ca_pem : p->serving.cert_pem,
                                     .tokens = p->tokens, .access = { .allows = is_allowed, .context = p },
                                     .queues = p->work_queues };
    if (read_signing(p, &o.signing, e))
        return e->code;
    if (controllers_new(&o, &p->controllers, e))
        return err_wrap(e, "--controllers");
    return ERR_OK;
}

static enum err_code let_guest_join(struct process *p, struct err *e)
{
    const struct api_guest *g = p->o->guest;
    struct api_host host = { .loop = p->loop, .server = p->server, .objects = p->objects, .cluster = p->cluster,
                             .metrics = p->metrics, .seed = p->seed };
    return g ? g->join(g->context, &host, e) : ERR_OK;
}

/* ---- Hollow nodes ---- */

static enum err_code hollow_shapes(struct process *p, struct node_shapes *ret_shapes, struct err *e)
{
    const struct apiserver_flags *f = p->flags;
    struct str file;
    if (f->hollow_node_file.n && f->hollow_nodes)
        return err_set(e, ERR_BAD_REQUEST, "--hollow-nodes and --hollow-node-file: only one of them may be given");
    if (!f->hollow_node_file.n)
        return node_shapes_default(&p->arena, f->hollow_nodes, ret_shapes, e) ? err_wrap(e, "--hollow-nodes") : ERR_OK;
    const char *path = text(p, f->hollow_node_file);
    if (config_read_file(&p->arena, path, &file, e))
        return err_wrap(e, "--hollow-node-file");
    return node_shapes_parse(&p->arena, file, ret_shapes, e) ? err_wrap(e, "--hollow-node-file %s", path) : ERR_OK;
}

static enum err_code hollow_events(const struct apiserver_flags *f, enum hollow_events *ret_events, struct err *e)
{
    static const char *const words[] = { [HOLLOW_EVENTS_AUTO] = "auto", [HOLLOW_EVENTS_ON] = "true", [HOLLOW_EVENTS_OFF] = "false" };
    for (int i = 0; i < 3; i++)
        if (str_is(f->hollow_events, words[i])) {
            *ret_events = (enum hollow_events)i;
            return ERR_OK;
        }
    return err_set(e, ERR_BAD_REQUEST, "--hollow-events: \"%.*s\" is none of auto, true, false", STR_ARG(f->hollow_events));
}

static enum err_code make_hollow(struct process *p, struct err *e)
{
    struct hollow_options o = { .cluster = p->cluster, .job_s = p->flags->hollow_job_duration_ns / CLOCK_NS_PER_SECOND };
    if (!p->flags->hollow_nodes && !p->flags->hollow_node_file.n)
        return ERR_OK;
    if (hollow_shapes(p, &o.nodes, e) || hollow_events(p->flags, &o.events, e))
        return e->code;
    p->hollow = hollow_open(&o);
    return ERR_OK;
}

/* ---- Running ---- */

/* As upstream does with etcd: what is as old as one interval when an interval ends is forgotten, so that lists can be
 * continued and watches resumed for that long at least, and twice as long at most. */
static void forget_past(struct process *p)
{
    int64_t now_ms = loop_now_ms(p->loop), interval_ms = ms(p->flags->etcd_compaction_interval_ns);
    if (interval_ms <= 0 || now_ms < p->forget_at_ms)
        return;
    store_compact(p->store, p->forget_up_to);
    p->forget_up_to = store_revision(p->store);
    p->forget_at_ms = now_ms + interval_ms;
}

static void tick(struct loop_timer *t)
{
    struct process *p = LIST_ITEM(t, struct process, tick);
    store_tick(p->store);
    forget_past(p);
    poll(p);
    memory_tick(&p->memory);
    loop_timer_set(p->loop, &p->tick, loop_now_ms(p->loop) + API_TICK_MS);
}

/* What scripts wait for. With a guest it waits for hollow nodes, too: they are what he works with. */
static void tell_ready(void *context)
{
    struct process *p = context;
    const struct api_guest *g = p->o->guest;
    struct err e;
    err_init(&e, &p->arena);
    p->waits_for_nodes = g && p->hollow && !hollow_is_complete(p->hollow);
    if (p->waits_for_nodes)
        return;
    LOG(0, "Ready", KS("url", p->url), KS("data", p->data_folder), KS("durability", durability(p)));
    if (!g) {
        p->o->tell(str_of(arena_printf(&p->arena, "berth apiserver is ready at %s\n", p->url)));
    } else if (!p->stopping && g->begin(g->context, &e)) {
        LOG_ERROR(e.message, "command failed");
        exit(1); /* with the process all else ends */
    }
}

static void make_own_objects(struct process *p)
{
    const struct apiserver_flags *f = p->flags;
    bool endpoints = !str_is(f->endpoint_reconciler_type, "none");
    struct bootstrap_options make = {
        .service_cidr = p->cidr,
        .service_ip = service_address(p),
        .advertise_address = endpoints ? p->advertise_address : NULL,
        .port = (int)f->secure_port,
        .node_port = (int)f->kubernetes_service_node_port,
        .client_ca_pem = p->client_ca_pem,
        .proxy_ca_pem = p->proxy_ca_pem,
        .proxy_names = list_of(&f->requestheader_allowed_names),
        .proxy_user_headers = list_of(&f->requestheader_username_headers),
        .proxy_uid_headers = list_of(&f->requestheader_uid_headers),
        .proxy_group_headers = list_of(&f->requestheader_group_headers),
        .proxy_extra_prefixes = list_of(&f->requestheader_extra_headers_prefix),
        .now_s = clock_wall_ns(loop_clock(p->loop)) / CLOCK_NS_PER_SECOND,
    };
    struct api_bootstrap_options o = { .loop = p->loop, .server = p->server, .objects = p->objects, .make = make,
                                       .rbac = has_rbac(p), .done = tell_ready, .context = p };
    p->bootstrap = api_bootstrap_new(&o);
}

/* ---- The end ---- */

static void end_loop(void *context)
{
    struct process *p = context;
    loop_stop(p->loop);
}

static void on_stopped(void *context)
{
    struct process *p = context;
    const struct api_guest *g = p->o->guest;
    if (g)
        g->stop(g->context, end_loop, p);
    else
        end_loop(p);
}

static void stop_serving(struct loop_timer *t)
{
    struct process *p = LIST_ITEM(t, struct process, delay);
    apiserver_stop(p->server);
    ops_stop(p->ops, API_STOP_MS, on_stopped, p);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct process *p = handle->data;
    if (p->stopping)
        _exit(1);
    LOG(1, "Received a signal", KI("signal", signum));
    p->stopping = true;
    if (p->o->guest)
        p->o->guest->pause(p->o->guest->context);
    p->delay.fire = stop_serving;
    loop_timer_set(p->loop, &p->delay, loop_now_ms(p->loop) + ms(p->flags->shutdown_delay_duration_ns));
}

static void watch_signals(struct process *p)
{
    static const int numbers[N_SIGNALS] = { SIGTERM, SIGINT };
    for (int i = 0; i < N_SIGNALS; i++) {
        uv_signal_init(loop_uv(p->loop), &p->signals[i]);
        p->signals[i].data = p;
        uv_signal_start(&p->signals[i], on_signal, numbers[i]);
        p->n_open_handles++;
    }
}

static void handle_closed(uv_handle_t *handle)
{
    struct process *p = handle->data;
    p->n_open_handles--;
}

static void close_handles(struct process *p)
{
    for (int i = 0; i < N_SIGNALS; i++)
        uv_close((uv_handle_t *)&p->signals[i], handle_closed);
    uv_close((uv_handle_t *)&p->store_news, handle_closed);
    while (p->n_open_handles || memory_is_busy(&p->memory))
        loop_run_once(p->loop, true);
}

/* From the outside in; the store waits for what is on its way to the disk. */
static void free_parts(struct process *p)
{
    loop_timer_stop(p->loop, &p->tick);
    loop_timer_stop(p->loop, &p->delay);
    ops_free(p->ops);
    ca_file_free(p->client_ca);
    if (p->cluster)
        cluster_stop(p->cluster);
    if (p->o->guest)
        p->o->guest->free(p->o->guest->context);
    store_free(p->store);
    hollow_close(p->hollow);
    controllers_free(p->controllers);
    cluster_free(p->cluster);
    api_bootstrap_free(p->bootstrap);
    apiserver_free(p->server);
    stored_free(p->objects);
    api_pages_free(p->pages);
    admission_free(p->admission);
    api_authz_free(p->authz);
    api_authn_free(p->authn);
    sa_tokens_free(p->tokens);
    close_handles(p);
    loop_free(p->loop);
    work_queue_families_free(p->work_queues);
    metrics_free(p->metrics);
    metrics_free(p->slis);
    arena_fini(&p->arena);
}

/* ---- The story ---- */

static enum err_code start(struct process *p, struct err *e)
{
    struct scheduler_tls tls;
    apiserver_flags_shared(p->flags, &p->arena, &p->shared);
    watch_signals(p);
    if (apiserver_check_cidr(p->flags, &p->cidr, e) || scheduler_check_serving(&p->shared, &p->arena, &tls, e) ||
        make_metrics(p, e))
        return e->code;
    find_folders(p);
    find_addresses(p);
    add_durability_metric(p);
    if (open_store(p, e) || make_guards(p, e) || make_certificates(p, e) || make_authn(p, e))
        return e->code;
    make_pages(p);
    make_server(p);
    if (make_controllers(p, e) || make_hollow(p, e) || let_guest_join(p, e))
        return e->code;
    return take_address(p, e);
}

static void serve(struct process *p)
{
    ops_serve(p->ops, &(struct ops_handlers){ .n_routes = 0 });
    LOG(0, "Serving securely", KS("address", p->bind_address), KI("port", p->flags->secure_port));
    p->memory = (struct memory){ .loop = p->loop, .next_ms = loop_now_ms(p->loop) + MEMORY_LOOK_MS };
    p->tick.fire = tick;
    tick(&p->tick);
    make_own_objects(p);
}

int api_process_run(const struct api_process_options *o)
{
    struct process p = { .o = o, .flags = o->flags };
    struct err e;
    signal(SIGPIPE, SIG_IGN);
    arena_init(&p.arena);
    err_init(&e, &p.arena);
    p.seed = random_seed();
    p.loop = loop_new(NULL);
    LOG(0, "Starting an API server", KS("version", apiserver_flags_version(o->flags)),
        KS("berth", o->build.git_commit));
    if (start(&p, &e)) {
        LOG_ERROR(e.message, "command failed");
        exit(1); /* with the process all else ends */
    }
    serve(&p);
    loop_run(p.loop);
    LOG(0, "The API server has ended");
    free_parts(&p);
    return 0;
}
