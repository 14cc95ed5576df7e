/* controllers/rollout_status.c - status and conditions of Deployments. Upstream: deployment/progress.go, sync.go. */
#include "api/edit.h"
#include "controllers/rollout_priv.h"

const struct type *deployment_type(void)
{
    return schema_type(STR("apps/v1.Deployment"));
}

static const struct type *condition_type(void)
{
    return schema_type(STR("apps/v1.DeploymentCondition"));
}

int64_t number_in(const struct type *t, const struct value *v, const char *path, int64_t otherwise)
{
    const struct value *n = value_path(t, v, path);
    return n->kind == VALUE_INT ? n->i : otherwise;
}

/* ---- Conditions ---- */

struct str condition_text(const struct value *condition, const char *field)
{
    return value_text(value_path(condition_type(), condition, field));
}

const struct value *condition_find(const struct value *list, const char *type)
{
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(condition_text(&list->items[i], "type"), type))
            return &list->items[i];
    return NULL;
}

struct value condition_remove(struct arena *a, const struct value *list, const char *type)
{
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0, n_left = 0;
    struct value *left = ARENA_NEW_N(a, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        if (!str_is(condition_text(&list->items[i], "type"), type))
            left[n_left++] = list->items[i];
    return n_left ? value_list(left, n_left) : (struct value){ .kind = VALUE_ABSENT };
}

static struct value condition_new(struct arena *a, const char *type, struct str status, struct str reason, struct str message,
                                  struct value updated, struct value changed)
{
    const struct type *t = condition_type();
    struct value none = value_struct(a, t);
    struct value v = edit_set(a, t, &none, "type", edit_text(type));
    v = edit_set(a, t, &v, "status", value_string(status));
    v = edit_set(a, t, &v, "lastUpdateTime", updated);
    v = edit_set(a, t, &v, "lastTransitionTime", changed);
    v = edit_set(a, t, &v, "reason", value_string(reason));
    return edit_set(a, t, &v, "message", value_string(message));
}

static struct value put_condition(struct arena *a, const struct value *list, const char *type, struct value condition)
{
    struct value others = condition_remove(a, list, type);
    return edit_append(a, &others, condition);
}

struct value rollout_condition_set(struct arena *a, const struct value *list, const char *type, const char *status, const char *reason,
                           const char *message, int64_t now_s)
{
    const struct value *there = condition_find(list, type);
    bool same_status = there && str_is(condition_text(there, "status"), status);
    if (same_status && str_is(condition_text(there, "reason"), reason))
        return *list;
    struct value now = value_time(now_s, 0);
    struct value changed = same_status ? *value_path(condition_type(), there, "lastTransitionTime") : now;
    return put_condition(a, list, type,
                         condition_new(a, type, str_of(status), str_of(reason), str_of(message), now, changed));
}

struct value with_progress(struct arena *a, const struct value *d, const char *status, const char *reason, const char *message,
                           int64_t now_s)
{
    const struct value *list = value_path(deployment_type(), d, "status.conditions");
    return edit_set(a, deployment_type(), d, "status.conditions",
                    rollout_condition_set(a, list, PROGRESSING, status, reason, message, now_s));
}

/* ---- Counts ---- */

static struct value number(int64_t n)
{
    return n ? value_int(n) : (struct value){ .kind = VALUE_ABSENT };
}

struct sums {
    int64_t wanted, replicas, ready, available, terminating;
};

static struct sums sum(const struct rollout *r)
{
    struct sums s = { 0 };
    for (size_t i = 0; i < r->state->n_sets; i++) {
        const struct rollout_set *set = &r->state->sets[i];
        s.wanted += set->wanted;
        s.replicas += set->replicas;
        s.ready += set->ready;
        s.available += set->available;
        if (set->terminating >= 0 && s.terminating >= 0)
            s.terminating += set->terminating;
        else if (number_in(schema_type(STR("apps/v1.ReplicaSet")), &set->object, "status.observedGeneration", 0))
            s.terminating = -1; /* somebody does not tell */
    }
    return s;
}

static struct value with_counts(struct rollout *r, const struct sums *s)
{
    const struct type *t = r->type;
    int64_t missing = s->wanted - s->available;
    const struct {
        const char *path;
        struct value v;
    } rows[] = {
        { "status.observedGeneration", *value_path(t, &r->deployment, "metadata.generation") },
        { "status.replicas", number(s->replicas) },
        { "status.updatedReplicas", number(r->fresh ? r->fresh->replicas : 0) },
        { "status.readyReplicas", number(s->ready) },
        { "status.availableReplicas", number(s->available) },
        { "status.unavailableReplicas", number(missing > 0 ? missing : 0) },
        { "status.terminatingReplicas", s->terminating < 0 ? (struct value){ .kind = VALUE_ABSENT }
                                                           : value_int(s->terminating) },
    };
    struct value v = r->deployment;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        v = edit_set(r->arena, t, &v, rows[i].path, rows[i].v);
    return v;
}

static struct value availability(struct rollout *r, const struct value *list, const struct sums *s)
{
    if (s->available >= r->wanted - r->max_unavailable)
        return rollout_condition_set(r->arena, list, "Available", "True", "MinimumReplicasAvailable",
                             "Deployment has minimum availability.", r->state->now_s);
    return rollout_condition_set(r->arena, list, "Available", "False", "MinimumReplicasUnavailable",
                         "Deployment does not have minimum availability.", r->state->now_s);
}

/* ---- Progress ---- */

bool rollout_is_complete(const struct rollout *r, const struct value *d)
{
    return number_in(r->type, d, "status.updatedReplicas", 0) == r->wanted &&
           number_in(r->type, d, "status.replicas", 0) == r->wanted &&
           number_in(r->type, d, "status.availableReplicas", 0) == r->wanted &&
           number_in(r->type, d, "status.observedGeneration", 0) >= number_in(r->type, d, "metadata.generation", 0);
}

static bool goes_on(const struct rollout *r, const struct value *is)
{
    const struct value *was = r->state->deployment;
#define WAS(field) number_in(r->type, was, "status." field, 0)
#define IS(field) number_in(r->type, is, "status." field, 0)
    return IS("updatedReplicas") > WAS("updatedReplicas") ||
           IS("replicas") - IS("updatedReplicas") < WAS("replicas") - WAS("updatedReplicas") ||
           IS("readyReplicas") > WAS("readyReplicas") || IS("availableReplicas") > WAS("availableReplicas");
#undef WAS
#undef IS
}

static bool has_timed_out(const struct rollout *r, const struct value *condition)
{
    if (!condition || str_is(condition_text(condition, "reason"), REASON_AVAILABLE))
        return false;
    if (str_is(condition_text(condition, "reason"), REASON_TIMED_OUT))
        return true;
    const struct value *since = value_path(condition_type(), condition, "lastUpdateTime");
    return since->kind == VALUE_TIME && since->i + r->deadline_s < r->state->now_s;
}

/* `what` follows the name: "has successfully progressed." */
static const char *progress_message(struct rollout *r, const char *what)
{
    return arena_printf(r->arena, "%s \"%.*s\" %s", r->fresh ? "ReplicaSet" : "Deployment",
                        STR_ARG(r->fresh ? r->fresh->name : r->name), what);
}

/* Progress is told each time it is seen: the condition is a new one, but for the time of its transition. */
static struct value progressing(struct rollout *r, const struct value *list, const struct value *there)
{
    struct value now = value_time(r->state->now_s, 0);
    bool is_true = there && str_is(condition_text(there, "status"), "True");
    struct value changed = is_true ? *value_path(condition_type(), there, "lastTransitionTime") : now;
    return put_condition(r->arena, list, PROGRESSING,
                         condition_new(r->arena, PROGRESSING, STR("True"), STR(REASON_UPDATED),
                                       str_of(progress_message(r, "is progressing.")), now, changed));
}

static struct value progress(struct rollout *r, const struct value *list, const struct value *is)
{
    if (r->deadline_s < 0)
        return condition_remove(r->arena, list, PROGRESSING);
    const struct value *there = condition_find(value_path(r->type, &r->deployment, "status.conditions"), PROGRESSING);
    bool all_new = number_in(r->type, is, "status.replicas", 0) == number_in(r->type, is, "status.updatedReplicas", 0);
    if (all_new && there && str_is(condition_text(there, "reason"), REASON_AVAILABLE))
        return *list;
    if (rollout_is_complete(r, is))
        return rollout_condition_set(r->arena, list, PROGRESSING, "True", REASON_AVAILABLE,
                             progress_message(r, "has successfully progressed."), r->state->now_s);
    if (goes_on(r, is))
        return progressing(r, list, there);
    if (has_timed_out(r, condition_find(list, PROGRESSING)))
        return rollout_condition_set(r->arena, list, PROGRESSING, "False", REASON_TIMED_OUT,
                             progress_message(r, "has timed out progressing."), r->state->now_s);
    return *list;
}

/* ---- Failures of ReplicaSets ---- */

static const struct value *failure_of(const struct rollout_set *set)
{
    const struct value *list = value_path(schema_type(STR("apps/v1.ReplicaSet")), &set->object, "status.conditions");
    const struct type *ct = schema_type(STR("apps/v1.ReplicaSetCondition"));
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(ct, &list->items[i], "type")), "ReplicaFailure"))
            return &list->items[i];
    return NULL;
}

static struct value failures(struct rollout *r, const struct value *list)
{
    const struct value *f = r->fresh ? failure_of(r->fresh) : NULL;
    for (size_t i = 0; i < r->n_old && !f; i++)
        f = failure_of(r->old[i]);
    if (!f)
        return condition_remove(r->arena, list, "ReplicaFailure");
    const struct type *ct = schema_type(STR("apps/v1.ReplicaSetCondition"));
    struct str status = value_text(value_path(ct, f, "status")), reason = value_text(value_path(ct, f, "reason"));
    const struct value *there = condition_find(list, "ReplicaFailure");
    if (there && str_eq(condition_text(there, "status"), status) && str_eq(condition_text(there, "reason"), reason))
        return *list;
    struct value at = *value_path(ct, f, "lastTransitionTime");
    struct str message = value_text(value_path(ct, f, "message"));
    return put_condition(r->arena, list, "ReplicaFailure",
                         condition_new(r->arena, "ReplicaFailure", status, reason, message, at, at));
}

/* ---- The whole ---- */

struct value rollout_with_status(struct rollout *r, bool with_rollout)
{
    struct sums s = sum(r);
    struct value v = with_counts(r, &s);
    struct value list = availability(r, value_path(r->type, &v, "status.conditions"), &s);
    if (with_rollout) {
        list = progress(r, &list, &v);
        list = failures(r, &list);
    }
    return edit_set(r->arena, r->type, &v, "status.conditions", list);
}

int64_t rollout_check_after_s(const struct rollout *r, const struct value *d)
{
    const struct value *c = condition_find(value_path(r->type, d, "status.conditions"), PROGRESSING);
    if (r->deadline_s < 0 || !c || rollout_is_complete(r, d) || str_is(condition_text(c, "reason"), REASON_TIMED_OUT))
        return -1;
    const struct value *since = value_path(condition_type(), c, "lastUpdateTime");
    int64_t after_s = (since->kind == VALUE_TIME ? since->i : 0) + r->deadline_s - r->state->now_s;
    return after_s < 0 ? 1 : after_s + 1; /* a second more: times are cut to seconds */
}
