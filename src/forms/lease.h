/* forms/lease.h - a Lease as leader election sees it. See typed.h for ownership. */
#pragma once

#include "forms/typed.h"

struct lease {
    struct typed typed;
    struct typed_meta meta;
    const char *holder;           /* "" when nobody holds it */
    const char *preferred_holder; /* NULL: not given */
    const char *strategy;         /* of coordinated election; NULL: not given */
    int64_t acquire_us, renew_us; /* since 1970; TYPED_TIME_NONE: not given */
    int32_t duration_s;           /* 0 when not given */
    int32_t transitions;          /* 0 when not given */
};

TYPED_FUNCTIONS(lease);
