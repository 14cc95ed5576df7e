/* sim/admission.c - see admission.h. */
#include "sim/admission.h"

#include "api/admit.h"
#include "api/defaults.h"
#include "api/edit.h"
#include "api/quantity.h"
#include "api/quota.h"
#include "sched/cache.h"
#include "sim/forms.h"

/* ---- What there is ---- */

static bool is_default_class(const struct sim_object *o)
{
    const struct value *annotations = sim_field(o, "metadata.annotations");
    const struct value *v = annotations->kind == VALUE_MAP
                                ? value_member(annotations, STR("storageclass.kubernetes.io/is-default-class")) : NULL;
    return v && str_is(value_text(v), "true");
}

static void add_object(struct sim_admission *a, const struct sim_object *o)
{
    if (o->sim_kind->form == OBJECT_PRIORITY_CLASS && sim_field(o, "globalDefault")->b)
        a->priority = *o;
    else if (o->sim_kind->form == OBJECT_STORAGE_CLASS && is_default_class(o))
        a->storage = *o;
    else if (strcmp(o->kind, "LimitRange") == 0) {
        struct value *v = ARENA_NEW_N(&a->in->arena, struct value, 1);
        *v = o->value;
        vec_push(&a->ranges, (struct sim_ranged){ o->ns, v });
    } else if (strcmp(o->kind, "ResourceQuota") == 0) {
        vec_push(&a->quotas, (struct sim_quota){ o->ns, o->value, *sim_field(o, "status.used") });
    }
}

/* ---- What the pods of the input use of quotas ---- */

struct usage {
    int64_t pods, milli_cpu, memory;
};

static bool has_scopes(const struct sim_quota *q)
{
    const struct type *t = schema_type(STR("core/v1.ResourceQuota"));
    return value_path(t, &q->value, "spec.scopes")->kind == VALUE_LIST ||
           value_path(t, &q->value, "spec.scopeSelector")->kind == VALUE_STRUCT;
}

/* A quota that comes from a server knows what the pods use that come from there, too. */
static struct usage count_usage(const struct sim_input *in, const struct sim_quota *q)
{
    struct usage u = { 0 };
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (o->removed || !sim_is_pod(o) || !o->form || strcmp(o->ns, q->ns) != 0)
            continue;
        const struct pod *pod = sim_pod_form(o);
        if (pod->flags & POD_FINISHED || (q->used.kind == VALUE_MAP && !o->made))
            continue;
        u.pods++;
        u.milli_cpu = account(u.milli_cpu, pod->requested->milli_cpu, true);
        u.memory = account(u.memory, pod->requested->memory, true);
    }
    return u;
}

static void add_usage(struct sim_admission *a, struct sim_quota *q, const char *resource, int64_t more, bool is_milli)
{
    int64_t had = 0;
    const struct value *used = q->used.kind == VALUE_MAP ? value_member(&q->used, str_of(resource)) : NULL;
    struct err ignored;
    err_init(&ignored, &a->in->arena);
    if (used && quantity_parse_scaled(value_text(used), is_milli ? QUANTITY_MILLI : 0, &had, &ignored))
        had = 0;
    const char *text = arena_printf(&a->in->arena, "%lld%s", (long long)account(had, more, true), is_milli ? "m" : "");
    q->used = edit_member(&a->in->arena, &q->used, str_of(resource), edit_text(text));
}

/* Quotas with scopes are not counted: of given pods it is not known any more which they cover. */
static void start_quota(struct sim_admission *a, struct sim_quota *q)
{
    if (has_scopes(q))
        return;
    struct usage u = count_usage(a->in, q);
    add_usage(a, q, "pods", u.pods, false);
    add_usage(a, q, "count/pods", u.pods, false);
    add_usage(a, q, "cpu", u.milli_cpu, true);
    add_usage(a, q, "requests.cpu", u.milli_cpu, true);
    add_usage(a, q, "memory", u.memory, false);
    add_usage(a, q, "requests.memory", u.memory, false);
}

void sim_admission_init(struct sim_admission *a, struct sim_input *in)
{
    *a = (struct sim_admission){ .in = in };
    for (size_t i = 0; i < in->objects.n; i++)
        if (!in->objects.at[i].removed)
            add_object(a, &in->objects.at[i]);
    for (size_t i = 0; i < a->quotas.n; i++)
        start_quota(a, &a->quotas.at[i]);
}

void sim_admission_fini(struct sim_admission *a)
{
    vec_fini(&a->ranges);
    vec_fini(&a->quotas);
}

/* ---- Objects other than pods ---- */

static void set(struct sim_admission *a, struct sim_object *o, const char *path, struct value to)
{
    o->value = edit_set(sim_value_arena(a->in, o), o->type, &o->value, path, to);
}

static void check_node(struct sim_admission *a, const struct sim_object *o)
{
    if (sim_field(o, "status.allocatable")->kind != VALUE_MAP)
        sim_warn(a->in, "%s: Node %s has neither status.allocatable nor status.capacity: nothing fits there", o->origin,
                 o->name);
}

/* The name of the class, which may still stand where it was written before there was a field. */
static void name_class(struct sim_admission *a, struct sim_object *o)
{
    const struct value *annotations = sim_field(o, "metadata.annotations");
    bool old = annotations->kind == VALUE_MAP &&
               value_member(annotations, STR("volume.beta.kubernetes.io/storage-class"));
    if (a->storage.type && !old && sim_field(o, "spec.storageClassName")->kind == VALUE_ABSENT)
        set(a, o, "spec.storageClassName", edit_text(a->storage.name));
}

void sim_defaults(struct sim_admission *a, struct sim_object *o)
{
    if (o->sim_kind->form == OBJECT_PERSISTENT_VOLUME && sim_field(o, "status.phase")->kind == VALUE_ABSENT)
        set(a, o, "status.phase", edit_text("Available")); /* what the volume controller does with a new one */
    o->value = defaults_apply(sim_value_arena(a->in, o), o->type, &o->value);
    if (o->sim_kind->form == SIM_FORM_NODE)
        check_node(a, o);
    if (o->sim_kind->form == OBJECT_PERSISTENT_VOLUME_CLAIM)
        name_class(a, o);
}

/* ---- Pods ---- */

static const char *pod_text(struct sim_admission *a, const struct sim_object *o)
{
    const char *name = o->owner ? o->owner : o->name ? arena_printf(&a->in->arena, "Pod %s/%s", o->ns, o->name) : "a pod";
    return arena_printf(&a->in->arena, "%s: %s", o->origin, name);
}

static const char *ns_of(struct sim_admission *a, const struct sim_object *o)
{
    return o->ns ? o->ns : sim_text(a->in, o, "metadata.namespace");
}

/* Also for pods from a server that somebody has taken the priority from: it decides. */
static void admit_class(struct sim_admission *a, struct sim_object *o, struct err *e)
{
    if (sim_field(o, "spec.priority")->kind == VALUE_INT)
        return;
    const char *name = sim_text(a->in, o, "spec.priorityClassName");
    const struct sim_object *class = *name ? sim_input_find(a->in, "PriorityClass", "", name)
                                     : a->priority.type ? &a->priority : NULL;
    struct value changed;
    if (admit_priority(sim_value_arena(a->in, o), &o->value, class ? &class->value : NULL, &changed, e)) {
        sim_warn(a->in, "%s: no PriorityClass \"%s\" is given; its priority counts as 0", pod_text(a, o), name);
        set(a, o, "spec.priority", value_int(0));
        return;
    }
    o->value = changed;
}

static const char *admit_runtime(struct sim_admission *a, struct sim_object *o, struct err *e)
{
    const char *name = sim_text(a->in, o, "spec.runtimeClassName");
    const struct sim_object *class = *name ? sim_input_find(a->in, "RuntimeClass", "", name) : NULL;
    if (*name && !class)
        sim_warn(a->in, "%s: no RuntimeClass \"%s\" is given; its overhead, node selector and tolerations do not count",
                 pod_text(a, o), name);
    struct value changed;
    if (!class)
        return NULL;
    if (admit_runtime_class(sim_value_arena(a->in, o), &o->value, &class->value, &changed, e))
        return e->message;
    o->value = changed;
    return NULL;
}

static const char *admit_ranges(struct sim_admission *a, struct sim_object *o, struct err *e)
{
    const struct value **ranges = ARENA_NEW_N(sim_value_arena(a->in, o), const struct value *, a->ranges.n);
    const char *ns = ns_of(a, o);
    size_t n = 0;
    for (size_t i = 0; i < a->ranges.n; i++)
        if (strcmp(a->ranges.at[i].ns, ns) == 0)
            ranges[n++] = a->ranges.at[i].value;
    struct value changed;
    if (n && admit_limit_ranges(sim_value_arena(a->in, o), &o->value, ranges, n, &changed, e))
        return e->message;
    if (n)
        o->value = changed;
    return NULL;
}

static void fill(struct sim_admission *a, struct sim_object *o)
{
    o->value = defaults_apply(sim_value_arena(a->in, o), o->type, &o->value);
}

/* In the order of the plugins. */
const char *sim_admit(struct sim_admission *a, struct sim_object *o)
{
    struct err e;
    err_init(&e, &a->in->arena);
    fill(a, o);
    const char *refused = o->from_server ? NULL : admit_ranges(a, o, &e);
    if (refused)
        return refused;
    admit_class(a, o, &e);
    if (o->from_server)
        return NULL;
    o->value = admit_tolerations(sim_value_arena(a->in, o), &o->value);
    refused = admit_runtime(a, o, &e);
    fill(a, o);
    return refused;
}

const char *sim_admit_quota(struct sim_admission *a, const struct sim_object *pod)
{
    const char *ns = ns_of(a, pod);
    struct err e;
    err_init(&e, &a->in->arena);
    for (size_t i = 0; i < a->quotas.n; i++) {
        struct sim_quota *q = &a->quotas.at[i];
        struct value used;
        if (strcmp(q->ns, ns) != 0)
            continue;
        if (quota_admit(&a->in->arena, &q->value, &q->used, &pod->value, &used, &e))
            return e.message;
        q->used = used;
    }
    return NULL;
}

bool sim_pod_is_complete(const struct value *pod)
{
    static const char *const texts[] = { "metadata.name", "metadata.namespace", "metadata.uid" };
    const struct type *t = schema_type(STR("core/v1.Pod"));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!value_text(value_path(t, pod, texts[i])).n)
            return false;
    return value_path(t, pod, "spec.priority")->kind == VALUE_INT && defaults_pod_is_complete(pod);
}
