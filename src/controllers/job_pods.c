/* controllers/job_pods.c - the pods that a Job makes from its template. Upstream: controller/job/indexed_job_utils.go. */
#include "api/edit.h"
#include "api/generate_name.h"
#include "controllers/job_priv.h"

#define INDEX_VARIABLE "JOB_COMPLETION_INDEX"

static const struct type *templates(void)
{
    return schema_type(STR("core/v1.PodTemplateSpec"));
}

/* ---- The variable that tells containers their index ---- */

static struct value index_variable(struct arena *a)
{
    const struct type *t = schema_type(STR("core/v1.EnvVar"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "name", edit_text(INDEX_VARIABLE));
    return edit_set(a, t, &v, "valueFrom.fieldRef.fieldPath", edit_text("metadata.labels['" JOB_COMPLETION_INDEX "']"));
}

static bool has_variable(const struct value *env)
{
    const struct type *t = schema_type(STR("core/v1.EnvVar"));
    for (uint32_t i = 0; env->kind == VALUE_LIST && i < env->n; i++)
        if (str_is(value_text(value_path(t, &env->items[i], "name")), INDEX_VARIABLE))
            return true;
    return false;
}

static struct value with_variables(struct arena *a, const struct value *template, const char *path)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    const struct value *list = value_path(templates(), template, path);
    if (list->kind != VALUE_LIST)
        return *template;
    struct value *items = ARENA_NEW_N(a, struct value, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct value *env = value_path(t, &list->items[i], "env");
        items[i] = list->items[i];
        if (!has_variable(env))
            items[i] = edit_set(a, t, &items[i], "env", edit_append(a, env, index_variable(a)));
    }
    return edit_set(a, templates(), template, path, value_list(items, list->n));
}

/* ---- Names and marks of an index ---- */

static struct value with_member(struct arena *a, const struct value *template, const char *path, const char *key,
                                int64_t number)
{
    struct value text = edit_text(arena_printf(a, "%lld", (long long)number));
    struct value map = edit_member(a, value_path(templates(), template, path), str_of(key), text);
    return edit_set(a, templates(), template, path, map);
}

static struct value with_index(struct arena *a, const struct value *template, const struct job_sync *s,
                               const struct job_creation *c, struct str job_name)
{
    struct value v = with_variables(a, template, "spec.initContainers");
    v = with_variables(a, &v, "spec.containers");
    v = with_member(a, &v, "metadata.annotations", JOB_COMPLETION_INDEX, c->index);
    v = with_member(a, &v, "metadata.labels", JOB_COMPLETION_INDEX, c->index);
    const char *host = arena_printf(a, "%.*s-%lld", STR_ARG(job_name), (long long)c->index);
    v = edit_set(a, templates(), &v, "spec.hostname", edit_text(host));
    if (s->job.backoff_limit_per_index == JOB_NONE)
        return v;
    v = with_member(a, &v, "metadata.annotations", JOB_INDEX_FAILURE_COUNT, c->n_failures);
    if (c->n_ignored)
        v = with_member(a, &v, "metadata.annotations", JOB_INDEX_IGNORED_FAILURE_COUNT, c->n_ignored);
    return v;
}

/* The index stays readable in names that are cut. */
static const char *prefix_of_index(struct arena *a, struct str job_name, int64_t index)
{
    const char *end = arena_printf(a, "-%lld-", (long long)index);
    size_t n = strlen(end), room = NAME_BASE_MAX > n ? NAME_BASE_MAX - n : 0;
    return arena_printf(a, "%.*s%s", STR_ARG(str_first(job_name, room)), end);
}

static struct value with_finalizer(struct arena *a, const struct value *template)
{
    const struct value *list = value_path(templates(), template, "metadata.finalizers");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), JOB_TRACKING_FINALIZER))
            return *template;
    return edit_set(a, templates(), template, "metadata.finalizers", edit_append(a, list, edit_text(JOB_TRACKING_FINALIZER)));
}

struct value job_make_pod(struct arena *a, const struct value *job, const struct object_reference *owner,
                          const struct job_sync *s, const struct job_creation *c)
{
    struct value template = *value_path(schema_type(STR("batch/v1.Job")), job, "spec.template");
    template = with_finalizer(a, &template);
    if (c->index == JOB_NO_INDEX)
        return pod_from_template(a, &template, owner);
    template = with_index(a, &template, s, c, owner->name);
    struct value pod = pod_from_template(a, &template, owner);
    const char *prefix = prefix_of_index(a, owner->name, c->index);
    return edit_set(a, schema_type(STR("core/v1.Pod")), &pod, "metadata.generateName", edit_text(prefix));
}
