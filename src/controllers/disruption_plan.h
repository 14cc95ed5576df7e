/* controllers/disruption_plan.h - the status of a PodDisruptionBudget, out of its pods and who controls them.
 *
 * Upstream: controller/disruption. Thread: any. Memory: the arena; results refer to what they were made from. */
#pragma once

#include "api/schema.h"
#include "api/value.h"

enum { DISRUPTION_DELETION_TIMEOUT_S = 120 };

struct disruption_state {
    const struct value *budget;
    const struct value *const *pods; /* that its selector chooses */
    size_t n_pods;
    int64_t now_s;
    /* Of the budget's namespace; NULL: there is none. */
    const struct value *(*object)(void *context, const struct resource *r, struct str name);
    void *context;
};

struct disruption_plan {
    bool writes;
    struct value budget;    /* to be written */
    const char *error;      /* why nothing could be counted; NULL: it could */
    bool unmanaged;         /* some pods have no controller */
    int64_t recheck_s;      /* when to look again, as nobody may have deleted a pod by then; 0: no need */
    const struct value **not_deleted; /* pods that should have gone by now */
    size_t n_not_deleted;
};

const struct type *budget_type(void);
struct disruption_plan disruption_plan(struct arena *a, const struct disruption_state *s);
/* Whether somebody wanted to evict a pod, and then did not: since when. */
bool disruption_is_stale(const struct value *pod, int64_t *ret_since_s);
