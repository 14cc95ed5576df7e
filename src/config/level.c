/* config/level.c - see level.h. */
#include "config/level.h"

#include "base/str.h"
#include "plugins/plugins.h"

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

static const char *const mandatory_v1_20[] = { "PodToleratesNodeTaints", "CheckNodeUnschedulable", NULL };

const struct level levels[] = {
    { "v1.20", false, predicates_v1_20, priorities_v1_20, mandatory_v1_20, legacy_registry, &era_v1_20, true },
    { .name = NULL },
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
    static const struct level lenient = { "v1.20", true, predicates_v1_20, priorities_v1_20, mandatory_v1_20,
                                          legacy_registry, &era_v1_20, true };
    return &lenient;
}
