/* rules/convert_autoscaler.c - HorizontalPodAutoscaler between autoscaling/v1 and v2: see convert.h.
 *
 * v1 knows a target for the use of CPU and nothing else. All other metrics, conditions and the behavior are texts in
 * its annotations: metrics in the form that v1 has for them, the behavior as Go writes the internal type. Texts that
 * are not what they should be are dropped without a word, as upstream does, and so is what they would have said. */
#include <stdio.h>

#include "api/edit.h"
#include "codec/json.h"
#include "rules/convert_priv.h"
#include "rules/place.h"

#define PREFIX "autoscaling.alpha.kubernetes.io/"
#define METRICS PREFIX "metrics"
#define CURRENT_METRICS PREFIX "current-metrics"
#define CONDITIONS PREFIX "conditions"
#define BEHAVIOR PREFIX "behavior"

static const struct type *v1_type(void)
{
    return schema_type(STR("autoscaling/v1.HorizontalPodAutoscaler"));
}

static const struct type *v2_type(void)
{
    return schema_type(STR("autoscaling/v2.HorizontalPodAutoscaler"));
}

/* ---- Metrics ---- */

static const struct type *stored_metric(const struct type *v1)
{
    struct str name = str_from(v1->name, str_index(v1->name, '.') + 1);
    char full[80];
    int n = snprintf(full, sizeof(full), "autoscaling/v2.%.*s", STR_ARG(name));
    return schema_type((struct str){ full, (size_t)n });
}

/* An amount that v1 has in any case, although it may be nothing. */
static void always(struct arena *a, const struct type *t, struct value *metric, const char *path)
{
    if (value_path(t, metric, path)->kind == VALUE_ABSENT)
        *metric = edit_set(a, t, metric, path, edit_text("0"));
}

static bool is_set(const struct type *t, const struct value *metric, const char *path)
{
    return value_path(t, metric, path)->kind != VALUE_ABSENT;
}

static void fill_object_target(struct arena *a, const struct type *t, struct value *metric)
{
    bool average = is_set(t, metric, "target.averageValue");
    if (!average)
        always(a, t, metric, "target.value");
    else if (str_is(value_text(value_path(t, metric, "target.value")), "0"))
        *metric = edit_set(a, t, metric, "target.value", (struct value){ 0 });
    *metric = edit_set(a, t, metric, "target.type", edit_text(average ? "AverageValue" : "Value"));
}

void metric_to_v2(struct arena *a, const struct type *v1, struct value *metric)
{
    if (!str_starts(v1->name, STR("autoscaling/v1.")))
        return;
    struct str name = str_from(v1->name, str_index(v1->name, '.') + 1);
    const struct type *t = stored_metric(v1);
    if (str_is(name, "ExternalMetricSource")) {
        bool value = is_set(t, metric, "target.value");
        *metric = edit_set(a, t, metric, "target.type", edit_text(value ? "Value" : "AverageValue"));
    } else if (str_is(name, "ObjectMetricSource")) {
        fill_object_target(a, t, metric);
    } else if (str_is(name, "PodsMetricSource")) {
        always(a, t, metric, "target.averageValue");
        *metric = edit_set(a, t, metric, "target.type", edit_text("AverageValue"));
    } else if (str_is(name, "ResourceMetricSource") || str_is(name, "ContainerResourceMetricSource")) {
        bool use = is_set(t, metric, "target.averageUtilization");
        *metric = edit_set(a, t, metric, "target.type", edit_text(use ? "Utilization" : "AverageValue"));
    } else if (str_is(name, "ExternalMetricStatus") || str_is(name, "ObjectMetricStatus")) {
        always(a, t, metric, "current.value");
    } else if (str_ends(name, STR("MetricStatus")) && !str_is(name, "MetricStatus")) {
        always(a, t, metric, "current.averageValue");
    }
}

/* The one that v1 has a field for: how much of the requested CPU is used. `target` is "target" or "current". */
static const struct value *cpu_use(const struct type *t, const struct value *metric, const char *path)
{
    static const struct value none;
    bool cpu = str_is(value_text(value_path(t, metric, "type")), "Resource") &&
               str_is(value_text(value_path(t, metric, "resource.name")), "cpu");
    return cpu ? value_path(t, metric, path) : &none;
}

/* ---- To v1 ---- */

static struct value without_annotations(struct arena *a, const struct value *all)
{
    static const char *const dropped[] = { METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR,
                                           PREFIX "scale-down-tolerance",
                                           PREFIX "scale-up-tolerance", NULL };
    struct value left = { 0 };
    if (all->kind != VALUE_MAP)
        return left;
    struct member *members = ARENA_NEW_N(a, struct member, all->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (!text_is_one_of(all->members[i].key, dropped))
            members[n++] = all->members[i];
    return n ? value_map(members, n) : left;
}

struct value autoscaler_without_annotations(struct arena *a, const struct type *t, const struct value *v)
{
    const struct value *all = value_path(t, v, "metadata.annotations");
    if (all->kind == VALUE_ABSENT)
        return *v;
    return edit_set(a, t, v, "metadata.annotations", without_annotations(a, all));
}

static struct value annotate(struct arena *a, const struct value *v, const char *key, struct str text)
{
    const struct type *t = v1_type();
    struct value all = edit_member(a, value_path(t, v, "metadata.annotations"), str_of(key), value_string(text));
    return edit_set(a, t, v, "metadata.annotations", all);
}

/* A list of structs as a JSON text. */
static struct str list_text(struct arena *a, const struct type *t, const struct value *list)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_add_char(&json, '[');
    for (uint32_t i = 0; i < list->n; i++) {
        if (i)
            strbuf_add_char(&json, ',');
        json_encode(&json, t, &list->items[i]);
    }
    strbuf_add_char(&json, ']');
    return field_take_text(a, &json);
}

/* A list of v2 as a text of v1, unless it is empty. */
static void annotate_list(struct arena *a, struct value *to, const char *key, const char *type,
                          const struct value *list)
{
    const struct type *v1 = schema_type(str_of(type)), *v2 = stored_metric(v1);
    if (list->kind != VALUE_LIST || !list->n)
        return;
    struct value converted = convert_list(a, v2, v1, list);
    *to = annotate(a, to, key, list_text(a, v1, &converted));
}

static void annotate_behavior(struct arena *a, const struct value *v, struct value *to)
{
    struct field_errors none;
    struct rules_context c = { .arena = a, .type = v2_type() };
    field_errors_init(&none, a);
    struct place root = place_root(&c, v, &none), spec = place_child(&root, "spec");
    struct place behavior = place_child(&spec, "behavior");
    if (place_is_set(&behavior))
        *to = annotate(a, to, BEHAVIOR, place_shown_as_go(&behavior).text);
}

void autoscaler_to_v1(struct arena *a, const struct value *v, struct value *to)
{
    const struct type *metric = schema_type(STR("autoscaling/v2.MetricSpec")), *t = v2_type();
    const struct type *status = schema_type(STR("autoscaling/v2.MetricStatus"));
    const struct value *metrics = value_path(t, v, "spec.metrics"),
                       *current = value_path(t, v, "status.currentMetrics");
    uint32_t n_metrics = metrics->kind == VALUE_LIST ? metrics->n : 0, n_others = 0;
    struct value *others = ARENA_NEW_N(a, struct value, n_metrics);
    const struct value *use = &(struct value){ 0 };
    *to = autoscaler_without_annotations(a, v1_type(), to);
    for (uint32_t i = 0; i < n_metrics; i++) {
        const struct value *found = cpu_use(metric, &metrics->items[i], "resource.target.averageUtilization");
        if (found->kind == VALUE_ABSENT)
            others[n_others++] = metrics->items[i];
        else if (use->kind == VALUE_ABSENT)
            use = found;
    }
    if (use->kind != VALUE_ABSENT)
        *to = edit_set(a, v1_type(), to, "spec.targetCPUUtilizationPercentage", *use);
    for (uint32_t i = 0; current->kind == VALUE_LIST && i < current->n; i++) {
        const struct value *found = cpu_use(status, &current->items[i], "resource.current.averageUtilization");
        if (found->kind != VALUE_ABSENT)
            *to = edit_set(a, v1_type(), to, "status.currentCPUUtilizationPercentage", *found);
    }
    struct value rest = value_list(others, n_others);
    annotate_list(a, to, METRICS, "autoscaling/v1.MetricSpec", &rest);
    annotate_list(a, to, CURRENT_METRICS, "autoscaling/v1.MetricStatus", current);
    annotate_behavior(a, v, to);
    annotate_list(a, to, CONDITIONS, "autoscaling/v1.HorizontalPodAutoscalerCondition",
                  value_path(t, v, "status.conditions"));
}

/* ---- To v2 ---- */

static struct str annotation(const struct value *v, const char *key)
{
    const struct value *all = value_path(v1_type(), v, "metadata.annotations");
    const struct value *found = all->kind == VALUE_MAP ? value_member(all, str_of(key)) : NULL;
    return found ? value_text(found) : (struct str){ NULL, 0 };
}

/* The field of v2 that an annotation holds as a list of v1. */
static bool read_list(struct arena *a, const struct value *v, const char *key, const char *type, struct value *ret_list)
{
    const struct type *v1 = schema_type(str_of(type)), *v2 = stored_metric(v1);
    struct str text = annotation(v, key);
    struct value plain;
    struct err e;
    err_init(&e, a);
    if (!text.n || json_decode_plain(a, WORK_OWN, text, &plain, &e) || plain.kind != VALUE_LIST)
        return false;
    struct value *items = ARENA_NEW_N(a, struct value, plain.n);
    for (uint32_t i = 0; i < plain.n; i++) {
        struct strbuf json;
        struct value item;
        strbuf_init(&json, STRBUF_NO_MAX);
        json_encode_plain(&json, &plain.items[i]);
        if (json_decode(a, WORK_OWN, v1, field_take_text(a, &json), NULL, &item, &e))
            return false;
        items[i] = convert_struct(a, v1, v2, &item);
    }
    *ret_list = value_list(items, plain.n);
    return true;
}

/* Names as Go writes them begin with a capital. */
static struct value with_small_names(struct arena *a, const struct value *v)
{
    if (v->kind == VALUE_LIST) {
        struct value *items = ARENA_NEW_N(a, struct value, v->n);
        for (uint32_t i = 0; i < v->n; i++)
            items[i] = with_small_names(a, &v->items[i]);
        return value_list(items, v->n);
    }
    if (v->kind != VALUE_MAP)
        return *v;
    struct member *members = ARENA_NEW_N(a, struct member, v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        char *name = arena_cstr(a, v->members[i].key);
        if (*name >= 'A' && *name <= 'Z')
            *name = (char)(*name - 'A' + 'a');
        members[i] = (struct member){ { name, v->members[i].key.n }, with_small_names(a, &v->members[i].value) };
    }
    return value_map(members, value_sort_members(members, v->n));
}

static void read_behavior(struct arena *a, const struct value *v, struct value *to)
{
    const struct type *t = schema_type(STR("autoscaling/v2.HorizontalPodAutoscalerBehavior"));
    struct str text = annotation(v, BEHAVIOR);
    struct value plain, behavior;
    struct strbuf json;
    struct err e;
    err_init(&e, a);
    if (!text.n || json_decode_plain(a, WORK_OWN, text, &plain, &e))
        return;
    plain = with_small_names(a, &plain);
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_plain(&json, &plain);
    if (json_decode(a, WORK_OWN, t, field_take_text(a, &json), NULL, &behavior, &e) || behavior.kind != VALUE_STRUCT)
        return;
    if (is_set(t, &behavior, "scaleUp") || is_set(t, &behavior, "scaleDown"))
        *to = edit_set(a, v2_type(), to, "spec.behavior", behavior);
}

/* A metric about CPU with one number in it; `path` of the number. */
static struct value cpu_metric(struct arena *a, const struct type *t, const char *path, struct value use)
{
    struct value metric = value_struct(a, t);
    metric = edit_set(a, t, &metric, "type", edit_text("Resource"));
    metric = edit_set(a, t, &metric, "resource.name", edit_text("cpu"));
    return edit_set(a, t, &metric, path, use);
}

static void read_metrics(struct arena *a, const struct value *v, struct value *to)
{
    const struct type *metric = schema_type(STR("autoscaling/v2.MetricSpec"));
    const struct value *use = value_path(v1_type(), v, "spec.targetCPUUtilizationPercentage");
    struct value list = { 0 };
    read_list(a, v, METRICS, "autoscaling/v1.MetricSpec", &list);
    if (use->kind == VALUE_INT) {
        struct value one = cpu_metric(a, metric, "resource.target.averageUtilization", *use);
        list = edit_append(a, &list, edit_set(a, metric, &one, "resource.target.type", edit_text("Utilization")));
    }
    if (list.kind == VALUE_LIST)
        *to = edit_set(a, v2_type(), to, "spec.metrics", list);
}

static void read_status(struct arena *a, const struct value *v, struct value *to)
{
    const struct type *status = schema_type(STR("autoscaling/v2.MetricStatus"));
    const struct value *use = value_path(v1_type(), v, "status.currentCPUUtilizationPercentage");
    struct value list;
    if (read_list(a, v, CURRENT_METRICS, "autoscaling/v1.MetricStatus", &list)) {
        *to = edit_set(a, v2_type(), to, "status.currentMetrics", list);
    } else if (use->kind == VALUE_INT) {
        struct value one = cpu_metric(a, status, "resource.current.averageUtilization", *use);
        *to = edit_set(a, v2_type(), to, "status.currentMetrics", edit_append(a, &(struct value){ 0 }, one));
    }
    if (read_list(a, v, CONDITIONS, "autoscaling/v1.HorizontalPodAutoscalerCondition", &list))
        *to = edit_set(a, v2_type(), to, "status.conditions", list);
}

void autoscaler_to_v2(struct arena *a, const struct value *v, struct value *to)
{
    read_metrics(a, v, to);
    read_behavior(a, v, to);
    read_status(a, v, to);
    *to = autoscaler_without_annotations(a, v2_type(), to);
}
