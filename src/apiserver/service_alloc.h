/* apiserver/service_alloc.h - gives services their cluster IPs and node ports, and takes them back.
 *
 *     service_begin(...)                      (rules/service.h) families, and what an update left out
 *     service_alloc_create(a, &r, &service)   the service has its numbers; what must be stored with it is in r.also
 *     commit the service and r.also together
 *     service_alloc_settle(a, &r.hold)        when that is over, however it ended
 *
 * An address is taken by its IPAddress object, which is part of the same commit; a node port by the service itself.
 * Until a commit is over its numbers are held, so that two services that are created at the same time differ. A dry run
 * takes nothing and gets upstream's dummies.
 *
 * One range of IPv4 addresses: further ServiceCIDR objects are stored and mean nothing.
 *
 * Thread: the store's. Memory: the request's arena. */
#pragma once

#include "api/field_error.h"
#include "apiserver/admission.h"

struct service_alloc;

struct service_alloc_options {
    struct stored *objects;
    struct str cidr; /* of IPv4: "10.0.0.0/24" */
    int node_port_min, node_port_max;
    uint64_t seed;
};

struct service_alloc *service_alloc_new(const struct service_alloc_options *o);
void service_alloc_free(struct service_alloc *s);
/* The first address of the range: that of default/kubernetes. */
const char *service_alloc_first(const struct service_alloc *s, struct arena *a);

/* Numbers of a commit under way. Zeroed in the beginning. */
struct service_hold {
    uint32_t *addresses, *ports; /* numbers within their ranges, in the arena */
    uint32_t n_addresses, n_ports;
};

struct service_request {
    struct arena *arena;
    const struct type *type; /* of the service, core/v1 */
    struct str namespace, name; /* final */
    bool dry_run;
    int64_t now_s; /* wall clock */
    struct field_errors *errs; /* what makes it ERR_INVALID */
    struct admission_also *also; /* room for ADMISSION_ALSO_MAX */
    uint32_t *n_also;
    struct service_hold hold;
};

/* ERR_INVALID with `errs` and upstream's text, ERR_INTERNAL when a range is full. After a failure nothing is held. */
ERR_MUST_CHECK enum err_code service_alloc_create(struct service_alloc *s, struct service_request *r,
                                                  struct value *service, struct err *e);
ERR_MUST_CHECK enum err_code service_alloc_update(struct service_alloc *s, struct service_request *r,
                                                  const struct value *old, struct value *service, struct err *e);
/* The service is removed: its IPAddress and the Endpoints of its name go with it, as upstream has it. */
void service_alloc_delete(struct service_alloc *s, struct service_request *r, const struct value *old);

/* The commit is over, or never came to be. */
void service_alloc_settle(struct service_alloc *s, struct service_hold *hold);
