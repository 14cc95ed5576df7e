/* rules/rules.h - what a server does to an object of a kind before it is stored, and what it refuses: one table a kind.
 *
 * The way of a write, as upstream's strategies: defaults (api/defaults.h), mutating admission, prepare_*, validate_*, then
 * validating admission. Functions here look at the object, at the one before it, and at nothing else of a cluster. Objects
 * are generic values of the stored type; a kind that is served in two versions is converted before (rules/convert.h).
 *
 *     prepare   sets and resets what is the server's: a changed copy (api/edit.h)
 *     validate  appends field errors with upstream's texts, metadata included: rules_check_meta, rules_check_meta_update.
 *               Before validate_update whoever writes calls rules_check_common_meta and rules_check_generic_meta_update for
 *               all kinds; rules repeat it where upstream's do, as repeated causes can be seen
 *     warn      appends texts for Warning headers
 *
 * Kinds without an entry, and functions that are NULL: nothing is prepared, metadata alone is checked.
 * What is the same for all kinds is done by whoever writes, not here: uid, creationTimestamp, generateName, generation
 * (by the row's rule), deletionTimestamp, resourceVersion, managedFields.
 *
 * Thread: any. Memory: the context's arena. */
#pragma once

#include "api/field_error.h"
#include "api/names.h"
#include "api/user.h"
#include "api/value.h"

enum { WARNINGS_MAX = 64, WARNINGS_BYTES_MAX = 16 << 10 }; /* of an answer; further ones are dropped */

struct warnings {
    struct arena *arena;
    const char *texts[WARNINGS_MAX];
    uint32_t n, n_bytes;
    uint32_t n_kept; /* of those, how many a new try begins with */
};

/* A text that is there already is not added again. */
void warnings_add(struct warnings *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Settings of a server that rules look at. */
struct rules_settings {
    bool allow_privileged;
};

struct rules_context {
    struct arena *arena;
    const struct type *type;   /* of the objects */
    const struct type *served; /* of the request, where a kind is served in two versions; may be NULL */
    bool namespaced;
    int64_t now_s;           /* wall clock, since 1970 */
    const struct user *user; /* who asks */
    const struct rules_settings *settings;
    struct warnings *warnings;
};

enum generation_rule {
    GENERATION_NEVER,
    GENERATION_SPEC,            /* 1 when created, one more when anything but metadata and status changes */
    GENERATION_SPEC_ANNOTATION, /* also when annotations change */
    GENERATION_LABELS,          /* also when labels change */
    GENERATION_FIRST,           /* 1 when created, and so it stays */
    GENERATION_CHANGES,         /* none when created, one more with changes */
};

enum {                          /* flags of a kind */
    RULES_CREATE_ON_UPDATE = 1, /* PUT makes an object that is not there */
    RULES_NEEDS_VERSION = 2,    /* PUT must say a resourceVersion */
    RULES_RETURNS_DELETED = 4,  /* DELETE answers with the object, not with a Status */
    RULES_ORPHANS = 8,          /* dependents stay when nobody says anything */
};

typedef struct value rules_prepare_create(const struct rules_context *c, const struct value *new);
typedef struct value rules_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old);
typedef void rules_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs);
typedef void rules_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                   struct field_errors *errs);
typedef void rules_warn(const struct rules_context *c, const struct value *new, const struct value *old);

/* A subresource whose object is the whole object: status, ephemeralcontainers, resize, approval, finalize. */
struct sub_rules {
    const char *name; /* NULL ends a list */
    rules_prepare_update *prepare_update;
    rules_validate_update *validate_update;
    const char *const *reset_fields; /* as below */
    rules_warn *warn;
};

struct kind_rules {
    const char *type; /* the stored type's full name: "core/v1.Pod" */
    name_rule *name;  /* NULL: name_is_dns_subdomain */
    unsigned flags;
    enum generation_rule generation;
    /* What becomes of an object where upstream converts it to its internal version, before anybody's fields are noted; or NULL. */
    rules_prepare_create *converted;
    rules_prepare_create *prepare_create;
    rules_prepare_update *prepare_update;
    rules_validate_create *validate_create;
    rules_validate_update *validate_update;
    rules_warn *warn; /* old is NULL for a new object */
    /* What a write through this endpoint cannot set, and so nobody owns by it: "status", "spec",
     * "metadata.deletionTimestamp"; ends with NULL. */
    const char *const *reset_fields;
    const struct sub_rules *subs; /* or NULL */
};

/* NULL: the kind has no rules of its own. */
const struct kind_rules *rules_of(const struct type *t);
/* NULL: it has no such subresource. */
const struct sub_rules *rules_sub(const struct kind_rules *k, struct str name);

/* One table a file, each ends with an entry without a type; rules_of looks through all of them. */
extern const struct kind_rules pod_rules[], core_rules[], workload_rules[], batch_rules[], autoscaling_rules[],
    service_rules[], endpoints_rules[], network_rules[], ingress_rules[], storage_rules[], volume_rules[], claim_rules[], rbac_rules[],
    cluster_rules[], certificate_rules[], resource_rules[], slice_rules[], flowcontrol_rules[], registration_rules[],
    policy_rules[], extension_rules[], api_service_rules[];

/* ---- For rules ---- */

/* metadata as a new object must have it, at "metadata". */
void rules_check_meta(const struct rules_context *c, const struct value *new, name_rule *name, struct field_errors *errs);
/* What holds of every kind: names that a path can have, and finalizers of whatever name. */
void rules_check_common_meta(const struct rules_context *c, const struct value *new, struct field_errors *errs);
/* metadata of a change: name, namespace, uid, creationTimestamp, deletionTimestamp... stay, no new finalizers while
 * it is being deleted; and what rules_check_meta checks of labels, annotations, owners, finalizers, managedFields. */
void rules_check_meta_update(const struct rules_context *c, const struct value *new, const struct value *old,
                             struct field_errors *errs);
/* Both without the names of finalizers: as kinds are checked that have nothing to do with those of the core. */
void rules_check_generic_meta(const struct rules_context *c, const struct value *new, name_rule *name,
                              struct field_errors *errs);
void rules_check_generic_meta_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                     struct field_errors *errs);
/* Whether a write, prepared already, raises the generation; of the object itself, not of its status. */
bool rules_raises_generation(const struct rules_context *c, enum generation_rule rule, const struct value *new,
                             const struct value *old);
/* A finalizer without a prefix is one that the server knows. */
void rules_check_kube_finalizer(struct str name, const struct field_path *at, struct field_errors *errs);
/* `Invalid value: <value>: field is immutable` unless both are equal. */
void rules_check_immutable(const struct type *t, const struct value *new, const struct value *old,
                           const struct field_path *at, struct field_errors *errs);
/* Values of a field as upstream's Semantic.DeepEqual compares them: what is empty equals what is absent, amounts are compared
 * as such. Whether an object's content changed is to be asked by this. */
bool rules_same(const struct field *f, const struct value *a, const struct value *b);
/* A value in an error, as JSON; of a struct, with Go's names of the internal type where upstream shows those. */
struct field_value rules_shown(struct arena *a, const struct field *f, const struct value *v);
/* The status of `old` in `new`; for prepare_update of kinds with a status subresource. */
struct value rules_keep_status(const struct rules_context *c, const struct value *new, const struct value *old);
/* spec of `old` in `new`, and of the metadata nothing; for prepare_update of "status". */
struct value rules_keep_spec(const struct rules_context *c, const struct value *new, const struct value *old);
/* The same, and of the metadata labels, annotations, finalizers and owners: nothing but the status changes. */
struct value rules_keep_all_but_status(const struct rules_context *c, const struct value *new, const struct value *old);
/* Without its status; for prepare_create. */
struct value rules_drop_status(const struct rules_context *c, const struct value *new);
