/* sched/hints.h - which plugins of a profile wait for which events, and whom to ask what one is worth.
 *
 * Made once from the `events` of every plugin of a profile that can reject a pod (PreEnqueue, PreFilter,
 * Filter, Reserve, Permit). A plugin without a list waits for everything. A plugin that waits for new nodes
 * but not for changed taints waits for those too, without a hint, as upstream's workaround for its own
 * pre-checks does. Extenders count as one more plugin, PLUGIN_EXTENDERS, that waits for everything.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "sched/framework.h"

struct hint_entry {
    const struct plugin_instance *plugin; /* NULL: extenders */
    hint_fn hint;                         /* NULL: always worth a try */
    uint32_t actions;
    uint8_t index; /* of the plugin */
};

struct hint_map {
    VEC(struct hint_entry) by_resource[N_EVENT_RESOURCES]; /* registrations that match the resource of an event */
};

void hint_map_init(struct hint_map *m, const struct profile *profile, bool extenders, bool pod_groups);
void hint_map_fini(struct hint_map *m);

/* Whether an event's action is one that a registration covers: the same or more particular. A plain Update
 * is covered by a registration for all updates only. */
static inline bool hint_covers(uint32_t registered, uint32_t action)
{
    return (registered & action) != 0 && action <= registered;
}

/* The plugins, as bits, that registered for such an event. */
uint64_t hint_map_interest(const struct hint_map *m, enum event_resource resource, uint32_t action);
