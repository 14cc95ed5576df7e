/* DefaultPreemption: makes room on a node by evicting pods of lower priority. Points: PreEnqueue,
 * PostFilter. Upstream: plugins/defaultpreemption, v1.36. The work is in sched/preempt.c. */
#include "plugins/plugins.h"

#define STILL_PREEMPTING "waiting for the preemption for this pod to be finished"

static enum err_code init(struct plugin_instance *p, const void *args, struct err *e)
{
    assert(args);
    (void)e;
    p->data = mem_alloc(sizeof(struct default_preemption_args));
    memcpy(p->data, args, sizeof(struct default_preemption_args));
    return ERR_OK;
}

static void fini(struct plugin_instance *p)
{
    free(p->data);
}

static struct verdict pre_enqueue(const struct plugin_instance *p, struct cycle *c)
{
    bool waiting = p->features->async_preemption && framework_is_preempting(c, c->pod);
    return waiting ? verdict_text(V_UNRESOLVABLE, STILL_PREEMPTING) : PASS;
}

static struct verdict post_filter(const struct plugin_instance *p, struct cycle *c)
{
    const struct default_preemption_args *args = p->data;
    struct verdict v =
        framework_preempt(p, c, args->min_candidate_nodes_percentage, args->min_candidate_nodes_absolute);
    return v.text ? verdict_printf(c, v.code, "preemption: %s", v.text) : v;
}

/* Registered only so that gated pods are looked at again; the plugins that refused the pod decide. */
static enum hint pod_deleted(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    (void)waiting;
    (void)event;
    return HINT_SKIP;
}

const struct plugin defaultpreemption_plugin = {
    .name = "DefaultPreemption",
    .init = init,
    .fini = fini,
    .pre_enqueue = pre_enqueue,
    .post_filter = post_filter,
    .repeatable_post_filter = true,
    .events = (const struct plugin_event[]){ { RES_POD, ACT_DELETE, pod_deleted }, { 0 } },
};
