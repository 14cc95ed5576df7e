/* controllers/controllers.h - the controllers that run beside an API server, by name, and which of them are on.
 *
 * Names and the flag are upstream's: `*` all that are on by default, `foo` on, `-foo` off.
 *
 * Thread: the store's.    Owns: the controllers and their queues. */
#pragma once

#include "client/queue_metrics.h"
#include "controllers/event.h"
#include "controllers/pod_index.h"

struct controllers;

struct authz_attributes;

/* Whether somebody may do something; `allows` NULL: nobody can tell, and what depends on it is not done. */
struct access_review {
    bool (*allows)(void *context, struct arena *a, const struct authz_attributes *q);
    void *context;
};

/* What certificates are signed with; empty: none are. */
struct cluster_signing {
    struct str cert_pem, key_pem;
    int64_t lifetime_s; /* the longest */
};

struct controllers_options {
    struct cluster *cluster;
    const char *const *choice; /* of --controllers; ends with NULL; NULL: { "*" } */
    struct str root_ca_pem;    /* what pods trust; empty: nobody is told */
    struct sa_tokens *tokens;  /* NULL: Secrets get none */
    struct access_review access;
    struct cluster_signing signing;
    struct work_queue_families *queues; /* NULL: their queues do not show */
};

/* Fails for names that nobody knows. */
ERR_MUST_CHECK enum err_code controllers_new(const struct controllers_options *o, struct controllers **ret_controllers,
                                             struct err *e);
void controllers_free(struct controllers *c);
/* Whether there is one of that name; also one of the names that they had before. */
bool controllers_knows(const char *name);
bool controllers_has(const struct controllers *c, const char *name);
/* Whether a choice has a controller on, before there are any. */
bool controllers_chooses(const char *const *choice, const char *name);

/* One controller. */
struct controller_context {
    struct cluster *cluster;
    struct str root_ca_pem;
    /* Shared by all: */
    struct pod_index *pods, *replica_sets;
    struct events *events;
    struct sa_tokens *tokens; /* NULL: none can be made */
    struct access_review access;
    struct cluster_signing signing;
    struct work_queue_families *queues; /* where queues show themselves; NULL: nowhere */
};

struct controller_row {
    const char *name;
    void *(*start)(const struct controller_context *c);
    void (*stop)(void *own_controller);
    bool only_by_name; /* `*` does not mean it */
};

/* All there are; ends with an entry without a name. */
extern const struct controller_row controller_rows[];

void *namespace_controller_start(const struct controller_context *c);
void namespace_controller_stop(void *own_controller);
void *garbage_collector_start(const struct controller_context *c);
void garbage_collector_stop(void *own_controller);
void *service_account_controller_start(const struct controller_context *c);
void service_account_controller_stop(void *own_controller);
void *cronjob_controller_start(const struct controller_context *c);
void cronjob_controller_stop(void *own_controller);
void *job_controller_start(const struct controller_context *c);
void job_controller_stop(void *own_controller);
void *statefulset_controller_start(const struct controller_context *c);
void statefulset_controller_stop(void *own_controller);
void *ttl_controller_start(const struct controller_context *c);
void ttl_controller_stop(void *own_controller);
void *root_ca_publisher_start(const struct controller_context *c);
void root_ca_publisher_stop(void *own_controller);
void *daemonset_controller_start(const struct controller_context *c);
void daemonset_controller_stop(void *own_controller);
void *horizontal_controller_start(const struct controller_context *c);
void horizontal_controller_stop(void *own_controller);
void *csr_approving_start(const struct controller_context *c);
void csr_approving_stop(void *own_controller);
void *csr_signing_start(const struct controller_context *c);
void csr_signing_stop(void *own_controller);
void *csr_cleaner_start(const struct controller_context *c);
void csr_cleaner_stop(void *own_controller);
void *endpointslice_mirroring_start(const struct controller_context *c);
void endpointslice_mirroring_stop(void *own_controller);
void *ephemeral_volume_start(const struct controller_context *c);
void ephemeral_volume_stop(void *own_controller);
void *node_ttl_start(const struct controller_context *c);
void node_ttl_stop(void *own_controller);
void *bootstrap_signer_start(const struct controller_context *c);
void bootstrap_signer_stop(void *own_controller);
void *token_cleaner_start(const struct controller_context *c);
void token_cleaner_stop(void *own_controller);
void *deployment_controller_start(const struct controller_context *c);
void deployment_controller_stop(void *own_controller);
void *replica_set_controller_start(const struct controller_context *c);
void replica_set_controller_stop(void *own_controller);
void *replication_controller_start(const struct controller_context *c);
void replication_controller_stop(void *own_controller);
void *endpoints_controller_start(const struct controller_context *c);
void endpoints_controller_stop(void *own_controller);
void *endpointslice_controller_start(const struct controller_context *c);
void endpointslice_controller_stop(void *own_controller);
void *disruption_controller_start(const struct controller_context *c);
void disruption_controller_stop(void *own_controller);
void *resource_quota_controller_start(const struct controller_context *c);
void resource_quota_controller_stop(void *own_controller);
void *node_lifecycle_start(const struct controller_context *c);
void node_lifecycle_stop(void *own_controller);
void *taint_eviction_start(const struct controller_context *c);
void taint_eviction_stop(void *own_controller);
void *pod_gc_start(const struct controller_context *c);
void pod_gc_stop(void *own_controller);
void *volume_binder_start(const struct controller_context *c);
void volume_binder_stop(void *own_controller);
void *claim_protection_start(const struct controller_context *c);
void claim_protection_stop(void *own_controller);
void *volume_protection_start(const struct controller_context *c);
void volume_protection_stop(void *own_controller);
void *role_aggregation_start(const struct controller_context *c);
void role_aggregation_stop(void *own_controller);
void *token_secrets_start(const struct controller_context *c);
void token_secrets_stop(void *own_controller);
