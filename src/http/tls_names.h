/* http/tls_names.h - cipher suites and key exchange groups by the names and numbers that Go and its users have.
 *
 * Thread: any. Memory: texts live in the arena. */
#pragma once

#include "base/err.h"

struct tls_chosen_ciphers {
    const char *list;  /* for tls_options.ciphers; NULL: none was named */
    bool only_tls13;   /* names of TLS 1.3 alone: nothing older can be spoken. Its suites are not chosen among, as in Go */
};

/* "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" and so on. A name that Go does not know is an error; one that OpenSSL has
 * forgotten (RC4) is passed over, unless nothing is left. */
ERR_MUST_CHECK enum err_code tls_choose_ciphers(const char *const *names, size_t n, struct arena *a,
                                                struct tls_chosen_ciphers *ret_chosen, struct err *e);
/* Go's CurveIDs, for tls_options.groups; NULL for none. Groups that this OpenSSL lacks are passed over, unless nothing
 * is left. */
ERR_MUST_CHECK enum err_code tls_choose_groups(const int32_t *ids, size_t n, struct arena *a, const char **ret_list,
                                               struct err *e);
