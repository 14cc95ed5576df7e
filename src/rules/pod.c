/* rules/pod.c - see rules.h: the table about pods. What stands in it is in the files beside this one, pod_*.c. */
#include "rules/pod_priv.h"

static const char *const reset[] = { "status", NULL };
static const char *const reset_by_status[] = { "spec", "metadata.deletionTimestamp", "metadata.ownerReferences", NULL };

static const struct sub_rules pod_subs[] = {
    { "status", pod_prepare_status, pod_validate_status, reset_by_status, pod_warn_status },
    { "ephemeralcontainers", pod_prepare_ephemeral, pod_validate_ephemeral, NULL, NULL },
    { "resize", pod_prepare_resize, pod_validate_resize, NULL, NULL },
    { 0 },
};

const struct kind_rules pod_rules[] = {
    {
        .type = "core/v1.Pod",
        .name = name_is_dns_subdomain,
        .flags = RULES_RETURNS_DELETED,
        .generation = GENERATION_SPEC,
        .prepare_create = pod_prepare_create,
        .prepare_update = pod_prepare_update,
        .validate_create = pod_validate_create,
        .validate_update = pod_validate_update,
        .warn = pod_warn,
        .reset_fields = reset,
        .subs = pod_subs,
    },
    { 0 },
};
