/* apiserver/shown_metadata.c - metadata in tables and as PartialObjectMetadata: that of upstream's internal version of a kind,
 * which has fields for what some annotations of the served version say. See table.h. */
#include "api/edit.h"
#include "apiserver/table.h"

#define NAME(text) { text, sizeof(text) - 1 }

static const struct annotation {
    struct str type, key;
} internal_fields[] = {
    { NAME("apps/v1.DaemonSet"), NAME("deprecated.daemonset.template.generation") },
    { NAME("autoscaling/v1.HorizontalPodAutoscaler"), NAME("autoscaling.alpha.kubernetes.io/behavior") },
    { NAME("autoscaling/v1.HorizontalPodAutoscaler"), NAME("autoscaling.alpha.kubernetes.io/conditions") },
    { NAME("autoscaling/v1.HorizontalPodAutoscaler"), NAME("autoscaling.alpha.kubernetes.io/current-metrics") },
    { NAME("autoscaling/v1.HorizontalPodAutoscaler"), NAME("autoscaling.alpha.kubernetes.io/metrics") },
};
enum { N_INTERNAL = sizeof(internal_fields) / sizeof(internal_fields[0]) };

static bool is_internal(const struct type *t, struct str key)
{
    for (size_t i = 0; i < N_INTERNAL; i++)
        if (str_eq(t->name, internal_fields[i].type) && str_eq(key, internal_fields[i].key))
            return true;
    return false;
}

static bool has_internal(const struct type *t)
{
    for (size_t i = 0; i < N_INTERNAL; i++)
        if (str_eq(t->name, internal_fields[i].type))
            return true;
    return false;
}

static struct value without_internal(struct arena *a, const struct type *t, const struct value *annotations)
{
    struct value out = *annotations;
    out.members = ARENA_NEW_N(a, struct member, annotations->n);
    out.n = 0;
    for (uint32_t i = 0; i < annotations->n; i++)
        if (!is_internal(t, annotations->members[i].key))
            out.members[out.n++] = annotations->members[i];
    return out.n ? out : (struct value){ .kind = VALUE_ABSENT };
}

struct value shown_metadata(struct arena *a, const struct type *t, const struct value *v)
{
    const struct value *meta = value_path(t, v, "metadata"), *annotations = value_path(t, v, "metadata.annotations");
    if (annotations->kind != VALUE_MAP || !has_internal(t))
        return *meta;
    struct value changed = edit_set(a, t, v, "metadata.annotations", without_internal(a, t, annotations));
    return *value_path(t, &changed, "metadata");
}
