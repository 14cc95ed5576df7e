/* sched/inflight.c - a chapter of queue.h: pods between queue_pop and queue_done, and the events since.
 *
 * While a pod is being tried it is in no place where an event could wake it. So every event that comes
 * in the meantime is kept; when the pod comes back rejected, it is judged by those that came after it
 * was popped. Upstream has one list of events with markers where pods were popped. Here events have
 * numbers, and a pod knows the number of the first that came after it; what the oldest pod in flight
 * does not need is dropped. */
#include "sched/queue_priv.h"

#include "base/mem.h"
#include "forms/form.h"
#include "forms/storage.h"
#include "forms/volume.h"

enum { FIRST_EVENTS = 64 };

/* Kinds without a typed form have events, but no objects. */
static void event_object_unref(struct sym_table *syms, enum event_resource resource, const void *object)
{
    if (!object)
        return;
    switch (resource) {
    case RES_POD:
    case RES_ASSIGNED_POD:
    case RES_UNSCHEDULED_POD:
    case RES_ANY: /* an activation names its pod */
        pod_unref(syms, object);
        break;
    case RES_NODE:
        node_unref(syms, object);
        break;
    case RES_PERSISTENT_VOLUME:
        pv_unref(syms, object);
        break;
    case RES_PERSISTENT_VOLUME_CLAIM:
        pvc_unref(syms, object);
        break;
    case RES_CSI_NODE:
        csi_node_unref(syms, object);
        break;
    case RES_CSI_DRIVER:
        csi_driver_unref(syms, object);
        break;
    case RES_VOLUME_ATTACHMENT:
        volume_attachment_unref(syms, object);
        break;
    case RES_CSI_STORAGE_CAPACITY:
        csi_storage_capacity_unref(syms, object);
        break;
    case RES_STORAGE_CLASS:
        storage_class_unref(syms, object);
        break;
    case RES_RESOURCE_CLAIM:
        resource_claim_unref(syms, object);
        break;
    case RES_RESOURCE_SLICE:
        resource_slice_unref(syms, object);
        break;
    case RES_DEVICE_CLASS:
        device_class_unref(syms, object);
        break;
    default:
        assert(!"an object of a kind that has no typed form");
    }
}

static void drop_first_event(struct queue *q)
{
    struct event_ring *ring = &q->events;
    struct cluster_event *event = &ring->at[ring->first++ & ring->mask];
    q->n_kept[event_kind(event)]--;
    event_object_unref(q->o.syms, event->resource, event->old_object);
    event_object_unref(q->o.syms, event->resource, event->new_object);
}

/* Drops what came before the oldest pod in flight was popped. */
static void trim(struct queue *q)
{
    struct list_node *oldest = list_first(&q->flights);
    uint64_t needed = oldest ? LIST_ITEM(oldest, struct queued_pod, node)->first_event : q->events.end;
    while (q->events.first < needed)
        drop_first_event(q);
}

void flight_release_events(struct queue *q)
{
    while (q->events.first < q->events.end)
        drop_first_event(q);
    free(q->events.at);
}

bool flight_begin(struct queue *q, struct queued_pod *qp)
{
    if (pod_index_find_uid(&q->in_flight, qp->pod->meta.uid))
        return false;
    qp->place = PLACE_IN_FLIGHT;
    qp->first_event = q->events.end;
    pod_index_put_uid(&q->in_flight, qp);
    list_push(&q->flights, &qp->node);
    return true;
}

void flight_end(struct queue *q, struct queued_pod *qp)
{
    pod_index_remove(&q->in_flight, qp);
    list_remove(&qp->node);
    trim(q);
}

static void ring_grow(struct event_ring *ring)
{
    uint64_t mask = ring->at ? ring->mask * 2 + 1 : FIRST_EVENTS - 1;
    struct cluster_event *at = mem_alloc(mem_product(mask + 1, sizeof(*at)));
    for (uint64_t n = ring->first; n < ring->end; n++)
        at[n & mask] = ring->at[n & ring->mask];
    free(ring->at);
    ring->at = at;
    ring->mask = mask;
}

void flight_keep_event(struct queue *q, const struct cluster_event *event)
{
    struct event_ring *ring = &q->events;
    if (q->in_flight.n == 0)
        return;
    uint64_t n = ring->end - ring->first;
    if (n >= QUEUE_EVENTS_MAX) {
        q->lost_cycle = q->cycle;
        return;
    }
    if (!ring->at || n > ring->mask)
        ring_grow(ring);
    if (event->old_object)
        form_ref(event->old_object);
    if (event->new_object)
        form_ref(event->new_object);
    ring->at[ring->end++ & ring->mask] = *event;
    q->n_kept[event_kind(event)]++;
}

enum strategy flight_strategy(struct queue *q, const struct queued_pod *qp)
{
    if (qp->place != PLACE_IN_FLIGHT) /* done already: what came since is not known */
        return STRATEGY_AFTER_BACKOFF;
    enum strategy best = qp->cycle <= q->lost_cycle ? STRATEGY_AFTER_BACKOFF : STRATEGY_SKIP;
    enum strategy enough = qp->rejectors.pending ? STRATEGY_IMMEDIATELY : STRATEGY_AFTER_BACKOFF;
    for (uint64_t n = qp->first_event; n < q->events.end && best < enough; n++) {
        enum strategy s = requeue_worth(q, qp, &q->events.at[n & q->events.mask]);
        best = s > best ? s : best;
    }
    return best;
}
