/* config/level.c - see level.h. */
#include "config/level.h"

#include "base/str.h"
#include "config/config.h"
#include "plugins/plugins.h"

/* ---- DefaultProvider by release. Nodes that cannot be used were left out before v1.8 already when nodes were listed; here
 * CheckNodeCondition does that at all levels up to v1.11 ---- */

static const char *const mandatory_v1_11[] = { "CheckNodeCondition", NULL };
static const char *const mandatory_v1_20[] = { "PodToleratesNodeTaints", "CheckNodeUnschedulable", NULL };

static const char *const predicates_v1_0[] = { "PodFitsPorts", "PodFitsResources", "NoDiskConflict", "MatchNodeSelector",
                                               "HostName", NULL };
static const struct level_priority priorities_v1_0[] = { { "LeastRequestedPriority", 1 },
                                                         { "BalancedResourceAllocation", 1 },
                                                         { "ServiceSpreadingPriority", 1 },
                                                         { NULL, 0 } };

static const char *const predicates_v1_3[] = { "NoDiskConflict", "NoVolumeZoneConflict", "MaxEBSVolumeCount",
                                               "MaxGCEPDVolumeCount", "GeneralPredicates", "PodToleratesNodeTaints",
                                               "CheckNodeMemoryPressure", NULL };
static const struct level_priority priorities_v1_3[] = { { "LeastRequestedPriority", 1 },
                                                         { "BalancedResourceAllocation", 1 },
                                                         { "SelectorSpreadPriority", 1 },
                                                         { "NodeAffinityPriority", 1 },
                                                         { "TaintTolerationPriority", 1 },
                                                         { NULL, 0 } };

static const char *const predicates_v1_11[] = {
    "NoVolumeZoneConflict", "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount",
    "MatchInterPodAffinity", "NoDiskConflict", "GeneralPredicates", "CheckNodeMemoryPressure", "CheckNodeDiskPressure",
    "CheckNodePIDPressure", "CheckNodeCondition", "PodToleratesNodeTaints", "CheckVolumeBinding", NULL,
};
static const struct level_priority priorities_v1_11[] = {
    { "SelectorSpreadPriority", 1 }, { "InterPodAffinityPriority", 1 }, { "LeastRequestedPriority", 1 },
    { "BalancedResourceAllocation", 1 }, { "NodePreferAvoidPodsPriority", 10000 }, { "NodeAffinityPriority", 1 },
    { "TaintTolerationPriority", 1 }, { NULL, 0 },
};

static const char *const predicates_v1_15[] = {
    "NoVolumeZoneConflict", "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred", "MatchInterPodAffinity", "NoDiskConflict", "GeneralPredicates", "PodToleratesNodeTaints",
    "CheckVolumeBinding", "CheckNodeUnschedulable", NULL,
};
static const struct level_priority priorities_v1_15[] = {
    { "SelectorSpreadPriority", 1 }, { "InterPodAffinityPriority", 1 }, { "LeastRequestedPriority", 1 },
    { "BalancedResourceAllocation", 1 }, { "NodePreferAvoidPodsPriority", 10000 }, { "NodeAffinityPriority", 1 },
    { "TaintTolerationPriority", 1 }, { "ImageLocalityPriority", 1 }, { NULL, 0 },
};

static const char *const predicates_v1_20[] = {
    "NoVolumeZoneConflict", "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred", "MatchInterPodAffinity", "NoDiskConflict", "GeneralPredicates", "PodToleratesNodeTaints",
    "CheckVolumeBinding", "CheckNodeUnschedulable", "EvenPodsSpread", NULL,
};
static const struct level_priority priorities_v1_20[] = {
    { "SelectorSpreadPriority", 1 }, { "InterPodAffinityPriority", 1 }, { "LeastRequestedPriority", 1 },
    { "BalancedResourceAllocation", 1 }, { "NodePreferAvoidPodsPriority", 10000 }, { "NodeAffinityPriority", 1 },
    { "TaintTolerationPriority", 1 }, { "ImageLocalityPriority", 1 }, { "EvenPodsSpreadPriority", 2 }, { NULL, 0 },
};

const struct level levels[] = {
    { .name = "v1.0", .lenient = true, .predicates = predicates_v1_0, .priorities = priorities_v1_0,
      .mandatory = mandatory_v1_11, .registry = legacy_registry, .era = &era_v1_0, .queue_sort = "FIFO",
      .max_backoff_s = 60 },
    { .name = "v1.3", .lenient = true, .predicates = predicates_v1_3, .priorities = priorities_v1_3,
      .mandatory = mandatory_v1_11, .registry = legacy_registry, .era = &era_v1_3, .queue_sort = "FIFO",
      .max_backoff_s = 60 },
    { .name = "v1.11", .lenient = true, .predicates = predicates_v1_11, .priorities = priorities_v1_11,
      .mandatory = mandatory_v1_11, .registry = legacy_registry, .era = &era_v1_11, .queue_sort = "PrioritySort",
      .preempts = true, .max_backoff_s = 10 },
    { .name = "v1.15", .lenient = true, .predicates = predicates_v1_15, .priorities = priorities_v1_15,
      .mandatory = mandatory_v1_20, .registry = legacy_registry, .era = &era_v1_15, .queue_sort = "PrioritySort",
      .preempts = true, .max_backoff_s = 10 },
    { .name = "v1.20", .lenient = false, .predicates = predicates_v1_20, .priorities = priorities_v1_20,
      .mandatory = mandatory_v1_20, .registry = legacy_registry, .era = &era_v1_20, .queue_sort = "PrioritySort",
      .preempts = true, .max_backoff_s = 10, .has_default_spread = true, .provider_as_plugins = true },
    { .name = NULL },
};

static const struct level for_policies = {
    .name = "v1.20", .lenient = true, .predicates = predicates_v1_20, .priorities = priorities_v1_20,
    .mandatory = mandatory_v1_20, .registry = legacy_registry, .era = &era_v1_20, .queue_sort = "PrioritySort",
    .preempts = true, .max_backoff_s = 10, .has_default_spread = true, .provider_as_plugins = true,
};

const struct level *level_find(struct str name)
{
    for (const struct level *l = levels; l->name; l++)
        if (str_is(name, l->name))
            return l;
    return NULL;
}

const struct level *level_for_policies(void)
{
    return &for_policies;
}

void level_apply(const struct level *level, struct config *c)
{
    c->era = level->era;
    c->registry = level->registry;
    c->pod_max_backoff_s = level->max_backoff_s;
}
