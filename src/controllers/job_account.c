/* controllers/job_account.c - the status of a Job, and which of its pods have been counted; see job_sync.h. Upstream:
 * controller/job/job_controller.go, trackJobStatusAndRemoveFinalizers. */
#include "base/arena_array.h"
#include "base/sort.h"
#include "controllers/job_sync.h"

static void add_event(struct job_sync *s, bool warning, const char *reason, const char *message)
{
    if (s->n_events < JOB_EVENTS_MAX)
        s->events[s->n_events++] = (struct job_event){ warning, reason, message };
}

static bool is(const char *type, const char *name)
{
    return type && strcmp(type, name) == 0;
}

/* ---- What became of the pods ---- */

static void take_outcome(struct job_sync *s, const struct job_outcome *o)
{
    int64_t n_ready = 0, n_deleted = (int64_t)s->n_deletions - o->n_not_deleted;
    for (size_t i = 0; i < s->n_deletions; i++)
        n_ready += s->deletions[i]->ready;
    s->n_active += (int64_t)s->n_creations - o->n_not_created - n_deleted;
    s->n_terminating += n_deleted;
    s->n_ready -= n_ready - o->n_ready_not_deleted;
    if (o->n_not_deleted)
        s->finished = (struct job_condition){ 0 }; /* not as long as pods run */
}

static bool is_complete(const struct job_sync *s)
{
    bool enough = s->job.completions == JOB_NONE ? s->n_succeeded > 0 : s->n_succeeded >= s->job.completions;
    return enough && s->n_active == 0;
}

/* The time of a job counts from when it is resumed. */
static void set_suspension(struct job_sync *s)
{
    int64_t now_s = s->now_ms / 1000;
    bool suspended = s->job.suspended;
    struct job_condition c = { "Suspended", suspended ? "JobSuspended" : "JobResumed",
                               suspended ? "Job suspended" : "Job resumed" };
    if (!job_ensure_condition(s->arena, &s->job.status.conditions, c, suspended ? "True" : "False", now_s))
        return;
    s->suspension_changed = true;
    add_event(s, false, suspended ? "Suspended" : "Resumed", c.message);
    s->job.status.start_s = suspended ? JOB_NO_TIME : now_s;
}

static void set_counts(struct job_sync *s)
{
    struct job_status *st = &s->job.status;
    s->writes_status = s->suspension_changed || s->n_active != st->active || s->n_ready != st->ready ||
                       s->n_terminating != st->terminating;
    st->active = s->n_active;
    st->ready = s->n_ready;
    st->terminating = s->n_terminating;
}

/* ---- Pods that have ended ---- */

/* Pods that have lost their finalizer go from a list into the counter. Returns whether there were any. */
static bool count_released(const struct job_sync *s, struct job_uncounted_list *list, int64_t *counter)
{
    size_t n_kept = 0, n_before = list->n;
    for (size_t i = 0; i < n_before; i++)
        if (list->at[i].pod != JOB_NONE && s->pods[list->at[i].pod].tracked)
            list->at[n_kept++] = list->at[i];
    list->n = n_kept;
    *counter += (int64_t)(n_before - n_kept);
    return n_kept != n_before;
}

static bool count_all_released(struct job_sync *s)
{
    struct job_status *st = &s->job.status;
    bool succeeded = count_released(s, &st->uncounted_succeeded, &st->succeeded);
    return count_released(s, &st->uncounted_failed, &st->failed) || succeeded;
}

static void add_uncounted(struct job_sync *s, struct job_uncounted_list *list, const struct job_pod *p)
{
    list->at = arena_array_more(s->arena, list->at, list->n, &list->cap, sizeof(*list->at));
    list->at[list->n++] = (struct job_uncounted){ p->uid, p - s->pods };
    s->writes_status = true;
}

static bool is_failed(const struct job_sync *s, const struct job_pod *p)
{
    return job_pod_is_failed(p, s->job.replaces_failed_only);
}

static bool is_delayed(const struct job_sync *s, const struct job_pod *p)
{
    for (size_t low = 0, high = s->n_delayed; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (s->delayed[middle]->index == p->index)
            return s->delayed[middle] == p;
        if (s->delayed[middle]->index < p->index)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool can_release(const struct job_sync *s, const struct job_pod *p)
{
    if (s->job.deleted || s->finished.type || p->phase == JOB_POD_SUCCEEDED)
        return true;
    return is_failed(s, p) && !is_delayed(s, p);
}

/* Puts a pod that is to be released on the right list. Returns 1 for an index that is done, which needs no list. */
static size_t account_for(struct job_sync *s, const struct job_pod *p)
{
    struct job_status *st = &s->job.status;
    bool index_valid = p->index != JOB_NO_INDEX && p->index < s->job.completions;
    if (p->phase == JOB_POD_SUCCEEDED && !p->uncounted_failed) {
        if (!s->job.indexed && !p->uncounted_succeeded)
            add_uncounted(s, &st->uncounted_succeeded, p);
        bool new_index = s->job.indexed && index_valid && !indexes_has(s->succeeded_before, p->index);
        s->writes_status |= new_index;
        return new_index;
    }
    /* When a job ends without success, every pod that has not ended counts as failed. */
    bool ends_badly = s->finished.type && !is(s->finished.type, "SuccessCriteriaMet");
    bool counts = !p->uncounted_failed && (!s->job.indexed || index_valid) && p->verdict != JOB_POD_IGNORE;
    if ((is_failed(s, p) || ends_badly) && counts)
        add_uncounted(s, &st->uncounted_failed, p);
    return 0;
}

static int by_index(const void *x, const void *y)
{
    const struct job_pod *a = *(struct job_pod *const *)x, *b = *(struct job_pod *const *)y;
    return (a->index > b->index) - (a->index < b->index);
}

/* Only so many at once that the status does not grow too large; the job comes again for the others. */
static void account_for_pods(struct job_sync *s)
{
    struct job_pod **pods = ARENA_NEW_N(s->arena, struct job_pod *, s->n_pods);
    struct job_status *st = &s->job.status;
    size_t n_indexes = 0;
    for (size_t i = 0; i < s->n_pods; i++)
        pods[i] = &s->pods[i];
    if (s->job.indexed)
        sort_stable(s->arena, pods, s->n_pods, sizeof(*pods), by_index);
    s->releases = ARENA_NEW_N(s->arena, struct job_pod *, s->n_pods);
    s->all_counted = true;
    for (size_t i = 0; i < s->n_pods && s->all_counted; i++) {
        if (!pods[i]->tracked || !can_release(s, pods[i]))
            continue;
        s->releases[s->n_releases++] = pods[i];
        n_indexes += account_for(s, pods[i]);
        s->all_counted = n_indexes + st->uncounted_succeeded.n + st->uncounted_failed.n < JOB_UNCOUNTED_PODS_MAX;
    }
}

static void set_indexes(struct job_sync *s)
{
    struct job_status *st = &s->job.status;
    const char *done = indexes_format(s->arena, s->succeeded_indexes), *failed = NULL;
    if (s->job.backoff_limit_per_index != JOB_NONE)
        failed = indexes_format(s->arena, s->failed_indexes);
    bool failed_same = failed && st->failed_indexes ? strcmp(failed, st->failed_indexes) == 0 : failed == st->failed_indexes;
    s->writes_status |= strcmp(done, st->completed_indexes) != 0 || !failed_same;
    st->completed_indexes = done;
    st->failed_indexes = failed;
    st->succeeded = indexes_total(s->succeeded_indexes);
}

/* The condition that announces the end is written before pods are let go; the final one comes when they are. */
static void announce_end(struct job_sync *s)
{
    struct job_status *st = &s->job.status;
    bool success = is(s->finished.type, "SuccessCriteriaMet"), failure = is(s->finished.type, "FailureTarget");
    if (!success && !failure)
        return;
    if (!job_true_condition(s->arena, &st->conditions, s->finished.type).type) {
        st->conditions = job_add_condition(s->arena, &st->conditions, s->finished, s->now_ms / 1000);
        s->writes_status = true;
    }
    s->finished.type = success ? "Complete" : "Failed";
}

void job_sync_account(struct job_sync *s, const struct job_outcome *o)
{
    bool was_ending = s->finished.type;
    take_outcome(s, o);
    if (!was_ending && is_complete(s))
        s->finished = (struct job_condition){ "SuccessCriteriaMet", "CompletionsReached",
                                              "Reached expected number of succeeded pods" };
    else if (!was_ending && s->managed)
        set_suspension(s);
    set_counts(s);
    s->writes_status |= count_all_released(s);
    account_for_pods(s);
    if (s->job.indexed)
        set_indexes(s);
    announce_end(s);
}

/* ---- The end ---- */

static void end_job(struct job_sync *s)
{
    struct job_status *st = &s->job.status;
    int64_t now_s = s->now_ms / 1000;
    job_ensure_condition(s->arena, &st->conditions, s->finished, "True", now_s);
    s->writes_status = true;
    if (!is(s->finished.type, "Complete")) {
        add_event(s, true, s->finished.reason, s->finished.message);
        return;
    }
    st->completion_s = now_s;
    if (s->job.completions != JOB_NONE && st->succeeded > s->job.completions)
        add_event(s, true, "TooManySucceededPods", "Too many succeeded pods running after completion count reached");
    add_event(s, false, "Completed", "Job completed");
}

void job_sync_settle(struct job_sync *s, const bool *released)
{
    const struct job_status *st = &s->job.status;
    bool all = true;
    for (size_t i = 0; i < s->n_releases; i++) {
        bool gone = !released || released[i];
        s->releases[i]->tracked = !gone;
        all &= gone;
    }
    s->writes_status = count_all_released(s);
    bool none_left = st->uncounted_succeeded.n + st->uncounted_failed.n == 0;
    if (all && s->all_counted && s->finished.type && none_left && s->n_terminating == 0)
        end_job(s);
}
