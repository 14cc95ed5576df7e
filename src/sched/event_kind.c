/* sched/event_kind.c - see event_kind.h. */
#include "sched/event_kind.h"

#define RESOURCES(X)                                             \
    X(RES_POD, "Pod")                                            \
    X(RES_ASSIGNED_POD, "AssignedPod")                           \
    X(RES_UNSCHEDULED_POD, "UnschedulablePod")                   \
    X(RES_NODE, "Node")                                          \
    X(RES_PERSISTENT_VOLUME, "PersistentVolume")                 \
    X(RES_PERSISTENT_VOLUME_CLAIM, "PersistentVolumeClaim")      \
    X(RES_CSI_NODE, "storage.k8s.io/CSINode")                    \
    X(RES_CSI_DRIVER, "storage.k8s.io/CSIDriver")                \
    X(RES_VOLUME_ATTACHMENT, "storage.k8s.io/VolumeAttachment")  \
    X(RES_CSI_STORAGE_CAPACITY, "storage.k8s.io/CSIStorageCapacity") \
    X(RES_STORAGE_CLASS, "storage.k8s.io/StorageClass")          \
    X(RES_RESOURCE_CLAIM, "resource.k8s.io/ResourceClaim")       \
    X(RES_RESOURCE_SLICE, "resource.k8s.io/ResourceSlice")       \
    X(RES_DEVICE_CLASS, "resource.k8s.io/DeviceClass")           \
    X(RES_POD_GROUP, "scheduling.k8s.io/PodGroup")               \
    X(RES_ANY, "*")

/* In the order of their bits, then the two sets that have a name. */
#define LABELS_OF(name)                                                                    \
    {                                                                                      \
        name "Add", name "Delete", name "UpdateNodeAllocatable", name "UpdateNodeLabel",   \
        name "UpdateNodeTaint", name "UpdateNodeCondition", name "UpdateNodeAnnotation",   \
        name "UpdateNodeDeclaredFeature", name "UpdatePodLabel", name "UpdatePodScaleDown", \
        name "UpdatePodToleration", name "UpdatePodSchedulingGatesEliminated",             \
        name "UpdatePodGeneratedResourceClaim", name "Update", name "All",                 \
    }

enum { N_ACTION_BITS = N_EVENT_ACTIONS - 2, INDEX_UPDATE = N_ACTION_BITS, INDEX_ALL };
_Static_assert(ACT_ALL == (1 << N_ACTION_BITS) - 1, "a label for every action");

static const char *const labels[N_EVENT_RESOURCES][N_EVENT_ACTIONS] = {
#define X(resource, name) [resource] = LABELS_OF(name),
    RESOURCES(X)
#undef X
};

static const char *const names[N_EVENT_RESOURCES] = {
#define X(resource, name) [resource] = name,
    RESOURCES(X)
#undef X
};

static const char *const causes[N_EVENT_KINDS - KIND_SCHEDULE_ATTEMPT_FAILURE] = {
    "ScheduleAttemptFailure", "BackoffComplete", "PopFromBackoffQ", LABEL_FORCE_ACTIVATE,
    LABEL_UNSCHEDULABLE_TIMEOUT, "",
};

/* The index of the action among the labels of a resource, or N_EVENT_ACTIONS. */
static uint16_t action_index(uint32_t action)
{
    if (action == ACT_UPDATE)
        return INDEX_UPDATE;
    if (action == ACT_ALL)
        return INDEX_ALL;
    bool is_one_bit = action != 0 && action < ACT_ALL && (action & (action - 1)) == 0;
    return is_one_bit ? (uint16_t)__builtin_ctz(action) : N_EVENT_ACTIONS;
}

uint16_t event_kind(const struct cluster_event *e)
{
    if (e->label && strcmp(e->label, LABEL_FORCE_ACTIVATE) == 0)
        return KIND_FORCE_ACTIVATE;
    if (e->label && strcmp(e->label, LABEL_UNSCHEDULABLE_TIMEOUT) == 0)
        return KIND_UNSCHEDULABLE_TIMEOUT;
    uint16_t index = action_index(e->action);
    if (index == N_EVENT_ACTIONS || (unsigned)e->resource >= N_EVENT_RESOURCES)
        return KIND_OTHER;
    return (uint16_t)(e->resource * N_EVENT_ACTIONS + index);
}

const char *event_kind_label(uint16_t kind)
{
    assert(kind < N_EVENT_KINDS);
    if (kind >= KIND_SCHEDULE_ATTEMPT_FAILURE)
        return causes[kind - KIND_SCHEDULE_ATTEMPT_FAILURE];
    return labels[kind / N_EVENT_ACTIONS][kind % N_EVENT_ACTIONS];
}

const char *event_resource_name(enum event_resource resource)
{
    assert((unsigned)resource < N_EVENT_RESOURCES);
    return names[resource];
}
