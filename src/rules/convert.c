/* rules/convert.c - see convert.h: kinds, names, and the walk over both.
 *
 * Fields keep their names but for those in `names`. A place in v2 may be deeper than in v1: "metric.name" instead of
 * "metricName". */
#include "rules/convert.h"

#include <assert.h>

#include "api/edit.h"
#include "rules/convert_priv.h"

static const struct pair {
    const char *served, *stored, *api_version, *stored_api_version;
} pairs[] = {
    { "events.k8s.io/v1.Event", "core/v1.Event", "events.k8s.io/v1", "v1" },
    { "autoscaling/v1.HorizontalPodAutoscaler", "autoscaling/v2.HorizontalPodAutoscaler", "autoscaling/v1",
      "autoscaling/v2" },
};

static const struct name {
    const char *type, *field, *path; /* the served type, its field, where it is in the stored one */
} names[] = {
    { "events.k8s.io/v1.Event", "regarding", "involvedObject" },
    { "events.k8s.io/v1.Event", "note", "message" },
    { "events.k8s.io/v1.Event", "reportingController", "reportingComponent" },
    { "events.k8s.io/v1.Event", "deprecatedSource", "source" },
    { "events.k8s.io/v1.Event", "deprecatedFirstTimestamp", "firstTimestamp" },
    { "events.k8s.io/v1.Event", "deprecatedLastTimestamp", "lastTimestamp" },
    { "events.k8s.io/v1.Event", "deprecatedCount", "count" },
    { "autoscaling/v1.ExternalMetricSource", "metricName", "metric.name" },
    { "autoscaling/v1.ExternalMetricSource", "metricSelector", "metric.selector" },
    { "autoscaling/v1.ExternalMetricSource", "targetValue", "target.value" },
    { "autoscaling/v1.ExternalMetricSource", "targetAverageValue", "target.averageValue" },
    { "autoscaling/v1.ObjectMetricSource", "target", "describedObject" },
    { "autoscaling/v1.ObjectMetricSource", "metricName", "metric.name" },
    { "autoscaling/v1.ObjectMetricSource", "selector", "metric.selector" },
    { "autoscaling/v1.ObjectMetricSource", "targetValue", "target.value" },
    { "autoscaling/v1.ObjectMetricSource", "averageValue", "target.averageValue" },
    { "autoscaling/v1.PodsMetricSource", "metricName", "metric.name" },
    { "autoscaling/v1.PodsMetricSource", "selector", "metric.selector" },
    { "autoscaling/v1.PodsMetricSource", "targetAverageValue", "target.averageValue" },
    { "autoscaling/v1.ResourceMetricSource", "targetAverageUtilization", "target.averageUtilization" },
    { "autoscaling/v1.ResourceMetricSource", "targetAverageValue", "target.averageValue" },
    { "autoscaling/v1.ContainerResourceMetricSource", "targetAverageUtilization", "target.averageUtilization" },
    { "autoscaling/v1.ContainerResourceMetricSource", "targetAverageValue", "target.averageValue" },
    { "autoscaling/v1.ExternalMetricStatus", "metricName", "metric.name" },
    { "autoscaling/v1.ExternalMetricStatus", "metricSelector", "metric.selector" },
    { "autoscaling/v1.ExternalMetricStatus", "currentValue", "current.value" },
    { "autoscaling/v1.ExternalMetricStatus", "currentAverageValue", "current.averageValue" },
    { "autoscaling/v1.ObjectMetricStatus", "target", "describedObject" },
    { "autoscaling/v1.ObjectMetricStatus", "metricName", "metric.name" },
    { "autoscaling/v1.ObjectMetricStatus", "selector", "metric.selector" },
    { "autoscaling/v1.ObjectMetricStatus", "currentValue", "current.value" },
    { "autoscaling/v1.ObjectMetricStatus", "averageValue", "current.averageValue" },
    { "autoscaling/v1.PodsMetricStatus", "metricName", "metric.name" },
    { "autoscaling/v1.PodsMetricStatus", "selector", "metric.selector" },
    { "autoscaling/v1.PodsMetricStatus", "currentAverageValue", "current.averageValue" },
    { "autoscaling/v1.ResourceMetricStatus", "currentAverageUtilization", "current.averageUtilization" },
    { "autoscaling/v1.ResourceMetricStatus", "currentAverageValue", "current.averageValue" },
    { "autoscaling/v1.ContainerResourceMetricStatus", "currentAverageUtilization", "current.averageUtilization" },
    { "autoscaling/v1.ContainerResourceMetricStatus", "currentAverageValue", "current.averageValue" },
};
enum { N_PAIRS = sizeof(pairs) / sizeof(pairs[0]), N_NAMES = sizeof(names) / sizeof(names[0]) };

/* ---- The walk ---- */

/* Whether a name of the served type, or the first part of a path in the stored one, has a row of its own. */
static bool is_renamed(struct str type, bool served, struct str field)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        struct str path = str_of(served ? names[i].field : names[i].path);
        if (str_is(type, names[i].type) && str_eq(str_first(path, str_index(path, '.')), field))
            return true;
    }
    return false;
}

static const struct type *type_at(const struct type *t, const char *path)
{
    for (struct str left = str_of(path); left.n && t;) {
        size_t end = str_index(left, '.');
        int slot = schema_slot(t, str_first(left, end));
        assert(slot >= 0);
        t = t->fields[slot].kind == KIND_STRUCT ? t->fields[slot].type : NULL;
        left = str_from(left, end < left.n ? end + 1 : end);
    }
    return t;
}

/* A value below, of those types; NULL: of no struct. */
static struct value convert_value(struct arena *a, const struct type *from, const struct type *to,
                                  const struct value *v)
{
    if (!from || from == to)
        return *v;
    return v->kind == VALUE_LIST ? convert_list(a, from, to, v) : convert_struct(a, from, to, v);
}

static void copy_same_names(struct arena *a, const struct type *from, const struct type *to, struct str served,
                            const struct value *v, struct value *ret)
{
    bool from_served = str_eq(from->name, served);
    for (unsigned i = 0; i < to->n_fields; i++) {
        const struct field *f = &to->fields[i];
        int slot = schema_slot(from, f->name);
        if (slot < 0 || is_renamed(served, from_served, f->name) || is_renamed(served, !from_served, f->name) ||
            v->slots[slot].kind == VALUE_ABSENT)
            continue;
        const struct type *inside = from->fields[slot].kind == KIND_STRUCT ? from->fields[slot].type : NULL;
        ret->slots[i] = convert_value(a, inside, f->type, &v->slots[slot]);
    }
}

static void copy_renamed(struct arena *a, const struct type *from, const struct type *to, struct str served,
                         const struct value *v, struct value *ret)
{
    bool from_served = str_eq(from->name, served);
    for (size_t i = 0; i < N_NAMES; i++) {
        if (!str_is(served, names[i].type))
            continue;
        const char *source = from_served ? names[i].field : names[i].path;
        const char *target = from_served ? names[i].path : names[i].field;
        const struct value *found = value_path(from, v, source);
        if (found->kind != VALUE_ABSENT)
            *ret = edit_set(a, to, ret, target, convert_value(a, type_at(from, source), type_at(to, target), found));
    }
}

/* Which of two types is the served one: names are given from its side. */
static struct str served_name(const struct type *from, const struct type *to)
{
    bool to_stored = str_starts(to->name, STR("core/")) || str_starts(to->name, STR("autoscaling/v2."));
    return to_stored ? from->name : to->name;
}

struct value convert_struct(struct arena *a, const struct type *from, const struct type *to, const struct value *v)
{
    if (v->kind != VALUE_STRUCT || from == to)
        return *v;
    struct value result = value_struct(a, to);
    struct str served = served_name(from, to);
    copy_same_names(a, from, to, served, v, &result);
    copy_renamed(a, from, to, served, v, &result);
    if (str_eq(from->name, served))
        metric_to_v2(a, from, &result);
    return result;
}

struct value convert_list(struct arena *a, const struct type *from, const struct type *to, const struct value *list)
{
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct value *items = ARENA_NEW_N(a, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = convert_struct(a, from, to, &list->items[i]);
    return value_list(items, n);
}

/* ---- Kinds ---- */

static const struct pair *pair_of(struct str type)
{
    for (size_t i = 0; i < N_PAIRS; i++)
        if (str_is(type, pairs[i].served) || str_is(type, pairs[i].stored))
            return &pairs[i];
    return NULL;
}

const struct type *convert_stored_type(const struct type *served)
{
    const struct pair *p = pair_of(served->name);
    return p ? schema_type(str_of(p->stored)) : served;
}

enum err_code convert(struct arena *a, const struct type *from, const struct type *to, const struct value *v,
                      struct value *ret_value, struct err *e)
{
    (void)e;
    if (from == to) {
        *ret_value = *v;
        return ERR_OK;
    }
    const struct pair *p = pair_of(from->name);
    assert(p && p == pair_of(to->name));
    bool to_stored = str_is(to->name, p->stored);
    struct value result = convert_struct(a, from, to, v);
    if (str_is(to->name, "autoscaling/v2.HorizontalPodAutoscaler"))
        autoscaler_to_v2(a, v, &result);
    if (str_is(to->name, "autoscaling/v1.HorizontalPodAutoscaler"))
        autoscaler_to_v1(a, v, &result);
    result.slots[SLOT_KIND] = value_string(to->kind);
    result.slots[SLOT_API_VERSION] = edit_text(to_stored ? p->stored_api_version : p->api_version);
    *ret_value = result;
    return ERR_OK;
}
