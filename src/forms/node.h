/* forms/node.h - a Node as the scheduler sees it. See typed.h for ownership. */
#pragma once

#include "forms/pod.h"

enum { /* flags of a node */
    NODE_UNSCHEDULABLE = 1 << 0,      /* spec.unschedulable */
    NODE_HAS_RESTART_ALL = 1 << 1,    /* declares RestartAllContainersOnContainerExits */
    NODE_HAS_USERNS_HOSTNET = 1 << 2, /* declares UserNamespacesHostNetworkSupport */
    /* Conditions that older releases looked at: */
    NODE_NOT_READY = 1 << 3,           /* Ready is given and not True */
    NODE_OUT_OF_DISK = 1 << 4,         /* OutOfDisk is given and not False */
    NODE_NETWORK_UNAVAILABLE = 1 << 5, /* likewise */
    NODE_MEMORY_PRESSURE = 1 << 6,     /* True */
    NODE_DISK_PRESSURE = 1 << 7,
    NODE_PID_PRESSURE = 1 << 8,
    NODE_SAYS_READY = 1 << 9, /* the last Ready condition is True */
};

/* A controller whose pods the node would rather not have: annotation scheduler.alpha.kubernetes.io/preferAvoidPods. */
struct avoided_controller {
    sym kind, uid;
};

struct node_image {
    sym name;
    int64_t size_bytes;
};

struct node {
    struct typed typed;
    struct typed_meta meta;
    sym name; /* as sym, for metadata.name in selectors */
    uint32_t flags;
    struct amounts allocatable;
    const struct taint_form *taints; /* in the order of the object */
    const struct node_image *images; /* one entry a name, ascending; the first size given for it */
    const sym *declared_features;    /* ascending */
    /* Equal when type and status of all conditions, all annotations are equal; within one process. */
    uint64_t conditions_hash, annotations_hash;
    const struct avoided_controller *avoids;
    uint32_t n_taints, n_images, n_declared_features, n_avoids;
};

TYPED_FUNCTIONS(node);
/* The same taints in the same order. */
bool node_taints_equal(const struct node *a, const struct node *b);
/* A form of its own out of a copy of a node's struct in which members were changed. */
const struct node *node_of_changed(struct sym_table *syms, const struct node *changed);
