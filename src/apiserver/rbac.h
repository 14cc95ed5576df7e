/* apiserver/rbac.h - roles and bindings of the store, ready to answer who was granted what.
 *
 * Bindings are indexed by whom they name: what changes in the store is taken over binding by binding, so that neither a
 * question nor a write costs more with many of them. Roles are read when a binding leads to them, and kept until any of
 * their kind changes.
 *
 * A ClusterRole with an aggregationRule has the rules of the roles that it selects, as upstream's controller would fill
 * them in; what it holds itself does not count. So it works without that controller, too.
 *
 * Thread: the store's.    Owns: the index and the rules. */
#pragma once

#include "apiserver/rbac_rule.h"

struct rbac;

struct rbac *rbac_new(struct stored *objects);
void rbac_free(struct rbac *r);

/* A binding that names a user: the rules of its role, or why there are none. */
struct rbac_grant {
    const struct rbac_binding *binding;
    const struct rbac_rules *rules; /* NULL: there is no such role */
    const char *error;
    uint32_t subject; /* the first of the binding's that applies */
};

struct rbac_grants {
    struct rbac_grant *at;
    size_t n;
};

/* Of the whole cluster, and of the namespace if there is one. Good until the store is polled. */
struct rbac_grants rbac_grants_of(struct rbac *r, struct arena *a, const struct user *u, struct str namespace);
enum authz_verdict rbac_decide(struct rbac *r, struct arena *a, const struct authz_attributes *q,
                               struct str *ret_reason);
/* What grants lack: the texts of their errors as one, empty when there are none. */
struct str rbac_errors(struct arena *a, const struct rbac_grants *grants);

/* The rules that a roleRef leads to. ERR_NOT_FOUND with upstream's text. `namespace` of the binding, or empty. Good
 * until the store is polled. */
ERR_MUST_CHECK enum err_code rbac_role_rules(struct rbac *r, struct str kind, struct str name, struct str namespace,
                                             const struct rbac_rules **ret_rules, struct err *e);
