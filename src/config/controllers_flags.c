/* config/controllers_flags.c - see controllers_flags.h: the table of all flags, a group after the other, each by name. */
#include "config/controllers_flags.h"

#include "config/shared_flags.h"

/* Fails to compile when the member is not of the flag's type. */
#define AT(kind, member)                                                                                          \
    (offsetof(struct controllers_flags, member) +                                                                 \
     0 * sizeof(char[__builtin_types_compatible_p(flag_type_##kind,                                               \
                                                  __typeof__(((struct controllers_flags *)0)->member)) ? 1 : -1]))
#define PARTS(kind, member, flag_name, default_text) \
    .name = (flag_name), .type = FLAG_##kind, .at = AT(kind, member), .initial = (default_text)
#define ROW(kind, member, flag_name, default_text, help_text) \
    { PARTS(kind, member, flag_name, default_text), .help = (help_text) }
#define ROW_SHORT(kind, member, letter, flag_name, default_text, help_text) \
    { PARTS(kind, member, flag_name, default_text), .help = (help_text), .shorthand = (letter) }
#define SHARED(member) shared.member
/* Nothing looks at it: its value lies among those of the others of this kind. */
#define IDLE(kind, flag_name, default_text, help_text)                                                        \
    { .name = (flag_name), .type = FLAG_##kind, .initial = (default_text), .idle = true, .help = (help_text), \
      .at = offsetof(struct controllers_flags, idle) + __COUNTER__ * sizeof(union controllers_idle_value) }

/* All that upstream has. */
static const char *const known_controllers[] = {
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "cloud-node-lifecycle-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "device-taint-eviction-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "horizontal-pod-autoscaler-controller",
    "job-controller",
    "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "namespace-controller",
    "node-ipam-controller",
    "node-lifecycle-controller",
    "node-route-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-expander-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "podcertificaterequest-cleaner-controller",
    "podgroup-protection-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourceclaim-controller",
    "resourcepoolstatusrequest-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "selinux-warning-controller",
    "service-cidr-controller",
    "service-lb-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "storage-version-migrator-controller",
    "storageversion-garbage-collector-controller",
    "taint-eviction-controller",
    "token-cleaner-controller",
    "ttl-after-finished-controller",
    "ttl-controller",
    "validatingadmissionpolicy-status-controller",
    "volumeattributesclass-protection-controller",
    NULL,
};

static void add_controllers(struct strbuf *b)
{
    STRBUF_ADD_LIT(b, "\nAll controllers: ");
    for (const char *const *k = known_controllers; *k; k++)
        strbuf_printf(b, "%s%s", k == known_controllers ? "" : ", ", *k);
    STRBUF_ADD_LIT(b, "\nThose that berth lacks are known, and without effect.");
}

static const struct flag debugging[] = {
    ROW(BOOL, SHARED(contention_profiling), "contention-profiling", NULL, "Profiles of waiting for locks."),
    ROW(BOOL, SHARED(profiling), "profiling", "true", "Serves /debug/pprof and /debug/flags."),
};

static const struct flag leader_migration[] = {
    IDLE(BOOL, "enable-leader-migration", NULL, "Moves controllers between managers with leases of their own."),
    IDLE(STRING, "leader-migration-config", NULL, "File that says which controllers move, and where."),
};

static const struct flag generic[] = {
    IDLE(BOOL, "allocate-node-cidrs", NULL, "Gives each node a range of addresses for its pods."),
    IDLE(STRING, "cidr-allocator-type", "RangeAllocator", "Who gives out these ranges."),
    IDLE(STRING, "cloud-config", NULL, "Configuration file of the cloud provider."),
    IDLE(STRING, "cloud-provider", NULL, "Name of the cloud provider."),
    IDLE(STRING, "cluster-cidr", NULL, "Range of addresses of all pods; with --allocate-node-cidrs only."),
    IDLE(STRING, "cluster-name", "kubernetes", "What names of things in a cloud begin with."),
    IDLE(BOOL, "configure-cloud-routes", "true", "Makes routes in the cloud for the ranges of nodes."),
    IDLE(DURATION, "controller-shutdown-timeout", "10s", "How long controllers may take to end."),
    IDLE(DURATION, "controller-start-interval", NULL, "Time between the starts of two controllers."),
    { PARTS(STRINGS, controllers, "controllers", "*"), .add_help = add_controllers,
      .help = "Controllers that run: '*' all that are on by default, 'foo' the one named 'foo', '-foo' not the one named 'foo'." },
    EMULATED_VERSION_ROW,
    IDLE(STRING, "external-cloud-volume-plugin", NULL, "Volume plugin of an external cloud provider."),
    FEATURE_GATES_ROW,
    ROW(INT32, SHARED(kube_api_burst), "kube-api-burst", "30",
        "Requests to the API server at once, for each controller."),
    IDLE(STRING, "kube-api-content-type", "application/vnd.kubernetes.protobuf",
        "Media type of what is sent to the API server; berth sends JSON whatever it is."),
    ROW(FLOAT32, SHARED(kube_api_qps), "kube-api-qps", "20",
        "Requests to the API server a second, for each controller; 0: no limit."),
    LEADER_ELECTION_ROWS("kube-controller-manager",
                         "Runs controllers only while it holds the lease, so that several can wait for it."),
    MIN_COMPATIBILITY_VERSION_ROW,
    IDLE(DURATION, "min-resync-period", "12h0m0s",
        "How often everything is looked at again; by chance up to twice as long. berth looks at what changes."),
    IDLE(DURATION, "node-monitor-period", "5s", "How often the health of nodes is looked at."),
    IDLE(DURATION, "route-reconciliation-period", "10s", "How often routes in the cloud are looked at."),
    ROW(BOOL, use_service_account_credentials, "use-service-account-credentials", NULL,
        "Each controller writes as its own service account, with a token that it asks for."),
};

static const struct flag service_lb_controller[] = {
    IDLE(INT32, "concurrent-service-syncs", "1", "How many are worked on at once: service."),
};

static const struct flag secure_serving[] = { SECURE_SERVING_ROWS("kube-controller-manager", "10257") };

static const struct flag authentication[] = { AUTHENTICATION_ROWS };

static const struct flag authorization[] = { AUTHORIZATION_ROWS };

static const struct flag persistentvolume_attach_detach_controller[] = {
    IDLE(DURATION, "attach-detach-reconcile-sync-period", "1m0s",
        "How often attached volumes are compared with what should be."),
    IDLE(BOOL, "disable-attach-detach-reconcile-sync", NULL, "Does not compare them."),
    IDLE(BOOL, "disable-force-detach-on-timeout", NULL, "Never detaches a volume by force."),
};

static const struct flag certificatesigningrequest_signing_controller[] = {
    IDLE(STRING, "cluster-signing-cert-file", NULL, "Certificate of the CA that signs requests."),
    IDLE(DURATION, "cluster-signing-duration", "8760h0m0s", "How long signed certificates are good at the most."),
    IDLE(STRING, "cluster-signing-key-file", NULL, "Its private key."),
    IDLE(STRING, "cluster-signing-kube-apiserver-client-cert-file", NULL,
        "Certificate of the CA for the signer kubernetes.io/kube-apiserver-client."),
    IDLE(STRING, "cluster-signing-kube-apiserver-client-key-file", NULL,
        "Private key of the CA for the signer kubernetes.io/kube-apiserver-client."),
    IDLE(STRING, "cluster-signing-kubelet-client-cert-file", NULL,
        "Certificate of the CA for the signer kubernetes.io/kubelet-client."),
    IDLE(STRING, "cluster-signing-kubelet-client-key-file", NULL,
        "Private key of the CA for the signer kubernetes.io/kubelet-client."),
    IDLE(STRING, "cluster-signing-kubelet-serving-cert-file", NULL,
        "Certificate of the CA for the signer kubernetes.io/kubelet-serving."),
    IDLE(STRING, "cluster-signing-kubelet-serving-key-file", NULL,
        "Private key of the CA for the signer kubernetes.io/kubelet-serving."),
    IDLE(STRING, "cluster-signing-legacy-unknown-cert-file", NULL,
        "Certificate of the CA for the signer kubernetes.io/legacy-unknown."),
    IDLE(STRING, "cluster-signing-legacy-unknown-key-file", NULL,
        "Private key of the CA for the signer kubernetes.io/legacy-unknown."),
};

static const struct flag deployment_controller[] = {
    IDLE(INT32, "concurrent-deployment-syncs", "5", "How many are worked on at once: deployment."),
};

static const struct flag device_taint_eviction_controller[] = {
    IDLE(INT32, "concurrent-device-taint-eviction-syncs", "8",
        "How many are worked on at once: device-taint-eviction."),
};

static const struct flag resourceclaim_controller[] = {
    IDLE(INT32, "concurrent-resourceclaim-syncs", "50", "How many are worked on at once: resourceclaim."),
};

static const struct flag statefulset_controller[] = {
    IDLE(INT32, "concurrent-statefulset-syncs", "5", "How many are worked on at once: statefulset."),
};

static const struct flag daemonset_controller[] = {
    IDLE(INT32, "concurrent-daemonset-syncs", "2", "How many are worked on at once: daemonset."),
};

static const struct flag endpoints_controller[] = {
    IDLE(INT32, "concurrent-endpoint-syncs", "5", "How many are worked on at once: endpoint."),
    IDLE(DURATION, "endpoint-updates-batch-period", NULL,
        "How long changes of pods are collected before Endpoints are written."),
};

static const struct flag endpointslice_controller[] = {
    IDLE(INT32, "concurrent-service-endpoint-syncs", "5", "How many are worked on at once: service-endpoint."),
    IDLE(DURATION, "endpointslice-updates-batch-period", NULL,
        "How long changes of pods are collected before EndpointSlices are written."),
    IDLE(INT32, "max-endpoints-per-slice", "100", "How many endpoints an EndpointSlice has at the most."),
};

static const struct flag endpointslice_mirroring_controller[] = {
    IDLE(INT32, "mirroring-concurrent-service-endpoint-syncs", "5", "How many Endpoints are mirrored at once."),
    IDLE(DURATION, "mirroring-endpointslice-updates-batch-period", NULL,
        "How long changes are collected before mirrored EndpointSlices are written."),
    IDLE(INT32, "mirroring-max-endpoints-per-subset", "1000",
        "How many endpoints a mirrored EndpointSlice has at the most."),
};

static const struct flag ephemeral_volume_controller[] = {
    IDLE(INT32, "concurrent-ephemeralvolume-syncs", "5", "How many are worked on at once: ephemeralvolume."),
};

static const struct flag garbage_collector_controller[] = {
    IDLE(INT32, "concurrent-gc-syncs", "20", "How many are worked on at once: gc."),
    ROW(BOOL, enable_garbage_collector, "enable-garbage-collector", "true",
        "Whether dependents go when their owners do; as the same flag of the API server."),
};

static const struct flag horizontal_pod_autoscaler_controller[] = {
    IDLE(INT32, "concurrent-horizontal-pod-autoscaler-syncs", "5",
        "How many are worked on at once: horizontal-pod-autoscaler."),
    IDLE(DURATION, "horizontal-pod-autoscaler-cpu-initialization-period", "5m0s",
        "How long after its start the CPU of a pod may be left out."),
    IDLE(DURATION, "horizontal-pod-autoscaler-downscale-stabilization", "5m0s",
        "For how long the highest recommendation counts."),
    IDLE(DURATION, "horizontal-pod-autoscaler-initial-readiness-delay", "30s",
        "How long after its start a pod counts as starting while it is not ready."),
    IDLE(DURATION, "horizontal-pod-autoscaler-sync-period", "15s", "How often autoscalers are looked at."),
    IDLE(FLOAT64, "horizontal-pod-autoscaler-tolerance", "0.1",
        "How far from 1 the ratio of a metric to its target may be without anything being done."),
};

static const struct flag job_controller[] = {
    IDLE(INT32, "concurrent-job-syncs", "5", "How many are worked on at once: job."),
};

static const struct flag cronjob_controller[] = {
    IDLE(INT32, "concurrent-cron-job-syncs", "5", "How many are worked on at once: cron-job."),
};

static const struct flag legacy_serviceaccount_token_cleaner_controller[] = {
    IDLE(DURATION, "legacy-service-account-token-clean-up-period", "8760h0m0s",
        "After how long tokens in Secrets that nobody uses are removed."),
};

static const struct flag namespace_controller[] = {
    IDLE(INT32, "concurrent-namespace-syncs", "10", "How many are worked on at once: namespace."),
    IDLE(DURATION, "namespace-sync-period", "5m0s", "How often namespaces are looked at again."),
};

static const struct flag node_ipam_controller[] = {
    IDLE(INT32, "node-cidr-mask-size", NULL, "Length of the prefix of a node's range."),
    IDLE(INT32, "node-cidr-mask-size-ipv4", NULL, "The same for IPv4 in a cluster of both families."),
    IDLE(INT32, "node-cidr-mask-size-ipv6", NULL, "The same for IPv6."),
    IDLE(STRING, "service-cluster-ip-range", NULL, "Range of addresses of services; with --allocate-node-cidrs only."),
};

static const struct flag node_lifecycle_controller[] = {
    IDLE(INT32, "large-cluster-size-threshold", "50",
        "Number of nodes from which on a cluster is large, for evictions."),
    IDLE(FLOAT32, "node-eviction-rate", "0.1", "Nodes a second whose pods are evicted while a zone is healthy."),
    IDLE(DURATION, "node-monitor-grace-period", "50s",
        "How long a node may say nothing before it counts as unhealthy."),
    IDLE(DURATION, "node-startup-grace-period", "1m0s", "The same while it starts."),
    IDLE(FLOAT32, "secondary-node-eviction-rate", "0.01",
        "Nodes a second whose pods are evicted while a zone is not healthy."),
    IDLE(FLOAT32, "unhealthy-zone-threshold", "0.55",
        "Part of a zone's nodes that must not be ready for the zone to count as unhealthy."),
};

static const struct flag persistentvolume_binder_controller[] = {
    IDLE(BOOL, "enable-dynamic-provisioning", "true", "Makes volumes for claims."),
    IDLE(BOOL, "enable-hostpath-provisioner", NULL, "Makes hostPath volumes, for tests."),
    IDLE(STRING, "flex-volume-plugin-dir", "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
        "Folder with further volume plugins."),
    IDLE(INT32, "pv-recycler-increment-timeout-nfs", "30", "Seconds that a recycler of NFS gets for each Gi."),
    IDLE(INT32, "pv-recycler-minimum-timeout-hostpath", "60", "Seconds that a recycler of hostPath gets at least."),
    IDLE(INT32, "pv-recycler-minimum-timeout-nfs", "300", "Seconds that a recycler of NFS gets at least."),
    IDLE(STRING, "pv-recycler-pod-template-filepath-hostpath", NULL, "File with the pod that recycles hostPath."),
    IDLE(STRING, "pv-recycler-pod-template-filepath-nfs", NULL, "File with the pod that recycles NFS."),
    IDLE(INT32, "pv-recycler-timeout-increment-hostpath", "30",
        "Seconds that a recycler of hostPath gets for each Gi."),
    IDLE(DURATION, "pvclaimbinder-sync-period", "15s", "How often volumes and claims are looked at again."),
};

static const struct flag pod_garbage_collector_controller[] = {
    IDLE(INT32, "terminated-pod-gc-threshold", "12500", "How many pods that have ended may be there; 0: any number."),
};

static const struct flag replicaset_controller[] = {
    IDLE(INT32, "concurrent-replicaset-syncs", "5", "How many are worked on at once: replicaset."),
};

static const struct flag replicationcontroller_controller[] = {
    IDLE(INT32, "concurrent-rc-syncs", "5", "How many are worked on at once: rc."),
};

static const struct flag resourcequota_controller[] = {
    IDLE(INT32, "concurrent-resource-quota-syncs", "5", "How many are worked on at once: resource-quota."),
    IDLE(DURATION, "resource-quota-sync-period", "5m0s", "How often quotas are counted anew."),
};

static const struct flag serviceaccount_controller[] = {
    IDLE(INT32, "concurrent-serviceaccount-token-syncs", "5", "How many are worked on at once: serviceaccount-token."),
    ROW(STRING, root_ca_file, "root-ca-file", NULL,
        "CA that pods are told to trust: it goes into the ConfigMap kube-root-ca.crt of each namespace, and into token Secrets."),
    ROW(STRING, service_account_private_key_file, "service-account-private-key-file", NULL,
        "RSA or ECDSA key that signs tokens in Secrets; without it they get none."),
};

static const struct flag ttl_after_finished_controller[] = {
    IDLE(INT32, "concurrent-ttl-after-finished-syncs", "5", "How many are worked on at once: ttl-after-finished."),
};

static const struct flag validatingadmissionpolicy_status_controller[] = {
    IDLE(INT32, "concurrent-validating-admission-policy-status-syncs", "5",
        "How many are worked on at once: validating-admission-policy-status."),
};

static const struct flag metrics[] = { METRICS_ROWS };

static const struct flag logs[] = { LOGS_ROWS };

static const struct flag misc[] = {
    ROW(STRING, SHARED(kubeconfig), "kubeconfig", NULL,
        "kubeconfig of the API server; without it and --master: as a pod finds it."),
    ROW(STRING, SHARED(master), "master", NULL, "Address of the API server, instead of the one in the kubeconfig."),
};

static const struct flag global[] = { GLOBAL_ROWS };

#define GROUP(name, flags) { name, flags, sizeof(flags) / sizeof(flags[0]) }

static const struct flag_group groups[] = {
    GROUP("Debugging", debugging),
    GROUP("Leader-migration", leader_migration),
    GROUP("Generic", generic),
    GROUP("Service-lb-controller", service_lb_controller),
    GROUP("Secure serving", secure_serving),
    GROUP("Authentication", authentication),
    GROUP("Authorization", authorization),
    GROUP("Persistentvolume-attach-detach-controller", persistentvolume_attach_detach_controller),
    GROUP("Certificatesigningrequest-signing-controller", certificatesigningrequest_signing_controller),
    GROUP("Deployment-controller", deployment_controller),
    GROUP("Device-taint-eviction-controller", device_taint_eviction_controller),
    GROUP("Resourceclaim-controller", resourceclaim_controller),
    GROUP("Statefulset-controller", statefulset_controller),
    GROUP("Daemonset-controller", daemonset_controller),
    GROUP("Endpoints-controller", endpoints_controller),
    GROUP("Endpointslice-controller", endpointslice_controller),
    GROUP("Endpointslice-mirroring-controller", endpointslice_mirroring_controller),
    GROUP("Ephemeral-volume-controller", ephemeral_volume_controller),
    GROUP("Garbage-collector-controller", garbage_collector_controller),
    GROUP("Horizontal-pod-autoscaler-controller", horizontal_pod_autoscaler_controller),
    GROUP("Job-controller", job_controller),
    GROUP("Cronjob-controller", cronjob_controller),
    GROUP("Legacy-serviceaccount-token-cleaner-controller", legacy_serviceaccount_token_cleaner_controller),
    GROUP("Namespace-controller", namespace_controller),
    GROUP("Node-ipam-controller", node_ipam_controller),
    GROUP("Node-lifecycle-controller", node_lifecycle_controller),
    GROUP("Persistentvolume-binder-controller", persistentvolume_binder_controller),
    GROUP("Pod-garbage-collector-controller", pod_garbage_collector_controller),
    GROUP("Replicaset-controller", replicaset_controller),
    GROUP("Replicationcontroller-controller", replicationcontroller_controller),
    GROUP("Resourcequota-controller", resourcequota_controller),
    GROUP("Serviceaccount-controller", serviceaccount_controller),
    GROUP("Ttl-after-finished-controller", ttl_after_finished_controller),
    GROUP("Validatingadmissionpolicy-status-controller", validatingadmissionpolicy_status_controller),
    GROUP("Metrics", metrics),
    GROUP("Logs", logs),
    GROUP("Misc", misc),
    GROUP("Global", global),
};

_Static_assert(__COUNTER__ <= CONTROLLERS_IDLE_MAX, "room for the values of all idle flags");

const struct flag_set controllers_flag_set = { groups, sizeof(groups) / sizeof(groups[0]), sizeof(struct controllers_flags) };

/* ---- Values ---- */

enum err_code controllers_flags_parse(struct controllers_flags *f, struct arena *a, int argc, char *const *argv, struct err *e)
{
    *f = (struct controllers_flags){ 0 };
    scheduler_flags_init(&f->shared, a); /* also what only the scheduler has, which its checks look at */
    flag_set_init(&controllers_flag_set, a, f);
    return flag_set_parse(&controllers_flag_set, a, argc - 1, argv + 1, f, &f->given, e);
}

/* What those that berth lacks were called before they had full names. */
static bool is_old_name(struct str name)
{
    static const char *const names[] = { "attachdetach", "bootstrapsigner", "cloud-node-lifecycle", "csrapproving",
                                         "csrcleaner", "csrsigning", "daemonset", "endpointslicemirroring",
                                         "ephemeral-volume", "horizontalpodautoscaling",
                                         "legacy-service-account-token-cleaner", "nodeipam", "persistentvolume-expander",
                                         "resource-claim-controller", "route", "service", "storage-version-gc", "svm",
                                         "tokencleaner", "ttl" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

bool controllers_flags_knows(struct str name)
{
    if (is_old_name(name))
        return true;
    for (const char *const *k = known_controllers; *k; k++)
        if (str_is(name, *k))
            return true;
    return false;
}

void controllers_flags_add_usage(struct strbuf *b, unsigned columns)
{
    STRBUF_ADD_LIT(b, "Usage:\n  kube-controller-manager [flags]\n");
    flag_set_add_help(b, &controllers_flag_set, columns);
}
