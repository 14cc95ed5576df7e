/* daemon/controllers_process.c - see controllers_process.h: the story of controllers far from their API server.
 *
 *   start     the port, clients; then the election or, without one, as after it
 *   leading   what the server serves is listed and watched
 *   synced    the controllers begin
 *   stopping  no more is begun, calls are ended, controllers go; the lease is given back; then the port, then connections
 *
 * As upstream, who does not lead watches nothing. */
#include "daemon/controllers_process.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "apiserver/sa_token.h"
#include "base/log.h"
#include "client/election.h"
#include "client/event_recorder.h"
#include "codec/json.h"
#include "config/config.h"
#include "controllers/cluster_remote.h"
#include "controllers/controllers.h"
#include "daemon/connections.h"
#include "daemon/identity.h"
#include "daemon/memory.h"
#include "daemon/process_metrics.h"
#include "daemon/secure_port.h"

#define COMPONENT "kube-controller-manager"

enum {
    PULSE_MS = 100,         /* how often those are asked that say when they are due, but not when that changes */
    SLOW_SYNC_MS = 10 * 1000, /* after that the log says what is waited for, every so often */
};

enum process_state { WAITING, SYNCING, RUNNING, STOPPING };

struct process {
    const struct controllers_process_options *o;
    const struct scheduler_flags *shared;
    enum process_state state;
    int exit_code;
    const char *error, *last_words; /* the record that it ends with; error NULL: none */
    struct arena arena;
    uint64_t seed, n_slow_paths;
    struct loop *loop;
    struct metrics *metrics, *slis;
    struct health_metrics health;
    struct leader_metrics leader;
    struct connections *connections;
    struct event_recorder *leader_events;
    struct election *election; /* NULL: no election */
    struct secure_port *port;  /* NULL: nothing is served */
    struct sa_tokens *tokens;  /* NULL: Secrets get none */
    struct str root_ca_pem;
    struct remote *remote;     /* NULL: not leading yet */
    struct controllers *controllers;
    struct work_queue_families *work_queues;
    struct memory memory;
    struct loop_timer pulse;
    int64_t slow_sync_ms;
    uv_signal_t terminate, interrupt;
    bool signalled;
    uint32_t n_open_signals;
};

static void stop(struct process *p, int exit_code, const char *error, const char *last_words);

static const char *text(struct process *p, struct str s)
{
    return arena_cstr(&p->arena, s);
}

static const char *user_agent(struct process *p)
{
    return arena_printf(&p->arena, COMPONENT "/%.*s (%s) kubernetes/%.7s", STR_ARG(scheduler_flags_version(p->shared)),
                        p->o->build.platform, p->o->build.git_commit);
}

/* ---- Leading ---- */

static void on_synced(void *context)
{
    struct process *p = context;
    struct err e;
    err_init(&e, &p->arena);
    struct controllers_options o = { .cluster = remote_cluster(p->remote), .choice = p->o->choice,
                                     .root_ca_pem = p->root_ca_pem, .tokens = p->tokens, .queues = p->work_queues };
    if (controllers_new(&o, &p->controllers, &e)) {
        stop(p, 1, e.message, "command failed");
        return;
    }
    p->state = RUNNING;
    LOG(0, "Caches are synced, controllers begin");
}

/* Those three look at objects of all kinds. */
static bool wants_everything(const struct process *p)
{
    static const char *const names[] = { "garbage-collector-controller", "namespace-controller", "resourcequota-controller" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (controllers_chooses(p->o->choice, names[i]))
            return true;
    return false;
}

static void lead(struct process *p)
{
    p->state = SYNCING;
    p->slow_sync_ms = loop_now_ms(p->loop) + SLOW_SYNC_MS;
    p->remote = remote_new(&(struct remote_options){
        .accounts = { .config = connections_config(p->connections),
                      .rest = { .loop = p->loop,
                                .qps = (double)p->shared->kube_api_qps,
                                .burst = p->shared->kube_api_burst,
                                .user_agent = user_agent(p),
                                .media = MEDIA_JSON,
                                .observer = connections_observer(p->connections) },
                      .api = connections_main(p->connections),
                      .as_accounts = p->o->flags->use_service_account_credentials },
        .everything = wants_everything(p),
        .no_streaming = !gate_on(p->o->gates, GATE_WatchListClient),
        .seed = p->seed,
        .synced = on_synced,
        .context = p,
    });
    remote_start(p->remote);
}

static void on_leading(void *context)
{
    struct process *p = context;
    series_set(p->leader.is_leader, 1);
    struct event_to_record event = election_event(p->election, &p->arena, STR(COMPONENT));
    event_recorder_add(p->leader_events, &event);
    lead(p);
}

static void on_lost(void *context)
{
    struct process *p = context;
    series_set(p->leader.is_leader, 0);
    stop(p, 1, NULL, "leaderelection lost");
}

static void on_leader(void *context, struct str identity)
{
    (void)context;
    LOG(0, "New leader elected", KS("identity", identity));
}

static void end(struct process *p);

static void on_released(void *context)
{
    struct process *p = context;
    if (p->state == STOPPING)
        end(p);
}

static void make_election(struct process *p)
{
    const struct scheduler_flags *f = p->shared;
    p->leader = leader_metrics_add(p->metrics, text(p, f->leader_elect_resource_name));
    series_set(p->leader.is_leader, 0);
    p->leader_events = event_recorder_new(connections_events(p->connections), loop_clock(p->loop), p->seed + 1);
    event_recorder_use_core(p->leader_events);
    p->election = election_new(&(struct election_options){
        .api = connections_lease(p->connections),
        .clock = loop_clock(p->loop),
        .identity = identity_of_process(&p->arena),
        .ns = text(p, f->leader_elect_resource_namespace),
        .name = text(p, f->leader_elect_resource_name),
        .lease_ms = f->leader_elect_lease_duration_ns / CLOCK_NS_PER_MS,
        .deadline_ms = f->leader_elect_renew_deadline_ns / CLOCK_NS_PER_MS,
        .retry_ms = f->leader_elect_retry_period_ns / CLOCK_NS_PER_MS,
        .calls = { p, on_leading, on_lost, on_leader, on_released },
        .seed = p->seed,
    });
}

/* ---- Time ---- */

static void tell_slow_sync(struct process *p, int64_t now_ms)
{
    if (p->state != SYNCING || now_ms < p->slow_sync_ms)
        return;
    p->slow_sync_ms = now_ms + SLOW_SYNC_MS;
    const struct resource *r = remote_waits_for(p->remote);
    LOG(0, "Waiting for caches to sync", KS("resource", r ? r->plural : STR("(discovery)")));
}

static void pulse(struct loop_timer *t)
{
    struct process *p = LIST_ITEM(t, struct process, pulse);
    int64_t now_ms = loop_now_ms(p->loop);
    if (p->election && election_due_ms(p->election) <= now_ms)
        election_tick(p->election);
    if (p->state == STOPPING)
        return;
    loop_timer_set(p->loop, &p->pulse, now_ms + PULSE_MS);
    if (p->leader_events && event_recorder_due_ms(p->leader_events) <= now_ms)
        event_recorder_tick(p->leader_events);
    memory_tick(&p->memory);
    tell_slow_sync(p, now_ms);
    if (p->election) {
        uint64_t n = election_slow_paths(p->election);
        series_add(p->leader.slow_paths, (double)(n - p->n_slow_paths));
        p->n_slow_paths = n;
    }
}

/* ---- Start ---- */

static enum err_code make_metrics(struct process *p, struct err *e)
{
    if (component_metrics_new(p->shared, &p->arena, &p->metrics, e))
        return e->code;
    p->slis = metrics_new();
    process_metrics_add(p->metrics);
    p->health = health_metrics_add(p->slis);
    component_metrics_add(p->metrics, &p->o->build, p->o->gates);
    p->work_queues = work_queue_families_new(p->metrics);
    return ERR_OK;
}

static bool is_synced(void *context)
{
    const struct process *p = context;
    return p->state == WAITING || p->state == RUNNING; /* who waits for the lease is as ready as can be */
}

static bool is_stopping(void *context)
{
    const struct process *p = context;
    return p->state == STOPPING;
}

/* The parts of upstream's configuration that count here. */
static struct str configz(struct process *p)
{
    const struct scheduler_flags *f = p->shared;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_printf(&json, "{\"Generic\":{\"ClientConnection\":{\"QPS\":%g,\"Burst\":%d},\"Controllers\":[",
                  (double)f->kube_api_qps, f->kube_api_burst);
    for (const char *const *c = p->o->choice; *c; c++) {
        strbuf_add_text(&json, c == p->o->choice ? "" : ",");
        json_add_string(&json, str_of(*c));
    }
    strbuf_printf(&json, "],\"LeaderElection\":{\"LeaderElect\":%s,\"ResourceNamespace\":", f->leader_elect ? "true" : "false");
    json_add_string(&json, f->leader_elect_resource_namespace);
    STRBUF_ADD_LIT(&json, ",\"ResourceName\":");
    json_add_string(&json, f->leader_elect_resource_name);
    STRBUF_ADD_LIT(&json, "}}}");
    struct str copy = arena_str(&p->arena, strbuf_str(&json));
    strbuf_fini(&json);
    return copy;
}

static enum err_code make_port(struct process *p, struct err *e)
{
    if (p->shared->secure_port == 0)
        return ERR_OK;
    return secure_port_new(&(struct secure_port_options){ .loop = p->loop,
                                                          .flags = p->shared,
                                                          .gates = p->o->gates,
                                                          .component = COMPONENT,
                                                          .flag_set = &controllers_flag_set,
                                                          .flag_values = p->o->flags,
                                                          .metrics = p->metrics,
                                                          .slis = p->slis,
                                                          .health = p->health,
                                                          .configz = configz(p),
                                                          .leader_elects = p->shared->leader_elect,
                                                          .profiling = p->shared->profiling,
                                                          .sync_check = "informer-sync",
                                                          .not_synced = "informers are not synced yet",
                                                          .is_synced = is_synced,
                                                          .is_stopping = is_stopping,
                                                          .context = p,
                                                          .seed = p->seed },
                           &p->port, e);
}

static enum err_code make_clients(struct process *p, struct err *e)
{
    struct connections_options o = {
        .loop = p->loop,
        .kubeconfig = text(p, p->shared->kubeconfig),
        .master = text(p, p->shared->master),
        .content_type = STR("application/json"),
        .qps = (double)p->shared->kube_api_qps,
        .burst = p->shared->kube_api_burst,
        .suffix = "shared-informers",
        .user_agent = user_agent(p),
        .metrics = p->metrics,
    };
    return connections_new(&o, &p->connections, e);
}

static enum err_code read_files(struct process *p, struct err *e)
{
    static const char *const issuers[] = { "https://kubernetes.default.svc.cluster.local", NULL };
    const struct controllers_flags *f = p->o->flags;
    struct str key;
    if (f->root_ca_file.n && config_read_file(&p->arena, text(p, f->root_ca_file), &p->root_ca_pem, e))
        return err_wrap(e, "error reading root-ca-file at %.*s", STR_ARG(f->root_ca_file));
    if (!f->service_account_private_key_file.n)
        return ERR_OK;
    if (config_read_file(&p->arena, text(p, f->service_account_private_key_file), &key, e) ||
        sa_tokens_new(&(struct sa_tokens_options){ .issuers = issuers, .signing_key_pem = key }, &p->tokens, e))
        return err_wrap(e, "error reading key for service account token controller");
    return ERR_OK;
}

static void on_port(void *context, const char *error)
{
    struct process *p = context;
    if (error)
        stop(p, 1, error, "command failed");
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct process *p = handle->data;
    if (p->signalled)
        _exit(1);
    p->signalled = true;
    LOG(1, "Received a signal", KI("signal", signum));
    stop(p, 0, NULL, "Requested to terminate, exiting");
}

static void watch_signal(struct process *p, uv_signal_t *handle, int signum)
{
    uv_signal_init(loop_uv(p->loop), handle);
    handle->data = p;
    uv_signal_start(handle, on_signal, signum);
}

static enum err_code start(struct process *p, struct err *e)
{
    watch_signal(p, &p->terminate, SIGTERM);
    watch_signal(p, &p->interrupt, SIGINT);
    if (read_files(p, e) || make_metrics(p, e) || make_port(p, e) || make_clients(p, e))
        return e->code;
    LOG(0, "Starting", KS("version", scheduler_flags_version(p->shared)), KS("berth", p->o->build.git_commit));
    if (p->shared->leader_elect)
        make_election(p);
    if (p->port)
        secure_port_begin(p->port, on_port, p);
    p->memory = (struct memory){ .loop = p->loop, .next_ms = loop_now_ms(p->loop) + MEMORY_LOOK_MS };
    p->pulse.fire = pulse;
    pulse(&p->pulse);
    if (p->election)
        election_start(p->election);
    else
        lead(p);
    return ERR_OK;
}

/* ---- End ---- */

static void stop(struct process *p, int exit_code, const char *error, const char *last_words)
{
    if (p->state == STOPPING)
        return;
    p->state = STOPPING;
    p->exit_code = exit_code;
    p->error = error ? arena_cstr(&p->arena, str_of(error)) : NULL;
    p->last_words = last_words;
    loop_timer_stop(p->loop, &p->pulse);
    if (p->remote)
        remote_halt(p->remote);
    controllers_free(p->controllers);
    p->controllers = NULL;
    if (p->election)
        election_release(p->election);
    else
        end(p);
}

static void connections_stopped(void *context)
{
    struct process *p = context;
    loop_stop(p->loop);
}

static void port_stopped(void *context)
{
    struct process *p = context;
    connections_stop(p->connections, connections_stopped, p);
}

static void remote_stopped(void *context)
{
    struct process *p = context;
    if (p->leader_events)
        event_recorder_free(p->leader_events);
    p->leader_events = NULL;
    if (p->port)
        secure_port_stop(p->port, port_stopped, p);
    else
        port_stopped(p);
}

static void end(struct process *p)
{
    if (p->remote)
        remote_stop(p->remote, remote_stopped, p);
    else
        remote_stopped(p);
}

static void signal_closed(uv_handle_t *handle)
{
    struct process *p = handle->data;
    p->n_open_signals--;
}

static void close_signals(struct process *p)
{
    p->n_open_signals = 2;
    uv_close((uv_handle_t *)&p->terminate, signal_closed);
    uv_close((uv_handle_t *)&p->interrupt, signal_closed);
    while (p->n_open_signals || memory_is_busy(&p->memory))
        loop_run_once(p->loop, true);
}

static void free_parts(struct process *p)
{
    if (p->election)
        election_free(p->election);
    remote_free(p->remote);
    secure_port_free(p->port);
    connections_free(p->connections);
    close_signals(p);
    sa_tokens_free(p->tokens);
    loop_free(p->loop);
    work_queue_families_free(p->work_queues);
    metrics_free(p->metrics);
    metrics_free(p->slis);
    arena_fini(&p->arena);
}

int controllers_process_run(const struct controllers_process_options *o)
{
    struct process p = { .o = o, .shared = &o->flags->shared };
    struct err e;
    signal(SIGPIPE, SIG_IGN);
    arena_init(&p.arena);
    err_init(&e, &p.arena);
    p.seed = identity_seed();
    p.loop = loop_new(NULL);
    if (start(&p, &e)) {
        LOG_ERROR(e.message, "command failed");
        return 1; /* with the process all else ends */
    }
    loop_run(p.loop);
    if (p.exit_code)
        LOG_ERROR(p.error, p.last_words);
    else
        LOG(0, p.last_words);
    int code = p.exit_code;
    free_parts(&p);
    return code;
}
