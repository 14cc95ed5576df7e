/* daemon/authz.h - whether a user may ask for a path.
 *
 * The first that has an opinion decides, as upstream's delegating authorizer: members of system:masters may do
 * everything; some paths are open to all; otherwise a SubjectAccessReview is asked for. Without a client for it the
 * answer is no.
 *
 * Thread: the loop's.    Owns: copies of all options. */
#pragma once

#include "daemon/reviews.h"
#include "api/user.h"

enum { AUTHZ_TRY_MS = 10000 }; /* for one try, as upstream */

struct authz;

struct authz_options {
    struct loop *loop;
    const struct api *api; /* for SubjectAccessReviews; NULL: none are made */
    int64_t allowed_ttl_ms, denied_ttl_ms;
    struct str_list open_paths; /* exact, or everything that begins so when a "*" stands at the end */
    uint64_t seed;
};

/* Fails for a path with a "*" elsewhere. */
ERR_MUST_CHECK enum err_code authz_new(const struct authz_options *o, struct authz **ret_authz, struct err *e);
void authz_free(struct authz *a);

enum authz_answer { AUTHZ_DENIED, AUTHZ_ALLOWED, AUTHZ_FAILED };

/* A question, as in authn.h. */
struct authz_call {
    struct arena *arena;
    const struct user *user;
    struct str verb, path; /* verb in lower case */
    void (*done)(struct authz_call *c);
    enum authz_answer answer;
    struct str reason; /* why it was denied, maybe empty; or what failed */
    struct review_waiter waiter;
};

/* True: answered. False: `done` is called once, never from within this call. */
bool authz_ask(struct authz *a, struct authz_call *c);
void authz_leave(struct authz_call *c);

struct reviews_counts authz_counts(const struct authz *a);
