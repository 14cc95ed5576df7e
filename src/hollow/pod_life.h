/* hollow/pod_life.h - what becomes of a pod on a hollow node: its next status, or its end, and when to look again.
 *
 *   nothing known   the kubelet takes it: ContainerCreating, or PodInitializing
 *   Pending         init containers one after the other, sidecars among them
 *   Running         ready when the containers and the pod's readiness gates are
 *   Succeeded, Failed   when all containers are over
 *   being deleted   containers end, the status says so, then the object is deleted for good
 *
 * Annotations: berth.dev/run-seconds (how long containers run), berth.dev/exit-code (what they end with),
 * berth.dev/stop-seconds (how long they take to end when the pod is deleted).
 *
 * Thread: any. Memory: the arena; results refer to the pod. */
#pragma once

#include "api/value.h"

#define POD_RUN_SECONDS "berth.dev/run-seconds"
#define POD_EXIT_CODE "berth.dev/exit-code"
#define POD_STOP_SECONDS "berth.dev/stop-seconds"

struct pod_life_state {
    const struct value *pod;
    struct str host_ip, pod_ip; /* of its node, and what it is given when it starts; empty: there is none */
    int64_t now_s;
    int64_t job_s; /* how long pods of Jobs run when they do not say so */
    const char *refusal, *refusal_message; /* the node does not take it, for this reason; NULL: it does */
};

enum pod_life_verb { POD_LIFE_NOTHING, POD_LIFE_STATUS, POD_LIFE_DELETE };

struct pod_life_step {
    enum pod_life_verb verb;
    struct value pod; /* with its new status */
    int64_t again_s;  /* by the wall clock; INT64_MAX: after its next change */
};

struct pod_life_step pod_life_step(struct arena *a, const struct pod_life_state *s);
/* Whether the kubelet has taken it: it has a start time. */
bool pod_life_has_begun(const struct value *pod);
