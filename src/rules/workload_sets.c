/* rules/workload_sets.c - StatefulSet and DaemonSet, and ControllerRevision, which keeps their past. */
#include "api/edit.h"
#include "rules/workload_priv.h"

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

/* ---- StatefulSet ---- */

/* A field whose gate is off stays where it is already. */
static struct value without_max_unavailable(const struct rules_context *c, const struct value *new,
                                            const struct value *old)
{
    static const char path[] = "spec.updateStrategy.rollingUpdate.maxUnavailable";
    bool kept = old && value_path(c->type, old, path)->kind != VALUE_ABSENT;
    if (kept || value_path(c->type, new, path)->kind == VALUE_ABSENT)
        return *new;
    return edit_set(c->arena, c->type, new, path, (struct value){ 0 });
}

struct value stateful_set_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value set = workload_prepare_create(c, new);
    return without_max_unavailable(c, &set, NULL);
}

struct value stateful_set_prepare_update(const struct rules_context *c, const struct value *new,
                                         const struct value *old)
{
    struct value set = workload_prepare_update(c, new, old);
    return without_max_unavailable(c, &set, old);
}

static void check_set_rolling(const struct place *rolling)
{
    struct place partition = place_child(rolling, "partition"), unavailable = place_child(rolling, "maxUnavailable");
    place_check_not_negative(&partition);
    if (!place_is_set(&unavailable))
        return;
    check_count_or_percent(&unavailable);
    if (count_or_percent(&unavailable) == 0)
        place_invalid(&unavailable, "cannot be 0");
    check_not_above_all(&unavailable);
}

static void check_set_strategy(const struct place *strategy)
{
    struct place rolling = place_child(strategy, "rollingUpdate");
    struct str type = child_text(strategy, "type");
    if (!type.n)
        place_required(strategy, "");
    else if (str_is(type, "RollingUpdate"))
        check_set_rolling(&rolling);
    else if (!str_is(type, "OnDelete"))
        field_invalid(strategy->errs, &strategy->path, place_shown_as_go(strategy),
                      STR("must be 'RollingUpdate' or 'OnDelete'"));
    else if (place_is_set(&rolling))
        field_invalid(rolling.errs, &rolling.path, place_shown_as_go(&rolling),
                      STR("only allowed for updateStrategy 'RollingUpdate'"));
}

static void check_claim_policy(const struct place *policy)
{
    static const char *const values[] = { "Retain", "Delete", NULL };
    struct place deleted = place_child(policy, "whenDeleted"), scaled = place_child(policy, "whenScaled");
    if (!place_is_set(policy))
        return;
    place_check_supported(&deleted, values);
    place_check_supported(&scaled, values);
}

static bool is_there(const struct seen *names, struct str name)
{
    return map_str_find(&names->texts, name.p ? name : STR("")) != NULL;
}

/* The pods of a set have its claims as volumes, and names of their own. */
static struct value template_with_claims(const struct rules_context *c, const struct place *spec)
{
    const struct type *t = schema_type(STR("core/v1.PodTemplateSpec")), *volume = schema_type(STR("core/v1.Volume"));
    struct place claims = place_child(spec, "volumeClaimTemplates"), template = place_child(spec, "template");
    if (template.value->kind != VALUE_STRUCT)
        return *template.value;
    struct value result = edit_set(c->arena, t, template.value, "spec.subdomain", (struct value){ 0 });
    result = edit_set(c->arena, t, &result, "spec.hostname", (struct value){ 0 });
    const struct value *volumes = value_path(t, template.value, "spec.volumes");
    uint32_t n_volumes = volumes->kind == VALUE_LIST ? volumes->n : 0, n = 0;
    struct value *all = ARENA_NEW_N(c->arena, struct value, place_n(&claims) + n_volumes);
    struct seen names;
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(&claims); i++) {
        struct place claim = place_item(&claims, i), name = place_at(&claim, "metadata.name");
        if (seen_before(&names, place_text(&name)))
            continue;
        struct value one = value_struct(c->arena, volume);
        one = edit_set(c->arena, volume, &one, "name", value_string(place_text(&name)));
        all[n++] = edit_set(c->arena, volume, &one, "persistentVolumeClaim.claimName", value_string(place_text(&name)));
    }
    size_t n_claims = n;
    for (uint32_t i = 0; i < n_volumes; i++)
        if (!is_there(&names, value_text(value_path(volume, &volumes->items[i], "name"))))
            all[n++] = volumes->items[i];
    seen_fini(&names);
    return n_claims ? edit_set(c->arena, t, &result, "spec.volumes", value_list(all, n)) : result;
}

static void check_set_template(const struct rules_context *c, const struct place *spec, const struct value *old,
                               bool full)
{
    struct place selector = place_child(spec, "selector"), template = place_child(spec, "template");
    struct place labels = place_at(&template, "metadata.labels"), notes = place_at(&template, "metadata.annotations");
    struct place labels_at = place_named(&template, &labels, "labels");
    struct place notes_at = place_named(&template, &notes, "annotations");
    check_selector_matches(&selector, &template);
    if (full) {
        struct value checked = template_with_claims(c, spec);
        const struct value *was = old ? value_path(c->type, old, "spec.template") : NULL;
        rules_check_pod_template_spec(c, &checked, was, &template.path, template.errs);
    }
    place_check_labels(&labels_at); /* once more, and at another path, as upstream */
    validate_annotations(place_labels(&notes_at), &notes_at.path, notes_at.errs);
}

struct set_check {
    bool changed;  /* names and claims cannot change: wrong ones may stay */
    bool lenient;  /* the old one is wrong itself: its template is not looked at */
};

static void check_set_spec(const struct rules_context *c, const struct place *spec, const struct value *old,
                           struct set_check how)
{
    static const char *const counts[] = { "replicas", "minReadySeconds", NULL };
    struct place policy = place_child(spec, "podManagementPolicy"), strategy = place_child(spec, "updateStrategy");
    struct place claims = place_child(spec, "volumeClaimTemplates"), service = place_child(spec, "serviceName");
    struct place retention = place_child(spec, "persistentVolumeClaimRetentionPolicy");
    struct place selector = place_child(spec, "selector"), start = place_at(spec, "ordinals.start");
    struct place template = place_child(spec, "template");
    struct str text = place_text(&policy);
    if (!text.n)
        place_required(&policy, "");
    else if (!str_is(text, "OrderedReady") && !str_is(text, "Parallel"))
        place_invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    check_set_strategy(&strategy);
    check_claim_policy(&retention);
    for (uint32_t i = 0; !how.changed && i < place_n(&claims); i++) {
        struct place claim = place_item(&claims, i), claim_spec = place_child(&claim, "spec");
        rules_check_claim_spec(claim_spec.value, false, &claim_spec.path, claim_spec.errs);
    }
    check_none_negative(spec, counts);
    place_check_not_negative(&start);
    if (!how.changed && place_text(&service).n)
        place_check_names(&service, name_dns1123_label(place_text(&service)));
    if (check_selector_of(&selector, "statefulset", ""))
        check_set_template(c, spec, old, !how.lenient);
    check_lasting_template(&template, "StatefulSet");
}

void stateful_set_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_label, errs);
    check_set_spec(c, &spec, NULL, (struct set_check){ 0 });
}

/* All but a few fields of the spec are what they were. */
static bool set_is_kept(const struct place *spec, const struct place *old)
{
    static const char *const free_fields[] = { "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
                                               "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", NULL };
    for (unsigned i = 0; i < spec->type->n_fields; i++) {
        struct str name = spec->type->fields[i].name;
        if (text_is_one_of(name, free_fields))
            continue;
        struct place is = place_child(spec, arena_cstr(spec->errs->arena, name));
        struct place was = place_child(old, arena_cstr(spec->errs->arena, name));
        if (!place_same(&is, &was))
            return false;
    }
    return true;
}

void stateful_set_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct field_errors of_old;
    field_errors_init(&of_old, c->arena);
    struct place root = place_root(c, new, errs), before = place_root(c, old, &of_old);
    struct place spec = place_child(&root, "spec"), was = place_child(&before, "spec");
    rules_check_meta_update(c, new, old, errs);
    check_set_spec(c, &was, old, (struct set_check){ .changed = true });
    check_set_spec(c, &spec, old, (struct set_check){ .changed = true, .lenient = of_old.n > 0 });
    if (!set_is_kept(&spec, &was))
        place_forbidden(&spec, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                        "'minReadySeconds' are forbidden");
}

void stateful_set_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    static const char *const counts[] = { "replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
                                          "availableReplicas", "observedGeneration", "collisionCount", NULL };
    static const char *const parts[] = { "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                                         NULL };
    static const char *const available[] = { "availableReplicas", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place status = place_child(&root, "status"), was = place_child(&before, "status");
    rules_check_meta_update(c, new, old, errs);
    check_none_negative(&status, counts);
    check_none_above(&status, parts, "replicas", "status.replicas");
    check_none_above(&status, available, "readyReplicas", "status.readyReplicas");
    check_not_decremented(&status, &was, "collisionCount");
}

/* Bytes do not come in parts. */
static void warn_about_claims(const struct rules_context *c, const struct place *root, bool changed)
{
    struct place claims = place_at(root, "spec.volumeClaimTemplates");
    for (uint32_t i = 0; i < place_n(&claims); i++) {
        struct place claim = place_item(&claims, i), requests = place_at(&claim, "spec.resources.requests");
        struct str text = place_entry(&requests, "storage");
        struct quantity amount;
        struct err e;
        err_init(&e, c->arena);
        if (!text.n || quantity_parse(c->arena, text, &amount, &e) || quantity_milli(&amount) % 1000 == 0)
            continue;
        warnings_add(c->warnings,
                     "spec.volumeClaimTemplates[%u]%s.resources.requests[storage]: fractional byte value \"%.*s\" is "
                     "invalid, must be an integer", (unsigned)i, changed ? ".Spec" : "", STR_ARG(text));
    }
}

void stateful_set_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), limit = place_at(&root, "spec.revisionHistoryLimit");
    workload_warn_template(c, new, old, "spec.template");
    warn_about_claims(c, &root, old != NULL);
    if (place_int(&limit) < 0)
        warnings_add(c->warnings,
                     "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
                     "recommended");
}

/* ---- DaemonSet ---- */

/* How often the template changed is kept in an annotation. */
static int64_t template_generation(const struct rules_context *c, const struct value *set)
{
    const struct value *all = value_path(c->type, set, "metadata.annotations");
    const struct value *found = all->kind == VALUE_MAP ? value_member(all, STR(TEMPLATE_GENERATION)) : NULL;
    int64_t generation;
    return found && labels_parse_int(value_text(found), &generation) ? generation : 0;
}

static struct value with_generation(const struct rules_context *c, const struct value *set, int64_t generation)
{
    struct value text = edit_text(arena_printf(c->arena, "%lld", (long long)generation));
    struct value all = edit_member(c->arena, value_path(c->type, set, "metadata.annotations"), STR(TEMPLATE_GENERATION),
                                   text);
    return edit_set(c->arena, c->type, set, "metadata.annotations", all);
}

/* A number of the internal version, an annotation of the others. */
struct value daemon_set_converted(const struct rules_context *c, const struct value *new)
{
    return with_generation(c, new, template_generation(c, new));
}

struct value daemon_set_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value set = workload_prepare_create(c, new);
    int64_t generation = template_generation(c, &set);
    return with_generation(c, &set, generation < 1 ? 1 : generation);
}

struct value daemon_set_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value set = workload_prepare_update(c, new, old);
    bool changed = !same_at(c, &set, old, "spec.template");
    return with_generation(c, &set, template_generation(c, old) + changed);
}

/* The annotation is part of the spec, although it does not look so. */
struct value daemon_set_prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value set = rules_keep_spec(c, new, old);
    return with_generation(c, &set, template_generation(c, old));
}

static void check_daemon_rolling(const struct place *rolling)
{
    struct place unavailable = place_child(rolling, "maxUnavailable"), surge = place_child(rolling, "maxSurge");
    check_count_or_percent(&unavailable);
    check_count_or_percent(&surge);
    check_not_above_all(&unavailable);
    check_not_above_all(&surge);
    bool some_less = count_or_percent(&unavailable) != 0, some_more = count_or_percent(&surge) != 0;
    if (some_less && some_more)
        place_invalid(&surge, "may not be set when maxUnavailable is non-zero");
    if (!some_less && !some_more)
        place_required(&unavailable, "cannot be 0 when maxSurge is 0");
}

static void check_daemon_strategy(const struct place *strategy)
{
    static const char *const types[] = { "RollingUpdate", "OnDelete" };
    struct place rolling = place_child(strategy, "rollingUpdate");
    struct str type = child_text(strategy, "type");
    if (str_is(type, "RollingUpdate"))
        check_daemon_rolling(&rolling);
    else if (!str_is(type, "OnDelete"))
        field_not_supported(strategy->errs, &strategy->path, place_shown_as_go(strategy), types, 2);
}

static void check_daemon_spec(const struct rules_context *c, const struct value *new, const struct value *old,
                              struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place selector = place_child(&spec, "selector"), template = place_child(&spec, "template");
    struct place ready = place_child(&spec, "minReadySeconds"), history = place_child(&spec, "revisionHistoryLimit");
    struct place strategy = place_child(&spec, "updateStrategy");
    if (place_is_set(&selector))
        place_check_selector(&selector, false);
    check_selector_matches(&selector, &template);
    if (place_is_set(&selector) && child_n(&selector, "matchLabels") + child_n(&selector, "matchExpressions") == 0)
        place_invalid(&selector, "empty selector is invalid for daemonset");
    workload_check_template(c, &template, old, "spec.template");
    check_lasting_template(&template, "DaemonSet");
    place_check_not_negative(&ready);
    check_daemon_strategy(&strategy);
    place_check_not_negative(&history);
}

void daemon_set_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    rules_check_meta(c, new, NULL, errs);
    check_daemon_spec(c, new, NULL, errs);
}

void daemon_set_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place selector = place_at(&root, "spec.selector"), was = place_at(&before, "spec.selector");
    rules_check_meta_update(c, new, old, errs);
    place_check_immutable(&selector, &was);
    check_daemon_spec(c, new, old, errs);
}

void daemon_set_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                struct field_errors *errs)
{
    static const char *const counts[] = { "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled",
                                          "numberReady", "observedGeneration", "updatedNumberScheduled",
                                          "numberAvailable", "numberUnavailable", "collisionCount", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place status = place_child(&root, "status"), was = place_child(&before, "status");
    rules_check_meta_update(c, new, old, errs);
    check_none_negative(&status, counts);
    check_not_decremented(&status, &was, "collisionCount");
}

void daemon_set_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    if (!old || !same_at(c, new, old, "spec.template"))
        workload_warn_template(c, new, NULL, "spec.template");
}

/* ---- ControllerRevision ---- */

static void check_revision(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), revision = place_child(&root, "revision");
    rules_check_meta(c, new, NULL, errs);
    place_check_not_negative(&revision);
}

void revision_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), data = place_child(&root, "data");
    struct str text = place_text(&data);
    check_revision(c, new, errs);
    if (!text.n || str_is(text, "null"))
        place_required(&data, "data is mandatory");
    else if (text.p[0] != '{')
        place_required(&data, "data must be a valid JSON object");
}

void revision_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                              struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place data = place_child(&root, "data"), was = place_child(&before, "data");
    rules_check_meta_update(c, new, old, errs);
    check_revision(c, new, errs);
    place_check_immutable(&data, &was);
}
