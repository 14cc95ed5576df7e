/* rules/api_service.c - APIService. */
#include "api/edit.h"
#include "rules/place.h"

enum { GROUP_PRIORITY_MAX = 20000, VERSION_PRIORITY_MAX = 1000 };

static void check_service_client(const struct place *spec)
{
    struct place service = place_child(spec, "service"), bundle = place_child(spec, "caBundle");
    struct place skip = place_child(spec, "insecureSkipTLSVerify"), port = place_child(&service, "port");
    struct place name = place_child(&service, "name"), namespace = place_child(&service, "namespace");
    if (!place_is_set(&service)) {
        if (place_text(&bundle).n)
            field_invalid(bundle.errs, &bundle.path,
                          field_str(str_of(arena_printf(bundle.errs->arena, "%zu bytes", place_text(&bundle).n))),
                          STR("local APIServices may not have a caBundle"));
        if (place_bool(&skip))
            place_invalid(&skip, "local APIServices may not have insecureSkipTLSVerify");
        return;
    }
    if (place_text(&namespace).n == 0)
        place_required(&namespace, "");
    if (place_text(&name).n == 0)
        place_required(&name, "");
    struct name_errors found = name_port_number(place_int(&port));
    if (found.n)
        place_invalidf(&port, "port is not valid: %s", found.at[0]);
    if (place_bool(&skip) && place_text(&bundle).n)
        place_invalid(&skip, "may not be true if caBundle is present");
}

static void validate_service(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), meta = place_child(&root, "metadata");
    struct place name = place_child(&meta, "name");
    struct place spec = place_child(&root, "spec"), group = place_child(&spec, "group");
    struct place version = place_child(&spec, "version"), minimum = place_child(&spec, "groupPriorityMinimum");
    struct place priority = place_child(&spec, "versionPriority");
    rules_check_generic_meta(c, new, name_is_path_segment, errs);
    const char *full = arena_printf(c->arena, "%.*s.%.*s", STR_ARG(place_text(&version)), STR_ARG(place_text(&group)));
    struct str wanted = str_of(full);
    if (name_path_segment(place_text(&name)).n == 0 && place_text(&name).n && !str_eq(place_text(&name), wanted))
        place_invalidf(&name, "must be `spec.version+\".\"+spec.group`: \"%.*s\"", STR_ARG(wanted));
    if (place_text(&group).n == 0 && !str_is(place_text(&version), "v1"))
        place_required(&group, "only v1 may have an empty group and it better be legacy kube");
    if (place_text(&group).n)
        place_check_names(&group, name_dns1123_subdomain(place_text(&group)));
    place_check_names(&version, name_dns1035_label(place_text(&version)));
    if (place_int(&minimum) <= 0 || place_int(&minimum) > GROUP_PRIORITY_MAX)
        place_invalid(&minimum, "must be positive and less than 20000");
    if (place_int(&priority) <= 0 || place_int(&priority) > VERSION_PRIORITY_MAX)
        place_invalid(&priority, "must be positive and less than 1000");
    check_service_client(&spec);
}

static void validate_service_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    rules_check_generic_meta_update(c, new, old, errs);
    validate_service(c, new, errs);
}

static void validate_service_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                    struct field_errors *errs)
{
    static const char *const states[] = { "True", "False", "Unknown", NULL };
    struct place root = place_root(c, new, errs), status = place_child(&root, "status");
    struct place conditions = place_child(&status, "conditions");
    rules_check_generic_meta_update(c, new, old, errs);
    for (uint32_t i = 0; i < place_n(&conditions); i++) {
        struct place one = place_item(&conditions, i), state = place_child(&one, "status");
        place_check_supported(&state, states);
    }
}

/* What the server itself serves is there. */
static struct value prepare_service(const struct rules_context *c, const struct value *new)
{
    struct value out = rules_drop_status(c, new);
    if (value_path(c->type, new, "spec.service")->kind != VALUE_ABSENT)
        return out;
    const struct type *t = schema_type(STR("apiregistration.k8s.io/v1.APIServiceCondition"));
    static const char *const texts[][2] = { { "type", "Available" }, { "status", "True" }, { "reason", "Local" },
                                            { "message", "Local APIServices are always available" } };
    struct value condition = value_struct(c->arena, t), none = { .kind = VALUE_ABSENT };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        condition = edit_set(c->arena, t, &condition, texts[i][0], edit_text(texts[i][1]));
    condition = edit_set(c->arena, t, &condition, "lastTransitionTime", value_time(c->now_s, 0));
    return edit_set(c->arena, c->type, &out, "status.conditions", edit_append(c->arena, &none, condition));
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_all_but_status[] = { "metadata", "spec", NULL };

static const struct sub_rules subs[] = {
    { .name = "status", .prepare_update = rules_keep_all_but_status, .validate_update = validate_service_status,
      .reset_fields = reset_all_but_status },
    { 0 },
};

const struct kind_rules api_service_rules[] = {
    { .type = "apiregistration.k8s.io/v1.APIService", .name = name_is_path_segment, .flags = RULES_NEEDS_VERSION,
      .prepare_create = prepare_service, .prepare_update = rules_keep_status, .validate_create = validate_service,
      .validate_update = validate_service_update, .reset_fields = reset_status, .subs = subs },
    { 0 },
};
