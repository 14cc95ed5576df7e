/* controllers/certificate_request.c - see certificate_request.h. */
#include "controllers/certificate_request.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "api/edit.h"
#include "controllers/read.h"

enum { HOUR_S = 3600, DECIDED_S = HOUR_S, PENDING_S = 24 * HOUR_S };

static const struct type *requests(void)
{
    return schema_type(STR("certificates.k8s.io/v1.CertificateSigningRequest"));
}

static const struct type *conditions(void)
{
    return schema_type(STR("certificates.k8s.io/v1.CertificateSigningRequestCondition"));
}

/* ---- Reading ---- */

static struct str entry_text(struct arena *a, X509_NAME *name, int at)
{
    unsigned char *utf8;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (n < 0)
        return STR("");
    struct str text = arena_str(a, (struct str){ (const char *)utf8, (size_t)n });
    OPENSSL_free(utf8);
    return text;
}

static void read_subject(struct arena *a, X509_NAME *name, struct certificate_request *r)
{
    struct str *organizations = ARENA_NEW_N(a, struct str, (size_t)X509_NAME_entry_count(name));
    size_t n = 0;
    for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_organizationName, at)) >= 0;)
        organizations[n++] = entry_text(a, name, at);
    for (int at = -1; (at = X509_NAME_get_index_by_NID(name, NID_commonName, at)) >= 0;)
        r->common_name = entry_text(a, name, at);
    r->organizations = (struct strs){ organizations, n };
}

static void read_names(X509_REQ *request, struct certificate_request *r)
{
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names = extensions ? X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL) : NULL;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        r->n_dns_names += type == GEN_DNS;
        r->n_addresses += type == GEN_IPADD;
        r->n_emails += type == GEN_EMAIL;
        r->n_uris += type == GEN_URI;
    }
    GENERAL_NAMES_free(names);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
}

bool certificate_request_read(struct arena *a, struct str pem, struct certificate_request *ret)
{
    BIO *in = BIO_new_mem_buf(pem.n ? pem.p : "", str_precision(pem.n));
    X509_REQ *request = in ? PEM_read_bio_X509_REQ(in, NULL, NULL, NULL) : NULL;
    BIO_free(in);
    if (!request)
        return false;
    *ret = (struct certificate_request){ .common_name = STR("") };
    read_subject(a, X509_REQ_get_subject_name(request), ret);
    read_names(request, ret);
    X509_REQ_free(request);
    return true;
}

/* ---- Signers ---- */

static bool has_usage(struct strs usages, const char *usage)
{
    for (size_t i = 0; i < usages.n; i++)
        if (str_is(usages.at[i], usage))
            return true;
    return false;
}

/* As sets: a signature, the purpose, and perhaps encipherment, which only some keys can do. */
static bool usages_are_of_kubelet(struct strs usages, const char *purpose)
{
    for (size_t i = 0; i < usages.n; i++)
        if (!str_is(usages.at[i], "digital signature") && !str_is(usages.at[i], "key encipherment") &&
            !str_is(usages.at[i], purpose))
            return false;
    return has_usage(usages, "digital signature") && has_usage(usages, purpose);
}

static bool is_of_nodes(const struct certificate_request *r)
{
    return r->organizations.n == 1 && str_is(r->organizations.at[0], "system:nodes");
}

static bool is_named_as_node(const struct certificate_request *r)
{
    return str_starts(r->common_name, STR("system:node:"));
}

static const char *kubelet_client_fault(const struct certificate_request *r, struct strs usages)
{
    const struct {
        bool holds;
        const char *fault;
    } rows[] = {
        { is_of_nodes(r), "subject organization is not system:nodes" },
        { !r->n_dns_names, "DNS subjectAltNames are not allowed" },
        { !r->n_emails, "Email subjectAltNames are not allowed" },
        { !r->n_addresses, "IP subjectAltNames are not allowed" },
        { !r->n_uris, "URI subjectAltNames are not allowed" },
        { is_named_as_node(r), "subject common name does not begin with system:node:" },
        { usages_are_of_kubelet(usages, "client auth"), "usages did not match [client auth digital signature key encipherment]" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!rows[i].holds)
            return rows[i].fault;
    return NULL;
}

static const char *kubelet_serving_fault(const struct certificate_request *r, struct strs usages)
{
    const struct {
        bool holds;
        const char *fault;
    } rows[] = {
        { is_of_nodes(r), "subject organization is not system:nodes" },
        { r->n_dns_names || r->n_addresses, "DNS or IP subjectAltName is required" },
        { !r->n_emails, "Email subjectAltNames are not allowed" },
        { !r->n_uris, "URI subjectAltNames are not allowed" },
        { usages_are_of_kubelet(usages, "server auth"), "usages did not match [digital signature key encipherment server auth]" },
        { is_named_as_node(r), "subject common name does not begin with system:node:" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!rows[i].holds)
            return rows[i].fault;
    return NULL;
}

static const char *client_fault(struct arena *a, struct strs usages)
{
    for (size_t i = 0; i < usages.n; i++) {
        struct str u = usages.at[i];
        if (!str_is(u, "digital signature") && !str_is(u, "key encipherment") && !str_is(u, "client auth"))
            return arena_printf(a, "invalid usage for client certificate: %.*s", STR_ARG(u));
    }
    return has_usage(usages, "client auth") ? NULL : "missing required usage for client certificate: client auth";
}

bool certificate_signer_checks(struct arena *a, struct str signer, const struct certificate_request *r, struct strs usages,
                               const char **ret_fault)
{
    *ret_fault = NULL;
    if (str_is(signer, SIGNER_KUBELET_CLIENT))
        *ret_fault = kubelet_client_fault(r, usages);
    else if (str_is(signer, SIGNER_KUBELET_SERVING))
        *ret_fault = kubelet_serving_fault(r, usages);
    else if (str_is(signer, SIGNER_CLIENT))
        *ret_fault = client_fault(a, usages);
    else if (!str_is(signer, SIGNER_LEGACY))
        return false;
    return true;
}

/* ---- Objects ---- */

bool csr_has_condition(const struct value *csr, const char *type)
{
    return entry_with(conditions(), value_path(requests(), csr, "status.conditions"), "type", str_of(type));
}

struct strs csr_usages(struct arena *a, const struct value *csr)
{
    const struct value *list = value_path(requests(), csr, "spec.usages");
    struct str *usages = ARENA_NEW_N(a, struct str, list_length(list));
    for (uint32_t i = 0; i < list_length(list); i++)
        usages[i] = value_text(&list->items[i]);
    return (struct strs){ usages, list_length(list) };
}

struct value csr_with_condition(struct arena *a, const struct value *csr, const char *type, const char *reason,
                                const char *message, int64_t now_s)
{
    const struct type *t = conditions();
    struct value c = value_struct(a, t);
    c = edit_set(a, t, &c, "type", edit_text(type));
    c = edit_set(a, t, &c, "status", edit_text("True"));
    c = edit_set(a, t, &c, "reason", edit_text(reason));
    c = edit_set(a, t, &c, "message", edit_text(message));
    if (now_s)
        c = edit_set(a, t, &c, "lastUpdateTime", value_time(now_s, 0));
    return edit_set(a, requests(), csr, "status.conditions", edit_append(a, value_path(requests(), csr, "status.conditions"), c));
}

size_t csr_recognize(struct arena *a, const struct value *csr, const char *ret_subresources[2])
{
    struct certificate_request r;
    size_t n = 0;
    if (text_at(requests(), csr, "status.certificate").n || csr_has_condition(csr, "Approved") ||
        csr_has_condition(csr, "Denied"))
        return 0;
    if (!says_at(requests(), csr, "spec.signerName", SIGNER_KUBELET_CLIENT))
        return 0;
    if (!certificate_request_read(a, text_at(requests(), csr, "spec.request"), &r) ||
        kubelet_client_fault(&r, csr_usages(a, csr)))
        return 0;
    if (str_eq(text_at(requests(), csr, "spec.username"), r.common_name))
        ret_subresources[n++] = "selfnodeclient";
    ret_subresources[n++] = "nodeclient";
    return n;
}

/* ---- Age ---- */

static bool is_older(const struct value *time, int64_t than_s, int64_t now_s)
{
    return time->kind == VALUE_TIME && now_s - time->i > than_s;
}

static bool certificate_has_expired(struct str pem, int64_t now_s)
{
    BIO *in = BIO_new_mem_buf(pem.n ? pem.p : "", str_precision(pem.n));
    X509 *cert = in ? PEM_read_bio_X509(in, NULL, NULL, NULL) : NULL;
    time_t now = (time_t)now_s;
    bool expired = cert && X509_cmp_time(X509_get0_notAfter(cert), &now) < 0;
    X509_free(cert);
    BIO_free(in);
    return expired;
}

bool csr_is_stale(const struct value *csr, int64_t now_s)
{
    const struct value *list = value_path(requests(), csr, "status.conditions");
    struct str certificate = text_at(requests(), csr, "status.certificate");
    if (!list_length(list))
        return is_older(value_path(requests(), csr, "metadata.creationTimestamp"), PENDING_S, now_s);
    for (uint32_t i = 0; i < list_length(list); i++) {
        const struct value *updated = value_path(conditions(), &list->items[i], "lastUpdateTime");
        bool approved = says_at(conditions(), &list->items[i], "type", "Approved");
        if (is_older(updated, approved && !certificate.n ? PENDING_S : DECIDED_S, now_s) ||
            (approved && certificate.n && certificate_has_expired(certificate, now_s)))
            return true;
    }
    return false;
}
