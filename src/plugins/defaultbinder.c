/* DefaultBinder: tells the API server where the pod goes.
 * Points: Bind. Upstream: plugins/defaultbinder, v1.36. The call itself is sched/io.h's bind. */
#include "plugins/plugins.h"

static struct verdict bind(const struct plugin_instance *p, struct cycle *c, node_id node)
{
    (void)p;
    return framework_bind(c, node);
}

const struct plugin defaultbinder_plugin = {
    .name = "DefaultBinder",
    .bind = bind,
    .events = (const struct plugin_event[]){ { 0 } },
};
