/* sim/budget.h - PodDisruptionBudgets: which pods may be evicted now.
 *
 * As the disruption controller and the eviction subresource of v1.36 have it, but computed from the
 * pods of the simulation at this moment instead of from status: count every pod, settle, then ask
 * for one pod after the other. What a budget expects comes from the replicas of the pods'
 * controllers; a controller that is not given is taken to want the pods that it has.
 *
 * Thread: one. Owns: its lists and texts; borrows budgets and controllers from the input, which
 * stays as it is meanwhile. */
#pragma once

#include "forms/pod.h"
#include "forms/policy.h"
#include "sim/input.h"

/* Pods of one controller that one budget covers. */
struct sim_covered {
    const struct owner_ref *controller;
    uint32_t n_pods;
};

struct sim_budget {
    const struct sim_object *object;
    const struct pdb *form;
    int32_t next; /* another budget of this namespace; -1: none */
    bool unhealthy_may_go; /* unhealthyPodEvictionPolicy AlwaysAllow */
    struct map_u64 by_controller; /* name and kind -> index in covered */
    VEC(struct sim_covered) covered;
    uint32_t n_pods;
    int64_t healthy, desired, allowed; /* valid once settled */
    const char *error; /* why upstream would fail to compute it; then nothing is allowed */
};

struct sim_budgets {
    const struct sim_input *in;
    struct sym_table *syms;
    struct arena arena;
    VEC(struct sim_budget) all;
    struct map_u64 by_namespace; /* sym -> index of the first */
};

/* Why a pod may not be evicted now. */
struct sim_refusal {
    const char *budget; /* "shop/cart", NULL: more than one covers the pod */
    int64_t allowed, healthy, desired;
    const char *reason; /* complete; lives as long as the budgets */
};

void sim_budgets_init(struct sim_budgets *b, const struct sim_input *in, struct sym_table *syms);
void sim_budgets_fini(struct sim_budgets *b);

/* Every pod that is there and not finished. */
void sim_budgets_count(struct sim_budgets *b, const struct pod *pod, bool healthy);
/* When all are counted. */
void sim_budgets_settle(struct sim_budgets *b);
/* Whether the pod may be evicted; then it is counted as evicted. */
bool sim_budgets_evict(struct sim_budgets *b, const struct pod *pod, bool healthy, struct sim_refusal *ret_refusal);
