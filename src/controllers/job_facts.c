/* controllers/job_facts.c - see job_facts.h. */
#include "controllers/job_facts.h"

#include "api/edit.h"

#define CONTROLLER_NAME "kubernetes.io/job-controller"

static const struct type *jobs(void)
{
    return schema_type(STR("batch/v1.Job"));
}

static const struct type *condition_type(void)
{
    return schema_type(STR("batch/v1.JobCondition"));
}

/* ---- Reading ---- */

static int64_t number(const struct value *job, const char *path, int64_t other)
{
    const struct value *v = value_path(jobs(), job, path);
    return v->kind == VALUE_INT ? v->i : other;
}

static int64_t time_of(const struct value *job, const char *path)
{
    const struct value *v = value_path(jobs(), job, path);
    return v->kind == VALUE_TIME ? v->i : JOB_NO_TIME;
}

static struct str text(const struct value *job, const char *path)
{
    return value_text(value_path(jobs(), job, path));
}

static struct job_uncounted_list read_uncounted(struct arena *a, const struct value *job, const char *path)
{
    const struct value *v = value_path(jobs(), job, path);
    size_t n = v->kind == VALUE_LIST ? v->n : 0;
    struct job_uncounted_list list = { ARENA_NEW_N(a, struct job_uncounted, n), n, n };
    for (size_t i = 0; i < n; i++)
        list.at[i] = (struct job_uncounted){ arena_str(a, value_text(&v->items[i])), JOB_NONE };
    return list;
}

static struct job_status read_status(struct arena *a, const struct value *job)
{
    const struct value *failed_indexes = value_path(jobs(), job, "status.failedIndexes");
    return (struct job_status){
        .conditions = value_copy(a, value_path(jobs(), job, "status.conditions")),
        .start_s = time_of(job, "status.startTime"),
        .completion_s = time_of(job, "status.completionTime"),
        .active = number(job, "status.active", 0),
        .succeeded = number(job, "status.succeeded", 0),
        .failed = number(job, "status.failed", 0),
        .ready = number(job, "status.ready", JOB_NONE),
        .terminating = number(job, "status.terminating", JOB_NONE),
        .completed_indexes = arena_cstr(a, text(job, "status.completedIndexes")),
        .failed_indexes = failed_indexes->kind == VALUE_STRING ? arena_cstr(a, value_text(failed_indexes)) : NULL,
        .uncounted_succeeded = read_uncounted(a, job, "status.uncountedTerminatedPods.succeeded"),
        .uncounted_failed = read_uncounted(a, job, "status.uncountedTerminatedPods.failed"),
    };
}

struct job_facts job_facts_read(struct arena *a, const struct value *job)
{
    const struct value *suspend = value_path(jobs(), job, "spec.suspend");
    const struct value *failure_policy = value_path(jobs(), job, "spec.podFailurePolicy");
    return (struct job_facts){
        .parallelism = number(job, "spec.parallelism", 1),
        .backoff_limit = number(job, "spec.backoffLimit", INT32_MAX),
        .completions = number(job, "spec.completions", JOB_NONE),
        .backoff_limit_per_index = number(job, "spec.backoffLimitPerIndex", JOB_NONE),
        .max_failed_indexes = number(job, "spec.maxFailedIndexes", JOB_NONE),
        .active_deadline_s = number(job, "spec.activeDeadlineSeconds", JOB_NONE),
        .indexed = str_is(text(job, "spec.completionMode"), "Indexed"),
        .suspended = suspend->kind == VALUE_BOOL && suspend->b,
        .deleted = time_of(job, "metadata.deletionTimestamp") != JOB_NO_TIME,
        .replaces_failed_only = failure_policy->kind == VALUE_STRUCT ||
                                str_is(text(job, "spec.podReplacementPolicy"), "Failed"),
        .restarts_containers = str_is(text(job, "spec.template.spec.restartPolicy"), "OnFailure"),
        .failure_policy = value_copy(a, failure_policy),
        .success_policy = value_copy(a, value_path(jobs(), job, "spec.successPolicy")),
        .status = read_status(a, job),
    };
}

bool job_is_managed_by_other(const struct value *job)
{
    const struct value *v = value_path(jobs(), job, "spec.managedBy");
    return v->kind == VALUE_STRING && !str_is(value_text(v), CONTROLLER_NAME);
}

/* ---- Writing ---- */

/* Upstream leaves out counters that are 0. */
static struct value counter(int64_t n)
{
    return n ? value_int(n) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value number_or_absent(int64_t n)
{
    return n == JOB_NONE ? (struct value){ .kind = VALUE_ABSENT } : value_int(n);
}

static struct value time_or_absent(int64_t seconds)
{
    return seconds == JOB_NO_TIME ? (struct value){ .kind = VALUE_ABSENT } : value_time(seconds, 0);
}

static struct value text_or_absent(const char *s)
{
    return s ? edit_text(s) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value uids(struct arena *a, const struct job_uncounted_list *list)
{
    if (list->n == 0)
        return (struct value){ .kind = VALUE_ABSENT };
    struct value *items = ARENA_NEW_N(a, struct value, list->n);
    for (size_t i = 0; i < list->n; i++)
        items[i] = value_string(list->at[i].uid);
    return value_list(items, (uint32_t)list->n);
}

static struct value uncounted_value(struct arena *a, const struct job_status *s)
{
    const struct type *t = schema_type(STR("batch/v1.UncountedTerminatedPods"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "succeeded", uids(a, &s->uncounted_succeeded));
    return edit_set(a, t, &v, "failed", uids(a, &s->uncounted_failed));
}

struct value job_status_write(struct arena *a, const struct value *job, const struct job_status *s)
{
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "status.conditions", s->conditions },
        { "status.startTime", time_or_absent(s->start_s) },
        { "status.completionTime", time_or_absent(s->completion_s) },
        { "status.active", counter(s->active) },
        { "status.succeeded", counter(s->succeeded) },
        { "status.failed", counter(s->failed) },
        { "status.ready", number_or_absent(s->ready) },
        { "status.terminating", number_or_absent(s->terminating) },
        { "status.completedIndexes", text_or_absent(*s->completed_indexes ? s->completed_indexes : NULL) },
        { "status.failedIndexes", text_or_absent(s->failed_indexes) },
        { "status.uncountedTerminatedPods", uncounted_value(a, s) },
    };
    struct value v = *job;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(a, jobs(), &v, fields[i].path, fields[i].to);
    return v;
}

/* ---- Conditions ---- */

static bool is_true(const struct value *condition)
{
    return str_is(value_text(value_path(condition_type(), condition, "status")), "True");
}

static struct value *find(const struct value *conditions, const char *type)
{
    for (uint32_t i = 0; conditions->kind == VALUE_LIST && i < conditions->n; i++)
        if (str_is(value_text(value_path(condition_type(), &conditions->items[i], "type")), type))
            return &conditions->items[i];
    return NULL;
}

struct job_condition job_true_condition(struct arena *a, const struct value *conditions, const char *type)
{
    const struct value *c = find(conditions, type);
    if (!c || !is_true(c))
        return (struct job_condition){ 0 };
    return (struct job_condition){ type, arena_cstr(a, value_text(value_path(condition_type(), c, "reason"))),
                                   arena_cstr(a, value_text(value_path(condition_type(), c, "message"))) };
}

static struct value make_condition(struct arena *a, struct job_condition c, const char *status, int64_t now_s)
{
    const struct type *t = condition_type();
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "type", edit_text(c.type));
    v = edit_set(a, t, &v, "status", edit_text(status));
    v = edit_set(a, t, &v, "lastProbeTime", value_time(now_s, 0));
    v = edit_set(a, t, &v, "lastTransitionTime", value_time(now_s, 0));
    v = edit_set(a, t, &v, "reason", edit_text(c.reason));
    return edit_set(a, t, &v, "message", edit_text(c.message));
}

struct value job_add_condition(struct arena *a, const struct value *conditions, struct job_condition c, int64_t now_s)
{
    return edit_append(a, conditions, make_condition(a, c, "True", now_s));
}

static bool says(const struct value *condition, const char *field, const char *want)
{
    return str_is(value_text(value_path(condition_type(), condition, field)), want);
}

bool job_ensure_condition(struct arena *a, struct value *conditions, struct job_condition c, const char *status,
                          int64_t now_s)
{
    struct value *there = find(conditions, c.type);
    if (there && says(there, "status", status) && says(there, "reason", c.reason) && says(there, "message", c.message))
        return false;
    if (there)
        *there = make_condition(a, c, status, now_s); /* the list is our own copy */
    else if (strcmp(status, "False") != 0)
        *conditions = edit_append(a, conditions, make_condition(a, c, status, now_s));
    else
        return false;
    return true;
}

const char *job_end(const struct value *job)
{
    static const char *const ends[] = { "Complete", "Failed" };
    const struct value *conditions = value_path(jobs(), job, "status.conditions");
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const struct value *c = find(conditions, ends[i]);
        if (c && is_true(c))
            return ends[i];
    }
    return NULL;
}

int64_t job_expires_s(const struct value *job)
{
    const char *end = job_end(job);
    int64_t ttl_s = number(job, "spec.ttlSecondsAfterFinished", JOB_NONE);
    if (!end || ttl_s == JOB_NONE || time_of(job, "metadata.deletionTimestamp") != JOB_NO_TIME)
        return JOB_NO_TIME;
    const struct value *c = find(value_path(jobs(), job, "status.conditions"), end);
    const struct value *at = value_path(condition_type(), c, "lastTransitionTime");
    return at->kind == VALUE_TIME ? at->i + ttl_s : JOB_NO_TIME;
}
