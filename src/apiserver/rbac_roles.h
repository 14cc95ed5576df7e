/* apiserver/rbac_roles.h - the rules of roles, made ready when somebody is led to them.
 *
 * They are kept until any role of the same kind changes. A ClusterRole with an aggregationRule has the rules of those
 * that it selects: see rbac.h.
 *
 * Thread: the store's.    Owns: the rules. */
#pragma once

#include "apiserver/rbac_rule.h"

struct rbac_roles;

struct rbac_roles *rbac_roles_new(struct stored *objects);
void rbac_roles_free(struct rbac_roles *r);

/* Forgets what has changed in the store. */
void rbac_roles_follow(struct rbac_roles *r);
/* What a roleRef leads to, in the binding's namespace; NULL: there is no such role. Good until the next
 * rbac_roles_follow. */
const struct rbac_rules *rbac_roles_find(struct rbac_roles *r, struct str kind, struct str name, struct str namespace);
