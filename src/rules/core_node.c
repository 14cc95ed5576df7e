/* rules/core_node.c - Node: taints, amounts, addresses, CIDRs, and what may not change.
 *
 * Upstream also reads taints and pods to avoid out of two annotations of its alpha days; here annotations are only
 * annotations. */
#include "api/edit.h"
#include "api/netaddr.h"
#include "rules/core_priv.h"

/* ---- Prepare ---- */

/* podCIDR and podCIDRs say the same: the single one goes before the list, and the list begins with it. */
struct value node_with_one_cidr(const struct rules_context *c, const struct value *node)
{
    const struct value *one = value_path(c->type, node, "spec.podCIDR"),
                       *all = value_path(c->type, node, "spec.podCIDRs");
    bool has_list = all->kind == VALUE_LIST && all->n;
    if (value_text(one).n && (!has_list || !str_eq(value_text(one), value_text(&all->items[0]))))
        return edit_set(c->arena, c->type, node, "spec.podCIDRs", edit_append(c->arena, &(struct value){ 0 }, *one));
    return has_list ? edit_set(c->arena, c->type, node, "spec.podCIDR", all->items[0]) : *node;
}

static struct value without(const struct rules_context *c, const struct value *node, const char *path)
{
    if (value_path(c->type, node, path)->kind == VALUE_ABSENT)
        return *node;
    return edit_set(c->arena, c->type, node, path, (struct value){ 0 });
}

struct value node_prepare_create(const struct rules_context *c, const struct value *new)
{
    struct value node = node_with_one_cidr(c, new);
    node = without(c, &node, "spec.configSource");
    return without(c, &node, "status.config");
}

struct value node_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value node = node_with_one_cidr(c, new);
    if (value_path(c->type, old, "spec.configSource")->kind == VALUE_ABSENT)
        node = without(c, &node, "spec.configSource");
    return rules_keep_status(c, &node, old);
}

struct value node_prepare_status(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct value node = rules_keep_spec(c, new, old);
    return value_path(c->type, old, "status.config")->kind == VALUE_ABSENT ? without(c, &node, "status.config") : node;
}

/* ---- Parts ---- */

static struct str pair_key(struct arena *a, struct str first, struct str second)
{
    return str_of(arena_printf(a, "%.*s\n%.*s", STR_ARG(first), STR_ARG(second)));
}

static void check_taint(const struct place *taint, struct seen *seen)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute", NULL };
    struct place key = place_child(taint, "key"), value = place_child(taint, "value");
    struct place effect = place_child(taint, "effect");
    validate_label_name(place_text(&key), &key.path, key.errs);
    struct name_errors found = name_label_value(place_text(&value));
    if (found.n)
        field_invalid(value.errs, &value.path, field_str(place_text(&value)),
                      validate_join(value.errs->arena, found, ";"));
    place_check_choice(&effect, effects);
    if (!seen_before(seen, pair_key(taint->errs->arena, place_text(&effect), place_text(&key))))
        return;
    size_t n = taint->errs->n;
    field_duplicate(taint->errs, &taint->path, place_shown_as_go(taint));
    if (taint->errs->n > n)
        taint->errs->at[n].detail = STR("taints must be unique by key and effect pair");
}

/* Upstream reports them below the metadata, where they were once. */
static void check_taints(const struct place *root)
{
    struct place spec_taints = place_at(root, "spec.taints"), meta = place_child(root, "metadata");
    struct place taints = place_named(&meta, &spec_taints, "taints");
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(&taints); i++) {
        struct place taint = place_item(&taints, i);
        check_taint(&taint, &seen);
    }
    seen_fini(&seen);
}

static void check_amounts(const struct place *root)
{
    static const char *const maps[] = { "status.capacity", "status.allocatable", NULL };
    for (const char *const *path = maps; *path; path++) {
        struct place map = place_at(root, *path);
        for (uint32_t i = 0; i < place_n(&map); i++) {
            struct place entry = place_member(&map, i);
            struct str resource = map.value->members[i].key;
            entry.path = (struct field_path){ &map.path, resource, 0, FIELD_PATH_MEMBER };
            check_resource_amount(&entry, resource);
        }
    }
}

static bool is_letter(char c, bool upper_only)
{
    return (c >= 'A' && c <= 'Z') || (!upper_only && c >= 'a' && c <= 'z');
}

/* Words of letters and digits with slashes between them; the first begins with a capital. */
static bool is_feature_name(struct str name)
{
    bool starts = true;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool digit = c >= '0' && c <= '9';
        if (starts ? !is_letter(c, i == 0) : !is_letter(c, false) && !digit && c != '/')
            return false;
        starts = c == '/';
    }
    return !starts;
}

static void check_feature(const struct place *feature)
{
    struct str name = place_text(feature);
    struct strbuf quoted;
    strbuf_init(&quoted, STRBUF_NO_MAX);
    strbuf_add_quoted(&quoted, name);
    const char *shown = arena_cstr(feature->errs->arena, strbuf_str(&quoted));
    strbuf_fini(&quoted);
    if (name.n > NAME_DNS1123_SUBDOMAIN_MAX)
        place_invalidf(feature, "invalid feature name %s: must be no more than %d characters", shown,
                       NAME_DNS1123_SUBDOMAIN_MAX);
    else if (!is_feature_name(name))
        place_invalidf(feature, "invalid feature name %s: must start with an UpperCamelCase segment, with subsequent "
                       "segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only "
                       "alphanumeric characters and slashes", shown);
}

static void check_features(const struct place *root)
{
    struct place list = place_at(root, "status.declaredFeatures");
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place feature = place_item(&list, i);
        check_feature(&feature);
        if (i + 1 == place_n(&list))
            break;
        struct place next = place_item(&list, i + 1);
        int order = str_cmp(place_text(&feature), place_text(&next));
        if (order == 0)
            place_duplicate(&next);
        else if (order > 0)
            place_invalid(&next, "list must be sorted alphabetically");
    }
}

static void check_swap(const struct place *root)
{
    struct place capacity = place_at(root, "status.nodeInfo.swap.capacity"), meta = place_child(root, "metadata");
    struct place swap = place_named(&meta, &capacity, "nodeSwapStatus"), at = place_named(&swap, &capacity, "capacity");
    if (place_is_set(&at) && place_int(&at) <= 0)
        place_invalid(&at, "must be greater than zero");
}

/* One of each family at most, when there are two. */
static void check_families(const struct place *cidrs)
{
    bool seen[2] = { false, false }, fault = false;
    for (uint32_t i = 0; i < place_n(cidrs); i++) {
        struct place one = place_item(cidrs, i);
        struct ip_addr ip;
        unsigned bits;
        if (!cidr_parse(place_text(&one), &ip, &bits)) {
            struct str text = place_text(&one);
            const char *detail = arena_printf(cidrs->errs->arena,
                                              "invalid PodCIDRs. failed to check with dual stack with error:invalid "
                                              "CIDR[%u]: <nil> (invalid CIDR address: %.*s)", (unsigned)i,
                                              STR_ARG(text));
            field_internal(cidrs->errs, &cidrs->path, str_of(detail));
            fault = true;
            break;
        }
        seen[ip_is_v4_mapped(&ip)] = true;
    }
    if (fault || !seen[0] || !seen[1] || place_n(cidrs) > 2)
        place_invalid(cidrs, "may specify no more than one CIDR for each IP family");
}

static void check_cidrs(const struct place *root)
{
    struct place cidrs = place_at(root, "spec.podCIDRs");
    for (uint32_t i = 0; i < place_n(&cidrs); i++) {
        struct place one = place_item(&cidrs, i);
        place_check_cidr(&one, NULL);
    }
    if (place_n(&cidrs) > 1)
        check_families(&cidrs);
}

/* ---- Whole nodes ---- */

static void check_node(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    rules_check_meta(c, new, NULL, errs);
    check_taints(&root);
    check_amounts(&root);
    check_swap(&root);
    check_features(&root);
    check_cidrs(&root);
}

void node_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_node(c, new, errs);
}

static void check_addresses(const struct place *root)
{
    struct place list = place_at(root, "status.addresses");
    struct seen seen;
    seen_init(&seen);
    for (uint32_t i = 0; i < place_n(&list); i++) {
        struct place one = place_item(&list, i);
        if (seen_before(&seen, pair_key(list.errs->arena, child_text(&one, "type"), child_text(&one, "address"))))
            field_duplicate(one.errs, &one.path, place_shown_as_go(&one));
    }
    seen_fini(&seen);
}

/* Once there, they stay. */
static void check_kept(const struct place *root, const struct place *old)
{
    struct place cidrs = place_at(root, "spec.podCIDRs"), were = place_at(old, "spec.podCIDRs");
    struct place id = place_at(root, "spec.providerID"), was = place_at(old, "spec.providerID");
    bool same_count = place_n(&cidrs) == place_n(&were);
    if (place_n(&were) && !same_count)
        place_forbidden(&cidrs, "node updates may not change podCIDR except from \"\" to valid");
    for (uint32_t i = 0; same_count && i < place_n(&were); i++)
        if (!value_equal(&cidrs.value->items[i], &were.value->items[i]))
            place_forbidden(&cidrs, "node updates may not change podCIDR except from \"\" to valid");
    if (place_text(&was).n && !str_eq(place_text(&id), place_text(&was)))
        place_forbidden(&id, "node updates may not change providerID except from \"\" to valid");
}

/* A reference to a ConfigMap; in a status it says which one exactly. */
static void check_config_source(const struct place *source, bool in_status)
{
    if (!place_is_set(source))
        return;
    struct place map = place_child(source, "configMap"), uid = place_child(&map, "uid");
    struct place version = place_child(&map, "resourceVersion");
    if (!place_is_set(&map)) {
        field_invalid(source->errs, &source->path, place_shown_as_go(source),
                      STR("exactly one reference subfield must be non-nil"));
        return;
    }
    if (place_text(&uid).n ? !in_status : in_status)
        in_status ? place_required(&uid, "") : place_forbidden(&uid, "uid must not be set in spec");
    if (place_text(&version).n ? !in_status : in_status)
        in_status ? place_required(&version, "") : place_forbidden(&version, "resourceVersion must not be set in spec");
    struct place namespace = place_child(&map, "namespace"), name = place_child(&map, "name");
    struct place key = place_child(&map, "kubeletConfigKey");
    place_check_required_name(&namespace, name_dns1123_label);
    place_check_required_name(&name, name_dns1123_subdomain);
    place_check_required_name(&key, name_config_map_key);
}

static void check_config(const struct place *root)
{
    static const char *const sources[] = { "assigned", "active", "lastKnownGood", NULL };
    struct place spec = place_at(root, "spec.configSource"), status = place_at(root, "status.config");
    check_config_source(&spec, false);
    for (const char *const *name = sources; *name; name++) {
        struct place source = place_child(&status, *name);
        check_config_source(&source, true);
    }
}

void node_validate_status(const struct rules_context *c, const struct value *new, const struct value *old,
                          struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place external = place_at(&root, "spec.externalID"), was = place_at(&before, "spec.externalID");
    rules_check_meta_update(c, new, old, errs);
    check_amounts(&root);
    check_features(&root);
    check_addresses(&root);
    check_kept(&root, &before);
    check_config(&root);
    check_taints(&root);
    if (!str_eq(place_text(&external), place_text(&was)))
        place_forbidden(&external, "may not be updated");
}

void node_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                          struct field_errors *errs)
{
    check_node(c, new, errs);
    node_validate_status(c, new, old, errs);
}

void node_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    (void)old;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), spec = place_child(&root, "spec");
    struct place cidrs = place_child(&spec, "podCIDRs");
    if (child_is_set(&spec, "configSource"))
        warnings_add(c->warnings, "spec.configSource: the feature is removed");
    if (child_text(&spec, "externalID").n)
        warnings_add(c->warnings, "spec.externalID: this field is deprecated, and is unused by Kubernetes");
    for (uint32_t i = 0; i < place_n(&cidrs); i++) {
        struct place one = place_item(&cidrs, i);
        warn_about_cidr(c, &one.path, place_text(&one));
    }
}
