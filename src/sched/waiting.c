/* sched/waiting.c - a chapter of queue.h: unschedulable pods, by list, and in the order in which their wait
 * becomes too long.
 *
 * A list has what decides, before any look at the pod or at the objects, whether an event can concern it:
 * the profile, the plugins that rejected the pod, and the one that gates it. There are as many lists as
 * combinations in use, a few dozen even in a large cluster. */
#include "sched/queue_priv.h"

#include "base/arith.h"
#include "base/mem.h"

static struct queued_pod *item(const struct heap_node *node)
{
    return HEAP_ITEM(node, struct queued_pod, heap);
}

/* Since when it waits. */
static int64_t since_ms(const struct queued_pod *qp)
{
    return qp->flush_ms > qp->timestamp_ms ? qp->flush_ms : qp->timestamp_ms;
}

static bool less_by_wait(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    if (since_ms(item(a)) != since_ms(item(b)))
        return since_ms(item(a)) < since_ms(item(b));
    return item(a)->sequence < item(b)->sequence;
}

void waiting_init(struct queue *q)
{
    heap_init(&q->unschedulable, less_by_wait, q);
    list_init(&q->wait_lists);
    map_u64_init(&q->wait_list_of);
    q->seed = hash_seed();
}

void waiting_fini(struct queue *q)
{
    assert(list_is_empty(&q->wait_lists));
    heap_fini(&q->unschedulable);
    map_u64_fini(&q->wait_list_of);
}

/* ---- Wait lists ---- */

static bool belongs(const struct wait_list *list, const struct queued_pod *qp)
{
    return list->rejectors == queued_pod_rejectors(qp) && list->profile == qp->profile &&
           list->gating_plugin == qp->gating_plugin;
}

static uint64_t wait_list_hash(const struct queue *q, const struct queued_pod *qp)
{
    uint64_t small = (uint64_t)qp->profile << 8 | qp->gating_plugin;
    /* one bit less: MAP_NO_KEY is no hash */
    return hash_u64(&q->seed, hash_u64(&q->seed, queued_pod_rejectors(qp)) ^ small) >> 1;
}

static struct wait_list *wait_list_for(struct queue *q, const struct queued_pod *qp)
{
    uint64_t hash = wait_list_hash(q, qp);
    union map_value *slot = map_u64_put(&q->wait_list_of, hash, NULL);
    for (struct wait_list *list = slot->ptr; list; list = list->next_same_hash)
        if (belongs(list, qp))
            return list;
    struct wait_list *list = mem_zalloc(sizeof(*list));
    *list = (struct wait_list){
        .profile = qp->profile,
        .gating_plugin = qp->gating_plugin,
        .rejectors = queued_pod_rejectors(qp),
        .hash = hash,
        .next_same_hash = slot->ptr,
    };
    list_init(&list->pods);
    list_push(&q->wait_lists, &list->node);
    slot->ptr = list;
    return list;
}

static void wait_list_free(struct queue *q, struct wait_list *list)
{
    union map_value *slot = map_u64_find(&q->wait_list_of, list->hash);
    struct wait_list *first = slot->ptr;
    if (first == list) {
        slot->ptr = list->next_same_hash;
    } else {
        while (first->next_same_hash != list)
            first = first->next_same_hash;
        first->next_same_hash = list->next_same_hash;
    }
    if (!slot->ptr)
        map_u64_remove(&q->wait_list_of, list->hash, NULL);
    list_remove(&list->node);
    free(list);
}

static void wait_list_add(struct queue *q, struct wait_list *list, struct queued_pod *qp)
{
    qp->wait_list = list;
    list_push(&list->pods, &qp->node);
    list->n++;
    q->n_gated += list->gating_plugin != PLUGIN_NONE;
}

static void wait_list_remove(struct queue *q, struct queued_pod *qp)
{
    struct wait_list *list = qp->wait_list;
    qp->wait_list = NULL;
    list_remove(&qp->node);
    q->n_gated -= list->gating_plugin != PLUGIN_NONE;
    if (--list->n == 0)
        wait_list_free(q, list);
}

/* ---- Pods ---- */

void waiting_enter(struct queue *q, struct queued_pod *qp, uint16_t kind)
{
    if (qp->place == PLACE_UNSCHEDULABLE) {
        if (belongs(qp->wait_list, qp))
            return;
        wait_list_remove(q, qp);
    } else {
        qp->place = PLACE_UNSCHEDULABLE;
        heap_push(&q->unschedulable, &qp->heap);
        q->incoming[PLACE_UNSCHEDULABLE][kind]++;
    }
    wait_list_add(q, wait_list_for(q, qp), qp);
}

void waiting_leave(struct queue *q, struct queued_pod *qp)
{
    wait_list_remove(q, qp);
    heap_remove(&q->unschedulable, &qp->heap);
    qp->place = PLACE_NONE;
}

static bool is_concerned(const struct wait_list *list, const uint64_t *interest)
{
    if (!interest || list->profile == PROFILE_NONE)
        return true;
    uint64_t plugins = interest[list->profile];
    if (list->gating_plugin != PLUGIN_NONE && !(plugins >> list->gating_plugin & 1))
        return false;
    return plugins & list->rejectors;
}

void waiting_collect(struct queue *q, const uint64_t *interest, const struct move_check *check)
{
    vec_reset(&q->moving);
    for (struct list_node *c = list_first(&q->wait_lists); c; c = list_next(&q->wait_lists, c)) {
        struct wait_list *list = LIST_ITEM(c, struct wait_list, node);
        if (!is_concerned(list, interest))
            continue;
        for (struct list_node *p = list_first(&list->pods); p; p = list_next(&list->pods, p)) {
            struct queued_pod *qp = LIST_ITEM(p, struct queued_pod, node);
            if (!check->passes || check->passes(check, qp->pod))
                vec_push(&q->moving, qp);
        }
    }
}

static bool is_overdue(const struct queue *q, const struct queued_pod *qp, int64_t now_ms)
{
    return sat_sub(now_ms, since_ms(qp)) > q->o.unschedulable_ms_max;
}

void waiting_collect_overdue(struct queue *q, int64_t now_ms)
{
    vec_reset(&q->moving);
    for (struct heap_node *top; (top = heap_top(&q->unschedulable)) && is_overdue(q, item(top), now_ms);) {
        item(top)->flush_ms = now_ms;
        heap_update(&q->unschedulable, top);
        vec_push(&q->moving, item(top));
    }
}

int64_t queue_unschedulable_due_ms(const struct queue *q)
{
    if (!heap_top(&q->unschedulable))
        return INT64_MAX;
    int64_t since = since_ms(item(heap_top(&q->unschedulable)));
    return sat_add(sat_add(since, q->o.unschedulable_ms_max), 1);
}
