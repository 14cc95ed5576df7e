/* controllers/rollout_priv.h - shared by rollout.c and rollout_status.c. */
#pragma once

#include "controllers/rollout.h"

#define REASON_FOUND "FoundNewReplicaSet"
#define REASON_CREATED "NewReplicaSetCreated"
#define REASON_AVAILABLE "NewReplicaSetAvailable"
#define REASON_UPDATED "ReplicaSetUpdated"
#define REASON_TIMED_OUT "ProgressDeadlineExceeded"
#define REASON_PAUSED "DeploymentPaused"
#define REASON_RESUMED "DeploymentResumed"
#define REASON_CREATE_ERROR "ReplicaSetCreateError"
#define PROGRESSING "Progressing"

/* What is known of a Deployment while a plan is made. */
struct rollout {
    struct arena *arena;
    const struct rollout_state *state;
    const struct type *type; /* apps/v1.Deployment */
    struct value deployment; /* as it is to be written */
    struct str name;
    int32_t wanted, max_surge, max_unavailable;
    bool rolling, paused;
    int64_t deadline_s; /* -1: none */
    struct rollout_set *fresh; /* of the current template; NULL: not yet */
    struct rollout_set **old;  /* the others */
    size_t n_old;
    struct rollout_plan plan;
};

const struct type *deployment_type(void);
int64_t number_in(const struct type *t, const struct value *v, const char *path, int64_t otherwise);

/* NULL: there is none of that type. */
const struct value *condition_find(const struct value *list, const char *type);
struct str condition_text(const struct value *condition, const char *field);
/* As upstream's SetDeploymentCondition: one with the same status and reason stays as it is. */
struct value condition_set(struct arena *a, const struct value *list, const char *type, const char *status, const char *reason,
                           const char *message, int64_t now_s);
struct value condition_remove(struct arena *a, const struct value *list, const char *type);
/* The Deployment with one of its conditions set. */
struct value with_progress(struct arena *a, const struct value *d, const char *status, const char *reason, const char *message,
                           int64_t now_s);

/* Whether all replicas are of the new template and available, by the status that the value has. */
bool rollout_is_complete(const struct rollout *r, const struct value *deployment);
/* The Deployment with the status that follows from its ReplicaSets; `progress`: with what it says about the rollout. */
struct value rollout_with_status(struct rollout *r, bool progress);
/* When to look whether it has timed out; -1: never. */
int64_t rollout_check_after_s(const struct rollout *r, const struct value *with_status);
