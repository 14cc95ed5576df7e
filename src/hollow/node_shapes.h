/* hollow/node_shapes.h - which hollow nodes there are to be: so many of one shape, or what a file says.
 *
 *     apiVersion: berth.dev/v1alpha1      both may be left out
 *     kind: HollowNodes
 *     nodes:
 *     - name: worker                      worker-0 to worker-99; without a count: one, named worker
 *       count: 100
 *       capacity: {cpu: "8", memory: 32Gi, pods: "110", nvidia.com/gpu: "2"}
 *       zones: [a, b, c]                  one after the other
 *       labels: {disk: ssd}
 *       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
 *       images: [{names: ["nginx:1.27"], sizeBytes: 70000000}]
 *       csiDrivers: [{name: csi.example.com, volumes: 25, topologyKeys: [topology.kubernetes.io/zone]}]
 *
 * Each shape is checked as the API server checks nodes, before anything is made.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"
#include "base/err.h"

enum {
    NODE_SHAPES_BYTES_MAX = 4 << 20, /* of a file */
    HOLLOW_NODES_MAX = 32768,        /* a /24 for each, below 10.128.0.0/9 */
    HOLLOW_NODE_PODS_MAX = 4096,
};

/* One node that is to be. */
struct node_shape {
    const struct value *shape; /* of HollowNodeShape */
    struct str name;
    struct str zone;    /* empty: none */
    uint32_t number;    /* among all nodes; its addresses follow from it */
    uint32_t host_bits; /* of its pods' network: the same for all */
};

struct node_shapes {
    struct node_shape *at;
    uint32_t n;
};

/* node-0, node-1...: 4 CPUs, 16Gi, 110 pods, zones zone-a to zone-c. */
enum err_code node_shapes_default(struct arena *a, int64_t n, struct node_shapes *ret_shapes, struct err *e) ERR_MUST_CHECK;
/* Out of YAML or JSON. */
enum err_code node_shapes_parse(struct arena *a, struct str text, struct node_shapes *ret_shapes, struct err *e) ERR_MUST_CHECK;
