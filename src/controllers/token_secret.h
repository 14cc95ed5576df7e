/* controllers/token_secret.h - Secrets of type kubernetes.io/service-account-token hold a token of their account.
 *
 * Upstream: controller/serviceaccount, tokens_controller.go. Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"

enum token_secret_verdict { TOKEN_SECRET_STAYS, TOKEN_SECRET_WRITE, TOKEN_SECRET_DELETE };

struct token_secret_state {
    const struct value *secret;
    const struct value *account; /* that its annotation names; NULL: there is none */
    struct str root_ca_pem;
    /* A new token for the Secret; empty: none can be made. */
    struct str (*make_token)(void *context, struct arena *a);
    void *context;
};

const struct type *secret_type(void);
bool token_secret_is_one(const struct value *secret);
struct str token_secret_account(const struct value *secret);
enum token_secret_verdict token_secret_plan(struct arena *a, const struct token_secret_state *s, struct value *ret_secret);
