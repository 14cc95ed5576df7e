/* controllers/job_priv.h - the job controller between its files: job.c hears of changes, job_turn.c works on one Job,
 * job_pods.c makes its pods. */
#pragma once

#include "base/map.h"
#include "controllers/controllers.h"
#include "controllers/expectations.h"
#include "controllers/job_sync.h"
#include "controllers/pod_control.h"
#include "controllers/work_queue.h"

struct job_controller {
    struct pod_control control;
    struct cluster *cluster;
    struct pod_index *pods;
    struct work_queue *queue;   /* of Jobs: namespace/name */
    struct work_queue *orphans; /* of pods that may hold our finalizer though no Job counts them */
    struct expectations *created;
    struct map_str backoffs; /* by key of a Job: struct backoff_entry */
};

/* Looks at a Job, and says to the queue when that is over. */
void job_turn_begin(struct job_controller *c, struct str key);

struct job_backoff job_backoff_get(struct job_controller *c, struct str key);
/* Without failures nothing is kept. */
void job_backoff_set(struct job_controller *c, struct str key, struct job_backoff b);

struct value job_make_pod(struct arena *a, const struct value *job, const struct object_reference *owner,
                          const struct job_sync *s, const struct job_creation *creation);
/* Takes our finalizer off a pod; one that is gone has none. */
void job_release_pod(struct job_controller *c, struct str namespace, struct str name,
                     void (*done)(void *context, enum err_code code, const char *message), void *context);
int64_t job_now_ms(const struct job_controller *c);
