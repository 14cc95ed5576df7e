/* controllers/rollout_priv.h - shared by the files that make plans for Deployments. */
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

#define REVISION "deployment.kubernetes.io/revision"
#define DESIRED_REPLICAS "deployment.kubernetes.io/desired-replicas"
#define MAX_REPLICAS "deployment.kubernetes.io/max-replicas"
#define ROLLBACK_TO "deprecated.deployment.rollback.to"
#define HASH_LABEL "pod-template-hash"

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
struct value rollout_condition_set(struct arena *a, const struct value *list, const char *type, const char *status, const char *reason,
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

/* ---- ReplicaSets ---- */

const struct type *replica_set_type(void);
const struct value *annotations_of(const struct type *t, const struct value *v);
/* Empty: there is none. */
struct str map_text(const struct value *map, const char *key);
struct value map_without(struct arena *a, const struct value *map, const char *key);
/* 0: there is none; -1: it is no number. */
int64_t revision_of(const struct value *annotations);
/* Without the label that the hash is. */
struct value rollout_plain_template(struct arena *a, const struct type *t, const struct value *object);
bool rollout_same_template(const struct value *deployment, const struct value *set);
/* What all ReplicaSets want together. */
int64_t rollout_all_wanted(const struct rollout *r);

/* ---- Plans ---- */

void rollout_add(struct rollout *r, struct rollout_action action);
void rollout_tell(struct rollout *r, const char *type, const char *reason, const char *message);
void rollout_update_set(struct rollout *r, struct rollout_set *set);
struct value with_replicas_annotations(struct rollout *r, const struct value *annotations);
void rollout_set_progress(struct rollout *r, const char *status, const char *reason, const char *message);
/* True: something is written first, and the rest is for the next turn. */
bool rollout_sync_revision(struct rollout *r);
/* How large the new ReplicaSet may become that has `has` replicas. */
int32_t rollout_size_of_new(const struct rollout *r, int32_t has);
void rollout_create_set(struct rollout *r);
/* To a revision; 0: the one before. */
void rollout_roll_back(struct rollout *r, int64_t to);
