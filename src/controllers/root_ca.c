/* controllers/root_ca.c - every active namespace has a ConfigMap with the authority that pods trust. Upstream:
 * controller/certificates/rootcacertpublisher. */
#include "api/edit.h"
#include "controllers/per_namespace.h"

#define DESCRIPTION                                                                                                        \
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal " \
    "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."

static struct value make(struct arena *a, const struct type *t, const struct value *base, const struct value *there,
                         struct str root_ca_pem)
{
    struct value none = { .kind = VALUE_ABSENT };
    (void)there;
    struct value v = edit_set(a, t, base, "data", edit_member(a, &none, STR("ca.crt"), value_string(root_ca_pem)));
    const struct value *annotations = value_path(t, base, "metadata.annotations");
    struct value described = edit_member(a, annotations, STR("kubernetes.io/description"), edit_text(DESCRIPTION));
    return edit_set(a, t, &v, "metadata.annotations", described);
}

static const struct per_namespace_rule rule = {
    .controller = "root-ca-cert-publisher", .queue = "root_ca_cert_publisher", .plural = "configmaps", .type = "core/v1.ConfigMap",
    .name = "kube-root-ca.crt", .make = make,
};

void *root_ca_publisher_start(const struct controller_context *c)
{
    return c->root_ca_pem.n ? per_namespace_start(c, &rule) : NULL;
}

void root_ca_publisher_stop(void *own_controller)
{
    if (own_controller)
        per_namespace_stop(own_controller);
}
