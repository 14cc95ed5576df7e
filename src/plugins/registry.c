/* plugins/registry.c - the list of built-in plugins; see plugins.h. */
#include "plugins/plugins.h"

const struct plugin *const plugin_registry[] = {
    &schedulinggates_plugin,
    &prioritysort_plugin,
    &nodeunschedulable_plugin,
    &nodename_plugin,
    &tainttoleration_plugin,
    &nodeaffinity_plugin,
    &nodeports_plugin,
    &noderesourcesfit_plugin,
    &volumerestrictions_plugin,
    &nodevolumelimits_plugin,
    &volumebinding_plugin,
    &volumezone_plugin,
    &podtopologyspread_plugin,
    &interpodaffinity_plugin,
    &dynamicresources_plugin,
    &defaultpreemption_plugin,
    &noderesourcesbalanced_plugin,
    &imagelocality_plugin,
    &defaultbinder_plugin,
    &nodedeclaredfeatures_plugin,
    NULL,
};
