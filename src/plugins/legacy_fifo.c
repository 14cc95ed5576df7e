/* FIFO: pods in the order in which they came, whatever their priority. Points: QueueSort. The queue of v0.18 to v1.10. */
#include "plugins/legacy.h"
#include "sched/queued_pod.h"

static bool less(const struct plugin_instance *p, const struct queued_pod *a, const struct queued_pod *b)
{
    (void)p;
    return a->sequence < b->sequence;
}

const struct plugin legacy_fifo_plugin = {
    .name = "FIFO",
    .less = less,
    .events = (const struct plugin_event[]){ { 0 } },
};
