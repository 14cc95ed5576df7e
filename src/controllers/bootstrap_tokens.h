/* controllers/bootstrap_tokens.h - tokens by which new nodes join: Secrets bootstrap-token-ID in kube-system that may
 * expire, and with which the ConfigMap kube-public/cluster-info is signed, so that a node that knows a token can trust
 * it.
 *
 * Upstream: controller/bootstrap, k8s.io/cluster-bootstrap.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

struct bootstrap_token {
    struct str id, secret;
};

/* Whether a Secret is a token at all. */
bool bootstrap_is_token(const struct value *secret);
/* False: it cannot be used for signing, or not any more. */
bool bootstrap_token_read(const struct value *secret, int64_t now_s, struct bootstrap_token *ret);
/* How long it is still good: -1 for ever, 0 not any more. */
int64_t bootstrap_token_left_ms(const struct value *secret, int64_t now_ms);

/* A detached JWS of the content (HS256). */
struct str bootstrap_sign(struct arena *a, struct str content, const struct bootstrap_token *t);
/* The ConfigMap with one signature for each token, and no others. False: it has those already, or nothing to sign. */
bool bootstrap_sign_map(struct arena *a, const struct value *map, const struct bootstrap_token *tokens, size_t n,
                        struct value *ret_map);
