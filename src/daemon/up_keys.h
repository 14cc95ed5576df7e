/* daemon/up_keys.h - the keys of a control plane that has nobody else to get any from: one authority, a serving certificate, an
 * administrator's, and the kubeconfig with it.
 *
 *     FOLDER/pki/ca.crt, ca.key                  signs the other two, and is what clients and pods trust; ten years
 *     FOLDER/pki/apiserver.crt, apiserver.key    for localhost, the address that is listened on and the names of the service
 *     FOLDER/pki/admin.crt, admin.key            kubernetes-admin of system:masters
 *     FOLDER/kubeconfig                          for its owner alone
 *
 * All are made at the first start and kept. A certificate that ends within UP_KEYS_RENEW_S, or is for another address, is made
 * anew; the kubeconfig is when the address is another one.
 *
 * Thread: one; takes a few milliseconds. Memory: the arena. */
#pragma once

#include "base/clock.h"
#include "base/err.h"

enum { UP_KEYS_RENEW_S = 30 * 24 * 3600 };

struct up_keys {
    struct str ca_pem;
    const char *folder; /* FOLDER/pki */
    const char *ca_file, *cert_file, *key_file;
};

ERR_MUST_CHECK enum err_code up_keys_make(const char *folder, const char *address, const char *url, const struct clock *clock,
                                          struct arena *a, struct up_keys *ret_keys, struct err *e);
