/* http/tls_roots.c - trust of tls.h that is asked apart from any connection.
 *
 * A server that lets every certificate in (TLS_CLIENT_CERTS_REQUESTED) decides afterwards, for each request, by
 * authorities that may have changed since the handshake, and by more than one set of them. */
#include <assert.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/tls_priv.h"

struct tls_roots {
    X509_STORE *store;
};

enum err_code tls_roots_new(struct str pem, struct tls_roots **ret_roots, struct err *e)
{
    struct tls_roots *r = mem_zalloc(sizeof(*r));
    r->store = X509_STORE_new();
    assert(r->store);
    X509_STORE_set_flags(r->store, X509_V_FLAG_PARTIAL_CHAIN); /* as Go: whatever is in the pool is trusted */
    if (tls_load_certs(NULL, pem, "the bundle of authorities", tls_trust, r->store, e)) {
        tls_roots_free(r);
        return e->code;
    }
    *ret_roots = r;
    return ERR_OK;
}

void tls_roots_free(struct tls_roots *r)
{
    if (!r)
        return;
    X509_STORE_free(r->store);
    free(r);
}

static X509 *read_der(struct str der)
{
    const unsigned char *p = (const unsigned char *)der.p;
    return d2i_X509(NULL, &p, (long)der.n);
}

static STACK_OF(X509) *read_others(const struct tls_peer *peer)
{
    STACK_OF(X509) *others = sk_X509_new_null();
    assert(others);
    for (size_t i = 0; i < peer->n_others; i++) {
        X509 *cert = read_der(peer->others[i]);
        if (cert)
            sk_X509_push(others, cert);
    }
    return others;
}

static const char *verify(X509_STORE *store, X509 *cert, STACK_OF(X509) *others)
{
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    assert(ctx);
    const char *why = NULL;
    if (X509_STORE_CTX_init(ctx, store, cert, others) != 1) {
        why = "cannot be verified";
    } else {
        X509_STORE_CTX_set_default(ctx, "ssl_client"); /* its purpose, and the trust that goes with it */
        X509_STORE_CTX_set_depth(ctx, TLS_CHAIN_DEPTH_MAX);
        if (X509_verify_cert(ctx) != 1)
            why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
    }
    X509_STORE_CTX_free(ctx);
    ERR_clear_error();
    return why;
}

const char *tls_roots_check_client(const struct tls_roots *r, const struct tls_peer *peer)
{
    X509 *cert = read_der(peer->der);
    if (!cert) {
        ERR_clear_error();
        return "cannot be read";
    }
    STACK_OF(X509) *others = read_others(peer);
    const char *why = verify(r->store, cert, others);
    sk_X509_pop_free(others, X509_free);
    X509_free(cert);
    return why;
}
