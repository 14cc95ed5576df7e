/* api/toleration.h - taints of nodes and the tolerations of pods.
 *
 * Texts are compared as the objects have them; nothing is validated. The operators Lt and Gt count only
 * with the gate TaintTolerationComparisonOperators (`comparing`). tolerationSeconds plays no part in
 * whether a taint is tolerated.
 *
 * Thread: any. Does not allocate. */
#pragma once

#include "base/str.h"

struct taint {
    struct str key, value, effect;
};

struct toleration {
    struct str key, op, value, effect; /* empty op: Equal; empty key or effect: any */
};

struct taints {
    const struct taint *at;
    size_t n;
};

struct tolerations {
    const struct toleration *at;
    size_t n;
};

/* Which taints a question is about. */
typedef bool taint_filter(const struct taint *taint);

taint_filter taint_is_hard;   /* NoSchedule, NoExecute: keeps pods away */
taint_filter taint_is_prefer; /* PreferNoSchedule: lowers the score */

bool toleration_tolerates(const struct toleration *t, const struct taint *taint, bool comparing);
bool tolerations_tolerate(struct tolerations tolerations, const struct taint *taint, bool comparing);
/* The first taint that passes the filter (NULL: all do) and that none tolerates, or NULL. */
const struct taint *taints_first_untolerated(struct taints taints, struct tolerations tolerations,
                                             taint_filter *filter, bool comparing);
/* Same key, effect, operator and value: one may replace the other. */
bool toleration_same(const struct toleration *a, const struct toleration *b);
