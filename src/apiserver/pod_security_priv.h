/* apiserver/pod_security_priv.h - the checks that a policy is made of. */
#pragma once

#include "apiserver/admission_priv.h"
#include "apiserver/pod_security.h"

/* One pod that is looked at, and what a check says about it. */
struct security_pod {
    struct arena *arena;
    int minor; /* of the release whose rules count */
    const struct value *meta, *spec;
    const struct container *containers;
    size_t n_containers;
    const char *reason, *detail; /* set by a check that refuses */
};

/* False: the pod is refused. */
typedef bool security_rule(struct security_pod *p);

struct security_row {
    const char *id;
    enum security_level level;
    int from; /* the minor of v1.x that it came with */
    security_rule *rule;
    const char *replaces; /* a check of baseline, when the level is restricted; or NULL */
};

/* By level and id, as findings are told; ends with an entry without an id. */
extern const struct security_row security_rows[];
