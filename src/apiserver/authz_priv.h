/* apiserver/authz_priv.h - what the files of authorization share. */
#pragma once

#include "apiserver/rbac.h"

/* Roles and bindings are known in every mode, for the checks of who writes them; NULL without a store. */
struct rbac *api_authz_rbac(struct api_authz *z);

/* The node that a user is, or an empty text with p set for one that does not say which; p is NULL: it is no node. */
struct str authz_node_of(const struct user *u);
/* AUTHZ_ALLOW or AUTHZ_NO_OPINION. `rules` are those that all nodes have. */
enum authz_verdict authz_node_decide(struct stored *o, const struct rbac_rules *rules, struct arena *a,
                                     const struct authz_attributes *q, struct str *ret_reason);
