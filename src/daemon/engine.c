/* daemon/engine.c - see engine.h. */
#include "daemon/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "daemon/berth_metrics.h"
#include "daemon/extender_calls.h"
#include "daemon/intake.h"
#include "daemon/outbox.h"
#include "daemon/volume_waits.h"
#include "insight/decisions.h"
#include "insight/record_segments.h"
#include "insight/shadow.h"
#include "plugins/plugins.h"
#include "sched/sched_metrics.h"

enum {
    ATTEMPTS_IN_A_ROW = 16, /* then what they wrote is sent, and the clock looked at */
    SLEEP_MS_MAX = 1000,
    PUBLISH_MS = 1000, /* how often metrics are written down while there is work all the time */
};

struct engine {
    struct engine_options o;
    struct sym_table syms;
    struct setup setup;
    struct sched *sched;
    struct sched_metrics *metrics;
    struct outbox *outbox;
    struct intake *intake;
    struct raw_objects *raw_objects;
    struct extender_calls *extenders;
    struct volume_waits *volumes;
    struct record_segments *recording; /* NULL: nothing is recorded */
    struct decisions *decisions;
    struct shadow *shadow;
    struct shadow_counts shadow_told; /* what metrics have of it */
    int64_t published_ms;
    int64_t start_ms;  /* wall time of the start, less the monotonic one */
    struct mailbox box;
    struct bell bell;
    pthread_t thread;
    bool started, ending, schedules;
};

/* ---- Clocks ---- */

int64_t engine_now_ms(const struct engine *e)
{
    return e->start_ms + clock_mono_ms(e->o.clock);
}

/* ---- Work ---- */

static bool has_mail(const struct engine *e)
{
    return atomic_load_explicit(&e->box.newest, memory_order_relaxed) != NULL;
}

static bool run_mail(struct engine *e)
{
    struct mail *m = mailbox_take(&e->box);
    bool any = m != NULL;
    while (m) {
        struct mail *next = m->next;
        struct engine_mail *mail = MAIL_ITEM(m, struct engine_mail, mail);
        mail->run(mail, e);
        m = next;
    }
    return any;
}

static bool rotation_is_near(struct engine *e);

/* Whether there may be more to do. */
static bool attempt_some(struct engine *e)
{
    if (rotation_is_near(e))
        return false;
    for (int n = 0; n < ATTEMPTS_IN_A_ROW && !has_mail(e); n++) {
        if (!e->schedules || outbox_is_full(e->outbox))
            return false;
        record_run_once(engine_recorder(e));
        if (!sched_run_once(e->sched))
            return false;
    }
    return true;
}

static void tick(struct engine *e)
{
    int64_t now_ms = engine_now_ms(e);
    if (volume_waits_due_ms(e->volumes) <= now_ms)
        volume_waits_check(e->volumes, now_ms);
    if (sched_due_ms(e->sched) > now_ms)
        return;
    record_tick(engine_recorder(e));
    sched_tick(e->sched);
}

static void publish(struct engine *e)
{
    if (e->metrics)
        sched_publish_metrics(e->sched);
    if (e->o.own_metrics && e->decisions)
        series_set(e->o.own_metrics->decisions_kept, decisions_counts(e->decisions).n);
    if (e->o.own_metrics && e->shadow)
        berth_metrics_count_shadow(e->o.own_metrics, shadow_counts(e->shadow), &e->shadow_told);
    e->published_ms = engine_now_ms(e);
}

static void sleep_until_due(struct engine *e)
{
    publish(e);
    int64_t due_ms = sched_due_ms(e->sched), volumes_ms = volume_waits_due_ms(e->volumes);
    int64_t ms = (due_ms < volumes_ms ? due_ms : volumes_ms) - engine_now_ms(e);
    if (ms > 0)
        bell_wait(&e->bell, ms < SLEEP_MS_MAX ? (int)ms : SLEEP_MS_MAX);
}

bool engine_turn(struct engine *e)
{
    bool busy = run_mail(e);
    tick(e);
    busy |= attempt_some(e);
    outbox_flush(e->outbox);
    if (engine_now_ms(e) - e->published_ms >= PUBLISH_MS)
        publish(e);
    return busy || has_mail(e);
}

static void *run(void *context)
{
    struct engine *e = context;
    int64_t woken_ns = clock_mono_ns(e->o.clock);
    while (!e->ending) {
        if (engine_turn(e))
            continue;
        if (e->o.own_metrics)
            series_observe(e->o.own_metrics->turn_seconds, (double)(clock_mono_ns(e->o.clock) - woken_ns) / 1e9);
        sleep_until_due(e);
        woken_ns = clock_mono_ns(e->o.clock);
    }
    e->o.ended(e->o.context);
    return NULL;
}

/* ---- Mail ---- */

void engine_post(struct engine *e, struct engine_mail *own_mail)
{
    bool posted = mailbox_post(&e->box, &own_mail->mail);
    assert(posted); /* who sends it bounds what is on its way */
}

void engine_wake(struct engine *e)
{
    bell_ring(&e->bell);
}

static void run_end(struct engine_mail *own_mail, struct engine *e)
{
    free(own_mail);
    e->ending = true;
}

void engine_end(struct engine *e)
{
    struct engine_mail *m = mem_zalloc(sizeof(*m));
    m->run = run_end;
    engine_post(e, m);
}

void engine_connect_extenders(struct engine *e, struct extender_client *client)
{
    if (!e->extenders)
        return;
    extender_calls_connect(e->extenders, client);
    if (!client)
        extender_calls_end(e->extenders);
}

void engine_guard_extenders(struct engine *e, bool (*may_act)(void *context), void *context)
{
    if (e->extenders)
        extender_calls_guard(e->extenders, may_act, context);
}

struct schedule_mail {
    struct engine_mail mail;
    bool on;
};

static void run_schedule(struct engine_mail *own_mail, struct engine *e)
{
    struct schedule_mail *m = MAIL_ITEM(own_mail, struct schedule_mail, mail.mail);
    e->schedules = m->on;
    free(m);
}

void engine_schedule(struct engine *e, bool on)
{
    struct schedule_mail *m = mem_zalloc(sizeof(*m));
    *m = (struct schedule_mail){ .mail.run = run_schedule, .on = on };
    engine_post(e, &m->mail);
}

/* ---- The whole ---- */

/* A request to an extender that binds has ended. */
static void extender_bound(void *context, io_ticket ticket, const char *error)
{
    outbox_answer(context, WRITE_BIND, ticket, error);
}

static void volumes_bound(void *context, io_ticket ticket, const char *error)
{
    struct engine *e = context;
    record_volumes_bound(engine_recorder(e), ticket, error);
    sched_volumes_bound(e->sched, ticket, error);
}

static enum err_code make_extenders(struct engine *e, struct err *error)
{
    struct setup *s = &e->setup;
    e->raw_objects = raw_objects_new(&e->syms, s->extenders, s->n_extenders);
    if (s->n_extenders == 0)
        return ERR_OK;
    e->extenders = extender_calls_new(&(struct extender_calls_options){
        .loop = e->o.loop,
        .syms = &e->syms,
        .raw = e->raw_objects,
        .configs = config_extender_order(&s->arena, s->config),
        .extenders = s->extenders,
        .n_extenders = s->n_extenders,
        .bound = extender_bound,
        .context = e,
    });
    return e->extenders ? ERR_OK : err_set(error, ERR_IO, "cannot make an event descriptor: %s", strerror(errno));
}

static struct sched_metrics *make_metrics(struct engine *e)
{
    return sched_metrics_new(&(struct sched_metrics_options){ .registry = e->o.metrics,
                                                              .clock = e->o.clock,
                                                              .features = e->setup.features,
                                                              .batching = e->o.batching,
                                                              .async_api_calls = e->o.async_api_calls,
                                                              .samples_first = true });
}

static struct sched *make_sched(struct engine *e)
{
    const struct config *c = e->o.config;
    struct sched_io io = outbox_io(e->outbox);
    struct recorder *recorder = engine_recorder(e);
    struct sched *s = sched_new(&(struct sched_options){
        .syms = &e->syms,
        .profiles = e->setup.profiles,
        .n_profiles = e->setup.n_profiles,
        .extenders = e->setup.extenders,
        .n_extenders = e->setup.n_extenders,
        .io = recorder ? recorder_io(recorder, &io) : io,
        .features = e->setup.features,
        .seed = e->o.seed,
        .percentage_of_nodes_to_score = c->percentage_of_nodes_to_score,
        .initial_backoff_ms = c->pod_initial_backoff_s * 1000,
        .max_backoff_ms = c->pod_max_backoff_s * 1000,
        .unschedulable_ms_max = e->o.unschedulable_ms_max,
        .metrics = e->metrics,
    });
    if (recorder)
        recorder_attach(recorder, s);
    return s;
}

/* A segment of the recording is full: the next one begins with a scheduler that begins anew, see record_segments.h. */
static void rotate(struct engine *e)
{
    struct arena scratch;
    struct err error;
    arena_init(&scratch);
    err_init(&error, &scratch);
    if (record_segments_rotate(e->recording, &error)) {
        LOG_ERROR(error.message, "The recording ends");
        arena_fini(&scratch);
        return;
    }
    volume_waits_free(e->volumes);
    sched_free(e->sched);
    e->sched = make_sched(e);
    e->volumes = volume_waits_new(e->sched, &e->syms, volumes_bound, e);
    if (e->decisions)
        decisions_follow(e->decisions, e->sched);
    if (record_segments_feed(e->recording, e->sched, &error))
        LOG_ERROR(error.message, "Not all objects are in the new segment of the recording");
    LOG(2, "Began a new segment of the recording", KS("file", record_segments_path(e->recording)));
    arena_fini(&scratch);
}

/* Whether attempts wait for what is on its way. */
static bool rotation_is_near(struct engine *e)
{
    if (!e->recording || !record_segments_due(e->recording))
        return false;
    if (record_segments_can_rotate(e->sched))
        rotate(e);
    return record_segments_due(e->recording) && !record_segments_stopped(e->recording);
}

static enum err_code make_recording(struct engine *e, struct err *error)
{
    const struct config *c = e->setup.config;
    struct strbuf yaml;
    if (!e->o.record_path)
        return ERR_OK;
    strbuf_init(&yaml, STRBUF_NO_MAX);
    if (e->o.record_config.n)
        strbuf_add_str(&yaml, e->o.record_config);
    else
        config_add_yaml(&yaml, c);
    struct record_segments_options o = {
        .path = e->o.record_path,
        .bytes_max = e->o.record_bytes_max,
        .start = { .seed = e->o.seed,
                   .build = str_of(e->o.build),
                   .config = arena_str(&e->setup.arena, strbuf_str(&yaml)),
                   .feature_gates = e->o.record_gates,
                   .percentage_of_nodes_to_score = c->percentage_of_nodes_to_score,
                   .initial_backoff_ms = c->pod_initial_backoff_s * 1000,
                   .max_backoff_ms = c->pod_max_backoff_s * 1000,
                   .unschedulable_ms_max = e->o.unschedulable_ms_max },
        .syms = &e->syms,
    };
    strbuf_fini(&yaml);
    return record_segments_open(&o, &e->recording, error);
}

static void end_recording(struct engine *e)
{
    struct arena scratch;
    struct err error;
    if (!e->recording)
        return;
    arena_init(&scratch);
    err_init(&error, &scratch);
    if (record_segments_close(e->recording, &error))
        LOG_ERROR(error.message, "The recording could not be ended");
    arena_fini(&scratch);
}

static void make_insight(struct engine *e)
{
    if (e->o.n_decisions && !e->o.shadow)
        e->decisions = decisions_new(e->sched, &(struct decisions_options){ .n_max = e->o.n_decisions,
                                                                            .clock = e->o.clock });
    if (e->o.shadow)
        e->shadow = shadow_new(e->sched, e->o.clock);
}

static enum err_code make_parts(struct engine *e, struct err *error)
{
    const struct engine_options *o = &e->o;
    if (setup_from_config(&e->setup, &e->syms, o->config, o->features, true, plugin_registry, error))
        return error->code;
    if (make_extenders(e, error) || make_recording(e, error)) {
        extender_calls_free(e->extenders);
        raw_objects_free(e->raw_objects);
        setup_fini(&e->setup);
        return error->code;
    }
    e->outbox = outbox_new(
        &(struct outbox_options){ .engine = e, .clock = o->clock, .media = o->media, .extenders = e->extenders });
    e->intake = intake_new(&(struct intake_options){ .engine = e, .synced = o->synced, .context = o->context });
    e->metrics = o->metrics ? make_metrics(e) : NULL;
    e->sched = make_sched(e);
    e->volumes = volume_waits_new(e->sched, &e->syms, volumes_bound, e);
    make_insight(e);
    return ERR_OK;
}

enum err_code engine_new(const struct engine_options *o, struct engine **ret_engine, struct err *error)
{
    struct engine *e = mem_zalloc(sizeof(*e));
    e->o = *o;
    if (!bell_init(&e->bell)) {
        free(e);
        return err_set(error, ERR_IO, "cannot make an event descriptor: %s", strerror(errno));
    }
    sym_init(&e->syms);
    mailbox_init(&e->box, UINT32_MAX / 2, bell_ring, &e->bell);
    e->start_ms = clock_wall_ns(o->clock) / CLOCK_NS_PER_MS - clock_mono_ms(o->clock);
    if (make_parts(e, error)) {
        sym_fini(&e->syms);
        bell_fini(&e->bell);
        free(e);
        return error->code;
    }
    *ret_engine = e;
    return ERR_OK;
}

enum err_code engine_start(struct engine *e, struct err *error)
{
    int rc = pthread_create(&e->thread, NULL, run, e);
    if (rc)
        return err_set(error, ERR_IO, "cannot start the scheduling thread: %s", strerror(rc));
    e->started = true;
    return ERR_OK;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    if (e->started)
        pthread_join(e->thread, NULL);
    while (run_mail(e)) /* what came too late, so that it is freed */
        ;
    bell_fini(&e->bell);
    decisions_free(e->decisions);
    shadow_free(e->shadow);
    volume_waits_free(e->volumes);
    end_recording(e);
    sched_free(e->sched);
    sched_metrics_free(e->metrics);
    intake_free(e->intake);
    outbox_free(e->outbox);
    extender_calls_free(e->extenders);
    raw_objects_free(e->raw_objects);
    setup_fini(&e->setup);
    mailbox_fini(&e->box);
    sym_fini(&e->syms);
    free(e);
}

uint32_t engine_n_mails(const struct engine *e)
{
    return atomic_load_explicit(&e->box.n_mails, memory_order_relaxed);
}

const struct berth_metrics *engine_own_metrics(const struct engine *e)
{
    return e->o.own_metrics;
}

struct sched *engine_sched(struct engine *e)
{
    return e->sched;
}

struct sym_table *engine_syms(struct engine *e)
{
    return &e->syms;
}

const struct setup *engine_setup(const struct engine *e)
{
    return &e->setup;
}

struct outbox *engine_outbox(struct engine *e)
{
    return e->outbox;
}

struct intake *engine_intake(struct engine *e)
{
    return e->intake;
}

struct raw_objects *engine_raw_objects(struct engine *e)
{
    return e->raw_objects;
}

struct volume_waits *engine_volume_waits(struct engine *e)
{
    return e->volumes;
}

struct decisions *engine_decisions(struct engine *e)
{
    return e->decisions;
}

struct shadow *engine_shadow(struct engine *e)
{
    return e->shadow;
}

struct recorder *engine_recorder(struct engine *e)
{
    return e->recording ? record_segments_recorder(e->recording) : NULL;
}

struct record_segments *engine_recording(struct engine *e)
{
    return e->recording;
}
