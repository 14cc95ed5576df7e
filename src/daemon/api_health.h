/* daemon/api_health.h - health of an API server: /healthz, /livez, /readyz and their checks.
 *
 * Checks have upstream's names where there is such a thing here: `etcd` is the store, `poststarthook/...` the objects
 * that a server makes when it starts. One more tells by its name how durable writes are, and never fails.
 *
 * Thread: the loop's.    Owns: its lists. */
#pragma once

#include "apiserver/stored.h"
#include "daemon/health.h"
#include "daemon/health_metrics.h"

enum { API_HEALTH_CHECKS_MAX = 20 };

/* An object whose being there says that a hook is done. */
struct api_hook {
    struct stored *objects;
    const struct resource *resource;
    const char *namespace, *name;
};

struct api_health {
    struct health healthz, livez, readyz;
    struct health_check checks[3][API_HEALTH_CHECKS_MAX]; /* of the three, in this order */
    struct api_hook hooks[API_HEALTH_CHECKS_MAX];
    struct stored *objects;
    const struct health_metrics *metrics;
    bool (*is_stopping)(void *context);
    void *context;
};

struct api_health_options {
    struct stored *objects;
    const struct health_metrics *metrics;
    const char *durability; /* "synced", "relaxed", "memory" */
    bool rbac;              /* roles are made at the start */
    bool (*is_stopping)(void *context);
    void *context;
};

/* It must not move afterwards. */
void api_health_init(struct api_health *h, const struct api_health_options *o, struct arena *a);
