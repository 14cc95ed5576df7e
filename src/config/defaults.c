/* config/defaults.c - see defaults.h. Upstream:
 * pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go,
 * component-base/config/v1alpha1/defaults.go, v1.36.
 *
 * A field that upstream keeps by pointer has its default when it is not given; others have it when they
 * are empty. */
#include "config/defaults.h"

#include "base/sort.h"
#include "config/args.h"
#include "config/points.h"
#include "config/slots.h"

#define SECOND_NS ((int64_t)1000000000)

static struct str text_or(struct str text, const char *empty)
{
    return text.n ? text : str_of(empty);
}

/* ---- Plugin sets ---- */

static const struct default_plugin {
    const char *name;
    int32_t weight;
    size_t gate; /* offset of the member of struct features that must be on, or ALWAYS */
} defaults_table[] = {
#define ALWAYS SIZE_MAX
    { "SchedulingGates", 0, ALWAYS },
    { "PrioritySort", 0, ALWAYS },
    { "NodeUnschedulable", 0, ALWAYS },
    { "NodeName", 0, ALWAYS },
    { "TaintToleration", 3, ALWAYS },
    { "NodeAffinity", 2, ALWAYS },
    { "NodePorts", 0, ALWAYS },
    { "NodeResourcesFit", 1, ALWAYS },
    { "VolumeRestrictions", 0, ALWAYS },
    { "NodeVolumeLimits", 0, ALWAYS },
    { "VolumeBinding", 0, ALWAYS },
    { "VolumeZone", 0, ALWAYS },
    { "PodTopologySpread", 2, ALWAYS },
    { "InterPodAffinity", 2, ALWAYS },
    { "DynamicResources", 2, ALWAYS },
    { "DefaultPreemption", 0, ALWAYS },
    { "NodeResourcesBalancedAllocation", 1, ALWAYS },
    { "ImageLocality", 1, ALWAYS },
    { "DefaultBinder", 0, ALWAYS },
    { "NodeDeclaredFeatures", 0, offsetof(struct features, node_declared_features) },
    { "GangScheduling", 0, offsetof(struct features, gang_scheduling) },
    { "TopologyPlacementGenerator", 0, offsetof(struct features, topology_aware_workloads) },
    { "PodGroupPodsCount", 1, offsetof(struct features, topology_aware_workloads) },
};

enum { N_DEFAULTS = sizeof(defaults_table) / sizeof(defaults_table[0]) };

plugin_refs default_plugins(struct arena *a, const struct features *f)
{
    struct plugin_ref *refs = ARENA_NEW_N(a, struct plugin_ref, N_DEFAULTS);
    size_t n = 0;
    for (size_t i = 0; i < N_DEFAULTS; i++) {
        const struct default_plugin *d = &defaults_table[i];
        if (d->gate == ALWAYS || *(const bool *)((const char *)f + d->gate))
            refs[n++] = (struct plugin_ref){ str_of(d->name), d->weight };
    }
    return (plugin_refs){ refs, n };
}

/* Index of the last entry of that name, or refs.n. */
static size_t find_last(plugin_refs refs, struct str name)
{
    for (size_t i = refs.n; i > 0; i--)
        if (str_eq(refs.at[i - 1].name, name))
            return i - 1;
    return refs.n;
}

static plugin_refs both(struct arena *a, plugin_refs first, plugin_refs second)
{
    struct plugin_ref *refs = ARENA_NEW_N(a, struct plugin_ref, first.n + second.n);
    size_t n = 0;
    for (size_t i = 0; i < first.n; i++)
        refs[n++] = (struct plugin_ref){ first.at[i].name, 0 };
    for (size_t i = 0; i < second.n; i++)
        refs[n++] = (struct plugin_ref){ second.at[i].name, 0 };
    return (plugin_refs){ refs, n };
}

struct plugin_set merge_plugin_sets(struct arena *a, const struct plugin_set *defaults, const struct plugin_set *custom)
{
    plugin_refs disabled = both(a, custom->disabled, defaults->disabled), own = custom->enabled;
    struct plugin_ref *refs = ARENA_NEW_N(a, struct plugin_ref, defaults->enabled.n + own.n);
    bool *used = ARENA_NEW_N(a, bool, own.n);
    bool none = find_last(disabled, STR("*")) < disabled.n;
    size_t n = 0;
    for (size_t i = 0; !none && i < defaults->enabled.n; i++) {
        struct plugin_ref ref = defaults->enabled.at[i];
        if (find_last(disabled, ref.name) < disabled.n)
            continue;
        size_t replaced_by = find_last(own, ref.name);
        if (replaced_by < own.n) {
            ref = own.at[replaced_by];
            used[replaced_by] = true;
        }
        refs[n++] = ref;
    }
    for (size_t i = 0; i < own.n; i++)
        if (!used[i])
            refs[n++] = own.at[i];
    return (struct plugin_set){ { refs, n }, disabled };
}

static plugin_refs read_refs(struct arena *a, const struct value *set, unsigned slot)
{
    size_t n;
    const struct value *items = slot_items(set, slot, &n);
    struct plugin_ref *refs = ARENA_NEW_N(a, struct plugin_ref, n);
    for (size_t i = 0; i < n; i++)
        refs[i] = (struct plugin_ref){ slot_text(&items[i], SLOT(Plugin, name)),
                                       (int32_t)slot_int(&items[i], SLOT(Plugin, weight), 0) };
    return (plugin_refs){ refs, n };
}

static void complete_sets(struct arena *a, const struct value *plugins, const struct features *f,
                          struct plugin_set *sets)
{
    for (unsigned i = 0; i < N_SETS; i++) {
        const struct value *set = value_slot(plugins, point_names[i].slot);
        struct plugin_set custom = { read_refs(a, set, SLOT(PluginSet, enabled)),
                                     read_refs(a, set, SLOT(PluginSet, disabled)) };
        struct plugin_set defaults = { 0 };
        if (i == SET_MULTI_POINT)
            defaults.enabled = default_plugins(a, f);
        sets[i] = merge_plugin_sets(a, &defaults, &custom);
    }
}

/* ---- Arguments ---- */

/* Names of all plugins that a profile enables, ascending, each once. */
static const struct str *enabled_names(struct arena *a, const struct profile_config *p, size_t *ret_n)
{
    size_t n_all = 0, n = 0;
    for (unsigned i = 0; i < N_SETS; i++)
        n_all += p->sets[i].enabled.n;
    struct str *names = ARENA_NEW_N(a, struct str, n_all);
    n_all = 0;
    for (unsigned i = 0; i < N_SETS; i++)
        for (size_t k = 0; k < p->sets[i].enabled.n; k++)
            names[n_all++] = p->sets[i].enabled.at[k].name;
    sort_stable(a, names, n_all, sizeof(*names), sort_compare_strs);
    for (size_t i = 0; i < n_all; i++)
        if (n == 0 || !str_eq(names[n - 1], names[i]))
            names[n++] = names[i];
    *ret_n = n;
    return names;
}

static bool has_config(const struct profile_config *p, struct str name)
{
    for (size_t i = 0; i < p->n_plugin_config; i++)
        if (str_eq(p->plugin_config[i].name, name))
            return true;
    return false;
}

static struct plugin_config read_plugin_config(struct arena *a, const struct value *entry, const struct features *f)
{
    struct plugin_config c = { .name = slot_text(entry, SLOT(PluginConfig, name)),
                               .args = *value_slot(entry, SLOT(PluginConfig, args)) };
    if (c.args.kind == VALUE_STRUCT)
        c.kind = args_kind_of(c.name);
    if (c.kind && c.kind->complete)
        c.kind->complete(a, f, &c.args);
    return c;
}

static void complete_plugin_config(struct arena *a, const struct value *profile, const struct features *f,
                                   struct profile_config *p)
{
    size_t n, n_names;
    const struct value *items = slot_items(profile, SLOT(KubeSchedulerProfile, pluginConfig), &n);
    const struct str *names = enabled_names(a, p, &n_names);
    p->plugin_config = ARENA_NEW_N(a, struct plugin_config, n + n_names);
    for (size_t i = 0; i < n; i++)
        p->plugin_config[i] = read_plugin_config(a, &items[i], f);
    p->n_plugin_config = n;
    for (size_t i = 0; i < n_names; i++) {
        const struct args_kind *kind = args_kind_of(names[i]);
        if (!kind || has_config(p, names[i]))
            continue;
        struct plugin_config c = { names[i], kind, args_empty(a, kind) };
        if (kind->complete)
            kind->complete(a, f, &c.args);
        p->plugin_config[p->n_plugin_config++] = c;
    }
}

/* ---- The rest ---- */

static void complete_profile(struct arena *a, const struct value *v, const struct features *f, struct profile_config *p)
{
    p->scheduler_name = slot_text(v, SLOT(KubeSchedulerProfile, schedulerName));
    p->has_percentage = slot_given(v, SLOT(KubeSchedulerProfile, percentageOfNodesToScore));
    p->percentage_of_nodes_to_score = (int32_t)slot_int(v, SLOT(KubeSchedulerProfile, percentageOfNodesToScore), 0);
    complete_sets(a, value_slot(v, SLOT(KubeSchedulerProfile, plugins)), f, p->sets);
    complete_plugin_config(a, v, f, p);
}

static void complete_profiles(struct arena *a, const struct value *root, const struct features *f, struct config *c)
{
    static const struct value absent;
    size_t n;
    const struct value *items = slot_items(root, SLOT(KubeSchedulerConfiguration, profiles), &n);
    if (n == 0)
        items = &absent;
    c->n_profiles = n ? n : 1;
    c->profiles = ARENA_NEW_N(a, struct profile_config, c->n_profiles);
    for (size_t i = 0; i < c->n_profiles; i++)
        complete_profile(a, &items[i], f, &c->profiles[i]);
    /* Several profiles must say their names; validation sees to it. */
    if (c->n_profiles == 1 && !slot_given(&items[0], SLOT(KubeSchedulerProfile, schedulerName)))
        c->profiles[0].scheduler_name = STR("default-scheduler");
}

static const struct extender_tls *read_tls(struct arena *a, const struct value *v)
{
    if (v->kind != VALUE_STRUCT)
        return NULL;
    struct extender_tls *tls = ARENA_NEW(a, struct extender_tls);
    *tls = (struct extender_tls){
        .insecure = slot_bool(v, SLOT(ExtenderTLSConfig, insecure), false),
        .server_name = slot_text(v, SLOT(ExtenderTLSConfig, serverName)),
        .cert_file = slot_text(v, SLOT(ExtenderTLSConfig, certFile)),
        .key_file = slot_text(v, SLOT(ExtenderTLSConfig, keyFile)),
        .ca_file = slot_text(v, SLOT(ExtenderTLSConfig, caFile)),
        .cert_data = slot_text(v, SLOT(ExtenderTLSConfig, certData)),
        .key_data = slot_text(v, SLOT(ExtenderTLSConfig, keyData)),
        .ca_data = slot_text(v, SLOT(ExtenderTLSConfig, caData)),
    };
    return tls;
}

static const struct managed_resource *read_managed(struct arena *a, const struct value *v, size_t *ret_n)
{
    const struct value *items = slot_items(v, SLOT(Extender, managedResources), ret_n);
    struct managed_resource *managed = ARENA_NEW_N(a, struct managed_resource, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        managed[i] = (struct managed_resource){
            slot_text(&items[i], SLOT(ExtenderManagedResource, name)),
            slot_bool(&items[i], SLOT(ExtenderManagedResource, ignoredByScheduler), false),
        };
    return managed;
}

struct extender_config config_read_extender(struct arena *a, const struct value *v)
{
    struct extender_config x = {
        .url_prefix = slot_text(v, SLOT(Extender, urlPrefix)),
        .filter_verb = slot_text(v, SLOT(Extender, filterVerb)),
        .preempt_verb = slot_text(v, SLOT(Extender, preemptVerb)),
        .prioritize_verb = slot_text(v, SLOT(Extender, prioritizeVerb)),
        .bind_verb = slot_text(v, SLOT(Extender, bindVerb)),
        .weight = slot_int(v, SLOT(Extender, weight), 0),
        .enable_https = slot_bool(v, SLOT(Extender, enableHTTPS), false),
        .node_cache_capable = slot_bool(v, SLOT(Extender, nodeCacheCapable), false),
        .ignorable = slot_bool(v, SLOT(Extender, ignorable), false),
        .tls = read_tls(a, value_slot(v, SLOT(Extender, tlsConfig))),
        .http_timeout_ns = slot_int(v, SLOT(Extender, httpTimeout), 0),
    };
    x.managed_resources = read_managed(a, v, &x.n_managed_resources);
    return x;
}

static void read_extenders(struct arena *a, const struct value *root, struct config *c)
{
    const struct value *items = slot_items(root, SLOT(KubeSchedulerConfiguration, extenders), &c->n_extenders);
    c->extenders = ARENA_NEW_N(a, struct extender_config, c->n_extenders);
    for (size_t i = 0; i < c->n_extenders; i++)
        c->extenders[i] = config_read_extender(a, &items[i]);
}

static int64_t duration_or(const struct value *v, unsigned slot, int64_t zero_ns)
{
    int64_t ns = slot_int(v, slot, 0);
    return ns ? ns : zero_ns;
}

static struct leader_election_config complete_leader_election(const struct value *v)
{
    return (struct leader_election_config){
        .leader_elect = slot_bool(v, COMPONENT_SLOT(LeaderElectionConfiguration, leaderElect), true),
        .lease_duration_ns = duration_or(v, COMPONENT_SLOT(LeaderElectionConfiguration, leaseDuration), 15 * SECOND_NS),
        .renew_deadline_ns = duration_or(v, COMPONENT_SLOT(LeaderElectionConfiguration, renewDeadline), 10 * SECOND_NS),
        .retry_period_ns = duration_or(v, COMPONENT_SLOT(LeaderElectionConfiguration, retryPeriod), 2 * SECOND_NS),
        .resource_lock = text_or(slot_text(v, COMPONENT_SLOT(LeaderElectionConfiguration, resourceLock)), "leases"),
        .resource_name =
            text_or(slot_text(v, COMPONENT_SLOT(LeaderElectionConfiguration, resourceName)), "kube-scheduler"),
        .resource_namespace =
            text_or(slot_text(v, COMPONENT_SLOT(LeaderElectionConfiguration, resourceNamespace)), "kube-system"),
    };
}

static struct client_connection_config complete_client_connection(const struct value *v)
{
    const struct value *qps = value_slot(v, COMPONENT_SLOT(ClientConnectionConfiguration, qps));
    int32_t burst = (int32_t)slot_int(v, COMPONENT_SLOT(ClientConnectionConfiguration, burst), 0);
    bool has_qps = qps->kind == VALUE_DOUBLE && qps->d != 0;
    return (struct client_connection_config){
        .kubeconfig = slot_text(v, COMPONENT_SLOT(ClientConnectionConfiguration, kubeconfig)),
        .accept_content_types = slot_text(v, COMPONENT_SLOT(ClientConnectionConfiguration, acceptContentTypes)),
        .content_type = text_or(slot_text(v, COMPONENT_SLOT(ClientConnectionConfiguration, contentType)),
                                "application/vnd.kubernetes.protobuf"),
        .qps = has_qps ? (float)qps->d : 50,
        .burst = burst ? burst : 100,
    };
}

struct config *complete_config(struct arena *a, const struct value *root, const struct features *f)
{
#define OF_ROOT(field) SLOT(KubeSchedulerConfiguration, field)
    struct config *c = ARENA_NEW(a, struct config);
    c->parallelism = (int32_t)slot_int(root, OF_ROOT(parallelism), 16);
    c->leader_election = complete_leader_election(value_slot(root, OF_ROOT(leaderElection)));
    c->client_connection = complete_client_connection(value_slot(root, OF_ROOT(clientConnection)));
    c->enable_profiling = slot_bool(root, OF_ROOT(enableProfiling), true);
    c->enable_contention_profiling = slot_bool(root, OF_ROOT(enableContentionProfiling), c->enable_profiling);
    c->percentage_of_nodes_to_score = (int32_t)slot_int(root, OF_ROOT(percentageOfNodesToScore), 0);
    c->pod_initial_backoff_s = slot_int(root, OF_ROOT(podInitialBackoffSeconds), 1);
    c->pod_max_backoff_s = slot_int(root, OF_ROOT(podMaxBackoffSeconds), 10);
    c->delay_cache_until_active = slot_bool(root, OF_ROOT(delayCacheUntilActive), false);
    complete_profiles(a, root, f, c);
    read_extenders(a, root, c);
    return c;
#undef OF_ROOT
}
