/* sched/backoff.c - a chapter of queue.h: pods that failed and must not be tried again at once.
 *
 * The wait doubles with every failure up to a maximum. It ends at a whole second, and a pod is through with
 * it in the first whole second after that; pods of one second are ordered as active pods are. So the flush,
 * which comes once a second, always moves whole seconds, and among pods that end together the most important
 * is tried first. Pods that failed by an error have a heap of their own: they are never tried early. */
#include "base/arith.h"
#include "sched/queue_priv.h"

enum { WINDOW_MS = 1000 };

static struct queued_pod *item(const struct heap_node *node)
{
    return HEAP_ITEM(node, struct queued_pod, heap);
}

/* The whole second in which t is; with early popping off seconds mean nothing. */
static int64_t window_of(const struct queue *q, int64_t t_ms)
{
    if (q->o.no_early_pop)
        return t_ms;
    int64_t rest = t_ms % WINDOW_MS;
    return sat_sub(t_ms, rest < 0 ? rest + WINDOW_MS : rest);
}

static int64_t duration_ms(const struct queue *q, uint32_t n_failures)
{
    uint32_t shift = n_failures - 1;
    int64_t most = shift < 63 ? q->o.max_backoff_ms >> shift : 0;
    if (q->o.initial_backoff_ms > most)
        return q->o.max_backoff_ms;
    return shift < 63 ? q->o.initial_backoff_ms << shift : 0;
}

void backoff_compute(const struct queue *q, struct queued_pod *qp)
{
    uint32_t n = qp->consecutive_errors ? qp->consecutive_errors : qp->unschedulable_count;
    int64_t expiry = sat_add(qp->timestamp_ms, duration_ms(q, n ? n : 1));
    if (n == 0 || q->o.max_backoff_ms == 0)
        qp->backoff_expiry_ms = TIME_NONE;
    else
        qp->backoff_expiry_ms = expiry == INT64_MAX ? INT64_MAX : window_of(q, expiry); /* never stays never */
}

bool backoff_is_pending(const struct queue *q, const struct queued_pod *qp, int64_t now_ms)
{
    return qp->backoff_expiry_ms >= window_of(q, now_ms);
}

static bool less_by_expiry(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    return item(a)->backoff_expiry_ms < item(b)->backoff_expiry_ms;
}

static bool less_by_expiry_then_order(const struct heap_node *a, const struct heap_node *b, void *context)
{
    const struct queue *q = context;
    if (item(a)->backoff_expiry_ms != item(b)->backoff_expiry_ms)
        return item(a)->backoff_expiry_ms < item(b)->backoff_expiry_ms;
    return q->sort->plugin->less(q->sort, item(a), item(b));
}

void backoff_init(struct queue *q)
{
    heap_init(&q->backoff, q->o.no_early_pop ? less_by_expiry : less_by_expiry_then_order, q);
    heap_init(&q->error_backoff, less_by_expiry, q);
}

void backoff_enter(struct queue *q, struct queued_pod *qp, uint16_t kind)
{
    bool rejected = queued_pod_rejectors(qp) != 0;
    qp->place = rejected ? PLACE_BACKOFF : PLACE_ERROR_BACKOFF;
    heap_push(rejected ? &q->backoff : &q->error_backoff, &qp->heap);
    q->incoming[PLACE_BACKOFF][kind]++;
}

static void flush(struct queue *q, struct heap *heap, int64_t now_ms)
{
    for (struct heap_node *top; (top = heap_top(heap)) && !backoff_is_pending(q, item(top), now_ms);) {
        queue_leave_place(q, item(top));
        enqueue_active(q, item(top), KIND_BACKOFF_COMPLETE, !q->o.no_early_pop, now_ms);
    }
}

void queue_flush_backoff(struct queue *q, int64_t now_ms)
{
    flush(q, &q->backoff, now_ms);
    flush(q, &q->error_backoff, now_ms);
    arena_reset(&q->arena);
    QUEUE_CHECKED(q);
}

/* The first whole second after the expiry of the first in the heap. */
static int64_t due_ms(const struct queue *q, const struct heap *heap)
{
    if (!heap_top(heap))
        return INT64_MAX;
    return sat_add(item(heap_top(heap))->backoff_expiry_ms, q->o.no_early_pop ? 1 : WINDOW_MS);
}

int64_t queue_backoff_due_ms(const struct queue *q)
{
    int64_t a = due_ms(q, &q->backoff), b = due_ms(q, &q->error_backoff);
    return a < b ? a : b;
}
