/* controllers/quota_status.h - what is used of a ResourceQuota, counted anew.
 *
 * Upstream: controller/resourcequota. Admission charges what is made (apiserver/admission_quota.c); this counts what there is
 * when a quota is new or changed, and when something that it counts is gone or uses less.
 *
 * Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/quota.h"
#include "api/schema.h"

struct quota_state {
    const struct value *quota;
    int64_t now_s;
    /* The objects of the quota's namespace. */
    size_t (*list)(void *context, const struct resource *r, const struct value ***ret_objects);
    void *context;
};

const struct type *resource_quota_type(void);
/* The quota with its status; false: it is right as it is. */
bool quota_status_plan(struct arena *a, const struct quota_state *s, struct value *ret_quota);
/* Whether an object that changes, or goes (`is` is NULL), changes what is used. */
bool quota_status_changes(struct arena *a, const struct value *quota, const struct resource *r, const struct value *is,
                          const struct value *was, int64_t now_s);
