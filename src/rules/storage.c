/* rules/storage.c - StorageClass, CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment, VolumeAttributesClass. */
#include "api/edit.h"
#include "base/sort.h"
#include "rules/volume.h"

enum {
    PARAMETERS_MAX = 512,
    PARAMETERS_BYTES_MAX = 256 << 10,
    ATTACHMENT_BYTES_MAX = 256 << 10,
    ERROR_MESSAGE_BYTES_MAX = 1024,
    NODE_ID_BYTES_MAX = 256,
};

/* ---- StorageClass and VolumeAttributesClass ---- */

static void check_provisioner(const struct place *name)
{
    struct str text = place_text(name);
    if (text.n == 0) {
        place_required(name, "");
        return;
    }
    char *lower = arena_alloc(name->errs->arena, text.n);
    for (size_t i = 0; i < text.n; i++)
        lower[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] - 'A' + 'a' : text.p[i]);
    struct str lowered = { lower, text.n };
    validate_name_errors(name_label_key(lowered), field_str(lowered), &name->path, name->errs);
}

static size_t map_bytes(const struct place *map)
{
    size_t n = 0;
    for (uint32_t i = 0; i < place_n(map); i++)
        n += map->value->members[i].key.n + map->value->members[i].value.n;
    return n;
}

static void check_parameters(const struct place *parameters, bool may_be_empty)
{
    if (place_n(parameters) > PARAMETERS_MAX) {
        field_too_long(parameters->errs, &parameters->path, PARAMETERS_MAX);
        return;
    }
    for (uint32_t i = 0; i < place_n(parameters); i++)
        if (parameters->value->members[i].key.n == 0)
            field_invalid(parameters->errs, &parameters->path, field_str(STR("")), STR("field can not be empty."));
    if (map_bytes(parameters) > PARAMETERS_BYTES_MAX)
        field_too_long(parameters->errs, &parameters->path, PARAMETERS_BYTES_MAX);
    if (!may_be_empty && place_n(parameters) == 0)
        place_required(parameters, "must contain at least one key/value pair");
}

static void check_topology_values(const struct place *requirement)
{
    struct place values = place_child(requirement, "values");
    struct seen seen;
    if (place_n(&values) == 0)
        place_required(&values, "");
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(&values); i++) {
        struct place value = place_item(&values, i);
        if (seen_before(&seen, place_text(&value)))
            place_duplicate(&value);
    }
    seen_fini(&seen);
}

static void check_topology_term(const struct place *term)
{
    struct place list = place_child(term, "matchLabelExpressions");
    struct seen keys;
    seen_init(&keys);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place requirement = place_item(&list, i), key = place_child(&requirement, "key");
        check_topology_values(&requirement);
        place_check_names(&key, name_label_key(place_text(&key)));
        if (seen_before(&keys, place_text(&key)))
            place_duplicate(&key);
    }
    seen_fini(&keys);
}

/* The values of a requirement in order, each once: "key=a,b;". */
static void add_requirement(struct strbuf *to, struct arena *a, const struct place *requirement)
{
    struct place values = place_child(requirement, "values");
    struct str *texts = ARENA_NEW_N(a, struct str, place_n(&values));
    for (uint32_t i = 0; i < place_n(&values); i++)
        texts[i] = value_text(&values.value->items[i]);
    sort_stable(a, texts, place_n(&values), sizeof(*texts), sort_compare_strs);
    strbuf_add_quoted(to, child_text(requirement, "key"));
    for (uint32_t i = 0; i < place_n(&values); i++)
        if (i == 0 || !str_eq(texts[i - 1], texts[i])) {
            strbuf_add_char(to, ',');
            strbuf_add_quoted(to, texts[i]);
        }
}

/* A text that two terms share when they mean the same: requirements in order, of one key the last. */
static struct str term_text(struct arena *a, const struct place *term)
{
    struct place list = place_child(term, "matchLabelExpressions");
    struct label *parts = ARENA_NEW_N(a, struct label, place_n(&list));
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place requirement = place_item(&list, i);
        struct strbuf one;
        strbuf_init(&one, STRBUF_NO_MAX);
        add_requirement(&one, a, &requirement);
        parts[i] = (struct label){ child_text(&requirement, "key"), field_take_text(a, &one) };
    }
    size_t n = labels_sort(a, parts, place_n(&list));
    struct strbuf all;
    strbuf_init(&all, STRBUF_NO_MAX);
    for (size_t i = 0; i < n; i++) {
        strbuf_add_str(&all, parts[i].value);
        strbuf_add_char(&all, ';');
    }
    return field_take_text(a, &all);
}

static void check_topologies(const struct place *topologies)
{
    struct seen terms;
    seen_init(&terms);
    for (uint32_t i = 0; i < place_n(topologies); i++) {
        struct place term = place_item(topologies, i), list = place_child(&term, "matchLabelExpressions");
        check_topology_term(&term);
        if (seen_before(&terms, term_text(term.errs->arena, &term)))
            field_duplicate(list.errs, &list.path, field_str(STR("")));
    }
    seen_fini(&terms);
}

static void validate_class(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    static const char *const policies[] = { "Delete", "Retain", NULL };
    static const char *const modes[] = { "Immediate", "WaitForFirstConsumer", NULL };
    struct place root = place_root(c, new, errs), provisioner = place_child(&root, "provisioner");
    struct place parameters = place_child(&root, "parameters"), policy = place_child(&root, "reclaimPolicy");
    struct place mode = place_child(&root, "volumeBindingMode"), topologies = place_child(&root, "allowedTopologies");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_provisioner(&provisioner);
    check_parameters(&parameters, true);
    if (place_text(&policy).n)
        place_check_supported(&policy, policies);
    if (!place_is_set(&mode))
        place_required(&mode, "");
    else
        place_check_supported(&mode, modes);
    check_topologies(&topologies);
}

static void validate_class_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                  struct field_errors *errs)
{
    static const char *const fixed[] = { "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode" };
    struct place root = place_root(c, new, errs), old_root = place_root(c, old, errs);
    validate_class(c, new, errs);
    rules_check_meta_update(c, new, old, errs);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        struct place is = place_child(&root, fixed[i]), was = place_child(&old_root, fixed[i]);
        place_check_immutable(&is, &was);
    }
}

static void warn_class(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), topologies = place_child(&root, "allowedTopologies");
    for (uint32_t i = 0; i < place_n(&topologies); i++) {
        struct place term = place_item(&topologies, i), list = place_child(&term, "matchLabelExpressions");
        for (uint32_t k = 0; k < place_n(&list); k++) {
            struct place e = place_item(&list, k), key = place_child(&e, "key");
            volume_warn_label(c, &key.path, place_text(&key), false);
        }
    }
}

static void validate_attributes(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), driver = place_child(&root, "driverName");
    struct place parameters = place_child(&root, "parameters");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_provisioner(&driver);
    check_parameters(&parameters, false);
}

static void validate_attributes_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), old_root = place_root(c, old, errs);
    struct place driver = place_child(&root, "driverName"), old_driver = place_child(&old_root, "driverName");
    struct place parameters = place_child(&root, "parameters"), old_parameters = place_child(&old_root, "parameters");
    rules_check_meta_update(c, new, old, errs);
    if (!place_same(&driver, &old_driver))
        place_forbidden(&driver, "updates to driverName are forbidden.");
    if (!place_same(&parameters, &old_parameters))
        place_forbidden(&parameters, "updates to parameters are forbidden.");
    validate_attributes(c, new, errs);
}

/* ---- CSIDriver ---- */

static void check_token_requests(const struct place *spec)
{
    struct place list = place_child(spec, "tokenRequests");
    struct seen audiences;
    seen_init(&audiences);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place request = place_item(&list, i), audience = place_child(&request, "audience");
        struct place expiration = place_child(&request, "expirationSeconds");
        if (seen_before(&audiences, place_text(&audience))) {
            place_duplicate(&audience);
            continue;
        }
        if (!place_is_set(&expiration))
            continue;
        if (place_int(&expiration) < 600)
            place_invalid(&expiration, "may not specify a duration less than 10 minutes");
        if (place_int(&expiration) > (int64_t)1 << 32)
            place_invalid(&expiration, "may not specify a duration larger than 2^32 seconds");
    }
    seen_fini(&audiences);
}

static void check_lifecycle_modes(const struct place *spec)
{
    static const char *const modes[] = { "Persistent", "Ephemeral", NULL };
    struct place list = place_child(spec, "volumeLifecycleModes");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place mode = place_item(&list, i);
        mode.path = list.path;
        place_check_supported(&mode, modes);
    }
}

static void check_driver(const struct place *spec)
{
    static const char *const policies[] = { "File", "None", "ReadWriteOnceWithFSType", NULL };
    static const struct {
        const char *field, *shown;
    } needed[] = { { "attachRequired", "attachedRequired" }, { "podInfoOnMount", "podInfoOnMount" },
                   { "storageCapacity", "storageCapacity" } };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        struct place field = place_child(spec, needed[i].field), shown = place_named(spec, &field, needed[i].shown);
        if (!place_is_set(&field))
            place_required(&shown, "");
    }
    struct place policy = place_child(spec, "fsGroupPolicy"), selinux = place_child(spec, "seLinuxMount");
    struct place period = place_child(spec, "nodeAllocatableUpdatePeriodSeconds");
    struct place in_secrets = place_child(spec, "serviceAccountTokenInSecrets");
    if (place_is_set(&policy))
        place_check_supported(&policy, policies);
    check_token_requests(spec);
    check_lifecycle_modes(spec);
    if (!place_is_set(&selinux))
        place_required(&selinux, "");
    if (place_is_set(&period) && place_int(&period) < 10)
        place_invalid(&period, "must be greater than or equal to 10 seconds");
    if (place_is_set(&in_secrets) && child_n(spec, "tokenRequests") == 0)
        place_invalid(&in_secrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
}

static void validate_driver(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    check_driver(&spec);
}

static void validate_driver_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct place attach = place_child(&spec, "attachRequired"), old_attach = place_child(&old_spec, "attachRequired");
    struct place modes = place_child(&spec, "volumeLifecycleModes");
    struct place old_modes = place_child(&old_spec, "volumeLifecycleModes");
    struct place attached = place_named(&spec, &attach, "attachedRequired"); /* as upstream spells it */
    rules_check_meta_update(c, new, old, errs);
    check_driver(&spec);
    place_check_immutable(&attached, &old_attach);
    place_check_immutable(&modes, &old_modes);
}

static void warn_driver(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old ? old : new, &none), old_spec = place_child(&old_root, "spec");
    struct place requests = place_child(&spec, "tokenRequests"), old_requests = place_child(&old_spec, "tokenRequests");
    bool changed = !old || !place_same(&requests, &old_requests);
    if (changed && place_n(&requests) && !child_is_set(&spec, "serviceAccountTokenInSecrets"))
        warnings_add(c->warnings, "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
                                  "true to prevent possible logging of tokens in volume attributes");
}

static struct value prepare_driver(const struct rules_context *c, const struct value *new)
{
    const struct value nothing = { .kind = VALUE_ABSENT }; /* a field behind a gate that is closed */
    if (value_path(c->type, new, "spec.preventPodSchedulingIfMissing")->kind == VALUE_ABSENT)
        return *new;
    return edit_set(c->arena, c->type, new, "spec.preventPodSchedulingIfMissing", nothing);
}

static struct value prepare_driver_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    bool had = value_path(c->type, old, "spec.preventPodSchedulingIfMissing")->kind != VALUE_ABSENT;
    return had ? *new : prepare_driver(c, new);
}

/* ---- CSINode ---- */

static void check_topology_keys(const struct place *driver)
{
    struct place keys = place_child(driver, "topologyKeys");
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(&keys); i++) {
        struct place key = place_item(&keys, i);
        key.path = driver->path;
        if (place_text(&key).n == 0)
            place_required(&key, "");
        if (seen_before(&seen, place_text(&key)))
            place_duplicate(&key);
        place_check_qualified_name(&key);
    }
    seen_fini(&seen);
}

static void validate_node(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place list = place_child(&spec, "drivers");
    struct seen names;
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    seen_init(&names);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place driver = place_item(&list, i), name = place_child(&driver, "name");
        struct place id = place_child(&driver, "nodeID");
        struct place allocatable = place_child(&driver, "allocatable"), count = place_child(&allocatable, "count");
        volume_check_driver_name(&name);
        if (place_text(&id).n == 0)
            place_required(&id, "");
        if (place_text(&id).n > NODE_ID_BYTES_MAX)
            place_invalidf(&id, "must be %d characters or less", NODE_ID_BYTES_MAX);
        if (place_is_set(&count))
            place_check_not_negative(&count);
        if (seen_before(&names, place_text(&name)))
            place_duplicate(&name);
        check_topology_keys(&driver);
    }
    seen_fini(&names);
}

static void check_same_driver(const struct place *drivers, const struct place *driver, const struct place *old)
{
    const struct value nothing = { .kind = VALUE_ABSENT };
    struct arena *a = driver->errs->arena;
    struct value is = edit_set(a, driver->type, driver->value, "allocatable", nothing);
    struct value was = edit_set(a, driver->type, old->value, "allocatable", nothing);
    struct place x = *driver, y = *old;
    x.value = &is;
    y.value = &was;
    x.path = drivers->path;
    place_check_immutable(&x, &y);
}

static void validate_node_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                 struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place list = place_child(&spec, "drivers");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    struct place old_list = place_child(&old_spec, "drivers");
    struct map_str by_name;
    validate_node(c, new, errs);
    map_str_init(&by_name);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place driver = place_item(&list, i);
        struct str name = child_text(&driver, "name");
        map_str_put(&by_name, name.n ? name : STR(""), NULL)->num = i;
    }
    for (uint32_t i = 0; i < place_n(&old_list); i++) {
        struct place was = place_item(&old_list, i);
        const union map_value *found = map_str_find(&by_name, child_text(&was, "name"));
        if (!found)
            continue;
        struct place driver = place_item(&list, (uint32_t)found->num);
        check_same_driver(&list, &driver, &was);
    }
    map_str_fini(&by_name);
}

/* ---- CSIStorageCapacity ---- */

static void check_capacity(const struct rules_context *c, const struct value *new, bool any_values,
                           struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), topology = place_child(&root, "nodeTopology");
    struct place class = place_child(&root, "storageClassName"), capacity = place_child(&root, "capacity");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    if (place_is_set(&topology))
        place_check_selector(&topology, any_values);
    place_check_names(&class, name_dns1123_subdomain(place_text(&class)));
    if (place_is_set(&capacity))
        place_check_amount(&capacity);
}

static void validate_capacity(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_capacity(c, new, false, errs);
}

static void validate_capacity_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs)
{
    struct field_errors old_errs;
    field_errors_init(&old_errs, c->arena);
    struct place root = place_root(c, new, errs), old_root = place_root(c, old, &old_errs);
    struct place topology = place_child(&root, "nodeTopology"), old_topology = place_child(&old_root, "nodeTopology");
    struct place class = place_child(&root, "storageClassName"), old_class = place_child(&old_root, "storageClassName");
    check_capacity(c, new, place_is_set(&old_topology) && !place_check_selector(&old_topology, false), errs);
    rules_check_meta_update(c, new, old, errs);
    if (!place_same(&topology, &old_topology))
        place_invalid(&topology, "field is immutable");
    place_check_immutable(&class, &old_class);
}

static void warn_capacity(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    struct field_errors none;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), topology = place_child(&root, "nodeTopology");
    struct place labels = place_child(&topology, "matchLabels"), list = place_child(&topology, "matchExpressions");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place e = place_item(&list, i), key = place_child(&e, "key");
        volume_warn_label(c, &key.path, place_text(&key), false);
    }
    for (uint32_t i = 0; i < place_n(&labels); i++) {
        struct str key = labels.value->members[i].key;
        struct field_path at = field_child(&labels.path, arena_cstr(c->arena, key));
        volume_warn_label(c, &at, key, false);
    }
}

/* ---- VolumeAttachment ---- */

static void check_attachment_source(const struct place *source)
{
    static const char one[] = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    struct place name = place_child(source, "persistentVolumeName");
    struct place inline_spec = place_child(source, "inlineVolumeSpec");
    if (!place_is_set(&name) && !place_is_set(&inline_spec))
        place_required(source, one);
    else if (place_is_set(&name) && place_is_set(&inline_spec))
        place_forbidden(source, one);
    else if (place_is_set(&inline_spec))
        volume_check_spec(&inline_spec, &(struct volume_context){ .is_inline = true });
    else if (place_text(&name).n == 0)
        place_required(&name, "must specify non empty persistentVolumeName");
}

static void check_volume_error(const struct place *status, const char *field)
{
    struct place error = place_child(status, field), message = place_child(&error, "message");
    struct place code = place_child(&error, "errorCode");
    if (place_text(&message).n > ERROR_MESSAGE_BYTES_MAX)
        field_too_long(message.errs, &message.path, ATTACHMENT_BYTES_MAX); /* upstream names this limit */
    if (place_int(&code) < 0)
        place_invalid(&code, "must be between 0 and 2147483647, inclusive");
}

static void validate_attachment(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place status = place_child(&root, "status");
    struct place attacher = place_child(&spec, "attacher"), source = place_child(&spec, "source");
    struct place node = place_child(&spec, "nodeName"), metadata = place_child(&status, "attachmentMetadata");
    struct place volume = place_child(&source, "persistentVolumeName");
    rules_check_meta(c, new, name_is_dns_subdomain, errs);
    volume_check_driver_name(&attacher);
    check_attachment_source(&source);
    place_check_names(&node, name_is_dns_subdomain(place_text(&node), false));
    if (map_bytes(&metadata) > ATTACHMENT_BYTES_MAX)
        field_too_long(errs, &metadata.path, ATTACHMENT_BYTES_MAX);
    check_volume_error(&status, "attachError");
    check_volume_error(&status, "detachError");
    if (place_is_set(&volume))
        place_check_names(&volume, name_dns1123_subdomain(place_text(&volume)));
}

static void validate_attachment_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                       struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), spec = place_child(&root, "spec");
    struct place old_root = place_root(c, old, errs), old_spec = place_child(&old_root, "spec");
    validate_attachment(c, new, errs);
    place_check_immutable(&spec, &old_spec);
}

static const char *const reset_status[] = { "status", NULL };
static const char *const reset_all_but_status[] = { "metadata", "spec", NULL };

static const struct sub_rules attachment_subs[] = {
    { .name = "status", .prepare_update = rules_keep_all_but_status, .validate_update = validate_attachment_update,
      .reset_fields = reset_all_but_status },
    { 0 },
};

const struct kind_rules storage_rules[] = {
    { .type = "storage.k8s.io/v1.StorageClass", .flags = RULES_RETURNS_DELETED, .validate_create = validate_class,
      .validate_update = validate_class_update, .warn = warn_class },
    { .type = "storage.k8s.io/v1.VolumeAttributesClass", .flags = RULES_RETURNS_DELETED,
      .validate_create = validate_attributes, .validate_update = validate_attributes_update },
    { .type = "storage.k8s.io/v1.CSIDriver", .flags = RULES_NEEDS_VERSION | RULES_RETURNS_DELETED,
      .generation = GENERATION_CHANGES, .prepare_create = prepare_driver, .prepare_update = prepare_driver_update,
      .validate_create = validate_driver, .validate_update = validate_driver_update, .warn = warn_driver },
    { .type = "storage.k8s.io/v1.CSINode", .flags = RULES_NEEDS_VERSION | RULES_RETURNS_DELETED,
      .validate_create = validate_node, .validate_update = validate_node_update },
    { .type = "storage.k8s.io/v1.CSIStorageCapacity", .flags = RULES_NEEDS_VERSION, .validate_create = validate_capacity,
      .validate_update = validate_capacity_update, .warn = warn_capacity },
    { .type = "storage.k8s.io/v1.VolumeAttachment", .flags = RULES_NEEDS_VERSION | RULES_RETURNS_DELETED,
      .prepare_create = rules_drop_status, .prepare_update = rules_keep_status, .validate_create = validate_attachment,
      .validate_update = validate_attachment_update, .reset_fields = reset_status, .subs = attachment_subs },
    { 0 },
};
