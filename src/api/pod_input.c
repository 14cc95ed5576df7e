/* api/pod_input.c - the tables of a pod's fields; see bind.h. */
#include "api/pod_priv.h"
#include "api/schema_slots.h"

/* ---- Containers ---- */

static const struct bind_row requests_rows[] = {
    [SLOT_core_v1_ResourceRequirements_limits] = BIND_KEYS(struct requests_in, limits),
    [SLOT_core_v1_ResourceRequirements_requests] = BIND_MAP(struct requests_in, requests),
};
static const struct bind_type requests_type =
    BIND_TYPE(core_v1_ResourceRequirements, struct requests_in, requests_rows);

static const struct bind_row port_rows[] = {
    [SLOT_core_v1_ContainerPort_hostPort] = BIND_INT(struct port_in, host_port),
    [SLOT_core_v1_ContainerPort_hostIP] = BIND_STR(struct port_in, host_ip),
    [SLOT_core_v1_ContainerPort_protocol] = BIND_STR(struct port_in, protocol),
};
static const struct bind_type port_type = BIND_TYPE(core_v1_ContainerPort, struct port_in, port_rows);

static const struct bind_row restart_rule_rows[] = {
    [SLOT_core_v1_ContainerRestartRule_action] = BIND_STR(struct restart_rule_in, action),
};
static const struct bind_type restart_rule_type =
    BIND_TYPE(core_v1_ContainerRestartRule, struct restart_rule_in, restart_rule_rows);

static const struct bind_row container_rows[] = {
    [SLOT_core_v1_Container_name] = BIND_STR(struct container_in, name),
    [SLOT_core_v1_Container_image] = BIND_STR(struct container_in, image),
    [SLOT_core_v1_Container_restartPolicy] = BIND_STR(struct container_in, restart_policy),
    [SLOT_core_v1_Container_resources] = BIND_STRUCT(struct container_in, resources, &requests_type),
    [SLOT_core_v1_Container_ports] = BIND_LIST(struct container_in, ports, &port_type),
    [SLOT_core_v1_Container_restartPolicyRules] =
        BIND_LIST(struct container_in, restart_rules, &restart_rule_type),
};
static const struct bind_type container_type = BIND_TYPE(core_v1_Container, struct container_in, container_rows);

static const struct bind_row container_status_rows[] = {
    [SLOT_core_v1_ContainerStatus_name] = BIND_STR(struct container_status_in, name),
    [SLOT_core_v1_ContainerStatus_resources] =
        BIND_POINTER(struct container_status_in, resources, &requests_type),
    [SLOT_core_v1_ContainerStatus_allocatedResources] = BIND_MAP(struct container_status_in, allocated),
};
static const struct bind_type container_status_type =
    BIND_TYPE(core_v1_ContainerStatus, struct container_status_in, container_status_rows);

/* ---- Volumes ---- */

#define SOURCE_TYPE(name, schema_name, ...)                                                        \
    static const struct bind_row name##_rows[] = { __VA_ARGS__ };                                  \
    static const struct bind_type name##_type = BIND_TYPE(core_v1_##schema_name, struct source_in, name##_rows)
#define SOURCE_STR(slot, member) [SLOT_core_v1_##slot] = BIND_STR(struct source_in, member)
#define SOURCE_READ_ONLY(slot) [SLOT_core_v1_##slot] = BIND_BOOL(struct source_in, read_only)

SOURCE_TYPE(claim_source, PersistentVolumeClaimVolumeSource,
            SOURCE_STR(PersistentVolumeClaimVolumeSource_claimName, id));
SOURCE_TYPE(ephemeral_source, EphemeralVolumeSource, { .how = BIND_HOW_SKIP });
SOURCE_TYPE(gce_source, GCEPersistentDiskVolumeSource, SOURCE_STR(GCEPersistentDiskVolumeSource_pdName, id),
            SOURCE_READ_ONLY(GCEPersistentDiskVolumeSource_readOnly));
SOURCE_TYPE(ebs_source, AWSElasticBlockStoreVolumeSource, SOURCE_STR(AWSElasticBlockStoreVolumeSource_volumeID, id),
            SOURCE_READ_ONLY(AWSElasticBlockStoreVolumeSource_readOnly));
SOURCE_TYPE(iscsi_source, ISCSIVolumeSource, SOURCE_STR(ISCSIVolumeSource_iqn, id),
            SOURCE_READ_ONLY(ISCSIVolumeSource_readOnly));
SOURCE_TYPE(rbd_source, RBDVolumeSource, SOURCE_STR(RBDVolumeSource_pool, id),
            SOURCE_STR(RBDVolumeSource_image, id2),
            [SLOT_core_v1_RBDVolumeSource_monitors] = BIND_STRS(struct source_in, monitors),
            SOURCE_READ_ONLY(RBDVolumeSource_readOnly));
SOURCE_TYPE(azure_disk_source, AzureDiskVolumeSource, SOURCE_STR(AzureDiskVolumeSource_diskURI, id),
            SOURCE_STR(AzureDiskVolumeSource_kind, id2), SOURCE_READ_ONLY(AzureDiskVolumeSource_readOnly));
SOURCE_TYPE(azure_file_source, AzureFileVolumeSource, SOURCE_READ_ONLY(AzureFileVolumeSource_readOnly));
SOURCE_TYPE(cinder_source, CinderVolumeSource, SOURCE_STR(CinderVolumeSource_volumeID, id),
            SOURCE_READ_ONLY(CinderVolumeSource_readOnly));
SOURCE_TYPE(portworx_source, PortworxVolumeSource, SOURCE_STR(PortworxVolumeSource_volumeID, id),
            SOURCE_READ_ONLY(PortworxVolumeSource_readOnly));
SOURCE_TYPE(vsphere_source, VsphereVirtualDiskVolumeSource, { .how = BIND_HOW_SKIP });
SOURCE_TYPE(csi_source, CSIVolumeSource, SOURCE_STR(CSIVolumeSource_driver, id),
            SOURCE_READ_ONLY(CSIVolumeSource_readOnly));
SOURCE_TYPE(image_source, ImageVolumeSource, SOURCE_STR(ImageVolumeSource_reference, id));

#define VOLUME_SOURCE(field, kind, type)                                                           \
    [SLOT_core_v1_Volume_##field] = BIND_POINTER(struct volume_in, sources[kind], &(type))

static const struct bind_row volume_rows[] = {
    [SLOT_core_v1_Volume_name] = BIND_STR(struct volume_in, name),
    VOLUME_SOURCE(persistentVolumeClaim, VOLUME_CLAIM, claim_source_type),
    VOLUME_SOURCE(ephemeral, VOLUME_EPHEMERAL, ephemeral_source_type),
    VOLUME_SOURCE(gcePersistentDisk, VOLUME_GCE_PD, gce_source_type),
    VOLUME_SOURCE(awsElasticBlockStore, VOLUME_AWS_EBS, ebs_source_type),
    VOLUME_SOURCE(iscsi, VOLUME_ISCSI, iscsi_source_type),
    VOLUME_SOURCE(rbd, VOLUME_RBD, rbd_source_type),
    VOLUME_SOURCE(azureDisk, VOLUME_AZURE_DISK, azure_disk_source_type),
    VOLUME_SOURCE(azureFile, VOLUME_AZURE_FILE, azure_file_source_type),
    VOLUME_SOURCE(cinder, VOLUME_CINDER, cinder_source_type),
    VOLUME_SOURCE(portworxVolume, VOLUME_PORTWORX, portworx_source_type),
    VOLUME_SOURCE(vsphereVolume, VOLUME_VSPHERE, vsphere_source_type),
    VOLUME_SOURCE(csi, VOLUME_CSI_INLINE, csi_source_type),
    [SLOT_core_v1_Volume_image] = BIND_POINTER(struct volume_in, image, &image_source_type),
};
static const struct bind_type volume_type = BIND_TYPE(core_v1_Volume, struct volume_in, volume_rows);

/* ---- Affinity ---- */

static const struct bind_row affinity_term_rows[] = {
    [SLOT_core_v1_PodAffinityTerm_labelSelector] =
        BIND_POINTER(struct affinity_term_in, selector, &bind_selector),
    [SLOT_core_v1_PodAffinityTerm_namespaceSelector] =
        BIND_POINTER(struct affinity_term_in, namespace_selector, &bind_selector),
    [SLOT_core_v1_PodAffinityTerm_namespaces] = BIND_STRS(struct affinity_term_in, namespaces),
    [SLOT_core_v1_PodAffinityTerm_topologyKey] = BIND_STR(struct affinity_term_in, topology_key),
};
static const struct bind_type affinity_term_type =
    BIND_TYPE(core_v1_PodAffinityTerm, struct affinity_term_in, affinity_term_rows);

static const struct bind_row weighted_term_rows[] = {
    [SLOT_core_v1_WeightedPodAffinityTerm_weight] = BIND_INT(struct weighted_term_in, weight),
    [SLOT_core_v1_WeightedPodAffinityTerm_podAffinityTerm] =
        BIND_STRUCT(struct weighted_term_in, term, &affinity_term_type),
};
static const struct bind_type weighted_term_type =
    BIND_TYPE(core_v1_WeightedPodAffinityTerm, struct weighted_term_in, weighted_term_rows);

#define POD_AFFINITY_TYPE(name, schema_name)                                                       \
    static const struct bind_row name##_rows[] = {                                                 \
        [SLOT_core_v1_##schema_name##_requiredDuringSchedulingIgnoredDuringExecution] =            \
            BIND_LIST(struct pod_affinity_in, required, &affinity_term_type),                      \
        [SLOT_core_v1_##schema_name##_preferredDuringSchedulingIgnoredDuringExecution] =           \
            BIND_LIST(struct pod_affinity_in, preferred, &weighted_term_type),                     \
    };                                                                                             \
    static const struct bind_type name##_type =                                                    \
        BIND_TYPE(core_v1_##schema_name, struct pod_affinity_in, name##_rows)

POD_AFFINITY_TYPE(pod_affinity, PodAffinity);
POD_AFFINITY_TYPE(pod_anti_affinity, PodAntiAffinity);

static const struct bind_row node_affinity_rows[] = {
    [SLOT_core_v1_NodeAffinity_requiredDuringSchedulingIgnoredDuringExecution] =
        BIND_POINTER(struct node_affinity_in, required, &bind_node_selector),
    [SLOT_core_v1_NodeAffinity_preferredDuringSchedulingIgnoredDuringExecution] =
        BIND_LIST(struct node_affinity_in, preferred, &bind_preferred),
};
static const struct bind_type node_affinity_type =
    BIND_TYPE(core_v1_NodeAffinity, struct node_affinity_in, node_affinity_rows);

static const struct bind_row affinity_rows[] = {
    [SLOT_core_v1_Affinity_nodeAffinity] = BIND_POINTER(struct affinity_in, node, &node_affinity_type),
    [SLOT_core_v1_Affinity_podAffinity] = BIND_POINTER(struct affinity_in, pod, &pod_affinity_type),
    [SLOT_core_v1_Affinity_podAntiAffinity] = BIND_POINTER(struct affinity_in, anti, &pod_anti_affinity_type),
};
static const struct bind_type affinity_type = BIND_TYPE(core_v1_Affinity, struct affinity_in, affinity_rows);

static const struct bind_row toleration_rows[] = {
    [SLOT_core_v1_Toleration_key] = BIND_STR(struct toleration_in, key),
    [SLOT_core_v1_Toleration_operator] = BIND_STR(struct toleration_in, op),
    [SLOT_core_v1_Toleration_value] = BIND_STR(struct toleration_in, value),
    [SLOT_core_v1_Toleration_effect] = BIND_STR(struct toleration_in, effect),
};
static const struct bind_type toleration_type =
    BIND_TYPE(core_v1_Toleration, struct toleration_in, toleration_rows);

static const struct bind_row spread_rows[] = {
    [SLOT_core_v1_TopologySpreadConstraint_maxSkew] = BIND_INT(struct spread_in, max_skew),
    [SLOT_core_v1_TopologySpreadConstraint_minDomains] = BIND_INT(struct spread_in, min_domains),
    [SLOT_core_v1_TopologySpreadConstraint_topologyKey] = BIND_STR(struct spread_in, topology_key),
    [SLOT_core_v1_TopologySpreadConstraint_whenUnsatisfiable] =
        BIND_STR(struct spread_in, when_unsatisfiable),
    [SLOT_core_v1_TopologySpreadConstraint_nodeAffinityPolicy] = BIND_STR(struct spread_in, affinity_policy),
    [SLOT_core_v1_TopologySpreadConstraint_nodeTaintsPolicy] = BIND_STR(struct spread_in, taints_policy),
    [SLOT_core_v1_TopologySpreadConstraint_labelSelector] =
        BIND_POINTER(struct spread_in, selector, &bind_selector),
    [SLOT_core_v1_TopologySpreadConstraint_matchLabelKeys] = BIND_STRS(struct spread_in, match_label_keys),
};
static const struct bind_type spread_type =
    BIND_TYPE(core_v1_TopologySpreadConstraint, struct spread_in, spread_rows);

/* ---- Spec ---- */

static const struct bind_row gate_rows[] = {
    [SLOT_core_v1_PodSchedulingGate_name] = BIND_STR(struct gate_in, name),
};
static const struct bind_type gate_type = BIND_TYPE(core_v1_PodSchedulingGate, struct gate_in, gate_rows);

static const struct bind_row claim_rows[] = {
    [SLOT_core_v1_PodResourceClaim_name] = BIND_STR(struct claim_in, name),
    [SLOT_core_v1_PodResourceClaim_resourceClaimName] = BIND_STR(struct claim_in, claim_name),
    [SLOT_core_v1_PodResourceClaim_resourceClaimTemplateName] = BIND_STR(struct claim_in, template_name),
};
static const struct bind_type claim_type = BIND_TYPE(core_v1_PodResourceClaim, struct claim_in, claim_rows);

static const struct bind_row group_rows[] = {
    [SLOT_core_v1_PodSchedulingGroup_podGroupName] = BIND_STR(struct group_in, name),
};
static const struct bind_type group_type = BIND_TYPE(core_v1_PodSchedulingGroup, struct group_in, group_rows);

static const struct bind_row spec_rows[] = {
    [SLOT_core_v1_PodSpec_volumes] = BIND_LIST(struct pod_spec_in, volumes, &volume_type),
    [SLOT_core_v1_PodSpec_initContainers] = BIND_LIST(struct pod_spec_in, init_containers, &container_type),
    [SLOT_core_v1_PodSpec_containers] = BIND_LIST(struct pod_spec_in, containers, &container_type),
    [SLOT_core_v1_PodSpec_nodeSelector] = BIND_MAP(struct pod_spec_in, node_selector),
    [SLOT_core_v1_PodSpec_overhead] = BIND_MAP(struct pod_spec_in, overhead),
    [SLOT_core_v1_PodSpec_nodeName] = BIND_STR(struct pod_spec_in, node_name),
    [SLOT_core_v1_PodSpec_schedulerName] = BIND_STR(struct pod_spec_in, scheduler_name),
    [SLOT_core_v1_PodSpec_priorityClassName] = BIND_STR(struct pod_spec_in, priority_class),
    [SLOT_core_v1_PodSpec_preemptionPolicy] = BIND_STR(struct pod_spec_in, preemption_policy),
    [SLOT_core_v1_PodSpec_affinity] = BIND_POINTER(struct pod_spec_in, affinity, &affinity_type),
    [SLOT_core_v1_PodSpec_tolerations] = BIND_LIST(struct pod_spec_in, tolerations, &toleration_type),
    [SLOT_core_v1_PodSpec_topologySpreadConstraints] = BIND_LIST(struct pod_spec_in, spread, &spread_type),
    [SLOT_core_v1_PodSpec_schedulingGates] = BIND_LIST(struct pod_spec_in, gates, &gate_type),
    [SLOT_core_v1_PodSpec_resourceClaims] = BIND_LIST(struct pod_spec_in, claims, &claim_type),
    [SLOT_core_v1_PodSpec_resources] = BIND_POINTER(struct pod_spec_in, resources, &requests_type),
    [SLOT_core_v1_PodSpec_schedulingGroup] = BIND_POINTER(struct pod_spec_in, group, &group_type),
    [SLOT_core_v1_PodSpec_priority] = BIND_INT(struct pod_spec_in, priority),
    [SLOT_core_v1_PodSpec_hostNetwork] = BIND_BOOL(struct pod_spec_in, host_network),
    [SLOT_core_v1_PodSpec_hostUsers] = BIND_BOOL(struct pod_spec_in, host_users),
};
static const struct bind_type spec_type = BIND_TYPE(core_v1_PodSpec, struct pod_spec_in, spec_rows);

/* ---- Status ---- */

static const struct bind_row condition_rows[] = {
    [SLOT_core_v1_PodCondition_type] = BIND_STR(struct condition_in, type),
    [SLOT_core_v1_PodCondition_status] = BIND_STR(struct condition_in, status),
    [SLOT_core_v1_PodCondition_reason] = BIND_STR(struct condition_in, reason),
    [SLOT_core_v1_PodCondition_message] = BIND_STR(struct condition_in, message),
    [SLOT_core_v1_PodCondition_lastProbeTime] = BIND_TIME(struct condition_in, last_probe),
    [SLOT_core_v1_PodCondition_lastTransitionTime] = BIND_TIME(struct condition_in, last_transition),
    [SLOT_core_v1_PodCondition_observedGeneration] = BIND_INT(struct condition_in, observed_generation),
};
static const struct bind_type condition_type = BIND_TYPE(core_v1_PodCondition, struct condition_in, condition_rows);

static const struct bind_row claim_status_rows[] = {
    [SLOT_core_v1_PodResourceClaimStatus_name] = BIND_STR(struct claim_in, name),
    [SLOT_core_v1_PodResourceClaimStatus_resourceClaimName] = BIND_STR(struct claim_in, claim_name),
};
static const struct bind_type claim_status_type =
    BIND_TYPE(core_v1_PodResourceClaimStatus, struct claim_in, claim_status_rows);

static const struct bind_row status_rows[] = {
    [SLOT_core_v1_PodStatus_phase] = BIND_STR(struct pod_status_in, phase),
    [SLOT_core_v1_PodStatus_nominatedNodeName] = BIND_STR(struct pod_status_in, nominated_node),
    [SLOT_core_v1_PodStatus_conditions] = BIND_LIST(struct pod_status_in, conditions, &condition_type),
    [SLOT_core_v1_PodStatus_initContainerStatuses] =
        BIND_LIST(struct pod_status_in, init_statuses, &container_status_type),
    [SLOT_core_v1_PodStatus_containerStatuses] =
        BIND_LIST(struct pod_status_in, statuses, &container_status_type),
    [SLOT_core_v1_PodStatus_resourceClaimStatuses] =
        BIND_LIST(struct pod_status_in, claims, &claim_status_type),
    [SLOT_core_v1_PodStatus_allocatedResources] = BIND_MAP(struct pod_status_in, allocated),
    [SLOT_core_v1_PodStatus_resources] = BIND_POINTER(struct pod_status_in, resources, &requests_type),
    [SLOT_core_v1_PodStatus_startTime] = BIND_TIME(struct pod_status_in, start_time),
};
static const struct bind_type status_type = BIND_TYPE(core_v1_PodStatus, struct pod_status_in, status_rows);

static const struct bind_row pod_rows[] = {
    [SLOT_core_v1_Pod_metadata] = BIND_STRUCT(struct pod_in, meta, &bind_meta),
    [SLOT_core_v1_Pod_spec] = BIND_STRUCT(struct pod_in, spec, &spec_type),
    [SLOT_core_v1_Pod_status] = BIND_STRUCT(struct pod_in, status, &status_type),
};
const struct bind_type bind_pod = BIND_TYPE(core_v1_Pod, struct pod_in, pod_rows);
