/* daemon/secure_port.h - a component's secure port, from its flags: TLS, who may ask, and all that is served.
 *
 * The address is taken at once (secure_port_new); requests wait until secure_port_begin has found out whose
 * certificates the cluster trusts, which it reads from the API server unless flags say so or forbid it.
 *
 * Thread: the loop's.    Owns: ops.h and all parts around it. */
#pragma once

#include "base/metrics.h"
#include "config/features.h"
#include "config/scheduler_check.h"
#include "config/scheduler_flags.h"
#include "daemon/health_metrics.h"
#include "daemon/ops.h"

struct secure_port;

struct secure_port_options {
    struct loop *loop;
    const struct scheduler_flags *flags;
    const struct gates *gates;
    const char *component;           /* "kube-scheduler" */
    const struct flag_set *flag_set; /* of /flagz, with the values: */
    const void *flag_values;
    struct metrics *metrics; /* of /metrics */
    struct metrics *slis;    /* of /metrics/slis */
    struct health_metrics health; /* in it */
    struct str configz;      /* JSON */
    bool leader_elects, profiling;
    const struct ops_route *routes; /* others; live as long */
    size_t n_routes;
    /* For /readyz: a check of that name fails with those words until it is synced. */
    const char *sync_check, *not_synced;
    bool (*is_synced)(void *context), (*is_stopping)(void *context);
    void *context;
    uint64_t seed;
};

/* Makes or reads certificates, and binds. */
ERR_MUST_CHECK enum err_code secure_port_new(const struct secure_port_options *o, struct secure_port **ret_port,
                                             struct err *e);
/* `begun` follows once, when requests are served or must not be: `error` says why. */
void secure_port_begin(struct secure_port *p, void (*begun)(void *context, const char *error), void *context);
/* What is at hand may end; `stopped` follows. */
void secure_port_stop(struct secure_port *p, void (*stopped)(void *context), void *context);
/* After `stopped`. */
void secure_port_free(struct secure_port *p);
