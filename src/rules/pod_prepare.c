/* rules/pod_prepare.c - see pod_priv.h: what the server sets and resets in a pod before it is checked. */
#include "api/edit.h"
#include "rules/pod_priv.h"

static const struct type *pod_type(void)
{
    return schema_type(STR("core/v1.Pod"));
}

static struct value copy_struct(struct arena *a, const struct value *v)
{
    struct value copy = *v;
    copy.slots = ARENA_NEW_N(a, struct value, v->n);
    memcpy(copy.slots, v->slots, v->n * sizeof(*copy.slots));
    return copy;
}

/* ---- Changes in lists ---- */

/* A changed copy of an item, or false. */
typedef bool change_item(struct arena *a, struct value *item, const void *with);

/* The list with its items changed; copied only if one was. */
static bool change_list(struct arena *a, struct value *list, change_item *change, const void *with)
{
    struct value copy = *list;
    bool changed = false;
    for (uint32_t i = 0; i < pod_count(list); i++) {
        struct value item = list->items[i];
        if (!change(a, &item, with))
            continue;
        if (!changed) {
            copy.items = ARENA_NEW_N(a, struct value, list->n);
            memcpy(copy.items, list->items, list->n * sizeof(*copy.items));
        }
        copy.items[i] = item;
        changed = true;
    }
    *list = copy;
    return changed;
}

static bool change_list_in(struct arena *a, struct value *v, unsigned slot, change_item *change, const void *with)
{
    struct value list = *value_slot(v, slot);
    if (!change_list(a, &list, change, with))
        return false;
    *v = copy_struct(a, v);
    v->slots[slot] = list;
    return true;
}

/* ---- Fields behind gates that are off ---- */

static bool drop_slots(struct arena *a, struct value *v, const unsigned *slots, size_t n)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++)
        changed |= value_slot(v, slots[i])->kind != VALUE_ABSENT;
    if (!changed)
        return false;
    *v = copy_struct(a, v);
    for (size_t i = 0; i < n; i++)
        v->slots[slots[i]] = (struct value){ .kind = VALUE_ABSENT };
    return true;
}

static bool drop_from_projection(struct arena *a, struct value *source, const void *with)
{
    static const unsigned slots[] = { SLOT_core_v1_VolumeProjection_clusterTrustBundle,
                                      SLOT_core_v1_VolumeProjection_podCertificate };
    (void)with;
    return drop_slots(a, source, slots, N_OF(slots));
}

static bool drop_from_volume(struct arena *a, struct value *volume, const void *with)
{
    struct value projected = *GET(volume, Volume, projected);
    if (!change_list_in(a, &projected, SLOT_core_v1_ProjectedVolumeSource_sources, drop_from_projection, with))
        return false;
    *volume = copy_struct(a, volume);
    volume->slots[SLOT_core_v1_Volume_projected] = projected;
    return true;
}

/* A lifecycle that was nothing but a signal goes with it. */
static bool drop_from_container(struct arena *a, struct value *container, const void *with)
{
    static const unsigned slots[] = { SLOT_core_v1_Lifecycle_stopSignal };
    struct value lifecycle = *GET(container, Container, lifecycle);
    (void)with;
    if (!drop_slots(a, &lifecycle, slots, 1))
        return false;
    if (!IS_SET(&lifecycle, Lifecycle, postStart) && !IS_SET(&lifecycle, Lifecycle, preStop))
        lifecycle = (struct value){ .kind = VALUE_ABSENT };
    *container = copy_struct(a, container);
    container->slots[SLOT_core_v1_Container_lifecycle] = lifecycle;
    return true;
}

struct value pod_drop_disabled(struct arena *a, const struct value *spec)
{
    static const unsigned slots[] = { SLOT_core_v1_PodSpec_schedulingGroup };
    struct value changed = *spec;
    if (spec->kind != VALUE_STRUCT)
        return changed;
    drop_slots(a, &changed, slots, N_OF(slots));
    change_list_in(a, &changed, SLOT_core_v1_PodSpec_volumes, drop_from_volume, NULL);
    change_list_in(a, &changed, SLOT_core_v1_PodSpec_containers, drop_from_container, NULL);
    change_list_in(a, &changed, SLOT_core_v1_PodSpec_initContainers, drop_from_container, NULL);
    change_list_in(a, &changed, SLOT_core_v1_PodSpec_ephemeralContainers, drop_from_container, NULL);
    return changed;
}

struct value rules_prepare_pod_template(const struct rules_context *c, const struct value *template,
                                        const struct value *old_template)
{
    (void)old_template;
    if (template->kind != VALUE_STRUCT)
        return *template;
    struct value changed = copy_struct(c->arena, template);
    changed.slots[SLOT_core_v1_PodTemplateSpec_spec] =
        pod_drop_disabled(c->arena, GET(template, PodTemplateSpec, spec));
    return changed;
}

/* ---- Quality of service ---- */

/* Sums of cpu and memory above zero, and whether all of them are limited. */
struct qos {
    struct arena *arena;
    struct quantity requests[2], limits[2];
    bool has_request[2], has_limit[2];
    bool guaranteed;
};

static const char *const compute[2] = { "cpu", "memory" };

static void add_amount(struct qos *q, struct quantity *sum, bool *has, const struct value *amounts, unsigned i)
{
    struct quantity amount = pod_amount(q->arena, pod_entry(amounts, compute[i]));
    struct err ignored;
    err_init(&ignored, q->arena);
    if (quantity_sign(&amount) <= 0)
        return;
    if (*has && quantity_add(q->arena, sum, &amount, &ignored))
        return; /* more digits than anybody has */
    if (!*has)
        *sum = amount;
    *has = true;
}

static void add_requirements(struct qos *q, const struct value *requirements, bool must_limit)
{
    const struct value *requests = GET(requirements, ResourceRequirements, requests);
    const struct value *limits = GET(requirements, ResourceRequirements, limits);
    for (unsigned i = 0; i < 2; i++) {
        struct quantity limit = pod_amount(q->arena, pod_entry(limits, compute[i]));
        add_amount(q, &q->requests[i], &q->has_request[i], requests, i);
        add_amount(q, &q->limits[i], &q->has_limit[i], limits, i);
        if (must_limit && quantity_sign(&limit) <= 0)
            q->guaranteed = false;
    }
}

const char *pod_qos_class(struct arena *a, const struct value *spec)
{
    static const unsigned lists[] = { SLOT_core_v1_PodSpec_containers, SLOT_core_v1_PodSpec_initContainers };
    struct qos q = { .arena = a, .guaranteed = true };
    const struct value *whole = GET(spec, PodSpec, resources);
    if (whole->kind != VALUE_ABSENT)
        add_requirements(&q, whole, pod_count(GET(whole, ResourceRequirements, limits)) > 0);
    for (size_t l = 0; whole->kind == VALUE_ABSENT && l < N_OF(lists); l++) {
        const struct value *list = value_slot(spec, lists[l]);
        for (uint32_t i = 0; i < pod_count(list); i++)
            add_requirements(&q, GET(&list->items[i], Container, resources), true);
    }
    bool any = false;
    for (unsigned i = 0; i < 2; i++) {
        any |= q.has_request[i] || q.has_limit[i];
        /* Both or none; what is asked for is what may be used. */
        if (q.has_request[i] != q.has_limit[i] || (q.has_limit[i] && quantity_cmp(&q.requests[i], &q.limits[i])))
            q.guaranteed = false;
    }
    return !any ? "BestEffort" : q.guaranteed ? "Guaranteed" : "Burstable";
}

/* ---- Keys that become selectors ---- */

/* Labels of the pod, and where a term or constraint has its selector and keys. */
struct merge {
    const struct value *labels;
    unsigned selector, match, mismatch;
    bool has_mismatch;
};

static struct value merged_expression(struct arena *a, struct str key, const char *op, const struct value *value)
{
    const struct type *t = schema_type(STR("meta/v1.LabelSelectorRequirement"));
    struct value expression = value_struct(a, t);
    struct value none = { .kind = VALUE_ABSENT };
    expression.slots[SLOT_meta_v1_LabelSelectorRequirement_key] = value_string(key);
    expression.slots[SLOT_meta_v1_LabelSelectorRequirement_operator] = value_string(str_of(op));
    expression.slots[SLOT_meta_v1_LabelSelectorRequirement_values] = edit_append(a, &none, *value);
    return expression;
}

/* Expressions for those keys that the pod has as labels, behind the ones that are there. */
static bool merge_keys(struct arena *a, const struct value *labels, const struct value *keys, const char *op,
                       struct value *expressions)
{
    uint32_t n_old = pod_count(expressions), n = n_old;
    if (!pod_count(keys))
        return false;
    struct value *items = ARENA_NEW_N(a, struct value, n_old + keys->n);
    if (n_old)
        memcpy(items, expressions->items, n_old * sizeof(*items));
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct value *label = labels->kind == VALUE_MAP ? value_member(labels, value_text(&keys->items[i])) : NULL;
        if (label)
            items[n++] = merged_expression(a, value_text(&keys->items[i]), op, label);
    }
    if (n > n_old)
        *expressions = value_list(items, n);
    return n > n_old;
}

static bool merge_into(struct arena *a, struct value *term, const void *with)
{
    const struct merge *m = with;
    const struct value *selector = value_slot(term, m->selector);
    if (selector->kind != VALUE_STRUCT)
        return false;
    struct value expressions = *value_slot(selector, SLOT_meta_v1_LabelSelector_matchExpressions);
    bool changed = merge_keys(a, m->labels, value_slot(term, m->match), "In", &expressions);
    if (m->has_mismatch)
        changed |= merge_keys(a, m->labels, value_slot(term, m->mismatch), "NotIn", &expressions);
    if (!changed)
        return false;
    struct value copy = copy_struct(a, selector);
    copy.slots[SLOT_meta_v1_LabelSelector_matchExpressions] = expressions;
    *term = copy_struct(a, term);
    term->slots[m->selector] = copy;
    return true;
}

static bool merge_into_weighted(struct arena *a, struct value *weighted, const void *with)
{
    struct value term = *GET(weighted, WeightedPodAffinityTerm, podAffinityTerm);
    if (!merge_into(a, &term, with))
        return false;
    *weighted = copy_struct(a, weighted);
    weighted->slots[SLOT_core_v1_WeightedPodAffinityTerm_podAffinityTerm] = term;
    return true;
}

static bool merge_into_affinity(struct arena *a, struct value *affinity, unsigned slot, const struct merge *m)
{
    struct value side = *value_slot(affinity, slot);
    if (side.kind != VALUE_STRUCT)
        return false;
    bool changed = change_list_in(a, &side, SLOT_core_v1_PodAffinity_preferredDuringSchedulingIgnoredDuringExecution,
                                  merge_into_weighted, m);
    changed |= change_list_in(a, &side, SLOT_core_v1_PodAffinity_requiredDuringSchedulingIgnoredDuringExecution,
                              merge_into, m);
    if (!changed)
        return false;
    *affinity = copy_struct(a, affinity);
    affinity->slots[slot] = side;
    return true;
}

static void merge_label_keys(struct arena *a, struct value *spec, const struct value *labels)
{
    struct merge term = { labels, SLOT_core_v1_PodAffinityTerm_labelSelector, SLOT_core_v1_PodAffinityTerm_matchLabelKeys,
                          SLOT_core_v1_PodAffinityTerm_mismatchLabelKeys, true };
    struct merge spread = { labels, SLOT_core_v1_TopologySpreadConstraint_labelSelector,
                            SLOT_core_v1_TopologySpreadConstraint_matchLabelKeys, 0, false };
    struct value affinity = *GET(spec, PodSpec, affinity);
    bool changed = merge_into_affinity(a, &affinity, SLOT_core_v1_Affinity_podAffinity, &term);
    changed |= merge_into_affinity(a, &affinity, SLOT_core_v1_Affinity_podAntiAffinity, &term);
    if (changed) {
        *spec = copy_struct(a, spec);
        spec->slots[SLOT_core_v1_PodSpec_affinity] = affinity;
    }
    change_list_in(a, spec, SLOT_core_v1_PodSpec_topologySpreadConstraints, merge_into, &spread);
}

/* ---- AppArmor: annotations become fields ---- */

struct armor {
    const struct rules_context *c;
    const struct value *annotations, *of_pod;
};

static bool take_profile(struct arena *a, struct value *container, const void *with)
{
    const struct armor *m = with;
    struct str name = TEXT(container, Container, name);
    const char *key = arena_printf(a, "container.apparmor.security.beta.kubernetes.io/%.*s", STR_ARG(name));
    struct value context = *GET(container, Container, securityContext);
    if (!pod_has_entry(m->annotations, str_of(key)) || IS_SET(&context, SecurityContext, appArmorProfile))
        return false;
    struct value profile = pod_profile_of_annotation(a, pod_entry(m->annotations, key));
    struct field_errors errs;
    field_errors_init(&errs, a);
    pod_check_app_armor(&profile, NULL, &errs);
    if (errs.n)
        profile = (struct value){ .kind = VALUE_ABSENT };
    bool differs = profile.kind != VALUE_ABSENT && !value_equal(&profile, m->of_pod);
    if (profile.kind == VALUE_ABSENT || differs)
        warnings_add(m->c->warnings,
                     "metadata.annotations[%s]: deprecated since v1.30; use the \"appArmorProfile\" field instead", key);
    if (!differs)
        return false;
    context = context.kind == VALUE_STRUCT ? copy_struct(a, &context)
                                           : value_struct(a, schema_type(STR("core/v1.SecurityContext")));
    context.slots[SLOT_core_v1_SecurityContext_appArmorProfile] = profile;
    *container = copy_struct(a, container);
    container->slots[SLOT_core_v1_Container_securityContext] = context;
    return true;
}

static void take_profiles(const struct rules_context *c, struct value *spec, const struct value *annotations)
{
    static const unsigned lists[] = { SLOT_core_v1_PodSpec_initContainers, SLOT_core_v1_PodSpec_containers,
                                      SLOT_core_v1_PodSpec_ephemeralContainers };
    struct armor m = { c, annotations, GET(GET(spec, PodSpec, securityContext), PodSecurityContext, appArmorProfile) };
    if (str_is(TEXT(GET(spec, PodSpec, os), PodOS, name), "windows") || !pod_count(annotations))
        return;
    for (size_t i = 0; i < N_OF(lists); i++)
        change_list_in(c->arena, spec, lists[i], take_profile, &m);
}

/* ---- New pods ---- */

static struct value gated_condition(const struct rules_context *c)
{
    struct value condition = value_struct(c->arena, schema_type(STR("core/v1.PodCondition")));
    condition.slots[SLOT_core_v1_PodCondition_type] = edit_text("PodScheduled");
    condition.slots[SLOT_core_v1_PodCondition_status] = edit_text("False");
    condition.slots[SLOT_core_v1_PodCondition_reason] = edit_text("SchedulingGated");
    condition.slots[SLOT_core_v1_PodCondition_message] =
        edit_text("Scheduling is blocked due to non-empty scheduling gates");
    condition.slots[SLOT_core_v1_PodCondition_lastTransitionTime] = value_time(c->now_s, 0);
    return condition;
}

/* The class that is stored already is kept, as upstream's GetPodQOS. */
static struct value first_status(const struct rules_context *c, const struct value *pod)
{
    const struct value *spec = GET(pod, Pod, spec), *given = GET(GET(pod, Pod, status), PodStatus, qosClass);
    struct value status = value_struct(c->arena, schema_type(STR("core/v1.PodStatus"))), none = { .kind = VALUE_ABSENT };
    status.slots[SLOT_core_v1_PodStatus_phase] = edit_text("Pending");
    status.slots[SLOT_core_v1_PodStatus_qosClass] =
        value_text(given).n ? *given : edit_text(pod_qos_class(c->arena, spec));
    if (pod_count(GET(spec, PodSpec, schedulingGates)))
        status.slots[SLOT_core_v1_PodStatus_conditions] = edit_append(c->arena, &none, gated_condition(c));
    return status;
}

struct value pod_prepare_create(const struct rules_context *c, const struct value *new)
{
    const struct value *meta = GET(new, Pod, metadata);
    struct value pod = copy_struct(c->arena, new), spec = pod_drop_disabled(c->arena, GET(new, Pod, spec));
    pod.slots[SLOT_core_v1_Pod_status] = first_status(c, new);
    if (spec.kind == VALUE_STRUCT) {
        merge_label_keys(c->arena, &spec, META(meta, labels));
        take_profiles(c, &spec, META(meta, annotations));
    }
    pod.slots[SLOT_core_v1_Pod_spec] = spec;
    return pod;
}

/* ---- Changes ---- */

static struct value with_spec(const struct rules_context *c, const struct value *pod, struct value spec)
{
    struct value changed = copy_struct(c->arena, pod);
    changed.slots[SLOT_core_v1_Pod_spec] = pod_drop_disabled(c->arena, &spec);
    return changed;
}

struct value pod_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value pod = rules_keep_status(c, new, old);
    return with_spec(c, &pod, *GET(new, Pod, spec));
}

/* As metav1.ResetObjectMetaForStatus: nothing of the metadata but managedFields and the version may change. */
static struct value keep_meta(const struct rules_context *c, const struct value *new, const struct value *old)
{
    static const char *const kept[] = { "metadata.deletionTimestamp", "metadata.generation", "metadata.selfLink",
                                        "metadata.labels", "metadata.annotations", "metadata.finalizers",
                                        "metadata.ownerReferences" };
    struct value pod = *new;
    for (size_t i = 0; i < N_OF(kept); i++)
        pod = edit_set(c->arena, pod_type(), &pod, kept[i], *value_path(pod_type(), old, kept[i]));
    return pod;
}

struct value pod_prepare_ephemeral(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value spec = *GET(old, Pod, spec), pod = keep_meta(c, new, old);
    pod = rules_keep_status(c, &pod, old);
    if (spec.kind == VALUE_STRUCT) {
        spec = copy_struct(c->arena, &spec);
        spec.slots[SLOT_core_v1_PodSpec_ephemeralContainers] = *GET(GET(new, Pod, spec), PodSpec, ephemeralContainers);
    }
    return with_spec(c, &pod, spec);
}

/* The old containers with resources and policies of the new ones; the new ones as they are when they are others. */
static struct value resized(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value list = *new;
    if (!pod_count(new))
        return list;
    list.items = ARENA_NEW_N(c->arena, struct value, new->n);
    for (uint32_t i = 0; i < new->n; i++) {
        if (!str_eq(TEXT(&new->items[i], Container, name), TEXT(&old->items[i], Container, name)))
            return *new;
        list.items[i] = copy_struct(c->arena, &old->items[i]);
        list.items[i].slots[SLOT_core_v1_Container_resources] = *GET(&new->items[i], Container, resources);
        list.items[i].slots[SLOT_core_v1_Container_resizePolicy] = *GET(&new->items[i], Container, resizePolicy);
    }
    return list;
}

struct value pod_prepare_resize(const struct rules_context *c, const struct value *new, const struct value *old)
{
    const struct value *spec = GET(new, Pod, spec), *was = GET(old, Pod, spec);
    const struct value *main = GET(spec, PodSpec, containers), *main_was = GET(was, PodSpec, containers);
    const struct value *init = GET(spec, PodSpec, initContainers), *init_was = GET(was, PodSpec, initContainers);
    if (was->kind != VALUE_STRUCT || pod_count(main) != pod_count(main_was) || pod_count(init) != pod_count(init_was))
        return with_spec(c, new, *spec);
    struct value copy = copy_struct(c->arena, was), pod = keep_meta(c, new, old);
    copy.slots[SLOT_core_v1_PodSpec_resources] = *GET(spec, PodSpec, resources);
    copy.slots[SLOT_core_v1_PodSpec_containers] = resized(c, main, main_was);
    copy.slots[SLOT_core_v1_PodSpec_initContainers] = resized(c, init, init_was);
    pod = rules_keep_status(c, &pod, old);
    return with_spec(c, &pod, copy);
}
