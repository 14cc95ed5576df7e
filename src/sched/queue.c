/* sched/queue.c - see queue.h. The records, and what callers do with pods. */
#include "sched/queue_priv.h"

#include "base/mem.h"
#include "sched/derive.h"

static struct queued_pod *item(const struct heap_node *node)
{
    return HEAP_ITEM(node, struct queued_pod, heap);
}

static bool less_by_sort(const struct heap_node *a, const struct heap_node *b, void *context)
{
    const struct queue *q = context;
    return q->sort->plugin->less(q->sort, item(a), item(b));
}

/* ---- Life of the queue ---- */

struct queue *queue_new(const struct queue_options *options)
{
    assert(options->n_profiles > 0);
    assert(options->n_profiles <= PROFILES_MAX);
    assert(options->profiles[0]->points[POINT_QUEUE_SORT].n == 1);
    struct queue *q = mem_zalloc(sizeof(*q));
    q->o = *options;
    q->sort = options->profiles[0]->points[POINT_QUEUE_SORT].at[0];
    q->hints = mem_zalloc(options->n_profiles * sizeof(*q->hints));
    q->interest = mem_zalloc(options->n_profiles * sizeof(*q->interest));
    q->n_rejected = mem_zalloc(options->n_profiles * sizeof(*q->n_rejected));
    q->ever_rejected = mem_zalloc(options->n_profiles * sizeof(*q->ever_rejected));
    for (uint32_t i = 0; i < options->n_profiles; i++)
        hint_map_init(&q->hints[i], options->profiles[i], options->extenders, options->pod_groups);
    heap_init(&q->active, less_by_sort, q);
    backoff_init(q);
    waiting_init(q);
    pod_index_init(&q->queued);
    pod_index_init(&q->in_flight);
    list_init(&q->flights);
    list_init(&q->done);
    arena_init(&q->arena);
    return q;
}

static void drop(struct queue *q, struct queued_pod *qp);

static void drop_all(struct queue *q, struct heap *heap)
{
    while (heap_top(heap))
        drop(q, item(heap_top(heap)));
    heap_fini(heap);
}

static void release_all(struct queue *q, struct list *popped)
{
    while (!list_is_empty(popped))
        queue_release(q, LIST_ITEM(list_first(popped), struct queued_pod, node));
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    release_all(q, &q->flights);
    release_all(q, &q->done);
    flight_release_events(q);
    drop_all(q, &q->active);
    drop_all(q, &q->backoff);
    drop_all(q, &q->error_backoff);
    drop_all(q, &q->unschedulable);
    waiting_fini(q);
    pod_index_fini(&q->queued);
    pod_index_fini(&q->in_flight);
    for (uint32_t i = 0; i < q->o.n_profiles; i++)
        hint_map_fini(&q->hints[i]);
    free(q->hints);
    free(q->interest);
    free(q->n_rejected);
    free(q->ever_rejected);
    vec_fini(&q->moving);
    arena_fini(&q->arena);
    free(q);
}

/* ---- Records ---- */

static uint8_t find_profile(const struct queue *q, sym scheduler_name)
{
    for (uint32_t i = 0; i < q->o.n_profiles; i++)
        if (q->o.profiles[i]->scheduler_name_sym == scheduler_name)
            return (uint8_t)i;
    return PROFILE_NONE;
}

void queued_pod_stamp(struct queue *q, struct queued_pod *qp, int64_t now_ms)
{
    qp->timestamp_ms = now_ms;
    qp->sequence = ++q->sequence;
}

/* In no place and no index; counts nowhere. */
static struct queued_pod *new_queued(struct queue *q, const struct pod *pod, int64_t now_ms)
{
    struct queued_pod *qp = mem_zalloc(sizeof(*qp));
    qp->pod = pod_ref(pod);
    qp->priority = pod->priority;
    qp->profile = find_profile(q, pod->scheduler_name);
    qp->gating_plugin = PLUGIN_NONE;
    qp->initial_attempt_ms = qp->backoff_expiry_ms = qp->flush_ms = TIME_NONE;
    queued_pod_stamp(q, qp, now_ms);
    return qp;
}

static void free_queued(struct queue *q, struct queued_pod *qp)
{
    pod_unref(q->o.syms, qp->pod);
    free(qp);
}

void queued_pod_set_pod(struct queue *q, struct queued_pod *qp, const struct pod *pod)
{
    const struct pod *old = qp->pod;
    qp->pod = pod_ref(pod);
    qp->priority = pod->priority;
    pod_unref(q->o.syms, old);
}

void queue_count_rejected(struct queue *q, const struct queued_pod *qp, uint64_t plugins, int by)
{
    if (qp->profile == PROFILE_NONE)
        return;
    q->ever_rejected[qp->profile] |= plugins;
    for (; plugins; plugins &= plugins - 1)
        q->n_rejected[qp->profile][__builtin_ctzll(plugins)] += (uint32_t)by;
}

static struct heap *heap_of(struct queue *q, uint8_t place)
{
    switch (place) {
    case PLACE_ACTIVE:
        return &q->active;
    case PLACE_BACKOFF:
        return &q->backoff;
    case PLACE_ERROR_BACKOFF:
        return &q->error_backoff;
    default:
        return NULL;
    }
}

void queue_leave_place(struct queue *q, struct queued_pod *qp)
{
    struct heap *heap = heap_of(q, qp->place);
    if (heap)
        heap_remove(heap, &qp->heap);
    else if (qp->place == PLACE_UNSCHEDULABLE)
        waiting_leave(q, qp);
    qp->place = PLACE_NONE;
}

/* Popping must not allocate, so room in flight is made here; few pods are there at a time, hence the
 * division. */
static void put_in_index(struct queue *q, struct queued_pod *qp)
{
    pod_index_make_room(&q->queued, q->queued.n + 1);
    pod_index_make_room(&q->in_flight, (q->queued.n + q->in_flight.n) / 8);
    pod_index_put_name(&q->queued, qp);
}

void queue_take_back(struct queue *q, struct queued_pod *qp)
{
    assert(qp->place == PLACE_DONE);
    list_remove(&qp->node);
    q->n_done--;
    qp->place = PLACE_NONE;
    put_in_index(q, qp);
}

/* Ends a queued pod. */
static void drop(struct queue *q, struct queued_pod *qp)
{
    queue_leave_place(q, qp);
    pod_index_remove(&q->queued, qp);
    queue_count_rejected(q, qp, queued_pod_rejectors(qp), -1);
    free_queued(q, qp);
}

/* ---- Adding ---- */

/* A record that nobody has seen yet: into active, or into unschedulable when it is gated. */
static void add_new(struct queue *q, const struct pod *pod, uint16_t kind, int64_t now_ms)
{
    struct queued_pod *qp = new_queued(q, pod, now_ms);
    put_in_index(q, qp);
    enqueue_active(q, qp, kind, false, now_ms);
    arena_reset(&q->arena);
}

/* A pod of the same name comes anew, most likely another one whose predecessor went away unseen. */
static void replace(struct queue *q, struct queued_pod *there, const struct pod *pod)
{
    if (strcmp(there->pod->meta.uid, pod->meta.uid) != 0)
        nominator_remove(q->o.nominator, there->pod->meta.uid);
    drop(q, there);
}

void queue_add(struct queue *q, const struct pod *pod, int64_t now_ms)
{
    struct queued_pod *there = pod_index_find_name(&q->queued, pod->meta.ns, pod->meta.name);
    if (there)
        replace(q, there, pod);
    add_new(q, pod, KIND_UNSCHEDULED_POD_ADD, now_ms);
    QUEUE_CHECKED(q);
}

/* ---- Popping ---- */

/* The next one that is ready, still in its place. */
static struct queued_pod *first_ready(struct queue *q)
{
    struct heap_node *top = heap_top(&q->active);
    if (!top && !q->o.no_early_pop)
        top = heap_top(&q->backoff);
    return top ? item(top) : NULL;
}

/* A queued pod, taken out, begins an attempt; one that is being tried already under another record is given
 * up. */
static struct queued_pod *begin_attempt(struct queue *q, struct queued_pod *qp, int64_t now_ms)
{
    queue_leave_place(q, qp);
    pod_index_remove(&q->queued, qp);
    queue_count_rejected(q, qp, queued_pod_rejectors(qp), -1);
    if (!flight_begin(q, qp)) {
        free_queued(q, qp);
        return NULL;
    }
    qp->attempts++;
    qp->cycle = ++q->cycle;
    qp->popped_ms = now_ms;
    return qp;
}

struct queued_pod *queue_pop(struct queue *q, int64_t now_ms)
{
    struct queued_pod *qp, *popped = NULL;
    while (!popped && (qp = first_ready(q))) {
        if (qp->place == PLACE_BACKOFF)
            q->incoming[PLACE_ACTIVE][KIND_POP_FROM_BACKOFF]++;
        popped = begin_attempt(q, qp, now_ms);
    }
    QUEUE_CHECKED(q);
    return popped;
}

void queue_done(struct queue *q, struct queued_pod *qp)
{
    if (qp->place != PLACE_IN_FLIGHT)
        return;
    flight_end(q, qp);
    qp->place = PLACE_DONE;
    list_push(&q->done, &qp->node);
    q->n_done++;
    QUEUE_CHECKED(q);
}

void queue_release(struct queue *q, struct queued_pod *qp)
{
    queue_done(q, qp);
    assert(qp->place == PLACE_DONE);
    list_remove(&qp->node);
    q->n_done--;
    free_queued(q, qp);
    QUEUE_CHECKED(q);
}

/* ---- Activation ---- */

/* Whether it was waiting and is active now. */
static bool activate(struct queue *q, const struct pod *pod, int64_t now_ms)
{
    struct queued_pod *qp = pod_index_find_name(&q->queued, pod->meta.ns, pod->meta.name);
    if (!qp || qp->place == PLACE_ACTIVE)
        return false;
    bool from_backoff = qp->place != PLACE_UNSCHEDULABLE;
    if (from_backoff)
        queue_leave_place(q, qp);
    bool activated = enqueue_active(q, qp, KIND_FORCE_ACTIVATE, from_backoff && !q->o.no_early_pop, now_ms);
    arena_reset(&q->arena);
    return activated;
}

void queue_activate(struct queue *q, const struct pod *pod, int64_t now_ms)
{
    if (!activate(q, pod, now_ms) && pod_index_find_uid(&q->in_flight, pod->meta.uid)) {
        struct cluster_event event = {
            .resource = RES_ANY,
            .action = ACT_ALL,
            .new_object = pod,
            .label = LABEL_FORCE_ACTIVATE,
        };
        flight_keep_event(q, &event);
    }
    QUEUE_CHECKED(q);
}

struct queued_pod *queue_pop_pod(struct queue *q, const struct pod *pod, int64_t now_ms)
{
    activate(q, pod, now_ms);
    struct queued_pod *qp = pod_index_find_name(&q->queued, pod->meta.ns, pod->meta.name);
    struct queued_pod *popped = qp && qp->place == PLACE_ACTIVE ? begin_attempt(q, qp, now_ms) : NULL;
    QUEUE_CHECKED(q);
    return popped;
}

/* ---- Updates ---- */

/* The pod may fit now: its own change is judged like any other event. */
static void update_waiting(struct queue *q, struct queued_pod *qp, const struct derived_events *events,
                           int64_t now_ms)
{
    for (uint8_t i = 0; i < events->n && qp->place == PLACE_UNSCHEDULABLE; i++) {
        enum strategy strategy = requeue_worth(q, qp, &events->at[i]);
        enqueue_by(q, qp, strategy, event_kind(&events->at[i]), now_ms);
    }
    arena_reset(&q->arena);
}

static void update_queued(struct queue *q, struct queued_pod *qp, const struct pod *old, const struct pod *pod,
                          const struct derived_events *events, int64_t now_ms)
{
    queued_pod_set_pod(q, qp, pod);
    nominator_update(q->o.nominator, old, pod);
    struct heap *heap = heap_of(q, qp->place);
    if (heap)
        heap_update(heap, &qp->heap);
    else
        update_waiting(q, qp, events, now_ms);
}

static void update(struct queue *q, const struct pod *old, const struct pod *pod, int64_t now_ms)
{
    struct derived_events events;
    derive_pod_events(old, pod, &events);
    if (pod_index_find_uid(&q->in_flight, pod->meta.uid)) {
        for (uint8_t i = 0; i < events.n; i++)
            flight_keep_event(q, &events.at[i]);
        return;
    }
    struct queued_pod *qp = pod_index_find_name(&q->queued, pod->meta.ns, pod->meta.name);
    if (qp && strcmp(qp->pod->meta.uid, pod->meta.uid) == 0) {
        update_queued(q, qp, old, pod, &events, now_ms);
        return;
    }
    if (qp)
        replace(q, qp, pod);
    add_new(q, pod, KIND_UNSCHEDULED_POD_UPDATE, now_ms);
}

void queue_update(struct queue *q, const struct pod *old, const struct pod *pod, int64_t now_ms)
{
    if (strcmp(old->meta.resource_version, pod->meta.resource_version) == 0)
        return;
    update(q, old, pod, now_ms);
    QUEUE_CHECKED(q);
    if (old->nominated_node == SYM_EMPTY || old->nominated_node == pod->nominated_node)
        return;
    /* What was promised to it is free again for pods that had to respect the promise. */
    struct cluster_event freed = { .resource = RES_ASSIGNED_POD, .action = ACT_DELETE, .old_object = old };
    queue_move_all(q, &freed, move_up_to_priority(old->priority), now_ms);
}

void queue_delete(struct queue *q, const struct pod *pod)
{
    nominator_remove(q->o.nominator, pod->meta.uid);
    struct queued_pod *qp = pod_index_find_name(&q->queued, pod->meta.ns, pod->meta.name);
    if (qp && strcmp(qp->pod->meta.uid, pod->meta.uid) == 0) /* else its successor is there already */
        drop(q, qp);
    QUEUE_CHECKED(q);
}

/* ---- What there is to see ---- */

struct queue_counts queue_counts(const struct queue *q)
{
    return (struct queue_counts){
        .active = q->active.n,
        .backoff = q->backoff.n + q->error_backoff.n,
        .unschedulable = q->unschedulable.n - q->n_gated,
        .gated = q->n_gated,
        .in_flight = q->in_flight.n,
        .done = q->n_done,
        .events = (uint32_t)(q->events.end - q->events.first),
    };
}

bool queue_is_ready(const struct queue *q)
{
    return q->active.n > 0 || (q->backoff.n > 0 && !q->o.no_early_pop);
}

const struct queued_pod *queue_find(const struct queue *q, sym ns, const char *name)
{
    return pod_index_find_name(&q->queued, ns, name);
}

uint32_t queue_rejected(const struct queue *q, uint32_t profile, uint8_t plugin)
{
    assert(profile < q->o.n_profiles);
    assert(plugin <= PLUGIN_EXTENDERS);
    return q->n_rejected[profile][plugin];
}

uint64_t queue_ever_rejected(const struct queue *q, uint32_t profile)
{
    assert(profile < q->o.n_profiles);
    return q->ever_rejected[profile];
}

uint64_t queue_incoming(const struct queue *q, enum queue_place place, uint16_t kind)
{
    assert(place < N_PLACES);
    assert(kind < N_EVENT_KINDS);
    return q->incoming[place][kind];
}

uint32_t queue_kept_events(const struct queue *q, uint16_t kind)
{
    assert(kind < N_EVENT_KINDS);
    return q->n_kept[kind];
}

static void each_of_heap(const struct heap *heap, void (*each)(void *, const struct queued_pod *), void *context)
{
    for (uint32_t i = 0; i < heap->n; i++)
        each(context, item(heap->nodes[i]));
}

static void each_of_list(const struct list *l, void (*each)(void *, const struct queued_pod *), void *context)
{
    for (struct list_node *n = list_first(l); n; n = list_next(l, n))
        each(context, LIST_ITEM(n, struct queued_pod, node));
}

void queue_each(const struct queue *q, enum queue_place place, void (*each)(void *, const struct queued_pod *),
                void *context)
{
    switch (place) {
    case PLACE_ACTIVE:
        each_of_heap(&q->active, each, context);
        break;
    case PLACE_BACKOFF:
        each_of_heap(&q->backoff, each, context);
        break;
    case PLACE_ERROR_BACKOFF:
        each_of_heap(&q->error_backoff, each, context);
        break;
    case PLACE_UNSCHEDULABLE:
        each_of_heap(&q->unschedulable, each, context);
        break;
    case PLACE_IN_FLIGHT:
        each_of_list(&q->flights, each, context);
        break;
    case PLACE_DONE:
        each_of_list(&q->done, each, context);
        break;
    default:
        break;
    }
}
