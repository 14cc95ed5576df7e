/* sim/defaults.h - what admission and the API server's defaults would have added to pods and nodes, as far as scheduling
 * looks at it. Objects that come from a server have it already and stay as they are.
 *
 * Thread: one. Memory: the input's arena. */
#pragma once

#include "sim/input.h"

/* Of a pod: scheduler name, requests from limits, priority from its class. Of a node: allocatable from capacity. Of a claim:
 * the default storage class. Other kinds stay as they are. */
void sim_defaults(struct sim_input *in, struct sim_object *o);
