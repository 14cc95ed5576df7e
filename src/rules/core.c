/* rules/core.c - the core group's table, and its kinds with few rules: Namespace, ServiceAccount; and Lease. */
#include "api/edit.h"
#include "rules/core_priv.h"

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_spec[] = { "spec", NULL };

/* For kinds whose status has an endpoint of its own. */
static struct value drop_status(const struct rules_context *c, const struct value *new)
{
    return rules_drop_status(c, new);
}

static struct value keep_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    return rules_keep_status(c, new, old);
}

static struct value keep_spec(const struct rules_context *c, const struct value *new, const struct value *old)
{
    return rules_keep_spec(c, new, old);
}

/* ---- Namespace ---- */

#define KUBE_FINALIZER "kubernetes"
#define NAME_LABEL "kubernetes.io/metadata.name"

static struct value with_name_label(const struct rules_context *c, const struct value *namespace)
{
    const struct value *name = value_path(c->type, namespace, "metadata.name");
    if (!value_text(name).n)
        return *namespace;
    struct value labels = edit_member(c->arena, value_path(c->type, namespace, "metadata.labels"), STR(NAME_LABEL),
                                      *name);
    return edit_set(c->arena, c->type, namespace, "metadata.labels", labels);
}

static bool list_has(const struct value *list, const char *text)
{
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(&list->items[i]), text))
            return true;
    return false;
}

static struct value namespace_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value namespace = with_name_label(c, new);
    namespace = rules_drop_status(c, &namespace);
    namespace = edit_set(c->arena, c->type, &namespace, "status.phase", edit_text("Active"));
    const struct value *finalizers = value_path(c->type, &namespace, "spec.finalizers");
    if (list_has(finalizers, KUBE_FINALIZER))
        return namespace;
    return edit_set(c->arena, c->type, &namespace, "spec.finalizers",
                    edit_append(c->arena, finalizers, edit_text(KUBE_FINALIZER)));
}

static struct value namespace_prepare_update(const struct rules_context *c, const struct value *new,
                                             const struct value *old)
{
    struct value namespace = with_name_label(c, new);
    namespace = rules_keep_status(c, &namespace, old);
    return edit_set(c->arena, c->type, &namespace, "spec.finalizers", *value_path(c->type, old, "spec.finalizers"));
}

static struct value namespace_prepare_status(const struct rules_context *c, const struct value *new,
                                             const struct value *old)
{
    struct value namespace = with_name_label(c, new);
    return rules_keep_spec(c, &namespace, old);
}

static struct value namespace_prepare_finalize(const struct rules_context *c, const struct value *new,
                                               const struct value *old)
{
    struct value namespace = with_name_label(c, new);
    return rules_keep_status(c, &namespace, old);
}

/* Errors name the list, or each of its items. */
static void check_namespace_finalizers(const struct rules_context *c, const struct value *new, bool by_index,
                                       struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), list = place_at(&root, "spec.finalizers");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place item = place_item(&list, i);
        const struct field_path *at = by_index ? &item.path : &list.path;
        validate_finalizer_name(place_text(&item), at, errs);
        rules_check_kube_finalizer(place_text(&item), at, errs);
    }
}

static void namespace_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    rules_check_meta(c, new, name_is_dns_label, errs);
    check_namespace_finalizers(c, new, false, errs);
}

static void namespace_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                      struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    namespace_validate_create(c, new, errs);
}

static void namespace_validate_finalize(const struct rules_context *c, const struct value *new, const struct value *old,
                                        struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    check_namespace_finalizers(c, new, true, errs);
}

static void namespace_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                      struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place phase = place_child(&status, "phase"), shown = place_named(&status, &phase, "Phase");
    bool deleted = value_path(c->type, new, "metadata.deletionTimestamp")->kind == VALUE_TIME;
    rules_check_meta_update(c, new, old, errs);
    if (!deleted && !str_is(place_text(&phase), "Active"))
        place_invalid(&shown, "may only be 'Active' if `deletionTimestamp` is empty");
    if (deleted && !str_is(place_text(&phase), "Terminating"))
        place_invalid(&shown, "may only be 'Terminating' if `deletionTimestamp` is not empty");
}

static const struct sub_rules namespace_subs[] = {
    { "status", namespace_prepare_status, namespace_validate_status, reset_spec, NULL },
    { "finalize", namespace_prepare_finalize, namespace_validate_finalize, reset_status, NULL },
    { 0 },
};

/* ---- ServiceAccount ---- */

#define MOUNTABLE_ANNOTATION "kubernetes.io/enforce-mountable-secrets"

/* Of secrets only the name is kept. */
static struct value with_secret_names(const struct rules_context *c, const struct value *account)
{
    const struct value *secrets = value_path(c->type, account, "secrets");
    const struct type *t = schema_type(STR("core/v1.ObjectReference"));
    uint32_t n = secrets->kind == VALUE_LIST ? secrets->n : 0;
    struct value *items = ARENA_NEW_N(c->arena, struct value, n);
    unsigned name = (unsigned)schema_slot(t, STR("name"));
    for (uint32_t i = 0; i < n; i++) {
        items[i] = value_struct(c->arena, t);
        items[i].slots[name] = *value_slot(&secrets->items[i], name);
    }
    return n ? edit_set(c->arena, c->type, account, "secrets", value_list(items, n)) : *account;
}

static struct value account_prepare_create(const struct rules_context *c, const struct value *new)
{
    return with_secret_names(c, new);
}

static struct value account_prepare_update(const struct rules_context *c, const struct value *new,
                                           const struct value *old)
{
    (void)old;
    return with_secret_names(c, new);
}

static void account_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    rules_check_meta_update(c, new, old, errs);
    rules_check_meta(c, new, NULL, errs);
}

static bool has_annotation(const struct rules_context *c, const struct value *object, const char *key)
{
    const struct value *all = value_path(c->type, object, "metadata.annotations");
    return all->kind == VALUE_MAP && value_member(all, str_of(key));
}

static void account_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    if (has_annotation(c, new, MOUNTABLE_ANNOTATION) && !(old && has_annotation(c, old, MOUNTABLE_ANNOTATION)))
        warnings_add(c->warnings,
                     "metadata.annotations[" MOUNTABLE_ANNOTATION "]: deprecated in v1.32+; prefer separate "
                     "namespaces to isolate access to mounted secrets");
}

/* ---- ResourceQuota ---- */

static const struct sub_rules quota_subs[] = {
    { "status", keep_spec, quota_validate_status, reset_spec, NULL },
    { 0 },
};

/* ---- Node ---- */

static const struct sub_rules node_subs[] = {
    { "status", node_prepare_status, node_validate_status, reset_spec, NULL },
    { 0 },
};

/* ---- Lease ---- */

/* Fields of a gate that is off: they stay where they are already. */
static struct value lease_prepare_update(const struct rules_context *c, const struct value *new,
                                         const struct value *old)
{
    static const char *const gated[] = { "spec.strategy", "spec.preferredHolder" };
    struct value lease = *new;
    for (size_t i = 0; i < sizeof(gated) / sizeof(gated[0]); i++)
        if ((!old || value_path(c->type, old, gated[i])->kind == VALUE_ABSENT) &&
            value_path(c->type, &lease, gated[i])->kind != VALUE_ABSENT)
            lease = edit_set(c->arena, c->type, &lease, gated[i], (struct value){ 0 });
    return lease;
}

static struct value lease_prepare_create(const struct rules_context *c, const struct value *new)
{
    return lease_prepare_update(c, new, NULL);
}

static void check_lease_strategy(const struct place *spec)
{
    static const char *const strategies[] = { "OldestEmulationVersion", NULL };
    struct place strategy = place_child(spec, "strategy"), at = place_named(&strategy, &strategy, "strategy");
    struct place holder = place_child(spec, "preferredHolder");
    struct str text = place_text(&strategy);
    if (place_is_set(&strategy) && str_index(text, '/') == text.n)
        place_check_supported(&at, strategies);
    else if (place_is_set(&strategy))
        place_check_names(&at, name_label_key(text));
    if (place_text(&holder).n && !text.n)
        place_forbidden(&holder, "may only be specified if `strategy` is defined");
}

static void check_lease_spec(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place duration = place_child(&spec, "leaseDurationSeconds"), moves = place_child(&spec, "leaseTransitions");
    if (place_is_set(&duration) && place_int(&duration) <= 0)
        place_invalid(&duration, "must be greater than 0");
    if (place_int(&moves) < 0)
        place_invalid(&moves, "must be greater than or equal to 0");
    check_lease_strategy(&spec);
}

static void lease_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    check_lease_spec(c, new, errs);
}

static void lease_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    rules_check_generic_meta_update(c, new, old, errs);
    check_lease_spec(c, new, errs);
}

/* ---- The table ---- */

const struct kind_rules core_rules[] = {
    { .type = "core/v1.Namespace", .name = name_is_dns_label, .flags = RULES_RETURNS_DELETED,
      .prepare_create = namespace_prepare_create, .prepare_update = namespace_prepare_update,
      .validate_create = namespace_validate_create, .validate_update = namespace_validate_update,
      .reset_fields = reset_status, .subs = namespace_subs },
    { .type = "core/v1.Node", .converted = node_with_one_cidr,
      .prepare_create = node_prepare_create, .prepare_update = node_prepare_update,
      .validate_create = node_validate_create, .validate_update = node_validate_update, .warn = node_warn,
      .reset_fields = reset_status, .subs = node_subs },
    { .type = "core/v1.ConfigMap", .validate_create = config_map_validate_create,
      .validate_update = config_map_validate_update },
    { .type = "core/v1.Secret", .converted = secret_prepare_create, .prepare_create = secret_prepare_create, .prepare_update = secret_prepare_update,
      .validate_create = secret_validate_create, .validate_update = secret_validate_update, .warn = secret_warn },
    { .type = "core/v1.ServiceAccount", .flags = RULES_RETURNS_DELETED, .prepare_create = account_prepare_create,
      .prepare_update = account_prepare_update, .validate_update = account_validate_update, .warn = account_warn },
    { .type = "core/v1.LimitRange", .flags = RULES_CREATE_ON_UPDATE, .prepare_create = limit_range_prepare_create,
      .validate_create = limit_range_validate_create, .validate_update = limit_range_validate_update },
    { .type = "core/v1.ResourceQuota", .flags = RULES_RETURNS_DELETED, .prepare_create = drop_status,
      .prepare_update = keep_status, .validate_create = quota_validate_create, .validate_update = quota_validate_update,
      .warn = quota_warn, .reset_fields = reset_status, .subs = quota_subs },
    { .type = "core/v1.Event", .name = name_is_path_segment, .flags = RULES_CREATE_ON_UPDATE,
      .validate_create = event_validate_create, .validate_update = event_validate_update },
    { .type = "coordination.k8s.io/v1.Lease", .flags = RULES_CREATE_ON_UPDATE | RULES_NEEDS_VERSION,
      .prepare_create = lease_prepare_create, .prepare_update = lease_prepare_update,
      .validate_create = lease_validate_create, .validate_update = lease_validate_update },
    { 0 },
};
