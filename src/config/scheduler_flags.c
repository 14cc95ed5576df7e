/* config/scheduler_flags.c - see scheduler_flags.h: the table of all flags, a group after the other, each by name. */
#include "config/scheduler_flags.h"

#include "config/features.h"

/* Fails to compile when the member is not of the flag's type. */
#define AT(kind, member)                                                                                          \
    (offsetof(struct scheduler_flags, member) +                                                                   \
     0 * sizeof(char[__builtin_types_compatible_p(flag_type_##kind,                                               \
                                                  __typeof__(((struct scheduler_flags *)0)->member)) ? 1 : -1]))
#define ROW_SHORT(kind, member, letter, flag_name, default_text, help_text)                                       \
    { .name = (flag_name), .shorthand = (letter), .type = FLAG_##kind, .at = AT(kind, member),                    \
      .initial = (default_text), .help = (help_text) }
#define ROW(kind, member, flag_name, default_text, help_text) \
    ROW_SHORT(kind, member, 0, flag_name, default_text, help_text)
#define UNLESS_CONFIG " Without effect beside --config."

static const struct flag misc[] = {
    ROW(STRING, config, "config", NULL, "Configuration file (KubeSchedulerConfiguration, YAML or JSON)."),
    ROW(STRING, master, "master", NULL, "Address of the API server, instead of the one in the kubeconfig."),
    ROW(STRING, write_config_to, "write-config-to", NULL, "Writes the completed configuration to this file and ends."),
};

static const struct flag secure_serving[] = {
    ROW(IP, bind_address, "bind-address", "0.0.0.0",
        "Address that the HTTPS port listens on; 0.0.0.0 and :: are all interfaces of both families."),
    ROW(STRING, cert_dir, "cert-dir", NULL,
        "Where the self-made kube-scheduler.crt and kube-scheduler.key are kept; without it they stay in memory. Not used "
        "when certificate and key are given."),
    ROW(BOOL, disable_http2_serving, "disable-http2-serving", NULL, "Serves HTTP/1.1 only. [default=false]"),
    ROW(INT, http2_max_streams_per_connection, "http2-max-streams-per-connection", "0",
        "How many requests a client may have open on one HTTP/2 connection; 0 leaves it to the server."),
    ROW(BOOL, permit_address_sharing, "permit-address-sharing", NULL,
        "Listens with SO_REUSEADDR: also while old connections linger or another address of the port is taken. "
        "[default=false]"),
    ROW(BOOL, permit_port_sharing, "permit-port-sharing", NULL,
        "Listens with SO_REUSEPORT: several processes may have the same address and port. [default=false]"),
    ROW(INT, secure_port, "secure-port", "10259", "HTTPS port, with authentication and authorization; 0 serves nothing."),
    ROW(STRING, tls_cert_file, "tls-cert-file", NULL,
        "Certificate of the HTTPS port, its chain behind it. With neither this nor a key one is made."),
    ROW(STRINGS, tls_cipher_suites, "tls-cipher-suites", NULL, "Cipher suites up to TLS 1.2, by their Go names."),
    ROW(INT32S, tls_curve_preferences, "tls-curve-preferences", NULL,
        "Key exchanges that are offered, as numbers of TLS groups; their order does not count."),
    ROW(STRING, tls_min_version, "tls-min-version", NULL,
        "Oldest TLS version that is spoken: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13"),
    ROW(STRING, tls_private_key_file, "tls-private-key-file", NULL, "Private key of --tls-cert-file."),
    ROW(CERT_KEYS, tls_sni_cert_key, "tls-sni-cert-key", NULL,
        "One more certificate and key, for the names behind the colon or else those in the certificate: "
        "\"a.crt,a.key\" or \"b.crt,b.key:*.example.com,example.com\". May be given several times."),
};

static const struct flag authentication[] = {
    ROW(STRING, authentication_kubeconfig, "authentication-kubeconfig", NULL,
        "kubeconfig with which tokens are reviewed and the cluster's client CAs read. Without it all tokens are anonymous."),
    ROW(BOOL, authentication_skip_lookup, "authentication-skip-lookup", NULL,
        "Does not read missing settings of authentication from the cluster."),
    ROW(DURATION, authentication_token_webhook_cache_ttl_ns, "authentication-token-webhook-cache-ttl", "10s",
        "How long the review of a token counts."),
    ROW(BOOL, authentication_tolerate_lookup_failure, "authentication-tolerate-lookup-failure", "true",
        "Goes on when the cluster's settings cannot be read; requests may then be anonymous."),
    ROW(STRING, client_ca_file, "client-ca-file", NULL,
        "CAs of client certificates; their CommonName is the user, their Organizations are the groups."),
    ROW(STRINGS, requestheader_allowed_names, "requestheader-allowed-names", NULL,
        "CommonNames of proxies that may name users in headers; empty: all that --requestheader-client-ca-file verifies."),
    ROW(STRING, requestheader_client_ca_file, "requestheader-client-ca-file", NULL,
        "CAs of proxies that name users in headers."),
    ROW(STRINGS, requestheader_extra_headers_prefix, "requestheader-extra-headers-prefix", "x-remote-extra-",
        "How headers begin that a proxy sends for a user's extra fields."),
    ROW(STRINGS, requestheader_group_headers, "requestheader-group-headers", "x-remote-group",
        "Headers in which a proxy names groups."),
    ROW(STRINGS, requestheader_uid_headers, "requestheader-uid-headers", NULL,
        "Headers in which a proxy names a user's UID; needs the feature gate RemoteRequestHeaderUID."),
    ROW(STRINGS, requestheader_username_headers, "requestheader-username-headers", "x-remote-user",
        "Headers in which a proxy names the user."),
};

static const struct flag authorization[] = {
    ROW(STRINGS, authorization_always_allow_paths, "authorization-always-allow-paths", "/healthz,/readyz,/livez",
        "Paths that need no permission; one that ends in * stands for all that begin so."),
    ROW(STRING, authorization_kubeconfig, "authorization-kubeconfig", NULL,
        "kubeconfig with which access is reviewed. Without it only the paths above are open."),
    ROW(DURATION, authorization_webhook_cache_authorized_ttl_ns, "authorization-webhook-cache-authorized-ttl", "10s",
        "How long a permission counts."),
    ROW(DURATION, authorization_webhook_cache_unauthorized_ttl_ns, "authorization-webhook-cache-unauthorized-ttl", "10s",
        "How long a refusal counts."),
};

static const struct flag deprecated[] = {
    ROW(BOOL, contention_profiling, "contention-profiling", "true",
        "DEPRECATED: profiles of waiting for locks." UNLESS_CONFIG),
    ROW(INT32, kube_api_burst, "kube-api-burst", "100", "DEPRECATED: requests to the API server at once." UNLESS_CONFIG),
    ROW(STRING, kube_api_content_type, "kube-api-content-type", "application/vnd.kubernetes.protobuf",
        "DEPRECATED: media type of what is sent to the API server." UNLESS_CONFIG),
    ROW(FLOAT32, kube_api_qps, "kube-api-qps", "50", "DEPRECATED: requests to the API server a second." UNLESS_CONFIG),
    ROW(STRING, kubeconfig, "kubeconfig", NULL, "DEPRECATED: kubeconfig of the API server." UNLESS_CONFIG),
    ROW(DURATION, pod_max_in_unschedulable_pods_duration_ns, "pod-max-in-unschedulable-pods-duration", "5m0s",
        "DEPRECATED: how long a pod that fits nowhere waits for something to change before it is tried again."),
    ROW(BOOL, profiling, "profiling", "true", "DEPRECATED: serves /debug/pprof and /debug/flags." UNLESS_CONFIG),
};

static const struct flag leader_election[] = {
    ROW(BOOL, leader_elect, "leader-elect", "true", "Schedules only while it holds the lease, so that several can run."),
    ROW(DURATION, leader_elect_lease_duration_ns, "leader-elect-lease-duration", "15s",
        "How long others wait for a renewal before they take the lease."),
    ROW(DURATION, leader_elect_renew_deadline_ns, "leader-elect-renew-deadline", "10s",
        "How long the leader tries to renew before it gives up; less than the lease's duration."),
    ROW(STRING, leader_elect_resource_lock, "leader-elect-resource-lock", "leases",
        "Kind of object that is the lock; there is only 'leases'."),
    ROW(STRING, leader_elect_resource_name, "leader-elect-resource-name", "kube-scheduler", "Name of the lease."),
    ROW(STRING, leader_elect_resource_namespace, "leader-elect-resource-namespace", "kube-system",
        "Namespace of the lease."),
    ROW(DURATION, leader_elect_retry_period_ns, "leader-elect-retry-period", "2s",
        "Time between attempts to get or to renew the lease."),
};

static const struct flag feature_gate[] = {
    ROW(STRINGS, emulated_version, "emulated-version", NULL,
        "Takes feature gates as this version of Kubernetes had them, [kube=]MAJOR.MINOR.\n"
        "Options are: kube=1.33..1.36(default:1.36)"),
    { .name = "feature-gates", .type = FLAG_MULTIMAP, .at = AT(MULTIMAP, feature_gates), .add_help = gates_add_help,
      .help = "Switches features: [kube:]NAME=true,OTHER=false. May be given several times. Options are:" },
    ROW(STRINGS, min_compatibility_version, "min-compatibility-version", NULL,
        "Oldest version of other components to work with, [kube=]MAJOR.MINOR; not above the emulated one.\n"
        "Options are: kube=1.33..1.36(default:1.35)"),
};

static const struct flag metrics[] = {
    ROW(PAIRS, allow_metric_labels, "allow-metric-labels", NULL,
        "Values that a label may have, others are counted as \"unexpected\": METRIC,LABEL='VALUE,VALUE'."),
    ROW(STRING, allow_metric_labels_manifest, "allow-metric-labels-manifest", NULL,
        "File with the same, in YAML: \"METRIC,LABEL\": \"VALUE,VALUE\"."),
    ROW(STRINGS, disabled_metrics, "disabled-metrics", NULL, "Full names of metrics that are not served."),
    ROW(STRING, show_hidden_metrics_for_version, "show-hidden-metrics-for-version", NULL,
        "Shows metrics that are hidden since the version before this one, MAJOR.MINOR."),
};

#define BUFFER_HELP "Bytes (512, 1K, 2Ki, 3M, 4G) that are kept before they are written; 0: none. Needs "
#define SPLIT_HELP "Errors to standard error, the rest to standard output. Needs "
#define ALPHA_LOGS "the feature gate LoggingAlphaOptions."

static const struct flag logs[] = {
    ROW(DURATION, log_flush_frequency_ns, "log-flush-frequency", "5s", "How often what is kept is written."),
    ROW(QUANTITY, log_json_info_buffer_size, "log-json-info-buffer-size", "0", "[Alpha] For JSON: " BUFFER_HELP ALPHA_LOGS),
    ROW(BOOL, log_json_split_stream, "log-json-split-stream", NULL, "[Alpha] For JSON: " SPLIT_HELP ALPHA_LOGS),
    ROW(QUANTITY, log_text_info_buffer_size, "log-text-info-buffer-size", "0", "[Alpha] For text: " BUFFER_HELP ALPHA_LOGS),
    ROW(BOOL, log_text_split_stream, "log-text-split-stream", NULL, "[Alpha] For text: " SPLIT_HELP ALPHA_LOGS),
    ROW(STRING, logging_format, "logging-format", "text",
        "Form of log records: \"json\" (needs the feature gate LoggingBetaOptions), \"text\"."),
    ROW_SHORT(LEVEL, v, 'v', "v", "0", "How much is logged"),
    ROW(VMODULE, vmodule, "vmodule", NULL, "The same for single source files, in text only"),
};

static const struct flag global[] = {
    ROW_SHORT(BOOL, help, 'h', "help", NULL, "this text"),
    ROW(VERSION, version, "version", "false",
        "alone or with raw: prints the version and ends; with vX.Y.Z...: this is reported as the version"),
};

static const struct flag berth[] = {
    ROW(STRING, algorithm_provider, "algorithm-provider", NULL,
        "DefaultProvider or ClusterAutoscalerProvider: the plugins of releases before v1.22, instead of a configuration."),
    ROW(STRING, compat, "compat", "v1.36", "Release whose scheduler this is: v1.0, v1.3, v1.11, v1.15, v1.20 or v1.36."),
    ROW(INT, decisions, "decisions", "10000", "How many of the last decisions are kept to be asked about."),
    ROW(STRING, policy_config_file, "policy-config-file", NULL,
        "Policy of releases before v1.23, JSON or YAML, instead of a configuration."),
    ROW(STRING, record, "record", NULL, "Records all that comes in and goes out to this file, to be replayed."),
    ROW(QUANTITY, record_max_bytes, "record-max-bytes", "1Gi",
        "Size at which the file of --record is begun anew; the one before it is kept."),
    ROW(BOOL, shadow, "shadow", NULL, "Decides about all pods and writes nothing, beside another scheduler."),
    ROW(BOOL, use_legacy_policy_config, "use-legacy-policy-config", NULL, "Uses --policy-config-file."),
};

#define GROUP(name, flags) { name, flags, sizeof(flags) / sizeof(flags[0]) }

static const struct flag_group groups[] = {
    GROUP("Misc", misc),
    GROUP("Secure serving", secure_serving),
    GROUP("Authentication", authentication),
    GROUP("Authorization", authorization),
    GROUP("Deprecated", deprecated),
    GROUP("Leader election", leader_election),
    GROUP("Feature gate", feature_gate),
    GROUP("Metrics", metrics),
    GROUP("Logs", logs),
    GROUP("Global", global),
    GROUP("Berth", berth),
};

const struct flag_set scheduler_flag_set = { groups, sizeof(groups) / sizeof(groups[0]), sizeof(struct scheduler_flags) };

/* ---- Values ---- */

void scheduler_flags_init(struct scheduler_flags *f, struct arena *a)
{
    *f = (struct scheduler_flags){ .version = STR("false") };
    flag_set_init(&scheduler_flag_set, a, f);
}

enum err_code scheduler_flags_parse(struct scheduler_flags *f, struct arena *a, int argc, char *const *argv,
                                    struct err *e)
{
    scheduler_flags_init(f, a);
    return flag_set_parse(&scheduler_flag_set, a, argc - 1, argv + 1, f, &f->given, e);
}

bool scheduler_flags_given(const struct scheduler_flags *f, size_t at)
{
    return f->given.flags[flag_set_find_offset(&scheduler_flag_set, at)];
}

struct flag_text *scheduler_flags_texts(const struct scheduler_flags *f, struct arena *a, size_t *ret_n)
{
    return flag_set_texts(&scheduler_flag_set, f, a, ret_n);
}

struct str scheduler_flags_version(const struct scheduler_flags *f)
{
    return f->version.n && f->version.p[0] == 'v' ? f->version : STR(FLAG_VERSION_DEFAULT);
}

void scheduler_flags_add_usage(struct strbuf *b, unsigned columns)
{
    STRBUF_ADD_LIT(b, "Usage:\n  kube-scheduler [flags]\n");
    flag_set_add_help(b, &scheduler_flag_set, columns);
}
