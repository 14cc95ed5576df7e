/* plugins/legacy.h - the plugins of older worlds: those that no longer exist, and those that follow other rules today.
 *
 * A table here may have the name of a plugin of today: legacy_registry holds one of each name, and a profile is made of one
 * registry. Scores go up to what the profile's era says. Where a rule is that of today, the functions of today are called;
 * `data` then is what their init made. */
#pragma once

#include "plugins/plugins.h"
#include "sched/era.h"

extern const struct plugin legacy_nodename_plugin, legacy_tainttoleration_plugin, legacy_nodeaffinity_plugin,
    legacy_noderesourcesfit_plugin, legacy_volumerestrictions_plugin, legacy_ebslimits_plugin,
    legacy_gcepdlimits_plugin, legacy_azuredisklimits_plugin, legacy_cinderlimits_plugin,
    legacy_nodevolumelimits_plugin, legacy_volumebinding_plugin, legacy_volumezone_plugin,
    legacy_podtopologyspread_plugin, legacy_interpodaffinity_plugin, legacy_leastallocated_plugin,
    legacy_mostallocated_plugin, legacy_capacityratio_plugin, legacy_balanced_plugin, legacy_imagelocality_plugin,
    legacy_selectorspread_plugin, legacy_prefer_avoid_pods_plugin, legacy_nodelabel_plugin,
    legacy_serviceaffinity_plugin, legacy_defaultpreemption_plugin, legacy_resourcelimits_plugin,
    legacy_fifo_plugin, legacy_nodecondition_plugin, legacy_memorypressure_plugin, legacy_diskpressure_plugin, legacy_pidpressure_plugin,
    legacy_noexecutetaints_plugin;

/* ---- Shared rules ---- */

/* What one of the four disk limits counted for the pod on the node: disks that it brings, and how many more fit. False: it
 * is another plugin, or has nothing to count. */
bool legacy_disks_counted(const struct plugin_instance *p, struct cycle *c, const struct node_view *n,
                          int64_t *ret_new, int64_t *ret_room);

/* What services, replication controllers, replica sets and stateful sets select the pod by, all of it together; without
 * rules when nobody does. */
struct matcher legacy_selector(const struct plugin_instance *p, const struct objects *objects, struct arena *a,
                               const struct pod *pod);
/* Whether there is anything in the namespace that could select the pod. */
bool legacy_may_be_selected(const struct cycle *c);
/* The first service that selects the pod; NULL: none. */
const struct service *legacy_first_service(const struct objects *objects, const struct pod *pod);
/* Pods of the namespace on the node that are not terminating and that the labels select. */
int64_t legacy_count_pods(const struct node_view *n, sym ns, const struct matcher *selector,
                          const struct sym_table *syms);
/* As normalize_by_max, up to `most`. */
void legacy_normalize_by_max(int64_t *scores, uint32_t n, int64_t most, bool reverse);
