/* controllers/job_pod.h - what the job controller looks at in a pod, read out of it once.
 *
 * Thread: any.    Memory: the arena; texts are copied there, so that it outlasts the pod. */
#pragma once

#include "api/value.h"

#define JOB_COMPLETION_INDEX "batch.kubernetes.io/job-completion-index"
#define JOB_INDEX_FAILURE_COUNT "batch.kubernetes.io/job-index-failure-count"
#define JOB_INDEX_IGNORED_FAILURE_COUNT "batch.kubernetes.io/job-index-ignored-failure-count"
#define JOB_TRACKING_FINALIZER "batch.kubernetes.io/job-tracking"

enum { JOB_NO_INDEX = -1 };

enum job_pod_phase { JOB_POD_PENDING, JOB_POD_UNKNOWN, JOB_POD_RUNNING, JOB_POD_SUCCEEDED, JOB_POD_FAILED };

/* What the first rule of a pod failure policy that matches says. */
enum job_pod_verdict {
    JOB_POD_NO_RULE,
    JOB_POD_IGNORE,
    JOB_POD_COUNT,
    JOB_POD_FAIL_INDEX,
    JOB_POD_FAIL_JOB,
};

struct job_pod {
    struct str name, uid;
    enum job_pod_phase phase;
    bool terminating; /* has a deletion timestamp */
    bool ready, assigned;
    bool tracked; /* has our finalizer: it is not counted yet */
    int64_t index;
    int64_t n_index_failures, n_index_ignored; /* of the pods before it, with its index */
    int64_t finished_s, ready_since_s, created_s;
    int64_t n_restarts;                       /* of all containers; 0 once it has ended */
    int64_t restarts_max, sidecar_restarts_max;
    enum job_pod_verdict verdict;
    const char *fail_job_message; /* with JOB_POD_FAIL_JOB */
    bool uncounted_succeeded, uncounted_failed; /* in the job's lists */
};

/* `policy` is a PodFailurePolicy or absent. */
struct job_pod job_pod_read(struct arena *a, const struct value *pod, const struct value *policy);
enum job_pod_verdict job_policy_match(struct arena *a, const struct value *policy, const struct value *pod,
                                      const char **ret_message);

static inline bool job_pod_has_ended(const struct job_pod *p)
{
    return p->phase == JOB_POD_SUCCEEDED || p->phase == JOB_POD_FAILED;
}

static inline bool job_pod_is_active(const struct job_pod *p)
{
    return !job_pod_has_ended(p) && !p->terminating;
}

/* Pods that are being deleted count as failed, unless only what has ended is replaced. */
static inline bool job_pod_is_failed(const struct job_pod *p, bool replaces_failed_only)
{
    return p->phase == JOB_POD_FAILED || (!replaces_failed_only && p->terminating && p->phase != JOB_POD_SUCCEEDED);
}

/* Negative: `x` is rather to be deleted than `y`. */
int job_pod_compare(const struct job_pod *x, const struct job_pod *y);
