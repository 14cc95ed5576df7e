/* controllers/statefulset_objects.h - the pods and claims of a StatefulSet: how they are made, and whether they are as they
 * should be.
 *
 * Upstream: controller/statefulset, stateful_set_utils.go.
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "api/value.h"
#include "client/event_recorder.h"

struct statefulset_objects {
    struct arena *arena;
    const struct value *set;
    const struct object_reference *owner;
};

/* A pod of an ordinal by a template. */
struct value statefulset_make_pod(const struct statefulset_objects *o, const struct value *template, int64_t ordinal,
                                  struct str revision);
/* A pod with the identity and the volumes of its ordinal. */
struct value statefulset_mend_pod(const struct statefulset_objects *o, const struct value *pod, int64_t ordinal);
bool statefulset_pod_matches(const struct statefulset_objects *o, const struct value *pod, int64_t ordinal);

size_t statefulset_n_claims(const struct statefulset_objects *o);
struct str statefulset_claim_name(const struct statefulset_objects *o, size_t i, int64_t ordinal);
struct value statefulset_make_claim(const struct statefulset_objects *o, size_t i, int64_t ordinal);

/* The pod that a claim is of; one that does not exist has no uid. */
struct statefulset_claim_pod {
    struct str name, uid;
    bool in_range;
};
bool statefulset_claim_is_right(const struct statefulset_objects *o, const struct value *claim,
                                const struct statefulset_claim_pod *pod);
struct value statefulset_own_claim(const struct statefulset_objects *o, const struct value *claim,
                                   const struct statefulset_claim_pod *pod);
/* Owned by a pod of that name which is another one. */
bool statefulset_claim_is_stale(const struct statefulset_objects *o, const struct value *claim,
                                const struct statefulset_claim_pod *pod);
