/* apiserver/authz.h - whether somebody may do something: modes in order, the first that has an opinion decides.
 *
 * Members of system:masters may do everything. RBAC and Node look at the objects in memory, and keep what they made of
 * them until those change. Nothing here waits.
 *
 * Thread: the store's. */
#pragma once

#include "api/field_selector.h"
#include "api/selector.h"
#include "api/user.h"
#include "apiserver/stored.h"
#include "base/err.h"

struct api_authz;

enum authz_verdict { AUTHZ_NO_OPINION, AUTHZ_ALLOW, AUTHZ_DENY };

struct authz_attributes {
    const struct user *user;
    struct str verb;
    bool is_resource;
    struct str group, version, resource, subresource, namespace, name;
    struct str path;                      /* of a request that is for no resource */
    const struct field_selector *fields;  /* of lists and watches; or NULL */
    const struct selector *labels;
};

struct api_authz_options {
    struct stored *objects;
    const char *const *modes; /* AlwaysAllow, AlwaysDeny, RBAC, Node; end with NULL */
};

/* Fails with upstream's text for modes that it does not know. */
ERR_MUST_CHECK enum err_code api_authz_new(const struct api_authz_options *o, struct api_authz **ret_authz, struct err *e);
void api_authz_free(struct api_authz *z);

/* The reason is made in the arena; it may be empty. */
enum authz_verdict api_authz_decide(struct api_authz *z, struct arena *a, const struct authz_attributes *q,
                                    struct str *ret_reason);
/* The text of a refusal, behind which a reason stands: `pods "x" is forbidden: User "u" cannot get resource ...`. Sets kind
 * and name of `e`, too. */
enum err_code api_authz_refuse(const struct authz_attributes *q, struct str reason, struct err *e);

/* What a SelfSubjectRulesReview says: values of its status' lists. */
struct authz_rules {
    struct value *resource_rules, *non_resource_rules; /* of authorization.k8s.io/v1 */
    uint32_t n_resource_rules, n_non_resource_rules;
    bool incomplete;
    struct str error;
};
void api_authz_rules(struct api_authz *z, struct arena *a, const struct user *u, struct str namespace,
                     struct authz_rules *ret_rules);

/* Whether `u` has all that `rules` (a list of rbac PolicyRule) grant in the namespace: who writes roles and bindings must.
 * ERR_FORBIDDEN with upstream's text of what is missing. */
ERR_MUST_CHECK enum err_code api_authz_check_escalation(struct api_authz *z, struct arena *a, const struct user *u,
                                                        struct str namespace, const struct value *rules, struct err *e);
