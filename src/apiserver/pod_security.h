/* apiserver/pod_security.h - the Pod Security Standards: which pods are harmless, by level and by the release that
 * said so.
 *
 * Privileged allows everything, baseline what is not known to be dangerous, restricted what is known to be safe.
 * Checks have changed over releases; a policy may name one (`v1.24`), and then means what that release did.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/field_error.h"
#include "api/value.h"

enum security_level { SECURITY_PRIVILEGED, SECURITY_BASELINE, SECURITY_RESTRICTED };

enum { SECURITY_LATEST = -1 };

struct security_policy {
    enum security_level level;
    int minor; /* of v1.x; or SECURITY_LATEST */
};

/* What a namespace says, by its labels. */
struct security_policies {
    struct security_policy enforce, audit, warn;
};

/* `labels` is a map, or absent. What is wrong with them becomes errors; what they say then is on the safe side for
 * enforcing, and nothing for the others. */
struct security_policies security_policies_read(const struct value *labels, struct field_errors *errs);
/* "baseline:v1.24". */
const char *security_policy_text(struct arena *a, struct security_policy p);

/* Reasons are few words, details what exactly; one text each, "" when the pod is allowed. `meta` is an ObjectMeta,
 * `spec` a PodSpec. */
struct security_findings {
    const char *reasons, *details;
};
struct security_findings security_check(struct arena *a, struct security_policy p, const struct value *meta,
                                        const struct value *spec);
