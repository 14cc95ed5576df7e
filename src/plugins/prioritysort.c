/* PrioritySort: higher priority first, then who has waited longer.
 * Points: QueueSort. Upstream: plugins/queuesort, v1.36. */
#include "plugins/plugins.h"
#include "sched/queued_pod.h"

static bool less(const struct plugin_instance *p, const struct queued_pod *a, const struct queued_pod *b)
{
    (void)p;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->sequence < b->sequence; /* grows with the timestamp and tells equal ones apart */
}

const struct plugin prioritysort_plugin = {
    .name = "PrioritySort",
    .less = less,
    .events = (const struct plugin_event[]){ { 0 } },
};
