/* controllers/per_namespace.h - an object that every active namespace has: made where it is not, mended where it differs.
 *
 * Thread: the store's. */
#pragma once

#include "controllers/controllers.h"

struct per_namespace_rule {
    const char *controller; /* its service account */
    const char *queue;      /* what metrics call its queue */
    const char *plural;     /* of core/v1 */
    const char *type;       /* "core/v1.ServiceAccount" */
    const char *name;
    /* What it is in a namespace; kind, name and namespace are set. `there` is the object as it is, NULL: there is none. A result
     * that is equal to it: nothing is to be done. */
    struct value (*make)(struct arena *a, const struct type *t, const struct value *base, const struct value *there,
                         struct str root_ca_pem);
};

void *per_namespace_start(const struct controller_context *c, const struct per_namespace_rule *rule);
void per_namespace_stop(void *own_controller);
