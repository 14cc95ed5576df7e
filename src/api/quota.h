/* api/quota.h - ResourceQuotas: what an object uses of a quota, and whether that is within it.
 *
 * As upstream's evaluators: pods (their number, requests and limits), PersistentVolumeClaims (number and storage,
 * also by class), Services (also their node ports and load balancers), ResourceClaims (devices by class), and the
 * number of objects of any kind. A quota may be restricted by scopes, to some pods or claims.
 *
 * Not there: quotas on extended resources that a DeviceClass stands for do not count ResourceClaims.
 *
 * Thread: any. Memory: the arena. */
#pragma once

#include "api/quantity.h"
#include "api/value.h"
#include "base/err.h"

enum quota_sort { QUOTA_PODS, QUOTA_CLAIMS, QUOTA_SERVICES, QUOTA_DEVICE_CLAIMS, QUOTA_OBJECTS };

enum quota_sort quota_sort_of(struct str plural, struct str group);

/* An object, and what was found out about it once. */
struct quota_object {
    enum quota_sort sort;
    struct str plural, group;
    const struct value *value;
    bool finished;           /* pods: counts as an object only */
    struct value requests, limits; /* pods: in all */
};

/* `now_s` is the wall clock: a pod that should have gone by then uses nothing. */
struct quota_object quota_object(struct arena *a, struct str plural, struct str group, const struct value *v,
                                 int64_t now_s);

/* Whether a quota on the resource ("requests.cpu", "count/jobs.batch") is about such objects. */
bool quota_counts(const struct quota_object *o, struct str resource);
/* Whether the object is within all scopes of the quota. */
bool quota_in_scopes(struct arena *a, const struct value *quota, const struct quota_object *o);
/* What the object uses of a resource. */
struct quantity quota_amount(struct arena *a, const struct quota_object *o, struct str resource);

/* ERR_FORBIDDEN with upstream's text unless every container says how much it wants of CPU and memory as far as
 * `hard`, a map of amounts, limits these. For pods; others have nothing to say. */
enum err_code quota_check_words(struct arena *a, struct str quota, const struct value *hard,
                                const struct quota_object *o, struct err *e) ERR_MUST_CHECK;

/* `used` and `hard` are maps of amounts, or absent; `old` is the object before a change, or NULL. ERR_FORBIDDEN with
 * upstream's text when that is too much, unless `only_counts`; else *ret_used is what is used then, equal to `used`
 * when nothing changes. */
struct quota_change {
    struct str quota; /* its name */
    const struct value *hard, *used;
    const struct quota_object *object, *old;
    bool only_counts;
};
enum err_code quota_charge(struct arena *a, const struct quota_change *c, struct value *ret_used,
                           struct err *e) ERR_MUST_CHECK;

/* A new pod, by the quota's spec. `used` is a map as status.used, or absent. ERR_FORBIDDEN with upstream's text when
 * the pod is one too many; otherwise *ret_used is what is used with it. */
enum err_code quota_admit(struct arena *a, const struct value *quota, const struct value *used, const struct value *pod,
                          struct value *ret_used, struct err *e) ERR_MUST_CHECK;
