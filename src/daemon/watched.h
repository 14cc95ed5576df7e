/* daemon/watched.h - what a live scheduler watches, in one table.
 *
 * Thread: any. Memory: constant. */
#pragma once

#include "sched/objects.h"

enum watched {
    WATCHED_NODES, /* first: pods come to nodes that are there */
    WATCHED_PODS,
    WATCHED_NAMESPACES,
    WATCHED_SERVICES,
    WATCHED_REPLICATION_CONTROLLERS,
    WATCHED_REPLICA_SETS,
    WATCHED_STATEFUL_SETS,
    WATCHED_PERSISTENT_VOLUMES,
    WATCHED_PERSISTENT_VOLUME_CLAIMS,
    WATCHED_STORAGE_CLASSES,
    WATCHED_CSI_NODES,
    WATCHED_CSI_DRIVERS,
    WATCHED_CSI_STORAGE_CAPACITIES,
    WATCHED_VOLUME_ATTACHMENTS,
    WATCHED_BUDGETS,
    WATCHED_RESOURCE_CLAIMS,
    WATCHED_RESOURCE_SLICES,
    WATCHED_DEVICE_CLASSES,
    N_WATCHED
};

struct watched_row {
    const char *path;
    const char *selector;  /* of the query, escaped; NULL: all */
    enum object_kind kind; /* of all but nodes and pods */
    bool may_be_missing;   /* older servers do not serve it: then there are none */
};

extern const struct watched_row watched_rows[N_WATCHED];
