/* config/args.c - see args.h: defaults, and the structs that plugins receive. What is allowed:
 * validate_args.c. Upstream: pkg/scheduler/apis/config/v1/defaults.go, v1.36. */
#include "config/args.h"

#include "codec/json.h"
#include "config/slots.h"

#define SECOND_NS ((int64_t)1000000000)
#define TYPE(name) CONFIG_API_VERSION "." name

/* ---- Defaults ---- */

static void default_int(struct value *args, unsigned slot, int64_t value)
{
    if (!slot_given(args, slot))
        args->slots[slot] = value_int(value);
}

static void complete_default_preemption(struct arena *a, const struct features *f, struct value *args)
{
    (void)a;
    (void)f;
    default_int(args, SLOT(DefaultPreemptionArgs, minCandidateNodesPercentage), 10);
    default_int(args, SLOT(DefaultPreemptionArgs, minCandidateNodesAbsolute), 100);
}

static void complete_dynamic_resources(struct arena *a, const struct features *f, struct value *args)
{
    (void)a;
    if (f->dra_filter_timeout)
        default_int(args, SLOT(DynamicResourcesArgs, filterTimeout), 10 * SECOND_NS);
    if (f->dra_device_binding_conditions && f->dra_resource_claim_device_status)
        default_int(args, SLOT(DynamicResourcesArgs, bindingTimeout), 600 * SECOND_NS);
}

static void complete_inter_pod_affinity(struct arena *a, const struct features *f, struct value *args)
{
    (void)a;
    (void)f;
    default_int(args, SLOT(InterPodAffinityArgs, hardPodAffinityWeight), 1);
}

static struct value resource_spec(struct arena *a, const char *name)
{
    struct value spec = value_struct(a, schema_type(STR(TYPE("ResourceSpec"))));
    spec.slots[SLOT(ResourceSpec, name)] = value_string(str_of(name));
    return spec;
}

/* No resources means cpu and memory; no weight means 1. */
static void complete_resources(struct arena *a, struct value *resources)
{
    if (resources->kind != VALUE_LIST || resources->n == 0) {
        struct value *items = ARENA_NEW_N(a, struct value, 2);
        items[0] = resource_spec(a, "cpu");
        items[1] = resource_spec(a, "memory");
        *resources = value_list(items, 2);
    }
    for (uint32_t i = 0; i < resources->n; i++)
        if (slot_int(&resources->items[i], SLOT(ResourceSpec, weight), 0) == 0)
            resources->items[i].slots[SLOT(ResourceSpec, weight)] = value_int(1);
}

static void complete_node_resources_balanced(struct arena *a, const struct features *f, struct value *args)
{
    (void)f;
    complete_resources(a, &args->slots[SLOT(NodeResourcesBalancedAllocationArgs, resources)]);
}

/* A strategy without a type stays without: only a missing strategy has a default, as upstream. */
static void complete_node_resources_fit(struct arena *a, const struct features *f, struct value *args)
{
    (void)f;
    struct value *strategy = &args->slots[SLOT(NodeResourcesFitArgs, scoringStrategy)];
    if (strategy->kind == VALUE_ABSENT) {
        *strategy = value_struct(a, schema_type(STR(TYPE("ScoringStrategy"))));
        strategy->slots[SLOT(ScoringStrategy, type)] = value_string(STR("LeastAllocated"));
    }
    complete_resources(a, &strategy->slots[SLOT(ScoringStrategy, resources)]);
}

static void complete_pod_topology_spread(struct arena *a, const struct features *f, struct value *args)
{
    (void)a;
    (void)f;
    if (slot_text(args, SLOT(PodTopologySpreadArgs, defaultingType)).n == 0)
        args->slots[SLOT(PodTopologySpreadArgs, defaultingType)] = value_string(STR("System"));
}

static struct value shape_point(struct arena *a, int32_t utilization, int32_t score)
{
    struct value point = value_struct(a, schema_type(STR(TYPE("UtilizationShapePoint"))));
    point.slots[SLOT(UtilizationShapePoint, utilization)] = value_int(utilization);
    point.slots[SLOT(UtilizationShapePoint, score)] = value_int(score);
    return point;
}

static void complete_volume_binding(struct arena *a, const struct features *f, struct value *args)
{
    default_int(args, SLOT(VolumeBindingArgs, bindTimeoutSeconds), 600);
    struct value *shape = &args->slots[SLOT(VolumeBindingArgs, shape)];
    bool given = shape->kind == VALUE_LIST && shape->n > 0;
    if (given || !f->storage_capacity_scoring)
        return;
    struct value *points = ARENA_NEW_N(a, struct value, 2);
    points[0] = shape_point(a, 0, 10);
    points[1] = shape_point(a, 100, 0);
    *shape = value_list(points, 2);
}

/* ---- What plugins receive ---- */

static const void *build_default_preemption(struct arena *a, const struct value *v)
{
    struct default_preemption_args *args = ARENA_NEW(a, struct default_preemption_args);
    args->min_candidate_nodes_percentage =
        (int32_t)slot_int(v, SLOT(DefaultPreemptionArgs, minCandidateNodesPercentage), 0);
    args->min_candidate_nodes_absolute =
        (int32_t)slot_int(v, SLOT(DefaultPreemptionArgs, minCandidateNodesAbsolute), 0);
    return args;
}

static const void *build_dynamic_resources(struct arena *a, const struct value *v)
{
    struct dynamic_resources_args *args = ARENA_NEW(a, struct dynamic_resources_args);
    args->filter_timeout_ns = slot_int(v, SLOT(DynamicResourcesArgs, filterTimeout), 0);
    args->binding_timeout_ns = slot_int(v, SLOT(DynamicResourcesArgs, bindingTimeout), 0);
    return args;
}

static const void *build_inter_pod_affinity(struct arena *a, const struct value *v)
{
    struct inter_pod_affinity_args *args = ARENA_NEW(a, struct inter_pod_affinity_args);
    args->hard_pod_affinity_weight = (int32_t)slot_int(v, SLOT(InterPodAffinityArgs, hardPodAffinityWeight), 0);
    args->ignore_preferred_terms_of_existing_pods =
        slot_bool(v, SLOT(InterPodAffinityArgs, ignorePreferredTermsOfExistingPods), false);
    return args;
}

static const void *build_node_affinity(struct arena *a, const struct value *v)
{
    struct node_affinity_args *args = ARENA_NEW(a, struct node_affinity_args);
    const struct value *added = value_slot(v, SLOT(NodeAffinityArgs, addedAffinity));
    args->added_affinity = STR("");
    if (added->kind != VALUE_STRUCT)
        return args;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, schema_type(STR("core/v1.NodeAffinity")), added);
    args->added_affinity = arena_str(a, strbuf_str(&json));
    strbuf_fini(&json);
    return args;
}

static const struct resource_weight *build_resources(struct arena *a, const struct value *v, unsigned slot,
                                                     uint32_t *ret_n)
{
    size_t n;
    const struct value *items = slot_items(v, slot, &n);
    struct resource_weight *resources = ARENA_NEW_N(a, struct resource_weight, n);
    for (size_t i = 0; i < n; i++)
        resources[i] = (struct resource_weight){ arena_cstr(a, slot_text(&items[i], SLOT(ResourceSpec, name))),
                                                 slot_int(&items[i], SLOT(ResourceSpec, weight), 1) };
    *ret_n = (uint32_t)n;
    return resources;
}

static const void *build_node_resources_balanced(struct arena *a, const struct value *v)
{
    struct node_resources_balanced_args *args = ARENA_NEW(a, struct node_resources_balanced_args);
    args->resources = build_resources(a, v, SLOT(NodeResourcesBalancedAllocationArgs, resources), &args->n_resources);
    return args;
}

static const struct shape_point *build_shape(struct arena *a, const struct value *v, unsigned slot, uint32_t *ret_n)
{
    size_t n;
    const struct value *items = slot_items(v, slot, &n);
    struct shape_point *points = ARENA_NEW_N(a, struct shape_point, n);
    for (size_t i = 0; i < n; i++)
        points[i] = (struct shape_point){ (int32_t)slot_int(&items[i], SLOT(UtilizationShapePoint, utilization), 0),
                                          (int32_t)slot_int(&items[i], SLOT(UtilizationShapePoint, score), 0) };
    *ret_n = (uint32_t)n;
    return points;
}

static const char *const *build_texts(struct arena *a, const struct value *v, unsigned slot, uint32_t *ret_n)
{
    size_t n;
    const struct value *items = slot_items(v, slot, &n);
    const char **texts = ARENA_NEW_N(a, const char *, n);
    for (size_t i = 0; i < n; i++)
        texts[i] = arena_cstr(a, value_text(&items[i]));
    *ret_n = (uint32_t)n;
    return texts;
}

static struct scoring_strategy build_strategy(struct arena *a, const struct value *v)
{
    struct scoring_strategy s = { .type = SCORING_LEAST_ALLOCATED };
    struct str type = slot_text(v, SLOT(ScoringStrategy, type));
    if (str_is(type, "MostAllocated"))
        s.type = SCORING_MOST_ALLOCATED;
    else if (str_is(type, "RequestedToCapacityRatio"))
        s.type = SCORING_REQUESTED_TO_CAPACITY_RATIO;
    s.resources = build_resources(a, v, SLOT(ScoringStrategy, resources), &s.n_resources);
    s.shape = build_shape(a, value_slot(v, SLOT(ScoringStrategy, requestedToCapacityRatio)),
                          SLOT(RequestedToCapacityRatioParam, shape), &s.n_shape);
    return s;
}

static const void *build_node_resources_fit(struct arena *a, const struct value *v)
{
    struct node_resources_fit_args *args = ARENA_NEW(a, struct node_resources_fit_args);
    args->ignored_resources =
        build_texts(a, v, SLOT(NodeResourcesFitArgs, ignoredResources), &args->n_ignored_resources);
    args->ignored_groups =
        build_texts(a, v, SLOT(NodeResourcesFitArgs, ignoredResourceGroups), &args->n_ignored_groups);
    args->strategy = build_strategy(a, value_slot(v, SLOT(NodeResourcesFitArgs, scoringStrategy)));
    return args;
}

static struct default_spread_constraint build_constraint(struct arena *a, const struct value *v)
{
#define OF(field) CORE_SLOT(TopologySpreadConstraint, field)
    struct default_spread_constraint c = {
        .topology_key = arena_cstr(a, slot_text(v, OF(topologyKey))),
        .max_skew = (int32_t)slot_int(v, OF(maxSkew), 0),
        .min_domains = (int32_t)slot_int(v, OF(minDomains), 1),
        .soft = str_is(slot_text(v, OF(whenUnsatisfiable)), "ScheduleAnyway"),
        .ignore_affinity = str_is(slot_text(v, OF(nodeAffinityPolicy)), "Ignore"),
        .honor_taints = str_is(slot_text(v, OF(nodeTaintsPolicy)), "Honor"),
    };
    c.match_label_keys = build_texts(a, v, OF(matchLabelKeys), &c.n_match_label_keys);
    return c;
#undef OF
}

static const void *build_pod_topology_spread(struct arena *a, const struct value *v)
{
    struct pod_topology_spread_args *args = ARENA_NEW(a, struct pod_topology_spread_args);
    size_t n;
    const struct value *items = slot_items(v, SLOT(PodTopologySpreadArgs, defaultConstraints), &n);
    struct default_spread_constraint *constraints = ARENA_NEW_N(a, struct default_spread_constraint, n);
    for (size_t i = 0; i < n; i++)
        constraints[i] = build_constraint(a, &items[i]);
    args->system_defaulting = str_is(slot_text(v, SLOT(PodTopologySpreadArgs, defaultingType)), "System");
    args->constraints = constraints;
    args->n_constraints = (uint32_t)n;
    return args;
}

static const void *build_volume_binding(struct arena *a, const struct value *v)
{
    struct volume_binding_args *args = ARENA_NEW(a, struct volume_binding_args);
    args->bind_timeout_s = slot_int(v, SLOT(VolumeBindingArgs, bindTimeoutSeconds), 0);
    args->shape = build_shape(a, v, SLOT(VolumeBindingArgs, shape), &args->n_shape);
    return args;
}

/* ---- Plugins that only older worlds have: they check what they are given themselves ---- */

static void complete_least_allocated(struct arena *a, const struct features *f, struct value *args)
{
    (void)f;
    complete_resources(a, &args->slots[SLOT(NodeResourcesLeastAllocatedArgs, resources)]);
}

static void complete_most_allocated(struct arena *a, const struct features *f, struct value *args)
{
    (void)f;
    complete_resources(a, &args->slots[SLOT(NodeResourcesMostAllocatedArgs, resources)]);
}

static void validate_in_plugin(const struct value *args, const struct features *f, const struct field_path *at,
                               struct field_errors *errs)
{
    (void)args;
    (void)f;
    (void)at;
    (void)errs;
}

static const void *build_node_label(struct arena *a, const struct value *v)
{
#define OF(field) SLOT(NodeLabelArgs, field)
    struct node_label_args *args = ARENA_NEW(a, struct node_label_args);
    args->present = build_texts(a, v, OF(presentLabels), &args->n_present);
    args->absent = build_texts(a, v, OF(absentLabels), &args->n_absent);
    args->prefer_present = build_texts(a, v, OF(presentLabelsPreference), &args->n_prefer_present);
    args->prefer_absent = build_texts(a, v, OF(absentLabelsPreference), &args->n_prefer_absent);
    return args;
#undef OF
}

static const void *build_service_affinity(struct arena *a, const struct value *v)
{
    struct service_affinity_args *args = ARENA_NEW(a, struct service_affinity_args);
    args->labels = build_texts(a, v, SLOT(ServiceAffinityArgs, affinityLabels), &args->n_labels);
    args->spread_over =
        build_texts(a, v, SLOT(ServiceAffinityArgs, antiAffinityLabelsPreference), &args->n_spread_over);
    return args;
}

static const void *build_least_allocated(struct arena *a, const struct value *v)
{
    struct scoring_strategy *args = ARENA_NEW(a, struct scoring_strategy);
    args->type = SCORING_LEAST_ALLOCATED;
    args->resources = build_resources(a, v, SLOT(NodeResourcesLeastAllocatedArgs, resources), &args->n_resources);
    return args;
}

static const void *build_most_allocated(struct arena *a, const struct value *v)
{
    struct scoring_strategy *args = ARENA_NEW(a, struct scoring_strategy);
    args->type = SCORING_MOST_ALLOCATED;
    args->resources = build_resources(a, v, SLOT(NodeResourcesMostAllocatedArgs, resources), &args->n_resources);
    return args;
}

/* A weight that is not given stays 0: the plugin refuses it. */
static const void *build_capacity_ratio(struct arena *a, const struct value *v)
{
    struct scoring_strategy *args = ARENA_NEW(a, struct scoring_strategy);
    size_t n;
    const struct value *items = slot_items(v, SLOT(RequestedToCapacityRatioArgs, resources), &n);
    struct resource_weight *resources = ARENA_NEW_N(a, struct resource_weight, n);
    for (size_t i = 0; i < n; i++)
        resources[i] = (struct resource_weight){ arena_cstr(a, slot_text(&items[i], SLOT(ResourceSpec, name))),
                                                 slot_int(&items[i], SLOT(ResourceSpec, weight), 0) };
    *args = (struct scoring_strategy){ .type = SCORING_REQUESTED_TO_CAPACITY_RATIO, .resources = resources,
                                       .n_resources = (uint32_t)n };
    args->shape = build_shape(a, v, SLOT(RequestedToCapacityRatioArgs, shape), &args->n_shape);
    return args;
}

/* ---- The kinds ---- */

#define NAMES(plugin) plugin, plugin "Args", TYPE(plugin "Args")

static const struct args_kind kinds[] = {
    { NAMES("DefaultPreemption"), complete_default_preemption, validate_default_preemption, false,
      build_default_preemption },
    { NAMES("DynamicResources"), complete_dynamic_resources, validate_dynamic_resources, false,
      build_dynamic_resources },
    { NAMES("InterPodAffinity"), complete_inter_pod_affinity, validate_inter_pod_affinity, false,
      build_inter_pod_affinity },
    { NAMES("NodeAffinity"), NULL, validate_node_affinity, false, build_node_affinity },
    { NAMES("NodeResourcesBalancedAllocation"), complete_node_resources_balanced, validate_node_resources_balanced,
      false, build_node_resources_balanced },
    { NAMES("NodeResourcesFit"), complete_node_resources_fit, validate_node_resources_fit, true,
      build_node_resources_fit },
    { NAMES("PodTopologySpread"), complete_pod_topology_spread, validate_pod_topology_spread, false,
      build_pod_topology_spread },
    { NAMES("NodeLabel"), NULL, validate_in_plugin, true, build_node_label },
    { NAMES("NodeResourcesLeastAllocated"), complete_least_allocated, validate_in_plugin, true, build_least_allocated },
    { NAMES("NodeResourcesMostAllocated"), complete_most_allocated, validate_in_plugin, true, build_most_allocated },
    { NAMES("RequestedToCapacityRatio"), NULL, validate_in_plugin, true, build_capacity_ratio },
    { NAMES("ServiceAffinity"), NULL, validate_in_plugin, true, build_service_affinity },
    { NAMES("VolumeBinding"), complete_volume_binding, validate_volume_binding, false, build_volume_binding },
};

const struct args_kind *args_kind_of(struct str plugin)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_is(plugin, kinds[i].plugin))
            return &kinds[i];
    return NULL;
}

struct value args_empty(struct arena *a, const struct args_kind *kind)
{
    assert(kind);
    return value_struct(a, schema_type(str_of(kind->type)));
}
