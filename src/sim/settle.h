/* sim/settle.h - a cluster as a run has left it, to be changed and run again.
 *
 * A what-if asks what a change does to a cluster that stands: pods that found a node keep it, volumes stay bound, and
 * only pods that still wait, or that the change takes from their nodes, are tried (again). So the plain run comes first,
 * and changes (change.h) are applied to what this makes of its end.
 *
 * Pods that the run placed are marked so: reports still say that it was a run that placed them. Evicted pods are gone,
 * those that took their place (NAME-again) are there, and everything that expansion made is part of the input.
 *
 * Thread: one, the owner of the sym table. */
#pragma once

#include "sim/world.h"

/* `world` was run; its input must live longer than `to` and stay as it is. The warnings are those of the world. */
void sim_settle(struct sim_input *to, struct sim_world *world);
