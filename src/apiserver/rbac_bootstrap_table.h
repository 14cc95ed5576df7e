/* apiserver/rbac_bootstrap_table.h - the table behind rbac_bootstrap.c. Thread: any; it is constant. */
#pragma once

#include <stddef.h>

struct bootstrap_role {
    const char *name;
    const char *namespace; /* NULL: a ClusterRole */
    const char *label;     /* behind rbac.authorization.k8s.io/, "true"; or NULL */
    const char *rules;     /* NULL for a role that selects others */
    const char *selects;   /* the label of those */
    const char *bound_to;  /* subjects of its binding, maybe none of them; NULL: there is no binding */
    const char *binding;   /* the binding's name; NULL: the role's */
};

extern const struct bootstrap_role bootstrap_roles[]; /* ends with an entry without a name */
