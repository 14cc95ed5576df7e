/* controllers/certificate_sign.h - signs requests for certificates with the key of an authority.
 *
 * Names and public key are the request's; usages and times are not. Upstream: controller/certificates/authority.
 *
 * Thread: any, one at a time.    Owns: the certificate and the key of the authority. */
#pragma once

#include "api/labels.h"
#include "base/err.h"

enum {
    CERTIFICATE_BACKDATE_S = 5 * 60,
    CERTIFICATE_SHORT_S = 8 * 3600,     /* shorter ones end when they were asked to, not five minutes before */
    CERTIFICATE_LIFETIME_MIN_S = 10 * 60,
};

struct certificate_authority;

ERR_MUST_CHECK enum err_code certificate_authority_new(struct str cert_pem, struct str key_pem,
                                                       struct certificate_authority **ret_authority, struct err *e);
void certificate_authority_free(struct certificate_authority *ca);

/* How long a certificate may live that asked for `wanted_s` (0: it did not) when at most `most_s` are given. */
int64_t certificate_lifetime_s(int64_t wanted_s, int64_t most_s);

ERR_MUST_CHECK enum err_code certificate_sign(const struct certificate_authority *ca, struct str request_pem, struct strs usages,
                                              int64_t lifetime_s, int64_t now_s, struct arena *a, struct str *ret_pem,
                                              struct err *e);
