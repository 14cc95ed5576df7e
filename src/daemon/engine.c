/* daemon/engine.c - see engine.h. */
#include "daemon/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "daemon/intake.h"
#include "daemon/outbox.h"
#include "plugins/plugins.h"

enum {
    ATTEMPTS_IN_A_ROW = 16, /* then what they wrote is sent, and the clock looked at */
    SLEEP_MS_MAX = 1000,
};

struct engine {
    struct engine_options o;
    struct sym_table syms;
    struct setup setup;
    struct sched *sched;
    struct outbox *outbox;
    struct intake *intake;
    struct recorder *recorder;
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

/* Whether there may be more to do. */
static bool attempt_some(struct engine *e)
{
    for (int n = 0; n < ATTEMPTS_IN_A_ROW && !has_mail(e); n++) {
        if (!e->schedules || outbox_is_full(e->outbox))
            return false;
        record_run_once(e->recorder);
        if (!sched_run_once(e->sched))
            return false;
    }
    return true;
}

static void tick(struct engine *e)
{
    if (sched_due_ms(e->sched) > engine_now_ms(e))
        return;
    record_tick(e->recorder);
    sched_tick(e->sched);
}

static void sleep_until_due(struct engine *e)
{
    int64_t ms = sched_due_ms(e->sched) - engine_now_ms(e);
    if (ms > 0)
        bell_wait(&e->bell, ms < SLEEP_MS_MAX ? (int)ms : SLEEP_MS_MAX);
}

bool engine_turn(struct engine *e)
{
    bool busy = run_mail(e);
    tick(e);
    busy |= attempt_some(e);
    outbox_flush(e->outbox);
    return busy || has_mail(e);
}

static void *run(void *context)
{
    struct engine *e = context;
    while (!e->ending)
        if (!engine_turn(e))
            sleep_until_due(e);
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

static struct sched *make_sched(struct engine *e)
{
    const struct config *c = e->o.config;
    return sched_new(&(struct sched_options){
        .syms = &e->syms,
        .profiles = e->setup.profiles,
        .n_profiles = e->setup.n_profiles,
        .extenders = e->setup.extenders,
        .n_extenders = e->setup.n_extenders,
        .io = outbox_io(e->outbox),
        .features = *e->o.features,
        .seed = e->o.seed,
        .percentage_of_nodes_to_score = c->percentage_of_nodes_to_score,
        .initial_backoff_ms = c->pod_initial_backoff_s * 1000,
        .max_backoff_ms = c->pod_max_backoff_s * 1000,
        .unschedulable_ms_max = e->o.unschedulable_ms_max,
    });
}

enum err_code engine_new(const struct engine_options *o, struct engine **ret_engine, struct err *error)
{
    struct engine *e = mem_zalloc(sizeof(*e));
    e->o = *o;
    sym_init(&e->syms);
    if (setup_from_config(&e->setup, &e->syms, o->config, o->features, true, plugin_registry, error)) {
        sym_fini(&e->syms);
        free(e);
        return error->code;
    }
    if (!bell_init(&e->bell)) {
        setup_fini(&e->setup);
        sym_fini(&e->syms);
        free(e);
        return err_set(error, ERR_IO, "cannot make an event descriptor: %s", strerror(errno));
    }
    e->start_ms = clock_wall_ns(o->clock) / CLOCK_NS_PER_MS - clock_mono_ms(o->clock);
    mailbox_init(&e->box, UINT32_MAX / 2, bell_ring, &e->bell);
    e->outbox = outbox_new(&(struct outbox_options){ .engine = e, .clock = o->clock, .media = o->media });
    e->intake = intake_new(&(struct intake_options){ .engine = e, .synced = o->synced, .context = o->context });
    e->sched = make_sched(e);
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
    run_mail(e); /* what came too late, so that it is freed */
    bell_fini(&e->bell);
    sched_free(e->sched);
    intake_free(e->intake);
    outbox_free(e->outbox);
    setup_fini(&e->setup);
    mailbox_fini(&e->box);
    sym_fini(&e->syms);
    free(e);
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

struct recorder *engine_recorder(struct engine *e)
{
    return e->recorder;
}
