/* sim/defaults.h - what admission and the API server's defaults would have added to pods and nodes, as
 * far as scheduling looks at it. Objects that come from a server have it already and stay as they are.
 *
 * Thread: one. Memory: the input's arena. */
#pragma once

#include "sim/input.h"

/* The classes for objects that name none. */
struct sim_default_classes {
    struct sim_object priority, storage; /* copies; type NULL: there is none */
};
struct sim_default_classes sim_default_classes(const struct sim_input *in);

/* Of a pod: scheduler name, requests from limits, priority from its class. Of a node: allocatable from
 * capacity. Of a claim: the default storage class. Of a volume: that it is available. Other kinds stay
 * as they are. */
void sim_defaults(struct sim_input *in, struct sim_default_classes classes, struct sim_object *o);
/* Of the value of a pod: whether defaults would change nothing, as they have gone over it on a server. */
bool sim_pod_is_complete(const struct value *pod);
