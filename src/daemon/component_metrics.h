/* daemon/component_metrics.h - what every Kubernetes component shows of itself: which build, which version, which gates are
 * on; who leads.
 *
 * Thread: any; series are the registry's. */
#pragma once

#include "base/metrics.h"
#include "client/queue_metrics.h"
#include "config/features.h"
#include "config/scheduler_flags.h"

struct component_build {
    const char *major, *minor;               /* "1", "36"; may be empty */
    const char *git_version, *git_commit;    /* "v1.36.4" */
    const char *git_tree_state, *build_date; /* "2026-01-01T00:00:00Z" */
    const char *compiler, *platform;         /* "gcc", "linux/amd64" */
    const char *binary, *emulation, *min_compat; /* "1.36.4", "1.36", "1.35" */
};

/* A registry that keeps to what the flags say of metrics and labels, which counts before any is added. */
ERR_MUST_CHECK enum err_code component_metrics_new(const struct scheduler_flags *f, struct arena *a,
                                                   struct metrics **ret_registry, struct err *e);
/* kubernetes_build_info, version_info, kubernetes_feature_enabled, and the metrics about metrics. */
void component_metrics_add(struct metrics *registry, const struct component_build *build, const struct gates *gates);

/* leader_election_master_status and leader_election_slowpath_total of the lease of that name. The status shows from
 * the first set on. */
struct leader_metrics {
    struct series *is_leader, *slow_paths;
};
struct leader_metrics leader_metrics_add(struct metrics *registry, const char *lease);
