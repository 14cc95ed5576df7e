/* controllers/job_sync.h - what is to be done for a Job, from its state: three decisions, and what becomes known between them.
 *
 *   job_sync_plan    which pods are made and deleted;
 *   job_sync_account after that: the status that names the pods which have ended (uncountedTerminatedPods), and which pods
 *                    lose their finalizer once it is written;
 *   job_sync_settle  after that: the counters, and whether the job has ended.
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "controllers/indexes.h"
#include "controllers/job_facts.h"
#include "controllers/job_pod.h"

enum {
    JOB_UNCOUNTED_PODS_MAX = 500,     /* in a status, as upstream */
    JOB_PODS_AT_ONCE_MAX = 500,       /* made or deleted in one turn, as upstream */
    JOB_POD_BACKOFF_MS = 10 * 1000,   /* after a failed pod, twice as long after each more */
    JOB_POD_BACKOFF_MAX_MS = 10 * 60 * 1000,
};

/* Pods that failed since the last one that succeeded. */
struct job_backoff {
    int64_t n_failures, last_failure_s;
};

struct job_creation {
    int64_t index; /* JOB_NO_INDEX */
    int64_t n_failures, n_ignored; /* of its index so far */
};

struct job_event {
    bool warning;
    const char *reason, *message;
};

enum { JOB_EVENTS_MAX = 4 };

struct job_sync {
    struct arena *arena;
    struct job_facts job;
    struct job_pod *pods;
    size_t n_pods;
    struct job_backoff backoff; /* as it was; after the plan: as it is to be once the status is written */
    int64_t now_ms;

    /* The plan. */
    struct job_pod **deletions;
    size_t n_deletions;
    bool deletions_keep_finalizers; /* the job has ended, they are counted as any pod that ended */
    struct job_creation *creations;
    size_t n_creations;
    int64_t look_again_ms; /* from now on; JOB_NONE */

    /* The account. */
    struct job_pod **releases; /* lose their finalizer */
    size_t n_releases;

    bool writes_status; /* after the account, and again after it was settled */
    struct job_event events[JOB_EVENTS_MAX];
    size_t n_events;

    /* Between the decisions. */
    struct job_pod **active;
    size_t n_active_pods;
    int64_t n_active, n_ready, n_terminating, n_succeeded, n_failed;
    struct indexes succeeded_before, succeeded_indexes, failed_indexes;
    struct job_pod **delayed; /* pods whose finalizer stays until another takes their index */
    size_t n_delayed;
    struct job_condition finished; /* what it is to end with */
    bool managed, suspension_changed, all_counted;
};

struct job_outcome {
    int64_t n_not_created, n_not_deleted, n_ready_not_deleted;
};

void job_sync_plan(struct job_sync *s);
void job_sync_account(struct job_sync *s, const struct job_outcome *o);
/* `released`: which of the releases went well, NULL: all. */
void job_sync_settle(struct job_sync *s, const bool *released);

/* Of job_policy.c: the message of the rule of a success policy that is met, or NULL. */
const char *job_success_policy_met(struct arena *a, const struct value *policy, int64_t completions, struct indexes done);
/* Of job_backoff.c. */
struct job_backoff job_backoff_after(struct job_backoff old, struct job_pod *const *succeeded, size_t n_succeeded,
                                     struct job_pod *const *failed, size_t n_failed);
int64_t job_backoff_left_ms(struct job_backoff b, int64_t now_ms);
