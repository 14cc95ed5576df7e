/* daemon/authn.h - who asks: front proxy, client certificate, bearer token, or nobody in particular.
 *
 * In this order, as upstream's delegating authenticator; the first that knows the user decides:
 *   front proxy   The client's certificate is good by the proxy's authorities, and its common name is allowed: the user
 *                 is whom the headers name. Without such a certificate the headers mean nothing.
 *   certificate   It is good by the client authorities: common name, organizations as groups.
 *   bearer token  A TokenReview says whose it is.
 *   anonymous     Nobody said who it is, and nothing was wrong. A certificate or token that is not good is refused.
 *
 * Authorities may be set at any time, for requests that come after it.
 *
 * Thread: the loop's.    Owns: copies of all that is set. */
#pragma once

#include "daemon/reviews.h"
#include "api/user.h"
#include "http/headers.h"
#include "http/tls.h"

enum { AUTHN_TRY_MS = 10000 }; /* for all tries of a TokenReview together, as upstream */

struct authn;

struct authn_options {
    struct loop *loop;
    const struct api *api; /* for TokenReviews; NULL: tokens are not looked at */
    int64_t token_ttl_ms;  /* how long an answer is good; 0: each is asked for */
    uint64_t seed;
};

/* What is believed of a front proxy. */
struct authn_proxy {
    struct str ca_pem; /* empty: there is none */
    struct str_list allowed_names; /* common names; none: any that its authorities signed */
    struct str_list user_headers, uid_headers, group_headers, extra_prefixes; /* case aside */
};

struct authn *authn_new(const struct authn_options *o);
void authn_free(struct authn *a);

/* Empty: certificates are nobody's. On failure what was set before stays. */
ERR_MUST_CHECK enum err_code authn_set_client_ca(struct authn *a, struct str pem, struct err *e);
ERR_MUST_CHECK enum err_code authn_set_proxy(struct authn *a, const struct authn_proxy *p, struct err *e);

/* A question. The asker fills in the first part and keeps it until it is answered or left. */
struct authn_call {
    struct arena *arena; /* of the exchange: the user is made here */
    const struct head *head;
    const struct tls_peer *peer; /* NULL: it showed no certificate */
    void (*done)(struct authn_call *c);
    /* The answer: NULL is refused, and `why` says what was wrong, for the log. */
    const struct user *user;
    const char *why;
    struct review_waiter waiter;
};

/* True: answered. False: `done` is called once, never from within this call. */
bool authn_ask(struct authn *a, struct authn_call *c);
/* May be called at any time. */
void authn_leave(struct authn_call *c);

/* Zeros without a client for reviews. */
struct reviews_counts authn_counts(const struct authn *a);
