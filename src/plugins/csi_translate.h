/* plugins/csi_translate.h - in-tree volumes as the CSI drivers that stand in for them see them.
 *
 * Upstream: staging csi-translation-lib. Five in-tree plugins are handed over to drivers: their volumes
 * count against the driver's limit under the driver's handle, and their node affinity is written with
 * the driver's topology label. Azure files and vSphere disks have drivers too, but the scheduler never
 * hands them over.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "plugins/plugins.h"

/* By enum pv_source; SYM_NONE where there is none. */
struct csi_names {
    sym plugin[N_PV_SOURCES];   /* in-tree plugin, also the name of its provisioner */
    sym driver[N_PV_SOURCES];   /* that stands in */
    sym topology[N_PV_SOURCES]; /* label that the driver's nodes have in place of the zone's */
    sym zone, region, zone_beta, region_beta;
};

void csi_names_init(struct csi_names *names, struct sym_table *syms);

/* Whether a driver stands in for volumes of this kind. */
bool csi_stands_in(enum pv_source source);
/* What a pod's volume is made of, or a provisioner makes; PV_SOURCE_OTHER: no driver knows it. */
enum pv_source csi_source_of_volume(const struct pod_volume *v);
enum pv_source csi_source_of_provisioner(const struct csi_names *names, sym provisioner);
/* Whether the node has handed the in-tree plugin over to its driver. `csi_node` may be NULL. */
bool csi_is_migrated(const struct csi_node *csi_node, sym plugin);

/* The driver's handle of an in-tree volume for which it stands in. Texts live in e->arena. */
enum err_code csi_handle_of_pv(const struct csi_names *names, const struct sym_table *syms, const struct pv *pv,
                               struct str *ret_handle, struct err *e) ERR_MUST_CHECK;
enum err_code csi_handle_of_volume(const struct sym_table *syms, const struct pod_volume *v, struct str *ret_handle,
                                   struct err *e) ERR_MUST_CHECK;
/* Its node affinity in the driver's words. Lives in e->arena and as long as the volume. */
enum err_code csi_affinity_of_pv(const struct csi_names *names, const struct sym_table *syms, const struct pv *pv,
                                 struct node_rules *ret_rules, struct err *e) ERR_MUST_CHECK;

/* Walks the parts of a zone label: "a__b" is zones a and b. Start with *rest the whole value. False at
 * the end. */
bool zone_label_next(struct str *rest, struct str *ret_part);
