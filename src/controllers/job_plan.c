/* controllers/job_plan.c - which pods of a Job are made and deleted; see job_sync.h. Upstream: controller/job/job_controller.go,
 * syncJob and manageJob. */
#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "controllers/job_sync.h"

/* ---- What the pods are ---- */

static void mark_list(struct job_sync *s, const struct map_str *by_uid, struct job_uncounted_list *list, bool failed)
{
    for (size_t i = 0; i < list->n; i++) {
        const union map_value *found = map_str_find(by_uid, list->at[i].uid);
        if (!found)
            continue;
        list->at[i].pod = (int64_t)found->num;
        struct job_pod *p = &s->pods[found->num];
        *(failed ? &p->uncounted_failed : &p->uncounted_succeeded) = true;
    }
}

static void mark_uncounted(struct job_sync *s)
{
    struct map_str by_uid;
    map_str_init(&by_uid);
    for (size_t i = 0; i < s->n_pods; i++)
        map_str_put(&by_uid, s->pods[i].uid, NULL)->num = i;
    mark_list(s, &by_uid, &s->job.status.uncounted_succeeded, false);
    mark_list(s, &by_uid, &s->job.status.uncounted_failed, true);
    map_str_fini(&by_uid);
}

static bool is_failed(const struct job_sync *s, const struct job_pod *p)
{
    return job_pod_is_failed(p, s->job.replaces_failed_only);
}

static bool index_is_valid(const struct job_sync *s, const struct job_pod *p)
{
    return p->index != JOB_NO_INDEX && p->index < s->job.completions;
}

/* Not yet counted, and with an index that there is. */
static bool is_new(const struct job_sync *s, const struct job_pod *p)
{
    return p->tracked && (!s->job.indexed || index_is_valid(s, p));
}

static void look_at_pods(struct job_sync *s)
{
    s->active = ARENA_NEW_N(s->arena, struct job_pod *, s->n_pods);
    for (size_t i = 0; i < s->n_pods; i++) {
        struct job_pod *p = &s->pods[i];
        if (job_pod_is_active(p)) {
            s->active[s->n_active_pods++] = p;
            s->n_ready += p->ready;
        } else if (p->terminating && !job_pod_has_ended(p)) {
            s->n_terminating++;
        }
    }
    s->n_active = (int64_t)s->n_active_pods;
}

static void count_ended(struct job_sync *s)
{
    struct job_pod **succeeded = ARENA_NEW_N(s->arena, struct job_pod *, s->n_pods), **failed;
    failed = ARENA_NEW_N(s->arena, struct job_pod *, s->n_pods);
    size_t n_succeeded = 0, n_failed = 0;
    const struct job_status *st = &s->job.status;
    s->n_succeeded = st->succeeded + (int64_t)st->uncounted_succeeded.n;
    s->n_failed = st->failed + (int64_t)st->uncounted_failed.n;
    for (size_t i = 0; i < s->n_pods; i++) {
        struct job_pod *p = &s->pods[i];
        if (is_new(s, p) && !p->uncounted_succeeded && p->phase == JOB_POD_SUCCEEDED)
            succeeded[n_succeeded++] = p;
        if (is_new(s, p) && !p->uncounted_failed && is_failed(s, p)) {
            failed[n_failed++] = p;
            s->n_failed += p->verdict != JOB_POD_IGNORE;
        }
    }
    s->n_succeeded += (int64_t)n_succeeded;
    s->backoff = job_backoff_after(s->backoff, succeeded, n_succeeded, failed, n_failed);
}

/* ---- Whether the job is to end ---- */

static const char *fail_job_message(const struct job_sync *s)
{
    for (size_t i = 0; i < s->n_pods; i++)
        if (s->pods[i].verdict == JOB_POD_FAIL_JOB && is_failed(s, &s->pods[i]))
            return s->pods[i].fail_job_message;
    return NULL;
}

static bool has_restarted_too_often(const struct job_sync *s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->n_pods; i++)
        n += s->pods[i].n_restarts;
    if (!s->job.restarts_containers)
        return false;
    return s->job.backoff_limit == 0 ? n > 0 : n >= s->job.backoff_limit;
}

static void look_again_in(struct job_sync *s, int64_t ms)
{
    if (s->look_again_ms == JOB_NONE || ms < s->look_again_ms)
        s->look_again_ms = ms;
}

/* Also asks to be called again when the deadline is still to come. */
static bool is_past_deadline(struct job_sync *s)
{
    int64_t left_ms = (s->job.status.start_s + s->job.active_deadline_s) * 1000 - s->now_ms;
    if (s->job.active_deadline_s == JOB_NONE || s->job.status.start_s == JOB_NO_TIME || s->job.suspended)
        return false;
    if (left_ms > 0)
        look_again_in(s, left_ms);
    return left_ms <= 0;
}

static struct job_condition failure(const char *reason, const char *message)
{
    return (struct job_condition){ "FailureTarget", reason, message };
}

static struct job_condition find_end(struct job_sync *s)
{
    const struct value *conditions = &s->job.status.conditions;
    struct job_condition c = job_true_condition(s->arena, conditions, "SuccessCriteriaMet");
    if (c.type)
        return c;
    c = job_true_condition(s->arena, conditions, "FailureTarget");
    if (c.type)
        return (struct job_condition){ "Failed", c.reason, c.message };
    const char *message = fail_job_message(s);
    if (message)
        return failure("PodFailurePolicy", message);
    if (s->n_failed > s->job.backoff_limit || has_restarted_too_often(s))
        return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    if (is_past_deadline(s))
        return failure("DeadlineExceeded", "Job was active longer than specified deadline");
    return (struct job_condition){ 0 };
}

/* ---- Indexes ---- */

static int by_number(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

typedef bool pod_test(const struct job_sync *s, const struct job_pod *p);

static struct indexes indexes_of_pods(struct job_sync *s, pod_test *wanted)
{
    int64_t *numbers = ARENA_NEW_N(s->arena, int64_t, s->n_pods);
    size_t n = 0;
    for (size_t i = 0; i < s->n_pods; i++)
        if (s->pods[i].index != JOB_NO_INDEX && wanted(s, &s->pods[i]))
            numbers[n++] = s->pods[i].index;
    sort_stable(s->arena, numbers, n, sizeof(*numbers), by_number);
    return indexes_of(s->arena, numbers, n);
}

static bool is_active(const struct job_sync *s, const struct job_pod *p)
{
    (void)s;
    return job_pod_is_active(p);
}

static bool still_terminates(const struct job_sync *s, const struct job_pod *p)
{
    (void)s;
    return p->terminating && !job_pod_has_ended(p);
}

static bool newly_succeeded(const struct job_sync *s, const struct job_pod *p)
{
    return p->phase == JOB_POD_SUCCEEDED && p->tracked && index_is_valid(s, p);
}

static bool fails_its_index(const struct job_sync *s, const struct job_pod *p)
{
    if (!p->tracked || !index_is_valid(s, p) || !is_failed(s, p) || p->verdict == JOB_POD_IGNORE)
        return false;
    return p->verdict == JOB_POD_FAIL_INDEX || p->n_index_failures >= s->job.backoff_limit_per_index;
}

static bool has_limit_per_index(const struct job_sync *s)
{
    return s->job.indexed && s->job.backoff_limit_per_index != JOB_NONE;
}

/* ---- Pods that stay until another takes their index ---- */

static int by_index(const void *x, const void *y)
{
    const struct job_pod *a = *(struct job_pod *const *)x, *b = *(struct job_pod *const *)y;
    return (a->index > b->index) - (a->index < b->index);
}

static int64_t all_failures(const struct job_pod *p)
{
    return p->n_index_failures + p->n_index_ignored;
}

/* The number of failures goes from such a pod to the one that replaces it: of each index the last that failed. */
static void find_delayed(struct job_sync *s)
{
    struct indexes active = indexes_of_pods(s, is_active);
    s->delayed = ARENA_NEW_N(s->arena, struct job_pod *, s->n_pods);
    size_t n = 0;
    for (size_t i = 0; i < s->n_pods; i++) {
        struct job_pod *p = &s->pods[i];
        bool settled = indexes_has(s->succeeded_indexes, p->index) || indexes_has(s->failed_indexes, p->index) ||
                       indexes_has(active, p->index);
        if (is_new(s, p) && is_failed(s, p) && !settled)
            s->delayed[n++] = p;
    }
    sort_stable(s->arena, s->delayed, n, sizeof(*s->delayed), by_index);
    for (size_t i = 0; i < n; i++) {
        struct job_pod *p = s->delayed[i], *last = s->n_delayed ? s->delayed[s->n_delayed - 1] : NULL;
        if (!last || last->index != p->index)
            s->delayed[s->n_delayed++] = p;
        else if (all_failures(last) <= all_failures(p) && p->finished_s >= last->finished_s)
            s->delayed[s->n_delayed - 1] = p;
    }
}

static const struct job_pod *delayed_at(const struct job_sync *s, int64_t index)
{
    const struct job_pod wanted = { .index = index }, *key = &wanted;
    struct job_pod **found = s->n_delayed ? bsearch(&key, s->delayed, s->n_delayed, sizeof(*s->delayed), by_index) : NULL;
    return found ? *found : NULL;
}

static struct job_condition find_end_of_indexes(struct job_sync *s)
{
    int64_t n_failed = indexes_total(s->failed_indexes);
    if (has_limit_per_index(s) && s->job.max_failed_indexes != JOB_NONE && n_failed > s->job.max_failed_indexes)
        return failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
    if (n_failed > 0 && n_failed + indexes_total(s->succeeded_indexes) >= s->job.completions)
        return failure("FailedIndexes", "Job has failed indexes");
    const char *met = job_success_policy_met(s->arena, &s->job.success_policy, s->job.completions, s->succeeded_indexes);
    if (met)
        return (struct job_condition){ "SuccessCriteriaMet", "SuccessPolicy", met };
    return (struct job_condition){ 0 };
}

static void look_at_indexes(struct job_sync *s)
{
    struct arena *a = s->arena;
    s->succeeded_before = indexes_parse(a, str_of(s->job.status.completed_indexes), s->job.completions);
    s->succeeded_indexes = indexes_union(a, s->succeeded_before, indexes_of_pods(s, newly_succeeded));
    s->n_succeeded = indexes_total(s->succeeded_indexes);
    if (has_limit_per_index(s)) {
        struct indexes before = indexes_parse(a, str_of(s->job.status.failed_indexes), s->job.completions);
        s->failed_indexes = indexes_union(a, before, indexes_of_pods(s, fails_its_index));
    }
    if (!s->finished.type)
        s->finished = find_end_of_indexes(s);
    if (has_limit_per_index(s))
        find_delayed(s);
}

/* ---- Pods that are too many ---- */

static int by_rank(const void *x, const void *y)
{
    return job_pod_compare(*(struct job_pod *const *)x, *(struct job_pod *const *)y);
}

/* Splits the active pods: those that share an index with a better one, or whose index does not exist, first. */
static size_t split_by_index(struct job_sync *s, struct job_pod **rm, struct job_pod **left, size_t *n_left)
{
    struct job_pod **pods = s->active;
    size_t n = s->n_active_pods, n_rm = 0;
    sort_stable(s->arena, pods, n, sizeof(*pods), by_index);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && pods[to]->index == pods[from]->index;)
            to++;
        sort_stable(s->arena, pods + from, to - from, sizeof(*pods), by_rank);
        bool keeps_last = index_is_valid(s, pods[from]);
        for (size_t i = from; i < to - keeps_last; i++)
            rm[n_rm++] = pods[i];
        if (keeps_last)
            left[(*n_left)++] = pods[to - 1];
    }
    return n_rm;
}

static void plan_deletions(struct job_sync *s, size_t at_least)
{
    struct job_pod **rm = ARENA_NEW_N(s->arena, struct job_pod *, s->n_active_pods), **left = s->active;
    size_t n_rm = 0, n_left = s->n_active_pods;
    if (s->job.indexed) {
        left = ARENA_NEW_N(s->arena, struct job_pod *, s->n_active_pods);
        n_left = 0;
        n_rm = split_by_index(s, rm, left, &n_left);
    }
    if (n_rm < at_least) {
        sort_stable(s->arena, left, n_left, sizeof(*left), by_rank);
        for (size_t i = 0; n_rm < at_least; i++)
            rm[n_rm++] = left[i];
    }
    s->deletions = rm;
    s->n_deletions = n_rm;
}

/* ---- Pods that are missing ---- */

static struct job_creation creation_at(const struct job_sync *s, int64_t index)
{
    const struct job_pod *before = has_limit_per_index(s) ? delayed_at(s, index) : NULL;
    if (!before)
        return (struct job_creation){ .index = index };
    bool ignored = before->verdict == JOB_POD_IGNORE;
    return (struct job_creation){ index, before->n_index_failures + !ignored, before->n_index_ignored + ignored };
}

/* How long an index has still to wait for its next pod. */
static int64_t wait_of_index_ms(const struct job_sync *s, int64_t index)
{
    const struct job_pod *before = has_limit_per_index(s) ? delayed_at(s, index) : NULL;
    if (!before)
        return 0;
    return job_backoff_left_ms((struct job_backoff){ all_failures(before) + 1, before->finished_s }, s->now_ms);
}

static void plan_index(struct job_sync *s, int64_t index, int64_t *shortest_ms)
{
    int64_t wait_ms = wait_of_index_ms(s, index);
    if (wait_ms == 0)
        s->creations[s->n_creations++] = creation_at(s, index);
    else if (*shortest_ms == JOB_NONE || wait_ms < *shortest_ms)
        *shortest_ms = wait_ms;
}

/* The first `n` indexes that have no pod and are not done. */
static void plan_indexes(struct job_sync *s, size_t n)
{
    struct indexes taken = indexes_union(s->arena, s->succeeded_indexes, indexes_of_pods(s, is_active));
    if (s->job.replaces_failed_only)
        taken = indexes_union(s->arena, taken, indexes_of_pods(s, still_terminates));
    taken = indexes_union(s->arena, taken, s->failed_indexes);
    int64_t index = 0, shortest_ms = JOB_NONE;
    size_t n_found = 0;
    for (size_t i = 0; i <= taken.n && n_found < n; i++) {
        int64_t end = i < taken.n && taken.at[i].first < s->job.completions ? taken.at[i].first : s->job.completions;
        for (; index < end && n_found < n; index++, n_found++)
            plan_index(s, index, &shortest_ms);
        index = i < taken.n && index < taken.at[i].last + 1 ? taken.at[i].last + 1 : index;
    }
    if (s->n_creations == 0 && shortest_ms != JOB_NONE)
        look_again_in(s, shortest_ms);
}

static void plan_creations(struct job_sync *s, int64_t n)
{
    int64_t wait_ms = has_limit_per_index(s) ? 0 : job_backoff_left_ms(s->backoff, s->now_ms);
    if (wait_ms > 0) {
        look_again_in(s, wait_ms);
        return;
    }
    n = n < JOB_PODS_AT_ONCE_MAX ? n : JOB_PODS_AT_ONCE_MAX;
    s->creations = ARENA_NEW_N(s->arena, struct job_creation, (size_t)n);
    if (s->job.indexed) {
        plan_indexes(s, (size_t)n);
        return;
    }
    for (; s->n_creations < (size_t)n; s->n_creations++)
        s->creations[s->n_creations] = (struct job_creation){ .index = JOB_NO_INDEX };
}

static int64_t wanted_active(const struct job_sync *s)
{
    if (s->job.completions == JOB_NONE)
        return s->n_succeeded > 0 ? s->n_active : s->job.parallelism;
    int64_t left = s->job.completions - s->n_succeeded;
    left = left < s->job.parallelism ? left : s->job.parallelism;
    return left > 0 ? left : 0;
}

static void manage(struct job_sync *s)
{
    s->managed = true;
    if (s->job.suspended) {
        plan_deletions(s, s->n_active_pods);
        return;
    }
    int64_t want = wanted_active(s);
    plan_deletions(s, s->n_active > want ? (size_t)(s->n_active - want) : 0);
    if (s->n_deletions > JOB_PODS_AT_ONCE_MAX)
        s->n_deletions = JOB_PODS_AT_ONCE_MAX;
    int64_t missing = want - s->n_active - (s->job.replaces_failed_only ? s->n_terminating : 0);
    if (s->n_deletions == 0 && missing > 0) /* one turn makes or deletes, not both */
        plan_creations(s, missing);
}

void job_sync_plan(struct job_sync *s)
{
    s->look_again_ms = JOB_NONE;
    mark_uncounted(s);
    look_at_pods(s);
    count_ended(s);
    if (s->job.status.start_s == JOB_NO_TIME && !s->job.suspended)
        s->job.status.start_s = s->now_ms / 1000;
    s->finished = find_end(s);
    if (s->job.indexed)
        look_at_indexes(s);
    if (s->finished.type) {
        s->deletions = s->active;
        s->n_deletions = s->n_active_pods;
        s->deletions_keep_finalizers = true;
    } else if (!s->job.deleted) {
        manage(s);
    }
}
