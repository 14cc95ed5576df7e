/* apiserver/authn.h - who asks: front proxy, client certificate, token file, service-account token, or nobody known.
 *
 * In this order, as upstream; the first that knows the user decides. Nothing here waits: tokens of service accounts are
 * checked against the objects in memory.
 *
 * Thread: the store's.    Owns: copies of all that is set. */
#pragma once

#include "api/user.h"
#include "apiserver/stored.h"
#include "apiserver/sa_token.h"
#include "base/err.h"
#include "http/headers.h"
#include "http/tls.h"

struct api_authn;

struct api_authn_options {
    struct stored *objects;
    struct sa_tokens *tokens;       /* NULL: tokens of service accounts are not known */
    struct str client_ca_pem;       /* empty: certificates are nobody's */
    struct str token_file;          /* the CSV's text; empty: none */
    struct str proxy_ca_pem;        /* of the front proxy; empty: its headers mean nothing */
    struct str_list proxy_names, proxy_user_headers, proxy_uid_headers, proxy_group_headers, proxy_extra_prefixes;
    bool anonymous;                 /* --anonymous-auth */
    bool anonymous_health;          /* but /healthz, /livez and /readyz are open to everyone */
};

ERR_MUST_CHECK enum err_code api_authn_new(const struct api_authn_options *o, struct api_authn **ret_authn,
                                           struct err *e);
void api_authn_free(struct api_authn *a);
/* Files that change are read again by the caller. On failure what was set before stays. */
ERR_MUST_CHECK enum err_code api_authn_set_client_ca(struct api_authn *a, struct str pem, struct err *e);

/* ERR_UNAUTHORIZED: refused; the message is for the log, who asks is told `Unauthorized` and nothing else. The user is
 * made in the arena. `path` is the decoded one; now_s the wall clock. */
ERR_MUST_CHECK enum err_code api_authn_find(struct api_authn *a, struct arena *arena, const struct head *head,
                                            struct str path, const struct tls_peer *peer, int64_t now_s,
                                            const struct user **ret_user, struct err *e);
/* What a TokenReview says about a token: ERR_UNAUTHORIZED with `invalid bearer token` and the like. `audiences` may be
 * empty: those of the API server; *ret_audiences are the ones that fit. */
ERR_MUST_CHECK enum err_code api_authn_review(struct api_authn *a, struct arena *arena, struct str token,
                                              struct str_list audiences, int64_t now_s, const struct user **ret_user,
                                              struct str_list *ret_audiences, struct err *e);
