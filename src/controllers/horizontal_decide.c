/* controllers/horizontal_decide.c - see horizontal_decide.h. */
#include "controllers/horizontal_decide.h"

#include "api/edit.h"
#include "base/arena_array.h"
#include "base/strbuf.h"
#include "controllers/condition.h"
#include "controllers/read.h"

#define ABLE "AbleToScale"
#define ACTIVE "ScalingActive"
#define NO_RESOURCE_METRICS \
    "unable to fetch metrics from resource metrics API: the server could not find the requested resource " \
    "(get pods.metrics.k8s.io)"
#define NO_CUSTOM_METRICS \
    "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"

static const struct type *autoscalers(void)
{
    return schema_type(STR("autoscaling/v2.HorizontalPodAutoscaler"));
}

static const struct type *metrics(void)
{
    return schema_type(STR("autoscaling/v2.MetricSpec"));
}

struct decision {
    struct arena *arena;
    const struct value *hpa;
    const struct hpa_target *target;
    int64_t now_s;
    struct hpa_plan plan;
};

static void tell(struct arena *a, struct hpa_plan *p, const char *type, const char *reason, const char *message)
{
    p->events = arena_array_more(a, p->events, p->n_events, &p->cap, sizeof(*p->events));
    p->events[p->n_events++] = (struct hpa_event){ type, reason, message };
}

static struct value with_condition(struct arena *a, const struct value *hpa, struct condition c, int64_t now_s)
{
    const struct type *ct = schema_type(STR("autoscaling/v2.HorizontalPodAutoscalerCondition"));
    struct value list = condition_set(a, ct, value_path(autoscalers(), hpa, "status.conditions"), &c, now_s);
    return edit_set(a, autoscalers(), hpa, "status.conditions", list);
}

static void set_condition(struct decision *d, const char *type, const char *status, const char *reason, const char *message)
{
    d->plan.hpa = with_condition(d->arena, &d->plan.hpa, (struct condition){ type, status, reason, message, 0 }, d->now_s);
}

/* A whole new status but for the conditions and the time of the last change: metrics that failed are empty entries. */
static struct value with_status(struct arena *a, const struct value *hpa, int64_t current, int64_t desired, uint32_t n_metrics)
{
    struct value status = value_struct(a, schema_type(STR("autoscaling/v2.HorizontalPodAutoscalerStatus")));
    struct value v = edit_set(a, autoscalers(), hpa, "status", status);
    struct value *failed = ARENA_NEW_N(a, struct value, n_metrics);
    const struct type *ms = schema_type(STR("autoscaling/v2.MetricStatus"));
    for (uint32_t i = 0; i < n_metrics; i++) {
        failed[i] = value_struct(a, ms);
        failed[i] = edit_set(a, ms, &failed[i], "type", edit_text(""));
    }
    const struct {
        const char *path;
        struct value to;
    } fields[] = {
        { "status.lastScaleTime", *value_path(autoscalers(), hpa, "status.lastScaleTime") },
        { "status.currentReplicas", current ? value_int(current) : (struct value){ 0 } },
        { "status.desiredReplicas", value_int(desired) },
        { "status.currentMetrics", n_metrics ? value_list(failed, n_metrics) : (struct value){ 0 } },
        { "status.conditions", *value_path(autoscalers(), hpa, "status.conditions") },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        v = edit_set(a, autoscalers(), &v, fields[i].path, fields[i].to);
    return v;
}

/* ---- Metrics that are not there ---- */

struct metric_failure {
    const char *reason;
    const char *cause; /* as the condition has it */
    const char *whole; /* as the autoscaler's failure has it */
};

static void add_expressions(struct strbuf *to, const struct value *list)
{
    const struct type *t = schema_type(STR("meta/v1.LabelSelectorRequirement"));
    for (uint32_t i = 0; i < list_length(list); i++) {
        const struct value *e = &list->items[i], *values = value_path(t, e, "values");
        strbuf_printf(to, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[", STR_ARG(text_at(t, e, "key")),
                      STR_ARG(text_at(t, e, "operator")));
        for (uint32_t k = 0; k < list_length(values); k++)
            strbuf_printf(to, "%s%.*s", k ? " " : "", STR_ARG(value_text(&values->items[k])));
        STRBUF_ADD_LIT(to, "],},");
    }
}

/* As Go prints a pointer to a LabelSelector. */
static const char *selector_shown(struct arena *a, const struct value *selector)
{
    const struct type *t = schema_type(STR("meta/v1.LabelSelector"));
    const struct value *labels = value_path(t, selector, "matchLabels");
    struct strbuf text;
    if (selector->kind == VALUE_ABSENT)
        return "nil";
    strbuf_init(&text, STRBUF_NO_MAX);
    STRBUF_ADD_LIT(&text, "&LabelSelector{MatchLabels:map[string]string{");
    for (uint32_t i = 0; labels->kind == VALUE_MAP && i < labels->n; i++)
        strbuf_printf(&text, "%.*s: %.*s,", STR_ARG(labels->members[i].key), STR_ARG(value_text(&labels->members[i].value)));
    STRBUF_ADD_LIT(&text, "},MatchExpressions:[]LabelSelectorRequirement{");
    add_expressions(&text, value_path(t, selector, "matchExpressions"));
    STRBUF_ADD_LIT(&text, "},}");
    const char *shown = arena_cstr(a, strbuf_str(&text));
    strbuf_fini(&text);
    return shown;
}

static struct metric_failure resource_failure(struct arena *a, const struct value *m, const char *field, const char *reason)
{
    const struct value *source = value_path(metrics(), m, field);
    bool of_container = strcmp(field, "containerResource") == 0;
    const struct type *t = schema_type(of_container ? STR("autoscaling/v2.ContainerResourceMetricSource")
                                                    : STR("autoscaling/v2.ResourceMetricSource"));
    struct str name = text_at(t, source, "name"), about = of_container ? text_at(t, source, "container") : name;
    const char *what = is_set_at(t, source, "target.averageValue") ? "usage" : "utilization";
    struct metric_failure f = { .reason = reason };
    f.cause = arena_printf(a, "failed to get %.*s %s: unable to get metrics for resource %.*s: " NO_RESOURCE_METRICS,
                           STR_ARG(name), what, STR_ARG(name));
    f.whole = arena_printf(a, "failed to get %.*s %s metric value: %s", STR_ARG(about), of_container ? "container" : "resource",
                           f.cause);
    return f;
}

static struct metric_failure pods_failure(struct arena *a, const struct value *m)
{
    struct metric_failure f = { .reason = "FailedGetPodsMetric" };
    struct str name = text_at(metrics(), m, "pods.metric.name");
    f.cause = arena_printf(a, "unable to get metric %.*s: " NO_CUSTOM_METRICS, STR_ARG(name));
    f.whole = arena_printf(a, "failed to get pods metric value: %s", f.cause);
    return f;
}

/* As replica_calculator.go v1.36: what the message is about stands before it and not behind. */
static struct metric_failure object_failure(struct arena *a, const struct value *m, struct str namespace)
{
    struct metric_failure f = { .reason = "FailedGetObjectMetric" };
    struct str name = text_at(metrics(), m, "object.metric.name");
    f.cause = arena_printf(a, "unable to get metric %.*s: %.*s on %.*s %.*s/" NO_CUSTOM_METRICS, STR_ARG(name),
                           STR_ARG(text_at(metrics(), m, "object.describedObject.kind")), STR_ARG(namespace),
                           STR_ARG(text_at(metrics(), m, "object.describedObject.name")));
    bool of_average = says_at(metrics(), m, "object.target.type", "AverageValue");
    f.whole = of_average ? arena_printf(a, "failed to get %.*s object metric: %s", STR_ARG(name), f.cause) : f.cause;
    f.whole = arena_printf(a, "failed to get object metric value: %s", f.whole);
    return f;
}

static struct metric_failure external_failure(struct arena *a, const struct value *m, struct str namespace)
{
    struct metric_failure f = { .reason = "FailedGetExternalMetric" };
    struct str name = text_at(metrics(), m, "external.metric.name");
    f.cause = arena_printf(a,
                           "unable to get external metric %.*s/%.*s/%s: unable to fetch metrics from external metrics API: "
                           "the server could not find the requested resource (get %.*s.external.metrics.k8s.io)",
                           STR_ARG(namespace), STR_ARG(name),
                           selector_shown(a, value_path(metrics(), m, "external.metric.selector")), STR_ARG(name));
    bool of_average = is_set_at(metrics(), m, "external.target.averageValue");
    f.whole = of_average ? arena_printf(a, "failed to get %.*s external metric: %s", STR_ARG(name), f.cause)
                         : arena_printf(a, "failed to get external metric %.*s: %s", STR_ARG(name), f.cause);
    f.whole = arena_printf(a, "failed to get %.*s external metric value: %s", STR_ARG(name), f.whole);
    return f;
}

static struct metric_failure metric_failure(struct arena *a, const struct value *m, struct str namespace)
{
    struct str type = text_at(metrics(), m, "type");
    if (str_is(type, "Resource"))
        return resource_failure(a, m, "resource", "FailedGetResourceMetric");
    if (str_is(type, "ContainerResource"))
        return resource_failure(a, m, "containerResource", "FailedGetContainerResourceMetric");
    if (str_is(type, "Pods"))
        return pods_failure(a, m);
    return str_is(type, "Object") ? object_failure(a, m, namespace) : external_failure(a, m, namespace);
}

/* ---- Decision ---- */

static void fail(struct decision *d, uint32_t n_metrics, const char *message)
{
    int64_t desired = int_at(autoscalers(), d->hpa, "status.desiredReplicas", 0);
    d->plan.hpa = with_status(d->arena, &d->plan.hpa, d->target->replicas, desired, n_metrics);
    tell(d->arena, &d->plan, "Warning", "FailedComputeMetricsReplicas", message);
}

static bool selector_fails(struct decision *d)
{
    const struct hpa_target *t = d->target;
    const char *message = NULL;
    if (!t->selector.n) {
        message = "selector is required";
        tell(d->arena, &d->plan, "Warning", "SelectorRequired", message);
        set_condition(d, ACTIVE, "False", "InvalidSelector", "the HPA target's scale is missing a selector");
    } else if (t->selector_error || t->ambiguous) {
        const char *reason = t->ambiguous ? "AmbiguousSelector" : "InvalidSelector";
        message = t->ambiguous ? arena_printf(d->arena, "pods by selector %.*s are controlled by multiple HPAs: %s",
                                              STR_ARG(t->selector), t->ambiguous)
                               : arena_printf(d->arena,
                                              "couldn't convert selector into a corresponding internal selector object: %s",
                                              t->selector_error);
        tell(d->arena, &d->plan, "Warning", reason, message);
        set_condition(d, ACTIVE, "False", reason, message);
    }
    if (message)
        fail(d, 0, message);
    return message;
}

static void ask_metrics(struct decision *d)
{
    const struct value *list = value_path(autoscalers(), d->hpa, "spec.metrics");
    struct str namespace = text_at(autoscalers(), d->hpa, "metadata.namespace");
    struct metric_failure first = { NULL, NULL, "" };
    uint32_t n = list_length(list);
    if (selector_fails(d))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct metric_failure f = metric_failure(d->arena, &list->items[i], namespace);
        tell(d->arena, &d->plan, "Warning", f.reason, f.cause);
        first = i ? first : f;
    }
    if (!n)
        return;
    set_condition(d, ACTIVE, "False", first.reason,
                  arena_printf(d->arena, "the HPA was unable to compute the replica count: %s", first.cause));
    fail(d, n, arena_printf(d->arena, "invalid metrics (%u invalid out of %u), first error is: %s", n, n, first.whole));
}

static void rescale(struct decision *d, int64_t size, const char *why)
{
    d->plan.rescales = true;
    d->plan.size = size;
    d->plan.why = why;
}

struct hpa_plan hpa_decide(struct arena *a, const struct value *hpa, const struct hpa_target *target, int64_t now_s)
{
    struct decision d = { .arena = a, .hpa = hpa, .target = target, .now_s = now_s, .plan.hpa = *hpa };
    int64_t least = int_at(autoscalers(), hpa, "spec.minReplicas", 1), most = int_at(autoscalers(), hpa, "spec.maxReplicas", 0);
    if (target->error) {
        tell(a, &d.plan, "Warning", "FailedGetScale", target->error);
        set_condition(&d, ABLE, "False", "FailedGetScale",
                      arena_printf(a, "the HPA controller was unable to get the target's current scale: %s", target->error));
        return d.plan;
    }
    set_condition(&d, ABLE, "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale");
    if (target->replicas == 0) {
        set_condition(&d, ACTIVE, "False", "ScalingDisabled",
                      "scaling is disabled since the replica count of the target is zero");
        d.plan.hpa = with_status(a, &d.plan.hpa, 0, 0, 0);
    } else if (target->replicas > most) {
        rescale(&d, most, "Current number of replicas above Spec.MaxReplicas");
    } else if (target->replicas < least) {
        rescale(&d, least, "Current number of replicas below Spec.MinReplicas");
    } else {
        ask_metrics(&d);
    }
    return d.plan;
}

void hpa_rescaled(struct arena *a, struct hpa_plan *plan, const struct hpa_target *target, const char *error, int64_t now_s)
{
    int64_t desired = int_at(autoscalers(), &plan->hpa, "status.desiredReplicas", 0);
    struct condition c = { ABLE, "True", "SucceededRescale", NULL, 0 };
    if (error) {
        c = (struct condition){ ABLE, "False", "FailedUpdateScale",
                                arena_printf(a, "the HPA controller was unable to update the target scale: %s", error), 0 };
        tell(a, plan, "Warning", "FailedRescale",
             arena_printf(a, "New size: %lld; reason: %s; error: %s", (long long)plan->size, plan->why, error));
    } else {
        c.message = arena_printf(a, "the HPA controller was able to update the target scale to %lld", (long long)plan->size);
        tell(a, plan, "Normal", "SuccessfulRescale",
             arena_printf(a, "New size: %lld; reason: %s", (long long)plan->size, plan->why));
        plan->hpa = edit_set(a, autoscalers(), &plan->hpa, "status.lastScaleTime", value_time(now_s, 0));
        desired = plan->size;
    }
    plan->hpa = with_condition(a, &plan->hpa, c, now_s);
    plan->hpa = with_status(a, &plan->hpa, target->replicas, desired, 0);
}
