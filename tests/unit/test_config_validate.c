/* What config/validate.c and config/validate_args.c refuse, in upstream's words. */
#include "config/config.h"
#include "config/features.h"
#include "tests/test.h"

#define HEADER "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static struct features default_features(void)
{
    struct gates g;
    gates_init(&g);
    return gates_features(&g);
}

static const struct {
    const char *name, *body, *error; /* "": valid */
} cases[] = {
    { "nothing is wrong with nothing",
      "",
      "" },
    { "burst is not negative",
      "clientConnection: {burst: -1}\n",
      "clientConnection.burst: Invalid value: -1: must be non-negative" },
    { "times of leader election are positive",
      "leaderElection: {leaseDuration: -1s, renewDeadline: -2s, retryPeriod: -3s}\n",
      "[leaderElection.leaseDuration: Invalid value: \"-1s\": must be greater than zero, "
      "leaderElection.renewDeadline: Invalid value: \"-2s\": must be greater than zero, "
      "leaderElection.retryPeriod: Invalid value: \"-3s\": must be greater than zero]" },
    { "a lease lasts longer than its renewal may take",
      "leaderElection: {leaseDuration: 1.5s, renewDeadline: 90m}\n",
      "leaderElection.leaseDuration: Invalid value: \"1h30m0s\": must be greater than "
      "`RenewDeadline`" },
    { "the lock is a lease",
      "leaderElection: {resourceLock: endpoints}\n",
      "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
      "\"leases\"" },
    { "nobody asks about leader election that is off",
      "leaderElection: {leaderElect: false, resourceLock: endpoints, leaseDuration: -1s}\n",
      "" },
    { "several errors stand in a row",
      "parallelism: 0\nclientConnection: {burst: -1}\n",
      "[clientConnection.burst: Invalid value: -1: must be non-negative, parallelism: "
      "Invalid value: 0: should be an integer value greater than zero]" },
    { "a profile has a name",
      "profiles: [{schedulerName: ''}]\n",
      "profiles[0].schedulerName: Required value" },
    { "two profiles have two names",
      "profiles: [{},{}]\n",
      "[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required "
      "value, profiles[1].schedulerName: Duplicate value: {}]" },
    { "a name repeats",
      "profiles: [{schedulerName: a},{schedulerName: a}]\n",
      "profiles[1].schedulerName: Duplicate value: {}" },
    { "percentages end at 100",
      "percentageOfNodesToScore: 101\nprofiles: [{percentageOfNodesToScore: -1}]\n",
      "[profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], "
      "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]]" },
    { "a plugin was removed",
      "profiles: [{plugins: {multiPoint: {enabled: [{name: EBSLimits}]}, filter: {enabled: "
      "[{name: x},{name: EBSLimits}]}}}]\n",
      "profiles[0].plugins.filter.enabled[1]: Invalid value: \"EBSLimits\": was invalid in "
      "version \"v1\" (KubeSchedulerConfiguration is version "
      "\"kubescheduler.config.k8s.io/v1\")" },
    { "arguments of a removed plugin, and some given twice",
      "profiles: [{pluginConfig: [{name: Foo},{name: Foo},{name: CinderLimits}]}]\n",
      "[profiles[0].pluginConfig[1]: Duplicate value: \"Foo\", profiles[0].pluginConfig[2]: "
      "Invalid value: \"CinderLimits\": was invalid in version \"v1\" "
      "(KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")]" },
    { "one queue has one order",
      "profiles: [{plugins: {queueSort: {enabled: [{name: A},{name: B}]}}}]\n",
      "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin "
      "can be enabled" },
    { "profiles sort alike",
      "profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: "
      "A}]}}},{schedulerName: b, plugins: {queueSort: {enabled: [{name: B, weight: 3}], "
      "disabled: [{name: '*'}]}}}, {schedulerName: c}]\n",
      "[profiles[1].plugins.queueSort: Invalid value: "
      "{\"Enabled\":[{\"Name\":\"B\",\"Weight\":3}],\"Disabled\":[{\"Name\":\"*\",\"Weight\":0}]}: "
      "must be the same for all profiles, profiles[2].plugins.queueSort: Invalid value: "
      "{\"Enabled\":null,\"Disabled\":null}: must be the same for all profiles]" },
    { "profiles sort with the same arguments",
      "profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: A}]}}, "
      "pluginConfig: [{name: A, args: {x: 1}}]},{schedulerName: b, plugins: {queueSort: "
      "{enabled: [{name: A}]}}, pluginConfig: [{name: A, args: {z: 2}}]}]\n",
      "profiles[1].pluginConfig.args: Invalid value: {\"z\":2}: queueSort must be the same "
      "for all profiles" },
    { "pods back off for a while",
      "podInitialBackoffSeconds: 0\npodMaxBackoffSeconds: -1\n",
      "[podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, "
      "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
      "PodInitialBackoffSeconds]" },
    { "an extender that scores has a weight",
      "extenders: [{prioritizeVerb: x}]\n",
      "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it" },
    { "managed resources are extended ones",
      "extenders: [{managedResources: [{name: foo},{name: 'a.com/b'},{name: "
      "kubernetes.io/x},{name: requests.foo.com/x}]}]\n",
      "[extenders[0].managedResources[0].name: Invalid value: \"foo\": is an invalid "
      "extended resource name, extenders[0].managedResources[2].name: Invalid value: "
      "\"kubernetes.io/x\": is an invalid extended resource name, "
      "extenders[0].managedResources[3].name: Invalid value: \"requests.foo.com/x\": is an "
      "invalid extended resource name]" },
    { "managed resources have names",
      "extenders: [{managedResources: [{name: ''},{name: 'a b'}]}]\n",
      "[extenders[0].managedResources[0].name: Invalid value: \"\": name part must be "
      "non-empty, extenders[0].managedResources[0].name: Invalid value: \"\": name part must "
      "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
      "extenders[0].managedResources[1].name: Invalid value: \"a b\": name part must consist "
      "of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]" },
    { "a resource has one manager",
      "extenders: [{managedResources: [{name: a.com/b}]},{managedResources: [{name: "
      "a.com/b}]}]\n",
      "extenders[1].managedResources[0].name: Invalid value: \"a.com/b\": duplicate extender "
      "managed resource name" },
    { "one extender binds",
      "extenders: [{bindVerb: b},{bindVerb: c}]\n",
      "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender "
      "can implement bind" },
    { "preemption looks at a share of nodes",
      "profiles: [{pluginConfig: [{name: DefaultPreemption, args: "
      "{minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}}]}]\n",
      "[profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: 101: "
      "not in valid range [0, 100], "
      "profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute: Invalid value: -1: not in "
      "valid range [0, inf)]" },
    { "preemption looks at some node",
      "profiles: [{pluginConfig: [{name: DefaultPreemption, args: "
      "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}}]}]\n",
      "[profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: 0: "
      "cannot be zero at the same time as minCandidateNodesAbsolute, "
      "profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute: Invalid value: 0: cannot "
      "be zero at the same time as minCandidateNodesPercentage]" },
    { "the hard affinity weight ends at 100",
      "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: "
      "101}}]}]\n",
      "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in "
      "valid range [0, 100]" },
    { "an unknown way to default constraints",
      "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: Foo}}]}]\n",
      "profiles[0].pluginConfig[0].args.defaultingType: Unsupported value: \"Foo\": "
      "supported values: \"System\", \"List\"" },
    { "constraints need the type List",
      "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
      "[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}}]}]\n",
      "profiles[0].pluginConfig[0].args.defaultingType: Invalid value: \"System\": when "
      ".defaultConstraints are not empty" },
    { "a constraint without anything",
      "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, "
      "defaultConstraints: [{}]}}]}]\n",
      "[profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: 0: "
      "not in valid range (0, inf), "
      "profiles[0].pluginConfig[0].args.defaultConstraints[0].topologyKey: Required value: "
      "can not be empty, "
      "profiles[0].pluginConfig[0].args.defaultConstraints[0].whenUnsatisfiable: Required "
      "value: can not be empty]" },
    { "a constraint with everything wrong",
      "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, "
      "defaultConstraints: [{maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: Foo, "
      "labelSelector: {}}]}}]}]\n",
      "[profiles[0].pluginConfig[0].args.defaultConstraints[0].topologyKey: Invalid value: "
      "\"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must "
      "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
      "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
      "profiles[0].pluginConfig[0].args.defaultConstraints[0].whenUnsatisfiable: Unsupported "
      "value: \"Foo\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\", "
      "profiles[0].pluginConfig[0].args.defaultConstraints[0].labelSelector: Forbidden: "
      "constraint must not define a selector, as they deduced for each pod]" },
    { "a constraint repeats",
      "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, "
      "defaultConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: "
      "DoNotSchedule},{maxSkew: 2, topologyKey: k, whenUnsatisfiable: DoNotSchedule}]}}]}]\n",
      "profiles[0].pluginConfig[0].args.defaultConstraints[1]: Duplicate value: \"{k, "
      "DoNotSchedule}\"" },
    { "balance weighs nothing and counts once",
      "profiles: [{pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: "
      "[{name: cpu, weight: 1},{name: cpu, weight: 2}]}}]}]\n",
      "[profiles[0].pluginConfig[0].args.resources[1].name: Duplicate value: \"cpu\", "
      "profiles[0].pluginConfig[0].args.resources[1].weight: Invalid value: 2: must be 1]" },
    { "terms of the added affinity",
      "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
      "[{matchExpressions: [{key: a, operator: Bad}]},{matchFields: [{key: x, operator: Gt, "
      "values: []}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
      "preference: {matchExpressions: [{key: a, operator: Bad}]}},{weight: 0, preference: "
      "{matchExpressions: [{key: a, operator: Bad}]}}]}}}]}]\n",
      "[profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: "
      "Unsupported value: \"Bad\": supported values: \"In\", \"NotIn\", \"Exists\", "
      "\"DoesNotExist\", \"Gt\", \"Lt\", "
      "profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchFields[0].operator: "
      "Unsupported value: \"Gt\": supported values: \"In\", \"NotIn\", "
      "profiles[0].pluginConfig[0].args.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0].operator: "
      "Unsupported value: \"Bad\": supported values: \"In\", \"NotIn\", \"Exists\", "
      "\"DoesNotExist\", \"Gt\", \"Lt\"]" },
    { "a shape needs its gate",
      "profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: -1, "
      "shape: [{utilization: 0, score: 1}]}}]}]\n",
      "[profiles[0].pluginConfig[0].args.bindTimeoutSeconds: Invalid value: -1: invalid "
      "BindTimeoutSeconds, should not be a negative value, "
      "profiles[0].pluginConfig[0].args.shape: Invalid value: "
      "[{\"Utilization\":0,\"Score\":1}]: unexpected field `shape`, remove it or turn on the "
      "feature gate StorageCapacityScoring]" },
    { "also an empty shape needs it",
      "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: []}}]}]\n",
      "profiles[0].pluginConfig[0].args.shape: Invalid value: []: unexpected field `shape`, "
      "remove it or turn on the feature gate StorageCapacityScoring" },
    { "claims have their time",
      "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: -1s, "
      "bindingTimeout: 500ms}}]}]\n",
      "[profiles[0].pluginConfig[0].args.filterTimeout: Invalid value: \"-1s\": must be zero "
      "or positive, profiles[0].pluginConfig[0].args.bindingTimeout: Invalid value: "
      "\"500ms\": must be at least 1 second]" },
    { "fit is not looked at yet",
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {}}}]}]\n",
      "" },
};

/* The message of config_validate, "" when it has none. */
static const char *validate(struct arena *a, const char *body, const struct features *f)
{
    struct err e;
    struct config *c;
    err_init(&e, a);
    const char *text = arena_printf(a, HEADER "%s", body);
    if (config_load(a, str_of(text), f, &c, &e))
        FAIL("%s: %s", body, e.message);
    return config_validate(c, f, &e) ? e.message : "";
}

TEST(refusals_of_a_configuration)
{
    struct features f = default_features();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        arena_init(&a);
        CHECK_TEXT(cases[i].name, validate(&a, cases[i].body, &f), cases[i].error);
        arena_fini(&a);
    }
}

TEST(gates_allow_and_forbid_arguments)
{
    struct features f = default_features();
    struct arena a;
    arena_init(&a);
    const char *shape = "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 5, score: 11}]}}]}]";
    const char *timeouts = "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: 1s, "
                           "bindingTimeout: 2s}}]}]";
    f.storage_capacity_scoring = true;
    CHECK_TEXT("a shape with its gate", validate(&a, shape, &f),
               "profiles[0].pluginConfig[0].args.shape[0].score: Invalid value: 11: not in valid range [0, 10]");
    CHECK_TEXT("no shape with its gate", validate(&a, "", &f), "");
    f.dra_filter_timeout = f.dra_device_binding_conditions = false;
    CHECK_TEXT("timeouts without their gates", validate(&a, timeouts, &f),
               "[profiles[0].pluginConfig[0].args.filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is "
               "disabled, profiles[0].pluginConfig[0].args.bindingTimeout: Forbidden: DRADeviceBindingConditions or "
               "DRAResourceClaimDeviceStatus feature gate is disabled]");
    CHECK_TEXT("no timeouts without their gates", validate(&a, "", &f), "");
    arena_fini(&a);
}
