/* config/gates.h - the feature gates that kube-scheduler v1.36.4 knows, by ascending name.
 *
 * Most belong to other components and have no effect here; they are known so that one --feature-gates
 * flag can be given to all components alike.
 *
 * GATES: name, stage, default; a locked one keeps its default. GATES_EARLIER: what they were for --emulated-version, up
 * to and with 1.N; as kube-scheduler's metrics and refusals tell it. GATE_DEPENDENCIES: a gate and what must be on with
 * it. */
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

#define GATES_EARLIER(X)                                                                       \
    X(APIServerTracing, 33, BETA, ON)                                                          \
    X(AggregatedDiscoveryRemoveBetaType, 34, DEPRECATED, ON)                                   \
    X(AllowOverwriteTerminationGracePeriodSeconds, 34, DEPRECATED, OFF)                        \
    X(AnonymousAuthConfigurableEndpoints, 33, BETA, ON)                                        \
    X(AtomicFIFO, 35, PREALPHA, OFF)                                                           \
    X(AuthorizeNodeWithSelectors, 33, BETA, ON)                                                \
    X(AuthorizePodWebsocketUpgradeCreatePermission, 34, PREALPHA, OFF)                         \
    X(AuthorizeWithSelectors, 33, BETA, ON)                                                    \
    X(CRDObservedGenerationTracking, 34, PREALPHA, OFF)                                        \
    X(CRDObservedGenerationTracking, 35, BETA, OFF)                                            \
    X(CRIListStreaming, 35, PREALPHA, OFF)                                                     \
    X(CSIServiceAccountTokenSecrets, 34, PREALPHA, OFF)                                        \
    X(CSIServiceAccountTokenSecrets, 35, BETA, ON)                                             \
    X(ChangeContainerStatusOnKubeletRestart, 34, GA, ON)                                       \
    X(ClearingNominatedNodeNameAfterBinding, 33, PREALPHA, OFF)                                \
    X(ClearingNominatedNodeNameAfterBinding, 34, ALPHA, OFF)                                   \
    X(ClientsAllowCARotation, 35, PREALPHA, OFF)                                               \
    X(ClientsAllowTLSCacheGC, 35, PREALPHA, OFF)                                               \
    X(CloudControllerManagerWatchBasedRoutesReconciliation, 34, PREALPHA, OFF)                 \
    X(ComponentFlagz, 35, ALPHA, OFF)                                                          \
    X(ComponentStatusz, 35, ALPHA, OFF)                                                        \
    X(ConsistentListFromCache, 33, BETA, ON)                                                   \
    X(ConstrainedImpersonation, 34, PREALPHA, OFF)                                             \
    X(ConstrainedImpersonation, 35, ALPHA, OFF)                                                \
    X(ContainerRestartRules, 33, PREALPHA, OFF)                                                \
    X(ContainerRestartRules, 34, ALPHA, OFF)                                                   \
    X(CustomCPUCFSQuotaPeriod, 35, ALPHA, OFF)                                                 \
    X(DRAAdminAccess, 33, ALPHA, OFF)                                                          \
    X(DRAAdminAccess, 35, BETA, ON)                                                            \
    X(DRAConsumableCapacity, 33, PREALPHA, OFF)                                                \
    X(DRAConsumableCapacity, 35, ALPHA, OFF)                                                   \
    X(DRADeviceBindingConditions, 33, PREALPHA, OFF)                                           \
    X(DRADeviceBindingConditions, 35, ALPHA, OFF)                                              \
    X(DRADeviceTaintRules, 34, PREALPHA, OFF)                                                  \
    X(DRADeviceTaintRules, 35, ALPHA, OFF)                                                     \
    X(DRADeviceTaints, 35, ALPHA, OFF)                                                         \
    X(DRAExtendedResource, 33, PREALPHA, OFF)                                                  \
    X(DRAExtendedResource, 35, ALPHA, OFF)                                                     \
    X(DRAListTypeAttributes, 35, PREALPHA, OFF)                                                \
    X(DRANodeAllocatableResources, 35, PREALPHA, OFF)                                          \
    X(DRAPartitionableDevices, 35, ALPHA, OFF)                                                 \
    X(DRAPrioritizedList, 33, ALPHA, OFF)                                                      \
    X(DRAPrioritizedList, 35, BETA, ON)                                                        \
    X(DRAResourceClaimGranularStatusAuthorization, 35, PREALPHA, OFF)                          \
    X(DRAResourcePoolStatus, 35, PREALPHA, OFF)                                                \
    X(DRASchedulerFilterTimeout, 33, PREALPHA, OFF)                                            \
    X(DRAWorkloadResourceClaims, 35, PREALPHA, OFF)                                            \
    X(DeclarativeValidation, 35, BETA, ON)                                                     \
    X(DeclarativeValidationBeta, 35, PREALPHA, OFF)                                            \
    X(DeclarativeValidationTakeover, 35, BETA, OFF)                                            \
    X(DeploymentReplicaSetTerminatingReplicas, 34, ALPHA, OFF)                                 \
    X(DetectCacheInconsistency, 33, PREALPHA, OFF)                                             \
    X(DisableAllocatorDualWrite, 33, BETA, OFF)                                                \
    X(DisableAllocatorDualWrite, 34, GA, ON)                                                   \
    X(DisableCPUQuotaWithExclusiveCPUs, 35, BETA, ON)                                          \
    X(DisableNodeKubeProxyVersion, 35, DEPRECATED, ON)                                         \
    X(DynamicResourceAllocation, 33, BETA, OFF)                                                \
    X(DynamicResourceAllocation, 34, GA, ON)                                                   \
    X(EnvFiles, 33, PREALPHA, OFF)                                                             \
    X(EnvFiles, 34, ALPHA, OFF)                                                                \
    X(ExecProbeTimeout, 34, GA, ON)                                                            \
    X(ExtendWebSocketsToKubelet, 35, PREALPHA, OFF)                                            \
    X(ExternalServiceAccountTokenSigner, 33, ALPHA, OFF)                                       \
    X(ExternalServiceAccountTokenSigner, 35, BETA, ON)                                         \
    X(GangScheduling, 34, PREALPHA, OFF)                                                       \
    X(GenericWorkload, 34, PREALPHA, OFF)                                                      \
    X(GitRepoVolumeDriver, 35, DEPRECATED, OFF)                                                \
    X(HPAConfigurableTolerance, 34, ALPHA, OFF)                                                \
    X(HostnameOverride, 33, PREALPHA, OFF)                                                     \
    X(HostnameOverride, 34, ALPHA, OFF)                                                        \
    X(ImageMaximumGCAge, 34, BETA, ON)                                                         \
    X(ImageVolume, 34, BETA, OFF)                                                              \
    X(ImageVolume, 35, BETA, ON)                                                               \
    X(ImageVolumeWithDigest, 34, PREALPHA, OFF)                                                \
    X(InOrderInformers, 35, BETA, ON)                                                          \
    X(InOrderInformersBatchProcess, 34, PREALPHA, OFF)                                         \
    X(InPlacePodLevelResourcesVerticalScaling, 34, PREALPHA, OFF)                              \
    X(InPlacePodLevelResourcesVerticalScaling, 35, ALPHA, OFF)                                 \
    X(InPlacePodVerticalScaling, 34, BETA, ON)                                                 \
    X(InPlacePodVerticalScalingExclusiveMemory, 33, PREALPHA, OFF)                             \
    X(InPlacePodVerticalScalingInitContainers, 35, PREALPHA, OFF)                              \
    X(InformerResourceVersion, 34, ALPHA, OFF)                                                 \
    X(JobManagedBy, 34, BETA, ON)                                                              \
    X(JobPodReplacementPolicy, 33, BETA, ON)                                                   \
    X(KubeletCgroupDriverFromCRI, 33, BETA, ON)                                                \
    X(KubeletCrashLoopBackOffMax, 34, ALPHA, OFF)                                              \
    X(KubeletEnsureSecretPulledImages, 34, ALPHA, OFF)                                         \
    X(KubeletFineGrainedAuthz, 35, BETA, ON)                                                   \
    X(KubeletPSI, 33, ALPHA, OFF)                                                              \
    X(KubeletPSI, 35, BETA, ON)                                                                \
    X(KubeletPodResourcesDynamicResources, 33, ALPHA, OFF)                                     \
    X(KubeletPodResourcesDynamicResources, 35, BETA, ON)                                       \
    X(KubeletPodResourcesGet, 33, ALPHA, OFF)                                                  \
    X(KubeletPodResourcesGet, 35, BETA, ON)                                                    \
    X(KubeletPodResourcesListUseActivePods, 33, GA, OFF)                                       \
    X(KubeletServiceAccountTokenForCredentialProviders, 33, ALPHA, OFF)                        \
    X(KubeletTracing, 33, BETA, ON)                                                            \
    X(ListFromCacheSnapshot, 33, ALPHA, OFF)                                                   \
    X(ManifestBasedAdmissionControlConfig, 35, PREALPHA, OFF)                                  \
    X(MatchLabelKeysInPodTopologySpreadSelectorMerge, 33, PREALPHA, OFF)                       \
    X(MaxUnavailableStatefulSet, 34, ALPHA, OFF)                                               \
    X(MultiCIDRServiceAllocator, 33, GA, ON)                                                   \
    X(MutableCSINodeAllocatableCount, 33, ALPHA, OFF)                                          \
    X(MutableCSINodeAllocatableCount, 34, BETA, OFF)                                           \
    X(MutableCSINodeAllocatableCount, 35, BETA, ON)                                            \
    X(MutablePVNodeAffinity, 34, PREALPHA, OFF)                                                \
    X(MutablePodResourcesForSuspendedJobs, 34, PREALPHA, OFF)                                  \
    X(MutablePodResourcesForSuspendedJobs, 35, ALPHA, OFF)                                     \
    X(MutableSchedulingDirectivesForSuspendedJobs, 34, PREALPHA, OFF)                          \
    X(MutableSchedulingDirectivesForSuspendedJobs, 35, ALPHA, OFF)                             \
    X(MutatingAdmissionPolicy, 33, ALPHA, OFF)                                                 \
    X(MutatingAdmissionPolicy, 35, BETA, OFF)                                                  \
    X(NativeHistograms, 35, PREALPHA, OFF)                                                     \
    X(NodeDeclaredFeatures, 34, PREALPHA, OFF)                                                 \
    X(NodeDeclaredFeatures, 35, ALPHA, OFF)                                                    \
    X(NodeLogQuery, 35, BETA, OFF)                                                             \
    X(NodeSwap, 33, BETA, ON)                                                                  \
    X(NominatedNodeNameForExpectation, 33, PREALPHA, OFF)                                      \
    X(NominatedNodeNameForExpectation, 34, ALPHA, OFF)                                         \
    X(OpportunisticBatching, 34, PREALPHA, OFF)                                                \
    X(OrderedNamespaceDeletion, 33, BETA, ON)                                                  \
    X(PLEGOnDemandRelist, 35, PREALPHA, OFF)                                                   \
    X(PersistentVolumeClaimUnusedSinceTime, 35, PREALPHA, OFF)                                 \
    X(PodCertificateRequest, 33, PREALPHA, OFF)                                                \
    X(PodCertificateRequest, 34, ALPHA, OFF)                                                   \
    X(PodLevelResourceManagers, 35, PREALPHA, OFF)                                             \
    X(PodLevelResources, 33, ALPHA, OFF)                                                       \
    X(PodLifecycleSleepAction, 33, BETA, ON)                                                   \
    X(PodLifecycleSleepActionAllowZero, 33, BETA, ON)                                          \
    X(PodObservedGenerationTracking, 33, ALPHA, OFF)                                           \
    X(PodObservedGenerationTracking, 34, BETA, ON)                                             \
    X(PodTopologyLabelsAdmission, 34, ALPHA, OFF)                                              \
    X(PodsAPI, 35, PREALPHA, OFF)                                                              \
    X(PreferSameTrafficDistribution, 33, ALPHA, OFF)                                           \
    X(PreferSameTrafficDistribution, 34, BETA, ON)                                             \
    X(PreventStaticPodAPIReferences, 33, PREALPHA, OFF)                                        \
    X(ProcMountType, 35, BETA, ON)                                                             \
    X(RecoverVolumeExpansionFailure, 33, BETA, ON)                                             \
    X(RelaxedDNSSearchValidation, 33, BETA, ON)                                                \
    X(RelaxedEnvironmentVariableValidation, 33, BETA, ON)                                      \
    X(RelaxedServiceNameValidation, 33, PREALPHA, OFF)                                         \
    X(RelaxedServiceNameValidation, 35, ALPHA, OFF)                                            \
    X(ReloadKubeletClientCAFile, 35, PREALPHA, OFF)                                            \
    X(ResilientWatchCacheInitialization, 33, BETA, ON)                                         \
    X(ResourceHealthStatus, 35, ALPHA, OFF)                                                    \
    X(ResourceHealthStatusMessage, 35, PREALPHA, OFF)                                          \
    X(RestartAllContainersOnContainerExits, 34, PREALPHA, OFF)                                 \
    X(RestartAllContainersOnContainerExits, 35, ALPHA, OFF)                                    \
    X(SELinuxChangePolicy, 35, BETA, ON)                                                       \
    X(SELinuxMountReadWriteOncePod, 35, BETA, ON)                                              \
    X(SchedulerAsyncAPICalls, 33, PREALPHA, OFF)                                               \
    X(SchedulerQueueingHints, 33, BETA, ON)                                                    \
    X(SeparateCacheWatchRPC, 35, DEPRECATED, OFF)                                              \
    X(SeparateTaintEvictionController, 33, BETA, ON)                                           \
    X(ServiceCIDRStatusFieldWiping, 35, GA, OFF)                                               \
    X(ShardedListAndWatch, 35, PREALPHA, OFF)                                                  \
    X(SizeBasedListCostEstimate, 33, PREALPHA, OFF)                                            \
    X(StaleControllerConsistencyDaemonSet, 35, PREALPHA, OFF)                                  \
    X(StaleControllerConsistencyJob, 35, PREALPHA, OFF)                                        \
    X(StaleControllerConsistencyReplicaSet, 35, PREALPHA, OFF)                                 \
    X(StaleControllerConsistencyStatefulSet, 35, PREALPHA, OFF)                                \
    X(StorageVersionMigrator, 34, ALPHA, OFF)                                                  \
    X(StreamingCollectionEncodingToJSON, 33, BETA, ON)                                         \
    X(StreamingCollectionEncodingToProtobuf, 33, BETA, ON)                                     \
    X(StrictIPCIDRValidation, 35, ALPHA, OFF)                                                  \
    X(StructuredAuthenticationConfiguration, 33, BETA, ON)                                     \
    X(StructuredAuthenticationConfigurationEgressSelector, 33, PREALPHA, OFF)                  \
    X(StructuredAuthenticationConfigurationJWKSMetrics, 34, PREALPHA, OFF)                     \
    X(SupplementalGroupsPolicy, 34, BETA, ON)                                                  \
    X(SystemdWatchdog, 34, BETA, ON)                                                           \
    X(TaintTolerationComparisonOperators, 34, PREALPHA, OFF)                                   \
    X(TokenRequestServiceAccountUIDValidation, 33, PREALPHA, OFF)                              \
    X(TopologyAwareWorkloadScheduling, 35, PREALPHA, OFF)                                      \
    X(UnknownVersionInteroperabilityProxy, 35, ALPHA, OFF)                                     \
    X(UnlockWhileProcessingFIFO, 35, PREALPHA, OFF)                                            \
    X(UserNamespacesHostNetworkSupport, 34, PREALPHA, OFF)                                     \
    X(UserNamespacesSupport, 35, BETA, ON)                                                     \
    X(VolumeAttributesClass, 33, BETA, OFF)                                                    \
    X(VolumeAttributesClass, 35, GA, ON)                                                       \
    X(VolumeLimitScaling, 34, PREALPHA, OFF)                                                   \
    X(WatchCacheInitializationPostStartHook, 35, BETA, OFF)                                    \
    X(WatchList, 33, BETA, OFF)                                                                \
    X(WatchListClient, 34, BETA, OFF)                                                          \
    X(WinDSR, 33, BETA, ON)                                                                    \
    X(WinOverlay, 33, BETA, ON)                                                                \
    X(WindowsGracefulNodeShutdown, 33, ALPHA, OFF)                                             \
    X(WorkloadAwarePreemption, 35, PREALPHA, OFF)                                              \
    X(WorkloadWithJob, 35, PREALPHA, OFF)

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
