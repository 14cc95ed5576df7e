/* config/apiserver_flags.c - see apiserver_flags.h: the table of all flags, a group after the other, each by name. */
#include "config/apiserver_flags.h"

#include "config/features.h"

/* Fails to compile when the member is not of the flag's type. */
#define AT(kind, member)                                                                                          \
    (offsetof(struct apiserver_flags, member) +                                                                   \
     0 * sizeof(char[__builtin_types_compatible_p(flag_type_##kind,                                               \
                                                  __typeof__(((struct apiserver_flags *)0)->member)) ? 1 : -1]))
#define PARTS(kind, member, flag_name, default_text) \
    .name = (flag_name), .type = FLAG_##kind, .at = AT(kind, member), .initial = (default_text)
#define ROW(kind, member, flag_name, default_text, help_text) \
    { PARTS(kind, member, flag_name, default_text), .help = (help_text) }
#define ROW_SHORT(kind, member, letter, flag_name, default_text, help_text) \
    { PARTS(kind, member, flag_name, default_text), .help = (help_text), .shorthand = (letter) }
/* Nothing looks at it: its value lies among those of the others of this kind. */
#define IDLE_PARTS(kind, flag_name, default_text)                                                             \
    .name = (flag_name), .type = FLAG_##kind, .initial = (default_text), .idle = true,                        \
    .at = offsetof(struct apiserver_flags, idle) + __COUNTER__ * sizeof(union apiserver_idle_value)
#define IDLE(kind, flag_name, default_text, help_text) \
    { IDLE_PARTS(kind, flag_name, default_text), .help = (help_text) }
/* Nor should anybody use it. */
#define OLD(kind, flag_name, default_text, instead) \
    { IDLE_PARTS(kind, flag_name, default_text), .help = "", .deprecated = (instead) }
/* The same of flags whose values are checked, and then not looked at any more. */
#define IDLE_MEMBER(kind, member, flag_name, default_text, help_text) \
    { PARTS(kind, member, flag_name, default_text), .help = (help_text), .idle = true }
#define OLD_MEMBER(kind, member, flag_name, default_text, instead) \
    { PARTS(kind, member, flag_name, default_text), .help = "", .deprecated = (instead), .idle = true }

static const struct flag generic[] = {
    ROW(IP_OR_NONE, advertise_address, "advertise-address", NULL,
        "Address under which other members of the cluster reach this server; without it --bind-address or, if that "
        "is all interfaces, the one that leads out."),
    IDLE(STRINGS, "cors-allowed-origins", NULL, "Regular expressions of origins that browsers may call from."),
    ROW(STRINGS, emulated_version, "emulated-version", NULL,
        "Takes feature gates as this version of Kubernetes had them, [kube=]MAJOR.MINOR.\nOptions are: "
        "kube=1.33..1.36(default:1.36)"),
    IDLE(BOOL, "emulation-forward-compatible", NULL,
        "Newer versions of APIs are on even below an emulated version."),
    ROW(STRING, external_hostname, "external-hostname", NULL, "Host name for URLs that this server hands out."),
    { .name = "feature-gates", .type = FLAG_MULTIMAP, .at = AT(MULTIMAP, feature_gates), .add_help = gates_add_help,
      .help = "Switches features: [kube:]NAME=true,OTHER=false. May be given several times. Options are:" },
    IDLE_MEMBER(FLOAT64, goaway_chance, "goaway-chance", NULL,
        "Part of HTTP/2 requests, up to 0.02, after which a client is sent to connect anew."),
    IDLE_MEMBER(DURATION, livez_grace_period_ns, "livez-grace-period", NULL,
        "How long after the start /livez does not yet look at what must have been started."),
    ROW(INT, max_mutating_requests_inflight, "max-mutating-requests-inflight", "200",
        "How many requests that change something are served at once; others get 429. 0: no limit."),
    ROW(INT, max_requests_inflight, "max-requests-inflight", "400",
        "How many requests that change nothing are served at once; others get 429. 0: no limit."),
    ROW(STRINGS, min_compatibility_version, "min-compatibility-version", NULL,
        "Oldest version of other components to work with, [kube=]MAJOR.MINOR; not above the emulated one.\nOptions "
        "are: kube=1.33..1.36(default:1.35)"),
    ROW(INT, min_request_timeout, "min-request-timeout", "1800",
        "Seconds that a watch without a time-out lasts at the least; it is ended after up to twice that."),
    ROW(DURATION, request_timeout_ns, "request-timeout", "1m0s",
        "Time after which a request that is not a watch is given up."),
    IDLE(BOOL, "runtime-config-emulation-forward-compatible", NULL,
        "APIs that --runtime-config names are on even below an emulated version."),
    ROW(DURATION, shutdown_delay_duration_ns, "shutdown-delay-duration", NULL,
        "How long requests are still served after a signal to end, while /readyz says no already."),
    IDLE(BOOL, "shutdown-send-retry-after", NULL,
        "While requests are being finished at the end, new ones get 429 and are asked to come again."),
    IDLE_MEMBER(DURATION, shutdown_watch_termination_grace_period_ns, "shutdown-watch-termination-grace-period", NULL,
        "How long watches may take to end when the server does."),
    IDLE_MEMBER(DURATION, storage_initialization_timeout_ns, "storage-initialization-timeout", "1m0s",
        "How long the store may take before the server counts as not ready."),
    IDLE(STRINGS, "strict-transport-security-directives", NULL,
        "Directives of the header Strict-Transport-Security."),
};

static const struct flag etcd[] = {
    OLD(INT, "default-watch-cache-size", "100",
        "watch caches are sized automatically and this flag will be removed in a future version"),
    IDLE(INT, "delete-collection-workers", "1", "How many objects of a collection are deleted at once."),
    ROW(BOOL, enable_garbage_collector, "enable-garbage-collector", "true",
        "Whether dependents go when their owners do."),
    IDLE(STRING, "encryption-provider-config", NULL, "File that says how secrets are encrypted in etcd."),
    IDLE(BOOL, "encryption-provider-config-automatic-reload", NULL, "Reads that file again when it changes."),
    IDLE(STRING, "etcd-cafile", NULL, "Certificate authority of etcd."),
    IDLE(STRING, "etcd-certfile", NULL, "Client certificate for etcd."),
    ROW(DURATION, etcd_compaction_interval_ns, "etcd-compaction-interval", "5m0s",
        "How often the store forgets what changed before the last time it did; 0: only when it remembers too much."),
    IDLE(DURATION, "etcd-count-metric-poll-period", "1m0s", "How often objects in etcd are counted."),
    IDLE(DURATION, "etcd-db-metric-poll-interval", "30s", "How often the size of etcd is asked for."),
    IDLE(DURATION, "etcd-healthcheck-timeout", "2s", "How long etcd may take for a health check."),
    IDLE(STRING, "etcd-keyfile", NULL, "Key of the client certificate for etcd."),
    IDLE(STRING, "etcd-prefix", "/registry", "What all keys in etcd begin with."),
    IDLE(DURATION, "etcd-readycheck-timeout", "2s", "How long etcd may take for a readiness check."),
    IDLE_MEMBER(STRINGS, etcd_servers, "etcd-servers", NULL,
        "Addresses of etcd. berth has a store of its own (--data-dir). It only asks the first one, on this machine, "
        "whether it is berth's place holder for etcd, beside which the store then lies."),
    IDLE(STRINGS, "etcd-servers-overrides", NULL,
        "Other etcd servers for single resources, group/resource#servers."),
    IDLE(INT, "lease-reuse-duration-seconds", "60",
        "How long a lease of etcd is used for further objects that expire."),
    IDLE_MEMBER(STRING, storage_backend, "storage-backend", NULL, "Kind of storage; there is only 'etcd3'."),
    IDLE_MEMBER(STRING, storage_media_type, "storage-media-type", "application/vnd.kubernetes.protobuf",
        "Media type in which objects are stored; berth stores protobuf whatever it is."),
    IDLE(BOOL, "watch-cache", "true", "Keeps recent changes in memory; berth always does."),
    IDLE(STRINGS, "watch-cache-sizes", NULL, "Sizes of these caches by resource, resource[.group]#size."),
};

static const struct flag secure_serving[] = {
    ROW(IP, bind_address, "bind-address", "0.0.0.0",
        "Address that the HTTPS port listens on; 0.0.0.0 and :: are all interfaces of both families."),
    ROW(STRING, cert_dir, "cert-dir", "/var/run/kubernetes",
        "Folder with apiserver.crt and apiserver.key, which are made there when they are missing. Not used when "
        "certificate and key are given. Without this flag they are kept in --data-dir."),
    ROW(BOOL, disable_http2_serving, "disable-http2-serving", NULL, "Serves HTTP/1.1 only. [default=false]"),
    ROW(INT, http2_max_streams_per_connection, "http2-max-streams-per-connection", NULL,
        "How many requests a client may have open on one HTTP/2 connection; 0 leaves it to the server."),
    ROW(BOOL, permit_address_sharing, "permit-address-sharing", NULL,
        "Listens with SO_REUSEADDR: also while old connections linger or another address of the port is taken. "
        "[default=false]"),
    ROW(BOOL, permit_port_sharing, "permit-port-sharing", NULL,
        "Listens with SO_REUSEPORT: several processes may have the same address and port. [default=false]"),
    ROW(INT, secure_port, "secure-port", "6443",
        "HTTPS port, with authentication and authorization; it cannot be turned off."),
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

static const struct flag auditing[] = {
    IDLE(INT, "audit-log-batch-buffer-size", "10000", "Audit events that may wait for the log in batch mode."),
    IDLE(INT, "audit-log-batch-max-size", "1", "Audit events that go to the log together in batch mode."),
    IDLE(DURATION, "audit-log-batch-max-wait", NULL, "How long a batch for the log waits to become full."),
    IDLE(INT, "audit-log-batch-throttle-burst", NULL, "Batches for the log at once."),
    IDLE(BOOL, "audit-log-batch-throttle-enable", NULL, "Whether batches for the log are throttled."),
    IDLE(FLOAT32, "audit-log-batch-throttle-qps", NULL, "Batches for the log a second."),
    IDLE(BOOL, "audit-log-compress", NULL, "Packs audit logs that are full."),
    IDLE(STRING, "audit-log-format", "json", "Form of the audit log: legacy, json."),
    IDLE(INT, "audit-log-maxage", "366", "Days for which old audit logs are kept; 0: for ever."),
    IDLE(INT, "audit-log-maxbackup", "100", "How many old audit logs are kept; 0: all."),
    IDLE(INT, "audit-log-maxsize", "100", "Megabytes after which an audit log is full; 0: never."),
    IDLE(STRING, "audit-log-mode", "blocking",
        "Whether requests wait for the audit log: batch, blocking, blocking-strict."),
    IDLE(STRING, "audit-log-path", NULL, "File of the audit log; '-' is standard output."),
    IDLE(BOOL, "audit-log-truncate-enabled", NULL, "Cuts audit events and batches that are too large."),
    IDLE(INT, "audit-log-truncate-max-batch-size", "10485760", "Bytes of a batch for the log."),
    IDLE(INT, "audit-log-truncate-max-event-size", "102400", "Bytes of an audit event in the log."),
    IDLE(STRING, "audit-log-version", "audit.k8s.io/v1", "API version of audit events in the log."),
    IDLE(STRING, "audit-policy-file", NULL, "File that says what is audited."),
    IDLE(INT, "audit-webhook-batch-buffer-size", "10000",
        "Audit events that may wait for the webhook in batch mode."),
    OLD(DURATION, "audit-webhook-batch-initial-backoff", "10s",
        "Deprecated, use --audit-webhook-initial-backoff instead."),
    IDLE(INT, "audit-webhook-batch-max-size", "400", "Audit events that go to the webhook together in batch mode."),
    IDLE(DURATION, "audit-webhook-batch-max-wait", "30s", "How long a batch for the webhook waits to become full."),
    IDLE(INT, "audit-webhook-batch-throttle-burst", "15", "Batches for the webhook at once."),
    IDLE(BOOL, "audit-webhook-batch-throttle-enable", "true", "Whether batches for the webhook are throttled."),
    IDLE(FLOAT32, "audit-webhook-batch-throttle-qps", "10", "Batches for the webhook a second."),
    IDLE(STRING, "audit-webhook-config-file", NULL, "kubeconfig of the webhook that gets audit events."),
    IDLE(DURATION, "audit-webhook-initial-backoff", "10s", "How long after a failure the webhook is tried again."),
    IDLE(STRING, "audit-webhook-mode", "batch",
        "Whether requests wait for the webhook: batch, blocking, blocking-strict."),
    IDLE(BOOL, "audit-webhook-truncate-enabled", NULL, "Cuts audit events and batches that are too large."),
    IDLE(INT, "audit-webhook-truncate-max-batch-size", "10485760", "Bytes of a batch for the webhook."),
    IDLE(INT, "audit-webhook-truncate-max-event-size", "102400", "Bytes of an audit event for the webhook."),
    IDLE(STRING, "audit-webhook-version", "audit.k8s.io/v1", "API version of audit events for the webhook."),
};

static const struct flag features[] = {
    IDLE(BOOL, "contention-profiling", NULL, "Profiles of waiting for locks."),
    IDLE(STRING, "debug-socket-path", NULL, "Unix socket with profiles and without any protection."),
    IDLE(BOOL, "enable-priority-and-fairness", "true",
        "Queues requests by priority levels; berth has the two limits on requests alone."),
    ROW(BOOL, profiling, "profiling", "true", "Serves /debug/pprof."),
};

static const struct flag authentication[] = {
    ROW(BOOL, anonymous_auth, "anonymous-auth", "true",
        "Requests without credentials are of system:anonymous; otherwise they are refused."),
    ROW(STRINGS, api_audiences, "api-audiences", NULL,
        "For whom tokens of service accounts must be; without it for the issuers."),
    IDLE(STRING, "authentication-config", NULL, "File with structured authentication."),
    IDLE(DURATION, "authentication-token-webhook-cache-ttl", "2m0s",
        "How long the webhook's word about a token counts."),
    IDLE(STRING, "authentication-token-webhook-config-file", NULL, "kubeconfig of the webhook that knows tokens."),
    IDLE(STRING, "authentication-token-webhook-version", "v1beta1", "API version in which that webhook is asked."),
    ROW(STRING, client_ca_file, "client-ca-file", NULL,
        "CAs of client certificates; their CommonName is the user, their Organizations are the groups."),
    IDLE(BOOL, "enable-bootstrap-token-auth", NULL, "Secrets of type bootstrap.kubernetes.io/token let nodes join."),
    IDLE(STRING, "oidc-ca-file", NULL, "CAs of the OpenID server."),
    IDLE(STRING, "oidc-client-id", NULL, "Client ID at the OpenID server."),
    IDLE(STRING, "oidc-groups-claim", NULL, "OpenID claim with the groups."),
    IDLE(STRING, "oidc-groups-prefix", NULL, "What such groups are made to begin with."),
    IDLE(STRING, "oidc-issuer-url", NULL, "Address of the OpenID server, https only."),
    IDLE(MAP, "oidc-required-claim", NULL, "OpenID claim that a token must have, KEY=VALUE."),
    IDLE(STRINGS, "oidc-signing-algs", "RS256", "Signatures of OpenID tokens that are taken."),
    IDLE(STRING, "oidc-username-claim", "sub", "OpenID claim with the user's name."),
    IDLE(STRING, "oidc-username-prefix", NULL, "What such names are made to begin with; '-': nothing."),
    ROW(STRINGS, requestheader_allowed_names, "requestheader-allowed-names", NULL,
        "CommonNames of proxies that may name users in headers; empty: all that --requestheader-client-ca-file "
        "verifies."),
    ROW(STRING, requestheader_client_ca_file, "requestheader-client-ca-file", NULL,
        "CAs of proxies that name users in headers."),
    ROW(STRINGS, requestheader_extra_headers_prefix, "requestheader-extra-headers-prefix", NULL,
        "How headers begin that a proxy sends for a user's extra fields."),
    ROW(STRINGS, requestheader_group_headers, "requestheader-group-headers", NULL,
        "Headers in which a proxy names groups."),
    ROW(STRINGS, requestheader_uid_headers, "requestheader-uid-headers", NULL,
        "Headers in which a proxy names a user's UID."),
    ROW(STRINGS, requestheader_username_headers, "requestheader-username-headers", NULL,
        "Headers in which a proxy names the user."),
    IDLE(BOOL, "service-account-extend-token-expiration", "true",
        "Tokens in pods last longer than they say, for programs that do not read them again."),
    ROW(STRING_ARRAY, service_account_issuer, "service-account-issuer", NULL,
        "Who signs tokens of service accounts; the first one signs, all are believed. May be given several times."),
    ROW(STRING, service_account_jwks_uri, "service-account-jwks-uri", NULL,
        "Where the public keys are, for /.well-known/openid-configuration."),
    ROW(STRING_ARRAY, service_account_key_file, "service-account-key-file", NULL,
        "Keys or certificates that check tokens of service accounts; may be given several times. Without it the "
        "signing key's."),
    IDLE(BOOL, "service-account-lookup", "true",
        "Tokens count only as long as the account exists; berth always looks."),
    ROW(DURATION, service_account_max_token_expiration_ns, "service-account-max-token-expiration", NULL,
        "Longest life of a token; 0: no bound."),
    ROW(STRING, token_auth_file, "token-auth-file", NULL, "CSV file of tokens: token,user,uid,\"group,group\"."),
};

static const struct flag authorization[] = {
    IDLE(STRING, "authorization-config", NULL, "File with a chain of authorizers."),
    ROW(STRINGS, authorization_mode, "authorization-mode", NULL,
        "Authorizers in order: AlwaysAllow, AlwaysDeny, RBAC, Node. Without it AlwaysAllow."),
    IDLE_MEMBER(STRING, authorization_policy_file, "authorization-policy-file", NULL, "Policy of the mode ABAC."),
    IDLE(DURATION, "authorization-webhook-cache-authorized-ttl", "5m0s",
        "How long a permission of the webhook counts."),
    IDLE(DURATION, "authorization-webhook-cache-unauthorized-ttl", "30s",
        "How long a refusal of the webhook counts."),
    IDLE_MEMBER(STRING, authorization_webhook_config_file, "authorization-webhook-config-file", NULL,
        "kubeconfig of the webhook of the mode Webhook."),
    IDLE(STRING, "authorization-webhook-version", "v1beta1", "API version in which that webhook is asked."),
};

static const struct flag api_enablement[] = {
    IDLE_MEMBER(SWITCHES, runtime_config, "runtime-config", NULL,
        "Switches APIs: v1, GROUP/VERSION, api/all, api/ga, api/beta, api/alpha; each =true or =false."),
};

static const struct flag egress_selector[] = {
    IDLE(STRING, "egress-selector-config-file", NULL, "File that says how to reach nodes and webhooks."),
};

static const struct flag admission[] = {
    ROW(STRINGS, admission_control, "admission-control", NULL,
        "DEPRECATED: all plugins that are on, instead of the two flags below."),
    IDLE(STRING, "admission-control-config-file", NULL, "File with settings of admission plugins."),
    IDLE(INT, "default-not-ready-toleration-seconds", "300",
        "How long pods stay on a node that is not ready, unless they say so themselves."),
    IDLE(INT, "default-unreachable-toleration-seconds", "300",
        "How long pods stay on a node that cannot be reached, unless they say so themselves."),
    ROW(STRINGS, disable_admission_plugins, "disable-admission-plugins", NULL, "Admission plugins that are off."),
    ROW(STRINGS, enable_admission_plugins, "enable-admission-plugins", NULL,
        "Admission plugins that are on beside the usual ones."),
};

static const struct flag metrics[] = {
    ROW(PAIRS, allow_metric_labels, "allow-metric-labels", NULL,
        "Values that a label may have, others are counted as \"unexpected\": METRIC,LABEL='VALUE,VALUE'."),
    IDLE_MEMBER(STRING, allow_metric_labels_manifest, "allow-metric-labels-manifest", NULL,
        "File with the same, in YAML: \"METRIC,LABEL\": \"VALUE,VALUE\"."),
    ROW(STRINGS, disabled_metrics, "disabled-metrics", NULL, "Full names of metrics that are not served."),
    IDLE_MEMBER(STRING, show_hidden_metrics_for_version, "show-hidden-metrics-for-version", NULL,
        "Shows metrics that are hidden since the version before this one, MAJOR.MINOR."),
};

static const struct flag logs[] = {
    IDLE_MEMBER(DURATION, log_flush_frequency_ns, "log-flush-frequency", "5s", "How often what is kept is written."),
    IDLE_MEMBER(QUANTITY, log_json_info_buffer_size, "log-json-info-buffer-size", "0",
        "[Alpha] For JSON: bytes (512, 1K, 2Ki, 3M, 4G) that are kept before they are written; 0: none."),
    IDLE_MEMBER(BOOL, log_json_split_stream, "log-json-split-stream", NULL,
        "[Alpha] For JSON: errors to standard error, the rest to standard output."),
    IDLE_MEMBER(QUANTITY, log_text_info_buffer_size, "log-text-info-buffer-size", "0",
        "[Alpha] For text: bytes (512, 1K, 2Ki, 3M, 4G) that are kept before they are written; 0: none."),
    IDLE_MEMBER(BOOL, log_text_split_stream, "log-text-split-stream", NULL,
        "[Alpha] For text: errors to standard error, the rest to standard output."),
    ROW(STRING, logging_format, "logging-format", "text",
        "Form of log records: \"json\" (needs the feature gate LoggingBetaOptions), \"text\"."),
    ROW_SHORT(LEVEL, v, 'v', "v", NULL, "How much is logged"),
    ROW(VMODULE, vmodule, "vmodule", NULL, "The same for single source files, in text only"),
};

static const struct flag traces[] = {
    IDLE(STRING, "tracing-config-file", NULL, "File with settings of tracing."),
};

static const struct flag misc[] = {
    IDLE(BOOL, "aggregator-reject-forwarding-redirect", "true",
        "Redirects of aggregated API servers are not passed on."),
    ROW(BOOL, allow_privileged, "allow-privileged", NULL, "Whether containers may be privileged. [default=false]"),
    OLD_MEMBER(INT, apiserver_count, "apiserver-count", "1",
        "apiserver-count is deprecated and will be removed in a future version."),
    IDLE(DURATION, "coordinated-leadership-lease-duration", "15s", "Life of leases of coordinated leader election."),
    IDLE(DURATION, "coordinated-leadership-renew-deadline", "10s", "Time to renew such a lease."),
    IDLE(DURATION, "coordinated-leadership-retry-period", "2s", "Time between attempts to renew it."),
    IDLE(BOOL, "enable-aggregator-routing", NULL,
        "Reaches aggregated API servers at their endpoints instead of the service's address."),
    IDLE(BOOL, "enable-logs-handler", NULL, "Serves /logs (DEPRECATED)."),
    ROW(STRING, endpoint_reconciler_type, "endpoint-reconciler-type", "lease",
        "Who keeps the endpoints of default/kubernetes: lease, master-count (this server, in berth), none (nobody)."),
    ROW(DURATION, event_ttl_ns, "event-ttl", "1h0m0s", "How long events are kept."),
    IDLE(STRING, "kubelet-certificate-authority", NULL, "CAs of kubelets."),
    IDLE(STRING, "kubelet-client-certificate", NULL, "Client certificate for kubelets."),
    IDLE(STRING, "kubelet-client-key", NULL, "Key of the client certificate for kubelets."),
    OLD(INT, "kubelet-port", "10250", "kubelet-port is deprecated and will be removed."),
    IDLE(STRINGS, "kubelet-preferred-address-types", "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
        "Which addresses of nodes are tried, in this order."),
    OLD(INT, "kubelet-read-only-port", "10255", "kubelet-read-only-port is deprecated and will be removed."),
    IDLE(DURATION, "kubelet-timeout", "5s", "How long a kubelet may take."),
    ROW(INT, kubernetes_service_node_port, "kubernetes-service-node-port", NULL,
        "Node port of default/kubernetes, which then is of type NodePort; 0: none."),
    IDLE(INT, "max-connection-bytes-per-sec", NULL, "Throttles connections of long requests."),
    IDLE(STRING, "peer-advertise-ip", NULL, "Address for other API servers of the cluster."),
    IDLE(STRING, "peer-advertise-port", NULL, "Port for other API servers of the cluster."),
    IDLE(STRING, "peer-ca-file", NULL, "CAs of other API servers of the cluster."),
    IDLE(STRING, "proxy-client-cert-file", NULL, "Client certificate for aggregated API servers and webhooks."),
    IDLE(STRING, "proxy-client-key-file", NULL, "Key of that certificate."),
    IDLE(STRING, "service-account-signing-endpoint", NULL,
        "Socket of somebody else who signs tokens of service accounts."),
    ROW(STRING, service_account_signing_key_file, "service-account-signing-key-file", NULL,
        "Private key that signs tokens of service accounts. Without it one is made and kept in --data-dir."),
    ROW(STRING, service_cluster_ip_range, "service-cluster-ip-range", NULL,
        "Range of cluster IPs of services, ADDRESS/BITS. Without it 10.0.0.0/24."),
    ROW(PORT_RANGE, service_node_port_range, "service-node-port-range", "30000-32767",
        "Node ports of services: FIRST-LAST or FIRST+COUNT."),
};

static const struct flag global[] = {
    ROW_SHORT(BOOL, help, 'h', "help", NULL, "this text"),
    ROW(VERSION, version, "version", NULL,
        "alone or with raw: prints the version and ends; with vX.Y.Z...: this is reported as the version"),
};

static const struct flag berth[] = {
    ROW(STRING, cluster_signing_cert_file, "cluster-signing-cert-file", NULL,
        "Certificate of the authority that signs CertificateSigningRequests for kubernetes.io signers, as kube-controller-manager's. "
        "Without it and --cluster-signing-key-file nothing is signed."),
    ROW(DURATION, cluster_signing_duration_ns, "cluster-signing-duration", "8760h0m0s",
        "How long certificates are good that are signed; requests may ask for less."),
    ROW(STRING, cluster_signing_key_file, "cluster-signing-key-file", NULL, "Key of --cluster-signing-cert-file."),
    ROW(STRINGS, controllers, "controllers", "*",
        "Built-in loops that run: * for all, NAME to add one, -NAME to leave one out, nothing (--controllers=) for "
        "none, as beside a kube-controller-manager. Names are those of kube-controller-manager. Beside berth's place holder "
        "for etcd * is garbage-collector-controller and namespace-controller."),
    ROW(STRING, data_dir, "data-dir", NULL,
        "Folder of the store; made when it is not there. Without it that of berth's place holder for etcd, if one is at "
        "--etcd-servers, otherwise berth/apiserver below the user's state directory, XDG_STATE_HOME or ~/.local/state."),
    ROW(STRING, hollow_events, "hollow-events", "auto",
        "Whether hollow nodes write a kubelet's Events about containers: true, false, or auto, which is up to 100 nodes: three "
        "Events a container are more than half of all writes."),
    ROW(DURATION, hollow_job_duration_ns, "hollow-job-duration", "1s",
        "How long pods of Jobs run on hollow nodes, unless their annotation berth.dev/run-seconds says otherwise."),
    ROW(STRING, hollow_node_file, "hollow-node-file", NULL,
        "File that says which hollow nodes there are: shapes, counts, zones, labels, taints, images, extended resources, CSI drivers."),
    ROW(INT, hollow_nodes, "hollow-nodes", NULL,
        "How many hollow nodes there are, which have heartbeats and run pods without a machine: node-0 and so on, of 4 CPUs, "
        "16Gi and 110 pods, in three zones."),
    ROW(BOOL, memory, "memory", NULL,
        "Keeps everything in memory: nothing is written, and nothing is left when the server ends."),
    ROW(BOOL, relaxed_durability, "relaxed-durability", NULL,
        "Leases and events are answered before they are on disk; a crash may lose the last of them."),
};

#define GROUP(title, flags) { title, flags, sizeof(flags) / sizeof(flags[0]) }

static const struct flag_group groups[] = {
    GROUP("Generic", generic),
    GROUP("Etcd", etcd),
    GROUP("Secure serving", secure_serving),
    GROUP("Auditing", auditing),
    GROUP("Features", features),
    GROUP("Authentication", authentication),
    GROUP("Authorization", authorization),
    GROUP("API enablement", api_enablement),
    GROUP("Egress selector", egress_selector),
    GROUP("Admission", admission),
    GROUP("Metrics", metrics),
    GROUP("Logs", logs),
    GROUP("Traces", traces),
    GROUP("Misc", misc),
    GROUP("Global", global),
    GROUP("Berth", berth),
};

_Static_assert(__COUNTER__ <= APISERVER_IDLE_MAX, "there is room for every idle flag");

const struct flag_set apiserver_flag_set = { groups, sizeof(groups) / sizeof(groups[0]),
                                             sizeof(struct apiserver_flags) };

/* ---- Values ---- */

enum err_code apiserver_flags_parse(struct apiserver_flags *f, struct arena *a, int argc, char *const *argv,
                                    struct err *e)
{
    *f = (struct apiserver_flags){ .version = STR("false") };
    flag_set_init(&apiserver_flag_set, a, f);
    return flag_set_parse(&apiserver_flag_set, a, argc - 1, argv + 1, f, &f->given, e);
}

bool apiserver_flags_given(const struct apiserver_flags *f, size_t at)
{
    return f->given.flags[flag_set_find_offset(&apiserver_flag_set, at)];
}

#define SHARE(member) ret_shared->member = f->member

void apiserver_flags_shared(const struct apiserver_flags *f, struct arena *a, struct scheduler_flags *ret_shared)
{
    scheduler_flags_init(ret_shared, a);
    SHARE(bind_address), SHARE(cert_dir), SHARE(disable_http2_serving), SHARE(http2_max_streams_per_connection);
    SHARE(permit_address_sharing), SHARE(permit_port_sharing), SHARE(secure_port), SHARE(tls_cert_file);
    SHARE(tls_cipher_suites), SHARE(tls_curve_preferences), SHARE(tls_min_version), SHARE(tls_private_key_file);
    SHARE(tls_sni_cert_key), SHARE(requestheader_allowed_names), SHARE(requestheader_client_ca_file);
    SHARE(requestheader_extra_headers_prefix), SHARE(requestheader_group_headers), SHARE(requestheader_uid_headers);
    SHARE(requestheader_username_headers), SHARE(emulated_version), SHARE(feature_gates);
    SHARE(min_compatibility_version), SHARE(allow_metric_labels), SHARE(allow_metric_labels_manifest);
    SHARE(disabled_metrics), SHARE(show_hidden_metrics_for_version), SHARE(log_flush_frequency_ns);
    SHARE(log_json_info_buffer_size), SHARE(log_json_split_stream), SHARE(log_text_info_buffer_size);
    SHARE(log_text_split_stream), SHARE(logging_format), SHARE(v), SHARE(vmodule), SHARE(version);
    size_t labels = flag_set_find_offset(&scheduler_flag_set, offsetof(struct scheduler_flags, allow_metric_labels));
    ret_shared->given.flags[labels] = APISERVER_FLAG_GIVEN(f, allow_metric_labels);
}

struct str apiserver_flags_version(const struct apiserver_flags *f)
{
    return f->version.n && f->version.p[0] == 'v' ? f->version : STR(FLAG_VERSION_DEFAULT);
}

void apiserver_flags_add_usage(struct strbuf *b, unsigned columns)
{
    STRBUF_ADD_LIT(b, "Usage:\n  kube-apiserver [flags]\n");
    flag_set_add_help(b, &apiserver_flag_set, columns);
}
