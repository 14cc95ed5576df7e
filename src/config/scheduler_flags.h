/* config/scheduler_flags.h - the command line of the scheduler: kube-scheduler v1.36.4's flags, and a few of berth's own.
 *
 * Names, types, defaults, groups and the texts of refusals are upstream's; what each flag does is told in its help and in
 * docs/operations.md. How flags and a configuration file come together is scheduler_options.h.
 *
 * Thread: one at a time while being parsed, any after. Memory: values borrow from the command line and the arena. */
#pragma once

#include <stddef.h>

#include "config/flag_set.h"

struct scheduler_flags {
    /* Misc */
    struct str config, master, write_config_to;
    /* Secure serving */
    struct ip_addr bind_address;
    struct str cert_dir;
    bool disable_http2_serving;
    int64_t http2_max_streams_per_connection; /* 0: the server's own limit */
    bool permit_address_sharing, permit_port_sharing;
    int64_t secure_port; /* 0: nothing is served */
    struct str tls_cert_file, tls_private_key_file, tls_min_version;
    struct flag_strings tls_cipher_suites;
    struct flag_ints tls_curve_preferences;
    struct flag_cert_keys tls_sni_cert_key;
    /* Authentication */
    struct str authentication_kubeconfig;
    bool authentication_skip_lookup, authentication_tolerate_lookup_failure;
    int64_t authentication_token_webhook_cache_ttl_ns;
    struct str client_ca_file, requestheader_client_ca_file;
    struct flag_strings requestheader_allowed_names, requestheader_extra_headers_prefix, requestheader_group_headers,
        requestheader_uid_headers, requestheader_username_headers;
    /* Authorization */
    struct flag_strings authorization_always_allow_paths;
    struct str authorization_kubeconfig;
    int64_t authorization_webhook_cache_authorized_ttl_ns, authorization_webhook_cache_unauthorized_ttl_ns;
    /* Deprecated: a file has the same, and then these do not count; but for the last one, which always counts. */
    bool contention_profiling, profiling;
    int32_t kube_api_burst;
    struct str kube_api_content_type, kubeconfig;
    float kube_api_qps;
    int64_t pod_max_in_unschedulable_pods_duration_ns;
    /* Leader election */
    bool leader_elect;
    int64_t leader_elect_lease_duration_ns, leader_elect_renew_deadline_ns, leader_elect_retry_period_ns;
    struct str leader_elect_resource_lock, leader_elect_resource_name, leader_elect_resource_namespace;
    /* Feature gates */
    struct flag_strings emulated_version, feature_gates, min_compatibility_version;
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
    /* Global */
    bool help;
    struct str version; /* false, true, raw, or what is to be reported */
    /* berth's own */
    int64_t decisions; /* that are kept */
    struct str record; /* a file; empty: nothing is recorded */
    struct flag_quantity record_max_bytes;
    bool shadow;
    /* Older worlds (policy_source.h); a file given with --config does not go with them */
    struct str algorithm_provider, compat, policy_config_file;
    bool use_legacy_policy_config;

    struct flag_given given;
};

extern const struct flag_set scheduler_flag_set;

void scheduler_flags_init(struct scheduler_flags *f, struct arena *a);
/* argv[0] is not looked at. */
enum err_code scheduler_flags_parse(struct scheduler_flags *f, struct arena *a, int argc, char *const *argv,
                                    struct err *e) ERR_MUST_CHECK;

/* Whether the command line has the flag: FLAG_GIVEN(f, leader_elect). */
#define FLAG_GIVEN(f, member) scheduler_flags_given((f), offsetof(struct scheduler_flags, member))
bool scheduler_flags_given(const struct scheduler_flags *f, size_t at);

struct flag_text *scheduler_flags_texts(const struct scheduler_flags *f, struct arena *a, size_t *ret_n);

/* What is served as this program's version: Kubernetes', or what --version=vX.Y.Z says. */
struct str scheduler_flags_version(const struct scheduler_flags *f);

/* "Usage:" and all flags. */
void scheduler_flags_add_usage(struct strbuf *b, unsigned columns);
