/* sched/pod_resources.h - the page /metrics/resources: what every unfinished pod of the cluster requests, and its limits.
 *
 *     struct pod_resources *r = pod_resources_begin(s);
 *     while (pod_resources_write(r, POD_RESOURCES_PIECE, &page)) ...    (other work in between, if there is any)
 *     pod_resources_end(r);
 *
 * As upstream: kube_pod_resource_limit and kube_pod_resource_request, by namespace, node, pod and resource; a family
 * without series is left out. Requests are those of the spec; what a resize makes of them does not show. Requests below 0
 * are 0.
 *
 * Nothing is kept for it but the limits in forms/pod.h. A page of many pods takes long (about a microsecond a line), so it
 * is written piece by piece; it shows the pods as they were at the beginning. Up to POD_RESOURCES_SORTED_MAX pods come in
 * Go's order; more would hold up the thread, and come in no order.
 *
 * Thread: scheduling thread only.    Owns: a reference to each pod until the end. */
#pragma once

#include "base/strbuf.h"

struct pod_resources;
struct sched;

enum {
    POD_RESOURCES_PIECE = 1000, /* pods that take no longer than a few attempts */
    POD_RESOURCES_SORTED_MAX = 20000,
};

struct pod_resources *pod_resources_begin(struct sched *s);
/* Appends what up to n pods have. Whether there is more. */
bool pod_resources_write(struct pod_resources *r, uint32_t n, struct strbuf *out);
/* At any time, before the scheduler ends. */
void pod_resources_end(struct pod_resources *r);
