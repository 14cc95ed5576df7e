/* apiserver/review.h - kinds that are questions: reviews of access, of rules, of tokens, of oneself.
 *
 * POST only, nothing is stored, the answer is the question with a status.
 *
 * Thread: the store's. Memory: the context's arena. */
#pragma once

#include "api/field_error.h"
#include "apiserver/authn.h"
#include "apiserver/authz.h"

struct review_context {
    struct arena *arena;
    struct api_authn *authn; /* NULL: no token is known */
    struct api_authz *authz; /* NULL: everything is allowed */
    const struct user *user; /* who asks */
    int64_t now_s;           /* wall clock */
};

/* Whether objects of this type are such questions. */
bool review_is(const struct type *t);
/* `in` is of the type, which review_is; namespace is the request's. ERR_BAD_REQUEST, or ERR_INVALID with what is wrong in
 * `errs`. */
ERR_MUST_CHECK enum err_code review_answer(const struct review_context *c, const struct type *t, struct str namespace,
                                           const struct value *in, struct value *ret_out, struct field_errors *errs,
                                           struct err *e);
