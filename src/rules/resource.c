/* rules/resource.c - ResourceClaim, ResourceClaimTemplate, DeviceClass. Expressions of selectors are not compiled. */
#include "rules/resource.h"

#include "api/edit.h"
#include "api/netaddr.h"
#include "rules/pod.h"
#include "rules/volume.h"

enum {
    SUBREQUESTS_MAX = 8,
    RESERVED_MAX = 256,
    RESULTS_MAX = 32,
    DEVICE_CONDITIONS_MAX = 8,
    DEVICE_DATA_BYTES_MAX = 10 << 10,
    DEVICE_IPS_MAX = 16,
    INTERFACE_NAME_BYTES_MAX = 256,
    HARDWARE_ADDRESS_BYTES_MAX = 128,
    UID_BYTES = 36,
};

static const char *const effects[] = { "NoExecute", "NoSchedule", "None", NULL };

/* ---- Requests ---- */

/* Names that a claim's parts may refer to: of requests, and "request/subrequest". */
static void collect_names(const struct place *devices, struct seen *to)
{
    struct place requests = place_child(devices, "requests");
    for (uint32_t i = 0; i < place_n(&requests); i++) {
        struct place request = place_item(&requests, i), list = place_child(&request, "firstAvailable");
        struct str name = child_text(&request, "name");
        seen_before(to, name);
        for (uint32_t k = 0; k < place_n(&list); k++) {
            struct place sub = place_item(&list, k);
            struct str sub_name = child_text(&sub, "name");
            const char *both = arena_printf(devices->errs->arena, "%.*s/%.*s", STR_ARG(name), STR_ARG(sub_name));
            seen_before(to, str_of(both));
        }
    }
}

static void check_reference(const struct place *name, const void *data)
{
    static const char fault[] = "must be the name of a request in the claim or the name of a request and a subrequest "
                                "separated by '/'";
    const struct seen *names = data;
    struct str text = place_text(name);
    size_t slash = str_index(text, '/');
    struct str first = str_first(text, slash), second = str_from(text, slash + 1);
    if (str_index(second, '/') < second.n) {
        place_invalid(name, fault);
        return;
    }
    validate_name_errors(name_dns1123_label(first), field_str(first), &name->path, name->errs);
    if (slash < text.n)
        validate_name_errors(name_dns1123_label(second), field_str(second), &name->path, name->errs);
    if (!map_str_find(&names->texts, text.n ? text : STR("")))
        place_invalid(name, fault);
}

static void check_toleration(const struct place *toleration, const void *data)
{
    (void)data;
    static const char *const operators[] = { "Equal", "Exists", NULL };
    struct place key = place_child(toleration, "key"), op = place_child(toleration, "operator");
    struct place value = place_child(toleration, "value"), effect = place_child(toleration, "effect");
    if (place_text(&key).n)
        place_check_qualified_name(&key);
    place_check_choice(&op, operators);
    if (str_is(place_text(&op), "Exists") && place_text(&value).n)
        place_invalid(&value, "must be empty for operator `Exists`");
    if (str_is(place_text(&op), "Equal"))
        place_check_names(&value, name_label_value(place_text(&value)));
    if (place_text(&effect).n)
        place_check_supported(&effect, effects);
}

static void check_allocation_mode(const struct place *request)
{
    static const char *const modes[] = { "All", "ExactCount", NULL };
    struct place mode = place_child(request, "allocationMode"), count = place_child(request, "count");
    if (!text_is_one_of(place_text(&mode), modes))
        place_not_supported(&mode, modes);
    else if (str_is(place_text(&mode), "ExactCount") && place_int(&count) <= 0)
        place_invalid(&count, "must be greater than zero");
    else if (str_is(place_text(&mode), "All") && place_int(&count))
        place_invalid(&count, "must not be specified when allocationMode is 'All'");
}

static void check_exact(const struct place *request)
{
    struct place class = place_child(request, "deviceClassName"), selectors = place_child(request, "selectors");
    struct place tolerations = place_child(request, "tolerations");
    place_check_required_name(&class, name_dns1123_subdomain);
    resource_check_selectors(&selectors);
    check_allocation_mode(request);
    resource_check_list(&tolerations, -1, check_toleration, NULL);
}

static void check_subrequest(const struct place *request, const void *data)
{
    (void)data;
    struct place name = place_child(request, "name");
    resource_check_label(&name);
    check_exact(request);
}

static void check_request(const struct place *request, const void *data)
{
    (void)data;
    struct place name = place_child(request, "name"), exactly = place_child(request, "exactly");
    struct place first = place_child(request, "firstAvailable");
    resource_check_label(&name);
    if (place_is_set(&exactly) && place_n(&first))
        field_invalid(request->errs, &request->path, field_json(STR("null")),
                      STR("exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"));
    else if (place_is_set(&exactly))
        check_exact(&exactly);
    else if (place_n(&first))
        resource_check_set(&first, SUBREQUESTS_MAX, check_subrequest, NULL, "name");
    else
        place_required(request, "exactly one of `exactly` or `firstAvailable` is required");
}

static void check_full_name(const struct place *name)
{
    struct str text = place_text(name);
    resource_check_qualified_name(text, name);
    if (str_index(text, '/') == text.n)
        place_invalid(name, "a fully qualified name must be a domain and a name separated by a slash");
}

static void check_constraint(const struct place *constraint, const void *names)
{
    struct place requests = place_child(constraint, "requests"), match = place_child(constraint, "matchAttribute");
    struct place distinct = place_child(constraint, "distinctAttribute");
    resource_check_set(&requests, DEVICE_REQUESTS_MAX, check_reference, names, NULL);
    if (place_is_set(&match))
        check_full_name(&match);
    else if (place_is_set(&distinct))
        check_full_name(&distinct);
    else
        place_required(constraint, "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple "
                                   "fields are set");
}

static void check_claim_config(const struct place *config, const void *names)
{
    struct place requests = place_child(config, "requests");
    resource_check_set(&requests, DEVICE_REQUESTS_MAX, check_reference, names, NULL);
    resource_check_configuration(config);
}

static void check_spec(const struct place *spec)
{
    struct place devices = place_child(spec, "devices"), requests = place_child(&devices, "requests");
    struct place constraints = place_child(&devices, "constraints"), config = place_child(&devices, "config");
    struct seen names;
    seen_init(&names);
    collect_names(&devices, &names);
    resource_check_set(&requests, DEVICE_REQUESTS_MAX, check_request, NULL, "name");
    resource_check_list(&constraints, DEVICE_CONSTRAINTS_MAX, check_constraint, &names);
    resource_check_list(&config, DEVICE_CONFIG_MAX, check_claim_config, &names);
    seen_fini(&names);
}

/* ---- Claims ---- */

static void validate_claim(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_spec(&spec);
}

static void check_same_spec(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    place_check_immutable(&spec, &old_spec);
}

static void validate_claim_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    rules_check_meta_update(c, new, old, errs);
    check_same_spec(c, new, old, errs);
}

/* ---- Status ---- */

static void check_consumer(const struct place *consumer, const void *data)
{
    (void)data;
    static const char *const names[] = { "resource", "name", "uid" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct place text = place_child(consumer, names[i]);
        if (place_text(&text).n == 0)
            place_required(&text, "");
    }
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void check_uid(const struct place *uid)
{
    struct str text = place_text(uid);
    if (text.n != UID_BYTES) {
        place_invalidf(uid, "error validating uid: invalid UUID length: %zu", text.n);
        return;
    }
    bool lower = true;
    for (size_t i = 0; i < text.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.p[i] != '-' : !is_hex(text.p[i])) {
            place_invalid(uid, "error validating uid: invalid UUID format");
            return;
        }
        lower &= text.p[i] < 'A' || text.p[i] > 'F';
    }
    if (!lower)
        place_invalid(uid, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase "
                           "hexadecimal characters");
}

/* driver/pool/device, and the share's id if there is one: what results and statuses are known by. */
static struct str device_id(const struct place *device)
{
    struct str driver = child_text(device, "driver"), pool = child_text(device, "pool");
    struct str name = child_text(device, "device"), share = child_text(device, "shareID");
    const char *slash = share.n ? "/" : "";
    return str_of(arena_printf(device->errs->arena, "%.*s/%.*s/%.*s%s%.*s", STR_ARG(driver), STR_ARG(pool), STR_ARG(name),
                               slash, STR_ARG(share)));
}

static void collect_allocated(const struct place *status, struct seen *to)
{
    struct place allocation = place_child(status, "allocation"), devices = place_child(&allocation, "devices");
    struct place results = place_child(&devices, "results");
    for (uint32_t i = 0; i < place_n(&results); i++) {
        struct place result = place_item(&results, i);
        seen_before(to, device_id(&result));
    }
}

static void check_address(const struct place *address, const void *data)
{
    (void)data;
    struct ip_addr ip;
    unsigned bits;
    char canonical[CIDR_TEXT_MAX];
    if (!cidr_parse(place_text(address), &ip, &bits)) {
        place_invalid(address, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
        return;
    }
    if (ip_is_v4_mapped(&ip) && bits > 32)
        bits -= 96;
    cidr_print(&ip, bits, canonical);
    if (!str_is(place_text(address), canonical))
        place_invalidf(address, "must be in canonical form (\"%s\")", canonical);
}

static void check_network_data(const struct place *device)
{
    struct place data = place_child(device, "networkData"), name = place_child(&data, "interfaceName");
    struct place hardware = place_child(&data, "hardwareAddress"), ips = place_child(&data, "ips");
    if (place_text(&name).n > INTERFACE_NAME_BYTES_MAX)
        field_too_long(name.errs, &name.path, INTERFACE_NAME_BYTES_MAX);
    if (place_text(&hardware).n > HARDWARE_ADDRESS_BYTES_MAX)
        field_too_long(hardware.errs, &hardware.path, HARDWARE_ADDRESS_BYTES_MAX);
    resource_check_set(&ips, DEVICE_IPS_MAX, check_address, NULL, NULL);
}

static void check_device_name(const struct place *at)
{
    struct place driver = place_child(at, "driver"), pool = place_child(at, "pool"), name = place_child(at, "device");
    volume_check_driver_name(&driver);
    resource_check_pool_name(&pool);
    resource_check_label(&name);
}

static void check_device_status(const struct place *device, const void *data)
{
    const struct seen *allocated = data;
    struct place share = place_child(device, "shareID"), conditions = place_child(device, "conditions");
    struct place raw = place_child(device, "data");
    check_device_name(device);
    if (place_is_set(&share))
        check_uid(&share);
    struct str id = device_id(device);
    if (!map_str_find(&allocated->texts, id))
        field_invalid(device->errs, &device->path, field_json(STR("{}")), STR("must be an allocated device in the claim"));
    if (place_n(&conditions) > DEVICE_CONDITIONS_MAX)
        field_too_many(conditions.errs, &conditions.path, place_n(&conditions), DEVICE_CONDITIONS_MAX);
    resource_check_conditions(&conditions);
    if (place_text(&raw).n)
        resource_check_raw(&raw, DEVICE_DATA_BYTES_MAX);
    check_network_data(device);
}

static void check_status_devices(const struct place *status)
{
    struct place devices = place_child(status, "devices");
    struct seen allocated, seen;
    seen_init(&allocated);
    seen_init(&seen);
    collect_allocated(status, &allocated);
    resource_check_list(&devices, -1, check_device_status, &allocated);
    for (uint32_t i = 0; i < place_n(&devices); i++) {
        struct place device = place_item(&devices, i);
        if (seen_before(&seen, device_id(&device)))
            field_duplicate(device.errs, &device.path, field_json(STR("{}")));
    }
    seen_fini(&seen);
    seen_fini(&allocated);
}

static void check_result(const struct place *result, const void *names)
{
    struct place request = place_child(result, "request"), share = place_child(result, "shareID");
    check_reference(&request, names);
    check_device_name(result);
    resource_check_binding_conditions(result);
    if (place_is_set(&share))
        check_uid(&share);
}

static void check_allocated_config(const struct place *config, const void *names)
{
    static const char *const sources[] = { "FromClaim", "FromClass", NULL };
    struct place source = place_child(config, "source");
    place_check_choice(&source, sources);
    check_claim_config(config, names);
}

static void check_allocation(const struct place *allocation, const struct seen *names)
{
    struct place devices = place_child(allocation, "devices"), results = place_child(&devices, "results");
    struct place config = place_child(&devices, "config"), selector = place_child(allocation, "nodeSelector");
    resource_check_list(&results, RESULTS_MAX, check_result, names);
    resource_check_list(&config, 2 * DEVICE_CONFIG_MAX, check_allocated_config, names);
    if (place_is_set(&selector))
        rules_check_node_selector(selector.value, false, &selector.path, selector.errs);
}

static struct str consumer_text(const struct place *consumer)
{
    struct str uid = child_text(consumer, "uid"), name = child_text(consumer, "name");
    struct str group = child_text(consumer, "apiGroup"), resource = child_text(consumer, "resource");
    return str_of(arena_printf(consumer->errs->arena, "%.*s %.*s %.*s %.*s", STR_ARG(uid), STR_ARG(name), STR_ARG(group),
                               STR_ARG(resource)));
}

static void check_no_new_consumers(const struct place *reserved, const struct place *old)
{
    struct seen known;
    bool found = false;
    seen_init(&known);
    for (uint32_t i = 0; i < place_n(old); i++) {
        struct place consumer = place_item(old, i);
        seen_before(&known, consumer_text(&consumer));
    }
    for (uint32_t i = 0; i < place_n(reserved); i++) {
        struct place consumer = place_item(reserved, i);
        found |= !map_str_find(&known.texts, consumer_text(&consumer));
    }
    seen_fini(&known);
    if (found)
        place_forbidden(reserved,
                        "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
}

static void check_reserved(const struct place *root, const struct place *status, const struct place *old_status)
{
    struct place reserved = place_child(status, "reservedFor"), old_reserved = place_child(old_status, "reservedFor");
    struct place meta = place_child(root, "metadata");
    if (place_n(&reserved) == 0)
        return;
    if (!child_is_set(status, "allocation"))
        place_forbidden(&reserved, "may not be specified when `allocated` is not set");
    else if (child_is_set(&meta, "deletionTimestamp"))
        check_no_new_consumers(&reserved, &old_reserved);
}

static void validate_claim_status(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place devices = place_child(&spec, "devices");
    struct place status = place_child(&root, "status"), reserved = place_child(&status, "reservedFor");
    struct place old_root = place_root(c, old, errs), old_status = place_child(&old_root, "status");
    struct place allocation = place_child(&status, "allocation");
    struct place old_allocation = place_child(&old_status, "allocation");
    struct seen names;
    rules_check_meta_update(c, new, old, errs);
    resource_check_set(&reserved, RESERVED_MAX, check_consumer, NULL, "uid");
    check_status_devices(&status);
    check_reserved(&root, &status, &old_status);
    seen_init(&names);
    collect_names(&devices, &names);
    if (place_is_set(&old_allocation) && place_is_set(&allocation))
        place_check_immutable(&allocation, &old_allocation);
    else if (place_is_set(&allocation))
        check_allocation(&allocation, &names);
    seen_fini(&names);
}

/* Statuses of devices that were given back go with them. */
static struct value prepare_claim_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value out = rules_keep_all_but_status(c, new, old);
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), status = place_child(&root, "status");
    struct place old_root = place_root(c, old, &none), old_status = place_child(&old_root, "status");
    struct place devices = place_child(&status, "devices");
    struct seen before, now;
    seen_init(&before);
    seen_init(&now);
    collect_allocated(&old_status, &before);
    collect_allocated(&status, &now);
    struct value *items = ARENA_NEW_N(c->arena, struct value, place_n(&devices));
    uint32_t n = 0;
    for (uint32_t i = 0; i < place_n(&devices); i++) {
        struct place device = place_item(&devices, i);
        struct str id = device_id(&device);
        if (!map_str_find(&before.texts, id) || map_str_find(&now.texts, id))
            items[n++] = *device.value;
    }
    seen_fini(&before);
    seen_fini(&now);
    if (n == place_n(&devices))
        return out;
    return edit_set(c->arena, c->type, &out, "status.devices", n ? value_list(items, n) : (struct value){ 0 });
}

/* ---- Templates and classes ---- */

static void validate_template(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place meta = place_child(&spec, "metadata");
    struct place labels = place_child(&meta, "labels"), inner = place_child(&spec, "spec");
    struct place annotations = place_child(&meta, "annotations");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    place_check_annotations(&annotations);
    place_check_labels(&labels);
    check_spec(&inner);
}

static void validate_template_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    validate_template(c, new, errs);
    rules_check_meta_update(c, new, old, errs);
    check_same_spec(c, new, old, errs);
}

static void check_class_config(const struct place *config, const void *data)
{
    (void)data;
    resource_check_configuration(config);
}

/* domain/name outside of kubernetes.io, of which a quota could be made. */
static bool is_extended_resource(struct arena *a, struct str name)
{
    size_t slash = str_index(name, '/');
    struct str domain = str_first(name, slash);
    bool native = slash == name.n || str_ends(domain, STR("kubernetes.io"));
    if (native || str_starts(name, STR("requests.")))
        return false;
    return name_label_key(str_of(arena_printf(a, "requests.%.*s", STR_ARG(name)))).n == 0;
}

static void check_class(const struct place *spec)
{
    struct place selectors = place_child(spec, "selectors"), config = place_child(spec, "config");
    struct place extended = place_child(spec, "extendedResourceName");
    resource_check_selectors(&selectors);
    resource_check_list(&config, DEVICE_CONFIG_MAX, check_class_config, NULL);
    if (place_is_set(&extended) && !is_extended_resource(spec->errs->arena, place_text(&extended)))
        place_invalid(&extended, "must be a valid extended resource name");
}

static void validate_class(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_class(&spec);
}

static void validate_class_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    rules_check_meta_update(c, new, old, errs);
    check_class(&spec);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_all_but_status[] = { "metadata", "spec", NULL };

static const struct sub_rules claim_subs[] = {
    { .name = "status", .prepare_update = prepare_claim_status, .validate_update = validate_claim_status,
      .reset_fields = reset_all_but_status },
    { 0 },
};

const struct kind_rules resource_rules[] = {
    { .type = "resource.k8s.io/v1.ResourceClaim", .flags = RULES_RETURNS_DELETED, .prepare_create = rules_drop_status,
      .prepare_update = rules_keep_status, .validate_create = validate_claim, .validate_update = validate_claim_update,
      .reset_fields = reset_status, .subs = claim_subs },
    { .type = "resource.k8s.io/v1.ResourceClaimTemplate", .flags = RULES_RETURNS_DELETED,
      .validate_create = validate_template, .validate_update = validate_template_update },
    { .type = "resource.k8s.io/v1.DeviceClass", .flags = RULES_RETURNS_DELETED, .generation = GENERATION_SPEC,
      .validate_create = validate_class, .validate_update = validate_class_update },
    { 0 },
};
