/* forms/policy.h - budgets of disruption and classes of priority. See typed.h for ownership. */
#pragma once

#include "forms/typed.h"

struct pdb {
    struct typed typed;
    struct typed_meta meta;
    struct matcher selector;      /* NOTHING and empty both select no pod here */
    const char *const *disrupted; /* names in status.disruptedPods, by their bytes */
    uint32_t n_disrupted;
    int32_t disruptions_allowed;
};

TYPED_FUNCTIONS(pdb);
/* Whether an eviction of that pod is already under way. */
bool pdb_has_disrupted(const struct pdb *p, const char *pod_name);

enum preemption_policy { PREEMPT_NOT_GIVEN, PREEMPT_LOWER_PRIORITY, PREEMPT_NEVER, PREEMPT_OTHER };

struct priority_class {
    struct typed typed;
    struct typed_meta meta;
    int32_t value;
    uint8_t preemption_policy; /* enum preemption_policy */
    bool global_default;
};

TYPED_FUNCTIONS(priority_class);
