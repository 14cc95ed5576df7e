/* forms/pod_input.c - the tables of a pod's fields; see fill.h. */
#include "api/schema_slots.h"
#include "forms/pod_priv.h"

/* ---- Containers ---- */

static const struct fill_row requests_rows[] = {
    [SLOT_core_v1_ResourceRequirements_limits] = FILL_MAP(struct requests_in, limits),
    [SLOT_core_v1_ResourceRequirements_requests] = FILL_MAP(struct requests_in, requests),
};
static const struct fill_type requests_type =
    FILL_TYPE(core_v1_ResourceRequirements, struct requests_in, requests_rows);

static const struct fill_row port_rows[] = {
    [SLOT_core_v1_ContainerPort_hostPort] = FILL_INT(struct port_in, host_port),
    [SLOT_core_v1_ContainerPort_hostIP] = FILL_STR(struct port_in, host_ip),
    [SLOT_core_v1_ContainerPort_protocol] = FILL_STR(struct port_in, protocol),
};
static const struct fill_type port_type = FILL_TYPE(core_v1_ContainerPort, struct port_in, port_rows);

static const struct fill_row restart_rule_rows[] = {
    [SLOT_core_v1_ContainerRestartRule_action] = FILL_STR(struct restart_rule_in, action),
};
static const struct fill_type restart_rule_type =
    FILL_TYPE(core_v1_ContainerRestartRule, struct restart_rule_in, restart_rule_rows);

static const struct fill_row container_rows[] = {
    [SLOT_core_v1_Container_name] = FILL_STR(struct container_in, name),
    [SLOT_core_v1_Container_image] = FILL_STR(struct container_in, image),
    [SLOT_core_v1_Container_restartPolicy] = FILL_STR(struct container_in, restart_policy),
    [SLOT_core_v1_Container_resources] = FILL_STRUCT(struct container_in, resources, &requests_type),
    [SLOT_core_v1_Container_ports] = FILL_LIST(struct container_in, ports, &port_type),
    [SLOT_core_v1_Container_restartPolicyRules] =
        FILL_LIST(struct container_in, restart_rules, &restart_rule_type),
};
static const struct fill_type container_type = FILL_TYPE(core_v1_Container, struct container_in, container_rows);

static const struct fill_row container_status_rows[] = {
    [SLOT_core_v1_ContainerStatus_name] = FILL_STR(struct container_status_in, name),
    [SLOT_core_v1_ContainerStatus_resources] =
        FILL_POINTER(struct container_status_in, resources, &requests_type),
    [SLOT_core_v1_ContainerStatus_allocatedResources] = FILL_MAP(struct container_status_in, allocated),
};
static const struct fill_type container_status_type =
    FILL_TYPE(core_v1_ContainerStatus, struct container_status_in, container_status_rows);

/* ---- Volumes ---- */

#define SOURCE_TYPE(name, schema_name, ...)                                                        \
    static const struct fill_row name##_rows[] = { __VA_ARGS__ };                                  \
    static const struct fill_type name##_type = FILL_TYPE(core_v1_##schema_name, struct source_in, name##_rows)
#define SOURCE_STR(slot, member) [SLOT_core_v1_##slot] = FILL_STR(struct source_in, member)
#define SOURCE_READ_ONLY(slot) [SLOT_core_v1_##slot] = FILL_BOOL(struct source_in, read_only)

SOURCE_TYPE(claim_source, PersistentVolumeClaimVolumeSource,
            SOURCE_STR(PersistentVolumeClaimVolumeSource_claimName, id));
SOURCE_TYPE(ephemeral_source, EphemeralVolumeSource, { .how = FILL_HOW_SKIP });
SOURCE_TYPE(gce_source, GCEPersistentDiskVolumeSource, SOURCE_STR(GCEPersistentDiskVolumeSource_pdName, id),
            SOURCE_READ_ONLY(GCEPersistentDiskVolumeSource_readOnly));
SOURCE_TYPE(ebs_source, AWSElasticBlockStoreVolumeSource, SOURCE_STR(AWSElasticBlockStoreVolumeSource_volumeID, id),
            SOURCE_READ_ONLY(AWSElasticBlockStoreVolumeSource_readOnly));
SOURCE_TYPE(iscsi_source, ISCSIVolumeSource, SOURCE_STR(ISCSIVolumeSource_iqn, id),
            SOURCE_READ_ONLY(ISCSIVolumeSource_readOnly));
SOURCE_TYPE(rbd_source, RBDVolumeSource, SOURCE_STR(RBDVolumeSource_pool, id),
            SOURCE_STR(RBDVolumeSource_image, id2),
            [SLOT_core_v1_RBDVolumeSource_monitors] = FILL_STRS(struct source_in, monitors),
            SOURCE_READ_ONLY(RBDVolumeSource_readOnly));
SOURCE_TYPE(azure_disk_source, AzureDiskVolumeSource, SOURCE_STR(AzureDiskVolumeSource_diskURI, id),
            SOURCE_STR(AzureDiskVolumeSource_kind, id2), SOURCE_READ_ONLY(AzureDiskVolumeSource_readOnly));
SOURCE_TYPE(azure_file_source, AzureFileVolumeSource, SOURCE_READ_ONLY(AzureFileVolumeSource_readOnly));
SOURCE_TYPE(cinder_source, CinderVolumeSource, SOURCE_STR(CinderVolumeSource_volumeID, id),
            SOURCE_READ_ONLY(CinderVolumeSource_readOnly));
SOURCE_TYPE(portworx_source, PortworxVolumeSource, SOURCE_STR(PortworxVolumeSource_volumeID, id),
            SOURCE_READ_ONLY(PortworxVolumeSource_readOnly));
SOURCE_TYPE(vsphere_source, VsphereVirtualDiskVolumeSource, { .how = FILL_HOW_SKIP });
SOURCE_TYPE(csi_source, CSIVolumeSource, SOURCE_STR(CSIVolumeSource_driver, id),
            SOURCE_READ_ONLY(CSIVolumeSource_readOnly));
SOURCE_TYPE(image_source, ImageVolumeSource, SOURCE_STR(ImageVolumeSource_reference, id));

#define VOLUME_SOURCE(field, kind, type)                                                           \
    [SLOT_core_v1_Volume_##field] = FILL_POINTER(struct volume_in, sources[kind], &(type))

static const struct fill_row volume_rows[] = {
    [SLOT_core_v1_Volume_name] = FILL_STR(struct volume_in, name),
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
    [SLOT_core_v1_Volume_image] = FILL_POINTER(struct volume_in, image, &image_source_type),
};
static const struct fill_type volume_type = FILL_TYPE(core_v1_Volume, struct volume_in, volume_rows);

/* ---- Affinity ---- */

static const struct fill_row affinity_term_rows[] = {
    [SLOT_core_v1_PodAffinityTerm_labelSelector] =
        FILL_POINTER(struct affinity_term_in, selector, &fill_selector),
    [SLOT_core_v1_PodAffinityTerm_namespaceSelector] =
        FILL_POINTER(struct affinity_term_in, namespace_selector, &fill_selector),
    [SLOT_core_v1_PodAffinityTerm_namespaces] = FILL_STRS(struct affinity_term_in, namespaces),
    [SLOT_core_v1_PodAffinityTerm_topologyKey] = FILL_STR(struct affinity_term_in, topology_key),
};
static const struct fill_type affinity_term_type =
    FILL_TYPE(core_v1_PodAffinityTerm, struct affinity_term_in, affinity_term_rows);

static const struct fill_row weighted_term_rows[] = {
    [SLOT_core_v1_WeightedPodAffinityTerm_weight] = FILL_INT(struct weighted_term_in, weight),
    [SLOT_core_v1_WeightedPodAffinityTerm_podAffinityTerm] =
        FILL_STRUCT(struct weighted_term_in, term, &affinity_term_type),
};
static const struct fill_type weighted_term_type =
    FILL_TYPE(core_v1_WeightedPodAffinityTerm, struct weighted_term_in, weighted_term_rows);

#define POD_AFFINITY_TYPE(name, schema_name)                                                       \
    static const struct fill_row name##_rows[] = {                                                 \
        [SLOT_core_v1_##schema_name##_requiredDuringSchedulingIgnoredDuringExecution] =            \
            FILL_LIST(struct pod_affinity_in, required, &affinity_term_type),                      \
        [SLOT_core_v1_##schema_name##_preferredDuringSchedulingIgnoredDuringExecution] =           \
            FILL_LIST(struct pod_affinity_in, preferred, &weighted_term_type),                     \
    };                                                                                             \
    static const struct fill_type name##_type =                                                    \
        FILL_TYPE(core_v1_##schema_name, struct pod_affinity_in, name##_rows)

POD_AFFINITY_TYPE(pod_affinity, PodAffinity);
POD_AFFINITY_TYPE(pod_anti_affinity, PodAntiAffinity);

static const struct fill_row node_affinity_rows[] = {
    [SLOT_core_v1_NodeAffinity_requiredDuringSchedulingIgnoredDuringExecution] =
        FILL_POINTER(struct node_affinity_in, required, &fill_node_selector),
    [SLOT_core_v1_NodeAffinity_preferredDuringSchedulingIgnoredDuringExecution] =
        FILL_LIST(struct node_affinity_in, preferred, &fill_preferred),
};
static const struct fill_type node_affinity_type =
    FILL_TYPE(core_v1_NodeAffinity, struct node_affinity_in, node_affinity_rows);

static const struct fill_row affinity_rows[] = {
    [SLOT_core_v1_Affinity_nodeAffinity] = FILL_POINTER(struct affinity_in, node, &node_affinity_type),
    [SLOT_core_v1_Affinity_podAffinity] = FILL_POINTER(struct affinity_in, pod, &pod_affinity_type),
    [SLOT_core_v1_Affinity_podAntiAffinity] = FILL_POINTER(struct affinity_in, anti, &pod_anti_affinity_type),
};
static const struct fill_type affinity_type = FILL_TYPE(core_v1_Affinity, struct affinity_in, affinity_rows);

static const struct fill_row toleration_rows[] = {
    [SLOT_core_v1_Toleration_key] = FILL_STR(struct toleration_in, key),
    [SLOT_core_v1_Toleration_operator] = FILL_STR(struct toleration_in, op),
    [SLOT_core_v1_Toleration_value] = FILL_STR(struct toleration_in, value),
    [SLOT_core_v1_Toleration_effect] = FILL_STR(struct toleration_in, effect),
};
static const struct fill_type toleration_type =
    FILL_TYPE(core_v1_Toleration, struct toleration_in, toleration_rows);

static const struct fill_row spread_rows[] = {
    [SLOT_core_v1_TopologySpreadConstraint_maxSkew] = FILL_INT(struct spread_in, max_skew),
    [SLOT_core_v1_TopologySpreadConstraint_minDomains] = FILL_INT(struct spread_in, min_domains),
    [SLOT_core_v1_TopologySpreadConstraint_topologyKey] = FILL_STR(struct spread_in, topology_key),
    [SLOT_core_v1_TopologySpreadConstraint_whenUnsatisfiable] =
        FILL_STR(struct spread_in, when_unsatisfiable),
    [SLOT_core_v1_TopologySpreadConstraint_nodeAffinityPolicy] = FILL_STR(struct spread_in, affinity_policy),
    [SLOT_core_v1_TopologySpreadConstraint_nodeTaintsPolicy] = FILL_STR(struct spread_in, taints_policy),
    [SLOT_core_v1_TopologySpreadConstraint_labelSelector] =
        FILL_POINTER(struct spread_in, selector, &fill_selector),
    [SLOT_core_v1_TopologySpreadConstraint_matchLabelKeys] = FILL_STRS(struct spread_in, match_label_keys),
};
static const struct fill_type spread_type =
    FILL_TYPE(core_v1_TopologySpreadConstraint, struct spread_in, spread_rows);

/* ---- Spec ---- */

static const struct fill_row gate_rows[] = {
    [SLOT_core_v1_PodSchedulingGate_name] = FILL_STR(struct gate_in, name),
};
static const struct fill_type gate_type = FILL_TYPE(core_v1_PodSchedulingGate, struct gate_in, gate_rows);

static const struct fill_row claim_rows[] = {
    [SLOT_core_v1_PodResourceClaim_name] = FILL_STR(struct claim_in, name),
    [SLOT_core_v1_PodResourceClaim_resourceClaimName] = FILL_STR(struct claim_in, claim_name),
    [SLOT_core_v1_PodResourceClaim_resourceClaimTemplateName] = FILL_STR(struct claim_in, template_name),
};
static const struct fill_type claim_type = FILL_TYPE(core_v1_PodResourceClaim, struct claim_in, claim_rows);

static const struct fill_row group_rows[] = {
    [SLOT_core_v1_PodSchedulingGroup_podGroupName] = FILL_STR(struct group_in, name),
};
static const struct fill_type group_type = FILL_TYPE(core_v1_PodSchedulingGroup, struct group_in, group_rows);

static const struct fill_row spec_rows[] = {
    [SLOT_core_v1_PodSpec_volumes] = FILL_LIST(struct pod_spec_in, volumes, &volume_type),
    [SLOT_core_v1_PodSpec_initContainers] = FILL_LIST(struct pod_spec_in, init_containers, &container_type),
    [SLOT_core_v1_PodSpec_containers] = FILL_LIST(struct pod_spec_in, containers, &container_type),
    [SLOT_core_v1_PodSpec_nodeSelector] = FILL_MAP(struct pod_spec_in, node_selector),
    [SLOT_core_v1_PodSpec_overhead] = FILL_MAP(struct pod_spec_in, overhead),
    [SLOT_core_v1_PodSpec_nodeName] = FILL_STR(struct pod_spec_in, node_name),
    [SLOT_core_v1_PodSpec_schedulerName] = FILL_STR(struct pod_spec_in, scheduler_name),
    [SLOT_core_v1_PodSpec_priorityClassName] = FILL_STR(struct pod_spec_in, priority_class),
    [SLOT_core_v1_PodSpec_preemptionPolicy] = FILL_STR(struct pod_spec_in, preemption_policy),
    [SLOT_core_v1_PodSpec_affinity] = FILL_POINTER(struct pod_spec_in, affinity, &affinity_type),
    [SLOT_core_v1_PodSpec_tolerations] = FILL_LIST(struct pod_spec_in, tolerations, &toleration_type),
    [SLOT_core_v1_PodSpec_topologySpreadConstraints] = FILL_LIST(struct pod_spec_in, spread, &spread_type),
    [SLOT_core_v1_PodSpec_schedulingGates] = FILL_LIST(struct pod_spec_in, gates, &gate_type),
    [SLOT_core_v1_PodSpec_resourceClaims] = FILL_LIST(struct pod_spec_in, claims, &claim_type),
    [SLOT_core_v1_PodSpec_resources] = FILL_POINTER(struct pod_spec_in, resources, &requests_type),
    [SLOT_core_v1_PodSpec_schedulingGroup] = FILL_POINTER(struct pod_spec_in, group, &group_type),
    [SLOT_core_v1_PodSpec_priority] = FILL_INT(struct pod_spec_in, priority),
    [SLOT_core_v1_PodSpec_hostNetwork] = FILL_BOOL(struct pod_spec_in, host_network),
    [SLOT_core_v1_PodSpec_hostUsers] = FILL_BOOL(struct pod_spec_in, host_users),
};
static const struct fill_type spec_type = FILL_TYPE(core_v1_PodSpec, struct pod_spec_in, spec_rows);

/* ---- Status ---- */

static const struct fill_row condition_rows[] = {
    [SLOT_core_v1_PodCondition_type] = FILL_STR(struct condition_in, type),
    [SLOT_core_v1_PodCondition_status] = FILL_STR(struct condition_in, status),
    [SLOT_core_v1_PodCondition_reason] = FILL_STR(struct condition_in, reason),
    [SLOT_core_v1_PodCondition_message] = FILL_STR(struct condition_in, message),
    [SLOT_core_v1_PodCondition_lastProbeTime] = FILL_TIME(struct condition_in, last_probe),
    [SLOT_core_v1_PodCondition_lastTransitionTime] = FILL_TIME(struct condition_in, last_transition),
    [SLOT_core_v1_PodCondition_observedGeneration] = FILL_INT(struct condition_in, observed_generation),
};
static const struct fill_type condition_type = FILL_TYPE(core_v1_PodCondition, struct condition_in, condition_rows);

static const struct fill_row claim_status_rows[] = {
    [SLOT_core_v1_PodResourceClaimStatus_name] = FILL_STR(struct claim_in, name),
    [SLOT_core_v1_PodResourceClaimStatus_resourceClaimName] = FILL_STR(struct claim_in, claim_name),
};
static const struct fill_type claim_status_type =
    FILL_TYPE(core_v1_PodResourceClaimStatus, struct claim_in, claim_status_rows);

static const struct fill_row status_rows[] = {
    [SLOT_core_v1_PodStatus_phase] = FILL_STR(struct pod_status_in, phase),
    [SLOT_core_v1_PodStatus_nominatedNodeName] = FILL_STR(struct pod_status_in, nominated_node),
    [SLOT_core_v1_PodStatus_conditions] = FILL_LIST(struct pod_status_in, conditions, &condition_type),
    [SLOT_core_v1_PodStatus_initContainerStatuses] =
        FILL_LIST(struct pod_status_in, init_statuses, &container_status_type),
    [SLOT_core_v1_PodStatus_containerStatuses] =
        FILL_LIST(struct pod_status_in, statuses, &container_status_type),
    [SLOT_core_v1_PodStatus_resourceClaimStatuses] =
        FILL_LIST(struct pod_status_in, claims, &claim_status_type),
    [SLOT_core_v1_PodStatus_allocatedResources] = FILL_MAP(struct pod_status_in, allocated),
    [SLOT_core_v1_PodStatus_resources] = FILL_POINTER(struct pod_status_in, resources, &requests_type),
    [SLOT_core_v1_PodStatus_startTime] = FILL_TIME(struct pod_status_in, start_time),
};
static const struct fill_type status_type = FILL_TYPE(core_v1_PodStatus, struct pod_status_in, status_rows);

static const struct fill_row pod_rows[] = {
    [SLOT_core_v1_Pod_metadata] = FILL_STRUCT(struct pod_in, meta, &fill_meta),
    [SLOT_core_v1_Pod_spec] = FILL_STRUCT(struct pod_in, spec, &spec_type),
    [SLOT_core_v1_Pod_status] = FILL_STRUCT(struct pod_in, status, &status_type),
};
const struct fill_type fill_pod = FILL_TYPE(core_v1_Pod, struct pod_in, pod_rows);
