/* daemon/component_metrics.c - see component_metrics.h. */
#include "daemon/component_metrics.h"

#include "config/scheduler_check.h"

/* ---- The registry ---- */

enum err_code component_metrics_new(const struct scheduler_flags *f, struct arena *a, struct metrics **ret_registry, struct err *e)
{
    struct flag_pairs labels;
    if (scheduler_metric_labels(f, a, &labels, e))
        return e->code;
    struct metrics *m = metrics_new();
    for (size_t i = 0; i < f->disabled_metrics.n; i++)
        metrics_disable(m, f->disabled_metrics.at[i]);
    for (size_t i = 0; i < labels.n; i++) {
        struct str metric = labels.at[i].key, label = metric;
        const char *comma = memchr(metric.p, ',', metric.n);
        metric.n = comma ? (size_t)(comma - metric.p) : metric.n;
        label = comma ? str_range(comma + 1, label.p + label.n) : (struct str){ "", 0 };
        metrics_allow_values(m, metric, label, labels.at[i].value);
    }
    *ret_registry = m;
    return ERR_OK;
}

/* ---- The build ---- */

static void add_build_info(struct metrics *r, const struct component_build *b)
{
    struct metric *info = metrics_add_gauge(
        r, &(struct metric_desc){
               "kubernetes_build_info",
               "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build "
               "date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
               { "major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version", "compiler",
                 "platform" },
               .stability = STABILITY_BETA });
    struct str values[] = { str_of(b->major),          str_of(b->minor),      str_of(b->git_version), str_of(b->git_commit),
                            str_of(b->git_tree_state), str_of(b->build_date), STR(""),                str_of(b->compiler),
                            str_of(b->platform) };
    series_set(metric_series(info, values), 1);
}

static void add_version_info(struct metrics *r, const struct component_build *b)
{
    struct metric *info = metrics_add_gauge(
        r, &(struct metric_desc){ "version_info",
                                  "Provides the compatibility version info of the component. The component label is the name "
                                  "of the component, usually kube, but is relevant for aggregated-apiservers.",
                                  { "component", "binary", "emulation", "min_compat" }, .stability = STABILITY_ALPHA });
    struct str values[] = { STR("kube"), str_of(b->binary), str_of(b->emulation), str_of(b->min_compat) };
    series_set(metric_series(info, values), 1);
}

static void add_gates(struct metrics *r, const struct gates *gates)
{
    struct metric *enabled = metrics_add_gauge(
        r, &(struct metric_desc){ "kubernetes_feature_enabled",
                                  "This metric records the data about the stage and enablement of a k8s feature.",
                                  { "name", "stage" }, .stability = STABILITY_BETA });
    for (int i = 0; i < N_GATES; i++) {
        enum gate gate = (enum gate)i;
        const char *stage = gate_stage_name(gate_stage(gates, gate));
        if (!stage)
            continue; /* the emulated version does not know it yet */
        struct str values[] = { str_of(gate_name(gate)), str_of(stage) };
        series_set(metric_series(enabled, values), gate_on(gates, gate));
    }
}

void component_metrics_add(struct metrics *r, const struct component_build *build, const struct gates *gates)
{
    metrics_add_meta(r);
    add_build_info(r, build);
    add_version_info(r, build);
    add_gates(r, gates);
}

/* ---- Who leads ---- */

struct leader_metrics leader_metrics_add(struct metrics *r, const char *lease)
{
    struct metric *status = metrics_add_gauge(
        r, &(struct metric_desc){ "leader_election_master_status",
                                  "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
                                  "indicates master. 'name' is the string used to identify the lease. Please make sure to "
                                  "group by name.",
                                  { "name" }, .stability = STABILITY_ALPHA });
    struct metric *slow = metrics_add_counter(
        r, &(struct metric_desc){ "leader_election_slowpath_total",
                                  "Total number of slow path exercised in renewing leader leases. 'name' is the string used "
                                  "to identify the lease. Please make sure to group by name.",
                                  { "name" }, .stability = STABILITY_ALPHA });
    struct str name = str_of(lease);
    return (struct leader_metrics){ metric_series_unseen(status, &name), metric_series_unseen(slow, &name) };
}
