/* rules/slice.c - ResourceSlice: devices of a pool, or counters that they share. */
#include "api/edit.h"
#include "api/quantity.h"
#include "rules/pod.h"
#include "rules/resource.h"
#include "rules/volume.h"

enum {
    DEVICES_MAX = 128,
    ADVANCED_DEVICES_MAX = 64, /* with taints, counters or lists */
    COUNTER_SETS_MAX = 8,
    COUNTERS_MAX = 32,
    CONSUMED_SETS_MAX = 2,
    ATTRIBUTES_MAX = 32,
    ATTRIBUTE_VALUES_MAX = 48,
    VALUE_BYTES_MAX = 64,
    TAINTS_MAX = 16,
    VALID_VALUES_MAX = 10,
};

/* ---- Values of attributes ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

/* 0 or digits without a zero before them. */
static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_digit(s.p[i]))
            return false;
    return s.n && (s.n == 1 || s.p[0] != '0');
}

static bool is_identifier(struct str s, bool before_release)
{
    bool digits = s.n > 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_word(s.p[i]))
            return false;
        digits &= is_digit(s.p[i]);
    }
    return s.n && (!before_release || !digits || is_number(s));
}

static bool are_identifiers(struct str s, bool before_release)
{
    for (;;) {
        size_t dot = str_index(s, '.');
        if (!is_identifier(str_first(s, dot), before_release))
            return false;
        if (dot == s.n)
            return true;
        s = str_from(s, dot + 1);
    }
}

/* 1.2.3-rc.1+build.5 */
static bool is_version(struct str s)
{
    size_t plus = str_index(s, '+');
    if (plus < s.n && !are_identifiers(str_from(s, plus + 1), false))
        return false;
    s = str_first(s, plus);
    size_t dash = str_index(s, '-');
    if (dash < s.n && !are_identifiers(str_from(s, dash + 1), true))
        return false;
    s = str_first(s, dash);
    for (int part = 0; part < 3; part++) {
        size_t dot = str_index(s, '.');
        if (!is_number(str_first(s, dot)) || (dot == s.n) != (part == 2))
            return false;
        s = str_from(s, dot + 1);
    }
    return true;
}

static void check_value_length(const struct place *value)
{
    if (place_text(value).n > VALUE_BYTES_MAX)
        field_too_long(value->errs, &value->path, VALUE_BYTES_MAX);
}

static void check_version(const struct place *version)
{
    if (!is_version(place_text(version)))
        place_invalid(version, "must be a string compatible with semver.org spec 2.0.0");
    check_value_length(version);
}

static void check_attribute(const struct place *attribute)
{
    static const char *const values[] = { "bool", "int", "string", "version" };
    int n = 0;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        n += child_is_set(attribute, values[i]);
    struct place text = place_child(attribute, "string"), version = place_child(attribute, "version");
    check_value_length(&text);
    if (place_is_set(&version))
        check_version(&version);
    if (n == 0)
        field_invalid(attribute->errs, &attribute->path, field_str(STR("")), STR("exactly one value must be specified"));
    else if (n > 1)
        field_invalid(attribute->errs, &attribute->path, place_shown_as_go(attribute),
                      STR("exactly one value must be specified"));
}

/* ---- Maps ---- */

/* A key that is too long is shown without its middle. */
static struct str shortened(struct arena *a, struct str key, size_t max)
{
    size_t left = max - 3, head = (left + 1) / 2, tail = left / 2;
    if (key.n <= max)
        return key;
    return str_of(arena_printf(a, "%.*s...%.*s", (int)head, key.p, (int)tail, key.p + key.n - tail));
}

typedef void check_member(const struct place *value);

static void check_map(const struct place *map, size_t key_max, void (*check_key)(struct str key, const struct place *at),
                      check_member *check)
{
    for (uint32_t i = 0; i < place_n(map); i++) {
        struct place value = place_member(map, i);
        struct str key = map->value->members[i].key;
        value.path = field_key(&map->path, shortened(map->errs->arena, key, key_max));
        check_key(key, map);
        if (check)
            check(&value);
    }
}

static void check_counter_name(struct str key, const struct place *at)
{
    validate_name_errors(name_dns1123_label(key), field_str(key), &at->path, at->errs);
}

static void check_counters(const struct place *set)
{
    struct place counters = place_child(set, "counters");
    if (place_n(&counters) == 0)
        place_required(&counters, "");
    else if (place_n(&counters) > COUNTERS_MAX)
        field_too_many(counters.errs, &counters.path, place_n(&counters), COUNTERS_MAX);
    else
        check_map(&counters, NAME_DNS1123_LABEL_MAX, check_counter_name, NULL);
}

static void check_counter_set(const struct place *set, const void *data)
{
    (void)data;
    struct place name = place_child(set, "name");
    place_check_required_name(&name, name_dns1123_label);
    check_counters(set);
}

static void check_consumption(const struct place *consumption, const void *data)
{
    (void)data;
    struct place set = place_child(consumption, "counterSet");
    place_check_required_name(&set, name_dns1123_label);
    check_counters(consumption);
}

/* ---- Capacities ---- */

static struct quantity amount_of(const struct place *p)
{
    struct quantity q = { 0 };
    struct err e;
    err_init(&e, p->errs->arena);
    if (!place_is_set(p) || quantity_parse(p->errs->arena, place_text(p), &q, &e))
        return (struct quantity){ 0 };
    return q;
}

static int compare(const struct place *a, const struct place *b)
{
    struct quantity x = amount_of(a), y = amount_of(b);
    return quantity_cmp(&x, &y);
}

static void say_amount(const struct place *at, const struct place *shown, const char *text, const struct place *limit)
{
    const char *detail = limit ? arena_printf(at->errs->arena, "%s: %.*s", text, STR_ARG(place_text(limit))) : text;
    field_invalid(at->errs, &at->path, field_str(place_text(shown)), str_of(detail));
}

static void check_valid_values(const struct place *values, const struct place *usual, const struct place *most)
{
    struct seen seen;
    bool found = false;
    for (uint32_t i = 1; i < place_n(values); i++) {
        struct place before = place_item(values, i - 1), one = place_item(values, i);
        if (compare(&before, &one) > 0)
            say_amount(&one, &one, "values must be sorted in ascending order", NULL);
    }
    if (place_n(values) > VALID_VALUES_MAX)
        field_too_many(values->errs, &values->path, place_n(values), VALID_VALUES_MAX);
    seen_init(&seen);
    for (uint32_t i = 0; place_n(values) <= VALID_VALUES_MAX && i < place_n(values); i++) {
        struct place one = place_item(values, i);
        if (compare(&one, most) > 0)
            say_amount(&one, &one, "option is larger than capacity value", most);
        found |= compare(&one, usual) == 0;
    }
    for (uint32_t i = 0; place_n(values) <= VALID_VALUES_MAX && i < place_n(values); i++) {
        struct place one = place_item(values, i);
        struct quantity q = amount_of(&one);
        struct str whole = str_of(arena_printf(values->errs->arena, "%lld", (long long)quantity_value(&q)));
        if (seen_before(&seen, whole))
            field_duplicate(one.errs, &one.path, field_str(whole));
    }
    seen_fini(&seen);
    if (!found)
        say_amount(values, usual, "default value is not valid according to the requestPolicy", NULL);
}

static void check_step(const struct place *step, const struct place *value, const struct place *min)
{
    struct quantity by = amount_of(step), from = amount_of(min), to = amount_of(value);
    int64_t unit = quantity_value(&by);
    if (unit == 0 || (quantity_value(&to) - quantity_value(&from)) % unit == 0)
        return;
    const char *detail = arena_printf(step->errs->arena, "value is not a multiple of a given step (%.*s) from (%.*s)",
                                      STR_ARG(place_text(step)), STR_ARG(place_text(min)));
    field_invalid(step->errs, &step->path, field_str(place_text(value)), str_of(detail));
}

static void check_first_step(const struct place *step, const struct place *min, const struct place *most)
{
    struct arena *a = step->errs->arena;
    struct quantity sum = amount_of(min), by = amount_of(step), limit = amount_of(most);
    struct err e;
    err_init(&e, a);
    if (quantity_add(a, &sum, &by, &e) || quantity_cmp(&sum, &limit) <= 0)
        return;
    const char *detail = arena_printf(a, "one step %.*s is larger than capacity value: %.*s", STR_ARG(quantity_text(a, &sum)),
                                      STR_ARG(place_text(most)));
    field_invalid(step->errs, &step->path, field_str(place_text(step)), str_of(detail));
}

static void check_valid_range(const struct place *range, const struct place *usual, const struct place *most)
{
    struct place min = place_child(range, "min"), max = place_child(range, "max"), step = place_child(range, "step");
    if (!place_is_set(&min)) {
        place_required(&min, "required when validRange is defined");
        return;
    }
    if (compare(&min, most) > 0)
        say_amount(&min, &min, "min is larger than capacity value", most);
    if (compare(usual, &min) < 0)
        say_amount(&min, usual, "default is less than min", &min);
    if (place_is_set(&max)) {
        if (compare(&min, &max) > 0)
            say_amount(&max, &min, "min is larger than max", &max);
        if (compare(&max, most) > 0)
            say_amount(&max, &max, "max is larger than capacity value", most);
        if (compare(usual, &max) > 0)
            say_amount(&max, usual, "default is more than max", &max);
    }
    if (!place_is_set(&step))
        return;
    check_first_step(&step, &min, most);
    check_step(&step, usual, &min);
    if (place_is_set(&max))
        check_step(&step, &max, &min);
}

static void check_shared_capacity(const struct place *capacity)
{
    struct place policy = place_child(capacity, "requestPolicy"), most = place_child(capacity, "value");
    struct place values = place_child(&policy, "validValues"), range = place_child(&policy, "validRange");
    struct place usual = place_child(&policy, "default");
    if (place_n(&values) && place_is_set(&range))
        place_forbidden(&policy, "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the "
                                 "same time");
    else if (place_n(&values) && !place_is_set(&usual))
        place_required(&usual, "required when validValues is defined");
    else if (place_n(&values))
        check_valid_values(&values, &usual, &most);
    else if (place_is_set(&range) && !place_is_set(&usual))
        place_required(&usual, "required when validRange is defined");
    else if (place_is_set(&range))
        check_valid_range(&range, &usual, &most);
}

static void check_own_capacity(const struct place *capacity)
{
    struct place policy = place_child(capacity, "requestPolicy");
    if (place_is_set(&policy))
        place_forbidden(&policy, "allowMultipleAllocations must be true");
}

/* ---- Devices ---- */

static void check_taint(const struct place *taint, const void *data)
{
    (void)data;
    static const char *const effects[] = { "NoExecute", "NoSchedule", "None", NULL };
    struct place key = place_child(taint, "key"), value = place_child(taint, "value"), effect = place_child(taint, "effect");
    place_check_qualified_name(&key);
    if (place_text(&value).n)
        place_check_names(&value, name_label_value(place_text(&value)));
    place_check_choice(&effect, effects);
}

/* Which of them are set, between braces; counts them. */
static struct str set_fields(struct arena *a, const struct place *at, const char *const *names, int *ret_n)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    *ret_n = 0;
    for (; *names; names++) {
        const struct value *v = child_value(at, *names);
        bool set = v->kind == VALUE_BOOL ? v->b : v->kind == VALUE_STRING ? v->n > 0 : v->kind != VALUE_ABSENT;
        if (set)
            strbuf_printf(&text, "%s`%s`", (*ret_n)++ ? ", " : "{", *names);
    }
    strbuf_add_text(&text, *ret_n ? "}" : "");
    return field_take_text(a, &text);
}

/* Where a slice or a device is: by name, by labels, everywhere. */
static void check_nodes(const struct place *at, const char *empty_name)
{
    struct place name = place_child(at, "nodeName"), selector = place_child(at, "nodeSelector");
    struct place all = place_child(at, "allNodes");
    if (place_is_set(&name) && place_text(&name).n == 0)
        place_invalid(&name, empty_name);
    else if (place_is_set(&name))
        place_check_names(&name, name_is_dns_subdomain(place_text(&name), false));
    if (place_is_set(&selector))
        rules_check_node_selector(selector.value, false, &selector.path, selector.errs);
    struct place terms = place_child(&selector, "nodeSelectorTerms");
    bool of_slice = str_starts(str_of(empty_name), STR("must be either"));
    if (of_slice && place_is_set(&selector) && place_n(&terms) != 1)
        field_invalid(terms.errs, &terms.path, place_shown_as_go(&terms), STR("must have exactly one node selector term"));
    if (place_is_set(&all) && !place_bool(&all))
        place_invalid(&all, "must be either unset or set to true");
}

static void check_device_nodes(const struct place *device, bool by_device)
{
    static const char *const names[] = { "nodeName", "nodeSelector", "allNodes", NULL };
    static const char one[] = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
                              "`perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    int n;
    if (by_device) {
        check_nodes(device, "must not be empty");
        struct str set = set_fields(device->errs->arena, device, names, &n);
        if (n == 0)
            place_required(device, one);
        else if (n > 1)
            field_invalid(device->errs, &device->path, field_str(set), STR("exactly one of `nodeName`, `nodeSelector`, or "
                          "`allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"));
    } else if (child_is_set(device, "nodeName") || child_is_set(device, "nodeSelector") || child_is_set(device, "allNodes")) {
        field_invalid(device->errs, &device->path, field_json(STR("null")),
                      STR("`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to "
                          "true in the ResourceSlice spec"));
    }
}

struct slice {
    bool by_device;
    struct map_str old_devices; /* their values, by name */
};

static bool taints_are_old(const struct place *device, const struct slice *s)
{
    const union map_value *found = map_str_find(&s->old_devices, child_text(device, "name"));
    if (!found)
        return false;
    struct place old = *device;
    old.value = found->const_ptr;
    struct place is = place_child(device, "taints"), was = place_child(&old, "taints");
    return place_same(&is, &was);
}

static void check_device(const struct place *device, const void *data)
{
    enum { KEY_MAX = DEVICE_DOMAIN_BYTES_MAX + 1 + DEVICE_ID_BYTES_MAX };
    const struct slice *s = data;
    struct place name = place_child(device, "name"), attributes = place_child(device, "attributes");
    struct place capacity = place_child(device, "capacity"), taints = place_child(device, "taints");
    struct place consumes = place_child(device, "consumesCounters");
    int64_t n = (int64_t)place_n(&attributes) + place_n(&capacity);
    resource_check_label(&name);
    if (n > ATTRIBUTES_MAX)
        field_invalid(device->errs, &device->path, field_int(n),
                      STR("the total number of attributes and capacities must not exceed 32"));
    if (place_n(&attributes) > ATTRIBUTE_VALUES_MAX)
        field_invalid(device->errs, &device->path, field_int(place_n(&attributes)),
                      STR("the total number of attribute values must not exceed 48"));
    check_map(&attributes, KEY_MAX, resource_check_qualified_name, check_attribute);
    check_map(&capacity, KEY_MAX, resource_check_qualified_name,
              child_bool(device, "allowMultipleAllocations") ? check_shared_capacity : check_own_capacity);
    if (!taints_are_old(device, s))
        resource_check_list(&taints, TAINTS_MAX, check_taint, NULL);
    resource_check_set(&consumes, CONSUMED_SETS_MAX, check_consumption, NULL, "counterSet");
    check_device_nodes(device, s->by_device);
    resource_check_binding_conditions(device);
}

static bool is_advanced(const struct place *devices)
{
    for (uint32_t i = 0; i < place_n(devices); i++) {
        struct place device = place_item(devices, i);
        if (child_n(&device, "taints") || child_n(&device, "consumesCounters"))
            return true;
    }
    return false;
}

static void check_pool(const struct place *spec)
{
    struct place pool = place_child(spec, "pool"), name = place_child(&pool, "name");
    struct place count = place_child(&pool, "resourceSliceCount"), generation = place_child(&pool, "generation");
    resource_check_pool_name(&name);
    if (place_int(&count) <= 0)
        place_invalid(&count, "must be greater than zero");
    if (place_int(&generation) < 0)
        place_invalid(&generation, "must be greater than or equal to zero");
}

static void check_fixed(const struct place *spec, const struct place *old)
{
    struct place pool = place_child(spec, "pool"), old_pool = place_child(old, "pool");
    struct place name = place_child(&pool, "name"), old_name = place_child(&old_pool, "name");
    struct place driver = place_child(spec, "driver"), old_driver = place_child(old, "driver");
    struct place node = place_child(spec, "nodeName"), old_node = place_child(old, "nodeName");
    place_check_immutable(&name, &old_name);
    place_check_immutable(&driver, &old_driver);
    place_check_immutable(&node, &old_node);
}

static void check_slice_nodes(const struct place *spec)
{
    static const char *const names[] = { "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection", NULL };
    static const char one[] = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    struct place by_device = place_child(spec, "perDeviceNodeSelection");
    int n;
    check_nodes(spec, "must be either unset or set to a non-empty string");
    if (place_is_set(&by_device) && !place_bool(&by_device))
        place_invalid(&by_device, "must be either unset or set to true");
    struct str set = set_fields(spec->errs->arena, spec, names, &n);
    if (n == 0)
        place_required(spec, one);
    else if (n > 1)
        field_invalid(spec->errs, &spec->path, field_str(set),
                      STR("exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but "
                          "multiple fields are set"));
}

/* `old` is NULL for a new one. */
static void check_spec(const struct place *spec, const struct place *old)
{
    struct place driver = place_child(spec, "driver"), devices = place_child(spec, "devices");
    struct place counters = place_child(spec, "sharedCounters");
    struct slice s = { .by_device = child_bool(spec, "perDeviceNodeSelection") };
    volume_check_driver_name(&driver);
    check_pool(spec);
    if (old)
        check_fixed(spec, old);
    check_slice_nodes(spec);
    if (place_is_set(&counters) && place_is_set(&devices))
        field_invalid(spec->errs, &spec->path, field_str(STR("")),
                      STR("only one of `sharedCounters` or `devices` is allowed"));
    map_str_init(&s.old_devices);
    const struct value *was = old ? child_value(old, "devices") : NULL;
    for (uint32_t i = 0; was && was->kind == VALUE_LIST && i < was->n; i++) {
        struct str name = value_text(value_path(devices.type, &was->items[i], "name"));
        map_str_put(&s.old_devices, name.n ? name : STR(""), NULL)->const_ptr = &was->items[i];
    }
    resource_check_set(&devices, is_advanced(&devices) ? ADVANCED_DEVICES_MAX : DEVICES_MAX, check_device, &s, "name");
    map_str_fini(&s.old_devices);
    resource_check_set(&counters, COUNTER_SETS_MAX, check_counter_set, NULL, "name");
}

static void validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_spec(&spec, NULL);
}

static void validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    rules_check_meta_update(c, new, old, errs);
    check_spec(&spec, &old_spec);
}

/* ---- Preparing ---- */

static struct value with_times(const struct rules_context *c, const struct place *taints)
{
    uint32_t n = place_n(taints);
    struct value *items = ARENA_NEW_N(c->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        struct place taint = place_item(taints, i);
        items[i] = child_is_set(&taint, "timeAdded") ? *taint.value
                   : edit_set(c->arena, taints->type, taint.value, "timeAdded", value_time(c->now_s, 0));
    }
    return value_list(items, n);
}

/* Attributes without their lists, which a gate keeps out. */
static struct value without_lists(struct arena *a, const struct place *attributes)
{
    static const char *const lists[] = { "ints", "bools", "strings", "versions" };
    struct member *members = ARENA_NEW_N(a, struct member, place_n(attributes));
    for (uint32_t i = 0; i < place_n(attributes); i++) {
        members[i] = attributes->value->members[i];
        for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
            if (value_path(attributes->type, &members[i].value, lists[k])->kind != VALUE_ABSENT)
                members[i].value = edit_set(a, attributes->type, &members[i].value, lists[k], (struct value){ 0 });
    }
    return value_map(members, place_n(attributes));
}

static struct value prepared_device(const struct rules_context *c, const struct place *device)
{
    struct place attributes = place_child(device, "attributes"), taints = place_child(device, "taints");
    struct value out = *device->value;
    if (place_n(&attributes))
        out = edit_set(c->arena, device->type, &out, "attributes", without_lists(c->arena, &attributes));
    if (place_n(&taints))
        out = edit_set(c->arena, device->type, &out, "taints", with_times(c, &taints));
    return edit_set(c->arena, device->type, &out, "nodeAllocatableResourceMappings", (struct value){ 0 });
}

static struct value prepare_create(const struct rules_context *c, const struct value *new)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec"), list = place_child(&spec, "devices");
    uint32_t n = place_n(&list);
    struct value *items = ARENA_NEW_N(c->arena, struct value, n);
    for (uint32_t i = 0; i < n; i++) {
        struct place device = place_item(&list, i);
        items[i] = prepared_device(c, &device);
    }
    return n ? edit_set(c->arena, c->type, new, "spec.devices", value_list(items, n)) : *new;
}

static struct value prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    return prepare_create(c, new);
}

static void warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct str driver = value_text(value_path(c->type, new, "spec.driver"));
    for (size_t i = 0; i < driver.n; i++)
        if (driver.p[i] >= 'A' && driver.p[i] <= 'Z') {
            warnings_add(c->warnings, "spec.driver: driver names should be lowercase; \"%.*s\" contains uppercase characters",
                         STR_ARG(driver));
            return;
        }
}

const struct kind_rules slice_rules[] = {
    { .type = "resource.k8s.io/v1.ResourceSlice", .flags = RULES_RETURNS_DELETED, .generation = GENERATION_SPEC,
      .prepare_create = prepare_create, .prepare_update = prepare_update, .validate_create = validate_create,
      .validate_update = validate_update, .warn = warn },
    { 0 },
};
