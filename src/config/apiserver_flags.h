/* config/apiserver_flags.h - the command line of the API server: kube-apiserver v1.36.4's flags, and a few of berth's
 * own.
 *
 * Names, types, defaults, groups and the texts of refusals are upstream's. Every flag that upstream knows is known, so
 * that any command line of a real cluster or test suite is taken; those that nothing in berth looks at are `idle`, and
 * a server says so when it starts.
 *
 * Thread: one at a time while being parsed, any after. Memory: values borrow from the command line and the arena. */
#pragma once

#include <stddef.h>

#include "config/flag_set.h"
#include "config/scheduler_flags.h"

enum { APISERVER_IDLE_MAX = 104 };

union apiserver_idle_value {
#define X(name, c_type, shown) c_type name;
    FLAG_TYPES(X)
#undef X
};

struct apiserver_flags {
    /* Generic */
    struct ip_addr advertise_address;
    struct flag_strings emulated_version, feature_gates, min_compatibility_version;
    struct str external_hostname;
    double goaway_chance;
    int64_t livez_grace_period_ns, max_mutating_requests_inflight, max_requests_inflight, min_request_timeout,
        request_timeout_ns, shutdown_delay_duration_ns, shutdown_watch_termination_grace_period_ns,
        storage_initialization_timeout_ns;
    /* Etcd */
    bool enable_garbage_collector;
    int64_t etcd_compaction_interval_ns;
    struct str storage_backend, storage_media_type;
    /* Secure serving */
    struct ip_addr bind_address;
    struct str cert_dir, tls_cert_file, tls_min_version, tls_private_key_file;
    bool disable_http2_serving, permit_address_sharing, permit_port_sharing;
    int64_t http2_max_streams_per_connection, secure_port;
    struct flag_strings tls_cipher_suites;
    struct flag_ints tls_curve_preferences;
    struct flag_cert_keys tls_sni_cert_key;
    /* Auditing */
    /* Features */
    bool profiling;
    /* Authentication */
    bool anonymous_auth;
    struct flag_strings api_audiences, requestheader_allowed_names, requestheader_extra_headers_prefix,
        requestheader_group_headers, requestheader_uid_headers, requestheader_username_headers,
        service_account_issuer, service_account_key_file;
    struct str client_ca_file, requestheader_client_ca_file, service_account_jwks_uri, token_auth_file;
    int64_t service_account_max_token_expiration_ns;
    /* Authorization */
    struct flag_strings authorization_mode;
    struct str authorization_policy_file, authorization_webhook_config_file;
    /* API enablement */
    struct flag_pairs runtime_config;
    /* Egress selector */
    /* Admission */
    struct flag_strings admission_control, disable_admission_plugins, enable_admission_plugins;
    /* Metrics */
    struct flag_pairs allow_metric_labels;
    struct str allow_metric_labels_manifest, show_hidden_metrics_for_version;
    struct flag_strings disabled_metrics;
    /* Logs */
    int64_t log_flush_frequency_ns;
    struct flag_quantity log_json_info_buffer_size, log_text_info_buffer_size;
    bool log_json_split_stream, log_text_split_stream;
    struct str logging_format, vmodule;
    int32_t v;
    /* Traces */
    /* Misc */
    bool allow_privileged;
    int64_t apiserver_count, event_ttl_ns, kubernetes_service_node_port;
    struct str endpoint_reconciler_type, service_account_signing_key_file, service_cluster_ip_range;
    struct flag_port_range service_node_port_range;
    /* Global */
    bool help;
    struct str version;
    /* Berth */
    struct flag_strings controllers;
    struct str cluster_signing_cert_file, cluster_signing_key_file;
    int64_t cluster_signing_duration_ns;
    struct flag_strings etcd_servers;
    struct str data_dir, hollow_events, hollow_node_file;
    int64_t hollow_job_duration_ns, hollow_nodes;
    bool memory, relaxed_durability;
    /* Values of flags that nothing looks at, for those who list them. */
    union apiserver_idle_value idle[APISERVER_IDLE_MAX];

    struct flag_given given;
};

extern const struct flag_set apiserver_flag_set;

/* argv[0] is not looked at. */
enum err_code apiserver_flags_parse(struct apiserver_flags *f, struct arena *a, int argc, char *const *argv,
                                    struct err *e) ERR_MUST_CHECK;

/* Whether the command line has the flag: APISERVER_FLAG_GIVEN(f, cert_dir). */
#define APISERVER_FLAG_GIVEN(f, member) apiserver_flags_given((f), offsetof(struct apiserver_flags, member))
bool apiserver_flags_given(const struct apiserver_flags *f, size_t at);

/* What all components have (serving, logs, metrics, versions, gates), in the struct that its checks take. */
void apiserver_flags_shared(const struct apiserver_flags *f, struct arena *a, struct scheduler_flags *ret_shared);

/* What is served as this program's version: Kubernetes', or what --version=vX.Y.Z says. */
struct str apiserver_flags_version(const struct apiserver_flags *f);

/* "Usage:" and all flags. */
void apiserver_flags_add_usage(struct strbuf *b, unsigned columns);
