/* sched/enqueue.c - a chapter of queue.h: the way of a pod, new or come back, into one of the places where
 * it waits: past the gate (PreEnqueue) to the ready ones or into backoff, or to those that wait for an
 * event. */
#include "sched/queue_priv.h"

/* ---- The gate: PreEnqueue ---- */

static void set_gated(struct queue *q, struct queued_pod *qp, uint8_t plugin)
{
    uint64_t bit = 1ull << plugin;
    queue_count_rejected(q, qp, bit & ~queued_pod_rejectors(qp), 1);
    qp->rejectors.unschedulable |= bit;
    qp->gating_plugin = plugin;
}

/* Anything but success, errors too, keeps the pod out. `samples`: measured. */
static bool passes_plugin(struct queue *q, struct queued_pod *qp, const struct plugin_instance *p, bool samples,
                          int64_t now_ms)
{
    struct cycle cycle = {
        .arena = &q->arena,
        .cache = q->o.cache,
        .objects = q->o.objects,
        .syms = q->o.syms,
        .profile = q->o.profiles[qp->profile],
        .sched = q->o.sched,
        .pod = qp->pod,
        .now_ms = now_ms,
    };
    int64_t start_ns = samples ? measure_now(q->o.metrics) : 0;
    uint8_t code = p->plugin->pre_enqueue(p, &cycle).code;
    if (samples)
        measure_gate_plugin(q->o.metrics, qp->profile, p, code, start_ns);
    if (code == V_SUCCESS)
        return true;
    set_gated(q, qp, p->index);
    return false;
}

/* The plugin that gated the pod last is asked first: it is the likeliest to do so again. */
static bool passes_plugins(struct queue *q, struct queued_pod *qp, bool samples, int64_t now_ms)
{
    const struct profile *profile = q->o.profiles[qp->profile];
    const struct point_plugins *gates = &profile->points[POINT_PRE_ENQUEUE];
    uint8_t first = qp->gating_plugin;
    if (first != PLUGIN_NONE && !passes_plugin(q, qp, &profile->instances[first], samples, now_ms))
        return false;
    for (uint8_t i = 0; i < gates->n; i++)
        if (gates->at[i]->index != first && !passes_plugin(q, qp, gates->at[i], samples, now_ms))
            return false;
    qp->gating_plugin = PLUGIN_NONE;
    return true;
}

static bool passes_gate(struct queue *q, struct queued_pod *qp, int64_t now_ms)
{
    if (qp->profile == PROFILE_NONE)
        return true;
    int64_t start_ns = measure_now(q->o.metrics);
    bool passes = passes_plugins(q, qp, measure_samples_gate(q->o.metrics), now_ms);
    measure_gate(q->o.metrics, qp->profile, start_ns);
    return passes;
}

/* ---- Moves ---- */

/* The promise of a node that the pod itself carries. */
static void nominate(struct queue *q, const struct pod *pod)
{
    if (pod->node_name == SYM_EMPTY)
        nominator_add(q->o.nominator, pod, SYM_NONE);
    else
        nominator_remove(q->o.nominator, pod->meta.uid);
}

bool enqueue_active(struct queue *q, struct queued_pod *qp, uint16_t kind, bool skip_pre_enqueue, int64_t now_ms)
{
    if (!skip_pre_enqueue && !passes_gate(q, qp, now_ms)) {
        waiting_enter(q, qp, kind);
        return false;
    }
    if (qp->initial_attempt_ms == TIME_NONE)
        qp->initial_attempt_ms = now_ms;
    queue_leave_place(q, qp);
    qp->place = PLACE_ACTIVE;
    heap_push(&q->active, &qp->heap);
    q->incoming[PLACE_ACTIVE][kind]++;
    if (kind == KIND_UNSCHEDULED_POD_ADD || kind == KIND_UNSCHEDULED_POD_UPDATE)
        nominate(q, qp->pod);
    return true;
}

static void enqueue_backoff(struct queue *q, struct queued_pod *qp, uint16_t kind, int64_t now_ms)
{
    if (!q->o.no_early_pop && !passes_gate(q, qp, now_ms)) {
        waiting_enter(q, qp, kind);
        return;
    }
    queue_leave_place(q, qp);
    backoff_enter(q, qp, kind);
}

void enqueue_by(struct queue *q, struct queued_pod *qp, enum strategy strategy, uint16_t kind, int64_t now_ms)
{
    if (strategy == STRATEGY_SKIP)
        waiting_enter(q, qp, kind);
    else if (strategy == STRATEGY_AFTER_BACKOFF && backoff_is_pending(q, qp, now_ms))
        enqueue_backoff(q, qp, kind, now_ms);
    else
        enqueue_active(q, qp, kind, false, now_ms);
}
