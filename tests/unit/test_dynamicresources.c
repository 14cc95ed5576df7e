/* DynamicResources: claims are refused in words, everybody else passes. */
#include <string.h>

#include "tests/unit/sched_world.h"

TEST(a_pod_with_resource_claims_is_refused_with_a_reason_and_never_placed)
{
    struct sched_world w;
    sched_world_init(&w);
    sched_world_add_plugin(&w, &dynamicresources_plugin, NULL, 2);
    sched_world_open(&w);
    world_node(&w, "n", "4", "");
    sched_pod_set(w.sched, world_pod(&w, "claims", NULL, 0, "1",
                                     "\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":\"one\"}]"));
    CHECK(sched_run_once(w.sched));
    const char *log = world_log(&w);
    CHECK(strstr(log, "0/1 nodes are available: pod uses spec.resourceClaims, which this scheduler does not allocate yet."));
    CHECK(!strstr(log, "bind"));
    sched_pod_set(w.sched, world_pod(&w, "plain", NULL, 0, "1", ""));
    CHECK(sched_run_once(w.sched));
    CHECK_TEXT("another pod", world_log(&w), "bind plain n\n");
    sched_world_close(&w);
}
