/* controllers/statefulset_objects.c - see statefulset_objects.h. */
#include "controllers/statefulset_objects.h"

#include "api/edit.h"
#include "controllers/pod_control.h"

#define POD_NAME_LABEL "statefulset.kubernetes.io/pod-name"
#define POD_INDEX_LABEL "apps.kubernetes.io/pod-index"
#define REVISION_LABEL "controller-revision-hash"

static const struct type *sets(void)
{
    return schema_type(STR("apps/v1.StatefulSet"));
}

static const struct type *pods(void)
{
    return schema_type(STR("core/v1.Pod"));
}

static const struct type *claims(void)
{
    return schema_type(STR("core/v1.PersistentVolumeClaim"));
}

/* ---- Identity ---- */

static const char *pod_name(const struct statefulset_objects *o, int64_t ordinal)
{
    return arena_printf(o->arena, "%.*s-%lld", STR_ARG(o->owner->name), (long long)ordinal);
}

static struct value with_label(const struct statefulset_objects *o, const struct value *pod, const char *key, struct value to)
{
    struct value labels = edit_member(o->arena, value_path(pods(), pod, "metadata.labels"), str_of(key), to);
    return edit_set(o->arena, pods(), pod, "metadata.labels", labels);
}

static struct value with_identity(const struct statefulset_objects *o, const struct value *pod, int64_t ordinal)
{
    struct value name = edit_text(pod_name(o, ordinal));
    struct value v = edit_set(o->arena, pods(), pod, "metadata.name", name);
    v = with_label(o, &v, POD_NAME_LABEL, name);
    return with_label(o, &v, POD_INDEX_LABEL, edit_text(arena_printf(o->arena, "%lld", (long long)ordinal)));
}

/* ---- Volumes ---- */

static const struct value *claim_templates(const struct statefulset_objects *o)
{
    return value_path(sets(), o->set, "spec.volumeClaimTemplates");
}

size_t statefulset_n_claims(const struct statefulset_objects *o)
{
    return claim_templates(o)->kind == VALUE_LIST ? claim_templates(o)->n : 0;
}

static struct str template_name(const struct statefulset_objects *o, size_t i)
{
    return value_text(value_path(claims(), &claim_templates(o)->items[i], "metadata.name"));
}

struct str statefulset_claim_name(const struct statefulset_objects *o, size_t i, int64_t ordinal)
{
    return str_of(arena_printf(o->arena, "%.*s-%.*s-%lld", STR_ARG(template_name(o, i)), STR_ARG(o->owner->name),
                               (long long)ordinal));
}

static bool is_template_name(const struct statefulset_objects *o, struct str name)
{
    for (size_t i = 0; i < statefulset_n_claims(o); i++)
        if (str_eq(template_name(o, i), name))
            return true;
    return false;
}

static struct value with_volumes(const struct statefulset_objects *o, const struct value *pod, int64_t ordinal)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    const struct value *old = value_path(pods(), pod, "spec.volumes");
    struct value list = { .kind = VALUE_ABSENT };
    for (size_t i = 0; i < statefulset_n_claims(o); i++) {
        struct value v = value_struct(o->arena, t);
        v = edit_set(o->arena, t, &v, "name", value_string(template_name(o, i)));
        v = edit_set(o->arena, t, &v, "persistentVolumeClaim.claimName", value_string(statefulset_claim_name(o, i, ordinal)));
        list = edit_append(o->arena, &list, v);
    }
    for (uint32_t i = 0; old->kind == VALUE_LIST && i < old->n; i++)
        if (!is_template_name(o, value_text(value_path(t, &old->items[i], "name"))))
            list = edit_append(o->arena, &list, old->items[i]);
    return edit_set(o->arena, pods(), pod, "spec.volumes", list);
}

static bool has_volume(const struct value *pod, struct str name, struct str claim)
{
    const struct type *t = schema_type(STR("core/v1.Volume"));
    const struct value *list = value_path(pods(), pod, "spec.volumes");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_eq(value_text(value_path(t, &list->items[i], "name")), name))
            return str_eq(value_text(value_path(t, &list->items[i], "persistentVolumeClaim.claimName")), claim);
    return false;
}

/* ---- Pods ---- */

struct value statefulset_make_pod(const struct statefulset_objects *o, const struct value *template, int64_t ordinal,
                                  struct str revision)
{
    struct arena *a = o->arena;
    struct value v = pod_from_template(a, template, o->owner);
    v = with_identity(o, &v, ordinal);
    v = edit_set(a, pods(), &v, "spec.hostname", edit_text(pod_name(o, ordinal)));
    v = edit_set(a, pods(), &v, "spec.subdomain", *value_path(sets(), o->set, "spec.serviceName"));
    v = with_volumes(o, &v, ordinal);
    return with_label(o, &v, REVISION_LABEL, value_string(revision));
}

struct value statefulset_mend_pod(const struct statefulset_objects *o, const struct value *pod, int64_t ordinal)
{
    struct value v = with_identity(o, pod, ordinal);
    return with_volumes(o, &v, ordinal);
}

bool statefulset_pod_matches(const struct statefulset_objects *o, const struct value *pod, int64_t ordinal)
{
    const struct value *labels = value_path(pods(), pod, "metadata.labels");
    const struct value *label = labels->kind == VALUE_MAP ? value_member(labels, STR(POD_NAME_LABEL)) : NULL;
    struct str name = value_text(value_path(pods(), pod, "metadata.name"));
    if (!str_is(name, pod_name(o, ordinal)) || !label || !str_eq(value_text(label), name))
        return false;
    for (size_t i = 0; i < statefulset_n_claims(o); i++)
        if (!has_volume(pod, template_name(o, i), statefulset_claim_name(o, i, ordinal)))
            return false;
    return true;
}

/* ---- Claims ---- */

struct value statefulset_make_claim(const struct statefulset_objects *o, size_t i, int64_t ordinal)
{
    struct arena *a = o->arena;
    const struct value *selected = value_path(sets(), o->set, "spec.selector.matchLabels");
    struct value v = claim_templates(o)->items[i];
    struct value labels = *value_path(claims(), &v, "metadata.labels");
    for (uint32_t k = 0; selected->kind == VALUE_MAP && k < selected->n; k++)
        labels = edit_member(a, &labels, selected->members[k].key, selected->members[k].value);
    v = edit_set(a, claims(), &v, "kind", edit_text("PersistentVolumeClaim"));
    v = edit_set(a, claims(), &v, "apiVersion", edit_text("v1"));
    v = edit_set(a, claims(), &v, "metadata.name", value_string(statefulset_claim_name(o, i, ordinal)));
    v = edit_set(a, claims(), &v, "metadata.namespace", value_string(o->owner->ns));
    return edit_set(a, claims(), &v, "metadata.labels", labels);
}

/* ---- Owners of claims ---- */

static const struct type *references(void)
{
    return schema_type(STR("meta/v1.OwnerReference"));
}

static struct str of_reference(const struct value *ref, const char *field)
{
    return value_text(value_path(references(), ref, field));
}

static bool is_controller(const struct value *ref)
{
    const struct value *v = value_path(references(), ref, "controller");
    return v->kind == VALUE_BOOL && v->b;
}

static bool names_set(const struct statefulset_objects *o, const struct value *ref)
{
    return str_is(of_reference(ref, "apiVersion"), "apps/v1") && str_is(of_reference(ref, "kind"), "StatefulSet") &&
           str_eq(of_reference(ref, "name"), o->owner->name);
}

static bool names_pod(const struct statefulset_claim_pod *pod, const struct value *ref)
{
    return str_is(of_reference(ref, "apiVersion"), "v1") && str_is(of_reference(ref, "kind"), "Pod") &&
           str_eq(of_reference(ref, "name"), pod->name);
}

static bool deletes(const struct statefulset_objects *o, const char *path)
{
    return str_is(value_text(value_path(sets(), o->set, path)), "Delete");
}

/* What the owner references of a claim say. */
struct owners {
    bool has_set, has_pod;   /* ours */
    bool is_stale;           /* of our names, but others */
    bool has_other;          /* another controller */
    bool is_no_controller;   /* ours, but not as a controller */
};

static struct owners look_at_owners(const struct statefulset_objects *o, const struct value *claim,
                                    const struct statefulset_claim_pod *pod)
{
    const struct value *list = value_path(claims(), claim, "metadata.ownerReferences");
    struct owners found = { 0 };
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *ref = &list->items[i];
        bool set = str_eq(of_reference(ref, "uid"), o->owner->uid);
        bool its_pod = pod->uid.n && str_eq(of_reference(ref, "uid"), pod->uid);
        found.has_set |= set;
        found.has_pod |= its_pod;
        found.is_stale |= (names_set(o, ref) && !set) || (names_pod(pod, ref) && !its_pod);
        found.has_other |= is_controller(ref) && !names_set(o, ref) && !names_pod(pod, ref);
        found.is_no_controller |= (set || its_pod) && !is_controller(ref);
    }
    return found;
}

static bool policy_wants_set(const struct statefulset_objects *o, const struct statefulset_claim_pod *pod)
{
    bool scaled = deletes(o, "spec.persistentVolumeClaimRetentionPolicy.whenScaled");
    return deletes(o, "spec.persistentVolumeClaimRetentionPolicy.whenDeleted") && (!scaled || pod->in_range);
}

static bool policy_wants_pod(const struct statefulset_objects *o, const struct statefulset_claim_pod *pod)
{
    return deletes(o, "spec.persistentVolumeClaimRetentionPolicy.whenScaled") && !pod->in_range;
}

/* Whether the policy ever wants an owner: if not, other controllers are none of our business. */
static bool policy_deletes(const struct statefulset_objects *o)
{
    return deletes(o, "spec.persistentVolumeClaimRetentionPolicy.whenScaled") ||
           deletes(o, "spec.persistentVolumeClaimRetentionPolicy.whenDeleted");
}

bool statefulset_claim_is_right(const struct statefulset_objects *o, const struct value *claim,
                                const struct statefulset_claim_pod *pod)
{
    struct owners found = look_at_owners(o, claim, pod);
    if (found.is_stale)
        return true; /* the collector of garbage will see to it */
    if (found.has_other && policy_deletes(o))
        return !found.has_set && !found.has_pod;
    return !found.is_no_controller && found.has_set == policy_wants_set(o, pod) && found.has_pod == policy_wants_pod(o, pod);
}

struct value statefulset_own_claim(const struct statefulset_objects *o, const struct value *claim,
                                   const struct statefulset_claim_pod *pod)
{
    const struct value *list = value_path(claims(), claim, "metadata.ownerReferences");
    struct object_reference pod_ref = { .kind = STR("Pod"), .api_version = STR("v1"), .name = pod->name, .uid = pod->uid };
    struct value kept = { .kind = VALUE_ABSENT };
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (!names_set(o, &list->items[i]) && !names_pod(pod, &list->items[i]))
            kept = edit_append(o->arena, &kept, list->items[i]);
    bool ours = !look_at_owners(o, claim, pod).has_other || !policy_deletes(o);
    if (ours && policy_wants_set(o, pod))
        kept = edit_append(o->arena, &kept, controller_reference(o->arena, o->owner));
    if (ours && policy_wants_pod(o, pod) && pod->uid.n)
        kept = edit_append(o->arena, &kept, controller_reference(o->arena, &pod_ref));
    return edit_set(o->arena, claims(), claim, "metadata.ownerReferences", kept);
}

bool statefulset_claim_is_stale(const struct statefulset_objects *o, const struct value *claim,
                                const struct statefulset_claim_pod *pod)
{
    const struct value *list = value_path(claims(), claim, "metadata.ownerReferences");
    if (!deletes(o, "spec.persistentVolumeClaimRetentionPolicy.whenScaled"))
        return false;
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (names_pod(pod, &list->items[i]) && !str_eq(of_reference(&list->items[i], "uid"), pod->uid))
            return true;
    return false;
}
