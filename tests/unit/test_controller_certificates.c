/* tests/unit/test_controller_certificates.c - requests for certificates: who takes which, what is signed, what is old. */
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "api/edit.h"
#include "codec/json.h"
#include "controllers/certificate_request.h"
#include "controllers/certificate_sign.h"
#include "http/tls.h"
#include "tests/test.h"

enum { NOW_S = 1700000000, DAY_S = 86400 };

/* A request with a key of its own: "O=a,CN=b" and names as OpenSSL writes them, or "". */
static struct str make_request(struct arena *a, const char *subject, const char *names)
{
    X509_REQ *request = X509_REQ_new();
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509_NAME *name = X509_REQ_get_subject_name(request);
    for (char *part = strtok(arena_printf(a, "%s", subject), ","); part; part = strtok(NULL, ",")) {
        char *equals = strchr(part, '=');
        *equals = '\0';
        X509_NAME_add_entry_by_txt(name, part, MBSTRING_UTF8, (const unsigned char *)equals + 1, -1, -1, 0);
    }
    if (*names) {
        STACK_OF(X509_EXTENSION) *list = sk_X509_EXTENSION_new_null();
        sk_X509_EXTENSION_push(list, X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names));
        X509_REQ_add_extensions(request, list);
        sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
    }
    X509_REQ_set_pubkey(request, key);
    X509_REQ_sign(request, key, EVP_sha256());
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509_REQ(out, request);
    char *p;
    long n = BIO_get_mem_data(out, &p);
    struct str pem = arena_str(a, (struct str){ p, (size_t)n });
    BIO_free(out);
    EVP_PKEY_free(key);
    X509_REQ_free(request);
    return pem;
}

static struct strs words(struct arena *a, const char *text)
{
    struct str *at = ARENA_NEW_N(a, struct str, 8);
    size_t n = 0;
    for (char *part = strtok(arena_printf(a, "%s", text), ","); part; part = strtok(NULL, ","))
        at[n++] = str_of(part);
    return (struct strs){ at, n };
}

/* ---- Signers ---- */

#define NODE "O=system:nodes,CN=system:node:n"
#define OF_CLIENT "digital signature,client auth"
#define OF_SERVER "digital signature,key encipherment,server auth"

static const struct {
    const char *what, *signer, *subject, *names, *usages, *fault; /* NULL: not one of ours */
} signers[] = {
    { "a kubelet", SIGNER_KUBELET_CLIENT, NODE, "", OF_CLIENT, "" },
    { "usages in any order", SIGNER_KUBELET_CLIENT, NODE, "", "client auth,key encipherment,digital signature", "" },
    { "another organization", SIGNER_KUBELET_CLIENT, "O=x,CN=system:node:n", "", OF_CLIENT, "subject organization is not system:nodes" },
    { "two of them", SIGNER_KUBELET_CLIENT, "O=system:nodes,O=x,CN=system:node:n", "", OF_CLIENT, "subject organization is not system:nodes" },
    { "another name", SIGNER_KUBELET_CLIENT, "O=system:nodes,CN=n", "", OF_CLIENT, "subject common name does not begin with system:node:" },
    { "a name of hosts", SIGNER_KUBELET_CLIENT, NODE, "DNS:x", OF_CLIENT, "DNS subjectAltNames are not allowed" },
    { "an address", SIGNER_KUBELET_CLIENT, NODE, "IP:1.2.3.4", OF_CLIENT, "IP subjectAltNames are not allowed" },
    { "a mail address", SIGNER_KUBELET_CLIENT, NODE, "email:a@b", OF_CLIENT, "Email subjectAltNames are not allowed" },
    { "a link", SIGNER_KUBELET_CLIENT, NODE, "URI:http://x", OF_CLIENT, "URI subjectAltNames are not allowed" },
    { "one usage more", SIGNER_KUBELET_CLIENT, NODE, "", "digital signature,client auth,server auth",
      "usages did not match [client auth digital signature key encipherment]" },
    { "one usage less", SIGNER_KUBELET_CLIENT, NODE, "", "client auth",
      "usages did not match [client auth digital signature key encipherment]" },
    { "a kubelet that serves", SIGNER_KUBELET_SERVING, NODE, "IP:1.2.3.4", OF_SERVER, "" },
    { "under no name", SIGNER_KUBELET_SERVING, NODE, "", OF_SERVER, "DNS or IP subjectAltName is required" },
    { "with a mail address", SIGNER_KUBELET_SERVING, NODE, "DNS:x,email:a@b", OF_SERVER, "Email subjectAltNames are not allowed" },
    { "as a client", SIGNER_KUBELET_SERVING, NODE, "DNS:x", OF_CLIENT, "usages did not match [digital signature key encipherment server auth]" },
    { "as somebody", SIGNER_KUBELET_SERVING, "O=system:nodes,CN=n", "DNS:x", OF_SERVER, "subject common name does not begin with system:node:" },
    { "a client", SIGNER_CLIENT, "CN=ann", "", "client auth", "" },
    { "that serves, too", SIGNER_CLIENT, "CN=ann", "", "client auth,server auth", "invalid usage for client certificate: server auth" },
    { "that only signs", SIGNER_CLIENT, "CN=ann", "", "digital signature", "missing required usage for client certificate: client auth" },
    { "anything", SIGNER_LEGACY, "CN=ann", "URI:http://x", "any", "" },
    { "somebody else's", "example.com/x", "CN=ann", "", "client auth", NULL },
};

TEST(what_signers_take)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(signers) / sizeof(signers[0]); i++, arena_reset(&a)) {
        struct certificate_request r;
        const char *fault;
        CHECK(certificate_request_read(&a, make_request(&a, signers[i].subject, signers[i].names), &r));
        bool ours = certificate_signer_checks(&a, str_of(signers[i].signer), &r, words(&a, signers[i].usages), &fault);
        CHECK_INT(signers[i].what, ours, signers[i].fault != NULL);
        CHECK_TEXT(signers[i].what, fault ? fault : "", signers[i].fault ? signers[i].fault : "");
    }
    struct certificate_request r;
    CHECK(!certificate_request_read(&a, STR("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"), &r));
    CHECK(!certificate_request_read(&a, STR(""), &r));
    arena_fini(&a);
}

/* ---- Signing ---- */

static const char *extension_text(struct arena *a, X509 *cert, int nid)
{
    int at = X509_get_ext_by_NID(cert, nid, -1);
    if (at < 0)
        return "none";
    BIO *out = BIO_new(BIO_s_mem());
    X509V3_EXT_print(out, X509_get_ext(cert, at), 0, 0);
    char *p;
    long n = BIO_get_mem_data(out, &p);
    const char *text = arena_printf(a, "%s%.*s", X509_EXTENSION_get_critical(X509_get_ext(cert, at)) ? "!" : "", (int)n, p);
    BIO_free(out);
    return text;
}

static int64_t seconds_from_now(const ASN1_TIME *t)
{
    int days, seconds;
    ASN1_TIME *now = ASN1_TIME_set(NULL, NOW_S);
    ASN1_TIME_diff(&days, &seconds, now, t);
    ASN1_TIME_free(now);
    return (int64_t)days * DAY_S + seconds;
}

static struct certificate_authority *make_authority(struct arena *a, int64_t until_s)
{
    struct tls_new_cert c = { .common_name = "ca", .is_ca = true, .not_before_s = NOW_S - DAY_S, .not_after_s = until_s };
    struct str cert, key;
    struct certificate_authority *ca = NULL;
    struct err e;
    err_init(&e, a);
    CHECK(!tls_make_cert(&c, a, &cert, &key, &e));
    CHECK(!certificate_authority_new(cert, key, &ca, &e));
    return ca;
}

TEST(signed_certificates)
{
    struct arena a;
    struct err e;
    struct str pem;
    arena_init(&a);
    err_init(&e, &a);
    struct certificate_authority *ca = make_authority(&a, NOW_S + 100 * DAY_S);
    struct str request = make_request(&a, "O=o,CN=c", "DNS:x,IP:1.2.3.4,RID:1.2.3");
    CHECK(!certificate_sign(ca, request, words(&a, "s/mime,key encipherment,client auth,signing,email protection"), DAY_S, NOW_S, &a, &pem, &e));
    BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
    char subject[64];
    CHECK_TEXT("subject", X509_NAME_oneline(X509_get_subject_name(cert), subject, sizeof(subject)), "/O=o/CN=c");
    CHECK_TEXT("names", extension_text(&a, cert, NID_subject_alt_name), "DNS:x, IP Address:1.2.3.4");
    CHECK_TEXT("usage", extension_text(&a, cert, NID_key_usage), "!Digital Signature, Key Encipherment");
    CHECK_TEXT("purposes", extension_text(&a, cert, NID_ext_key_usage), "TLS Web Client Authentication, E-mail Protection");
    CHECK_TEXT("is no authority", extension_text(&a, cert, NID_basic_constraints), "!CA:FALSE");
    CHECK_TEXT("no identifier of its own", extension_text(&a, cert, NID_subject_key_identifier), "none");
    CHECK_INT("from", seconds_from_now(X509_get0_notBefore(cert)), -CERTIFICATE_BACKDATE_S);
    CHECK_INT("until", seconds_from_now(X509_get0_notAfter(cert)), DAY_S - CERTIFICATE_BACKDATE_S);
    X509_free(cert);
    BIO_free(in);
    certificate_authority_free(ca);
    arena_fini(&a);
}

TEST(lifetimes_of_certificates)
{
    static const struct {
        const char *what;
        int64_t wanted_s, most_s, given_s;
    } lifetimes[] = {
        { "not asked for", 0, 1000, 1000 }, { "less", 900, 1000, 900 }, { "more", 2000, 1000, 1000 }, { "too little", 60, 1000, 600 },
    };
    static const struct {
        const char *what;
        int64_t lifetime_s, authority_s, until_s;
    } ends[] = {
        { "a short one", 3600, DAY_S, 3600 },
        { "a long one", 9 * 3600, DAY_S, 9 * 3600 - CERTIFICATE_BACKDATE_S },
        { "not longer than its authority", 2 * DAY_S, DAY_S, DAY_S },
        { "not by one that has ended", 3600, -1, 0 },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(lifetimes) / sizeof(lifetimes[0]); i++)
        CHECK_INT(lifetimes[i].what, certificate_lifetime_s(lifetimes[i].wanted_s, lifetimes[i].most_s), lifetimes[i].given_s);
    struct str request = make_request(&a, "CN=c", "");
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct certificate_authority *ca = make_authority(&a, NOW_S + ends[i].authority_s);
        struct err e;
        struct str pem;
        err_init(&e, &a);
        bool failed = certificate_sign(ca, request, words(&a, "client auth"), ends[i].lifetime_s, NOW_S, &a, &pem, &e);
        CHECK_INT(ends[i].what, failed, ends[i].until_s == 0);
        if (!failed) {
            BIO *in = BIO_new_mem_buf(pem.p, (int)pem.n);
            X509 *cert = PEM_read_bio_X509(in, NULL, NULL, NULL);
            CHECK_INT(ends[i].what, seconds_from_now(X509_get0_notAfter(cert)), ends[i].until_s);
            X509_free(cert);
            BIO_free(in);
        }
        certificate_authority_free(ca);
    }
    arena_fini(&a);
}

/* ---- Age ---- */

TEST(old_requests_go)
{
    static const struct {
        const char *what, *condition;
        int64_t age_s, created_age_s;
        bool has_certificate, goes;
    } cases[] = {
        { "nobody said anything", NULL, 0, DAY_S - 1, false, false },
        { "for a day", NULL, 0, DAY_S + 1, false, true },
        { "approved and signed", "Approved", 3600, 9 * DAY_S, true, false },
        { "an hour ago", "Approved", 3601, 9 * DAY_S, true, true },
        { "approved, not signed", "Approved", DAY_S, 9 * DAY_S, false, false },
        { "for a day", "Approved", DAY_S + 1, 9 * DAY_S, false, true },
        { "denied", "Denied", 3600, 9 * DAY_S, false, false },
        { "an hour ago", "Denied", 3601, 9 * DAY_S, false, true },
        { "failed an hour ago", "Failed", 3601, 9 * DAY_S, false, true },
    };
    const struct type *t = schema_type(STR("certificates.k8s.io/v1.CertificateSigningRequest"));
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++, arena_reset(&a)) {
        struct value v = value_struct(&a, t);
        struct err e;
        err_init(&e, &a);
        const char *json = arena_printf(&a, "{\"status\":{%s}}", cases[i].has_certificate ? "\"certificate\":\"QQ==\"" : "");
        CHECK(!json_decode(&a, WORK_OWN, t, str_of(json), NULL, &v, &e));
        v = edit_set(&a, t, &v, "metadata.creationTimestamp", value_time(NOW_S - cases[i].created_age_s, 0));
        if (cases[i].condition)
            v = csr_with_condition(&a, &v, cases[i].condition, "r", "m", NOW_S - cases[i].age_s);
        CHECK_INT(cases[i].what, csr_is_stale(&v, NOW_S), cases[i].goes);
    }
    arena_fini(&a);
}

TEST(an_expired_certificate_goes_at_once)
{
    const struct type *t = schema_type(STR("certificates.k8s.io/v1.CertificateSigningRequest"));
    struct arena a;
    struct err e;
    struct str pem;
    arena_init(&a);
    err_init(&e, &a);
    struct certificate_authority *ca = make_authority(&a, NOW_S + DAY_S);
    CHECK(!certificate_sign(ca, make_request(&a, "CN=c", ""), words(&a, "client auth"), 600, NOW_S, &a, &pem, &e));
    struct value v = value_struct(&a, t);
    v = edit_set(&a, t, &v, "status.certificate", value_bytes(pem));
    v = csr_with_condition(&a, &v, "Approved", "r", "m", NOW_S);
    CHECK(!csr_is_stale(&v, NOW_S + 599));
    CHECK(csr_is_stale(&v, NOW_S + 601));
    certificate_authority_free(ca);
    arena_fini(&a);
}
