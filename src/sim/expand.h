/* sim/expand.h - the pods that controllers would make of what is given.
 *
 * A ReplicationController, ReplicaSet, Deployment, StatefulSet, DaemonSet or Job gets as many pods as it lacks: pods
 * that are given and belong to it count, unless they are finished or being deleted. A Deployment without its ReplicaSet
 * gets one. Names are made in the same way every time. A StatefulSet's claims are made with its pods. Namespaces that
 * pods are in are there afterwards, given or not.
 *
 * Thread: one. Memory: the input's arena. */
#pragma once

#include "sim/input.h"

enum { SIM_MADE_PODS_MAX = 1 << 20 };

/* Whose pod it is: a Deployment rather than its ReplicaSet. */
struct sim_owner {
    struct str kind, name; /* empty: nobody's; valid until the input changes */
};
struct sim_owner sim_pod_owner(const struct sim_input *in, const struct sim_object *pod);
/* The ReplicaSet of a Deployment that gets its new pods, the one with the most replicas; NULL when none is given. */
const struct sim_object *sim_current_set(const struct sim_input *in, const struct sim_object *deployment);
/* The pod that a controller's template describes, without a name. */
struct sim_object sim_template_pod(struct sim_input *in, const struct sim_object *controller);

/* Adds to an input that was completed (forms.h); what is added is complete, too. Fills in `owner` of every pod. */
enum err_code sim_expand(struct sim_input *in, struct err *e) ERR_MUST_CHECK;
