/* apiserver/identity.h - what a request itself tells about who sends it: headers of a front proxy, a client's
 * certificate, a bearer token.
 *
 * For the API server and for the scheduler's secure port, which do different things with tokens.
 *
 * Thread: any. Memory: the arena; a user may refer to texts of the request. */
#pragma once

#include "api/user.h"
#include "base/err.h"
#include "http/headers.h"
#include "http/tls.h"

enum { IDENTITY_EXTRA_MAX = 100 }; /* headers of a request that are read as extra; honest askers send a few */

#define CREDENTIAL_ID "authentication.kubernetes.io/credential-id"

/* Wrong: another way may still know the user. Refused: none may be asked. */
enum identity_said { IDENTITY_NOTHING, IDENTITY_USER, IDENTITY_WRONG, IDENTITY_REFUSED };

/* What is believed of a front proxy. Owns copies of all that is set. */
struct identity_proxy {
    struct arena arena;
    struct tls_roots *roots; /* NULL: there is none */
    struct str_list allowed_names; /* common names; none: any that its authorities signed */
    struct str_list user_headers, uid_headers, group_headers, extra_prefixes; /* case aside */
};

/* `from` without roots; empty `ca_pem`: no proxy. On failure `to` stays as it is. */
ERR_MUST_CHECK enum err_code identity_proxy_set(struct identity_proxy *to, struct str ca_pem,
                                                const struct identity_proxy *from, struct err *e);
void identity_proxy_fini(struct identity_proxy *p);

/* The headers count when the certificate is good by the proxy's authorities and has one of its names. `peer` may be NULL;
 * *ret_why says what is wrong. */
enum identity_said identity_by_proxy(struct arena *a, const struct identity_proxy *p, const struct headers *h,
                                     const struct tls_peer *peer, struct user *ret_user, const char **ret_why);
/* Common name, organizations as groups, and the certificate's digest. `roots` may be NULL: certificates are nobody's. */
enum identity_said identity_by_certificate(struct arena *a, const struct tls_roots *roots, const struct tls_peer *peer,
                                           struct user *ret_user, const char **ret_why);
/* "Bearer TOKEN", the word in any case; what follows the token is not looked at. Empty: there is none. */
struct str identity_bearer_token(const struct headers *h);

/* Everyone who is known is also in a group for that. */
const struct user *identity_known(struct arena *a, const struct user *u);
const struct user *identity_anonymous(void);

void user_sort_extra(struct user_extra *at, size_t n);
/* "system:serviceaccount:NAMESPACE:NAME": false for all other names. */
bool identity_split_account(struct str user, struct str *ret_namespace, struct str *ret_name);
/* The user that an account is, without extra. */
struct user identity_of_account(struct arena *a, struct str namespace, struct str name, struct str uid);

/* One text under a key of a user's extra. */
void user_add_extra(struct arena *a, struct user *u, const char *key, struct str text);
/* Values of headers that begin so, case aside, by what stands behind the prefix: in lower case, unescaped, sorted. False:
 * more than IDENTITY_EXTRA_MAX. */
bool identity_read_extra(struct arena *a, const struct headers *h, const struct str_list *prefixes, struct user *u);
