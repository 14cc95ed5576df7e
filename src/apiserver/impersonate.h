/* apiserver/impersonate.h - requests on behalf of another user: headers Impersonate-User, -Group, -Uid, -Extra-*.
 *
 * There are several ways to be allowed that, tried in this order (v1.36):
 *     associated-node   an account on a node acts as that node        arbitrary-node   as any node
 *     serviceaccount    as an account                                 user-info        as somebody else
 *     legacy            as anybody, with the verb "impersonate" alone
 * All but the last take two rights: to be that user in this way ("impersonate:WAY"), and to do so for this very request
 * ("impersonate-on:WAY:VERB"). Who was successful in one way is asked about that one first the next time; of several
 * refusals the first one is told.
 *
 * Thread: the store's.    Owns: what it remembers about askers. */
#pragma once

#include "apiserver/authz.h"
#include "http/headers.h"

struct impersonation;

struct impersonation *impersonation_new(struct api_authz *z);
void impersonation_free(struct impersonation *i);

/* `q` is what the request asks for, its user the one who sends it; that user when no such headers are there.
 * ERR_BAD_REQUEST without a name, ERR_FORBIDDEN. */
ERR_MUST_CHECK enum err_code impersonation_find(struct impersonation *i, struct arena *a, const struct headers *h,
                                                const struct authz_attributes *q, const struct user **ret_user,
                                                struct err *e);
