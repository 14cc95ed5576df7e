/* controllers/job_facts.h - a Job as its controller sees it: the spec read out, the status to be read and written.
 *
 * Thread: any.    Memory: the arena; what is read is copied there, so that it outlasts the object. */
#pragma once

#include "api/value.h"

enum { JOB_NONE = -1 }; /* a number that is not given */
#define JOB_NO_TIME INT64_MIN

/* A pod that has ended and is not yet in the counters. */
struct job_uncounted {
    struct str uid;
    int64_t pod; /* which of the pods; JOB_NONE: it is gone */
};

struct job_uncounted_list {
    struct job_uncounted *at;
    size_t n, cap;
};

struct job_status {
    struct value conditions; /* list of batch/v1.JobCondition, or absent */
    int64_t start_s, completion_s;
    int64_t active, succeeded, failed;
    int64_t ready, terminating; /* JOB_NONE */
    const char *completed_indexes;
    const char *failed_indexes; /* NULL: not given */
    struct job_uncounted_list uncounted_succeeded, uncounted_failed;
};

struct job_facts {
    int64_t parallelism, backoff_limit;
    int64_t completions, backoff_limit_per_index, max_failed_indexes, active_deadline_s; /* JOB_NONE */
    bool indexed, suspended, deleted;
    bool replaces_failed_only;     /* pods that still terminate are not replaced */
    bool restarts_containers;      /* restartPolicy: OnFailure */
    struct value failure_policy, success_policy; /* absent: none */
    struct job_status status;
};

struct job_facts job_facts_read(struct arena *a, const struct value *job);
/* The status with what the facts say; the job is otherwise as it was. */
struct value job_status_write(struct arena *a, const struct value *job, const struct job_status *s);

/* ---- Conditions ---- */

struct job_condition {
    const char *type, *reason, *message; /* type NULL: no condition */
};

/* The condition of the type when it is true; else one without a type. */
struct job_condition job_true_condition(struct arena *a, const struct value *conditions, const char *type);
struct value job_add_condition(struct arena *a, const struct value *conditions, struct job_condition c, int64_t now_s);
/* Adds it, or changes it where it differs. "False" is not added to nothing. Returns whether anything changed. */
bool job_ensure_condition(struct arena *a, struct value *conditions, struct job_condition c, const char *status,
                          int64_t now_s);
/* "Complete" or "Failed" when the job has ended, else NULL. */
const char *job_end(const struct value *job);
/* When a Job that has ended is to be deleted by itself; JOB_NO_TIME: never, or it is being deleted already. */
int64_t job_expires_s(const struct value *job);
bool job_is_managed_by_other(const struct value *job);
