/* controllers/cronjob_decide.h - what is to be done for a CronJob: its state in, actions out.
 *
 * Upstream: controller/cronjob.
 *
 * Thread: any.    Memory: the arena; what is decided refers to the state. */
#pragma once

#include "api/value.h"
#include "rules/cron_next.h"

enum {
    CRONJOB_NONE = -1,
    CRONJOB_DELTA_MS = 100,      /* a turn comes so much after its time, never before */
    CRONJOB_MANY_MISSED = 100,
};

struct cronjob_state {
    struct arena *arena;
    const struct value *cronjob;
    const struct value *const *jobs; /* whose controller has its name, of the namespace */
    size_t n_jobs;
    int64_t now_ms;
    const struct zone *zone;         /* of the schedule; NULL: unknown */
    /* Whether there is a Job of this name, whoever it belongs to. */
    bool (*has_job)(void *context, struct str name);
    void *context;
};

struct cronjob_event {
    bool warning;
    const char *reason, *message;
};

struct cronjob_job {
    struct str name, uid;
};

struct cronjob_plan {
    struct cronjob_job *old; /* more than the history keeps: deleted first */
    size_t n_old;
    struct cronjob_job *replaced; /* still run, but give way to the next one */
    size_t n_replaced;
    bool starts; /* a Job for `scheduled_s` */
    int64_t scheduled_s;
    struct str job_name;

    struct value active; /* list of core/v1.ObjectReference, or absent; without what is deleted */
    int64_t last_success_s; /* CRON_NEVER: none */
    bool writes_status;
    struct cronjob_event *events;
    size_t n_events, events_cap;
    int64_t again_ms; /* CRONJOB_NONE */
};

struct cronjob_plan cronjob_decide(const struct cronjob_state *s);

/* The schedule as it counts: that of spec.timeZone unless the schedule names one. NULL, or what is wrong with it. */
const char *cronjob_schedule(struct arena *a, const struct value *cronjob, struct cron_schedule *ret_schedule);
/* How long until the time after the last one that counts; for one that has just been changed. */
int64_t cronjob_next_ms(const struct value *cronjob, const struct cron_schedule *schedule, const struct zone *z, int64_t now_ms);
/* The Job for a time. `owner_reference` is its only owner. */
struct value cronjob_make_job(struct arena *a, const struct value *cronjob, struct value owner_reference, struct str name,
                              int64_t scheduled_s, const struct zone *time_zone);
/* The list without what has this uid. */
struct value cronjob_without(struct arena *a, const struct value *active, struct str uid);
