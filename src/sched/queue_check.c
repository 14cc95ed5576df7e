/* sched/queue_check.c - a chapter of queue.h: what must always hold of a queue:
 *
 *  1. Every record is in one place: one heap, or one list of popped pods, and the place it names is the one
 *     it is in.
 *  2. Queued pods are in the index of names, once each; pods in flight in the index of uids.
 *  3. No item of a heap must leave before its parent.
 *  4. An unschedulable pod has rejectors, is in the list of its profile, rejectors and gate, and in the
 *     heap of those whose wait becomes too long: so an event, or else time, wakes it. Only unschedulable
 *     pods are gated.
 *  5. Pods after an error are in the error backoff, others that back off are not.
 *  6. Wait lists are not empty; their sizes, the gated pods and the pods per rejector add up.
 *  7. No event is kept that no pod in flight needs; pods in flight need events in the order of popping. */
#include "sched/queue_priv.h"

struct tally {
    const struct queue *q;
    enum queue_place place;
    uint32_t n, n_gated;
    const struct queued_pod *before; /* of the walk */
    uint32_t (*n_rejected)[PLUGIN_EXTENDERS + 1];
};

static void count_rejectors(struct tally *t, const struct queued_pod *qp)
{
    if (qp->profile == PROFILE_NONE)
        return;
    for (uint64_t bits = queued_pod_rejectors(qp); bits; bits &= bits - 1)
        t->n_rejected[qp->profile][__builtin_ctzll(bits)]++;
}

static void check_waiting(const struct queued_pod *qp)
{
    const struct wait_list *list = qp->wait_list;
    assert(list);
    assert(list_has(&qp->node));
    assert(queued_pod_rejectors(qp) != 0);
    assert(list->rejectors == queued_pod_rejectors(qp));
    assert(list->profile == qp->profile);
    assert(list->gating_plugin == qp->gating_plugin);
}

static void check_queued(void *context, const struct queued_pod *qp)
{
    struct tally *t = context;
    assert(qp->place == t->place);
    assert(heap_has(&qp->heap));
    assert(pod_index_find_name(&t->q->queued, qp->pod->meta.ns, qp->pod->meta.name) == qp);
    assert(qp->priority == qp->pod->priority);
    if (t->place == PLACE_UNSCHEDULABLE) {
        check_waiting(qp);
        t->n_gated += queued_pod_is_gated(qp);
    } else {
        assert(!qp->wait_list);
        assert(!list_has(&qp->node));
        assert(!queued_pod_is_gated(qp));
    }
    if (t->place == PLACE_BACKOFF)
        assert(queued_pod_rejectors(qp) != 0);
    if (t->place == PLACE_ERROR_BACKOFF)
        assert(queued_pod_rejectors(qp) == 0);
    count_rejectors(t, qp);
    t->n++;
}

static void check_popped(void *context, const struct queued_pod *qp)
{
    struct tally *t = context;
    assert(qp->place == t->place);
    assert(!heap_has(&qp->heap));
    assert(list_has(&qp->node));
    assert(!qp->wait_list);
    if (t->place == PLACE_IN_FLIGHT) {
        assert(pod_index_find_uid(&t->q->in_flight, qp->pod->meta.uid) == qp);
        assert(qp->first_event >= t->q->events.first);
        assert(qp->first_event <= t->q->events.end);
        if (t->before)
            assert(t->before->cycle < qp->cycle && t->before->first_event <= qp->first_event);
        else
            assert(qp->first_event == t->q->events.first);
    }
    t->before = qp;
    t->n++;
}

static void check_heap(const struct heap *heap)
{
    for (uint32_t i = 0; i < heap->n; i++) {
        assert(heap->nodes[i]->place == i + 1);
        if (i > 0)
            assert(!heap->less(heap->nodes[i], heap->nodes[(i - 1) / 2], heap->context));
    }
}

static void check_wait_lists(const struct queue *q)
{
    uint32_t n = 0, n_gated = 0;
    for (struct list_node *c = list_first(&q->wait_lists); c; c = list_next(&q->wait_lists, c)) {
        const struct wait_list *list = LIST_ITEM(c, struct wait_list, node);
        uint32_t n_pods = 0;
        for (struct list_node *p = list_first(&list->pods); p; p = list_next(&list->pods, p))
            n_pods++;
        assert(n_pods > 0);
        assert(n_pods == list->n);
        assert(map_u64_find(&q->wait_list_of, list->hash));
        n += n_pods;
        n_gated += list->gating_plugin != PLUGIN_NONE ? n_pods : 0;
    }
    assert(n == q->unschedulable.n);
    assert(n_gated == q->n_gated);
}

static void check_events(const struct queue *q)
{
    uint64_t n = 0;
    for (uint32_t kind = 0; kind < N_EVENT_KINDS; kind++)
        n += q->n_kept[kind];
    assert(n == q->events.end - q->events.first);
    assert(n <= QUEUE_EVENTS_MAX);
    assert(q->in_flight.n > 0 || n == 0);
}

void queue_check(const struct queue *q)
{
    size_t n_bytes = q->o.n_profiles * sizeof(*q->n_rejected);
    struct tally t = { .q = q, .n_rejected = mem_zalloc(n_bytes) };
    check_heap(&q->active);
    check_heap(&q->backoff);
    check_heap(&q->error_backoff);
    check_heap(&q->unschedulable);
    for (t.place = PLACE_ACTIVE; t.place <= PLACE_UNSCHEDULABLE; t.place++)
        queue_each(q, t.place, check_queued, &t);
    assert(t.n == q->queued.n);
    assert(t.n_gated == q->n_gated);
    assert(memcmp(t.n_rejected, q->n_rejected, n_bytes) == 0);
    check_wait_lists(q);
    t.n = 0;
    t.place = PLACE_IN_FLIGHT;
    queue_each(q, t.place, check_popped, &t);
    assert(t.n == q->in_flight.n);
    t.n = 0;
    t.before = NULL;
    t.place = PLACE_DONE;
    queue_each(q, t.place, check_popped, &t);
    assert(t.n == q->n_done);
    check_events(q);
    free(t.n_rejected);
}
