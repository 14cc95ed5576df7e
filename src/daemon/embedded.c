/* daemon/embedded.c - see embedded.h. */
#include "daemon/embedded.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "client/event_recorder.h"
#include "daemon/berth_metrics.h"
#include "daemon/engine.h"
#include "daemon/extender_client.h"
#include "daemon/local_api.h"
#include "daemon/local_feed.h"
#include "daemon/outbox.h"
#include "daemon/dashboard_port.h"
#include "daemon/writer.h"

enum { PULSE_MS = 100 }; /* how often those are asked that say when they are due, but not when that changes */

struct embedded {
    struct embedded_options o;
    struct arena arena;
    struct berth_metrics own;
    struct engine *engine;
    struct extender_client *extenders; /* NULL: there are none */
    struct local_api *api;
    struct event_recorder *events;
    struct writer *writer;
    struct local_feed *feed;
    struct questions *questions;
    struct dashboard_port *dashboard; /* NULL: none */
    struct loop_timer pulse;
    struct loop_mail synced, ended;
    uint64_t n_events_lost; /* counted already */
    bool started, paused, stopping;
    void (*stopped)(void *context);
    void *context;
};

static const struct str authenticated = { GROUP_AUTHENTICATED, sizeof(GROUP_AUTHENTICATED) - 1 };
static const struct user scheduler_user = { .name = { "system:kube-scheduler", 21 }, .groups = { &authenticated, 1 } };

/* ---- What the scheduling thread tells ---- */

static void post(struct embedded *b, struct loop_mail *m)
{
    while (!loop_post(b->o.loop, m)) /* a full loop gets through its mail */
        usleep(1000);
}

static void tell_synced(void *context)
{
    struct embedded *b = context;
    post(b, &b->synced);
}

static void tell_ended(void *context)
{
    struct embedded *b = context;
    post(b, &b->ended);
}

static void run_synced(struct loop_mail *own_mail)
{
    struct embedded *b = MAIL_ITEM(own_mail, struct embedded, synced.mail);
    if (b->paused || b->stopping)
        return;
    engine_schedule(b->engine, true);
    b->o.synced(b->o.context);
}

static void take_write(void *context, struct write *own_write)
{
    struct embedded *b = context;
    if (b->stopping)
        write_free(own_write);
    else
        writer_add(b->writer, own_write);
}

/* ---- Time ---- */

static void publish(struct embedded *b)
{
    struct event_recorder_counts events = event_recorder_counts(b->events);
    uint64_t lost = events.dropped + events.given_up + events.left_out;
    series_add(b->own.events_dropped, (double)(lost - b->n_events_lost));
    b->n_events_lost = lost;
    series_set(b->own.writes_waiting, writer_n_open(b->writer));
    series_set(b->own.inbox_depth, engine_n_mails(b->engine));
}

static void pulse(struct loop_timer *t)
{
    struct embedded *b = LIST_ITEM(t, struct embedded, pulse);
    int64_t now_ms = loop_now_ms(b->o.loop);
    loop_timer_set(b->o.loop, &b->pulse, now_ms + PULSE_MS);
    if (event_recorder_due_ms(b->events) <= now_ms)
        event_recorder_tick(b->events);
    writer_tick(b->writer);
    publish(b);
}

/* ---- Start ---- */

static enum err_code make_engine(struct embedded *b, struct err *e)
{
    const struct embedded_options *o = &b->o;
    struct features features = gates_features(o->gates);
    berth_metrics_add(o->metrics, &b->own);
    return engine_new(&(struct engine_options){
                          .clock = loop_clock(o->loop),
                          .loop = o->loop,
                          .config = o->config,
                          .features = &features,
                          .unschedulable_ms_max = o->flags->pod_max_in_unschedulable_pods_duration_ns / CLOCK_NS_PER_MS,
                          .seed = o->seed,
                          .media = MEDIA_PROTOBUF,
                          .metrics = o->metrics,
                          .own_metrics = &b->own,
                          .batching = gate_on(o->gates, GATE_OpportunisticBatching),
                          .async_api_calls = gate_on(o->gates, GATE_SchedulerAsyncAPICalls),
                          .n_decisions = (uint32_t)o->flags->decisions,
                          .build = o->build.git_commit,
                          .synced = tell_synced,
                          .ended = tell_ended,
                          .context = b,
                      },
                      &b->engine, e);
}

static enum err_code make_extenders(struct embedded *b, struct err *e)
{
    const struct setup *s = engine_setup(b->engine);
    if (s->n_extenders == 0)
        return ERR_OK;
    struct extender_client_options o = { .loop = b->o.loop,
                                         .extenders = config_extender_order(&b->arena, s->config),
                                         .n_extenders = s->n_extenders };
    if (extender_client_new(&o, &b->extenders, e))
        return e->code;
    engine_connect_extenders(b->engine, b->extenders);
    return ERR_OK;
}

static bool leads(void *context)
{
    (void)context;
    return true;
}

static void make_questions(struct embedded *b)
{
    size_t n;
    b->questions = questions_new(&(struct questions_options){
        .engine = b->engine, .loop = b->o.loop, .clock = loop_clock(b->o.loop), .leads = leads });
    const struct apiserver_page *pages = questions_pages(b->questions, &n);
    apiserver_add_pages(b->o.server, pages, n);
}

static void make_ends(struct embedded *b)
{
    const struct embedded_options *o = &b->o;
    const char *agent = arena_printf(&b->arena, "kube-scheduler/%.*s (%s) kubernetes/%.7s/scheduler",
                                     STR_ARG(scheduler_flags_version(o->flags)), o->build.platform, o->build.git_commit);
    b->api = local_api_new(o->server, &scheduler_user, str_of(agent));
    b->events = event_recorder_new(local_api_api(b->api), loop_clock(o->loop), o->seed);
    b->writer = writer_new(&(struct writer_options){ .loop = o->loop,
                                                     .api = local_api_api(b->api),
                                                     .engine = b->engine,
                                                     .events = b->events,
                                                     .seed = o->seed });
    outbox_connect(engine_outbox(b->engine), o->loop, take_write, b);
    b->feed = local_feed_new(
        &(struct local_feed_options){ .loop = o->loop, .objects = o->objects, .engine = b->engine });
}

enum err_code embedded_new(const struct embedded_options *o, struct embedded **ret_embedded, struct err *e)
{
    struct embedded *b = mem_zalloc(sizeof(*b));
    b->o = *o;
    arena_init(&b->arena);
    b->synced.run = run_synced;
    if (make_engine(b, e) || make_extenders(b, e))
        return e->code; /* with the process all else ends */
    make_questions(b);
    if (o->dashboard_port &&
        dashboard_port_open(o->loop, b->engine, b->questions, o->dashboard_port, &b->dashboard, e))
        return e->code;
    make_ends(b);
    *ret_embedded = b;
    return ERR_OK;
}

enum err_code embedded_start(struct embedded *b, struct err *e)
{
    if (engine_start(b->engine, e))
        return e->code;
    b->started = true;
    b->pulse.fire = pulse;
    pulse(&b->pulse);
    local_feed_start(b->feed);
    return ERR_OK;
}

void embedded_poll(struct embedded *b)
{
    local_feed_poll(b->feed);
}

/* ---- End ---- */

static void all_stopped(void *context)
{
    struct embedded *b = context;
    b->stopped(b->context);
}

static void run_ended(struct loop_mail *own_mail)
{
    struct embedded *b = MAIL_ITEM(own_mail, struct embedded, ended.mail);
    if (b->extenders)
        extender_client_stop(b->extenders, all_stopped, b);
    else
        all_stopped(b);
}

void embedded_pause(struct embedded *b)
{
    b->paused = true;
    if (b->started)
        engine_schedule(b->engine, false);
}

static void end_engine(void *context)
{
    struct embedded *b = context;
    if (b->started)
        engine_end(b->engine);
    else
        run_ended(&b->ended);
}

void embedded_stop(struct embedded *b, void (*stopped)(void *context), void *context)
{
    b->stopping = true;
    b->stopped = stopped;
    b->context = context;
    b->ended.run = run_ended;
    loop_timer_stop(b->o.loop, &b->pulse);
    local_feed_stop(b->feed);
    event_recorder_free(b->events);
    writer_free(b->writer);
    b->events = NULL;
    b->writer = NULL;
    engine_connect_extenders(b->engine, NULL);
    if (b->dashboard)
        dashboard_port_stop(b->dashboard, end_engine, b);
    else
        end_engine(b);
}

void embedded_free(struct embedded *b)
{
    if (!b)
        return;
    engine_free(b->engine);
    dashboard_port_free(b->dashboard);
    questions_free(b->questions);
    local_feed_free(b->feed);
    if (b->extenders)
        extender_client_free(b->extenders);
    local_api_free(b->api);
    arena_fini(&b->arena);
    free(b);
}
