/* apiserver/token_request.h - serviceaccounts/NAME/token: a new token of an account.
 *
 * Thread: the store's. Memory: the context's arena. */
#pragma once

#include "api/field_error.h"
#include "apiserver/sa_token.h"
#include "apiserver/stored.h"
#include "rules/rules.h"

struct token_request_context {
    struct arena *arena;
    struct stored *objects;
    struct sa_tokens *tokens;
    bool extend;      /* tokens of pods that are asked for with 3607 s last a year, as by default */
    int64_t now_s;    /* wall clock */
    struct warnings *warnings;
};

/* `in` is an authentication.k8s.io/v1 TokenRequest with its defaults. ERR_NOT_FOUND, ERR_CONFLICT, ERR_BAD_REQUEST, and
 * ERR_INVALID with what is wrong in `errs`. */
ERR_MUST_CHECK enum err_code token_request_answer(const struct token_request_context *c, struct str namespace,
                                                  struct str name, const struct value *in, struct value *ret_out,
                                                  struct field_errors *errs, struct err *e);
