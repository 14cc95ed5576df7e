/* sim/other_resources.h - how much is used of the resources beside CPU, memory and the number of pods: extended ones,
 * huge pages, ephemeral storage.
 *
 * Counted when somebody asks, from the pods of a world that was run. A resource is listed when a node has some of it,
 * and ephemeral storage, which every node has, only when a pod asks for it.
 *
 * Thread: one. Owns: its lists; names are the sym table's. */
#pragma once

#include "sim/world.h"

enum { SIM_OTHER_RESOURCES_MAX = 256 }; /* more are left out */

struct sim_resource_use {
    int64_t allocatable, before, after; /* units; bytes of storage and huge pages */
};

struct sim_resource {
    const char *name;
    struct sim_resource_use total;
    struct sim_resource_use *nodes; /* by the world's nodes */
    uint32_t n_nodes;               /* that have some */
};

struct sim_other_resources {
    struct arena arena;
    struct map_str by_name; /* -> index, while they are counted */
    VEC(struct sim_resource) all; /* by name */
};

void sim_other_resources_init(struct sim_other_resources *o, const struct sim_world *w);
void sim_other_resources_fini(struct sim_other_resources *o);
