/* sim/defaults.c - see defaults.h. */
#include "sim/defaults.h"

#include "sim/edit.h"
#include "sim/forms.h"

static void set(struct sim_input *in, struct sim_object *o, const char *path, struct value to)
{
    o->value = edit_set(sim_value_arena(in, o), o->type, &o->value, path, to);
}

/* ---- Requests ---- */

/* A limit without a request is the request, too. */
static struct value fill_requests(struct arena *a, const struct type *container, const struct value *v)
{
    const struct value *limits = value_path(container, v, "resources.limits");
    const struct value *requests = value_path(container, v, "resources.requests");
    struct value all = *requests;
    for (uint32_t i = 0; limits->kind == VALUE_MAP && i < limits->n; i++)
        if (all.kind != VALUE_MAP || !value_member(&all, limits->members[i].key))
            all = edit_member(a, &all, limits->members[i].key, limits->members[i].value);
    return all.kind == VALUE_ABSENT ? *v : edit_set(a, container, v, "resources.requests", all);
}

static void default_requests(struct sim_input *in, struct sim_object *o, const char *path)
{
    const struct type *container = schema_type(STR("core/v1.Container"));
    const struct value *list = sim_field(o, path);
    if (list->kind != VALUE_LIST)
        return;
    struct arena *a = sim_value_arena(in, o);
    struct value *items = ARENA_NEW_N(a, struct value, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        items[i] = fill_requests(a, container, &list->items[i]);
    set(in, o, path, value_list(items, list->n));
}

/* ---- Priority ---- */

static const struct {
    const char *name;
    int32_t value;
} system_classes[] = {
    { "system-cluster-critical", 2000000000 },
    { "system-node-critical", 2000001000 },
};

static bool default_system_priority(struct sim_input *in, struct sim_object *o, const char *class)
{
    for (size_t i = 0; i < sizeof(system_classes) / sizeof(system_classes[0]); i++)
        if (strcmp(class, system_classes[i].name) == 0) {
            set(in, o, "spec.priority", value_int(system_classes[i].value));
            return true;
        }
    return false;
}

static void default_priority(struct sim_input *in, const struct sim_object *otherwise, struct sim_object *o)
{
    if (sim_field(o, "spec.priority")->kind == VALUE_INT)
        return;
    const char *name = sim_text(in, o, "spec.priorityClassName");
    const struct sim_object *class = *name ? sim_input_find(in, "PriorityClass", "", name) : otherwise;
    if (class) {
        struct value policy = *sim_field(class, "preemptionPolicy");
        set(in, o, "spec.priority", value_int(sim_int(class, "value", 0)));
        if (policy.kind == VALUE_STRING && sim_field(o, "spec.preemptionPolicy")->kind == VALUE_ABSENT)
            set(in, o, "spec.preemptionPolicy", policy);
    } else if (*name && !default_system_priority(in, o, name)) {
        sim_warn(in, "%s: Pod %s/%s: no PriorityClass \"%s\" is given; its priority counts as 0", o->origin, o->ns,
                 o->name, name);
    }
}

/* ---- Kinds ---- */

static void default_pod(struct sim_input *in, const struct sim_default_classes *classes, struct sim_object *o)
{
    if (!*sim_text(in, o, "spec.schedulerName"))
        set(in, o, "spec.schedulerName", edit_text("default-scheduler"));
    default_requests(in, o, "spec.containers");
    default_requests(in, o, "spec.initContainers");
    default_priority(in, classes->priority.type ? &classes->priority : NULL, o);
}

static void default_node(struct sim_input *in, struct sim_object *o)
{
    const struct value *capacity = sim_field(o, "status.capacity");
    if (sim_field(o, "status.allocatable")->kind != VALUE_MAP && capacity->kind == VALUE_MAP)
        set(in, o, "status.allocatable", *capacity);
    if (sim_field(o, "status.allocatable")->kind != VALUE_MAP)
        sim_warn(in, "%s: Node %s has neither status.allocatable nor status.capacity: nothing fits there", o->origin,
                 o->name);
}

static bool requests_are_complete(const struct type *pod_type, const struct value *pod, const char *path)
{
    const struct type *container = schema_type(STR("core/v1.Container"));
    const struct value *list = value_path(pod_type, pod, path);
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *limits = value_path(container, &list->items[i], "resources.limits");
        const struct value *requests = value_path(container, &list->items[i], "resources.requests");
        for (uint32_t k = 0; limits->kind == VALUE_MAP && k < limits->n; k++)
            if (requests->kind != VALUE_MAP || !value_member(requests, limits->members[k].key))
                return false;
    }
    return true;
}

bool sim_pod_is_complete(const struct value *pod)
{
    static const char *const texts[] = { "metadata.name", "metadata.namespace", "metadata.uid", "spec.schedulerName" };
    const struct type *t = schema_type(STR("core/v1.Pod"));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!value_text(value_path(t, pod, texts[i])).n)
            return false;
    return value_path(t, pod, "spec.priority")->kind == VALUE_INT && requests_are_complete(t, pod, "spec.containers") &&
           requests_are_complete(t, pod, "spec.initContainers");
}

static bool is_default_class(const struct sim_object *o)
{
    const struct value *annotations = sim_field(o, "metadata.annotations");
    const struct value *v = annotations->kind == VALUE_MAP
                                ? value_member(annotations, STR("storageclass.kubernetes.io/is-default-class")) : NULL;
    return v && str_is(value_text(v), "true");
}

struct sim_default_classes sim_default_classes(const struct sim_input *in)
{
    struct sim_default_classes classes = { 0 };
    for (size_t i = 0; i < in->objects.n; i++) {
        const struct sim_object *o = &in->objects.at[i];
        if (o->removed)
            continue;
        if (o->sim_kind->form == OBJECT_PRIORITY_CLASS && sim_field(o, "globalDefault")->b)
            classes.priority = *o;
        else if (o->sim_kind->form == OBJECT_STORAGE_CLASS && is_default_class(o))
            classes.storage = *o;
    }
    return classes;
}

void sim_defaults(struct sim_input *in, struct sim_default_classes classes, struct sim_object *o)
{
    switch (o->sim_kind->form) {
    case SIM_FORM_POD:
        default_pod(in, &classes, o);
        break;
    case SIM_FORM_NODE:
        default_node(in, o);
        break;
    case OBJECT_PERSISTENT_VOLUME_CLAIM:
        if (classes.storage.type && sim_field(o, "spec.storageClassName")->kind == VALUE_ABSENT)
            set(in, o, "spec.storageClassName", edit_text(classes.storage.name));
        break;
    case OBJECT_PERSISTENT_VOLUME:
        if (sim_field(o, "status.phase")->kind == VALUE_ABSENT)
            set(in, o, "status.phase", edit_text("Available")); /* what the volume controller does with a new one */
        break;
    default:
        break;
    }
}
