/* config/shared_flags.h - rows of flags that several components have alike, for the tables of their flag sets.
 *
 * Whoever includes this has ROW, ROW_SHORT and AT, as the tables beside it, and SHARED(member), which says where in its struct
 * the members of struct scheduler_flags are.
 *
 * Thread: any. Memory: constant. */
#pragma once

#include "config/features.h"

#define SECURE_SERVING_ROWS(program, port) \
    ROW(IP, SHARED(bind_address), "bind-address", "0.0.0.0", \
        "Address that the HTTPS port listens on; 0.0.0.0 and :: are all interfaces of both families."), \
    ROW(STRING, SHARED(cert_dir), "cert-dir", NULL, \
        "Where the self-made " program ".crt and " program ".key are kept; without it they stay in memory. Not used " \
        "when certificate and key are given."), \
    ROW(BOOL, SHARED(disable_http2_serving), "disable-http2-serving", NULL, "Serves HTTP/1.1 only. [default=false]"), \
    ROW(INT, SHARED(http2_max_streams_per_connection), "http2-max-streams-per-connection", "0", \
        "How many requests a client may have open on one HTTP/2 connection; 0 leaves it to the server."), \
    ROW(BOOL, SHARED(permit_address_sharing), "permit-address-sharing", NULL, \
        "Listens with SO_REUSEADDR: also while old connections linger or another address of the port is taken. " \
        "[default=false]"), \
    ROW(BOOL, SHARED(permit_port_sharing), "permit-port-sharing", NULL, \
        "Listens with SO_REUSEPORT: several processes may have the same address and port. [default=false]"), \
    ROW(INT, SHARED(secure_port), "secure-port", port, "HTTPS port, with authentication and authorization; 0 serves nothing."), \
    ROW(STRING, SHARED(tls_cert_file), "tls-cert-file", NULL, \
        "Certificate of the HTTPS port, its chain behind it. With neither this nor a key one is made."), \
    ROW(STRINGS, SHARED(tls_cipher_suites), "tls-cipher-suites", NULL, "Cipher suites up to TLS 1.2, by their Go names."), \
    ROW(INT32S, SHARED(tls_curve_preferences), "tls-curve-preferences", NULL, \
        "Key exchanges that are offered, as numbers of TLS groups; their order does not count."), \
    ROW(STRING, SHARED(tls_min_version), "tls-min-version", NULL, \
        "Oldest TLS version that is spoken: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13"), \
    ROW(STRING, SHARED(tls_private_key_file), "tls-private-key-file", NULL, "Private key of --tls-cert-file."), \
    ROW(CERT_KEYS, SHARED(tls_sni_cert_key), "tls-sni-cert-key", NULL, \
        "One more certificate and key, for the names behind the colon or else those in the certificate: " \
        "\"a.crt,a.key\" or \"b.crt,b.key:*.example.com,example.com\". May be given several times.")

#define AUTHENTICATION_ROWS \
    ROW(STRING, SHARED(authentication_kubeconfig), "authentication-kubeconfig", NULL, \
        "kubeconfig with which tokens are reviewed and the cluster's client CAs read. Without it all tokens are anonymous."), \
    ROW(BOOL, SHARED(authentication_skip_lookup), "authentication-skip-lookup", NULL, \
        "Does not read missing settings of authentication from the cluster."), \
    ROW(DURATION, SHARED(authentication_token_webhook_cache_ttl_ns), "authentication-token-webhook-cache-ttl", "10s", \
        "How long the review of a token counts."), \
    ROW(BOOL, SHARED(authentication_tolerate_lookup_failure), "authentication-tolerate-lookup-failure", "true", \
        "Goes on when the cluster's settings cannot be read; requests may then be anonymous."), \
    ROW(STRING, SHARED(client_ca_file), "client-ca-file", NULL, \
        "CAs of client certificates; their CommonName is the user, their Organizations are the groups."), \
    ROW(STRINGS, SHARED(requestheader_allowed_names), "requestheader-allowed-names", NULL, \
        "CommonNames of proxies that may name users in headers; empty: all that --requestheader-client-ca-file verifies."), \
    ROW(STRING, SHARED(requestheader_client_ca_file), "requestheader-client-ca-file", NULL, \
        "CAs of proxies that name users in headers."), \
    ROW(STRINGS, SHARED(requestheader_extra_headers_prefix), "requestheader-extra-headers-prefix", "x-remote-extra-", \
        "How headers begin that a proxy sends for a user's extra fields."), \
    ROW(STRINGS, SHARED(requestheader_group_headers), "requestheader-group-headers", "x-remote-group", \
        "Headers in which a proxy names groups."), \
    ROW(STRINGS, SHARED(requestheader_uid_headers), "requestheader-uid-headers", NULL, \
        "Headers in which a proxy names a user's UID; needs the feature gate RemoteRequestHeaderUID."), \
    ROW(STRINGS, SHARED(requestheader_username_headers), "requestheader-username-headers", "x-remote-user", \
        "Headers in which a proxy names the user.")

#define AUTHORIZATION_ROWS \
    ROW(STRINGS, SHARED(authorization_always_allow_paths), "authorization-always-allow-paths", "/healthz,/readyz,/livez", \
        "Paths that need no permission; one that ends in * stands for all that begin so."), \
    ROW(STRING, SHARED(authorization_kubeconfig), "authorization-kubeconfig", NULL, \
        "kubeconfig with which access is reviewed. Without it only the paths above are open."), \
    ROW(DURATION, SHARED(authorization_webhook_cache_authorized_ttl_ns), "authorization-webhook-cache-authorized-ttl", "10s", \
        "How long a permission counts."), \
    ROW(DURATION, SHARED(authorization_webhook_cache_unauthorized_ttl_ns), "authorization-webhook-cache-unauthorized-ttl", "10s", \
        "How long a refusal counts.")

#define METRICS_ROWS \
    ROW(PAIRS, SHARED(allow_metric_labels), "allow-metric-labels", NULL, \
        "Values that a label may have, others are counted as \"unexpected\": METRIC,LABEL='VALUE,VALUE'."), \
    ROW(STRING, SHARED(allow_metric_labels_manifest), "allow-metric-labels-manifest", NULL, \
        "File with the same, in YAML: \"METRIC,LABEL\": \"VALUE,VALUE\"."), \
    ROW(STRINGS, SHARED(disabled_metrics), "disabled-metrics", NULL, "Full names of metrics that are not served."), \
    ROW(STRING, SHARED(show_hidden_metrics_for_version), "show-hidden-metrics-for-version", NULL, \
        "Shows metrics that are hidden since the version before this one, MAJOR.MINOR.")

#define LEADER_ELECTION_ROWS(lease, what) \
    ROW(BOOL, SHARED(leader_elect), "leader-elect", "true", what), \
    ROW(DURATION, SHARED(leader_elect_lease_duration_ns), "leader-elect-lease-duration", "15s", \
        "How long others wait for a renewal before they take the lease."), \
    ROW(DURATION, SHARED(leader_elect_renew_deadline_ns), "leader-elect-renew-deadline", "10s", \
        "How long the leader tries to renew before it gives up; less than the lease's duration."), \
    ROW(STRING, SHARED(leader_elect_resource_lock), "leader-elect-resource-lock", "leases", \
        "Kind of object that is the lock; there is only 'leases'."), \
    ROW(STRING, SHARED(leader_elect_resource_name), "leader-elect-resource-name", lease, "Name of the lease."), \
    ROW(STRING, SHARED(leader_elect_resource_namespace), "leader-elect-resource-namespace", "kube-system", \
        "Namespace of the lease."), \
    ROW(DURATION, SHARED(leader_elect_retry_period_ns), "leader-elect-retry-period", "2s", \
        "Time between attempts to get or to renew the lease.")

#define EMULATED_VERSION_ROW \
    ROW(STRINGS, SHARED(emulated_version), "emulated-version", NULL, \
        "Takes feature gates as this version of Kubernetes had them, [kube=]MAJOR.MINOR.\n" \
        "Options are: kube=1.33..1.36(default:1.36)")

#define FEATURE_GATES_ROW \
    { .name = "feature-gates", .type = FLAG_MULTIMAP, .at = AT(MULTIMAP, SHARED(feature_gates)), .add_help = gates_add_help, \
      .help = "Switches features: [kube:]NAME=true,OTHER=false. May be given several times. Options are:" }

#define MIN_COMPATIBILITY_VERSION_ROW \
    ROW(STRINGS, SHARED(min_compatibility_version), "min-compatibility-version", NULL, \
        "Oldest version of other components to work with, [kube=]MAJOR.MINOR; not above the emulated one.\n" \
        "Options are: kube=1.33..1.36(default:1.35)")

#define BUFFER_HELP "Bytes (512, 1K, 2Ki, 3M, 4G) that are kept before they are written; 0: none. Needs "
#define SPLIT_HELP "Errors to standard error, the rest to standard output. Needs "
#define ALPHA_LOGS "the feature gate LoggingAlphaOptions."

#define LOGS_ROWS \
    ROW(DURATION, SHARED(log_flush_frequency_ns), "log-flush-frequency", "5s", "How often what is kept is written."), \
    ROW(QUANTITY, SHARED(log_json_info_buffer_size), "log-json-info-buffer-size", "0", "[Alpha] For JSON: " BUFFER_HELP ALPHA_LOGS), \
    ROW(BOOL, SHARED(log_json_split_stream), "log-json-split-stream", NULL, "[Alpha] For JSON: " SPLIT_HELP ALPHA_LOGS), \
    ROW(QUANTITY, SHARED(log_text_info_buffer_size), "log-text-info-buffer-size", "0", "[Alpha] For text: " BUFFER_HELP ALPHA_LOGS), \
    ROW(BOOL, SHARED(log_text_split_stream), "log-text-split-stream", NULL, "[Alpha] For text: " SPLIT_HELP ALPHA_LOGS), \
    ROW(STRING, SHARED(logging_format), "logging-format", "text", \
        "Form of log records: \"json\" (needs the feature gate LoggingBetaOptions), \"text\"."), \
    ROW_SHORT(LEVEL, SHARED(v), 'v', "v", "0", "How much is logged"), \
    ROW(VMODULE, SHARED(vmodule), "vmodule", NULL, "The same for single source files, in text only")

#define GLOBAL_ROWS \
    ROW_SHORT(BOOL, SHARED(help), 'h', "help", NULL, "this text"), \
    ROW(VERSION, SHARED(version), "version", "false", \
        "alone or with raw: prints the version and ends; with vX.Y.Z...: this is reported as the version")
