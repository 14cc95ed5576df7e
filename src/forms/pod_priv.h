/* forms/pod_priv.h - what the parts of pod.c share: the input structs, and the parts of building. */
#pragma once

#include "forms/inputs.h"
#include "forms/pod.h"

struct requests_in {
    fill_map requests, limits;
};

struct port_in {
    struct str host_ip, protocol;
    struct fill_int host_port;
};

struct restart_rule_in {
    struct str action;
};

struct container_in {
    struct str name, image, restart_policy;
    struct requests_in resources;
    FILL_LIST_OF(struct port_in) ports;
    FILL_LIST_OF(struct restart_rule_in) restart_rules;
};

struct container_status_in {
    struct str name;
    struct requests_in *resources;
    fill_map allocated;
};

/* One shape for all sources of volumes; each kind fills what it has. */
struct source_in {
    struct str id, id2;
    fill_strs monitors;
    fill_bool read_only;
};

struct volume_in {
    struct str name;
    struct source_in *sources[N_VOLUME_KINDS];
    struct source_in *image;
};

struct affinity_term_in {
    struct selector_in *selector, *namespace_selector;
    fill_strs namespaces;
    struct str topology_key;
};

struct weighted_term_in {
    struct fill_int weight;
    struct affinity_term_in term;
};

struct pod_affinity_in { /* and anti-affinity */
    FILL_LIST_OF(struct affinity_term_in) required;
    FILL_LIST_OF(struct weighted_term_in) preferred;
};

struct node_affinity_in {
    struct node_selector_in *required;
    FILL_LIST_OF(struct preferred_in) preferred;
};

struct affinity_in {
    struct node_affinity_in *node;
    struct pod_affinity_in *pod, *anti;
};

struct toleration_in {
    struct str key, op, value, effect;
};

struct spread_in {
    struct fill_int max_skew, min_domains;
    struct str topology_key, when_unsatisfiable, affinity_policy, taints_policy;
    struct selector_in *selector;
    fill_strs match_label_keys;
};

struct gate_in {
    struct str name;
};

struct claim_in {
    struct str name, claim_name, template_name;
};

struct group_in {
    struct str name;
};

struct condition_in {
    struct str type, status, reason, message;
    struct fill_time last_probe, last_transition;
    struct fill_int observed_generation;
};

struct pod_spec_in {
    FILL_LIST_OF(struct volume_in) volumes;
    FILL_LIST_OF(struct container_in) init_containers, containers;
    fill_map node_selector, overhead;
    struct str node_name, scheduler_name, priority_class, preemption_policy;
    struct affinity_in *affinity;
    FILL_LIST_OF(struct toleration_in) tolerations;
    FILL_LIST_OF(struct spread_in) spread;
    FILL_LIST_OF(struct gate_in) gates;
    FILL_LIST_OF(struct claim_in) claims;
    struct requests_in *resources;
    struct group_in *group;
    struct fill_int priority;
    fill_bool host_network, host_users;
};

struct pod_status_in {
    struct str phase, nominated_node;
    FILL_LIST_OF(struct condition_in) conditions;
    FILL_LIST_OF(struct container_status_in) init_statuses, statuses;
    FILL_LIST_OF(struct claim_in) claims;
    fill_map allocated;
    struct requests_in *resources;
    struct fill_time start_time;
};

struct pod_in {
    struct meta_in meta;
    struct pod_spec_in spec;
    struct pod_status_in status;
};

extern const struct fill_type fill_pod;

/* Whether it keeps running beside the containers: a sidecar. */
static inline bool container_is_restartable(const struct container_in *c)
{
    return str_is(c->restart_policy, "Always");
}

/* Each fills its part of the pod. */
enum err_code pod_build_requests(struct build *b, const struct pod_in *in, struct pod *pod) ERR_MUST_CHECK;
void pod_build_affinity(struct build *b, const struct pod_in *in, struct pod *pod);
void pod_build_spread(struct build *b, const struct pod_in *in, struct pod *pod);
void pod_walk_affinity(struct walk *w, struct pod *pod);
void pod_walk_spread(struct walk *w, struct pod *pod);
