/* rules/cluster.c - PriorityClass and RuntimeClass. */
#include "rules/place.h"
#include "rules/pod.h"
#include "rules/volume.h"

enum { USER_PRIORITY_MAX = 1000000000 };

/* ---- PriorityClass ---- */

/* Why a class of a reserved name is none of those that a server makes, or NULL. */
static const char *system_class_fault(struct arena *a, struct str name, int64_t value, bool global_default)
{
    static const struct {
        const char *name;
        int64_t value;
    } known[] = { { "system-node-critical", 2000001000 }, { "system-cluster-critical", 2000000000 } };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!str_is(name, known[i].name))
            continue;
        if (value != known[i].value)
            return arena_printf(a, "value of %s PriorityClass must be %lld", known[i].name, (long long)known[i].value);
        return global_default ? arena_printf(a, "globalDefault of %s PriorityClass must be false", known[i].name) : NULL;
    }
    return arena_printf(a, "%.*s is not a known system priority class", STR_ARG(name));
}

static void validate_priority(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char *const policies[] = { "PreemptLowerPriority", "Never", NULL };
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place name = place_child(&meta, "name");
    struct place value = place_child(&root, "value"), policy = place_child(&root, "preemptionPolicy");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    if (str_starts(place_text(&name), STR("system-"))) {
        const char *fault = system_class_fault(c->arena, place_text(&name), place_int(&value),
                                               child_bool(&root, "globalDefault"));
        if (fault)
            place_forbidden(&name, arena_printf(c->arena, "priority class names with 'system-' prefix are reserved for "
                                                "system use only. error: %s", fault));
    } else if (place_int(&value) > USER_PRIORITY_MAX) {
        place_forbidden(&value, arena_printf(c->arena, "maximum allowed value of a user defined priority is %d",
                                             USER_PRIORITY_MAX));
    }
    if (place_is_set(&policy))
        place_check_choice(&policy, policies);
}

static void validate_priority_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), old_root = place_root(c, old, errs);
    struct place value = place_child(&root, "value"), policy = place_child(&root, "preemptionPolicy");
    struct place old_policy = place_child(&old_root, "preemptionPolicy");
    rules_check_meta_update(c, new, old, errs);
    if (place_int(&value) != child_int(&old_root, "value"))
        place_forbidden(&value, "may not be changed in an update.");
    place_check_immutable(&policy, &old_policy);
}

/* ---- RuntimeClass ---- */

/* Tolerations that say the same but for how long. */
static void check_distinct(const struct place *list)
{
    struct arena *a = list->errs->arena;
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place one = place_item(list, i);
        struct str key = child_text(&one, "key"), op = child_text(&one, "operator");
        struct str value = child_text(&one, "value"), effect = child_text(&one, "effect");
        const char *text = arena_printf(a, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(key), STR_ARG(op), STR_ARG(value),
                                        STR_ARG(effect));
        if (seen_before(&seen, str_of(text)))
            field_duplicate(one.errs, &one.path, place_shown_as_go(&one));
    }
    seen_fini(&seen);
}

static void validate_runtime(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), handler = place_child(&root, "handler");
    struct place scheduling = place_child(&root, "scheduling"), selector = place_child(&scheduling, "nodeSelector");
    struct place tolerations = place_child(&scheduling, "tolerations"), overhead = place_child(&root, "overhead");
    struct place amounts = place_child(&overhead, "podFixed");
    rules_check_generic_meta(c, new, name_is_dns_subdomain, errs);
    place_check_required_name(&handler, name_dns1123_label);
    if (place_is_set(&overhead))
        rules_check_overhead(amounts.value, &overhead.path, errs);
    place_check_labels(&selector);
    rules_check_tolerations(tolerations.value, &tolerations.path, errs);
    check_distinct(&tolerations);
}

static void validate_runtime_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), handler = place_child(&root, "handler");
    struct place old_root = place_root(c, old, errs), old_handler = place_child(&old_root, "handler");
    validate_runtime(c, new, errs);
    rules_check_generic_meta_update(c, new, old, errs);
    place_check_immutable(&handler, &old_handler);
}

static void warn_runtime(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), scheduling = place_child(&root, "scheduling");
    struct place selector = place_child(&scheduling, "nodeSelector");
    for (uint32_t i = 0; i < place_n(&selector); i++)
        volume_warn_label(c, &selector.path, selector.value->members[i].key, false);
}

const struct kind_rules cluster_rules[] = {
    { .type = "scheduling.k8s.io/v1.PriorityClass", .generation = GENERATION_FIRST, .validate_create = validate_priority,
      .validate_update = validate_priority_update },
    { .type = "node.k8s.io/v1.RuntimeClass", .flags = RULES_CREATE_ON_UPDATE | RULES_NEEDS_VERSION,
      .validate_create = validate_runtime, .validate_update = validate_runtime_update, .warn = warn_runtime },
    { 0 },
};
