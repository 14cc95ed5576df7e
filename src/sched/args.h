/* sched/args.h - the arguments of plugins: what their init functions receive, decoded, completed and
 * valid.
 *
 * One struct for each kind <Plugin>Args of kubescheduler.config.k8s.io/v1; a plugin
 * without such a kind receives NULL. config/args.h makes them.
 *
 * Memory: that of the configuration, which outlives the plugins. Thread: any, constant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct default_preemption_args {
    int32_t min_candidate_nodes_percentage, min_candidate_nodes_absolute;
};

struct dynamic_resources_args {
    int64_t filter_timeout_ns;  /* 0: none, or its gate is off */
    int64_t binding_timeout_ns; /* 0: its gates are off */
};

struct inter_pod_affinity_args {
    int32_t hard_pod_affinity_weight;
    bool ignore_preferred_terms_of_existing_pods;
};

struct node_affinity_args {
    struct str added_affinity; /* a core/v1 NodeAffinity as JSON; empty: none */
};

struct resource_weight {
    const char *name;
    int64_t weight; /* 1..100 */
};

/* Points of a function, utilization ascending, linear between them. */
struct shape_point {
    int32_t utilization; /* 0..100 */
    int32_t score;       /* 0..10 */
};

enum scoring_type { SCORING_LEAST_ALLOCATED, SCORING_MOST_ALLOCATED, SCORING_REQUESTED_TO_CAPACITY_RATIO };

struct scoring_strategy {
    enum scoring_type type;
    const struct resource_weight *resources;
    uint32_t n_resources;
    const struct shape_point *shape; /* of SCORING_REQUESTED_TO_CAPACITY_RATIO */
    uint32_t n_shape;
};

struct node_resources_fit_args {
    const char *const *ignored_resources, *const *ignored_groups;
    uint32_t n_ignored_resources, n_ignored_groups;
    struct scoring_strategy strategy;
};

struct node_resources_balanced_args {
    const struct resource_weight *resources; /* weights are all 1 */
    uint32_t n_resources;
};

/* As pods have them, but for the selector: that is made for each pod. */
struct default_spread_constraint {
    const char *topology_key;
    int32_t max_skew, min_domains; /* min_domains is 1 when not given */
    bool soft;                     /* ScheduleAnyway */
    bool ignore_affinity;          /* nodeAffinityPolicy: Ignore */
    bool honor_taints;             /* nodeTaintsPolicy: Honor */
    const char *const *match_label_keys;
    uint32_t n_match_label_keys;
};

struct pod_topology_spread_args {
    bool system_defaulting; /* the built-in constraints; the list is empty then */
    const struct default_spread_constraint *constraints;
    uint32_t n_constraints;
};

struct volume_binding_args {
    int64_t bind_timeout_s;
    const struct shape_point *shape; /* with gate StorageCapacityScoring only */
    uint32_t n_shape;
};

/* ---- Plugins that only older worlds have; NodeResourcesLeastAllocated, NodeResourcesMostAllocated and
 * RequestedToCapacityRatio receive a struct scoring_strategy ---- */

/* Keys of labels; their values do not matter. */
struct node_label_args {
    const char *const *present, *const *absent;               /* what a node must and must not have */
    const char *const *prefer_present, *const *prefer_absent; /* what it should and should not have */
    uint32_t n_present, n_absent, n_prefer_present, n_prefer_absent;
};

struct service_affinity_args {
    const char *const *labels;      /* pods of a service go to nodes that agree in these */
    const char *const *spread_over; /* and spread over the values of these */
    uint32_t n_labels, n_spread_over;
};
