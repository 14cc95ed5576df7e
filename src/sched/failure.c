/* sched/failure.c - a chapter of sched.h: a pod that was not placed goes back to the queue, and the world is
 * told why. */
#include "base/strbuf.h"
#include "sched/queue.h"
#include "sched/sched_priv.h"

enum { NOTE_BYTES_MAX = 1024 };

/* The note of an event is cut, the condition's message is not. */
static const char *cut_note(struct arena *a, const char *message)
{
    struct str text = str_of(message);
    if (text.n <= NOTE_BYTES_MAX)
        return message;
    return arena_printf(a, "%.*s ...", NOTE_BYTES_MAX - 4, message);
}

/* Puts the newest version of the pod back, unless it is gone, has a node by now, or is another pod of
 * that name. */
static void requeue(struct sched *s, struct queued_pod *qp, const struct failure *f, int64_t now_ms)
{
    union map_value *found = map_str_find(&s->pods, str_of(qp->pod->meta.uid));
    const struct pod *fresh = found ? found->const_ptr : NULL;
    if (!fresh || fresh->node_name != SYM_EMPTY || !sched_same_name(fresh, qp->pod)) {
        queue_release(s->queue, qp);
        return;
    }
    struct err e;
    err_init(&e, &s->arena);
    struct rejectors rejectors = { f->rejectors, f->pending };
    /* It fails when the pod was added again meanwhile: then it waits there already. */
    if (queue_add_unschedulable(s->queue, qp, fresh, rejectors, now_ms, &e))
        return;
}

/* Another pod of that name waits already: what is said of the old one would be read as said of it. */
static bool was_replaced(const struct sched *s, const struct queued_pod *qp)
{
    const struct queued_pod *there = queue_find(s->queue, qp->pod->meta.ns, qp->pod->meta.name);
    return there && strcmp(there->pod->meta.uid, qp->pod->meta.uid) != 0;
}

void failure_handle(struct sched *s, struct queued_pod *qp, const struct failure *f, int64_t now_ms)
{
    if (was_replaced(s, qp)) {
        queue_release(s->queue, qp);
        return;
    }
    const struct pod *pod = pod_ref(qp->pod);
    requeue(s, qp, f, now_ms);
    union map_value *found = map_str_find(&s->pods, str_of(pod->meta.uid));
    const struct pod *known = found ? found->const_ptr : NULL;
    bool waits = known && known->node_name == SYM_EMPTY;
    if (waits)
        nominator_add(&s->nominator, known, f->nominate);
    /* It regards the version that the pod goes back with: a nomination may have been written meanwhile. */
    s->io.event(s->io.context, &(struct event_note){ waits ? known : pod, true, "FailedScheduling", "Scheduling",
                                                     cut_note(&s->arena, f->message) });
    struct status_change change = {
        .pod = known ? known : pod,
        .has_condition = true,
        .failure = f->kind,
        .message = f->message,
        .set_nomination = f->nominate != SYM_NONE,
        .nomination = f->nominate,
    };
    s->io.patch_status(s->io.context, &change);
    pod_unref(s->syms, pod);
}
