/* controllers/endpoint_mirror.h - which EndpointSlices mirror an Endpoints object that somebody wrote by hand, and what
 * is to be done about those that there are.
 *
 * One slice for the addresses of each family and set of ports. Upstream: controller/endpointslicemirroring.
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "controllers/endpoint_slices.h"

#define MIRROR_MANAGED_BY "endpointslicemirroring-controller.k8s.io"

enum { MIRRORED_OF_SUBSET_MAX = 1000 };

struct mirror_plan {
    struct slice_action *at;
    size_t n;
    uint32_t n_invalid, n_skipped; /* addresses that are none, and that were left out for any reason */
};

/* Whether it is to be mirrored at all, as far as it says itself. */
bool endpoints_want_mirror(const struct value *endpoints);
/* `slices` are those that mirror it now. */
struct mirror_plan endpoint_mirror_plan(struct arena *a, const struct value *endpoints, const struct value *const *slices,
                                        size_t n_slices);
