/* http/tls_cert.c - makes certificates: see tls_make_cert in tls.h. */
#include <assert.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "http/tls_priv.h"

static void set_subject(X509 *cert, const struct tls_new_cert *c)
{
    X509_NAME *name = X509_get_subject_name(cert);
    for (size_t i = 0; i < c->n_organizations; i++)
        X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_UTF8,
                                   (const unsigned char *)c->organizations[i], -1, -1, 0);
    X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)c->common_name, -1, -1, 0);
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return added;
}

/* Built as objects, not as a configuration text: a name cannot smuggle in another entry. */
static bool add_names(X509 *cert, const struct tls_new_cert *c)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool good = true;
    for (size_t i = 0; good && i < c->n_dns_names + c->n_addresses; i++) {
        bool is_dns = i < c->n_dns_names;
        const char *text = is_dns ? c->dns_names[i] : c->addresses[i - c->n_dns_names];
        GENERAL_NAME *name = a2i_GENERAL_NAME(NULL, NULL, NULL, is_dns ? GEN_DNS : GEN_IPADD, text, 0);
        good = name && sk_GENERAL_NAME_push(names, name) > 0;
    }
    if (good && sk_GENERAL_NAME_num(names) > 0)
        good = X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
    GENERAL_NAMES_free(names);
    return good;
}

static bool add_extensions(X509 *cert, X509 *issuer, const struct tls_new_cert *c)
{
    const char *usage = c->is_ca ? "critical,digitalSignature,keyCertSign,cRLSign"
                                 : "critical,digitalSignature,keyEncipherment";
    const char *uses = c->only_server ? "serverAuth" : "serverAuth,clientAuth";
    return add_extension(cert, issuer, NID_basic_constraints, c->is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
           add_extension(cert, issuer, NID_key_usage, usage) &&
           (c->is_ca || add_extension(cert, issuer, NID_ext_key_usage, uses)) &&
           (c->is_ca || add_extension(cert, issuer, NID_authority_key_identifier, "keyid")) &&
           add_extension(cert, issuer, NID_subject_key_identifier, "hash") && add_names(cert, c);
}

static bool set_serial(X509 *cert)
{
    unsigned char random[16];
    if (RAND_bytes(random, sizeof(random)) != 1)
        return false;
    random[0] &= 0x7f; /* positive */
    BIGNUM *number = BN_bin2bn(random, sizeof(random), NULL);
    bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return set;
}

static bool fill(X509 *cert, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key, const struct tls_new_cert *c)
{
    X509_set_version(cert, X509_VERSION_3);
    ASN1_TIME_set(X509_getm_notBefore(cert), c->not_before_s);
    ASN1_TIME_set(X509_getm_notAfter(cert), c->not_after_s);
    set_subject(cert, c);
    return set_serial(cert) && X509_set_pubkey(cert, key) == 1 &&
           X509_set_issuer_name(cert, X509_get_subject_name(issuer ? issuer : cert)) == 1 &&
           add_extensions(cert, issuer ? issuer : cert, c) &&
           X509_sign(cert, issuer_key ? issuer_key : key, EVP_sha256()) > 0;
}

static BIO *memory_of(struct str pem)
{
    return BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
}

static struct str pem_text(BIO *bio, struct arena *a)
{
    char *p;
    long n = BIO_get_mem_data(bio, &p);
    struct str text = arena_str(a, (struct str){ p, (size_t)n });
    BIO_free(bio);
    return text;
}

enum err_code tls_make_cert(const struct tls_new_cert *c, struct arena *a, struct str *ret_cert_pem,
                            struct str *ret_key_pem, struct err *e)
{
    X509 *cert = X509_new(), *issuer = NULL;
    EVP_PKEY *key = c->key == TLS_NEW_KEY_RSA_2048 ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"), *issuer_key = NULL;
    assert(cert);
    bool good = key != NULL;
    if (c->issuer_cert_pem.n) {
        BIO *cert_bio = memory_of(c->issuer_cert_pem), *key_bio = memory_of(c->issuer_key_pem);
        issuer = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
        issuer_key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
        BIO_free(cert_bio);
        BIO_free(key_bio);
        good = good && issuer && issuer_key;
    }
    good = good && fill(cert, key, issuer, issuer_key, c);
    if (good) {
        BIO *cert_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_mem());
        PEM_write_bio_X509(cert_bio, cert);
        PEM_write_bio_PKCS8PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL);
        *ret_cert_pem = pem_text(cert_bio, a);
        *ret_key_pem = pem_text(key_bio, a);
    } else {
        char room[128];
        err_set(e, ERR_INVALID, "cannot make a certificate for %s: %s", c->common_name, tls_reason(room, sizeof(room)));
    }
    X509_free(cert);
    X509_free(issuer);
    EVP_PKEY_free(key);
    EVP_PKEY_free(issuer_key);
    return good ? ERR_OK : e->code;
}

static X509 *read_cert(struct str pem)
{
    BIO *bio = memory_of(pem);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    return cert;
}

bool tls_cert_is_good(struct str pem, struct str issuer_pem, const char *address, int64_t until_s)
{
    X509 *cert = read_cert(pem), *issuer = read_cert(issuer_pem);
    time_t until = (time_t)until_s;
    bool good = cert && issuer && X509_verify(cert, X509_get0_pubkey(issuer)) == 1 &&
                X509_cmp_time(X509_get0_notAfter(cert), &until) > 0 &&
                (!address || X509_check_ip_asc(cert, address, 0) == 1);
    X509_free(cert);
    X509_free(issuer);
    ERR_clear_error();
    return good;
}
