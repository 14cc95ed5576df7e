/* config/print.c - a completed configuration as JSON and YAML, as upstream's encoder writes it: see config.h.
 *
 * The plain structs go back into generic values, and those through the schema's encoder. */
#include "codec/json.h"
#include "codec/yaml.h"
#include "config/args.h"
#include "config/config.h"
#include "config/points.h"
#include "config/slots.h"

#define TYPE(name) schema_type(STR(CONFIG_API_VERSION "." name))
#define COMPONENT_TYPE(name) schema_type(STR("component/v1alpha1." name))

static void put_text(struct value *v, unsigned slot, struct str text)
{
    v->slots[slot] = value_string(text);
}

static void put_int(struct value *v, unsigned slot, int64_t i)
{
    v->slots[slot] = value_int(i);
}

static void put_bool(struct value *v, unsigned slot, bool b)
{
    v->slots[slot] = value_bool(b);
}

static void put_bytes(struct value *v, unsigned slot, struct str bytes)
{
    if (bytes.n)
        v->slots[slot] = value_bytes(bytes);
}

static struct value leader_election_value(struct arena *a, const struct leader_election_config *l)
{
#define OF(field) COMPONENT_SLOT(LeaderElectionConfiguration, field)
    struct value v = value_struct(a, COMPONENT_TYPE("LeaderElectionConfiguration"));
    put_bool(&v, OF(leaderElect), l->leader_elect);
    put_int(&v, OF(leaseDuration), l->lease_duration_ns);
    put_int(&v, OF(renewDeadline), l->renew_deadline_ns);
    put_int(&v, OF(retryPeriod), l->retry_period_ns);
    put_text(&v, OF(resourceLock), l->resource_lock);
    put_text(&v, OF(resourceName), l->resource_name);
    put_text(&v, OF(resourceNamespace), l->resource_namespace);
    return v;
#undef OF
}

static struct value client_connection_value(struct arena *a, const struct client_connection_config *c)
{
#define OF(field) COMPONENT_SLOT(ClientConnectionConfiguration, field)
    struct value v = value_struct(a, COMPONENT_TYPE("ClientConnectionConfiguration"));
    put_text(&v, OF(kubeconfig), c->kubeconfig);
    put_text(&v, OF(acceptContentTypes), c->accept_content_types);
    put_text(&v, OF(contentType), c->content_type);
    v.slots[OF(qps)] = value_double((double)c->qps);
    put_int(&v, OF(burst), c->burst);
    return v;
#undef OF
}

static struct value refs_value(struct arena *a, plugin_refs refs)
{
    struct value *items = ARENA_NEW_N(a, struct value, refs.n);
    for (size_t i = 0; i < refs.n; i++) {
        items[i] = value_struct(a, TYPE("Plugin"));
        put_text(&items[i], SLOT(Plugin, name), refs.at[i].name);
        put_int(&items[i], SLOT(Plugin, weight), refs.at[i].weight);
    }
    return value_list(items, (uint32_t)refs.n);
}

static struct value plugins_value(struct arena *a, const struct plugin_set *sets)
{
    struct value v = value_struct(a, TYPE("Plugins"));
    for (unsigned i = 0; i < N_SETS; i++) {
        struct value set = value_struct(a, TYPE("PluginSet"));
        set.slots[SLOT(PluginSet, enabled)] = refs_value(a, sets[i].enabled);
        set.slots[SLOT(PluginSet, disabled)] = refs_value(a, sets[i].disabled);
        v.slots[point_names[i].slot] = set;
    }
    return v;
}

/* The arguments as JSON text, with their kind. */
static struct value args_value(struct arena *a, const struct plugin_config *c)
{
    if (!c->kind)
        return c->args;
    const struct type *type = schema_type(str_of(c->kind->type));
    struct value args = value_struct(a, type);
    memcpy(args.slots, c->args.slots, type->n_fields * sizeof(*args.slots));
    put_text(&args, SLOT_KIND, str_of(c->kind->kind));
    put_text(&args, SLOT_API_VERSION, STR(CONFIG_API_VERSION));
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, type, &args);
    struct value raw = value_raw(arena_str(a, strbuf_str(&json)));
    strbuf_fini(&json);
    return raw;
}

static struct value plugin_config_value(struct arena *a, const struct profile_config *p)
{
    struct value *items = ARENA_NEW_N(a, struct value, p->n_plugin_config);
    for (size_t i = 0; i < p->n_plugin_config; i++) {
        items[i] = value_struct(a, TYPE("PluginConfig"));
        put_text(&items[i], SLOT(PluginConfig, name), p->plugin_config[i].name);
        items[i].slots[SLOT(PluginConfig, args)] = args_value(a, &p->plugin_config[i]);
    }
    return value_list(items, (uint32_t)p->n_plugin_config);
}

static struct value profiles_value(struct arena *a, const struct config *c)
{
    struct value *items = ARENA_NEW_N(a, struct value, c->n_profiles);
    for (size_t i = 0; i < c->n_profiles; i++) {
        const struct profile_config *p = &c->profiles[i];
        items[i] = value_struct(a, TYPE("KubeSchedulerProfile"));
        put_text(&items[i], SLOT(KubeSchedulerProfile, schedulerName), p->scheduler_name);
        if (p->has_percentage)
            put_int(&items[i], SLOT(KubeSchedulerProfile, percentageOfNodesToScore), p->percentage_of_nodes_to_score);
        items[i].slots[SLOT(KubeSchedulerProfile, plugins)] = plugins_value(a, p->sets);
        items[i].slots[SLOT(KubeSchedulerProfile, pluginConfig)] = plugin_config_value(a, p);
    }
    return value_list(items, (uint32_t)c->n_profiles);
}

static struct value tls_value(struct arena *a, const struct extender_tls *tls)
{
#define OF(field) SLOT(ExtenderTLSConfig, field)
    struct value v = value_struct(a, TYPE("ExtenderTLSConfig"));
    put_bool(&v, OF(insecure), tls->insecure);
    put_text(&v, OF(serverName), tls->server_name);
    put_text(&v, OF(certFile), tls->cert_file);
    put_text(&v, OF(keyFile), tls->key_file);
    put_text(&v, OF(caFile), tls->ca_file);
    put_bytes(&v, OF(certData), tls->cert_data);
    put_bytes(&v, OF(keyData), tls->key_data);
    put_bytes(&v, OF(caData), tls->ca_data);
    return v;
#undef OF
}

static struct value managed_value(struct arena *a, const struct extender_config *x)
{
    struct value *items = ARENA_NEW_N(a, struct value, x->n_managed_resources);
    for (size_t i = 0; i < x->n_managed_resources; i++) {
        items[i] = value_struct(a, TYPE("ExtenderManagedResource"));
        put_text(&items[i], SLOT(ExtenderManagedResource, name), x->managed_resources[i].name);
        put_bool(&items[i], SLOT(ExtenderManagedResource, ignoredByScheduler),
                 x->managed_resources[i].ignored_by_scheduler);
    }
    return value_list(items, (uint32_t)x->n_managed_resources);
}

static struct value extender_value(struct arena *a, const struct extender_config *x)
{
#define OF(field) SLOT(Extender, field)
    struct value v = value_struct(a, TYPE("Extender"));
    put_text(&v, OF(urlPrefix), x->url_prefix);
    put_text(&v, OF(filterVerb), x->filter_verb);
    put_text(&v, OF(preemptVerb), x->preempt_verb);
    put_text(&v, OF(prioritizeVerb), x->prioritize_verb);
    put_int(&v, OF(weight), x->weight);
    put_text(&v, OF(bindVerb), x->bind_verb);
    put_bool(&v, OF(enableHTTPS), x->enable_https);
    if (x->tls)
        v.slots[OF(tlsConfig)] = tls_value(a, x->tls);
    put_int(&v, OF(httpTimeout), x->http_timeout_ns);
    put_bool(&v, OF(nodeCacheCapable), x->node_cache_capable);
    v.slots[OF(managedResources)] = managed_value(a, x);
    put_bool(&v, OF(ignorable), x->ignorable);
    return v;
#undef OF
}

static struct value extenders_value(struct arena *a, const struct config *c)
{
    struct value *items = ARENA_NEW_N(a, struct value, c->n_extenders);
    for (size_t i = 0; i < c->n_extenders; i++)
        items[i] = extender_value(a, &c->extenders[i]);
    return value_list(items, (uint32_t)c->n_extenders);
}

static struct value config_value(struct arena *a, const struct config *c)
{
#define OF(field) SLOT(KubeSchedulerConfiguration, field)
    struct value v = value_struct(a, TYPE("KubeSchedulerConfiguration"));
    put_text(&v, SLOT_KIND, STR("KubeSchedulerConfiguration"));
    put_text(&v, SLOT_API_VERSION, STR(CONFIG_API_VERSION));
    put_int(&v, OF(parallelism), c->parallelism);
    v.slots[OF(leaderElection)] = leader_election_value(a, &c->leader_election);
    v.slots[OF(clientConnection)] = client_connection_value(a, &c->client_connection);
    put_bool(&v, OF(enableProfiling), c->enable_profiling);
    put_bool(&v, OF(enableContentionProfiling), c->enable_contention_profiling);
    put_int(&v, OF(percentageOfNodesToScore), c->percentage_of_nodes_to_score);
    put_int(&v, OF(podInitialBackoffSeconds), c->pod_initial_backoff_s);
    put_int(&v, OF(podMaxBackoffSeconds), c->pod_max_backoff_s);
    v.slots[OF(profiles)] = profiles_value(a, c);
    v.slots[OF(extenders)] = extenders_value(a, c);
    put_bool(&v, OF(delayCacheUntilActive), c->delay_cache_until_active);
    return v;
#undef OF
}

void config_add_json(struct strbuf *to, const struct config *c)
{
    struct arena scratch;
    arena_init(&scratch);
    struct value v = config_value(&scratch, c);
    json_encode(to, TYPE("KubeSchedulerConfiguration"), &v);
    arena_fini(&scratch);
}

void config_add_yaml(struct strbuf *to, const struct config *c)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    config_add_json(&json, c);
    yaml_from_json(to, strbuf_str(&json));
    strbuf_fini(&json);
}
