/* LimitRanger: what containers do not ask for comes from the LimitRanges of the namespace, and what is outside of
 * one is refused (api/admit.h). Pods are looked at when they are new and when they are resized, claims always. */
#include "api/admit.h"
#include "apiserver/admission_priv.h"

static bool concerns(const struct admission_request *r)
{
    if (req_old(r, "metadata.deletionTimestamp")->kind == VALUE_TIME)
        return false;
    if (req_is_sub(r, "pods", "", "resize"))
        return r->operation == ADMIT_UPDATE;
    if (req_is_whole(r, "pods", ""))
        return r->operation == ADMIT_CREATE;
    return req_is_whole(r, "persistentvolumeclaims", "");
}

static size_t ranges_of(const struct admission_request *r, const struct value ***ret_ranges)
{
    return stored_list(r->objects, stored_resource("limitranges", ""), r->namespace, r->arena, ret_ranges);
}

enum err_code limit_ranger_admit(struct admission_request *r, struct err *e)
{
    (void)e;
    const struct value **ranges;
    if (!concerns(r) || !req_is(r, "pods", ""))
        return ERR_OK;
    size_t n = ranges_of(r, &ranges);
    for (size_t i = 0; i < n; i++)
        r->object = admit_limit_defaults(r->arena, &r->object, ranges[i]);
    return ERR_OK;
}

enum err_code limit_ranger_validate(struct admission_request *r, struct err *e)
{
    const struct value **ranges;
    if (!concerns(r))
        return ERR_OK;
    size_t n = ranges_of(r, &ranges);
    bool is_pod = req_is(r, "pods", "");
    for (size_t i = 0; i < n; i++)
        if (is_pod ? admit_check_limits(r->arena, &r->object, ranges[i], e)
                   : admit_check_claim_limits(r->arena, &r->object, ranges[i], e))
            return e->code;
    return ERR_OK;
}
