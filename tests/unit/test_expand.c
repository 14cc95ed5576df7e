/* From profiles to plugins at points: config/expand.c. */
#include "config/expand.h"
#include "config/features.h"
#include "config/points.h"
#include "sched/args.h"
#include "tests/dummy_plugins.h"
#include "tests/test.h"

#define HEADER "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static struct features default_features(void)
{
    struct gates g;
    gates_init(&g);
    return gates_features(&g);
}

/* Everything that one configuration needs while it is looked at. */
struct world {
    struct arena arena;
    struct sym_table syms;
    struct features features;
    struct config *config;
    struct profile **profiles;
    struct err e;
};

/* Loads and builds; the message of what failed, or "". */
static const char *open_world(struct world *w, const char *body)
{
    arena_init(&w->arena);
    sym_init(&w->syms);
    err_init(&w->e, &w->arena);
    w->features = default_features();
    struct expand_options options = { dummy_registry, &w->syms, &w->features };
    const char *text = arena_printf(&w->arena, HEADER "%s", body);
    bool failed = config_load(&w->arena, str_of(text), &w->features, &w->config, &w->e) ||
                  config_validate(w->config, &w->features, &w->e) ||
                  config_apply_extenders(&w->arena, w->config, &w->e) ||
                  profiles_build(&w->arena, w->config, &options, &w->profiles, &w->e);
    return failed ? w->e.message : "";
}

static void close_world(struct world *w, bool built)
{
    if (built)
        profiles_fini(w->profiles, w->config->n_profiles, &w->syms);
    CHECK_INT("instances left", dummy_n_live, 0);
    CHECK_INT("names left", sym_n_live(&w->syms), 1); /* the empty one is permanent */
    sym_fini(&w->syms);
    arena_fini(&w->arena);
}

/* "A B(3)": names at a point, with weights where there are some. */
static const char *point_text(struct world *w, size_t profile, enum extension_point point)
{
    const struct profile *p = w->profiles[profile];
    const int64_t *weights = point == POINT_SCORE ? p->weights : NULL;
    const char *text = "";
    for (uint8_t i = 0; i < p->points[point].n; i++) {
        const char *name = p->points[point].at[i]->plugin->name;
        text = arena_printf(&w->arena, "%s%s%s", text, i ? " " : "", name);
        if (weights)
            text = arena_printf(&w->arena, "%s(%lld)", text, (long long)weights[i]);
    }
    return text;
}

#define DEFAULT_PRE_FILTER                                                                              \
    "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone " \
    "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures"

TEST(default_plugins_at_all_points)
{
    static const char *const want[N_POINTS] = {
        [POINT_PRE_ENQUEUE] = "SchedulingGates DynamicResources DefaultPreemption",
        [POINT_QUEUE_SORT] = "PrioritySort",
        [POINT_PRE_FILTER] = DEFAULT_PRE_FILTER,
        [POINT_FILTER] = "NodeUnschedulable NodeName TaintToleration " DEFAULT_PRE_FILTER,
        [POINT_POST_FILTER] = "DynamicResources DefaultPreemption",
        [POINT_PRE_SCORE] = "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
                            "InterPodAffinity NodeResourcesBalancedAllocation",
        [POINT_SCORE] = "TaintToleration(3) NodeAffinity(2) NodeResourcesFit(1) VolumeBinding(1) "
                        "PodTopologySpread(2) InterPodAffinity(2) DynamicResources(2) "
                        "NodeResourcesBalancedAllocation(1) ImageLocality(1)",
        [POINT_RESERVE] = "VolumeBinding DynamicResources",
        [POINT_PERMIT] = "",
        [POINT_PRE_BIND] = "VolumeBinding DynamicResources",
        [POINT_BIND] = "DefaultBinder",
        [POINT_POST_BIND] = "",
        [POINT_PLACEMENT_GENERATE] = "",
        [POINT_PLACEMENT_SCORE] = "NodeResourcesFit",
    };
    struct world w;
    CHECK_TEXT("built", open_world(&w, ""), "");
    CHECK_TEXT("name", w.profiles[0]->scheduler_name, "default-scheduler");
    CHECK_INT("percentage", w.profiles[0]->percentage_of_nodes_to_score, -1);
    for (unsigned i = 0; i < N_POINTS; i++)
        CHECK_TEXT(point_names[i].json, point_text(&w, 0, i), want[i]);
    close_world(&w, true);
}

static const struct {
    const char *name, *body;
    enum extension_point point;
    const char *want;
} expansions[] = {
#define WORKED_EXAMPLE                                                                                   \
    "profiles: [{plugins: {multiPoint: {disabled: [{name: NodePorts}, {name: ImageLocality}], "          \
    "enabled: [{name: NodeResourcesFit, weight: 7}]}, score: {disabled: [{name: NodeAffinity}], "        \
    "enabled: [{name: InterPodAffinity, weight: 9}, {name: TaintToleration}]}, filter: {enabled: "       \
    "[{name: NodePorts}]}}}]"
    { "own plugins go first, without a weight it is 1", WORKED_EXAMPLE, POINT_SCORE,
      "InterPodAffinity(9) TaintToleration(1) NodeResourcesFit(7) VolumeBinding(1) PodTopologySpread(2) "
      "DynamicResources(2) NodeResourcesBalancedAllocation(1)" },
    { "a plugin that multiPoint lacks goes last", WORKED_EXAMPLE, POINT_FILTER,
      "NodeUnschedulable NodeName TaintToleration NodeAffinity NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
      "VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures NodePorts" },
    { "disabled in multiPoint is disabled everywhere", WORKED_EXAMPLE, POINT_PRE_FILTER,
      "NodeAffinity NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
      "InterPodAffinity DynamicResources NodeDeclaredFeatures" },
    { "a star leaves only the point's own", "profiles: [{plugins: {score: {disabled: [{name: '*'}], enabled: "
                                            "[{name: NodeResourcesFit, weight: 2}, {name: ImageLocality}]}}}]",
      POINT_SCORE, "NodeResourcesFit(2) ImageLocality(1)" },
    { "a star at one point leaves the others", "profiles: [{plugins: {score: {disabled: [{name: '*'}]}}}]",
      POINT_POST_FILTER, "DynamicResources DefaultPreemption" },
    { "disabled and enabled again moves to the end",
      "profiles: [{plugins: {multiPoint: {disabled: [{name: TaintToleration}], enabled: [{name: TaintToleration, "
      "weight: 5}]}}}]",
      POINT_SCORE,
      "NodeAffinity(2) NodeResourcesFit(1) VolumeBinding(1) PodTopologySpread(2) InterPodAffinity(2) "
      "DynamicResources(2) NodeResourcesBalancedAllocation(1) ImageLocality(1) TaintToleration(5)" },
};

TEST(expansion_of_multi_point)
{
    for (size_t i = 0; i < sizeof(expansions) / sizeof(expansions[0]); i++) {
        struct world w;
        CHECK_TEXT(expansions[i].name, open_world(&w, expansions[i].body), "");
        CHECK_TEXT(expansions[i].name, point_text(&w, 0, expansions[i].point), expansions[i].want);
        close_world(&w, true);
    }
}

static const struct {
    const char *name, *body, *error;
} refusals[] = {
    { "a plugin that nobody has",
      "profiles: [{plugins: {filter: {enabled: [{name: Foo}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "FilterPlugin \"Foo\" does not exist" },
    { "the same through multiPoint",
      "profiles: [{plugins: {multiPoint: {enabled: [{name: Foo}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "PreFilterPlugin \"Foo\" does not exist" },
    { "a plugin at a point that it does not have",
      "profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: plugin "
      "\"ImageLocality\" does not extend FilterPlugin plugin" },
    { "a plugin twice at a point",
      "profiles: [{plugins: {filter: {enabled: [{name: NodePorts},{name: NodePorts}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: plugin "
      "\"NodePorts\" already registered as \"FilterPlugin\"" },
    { "a plugin twice in multiPoint",
      "profiles: [{plugins: {multiPoint: {enabled: [{name: NodePorts},{name: "
      "NodePorts}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: plugin "
      "\"NodePorts\" already registered as \"PreFilterPlugin\"" },
    { "no plugins at all",
      "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: only "
      "one queue sort plugin required for profile with scheduler name \"default-scheduler\", "
      "but got 0" },
    { "nothing that binds",
      "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: at "
      "least one bind plugin is needed for profile with scheduler name \"default-scheduler\"" },
    { "a fault in the second profile",
      "profiles: [{schedulerName: a, plugins: {queueSort: {disabled: [{name: '*'}], enabled: "
      "[{name: PrioritySort}]}}},{schedulerName: b, plugins: {multiPoint: {disabled: [{name: "
      "PrioritySort}]}, queueSort: {disabled: [{name: '*'}], enabled: [{name: "
      "PrioritySort}]}, filter: {enabled: [{name: DefaultBinder}]}}}]\n",
      "initializing profiles: creating profile for scheduler name b: plugin "
      "\"DefaultBinder\" does not extend FilterPlugin plugin" },
    { "resources of an extender without the plugin that would ignore them",
      "extenders: [{managedResources: [{name: a.com/b, ignoredByScheduler: true}]}]\n"
      "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]\n",
      "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config" },
    /* NodeResourcesFit is checked here, not with the rest of the configuration. */
    { "a strategy has a type",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {}}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": scoringStrategy.type: Unsupported value: "
      "\"\": supported values: \"LeastAllocated\", \"MostAllocated\", "
      "\"RequestedToCapacityRatio\"" },
    { "names of ignored resources",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: ['a b'], "
      "ignoredResourceGroups: ['x/y', 'a b']}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": [ignoredResources[0]: Invalid value: \"a "
      "b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must "
      "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
      "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
      "ignoredResourceGroups[0]: Invalid value: \"x/y\": resource group name can't contain "
      "'/', ignoredResourceGroups[1]: Invalid value: \"a b\": name part must consist of "
      "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
      "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]" },
    { "weights of resources",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
      "MostAllocated, resources: [{name: a, weight: 101},{name: b, weight: -1}]}}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": [scoringStrategy.resources[0].weight: "
      "Invalid value: 101: resource weight of a not in valid range (0, 100], "
      "scoringStrategy.resources[1].weight: Invalid value: -1: resource weight of b not in "
      "valid range (0, 100]]" },
    { "a shape without its strategy",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
      "LeastAllocated, requestedToCapacityRatio: {}}}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": scoringStrategy.requestedToCapacityRatio: "
      "Forbidden: must be nil when type is not RequestedToCapacityRatio" },
    { "the strategy without its shape",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
      "RequestedToCapacityRatio}}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": scoringStrategy.requestedToCapacityRatio: "
      "Required value: must be specified when type is RequestedToCapacityRatio" },
    { "a shape without points",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
      "RequestedToCapacityRatio, requestedToCapacityRatio: {}}}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": "
      "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point "
      "must be specified" },
    { "points ascend and keep to their ranges",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
      "RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: -1, score: "
      "11},{utilization: 50, score: -1},{utilization: 50, score: 3},{utilization: 40, score: "
      "3},{utilization: 101, score: 3}]}}}}]}]\n",
      "initializing profiles: creating profile for scheduler name default-scheduler: "
      "initializing plugin \"NodeResourcesFit\": "
      "[scoringStrategy.requestedToCapacityRatio.shape[2].utilization: Invalid value: 50: "
      "values must be sorted in increasing order, "
      "scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: -1: not "
      "in valid range [0, 100], scoringStrategy.requestedToCapacityRatio.shape[0].score: "
      "Invalid value: 11: not in valid range [0, 10], "
      "scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: -1: not in "
      "valid range [0, 10], scoringStrategy.requestedToCapacityRatio.shape[4].utilization: "
      "Invalid value: 101: not in valid range [0, 100]]" },
};

TEST(refusals_of_profiles)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct world w;
        CHECK_TEXT(refusals[i].name, open_world(&w, refusals[i].body), refusals[i].error);
        close_world(&w, false);
    }
}

/* Validation asks for one queue order before plugins are known; what they turn out to do is checked again. */
TEST(all_profiles_sort_alike)
{
    struct plugin other = { .name = "OtherSort", .less = dummy_registry[1]->less };
    const struct plugin *registry[64] = { &other };
    for (size_t i = 0; dummy_registry[i]; i++)
        registry[i + 1] = dummy_registry[i];
    struct arena a;
    struct sym_table syms;
    struct err e;
    struct config *c;
    struct profile **profiles;
    struct features f = default_features();
    arena_init(&a);
    sym_init(&syms);
    err_init(&e, &a);
    struct expand_options options = { registry, &syms, &f };
    const char *text = HEADER "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {multiPoint: {disabled: "
                              "[{name: PrioritySort}], enabled: [{name: OtherSort}]}}}]";
    CHECK(!config_load(&a, str_of(text), &f, &c, &e));
    CHECK_INT("refused", profiles_build(&a, c, &options, &profiles, &e), ERR_INVALID);
    CHECK_TEXT("two orders", e.message,
               "initializing profiles: different queue sort plugins for profile \"b\": \"OtherSort\", first: "
               "\"PrioritySort\"");
    CHECK_INT("instances left", dummy_n_live, 0);
    sym_fini(&syms);
    arena_fini(&a);
}

static const void *args_of(struct world *w, const char *plugin)
{
    const struct profile *p = w->profiles[0];
    for (uint8_t i = 0; i < p->n_instances; i++)
        if (strcmp(p->instances[i].plugin->name, plugin) == 0)
            return dummy_args(&p->instances[i]);
    FAIL("%s is not there", plugin);
}

TEST(profiles_are_bounded)
{
    for (int n = PROFILES_MAX; n <= PROFILES_MAX + 1; n++) {
        struct world w;
        struct strbuf body;
        strbuf_init(&body, STRBUF_NO_MAX);
        STRBUF_ADD_LIT(&body, "profiles:\n");
        for (int i = 0; i < n; i++)
            strbuf_printf(&body, "- schedulerName: s%d\n", i);
        bool fits = n == PROFILES_MAX;
        CHECK_TEXT("profiles", open_world(&w, strbuf_cstr(&body)),
                   fits ? "" : "there are 256 profiles, and at most 255 can be run");
        close_world(&w, fits);
        strbuf_fini(&body);
    }
}

TEST(plugins_receive_default_arguments)
{
    struct world w;
    CHECK_TEXT("built", open_world(&w, ""), "");
    const struct default_preemption_args *preemption = args_of(&w, "DefaultPreemption");
    CHECK_INT("preemption", preemption->min_candidate_nodes_percentage, 10);
    CHECK_INT("preemption", preemption->min_candidate_nodes_absolute, 100);
    const struct dynamic_resources_args *claims = args_of(&w, "DynamicResources");
    CHECK_INT("claims", claims->filter_timeout_ns, 10000000000);
    CHECK_INT("claims", claims->binding_timeout_ns, 600000000000);
    const struct inter_pod_affinity_args *affinity = args_of(&w, "InterPodAffinity");
    CHECK_INT("affinity", affinity->hard_pod_affinity_weight, 1);
    CHECK_INT("affinity", affinity->ignore_preferred_terms_of_existing_pods, false);
    const struct node_affinity_args *nodes = args_of(&w, "NodeAffinity");
    CHECK_STR("nothing added", nodes->added_affinity, STR(""));
    const struct node_resources_balanced_args *balanced = args_of(&w, "NodeResourcesBalancedAllocation");
    CHECK_INT("balanced", balanced->n_resources, 2);
    CHECK_TEXT("balanced", balanced->resources[0].name, "cpu");
    const struct node_resources_fit_args *fit = args_of(&w, "NodeResourcesFit");
    CHECK_INT("fit", fit->strategy.type, SCORING_LEAST_ALLOCATED);
    CHECK_INT("fit", fit->strategy.n_resources, 2);
    CHECK_TEXT("fit", fit->strategy.resources[1].name, "memory");
    CHECK_INT("fit", fit->strategy.resources[1].weight, 1);
    CHECK_INT("fit", fit->n_ignored_resources + fit->n_ignored_groups + fit->strategy.n_shape, 0);
    const struct pod_topology_spread_args *spread = args_of(&w, "PodTopologySpread");
    CHECK(spread->system_defaulting);
    CHECK_INT("spread", spread->n_constraints, 0);
    const struct volume_binding_args *volumes = args_of(&w, "VolumeBinding");
    CHECK_INT("volumes", volumes->bind_timeout_s, 600);
    CHECK_INT("volumes", volumes->n_shape, 0);
    CHECK(!args_of(&w, "NodePorts"));
    close_world(&w, true);
}

TEST(plugins_receive_given_arguments)
{
    static const char body[] =
        "profiles:\n"
        "- percentageOfNodesToScore: 40\n"
        "  pluginConfig:\n"
        "  - name: NodeResourcesFit\n"
        "    args:\n"
        "      ignoredResources: [a.com/b]\n"
        "      ignoredResourceGroups: [c.com]\n"
        "      scoringStrategy:\n"
        "        type: RequestedToCapacityRatio\n"
        "        resources: [{name: gpu, weight: 5}, {name: cpu}]\n"
        "        requestedToCapacityRatio: {shape: [{utilization: 10, score: 0}, {utilization: 90, score: 10}]}\n"
        "  - name: NodeAffinity\n"
        "    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: a, operator: Exists}]}]}}}\n"
        "  - name: PodTopologySpread\n"
        "    args: {defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: "
        "ScheduleAnyway}, {maxSkew: 1, topologyKey: host, whenUnsatisfiable: DoNotSchedule, minDomains: 3, "
        "nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, matchLabelKeys: [k]}]}\n"
        "  - name: ImageLocality\n"
        "    args: {any: [thing]}\n";
    struct world w;
    CHECK_TEXT("built", open_world(&w, body), "");
    CHECK_INT("percentage", w.profiles[0]->percentage_of_nodes_to_score, 40);
    const struct node_resources_fit_args *fit = args_of(&w, "NodeResourcesFit");
    CHECK_TEXT("ignored resource", fit->ignored_resources[0], "a.com/b");
    CHECK_TEXT("ignored group", fit->ignored_groups[0], "c.com");
    CHECK_INT("strategy", fit->strategy.type, SCORING_REQUESTED_TO_CAPACITY_RATIO);
    CHECK_INT("weight", fit->strategy.resources[0].weight, 5);
    CHECK_INT("no weight", fit->strategy.resources[1].weight, 1);
    CHECK_INT("points", fit->strategy.n_shape, 2);
    CHECK_INT("point", fit->strategy.shape[1].utilization, 90);
    CHECK_INT("point", fit->strategy.shape[1].score, 10);
    const struct node_affinity_args *nodes = args_of(&w, "NodeAffinity");
    CHECK_STR("added", nodes->added_affinity,
              STR("{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":"
                  "[{\"key\":\"a\",\"operator\":\"Exists\"}]}]}}"));
    const struct pod_topology_spread_args *spread = args_of(&w, "PodTopologySpread");
    CHECK(!spread->system_defaulting);
    CHECK_INT("constraints", spread->n_constraints, 2);
    CHECK(spread->constraints[0].soft && !spread->constraints[1].soft);
    CHECK_TEXT("key", spread->constraints[0].topology_key, "zone");
    CHECK_INT("skew", spread->constraints[0].max_skew, 2);
    CHECK_INT("domains", spread->constraints[0].min_domains, 1);
    CHECK(!spread->constraints[0].ignore_affinity && !spread->constraints[0].honor_taints);
    CHECK(spread->constraints[1].ignore_affinity && spread->constraints[1].honor_taints);
    CHECK_INT("domains", spread->constraints[1].min_domains, 3);
    CHECK_TEXT("label", spread->constraints[1].match_label_keys[0], "k");
    CHECK_TEXT("without a kind they stay JSON", args_of(&w, "ImageLocality"), "{\"any\":[\"thing\"]}");
    close_world(&w, true);
}

TEST(extenders_say_what_fit_ignores)
{
    struct world w;
    CHECK_TEXT("built",
               open_world(&w, "extenders: [{managedResources: [{name: a.com/b, ignoredByScheduler: true}, {name: "
                              "a.com/c}]}]\n"
                              "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [x.com/y]}}]}]"),
               "");
    const struct node_resources_fit_args *fit = args_of(&w, "NodeResourcesFit");
    CHECK_INT("in place of its own", fit->n_ignored_resources, 1);
    CHECK_TEXT("name", fit->ignored_resources[0], "a.com/b");
    close_world(&w, true);
}
