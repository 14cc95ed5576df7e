/* apiserver/rbac_bootstrap.h - the roles and bindings that every cluster begins with (v1.36).
 *
 * Whoever starts a server creates those that are missing, and adds to those that are there what they lack, unless
 * their annotation rbac.authorization.kubernetes.io/autoupdate is "false".
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

struct rbac_object {
    const struct resource *resource;
    struct str namespace, name; /* no namespace: of the whole cluster */
    struct value value;         /* kind, apiVersion, metadata without what a server fills in, and the rest */
};

/* ClusterRoles, ClusterRoleBindings, Roles, RoleBindings. */
size_t rbac_bootstrap(struct arena *a, struct rbac_object **ret_objects);
/* The rules of one of the ClusterRoles; it is there. */
const struct value *rbac_bootstrap_rules(struct arena *a, struct str name);

/* What an object that is there becomes: with the rules, labels and annotations that it lacks, of bindings with the
 * subjects. False: nothing is missing, it is to be left alone, or its binding leads to another role: such a one has to be
 * deleted and made again, and *ret_replace is set. */
bool rbac_bootstrap_reconcile(struct arena *a, const struct rbac_object *wanted, const struct value *there,
                              struct value *ret_value, bool *ret_replace);
