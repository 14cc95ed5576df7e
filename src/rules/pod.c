/* rules/pod.c - see rules.h: the table about pods. What stands in it is in the files beside this one, pod_*.c. */
#include "rules/pod_priv.h"

static const char *const reset[] = { "status", NULL };
static const char *const reset_by_status[] = { "spec", "metadata.deletionTimestamp", "metadata.ownerReferences", NULL };

/* Of containers nobody but their endpoints can set anything; all else of a pod is not theirs. Within a container, resize
 * can set resources and resizePolicy alone, which paths cannot say. */
#define NO_CONTAINERS                                                                                                       \
    "metadata", "status", "spec.volumes", "spec.restartPolicy", "spec.terminationGracePeriodSeconds",                       \
        "spec.activeDeadlineSeconds", "spec.dnsPolicy", "spec.nodeSelector", "spec.serviceAccountName",                     \
        "spec.serviceAccount", "spec.automountServiceAccountToken", "spec.nodeName", "spec.hostNetwork", "spec.hostPID",    \
        "spec.hostIPC", "spec.shareProcessNamespace", "spec.securityContext", "spec.imagePullSecrets", "spec.hostname",     \
        "spec.subdomain", "spec.affinity", "spec.schedulerName", "spec.tolerations", "spec.hostAliases",                    \
        "spec.priorityClassName", "spec.priority", "spec.dnsConfig", "spec.readinessGates", "spec.runtimeClassName",        \
        "spec.enableServiceLinks", "spec.preemptionPolicy", "spec.overhead", "spec.topologySpreadConstraints",              \
        "spec.setHostnameAsFQDN", "spec.os", "spec.hostUsers", "spec.schedulingGates", "spec.resourceClaims",               \
        "spec.resources", "spec.hostnameOverride", "spec.schedulingGroup"
static const char *const reset_by_ephemeral[] = { NO_CONTAINERS, "spec.containers", "spec.initContainers", NULL };
static const char *const reset_by_resize[] = { NO_CONTAINERS, "spec.ephemeralContainers", NULL };

static const struct sub_rules pod_subs[] = {
    { "status", pod_prepare_status, pod_validate_status, reset_by_status, pod_warn_status },
    { "ephemeralcontainers", pod_prepare_ephemeral, pod_validate_ephemeral, reset_by_ephemeral, NULL },
    { "resize", pod_prepare_resize, pod_validate_resize, reset_by_resize, NULL },
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
