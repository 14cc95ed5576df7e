/* forms/pod.h - a Pod as the scheduler sees it. See typed.h for ownership.
 *
 * Requests are summed here, once, in the ways that the plugins ask for:
 *   requested   what a pod on a node occupies: in-place resize status and pod-level resources count
 *   fit         what an incoming pod must find free: without status, nothing below 0
 *   score       what NodeResourcesFit scores with: without status, without pod-level resources, 100m cpu and
 *               200Mi memory for every container that does not say
 * The three usually are one and then share memory. Limits decide nothing; they are kept for /metrics/resources, and share
 * memory with `fit` where both are equal. */
#pragma once

#include "forms/resources.h"
#include "forms/typed.h"

enum {                                   /* flags of a pod */
    POD_TERMINATING = 1 << 0,            /* has a deletionTimestamp */
    POD_FINISHED = 1 << 1,               /* phase Succeeded or Failed */
    POD_NEVER_PREEMPTS = 1 << 2,         /* preemptionPolicy Never */
    POD_HAS_PRIORITY = 1 << 3,           /* spec.priority given */
    POD_DISRUPTED_BY_SCHEDULER = 1 << 4, /* condition DisruptionTarget=True, reason PreemptionByScheduler */
    POD_HAS_AFFINITY = 1 << 5,           /* podAffinity or podAntiAffinity given, even empty */
    POD_HAS_START_TIME = 1 << 6,
    POD_NEEDS_RESTART_ALL = 1 << 7,      /* needs node feature RestartAllContainersOnContainerExits */
    POD_NEEDS_USERNS_HOSTNET = 1 << 8,   /* needs node feature UserNamespacesHostNetworkSupport */
    POD_HAS_NODE_SELECTOR = 1 << 9,      /* nodeSelector given, even empty */
    POD_HAS_REQUIRED_NODE_AFFINITY = 1 << 10,
    POD_HAS_PREFERRED_NODE_AFFINITY = 1 << 11, /* the list was given, even empty */
    POD_HAS_POD_LEVEL_RESOURCES = 1 << 12,     /* spec.resources.requests has cpu, memory or huge pages */
    POD_NOT_READY = 1 << 13,                   /* has a condition Ready that is not True; without one it is not set */
    POD_HAS_OVERHEAD = 1 << 14,                /* a part of its requests that is not its own to change */
};

enum pod_phase {
    PHASE_OTHER,
    PHASE_PENDING,
    PHASE_RUNNING,
    PHASE_SUCCEEDED,
    PHASE_FAILED,
    PHASE_UNKNOWN,
    N_POD_PHASES
};
/* "Pending" and so on; empty for PHASE_OTHER, which also stands for none. */
const char *pod_phase_text(enum pod_phase phase);

enum { POD_CONTAINERS_MAX = 4096 }; /* and as many init containers; more are refused */

enum taint_effect { EFFECT_ANY, EFFECT_NO_SCHEDULE, EFFECT_PREFER_NO_SCHEDULE, EFFECT_NO_EXECUTE, EFFECT_OTHER };
/* EFFECT_ANY for an empty text. */
enum taint_effect taint_effect_parse(struct str text);

enum toleration_op { TOLERATE_EQUAL, TOLERATE_EXISTS, TOLERATE_LT, TOLERATE_GT, TOLERATE_OTHER };

struct taint_form {
    sym key, value;
    uint8_t effect; /* enum taint_effect, never ANY */
};

struct toleration_form {
    sym key, value; /* key SYM_EMPTY: any */
    uint8_t op, effect;
};

struct host_port {
    sym ip, protocol; /* "0.0.0.0" and "TCP" when not given */
    int32_t port;
};

struct affinity_term {
    struct matcher selector;
    struct matcher namespace_selector; /* MATCHER_NOTHING when not given */
    const sym *namespaces;             /* ascending; the pod's own when none and no selector were given */
    uint32_t n_namespaces;
    sym topology_key;
    int32_t weight; /* of a preferred term */
};

struct affinity_terms {
    const struct affinity_term *at;
    const char *error; /* the list did not parse: `at` is empty; or NULL */
    uint32_t n;
};

struct pod_affinity {
    struct affinity_terms required, required_anti, preferred, preferred_anti;
};

struct preferred_node_term {
    struct node_rule term;
    int32_t weight;
};

struct pod_node_affinity {
    struct label_set node_selector; /* equalities */
    struct node_rules required;
    const struct preferred_node_term *preferred; /* without those of weight 0 or without any condition */
    const char *preferred_error;                 /* some preferred term does not parse, or NULL */
    uint32_t n_preferred;
};

enum spread_flags {
    SPREAD_SOFT = 1,  /* ScheduleAnyway */
    SPREAD_OTHER = 2, /* neither that nor DoNotSchedule: has no effect but keeps defaults away */
    SPREAD_IGNORE_AFFINITY = 4,
    SPREAD_HONOR_TAINTS = 8,
};

struct spread_constraint {
    struct matcher selector; /* matchLabelKeys merged in; INVALID: the constraint does not parse */
    sym topology_key;
    int32_t max_skew, min_domains;
    uint8_t flags;
};

enum pod_volume_kind {
    VOLUME_CLAIM,     /* names[0]: claim */
    VOLUME_EPHEMERAL, /* names[0]: claim "<pod>-<volume>" */
    VOLUME_GCE_PD,    /* pdName */
    VOLUME_AWS_EBS,   /* volumeID */
    VOLUME_ISCSI,     /* iqn */
    VOLUME_RBD,       /* pool, image, then monitors */
    VOLUME_AZURE_DISK, /* diskURI, kind (SYM_EMPTY when not given) */
    VOLUME_AZURE_FILE,
    VOLUME_CINDER,    /* volumeID */
    VOLUME_PORTWORX,  /* volumeID */
    VOLUME_VSPHERE,
    VOLUME_CSI_INLINE, /* driver */
    N_VOLUME_KINDS,
};

struct pod_volume {
    const sym *names;
    uint16_t n_names;
    uint8_t kind;
    bool read_only;
};

struct pod_condition {
    sym status, reason;
    const char *message;
    int64_t last_transition_s, last_probe_s; /* TYPED_TIME_NONE: not given */
    int64_t observed_generation;
};

/* spec.resourceClaims and status.resourceClaimStatuses. */
struct pod_claim {
    sym name, claim_name, template_name; /* SYM_NONE: not given */
};

struct pod_claim_status {
    sym name, claim_name; /* SYM_NONE: no claim is needed */
};

struct pod_claims {
    const struct pod_claim *at;
    const struct pod_claim_status *statuses;
    uint16_t n, n_statuses;
};

struct pod {
    struct typed typed;
    struct typed_meta meta;
    uint32_t flags : 24, phase : 8; /* enum pod_phase */
    int32_t priority; /* 0 when not given */
    sym node_name, nominated_node, scheduler_name, priority_class, group; /* SYM_EMPTY when not given */
    uint16_t n_containers, n_init_containers;
    int64_t start_time_s, generation;
    const struct amounts *requested, *fit, *score;
    const struct amounts *limits; /* with the overhead, without the status; NULL: none above 0 */
    int64_t overhead_milli_cpu; /* a part of those above */
    int64_t non_zero_milli_cpu, non_zero_memory; /* what it adds to a node's non-zero account */
    const struct pod_node_affinity *node_affinity; /* NULL: no nodeSelector and no node affinity */
    const struct pod_affinity *affinity;           /* NULL: neither podAffinity nor podAntiAffinity */
    const struct owner_ref *controller;            /* NULL: none */
    const struct pod_claims *claims;               /* NULL: neither claims nor their status */
    const struct pod_condition *scheduled, *disruption; /* PodScheduled, DisruptionTarget; NULL: not there */
    const struct toleration_form *tolerations;
    const struct spread_constraint *spread;
    const struct host_port *ports; /* of restartable init containers, then of containers */
    const sym *images; /* normalised, in order: init containers, containers, image volumes; repeats stay */
    const struct pod_volume *volumes;
    const sym *gates;
    const sym *condition_types; /* in order */
    const sym *extended; /* extended resources in requests or limits of containers and init containers; ascending */
    uint16_t n_tolerations, n_spread, n_ports, n_images, n_volumes, n_gates, n_condition_types, n_extended;
};

TYPED_FUNCTIONS(pod);
/* The same pod with spec.nodeName set, or status.nominatedNodeName: what the scheduler itself assumes. */
const struct pod *pod_with_node(struct sym_table *syms, const struct pod *p, sym node_name);
const struct pod *pod_with_nomination(struct sym_table *syms, const struct pod *p, sym node_name);
/* A form of its own out of a copy of a pod's struct in which members were changed. */
const struct pod *pod_of_changed(struct sym_table *syms, const struct pod *changed);
/* The same as an API server shows it: with a resourceVersion of its own, made from `n`, or a scheduler would take it
 * for what it knows. */
const struct pod *pod_shown_nominated(struct sym_table *syms, const struct pod *p, sym node_name, uint64_t n);
/* Another pod that is like it in all but its name and uid. */
const struct pod *pod_with_identity(struct sym_table *syms, const struct pod *p, const char *name, const char *uid);
/* The same pod as if nobody had scheduled it yet: no node, no nomination, no status but its claims. */
const struct pod *pod_unscheduled(struct sym_table *syms, const struct pod *p);
/* The same pod, which had no node, as it is once it runs there and is ready. */
const struct pod *pod_started(struct sym_table *syms, const struct pod *p, sym node_name);
/* Another pod, as its maker would make it once more: the same with a name and uid of its own. */
const struct pod *pod_again(struct sym_table *syms, const struct pod *p, const char *name, const char *uid);
/* The same pod with spec.preemptionPolicy Never. */
const struct pod *pod_never_preempting(struct sym_table *syms, const struct pod *p);
const struct pod *pod_with_priority(struct sym_table *syms, const struct pod *p, int32_t priority);
/* Other sums of cpu and memory, below 0: as they are; other resources stay. */
const struct pod *pod_with_requests(struct sym_table *syms, const struct pod *p, int64_t milli_cpu, int64_t memory);
