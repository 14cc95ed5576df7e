/* apiserver/rbac_escalation.h - nobody grants what they do not hold: who writes a role must have all of its rules, who
 * binds one must, too, unless they may "escalate" the role or "bind" it.
 *
 * Thread: the store's. */
#pragma once

#include "apiserver/rbac.h"

/* ERR_FORBIDDEN and upstream's text of what is missing. */
ERR_MUST_CHECK enum err_code rbac_check_escalation(struct rbac *r, struct arena *a, const struct user *u,
                                                   struct str namespace, const struct rbac_rules *rules, struct err *e);

/* A write of an object of the RBAC group; others are nobody's business here. `old` is NULL for a new one; `name` is that
 * of the request, empty when something is created. The message is complete, kind and name of `e` are set. */
struct rbac_write {
    const struct user *user;
    const struct resource *resource;
    struct str namespace, name;
    const struct value *object, *old;
};
ERR_MUST_CHECK enum err_code api_authz_check_rbac_write(struct api_authz *z, struct arena *a, const struct rbac_write *w,
                                                        struct err *e);
