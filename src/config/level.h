/* config/level.h - compatibility levels: the releases whose scheduler berth can be.
 *
 * A level is data: which predicates and priorities are the default and which names are known, the plugins that have the
 * formulas of that time, and the rules of the engine (sched/era.h) that a profile carries along.
 *
 * Thread: any, constant. */
#pragma once

#include "sched/era.h"
#include "sched/plugin.h"

struct level_priority {
    const char *name;
    int32_t weight;
};

struct level {
    const char *name; /* "v1.20" */
    /* Older names than v1.20 knew are accepted, arguments of registered names count, and what a Policy leaves out of
     * RequestedToCapacityRatio has its default: so that any old file loads. False: exactly as v1.20.15. */
    bool lenient;
    const char *const *predicates; /* of DefaultProvider and of a Policy without a list; ends with NULL */
    const struct level_priority *priorities; /* likewise; ends with a NULL name */
    const char *const *mandatory;            /* predicates that run whatever a Policy says; ends with NULL */
    const struct plugin *const *registry;
    const struct era *era;
    const char *queue_sort;    /* plugin that orders pending pods */
    bool preempts;
    int64_t max_backoff_s;
    bool has_default_spread;   /* gate DefaultPodTopologySpread exists and is on */
    bool provider_as_plugins; /* DefaultProvider is a list of plugins of its own, in another order than a Policy's */
};

struct config;
/* What a level says of all of a configuration: rules, plugins, back-off. */
void level_apply(const struct level *level, struct config *c);

extern const struct level levels[]; /* ends with a NULL name */

/* NULL: no such level. */
const struct level *level_find(struct str name);
/* What a Policy or a provider means when no level is named: v1.20, lenient. */
const struct level *level_for_policies(void);
