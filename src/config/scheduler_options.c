/* config/scheduler_options.c - see scheduler_options.h. Upstream: cmd/kube-scheduler/app/options, v1.36. */
#include "config/policy.h"
#include "config/policy_source.h"
#include "config/scheduler_options.h"

#include "base/log.h"

/* How much longer than the period a retry may take. */
#define ELECTION_JITTER 1.2

enum err_code scheduler_options_gates(const struct scheduler_flags *f, struct gates *g, struct err *e)
{
    struct component_versions versions = component_versions_default();
    if (component_versions_set(&versions, &f->emulated_version, &f->min_compatibility_version, e))
        return e->code;
    gates_init_at(g, &versions);
    return gates_set(g, f->feature_gates.at, f->feature_gates.n, e);
}

enum err_code scheduler_options_logs(const struct scheduler_flags *f, const struct gates *g, struct err *e)
{
    if (scheduler_check_logs(f, g, e) || log_set_format(f->logging_format, e) || log_set_vmodule(f->vmodule, e))
        return e->code;
    log_set_level_number(f->v);
    return ERR_OK;
}

/* Given flags take the place of what is there. */
#define TAKE(flag, to)            \
    do {                          \
        if (FLAG_GIVEN(f, flag))  \
            (to) = f->flag;       \
    } while (0)

static void apply_deprecated(const struct scheduler_flags *f, struct config *c)
{
    TAKE(profiling, c->enable_profiling);
    TAKE(contention_profiling, c->enable_contention_profiling);
    TAKE(kubeconfig, c->client_connection.kubeconfig);
    TAKE(kube_api_content_type, c->client_connection.content_type);
    TAKE(kube_api_qps, c->client_connection.qps);
    TAKE(kube_api_burst, c->client_connection.burst);
}

static void apply_leader_election(const struct scheduler_flags *f, struct leader_election_config *l)
{
    TAKE(leader_elect, l->leader_elect);
    TAKE(leader_elect_lease_duration_ns, l->lease_duration_ns);
    TAKE(leader_elect_renew_deadline_ns, l->renew_deadline_ns);
    TAKE(leader_elect_retry_period_ns, l->retry_period_ns);
    TAKE(leader_elect_resource_lock, l->resource_lock);
    TAKE(leader_elect_resource_name, l->resource_name);
    TAKE(leader_elect_resource_namespace, l->resource_namespace);
}

/* ---- Older worlds ---- */

static bool asks_for_legacy(const struct scheduler_flags *f)
{
    return f->policy_config_file.n || f->algorithm_provider.n || f->use_legacy_policy_config ||
           !str_is(f->compat, "v1.36");
}

static enum err_code apply_legacy(const struct scheduler_flags *f, const struct features *features, struct arena *a,
                                  struct config *c, bool *ret_fatal, struct err *e)
{
    bool newest = str_is(f->compat, "v1.36");
    struct setup_legacy legacy = { .level = newest ? level_for_policies() : level_find(f->compat) };
    const struct policy_flags flags = {
        .config_file = arena_cstr(a, f->policy_config_file),
        .provider = arena_cstr(a, f->algorithm_provider),
        .use_legacy_config = f->use_legacy_policy_config,
        .hard_pod_affinity_weight = 1,
    };
    if (!legacy.level)
        return err_set(e, ERR_INVALID, "compat: v1.0, v1.3, v1.11, v1.15, v1.20 or v1.36 is expected, not %.*s",
                       STR_ARG(err_shown(e, f->compat)));
    if (f->config.n)
        return err_set(e, ERR_INVALID, "cannot set a Plugin config and Policy config");
    return policy_choose(a, &flags, &policy_files, &legacy, e)
               ? e->code
               : legacy_apply(a, &legacy, features, c, ret_fatal, e);
}

enum err_code scheduler_options_config(const struct scheduler_flags *f, const struct gates *g, struct arena *a,
                                       struct config **ret_config, struct str *ret_text, struct err *e)
{
    struct features features = gates_features(g);
    struct str text = { NULL, 0 };
    struct config *c;
    if (f->config.n == 0) {
        c = config_default(a, &features);
        apply_deprecated(f, c);
        apply_leader_election(f, &c->leader_election);
    } else {
        if (config_read_file(a, arena_cstr(a, f->config), &text, e) || config_load(a, text, &features, &c, e))
            return e->code;
        apply_leader_election(f, &c->leader_election);
        if (config_validate(c, &features, e))
            return e->code;
    }
    bool fatal = false;
    if (asks_for_legacy(f) && apply_legacy(f, &features, a, c, &fatal, e)) {
        if (fatal)
            e->code = ERR_UNKNOWN;
        return e->code;
    }
    *ret_config = c;
    *ret_text = text;
    return ERR_OK;
}

static enum err_code check_lock(struct str lock, struct err *e)
{
    static const char *const removed[] = { "endpoints", "configmaps", "endpointsleases", "configmapsleases" };
    if (str_is(lock, "leases"))
        return ERR_OK;
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++)
        if (str_is(lock, removed[i]))
            return err_set(e, ERR_INVALID, "couldn't create resource lock: %s lock is removed, migrate to leases",
                           removed[i]);
    return err_set(e, ERR_INVALID, "couldn't create resource lock: Invalid lock-type %.*s", STR_ARG(err_shown(e, lock)));
}

enum err_code scheduler_options_check_client(const struct config *c, struct err *e)
{
    if (c->client_connection.qps > 0 && c->client_connection.burst <= 0)
        return err_set(e, ERR_INVALID, "burst is required to be greater than 0 when RateLimiter is not set and QPS is set "
                                       "to greater than 0");
    return c->leader_election.leader_elect ? check_lock(c->leader_election.resource_lock, e) : ERR_OK;
}

enum err_code scheduler_options_check_election(const struct leader_election_config *l, struct err *e)
{
    const char *what = NULL;
    if (!l->leader_elect)
        return ERR_OK;
    if (l->lease_duration_ns <= l->renew_deadline_ns)
        what = "leaseDuration must be greater than renewDeadline";
    else if ((double)l->renew_deadline_ns <= ELECTION_JITTER * (double)l->retry_period_ns)
        what = "renewDeadline must be greater than retryPeriod*JitterFactor";
    else if (l->lease_duration_ns < 1)
        what = "leaseDuration must be greater than zero";
    else if (l->renew_deadline_ns < 1)
        what = "renewDeadline must be greater than zero";
    else if (l->retry_period_ns < 1)
        what = "retryPeriod must be greater than zero";
    return what ? err_set(e, ERR_INVALID, "couldn't create leader elector: %s", what) : ERR_OK;
}
