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
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "client/election.h"
#include "client/event_recorder.h"
#include "daemon/connections.h"
#include "daemon/debugger.h"
#include "daemon/engine.h"
#include "daemon/informers.h"
#include "daemon/outbox.h"
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
    struct engine *engine;
    struct connections *connections;
    struct event_recorder *events;
    struct writer *writer;
    struct informers *informers;
    struct election *election; /* NULL: no election */
    struct loop_timer pulse;
    struct loop_mail synced, engine_ended;
    struct debugger *debugger;
    uv_signal_t terminate, interrupt, user2;
    bool signalled;
    uint32_t n_open_signals;
};

static void stop(struct daemon *d, int exit_code, const char *error, const char *last_words);

/* ---- Identity ---- */

static uint64_t random_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = (uint64_t)clock_mono_ns(&clock_real) ^ (uint64_t)getpid();
    return seed;
}

/* Host name and a random UUID of version 4. */
static const char *make_identity(struct daemon *d)
{
    char host[256] = "";
    unsigned char u[16];
    if (gethostname(host, sizeof(host) - 1))
        host[0] = '\0';
    if (getrandom(u, sizeof(u), 0) != sizeof(u))
        memcpy(u, &d->seed, sizeof(d->seed));
    u[6] = (u[6] & 0x0f) | 0x40;
    u[8] = (u[8] & 0x3f) | 0x80;
    return arena_printf(&d->arena, "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host, u[0],
                        u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

/* ---- Leading ---- */

static void on_leading(void *context)
{
    struct daemon *d = context;
    engine_schedule(d->engine, true);
}

static void on_lost(void *context)
{
    struct daemon *d = context;
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
    d->election = election_new(&(struct election_options){
        .api = connections_lease(d->connections),
        .clock = loop_clock(d->loop),
        .identity = make_identity(d),
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
    if (d->election)
        election_start(d->election);
    else
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

static void pulse(struct loop_timer *t)
{
    struct daemon *d = LIST_ITEM(t, struct daemon, pulse);
    int64_t now_ms = loop_now_ms(d->loop);
    if (d->election && election_due_ms(d->election) <= now_ms)
        election_tick(d->election);
    if (event_recorder_due_ms(d->events) <= now_ms)
        event_recorder_tick(d->events);
    loop_timer_set(d->loop, &d->pulse, now_ms + PULSE_MS);
}

/* ---- Start ---- */

static enum err_code make_parts(struct daemon *d, struct err *e)
{
    const struct config *c = d->o->config;
    struct features features = gates_features(d->o->gates);
    bool is_json = str_eq(c->client_connection.content_type, STR("application/json"));
    if (engine_new(&(struct engine_options){ .clock = loop_clock(d->loop),
                                             .config = d->o->config,
                                             .features = &features,
                                             .seed = d->seed,
                                             .media = is_json ? MEDIA_JSON : MEDIA_PROTOBUF,
                                             .synced = tell_synced,
                                             .ended = tell_ended,
                                             .context = d },
                   &d->engine, e))
        return e->code;
    const char *agent = arena_printf(&d->arena, "kube-scheduler/v1.36.4 (linux/amd64) kubernetes/%.7s", d->o->commit);
    if (connections_new(&(struct connections_options){ .loop = d->loop,
                                                       .kubeconfig = arena_cstr(&d->arena, c->client_connection.kubeconfig),
                                                       .content_type = c->client_connection.content_type,
                                                       .qps = (double)c->client_connection.qps,
                                                       .burst = c->client_connection.burst,
                                                       .user_agent = agent },
                        &d->connections, e))
        return e->code;
    if (c->leader_election.leader_elect)
        make_election(d);
    d->events = event_recorder_new(connections_events(d->connections), loop_clock(d->loop), d->seed);
    d->writer = writer_new(&(struct writer_options){ .loop = d->loop,
                                                     .api = connections_main(d->connections),
                                                     .engine = d->engine,
                                                     .events = d->events,
                                                     .may_act = d->election ? may_act : NULL,
                                                     .context = d,
                                                     .seed = d->seed });
    outbox_connect(engine_outbox(d->engine), d->loop, take_write, d);
    d->debugger = debugger_new(d->engine, connections_main(d->connections));
    d->informers = informers_new(&(struct informers_options){
        .loop = d->loop, .api = connections_main(d->connections), .engine = d->engine, .seed = d->seed });
    return ERR_OK;
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct daemon *d = handle->data;
    if (d->signalled)
        _exit(1);
    d->signalled = true;
    LOG(1, "Received a signal", KI("signal", signum));
    if (d->election)
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
    if (make_parts(d, e) || engine_start(d->engine, e))
        return e->code;
    d->pulse.fire = pulse;
    pulse(&d->pulse);
    informers_start(d->informers);
    return ERR_OK;
}

/* ---- End ---- */

static void stop(struct daemon *d, int exit_code, const char *error, const char *last_words)
{
    if (d->state == STOPPING)
        return;
    d->state = STOPPING;
    d->exit_code = exit_code;
    d->error = error;
    d->last_words = last_words;
    engine_schedule(d->engine, false);
    if (d->election)
        election_release(d->election);
    else
        end(d);
}

static void connections_stopped(void *context)
{
    struct daemon *d = context;
    loop_stop(d->loop);
}

static void run_engine_ended(struct loop_mail *own_mail)
{
    struct daemon *d = MAIL_ITEM(own_mail, struct daemon, engine_ended.mail);
    connections_stop(d->connections, connections_stopped, d);
}

/* From the outside in: nothing comes, nothing goes, then the thread ends, then the connections. */
static void end(struct daemon *d)
{
    loop_timer_stop(d->loop, &d->pulse);
    informers_stop(d->informers);
    event_recorder_free(d->events);
    writer_free(d->writer);
    d->events = NULL;
    d->writer = NULL;
    engine_end(d->engine);
}

static void signal_closed(uv_handle_t *handle)
{
    struct daemon *d = handle->data;
    d->n_open_signals--;
}

static void free_parts(struct daemon *d)
{
    election_free(d->election);
    debugger_free(d->debugger);
    engine_free(d->engine);
    informers_free(d->informers);
    connections_free(d->connections);
    d->n_open_signals = 3;
    uv_close((uv_handle_t *)&d->terminate, signal_closed);
    uv_close((uv_handle_t *)&d->interrupt, signal_closed);
    uv_close((uv_handle_t *)&d->user2, signal_closed);
    while (d->n_open_signals)
        loop_run_once(d->loop, true);
    loop_free(d->loop);
    arena_fini(&d->arena);
}

int daemon_run(const struct daemon_options *o)
{
    struct daemon d = { .o = o };
    struct err e;
    signal(SIGPIPE, SIG_IGN);
    arena_init(&d.arena);
    err_init(&e, &d.arena);
    d.seed = random_seed();
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
