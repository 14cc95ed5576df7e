/* api/resources.h - amounts of resources as the scheduler counts them.
 *
 * cpu in thousandths, everything else in units, rounded up once after summing exactly.
 * A scalar resource is an extended one, huge pages, or one with kubernetes.io/ in its name; names
 * of no class are not counted at all.
 *
 * Thread: any; immutable. */
#pragma once

#include "base/sym.h"

struct scalar_amount {
    sym name;
    int64_t amount;
};

struct amounts {
    int64_t milli_cpu, memory, ephemeral_storage;
    const struct scalar_amount *scalars; /* by name as text, so that reasons come out in one order */
    uint32_t n_scalars;
    int32_t pods; /* allocatable of a node only */
};

/* The amount of a scalar, 0 when it is not there. */
int64_t amounts_scalar(const struct amounts *a, sym name);

enum resource_class { RESOURCE_IGNORED, RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_EPHEMERAL, RESOURCE_PODS, RESOURCE_SCALAR };
enum resource_class resource_classify(struct str name);
/* Extended: may be named in ignoredResources. */
bool resource_is_extended(struct str name);
