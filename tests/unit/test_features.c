/* Feature gates: config/features.c. */
#include "config/features.h"
#include "tests/test.h"

static const struct {
    const char *name, *flags[3], *error; /* "": taken */
} cases[] = {
    { "nothing", { "" }, "" },
    { "one gate", { "StorageCapacityScoring=true" }, "" },
    { "blanks, commas and all words for true", { " GangScheduling = T ,, GenericWorkload=1," }, "" },
    { "with the component's name", { "kube:GenericWorkload=true", "kube: GangScheduling=true" }, "" },
    { "an unknown gate", { "Foo=true" }, "unrecognized feature gate: Foo" },
    { "a gate without a value", { "GangScheduling" }, "missing bool value for GangScheduling" },
    { "a value that is neither", { "GangScheduling=x" },
      "invalid value of GangScheduling=x, err: strconv.ParseBool: parsing \"x\": invalid syntax" },
    { "values are read before names", { "Foo=true,GangScheduling=x" },
      "invalid value of GangScheduling=x, err: strconv.ParseBool: parsing \"x\": invalid syntax" },
    { "a locked gate", { "SchedulerQueueingHints=false" },
      "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true" },
    { "a locked gate may be set to what it is", { "SchedulerQueueingHints=true" }, "" },
    { "two locked gates", { "SidecarContainers=F,DRAAdminAccess=f" },
      "[cannot set feature gate DRAAdminAccess to false, feature is locked to true, cannot set feature gate "
      "SidecarContainers to false, feature is locked to true]" },
    { "a gate that needs another", { "GangScheduling=true" },
      "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]" },
    { "needed by several", { "DRADeviceTaints=false,DRADeviceTaintRules=true,GangScheduling=true" },
      "[DRADeviceTaintRules is enabled, but depends on features that are disabled: [DRADeviceTaints], GangScheduling is "
      "enabled, but depends on features that are disabled: [GenericWorkload]]" },
    { "all at once but one", { "AllAlpha=true,GenericWorkload=false" },
      "[DRAWorkloadResourceClaims is enabled, but depends on features that are disabled: [GenericWorkload], "
      "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload], "
      "TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload], "
      "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]]" },
    { "another component", { "wardle:Foo=true" }, "component not registered: wardle" },
    { "with and without the component's name", { "kube:GangScheduling=true", "GenericWorkload=true" },
      "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use" },
    { "the last one counts", { "GangScheduling=true", "GangScheduling=false" }, "" },
};

TEST(flags)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct err e;
        struct gates g;
        struct str flags[3];
        size_t n = 0;
        arena_init(&a);
        err_init(&e, &a);
        gates_init(&g);
        for (; n < 3 && cases[i].flags[n]; n++)
            flags[n] = str_of(cases[i].flags[n]);
        CHECK_TEXT(cases[i].name, gates_set(&g, flags, n, &e) ? e.message : "", cases[i].error);
        arena_fini(&a);
    }
}

static struct gates set(const char *flag)
{
    struct arena a;
    struct err e;
    struct gates g;
    struct str text = str_of(flag);
    arena_init(&a);
    err_init(&e, &a);
    gates_init(&g);
    if (gates_set(&g, &text, 1, &e))
        FAIL("%s: %s", flag, e.message);
    arena_fini(&a);
    return g;
}

TEST(values)
{
    struct gates g = set("");
    CHECK(gate_on(&g, GATE_SchedulerQueueingHints) && gate_on(&g, GATE_NodeDeclaredFeatures));
    CHECK(!gate_on(&g, GATE_GangScheduling) && !gate_on(&g, GATE_SchedulerAsyncAPICalls));
    g = set("AllAlpha=true,StorageCapacityScoring=false");
    CHECK(gate_on(&g, GATE_GangScheduling) && gate_on(&g, GATE_AllAlpha));
    CHECK(!gate_on(&g, GATE_StorageCapacityScoring) && !gate_on(&g, GATE_SchedulerAsyncAPICalls));
    g = set("AllBeta=false,AllBeta=true");
    CHECK(gate_on(&g, GATE_SchedulerAsyncAPICalls));
    g = set("GenericWorkload=true,GangScheduling=true,GangScheduling=false");
    CHECK(!gate_on(&g, GATE_GangScheduling));
}

TEST(a_failure_changes_nothing)
{
    struct arena a;
    struct err e;
    struct gates g;
    struct str flag = STR("StorageCapacityScoring=true,SchedulerQueueingHints=false");
    arena_init(&a);
    err_init(&e, &a);
    gates_init(&g);
    CHECK(gates_set(&g, &flag, 1, &e));
    CHECK(!gate_on(&g, GATE_StorageCapacityScoring));
    arena_fini(&a);
}

TEST(gates_are_sorted_by_name)
{
    for (enum gate i = 1; i < N_GATES; i++)
        if (strcmp(gate_name(i - 1), gate_name(i)) >= 0)
            FAIL("%s before %s", gate_name(i - 1), gate_name(i));
    CHECK(!gate_name(N_GATES));
}

TEST(features_of_the_scheduler)
{
    struct gates g = set("TaintTolerationComparisonOperators=true,SchedulerAsyncPreemption=false");
    struct features f = gates_features(&g);
    CHECK(f.taint_toleration_comparison_operators && !f.async_preemption);
    CHECK(f.node_declared_features && f.pop_from_backoff_queue && f.nominated_node_name_for_expectation);
    CHECK(!f.storage_capacity_scoring && !f.gang_scheduling && !f.generic_workload && !f.topology_aware_workloads);
    CHECK(f.dra_filter_timeout && f.dra_device_binding_conditions && f.dra_resource_claim_device_status);
}

static struct gates at_version(unsigned minor)
{
    struct gates g;
    struct component_versions v = { { 1, minor }, { 1, minor > 33 ? minor - 1 : 33 } };
    gates_init_at(&g, &v);
    return g;
}

/* How many gates are there, on, and of each stage: as kube-scheduler v1.36.4 serves them as metrics. */
TEST(gates_of_older_versions)
{
    static const struct {
        unsigned minor, n_there, n_ga, n_beta, n_alpha, n_deprecated;
    } want[] = {
        { 33, 172, 26, 79, 56, 11 },
        { 34, 191, 51, 75, 53, 12 },
        { 35, 212, 58, 87, 54, 13 },
        { 36, 241, 76, 100, 49, 16 },
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        unsigned n[STAGE_DEPRECATED + 1] = { 0 };
        struct gates g = at_version(want[i].minor);
        for (enum gate k = 0; k < N_GATES; k++) {
            n[gate_stage(&g, k)]++;
            CHECK(gate_stage(&g, k) != STAGE_PREALPHA || !gate_on(&g, k));
        }
        CHECK_INT("there", N_GATES - n[STAGE_PREALPHA], want[i].n_there);
        CHECK_INT("GA", n[STAGE_GA], want[i].n_ga);
        CHECK_INT("beta", n[STAGE_BETA], want[i].n_beta);
        CHECK_INT("alpha", n[STAGE_ALPHA], want[i].n_alpha);
        CHECK_INT("deprecated", n[STAGE_DEPRECATED], want[i].n_deprecated);
    }
    struct gates g = at_version(33), h = at_version(34);
    CHECK(!gate_on(&g, GATE_DynamicResourceAllocation) && gate_on(&h, GATE_DynamicResourceAllocation));
    CHECK(!gate_on(&g, GATE_NodeDeclaredFeatures));
    CHECK_TEXT("stage", gate_stage_name(gate_stage(&g, GATE_DynamicResourceAllocation)), "BETA");
    CHECK_TEXT("stage", gate_stage_name(gate_stage(&h, GATE_DynamicResourceAllocation)), "");
    CHECK(!gate_stage_name(gate_stage(&g, GATE_NodeDeclaredFeatures)));
}

static const struct {
    const char *name;
    unsigned minor;
    const char *flag, *error; /* "": taken */
} version_cases[] = {
    { "not there yet", 33, "GangScheduling=true",
      "cannot set feature gate GangScheduling to true, feature is PreAlpha at emulated version 1.33, min compatibility "
      "version 1.33" },
    { "not there yet, off", 34, "GangScheduling=false",
      "cannot set feature gate GangScheduling to false, feature is PreAlpha at emulated version 1.34, min compatibility "
      "version 1.33" },
    { "not locked yet", 33, "SchedulerQueueingHints=false", "" },
    { "locked later", 36, "SchedulerQueueingHints=false",
      "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true" },
    { "all of a stage", 34, "AllAlpha=true", "" },
    { "all of a stage without what they need", 33, "AllAlpha=true,DRAAdminAccess=false,DRADeviceTaints=false,"
      "DRAPartitionableDevices=false,DRAPrioritizedList=false",
      "ResourceHealthStatus is enabled, but depends on features that are disabled: [DynamicResourceAllocation]" },
};

TEST(flags_of_older_versions)
{
    for (size_t i = 0; i < sizeof(version_cases) / sizeof(version_cases[0]); i++) {
        struct arena a;
        struct err e;
        struct str flag = str_of(version_cases[i].flag);
        struct gates g = at_version(version_cases[i].minor);
        arena_init(&a);
        err_init(&e, &a);
        CHECK_TEXT(version_cases[i].name, gates_set(&g, &flag, 1, &e) ? e.message : "", version_cases[i].error);
        for (enum gate k = 0; k < N_GATES; k++)
            CHECK(gate_stage(&g, k) != STAGE_PREALPHA || !gate_on(&g, k));
        arena_fini(&a);
    }
}

TEST(named_by_a_flag)
{
    struct gates g = set("AllBeta=true,SidecarContainers=true");
    CHECK(g.named[GATE_AllBeta] && g.named[GATE_SidecarContainers] && !g.named[GATE_SchedulerAsyncAPICalls]);
}
