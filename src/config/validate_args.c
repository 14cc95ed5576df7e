/* config/validate_args.c - what arguments of plugins may say.
 * Upstream: pkg/scheduler/apis/config/validation/validation_pluginargs.go, v1.36. */
#include "api/duration.h"
#include "api/node_selector.h"
#include "api/validate.h"
#include "codec/json.h"
#include "config/args.h"
#include "config/slots.h"

#define SECOND_NS ((int64_t)1000000000)

static void invalid_int(struct field_errors *errs, const struct field_path *parent, const char *name, int64_t value,
                        const char *detail)
{
    struct field_path at = field_child(parent, name);
    field_invalid(errs, &at, field_int(value), str_of(detail));
}

void validate_default_preemption(const struct value *args, const struct features *f, const struct field_path *at,
                                 struct field_errors *errs)
{
    (void)f;
    int64_t percentage = slot_int(args, SLOT(DefaultPreemptionArgs, minCandidateNodesPercentage), 0);
    int64_t absolute = slot_int(args, SLOT(DefaultPreemptionArgs, minCandidateNodesAbsolute), 0);
    if (percentage < 0 || percentage > 100)
        invalid_int(errs, at, "minCandidateNodesPercentage", percentage, "not in valid range [0, 100]");
    if (absolute < 0)
        invalid_int(errs, at, "minCandidateNodesAbsolute", absolute, "not in valid range [0, inf)");
    if (percentage == 0 && absolute == 0) {
        invalid_int(errs, at, "minCandidateNodesPercentage", 0,
                    "cannot be zero at the same time as minCandidateNodesAbsolute");
        invalid_int(errs, at, "minCandidateNodesAbsolute", 0,
                    "cannot be zero at the same time as minCandidateNodesPercentage");
    }
}

/* A duration that must not be below `min_ns`, and must not be there at all when its gate is off. */
static void check_timeout(const struct value *args, unsigned slot, const char *name, bool gate_on, int64_t min_ns,
                          const char *detail, const char *forbidden, const struct field_path *at,
                          struct field_errors *errs)
{
    struct field_path path = field_child(at, name);
    if (!slot_given(args, slot))
        return;
    int64_t ns = slot_int(args, slot, 0);
    if (!gate_on) {
        field_forbidden(errs, &path, str_of(forbidden));
    } else if (ns < min_ns) {
        struct strbuf text;
        strbuf_init(&text, STRBUF_NO_MAX);
        strbuf_add_char(&text, '"');
        duration_add(&text, ns);
        strbuf_add_char(&text, '"');
        field_invalid(errs, &path, field_json(field_take_text(errs->arena, &text)), str_of(detail));
    }
}

void validate_dynamic_resources(const struct value *args, const struct features *f, const struct field_path *at,
                                struct field_errors *errs)
{
    check_timeout(args, SLOT(DynamicResourcesArgs, filterTimeout), "filterTimeout", f->dra_filter_timeout, 0,
                  "must be zero or positive", "DRASchedulingFilterTimeout feature gate is disabled", at, errs);
    check_timeout(args, SLOT(DynamicResourcesArgs, bindingTimeout), "bindingTimeout",
                  f->dra_device_binding_conditions && f->dra_resource_claim_device_status, SECOND_NS,
                  "must be at least 1 second",
                  "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled", at, errs);
}

void validate_inter_pod_affinity(const struct value *args, const struct features *f, const struct field_path *at,
                                 struct field_errors *errs)
{
    (void)f;
    int64_t weight = slot_int(args, SLOT(InterPodAffinityArgs, hardPodAffinityWeight), 0);
    if (weight < 0 || weight > 100)
        invalid_int(errs, at, "hardPodAffinityWeight", weight, "not in valid range [0, 100]");
}

/* ---- NodeAffinity ---- */

static struct strs read_strs(struct arena *a, const struct value *v, unsigned slot)
{
    size_t n;
    const struct value *items = slot_items(v, slot, &n);
    if (!items)
        return (struct strs){ NULL, 0 };
    struct str *at = ARENA_NEW_N(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        at[i] = value_text(&items[i]);
    return (struct strs){ at, n };
}

static const struct match_expression *read_expressions(struct arena *a, const struct value *v, unsigned slot,
                                                       size_t *ret_n)
{
    const struct value *items = slot_items(v, slot, ret_n);
    struct match_expression *at = ARENA_NEW_N(a, struct match_expression, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        at[i] = (struct match_expression){
            .key = slot_text(&items[i], CORE_SLOT(NodeSelectorRequirement, key)),
            .op = slot_text(&items[i], CORE_SLOT(NodeSelectorRequirement, operator)),
            .values = read_strs(a, &items[i], CORE_SLOT(NodeSelectorRequirement, values)),
        };
    return at;
}

static struct node_selector_term read_term(struct arena *a, const struct value *v)
{
    struct node_selector_term t = { 0 };
    t.expressions = read_expressions(a, v, CORE_SLOT(NodeSelectorTerm, matchExpressions), &t.n_expressions);
    t.fields = read_expressions(a, v, CORE_SLOT(NodeSelectorTerm, matchFields), &t.n_fields);
    return t;
}

static struct node_selector read_selector(struct arena *a, const struct value *v)
{
    size_t n;
    const struct value *items = slot_items(v, CORE_SLOT(NodeSelector, nodeSelectorTerms), &n);
    struct node_selector_term *terms = ARENA_NEW_N(a, struct node_selector_term, n);
    for (size_t i = 0; i < n; i++)
        terms[i] = read_term(a, &items[i]);
    return (struct node_selector){ terms, n };
}

static const struct preferred_term *read_preferred(struct arena *a, const struct value *v, size_t *ret_n)
{
    const struct value *items =
        slot_items(v, CORE_SLOT(NodeAffinity, preferredDuringSchedulingIgnoredDuringExecution), ret_n);
    struct preferred_term *terms = ARENA_NEW_N(a, struct preferred_term, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        terms[i] = (struct preferred_term){
            (int32_t)slot_int(&items[i], CORE_SLOT(PreferredSchedulingTerm, weight), 0),
            read_term(a, value_slot(&items[i], CORE_SLOT(PreferredSchedulingTerm, preference))),
        };
    return terms;
}

void validate_node_affinity(const struct value *args, const struct features *f, const struct field_path *at,
                            struct field_errors *errs)
{
    (void)f;
    struct arena *a = errs->arena;
    const struct value *added = value_slot(args, SLOT(NodeAffinityArgs, addedAffinity));
    const struct value *required =
        value_slot(added, CORE_SLOT(NodeAffinity, requiredDuringSchedulingIgnoredDuringExecution));
    struct field_path path = field_child(at, "addedAffinity");
    struct work work = work_init(CONFIG_BYTES_MAX);
    if (required->kind == VALUE_STRUCT) {
        struct field_path of = field_child(&path, "requiredDuringSchedulingIgnoredDuringExecution");
        struct node_selector selector = read_selector(a, required);
        node_selector_validate(&work, &selector, &of, errs);
    }
    size_t n;
    const struct preferred_term *terms = read_preferred(a, added, &n);
    struct field_path of = field_child(&path, "preferredDuringSchedulingIgnoredDuringExecution");
    preferred_terms_validate(&work, terms, n, &of, errs);
}

/* ---- Resources and shapes ---- */

static bool named_before(const struct value *items, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (str_eq(slot_text(&items[k], SLOT(ResourceSpec, name)), slot_text(&items[i], SLOT(ResourceSpec, name))))
            return true;
    return false;
}

void validate_node_resources_balanced(const struct value *args, const struct features *f, const struct field_path *at,
                                      struct field_errors *errs)
{
    (void)f;
    size_t n;
    const struct value *items = slot_items(args, SLOT(NodeResourcesBalancedAllocationArgs, resources), &n);
    struct field_path list = field_child(at, "resources");
    for (size_t i = 0; i < n; i++) {
        struct field_path item = field_index(&list, i), name = field_child(&item, "name");
        int64_t weight = slot_int(&items[i], SLOT(ResourceSpec, weight), 0);
        if (named_before(items, i))
            field_duplicate(errs, &name, field_str(slot_text(&items[i], SLOT(ResourceSpec, name))));
        if (weight != 1)
            invalid_int(errs, &item, "weight", weight, "must be 1");
    }
}

static void check_point(const struct value *point, const struct field_path *at, struct field_errors *errs)
{
    int64_t utilization = slot_int(point, SLOT(UtilizationShapePoint, utilization), 0);
    int64_t score = slot_int(point, SLOT(UtilizationShapePoint, score), 0);
    if (utilization < 0 || utilization > 100)
        invalid_int(errs, at, "utilization", utilization, "not in valid range [0, 100]");
    if (score < 0 || score > 10)
        invalid_int(errs, at, "score", score, "not in valid range [0, 10]");
}

static void check_shape(const struct value *points, size_t n, const struct field_path *at, struct field_errors *errs)
{
    if (n == 0)
        field_required(errs, at, STR("at least one point must be specified"));
    for (size_t i = 1; i < n; i++) {
        struct field_path item = field_index(at, i);
        int64_t before = slot_int(&points[i - 1], SLOT(UtilizationShapePoint, utilization), 0);
        int64_t here = slot_int(&points[i], SLOT(UtilizationShapePoint, utilization), 0);
        if (before >= here) {
            invalid_int(errs, &item, "utilization", here, "values must be sorted in increasing order");
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct field_path item = field_index(at, i);
        check_point(&points[i], &item, errs);
    }
}

static void check_ignored(const struct value *args, const struct field_path *at, struct field_errors *errs)
{
    size_t n;
    const struct value *items = slot_items(args, SLOT(NodeResourcesFitArgs, ignoredResources), &n);
    struct field_path resources = field_child(at, "ignoredResources");
    for (size_t i = 0; i < n; i++) {
        struct field_path item = field_index(&resources, i);
        validate_label_name(value_text(&items[i]), &item, errs);
    }
    items = slot_items(args, SLOT(NodeResourcesFitArgs, ignoredResourceGroups), &n);
    struct field_path groups = field_child(at, "ignoredResourceGroups");
    for (size_t i = 0; i < n; i++) {
        struct field_path item = field_index(&groups, i);
        struct str group = value_text(&items[i]);
        if (str_index(group, '/') < group.n)
            field_invalid(errs, &item, field_str(group), STR("resource group name can't contain '/'"));
        validate_label_name(group, &item, errs);
    }
}

static void check_weights(const struct value *strategy, const struct field_path *at, struct field_errors *errs)
{
    size_t n;
    const struct value *items = slot_items(strategy, SLOT(ScoringStrategy, resources), &n);
    struct field_path list = field_child(at, "resources");
    for (size_t i = 0; i < n; i++) {
        struct field_path item = field_index(&list, i);
        struct str name = slot_text(&items[i], SLOT(ResourceSpec, name));
        int64_t weight = slot_int(&items[i], SLOT(ResourceSpec, weight), 0);
        if (weight <= 0 || weight > 100)
            invalid_int(
                errs, &item, "weight", weight,
                arena_printf(errs->arena, "resource weight of %.*s not in valid range (0, 100]", STR_ARG(name)));
    }
}

static void check_ratio(const struct value *ratio, bool wanted, const struct field_path *at, struct field_errors *errs)
{
    struct field_path path = field_child(at, "requestedToCapacityRatio"), shape = field_child(&path, "shape");
    bool given = ratio->kind == VALUE_STRUCT;
    size_t n;
    const struct value *points = slot_items(ratio, SLOT(RequestedToCapacityRatioParam, shape), &n);
    if (wanted && !given)
        field_required(errs, &path, STR("must be specified when type is RequestedToCapacityRatio"));
    else if (wanted)
        check_shape(points, n, &shape, errs);
    else if (given)
        field_forbidden(errs, &path, STR("must be nil when type is not RequestedToCapacityRatio"));
}

void validate_node_resources_fit(const struct value *args, const struct features *f, const struct field_path *at,
                                 struct field_errors *errs)
{
    (void)f;
    static const char *const types[] = { "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio" };
    const struct value *strategy = value_slot(args, SLOT(NodeResourcesFitArgs, scoringStrategy));
    struct str type = slot_text(strategy, SLOT(ScoringStrategy, type));
    struct field_path path = field_child(at, "scoringStrategy"), type_path = field_child(&path, "type");
    bool known = false;
    for (size_t i = 0; i < 3; i++)
        known |= str_is(type, types[i]);
    check_ignored(args, at, errs);
    if (!known)
        field_not_supported(errs, &type_path, field_enum(type), types, 3);
    check_weights(strategy, &path, errs);
    check_ratio(value_slot(strategy, SLOT(ScoringStrategy, requestedToCapacityRatio)),
                str_is(type, "RequestedToCapacityRatio"), &path, errs);
}

/* As Go shows the internal form of a shape, which has no JSON names. */
static struct str shape_text(struct arena *a, const struct value *points, size_t n)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_char(&b, '[');
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "%s{\"Utilization\":%lld,\"Score\":%lld}", i ? "," : "",
                      (long long)slot_int(&points[i], SLOT(UtilizationShapePoint, utilization), 0),
                      (long long)slot_int(&points[i], SLOT(UtilizationShapePoint, score), 0));
    strbuf_add_char(&b, ']');
    return field_take_text(a, &b);
}

void validate_volume_binding(const struct value *args, const struct features *f, const struct field_path *at,
                             struct field_errors *errs)
{
    int64_t timeout = slot_int(args, SLOT(VolumeBindingArgs, bindTimeoutSeconds), 0);
    size_t n;
    const struct value *points = slot_items(args, SLOT(VolumeBindingArgs, shape), &n);
    struct field_path shape = field_child(at, "shape");
    if (timeout < 0)
        invalid_int(errs, at, "bindTimeoutSeconds", timeout,
                    "invalid BindTimeoutSeconds, should not be a negative value");
    if (f->storage_capacity_scoring)
        check_shape(points, n, &shape, errs);
    else if (points)
        field_invalid(errs, &shape, field_json(shape_text(errs->arena, points, n)),
                      STR("unexpected field `shape`, remove it or turn on the feature gate "
                          "StorageCapacityScoring"));
}

/* ---- PodTopologySpread ---- */

static void check_defaulting(const struct value *args, size_t n_constraints, const struct field_path *at,
                             struct field_errors *errs)
{
    static const char *const types[] = { "System", "List" };
    struct str type = slot_text(args, SLOT(PodTopologySpreadArgs, defaultingType));
    struct field_path path = field_child(at, "defaultingType");
    bool system = str_is(type, types[0]);
    if (!system && !str_is(type, types[1]))
        field_not_supported(errs, &path, field_enum(type), types, 2);
    else if (system && n_constraints > 0)
        field_invalid(errs, &path, field_enum(type), STR("when .defaultConstraints are not empty"));
}

static void check_action(struct str action, const struct field_path *at, struct field_errors *errs)
{
    static const char *const actions[] = { "DoNotSchedule", "ScheduleAnyway" };
    struct field_path path = field_child(at, "whenUnsatisfiable");
    if (action.n == 0)
        field_required(errs, &path, STR("can not be empty"));
    else if (!str_is(action, actions[0]) && !str_is(action, actions[1]))
        field_not_supported(errs, &path, field_enum(action), actions, 2);
}

static bool repeats(const struct value *items, size_t i)
{
    struct str key = slot_text(&items[i], CORE_SLOT(TopologySpreadConstraint, topologyKey));
    struct str action = slot_text(&items[i], CORE_SLOT(TopologySpreadConstraint, whenUnsatisfiable));
    for (size_t k = 0; k < i; k++)
        if (str_eq(key, slot_text(&items[k], CORE_SLOT(TopologySpreadConstraint, topologyKey))) &&
            str_eq(action, slot_text(&items[k], CORE_SLOT(TopologySpreadConstraint, whenUnsatisfiable))))
            return true;
    return false;
}

static void check_constraint(const struct value *items, size_t i, const struct field_path *list,
                             struct field_errors *errs)
{
    const struct value *c = &items[i];
    struct field_path at = field_index(list, i);
    int64_t max_skew = slot_int(c, CORE_SLOT(TopologySpreadConstraint, maxSkew), 0);
    struct str key = slot_text(c, CORE_SLOT(TopologySpreadConstraint, topologyKey));
    struct str action = slot_text(c, CORE_SLOT(TopologySpreadConstraint, whenUnsatisfiable));
    struct field_path key_path = field_child(&at, "topologyKey"), selector = field_child(&at, "labelSelector");
    if (max_skew <= 0)
        invalid_int(errs, &at, "maxSkew", max_skew, "not in valid range (0, inf)");
    if (key.n == 0)
        field_required(errs, &key_path, STR("can not be empty"));
    else
        validate_label_name(key, &key_path, errs);
    check_action(action, &at, errs);
    if (slot_given(c, CORE_SLOT(TopologySpreadConstraint, labelSelector)))
        field_forbidden(errs, &selector, STR("constraint must not define a selector, as they deduced for each pod"));
    if (repeats(items, i))
        field_duplicate(errs, &at,
                        field_str(str_of(arena_printf(errs->arena, "{%.*s, %.*s}", STR_ARG(key), STR_ARG(action)))));
}

void validate_pod_topology_spread(const struct value *args, const struct features *f, const struct field_path *at,
                                  struct field_errors *errs)
{
    (void)f;
    size_t n;
    const struct value *items = slot_items(args, SLOT(PodTopologySpreadArgs, defaultConstraints), &n);
    struct field_path list = field_child(at, "defaultConstraints");
    check_defaulting(args, n, at, errs);
    for (size_t i = 0; i < n; i++)
        check_constraint(items, i, &list, errs);
}
