/* controllers/node_ttl.h - how long kubelets may keep what they read of Secrets and ConfigMaps: longer, the more nodes there are.
 *
 * Upstream: controller/ttl. Thread: any. */
#pragma once

#include <stdint.h>

/* The step of a cluster that was at `step` and has so many nodes now: there is some play, so that it does not go to and fro. */
int node_ttl_step(int step, uint32_t n_nodes);
int node_ttl_seconds(int step);
