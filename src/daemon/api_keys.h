/* daemon/api_keys.h - keys and certificates that an API server makes for itself when nobody gave it any, and keeps.
 *
 * In the folder of --cert-dir or, without that, in `pki` of the data folder; of a server in memory only nowhere.
 *
 *     apiserver.crt, apiserver.key     the serving certificate (serving.h)
 *     sa.key                           signs tokens of service accounts
 *     client-ca.crt, client-ca.key     whose clients are known; made when neither client certificates nor tokens are
 *     admin.kubeconfig                 ... and with it a way in for an administrator
 *
 * Thread: the loop's; making keys takes a moment. Memory: the arena. */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "config/apiserver_flags.h"

/* Empty: nothing is kept. */
const char *api_keys_folder(const struct apiserver_flags *f, const char *data_folder, struct arena *a);

/* The key that signs tokens, and those that check them: from files, or made. */
struct api_token_keys {
    struct str signing_pem;
    struct str *pems;
    size_t n_pems;
};

ERR_MUST_CHECK enum err_code api_keys_tokens(const struct apiserver_flags *f, const char *folder,
                                             const struct clock *clock, struct arena *a,
                                             struct api_token_keys *ret_keys, struct err *e);

/* True when nobody could be known to the server by its flags: then it makes its own authority. */
bool api_keys_lacks_clients(const struct apiserver_flags *f);

/* The authority of client certificates and a kubeconfig for `url`, whose certificate is trusted by `server_pem`.
 * Returns the authority's certificate. An authority that is there stays; the kubeconfig is made anew. */
ERR_MUST_CHECK enum err_code api_keys_admin(const char *folder, const char *url, struct str server_pem,
                                            const struct clock *clock, struct arena *a, struct str *ret_client_ca_pem,
                                            struct err *e);

/* The kubeconfig of an administrator, as YAML. */
void api_keys_add_kubeconfig(struct strbuf *b, const char *url, struct str server_pem, struct str cert, struct str key);
