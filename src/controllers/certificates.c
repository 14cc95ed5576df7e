/* controllers/certificates.c - CertificateSigningRequests: those of kubelets are approved, approved ones are signed, old ones go.
 *
 * Three controllers, as upstream's: csrapproving, csrsigning (four signers, one authority for all) and csrcleaner. */
#include <stdlib.h>

#include "api/edit.h"
#include "apiserver/authz.h"
#include "base/log.h"
#include "controllers/certificate_request.h"
#include "controllers/certificate_sign.h"
#include "controllers/controllers.h"
#include "controllers/read.h"
#include "controllers/turn.h"

#define CONTROLLER "certificate-controller"

enum { WORKERS = 5, CLEANING_MS = 3600 * 1000 };

struct certificate_controller {
    struct cluster *cluster;
    struct work_queue *queue; /* of names; of the cleaner: one key */
    struct access_review access;
    struct certificate_authority *authority; /* NULL: nothing can be signed */
    int64_t lifetime_s;
};

static const struct resource *csr_resource(void)
{
    return stored_resource("certificatesigningrequests", "certificates.k8s.io");
}

static const struct type *requests(void)
{
    return csr_resource()->type;
}

static void csr_has_changed(void *context, const struct resource *r, struct store_item *item, struct store_item *prev)
{
    struct certificate_controller *c = context;
    struct str namespace, name;
    (void)prev;
    if (!item)
        return;
    stored_read_key(r, store_item_key(item), &namespace, &name);
    work_queue_add(c->queue, name);
}

/* NULL: it is gone, or has its certificate. */
static const struct value *find_open(struct certificate_controller *c, struct str name)
{
    const struct value *csr = stored_get(cluster_objects(c->cluster), csr_resource(), STR(""), name);
    return csr && !text_at(requests(), csr, "status.certificate").n ? csr : NULL;
}

static struct certificate_controller *controller_new(const struct controller_context *x, uint32_t n_workers,
                                                     work_queue_work *work)
{
    struct certificate_controller *c = mem_zalloc(sizeof(*c));
    c->cluster = x->cluster;
    c->access = x->access;
    c->queue = work_queue_new(cluster_loop(x->cluster), n_workers, work, c);
    return c;
}

static void controller_free(struct certificate_controller *c)
{
    work_queue_free(c->queue);
    certificate_authority_free(c->authority);
    free(c);
}

/* ---- Approving ---- */

static struct str_list texts_of(struct arena *a, const struct value *list)
{
    struct str *at = ARENA_NEW_N(a, struct str, list_length(list));
    for (uint32_t i = 0; i < list_length(list); i++)
        at[i] = value_text(&list->items[i]);
    return (struct str_list){ at, list_length(list) };
}

static struct user asker_of(struct arena *a, const struct value *csr)
{
    const struct value *extra = value_path(requests(), csr, "spec.extra");
    uint32_t n = extra->kind == VALUE_MAP ? extra->n : 0;
    struct user_extra *rows = ARENA_NEW_N(a, struct user_extra, n);
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct user_extra){ extra->members[i].key, texts_of(a, &extra->members[i].value) };
    return (struct user){ .name = text_at(requests(), csr, "spec.username"), .uid = text_at(requests(), csr, "spec.uid"),
                          .groups = texts_of(a, value_path(requests(), csr, "spec.groups")), .extra = rows, .n_extra = n };
}

static bool is_allowed(struct certificate_controller *c, struct arena *a, const struct value *csr, const char *subresource)
{
    struct user asker = asker_of(a, csr);
    struct authz_attributes q = { .user = &asker, .verb = STR("create"), .is_resource = true, .group = STR("certificates.k8s.io"),
                                  .version = STR("*"), .resource = STR("certificatesigningrequests"),
                                  .subresource = str_of(subresource) };
    return c->access.allows(c->access.context, a, &q);
}

static void approve(struct turn *t, struct arena *a, const struct value *csr, const char *subresource)
{
    bool own = strcmp(subresource, "selfnodeclient") == 0;
    struct value v = csr_with_condition(a, csr, "Approved", "AutoApproved",
                                        own ? "Auto approving self kubelet client certificate after SubjectAccessReview."
                                            : "Auto approving kubelet client certificate after SubjectAccessReview.", 0);
    turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = csr_resource(), .subresource = "approval",
                                         .name = text_at(requests(), csr, "metadata.name"), .object = &v });
}

/* Who may not is asked about again: rights can come later. */
static void approve_if_allowed(struct certificate_controller *c, struct turn *t, const struct value *csr)
{
    const char *subresources[2];
    struct arena a;
    arena_init(&a);
    size_t n = csr_recognize(&a, csr, subresources), i = 0;
    while (i < n && !is_allowed(c, &a, csr, subresources[i]))
        i++;
    if (i < n)
        approve(t, &a, csr, subresources[i]);
    else if (n)
        turn_fail(t);
    arena_fini(&a);
}

static void approving_work(void *context, struct str key)
{
    struct certificate_controller *c = context;
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    const struct value *csr = find_open(c, key);
    if (csr)
        approve_if_allowed(c, t, csr);
    turn_end(t);
}

void *csr_approving_start(const struct controller_context *x)
{
    struct certificate_controller *c = controller_new(x, WORKERS, approving_work);
    if (c->access.allows)
        cluster_watch(x->cluster, csr_resource(), csr_has_changed, c);
    return c;
}

void csr_approving_stop(void *own_controller)
{
    controller_free(own_controller);
}

/* ---- Signing ---- */

static void write_status(struct turn *t, const struct value *csr)
{
    turn_begin(t, (struct cluster_call){ .verb = CLUSTER_UPDATE, .resource = csr_resource(), .subresource = "status",
                                         .name = text_at(requests(), csr, "metadata.name"), .object = csr });
}

static void sign(struct certificate_controller *c, struct turn *t, struct arena *a, const struct value *csr)
{
    struct str request = text_at(requests(), csr, "spec.request"), pem;
    struct err e;
    err_init(&e, a);
    int64_t lifetime_s = certificate_lifetime_s(int_at(requests(), csr, "spec.expirationSeconds", 0), c->lifetime_s);
    if (certificate_sign(c->authority, request, csr_usages(a, csr), lifetime_s, cluster_now_s(c->cluster), a, &pem, &e)) {
        LOG(0, "A certificate cannot be signed", KS("csr", text_at(requests(), csr, "metadata.name")), KS("err", e.message));
        turn_fail(t);
        return;
    }
    struct value v = edit_set(a, requests(), csr, "status.certificate", value_bytes(pem));
    write_status(t, &v);
}

static void sign_if_approved(struct certificate_controller *c, struct turn *t, const struct value *csr)
{
    struct certificate_request r;
    const char *fault;
    struct arena a;
    bool open = csr_has_condition(csr, "Approved") && !csr_has_condition(csr, "Denied") && !csr_has_condition(csr, "Failed");
    arena_init(&a);
    if (!open || !certificate_request_read(&a, text_at(requests(), csr, "spec.request"), &r) ||
        !certificate_signer_checks(&a, text_at(requests(), csr, "spec.signerName"), &r, csr_usages(&a, csr), &fault)) {
        arena_fini(&a);
        return;
    }
    if (fault) {
        struct value v = csr_with_condition(&a, csr, "Failed", "SignerValidationFailure", fault, cluster_now_s(c->cluster));
        write_status(t, &v);
    } else {
        sign(c, t, &a, csr);
    }
    arena_fini(&a);
}

static void signing_work(void *context, struct str key)
{
    struct certificate_controller *c = context;
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    const struct value *csr = find_open(c, key);
    if (csr)
        sign_if_approved(c, t, csr);
    turn_end(t);
}

void *csr_signing_start(const struct controller_context *x)
{
    struct certificate_controller *c = controller_new(x, WORKERS, signing_work);
    struct arena a;
    struct err e;
    arena_init_small(&a);
    err_init(&e, &a);
    c->lifetime_s = x->signing.lifetime_s;
    if (!x->signing.cert_pem.n || !x->signing.key_pem.n)
        LOG(2, "Skipping CSR signer controller because no csr cert/key was specified");
    else if (certificate_authority_new(x->signing.cert_pem, x->signing.key_pem, &c->authority, &e))
        LOG(0, "Certificates are not signed", KS("err", e.message));
    else
        cluster_watch(x->cluster, csr_resource(), csr_has_changed, c);
    arena_fini(&a);
    return c;
}

void csr_signing_stop(void *own_controller)
{
    controller_free(own_controller);
}

/* ---- Cleaning ---- */

static void cleaning_work(void *context, struct str key)
{
    struct certificate_controller *c = context;
    struct turn *t = turn_new(c->cluster, c->queue, CONTROLLER, key);
    const struct value **all;
    struct arena a;
    arena_init(&a);
    size_t n = stored_list(cluster_objects(c->cluster), csr_resource(), STR(""), &a, &all);
    for (size_t i = 0; i < n; i++)
        if (csr_is_stale(all[i], cluster_now_s(c->cluster)))
            turn_begin(t, (struct cluster_call){ .verb = CLUSTER_DELETE, .resource = csr_resource(),
                                                 .name = text_at(requests(), all[i], "metadata.name") });
    arena_fini(&a);
    work_queue_add_after(c->queue, key, CLEANING_MS);
    turn_end(t);
}

void *csr_cleaner_start(const struct controller_context *x)
{
    struct certificate_controller *c = controller_new(x, 1, cleaning_work);
    work_queue_add(c->queue, STR("all"));
    return c;
}

void csr_cleaner_stop(void *own_controller)
{
    controller_free(own_controller);
}
