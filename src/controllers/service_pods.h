/* controllers/service_pods.h - what Endpoints and EndpointSlices have in common: which pods are behind a service, through which
 * port, since when, and when a service is to be looked at again.
 *
 * Upstream: endpointslice/util. Thread: the loop's. */
#pragma once

#include "base/map.h"
#include "controllers/cluster.h"
#include "controllers/work_queue.h"

const struct type *pod_type(void);
const struct type *service_type(void);

/* Whether a condition of a pod is True. */
bool pod_condition_is_true(const struct value *pod, struct str type);
bool pod_is_being_deleted(const struct value *pod);
bool pod_has_ended(const struct value *pod); /* Succeeded or Failed */

/* Whether somebody is looked after at all: it has a selector and is no mere alias. */
bool service_has_pods(const struct value *service);
bool service_has_no_ip(const struct value *service);
/* The pods of the service's namespace that its selector chooses. */
size_t service_pods_list(struct stored *objects, const struct value *service, struct arena *a, const struct value ***ret_pods);

/* Whether a pod is one that traffic may go to some time: it lives and has an address. */
bool service_takes_pod(const struct value *pod, bool also_terminating);
bool service_sets_hostname(const struct value *service, const struct value *pod);
/* The number of a port of the service at a pod; false: the pod has no port by that name. */
bool service_find_port(const struct value *port, const struct value *pod, int64_t *ret_number);

/* Adds services to a queue, as "namespace/name", when they or their pods change. */
struct service_watch {
    struct cluster *cluster;
    struct work_queue *queue;
};
void service_watch_start(struct service_watch *w);

/* ---- When what is behind a service changed ---- */

/* Of each service: when its pods last became ready or not. */
struct trigger_times {
    struct map_str services; /* from "namespace/name" */
};
void trigger_times_init(struct trigger_times *t);
void trigger_times_fini(struct trigger_times *t);
void trigger_times_forget(struct trigger_times *t, struct str key);
/* The earliest change since the last look, in seconds; false: none. */
bool trigger_times_look(struct trigger_times *t, struct str key, const struct value *service, const struct value *const *pods,
                        size_t n_pods, int64_t *ret_s);
/* The annotations with that time, or without any. */
struct value trigger_times_annotate(struct arena *a, const struct value *annotations, bool changed, int64_t at_s);
