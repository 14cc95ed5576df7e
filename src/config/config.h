/* config/config.h - the scheduler's configuration: KubeSchedulerConfiguration of
 * kubescheduler.config.k8s.io/v1.
 *
 * A configuration is read from YAML or JSON (strictly), completed with defaults and the default
 * plugins, and then validated; expand.h turns its profiles into what the scheduler runs. Members have
 * upstream's names, defaults and meaning; the texts of refusals are upstream's.
 *
 * A file may hold a second YAML document of berth's own, BerthConfiguration of berth.dev/v1alpha1.
 * Documents of other kinds behind the first are passed over, as upstream does.
 *
 * Memory: all of it lies in the arena that it was loaded into. Thread: one at a time while being changed. */
#pragma once

#include "api/value.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "sched/plugin.h"

enum {
    CONFIG_BYTES_MAX = 4 << 20, /* of a file */
    CONFIG_JSON_BYTES_MAX = 64 << 20, /* what its aliases may expand to */
    CONFIG_ITEMS_MAX = 1000,    /* of any list in it */
};

#define CONFIG_API_VERSION "kubescheduler.config.k8s.io/v1"

struct plugin_ref {
    struct str name;
    int32_t weight; /* 0: not given */
};

typedef struct {
    const struct plugin_ref *at;
    size_t n;
} plugin_refs;

/* Of one extension point. A disabled "*" stands for all default plugins. */
struct plugin_set {
    plugin_refs enabled, disabled;
};

/* Sets of a profile: by enum extension_point, and one for all points at once. */
enum { SET_MULTI_POINT = N_POINTS, N_SETS };

struct plugin_config {
    struct str name;              /* of the plugin */
    const struct args_kind *kind; /* args.h; NULL: berth knows no arguments of this plugin */
    struct value args;            /* completed; without kind: RAW as given, or absent */
};

struct profile_config {
    struct str scheduler_name;
    bool has_percentage;
    int32_t percentage_of_nodes_to_score;
    struct plugin_set sets[N_SETS];
    struct plugin_config *plugin_config;
    size_t n_plugin_config;
    bool runs_all_filters; /* a node that one filter refused is shown to the others too: Policy files can ask for it */
};

struct managed_resource {
    struct str name;
    bool ignored_by_scheduler;
};

struct extender_tls {
    bool insecure;
    struct str server_name, cert_file, key_file, ca_file;
    struct str cert_data, key_data, ca_data; /* PEM */
};

struct extender_config {
    struct str url_prefix, filter_verb, preempt_verb, prioritize_verb, bind_verb;
    int64_t weight;
    bool enable_https, node_cache_capable, ignorable;
    const struct extender_tls *tls; /* NULL: none */
    int64_t http_timeout_ns;        /* 0 until config_apply_extenders */
    const struct managed_resource *managed_resources;
    size_t n_managed_resources;
};

struct leader_election_config {
    bool leader_elect;
    int64_t lease_duration_ns, renew_deadline_ns, retry_period_ns;
    struct str resource_lock, resource_name, resource_namespace;
};

struct client_connection_config {
    struct str kubeconfig, accept_content_types, content_type;
    float qps;
    int32_t burst;
};

struct berth_config {
    const struct str *plugin_libraries; /* paths of shared objects */
    size_t n_plugin_libraries;
};

struct config {
    int32_t parallelism;
    struct leader_election_config leader_election;
    struct client_connection_config client_connection;
    bool enable_profiling, enable_contention_profiling, delay_cache_until_active;
    int32_t percentage_of_nodes_to_score; /* 0: by the number of nodes */
    int64_t pod_initial_backoff_s, pod_max_backoff_s;
    struct profile_config *profiles;
    size_t n_profiles;
    struct extender_config *extenders;
    size_t n_extenders;
    struct berth_config berth;
    /* Of an older world (policy.h), all NULL otherwise: */
    const struct era *era;                /* sched/era.h: the rules of the engine */
    const struct plugin *const *registry; /* the plugins there are */
    const char *origin;                   /* what a refusal to build the profiles begins with */
};

/* What a scheduler without a file runs with. */
struct config *config_default(struct arena *a, const struct features *f);
/* Reads and completes; does not validate. `text` need not live on. */
enum err_code config_load(struct arena *a, struct str text, const struct features *f, struct config **ret_config,
                          struct err *e) ERR_MUST_CHECK;
/* All bytes of a file. */
enum err_code config_read_file(struct arena *a, const char *path, struct str *ret_text, struct err *e) ERR_MUST_CHECK;
enum err_code config_load_file(struct arena *a, const char *path, const struct features *f, struct config **ret_config,
                               struct err *e) ERR_MUST_CHECK;

/* All that is wrong, in one message. */
enum err_code config_validate(const struct config *c, const struct features *f, struct err *e) ERR_MUST_CHECK;

/* A copy that the two functions below may change; its texts are shared. */
struct config *config_copy(struct arena *a, const struct config *c);

/* What extenders change in the rest: timeouts that are not given become 5 s, and resources that an
 * extender manages alone take the place of NodeResourcesFit's ignoredResources. */
enum err_code config_apply_extenders(struct arena *a, struct config *c, struct err *e) ERR_MUST_CHECK;
/* The extenders in the order in which they are asked: ignorable ones come last. An array of n_extenders. */
const struct extender_config **config_extender_order(struct arena *a, const struct config *c);

/* Leaves in every profile only the arguments of plugins that it enables and that the registry (ends
 * with NULL) has, by name: how the running configuration is shown. */
void config_trim_args(struct arena *a, struct config *c, const struct plugin *const *registry);
/* As /configz shows it, and as --write-config-to writes it. */
void config_add_json(struct strbuf *to, const struct config *c);
void config_add_yaml(struct strbuf *to, const struct config *c);
