/* http/tls_context.c - contexts of tls.h: certificates and trust from files and texts.
 *
 * One SSL_CTX for each certificate; a connection begins with the first and moves to the one whose names have the
 * server name that the client asks for. */
#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "http/tls_priv.h"

/* crypto/tls of Go prefers these for TLS 1.2; those with CBC stand last. */
#define GO_CIPHERS                                                                                  \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"      \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"        \
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA"
/* ... and these for TLS 1.3; ChaCha20 goes first for peers that prefer it, which have no AES of their own. */
#define GO_SUITES "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

static const unsigned char alpn_both[] = "\x02h2\x08http/1.1";
static const unsigned char alpn_http1[] = "\x08http/1.1";

const char *tls_reason(char *room, size_t n)
{
    unsigned long code = ERR_get_error();
    const char *text = ERR_reason_error_string(code);
    snprintf(room, n, "%s", text ? text : "unknown error");
    ERR_clear_error();
    return room;
}

static enum err_code openssl_failed(struct err *e, const char *what, const char *of)
{
    char room[128];
    return err_set(e, ERR_INVALID, "%s %s: %s", what, of, tls_reason(room, sizeof(room)));
}

/* ---- Reading ---- */

static enum err_code read_file(const char *path, struct strbuf *to, struct err *e)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(e, ERR_IO, "open %s: %s", path, strerror(errno));
    for (;;) {
        char *room = strbuf_reserve(to, 4096);
        if (!room) {
            fclose(f);
            return err_set(e, ERR_TOO_LARGE, "%s is larger than %u bytes", path, TLS_PEM_BYTES_MAX);
        }
        size_t n = fread(room, 1, 4096, f);
        if (n == 0)
            break;
        strbuf_commit(to, n);
    }
    bool failed = ferror(f);
    fclose(f);
    return failed ? err_set(e, ERR_IO, "read %s: %s", path, strerror(EIO)) : ERR_OK;
}

/* A BIO over the file's bytes or, without a file, over the text. */
static enum err_code open_pem(const char *path, struct str pem, struct strbuf *room, BIO **ret_bio, struct err *e)
{
    if (path && read_file(path, room, e))
        return e->code;
    if (path)
        pem = strbuf_str(room);
    *ret_bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
    assert(*ret_bio);
    return ERR_OK;
}

/* Every certificate of a text; none is an error, so that an empty file trusts nobody by mistake. */
static enum err_code each_cert(BIO *bio, const char *of, bool (*use)(void *context, X509 *cert), void *context,
                               struct err *e)
{
    int n_certs = 0;
    for (X509 *cert; (cert = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL)); n_certs++) {
        bool used = use(context, cert);
        X509_free(cert);
        if (!used)
            return openssl_failed(e, "certificate in", of);
    }
    unsigned long why = ERR_peek_last_error();
    if (ERR_GET_REASON(why) != PEM_R_NO_START_LINE)
        return openssl_failed(e, "certificate in", of);
    ERR_clear_error();
    return n_certs ? ERR_OK : err_set(e, ERR_INVALID, "%s has no PEM-encoded certificate", of);
}

bool tls_trust(void *store, X509 *cert)
{
    return X509_STORE_add_cert(store, cert) == 1;
}

static bool use_in_chain(void *context, X509 *cert)
{
    SSL_CTX *ctx = context;
    if (!SSL_CTX_get0_certificate(ctx))
        return SSL_CTX_use_certificate(ctx, cert) == 1;
    return SSL_CTX_add1_chain_cert(ctx, cert) == 1;
}

enum err_code tls_load_certs(const char *path, struct str pem, const char *of,
                              bool (*use)(void *context, X509 *cert), void *context, struct err *e)
{
    struct strbuf room;
    BIO *bio = NULL;
    strbuf_init(&room, TLS_PEM_BYTES_MAX);
    enum err_code rc = open_pem(path, pem, &room, &bio, e);
    if (!rc) {
        rc = each_cert(bio, path ? path : of, use, context, e);
        BIO_free(bio);
    }
    strbuf_fini(&room);
    return rc;
}

static enum err_code use_key(SSL_CTX *ctx, const struct tls_cert_source *source, struct err *e)
{
    const char *of = source->key_file ? source->key_file : "the given key";
    struct strbuf room;
    BIO *bio = NULL;
    strbuf_init(&room, TLS_PEM_BYTES_MAX);
    enum err_code rc = open_pem(source->key_file, source->key_pem, &room, &bio, e);
    if (!rc) {
        EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)(uintptr_t)"");
        if (!key)
            rc = openssl_failed(e, "private key in", of);
        else if (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1)
            rc = openssl_failed(e, "certificate does not go with", of);
        EVP_PKEY_free(key);
        BIO_free(bio);
    }
    if (room.p)
        OPENSSL_cleanse(room.p, room.n);
    strbuf_fini(&room);
    return rc;
}

/* ---- One SSL_CTX ---- */

static int choose_alpn(SSL *ssl, const unsigned char **ret_p, unsigned char *ret_n, const unsigned char *in,
                       unsigned n_in,
                       void *arg)
{
    (void)ssl;
    const struct tls_options *o = arg;
    const unsigned char *ours = o->no_http2 ? alpn_http1 : alpn_both;
    unsigned n_ours = o->no_http2 ? sizeof(alpn_http1) - 1 : sizeof(alpn_both) - 1;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, ret_n, ours, n_ours, in, n_in) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *ret_p = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* Lets everyone in; the verdict stays in SSL_get_verify_result. */
static int accept_any(int ok, X509_STORE_CTX *store)
{
    (void)ok;
    (void)store;
    return 1;
}

static bool name_fits(const struct tls_named *n, const char *name)
{
    if (!n->names)
        return n->cert && X509_check_host(n->cert, name, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
    for (size_t i = 0; i < n->n_names; i++) {
        const char *pattern = n->names[i], *dot = strchr(name, '.');
        if (strcasecmp(pattern, name) == 0 || (strncmp(pattern, "*.", 2) == 0 && dot &&
                                               strcasecmp(pattern + 1, dot) == 0))
            return true;
    }
    return false;
}

static int choose_cert(SSL *ssl, int *alert, void *arg)
{
    (void)alert;
    const struct tls_material *m = arg;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    for (size_t i = 0; name && i < m->n_certs; i++)
        if (name_fits(&m->certs[i], name)) {
            SSL_set_SSL_CTX(ssl, m->certs[i].ctx);
            break;
        }
    return SSL_TLSEXT_ERR_OK;
}

static enum err_code set_trust(SSL_CTX *ctx, const struct tls_options *o, struct err *e)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    /* As Go: whatever is in the pool is trusted, also if it is no root. */
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    SSL_CTX_set_verify_depth(ctx, TLS_CHAIN_DEPTH_MAX);
    if (o->ca_file && tls_load_certs(o->ca_file, (struct str){ 0 }, NULL, tls_trust, store, e))
        return e->code;
    if (o->ca_pem.n && tls_load_certs(NULL, o->ca_pem, "the given CA", tls_trust, store, e))
        return e->code;
    if (!o->is_server && !o->ca_file && !o->ca_pem.n && !o->insecure_skip_verify)
        SSL_CTX_set_default_verify_paths(ctx);
    return ERR_OK;
}

static void set_verify(SSL_CTX *ctx, const struct tls_options *o)
{
    if (!o->is_server) {
        SSL_CTX_set_verify(ctx, o->insecure_skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
        return;
    }
    if (o->client_certs == TLS_CLIENT_CERTS_REQUESTED)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, accept_any);
    else if (o->client_certs == TLS_CLIENT_CERTS_REQUIRED)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

static int min_protocol(const struct tls_options *o)
{
    switch (o->min_version) {
    case 13:
        return TLS1_3_VERSION;
    case 11:
        return o->is_server ? TLS1_1_VERSION : TLS1_2_VERSION;
    case 10:
        return o->is_server ? TLS1_VERSION : TLS1_2_VERSION;
    default:
        return TLS1_2_VERSION;
    }
}

static bool set_protocol(SSL_CTX *ctx, const struct tls_options *o)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                 SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 0);
    /* An idle connection holds no buffers: what makes ten thousand of them cheap. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    if (o->is_server)
        SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, (void *)(uintptr_t)o);
    else if (o->no_http2)
        SSL_CTX_set_alpn_protos(ctx, alpn_http1, sizeof(alpn_http1) - 1);
    else
        SSL_CTX_set_alpn_protos(ctx, alpn_both, sizeof(alpn_both) - 1);
    if (o->is_server && (o->min_version == 10 || o->min_version == 11))
        SSL_CTX_set_security_level(ctx, 0); /* OpenSSL knows them, but has to be asked */
    return SSL_CTX_set_min_proto_version(ctx, min_protocol(o)) == 1 &&
           SSL_CTX_set_cipher_list(ctx, o->ciphers ? o->ciphers : GO_CIPHERS) == 1 &&
           SSL_CTX_set_ciphersuites(ctx, GO_SUITES) == 1 &&
           (!o->groups || SSL_CTX_set1_groups_list(ctx, o->groups) == 1);
}

static enum err_code fill_ctx(SSL_CTX *ctx, const struct tls_options *o, const struct tls_cert_source *source,
                              struct err *e)
{
    if (!set_protocol(ctx, o))
        return openssl_failed(e, "TLS", "versions, ciphers and groups");
    set_verify(ctx, o);
    if (set_trust(ctx, o, e))
        return e->code;
    if (!source)
        return ERR_OK;
    if (tls_load_certs(source->cert_file, source->cert_pem, "the given certificate", use_in_chain, ctx, e))
        return e->code;
    return use_key(ctx, source, e);
}

/* ---- All of it ---- */

void tls_material_unref(struct tls_material *m)
{
    if (!m || atomic_fetch_sub(&m->n_refs, 1) > 1)
        return;
    for (size_t i = 0; i < m->n_certs; i++)
        SSL_CTX_free(m->certs[i].ctx);
    free(m->certs);
    free(m);
}

struct tls_material *tls_material_ref(struct tls_material *m)
{
    atomic_fetch_add(&m->n_refs, 1);
    return m;
}

enum err_code tls_material_new(const struct tls_options *o, struct tls_material **ret_material, struct err *e)
{
    struct tls_material *m = mem_zalloc(sizeof(*m));
    m->n_refs = 1;
    size_t n = o->n_certs ? o->n_certs : 1;
    m->certs = mem_zalloc(mem_product(n, sizeof(m->certs[0])));
    for (size_t i = 0; i < n; i++) {
        const struct tls_cert_source *source = i < o->n_certs ? &o->certs[i] : NULL;
        struct tls_named *named = &m->certs[m->n_certs++];
        named->ctx = SSL_CTX_new(o->is_server ? TLS_server_method() : TLS_client_method());
        assert(named->ctx);
        if (fill_ctx(named->ctx, o, source, e)) {
            ERR_clear_error();
            tls_material_unref(m);
            return e->code;
        }
        named->cert = SSL_CTX_get0_certificate(named->ctx);
        named->names = source ? source->names : NULL;
        named->n_names = source ? source->n_names : 0;
    }
    if (o->is_server) {
        SSL_CTX_set_tlsext_servername_callback(m->certs[0].ctx, choose_cert);
        SSL_CTX_set_tlsext_servername_arg(m->certs[0].ctx, m);
    }
    *ret_material = m;
    return ERR_OK;
}

static const char *copy_text(struct arena *a, const char *text)
{
    return text ? arena_cstr(a, str_of(text)) : NULL;
}

static struct tls_cert_source copy_source(struct arena *a, const struct tls_cert_source *s)
{
    const char **names = s->names ? ARENA_NEW_N(a, const char *, s->n_names) : NULL;
    for (size_t i = 0; i < s->n_names; i++)
        names[i] = copy_text(a, s->names[i]);
    return (struct tls_cert_source){
        .cert_file = copy_text(a, s->cert_file), .key_file = copy_text(a, s->key_file),
        .cert_pem = arena_str(a, s->cert_pem), .key_pem = arena_str(a, s->key_pem),
        .names = names, .n_names = s->n_names,
    };
}

static void copy_options(struct arena *a, const struct tls_options *from, struct tls_options *to)
{
    *to = *from;
    struct tls_cert_source *certs = ARENA_NEW_N(a, struct tls_cert_source, from->n_certs);
    for (size_t i = 0; i < from->n_certs; i++)
        certs[i] = copy_source(a, &from->certs[i]);
    to->certs = certs;
    to->ca_file = copy_text(a, from->ca_file);
    to->ca_pem = arena_str(a, from->ca_pem);
    to->server_name = copy_text(a, from->server_name);
    to->ciphers = copy_text(a, from->ciphers);
    to->groups = copy_text(a, from->groups);
}

enum err_code tls_context_new(const struct tls_options *o, struct tls_context **ret_context, struct err *e)
{
    if (o->is_server && o->n_certs == 0)
        return err_set(e, ERR_INVALID, "a TLS server needs a certificate");
    struct tls_context *c = mem_zalloc(sizeof(*c));
    c->n_refs = 1;
    arena_init(&c->arena);
    copy_options(&c->arena, o, &c->options);
    if (tls_material_new(&c->options, &c->material, e)) {
        tls_context_unref(c);
        return e->code;
    }
    *ret_context = c;
    return ERR_OK;
}

struct tls_context *tls_context_ref(struct tls_context *c)
{
    c->n_refs++;
    return c;
}

void tls_context_unref(struct tls_context *c)
{
    if (!c || --c->n_refs)
        return;
    tls_material_unref(c->material);
    arena_fini(&c->arena);
    free(c);
}

void tls_context_take(struct tls_context *c, struct tls_material *own_material)
{
    tls_material_unref(c->material);
    c->material = own_material;
    c->n_reloads++;
}

enum err_code tls_context_reload(struct tls_context *c, struct err *e)
{
    struct tls_material *m;
    if (tls_material_new(&c->options, &m, e))
        return e->code;
    tls_context_take(c, m);
    return ERR_OK;
}

uint32_t tls_context_n_reloads(const struct tls_context *c)
{
    return c->n_reloads;
}
