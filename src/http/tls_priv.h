/* http/tls_priv.h - what the files about TLS share. */
#pragma once

#include <openssl/ssl.h>
#include <stdatomic.h>

#include "http/tls.h"

/* Everything that was read from files once; never changed, counted, so that sessions outlive a reload. */
struct tls_material {
    _Atomic uint32_t n_refs;
    struct tls_named {
        SSL_CTX *ctx;
        X509 *cert;               /* of the context, borrowed; NULL for clients without one */
        const char *const *names; /* of the options, borrowed from the context's copy */
        size_t n_names;
    } *certs; /* the first is the default */
    size_t n_certs;
};

struct tls_context {
    uint32_t n_refs, n_reloads;
    struct arena arena;
    struct tls_options options; /* texts in the arena */
    struct tls_material *material;
};

/* Reads all files of the options. Any thread: options are never changed. */
enum err_code tls_material_new(const struct tls_options *o, struct tls_material **ret_material, struct err *e);
struct tls_material *tls_material_ref(struct tls_material *m);
void tls_material_unref(struct tls_material *m);
void tls_context_take(struct tls_context *c, struct tls_material *own_material);

/* Every certificate of a file or, without one, of a text, which is called `of` in messages. None is an error. */
enum err_code tls_load_certs(const char *path, struct str pem, const char *of,
                             bool (*use)(void *context, X509 *cert), void *context, struct err *e);
/* For tls_load_certs: puts it into an X509_STORE. */
bool tls_trust(void *store, X509 *cert);

/* OpenSSL's oldest complaint of this thread; the others are forgotten. */
const char *tls_reason(char *room, size_t n);
