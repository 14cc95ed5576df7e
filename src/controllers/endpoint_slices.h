/* controllers/endpoint_slices.h - which EndpointSlices a service should have, and what is to be done about those it has.
 *
 * Upstream: the module endpointslice, reconciler.go. Slices stay as they are as far as possible: an endpoint stays in the slice
 * where it is, new ones go to slices that change anyway, then to the fullest one in which all fit, then to new slices.
 *
 * Not there: hints of the annotation service.kubernetes.io/topology-mode (those of spec.trafficDistribution are).
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/value.h"

#define SLICE_MANAGED_BY "endpointslice-controller.k8s.io"

enum { ENDPOINTS_OF_SLICE_MAX = 100 };

struct slice_state {
    const struct value *service;
    const struct value *const *pods; /* that its selector chooses */
    size_t n_pods;
    const struct value *const *slices; /* of the service and ours, none of them being deleted */
    size_t n_slices;
    /* NULL: there is no such node. */
    const struct value *(*node)(void *context, struct str name);
    void *context;
    bool changed; /* when what is behind the service changed */
    int64_t changed_s;
};

enum slice_verb { SLICE_CREATE, SLICE_UPDATE, SLICE_DELETE };

struct slice_action {
    enum slice_verb verb;
    struct value slice; /* to be deleted: as it is */
};

struct slice_plan {
    struct slice_action *at;
    size_t n;
    bool incomplete; /* a pod was left out as its node is unknown: look again */
};

const struct type *slice_type(void);
struct slice_plan endpoint_slices_plan(struct arena *a, const struct slice_state *s);
