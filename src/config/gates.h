/* config/gates.h - the feature gates that kube-scheduler v1.36.4 knows, by ascending name.
 *
 * Most belong to other components and have no effect here; they are known so that one --feature-gates
 * flag can be given to all components alike.
 *
 * GATES: name, stage, default; a locked one keeps its default. GATE_DEPENDENCIES: a gate and what must
 * be on with it. */
#pragma once

#define GATES(X)                                                                               \
    X(APIResponseCompression, BETA, ON)                                                        \
    X(APIServerIdentity, BETA, ON)                                                             \
    X(APIServerTracing, GA, LOCKED_ON)                                                         \
    X(APIServingWithRoutine, ALPHA, OFF)                                                       \
    X(AggregatedDiscoveryRemoveBetaType, DEPRECATED, LOCKED_ON)                                \
    X(AllAlpha, ALPHA, OFF)                                                                    \
    X(AllBeta, BETA, OFF)                                                                      \
    X(AllowDNSOnlyNodeCSR, DEPRECATED, OFF)                                                    \
    X(AllowInsecureKubeletCertificateSigningRequests, DEPRECATED, OFF)                         \
    X(AllowOverwriteTerminationGracePeriodSeconds, DEPRECATED, LOCKED_OFF)                     \
    X(AllowParsingUserUIDFromCertAuth, BETA, ON)                                               \
    X(AllowServiceExternalIPs, GA, ON)                                                         \
    X(AllowUnsafeMalformedObjectDeletion, ALPHA, OFF)                                          \
    X(AnonymousAuthConfigurableEndpoints, GA, LOCKED_ON)                                       \
    X(AnyVolumeDataSource, GA, LOCKED_ON)                                                      \
    X(AtomicFIFO, BETA, ON)                                                                    \
    X(AuthorizeNodeWithSelectors, GA, LOCKED_ON)                                               \
    X(AuthorizePodWebsocketUpgradeCreatePermission, BETA, ON)                                  \
    X(AuthorizeWithSelectors, GA, LOCKED_ON)                                                   \
    X(BtreeWatchCache, GA, LOCKED_ON)                                                          \
    X(CBORServingAndStorage, ALPHA, OFF)                                                       \
    X(CPUManagerPolicyAlphaOptions, ALPHA, OFF)                                                \
    X(CPUManagerPolicyBetaOptions, BETA, ON)                                                   \
    X(CPUManagerPolicyOptions, GA, LOCKED_ON)                                                  \
    X(CRDObservedGenerationTracking, BETA, ON)                                                 \
    X(CRDValidationRatcheting, GA, LOCKED_ON)                                                  \
    X(CRIListStreaming, ALPHA, OFF)                                                            \
    X(CSIServiceAccountTokenSecrets, GA, LOCKED_ON)                                            \
    X(CSIVolumeHealth, ALPHA, OFF)                                                             \
    X(ChangeContainerStatusOnKubeletRestart, DEPRECATED, OFF)                                  \
    X(ClearingNominatedNodeNameAfterBinding, BETA, ON)                                         \
    X(ClientsAllowCARotation, BETA, ON)                                                        \
    X(ClientsAllowCBOR, ALPHA, OFF)                                                            \
    X(ClientsAllowTLSCacheGC, BETA, ON)                                                        \
    X(ClientsPreferCBOR, ALPHA, OFF)                                                           \
    X(CloudControllerManagerWatchBasedRoutesReconciliation, ALPHA, OFF)                        \
    X(CloudControllerManagerWebhook, ALPHA, OFF)                                               \
    X(ClusterTrustBundle, BETA, OFF)                                                           \
    X(ClusterTrustBundleProjection, BETA, OFF)                                                 \
    X(ComponentFlagz, BETA, ON)                                                                \
    X(ComponentStatusz, BETA, ON)                                                              \
    X(ConcurrentWatchObjectDecode, BETA, OFF)                                                  \
    X(ConsistentListFromCache, GA, LOCKED_ON)                                                  \
    X(ConstrainedImpersonation, BETA, ON)                                                      \
    X(ContainerCheckpoint, BETA, ON)                                                           \
    X(ContainerRestartRules, BETA, ON)                                                         \
    X(ContainerStopSignals, ALPHA, OFF)                                                        \
    X(ContextualLogging, BETA, ON)                                                             \
    X(CoordinatedLeaderElection, BETA, OFF)                                                    \
    X(CrossNamespaceVolumeDataSource, ALPHA, OFF)                                              \
    X(CustomCPUCFSQuotaPeriod, GA, ON)                                                         \
    X(CustomResourceFieldSelectors, GA, LOCKED_ON)                                             \
    X(DRAAdminAccess, GA, LOCKED_ON)                                                           \
    X(DRAConsumableCapacity, BETA, ON)                                                         \
    X(DRADeviceBindingConditions, BETA, ON)                                                    \
    X(DRADeviceTaintRules, BETA, OFF)                                                          \
    X(DRADeviceTaints, BETA, ON)                                                               \
    X(DRAExtendedResource, BETA, ON)                                                           \
    X(DRAListTypeAttributes, ALPHA, OFF)                                                       \
    X(DRANodeAllocatableResources, ALPHA, OFF)                                                 \
    X(DRAPartitionableDevices, BETA, ON)                                                       \
    X(DRAPrioritizedList, GA, ON)                                                              \
    X(DRAResourceClaimDeviceStatus, BETA, ON)                                                  \
    X(DRAResourceClaimGranularStatusAuthorization, BETA, ON)                                   \
    X(DRAResourcePoolStatus, ALPHA, OFF)                                                       \
    X(DRASchedulerFilterTimeout, BETA, ON)                                                     \
    X(DRAWorkloadResourceClaims, ALPHA, OFF)                                                   \
    X(DeclarativeValidation, GA, LOCKED_ON)                                                    \
    X(DeclarativeValidationBeta, BETA, ON)                                                     \
    X(DeclarativeValidationTakeover, DEPRECATED, OFF)                                          \
    X(DeploymentReplicaSetTerminatingReplicas, BETA, ON)                                       \
    X(DetectCacheInconsistency, BETA, ON)                                                      \
    X(DisableAllocatorDualWrite, GA, LOCKED_ON)                                                \
    X(DisableCPUQuotaWithExclusiveCPUs, DEPRECATED, ON)                                        \
    X(DisableNodeKubeProxyVersion, DEPRECATED, LOCKED_ON)                                      \
    X(DynamicResourceAllocation, GA, LOCKED_ON)                                                \
    X(EnvFiles, BETA, ON)                                                                      \
    X(EventedPLEG, ALPHA, OFF)                                                                 \
    X(ExecProbeTimeout, GA, LOCKED_ON)                                                         \
    X(ExtendWebSocketsToKubelet, BETA, ON)                                                     \
    X(ExternalServiceAccountTokenSigner, GA, LOCKED_ON)                                        \
    X(GangScheduling, ALPHA, OFF)                                                              \
    X(GenericWorkload, ALPHA, OFF)                                                             \
    X(GitRepoVolumeDriver, DEPRECATED, LOCKED_OFF)                                             \
    X(GracefulNodeShutdown, BETA, ON)                                                          \
    X(GracefulNodeShutdownBasedOnPodPriority, BETA, ON)                                        \
    X(HPAConfigurableTolerance, BETA, ON)                                                      \
    X(HPAScaleToZero, ALPHA, OFF)                                                              \
    X(HostnameOverride, BETA, ON)                                                              \
    X(ImageMaximumGCAge, GA, LOCKED_ON)                                                        \
    X(ImageVolume, GA, LOCKED_ON)                                                              \
    X(ImageVolumeWithDigest, ALPHA, OFF)                                                       \
    X(InOrderInformers, GA, LOCKED_ON)                                                         \
    X(InOrderInformersBatchProcess, BETA, ON)                                                  \
    X(InPlacePodLevelResourcesVerticalScaling, BETA, ON)                                       \
    X(InPlacePodVerticalScaling, GA, LOCKED_ON)                                                \
    X(InPlacePodVerticalScalingExclusiveCPUs, ALPHA, OFF)                                      \
    X(InPlacePodVerticalScalingExclusiveMemory, ALPHA, OFF)                                    \
    X(InPlacePodVerticalScalingInitContainers, BETA, ON)                                       \
    X(InformerResourceVersion, GA, ON)                                                         \
    X(JobBackoffLimitPerIndex, GA, LOCKED_ON)                                                  \
    X(JobManagedBy, GA, LOCKED_ON)                                                             \
    X(JobPodReplacementPolicy, GA, LOCKED_ON)                                                  \
    X(JobSuccessPolicy, GA, LOCKED_ON)                                                         \
    X(KMSv1, DEPRECATED, OFF)                                                                  \
    X(KubeletCgroupDriverFromCRI, GA, LOCKED_ON)                                               \
    X(KubeletCrashLoopBackOffMax, BETA, ON)                                                    \
    X(KubeletEnsureSecretPulledImages, BETA, ON)                                               \
    X(KubeletFineGrainedAuthz, GA, LOCKED_ON)                                                  \
    X(KubeletInUserNamespace, ALPHA, OFF)                                                      \
    X(KubeletPSI, GA, LOCKED_ON)                                                               \
    X(KubeletPodResourcesDynamicResources, GA, LOCKED_ON)                                      \
    X(KubeletPodResourcesGet, GA, LOCKED_ON)                                                   \
    X(KubeletPodResourcesListUseActivePods, DEPRECATED, ON)                                    \
    X(KubeletRegistrationGetOnExistsOnly, DEPRECATED, OFF)                                     \
    X(KubeletSeparateDiskGC, BETA, ON)                                                         \
    X(KubeletServiceAccountTokenForCredentialProviders, BETA, ON)                              \
    X(KubeletTracing, GA, LOCKED_ON)                                                           \
    X(ListFromCacheSnapshot, BETA, ON)                                                         \
    X(LocalStorageCapacityIsolationFSQuotaMonitoring, BETA, OFF)                               \
    X(LogarithmicScaleDown, GA, LOCKED_ON)                                                     \
    X(LoggingAlphaOptions, ALPHA, OFF)                                                         \
    X(LoggingBetaOptions, BETA, ON)                                                            \
    X(ManifestBasedAdmissionControlConfig, ALPHA, OFF)                                         \
    X(MatchLabelKeysInPodAffinity, GA, LOCKED_ON)                                              \
    X(MatchLabelKeysInPodTopologySpread, BETA, ON)                                             \
    X(MatchLabelKeysInPodTopologySpreadSelectorMerge, BETA, ON)                                \
    X(MaxUnavailableStatefulSet, BETA, OFF)                                                    \
    X(MemoryQoS, ALPHA, OFF)                                                                   \
    X(MultiCIDRServiceAllocator, GA, LOCKED_ON)                                                \
    X(MutableCSINodeAllocatableCount, GA, LOCKED_ON)                                           \
    X(MutablePVNodeAffinity, ALPHA, OFF)                                                       \
    X(MutablePodResourcesForSuspendedJobs, BETA, ON)                                           \
    X(MutableSchedulingDirectivesForSuspendedJobs, BETA, ON)                                   \
    X(MutatingAdmissionPolicy, GA, ON)                                                         \
    X(NFTablesProxyMode, GA, LOCKED_ON)                                                        \
    X(NativeHistograms, ALPHA, OFF)                                                            \
    X(NodeDeclaredFeatures, BETA, ON)                                                          \
    X(NodeInclusionPolicyInPodTopologySpread, GA, LOCKED_ON)                                   \
    X(NodeLogQuery, GA, LOCKED_ON)                                                             \
    X(NodeSwap, GA, LOCKED_ON)                                                                 \
    X(NominatedNodeNameForExpectation, BETA, ON)                                               \
    X(OpenAPIEnums, BETA, ON)                                                                  \
    X(OpportunisticBatching, BETA, ON)                                                         \
    X(OrderedNamespaceDeletion, GA, LOCKED_ON)                                                 \
    X(PLEGOnDemandRelist, BETA, ON)                                                            \
    X(PersistentVolumeClaimUnusedSinceTime, ALPHA, OFF)                                        \
    X(PodAndContainerStatsFromCRI, ALPHA, OFF)                                                 \
    X(PodCertificateRequest, BETA, OFF)                                                        \
    X(PodDeletionCost, BETA, ON)                                                               \
    X(PodLevelResourceManagers, ALPHA, OFF)                                                    \
    X(PodLevelResources, BETA, ON)                                                             \
    X(PodLifecycleSleepAction, GA, LOCKED_ON)                                                  \
    X(PodLifecycleSleepActionAllowZero, GA, LOCKED_ON)                                         \
    X(PodLogsQuerySplitStreams, ALPHA, OFF)                                                    \
    X(PodObservedGenerationTracking, GA, LOCKED_ON)                                            \
    X(PodReadyToStartContainersCondition, BETA, ON)                                            \
    X(PodSchedulingReadiness, GA, LOCKED_ON)                                                   \
    X(PodTopologyLabelsAdmission, BETA, ON)                                                    \
    X(PodsAPI, ALPHA, OFF)                                                                     \
    X(PortForwardWebsockets, BETA, ON)                                                         \
    X(PreferSameTrafficDistribution, GA, LOCKED_ON)                                            \
    X(PreventStaticPodAPIReferences, BETA, ON)                                                 \
    X(ProcMountType, GA, LOCKED_ON)                                                            \
    X(QOSReserved, ALPHA, OFF)                                                                 \
    X(RecoverVolumeExpansionFailure, GA, LOCKED_ON)                                            \
    X(RecursiveReadOnlyMounts, GA, LOCKED_ON)                                                  \
    X(ReduceDefaultCrashLoopBackOffDecay, ALPHA, OFF)                                          \
    X(RelaxedDNSSearchValidation, GA, LOCKED_ON)                                               \
    X(RelaxedEnvironmentVariableValidation, GA, LOCKED_ON)                                     \
    X(RelaxedServiceNameValidation, BETA, ON)                                                  \
    X(ReloadKubeletClientCAFile, BETA, ON)                                                     \
    X(ReloadKubeletServerCertificateFile, BETA, ON)                                            \
    X(RemoteRequestHeaderUID, BETA, ON)                                                        \
    X(ResilientWatchCacheInitialization, GA, LOCKED_ON)                                        \
    X(ResourceHealthStatus, BETA, ON)                                                          \
    X(ResourceHealthStatusMessage, BETA, ON)                                                   \
    X(RestartAllContainersOnContainerExits, BETA, ON)                                          \
    X(RetryGenerateName, GA, LOCKED_ON)                                                        \
    X(RotateKubeletServerCertificate, BETA, ON)                                                \
    X(RuntimeClassInImageCriApi, ALPHA, OFF)                                                   \
    X(SELinuxChangePolicy, GA, LOCKED_ON)                                                      \
    X(SELinuxMount, BETA, OFF)                                                                 \
    X(SELinuxMountReadWriteOncePod, GA, LOCKED_ON)                                             \
    X(SchedulerAsyncAPICalls, BETA, OFF)                                                       \
    X(SchedulerAsyncPreemption, BETA, ON)                                                      \
    X(SchedulerPopFromBackoffQ, BETA, ON)                                                      \
    X(SchedulerQueueingHints, GA, LOCKED_ON)                                                   \
    X(SeparateCacheWatchRPC, DEPRECATED, LOCKED_OFF)                                           \
    X(SeparateTaintEvictionController, GA, LOCKED_ON)                                          \
    X(ServiceAccountNodeAudienceRestriction, BETA, ON)                                         \
    X(ServiceAccountTokenJTI, GA, LOCKED_ON)                                                   \
    X(ServiceAccountTokenNodeBinding, GA, LOCKED_ON)                                           \
    X(ServiceAccountTokenNodeBindingValidation, GA, LOCKED_ON)                                 \
    X(ServiceAccountTokenPodNodeInfo, GA, LOCKED_ON)                                           \
    X(ServiceCIDRStatusFieldWiping, DEPRECATED, ON)                                            \
    X(ShardedListAndWatch, ALPHA, OFF)                                                         \
    X(SidecarContainers, GA, LOCKED_ON)                                                        \
    X(SizeBasedListCostEstimate, BETA, ON)                                                     \
    X(StaleControllerConsistencyDaemonSet, BETA, ON)                                           \
    X(StaleControllerConsistencyJob, BETA, ON)                                                 \
    X(StaleControllerConsistencyReplicaSet, BETA, ON)                                          \
    X(StaleControllerConsistencyStatefulSet, BETA, ON)                                         \
    X(StatefulSetSemanticRevisionComparison, BETA, ON)                                         \
    X(StorageCapacityScoring, ALPHA, OFF)                                                      \
    X(StorageNamespaceIndex, DEPRECATED, ON)                                                   \
    X(StorageVersionAPI, ALPHA, OFF)                                                           \
    X(StorageVersionHash, BETA, ON)                                                            \
    X(StorageVersionMigrator, BETA, OFF)                                                       \
    X(StreamingCollectionEncodingToJSON, GA, LOCKED_ON)                                        \
    X(StreamingCollectionEncodingToProtobuf, GA, LOCKED_ON)                                    \
    X(StrictIPCIDRValidation, BETA, ON)                                                        \
    X(StructuredAuthenticationConfiguration, GA, LOCKED_ON)                                    \
    X(StructuredAuthenticationConfigurationEgressSelector, BETA, ON)                           \
    X(StructuredAuthenticationConfigurationJWKSMetrics, BETA, ON)                              \
    X(SupplementalGroupsPolicy, GA, LOCKED_ON)                                                 \
    X(SystemdWatchdog, GA, LOCKED_ON)                                                          \
    X(TaintTolerationComparisonOperators, ALPHA, OFF)                                          \
    X(TokenRequestServiceAccountUIDValidation, BETA, ON)                                       \
    X(TopologyAwareWorkloadScheduling, ALPHA, OFF)                                             \
    X(TopologyManagerPolicyAlphaOptions, ALPHA, OFF)                                           \
    X(TopologyManagerPolicyBetaOptions, BETA, ON)                                              \
    X(TopologyManagerPolicyOptions, GA, LOCKED_ON)                                             \
    X(TranslateStreamCloseWebsocketRequests, BETA, ON)                                         \
    X(UnauthenticatedHTTP2DOSMitigation, BETA, ON)                                             \
    X(UnknownVersionInteroperabilityProxy, BETA, ON)                                           \
    X(UnlockWhileProcessingFIFO, BETA, ON)                                                     \
    X(UserNamespacesHostNetworkSupport, ALPHA, OFF)                                            \
    X(UserNamespacesSupport, GA, LOCKED_ON)                                                    \
    X(VolumeAttributesClass, GA, LOCKED_ON)                                                    \
    X(VolumeLimitScaling, ALPHA, OFF)                                                          \
    X(WatchCacheInitializationPostStartHook, BETA, ON)                                         \
    X(WatchList, BETA, ON)                                                                     \
    X(WatchListClient, BETA, ON)                                                               \
    X(WinDSR, GA, LOCKED_ON)                                                                   \
    X(WinOverlay, GA, LOCKED_ON)                                                               \
    X(WindowsCPUAndMemoryAffinity, ALPHA, OFF)                                                 \
    X(WindowsGracefulNodeShutdown, BETA, ON)                                                   \
    X(WindowsHostNetwork, DEPRECATED, OFF)                                                     \
    X(WorkloadAwarePreemption, ALPHA, OFF)                                                     \
    X(WorkloadWithJob, ALPHA, OFF)

#define GATE_DEPENDENCIES(X)                                                                   \
    X(AuthorizeNodeWithSelectors, GATE_AuthorizeWithSelectors)                                 \
    X(ClusterTrustBundleProjection, GATE_ClusterTrustBundle)                                   \
    X(DRAAdminAccess, GATE_DynamicResourceAllocation)                                          \
    X(DRAConsumableCapacity, GATE_DynamicResourceAllocation)                                   \
    X(DRADeviceBindingConditions, GATE_DRAResourceClaimDeviceStatus,                           \
      GATE_DynamicResourceAllocation)                                                          \
    X(DRADeviceTaintRules, GATE_DRADeviceTaints)                                               \
    X(DRADeviceTaints, GATE_DynamicResourceAllocation)                                         \
    X(DRAExtendedResource, GATE_DynamicResourceAllocation)                                     \
    X(DRAListTypeAttributes, GATE_DynamicResourceAllocation)                                   \
    X(DRANodeAllocatableResources, GATE_DynamicResourceAllocation)                             \
    X(DRAPartitionableDevices, GATE_DynamicResourceAllocation)                                 \
    X(DRAPrioritizedList, GATE_DynamicResourceAllocation)                                      \
    X(DRAResourceClaimGranularStatusAuthorization, GATE_DRAResourceClaimDeviceStatus,          \
      GATE_DynamicResourceAllocation)                                                          \
    X(DRAResourcePoolStatus, GATE_DynamicResourceAllocation)                                   \
    X(DRASchedulerFilterTimeout, GATE_DynamicResourceAllocation)                               \
    X(DRAWorkloadResourceClaims, GATE_DynamicResourceAllocation, GATE_GenericWorkload)         \
    X(DeclarativeValidationBeta, GATE_DeclarativeValidation)                                   \
    X(DeclarativeValidationTakeover, GATE_DeclarativeValidation)                               \
    X(DisableAllocatorDualWrite, GATE_MultiCIDRServiceAllocator)                               \
    X(ExtendWebSocketsToKubelet, GATE_NodeDeclaredFeatures)                                    \
    X(GangScheduling, GATE_GenericWorkload)                                                    \
    X(GracefulNodeShutdownBasedOnPodPriority, GATE_GracefulNodeShutdown)                       \
    X(ImageVolumeWithDigest, GATE_ImageVolume)                                                 \
    X(InPlacePodLevelResourcesVerticalScaling, GATE_InPlacePodVerticalScaling, GATE_NodeDeclaredFeatures,\
      GATE_PodLevelResources)                                                                  \
    X(InPlacePodVerticalScalingExclusiveCPUs, GATE_InPlacePodVerticalScaling)                  \
    X(InPlacePodVerticalScalingExclusiveMemory, GATE_InPlacePodVerticalScaling)                \
    X(InPlacePodVerticalScalingInitContainers, GATE_InPlacePodVerticalScaling,                 \
      GATE_NodeDeclaredFeatures)                                                               \
    X(MatchLabelKeysInPodTopologySpreadSelectorMerge, GATE_MatchLabelKeysInPodTopologySpread)  \
    X(PodCertificateRequest, GATE_AuthorizeNodeWithSelectors)                                  \
    X(PodLevelResourceManagers, GATE_PodLevelResources)                                        \
    X(PodLifecycleSleepActionAllowZero, GATE_PodLifecycleSleepAction)                          \
    X(ProcMountType, GATE_UserNamespacesSupport)                                               \
    X(ResourceHealthStatus, GATE_DynamicResourceAllocation)                                    \
    X(ResourceHealthStatusMessage, GATE_ResourceHealthStatus)                                  \
    X(RestartAllContainersOnContainerExits, GATE_ContainerRestartRules, GATE_NodeDeclaredFeatures)\
    X(ServiceAccountTokenNodeBinding, GATE_ServiceAccountTokenNodeBindingValidation)           \
    X(StaleControllerConsistencyDaemonSet, GATE_AtomicFIFO)                                    \
    X(StaleControllerConsistencyJob, GATE_AtomicFIFO)                                          \
    X(StaleControllerConsistencyReplicaSet, GATE_AtomicFIFO)                                   \
    X(StaleControllerConsistencyStatefulSet, GATE_AtomicFIFO)                                  \
    X(StorageVersionAPI, GATE_APIServerIdentity)                                               \
    X(StructuredAuthenticationConfigurationEgressSelector,                                     \
      GATE_StructuredAuthenticationConfiguration)                                              \
    X(StructuredAuthenticationConfigurationJWKSMetrics, GATE_StructuredAuthenticationConfiguration)\
    X(TopologyAwareWorkloadScheduling, GATE_GenericWorkload)                                   \
    X(UnknownVersionInteroperabilityProxy, GATE_APIServerIdentity)                             \
    X(UserNamespacesHostNetworkSupport, GATE_NodeDeclaredFeatures, GATE_UserNamespacesSupport) \
    X(WindowsGracefulNodeShutdown, GATE_GracefulNodeShutdown)                                  \
    X(WorkloadAwarePreemption, GATE_GangScheduling)                                            \
    X(WorkloadWithJob, GATE_GenericWorkload)
