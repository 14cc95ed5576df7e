/* daemon/daemon.c - see daemon.h: the story of a live scheduler.
 *
 *   start     engine (profiles), clients, then the scheduling thread, lists and watches
 *   synced    everything has been listed: the election begins or, without one, scheduling
 *   leading   scheduling
 *   stopping  no more attempts, the lease given back, then everything ended from the outside in
 *
 * The order is upstream's: a standby has its caches full, and only the lease is missing. */
#include "daemon/daemon.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "client/election.h"
#include "client/event_recorder.h"
#include "config/scheduler_check.h"
#include "daemon/berth_metrics.h"
#include "daemon/component_metrics.h"
#include "daemon/connections.h"
#include "daemon/dashboard.h"
#include "daemon/debugger.h"
#include "daemon/engine.h"
#include "daemon/extender_client.h"
#include "daemon/identity.h"
#include "daemon/informers.h"
#include "daemon/memory.h"
#include "daemon/outbox.h"
#include "daemon/process_metrics.h"
#include "daemon/questions.h"
#include "daemon/secure_port.h"
#include "daemon/writer.h"

enum { PULSE_MS = 100 }; /* how often those are asked that say when they are due, but not when that changes */

enum daemon_state { STARTING, SYNCED, STOPPING };

struct daemon {
    const struct daemon_options *o;
    enum daemon_state state;
    int exit_code;
    const char *error, *last_words; /* the record that it ends with; error NULL: none */
    struct arena arena;
    uint64_t seed;
    struct loop *loop;
    struct metrics *metrics, *slis; /* the pages /metrics and /metrics/slis */
    struct health_metrics health;
    struct leader_metrics leader;
    struct work_queue_families *work_queues;
    struct berth_metrics own;
    uint64_t n_slow_paths, n_events_lost; /* counted already */
    struct engine *engine;
    struct connections *connections;
    struct extender_client *extenders; /* NULL: there are none */
    struct event_recorder *events, *leader_events;
    struct writer *writer;
    struct informers *informers;
    struct debugger *debugger;
    struct questions *questions;
    struct dashboard *dashboard;
    struct secure_port *port;  /* NULL: nothing is served */
    struct election *election; /* NULL: no election */
    const char *identity;
    api_call discovery;
    struct memory memory;
    struct loop_timer pulse;
    struct loop_mail synced, engine_ended;
    uv_signal_t terminate, interrupt, user2;
    bool signalled;
    uint32_t n_to_stop, n_open_signals;
};

static void stop(struct daemon *d, int exit_code, const char *error, const char *last_words);

/* ---- Leading ---- */

static void tell_leading(struct daemon *d)
{
    struct event_to_record event = election_event(d->election, &d->arena, d->o->config->profiles[0].scheduler_name);
    event_recorder_add(d->leader_events, &event);
}

/* Only who leads has lists and watches. */
static bool waits_for_lease(const struct daemon *d)
{
    return d->election && d->o->config->delay_cache_until_active;
}

static void on_leading(void *context)
{
    struct daemon *d = context;
    series_set(d->leader.is_leader, 1);
    tell_leading(d);
    if (d->state == STARTING) {
        LOG(0, "Starting informers and waiting for sync...");
        informers_start(d->informers);
    } else {
        engine_schedule(d->engine, true);
    }
}

static void on_lost(void *context)
{
    struct daemon *d = context;
    series_set(d->leader.is_leader, 0);
    stop(d, 1, NULL, "Leaderelection lost");
}

static void on_leader(void *context, struct str identity)
{
    (void)context;
    LOG(0, "New leader elected", KS("identity", identity));
}

static void end(struct daemon *d);

static void on_released(void *context)
{
    struct daemon *d = context;
    if (d->state == STOPPING)
        end(d);
}

static bool may_act(void *context)
{
    const struct daemon *d = context;
    return election_may_act(d->election);
}

static void make_election(struct daemon *d)
{
    const struct leader_election_config *c = &d->o->config->leader_election;
    d->identity = identity_of_process(&d->arena);
    d->leader = leader_metrics_add(d->metrics, arena_cstr(&d->arena, c->resource_name));
    series_set(d->leader.is_leader, 0);
    d->leader_events = event_recorder_new(connections_events(d->connections), loop_clock(d->loop), d->seed + 1);
    event_recorder_use_core(d->leader_events);
    d->election = election_new(&(struct election_options){
        .api = connections_lease(d->connections),
        .clock = loop_clock(d->loop),
        .identity = d->identity,
        .ns = arena_cstr(&d->arena, c->resource_namespace),
        .name = arena_cstr(&d->arena, c->resource_name),
        .lease_ms = c->lease_duration_ns / CLOCK_NS_PER_MS,
        .deadline_ms = c->renew_deadline_ns / CLOCK_NS_PER_MS,
        .retry_ms = c->retry_period_ns / CLOCK_NS_PER_MS,
        .calls = { d, on_leading, on_lost, on_leader, on_released },
        .seed = d->seed,
    });
}

/* ---- What the scheduling thread tells ---- */

static void run_synced(struct loop_mail *own_mail)
{
    struct daemon *d = MAIL_ITEM(own_mail, struct daemon, synced.mail);
    if (d->state != STARTING)
        return;
    d->state = SYNCED;
    if (waits_for_lease(d))
        LOG(0, "Sync completed");
    if (d->election && !waits_for_lease(d))
        election_start(d->election);
    else if (!d->o->flags->shadow)
        engine_schedule(d->engine, true);
}

static void tell_synced(void *context)
{
    struct daemon *d = context;
    while (!loop_post(d->loop, &d->synced)) /* a full loop gets through its mail */
        usleep(1000);
}

static void tell_ended(void *context)
{
    struct daemon *d = context;
    while (!loop_post(d->loop, &d->engine_ended))
        usleep(1000);
}

static void take_write(void *context, struct write *own_write)
{
    struct daemon *d = context;
    if (d->state == STOPPING)
        write_free(own_write);
    else
        writer_add(d->writer, own_write);
}

/* ---- Time ---- */

static void count_up(struct series *s, uint64_t *known, uint64_t now)
{
    series_add(s, (double)(now - *known));
    *known = now;
}

static void publish(struct daemon *d)
{
    struct event_recorder_counts events = event_recorder_counts(d->events);
    count_up(d->own.events_dropped, &d->n_events_lost, events.dropped + events.given_up + events.left_out);
    if (d->election)
        count_up(d->leader.slow_paths, &d->n_slow_paths, election_slow_paths(d->election));
    series_set(d->own.writes_waiting, writer_n_open(d->writer));
    series_set(d->own.inbox_depth, engine_n_mails(d->engine));
    informers_publish(d->informers, &d->own);
}

static void pulse(struct loop_timer *t)
{
    struct daemon *d = LIST_ITEM(t, struct daemon, pulse);
    int64_t now_ms = loop_now_ms(d->loop);
    if (d->election && election_due_ms(d->election) <= now_ms)
        election_tick(d->election);
    if (d->state == STOPPING)
        return; /* the lease is lost; that it is given back takes no more than its requests' own time */
    loop_timer_set(d->loop, &d->pulse, now_ms + PULSE_MS);
    if (event_recorder_due_ms(d->events) <= now_ms)
        event_recorder_tick(d->events);
    if (d->leader_events && event_recorder_due_ms(d->leader_events) <= now_ms)
        event_recorder_tick(d->leader_events);
    writer_tick(d->writer);
    memory_tick(&d->memory);
    publish(d);
}

/* ---- Start ---- */

static enum err_code make_metrics(struct daemon *d, struct err *e)
{
    if (component_metrics_new(d->o->flags, &d->arena, &d->metrics, e))
        return e->code;
    d->slis = metrics_new();
    process_metrics_add(d->metrics);
    d->health = health_metrics_add(d->slis);
    berth_metrics_add(d->metrics, &d->own);
    component_metrics_add(d->metrics, &d->o->build, d->o->gates);
    d->work_queues = work_queue_families_new(d->metrics);
    return ERR_OK;
}

/* The gates that were named, with what they are now. */
static struct str named_gates(struct daemon *d)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (int i = 0; i < N_GATES; i++)
        if (d->o->gates->named[i])
            strbuf_printf(&text, "%s%s=%s", text.n ? "," : "", gate_name((enum gate)i),
                          gate_on(d->o->gates, (enum gate)i) ? "true" : "false");
    struct str copy = arena_str(&d->arena, strbuf_str(&text));
    strbuf_fini(&text);
    return copy;
}

static enum err_code make_engine(struct daemon *d, struct err *e)
{
    const struct config *c = d->o->config;
    const struct scheduler_flags *f = d->o->flags;
    struct features features = gates_features(d->o->gates);
    if (f->shadow && f->record.n)
        return err_set(e, ERR_BAD_REQUEST, "--record: with --shadow there are no decisions to record");
    bool is_json = str_eq(c->client_connection.content_type, STR("application/json"));
    return engine_new(&(struct engine_options){
                          .clock = loop_clock(d->loop),
                          .loop = d->loop,
                          .config = c,
                          .features = &features,
                          .unschedulable_ms_max = f->pod_max_in_unschedulable_pods_duration_ns / CLOCK_NS_PER_MS,
                          .seed = d->seed,
                          .media = is_json ? MEDIA_JSON : MEDIA_PROTOBUF,
                          .metrics = d->metrics,
                          .own_metrics = &d->own,
                          .batching = gate_on(d->o->gates, GATE_OpportunisticBatching),
                          .async_api_calls = gate_on(d->o->gates, GATE_SchedulerAsyncAPICalls),
                          .n_decisions = (uint32_t)f->decisions,
                          .record_path = f->record.n ? arena_cstr(&d->arena, f->record) : NULL,
                          .record_bytes_max = (uint64_t)f->record_max_bytes.value,
                          .record_config = d->o->config_text,
                          .record_gates = named_gates(d),
                          .build = d->o->build.git_commit,
                          .shadow = f->shadow,
                          .synced = tell_synced,
                          .ended = tell_ended,
                          .context = d,
                      },
                      &d->engine, e);
}

static bool is_synced(void *context)
{
    const struct daemon *d = context;
    return d->state != STARTING;
}

static bool is_stopping(void *context)
{
    const struct daemon *d = context;
    return d->state == STOPPING;
}

static bool leads(void *context)
{
    const struct daemon *d = context;
    return !d->election || election_is_leader(d->election);
}

/* The serving certificate was taken into use: the one item of upstream's queue for it. */
static void count_certificate(struct daemon *d, int64_t begun_ns)
{
    struct work_queue_metrics q = work_queue_metrics_of(d->work_queues, "DynamicServingCertificateController");
    work_queue_metrics_done(&q, 0, (double)(clock_mono_ns(loop_clock(d->loop)) - begun_ns) / 1e9);
}

/* What is asked, and the dashboard. */
static const struct ops_route *all_routes(struct daemon *d, size_t *ret_n)
{
    size_t n_asked, n_shown;
    const struct ops_route *asked = questions_routes(d->questions, &n_asked);
    const struct ops_route *shown = dashboard_routes(d->dashboard, &n_shown);
    struct ops_route *all = ARENA_NEW_N(&d->arena, struct ops_route, n_asked + n_shown);
    memcpy(all, asked, n_asked * sizeof(*all));
    memcpy(all + n_asked, shown, n_shown * sizeof(*all));
    *ret_n = n_asked + n_shown;
    return all;
}

/* The address is taken before any client is made, as upstream does. */
static enum err_code make_port(struct daemon *d, struct err *e)
{
    if (d->o->flags->secure_port == 0)
        return ERR_OK;
    struct strbuf configz;
    strbuf_init(&configz, STRBUF_NO_MAX);
    const struct setup *setup = engine_setup(d->engine);
    config_trim_args(&d->arena, setup->config, setup->registry);
    config_add_json(&configz, setup->config);
    struct str text = arena_str(&d->arena, strbuf_str(&configz));
    strbuf_fini(&configz);
    d->questions = questions_new(&(struct questions_options){
        .engine = d->engine, .loop = d->loop, .clock = loop_clock(d->loop), .leads = leads, .context = d });
    d->dashboard = dashboard_new(d->engine, d->loop);
    size_t n_routes;
    const struct ops_route *routes = all_routes(d, &n_routes);
    int64_t begun_ns = clock_mono_ns(loop_clock(d->loop));
    if (secure_port_new(&(struct secure_port_options){ .loop = d->loop,
                                                       .flags = d->o->flags,
                                                       .gates = d->o->gates,
                                                       .component = "kube-scheduler",
                                                       .flag_set = &scheduler_flag_set,
                                                       .flag_values = d->o->flags,
                                                       .metrics = d->metrics,
                                                       .slis = d->slis,
                                                       .health = d->health,
                                                       .configz = text,
                                                       .leader_elects = d->o->config->leader_election.leader_elect,
                                                       .profiling = d->o->config->enable_profiling,
                                                       .routes = routes,
                                                       .n_routes = n_routes,
                                                       .sync_check = "sched-handler-sync",
                                                       .not_synced = "handlers are not fully synchronized",
                                                       .is_synced = is_synced,
                                                       .is_stopping = is_stopping,
                                                       .context = d,
                                                       .seed = d->seed },
                        &d->port, e))
        return e->code;
    count_certificate(d, begun_ns);
    return ERR_OK;
}

static enum err_code make_extenders(struct daemon *d, struct err *e)
{
    const struct setup *s = engine_setup(d->engine);
    if (s->n_extenders == 0)
        return ERR_OK;
    struct extender_client_options o = { .loop = d->loop,
                                         .extenders = config_extender_order(&d->arena, s->config),
                                         .n_extenders = s->n_extenders };
    if (extender_client_new(&o, &d->extenders, e))
        return e->code;
    engine_connect_extenders(d->engine, d->extenders);
    return ERR_OK;
}

static enum err_code make_clients(struct daemon *d, struct err *e)
{
    const struct client_connection_config *c = &d->o->config->client_connection;
    struct connections_options o = {
        .loop = d->loop,
        .kubeconfig = arena_cstr(&d->arena, c->kubeconfig),
        .master = arena_cstr(&d->arena, d->o->flags->master),
        .content_type = c->content_type,
        .qps = (double)c->qps,
        .burst = c->burst,
        .suffix = "scheduler",
        .user_agent = arena_printf(&d->arena, "kube-scheduler/%.*s (%s) kubernetes/%.7s",
                                   STR_ARG(scheduler_flags_version(d->o->flags)), d->o->build.platform,
                                   d->o->build.git_commit),
        .metrics = d->metrics,
    };
    return connections_new(&o, &d->connections, e);
}

static void make_others(struct daemon *d)
{
    const struct api *api = connections_main(d->connections);
    if (d->o->config->leader_election.leader_elect && !d->o->flags->shadow)
        make_election(d);
    if (d->election)
        engine_guard_extenders(d->engine, may_act, d);
    d->events = event_recorder_new(connections_events(d->connections), loop_clock(d->loop), d->seed);
    d->writer = writer_new(&(struct writer_options){ .loop = d->loop,
                                                     .api = api,
                                                     .engine = d->engine,
                                                     .events = d->events,
                                                     .may_act = d->election ? may_act : NULL,
                                                     .context = d,
                                                     .seed = d->seed });
    outbox_connect(engine_outbox(d->engine), d->loop, take_write, d);
    d->debugger = debugger_new(d->engine, api);
    d->informers = informers_new(
        &(struct informers_options){ .loop = d->loop,
                                     .api = api,
                                     .engine = d->engine,
                                     .no_streaming = !gate_on(d->o->gates, GATE_WatchListClient),
                                     .seed = d->seed });
}

static enum err_code make_parts(struct daemon *d, struct err *e)
{
    if (make_metrics(d, e) || make_engine(d, e) || make_port(d, e) || make_extenders(d, e) || make_clients(d, e))
        return e->code;
    make_others(d);
    return ERR_OK;
}

/* A server without events.k8s.io gets Events of core/v1. */
static void on_discovery(void *context, const struct api_answer *answer)
{
    struct daemon *d = context;
    d->discovery = 0;
    if (answer->status == 404)
        event_recorder_use_core(d->events);
    if (waits_for_lease(d))
        election_start(d->election);
    else
        informers_start(d->informers);
}

static void on_port(void *context, const char *error)
{
    struct daemon *d = context;
    if (error)
        stop(d, 1, error, "command failed");
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct daemon *d = handle->data;
    if (d->signalled)
        _exit(1);
    d->signalled = true;
    LOG(1, "Received a signal", KI("signal", signum));
    if (d->election || d->o->flags->shadow)
        stop(d, 0, NULL, "Requested to terminate, exiting");
    else
        stop(d, 1, "finished without leader elect", "command failed");
}

static void on_user2(uv_signal_t *handle, int signum)
{
    struct daemon *d = handle->data;
    (void)signum;
    if (d->debugger && d->state != STOPPING)
        debugger_run(d->debugger);
}

static void watch_signal(struct daemon *d, uv_signal_t *handle, int signum, uv_signal_cb on)
{
    uv_signal_init(loop_uv(d->loop), handle);
    handle->data = d;
    uv_signal_start(handle, on, signum);
}

static enum err_code start(struct daemon *d, struct err *e)
{
    watch_signal(d, &d->terminate, SIGTERM, on_signal);
    watch_signal(d, &d->interrupt, SIGINT, on_signal);
    watch_signal(d, &d->user2, SIGUSR2, on_user2);
    if (make_parts(d, e))
        return e->code;
    LOG(0, "Starting Kubernetes Scheduler", KS("version", scheduler_flags_version(d->o->flags)),
        KS("berth", d->o->build.git_commit));
    if (engine_start(d->engine, e))
        return e->code;
    if (d->port)
        secure_port_begin(d->port, on_port, d);
    d->memory = (struct memory){ .loop = d->loop, .next_ms = loop_now_ms(d->loop) + MEMORY_LOOK_MS };
    d->pulse.fire = pulse;
    pulse(&d->pulse);
    const struct api *api = connections_main(d->connections);
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = STR("/apis/events.k8s.io/v1"),
                                   .timeout_ms = 30 * 1000 };
    d->discovery = api->send(api->context, &request, on_discovery, d);
    return ERR_OK;
}

/* ---- End ---- */

static void stop(struct daemon *d, int exit_code, const char *error, const char *last_words)
{
    if (d->state == STOPPING)
        return;
    d->state = STOPPING;
    d->exit_code = exit_code;
    d->error = error ? arena_cstr(&d->arena, str_of(error)) : NULL;
    d->last_words = last_words;
    LOG(2, "Scheduling queue is closed");
    loop_timer_stop(d->loop, &d->pulse);
    engine_schedule(d->engine, false);
    if (d->election)
        election_release(d->election);
    else
        end(d);
}

static void one_stopped(void *context)
{
    struct daemon *d = context;
    if (--d->n_to_stop == 0)
        loop_stop(d->loop);
}

static void run_engine_ended(struct loop_mail *own_mail)
{
    struct daemon *d = MAIL_ITEM(own_mail, struct daemon, engine_ended.mail);
    d->n_to_stop = 1 + (d->extenders != NULL);
    if (d->extenders)
        extender_client_stop(d->extenders, one_stopped, d);
    connections_stop(d->connections, one_stopped, d);
}

static void port_stopped(void *context)
{
    struct daemon *d = context;
    engine_connect_extenders(d->engine, NULL);
    engine_end(d->engine);
}

/* From the outside in: nothing comes, nothing goes, nobody asks; then the thread ends, then the connections. */
static void end(struct daemon *d)
{
    const struct api *api = connections_main(d->connections);
    if (d->discovery)
        api->cancel(api->context, d->discovery);
    informers_stop(d->informers);
    event_recorder_free(d->events);
    if (d->leader_events)
        event_recorder_free(d->leader_events);
    writer_free(d->writer);
    d->events = d->leader_events = NULL;
    d->writer = NULL;
    if (!d->port) {
        port_stopped(d);
        return;
    }
    dashboard_stop(d->dashboard);
    secure_port_stop(d->port, port_stopped, d);
}

static void signal_closed(uv_handle_t *handle)
{
    struct daemon *d = handle->data;
    d->n_open_signals--;
}

static void close_signals(struct daemon *d)
{
    d->n_open_signals = 3;
    uv_close((uv_handle_t *)&d->terminate, signal_closed);
    uv_close((uv_handle_t *)&d->interrupt, signal_closed);
    uv_close((uv_handle_t *)&d->user2, signal_closed);
    while (d->n_open_signals || memory_is_busy(&d->memory))
        loop_run_once(d->loop, true);
}

static void free_parts(struct daemon *d)
{
    if (d->election)
        election_free(d->election);
    debugger_free(d->debugger);
    secure_port_free(d->port);
    engine_free(d->engine);
    questions_free(d->questions);
    dashboard_free(d->dashboard);
    informers_free(d->informers);
    if (d->extenders)
        extender_client_free(d->extenders);
    connections_free(d->connections);
    close_signals(d);
    loop_free(d->loop);
    work_queue_families_free(d->work_queues);
    metrics_free(d->metrics);
    metrics_free(d->slis);
    arena_fini(&d->arena);
}

int daemon_run(const struct daemon_options *o)
{
    struct daemon d = { .o = o };
    struct err e;
    signal(SIGPIPE, SIG_IGN);
    arena_init(&d.arena);
    err_init(&e, &d.arena);
    d.seed = identity_seed();
    d.loop = loop_new(NULL);
    d.synced.run = run_synced;
    d.engine_ended.run = run_engine_ended;
    if (start(&d, &e)) {
        LOG_ERROR(e.message, "command failed");
        return 1; /* with the process all else ends */
    }
    loop_run(d.loop);
    if (d.exit_code)
        LOG_ERROR(d.error, d.last_words);
    else
        LOG(0, d.last_words);
    int code = d.exit_code;
    free_parts(&d);
    return code;
}
