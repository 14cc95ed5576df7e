/* sim/admission.h - what an API server would have made of objects that come from files: defaults (api/defaults.h) and
 * admission (api/admit.h, api/quota.h), with the classes, LimitRanges and ResourceQuotas of the same input.
 *
 * Objects that come from a server have been through all of that and keep what they have. A pod that would not have been let
 * in is refused (sim_refuse): it is no part of the cluster, and told.
 *
 * Thread: one. Memory: the input's arenas. */
#pragma once

#include "sim/input.h"

struct sim_ranged {
    const char *ns;
    const struct value *value; /* of the LimitRange */
};

struct sim_quota {
    const char *ns;
    struct value value, used;
};

struct sim_admission {
    struct sim_input *in;
    struct sim_object priority, storage; /* copies; the classes for objects that name none; type NULL: there is none */
    VEC(struct sim_ranged) ranges;
    VEC(struct sim_quota) quotas; /* with what the pods of the input use */
};

/* Looks at what the input has now; LimitRanges and classes must have their defaults. It must not lose objects meanwhile. */
void sim_admission_init(struct sim_admission *a, struct sim_input *in);
void sim_admission_fini(struct sim_admission *a);

/* Of objects other than pods: defaults, the default storage class of a claim; a volume is available. */
void sim_defaults(struct sim_admission *a, struct sim_object *o);
/* A pod that has a generic value: what admission makes of it. NULL, or why it is refused. Also of a pod without a name, from
 * which others will be made. */
const char *sim_admit(struct sim_admission *a, struct sim_object *pod);
/* One more pod in the namespace; NULL, or why a quota refuses it. */
const char *sim_admit_quota(struct sim_admission *a, const struct sim_object *pod);

/* Of the value of a pod: whether all of this would change nothing, as it comes from a server. */
bool sim_pod_is_complete(const struct value *pod);
