/* forms/resources.h - amounts of resources as the scheduler counts them.
 *
 * cpu in thousandths, everything else in units, rounded up once after summing exactly.
 * A scalar resource is an extended one, huge pages, or one with kubernetes.io/ in its name; names
 * of no class are not counted at all.
 *
 * While they are summed, amounts are whole billionths in 128 bits. That is exact for everything that a
 * quantity can say below 2^63 units; a larger one counts as 2^63 - 1 units, and results that int64
 * cannot hold end there.
 *
 * Thread: any; immutable. */
#pragma once

#include "base/sym.h"
#include "forms/fill.h"

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
bool amounts_equal(const struct amounts *a, const struct amounts *b);

enum resource_kind {
    RESOURCE_IGNORED,
    RESOURCE_CPU,
    RESOURCE_MEMORY,
    RESOURCE_EPHEMERAL,
    RESOURCE_PODS,
    RESOURCE_SCALAR,
};
enum resource_kind resource_kind_of(struct str name);
/* Extended: may be named in ignoredResources. */
bool resource_is_extended(struct str name);
/* Huge pages, which pods may also request as a whole. */
bool resource_is_huge_pages(struct str name);

/* ---- Sums ---- */

typedef __int128 nano; /* billionths */

/* The text of a quantity. */
enum err_code nano_parse(struct str text, nano *ret_amount, struct err *e) ERR_MUST_CHECK;
/* In units of 10^-9 * `unit`, rounded away from zero, between INT64_MIN and INT64_MAX. */
int64_t nano_round(nano amount, int64_t unit);
enum { NANO_PER_MILLI = 1000000, NANO_PER_UNIT = 1000000000 };

/* The resources that an object speaks of, each a number: cpu, memory, ephemeral storage, then its
 * scalars. Lists become vectors with one portion per resource, so that sums and maxima are plain loops. */
enum { AXIS_CPU, AXIS_MEMORY, AXIS_EPHEMERAL, N_FIXED_AXES };
enum { RESOURCE_SCALARS_MAX = 256 }; /* of one object */

struct portion {
    nano amount;
    bool given; /* an explicit 0 is given */
};

struct resource_axes {
    struct arena *arena;
    struct err *e;
    struct str *scalars; /* sorted by axes_seal */
    uint32_t n_scalars;
};

static inline uint32_t axes_count(const struct resource_axes *x)
{
    return N_FIXED_AXES + x->n_scalars;
}

/* Makes room for the scalars in a list of quantities. */
enum err_code axes_add(struct resource_axes *x, const fill_map *list) ERR_MUST_CHECK;
/* After the last list: from here on the axes stand. */
void axes_seal(struct resource_axes *x);
/* A list as a vector. */
enum err_code axes_parse(const struct resource_axes *x, const fill_map *list,
                         struct portion **ret_vector) ERR_MUST_CHECK;
/* A vector with nothing given. */
struct portion *axes_vector(const struct resource_axes *x);
/* Rounded amounts of what is given. Scalars are allocated in the arena of the axes, their names are new
 * references. */
struct amounts axes_amounts(const struct resource_axes *x, struct sym_table *syms, const struct portion *vector);
