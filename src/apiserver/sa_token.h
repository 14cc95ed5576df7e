/* apiserver/sa_token.h - tokens of service accounts: made, signed, read and checked (JWT).
 *
 * Bound tokens name the issuer, and what they are good for. Legacy ones, which kube-controller-manager puts into Secrets
 * of type kubernetes.io/service-account-token, have an issuer of their own and never end; they are good as long as the
 * Secret holds just them.
 *
 * Thread: the store's.    Owns: the keys. */
#pragma once

#include "api/user.h"
#include "apiserver/stored.h"
#include "base/err.h"
#include "base/strbuf.h"

struct sa_tokens;

struct sa_tokens_options {
    const char *const *issuers;      /* the first one signs, all are believed; end with NULL */
    const char *const *audiences;    /* of the API server; NULL: the issuers */
    struct str signing_key_pem;      /* RSA or ECDSA; empty: no tokens are made */
    const struct str *key_pems;      /* public keys, private keys or certificates, each text may hold several */
    size_t n_key_pems;
    int64_t max_expiration_s;        /* 0: none */
    const char *jwks_uri;            /* NULL: below the address from outside */
    const char *external_address;    /* HOST:PORT */
};

ERR_MUST_CHECK enum err_code sa_tokens_new(const struct sa_tokens_options *o, struct sa_tokens **ret_tokens,
                                           struct err *e);
void sa_tokens_free(struct sa_tokens *t);

struct sa_claims {
    struct str namespace, name, uid;                            /* of the account */
    struct str pod_name, pod_uid, secret_name, secret_uid, node_name, node_uid; /* what it is bound to, or empty */
    struct str_list audiences;                                   /* empty: the API server's */
    int64_t now_s, expires_s;
    int64_t warn_after_s; /* when an extended token should have ended; 0: it is none */
};

/* ERR_UNAVAILABLE without a signing key. */
ERR_MUST_CHECK enum err_code sa_token_make(struct sa_tokens *t, struct arena *a, const struct sa_claims *c,
                                           struct str *ret_token, struct err *e);
/* The token of a Secret: `secret_name`, and what there is of the account, count; it never ends. */
ERR_MUST_CHECK enum err_code sa_token_make_legacy(struct sa_tokens *t, struct arena *a, const struct sa_claims *c,
                                                  struct str *ret_token, struct err *e);
/* Signature, issuer, audience, times, and that account and what it is bound to still exist with these uids.
 * ERR_UNAUTHORIZED with upstream's text. Empty audiences: those of the API server; *ret_audiences are the ones that fit. */
ERR_MUST_CHECK enum err_code sa_token_check(struct sa_tokens *t, struct arena *a, struct stored *o, struct str token,
                                            struct str_list audiences, int64_t now_s, const struct user **ret_user,
                                            struct str_list *ret_audiences, struct err *e);
/* Whether a text looks like a JWT of one of the issuers, so that nobody else needs to look at it. */
bool sa_token_is_ours(const struct sa_tokens *t, struct str token);
/* /.well-known/openid-configuration and /openid/v1/jwks. */
void sa_tokens_add_configuration(const struct sa_tokens *t, struct strbuf *to);
void sa_tokens_add_jwks(const struct sa_tokens *t, struct strbuf *to);
struct str_list sa_tokens_audiences(const struct sa_tokens *t);
int64_t sa_tokens_max_expiration_s(const struct sa_tokens *t); /* 0: none */
