/* plugins/volume_plan.h - VolumeBinding's knowledge of one pod's claims, and which volumes they would
 * get on a node.
 *
 * volume_claims_prepare sorts a pod's claims once a cycle into bound ones and delayed ones (to be bound
 * when a node is chosen) and looks up all that does not depend on the node: the volumes that could
 * serve a delayed claim, smallest first, and the capacities that are large enough for it.
 * volume_plan_make then answers for one node. Nothing in between depends on pods: the answer for a node
 * is the same whenever it is asked for within a cycle.
 *
 * Local disks are many, and each is reached by one node: volumes that need a certain label are looked
 * up by it.
 *
 * Thread: scheduling thread only. Memory: the cycle's arena. */
#pragma once

#include "plugins/csi_translate.h"
#include "plugins/volume_shared.h"
#include "sched/assume.h"

/* What a binder keeps between cycles. */
struct volume_binder {
    struct csi_names names;
    struct assumed volumes, claims;
    sym no_provisioner; /* kubernetes.io/no-provisioner */
};

struct bound_claim {
    const struct pv *pv; /* NULL: it is gone */
    bool in_tree;        /* nodes may have handed it over to a driver */
    bool translated;     /* the next two are known */
    struct node_rules affinity; /* as the driver says it */
    const char *error;          /* it cannot be said so; or NULL */
};

struct delayed_claim {
    const struct pvc *pvc;
    const struct storage_class *storage_class;
    uint64_t *fits;       /* bitset over the pool: free volumes that would do, on nodes that reach them */
    uint64_t *bound;      /* bitset over the pool: volumes that name the claim already; NULL: none */
    uint64_t *sufficient; /* bitset over the capacities; NULL: the driver's capacity is not to be looked at */
};

/* A volume of the pool that only nodes with this label reach: local disks, mostly. */
struct pinned_volume {
    sym key, value;
    uint32_t volume; /* in the pool */
};

enum { PIN_KEYS_MAX = 4 }; /* labels that pins are looked up by */

struct volume_claims {
    struct bound_claim *bound;
    struct delayed_claim *delayed; /* first those with a selected node, then the others by ascending request */
    uint32_t n_bound, n_delayed, n_selected;
    bool any_in_tree;          /* among the bound */
    const char *error;         /* a selector that does not parse: every node fails with this; or NULL */
    const struct pv **pool;    /* volumes for delayed claims, as assumed, by capacity and name */
    uint32_t n_pool;
    struct pinned_volume *pinned; /* by key, value and volume */
    uint32_t n_pinned, n_pin_keys;
    sym pin_keys[PIN_KEYS_MAX];
    uint64_t *loose;           /* bitset over the pool: those that are not pinned */
    uint64_t *taken;           /* bitset over the pool: scratch of volume_plan_make, else empty */
    const struct csi_storage_capacity **capacities; /* of the classes of delayed claims, by name */
    uint32_t n_capacities;
    struct volume_plan *plan;  /* room for one */
};

/* A claim and the volume that it gets. */
struct planned_binding {
    const struct delayed_claim *claim;
    const struct pv *pv;
};

/* A claim and the capacity that it is taken from; NULL: not known. */
struct planned_provision {
    const struct delayed_claim *claim;
    const struct csi_storage_capacity *capacity;
};

enum plan_conflict { /* bits, in the order of their reasons */
    PLAN_NODE_CONFLICT = 1,
    PLAN_BIND_CONFLICT = 2,
    PLAN_NO_SPACE = 4,
    PLAN_NO_VOLUME = 8,
};

struct volume_plan {
    uint32_t conflicts; /* enum plan_conflict; 0: the node will do */
    const char *error;  /* or NULL */
    struct planned_binding *bindings;
    struct planned_provision *provisions;
    uint32_t n_bindings, n_provisions;
};

/* The largest volume that fits into the capacity. */
static inline const struct storage_amount *volume_limit(const struct csi_storage_capacity *k)
{
    return k->maximum_volume_size.given ? &k->maximum_volume_size : &k->capacity;
}

/* The pod's claims must exist. PASS with ret_claims set, or what PreFilter has to say. */
struct verdict volume_claims_prepare(const struct volume_binder *b, struct cycle *c, struct volume_claims **ret_claims);

/* Valid until the next call with the same claims. */
const struct volume_plan *volume_plan_make(const struct volume_binder *b, struct cycle *c, struct volume_claims *claims,
                                           const struct node *node);
