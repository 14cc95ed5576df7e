/* apiserver/jwt.c - see jwt.h. RFC 7515, 7517, 7518 and 7519. Upstream: pkg/serviceaccount/jwt.go and go-jose. */
#include "apiserver/jwt.h"

#include <assert.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "codec/json.h"
#include "http/digest.h"

#define CANNOT_VERIFY "go-jose/go-jose: error in cryptographic primitive"

enum { KEY_ID_BYTES = 43, COORDINATE_BYTES_MAX = 66, RSA_BYTES_MAX = 2048 };

struct algorithm {
    const char *name, *curve; /* no curve: RSA */
    const char *group;        /* as OpenSSL calls the curve */
    size_t coordinate_bytes;
    const EVP_MD *(*digest)(void);
};

static const struct algorithm algorithms[] = {
    { "RS256", NULL, NULL, 0, EVP_sha256 },
    { "ES256", "P-256", "prime256v1", 32, EVP_sha256 },
    { "ES384", "P-384", "secp384r1", 48, EVP_sha384 },
    { "ES512", "P-521", "secp521r1", 66, EVP_sha512 },
};

struct jwt_key {
    EVP_PKEY *pkey;
    const struct algorithm *algorithm;
    char id[KEY_ID_BYTES + 1];
};

/* ---- base64 for URLs, without padding ---- */

static void add_base64url(struct strbuf *to, struct str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        uint32_t word = 0;
        for (size_t k = 0; k < 3; k++)
            word = word << 8 | (k < n ? (uint8_t)bytes.p[i + k] : 0);
        for (size_t k = 0; k <= n; k++)
            strbuf_add_char(to, digits[word >> (18 - 6 * k) & 63]);
    }
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

static bool read_base64url(struct arena *a, struct str text, struct str *ret_bytes)
{
    char *bytes = arena_alloc(a, text.n);
    size_t n = 0;
    uint32_t word = 0;
    if (text.n % 4 == 1)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit(text.p[i]);
        if (d < 0)
            return false;
        word = word << 6 | (uint32_t)d;
        if (i % 4)
            bytes[n++] = (char)(word >> (6 - 2 * (i % 4)));
    }
    *ret_bytes = (struct str){ bytes, n };
    return true;
}

/* ---- Keys ---- */

static const struct algorithm *algorithm_of(const EVP_PKEY *pkey)
{
    char group[64];
    size_t n;
    if (EVP_PKEY_is_a(pkey, "RSA"))
        return &algorithms[0];
    if (!EVP_PKEY_is_a(pkey, "EC") || EVP_PKEY_get_group_name(pkey, group, sizeof(group), &n) != 1)
        return NULL;
    for (size_t i = 1; i < sizeof(algorithms) / sizeof(algorithms[0]); i++)
        if (strcmp(group, algorithms[i].group) == 0)
            return &algorithms[i];
    return NULL;
}

/* The digest of the public key, so that nobody learns the key from its name. */
static void set_key_id(struct jwt_key *k)
{
    unsigned char *der = NULL;
    int n = i2d_PUBKEY(k->pkey, &der);
    assert(n > 0);
    uint8_t digest[DIGEST_BYTES];
    digest_sha256((struct str){ (char *)der, (size_t)n }, digest);
    OPENSSL_free(der);
    struct strbuf id;
    strbuf_init(&id, KEY_ID_BYTES + 1);
    add_base64url(&id, (struct str){ (char *)digest, DIGEST_BYTES });
    memcpy(k->id, strbuf_cstr(&id), KEY_ID_BYTES + 1);
    strbuf_fini(&id);
}

static enum err_code key_new(EVP_PKEY *own_pkey, struct jwt_key **ret_key, struct err *e)
{
    const struct algorithm *algorithm = algorithm_of(own_pkey);
    if (!algorithm || (!algorithm->curve && EVP_PKEY_get_size(own_pkey) > RSA_BYTES_MAX)) {
        EVP_PKEY_free(own_pkey);
        return err_set(e, ERR_INVALID, "unknown key type, must be RSA or ECDSA with curve P-256, P-384 or P-521");
    }
    struct jwt_key *k = mem_zalloc(sizeof(*k));
    k->pkey = own_pkey;
    k->algorithm = algorithm;
    set_key_id(k);
    *ret_key = k;
    return ERR_OK;
}

/* NULL: the block is of another kind, or damaged. */
static EVP_PKEY *read_block(const char *name, const unsigned char *der, long n)
{
    const unsigned char *p = der;
    if (strcmp(name, PEM_STRING_X509) == 0) {
        X509 *cert = d2i_X509(NULL, &p, n);
        EVP_PKEY *pkey = cert ? X509_get_pubkey(cert) : NULL;
        X509_free(cert);
        return pkey;
    }
    if (strcmp(name, PEM_STRING_PUBLIC) == 0)
        return d2i_PUBKEY(NULL, &p, n);
    if (strcmp(name, PEM_STRING_RSA_PUBLIC) == 0)
        return d2i_PublicKey(EVP_PKEY_RSA, NULL, &p, n);
    return strstr(name, "PRIVATE KEY") ? d2i_AutoPrivateKey(NULL, &p, n) : NULL;
}

/* The next key in the text; NULL at its end. Blocks of other kinds (parameters of curves) are passed over. */
static EVP_PKEY *next_key(BIO *bio, bool only_private)
{
    char *name, *header;
    unsigned char *der;
    long n;
    EVP_PKEY *pkey = NULL;
    while (!pkey && PEM_read_bio(bio, &name, &header, &der, &n) == 1) {
        if (!only_private || strstr(name, "PRIVATE KEY"))
            pkey = read_block(name, der, n);
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_clear_free(der, (size_t)n);
    }
    ERR_clear_error();
    return pkey;
}

static BIO *open_text(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)(pem.n < INT32_MAX ? pem.n : INT32_MAX));
    assert(bio);
    return bio;
}

enum err_code jwt_keys_add(struct jwt_keys *keys, struct str pem, struct err *e)
{
    BIO *bio = open_text(pem);
    EVP_PKEY *pkey;
    enum err_code rc = ERR_OK;
    size_t n_before = keys->n;
    while (!rc && (pkey = next_key(bio, false))) {
        if (keys->n == JWT_KEYS_MAX) {
            EVP_PKEY_free(pkey);
            rc = err_set(e, ERR_INVALID, "more than %d keys", JWT_KEYS_MAX);
        } else {
            rc = key_new(pkey, &keys->at[keys->n], e);
            keys->n += !rc;
        }
    }
    BIO_free(bio);
    if (!rc && keys->n == n_before)
        return err_set(e, ERR_INVALID, "data does not contain any valid RSA or ECDSA public keys");
    return rc;
}

enum err_code jwt_signer_new(struct str pem, struct jwt_key **ret_key, struct err *e)
{
    BIO *bio = open_text(pem);
    EVP_PKEY *pkey = next_key(bio, true);
    BIO_free(bio);
    if (!pkey)
        return err_set(e, ERR_INVALID, "data does not contain a valid RSA or ECDSA private key");
    return key_new(pkey, ret_key, e);
}

void jwt_key_free(struct jwt_key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->pkey);
    free(k);
}

void jwt_keys_fini(struct jwt_keys *keys)
{
    for (size_t i = 0; i < keys->n; i++)
        jwt_key_free(keys->at[i]);
    keys->n = 0;
}

const char *jwt_key_algorithm(const struct jwt_key *k)
{
    return k->algorithm->name;
}

/* A number of the key, in as many bytes as it takes or as are said. */
static void add_number(const struct jwt_key *k, const char *parameter, size_t n_bytes, struct strbuf *to)
{
    unsigned char bytes[RSA_BYTES_MAX];
    BIGNUM *number = NULL;
    int done = EVP_PKEY_get_bn_param(k->pkey, parameter, &number);
    assert(done == 1);
    int n = BN_bn2binpad(number, bytes, (int)(n_bytes ? n_bytes : (size_t)BN_num_bytes(number)));
    assert(n >= 0);
    BN_free(number);
    strbuf_add_char(to, '"');
    add_base64url(to, (struct str){ (char *)bytes, (size_t)n });
    strbuf_add_char(to, '"');
}

void jwt_key_add_json(const struct jwt_key *k, struct strbuf *to)
{
    const struct algorithm *g = k->algorithm;
    strbuf_printf(to, "{\"use\":\"sig\",\"kty\":\"%s\",\"kid\":\"%s\",", g->curve ? "EC" : "RSA", k->id);
    if (g->curve)
        strbuf_printf(to, "\"crv\":\"%s\",", g->curve);
    strbuf_printf(to, "\"alg\":\"%s\",\"%s\":", g->name, g->curve ? "x" : "n");
    add_number(k, g->curve ? OSSL_PKEY_PARAM_EC_PUB_X : OSSL_PKEY_PARAM_RSA_N, g->coordinate_bytes, to);
    strbuf_printf(to, ",\"%s\":", g->curve ? "y" : "e");
    add_number(k, g->curve ? OSSL_PKEY_PARAM_EC_PUB_Y : OSSL_PKEY_PARAM_RSA_E, g->coordinate_bytes, to);
    strbuf_add_char(to, '}');
}

/* ---- Reading ---- */

static size_t count_members(const struct value *v)
{
    size_t n = 0;
    for (uint32_t i = 0; v->kind == VALUE_MAP && i < v->n; i++)
        n += 1 + count_members(&v->members[i].value);
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        n += count_members(&v->items[i]);
    return n;
}

/* Names in a JSON text, those that are given twice as well: each has a colon behind it, outside of strings. */
static size_t count_names(struct str json)
{
    size_t n = 0;
    bool in_string = false;
    for (size_t i = 0; i < json.n; i++) {
        if (in_string && json.p[i] == '\\')
            i++;
        else if (json.p[i] == '"')
            in_string = !in_string;
        else if (!in_string && json.p[i] == ':')
            n++;
    }
    return n;
}

static bool read_object(struct arena *a, struct str part, struct value *ret_object)
{
    struct str json;
    struct err e;
    struct work work = work_init(JWT_BYTES_MAX);
    err_init(&e, a);
    return read_base64url(a, part, &json) && !json_decode_plain(a, &work, json, ret_object, &e) &&
           ret_object->kind == VALUE_MAP && count_members(ret_object) == count_names(json);
}

static struct str text_member(const struct value *map, struct str key)
{
    const struct value *v = value_member(map, key);
    return v ? value_text(v) : STR("");
}

bool jwt_read(struct arena *a, struct str token, struct jwt *ret_jwt)
{
    size_t first = str_index(token, '.');
    struct str rest = str_from(token, first + 1);
    size_t second = str_index(rest, '.');
    struct str last = str_from(rest, second + 1);
    struct value header;
    struct jwt t;
    if (token.n > JWT_BYTES_MAX || first == token.n || second == rest.n || str_index(last, '.') != last.n)
        return false;
    if (!read_object(a, str_first(token, first), &header) || !read_object(a, str_first(rest, second), &t.claims) ||
        !read_base64url(a, last, &t.signature))
        return false;
    if (value_member(&header, STR("crit"))) /* something that must be understood, and is not */
        return false;
    t.signed_part = str_first(token, first + 1 + second);
    t.algorithm = text_member(&header, STR("alg"));
    t.key_id = text_member(&header, STR("kid"));
    *ret_jwt = t;
    return true;
}

/* ---- Signatures ---- */

/* From two numbers in a row to the form that OpenSSL has; empty when they are not as long as they must be. */
static struct str der_signature(const struct algorithm *g, struct str raw, unsigned char **ret_der)
{
    size_t n = g->coordinate_bytes;
    *ret_der = NULL;
    if (raw.n != 2 * n)
        return STR("");
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn((const unsigned char *)raw.p, (int)n, NULL);
    BIGNUM *s = BN_bin2bn((const unsigned char *)raw.p + n, (int)n, NULL);
    int done = ECDSA_SIG_set0(sig, r, s);
    assert(done == 1);
    int n_der = i2d_ECDSA_SIG(sig, ret_der);
    ECDSA_SIG_free(sig);
    return (struct str){ (char *)*ret_der, n_der > 0 ? (size_t)n_der : 0 };
}

static bool verify_with(const struct jwt *t, const struct jwt_key *k)
{
    unsigned char *der = NULL;
    struct str signature = k->algorithm->curve ? der_signature(k->algorithm, t->signature, &der) : t->signature;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = signature.n && str_is(t->algorithm, k->algorithm->name) &&
                EVP_DigestVerifyInit(ctx, NULL, k->algorithm->digest(), NULL, k->pkey) == 1 &&
                EVP_DigestVerify(ctx, (const unsigned char *)signature.p, signature.n,
                                 (const unsigned char *)t->signed_part.p, t->signed_part.n) == 1;
    EVP_MD_CTX_free(ctx);
    OPENSSL_free(der);
    ERR_clear_error();
    return good;
}

const char *jwt_verify(const struct jwt *t, const struct jwt_keys *keys)
{
    const char *why = "invalid signature, no keys found";
    for (size_t i = 0; i < keys->n; i++) {
        if (t->key_id.n && !str_is(t->key_id, keys->at[i]->id))
            continue;
        if (verify_with(t, keys->at[i]))
            return NULL;
        why = CANNOT_VERIFY;
    }
    return why;
}

/* From OpenSSL's form to two numbers in a row. */
static void add_raw_signature(const struct algorithm *g, const unsigned char *der, size_t n, struct strbuf *to)
{
    unsigned char raw[2 * COORDINATE_BYTES_MAX];
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
    assert(sig);
    BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, (int)g->coordinate_bytes);
    BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + g->coordinate_bytes, (int)g->coordinate_bytes);
    ECDSA_SIG_free(sig);
    add_base64url(to, (struct str){ (char *)raw, 2 * g->coordinate_bytes });
}

static void add_signature(const struct jwt_key *k, struct strbuf *token)
{
    unsigned char signature[RSA_BYTES_MAX];
    size_t n = sizeof(signature);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int done = EVP_DigestSignInit(ctx, NULL, k->algorithm->digest(), NULL, k->pkey);
    assert(done == 1);
    done = EVP_DigestSign(ctx, signature, &n, (const unsigned char *)token->p, token->n);
    assert(done == 1);
    EVP_MD_CTX_free(ctx);
    strbuf_add_char(token, '.');
    if (k->algorithm->curve)
        add_raw_signature(k->algorithm, signature, n, token);
    else
        add_base64url(token, (struct str){ (char *)signature, n });
}

struct str jwt_sign(struct arena *a, const struct jwt_key *k, struct str claims)
{
    struct strbuf token;
    const char *header = arena_printf(a, "{\"alg\":\"%s\",\"kid\":\"%s\"}", k->algorithm->name, k->id);
    strbuf_init(&token, STRBUF_NO_MAX);
    add_base64url(&token, str_of(header));
    strbuf_add_char(&token, '.');
    add_base64url(&token, claims);
    add_signature(k, &token);
    struct str copy = arena_str(a, strbuf_str(&token));
    strbuf_fini(&token);
    return copy;
}
