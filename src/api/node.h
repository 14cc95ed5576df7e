/* api/node.h - a Node as the scheduler sees it. See typed.h for ownership. */
#pragma once

#include "api/pod.h"

enum { /* flags of a node */
    NODE_UNSCHEDULABLE = 1 << 0, /* spec.unschedulable */
    NODE_HAS_RESTART_ALL = 1 << 1,    /* declares RestartAllContainersOnContainerExits */
    NODE_HAS_USERNS_HOSTNET = 1 << 2, /* declares UserNamespacesHostNetworkSupport */
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
    const struct node_image *images; /* one entry a name */
    const sym *declared_features;    /* ascending */
    uint64_t conditions_hash, annotations_hash; /* equal when type->status of conditions, annotations are equal */
    uint32_t n_taints, n_images, n_declared_features;
};

enum err_code node_decode(struct sym_table *syms, enum typed_format format, struct str bytes,
                          const struct node **ret_node, struct err *e) ERR_MUST_CHECK;
const struct node *node_ref(const struct node *n);
void node_unref(struct sym_table *syms, const struct node *n);
