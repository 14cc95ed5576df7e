/* sched/requeue.c - a chapter of queue.h: pods that come back. What an event is worth to those that were
 * rejected, the moves that it causes, and the way back after a failed attempt. */
#include "sched/queue_priv.h"

/* ---- What an event is worth ---- */

/* A wildcard that names a pod is for that one alone. */
static enum strategy worth_of_wildcard(const struct queued_pod *qp, const struct cluster_event *event)
{
    const struct pod *target = event->new_object;
    bool concerned = !target || strcmp(target->meta.uid, qp->pod->meta.uid) == 0;
    return concerned ? STRATEGY_AFTER_BACKOFF : STRATEGY_SKIP;
}

static bool ask_hint(struct queue *q, const struct hint_entry *entry, const struct queued_pod *qp,
                     const struct cluster_event *event)
{
    if (!entry->hint)
        return true;
    struct hint_context context = {
        .plugin = entry->plugin,
        .cache = q->o.cache,
        .objects = q->o.objects,
        .syms = q->o.syms,
        .arena = &q->arena,
    };
    struct arena_mark mark = arena_save(&q->arena);
    enum hint hint = entry->hint(&context, qp->pod, event);
    arena_rewind(&q->arena, mark);
    return hint == HINT_QUEUE;
}

static bool hint_says_queue(struct queue *q, const struct hint_entry *entry, const struct queued_pod *qp,
                            const struct cluster_event *event)
{
    struct sched_metrics *m = q->o.metrics;
    if (!m)
        return ask_hint(q, entry, qp, event);
    int64_t start_ns = measure_now(m);
    bool queue = ask_hint(q, entry, qp, event);
    measure_hint(m, qp->profile, entry->plugin, event_kind(event), queue, start_ns);
    return queue;
}

enum strategy requeue_worth(struct queue *q, const struct queued_pod *qp, const struct cluster_event *event)
{
    uint64_t rejectors = queued_pod_rejectors(qp);
    assert(rejectors != 0);
    if (event_is_wildcard(event))
        return worth_of_wildcard(qp, event);
    if (qp->profile == PROFILE_NONE)
        return STRATEGY_AFTER_BACKOFF;
    const struct hint_map *map = &q->hints[qp->profile];
    enum strategy best = STRATEGY_SKIP;
    for (size_t i = 0; i < map->by_resource[event->resource].n; i++) {
        const struct hint_entry *entry = &map->by_resource[event->resource].at[i];
        if (!(rejectors >> entry->index & 1) || !hint_covers(entry->actions, event->action) ||
            !hint_says_queue(q, entry, qp, event))
            continue;
        if (qp->rejectors.pending >> entry->index & 1)
            return STRATEGY_IMMEDIATELY;
        best = STRATEGY_AFTER_BACKOFF;
        if (!qp->rejectors.pending)
            break; /* nobody can ask for more */
    }
    return best;
}

/* ---- Events ---- */

static bool is_up_to_priority(const struct move_check *check, const struct pod *pod)
{
    return pod->priority <= check->priority;
}

struct move_check move_up_to_priority(int32_t priority)
{
    return (struct move_check){ .passes = is_up_to_priority, .priority = priority };
}

static bool is_another(const struct move_check *check, const struct pod *pod)
{
    return strcmp(pod->meta.uid, check->uid) != 0;
}

struct move_check move_all_but(const char *uid)
{
    return (struct move_check){ .passes = is_another, .uid = uid };
}

/* Per profile, the plugins that registered for the event; false when there are none at all. */
static bool find_interest(const struct queue *q, const struct cluster_event *event, uint64_t *ret_interest)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < q->o.n_profiles; i++) {
        ret_interest[i] = hint_map_interest(&q->hints[i], event->resource, event->action);
        any |= ret_interest[i];
    }
    return any != 0;
}

/* Moves those of q->moving that the event is worth a try. The newest first: they are at the end of the heap
 * of waiting pods, where leaving costs nothing; for a million pods that is a quarter of the time. */
static void move_collected(struct queue *q, const struct cluster_event *event, int64_t now_ms)
{
    uint16_t kind = event_kind(event);
    for (size_t i = q->moving.n; i-- > 0;) {
        struct queued_pod *qp = q->moving.at[i];
        enum strategy strategy = requeue_worth(q, qp, event);
        if (strategy == STRATEGY_SKIP)
            continue;
        waiting_leave(q, qp);
        enqueue_by(q, qp, strategy, kind, now_ms);
    }
    vec_reset(&q->moving);
    arena_reset(&q->arena);
    flight_keep_event(q, event);
}

void queue_move_all(struct queue *q, const struct cluster_event *event, struct move_check check, int64_t now_ms)
{
    bool everybody = event_is_wildcard(event);
    if (!everybody && !find_interest(q, event, q->interest))
        return;
    waiting_collect(q, everybody ? NULL : q->interest, &check);
    move_collected(q, event, now_ms);
    QUEUE_CHECKED(q);
}

void queue_flush_unschedulable(struct queue *q, int64_t now_ms)
{
    static const struct cluster_event timeout = {
        .resource = RES_ANY,
        .action = ACT_ALL,
        .label = LABEL_UNSCHEDULABLE_TIMEOUT,
    };
    waiting_collect_overdue(q, now_ms);
    if (q->moving.n)
        move_collected(q, &timeout, now_ms);
    QUEUE_CHECKED(q);
}

/* ---- After a failed attempt ---- */

static const char *place_name(uint8_t place)
{
    switch (place) {
    case PLACE_UNSCHEDULABLE:
        return "unschedulable queue";
    case PLACE_ACTIVE:
        return "the active queue";
    default:
        return "the backoff queue";
    }
}

static enum err_code already_present(const struct queue *q, const struct queued_pod *there, struct err *e)
{
    const struct typed_meta *meta = &there->pod->meta;
    struct str ns = sym_text(q->o.syms, meta->ns);
    return err_set(e, ERR_ALREADY_EXISTS, "Pod %.*s%s%s is already present in %s", STR_ARG(ns), ns.n ? "/" : "",
                   meta->name, place_name(there->place));
}

static void note_failure(struct queue *q, struct queued_pod *qp, struct rejectors rejectors, int64_t now_ms)
{
    qp->rejectors = rejectors;
    if (queued_pod_rejectors(qp)) {
        qp->unschedulable_count++;
        qp->consecutive_errors = 0;
    } else {
        qp->consecutive_errors++;
    }
    queued_pod_stamp(q, qp, now_ms);
    qp->flush_ms = TIME_NONE;
    backoff_compute(q, qp);
}

static enum strategy strategy_after_failure(struct queue *q, const struct queued_pod *qp)
{
    if (!queued_pod_rejectors(qp))
        return STRATEGY_AFTER_BACKOFF;
    if (q->o.pod_groups && qp->pod->group != SYM_EMPTY) /* events do not tell what a whole group needs */
        return STRATEGY_AFTER_BACKOFF;
    return flight_strategy(q, qp);
}

enum err_code queue_add_unschedulable(struct queue *q, struct queued_pod *qp, const struct pod *fresh,
                                      struct rejectors rejectors, int64_t now_ms, struct err *e)
{
    const struct queued_pod *there = queue_find(q, qp->pod->meta.ns, qp->pod->meta.name);
    if (there) {
        enum err_code rc = already_present(q, there, e);
        queue_release(q, qp);
        return rc;
    }
    if (fresh)
        queued_pod_set_pod(q, qp, fresh);
    note_failure(q, qp, rejectors, now_ms);
    enum strategy strategy = strategy_after_failure(q, qp);
    queue_done(q, qp);
    queue_take_back(q, qp);
    queue_count_rejected(q, qp, queued_pod_rejectors(qp), 1);
    enqueue_by(q, qp, strategy, KIND_SCHEDULE_ATTEMPT_FAILURE, now_ms);
    arena_reset(&q->arena);
    QUEUE_CHECKED(q);
    return ERR_OK;
}
