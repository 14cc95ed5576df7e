/* api/admit.h - what admission of an API server does to a new pod: priority, tolerations, RuntimeClass, LimitRanges.
 *
 * As the plugins of upstream v1.36 that are on by default, on generic values and with their texts. The caller finds the
 * other objects; a pod that is refused is ERR_FORBIDDEN with the text behind `pods "x" is forbidden: `. Defaults
 * (defaults.h) come before, and once more after it.
 *
 * Thread: any. Memory: the arena; the result shares with the pod all that did not change. */
#pragma once

#include "api/value.h"
#include "base/err.h"

/* `class` is the PriorityClass that the pod names, or, when it names none, the cluster's default; NULL: there is
 * none. Classes that every cluster has need not be given. Sets priority and preemptionPolicy, and the name of a
 * default class. */
enum err_code admit_priority(struct arena *a, const struct value *pod, const struct value *class, struct value *ret_pod,
                             struct err *e) ERR_MUST_CHECK;

/* Pods stay 300 s on a node that is not ready or not reachable, unless they say something else. */
struct value admit_tolerations(struct arena *a, const struct value *pod);

/* `class` is the RuntimeClass that the pod names, or NULL: it is not there. Only for pods that name one. */
enum err_code admit_runtime_class(struct arena *a, const struct value *pod, const struct value *class,
                                  struct value *ret_pod, struct err *e) ERR_MUST_CHECK;

/* What containers do not ask for as a LimitRange of the namespace has it, and an annotation that tells so. */
struct value admit_limit_defaults(struct arena *a, const struct value *pod, const struct value *range);
/* Refuses what is outside of the range: of a pod, and of a PersistentVolumeClaim. */
enum err_code admit_check_limits(struct arena *a, const struct value *pod, const struct value *range, struct err *e)
    ERR_MUST_CHECK;
enum err_code admit_check_claim_limits(struct arena *a, const struct value *claim, const struct value *range,
                                       struct err *e)
    ERR_MUST_CHECK;
/* `ranges` are the LimitRanges of its namespace, with their defaults. Fills in requests and limits, and then refuses
 * what is outside of any. */
enum err_code admit_limit_ranges(struct arena *a, const struct value *pod, const struct value *const *ranges, size_t n,
                                 struct value *ret_pod, struct err *e) ERR_MUST_CHECK;
