/* controllers/endpoints_plan.h - the Endpoints object that a service should have.
 *
 * Upstream: controller/endpoint and api/v1/endpoints: addresses by port, then packed so that addresses with the same ports
 * stand together; ready and not ready, at most ENDPOINTS_MAX in all.
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/value.h"

enum { ENDPOINTS_MAX = 1000 };

struct endpoints_state {
    const struct value *service;
    const struct value *const *pods; /* that its selector chooses */
    size_t n_pods;
    const struct value *endpoints; /* NULL: there are none yet */
    bool changed;                  /* when what is behind the service changed */
    int64_t changed_s;
};

const struct type *endpoints_type(void);
/* False: they are right as they are. */
bool endpoints_plan(struct arena *a, const struct endpoints_state *s, struct value *ret_endpoints);
/* The same addresses and ports in the form that this has. */
struct value endpoints_repack(struct arena *a, const struct value *subsets);
