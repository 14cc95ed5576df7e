/* rules/resource_parts.c - see resource.h. */
#include "rules/resource.h"

#include "codec/json.h"
#include "rules/volume.h"

enum {
    CEL_BYTES_MAX = 10 << 10,
    OPAQUE_BYTES_MAX = 10 << 10,
    BINDING_CONDITIONS_MAX = 4,
    REASON_BYTES_MAX = 1024,
    MESSAGE_BYTES_MAX = 32 << 10,
};

void resource_check_list(const struct place *list, int64_t max, resource_check *check, const void *data)
{
    if (max >= 0 && place_n(list) > max) {
        field_too_many(list->errs, &list->path, place_n(list), max);
        return;
    }
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place item = place_item(list, i);
        check(&item, data);
    }
}

void resource_check_set(const struct place *list, int64_t max, resource_check *check, const void *data, const char *key)
{
    resource_check_list(list, max, check, data);
    if (max >= 0 && place_n(list) > max)
        return;
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place item = place_item(list, i);
        struct str text = key ? child_text(&item, key) : place_text(&item);
        if (seen_before(&seen, text))
            field_duplicate(item.errs, &item.path, field_str(text));
    }
    seen_fini(&seen);
}

void resource_check_label(const struct place *name)
{
    place_check_names(name, name_dns1123_label(place_text(name)));
}

void resource_check_pool_name(const struct place *name)
{
    struct str rest = place_text(name);
    if (rest.n == 0) {
        place_required(name, "");
        return;
    }
    if (rest.n > NAME_DNS1123_SUBDOMAIN_MAX)
        field_too_long(name->errs, &name->path, NAME_DNS1123_SUBDOMAIN_MAX);
    for (bool more = true; more;) {
        size_t slash = str_index(rest, '/');
        struct str part = str_first(rest, slash);
        validate_name_errors(name_dns1123_subdomain(part), field_str(part), &name->path, name->errs);
        more = slash < rest.n;
        rest = str_from(rest, slash + 1);
    }
}

static void check_identifier(struct str id, const struct place *at)
{
    if (id.n > DEVICE_ID_BYTES_MAX)
        field_too_long(at->errs, &at->path, DEVICE_ID_BYTES_MAX);
    validate_name_errors(name_c_identifier(id), field_str(id), &at->path, at->errs);
}

static void check_domain(struct str domain, const struct place *at)
{
    struct value text = value_string(domain);
    struct place name = *at;
    name.value = &text;
    name.is_item = true;
    volume_check_driver_name(&name);
}

void resource_check_qualified_name(struct str name, const struct place *at)
{
    size_t slash = str_index(name, '/');
    struct str domain = str_first(name, slash), id = str_from(name, slash + 1);
    if (slash == name.n) {
        check_identifier(name, at);
        return;
    }
    if (str_index(id, '/') < id.n)
        return; /* upstream says nothing about more parts */
    if (domain.n == 0)
        field_invalid(at->errs, &at->path, field_str(STR("")), STR("the domain must not be empty"));
    else
        check_domain(domain, at);
    if (id.n == 0)
        field_invalid(at->errs, &at->path, field_str(STR("")), STR("the name must not be empty"));
    else
        check_identifier(id, at);
}

/* What an expression says is not looked at here. */
static void check_selector(const struct place *selector, const void *data)
{
    (void)data;
    struct place cel = place_child(selector, "cel"), expression = place_child(&cel, "expression");
    if (!place_is_set(&cel))
        place_required(&cel, "");
    else if (place_text(&expression).n > CEL_BYTES_MAX)
        field_too_long(expression.errs, &expression.path, CEL_BYTES_MAX);
}

void resource_check_selectors(const struct place *selectors)
{
    resource_check_list(selectors, DEVICE_SELECTORS_MAX, check_selector, NULL);
}

void resource_check_raw(const struct place *raw, size_t max)
{
    struct str json = place_text(raw);
    if (json.n == 0 || str_is(json, "null"))
        place_required(raw, "");
    else if (json.n > max)
        field_too_long(raw->errs, &raw->path, (int64_t)max);
    else if (json.p[0] != '{')
        field_invalid(raw->errs, &raw->path, field_str(STR("<value omitted>")), STR("must be a valid JSON object"));
}

void resource_check_configuration(const struct place *config)
{
    struct place opaque = place_child(config, "opaque"), driver = place_child(&opaque, "driver");
    struct place parameters = place_child(&opaque, "parameters");
    if (!place_is_set(&opaque)) {
        place_required(&opaque, "");
        return;
    }
    volume_check_driver_name(&driver);
    resource_check_raw(&parameters, OPAQUE_BYTES_MAX);
}

/* ---- Conditions ---- */

static void check_condition_name(const struct place *name, const void *data)
{
    (void)data;
    place_check_qualified_name(name);
}

/* Duplicates, and those that `others` has, too. */
static void check_distinct(const struct place *list, const struct place *others)
{
    struct seen seen, other;
    seen_init(&seen);
    seen_init(&other);
    for (uint32_t i = 0; others && i < place_n(others); i++)
        seen_before(&other, value_text(&others->value->items[i]));
    for (uint32_t i = 0; i < place_n(list); i++) {
        struct place one = place_item(list, i);
        if (seen_before(&seen, place_text(&one)))
            place_duplicate(&one);
        if (map_str_find(&other.texts, place_text(&one)))
            place_invalid(&one, "bindingFailureConditions must not overlap with bindingConditions");
    }
    seen_fini(&seen);
    seen_fini(&other);
}

void resource_check_binding_conditions(const struct place *at)
{
    struct place conditions = place_child(at, "bindingConditions");
    struct place failures = place_child(at, "bindingFailureConditions");
    resource_check_list(&conditions, BINDING_CONDITIONS_MAX, check_condition_name, NULL);
    resource_check_list(&failures, BINDING_CONDITIONS_MAX, check_condition_name, NULL);
    check_distinct(&conditions, NULL);
    check_distinct(&failures, &conditions);
    if (place_n(&conditions) == 0 && place_n(&failures))
        place_invalid(&conditions, "bindingConditions are required to use bindingFailureConditions");
    if (place_n(&failures) == 0 && place_n(&conditions))
        place_invalid(&failures, "bindingFailureConditions are required to use bindingConditions");
}

static bool is_reason(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool word = letter || (c >= '0' && c <= '9') || c == '_';
        bool last = i == s.n - 1;
        if (i == 0 ? !letter : last ? !word : !word && c != ',' && c != ':')
            return false;
    }
    return s.n > 0;
}

static void check_reason(const struct place *reason)
{
    if (place_text(reason).n == 0) {
        place_required(reason, "");
        return;
    }
    if (!is_reason(place_text(reason)))
        place_invalid(reason, "a condition reason must start with alphabetic character, optionally followed by a string of "
                              "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
                              "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
                              "used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
    if (place_text(reason).n > REASON_BYTES_MAX)
        field_too_long(reason->errs, &reason->path, REASON_BYTES_MAX);
}

void resource_check_conditions(const struct place *conditions)
{
    static const char *const states[] = { "False", "True", "Unknown", NULL };
    struct seen types;
    seen_init(&types);
    for (uint32_t i = 0; i < place_n(conditions); i++) {
        struct place one = place_item(conditions, i), type = place_child(&one, "type");
        struct place status = place_child(&one, "status");
        struct place generation = place_child(&one, "observedGeneration");
        struct place time = place_child(&one, "lastTransitionTime");
        struct place reason = place_child(&one, "reason"), message = place_child(&one, "message");
        if (seen_before(&types, place_text(&type)))
            place_duplicate(&type);
        place_check_qualified_name(&type);
        place_check_supported(&status, states);
        if (place_int(&generation) < 0)
            place_invalid(&generation, "must be greater than or equal to zero");
        if (!place_is_set(&time))
            place_required(&time, "");
        check_reason(&reason);
        if (place_text(&message).n > MESSAGE_BYTES_MAX)
            field_too_long(message.errs, &message.path, MESSAGE_BYTES_MAX);
    }
    seen_fini(&types);
}
