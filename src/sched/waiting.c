/* sched/waiting.c - unschedulable pods, by class, and in the order in which their wait becomes too long.
 *
 * A class is what decides, before any look at the pod or at the objects, whether an event can concern it:
 * the profile, the plugins that rejected the pod, and the one that gates it. There are as many classes as
 * combinations in use, a few dozen even in a large cluster. */
#include "sched/queue_priv.h"

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
    list_init(&q->classes);
    map_u64_init(&q->class_of);
    q->seed = hash_seed();
}

void waiting_fini(struct queue *q)
{
    assert(list_is_empty(&q->classes));
    heap_fini(&q->unschedulable);
    map_u64_fini(&q->class_of);
}

/* ---- Classes ---- */

static bool belongs(const struct wait_class *class, const struct queued_pod *qp)
{
    return class->rejectors == queued_pod_rejectors(qp) && class->profile == qp->profile &&
           class->gating_plugin == qp->gating_plugin;
}

static uint64_t class_hash(const struct queue *q, const struct queued_pod *qp)
{
    uint64_t small = (uint64_t)qp->profile << 8 | qp->gating_plugin;
    /* one bit less: MAP_NO_KEY is no hash */
    return hash_u64(&q->seed, hash_u64(&q->seed, queued_pod_rejectors(qp)) ^ small) >> 1;
}

static struct wait_class *class_for(struct queue *q, const struct queued_pod *qp)
{
    uint64_t hash = class_hash(q, qp);
    union map_value *slot = map_u64_put(&q->class_of, hash, NULL);
    for (struct wait_class *class = slot->ptr; class; class = class->next_same_hash)
        if (belongs(class, qp))
            return class;
    struct wait_class *class = mem_zalloc(sizeof(*class));
    *class = (struct wait_class){
        .profile = qp->profile,
        .gating_plugin = qp->gating_plugin,
        .rejectors = queued_pod_rejectors(qp),
        .hash = hash,
        .next_same_hash = slot->ptr,
    };
    list_init(&class->pods);
    list_push(&q->classes, &class->node);
    slot->ptr = class;
    return class;
}

static void class_free(struct queue *q, struct wait_class *class)
{
    union map_value *slot = map_u64_find(&q->class_of, class->hash);
    struct wait_class *first = slot->ptr;
    if (first == class) {
        slot->ptr = class->next_same_hash;
    } else {
        while (first->next_same_hash != class)
            first = first->next_same_hash;
        first->next_same_hash = class->next_same_hash;
    }
    if (!slot->ptr)
        map_u64_remove(&q->class_of, class->hash, NULL);
    list_remove(&class->node);
    free(class);
}

static void class_add(struct queue *q, struct wait_class *class, struct queued_pod *qp)
{
    qp->class = class;
    list_push(&class->pods, &qp->node);
    class->n++;
    q->n_gated += class->gating_plugin != PLUGIN_NONE;
}

static void class_remove(struct queue *q, struct queued_pod *qp)
{
    struct wait_class *class = qp->class;
    qp->class = NULL;
    list_remove(&qp->node);
    q->n_gated -= class->gating_plugin != PLUGIN_NONE;
    if (--class->n == 0)
        class_free(q, class);
}

/* ---- Pods ---- */

void waiting_enter(struct queue *q, struct queued_pod *qp, uint16_t kind)
{
    if (qp->place == PLACE_UNSCHEDULABLE) {
        if (belongs(qp->class, qp))
            return;
        class_remove(q, qp);
    } else {
        qp->place = PLACE_UNSCHEDULABLE;
        heap_push(&q->unschedulable, &qp->heap);
        q->incoming[PLACE_UNSCHEDULABLE][kind]++;
    }
    class_add(q, class_for(q, qp), qp);
}

void waiting_leave(struct queue *q, struct queued_pod *qp)
{
    class_remove(q, qp);
    heap_remove(&q->unschedulable, &qp->heap);
    qp->place = PLACE_NONE;
}

static bool is_concerned(const struct wait_class *class, const uint64_t *interest)
{
    if (!interest || class->profile == PROFILE_NONE)
        return true;
    uint64_t plugins = interest[class->profile];
    if (class->gating_plugin != PLUGIN_NONE && !(plugins >> class->gating_plugin & 1))
        return false;
    return plugins & class->rejectors;
}

void waiting_collect(struct queue *q, const uint64_t *interest, const struct move_check *check)
{
    vec_reset(&q->moving);
    for (struct list_node *c = list_first(&q->classes); c; c = list_next(&q->classes, c)) {
        struct wait_class *class = LIST_ITEM(c, struct wait_class, node);
        if (!is_concerned(class, interest))
            continue;
        for (struct list_node *p = list_first(&class->pods); p; p = list_next(&class->pods, p)) {
            struct queued_pod *qp = LIST_ITEM(p, struct queued_pod, node);
            if (!check->passes || check->passes(check, qp->pod))
                vec_push(&q->moving, qp);
        }
    }
}

static bool is_overdue(const struct queue *q, const struct queued_pod *qp, int64_t now_ms)
{
    return now_ms - since_ms(qp) > q->o.unschedulable_ms_max;
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
    int64_t due, since = since_ms(item(heap_top(&q->unschedulable)));
    bool never = __builtin_add_overflow(since, q->o.unschedulable_ms_max, &due) || due == INT64_MAX;
    return never ? INT64_MAX : due + 1;
}
