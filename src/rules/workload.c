/* rules/workload.c - kinds that keep a number of pods: Deployment, ReplicaSet, ReplicationController; PodTemplate; and
 * the table of all kinds whose pods live on. */
#include "rules/workload_priv.h"

#include "api/edit.h"
#include "api/selector.h"

const char *const workload_reset_status[] = { "status", NULL };
const char *const workload_reset_spec[] = { "spec", NULL };

/* ---- Templates ---- */

struct value workload_prepare_template(const struct rules_context *c, const struct value *new, const struct value *old,
                                       const char *path)
{
    const struct value *template = value_path(c->type, new, path);
    if (template->kind == VALUE_ABSENT)
        return *new;
    const struct value *was = old ? value_path(c->type, old, path) : NULL;
    return edit_set(c->arena, c->type, new, path, rules_prepare_pod_template(c, template, was));
}

void workload_check_template(const struct rules_context *c, const struct place *template, const struct value *old,
                             const char *path)
{
    const struct value *was = old ? value_path(c->type, old, path) : NULL;
    rules_check_pod_template_spec(c, template->value, was, &template->path, template->errs);
}

void workload_warn_template(const struct rules_context *c, const struct value *new, const struct value *old,
                            const char *path)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), template = place_at(&root, path);
    if (!old || !same_at(c, new, old, "spec"))
        rules_warn_pod_template(c, template.value, &template.path);
}

struct value workload_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value object = rules_drop_status(c, new);
    return workload_prepare_template(c, &object, NULL, "spec.template");
}

struct value workload_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value object = rules_keep_status(c, new, old);
    return workload_prepare_template(c, &object, old, "spec.template");
}

struct value workload_prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    return rules_keep_spec(c, new, old);
}

/* ---- Deployment and ReplicaSet ---- */

/* Replicas and their selector; false when the selector makes looking at the template pointless. */
static void check_replicas(const struct rules_context *c, const struct place *spec, const struct value *old)
{
    struct place selector = place_child(spec, "selector"), template = place_child(spec, "template");
    if (!check_selector_of(&selector, "deployment", "invalid label selector"))
        return;
    check_selector_matches(&selector, &template);
    workload_check_template(c, &template, old, "spec.template");
    check_lasting_template(&template, "ReplicaSet");
}

static void check_rolling_update(const struct place *rolling)
{
    struct place unavailable = place_child(rolling, "maxUnavailable"), surge = place_child(rolling, "maxSurge");
    check_count_or_percent(&unavailable);
    check_count_or_percent(&surge);
    if (count_or_percent(&unavailable) == 0 && count_or_percent(&surge) == 0)
        place_invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
    check_not_above_all(&unavailable);
}

static void check_strategy(const struct place *strategy)
{
    static const char *const types[] = { "Recreate", "RollingUpdate" };
    struct place rolling = place_child(strategy, "rollingUpdate");
    struct str type = child_text(strategy, "type");
    if (str_is(type, "RollingUpdate"))
        check_rolling_update(&rolling);
    else if (!str_is(type, "Recreate"))
        field_not_supported(strategy->errs, &strategy->path, place_shown_as_go(strategy), types, 2);
    else if (place_is_set(&rolling))
        place_forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
}

static void check_deployment_spec(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    static const char *const counts[] = { "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds", NULL };
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place replicas = place_child(&spec, "replicas"), strategy = place_child(&spec, "strategy");
    struct place deadline = place_child(&spec, "progressDeadlineSeconds");
    place_check_not_negative(&replicas);
    check_replicas(c, &spec, old);
    check_strategy(&strategy);
    check_none_negative(&spec, counts);
    if (place_is_set(&deadline) && place_int(&deadline) <= child_int(&spec, "minReadySeconds"))
        place_invalid(&deadline, "must be greater than minReadySeconds");
}

static void check_selector_kept(const struct rules_context *c, const struct value *new, const struct value *old,
                                struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place selector = place_at(&root, "spec.selector"), was = place_at(&before, "spec.selector");
    place_check_immutable(&selector, &was);
}

static void deployment_validate_create(const struct rules_context *c, const struct value *new,
                                       struct field_errors *errs)
{
    rules_check_meta(c, new, NULL, errs);
    check_deployment_spec(c, new, NULL, errs);
}

static void deployment_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    check_deployment_spec(c, new, old, errs);
    check_selector_kept(c, new, old, errs);
}

static void deployment_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    static const char *const counts[] = { "observedGeneration", "replicas", "updatedReplicas", "readyReplicas",
                                          "availableReplicas", "unavailableReplicas", "terminatingReplicas",
                                          "collisionCount", NULL };
    static const char *const parts[] = { "updatedReplicas", "readyReplicas", "availableReplicas", NULL };
    static const char *const available[] = { "availableReplicas", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place status = place_child(&root, "status"), was = place_child(&before, "status");
    rules_check_meta_update(c, new, old, errs);
    check_none_negative(&status, counts);
    check_none_above(&status, parts, "replicas", "status.replicas");
    check_none_above(&status, available, "readyReplicas", "readyReplicas");
    check_not_decremented(&status, &was, "collisionCount");
}

/* Labels of a deployment are not for those who write its status. */
static struct value deployment_prepare_status(const struct rules_context *c, const struct value *new,
                                              const struct value *old)
{
    struct value object = rules_keep_spec(c, new, old);
    return edit_set(c->arena, c->type, &object, "metadata.labels", *value_path(c->type, old, "metadata.labels"));
}

static void deployment_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    if (!old)
        warn_name_is_no_label(c, new);
    bool noted = old && !same_at(c, new, old, "metadata.annotations");
    workload_warn_template(c, new, noted ? NULL : old, "spec.template");
}

static const char *const deployment_status_reset[] = { "spec", "metadata.labels", NULL };
static const struct sub_rules deployment_subs[] = {
    { "status", deployment_prepare_status, deployment_validate_status, deployment_status_reset, NULL },
    { 0 },
};

static void check_replica_set_spec(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    static const char *const counts[] = { "replicas", "minReadySeconds", NULL };
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    check_none_negative(&spec, counts);
    check_replicas(c, &spec, old);
}

static void replica_set_validate_create(const struct rules_context *c, const struct value *new,
                                        struct field_errors *errs)
{
    rules_check_meta(c, new, NULL, errs);
    check_replica_set_spec(c, new, NULL, errs);
}

static void replica_set_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                        struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    check_replica_set_spec(c, new, old, errs);
    check_selector_kept(c, new, old, errs);
}

/* Of ReplicaSets and ReplicationControllers. */
static void replicas_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    static const char *const counts[] = { "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
                                          "observedGeneration", NULL };
    static const char *const parts[] = { "fullyLabeledReplicas", "readyReplicas", "availableReplicas", NULL };
    static const char *const available[] = { "availableReplicas", NULL };
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    rules_check_meta_update(c, new, old, errs);
    check_none_negative(&status, counts);
    if (schema_slot(status.type, STR("terminatingReplicas")) >= 0) {
        struct place terminating = place_child(&status, "terminatingReplicas");
        place_check_not_negative(&terminating);
    }
    check_none_above(&status, parts, "replicas", "status.replicas");
    check_none_above(&status, available, "readyReplicas", "readyReplicas");
}

static void replicas_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    if (!old)
        warn_name_is_no_label(c, new);
    workload_warn_template(c, new, old, "spec.template");
}

static const struct sub_rules replicas_subs[] = {
    { "status", workload_prepare_status, replicas_validate_status, workload_reset_spec, NULL },
    { 0 },
};

/* ---- ReplicationController ---- */

static bool labels_match(const struct place *selector, const struct place *template)
{
    struct place labels = place_at(template, "metadata.labels");
    struct selector all = selector_from_labels(selector->errs->arena, place_labels(selector));
    return selector_matches(&all, place_labels(&labels));
}

static void check_controller_template(const struct rules_context *c, const struct place *spec, const struct value *old)
{
    struct place selector = place_child(spec, "selector"), template = place_child(spec, "template");
    if (!place_is_set(&template)) {
        place_required(&template, "");
        return;
    }
    struct place labels = place_at(&template, "metadata.labels");
    if (place_n(&selector) && !labels_match(&selector, &template))
        place_invalid(&labels, "`selector` does not match template `labels`");
    workload_check_template(c, &template, old, "spec.template");
    check_lasting_template(&template, "ReplicationController");
}

static void check_controller_spec(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place ready = place_child(&spec, "minReadySeconds"), replicas = place_child(&spec, "replicas");
    struct place selector = place_child(&spec, "selector");
    place_check_not_negative(&ready);
    if (!place_n(&selector))
        place_required(&selector, "");
    if (!place_is_set(&replicas))
        place_required(&replicas, "");
    place_check_not_negative(&replicas);
    check_controller_template(c, &spec, old);
}

static void controller_validate_create(const struct rules_context *c, const struct value *new,
                                       struct field_errors *errs)
{
    rules_check_meta(c, new, NULL, errs);
    check_controller_spec(c, new, NULL, errs);
}

static void controller_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    check_controller_spec(c, new, old, errs);
}

/* What upstream warns about after a change is the template before it. */
static void controller_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_path spec = field_child(NULL, "spec"), template = field_child(&spec, "template");
    if (!old)
        replicas_warn(c, new, old);
    else if (!same_at(c, new, old, "spec"))
        rules_warn_pod_template(c, value_path(c->type, old, "spec.template"), &template);
}

/* ---- PodTemplate ---- */

static struct value template_prepare_create(const struct rules_context *c, const struct value *new)
{
    return workload_prepare_template(c, new, NULL, "template");
}

static struct value template_prepare_update(const struct rules_context *c, const struct value *new,
                                            const struct value *old)
{
    return workload_prepare_template(c, new, old, "template");
}

static void template_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), template = place_child(&root, "template");
    rules_check_meta(c, new, NULL, errs);
    workload_check_template(c, &template, NULL, "template");
}

static void template_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), template = place_child(&root, "template");
    rules_check_meta_update(c, new, old, errs);
    workload_check_template(c, &template, old, "template");
}

static void template_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_path at = field_child(NULL, "template");
    if (!old || !same_at(c, new, old, "template"))
        rules_warn_pod_template(c, value_path(c->type, new, "template"), &at);
}

/* ---- The table ---- */

static const struct sub_rules stateful_set_subs[] = {
    { "status", workload_prepare_status, stateful_set_validate_status, workload_reset_spec, NULL },
    { 0 },
};
static const struct sub_rules daemon_set_subs[] = {
    { "status", daemon_set_prepare_status, daemon_set_validate_status, workload_reset_spec, NULL },
    { 0 },
};

const struct kind_rules workload_rules[] = {
    { .type = "apps/v1.Deployment", .generation = GENERATION_SPEC_ANNOTATION, .prepare_create = workload_prepare_create,
      .prepare_update = workload_prepare_update, .validate_create = deployment_validate_create,
      .validate_update = deployment_validate_update, .warn = deployment_warn, .reset_fields = workload_reset_status,
      .subs = deployment_subs },
    { .type = "apps/v1.ReplicaSet", .generation = GENERATION_SPEC, .prepare_create = workload_prepare_create,
      .prepare_update = workload_prepare_update, .validate_create = replica_set_validate_create,
      .validate_update = replica_set_validate_update, .warn = replicas_warn, .reset_fields = workload_reset_status,
      .subs = replicas_subs },
    { .type = "apps/v1.StatefulSet", .name = name_is_dns_label, .generation = GENERATION_SPEC,
      .prepare_create = stateful_set_prepare_create, .prepare_update = stateful_set_prepare_update,
      .validate_create = stateful_set_validate_create, .validate_update = stateful_set_validate_update,
      .warn = stateful_set_warn, .reset_fields = workload_reset_status, .subs = stateful_set_subs },
    { .type = "apps/v1.DaemonSet", .generation = GENERATION_SPEC, .converted = daemon_set_converted,
      .prepare_create = daemon_set_prepare_create,
      .prepare_update = daemon_set_prepare_update, .validate_create = daemon_set_validate_create,
      .validate_update = daemon_set_validate_update, .warn = daemon_set_warn, .reset_fields = workload_reset_status,
      .subs = daemon_set_subs },
    { .type = "apps/v1.ControllerRevision", .validate_create = revision_validate_create,
      .validate_update = revision_validate_update },
    { .type = "core/v1.ReplicationController", .flags = RULES_ORPHANS, .generation = GENERATION_SPEC,
      .prepare_create = workload_prepare_create, .prepare_update = workload_prepare_update,
      .validate_create = controller_validate_create, .validate_update = controller_validate_update,
      .warn = controller_warn,
      .reset_fields = workload_reset_status, .subs = replicas_subs },
    { .type = "core/v1.PodTemplate", .flags = RULES_RETURNS_DELETED, .generation = GENERATION_SPEC,
      .prepare_create = template_prepare_create, .prepare_update = template_prepare_update,
      .validate_create = template_validate_create, .validate_update = template_validate_update, .warn = template_warn },
    { 0 },
};
