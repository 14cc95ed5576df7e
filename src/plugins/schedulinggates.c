/* SchedulingGates: a pod with gates does not enter the queue.
 * Points: PreEnqueue. Upstream: plugins/schedulinggates, v1.36. */
#include "base/strbuf.h"
#include "plugins/plugins.h"

static struct verdict pre_enqueue(const struct plugin_instance *p, struct cycle *c)
{
    (void)p;
    if (c->pod->n_gates == 0)
        return PASS;
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    for (uint32_t i = 0; i < c->pod->n_gates; i++) {
        if (i)
            strbuf_add_char(&names, ' ');
        strbuf_add_str(&names, sym_text(c->syms, c->pod->gates[i]));
    }
    struct verdict v = verdict_printf(c, V_UNRESOLVABLE, "waiting for scheduling gates: [%s]", strbuf_cstr(&names));
    strbuf_fini(&names);
    return v;
}

static enum hint gates_gone(const struct hint_context *h, const struct pod *waiting, const struct cluster_event *event)
{
    (void)h;
    const struct pod *pod = event->new_object;
    return strcmp(pod->meta.uid, waiting->meta.uid) == 0 ? HINT_QUEUE : HINT_SKIP;
}

const struct plugin schedulinggates_plugin = {
    .name = "SchedulingGates",
    .pre_enqueue = pre_enqueue,
    .events = (const struct plugin_event[]){ { RES_POD, ACT_UPDATE_POD_GATES_ELIMINATED, gates_gone }, { 0 } },
};
