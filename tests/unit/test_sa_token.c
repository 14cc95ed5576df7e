/* Tokens of service accounts: apiserver/jwt.c, sa_token.c, token_request.c, and through authn.c what a TokenReview says
 * about them, against tokens, refusals and documents of the real kube-apiserver v1.36.4 (tests/golden/apiserver/tokens.jsonl).
 */
#include "apiserver/sa_token.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "apiserver/authn.h"
#include "apiserver/jwt.h"
#include "apiserver/token_request.h"
#include "base/base64.h"
#include "http/tls.h"
#include "tests/unit/auth_world.h"

#define ISSUER "https://kubernetes.default.svc"
#define ACCOUNT(uid) "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"namespace\":\"a\",\"name\":\"robot\",\"uid\":\"" uid "\"}}"

static struct auth_world w;
static const char *const issuers[] = { ISSUER, NULL };

/* ---- The recording ---- */

static struct sa_tokens *tokens_with(struct str key, struct str signer, const char *address)
{
    struct sa_tokens *t;
    struct sa_tokens_options o = { .issuers = issuers, .key_pems = &key, .n_key_pems = 1, .signing_key_pem = signer,
                                   .external_address = address };
    if (sa_tokens_new(&o, &t, &w.e))
        FAIL("%s", w.e.message);
    return t;
}

static void check_document(struct golden *g, const char *what, void (*add)(const struct sa_tokens *, struct strbuf *),
                           const struct sa_tokens *t, const struct value *want)
{
    struct strbuf got;
    struct value plain;
    strbuf_init(&got, STRBUF_NO_MAX);
    add(t, &got);
    CHECK(!json_decode_plain(&g->arena, WORK_OWN, arena_str(&g->arena, strbuf_str(&got)), &plain, &w.e));
    CHECK_STR(what, plain_json(&g->arena, &plain), plain_json(&g->arena, want));
    strbuf_fini(&got);
}

static void check_texts(const char *what, const struct str_list *got, const struct value *want)
{
    CHECK_INT(what, got->n, want ? want->n : 0);
    for (size_t i = 0; i < got->n; i++)
        CHECK_STR(what, got->at[i], value_text(&want->items[i]));
}

static void check_token(struct golden *g, struct api_authn *authn, const struct value *row)
{
    const char *what = arena_printf(&g->arena, "%.*s for %.*s", STR_ARG(golden_text(row, "what")),
                                    STR_ARG(plain_json(&g->arena, value_member(row, STR("audiences")))));
    const struct value *status = value_member(row, STR("status")), *info = value_member(status, STR("user"));
    const struct user *u = NULL;
    struct str_list audiences = { 0 };
    struct err e;
    err_init(&e, &g->arena);
    enum err_code rc = api_authn_review(authn, &g->arena, golden_text(row, "token"),
                                        plain_list(&g->arena, value_member(row, STR("audiences"))),
                                        golden_int(row, "now"), &u, &audiences, &e);
    CHECK_STR(what, str_of(rc ? e.message : ""), golden_text(status, "error"));
    if (rc)
        return;
    CHECK_STR(what, u->name, golden_text(info, "username"));
    CHECK_STR(what, u->uid, golden_text(info, "uid"));
    check_texts(what, &u->groups, value_member(info, STR("groups")));
    check_texts(what, &audiences, value_member(status, STR("audiences")));
    const struct value *extra = value_member(info, STR("extra"));
    CHECK_INT(what, u->n_extra, extra ? extra->n : 0);
    for (size_t i = 0; i < u->n_extra; i++) {
        CHECK_STR(what, u->extra[i].key, extra->members[i].key);
        check_texts(what, &u->extra[i].values, &extra->members[i].value);
    }
}

static int64_t number(const struct value *map, const char *key)
{
    const struct value *v = value_member(map, str_of(key));
    return v ? v->i : 0;
}

/* All but what differs each time. */
static void check_claims(const char *what, const struct value *got, const struct value *want)
{
    const struct value *ours = value_member(got, STR("kubernetes.io")), *theirs = value_member(want, STR("kubernetes.io"));
    CHECK_INT(what, got->n, want->n);
    CHECK_INT(what, number(got, "exp") - number(got, "iat"), number(want, "exp") - number(want, "iat"));
    CHECK_INT(what, number(got, "nbf"), number(got, "iat"));
    CHECK_INT(what, golden_text(got, "jti").n, 36);
    CHECK_INT(what, ours->n, theirs->n);
    for (uint32_t i = 0; i < ours->n; i++) {
        CHECK_STR(what, ours->members[i].key, theirs->members[i].key);
        if (str_is(ours->members[i].key, "warnafter"))
            CHECK_INT(what, number(ours, "warnafter") - number(got, "iat"), number(theirs, "warnafter") - number(want, "iat"));
        else
            CHECK(value_equal(&ours->members[i].value, &theirs->members[i].value));
    }
    CHECK(value_equal(value_member(got, STR("aud")), value_member(want, STR("aud"))));
    CHECK_STR(what, golden_text(got, "iss"), golden_text(want, "iss"));
    CHECK_STR(what, golden_text(got, "sub"), golden_text(want, "sub"));
}

static void check_request(struct golden *g, struct sa_tokens *t, const struct value *row)
{
    const struct type *type = schema_type(STR("authentication.k8s.io/v1.TokenRequest"));
    const char *what = arena_cstr(&g->arena, plain_json(&g->arena, row));
    struct warnings warnings = { .arena = &g->arena };
    struct token_request_context c = { &g->arena, w.objects, t, true, WORLD_NOW_S, &warnings };
    struct field_errors errs;
    struct value in, out;
    struct err e;
    struct jwt jwt;
    err_init(&e, &g->arena);
    field_errors_init(&errs, &g->arena);
    CHECK(!json_decode(&g->arena, WORK_OWN, type, plain_json(&g->arena, value_member(row, STR("request"))), NULL, &in, &e));
    enum err_code rc = token_request_answer(&c, STR("a"), golden_text(row, "account"), &in, &out, &errs, &e);
    CHECK_INT(what, rc ? err_http_status(rc) : 201, golden_int(row, "code"));
    if (rc) {
        CHECK_STR(what, str_of(e.message), golden_text(row, "message"));
        return;
    }
    struct str token = value_text(value_path(type, &out, "status.token"));
    CHECK(jwt_read(&g->arena, token, &jwt));
    check_claims(what, &jwt.claims, value_member(row, STR("claims")));
    const struct value *spec = value_member(row, STR("spec"));
    CHECK_INT(what, value_path(type, &out, "spec.expirationSeconds")->i, number(spec, "expirationSeconds"));
    CHECK_INT(what, value_path(type, &out, "status.expirationTimestamp")->i, WORLD_NOW_S + number(spec, "expirationSeconds"));
    CHECK_STR(what, value_text(value_path(type, &out, "metadata.name")), STR("robot"));
}

static void make_key(enum tls_new_key kind, struct str *ret_cert, struct str *ret_key)
{
    struct tls_new_cert c = { .common_name = "tokens", .key = kind, .not_before_s = WORLD_NOW_S, .not_after_s = WORLD_NOW_S + 1 };
    CHECK(!tls_make_cert(&c, &w.arena, ret_cert, ret_key, &w.e));
}

TEST(tokens_are_taken_and_refused_as_by_a_real_server)
{
    struct golden g;
    struct value row;
    struct sa_tokens *tokens = NULL, *signing;
    struct api_authn *authn = NULL;
    struct str cert, key;
    size_t n_tokens = 0, n_requests = 0;
    auth_world_init(&w);
    make_key(TLS_NEW_KEY_RSA_2048, &cert, &key);
    signing = tokens_with(cert, key, NULL);
    golden_open(&g, "apiserver/tokens.jsonl");
    while (golden_next(&g, &row)) {
        const struct value *v;
        if ((v = value_member(&row, STR("key")))) {
            tokens = tokens_with(value_text(v), STR(""), "192.0.2.2:21402");
            struct api_authn_options o = { .objects = w.objects, .tokens = tokens };
            CHECK(!api_authn_new(&o, &authn, &w.e));
        } else if ((v = value_member(&row, STR("jwks")))) {
            check_document(&g, "jwks", sa_tokens_add_jwks, tokens, v);
        } else if ((v = value_member(&row, STR("configuration")))) {
            check_document(&g, "configuration", sa_tokens_add_configuration, tokens, v);
        } else if ((v = value_member(&row, STR("object")))) {
            auth_world_put(&w, plain_json(&g.arena, v));
        } else if (value_member(&row, STR("token"))) {
            check_token(&g, authn, &row);
            n_tokens++;
        } else {
            check_request(&g, signing, &row);
            n_requests++;
        }
    }
    CHECK(n_tokens > 80 && n_requests > 30);
    golden_close(&g);
    api_authn_free(authn);
    sa_tokens_free(tokens);
    sa_tokens_free(signing);
    auth_world_fini(&w);
}

/* ---- Keys ---- */

static struct str new_ec_key(const char *curve)
{
    EVP_PKEY *pkey = EVP_EC_gen(curve);
    BIO *bio = BIO_new(BIO_s_mem());
    char *p;
    CHECK(pkey && PEM_write_bio_PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1);
    long n = BIO_get_mem_data(bio, &p);
    struct str pem = arena_str(&w.arena, (struct str){ p, (size_t)n });
    BIO_free(bio);
    EVP_PKEY_free(pkey);
    return pem;
}

static struct sa_claims robot(void)
{
    return (struct sa_claims){ .namespace = STR("a"), .name = STR("robot"), .uid = STR("u1"), .now_s = WORLD_NOW_S,
                               .expires_s = WORLD_NOW_S + 600 };
}

static enum err_code check_at(struct sa_tokens *t, struct str token, int64_t now_s, const struct user **ret_user)
{
    struct str_list audiences;
    err_init(&w.e, &w.arena);
    return sa_token_check(t, &w.arena, w.objects, token, (struct str_list){ 0 }, now_s, ret_user, &audiences, &w.e);
}

TEST(each_kind_of_key_signs_and_verifies)
{
    static const struct {
        const char *what, *curve, *algorithm; /* no curve: RSA */
    } rows[] = { { "RSA", NULL, "RS256" }, { "P-256", "P-256", "ES256" }, { "P-384", "P-384", "ES384" },
                 { "P-521", "P-521", "ES512" } };
    auth_world_init(&w);
    auth_world_put(&w, STR(ACCOUNT("u1")));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str key, cert, token;
        struct sa_claims claims = robot();
        struct jwt jwt;
        const struct user *u;
        if (rows[i].curve)
            cert = key = new_ec_key(rows[i].curve);
        else
            make_key(TLS_NEW_KEY_RSA_2048, &cert, &key);
        struct sa_tokens *t = tokens_with(cert, key, NULL);
        CHECK(!sa_token_make(t, &w.arena, &claims, &token, &w.e));
        CHECK(jwt_read(&w.arena, token, &jwt) && sa_token_is_ours(t, token));
        CHECK_STR(rows[i].what, jwt.algorithm, str_of(rows[i].algorithm));
        CHECK_INT(rows[i].what, check_at(t, token, WORLD_NOW_S, &u), ERR_OK);
        CHECK_STR(rows[i].what, u->name, STR("system:serviceaccount:a:robot"));
        char *bad = arena_cstr(&w.arena, token);
        bad[token.n - 10] = bad[token.n - 10] == 'A' ? 'B' : 'A';
        CHECK_INT(rows[i].what, check_at(t, str_of(bad), WORLD_NOW_S, &u), ERR_UNAUTHORIZED);
        sa_tokens_free(t);
    }
    auth_world_fini(&w);
}

/* The key file of an envtest server is a certificate, and the key is ECDSA. */
TEST(a_certificate_is_a_key_file)
{
    struct str cert, key, token;
    struct sa_claims claims = robot();
    const struct user *u;
    struct strbuf document;
    auth_world_init(&w);
    auth_world_put(&w, STR(ACCOUNT("u1")));
    make_key(TLS_NEW_KEY_P256, &cert, &key);
    struct sa_tokens *t = tokens_with(cert, key, "h:1");
    CHECK(!sa_token_make(t, &w.arena, &claims, &token, &w.e) && !check_at(t, token, WORLD_NOW_S, &u));
    strbuf_init(&document, STRBUF_NO_MAX);
    sa_tokens_add_configuration(t, &document);
    CHECK_STR("configuration", strbuf_str(&document),
              STR("{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"https://h:1/openid/v1/jwks\",\"response_types_supported\":"
                  "[\"id_token\"],\"subject_types_supported\":[\"public\"],\"id_token_signing_alg_values_supported\":"
                  "[\"ES256\"]}"));
    strbuf_reset(&document);
    sa_tokens_add_jwks(t, &document);
    CHECK(str_starts(strbuf_str(&document), STR("{\"keys\":[{\"use\":\"sig\",\"kty\":\"EC\",\"kid\":\"")));
    CHECK(memmem(document.p, document.n, "\"crv\":\"P-256\",\"alg\":\"ES256\",\"x\":\"", 33));
    strbuf_fini(&document);
    sa_tokens_free(t);
    auth_world_fini(&w);
}

TEST(files_without_keys_are_errors)
{
    struct sa_tokens *t;
    struct str nothing = STR("nothing"), cert, key;
    auth_world_init(&w);
    struct sa_tokens_options o = { .issuers = issuers, .key_pems = &nothing, .n_key_pems = 1 };
    CHECK(sa_tokens_new(&o, &t, &w.e));
    CHECK_TEXT("no key", w.e.message,
               "service account key file: data does not contain any valid RSA or ECDSA public keys");
    make_key(TLS_NEW_KEY_P256, &cert, &key);
    o = (struct sa_tokens_options){ .issuers = issuers, .signing_key_pem = cert };
    CHECK(sa_tokens_new(&o, &t, &w.e));
    o = (struct sa_tokens_options){ .signing_key_pem = key };
    CHECK(sa_tokens_new(&o, &t, &w.e));
    o = (struct sa_tokens_options){ .issuers = issuers };
    CHECK(!sa_tokens_new(&o, &t, &w.e));
    struct sa_claims claims = robot();
    CHECK_INT("no signer", sa_token_make(t, &w.arena, &claims, &nothing, &w.e), ERR_UNAVAILABLE);
    sa_tokens_free(t);
    auth_world_fini(&w);
}

/* ---- Times, and what a token is bound to ---- */

static struct jwt_key *signer;
static struct sa_tokens *tokens;

static void begin_signed(void)
{
    struct str key;
    auth_world_init(&w);
    key = new_ec_key("P-256");
    tokens = tokens_with(key, key, NULL);
    CHECK(!jwt_signer_new(key, &signer, &w.e));
    auth_world_put(&w, STR(ACCOUNT("u1")));
}

static void end_signed(void)
{
    jwt_key_free(signer);
    sa_tokens_free(tokens);
    auth_world_fini(&w);
}

#define OURS "\"iss\":\"" ISSUER "\",\"kubernetes.io\":{\"namespace\":\"a\",\"serviceaccount\":{\"name\":\"robot\",\"uid\":\"u1\"}"
#define LEGACY "\"iss\":\"kubernetes/serviceaccount\",\"sub\":\"system:serviceaccount:a:robot\",\"kubernetes.io/serviceaccount/namespace\":\"a\""
#define LEGACY_REST ",\"kubernetes.io/serviceaccount/service-account.name\":\"robot\",\"kubernetes.io/serviceaccount/service-account.uid\":\"u1\""
#define OBJECT(kind, more) "{\"apiVersion\":\"v1\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"x\"" more "}}"

TEST(claims_are_checked)
{
    static const struct {
        const char *what, *claims, *object, *error; /* an object that is there; NULL error: it is good */
    } rows[] = {
        { "nothing about time", "{" OURS "}}", NULL, NULL },
        { "just ended", "{\"exp\":1699999941," OURS "}}", NULL, NULL },
        { "ended", "{\"exp\":1699999939," OURS "}}", NULL, "service account token has expired" },
        { "ended, with a fraction", "{\"exp\":1699999939.9," OURS "}}", NULL, "service account token has expired" },
        { "soon", "{\"nbf\":1700000060," OURS "}}", NULL, NULL },
        { "not yet", "{\"nbf\":1700000061," OURS "}}", NULL, "service account token is not valid yet" },
        { "made tomorrow", "{\"iat\":1700086400," OURS "}}", NULL, "service account token is issued in the future" },
        { "a time that is none", "{\"exp\":\"soon\"," OURS "}}", NULL,
          "service account token claims could not be validated due to unexpected validation error" },
        { "an absurd time", "{\"exp\":1e300," OURS "}}", NULL,
          "service account token claims could not be validated due to unexpected validation error" },
        { "one audience", "{\"aud\":\"" ISSUER "\"," OURS "}}", NULL, NULL },
        { "another's", "{\"aud\":[\"y\",\"z\"]," OURS "}}", NULL,
          "token audiences [\"y\" \"z\"] is invalid for the target audiences [\"" ISSUER "\"]" },
        { "no account", "{\"iss\":\"" ISSUER "\",\"kubernetes.io\":{\"namespace\":\"b\",\"serviceaccount\":{\"name\":\"robot\","
                        "\"uid\":\"u1\"}}}", NULL, "serviceaccounts \"robot\" not found" },
        { "another account of that name", "{\"iss\":\"" ISSUER "\",\"kubernetes.io\":{\"namespace\":\"a\",\"serviceaccount\":"
                                          "{\"name\":\"robot\",\"uid\":\"u2\"}}}", NULL,
          "service account UID (u1) does not match claim (u2)" },
        { "no claims of ours", "{\"iss\":\"" ISSUER "\"}", NULL, "serviceaccounts \"\" not found" },
        { "claims of ours that are a list", "{\"iss\":\"" ISSUER "\",\"kubernetes.io\":[1]}", NULL,
          "serviceaccounts \"\" not found" },
        { "a pod that is gone", "{" OURS ",\"pod\":{\"name\":\"x\",\"uid\":\"1\"}}}", NULL,
          "service account token has been invalidated" },
        { "its pod", "{" OURS ",\"pod\":{\"name\":\"x\",\"uid\":\"1\"}}}", OBJECT("Pod", ",\"namespace\":\"a\",\"uid\":\"1\""),
          NULL },
        { "another pod", "{" OURS ",\"pod\":{\"name\":\"x\",\"uid\":\"1\"}}}",
          OBJECT("Pod", ",\"namespace\":\"a\",\"uid\":\"2\""),
          "pod UID (2) does not match service account pod ref claim (1)" },
        { "a pod that was deleted a minute ago", "{" OURS ",\"pod\":{\"name\":\"x\",\"uid\":\"1\"}}}",
          OBJECT("Pod", ",\"namespace\":\"a\",\"uid\":\"1\",\"deletionTimestamp\":\"2023-11-14T22:12:19Z\""),
          "service account token has been invalidated" },
        { "a pod that has just been deleted", "{" OURS ",\"pod\":{\"name\":\"x\",\"uid\":\"1\"}}}",
          OBJECT("Pod", ",\"namespace\":\"a\",\"uid\":\"1\",\"deletionTimestamp\":\"2023-11-14T22:12:20Z\""), NULL },
        { "the node of a pod may be gone", "{" OURS ",\"pod\":{\"name\":\"x\",\"uid\":\"1\"},\"node\":{\"name\":\"n\"}}}",
          OBJECT("Pod", ",\"namespace\":\"a\",\"uid\":\"1\""), NULL },
        { "a node that is gone", "{" OURS ",\"node\":{\"name\":\"y\",\"uid\":\"1\"}}}", NULL,
          "service account token has been invalidated" },
        { "another node", "{" OURS ",\"node\":{\"name\":\"x\",\"uid\":\"1\"}}}", OBJECT("Node", ",\"uid\":\"2\""),
          "node UID (2) does not match service account node ref claim (1)" },
        { "another secret", "{" OURS ",\"secret\":{\"name\":\"x\",\"uid\":\"1\"}}}",
          OBJECT("Secret", ",\"namespace\":\"a\",\"uid\":\"2\""),
          "secret UID (2) does not match service account secret ref claim (1)" },
        { "a legacy token without a secret", "{" LEGACY LEGACY_REST "}", NULL, "secretName claim is missing" },
        { "a legacy token of nobody", "{" LEGACY ",\"kubernetes.io/serviceaccount/secret.name\":\"x\"}", NULL,
          "serviceAccountName claim is missing" },
        { "a legacy token whose secret is gone", "{" LEGACY LEGACY_REST ",\"kubernetes.io/serviceaccount/secret.name\":\"z\"}",
          NULL, "Token has been invalidated" },
        { "a legacy token that the secret does not hold",
          "{" LEGACY LEGACY_REST ",\"kubernetes.io/serviceaccount/secret.name\":\"x\"}",
          OBJECT("Secret", ",\"namespace\":\"a\",\"uid\":\"2\""), "Token does not match server's copy" },
        { "a legacy token instead of which the secret holds another",
          "{" LEGACY LEGACY_REST ",\"kubernetes.io/serviceaccount/secret.name\":\"x\"}",
          "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"},\"data\":{\"token\":"
          "\"b3RoZXI=\"}}", "Token does not match server's copy" },
        { "a legacy token for somebody else", "{\"iss\":\"kubernetes/serviceaccount\",\"sub\":\"system:serviceaccount:a:b\","
          "\"kubernetes.io/serviceaccount/namespace\":\"a\"" LEGACY_REST ",\"kubernetes.io/serviceaccount/secret.name\":\"x\"}",
          NULL, "sub claim is invalid" },
        { "a claim twice", "{\"exp\":1,\"exp\":1800000000," OURS "}}", NULL, "invalid bearer token" },
        { "a claim of ours twice", "{" OURS ",\"namespace\":\"kube-system\"}}", NULL, "invalid bearer token" },
        { "colons in texts", "{\"x\":\"a:b\\\":c\"," OURS "}}", NULL, NULL },
        { "another issuer", "{\"iss\":\"x\"}", NULL, "invalid bearer token" },
        { "no object", "[]", NULL, "invalid bearer token" },
    };
    begin_signed();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct user *u;
        if (rows[i].object)
            auth_world_put(&w, str_of(rows[i].object));
        struct str token = jwt_sign(&w.arena, signer, str_of(rows[i].claims));
        enum err_code rc = check_at(tokens, token, WORLD_NOW_S, &u);
        if (rows[i].error)
            CHECK_TEXT(rows[i].what, rc ? w.e.message : "nothing", rows[i].error);
        else
            CHECK_TEXT(rows[i].what, rc ? w.e.message : "", "");
    }
    end_signed();
}

TEST(accounts_that_were_deleted_are_nobody)
{
    const struct user *u;
    begin_signed();
    struct str token = jwt_sign(&w.arena, signer, STR("{" OURS "}}"));
    CHECK(!check_at(tokens, token, WORLD_NOW_S, &u));
    auth_world_put(&w, STR("{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"namespace\":\"a\",\"name\":\"robot\","
                           "\"uid\":\"u1\",\"deletionTimestamp\":\"2023-11-14T22:00:00Z\"}}"));
    CHECK(check_at(tokens, token, WORLD_NOW_S, &u));
    CHECK_TEXT("deleted", w.e.message, "service account a/robot has been deleted");
    auth_world_delete(&w, "serviceaccounts", "", "a", "robot");
    CHECK(check_at(tokens, token, WORLD_NOW_S, &u));
    end_signed();
}

TEST(a_marked_legacy_token_is_refused)
{
    const struct user *u;
    struct strbuf base64;
    begin_signed();
    struct str token = jwt_sign(&w.arena, signer, STR("{" LEGACY LEGACY_REST ",\"kubernetes.io/serviceaccount/secret.name\":\"x\"}"));
    strbuf_init(&base64, STRBUF_NO_MAX);
    base64_add(&base64, token);
    for (int marked = 0; marked < 2; marked++) {
        const char *json = arena_printf(&w.arena, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"namespace\":\"a\","
                                        "\"name\":\"x\",\"labels\":{\"%s\":\"2023-01-01\"}},\"data\":{\"token\":\"%.*s\"}}",
                                        marked ? "kubernetes.io/legacy-token-invalid-since" : "other",
                                        STR_ARG(strbuf_str(&base64)));
        auth_world_put(&w, str_of(json));
        CHECK_INT("marked", check_at(tokens, token, WORLD_NOW_S, &u) == ERR_UNAUTHORIZED, marked);
    }
    CHECK(str_starts(str_of(w.e.message), STR("the token in secret a/x for service account a/robot has been marked invalid.")));
    strbuf_fini(&base64);
    end_signed();
}

/* What the header says of the algorithm is signed as well, but a key is for one algorithm only. */
TEST(a_key_is_for_one_algorithm)
{
    static const char *const others[] = { "", "none", "HS256", "RS256", "ES384", "es256" };
    struct jwt_keys keys = { 0 };
    struct jwt jwt;
    auth_world_init(&w);
    struct str key = new_ec_key("P-256");
    CHECK(!jwt_keys_add(&keys, key, &w.e) && !jwt_signer_new(key, &signer, &w.e));
    CHECK(jwt_read(&w.arena, jwt_sign(&w.arena, signer, STR("{}")), &jwt));
    CHECK(!jwt_verify(&jwt, &keys));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        jwt.algorithm = str_of(others[i]);
        CHECK(jwt_verify(&jwt, &keys));
    }
    jwt_key_free(signer);
    jwt_keys_fini(&keys);
    auth_world_fini(&w);
}

TEST(endless_tokens_are_not_read)
{
    struct jwt jwt;
    begin_signed();
    char *claims = arena_alloc(&w.arena, 1 << 20);
    memset(claims, '[', 1 << 20);
    CHECK(!jwt_read(&w.arena, jwt_sign(&w.arena, signer, (struct str){ claims, 1 << 20 }), &jwt));
    CHECK(!jwt_read(&w.arena, jwt_sign(&w.arena, signer, (struct str){ claims, 30000 }), &jwt));
    CHECK(!jwt_read(&w.arena, (struct str){ claims, 1 << 20 }, &jwt));
    end_signed();
}
