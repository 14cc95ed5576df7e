/* api/quota.h - ResourceQuotas: whether one more pod is within what a namespace may have.
 *
 * As upstream's admission counts pods: their number, their requests and limits (cpu, memory, ephemeral-storage, and requests
 * of extended resources), restricted by the quota's scopes. A quota on requests or limits wants every container to
 * say them.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/value.h"
#include "base/err.h"

/* `used` is a map as status.used, or absent. ERR_FORBIDDEN with upstream's text when the pod is one too many; otherwise
 * *ret_used is what is used with it. */
enum err_code quota_admit(struct arena *a, const struct value *quota, const struct value *used, const struct value *pod,
                          struct value *ret_used, struct err *e) ERR_MUST_CHECK;
