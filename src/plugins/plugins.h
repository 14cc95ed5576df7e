/* plugins/plugins.h - the built-in plugins, and what several of them share. */
#pragma once

#include "sched/args.h"
#include "sched/class_key.h"
#include "sched/framework.h"

extern const struct plugin schedulinggates_plugin, prioritysort_plugin, nodeunschedulable_plugin, nodename_plugin,
    tainttoleration_plugin, nodeaffinity_plugin, nodeports_plugin, noderesourcesfit_plugin,
    noderesourcesbalanced_plugin, volumerestrictions_plugin, nodevolumelimits_plugin, volumebinding_plugin,
    volumezone_plugin, podtopologyspread_plugin, interpodaffinity_plugin, dynamicresources_plugin,
    defaultpreemption_plugin, imagelocality_plugin, defaultbinder_plugin, nodedeclaredfeatures_plugin;

/* All of them, in the order of the default configuration; ends with NULL. */
extern const struct plugin *const plugin_registry[];
/* Those of the older worlds (legacy.h), under the names that they had; ends with NULL. */
extern const struct plugin *const legacy_registry[];

/* ---- Shared rules ---- */

/* Whether a toleration covers a taint. `compare` switches on the operators Lt and Gt. */
bool tolerates(const struct toleration_form *t, const struct taint_form *taint, const struct sym_table *syms,
               bool compare);
/* Whether every taint that keeps pods away (NoSchedule, NoExecute) is covered. */
bool tolerates_all_hard(const struct pod *pod, const struct taint_form *taints, uint32_t n_taints,
                        const struct sym_table *syms, bool compare);
/* nodeSelector and required node affinity, together. */
bool pod_wants_node(const struct pod *pod, const struct node *node, const struct sym_table *syms);
/* Scales to 0..100 by the largest; reversed: the smallest is best. */
void normalize_by_max(int64_t *scores, uint32_t n, bool reverse);
