/* tests/unit/test_controller_horizontal.c - what an autoscaler does while there are no metrics, without any server. */
#include "codec/json.h"
#include "controllers/horizontal_decide.h"
#include "controllers/read.h"
#include "tests/test.h"

#define TEXT(text) { text, sizeof(text) - 1 }
#define CPU "{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','averageUtilization':50}}}"
#define PODS "{'type':'Pods','pods':{'metric':{'name':'p'},'target':{'type':'AverageValue','averageValue':'2'}}}"
#define EXTERNAL "{'type':'External','external':{'metric':{'name':'e','selector':{'matchLabels':{'x':'y'}}},'target':{'type':'Value','value':'2'}}}"
#define NO_API "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)"
#define NO_CUSTOM "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"

static const struct row {
    const char *what, *metrics;
    struct hpa_target target;
    const char *rescale; /* "3 why" */
    const char *active;  /* reason and message of the condition ScalingActive; "" none */
    const char *events;  /* the first of them and how many */
} rows[] = {
    { "no metrics", CPU, { .replicas = 2, .selector = TEXT("a=b") }, "",
      "FailedGetResourceMetric the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for "
      "resource cpu: " NO_API,
      "2 FailedGetResourceMetric failed to get cpu utilization: unable to get metrics for resource cpu: " NO_API },
    { "the first of several", PODS "," CPU, { .replicas = 2, .selector = TEXT("a=b") }, "",
      "FailedGetPodsMetric the HPA was unable to compute the replica count: unable to get metric p: " NO_CUSTOM,
      "3 FailedGetPodsMetric unable to get metric p: " NO_CUSTOM },
    { "an external one", EXTERNAL, { .replicas = 2, .selector = TEXT("a=b") }, "",
      "FailedGetExternalMetric the HPA was unable to compute the replica count: unable to get external metric ns/e/&LabelSelector{MatchLabels:"
      "map[string]string{x: y,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: the "
      "server could not find the requested resource (get e.external.metrics.k8s.io)",
      "2 FailedGetExternalMetric unable to get external metric ns/e/&LabelSelector{MatchLabels:map[string]string{x: y,},MatchExpressions:"
      "[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: the server could not find the requested resource "
      "(get e.external.metrics.k8s.io)" },
    { "too many", CPU, { .replicas = 9, .selector = TEXT("a=b") }, "5 Current number of replicas above Spec.MaxReplicas", "", "0" },
    { "too few", CPU, { .replicas = 1, .selector = TEXT("a=b") }, "2 Current number of replicas below Spec.MinReplicas", "", "0" },
    { "none", CPU, { .replicas = 0, .selector = TEXT("a=b") }, "",
      "ScalingDisabled scaling is disabled since the replica count of the target is zero", "0" },
    { "no target", CPU, { .error = "gone" }, "", "", "1 FailedGetScale gone" },
    { "no selector", CPU, { .replicas = 2, .selector = TEXT("") }, "", "InvalidSelector the HPA target's scale is missing a selector",
      "2 SelectorRequired selector is required" },
    { "a selector of several", CPU, { .replicas = 2, .selector = TEXT("a=b"), .ambiguous = "[{x ns} {y ns}]" }, "",
      "AmbiguousSelector pods by selector a=b are controlled by multiple HPAs: [{x ns} {y ns}]",
      "2 AmbiguousSelector pods by selector a=b are controlled by multiple HPAs: [{x ns} {y ns}]" },
};

static const struct type *autoscalers(void)
{
    return schema_type(STR("autoscaling/v2.HorizontalPodAutoscaler"));
}

static struct value make(struct arena *a, const char *metrics)
{
    struct value v;
    struct err e;
    err_init(&e, a);
    char *json = arena_printf(a, "{'metadata':{'namespace':'ns','name':'h'},'spec':{'minReplicas':2,'maxReplicas':5,'metrics':[%s]},"
                              "'status':{'desiredReplicas':3}}", metrics);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    CHECK(!json_decode(a, WORK_OWN, autoscalers(), str_of(json), NULL, &v, &e));
    return v;
}

static const char *condition_text(struct arena *a, const struct value *hpa, const char *type)
{
    const struct type *t = schema_type(STR("autoscaling/v2.HorizontalPodAutoscalerCondition"));
    const struct value *c = entry_with(t, value_path(autoscalers(), hpa, "status.conditions"), "type", str_of(type));
    return c ? arena_printf(a, "%.*s %.*s", STR_ARG(text_at(t, c, "reason")), STR_ARG(text_at(t, c, "message"))) : "";
}

TEST(turns_of_autoscalers)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, arena_reset(&a)) {
        struct value hpa = make(&a, rows[i].metrics);
        struct hpa_plan p = hpa_decide(&a, &hpa, &rows[i].target, 1000);
        CHECK_TEXT(rows[i].what, p.rescales ? arena_printf(&a, "%d %s", (int)p.size, p.why) : "", rows[i].rescale);
        CHECK_TEXT(rows[i].what, condition_text(&a, &p.hpa, "ScalingActive"), rows[i].active);
        const char *events = arena_printf(&a, "%zu", p.n_events);
        if (p.n_events)
            events = arena_printf(&a, "%s %s %s", events, p.events[0].reason, p.events[0].message);
        CHECK_TEXT(rows[i].what, events, rows[i].events);
        bool able = !rows[i].target.error;
        CHECK_INT(rows[i].what, str_starts(str_of(condition_text(&a, &p.hpa, "AbleToScale")), STR("SucceededGetScale")), able);
        if (able && !p.rescales)
            CHECK_INT(rows[i].what, int_at(autoscalers(), &p.hpa, "status.currentReplicas", 0), rows[i].target.replicas);
    }
    arena_fini(&a);
}

TEST(failures_of_all_metrics_are_counted)
{
    struct arena a;
    arena_init(&a);
    struct value hpa = make(&a, CPU "," PODS);
    struct hpa_target target = { .replicas = 2, .selector = STR("a=b") };
    struct hpa_plan p = hpa_decide(&a, &hpa, &target, 1000);
    CHECK_TEXT("the last event", p.events[2].message,
               "invalid metrics (2 invalid out of 2), first error is: failed to get cpu resource metric value: failed to get cpu utilization: "
               "unable to get metrics for resource cpu: " NO_API);
    CHECK_INT("what was wanted stays", int_at(autoscalers(), &p.hpa, "status.desiredReplicas", 0), 3);
    CHECK_INT("an entry each", list_length(value_path(autoscalers(), &p.hpa, "status.currentMetrics")), 2);
    arena_fini(&a);
}

TEST(rescaled_targets)
{
    struct arena a;
    arena_init(&a);
    struct value hpa = make(&a, CPU);
    struct hpa_target target = { .replicas = 9, .selector = STR("a=b") };
    struct hpa_plan p = hpa_decide(&a, &hpa, &target, 1000), failed = hpa_decide(&a, &hpa, &target, 1000);
    hpa_rescaled(&a, &p, &target, NULL, 1000);
    CHECK_TEXT("event", p.events[0].message, "New size: 5; reason: Current number of replicas above Spec.MaxReplicas");
    CHECK_TEXT("condition", condition_text(&a, &p.hpa, "AbleToScale"),
               "SucceededRescale the HPA controller was able to update the target scale to 5");
    CHECK_INT("wanted", int_at(autoscalers(), &p.hpa, "status.desiredReplicas", 0), 5);
    CHECK_INT("when", value_path(autoscalers(), &p.hpa, "status.lastScaleTime")->i, 1000);
    hpa_rescaled(&a, &failed, &target, "no", 1000);
    CHECK_TEXT("event", failed.events[0].message, "New size: 5; reason: Current number of replicas above Spec.MaxReplicas; error: no");
    CHECK_TEXT("condition", condition_text(&a, &failed.hpa, "AbleToScale"),
               "FailedUpdateScale the HPA controller was unable to update the target scale: no");
    CHECK_INT("wanted before", int_at(autoscalers(), &failed.hpa, "status.desiredReplicas", 0), 3);
    arena_fini(&a);
}
