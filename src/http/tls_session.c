/* http/tls_session.c - sessions of tls.h: an SSL object between two pieces of memory.
 *
 * OpenSSL reads from the bytes at hand and writes to the caller's buffer through a BIO of our own: nothing is buffered
 * in between. tls_session_input drains all it was given, so no bytes of the peer stay inside. */
#include <arpa/inet.h>
#include <assert.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/tls_priv.h"

struct tls_session {
    SSL *ssl;
    struct tls_context *context;
    struct tls_material *material;
    enum tls_state state;
    struct str in;         /* of the peer, not read yet */
    struct strbuf *cipher; /* for the peer; set during a call only */
    char error[256];
};

/* ---- The BIO ---- */

static int bio_read(BIO *bio, char *to, int n)
{
    struct tls_session *s = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (s->in.n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    struct str part = str_first(s->in, (size_t)n);
    memcpy(to, part.p, part.n);
    s->in = str_from(s->in, part.n);
    return (int)part.n;
}

static int bio_write(BIO *bio, const char *from, int n)
{
    struct tls_session *s = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    assert(s->cipher);
    strbuf_add(s->cipher, from, (size_t)n);
    return n;
}

static long bio_ctrl(BIO *bio, int command, long number, void *p)
{
    (void)bio;
    (void)number;
    (void)p;
    return command == BIO_CTRL_FLUSH;
}

/* Made once, for all threads; lives as long as the process. */
static const BIO_METHOD *bio_method(void)
{
    static _Atomic(BIO_METHOD *) shared;
    BIO_METHOD *m = atomic_load(&shared);
    if (m)
        return m;
    BIO_METHOD *fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "berth");
    assert(fresh);
    BIO_meth_set_read(fresh, bio_read);
    BIO_meth_set_write(fresh, bio_write);
    BIO_meth_set_ctrl(fresh, bio_ctrl);
    if (!atomic_compare_exchange_strong(&shared, &m, fresh)) {
        BIO_meth_free(fresh);
        return m;
    }
    return fresh;
}

/* ---- Making one ---- */

static bool is_address(const char *host)
{
    unsigned char room[16];
    return inet_pton(AF_INET, host, room) == 1 || inet_pton(AF_INET6, host, room) == 1;
}

/* Whom a client asks for and checks. An address is never sent as a server name. */
static void expect_peer(struct tls_session *s, const char *host)
{
    const struct tls_options *o = &s->context->options;
    const char *name = o->server_name ? o->server_name : host;
    X509_VERIFY_PARAM *param = SSL_get0_param(s->ssl);
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    assert(name);
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(param, name);
        return;
    }
    X509_VERIFY_PARAM_set1_host(param, name, 0);
    /* SSL_set_tlsext_host_name, whose cast some compilers refuse */
    SSL_ctrl(s->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)name);
}

struct tls_session *tls_session_new(struct tls_context *c, const char *host)
{
    struct tls_session *s = mem_zalloc(sizeof(*s));
    s->context = tls_context_ref(c);
    s->material = tls_material_ref(c->material);
    s->ssl = SSL_new(s->material->certs[0].ctx);
    assert(s->ssl);
    BIO *bio = BIO_new(bio_method());
    assert(bio);
    BIO_set_data(bio, s);
    BIO_set_init(bio, 1);
    SSL_set_bio(s->ssl, bio, bio);
    if (c->options.is_server) {
        SSL_set_accept_state(s->ssl);
    } else {
        SSL_set_connect_state(s->ssl);
        expect_peer(s, host);
    }
    return s;
}

void tls_session_free(struct tls_session *s)
{
    if (!s)
        return;
    SSL_free(s->ssl);
    tls_material_unref(s->material);
    tls_context_unref(s->context);
    free(s);
}

/* ---- Bytes ---- */

static void fail(struct tls_session *s)
{
    char reason[128];
    long verdict = SSL_get_verify_result(s->ssl);
    if (verdict != X509_V_OK && ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        snprintf(s->error, sizeof(s->error), "tls: certificate of the peer: %s",
                 X509_verify_cert_error_string(verdict));
    else
        snprintf(s->error, sizeof(s->error), "tls: %s", tls_reason(reason, sizeof(reason)));
    ERR_clear_error();
    s->state = TLS_FAILED;
}

/* What the outcome of a call means for the session; true when it can go on at once. */
static bool went_on(struct tls_session *s, int rc)
{
    if (rc > 0)
        return true;
    switch (SSL_get_error(s->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
        return false;
    case SSL_ERROR_ZERO_RETURN:
        s->state = TLS_CLOSED;
        return false;
    default:
        fail(s);
        return false;
    }
}

static void read_plain(struct tls_session *s, struct strbuf *plain)
{
    for (;;) {
        char *room = strbuf_reserve(plain, SSL3_RT_MAX_PLAIN_LENGTH);
        assert(room);
        int n = SSL_read(s->ssl, room, SSL3_RT_MAX_PLAIN_LENGTH);
        if (!went_on(s, n))
            return;
        strbuf_commit(plain, (size_t)n);
    }
}

enum tls_state tls_session_input(struct tls_session *s, struct str bytes, struct strbuf *plain, struct strbuf *cipher)
{
    ERR_clear_error();
    s->in = bytes;
    s->cipher = cipher;
    if (s->state == TLS_HANDSHAKING && went_on(s, SSL_do_handshake(s->ssl)))
        s->state = TLS_OPEN;
    if (s->state == TLS_OPEN)
        read_plain(s, plain);
    s->in = (struct str){ 0 };
    s->cipher = NULL;
    return s->state;
}

void tls_session_write(struct tls_session *s, struct str plain, struct strbuf *cipher)
{
    ERR_clear_error();
    s->cipher = cipher;
    while (plain.n && s->state != TLS_FAILED) {
        int n = SSL_write(s->ssl, plain.p, plain.n > INT_MAX ? INT_MAX : (int)plain.n);
        if (!went_on(s, n))
            break; /* our BIO takes everything, so this is a failure */
        plain = str_from(plain, (size_t)n);
    }
    s->cipher = NULL;
}

void tls_session_close(struct tls_session *s, struct strbuf *cipher)
{
    if (s->state != TLS_OPEN && s->state != TLS_CLOSED)
        return;
    s->cipher = cipher;
    SSL_shutdown(s->ssl);
    s->cipher = NULL;
    ERR_clear_error();
}

enum tls_state tls_session_state(const struct tls_session *s)
{
    return s->state;
}

const char *tls_session_error(const struct tls_session *s)
{
    return s->error;
}

struct str tls_session_alpn(const struct tls_session *s)
{
    const unsigned char *p;
    unsigned n;
    SSL_get0_alpn_selected(s->ssl, &p, &n);
    return (struct str){ (const char *)p, n };
}

/* ---- The peer ---- */

static struct str entry_text(const X509_NAME *name, int at, struct arena *a)
{
    unsigned char *utf8 = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (n < 0) {
        ERR_clear_error();
        return STR("");
    }
    struct str text = arena_str(a, (struct str){ (char *)utf8, (size_t)n });
    OPENSSL_free(utf8);
    return text;
}

static void read_subject(struct tls_peer *peer, const X509_NAME *name, struct arena *a)
{
    struct str *organizations = ARENA_NEW_N(a, struct str, (size_t)X509_NAME_entry_count(name));
    for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;)
        organizations[peer->n_organizations++] = entry_text(name, at, a);
    peer->organizations = organizations;
    int last = -1; /* as Go: the last common name counts */
    for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_commonName, at)) >= 0;)
        last = at;
    peer->common_name = last < 0 ? STR("") : entry_text(name, last, a);
}

static struct str der_text(X509 *cert, struct arena *a)
{
    unsigned char *der = NULL;
    int n = i2d_X509(cert, &der);
    struct str text = n > 0 ? arena_str(a, (struct str){ (char *)der, (size_t)n }) : STR("");
    OPENSSL_free(der);
    return text;
}

/* On a client OpenSSL's chain begins with the peer's own certificate, on a server it does not. */
static void read_others(struct tls_peer *peer, const STACK_OF(X509) *chain, X509 *own, struct arena *a)
{
    int n = chain ? sk_X509_num(chain) : 0;
    struct str *others = ARENA_NEW_N(a, struct str, (size_t)n);
    for (int i = 0; i < n; i++)
        if (X509_cmp(sk_X509_value(chain, i), own) != 0)
            others[peer->n_others++] = der_text(sk_X509_value(chain, i), a);
    peer->others = others;
}

const struct tls_peer *tls_session_peer(const struct tls_session *s, struct arena *a)
{
    X509 *cert = SSL_get0_peer_certificate(s->ssl);
    if (!cert)
        return NULL;
    struct tls_peer *peer = ARENA_NEW(a, struct tls_peer);
    long verdict = SSL_get_verify_result(s->ssl);
    peer->verified = verdict == X509_V_OK;
    peer->verify_error = peer->verified ? NULL : X509_verify_cert_error_string(verdict);
    read_subject(peer, X509_get_subject_name(cert), a);
    peer->der = der_text(cert, a);
    read_others(peer, SSL_get_peer_cert_chain(s->ssl), cert, a);
    return peer;
}
