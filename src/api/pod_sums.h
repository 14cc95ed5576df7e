/* api/pod_sums.h - what a pod asks for in all, of its generic value.
 *
 * Containers run at once, init containers one after another before them, those that restart always beside all that
 * follows; overhead is added. Requests of the pod as a whole take the place of the sum.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

/* `which` is "requests" or "limits". A map from resources to quantities; amounts that are none count as 0. */
struct value pod_sum(struct arena *a, const struct value *pod, const char *which);
/* Of a pod spec, and of its containers alone. */
struct value pod_sum_containers(struct arena *a, const struct value *spec, const char *which);

/* Quality of service BestEffort: no container, and not the pod as a whole, asks for or is limited in CPU or memory. */
bool pod_is_best_effort(struct arena *a, const struct value *pod);
