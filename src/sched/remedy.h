/* sched/remedy.h - what would place a pod that fits nowhere: the smallest single changes, each verified.
 *
 * A remedy is one change of one node, of the pod, of what runs on one node, or of the number of nodes. Every
 * one that is handed out has been tried: with the change applied, an ordinary attempt for the pod (no
 * preemption, every other pod stays as it is, nominated pods count as always) finds a node. Where a smaller
 * change of the same kind might do, that was tried too: one unit less than what a FREE names, or one victim
 * less, does not place the pod.
 *
 * Order: by `size`, smaller first.
 *   1  a switch: the pod's gates, a cordon, a toleration, a label or a taint of one node
 *   2  what the pod insists on: a larger maxSkew (by how much larger), then a constraint given up
 *   3  amounts: what is missing in millionths of the node's allocatable, summed over the resources; for a
 *      lower request, in millionths of the request
 *   4  pods evicted: the highest priority among them, then how many
 *   5  a new node: the smaller the node, the better
 * Within one size by kind, then by name of the node, then by text.
 *
 * The same change of several nodes is one remedy: `node` is the first by name, `alike` has the others. The
 * search is bounded (the constants below); `cut` says that something was left out because of that. A remedy
 * that is not found may still exist; no remedy that is found is wrong.
 *
 * Not offered: changes that would have to be made by hand against the facts (another value for a label that a
 * node has), evicting pods of a DaemonSet or of the node itself (they come back), where volumes are, resource
 * claims, and anything at all while extenders are configured, which would have to be asked.
 *
 * Thread: scheduling thread only, between attempts. Afterwards the scheduler decides as if nobody had asked
 * (what_if.h). */
#pragma once

#include "sched/sched.h"

struct clock;

enum {
    REMEDIES_PER_KIND = 4,    /* kept; of RELAX as many of each constraint */
    REMEDY_TRIES_MAX = 192,   /* attempts for one kind */
    REMEDY_VICTIMS_MAX = 16,  /* of one EVICT */
    REMEDY_EVICT_NODES_MAX = 256, /* nodes on which victims are looked for: those that lack least */
    REMEDY_SHAPES_MAX = 64,   /* of new nodes */
    REMEDY_ALIKE_MAX = 64,    /* other nodes of one remedy */
};

enum remedy_kind {
    REMEDY_REMOVE_GATES, /* all scheduling gates of the pod */
    REMEDY_UNCORDON,     /* with the taint node.kubernetes.io/unschedulable, which goes with it */
    REMEDY_TOLERATE,     /* one toleration more in the pod */
    REMEDY_ADD_LABEL,    /* to a node that does not have its key */
    REMEDY_REMOVE_TAINT,
    REMEDY_RELAX,        /* one thing that the pod insists on */
    REMEDY_FREE,         /* this much has to become free on the node */
    REMEDY_EVICT,        /* these pods leave their node */
    REMEDY_PROVIDE_CLAIMS, /* claims of the pod that are not there or unbound get volumes that `node` can use */
    REMEDY_ADD_NODE,     /* one more like `node`: same allocatable (with `amounts` more, if there are any), labels, taints; ready,
                            not cordoned, empty but for pods of the DaemonSets that have one on `node` */
    N_REMEDY_KINDS
};

/* What a RELAX is about. */
enum relaxed {
    RELAX_MAX_SKEW,          /* of topologySpreadConstraints[index], to `now` */
    RELAX_NODE_SELECTOR,     /* the entry key=value, dropped */
    RELAX_NODE_SELECTORS,    /* the entries `names`, dropped: no single one is enough */
    RELAX_NODE_AFFINITY,     /* the required one, dropped */
    RELAX_POD_AFFINITY,      /* required term [index], dropped */
    RELAX_POD_ANTI_AFFINITY, /* the same */
    RELAX_SPREAD,            /* topologySpreadConstraints[index], dropped */
    RELAX_HOST_PORT,         /* no host port `port` */
    RELAX_REQUEST,           /* of amounts[0], to `now` in all */
    N_RELAXED
};

/* cpu in thousandths, everything else in units; "pods" is the number of pods. */
struct remedy_amount {
    const char *resource;
    int64_t missing;      /* FREE: this much has to become free. RELAX_REQUEST: this much less is asked for. ADD_NODE: this
                             much more than `node` has, which makes `wanted` */
    int64_t free, wanted; /* as it is; free may be below 0 */
    int64_t millionths;   /* what is missing, of the node's allocatable; RELAX_REQUEST: of the request */
    bool can_be_freed;    /* that much is in use there */
};

struct remedy_pod {
    const char *ns, *name, *uid;
    int32_t priority;
};

struct remedy {
    enum remedy_kind kind;
    int64_t size;
    const char *node;  /* that is changed; ADD_NODE: that the new one is like; changes of the pod: where it then goes */
    const char *goes_to;   /* where the pod goes; of several nodes the one that the scheduler would choose now */
    uint32_t n_feasible;   /* nodes that it then fits on */
    const char *const *alike; /* other nodes on which the same change does it; the smaller changes first */
    uint32_t n_alike;
    const char *key, *value, *effect; /* of the taint or label, or NULL; a topology key in `key` where RELAX has one */
    enum relaxed relaxed;  /* RELAX */
    uint32_t index;        /* RELAX: see there */
    int64_t before, now;   /* RELAX_MAX_SKEW and RELAX_REQUEST */
    int32_t port;          /* RELAX_HOST_PORT */
    const char *protocol, *host_ip;
    const struct remedy_amount *amounts; /* FREE, RELAX_REQUEST */
    uint32_t n_amounts;
    const struct remedy_pod *victims; /* EVICT; the least important last */
    uint32_t n_victims;
    const char *const *gates; /* REMOVE_GATES */
    uint32_t n_gates;
    const char *const *names; /* PROVIDE_CLAIMS: of the claims; RELAX_NODE_SELECTORS: "key=value" */
    uint32_t n_names;
    const char *hint; /* a fact that explains it, or NULL: "no node has a=b; node n3 has a=c" */
    const char *new_name; /* ADD_NODE: under which it was tried; also its host name, if `node` has that label */
};

struct remedies {
    struct remedy *at; /* by size */
    uint32_t n;
    uint32_t n_tried; /* attempts made */
    bool cut;         /* the search was bounded somewhere */
    bool fits;        /* the pod fits as things are: there is nothing to mend */
};

/* For a pod without a node. Everything in the result lives in `a`. Resets the arena of the scheduler's last attempt. */
void remedies_find(struct sched *s, const struct pod *pod, struct arena *a, struct remedies *ret_remedies);
/* The same, until the time is over: what was found by then, and `cut`. */
void remedies_find_until(struct sched *s, const struct pod *pod, struct arena *a, const struct clock *clock,
                         int64_t deadline_ns, struct remedies *ret_remedies);

/* The node that ADD_NODE tries, without `amounts`: like the one on the row, of that name. Lists are in `a` or borrowed from the
 * row: node_of_changed makes a form of it. */
struct node remedy_node_like(struct sched *s, struct arena *a, node_id row, sym name);

/* remedy_text.c: one sentence for people, without a dot at the end, in `a`. */
const char *remedy_text(const struct remedy *r, struct arena *a);
/* "free", "removeTaint", "relax": for programs. */
const char *remedy_kind_name(enum remedy_kind kind);
/* "nodeSelector", "maxSkew": the same. */
const char *remedy_relaxed_name(enum relaxed relaxed);
/* An amount as people write it: 700m, 2, 1536Mi. */
const char *remedy_amount_text(const char *resource, int64_t amount, struct arena *a);
