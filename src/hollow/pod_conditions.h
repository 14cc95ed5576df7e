/* hollow/pod_conditions.h - the conditions of a pod that a kubelet writes, in its order and words.
 *
 * Thread: any. Memory: the arena; the result refers to what it was made from. */
#pragma once

#include "api/value.h"

struct pod_conditions_state {
    const struct value *pod;                      /* with the conditions it has */
    const struct value *init_statuses, *statuses; /* of its containers, as they are from now on */
    const char *phase;
    bool has_sandbox;
    int64_t now_s;
};

/* Conditions of others stay as they are, before the kubelet's own. */
struct value pod_conditions(struct arena *a, const struct pod_conditions_state *s);
