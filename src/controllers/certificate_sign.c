/* controllers/certificate_sign.c - see certificate_sign.h. */
#include "controllers/certificate_sign.h"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "base/mem.h"

enum { SERIAL_BYTES = 16 };

struct certificate_authority {
    X509 *cert;
    EVP_PKEY *key;
};

static BIO *memory_of(struct str pem)
{
    return BIO_new_mem_buf(pem.n ? pem.p : "", str_precision(pem.n));
}

enum err_code certificate_authority_new(struct str cert_pem, struct str key_pem, struct certificate_authority **ret_authority,
                                        struct err *e)
{
    struct certificate_authority *ca = mem_zalloc(sizeof(*ca));
    BIO *cert = memory_of(cert_pem), *key = memory_of(key_pem);
    ca->cert = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    ca->key = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    BIO_free(cert);
    BIO_free(key);
    if (ca->cert && ca->key && X509_check_private_key(ca->cert, ca->key) == 1) {
        *ret_authority = ca;
        return ERR_OK;
    }
    const char *what = !ca->cert  ? "the certificate cannot be read"
                       : !ca->key ? "the key cannot be read"
                                  : "the key is not that of the certificate";
    certificate_authority_free(ca);
    return err_set(e, ERR_INVALID, "%s", what);
}

void certificate_authority_free(struct certificate_authority *ca)
{
    if (!ca)
        return;
    X509_free(ca->cert);
    EVP_PKEY_free(ca->key);
    free(ca);
}

int64_t certificate_lifetime_s(int64_t wanted_s, int64_t most_s)
{
    if (!wanted_s || wanted_s > most_s)
        return most_s;
    return wanted_s < CERTIFICATE_LIFETIME_MIN_S ? CERTIFICATE_LIFETIME_MIN_S : wanted_s;
}

/* ---- Usages ---- */

/* Bits of the extension, from the left. */
static const struct {
    const char *usage;
    int bit;
} key_usages[] = {
    { "signing", 0 }, { "digital signature", 0 }, { "content commitment", 1 }, { "key encipherment", 2 },
    { "data encipherment", 3 }, { "key agreement", 4 }, { "cert sign", 5 }, { "crl sign", 6 }, { "encipher only", 7 },
    { "decipher only", 8 },
};

/* In the order in which Go writes them. */
static const struct {
    const char *usage;
    int nid;
} purposes[] = {
    { "any", NID_anyExtendedKeyUsage }, { "server auth", NID_server_auth }, { "client auth", NID_client_auth },
    { "code signing", NID_code_sign }, { "email protection", NID_email_protect }, { "s/mime", NID_email_protect },
    { "ipsec end system", NID_ipsecEndSystem }, { "ipsec tunnel", NID_ipsecTunnel }, { "ipsec user", NID_ipsecUser },
    { "timestamping", NID_time_stamp }, { "ocsp signing", NID_OCSP_sign }, { "microsoft sgc", NID_ms_sgc },
    { "netscape sgc", NID_ns_sgc },
};

static bool has_usage(struct strs usages, const char *usage)
{
    for (size_t i = 0; i < usages.n; i++)
        if (str_is(usages.at[i], usage))
            return true;
    return false;
}

static bool add_key_usage(X509 *cert, struct strs usages)
{
    ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();
    bool good = bits, any = false;
    for (size_t i = 0; good && i < sizeof(key_usages) / sizeof(key_usages[0]); i++)
        if (has_usage(usages, key_usages[i].usage)) {
            good = ASN1_BIT_STRING_set_bit(bits, key_usages[i].bit, 1) == 1;
            any = true;
        }
    good = good && (!any || X509_add1_ext_i2d(cert, NID_key_usage, bits, 1, 0) == 1);
    ASN1_BIT_STRING_free(bits);
    return good;
}

static bool add_purposes(X509 *cert, struct strs usages)
{
    EXTENDED_KEY_USAGE *list = sk_ASN1_OBJECT_new_null();
    bool good = list;
    int last = NID_undef; /* two words for the same stand beside each other */
    for (size_t i = 0; good && i < sizeof(purposes) / sizeof(purposes[0]); i++)
        if (purposes[i].nid != last && has_usage(usages, purposes[i].usage)) {
            good = sk_ASN1_OBJECT_push(list, OBJ_nid2obj(purposes[i].nid)) > 0;
            last = purposes[i].nid;
        }
    if (good && sk_ASN1_OBJECT_num(list) > 0)
        good = X509_add1_ext_i2d(cert, NID_ext_key_usage, list, 0, 0) == 1;
    sk_ASN1_OBJECT_pop_free(list, ASN1_OBJECT_free);
    return good;
}

/* ---- Other extensions ---- */

static bool add_plain(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return added;
}

static bool is_known_name(const GENERAL_NAME *name)
{
    return name->type == GEN_DNS || name->type == GEN_EMAIL || name->type == GEN_IPADD || name->type == GEN_URI;
}

/* Names of other kinds are left out. */
static bool add_names(X509 *cert, X509_REQ *request)
{
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names = extensions ? X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL) : NULL;
    bool has_subject = X509_NAME_entry_count(X509_REQ_get_subject_name(request)) > 0, good = true;
    for (int i = sk_GENERAL_NAME_num(names) - 1; i >= 0; i--)
        if (!is_known_name(sk_GENERAL_NAME_value(names, i)))
            GENERAL_NAME_free(sk_GENERAL_NAME_delete(names, i));
    if (sk_GENERAL_NAME_num(names) > 0)
        good = X509_add1_ext_i2d(cert, NID_subject_alt_name, names, !has_subject, 0) == 1;
    GENERAL_NAMES_free(names);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return good;
}

static bool add_extensions(X509 *cert, X509 *issuer, X509_REQ *request, struct strs usages)
{
    bool issuer_has_id = X509_get0_subject_key_id(issuer);
    return add_key_usage(cert, usages) && add_purposes(cert, usages) &&
           add_plain(cert, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           (!issuer_has_id || add_plain(cert, issuer, NID_authority_key_identifier, "keyid:always")) && add_names(cert, request);
}

/* ---- Signing ---- */

static bool set_serial(X509 *cert)
{
    unsigned char random[SERIAL_BYTES];
    if (RAND_bytes(random, sizeof(random)) != 1)
        return false;
    BIGNUM *number = BN_bin2bn(random, sizeof(random), NULL);
    bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return set;
}

/* It ends with its authority at the latest. */
static bool set_times(X509 *cert, const struct certificate_authority *ca, int64_t lifetime_s, int64_t now_s)
{
    int64_t until_s = now_s + lifetime_s - (lifetime_s < CERTIFICATE_SHORT_S ? 0 : CERTIFICATE_BACKDATE_S);
    time_t until = (time_t)until_s;
    const ASN1_TIME *last = X509_get0_notAfter(ca->cert);
    if (!ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(now_s - CERTIFICATE_BACKDATE_S)))
        return false;
    if (X509_cmp_time(last, &until) <= 0)
        return X509_set1_notAfter(cert, last) == 1;
    return ASN1_TIME_set(X509_getm_notAfter(cert), until) != NULL;
}

/* Keys of Edwards curves have their own digest. */
static const EVP_MD *digest_of(const EVP_PKEY *key)
{
    int id = EVP_PKEY_get_base_id(key);
    if (id == EVP_PKEY_ED25519 || id == EVP_PKEY_ED448)
        return NULL;
    if (id != EVP_PKEY_EC || EVP_PKEY_get_bits(key) <= 256)
        return EVP_sha256();
    return EVP_PKEY_get_bits(key) <= 384 ? EVP_sha384() : EVP_sha512();
}

static bool fill(X509 *cert, const struct certificate_authority *ca, X509_REQ *request, struct strs usages, int64_t lifetime_s,
                 int64_t now_s)
{
    return X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) && set_times(cert, ca, lifetime_s, now_s) &&
           X509_set_subject_name(cert, X509_REQ_get_subject_name(request)) == 1 &&
           X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)) == 1 &&
           X509_set_pubkey(cert, X509_REQ_get0_pubkey(request)) == 1 && add_extensions(cert, ca->cert, request, usages) &&
           X509_sign(cert, ca->key, digest_of(ca->key)) > 0;
}

static const char *fault_of(const struct certificate_authority *ca, X509_REQ *request, int64_t now_s)
{
    time_t now = (time_t)now_s;
    if (!request)
        return "unable to parse certificate request";
    EVP_PKEY *key = X509_REQ_get0_pubkey(request);
    if (!key || X509_REQ_verify(request, key) != 1)
        return "unable to verify certificate request signature";
    return X509_cmp_time(X509_get0_notAfter(ca->cert), &now) <= 0 ? "the signer has expired" : NULL;
}

static struct str pem_of(struct arena *a, X509 *cert)
{
    BIO *out = BIO_new(BIO_s_mem());
    char *p;
    PEM_write_bio_X509(out, cert);
    long n = BIO_get_mem_data(out, &p);
    struct str pem = arena_str(a, (struct str){ p, (size_t)n });
    BIO_free(out);
    return pem;
}

enum err_code certificate_sign(const struct certificate_authority *ca, struct str request_pem, struct strs usages,
                               int64_t lifetime_s, int64_t now_s, struct arena *a, struct str *ret_pem, struct err *e)
{
    BIO *in = memory_of(request_pem);
    X509_REQ *request = PEM_read_bio_X509_REQ(in, NULL, NULL, NULL);
    X509 *cert = X509_new();
    const char *fault = fault_of(ca, request, now_s);
    if (!fault && !fill(cert, ca, request, usages, lifetime_s, now_s))
        fault = "failed to sign certificate";
    if (!fault)
        *ret_pem = pem_of(a, cert);
    X509_free(cert);
    X509_REQ_free(request);
    BIO_free(in);
    return fault ? err_set(e, ERR_INVALID, "%s", fault) : ERR_OK;
}
