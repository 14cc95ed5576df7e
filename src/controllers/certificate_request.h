/* controllers/certificate_request.h - requests for certificates: what they ask for, which of them a signer takes, when they go.
 *
 * Upstream: pkg/apis/certificates (helpers), controller/certificates: approver, signer and cleaner.
 *
 * Thread: any.    Memory: the arena. */
#pragma once

#include "api/labels.h"
#include "api/value.h"

#define SIGNER_CLIENT "kubernetes.io/kube-apiserver-client"
#define SIGNER_KUBELET_CLIENT "kubernetes.io/kube-apiserver-client-kubelet"
#define SIGNER_KUBELET_SERVING "kubernetes.io/kubelet-serving"
#define SIGNER_LEGACY "kubernetes.io/legacy-unknown"

/* What the PEM text of a request asks for. */
struct certificate_request {
    struct str common_name;
    struct strs organizations;
    size_t n_dns_names, n_addresses, n_emails, n_uris;
};
/* False: it cannot be read. */
bool certificate_request_read(struct arena *a, struct str pem, struct certificate_request *ret);

/* Whether a signer is one of ours; `ret_fault` is why it does not take the request, or NULL. */
bool certificate_signer_checks(struct arena *a, struct str signer, const struct certificate_request *r, struct strs usages,
                               const char **ret_fault);

/* ---- Objects: of certificates.k8s.io/v1.CertificateSigningRequest ---- */

bool csr_has_condition(const struct value *csr, const char *type);
struct strs csr_usages(struct arena *a, const struct value *csr);
/* The csr with a condition more; `now_s` 0: the server says when. */
struct value csr_with_condition(struct arena *a, const struct value *csr, const char *type, const char *reason,
                                const char *message, int64_t now_s);

/* Whether a kubelet asks for a client certificate; which subresource says who may have that without being asked:
 * "selfnodeclient" for its own, "nodeclient" for any. In the order in which they are tried; 0, 1 or 2 of them. */
size_t csr_recognize(struct arena *a, const struct value *csr, const char *ret_subresources[2]);
/* Old enough to be deleted. */
bool csr_is_stale(const struct value *csr, int64_t now_s);
