/* daemon/engine.h - the scheduling thread: owner of the scheduler and of all that it reads.
 *
 * Others send it mail, which it runs between two attempts in the order in which it came: objects (intake.h), answers
 * to what the scheduler wrote (outbox.h), questions. Between mail it schedules, if it was told to, and does what time
 * brings. Nothing is taken from it by force: it ends when the mail that says so has its turn.
 *
 * Its clock runs evenly from the wall time of its start on, so that back-offs end on whole seconds as upstream's do
 * and a wall clock that is set does not matter.
 *
 * Thread: engine_post: any. engine_new to engine_free: the one that made it. The rest: the scheduling thread, which
 * is any thread before engine_start.
 * Owns: sym table, profiles, scheduler, and all that belongs to one. */
#pragma once

#include "base/clock.h"
#include "base/mailbox.h"
#include "codec/object.h"
#include "config/setup.h"
#include "sched/record.h"
#include "sched/sched.h"

struct berth_metrics;
struct decisions;
struct engine;
struct extender_client;
struct intake;
struct loop;
struct outbox;
struct raw_objects;
struct record_segments;
struct shadow;
struct volume_waits;

struct engine_mail {
    struct mail mail;
    void (*run)(struct engine_mail *own_mail, struct engine *e);
};

struct engine_options {
    const struct clock *clock;
    const struct config *config; /* completed and valid */
    const struct features *features; /* copied */
    int64_t unschedulable_ms_max; /* 0: upstream's */
    uint64_t seed;
    enum media media;             /* of bodies that are written */
    struct loop *loop;            /* whose sockets extenders are asked over */
    struct metrics *metrics;      /* where the scheduler's own are added; NULL: nothing is measured */
    const struct berth_metrics *own_metrics; /* of the thread itself; NULL with metrics */
    bool batching, async_api_calls; /* gates that only metrics look at */
    uint32_t n_decisions;         /* that are kept; 0: none */
    const char *record_path;      /* of a recording of all that comes in; NULL: none */
    uint64_t record_bytes_max;
    struct str record_config;     /* what makes the same profiles; empty: the configuration itself */
    struct str record_gates;      /* feature gates that were named, as the flag has them */
    const char *build;            /* of this program, for the recording */
    bool shadow;                  /* decides nothing, and compares the choices of another scheduler */
    /* All resources have been listed: called once, by the thread. */
    void (*synced)(void *context);
    /* Called by the thread as its last act. */
    void (*ended)(void *context);
    void *context;
};

/* Makes profiles and the scheduler. */
enum err_code engine_new(const struct engine_options *o, struct engine **ret_engine, struct err *e) ERR_MUST_CHECK;
/* Not started, or ended. */
void engine_free(struct engine *e);

enum err_code engine_start(struct engine *e, struct err *error) ERR_MUST_CHECK;
/* `ended` follows. */
void engine_end(struct engine *e);
/* Who carries requests to extenders; NULL: nobody any more, and whoever waits for one waits no longer. */
void engine_connect_extenders(struct engine *e, struct extender_client *client);
/* Asked before an extender binds, see extender_calls.h. */
void engine_guard_extenders(struct engine *e, bool (*may_act)(void *context), void *context);
/* Attempts begin, or are made no more. */
void engine_schedule(struct engine *e, bool on);

void engine_post(struct engine *e, struct engine_mail *own_mail);
/* Makes a sleeping thread look around: there is room for more writes. */
void engine_wake(struct engine *e);

/* Mail, what time brings, some attempts: what the thread does all the time, and a seam for tests without one. Whether
 * there may be more to do. */
bool engine_turn(struct engine *e);
int64_t engine_now_ms(const struct engine *e);
/* Mail that waits; any thread. */
uint32_t engine_n_mails(const struct engine *e);
struct sched *engine_sched(struct engine *e);
struct sym_table *engine_syms(struct engine *e);
const struct setup *engine_setup(const struct engine *e);
struct outbox *engine_outbox(struct engine *e);
struct intake *engine_intake(struct engine *e);
struct raw_objects *engine_raw_objects(struct engine *e);
struct volume_waits *engine_volume_waits(struct engine *e);
/* NULL where there is none. */
const struct berth_metrics *engine_own_metrics(const struct engine *e);
struct recorder *engine_recorder(struct engine *e);
struct record_segments *engine_recording(struct engine *e);
struct decisions *engine_decisions(struct engine *e);
struct shadow *engine_shadow(struct engine *e);
