/* daemon/watched.c - see watched.h. */
#include "daemon/watched.h"

const struct watched_row watched_rows[N_WATCHED] = {
    [WATCHED_NODES] = { "/api/v1/nodes", NULL, N_OBJECT_KINDS },
    [WATCHED_PODS] = { "/api/v1/pods", "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed",
                        N_OBJECT_KINDS },
    [WATCHED_NAMESPACES] = { "/api/v1/namespaces", NULL, OBJECT_NAMESPACE },
    [WATCHED_SERVICES] = { "/api/v1/services", NULL, OBJECT_SERVICE },
    [WATCHED_REPLICATION_CONTROLLERS] = { "/api/v1/replicationcontrollers", NULL, OBJECT_REPLICATION_CONTROLLER },
    [WATCHED_REPLICA_SETS] = { "/apis/apps/v1/replicasets", NULL, OBJECT_REPLICA_SET },
    [WATCHED_STATEFUL_SETS] = { "/apis/apps/v1/statefulsets", NULL, OBJECT_STATEFUL_SET },
    [WATCHED_PERSISTENT_VOLUMES] = { "/api/v1/persistentvolumes", NULL, OBJECT_PERSISTENT_VOLUME },
    [WATCHED_PERSISTENT_VOLUME_CLAIMS] = { "/api/v1/persistentvolumeclaims", NULL, OBJECT_PERSISTENT_VOLUME_CLAIM },
    [WATCHED_STORAGE_CLASSES] = { "/apis/storage.k8s.io/v1/storageclasses", NULL, OBJECT_STORAGE_CLASS },
    [WATCHED_CSI_NODES] = { "/apis/storage.k8s.io/v1/csinodes", NULL, OBJECT_CSI_NODE },
    [WATCHED_CSI_DRIVERS] = { "/apis/storage.k8s.io/v1/csidrivers", NULL, OBJECT_CSI_DRIVER },
    [WATCHED_CSI_STORAGE_CAPACITIES] = { "/apis/storage.k8s.io/v1/csistoragecapacities", NULL,
                                          OBJECT_CSI_STORAGE_CAPACITY },
    [WATCHED_VOLUME_ATTACHMENTS] = { "/apis/storage.k8s.io/v1/volumeattachments", NULL, OBJECT_VOLUME_ATTACHMENT },
    [WATCHED_BUDGETS] = { "/apis/policy/v1/poddisruptionbudgets", NULL, OBJECT_BUDGET },
    [WATCHED_RESOURCE_CLAIMS] = { "/apis/resource.k8s.io/v1/resourceclaims", NULL, OBJECT_RESOURCE_CLAIM, true },
    [WATCHED_RESOURCE_SLICES] = { "/apis/resource.k8s.io/v1/resourceslices", NULL, OBJECT_RESOURCE_SLICE, true },
    [WATCHED_DEVICE_CLASSES] = { "/apis/resource.k8s.io/v1/deviceclasses", NULL, OBJECT_DEVICE_CLASS, true },
};
