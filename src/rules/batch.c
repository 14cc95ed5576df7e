/* rules/batch.c - Job and CronJob. */
#include "api/edit.h"
#include "rules/batch_priv.h"
#include "rules/cron.h"
#include "rules/workload_priv.h"

/* As upstream: how large a job with indexes may be, and how long names are. */
enum {
    PARALLELISM_MAX = 100000,
    FAILED_INDEXES_MAX = 100000,
    COMPLETIONS_SOFT_MAX = 100000, /* above it less is allowed: */
    PARALLELISM_LARGE_MAX = 10000,
    FAILED_INDEXES_LARGE_MAX = 10000,
    MANAGED_BY_BYTES_MAX = 63,
    CRON_NAME_MAX = 52,
};

#define UID_LABEL "batch.kubernetes.io/controller-uid"
#define NAME_LABEL "batch.kubernetes.io/job-name"
#define OLD_UID_LABEL "controller-uid"
#define OLD_NAME_LABEL "job-name"

/* ---- Prepare ---- */

static struct value with_label(const struct rules_context *c, struct value labels, const char *key, struct str value)
{
    if (labels.kind == VALUE_MAP && value_member(&labels, str_of(key)))
        return labels;
    return edit_member(c->arena, &labels, str_of(key), value_string(value));
}

/* Pods of a job carry its name and uid, and by the latter it finds them. */
static struct value with_selector(const struct rules_context *c, const struct value *job)
{
    const struct value *manual = value_path(c->type, job, "spec.manualSelector");
    struct str uid = value_text(value_path(c->type, job, "metadata.uid"));
    struct str name = value_text(value_path(c->type, job, "metadata.name"));
    if (manual->kind == VALUE_BOOL && manual->b)
        return *job;
    struct value labels = *value_path(c->type, job, "spec.template.metadata.labels");
    labels = with_label(c, labels, OLD_NAME_LABEL, name);
    labels = with_label(c, labels, NAME_LABEL, name);
    labels = with_label(c, labels, OLD_UID_LABEL, uid);
    labels = with_label(c, labels, UID_LABEL, uid);
    struct value selected = with_label(c, *value_path(c->type, job, "spec.selector.matchLabels"), UID_LABEL, uid);
    struct value result = edit_set(c->arena, c->type, job, "spec.template.metadata.labels", labels);
    return edit_set(c->arena, c->type, &result, "spec.selector.matchLabels", selected);
}

/* A job without labels has those of its pods. */
static struct value with_labels(const struct rules_context *c, const struct value *job)
{
    const struct value *own = value_path(c->type, job, "metadata.labels");
    const struct value *labels = value_path(c->type, job, "spec.template.metadata.labels");
    if ((own->kind == VALUE_MAP && own->n) || labels->kind != VALUE_MAP)
        return *job;
    return edit_set(c->arena, c->type, job, "metadata.labels", *labels);
}

/* A name that is no label makes the template wrong; that is enough, the job's own labels need not be wrong, too. */
static struct value job_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value job = with_selector(c, new);
    struct str name = value_text(value_path(c->type, new, "metadata.name"));
    bool had_labels = value_path(c->type, new, "spec.template.metadata.labels")->kind == VALUE_MAP;
    if (had_labels || name_label_value(name).n == 0)
        job = with_labels(c, &job);
    return workload_prepare_create(c, &job);
}

static struct value job_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value job = with_labels(c, new);
    return workload_prepare_update(c, &job, old);
}

static struct value job_prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value job = workload_prepare_status(c, new, old);
    return with_labels(c, &job);
}

static struct value cron_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value job = rules_drop_status(c, new);
    return workload_prepare_template(c, &job, NULL, "spec.jobTemplate.spec.template");
}

static struct value cron_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value job = rules_keep_status(c, new, old);
    return workload_prepare_template(c, &job, old, "spec.jobTemplate.spec.template");
}

/* ---- The spec of a job, also inside a CronJob ---- */

static void check_numbers(const struct place *spec)
{
    static const char *const counts[] = { "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                                          "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes", NULL };
    struct place per_index = place_child(spec, "backoffLimitPerIndex"), manager = place_child(spec, "managedBy");
    check_none_negative(spec, counts);
    if (child_is_set(spec, "maxFailedIndexes") && !place_is_set(&per_index))
        place_required(&per_index, "when maxFailedIndexes is specified");
    if (!place_is_set(&manager))
        return;
    validate_domain_prefixed_path(place_text(&manager), &manager.path, manager.errs);
    if (place_text(&manager).n > MANAGED_BY_BYTES_MAX)
        field_too_long(manager.errs, &manager.path, MANAGED_BY_BYTES_MAX);
}

/* More completions than can be tracked one by one. */
static void check_large(const struct place *spec)
{
    struct place failed = place_child(spec, "maxFailedIndexes"), parallelism = place_child(spec, "parallelism");
    if (child_int(spec, "completions") <= COMPLETIONS_SOFT_MAX || !child_is_set(spec, "backoffLimitPerIndex"))
        return;
    if (!place_is_set(&failed))
        place_required(&failed, arena_printf(spec->errs->arena, "must be specified when completions is above %d",
                                             COMPLETIONS_SOFT_MAX));
    if (place_int(&parallelism) > PARALLELISM_LARGE_MAX)
        place_invalidf(&parallelism,
                       "must be less than or equal to %d when completions are above %d and used with backoff limit "
                       "per index", PARALLELISM_LARGE_MAX, COMPLETIONS_SOFT_MAX);
    if (place_int(&failed) > FAILED_INDEXES_LARGE_MAX)
        place_invalidf(&failed,
                       "must be less than or equal to %d when completions are above %d and used with backoff limit "
                       "per index", FAILED_INDEXES_LARGE_MAX, COMPLETIONS_SOFT_MAX);
}

static void check_indexed(const struct place *spec)
{
    struct place completions = place_child(spec, "completions"), parallelism = place_child(spec, "parallelism");
    struct place failed = place_child(spec, "maxFailedIndexes");
    if (!place_is_set(&completions))
        place_required(&completions, "when completion mode is Indexed");
    if (place_int(&parallelism) > PARALLELISM_MAX)
        place_invalidf(&parallelism, "must be less than or equal to %d when completion mode is Indexed",
                       PARALLELISM_MAX);
    if (place_is_set(&completions) && place_int(&failed) > place_int(&completions))
        place_invalid(&failed, "must be less than or equal to completions");
    if (place_int(&failed) > FAILED_INDEXES_MAX)
        place_invalidf(&failed, "must be less than or equal to %d", FAILED_INDEXES_MAX);
    check_large(spec);
}

static void check_completion_mode(const struct place *spec)
{
    static const char *const modes[] = { "NonIndexed", "Indexed", NULL };
    struct place mode = place_child(spec, "completionMode"), per_index = place_child(spec, "backoffLimitPerIndex");
    struct place failed = place_child(spec, "maxFailedIndexes");
    bool counted = !place_is_set(&mode) || str_is(place_text(&mode), "NonIndexed");
    if (place_is_set(&mode))
        place_check_supported(&mode, modes);
    if (str_is(place_text(&mode), "Indexed"))
        check_indexed(spec);
    if (counted && place_is_set(&per_index))
        place_invalid(&per_index, "requires indexed completion mode");
    if (counted && place_is_set(&failed))
        place_invalid(&failed, "requires indexed completion mode");
}

static void check_replacement(const struct place *spec)
{
    static const char *const any[] = { "Failed", "TerminatingOrFailed", NULL }, *const failed[] = { "Failed", NULL };
    struct place policy = place_child(spec, "podReplacementPolicy");
    if (place_is_set(&policy))
        place_check_supported(&policy, child_is_set(spec, "podFailurePolicy") ? failed : any);
}

static void check_restart_policy(const struct place *spec)
{
    static const char *const policies[] = { "OnFailure", "Never", NULL };
    struct place policy = place_at(spec, "template.spec.restartPolicy");
    struct str text = place_text(&policy);
    if (!text.n || str_is(text, "Always"))
        place_required(&policy, "valid values: \"OnFailure\", \"Never\"");
    else if (!text_is_one_of(text, policies))
        place_not_supported(&policy, policies);
    else if (child_is_set(spec, "podFailurePolicy") && !str_is(text, "Never"))
        place_invalid(&policy, "only \"Never\" is supported when podFailurePolicy is specified");
}

/* `old` is the whole object before, its template at `path`. */
static void check_job_parts(const struct rules_context *c, const struct place *spec, const struct value *old,
                            const char *path)
{
    struct place template = place_child(spec, "template");
    check_numbers(spec);
    check_completion_mode(spec);
    job_check_failure_policy(spec);
    job_check_success_policy(spec);
    check_replacement(spec);
    workload_check_template(c, &template, old, path);
    check_restart_policy(spec);
}

/* ---- Job ---- */

static void check_has_label(const struct place *labels, const char *key, struct str wanted)
{
    struct field_path at = field_key(&labels->path, str_of(key));
    const struct value *found = labels->value->kind == VALUE_MAP ? value_member(labels->value, str_of(key)) : NULL;
    struct str detail = str_of(arena_printf(labels->errs->arena, "must be '%.*s'", STR_ARG(wanted)));
    if (!found)
        field_required(labels->errs, &at, detail);
    else if (!str_eq(value_text(found), wanted))
        field_invalid(labels->errs, &at, place_shown(labels), detail);
}

/* Labels that only jobs of before v1.27 lack. */
static bool has_new_labels(const struct rules_context *c, const struct value *old)
{
    const struct value *labels = old ? value_path(c->type, old, "spec.template.metadata.labels") : NULL;
    return !labels ||
        (labels->kind == VALUE_MAP && value_member(labels, STR(NAME_LABEL)) && value_member(labels, STR(UID_LABEL)));
}

static void check_generated_selector(const struct rules_context *c, const struct place *root, const struct value *old)
{
    struct place spec = place_child(root, "spec"), selector = place_child(&spec, "selector");
    struct place labels = place_at(&spec, "template.metadata.labels"), meta = place_child(root, "metadata");
    struct str uid = child_text(&meta, "uid"), name = child_text(&meta, "name");
    bool new_labels = has_new_labels(c, old);
    if (child_bool(&spec, "manualSelector") || !place_is_set(&selector))
        return;
    check_has_label(&labels, OLD_UID_LABEL, uid);
    check_has_label(&labels, OLD_NAME_LABEL, name);
    if (new_labels) {
        check_has_label(&labels, UID_LABEL, uid);
        check_has_label(&labels, NAME_LABEL, name);
    }
    const struct label all[] = { { STR(UID_LABEL), uid }, { STR(NAME_LABEL), name }, { STR(OLD_UID_LABEL), uid },
                                 { STR(OLD_NAME_LABEL), name } };
    struct labels expected = { new_labels ? all : all + 2, new_labels ? 4 : 2 };
    if (!selector_matches_labels(&selector, expected))
        place_invalid(&selector, "`selector` not auto-generated");
}

static void check_job_selector(const struct place *spec)
{
    struct place selector = place_child(spec, "selector"), labels = place_at(spec, "template.metadata.labels");
    if (!place_is_set(&selector))
        place_required(&selector, "");
    else
        place_check_selector(&selector, false);
    if (!selector_matches_labels(&selector, place_labels(&labels)))
        place_invalid(&labels, "`selector` does not match template `labels`");
}

/* The last pod's name must do as a host name. */
static void check_host_names(const struct place *root)
{
    struct place spec = place_child(root, "spec"), meta = place_child(root, "metadata");
    struct place name = place_child(&meta, "name");
    if (!str_is(child_text(&spec, "completionMode"), "Indexed") || child_int(&spec, "completions") <= 0)
        return;
    const char *last = arena_printf(root->errs->arena, "%.*s-%lld", STR_ARG(place_text(&name)),
                                    (long long)child_int(&spec, "completions") - 1);
    if (name_dns1123_label(str_of(last)).n)
        place_invalidf(&name, "will not able to create pod with invalid DNS label: %s", last);
}

static void check_job_spec(const struct rules_context *c, const struct place *spec, const struct value *old)
{
    check_job_parts(c, spec, old, "spec.template");
    check_job_selector(spec);
}

static void check_job(const struct rules_context *c, const struct value *new, const struct value *old,
                      struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, NULL, errs);
    check_generated_selector(c, &root, old);
    check_job_spec(c, &spec, old);
    check_host_names(&root);
}

static void job_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_job(c, new, NULL, errs);
}

static void check_completions_kept(const struct place *spec, const struct place *old)
{
    struct place is = place_child(spec, "completions"), was = place_child(old, "completions");
    if (!str_is(child_text(spec, "completionMode"), "Indexed"))
        place_check_immutable(&is, &was);
    else if (place_is_set(&is) && !place_same(&is, &was) && place_int(&is) != child_int(spec, "parallelism"))
        place_invalid(&is, "can only be modified in tandem with spec.parallelism");
}

/* A job that sleeps and has no pods may still be moved and resized. */
static bool template_may_change(const struct place *old)
{
    struct place spec = place_child(old, "spec"), status = place_child(old, "status");
    bool idle = !child_is_set(&status, "startTime") || job_has_condition(&status, "Suspended", "True");
    return child_bool(&spec, "suspend") && idle && child_int(&status, "active") == 0;
}

static struct value copy_path(struct arena *a, const struct type *t, struct value to, const struct value *from,
                              const char *path)
{
    const struct value *found = value_path(t, from, path);
    if (found->kind == VALUE_ABSENT && value_path(t, &to, path)->kind == VALUE_ABSENT)
        return to;
    return edit_set(a, t, &to, path, *found);
}

/* Node affinity is free, the rest of the affinity is not. */
static struct value copy_node_affinity(struct arena *a, const struct type *t, struct value old, const struct value *new)
{
    const struct type *affinity = schema_type(STR("core/v1.Affinity"));
    old = copy_path(a, t, old, new, "spec.affinity.nodeAffinity");
    const struct value *left = value_path(t, &old, "spec.affinity");
    for (unsigned i = 0; left->kind == VALUE_STRUCT && i < affinity->n_fields; i++)
        if (left->slots[i].kind != VALUE_ABSENT)
            return old;
    return copy_path(a, t, old, new, "spec.affinity");
}

/* Containers of `old` with the resources of those of the same name and place. */
static struct value copy_resources(struct arena *a, const struct value *old, const struct value *new)
{
    const struct type *t = schema_type(STR("core/v1.Container"));
    if (old->kind != VALUE_LIST || new->kind != VALUE_LIST || old->n != new->n)
        return *old;
    struct value *items = ARENA_NEW_N(a, struct value, old->n);
    for (uint32_t i = 0; i < old->n; i++) {
        bool same = value_equal(value_path(t, &old->items[i], "name"), value_path(t, &new->items[i], "name"));
        items[i] = same ? copy_path(a, t, old->items[i], &new->items[i], "resources") : old->items[i];
    }
    return value_list(items, old->n);
}

/* The old template with what may change of the new one. */
static struct value with_free_parts(struct arena *a, const struct value *old, const struct value *new)
{
    static const char *const free_parts[] = { "spec.nodeSelector", "spec.tolerations", "metadata.annotations",
                                              "metadata.labels", "spec.schedulingGates", NULL };
    static const char *const lists[] = { "spec.containers", "spec.initContainers", NULL };
    const struct type *t = schema_type(STR("core/v1.PodTemplateSpec"));
    struct value result = copy_node_affinity(a, t, *old, new);
    for (const char *const *path = free_parts; *path; path++)
        result = copy_path(a, t, result, new, *path);
    for (const char *const *path = lists; *path; path++) {
        struct value list = copy_resources(a, value_path(t, &result, *path), value_path(t, new, *path));
        if (list.kind == VALUE_LIST)
            result = edit_set(a, t, &result, *path, list);
    }
    return result;
}

static void check_template_kept(const struct place *spec, const struct place *old_root)
{
    struct place template = place_child(spec, "template"), was = place_at(old_root, "spec.template");
    if (!template_may_change(old_root)) {
        place_check_immutable(&template, &was);
        return;
    }
    struct value allowed = with_free_parts(spec->errs->arena, was.value, template.value);
    struct place changed = was;
    changed.value = &allowed;
    struct place pods = place_child(&template, "spec"), old_pods = place_child(&changed, "spec");
    place_check_immutable(&pods, &old_pods);
}

static void job_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                struct field_errors *errs)
{
    static const char *const kept[] = { "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy",
                                        "successPolicy", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place spec = place_child(&root, "spec"), was = place_child(&before, "spec");
    struct place selector = place_child(&spec, "selector"), old_selector = place_child(&was, "selector");
    check_job(c, new, old, errs);
    rules_check_meta_update(c, new, old, errs);
    check_job_spec(c, &spec, old); /* twice, as upstream does: causes are listed twice, too */
    check_completions_kept(&spec, &was);
    place_check_immutable(&selector, &old_selector);
    check_template_kept(&spec, &before);
    for (const char *const *name = kept; *name; name++) {
        struct place is = place_child(&spec, *name), old_one = place_child(&was, *name);
        place_check_immutable(&is, &old_one);
    }
}

static void warn_about_spec(const struct rules_context *c, const struct value *new, const char *path,
                            const char *template)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_at(&root, path);
    if (str_is(child_text(&spec, "completionMode"), "Indexed") &&
        child_int(&spec, "completions") > COMPLETIONS_SOFT_MAX &&
        child_int(&spec, "parallelism") > PARALLELISM_LARGE_MAX)
        warnings_add(c->warnings,
                     "%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
                     "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes "
                     "fail",
                     path);
    workload_warn_template(c, new, NULL, template);
}

static void job_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    if (!old)
        warn_name_is_no_label(c, new);
    if (!old || !same_at(c, new, old, "spec"))
        warn_about_spec(c, new, "spec", "spec.template");
}

/* ---- CronJob ---- */

static void check_schedule(const struct place *spec, const struct place *old)
{
    struct place schedule = place_child(spec, "schedule");
    struct str text = place_text(&schedule), was = old ? child_text(old, "schedule") : (struct str){ NULL, 0 };
    if (!text.n) {
        place_required(&schedule, "");
        return;
    }
    const char *fault = cron_fault(spec->errs->arena, text);
    if (fault)
        place_invalid(&schedule, fault);
    bool zoned = memmem(text.p, text.n, "TZ", 2) != NULL, was_zoned = was.n && memmem(was.p, was.n, "TZ", 2) != NULL;
    if (zoned && !was_zoned)
        place_invalid(&schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    else if (zoned && child_is_set(spec, "timeZone"))
        place_invalid(&schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
}

/* One part of a zone's name. */
static bool is_zone_part(struct str part)
{
    if (part.n < 1 || part.n > 14 || str_is(part, ".") || str_is(part, "..") || part.p[0] == '-')
        return false;
    for (size_t i = 0; i < part.n; i++) {
        char c = part.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '.' && c != '-' && c != '_' && c != '+')
            return false;
    }
    return true;
}

static bool zone_has_form(struct str name)
{
    for (;;) {
        size_t end = str_index(name, '/');
        if (!is_zone_part(str_first(name, end)))
            return false;
        if (end == name.n)
            return true;
        name = str_from(name, end + 1);
    }
}

static void check_time_zone(const struct place *zone)
{
    struct str name = place_text(zone);
    if (!place_is_set(zone))
        return;
    if (!name.n) {
        place_invalid(zone, "timeZone must be nil or non-empty string");
        return;
    }
    if (!zone_has_form(name)) {
        place_invalidf(zone, "unknown time zone %.*s", STR_ARG(name));
        return;
    }
    if (name.n == 5 && strncasecmp(name.p, "Local", 5) == 0)
        place_invalid(zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
    const char *fault = time_zone_fault(zone->errs->arena, name);
    if (fault)
        place_invalid(zone, fault);
}

static void check_job_template(const struct rules_context *c, const struct place *spec, const struct value *old)
{
    static const char *const manual_values[] = { "nil", "false" };
    struct place job = place_at(spec, "jobTemplate.spec"), selector = place_child(&job, "selector");
    struct place manual = place_child(&job, "manualSelector");
    check_job_parts(c, &job, old, "spec.jobTemplate.spec.template");
    if (place_is_set(&selector))
        place_invalid(&selector, "`selector` will be auto-generated");
    if (place_bool(&manual))
        field_not_supported(manual.errs, &manual.path, field_bool(true), manual_values, 2);
}

static void check_cron_spec(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    static const char *const policies[] = { "Allow", "Forbid", "Replace", NULL };
    static const char *const limits[] = { "successfulJobsHistoryLimit", "failedJobsHistoryLimit", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place spec = place_child(&root, "spec"), was = old ? place_child(&before, "spec") : spec;
    struct place zone = place_child(&spec, "timeZone"), old_zone = place_child(&was, "timeZone");
    struct place deadline = place_child(&spec, "startingDeadlineSeconds");
    struct place policy = place_child(&spec, "concurrencyPolicy");
    check_schedule(&spec, old ? &was : NULL);
    place_check_not_negative(&deadline);
    if (!old || !place_same(&zone, &old_zone))
        check_time_zone(&zone);
    place_check_choice(&policy, policies);
    check_job_template(c, &spec, old);
    check_none_negative(&spec, limits);
}

static void cron_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place name = place_child(&meta, "name");
    rules_check_meta(c, new, NULL, errs);
    check_cron_spec(c, new, NULL, errs);
    if (place_text(&name).n > CRON_NAME_MAX)
        place_invalidf(&name, "must be no more than %d characters", CRON_NAME_MAX);
}

static void cron_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                 struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    check_cron_spec(c, new, old, errs);
}

static void cron_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct str schedule = value_text(value_path(c->type, new, "spec.schedule"));
    if (!old)
        warn_name_is_no_label(c, new);
    if (!old || !same_at(c, new, old, "spec"))
        warn_about_spec(c, new, "spec.jobTemplate.spec", "spec.jobTemplate.spec.template");
    if (old && schedule.n && memmem(schedule.p, schedule.n, "TZ", 2)) /* and the path is upstream's own */
        warnings_add(c->warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
                     "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
}

/* ---- The table ---- */

static const struct sub_rules job_subs[] = {
    { "status", job_prepare_status, job_validate_status, workload_reset_spec, NULL },
    { 0 },
};
static const struct sub_rules cron_subs[] = {
    { "status", workload_prepare_status, NULL, workload_reset_spec, NULL },
    { 0 },
};

const struct kind_rules batch_rules[] = {
    { .type = "batch/v1.Job", .flags = RULES_ORPHANS, .generation = GENERATION_SPEC, .converted = with_labels,
      .prepare_create = job_prepare_create,
      .prepare_update = job_prepare_update, .validate_create = job_validate_create,
      .validate_update = job_validate_update, .warn = job_warn, .reset_fields = workload_reset_status,
      .subs = job_subs },
    { .type = "batch/v1.CronJob", .generation = GENERATION_SPEC, .prepare_create = cron_prepare_create,
      .prepare_update = cron_prepare_update, .validate_create = cron_validate_create,
      .validate_update = cron_validate_update, .warn = cron_warn, .reset_fields = workload_reset_status,
      .subs = cron_subs },
    { 0 },
};
