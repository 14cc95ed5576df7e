/* apply/apply.h - server-side apply, and who owns which fields: metadata.managedFields.
 *
 * Every write of an object goes through here: apply_note_update after a create, update or patch, apply_merge for an
 * apply patch. Both work on generic values of the type in which the request speaks.
 *
 * Upstream: apimachinery's managedfields and structured-merge-diff v6.
 * Thread: any. Memory: the arena; results share with their inputs. */
#pragma once

#include "api/value.h"
#include "base/err.h"
#include "base/work.h"

/* Who writes. An entry of managedFields is told from others by manager, operation, apiVersion and subresource. */
struct apply_manager {
    struct str name;        /* fieldManager, or what the User-Agent begins with */
    struct str api_version; /* of the request: "apps/v1" */
    struct str subresource; /* "" for the object itself */
    int64_t now_s;          /* wall clock */
    const char *const *reset_fields; /* what this endpoint cannot set (rules.h), ends with NULL; or NULL */
};

/* `live` is the object before, NULL for a new one; `new` the object to be stored, with defaults, and with the managedFields
 * that the client sent. The result is `new` with its managedFields. Never fails because of them: those that cannot be
 * read are dropped, as upstream. Call it before admission and what the kind's rules prepare: what those change belongs
 * to nobody. */
struct value apply_note_update(struct arena *a, const struct type *t, const struct value *live, const struct value *new,
                               const struct apply_manager *m);

struct apply_conflict {
    struct str manager_text; /* `"kubectl-edit" using apps/v1` */
    struct str field;        /* ".spec.replicas" */
};

struct apply_outcome {
    struct value object;      /* on success: merged, before defaulting; its managedFields are set */
    bool changed;             /* false: nothing but, maybe, times */
    const struct apply_conflict *conflicts; /* on ERR_CONFLICT: causes of the Status */
    uint32_t n_conflicts;
};

struct apply_patch {
    struct work *work; /* of the request */
    struct str body;   /* YAML or JSON */
    struct str kind, api_version; /* of the endpoint */
    bool force;
};

/* `live` is NULL when there is no such object: then the outcome is a new one. Failures have the code and the text of
 * upstream's Status: ERR_BAD_REQUEST, ERR_CONFLICT with the conflicts, ERR_UNKNOWN for what the schema does not have. */
ERR_MUST_CHECK enum err_code apply_merge(struct arena *a, const struct type *t, const struct value *live,
                                         const struct apply_patch *p, const struct apply_manager *m,
                                         struct apply_outcome *ret_outcome, struct err *e);
/* For every change of an object that exists, after all of them: `object` is the one to be stored. When it differs from
 * `live` in nothing but times of managedFields, those of `live` stay, and so nothing has to be stored. */
struct value apply_keep_times(struct arena *a, const struct type *t, const struct value *live,
                              const struct value *object);

/* The scale of an object (autoscaling/v1) has managedFields of its own: those of the object's entries that own its
 * replicas. A request to scale is noted in them as in any other object, with subresource "scale" and api_version
 * "autoscaling/v1"; what came out goes back into the object's. Lists are slots of managedFields, api_version is the
 * object's. */
struct value apply_scale_managed(struct arena *a, const struct value *parent, struct str api_version);
struct value apply_scale_to_parent(struct arena *a, const struct value *parent, const struct value *scale,
                                   struct str api_version);
