/* controllers/service_account.c - every active namespace has a service account called "default". Upstream:
 * controller/serviceaccount. A namespace that is made while this runs gets it in the same commit (apiserver/new_namespace.c);
 * here are those that lost it, or never had one. */
#include "controllers/per_namespace.h"

static struct value make(struct arena *a, const struct type *t, const struct value *base, const struct value *there,
                         struct str root_ca_pem)
{
    (void)a;
    (void)t;
    (void)there;
    (void)root_ca_pem;
    return *base;
}

static const struct per_namespace_rule rule = {
    .controller = "service-account-controller", .queue = "serviceaccount", .plural = "serviceaccounts",
    .type = "core/v1.ServiceAccount", .name = "default", .make = make,
};

void *service_account_controller_start(const struct controller_context *c)
{
    return per_namespace_start(c, &rule);
}

void service_account_controller_stop(void *own_controller)
{
    per_namespace_stop(own_controller);
}
