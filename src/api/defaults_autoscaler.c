/* api/defaults_autoscaler.c - defaults of an autoscaling/v2 HorizontalPodAutoscaler; see defaults.h. */
#include "api/defaults_priv.h"

#include "api/edit.h"

struct policy {
    const char *type;
    int64_t value, period_s;
};

static struct value policy_value(struct arena *a, const struct policy *p)
{
    const struct type *t = schema_type(STR("autoscaling/v2.HPAScalingPolicy"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "type", edit_text(p->type));
    v = edit_set(a, t, &v, "value", value_int(p->value));
    return edit_set(a, t, &v, "periodSeconds", value_int(p->period_s));
}

static struct value policies_value(struct arena *a, const struct policy *policies, uint32_t n)
{
    struct value *items = ARENA_NEW_N(a, struct value, n);
    for (uint32_t i = 0; i < n; i++)
        items[i] = policy_value(a, &policies[i]);
    return value_list(items, n);
}

static struct value fill(struct arena *a, const struct type *t, struct value v, const char *path, struct value to)
{
    return value_path(t, &v, path)->kind == VALUE_ABSENT ? edit_set(a, t, &v, path, to) : v;
}

/* Up: by four pods or to twice as many within 15 s, at once. Down: as many as there are, after the server's own pause. */
static struct value with_behavior(struct arena *a, const struct type *t, struct value v)
{
    static const struct policy up[] = { { "Pods", 4, 15 }, { "Percent", 100, 15 } }, down[] = { { "Percent", 100, 15 } };
    v = fill(a, t, v, "spec.behavior.scaleUp.stabilizationWindowSeconds", value_int(0));
    v = fill(a, t, v, "spec.behavior.scaleUp.selectPolicy", edit_text("Max"));
    v = fill(a, t, v, "spec.behavior.scaleUp.policies", policies_value(a, up, 2));
    v = fill(a, t, v, "spec.behavior.scaleDown.selectPolicy", edit_text("Max"));
    return fill(a, t, v, "spec.behavior.scaleDown.policies", policies_value(a, down, 1));
}

/* Four fifths of the CPU that pods ask for. */
static struct value cpu_metric(struct arena *a)
{
    const struct type *t = schema_type(STR("autoscaling/v2.MetricSpec"));
    struct value v = value_struct(a, t);
    v = edit_set(a, t, &v, "type", edit_text("Resource"));
    v = edit_set(a, t, &v, "resource.name", edit_text("cpu"));
    v = edit_set(a, t, &v, "resource.target.type", edit_text("Utilization"));
    return edit_set(a, t, &v, "resource.target.averageUtilization", value_int(80));
}

struct value defaults_autoscaler(struct arena *a, const struct type *t, const struct value *v)
{
    const struct value *metrics = value_path(t, v, "spec.metrics");
    struct value filled = *v;
    if (metrics->kind != VALUE_LIST || !metrics->n)
        filled = edit_set(a, t, &filled, "spec.metrics", edit_append(a, &(struct value){ 0 }, cpu_metric(a)));
    if (value_path(t, v, "spec.behavior")->kind == VALUE_STRUCT)
        filled = with_behavior(a, t, filled);
    return filled;
}
