/* CertificateApproval, CertificateSigning: who may approve and sign requests of a signer.
 * CertificateSubjectRestriction: nobody gets a certificate for system:masters from the signer of clients. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "apiserver/admission_priv.h"

#define CSR_PLURAL "certificatesigningrequests"
#define CSR_GROUP "certificates.k8s.io"
#define CLIENT_SIGNER "kubernetes.io/kube-apiserver-client"

/* By its name, or by all names of its domain. */
static bool may_use_signer(const struct admission_request *r, const char *verb, struct str signer)
{
    struct str domain = str_first(signer, str_index(signer, '/'));
    struct str names[] = { signer, str_of(arena_printf(r->arena, "%.*s/*", STR_ARG(domain))) };
    for (size_t i = 0; i < 2; i++) {
        struct authz_attributes q = { .user = r->user, .verb = str_of(verb), .is_resource = true,
                                      .group = STR(CSR_GROUP),
                                      .version = STR("*"), .resource = STR("signers"), .name = names[i] };
        struct str reason;
        if (req_may(r, &q, &reason))
            return true;
    }
    return false;
}

enum err_code certificate_approval(struct admission_request *r, struct err *e)
{
    struct str signer = value_text(req_old(r, "spec.signerName"));
    if (!req_is_sub(r, CSR_PLURAL, CSR_GROUP, "approval") || may_use_signer(r, "approve", signer))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "user not permitted to approve requests with signerName \"%.*s\"",
                   STR_ARG(signer));
}

enum err_code certificate_signing(struct admission_request *r, struct err *e)
{
    struct str signer = value_text(req_old(r, "spec.signerName"));
    if (!req_is_sub(r, CSR_PLURAL, CSR_GROUP, "status") ||
        (value_equal(req_at(r, "status.certificate"), req_old(r, "status.certificate")) &&
         value_equal(req_at(r, "status.conditions"), req_old(r, "status.conditions"))) ||
        may_use_signer(r, "sign", signer))
        return ERR_OK;
    return err_set(e, ERR_FORBIDDEN, "user not permitted to sign requests with signerName \"%.*s\"", STR_ARG(signer));
}

/* ---- Subjects ---- */

/* The first block counts, whatever follows. */
static bool begins_with_request(struct str pem)
{
    const struct str begin = STR("-----BEGIN "), type = STR("CERTIFICATE REQUEST-----");
    const char *hit = pem.n ? memmem(pem.p, pem.n, begin.p, begin.n) : NULL;
    return hit && str_starts(str_from(pem, (size_t)(hit - pem.p) + begin.n), type);
}

static X509_REQ *read_request(struct str pem)
{
    static char no_password[] = ""; /* without one, a request that says it is encrypted would ask at the terminal */
    BIO *in = begins_with_request(pem) ? BIO_new_mem_buf(pem.p, (int)pem.n) : NULL;
    X509_REQ *req = in ? PEM_read_bio_X509_REQ(in, NULL, NULL, no_password) : NULL;
    BIO_free(in);
    ERR_clear_error();
    return req;
}

static struct text_list names_of(struct arena *a, const X509_REQ *req, int nid)
{
    struct text_list texts = { a };
    const X509_NAME *subject = X509_REQ_get_subject_name(req);
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
        unsigned char *utf8 = NULL;
        int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
        if (n >= 0)
            text_list_add(&texts, arena_str(a, (struct str){ (char *)utf8, (size_t)n }));
        OPENSSL_free(utf8);
    }
    return texts;
}

bool csr_subject(struct arena *a, struct str pem, struct text_list *ret_organizations, struct str *ret_common_name)
{
    X509_REQ *req = pem.n < INT32_MAX ? read_request(pem) : NULL;
    if (!req)
        return false;
    *ret_organizations = names_of(a, req, NID_organizationName);
    struct text_list names = names_of(a, req, NID_commonName);
    *ret_common_name = names.n ? names.at[names.n - 1] : STR("");
    X509_REQ_free(req);
    return true;
}

enum err_code certificate_subject(struct admission_request *r, struct err *e)
{
    struct text_list organizations;
    struct str name;
    if (!req_is_whole(r, CSR_PLURAL, CSR_GROUP) || !str_is(req_text(r, "spec.signerName"), CLIENT_SIGNER))
        return ERR_OK;
    if (!csr_subject(r->arena, req_text(r, "spec.request"), &organizations, &name))
        return err_set(e, ERR_FORBIDDEN, "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST");
    for (size_t i = 0; i < organizations.n; i++)
        if (str_is(organizations.at[i], GROUP_MASTERS))
            return err_set(e, ERR_FORBIDDEN,
                           "use of " CLIENT_SIGNER " signer with system:masters group is not allowed");
    return ERR_OK;
}
