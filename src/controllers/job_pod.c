/* controllers/job_pod.c - see job_pod.h. Upstream: controller/job/backoff_utils.go, indexed_job_utils.go. */
#include "controllers/job_pod.h"

static const struct type *pods(void)
{
    return schema_type(STR("core/v1.Pod"));
}

/* ---- Parts of values ---- */

static const struct value *read(const struct value *pod, const char *path)
{
    return value_path(pods(), pod, path);
}

static int64_t seconds_or(const struct value *time, int64_t other)
{
    return time->kind == VALUE_TIME ? time->i : other;
}

static bool list_has_text(const struct value *list, const char *text)
{
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), text))
            return true;
    return false;
}

/* Not more than an int32; anything else that an annotation may say is `other`. */
static int64_t number_of(const struct value *annotations, const char *key, int64_t other)
{
    const struct value *v = annotations->kind == VALUE_MAP ? value_member(annotations, str_of(key)) : NULL;
    struct str text = v ? value_text(v) : STR("");
    int64_t number = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || number > INT32_MAX)
            return other;
        number = number * 10 + (text.p[i] - '0');
    }
    return text.n && number <= INT32_MAX ? number : other;
}

static enum job_pod_phase phase_of(struct str text)
{
    static const char *const names[] = { "Pending", "Unknown", "Running", "Succeeded", "Failed" };
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(text, names[i]))
            return i;
    return JOB_POD_PENDING;
}

static const struct value *ready_condition(const struct value *pod)
{
    const struct type *t = schema_type(STR("core/v1.PodCondition"));
    const struct value *list = read(pod, "status.conditions");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(t, &list->items[i], "type")), "Ready"))
            return &list->items[i];
    return NULL;
}

/* ---- When a pod ended ---- */

static bool is_sidecar(const struct value *pod, struct str name)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    const struct value *list = read(pod, "spec.initContainers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_eq(value_text(value_path(t, &list->items[i], "name")), name))
            return str_is(value_text(value_path(t, &list->items[i], "restartPolicy")), "Always");
    return false;
}

/* The latest end of the containers; false when one of them has none. Without any it stays as it is. */
static bool latest_end(const struct value *pod, const char *path, bool sidecars_only, int64_t *end_s)
{
    const struct type *t = schema_type(STR("core/v1.ContainerStatus"));
    const struct value *list = read(pod, path);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *status = &list->items[i];
        if (sidecars_only && !is_sidecar(pod, value_text(value_path(t, status, "name"))))
            continue;
        const struct value *at = value_path(t, status, "state.terminated.finishedAt");
        if (at->kind != VALUE_TIME)
            return false;
        *end_s = at->i > *end_s ? at->i : *end_s;
    }
    return true;
}

/* By its containers, else since when it is not ready, else when it was deleted, else when it was made. */
static int64_t finished_s(const struct value *pod, const struct value *ready)
{
    const struct type *t = schema_type(STR("core/v1.PodCondition"));
    int64_t end_s = INT64_MIN;
    bool all = latest_end(pod, "status.containerStatuses", false, &end_s);
    if (!all)
        end_s = INT64_MIN;
    if (latest_end(pod, "status.initContainerStatuses", true, &end_s) && end_s != INT64_MIN)
        return end_s;
    if (ready && str_is(value_text(value_path(t, ready, "status")), "False")) {
        const struct value *since = value_path(t, ready, "lastTransitionTime");
        if (since->kind == VALUE_TIME)
            return since->i;
    }
    const struct value *deleted = read(pod, "metadata.deletionTimestamp");
    const struct value *grace = read(pod, "metadata.deletionGracePeriodSeconds");
    if (deleted->kind == VALUE_TIME)
        return deleted->i - (grace->kind == VALUE_INT ? grace->i : 0);
    return seconds_or(read(pod, "metadata.creationTimestamp"), 0);
}

/* ---- Restarts ---- */

static void add_restarts(struct job_pod *p, const struct value *pod, const char *path, bool init)
{
    const struct type *t = schema_type(STR("core/v1.ContainerStatus"));
    const struct value *list = read(pod, path);
    bool counts = p->phase == JOB_POD_RUNNING || p->phase == JOB_POD_PENDING;
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *status = &list->items[i], *v = value_path(t, status, "restartCount");
        int64_t n = v->kind == VALUE_INT ? v->i : 0;
        p->n_restarts += counts ? n : 0;
        int64_t *max = init ? &p->sidecar_restarts_max : &p->restarts_max;
        if (n > *max && (!init || is_sidecar(pod, value_text(value_path(t, status, "name")))))
            *max = n;
    }
}

struct job_pod job_pod_read(struct arena *a, const struct value *pod, const struct value *policy)
{
    const struct type *ct = schema_type(STR("core/v1.PodCondition"));
    const struct value *ready = ready_condition(pod), *annotations = read(pod, "metadata.annotations");
    struct job_pod p = {
        .name = arena_str(a, value_text(read(pod, "metadata.name"))),
        .uid = arena_str(a, value_text(read(pod, "metadata.uid"))),
        .phase = phase_of(value_text(read(pod, "status.phase"))),
        .terminating = read(pod, "metadata.deletionTimestamp")->kind == VALUE_TIME,
        .ready = ready && str_is(value_text(value_path(ct, ready, "status")), "True"),
        .assigned = value_text(read(pod, "spec.nodeName")).n > 0,
        .tracked = list_has_text(read(pod, "metadata.finalizers"), JOB_TRACKING_FINALIZER),
        .index = number_of(annotations, JOB_COMPLETION_INDEX, JOB_NO_INDEX),
        .n_index_failures = number_of(annotations, JOB_INDEX_FAILURE_COUNT, 0),
        .n_index_ignored = number_of(annotations, JOB_INDEX_IGNORED_FAILURE_COUNT, 0),
        .finished_s = finished_s(pod, ready),
        .created_s = seconds_or(read(pod, "metadata.creationTimestamp"), 0),
    };
    if (p.ready)
        p.ready_since_s = seconds_or(value_path(ct, ready, "lastTransitionTime"), 0);
    add_restarts(&p, pod, "status.containerStatuses", false);
    add_restarts(&p, pod, "status.initContainerStatuses", true);
    p.verdict = job_policy_match(a, policy, pod, &p.fail_job_message);
    return p;
}

/* ---- Order ---- */

static int order(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

int job_pod_compare(const struct job_pod *x, const struct job_pod *y)
{
    int by[] = {
        order(x->assigned, y->assigned),
        order(x->phase, y->phase),
        order(x->ready, y->ready),
        order(y->ready_since_s, x->ready_since_s),
        order(y->restarts_max, x->restarts_max),
        order(y->sidecar_restarts_max, x->sidecar_restarts_max),
        order(y->created_s, x->created_s),
        str_cmp(x->name, y->name),
    };
    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
        if (by[i])
            return by[i];
    return 0;
}
