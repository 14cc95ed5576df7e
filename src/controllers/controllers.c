/* controllers/controllers.c - see controllers.h. */
#include "controllers/controllers.h"

#include <stdlib.h>

#include "base/str.h"

const struct controller_row controller_rows[] = {
    { "bootstrap-signer-controller", bootstrap_signer_start, bootstrap_signer_stop, .only_by_name = true },
    { "certificatesigningrequest-approving-controller", csr_approving_start, csr_approving_stop },
    { "certificatesigningrequest-cleaner-controller", csr_cleaner_start, csr_cleaner_stop },
    { "certificatesigningrequest-signing-controller", csr_signing_start, csr_signing_stop },
    { "clusterrole-aggregation-controller", role_aggregation_start, role_aggregation_stop },
    { "cronjob-controller", cronjob_controller_start, cronjob_controller_stop },
    { "daemonset-controller", daemonset_controller_start, daemonset_controller_stop },
    { "deployment-controller", deployment_controller_start, deployment_controller_stop },
    { "disruption-controller", disruption_controller_start, disruption_controller_stop },
    { "endpoints-controller", endpoints_controller_start, endpoints_controller_stop },
    { "endpointslice-controller", endpointslice_controller_start, endpointslice_controller_stop },
    { "endpointslice-mirroring-controller", endpointslice_mirroring_start, endpointslice_mirroring_stop },
    { "ephemeral-volume-controller", ephemeral_volume_start, ephemeral_volume_stop },
    { "garbage-collector-controller", garbage_collector_start, garbage_collector_stop },
    { "horizontal-pod-autoscaler-controller", horizontal_controller_start, horizontal_controller_stop },
    { "job-controller", job_controller_start, job_controller_stop },
    { "namespace-controller", namespace_controller_start, namespace_controller_stop },
    { "node-lifecycle-controller", node_lifecycle_start, node_lifecycle_stop },
    { "persistentvolume-binder-controller", volume_binder_start, volume_binder_stop },
    { "persistentvolume-protection-controller", volume_protection_start, volume_protection_stop },
    { "persistentvolumeclaim-protection-controller", claim_protection_start, claim_protection_stop },
    { "pod-garbage-collector-controller", pod_gc_start, pod_gc_stop },
    { "replicaset-controller", replica_set_controller_start, replica_set_controller_stop },
    { "replicationcontroller-controller", replication_controller_start, replication_controller_stop },
    { "resourcequota-controller", resource_quota_controller_start, resource_quota_controller_stop },
    { "root-ca-certificate-publisher-controller", root_ca_publisher_start, root_ca_publisher_stop },
    { "serviceaccount-controller", service_account_controller_start, service_account_controller_stop },
    { "serviceaccount-token-controller", token_secrets_start, token_secrets_stop },
    { "statefulset-controller", statefulset_controller_start, statefulset_controller_stop },
    { "taint-eviction-controller", taint_eviction_start, taint_eviction_stop },
    { "token-cleaner-controller", token_cleaner_start, token_cleaner_stop, .only_by_name = true },
    { "ttl-after-finished-controller", ttl_controller_start, ttl_controller_stop },
    { "ttl-controller", node_ttl_start, node_ttl_stop },
    { 0 },
};

enum { CONTROLLERS_MAX = 64 };

struct controllers {
    const struct controller_row *rows[CONTROLLERS_MAX];
    void *running[CONTROLLERS_MAX];
    size_t n;
    struct pod_index *pods, *replica_sets;
    struct events *events;
};

/* Also what they were called before they had full names: "namespace", "garbagecollector". */
static bool names(const char *word, const char *name)
{
    static const struct {
        const char *alias, *name;
    } aliases[] = {
        { "bootstrapsigner", "bootstrap-signer-controller" },
        { "clusterrole-aggregation", "clusterrole-aggregation-controller" },
        { "cronjob", "cronjob-controller" },
        { "csrapproving", "certificatesigningrequest-approving-controller" },
        { "csrcleaner", "certificatesigningrequest-cleaner-controller" },
        { "csrsigning", "certificatesigningrequest-signing-controller" },
        { "daemonset", "daemonset-controller" },
        { "deployment", "deployment-controller" },
        { "disruption", "disruption-controller" },
        { "endpoint", "endpoints-controller" },
        { "endpointslice", "endpointslice-controller" },
        { "endpointslicemirroring", "endpointslice-mirroring-controller" },
        { "ephemeral-volume", "ephemeral-volume-controller" },
        { "garbagecollector", "garbage-collector-controller" },
        { "horizontalpodautoscaling", "horizontal-pod-autoscaler-controller" },
        { "job", "job-controller" },
        { "namespace", "namespace-controller" },
        { "nodelifecycle", "node-lifecycle-controller" },
        { "persistentvolume-binder", "persistentvolume-binder-controller" },
        { "podgc", "pod-garbage-collector-controller" },
        { "pv-protection", "persistentvolume-protection-controller" },
        { "pvc-protection", "persistentvolumeclaim-protection-controller" },
        { "replicaset", "replicaset-controller" },
        { "replicationcontroller", "replicationcontroller-controller" },
        { "resourcequota", "resourcequota-controller" },
        { "root-ca-cert-publisher", "root-ca-certificate-publisher-controller" },
        { "serviceaccount", "serviceaccount-controller" },
        { "serviceaccount-token", "serviceaccount-token-controller" },
        { "statefulset", "statefulset-controller" },
        { "tokencleaner", "token-cleaner-controller" },
        { "ttl", "ttl-controller" },
        { "ttl-after-finished", "ttl-after-finished-controller" },
    };
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(word, aliases[i].alias) == 0)
            return strcmp(name, aliases[i].name) == 0;
    return strcmp(word, name) == 0;
}

static bool is_on_by_default(const char *name)
{
    for (const struct controller_row *r = controller_rows; r->name; r++)
        if (r->only_by_name && names(name, r->name))
            return false;
    return true;
}

bool controllers_chooses(const char *const *choice, const char *name)
{
    static const char *const all[] = { "*", NULL };
    bool star = false;
    for (const char *const *c = choice ? choice : all; *c; c++) {
        if (names(*c, name))
            return true;
        if (**c == '-' && names(*c + 1, name))
            return false;
        star |= strcmp(*c, "*") == 0;
    }
    return star && is_on_by_default(name);
}

bool controllers_knows(const char *name)
{
    for (const struct controller_row *r = controller_rows; r->name; r++)
        if (names(name, r->name))
            return true;
    return false;
}

static bool is_known(const char *word)
{
    return strcmp(word, "*") == 0 || controllers_knows(*word == '-' ? word + 1 : word);
}

enum err_code controllers_new(const struct controllers_options *o, struct controllers **ret_controllers, struct err *e)
{
    for (const char *const *c = o->choice; c && *c; c++)
        if (!is_known(*c))
            return err_set(e, ERR_BAD_REQUEST, "\"%s\" is not in the list of known controllers", *c);
    struct controllers *c = mem_zalloc(sizeof(*c));
    c->pods = pod_index_new(o->cluster);
    c->replica_sets = owned_index_new(o->cluster, stored_resource("replicasets", "apps"));
    c->events = events_new(o->cluster);
    struct controller_context context = { .cluster = o->cluster,
                                          .root_ca_pem = o->root_ca_pem,
                                          .pods = c->pods,
                                          .replica_sets = c->replica_sets,
                                          .events = c->events,
                                          .tokens = o->tokens,
                                          .access = o->access,
                                          .signing = o->signing,
                                          .queues = o->queues };
    for (const struct controller_row *r = controller_rows; r->name; r++)
        if (controllers_chooses(o->choice, r->name)) {
            c->rows[c->n] = r;
            c->running[c->n++] = r->start(&context);
        }
    *ret_controllers = c;
    return ERR_OK;
}

void controllers_free(struct controllers *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        c->rows[i]->stop(c->running[i]);
    events_free(c->events);
    pod_index_free(c->replica_sets);
    pod_index_free(c->pods);
    free(c);
}

bool controllers_has(const struct controllers *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (names(name, c->rows[i]->name))
            return true;
    return false;
}
