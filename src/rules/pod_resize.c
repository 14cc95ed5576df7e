/* rules/pod_resize.c - see pod_priv.h: cpu and memory of a pod that runs. */
#include "rules/pod_priv.h"

#define ONLY_CPU_AND_MEMORY "only cpu and memory resources are mutable"

static bool is_mirror(const struct value *pod)
{
    return pod_has_entry(META(GET(pod, Pod, metadata), annotations), STR("kubernetes.io/config.mirror"));
}

/* A node that cannot resize does not tell what its containers have. */
static bool node_can_resize(const struct value *pod)
{
    const struct value *statuses = GET(GET(pod, Pod, status), PodStatus, containerStatuses);
    for (uint32_t i = 0; i < pod_count(statuses); i++)
        if (IS_SET(GET(&statuses->items[i], ContainerStatus, state), ContainerState, running))
            return IS_SET(&statuses->items[i], ContainerStatus, resources);
    return true;
}

static bool has_amounts(const struct value *requirements)
{
    return pod_count(GET(requirements, ResourceRequirements, requests)) > 0 ||
           pod_count(GET(requirements, ResourceRequirements, limits)) > 0;
}

static bool lost_amounts(const struct value *new, const struct value *old)
{
    for (uint32_t i = 0; i < pod_count(old); i++)
        if (!pod_has_entry(new, old->members[i].key))
            return true;
    return false;
}

/* ---- What may change becomes what it was ---- */

static bool is_resizable(struct str resource)
{
    return str_is(resource, "cpu") || str_is(resource, "memory");
}

/* Resizable amounts of `old`, the others of `new`. */
static struct value mask_amounts(struct arena *a, const struct value *new, const struct value *old)
{
    struct member *members = ARENA_NEW_N(a, struct member, pod_count(new) + pod_count(old));
    uint32_t n = 0;
    for (uint32_t i = 0; i < pod_count(new); i++)
        if (!is_resizable(new->members[i].key))
            members[n++] = new->members[i];
    for (uint32_t i = 0; i < pod_count(old); i++)
        if (is_resizable(old->members[i].key))
            members[n++] = old->members[i];
    return value_map(members, value_sort_members(members, n));
}

static struct value mask_requirements(struct arena *a, const struct value *new, const struct value *old, bool keep_claims)
{
    struct value masked = value_struct(a, schema_type(STR("core/v1.ResourceRequirements")));
    masked.slots[SLOT_core_v1_ResourceRequirements_limits] =
        mask_amounts(a, GET(new, ResourceRequirements, limits), GET(old, ResourceRequirements, limits));
    masked.slots[SLOT_core_v1_ResourceRequirements_requests] =
        mask_amounts(a, GET(new, ResourceRequirements, requests), GET(old, ResourceRequirements, requests));
    if (keep_claims)
        masked.slots[SLOT_core_v1_ResourceRequirements_claims] = *GET(new, ResourceRequirements, claims);
    return masked;
}

static struct value with_slot(struct arena *a, const struct value *v, unsigned slot, struct value to)
{
    struct value copy = *v;
    copy.slots = ARENA_NEW_N(a, struct value, v->n);
    memcpy(copy.slots, v->slots, v->n * sizeof(*copy.slots));
    copy.slots[slot] = to;
    return copy;
}

/* Claims are dropped, as upstream: a container with claims cannot be resized. */
static struct value mask_container(struct arena *a, const struct value *new, const struct value *old)
{
    struct value masked = mask_requirements(a, GET(new, Container, resources), GET(old, Container, resources), false);
    return with_slot(a, new, SLOT_core_v1_Container_resources, masked);
}

/* ---- Checks ---- */

static bool check_order(const struct value *new, const struct value *old, const char *what, struct field_errors *errs)
{
    const struct field_path *at = AT_NAME(AT(NULL, "spec"), what);
    size_t n_before = errs->n;
    if (pod_count(new) != pod_count(old)) {
        field_forbidden(errs, at, pod_detail(errs, "%s may not be added or removed on resize", what));
        return false;
    }
    for (uint32_t i = 0; i < pod_count(old); i++)
        if (!str_eq(TEXT(&new->items[i], Container, name), TEXT(&old->items[i], Container, name)))
            field_forbidden(errs, AT(AT_INDEX(at, i), "name"),
                            pod_detail(errs, "%s may not be renamed or reordered on resize", what));
    return errs->n == n_before;
}

static void check_removed(const struct value *new, const struct value *old, const char *prefix, const char *what,
                          const struct field_path *at, struct field_errors *errs)
{
    if (lost_amounts(GET(new, ResourceRequirements, requests), GET(old, ResourceRequirements, requests)))
        field_forbidden(errs, AT(at, "requests"), pod_detail(errs, "%s%s requests cannot be removed", prefix, what));
    if (lost_amounts(GET(new, ResourceRequirements, limits), GET(old, ResourceRequirements, limits)))
        field_forbidden(errs, AT(at, "limits"), pod_detail(errs, "%s%s limits cannot be removed", prefix, what));
}

static void check_all_removed(const struct value *new, const struct value *old, const char *what,
                              struct field_errors *errs)
{
    for (uint32_t i = 0; i < pod_count(old); i++)
        check_removed(GET(&new->items[i], Container, resources), GET(&old->items[i], Container, resources), "", "resource",
                      AT(AT_INDEX(AT_NAME(AT(NULL, "spec"), what), i), "resources"), errs);
}

/* Resources of the whole pod; `spec` is a copy in which they become what they were. */
static void check_whole(struct arena *a, struct value *spec, const struct value *old, struct field_errors *errs)
{
    const struct type *t = schema_type(STR("core/v1.ResourceRequirements"));
    const struct value *is = GET(spec, PodSpec, resources), *was = GET(old, PodSpec, resources);
    const struct field_path *at = AT(NULL, "spec");
    if (was->kind != VALUE_ABSENT && is->kind == VALUE_ABSENT) {
        field_forbidden(errs, AT(at, "resources"), STR("pod-level resources cannot be removed"));
        return;
    }
    if (was->kind != VALUE_ABSENT)
        check_removed(is, was, "pod-level ", "resource", AT(at, "resources"), errs);
    struct value masked = mask_requirements(a, is, was, true);
    bool nothing = was->kind == VALUE_ABSENT && !has_amounts(&masked) && !IS_SET(&masked, ResourceRequirements, claims);
    if (nothing)
        masked = (struct value){ .kind = VALUE_ABSENT };
    if (masked.kind != was->kind || !pod_same(t, &masked, was))
        field_forbidden(errs, at, STR(ONLY_CPU_AND_MEMORY " at pod-level"));
    spec->slots[SLOT_core_v1_PodSpec_resources] = masked;
}

static void mask_list(struct arena *a, struct value *spec, const struct value *old, unsigned slot)
{
    struct value list = *value_slot(spec, slot);
    const struct value *is = list.items, *was = value_slot(old, slot);
    if (!pod_count(&list))
        return;
    list.items = ARENA_NEW_N(a, struct value, list.n);
    for (uint32_t i = 0; i < list.n; i++)
        list.items[i] = mask_container(a, &is[i], &was->items[i]);
    spec->slots[slot] = list;
}

static void check_containers(const struct value *masked, const struct value *old, struct field_errors *errs)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    for (uint32_t i = 0; i < pod_count(masked); i++)
        if (!pod_same(t, &masked->items[i], &old->items[i]))
            field_forbidden(errs, AT(NULL, "spec"), STR(ONLY_CPU_AND_MEMORY));
}

static bool restarts_for_resize(const struct value *container, uint32_t i)
{
    const struct value *policies = GET(container, Container, resizePolicy);
    return str_is(TEXT(&policies->items[i], ContainerResizePolicy, restartPolicy), "RestartContainer");
}

static void check_init_containers(const struct value *new, const struct value *masked, const struct value *old,
                                  struct field_errors *errs)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    for (uint32_t i = 0; i < pod_count(masked); i++) {
        const struct field_path *at = AT_INDEX(AT(AT(NULL, "spec"), "initContainers"), i);
        bool sidecar = str_is(TEXT(&new->items[i], Container, restartPolicy), "Always");
        bool modified = !pod_same(t, &new->items[i], &old->items[i]);
        if (!pod_same(t, &masked->items[i], &old->items[i]))
            field_forbidden(errs, at, STR("only cpu and memory resources for init or sidecar containers are mutable"));
        for (uint32_t p = 0; modified && !sidecar && p < pod_count(GET(&new->items[i], Container, resizePolicy)); p++)
            if (restarts_for_resize(&new->items[i], p))
                field_forbidden(errs, at,
                                STR("non-sidecar init containers with a resize policy of RestartContainer cannot be "
                                    "resized"));
    }
}

static void check_spec(struct arena *a, const struct value *new, const struct value *old, struct field_errors *errs)
{
    const struct value *init = GET(new, PodSpec, initContainers), *init_was = GET(old, PodSpec, initContainers);
    const struct value *main = GET(new, PodSpec, containers), *main_was = GET(old, PodSpec, containers);
    struct value spec = with_slot(a, new, SLOT_core_v1_PodSpec_containers, *main);
    if (has_amounts(GET(new, PodSpec, resources)) || has_amounts(GET(old, PodSpec, resources)))
        check_whole(a, &spec, old, errs);
    bool main_same = check_order(main, main_was, "containers", errs);
    if (!check_order(init, init_was, "initContainers", errs) || !main_same)
        return;
    check_all_removed(init, init_was, "initContainers", errs);
    check_all_removed(main, main_was, "containers", errs);
    mask_list(a, &spec, old, SLOT_core_v1_PodSpec_containers);
    mask_list(a, &spec, old, SLOT_core_v1_PodSpec_initContainers);
    check_containers(GET(&spec, PodSpec, containers), main_was, errs);
    check_init_containers(init, GET(&spec, PodSpec, initContainers), init_was, errs);
    if (errs->n == 0 && !pod_same(schema_type(STR("core/v1.PodSpec")), &spec, old))
        field_forbidden(errs, AT(NULL, "spec"), STR(ONLY_CPU_AND_MEMORY));
}

void pod_validate_resize(const struct rules_context *c, const struct value *new, const struct value *old,
                         struct field_errors *errs)
{
    const struct value *spec = GET(new, Pod, spec), *was = GET(old, Pod, spec);
    struct str class_was = TEXT(GET(old, Pod, status), PodStatus, qosClass);
    const struct field_path *at = AT(NULL, "spec");
    if (is_mirror(old) || str_is(TEXT(GET(was, PodSpec, os), PodOS, name), "windows")) {
        field_forbidden(errs, AT_NOTHING,
                        is_mirror(old) ? STR("static pods cannot be resized") : STR("windows pods cannot be resized"));
        return;
    }
    rules_check_meta_update(c, new, old, errs);
    pod_check_pod(c, new, pod_leniency(c, was, GET(old, Pod, metadata)), errs);
    if (!class_was.n)
        class_was = str_of(pod_qos_class(c->arena, was));
    if (!str_is(class_was, pod_qos_class(c->arena, spec)))
        field_invalid(errs, at, field_enum(TEXT(GET(new, Pod, status), PodStatus, qosClass)),
                      STR("Pod QOS Class may not change as a result of resizing"));
    if (!node_can_resize(old))
        field_forbidden(errs, at, STR("Pod running on node without support for resize"));
    if (spec->kind == VALUE_STRUCT)
        check_spec(c->arena, spec, was, errs);
}
