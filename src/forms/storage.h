/* forms/storage.h - the kinds of storage.k8s.io as the scheduler sees them. See typed.h for ownership. */
#pragma once

#include "forms/volume.h"

enum binding_mode { BINDING_NOT_GIVEN, BINDING_IMMEDIATE, BINDING_WAIT_FOR_FIRST_CONSUMER, BINDING_OTHER };

struct storage_class {
    struct typed typed;
    struct typed_meta meta;
    sym provisioner;
    uint32_t binding_mode;                /* enum binding_mode */
    struct node_rules allowed_topologies; /* not given: every node */
};

TYPED_FUNCTIONS(storage_class);

struct csi_node_driver {
    sym name;
    int32_t count; /* of volumes that may be attached; -1: not limited */
};

struct csi_node {
    struct typed typed;
    struct typed_meta meta; /* named as the node */
    const struct csi_node_driver *drivers;
    const sym *migrated_plugins; /* annotation storage.alpha.kubernetes.io/migrated-plugins; ascending */
    uint32_t n_drivers, n_migrated_plugins;
};

TYPED_FUNCTIONS(csi_node);

struct csi_driver {
    struct typed typed;
    struct typed_meta meta;
    bool storage_capacity; /* its capacities are to be looked at */
    bool prevent_pod_scheduling_if_missing;
};

TYPED_FUNCTIONS(csi_driver);

struct csi_storage_capacity {
    struct typed typed;
    struct typed_meta meta;
    sym storage_class;
    struct matcher node_topology; /* MATCHER_NOTHING when not given */
    struct storage_amount capacity, maximum_volume_size;
};

TYPED_FUNCTIONS(csi_storage_capacity);

struct volume_attachment {
    struct typed typed;
    struct typed_meta meta;
    sym attacher, node_name;
    const char *volume_name; /* of the persistent volume; NULL: not given */
};

TYPED_FUNCTIONS(volume_attachment);
