/* controllers/pod_control.h - pods that a controller makes, deletes, adopts and releases, with the Events that tell of it.
 *
 * Upstream: controller/controller_utils.go (RealPodControl) and controller_ref_manager.go.
 *
 * Thread: the store's.    Owns: copies of what a call needs until it ends. */
#pragma once

#include "controllers/event.h"
#include "controllers/pod_facts.h"

/* Who acts. The name is that of the service account and of the reporter of Events. */
struct pod_control {
    struct cluster *cluster;
    struct events *events;
    const char *controller; /* "replicaset-controller" */
};

/* A pod by the template of its owner: labels, annotations, finalizers and spec of the template, a controller reference, and a
 * name that is to be generated from the owner's. `owner` is of `r`. Shares what it is made from. */
struct value pod_from_template(struct arena *a, const struct value *template, const struct object_reference *owner);
/* The owner reference of a controller: controller and blockOwnerDeletion are set. */
struct value controller_reference(struct arena *a, const struct object_reference *owner);
/* "web-": what generated names of pods begin with. */
struct str pods_prefix(struct arena *a, struct str owner_name);

struct pod_outcome {
    enum err_code code;
    const char *message; /* of a failure: good within the callback */
    struct str name;     /* of the pod that was made */
    bool namespace_ends; /* why it failed: not worth another try */
};
typedef void pod_control_done(void *context, const struct pod_outcome *o);

/* Tells by an Event about the owner: SuccessfulCreate, FailedCreate. */
void pod_control_create(const struct pod_control *c, const struct object_reference *owner, const struct value *pod,
                        pod_control_done *done, void *context);
/* SuccessfulDelete, FailedDelete. A pod that is not there gives ERR_NOT_FOUND and no Event. `uid` empty: whichever it is. */
void pod_control_delete(const struct pod_control *c, const struct object_reference *owner, struct str pod_name, struct str uid,
                        pod_control_done *done, void *context);

/* Of pods and of other kinds ("replicasets"). `finalizers`, as a list, are added or removed with the reference; NULL: none. */
struct claim {
    const struct resource *resource;
    struct str name, uid;
    const struct strs *finalizers;
};
void pod_control_adopt(const struct pod_control *c, const struct object_reference *owner, const struct claim *claim,
                       pod_control_done *done, void *context);
/* One that is gone, or belongs to nobody any more, is released well. */
void pod_control_release(const struct pod_control *c, const struct object_reference *owner, const struct claim *claim,
                         pod_control_done *done, void *context);

/* What is to be done about an object that a controller could own, as upstream's ClaimObject. */
enum claim_decision { CLAIM_IGNORE, CLAIM_OWNED, CLAIM_ADOPT, CLAIM_RELEASE };
enum claim_decision claim_decide(struct str owner_uid, bool owner_is_deleted, struct str its_owner_uid, bool its_deleted,
                                 bool matches);

/* Calls in batches of 1, 2, 4 and so on, the next when all of the last went well: what fails always the same way fails once.
 * The struct is the caller's, within what `context` is; zeroed but for the first part. */
struct slow_start {
    uint32_t n;                                         /* how many are wanted */
    void (*begin)(struct slow_start *s, uint32_t i);    /* ends in slow_start_ended, not before it returns */
    void (*done)(struct slow_start *s);                 /* once; n_fine says how many went well */

    uint32_t n_begun, n_batch, n_out, n_fine;
    bool failed;
};
/* With n of 0 `done` is called at once. */
void slow_start_run(struct slow_start *s);
void slow_start_ended(struct slow_start *s, bool fine);
