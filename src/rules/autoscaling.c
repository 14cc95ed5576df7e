/* rules/autoscaling.c - HorizontalPodAutoscaler (autoscaling/v2, as it is stored) and PodDisruptionBudget. */
#include "rules/check.h"
#include "rules/convert_priv.h"
#include "rules/resource.h"

/* As upstream: seconds. */
enum { SCALING_PERIOD_MAX_S = 1800, STABILIZATION_MAX_S = 3600 };

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

/* ---- HorizontalPodAutoscaler ---- */

/* Annotations that stand for fields are none of the stored version's. Those of v1 have become fields before. */
static struct value autoscaler_converted(const struct rules_context *c, const struct value *new)
{
    bool is_stored = str_is(c->type->name, "autoscaling/v2.HorizontalPodAutoscaler");
    return is_stored ? autoscaler_without_annotations(c->arena, c->type, new) : *new;
}

static struct value autoscaler_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value autoscaler = rules_drop_status(c, new);
    return autoscaler_without_annotations(c->arena, c->type, &autoscaler);
}

static struct value autoscaler_prepare_update(const struct rules_context *c, const struct value *new,
                                              const struct value *old)
{
    struct value autoscaler = rules_keep_status(c, new, old);
    return autoscaler_without_annotations(c->arena, c->type, &autoscaler);
}

static struct value autoscaler_prepare_status(const struct rules_context *c, const struct value *new,
                                              const struct value *old)
{
    struct value autoscaler = rules_keep_spec(c, new, old);
    return autoscaler_without_annotations(c->arena, c->type, &autoscaler);
}

/* Which versions a reference to an object may have. */
enum version_rule { VERSION_ANY, VERSION_WITH_GROUP, VERSION_OF_ANY_GROUP };

static const char *version_fault(struct arena *a, struct str version, enum version_rule rule)
{
    size_t slash = str_index(version, '/');
    struct str behind = str_from(version, slash < version.n ? slash + 1 : slash);
    if (rule == VERSION_ANY)
        return NULL;
    if (str_index(behind, '/') < behind.n)
        return arena_printf(a, "unexpected GroupVersion string: %.*s", STR_ARG(version));
    bool no_group = slash == version.n || slash == 0;
    return rule == VERSION_WITH_GROUP && no_group ? "apiVersion must specify API group" : NULL;
}

static void check_reference(const struct place *reference, enum version_rule rule)
{
    struct place kind = place_child(reference, "kind"), name = place_child(reference, "name");
    struct place version = place_child(reference, "apiVersion");
    place_check_required_name(&kind, name_path_segment);
    place_check_required_name(&name, name_path_segment);
    const char *fault = version_fault(reference->errs->arena, place_text(&version), rule);
    if (fault)
        place_invalid(&version, fault);
}

static void check_positive(const struct place *amount)
{
    if (place_is_set(amount) && place_amount_sign(amount) <= 0)
        place_invalid(amount, "must be positive");
}

static void check_target(const struct place *target)
{
    static const char *const types[] = { "Utilization", "Value", "AverageValue", NULL };
    struct place type = place_child(target, "type"), value = place_child(target, "value");
    struct place average = place_child(target, "averageValue"), use = place_child(target, "averageUtilization");
    if (!place_text(&type).n)
        place_required(&type, "must specify a metric target type");
    if (!text_is_one_of(place_text(&type), types))
        place_invalid(&type, "must be either Utilization, Value, or AverageValue");
    check_positive(&value);
    check_positive(&average);
    if (place_is_set(&use) && place_int(&use) < 1)
        place_invalid(&use, "must be greater than 0");
}

static void check_metric_name(const struct place *source)
{
    struct place name = place_at(source, "metric.name");
    if (!place_text(&name).n)
        place_required(&name, "must specify a metric name");
    else
        place_check_names(&name, name_path_segment(place_text(&name)));
}

/* At least one of two fields of the target, and perhaps not both. */
static void check_target_choice(const struct place *target, const char *first, const char *second, const char *required)
{
    struct place missing = place_child(target, first);
    if (!child_is_set(target, first) && !child_is_set(target, second))
        place_required(&missing, required);
}

static void check_named_source(const struct place *source, enum version_rule described)
{
    struct place target = place_child(source, "target"), value = place_child(&target, "value");
    bool of_object = str_ends(source->type->name, STR("ObjectMetricSource"));
    bool of_pods = str_ends(source->type->name, STR("PodsMetricSource"));
    if (of_object) {
        struct place object = place_child(source, "describedObject");
        check_reference(&object, described);
    }
    check_metric_name(source);
    check_target(&target);
    struct place average = place_child(&target, "averageValue");
    if (of_pods && !place_is_set(&average))
        place_required(&average, "must specify a positive target averageValue");
    if (of_object)
        check_target_choice(&target, "averageValue", "value", "must set either a target value or averageValue");
    if (of_pods || of_object)
        return;
    check_target_choice(&target, "averageValue", "value",
                        "must set either a target value for metric or a per-pod target");
    if (place_is_set(&value) && place_is_set(&average))
        place_forbidden(&value, "may not set both a target value for metric and a per-pod target");
}

static void check_resource_source(const struct place *source)
{
    struct place name = place_child(source, "name"), target = place_child(source, "target");
    bool of_container = schema_slot(source->type, STR("container")) >= 0;
    if (!place_text(&name).n)
        place_required(&name, "must specify a resource name");
    else if (of_container)
        check_container_resource_name(&name, place_text(&name));
    if (of_container) {
        struct place container = place_child(source, "container");
        if (!place_text(&container).n)
            place_required(&container, "must specify a container");
        else
            place_check_names(&container, name_dns1123_label(place_text(&container)));
    }
    check_target(&target);
    check_target_choice(&target, "averageUtilization", "averageValue",
                        "must set either a target raw value or a target utilization");
    struct place average = place_child(&target, "averageValue");
    if (place_is_set(&average) && child_is_set(&target, "averageUtilization"))
        place_forbidden(&average, "may not set both a target raw value and a target utilization");
}

/* In the order in which upstream looks at them; only the first that is there is looked into. */
static const struct metric_source {
    const char *type, *field;
    bool of_resource;
} metric_sources[] = {
    { "Object", "object", false },
    { "External", "external", false },
    { "Pods", "pods", false },
    { "Resource", "resource", true },
    { "ContainerResource", "containerResource", true },
};
enum { N_SOURCES = sizeof(metric_sources) / sizeof(metric_sources[0]) };

static void check_metric_type_known(const struct place *type)
{
    static const char *const types[] = { "ContainerResource", "External", "Object", "Pods", "Resource", NULL };
    place_check_supported(type, types);
}

static void check_metric_type(const struct place *type)
{
    if (!place_text(type).n)
        place_required(type, "must specify a metric source type");
    check_metric_type_known(type);
}

static void check_metric(const struct place *metric, enum version_rule described)
{
    struct place type = place_child(metric, "type");
    const char *expected = "";
    unsigned n_sources = 0;
    check_metric_type(&type);
    for (size_t i = 0; i < N_SOURCES; i++) {
        struct place source = place_child(metric, metric_sources[i].field);
        if (!place_is_set(&source) || n_sources++)
            continue;
        if (metric_sources[i].of_resource)
            check_resource_source(&source);
        else
            check_named_source(&source, described);
    }
    for (size_t i = 0; i < N_SOURCES; i++)
        if (str_is(place_text(&type), metric_sources[i].type)) {
            struct place source = place_child(metric, metric_sources[i].field);
            expected = metric_sources[i].field;
            if (!place_is_set(&source))
                place_required(&source, "must populate information for the given metric source");
        }
    if (!*expected)
        check_metric_type_known(&type); /* again, as upstream does */
    for (size_t i = 0; n_sources > 1 && i < N_SOURCES; i++) {
        struct place source = place_child(metric, metric_sources[i].field);
        if (place_is_set(&source) && strcmp(metric_sources[i].field, expected) != 0)
            place_forbidden(&source, "must populate the given metric source only");
    }
}

static bool has_metric_of(const struct place *metrics, const char *type)
{
    for (uint32_t i = 0; i < place_n(metrics); i++) {
        struct place one = place_item(metrics, i);
        if (str_is(child_text(&one, "type"), type))
            return true;
    }
    return false;
}

static void check_metrics(const struct place *spec, enum version_rule described)
{
    struct place metrics = place_child(spec, "metrics"), min = place_child(spec, "minReplicas");
    for (uint32_t i = 0; i < place_n(&metrics); i++) {
        struct place one = place_item(&metrics, i);
        check_metric(&one, described);
    }
    if (place_is_set(&min) && place_int(&min) == 0 && !has_metric_of(&metrics, "Object") &&
        !has_metric_of(&metrics, "External"))
        place_forbidden(&metrics,
                        "must specify at least one Object or External metric to support scaling to zero replicas");
}

static void check_policy(const struct place *policy)
{
    static const char *const types[] = { "Percent", "Pods", NULL };
    struct place type = place_child(policy, "type"), value = place_child(policy, "value");
    struct place period = place_child(policy, "periodSeconds");
    place_check_supported(&type, types);
    if (place_int(&value) <= 0)
        place_invalid(&value, "must be greater than zero");
    if (place_int(&period) <= 0)
        place_invalid(&period, "must be greater than zero");
    if (place_int(&period) > SCALING_PERIOD_MAX_S)
        place_invalidf(&period, "must be less than or equal to %d", SCALING_PERIOD_MAX_S);
}

static void check_scaling_rules(const struct place *rules)
{
    static const char *const selections[] = { "Disabled", "Max", "Min", NULL };
    struct place window = place_child(rules, "stabilizationWindowSeconds"), select = place_child(rules, "selectPolicy");
    struct place policies = place_child(rules, "policies"), tolerance = place_child(rules, "tolerance");
    if (!place_is_set(rules))
        return;
    if (place_int(&window) < 0)
        place_invalid(&window, "must be greater than or equal to zero");
    if (place_int(&window) > STABILIZATION_MAX_S)
        place_invalidf(&window, "must be less than or equal to %d", STABILIZATION_MAX_S);
    if (place_is_set(&select))
        place_check_supported(&select, selections);
    if (!place_n(&policies))
        place_required(&policies, "must specify at least one Policy");
    for (uint32_t i = 0; i < place_n(&policies); i++) {
        struct place policy = place_item(&policies, i);
        check_policy(&policy);
    }
    place_check_amount(&tolerance);
}

/* What an autoscaler that is stored already may keep. */
struct autoscaler_leniency {
    int64_t min_replicas;
    enum version_rule target, described;
};

static bool describes_wrong_version(const struct place *metrics)
{
    for (uint32_t i = 0; i < place_n(metrics); i++) {
        struct place one = place_item(metrics, i), version = place_at(&one, "object.describedObject.apiVersion");
        if (str_is(child_text(&one, "type"), "Object") && child_is_set(&one, "object") &&
            version_fault(one.errs->arena, place_text(&version), VERSION_OF_ANY_GROUP))
            return true;
    }
    return false;
}

static struct autoscaler_leniency leniency_of(const struct place *spec, const struct place *old)
{
    struct autoscaler_leniency l = { 1, VERSION_WITH_GROUP, VERSION_OF_ANY_GROUP };
    struct place target = place_child(spec, "scaleTargetRef");
    if (str_is(child_text(&target, "kind"), "ReplicationController"))
        l.target = VERSION_OF_ANY_GROUP;
    if (!old)
        return l;
    struct place was = place_child(old, "scaleTargetRef"), metrics = place_child(old, "metrics");
    if (child_is_set(old, "minReplicas") && child_int(old, "minReplicas") == 0)
        l.min_replicas = 0;
    if (str_eq(child_text(&target, "apiVersion"), child_text(&was, "apiVersion")) &&
        str_eq(child_text(&target, "kind"), child_text(&was, "kind")))
        l.target = VERSION_ANY;
    if (describes_wrong_version(&metrics))
        l.described = VERSION_ANY;
    return l;
}

static void check_autoscaler_spec(const struct place *spec, const struct place *old)
{
    struct autoscaler_leniency lenient = leniency_of(spec, old);
    struct place min = place_child(spec, "minReplicas"), max = place_child(spec, "maxReplicas");
    struct place target = place_child(spec, "scaleTargetRef");
    struct place up = place_at(spec, "behavior.scaleUp"), down = place_at(spec, "behavior.scaleDown");
    if (place_is_set(&min) && place_int(&min) < lenient.min_replicas)
        place_invalidf(&min, "must be greater than or equal to %lld", (long long)lenient.min_replicas);
    if (place_int(&max) == 0)
        place_required(&max, "must be set and greater than 0");
    else if (place_int(&max) < 0)
        place_invalid(&max, "must be greater than or equal to 1");
    if (place_is_set(&min) && place_int(&max) < place_int(&min))
        place_invalid(&max, "must be greater than or equal to `minReplicas`");
    check_reference(&target, lenient.target);
    check_metrics(spec, lenient.described);
    check_scaling_rules(&up);
    check_scaling_rules(&down);
}

static void autoscaler_validate_create(const struct rules_context *c, const struct value *new,
                                       struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, NULL, errs);
    check_autoscaler_spec(&spec, NULL);
}

static void autoscaler_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place spec = place_child(&root, "spec"), was = place_child(&before, "spec");
    rules_check_meta_update(c, new, old, errs);
    check_autoscaler_spec(&spec, &was);
}

static void autoscaler_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    static const char *const counts[] = { "currentReplicas", "desiredReplicas", NULL };
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    rules_check_meta_update(c, new, old, errs);
    check_none_negative(&status, counts);
}

/* ---- PodDisruptionBudget ---- */

static struct value budget_prepare_create(const struct rules_context *c, const struct value *new)
{
    return rules_drop_status(c, new);
}

static struct value budget_prepare_update(const struct rules_context *c, const struct value *new,
                                          const struct value *old)
{
    return rules_keep_status(c, new, old);
}

static struct value budget_prepare_status(const struct rules_context *c, const struct value *new,
                                          const struct value *old)
{
    return rules_keep_spec(c, new, old);
}

static void check_budget_number(const struct place *number)
{
    if (!place_is_set(number))
        return;
    check_count_or_percent(number);
    check_not_above_all(number);
}

static void check_budget_spec(const struct place *spec, bool lenient)
{
    static const char *const policies[] = { "AlwaysAllow", "IfHealthyBudget", NULL };
    struct place min = place_child(spec, "minAvailable"), max = place_child(spec, "maxUnavailable");
    struct place selector = place_child(spec, "selector"), policy = place_child(spec, "unhealthyPodEvictionPolicy");
    if (place_is_set(&min) && place_is_set(&max))
        field_invalid(spec->errs, &spec->path, place_shown_as_go(spec),
                      STR("minAvailable and maxUnavailable cannot be both set"));
    check_budget_number(&min);
    check_budget_number(&max);
    if (place_is_set(&selector))
        place_check_selector(&selector, lenient);
    if (place_is_set(&policy))
        place_check_supported(&policy, policies);
}

/* Names of budgets are only what a path can hold; upstream looks at metadata last. */
static void budget_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    check_budget_spec(&spec, false);
    if (!errs->n)
        rules_check_meta(c, new, name_is_path_segment, errs);
}

static void budget_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    struct field_errors of_old;
    field_errors_init(&of_old, c->arena);
    struct place root = place_root(c, new, errs), before = place_root(c, old, &of_old);
    struct place spec = place_child(&root, "spec"), was = place_at(&before, "spec.selector");
    bool lenient = place_is_set(&was) && !place_check_selector(&was, false);
    check_budget_spec(&spec, lenient);
}

static void budget_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    static const char *const counts[] = { "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods",
                                          NULL };
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place conditions = place_child(&status, "conditions");
    (void)old;
    resource_check_conditions(&conditions);
    check_none_negative(&status, counts);
}

/* ---- The table ---- */

static const struct sub_rules autoscaler_subs[] = {
    { "status", autoscaler_prepare_status, autoscaler_validate_status, reset_spec, NULL },
    { 0 },
};
static const struct sub_rules budget_subs[] = {
    { "status", budget_prepare_status, budget_validate_status, reset_spec, NULL },
    { 0 },
};

const struct kind_rules autoscaling_rules[] = {
    { .type = "autoscaling/v2.HorizontalPodAutoscaler", .converted = autoscaler_converted,
      .prepare_create = autoscaler_prepare_create,
      .prepare_update = autoscaler_prepare_update, .validate_create = autoscaler_validate_create,
      .validate_update = autoscaler_validate_update, .reset_fields = reset_status, .subs = autoscaler_subs },
    { .type = "policy/v1.PodDisruptionBudget", .name = name_is_path_segment, .flags = RULES_NEEDS_VERSION,
      .generation = GENERATION_SPEC, .prepare_create = budget_prepare_create, .prepare_update = budget_prepare_update,
      .validate_create = budget_validate_create, .validate_update = budget_validate_update,
      .reset_fields = reset_status,
      .subs = budget_subs },
    { 0 },
};
