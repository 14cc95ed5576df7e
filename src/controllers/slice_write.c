/* controllers/slice_write.c - see slice_write.h. */
#include "controllers/slice_write.h"

#include "controllers/read.h"

void slice_write_begin(struct turn *t, struct str namespace, const struct slice_action *action)
{
    static const enum cluster_verb verbs[] = {
        [SLICE_CREATE] = CLUSTER_CREATE, [SLICE_UPDATE] = CLUSTER_UPDATE, [SLICE_DELETE] = CLUSTER_DELETE,
    };
    const struct resource *slices = stored_resource("endpointslices", "discovery.k8s.io");
    turn_begin(t, (struct cluster_call){ .verb = verbs[action->verb], .resource = slices, .namespace = namespace,
                                         .name = text_at(slices->type, &action->slice, "metadata.name"),
                                         .object = action->verb == SLICE_DELETE ? NULL : &action->slice });
}
