/* sched/post_filter.c - a chapter of attempt.h: what is tried when no node fits, and its words in the message. */
#include "base/strbuf.h"
#include "sched/attempt.h"
#include "sched/preempt.h"

struct verdict framework_preempt(const struct plugin_instance *by, struct cycle *c, int32_t percentage, int32_t absolute)
{
    c->tried_preemption = true;
    struct verdict v = preempt_eligible(c);
    if (v.code != V_SUCCESS)
        return v; /* what it was promised stays promised */
    struct preemption *p = ARENA_NEW(c->arena, struct preemption);
    v = preempt_find(c, (struct preemption_limits){ percentage, absolute }, p);
    p->by = by;
    c->preemption = p;
    if (v.code == V_SUCCESS)
        c->nominate = c->cache->rows.at[p->chosen->node].name;
    else if (v.code != V_ERROR && !p->keeps_nomination)
        c->nominate = SYM_EMPTY;
    return v;
}

static void add_text(struct strbuf *message, const char *text)
{
    if (message->n)
        STRBUF_ADD_LIT(message, ", ");
    strbuf_add_text(message, text);
}

/* The plugins in turn: success ends it and leaves nothing to say; an unresolvable verdict ends it too;
 * an error is the whole message; otherwise the reasons of all are joined. */
struct verdict attempt_post_filter(struct attempt *a, const char **ret_message)
{
    assert(a->outcome == ATTEMPT_REJECTED);
    struct cycle *c = &a->cycle;
    const struct point_plugins *points = &c->profile->points[POINT_POST_FILTER];
    struct strbuf message;
    strbuf_init(&message, STRBUF_NO_MAX);
    struct verdict result = { V_UNSCHEDULABLE, 0, NULL };
    c->statuses = a->statuses;
    if (!points->n)
        c->nominate = SYM_EMPTY;
    for (uint8_t i = 0; i < points->n; i++) {
        const struct plugin_instance *p = points->at[i];
        struct verdict v = p->plugin->post_filter(p, c);
        if (v.code == V_SUCCESS || !verdict_rejects(v)) {
            result = v;
            strbuf_reset(&message);
            if (v.code != V_SUCCESS)
                add_text(&message, v.text ? v.text : "");
            break;
        }
        add_text(&message, v.text ? v.text : "");
        if (v.code == V_UNRESOLVABLE)
            break;
    }
    *ret_message = arena_cstr(c->arena, strbuf_str(&message));
    strbuf_fini(&message);
    return result;
}
