/* controllers/rollout.h - what is to be done about a Deployment and its ReplicaSets: state in, actions out.
 *
 * Upstream: controller/deployment. A plan is what one turn writes, in order; the changes that this makes bring the next turn.
 *
 * Thread: any. Memory: the arena; plans refer to the state. */
#pragma once

#include "api/value.h"

/* A ReplicaSet of the Deployment. */
struct rollout_set {
    struct value object; /* of apps/v1.ReplicaSet */
    struct str name;
    int64_t created_s;
    bool deleted;
    int32_t wanted;                     /* spec.replicas */
    int32_t replicas, ready, available; /* of its status */
    int32_t terminating;                /* -1: not told */
    int64_t revision;                   /* -1: not a number */
    int32_t desired_before, max_before; /* annotations of the last scaling; -1: none */
    bool observed;                      /* its status is of its generation */
};
/* `object` is of apps/v1.ReplicaSet. */
struct rollout_set rollout_set_of(const struct value *object);

struct rollout_state {
    const struct value *deployment; /* of apps/v1.Deployment */
    struct rollout_set *sets;       /* in any order; the plan sorts them, and changes them to what they will be */
    size_t n_sets;
    /* Whether pods that are none of the new ReplicaSet's have not ended; `uid` is that of a ReplicaSet. */
    uint32_t (*n_pods_running)(void *context, struct str uid);
    void *context;
    int64_t now_s;
};

enum rollout_verb {
    ROLLOUT_CREATE_SET,
    ROLLOUT_UPDATE_SET,
    ROLLOUT_DELETE_SET,
    ROLLOUT_UPDATE_DEPLOYMENT,
    ROLLOUT_WRITE_STATUS, /* of the Deployment, and its annotations */
    ROLLOUT_TELL,         /* an Event about the Deployment */
};

struct rollout_action {
    enum rollout_verb verb;
    struct value object; /* ReplicaSet or Deployment */
    struct str name;     /* of the ReplicaSet */
    const char *type, *reason, *message; /* of the Event */
};

enum { ROLLOUT_ACTIONS_ROOM = 8 }; /* besides four for each ReplicaSet */

struct rollout_plan {
    struct rollout_action *actions;
    size_t n;
    int64_t check_after_s; /* for progress; -1: need not be */
};
struct rollout_plan rollout_decide(struct arena *a, const struct rollout_state *s);

/* After the ReplicaSet could not be made. There is another one of that name: is it ours with the same template? */
bool rollout_is_same_set(const struct value *deployment, const struct value *set);
/* If not: the Deployment that tries another name next time. */
struct value rollout_collided(struct arena *a, const struct value *deployment);
/* Any other reason: the Deployment that tells it; false: it has no deadline and tells nothing. */
bool rollout_failed(struct arena *a, const struct value *deployment, const char *message, int64_t now_s,
                    struct value *ret_deployment);
