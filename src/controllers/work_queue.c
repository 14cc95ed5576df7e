/* controllers/work_queue.c - see work_queue.h. Upstream: client-go's util/workqueue. */
#include "controllers/work_queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

enum { WORK_PER_TURN_MAX = 256 }; /* that begins in one turn of the loop */
enum { SHOW_MS = 500 }; /* how often that is counted which has not ended yet */

struct entry {
    struct list_node ready, at_work; /* in one of two lists at the most */
    int64_t since_ns; /* it became ready, or work on it began */
    struct loop_timer timer;
    struct work_queue *queue;
    uint32_t n_failures;
    bool working, again; /* was added while it is being worked on */
    size_t n_key;
    char key[];
};

struct work_queue {
    struct loop *loop;
    work_queue_work *work;
    void *context;
    struct map_str entries;
    struct list ready;
    struct loop_task task;
    uint32_t at_once, n_working, n_waiting;

    bool is_shown;
    struct work_queue_metrics metrics;
    struct list working; /* the oldest first */
    struct loop_timer show;
    uint32_t n_ready;
};

/* ---- Metrics ---- */

static int64_t now_ns(const struct work_queue *q)
{
    return clock_mono_ns(loop_clock(q->loop));
}

static double seconds_since(const struct work_queue *q, int64_t ns)
{
    return (double)(now_ns(q) - ns) / 1e9;
}

static void show_unfinished(struct loop_timer *t)
{
    struct work_queue *q = LIST_ITEM(t, struct work_queue, show);
    double sum = 0;
    for (struct list_node *n = list_first(&q->working); n; n = list_next(&q->working, n))
        sum += seconds_since(q, LIST_ITEM(n, struct entry, at_work)->since_ns);
    struct list_node *oldest = list_first(&q->working);
    series_set(q->metrics.unfinished, sum);
    series_set(q->metrics.longest, oldest ? seconds_since(q, LIST_ITEM(oldest, struct entry, at_work)->since_ns) : 0);
    if (oldest)
        loop_timer_set(q->loop, &q->show, loop_now_ms(q->loop) + SHOW_MS);
}

static void note_ready(struct entry *e)
{
    struct work_queue *q = e->queue;
    q->n_ready++;
    if (!q->is_shown)
        return;
    e->since_ns = now_ns(q);
    series_inc(q->metrics.adds);
    series_set(q->metrics.depth, q->n_ready);
}

static void note_begun(struct entry *e)
{
    struct work_queue *q = e->queue;
    q->n_ready--;
    list_push(&q->working, &e->at_work);
    if (!q->is_shown)
        return;
    series_set(q->metrics.depth, q->n_ready);
    series_observe(q->metrics.waited, seconds_since(q, e->since_ns));
    e->since_ns = now_ns(q);
    if (!loop_timer_is_set(&q->show))
        loop_timer_set(q->loop, &q->show, loop_now_ms(q->loop) + SHOW_MS);
}

static void note_done(struct entry *e)
{
    struct work_queue *q = e->queue;
    list_remove(&e->at_work);
    if (q->is_shown)
        series_observe(q->metrics.worked, seconds_since(q, e->since_ns));
}

static void note_delayed(struct work_queue *q)
{
    if (q->is_shown)
        series_inc(q->metrics.retries);
}

void work_queue_show(struct work_queue *q, struct work_queue_families *families, const char *name)
{
    if (!families)
        return;
    q->is_shown = true;
    q->metrics = work_queue_metrics_of(families, name);
}

/* ---- Keys ---- */

static struct str key_of(const struct entry *e)
{
    return (struct str){ e->key, e->n_key };
}

/* An entry that is nowhere and never failed is not kept. */
static void settle(struct entry *e)
{
    struct work_queue *q = e->queue;
    if (e->working || list_has(&e->ready) || loop_timer_is_set(&e->timer) || e->n_failures)
        return;
    map_str_remove(&q->entries, key_of(e), NULL);
    free(e);
}

/* Work that ends at once leaves room for the next: after some of it requests get their turn. */
static void begin_work(struct loop_task *t)
{
    struct work_queue *q = LIST_ITEM(t, struct work_queue, task);
    struct list_node *n;
    for (int i = 0; q->n_working < q->at_once && (n = list_first(&q->ready)); i++) {
        if (i == WORK_PER_TURN_MAX) {
            loop_defer(q->loop, &q->task);
            return;
        }
        struct entry *e = LIST_ITEM(n, struct entry, ready);
        list_remove(n);
        q->n_waiting--;
        q->n_working++;
        e->working = true;
        note_begun(e);
        q->work(q->context, key_of(e));
    }
}

static void make_ready(struct entry *e)
{
    struct work_queue *q = e->queue;
    if (e->working) {
        e->again = true;
        return;
    }
    if (list_has(&e->ready))
        return;
    list_push(&q->ready, &e->ready);
    q->n_waiting++;
    note_ready(e);
    loop_defer(q->loop, &q->task);
}

static void fire(struct loop_timer *t)
{
    struct entry *e = LIST_ITEM(t, struct entry, timer);
    e->queue->n_waiting--;
    make_ready(e);
}

static struct entry *entry_of(struct work_queue *q, struct str key)
{
    union map_value *found = map_str_find(&q->entries, key);
    if (found)
        return found->ptr;
    struct entry *e = mem_zalloc(sizeof(*e) + key.n);
    memcpy(e->key, key.p, key.n);
    e->n_key = key.n;
    e->queue = q;
    e->timer.fire = fire;
    bool is_new;
    map_str_put(&q->entries, key_of(e), &is_new)->ptr = e;
    return e;
}

static void stop_timer(struct entry *e)
{
    if (loop_timer_is_set(&e->timer))
        e->queue->n_waiting--;
    loop_timer_stop(e->queue->loop, &e->timer);
}

static void wait_for(struct entry *e, int64_t ms)
{
    int64_t at = loop_now_ms(e->queue->loop) + ms;
    if (loop_timer_is_set(&e->timer) && e->timer.deadline_ms <= at)
        return;
    stop_timer(e);
    loop_timer_set(e->queue->loop, &e->timer, at);
    e->queue->n_waiting++;
}

void work_queue_add(struct work_queue *q, struct str key)
{
    struct entry *e = entry_of(q, key);
    stop_timer(e);
    make_ready(e);
}

void work_queue_add_after(struct work_queue *q, struct str key, int64_t ms)
{
    struct entry *e = entry_of(q, key);
    note_delayed(q);
    if (!list_has(&e->ready))
        wait_for(e, ms);
}

static int64_t backoff_ms(uint32_t n_failures)
{
    int64_t ms = WORK_QUEUE_BACKOFF_MIN_MS;
    for (uint32_t i = 0; i < n_failures && ms < WORK_QUEUE_BACKOFF_MAX_MS; i++)
        ms *= 2;
    return ms < WORK_QUEUE_BACKOFF_MAX_MS ? ms : WORK_QUEUE_BACKOFF_MAX_MS;
}

void work_queue_done(struct work_queue *q, struct str key, enum work_outcome outcome)
{
    struct entry *e = entry_of(q, key);
    assert(e->working);
    e->working = false;
    q->n_working--;
    note_done(e);
    bool again = e->again;
    e->again = false;
    if (outcome == WORK_RETRY) {
        note_delayed(q);
        wait_for(e, backoff_ms(e->n_failures++));
    } else {
        e->n_failures = 0;
    }
    if (again)
        make_ready(e);
    settle(e);
    loop_defer(q->loop, &q->task);
}

struct work_queue *work_queue_new(struct loop *l, uint32_t at_once, work_queue_work *work, void *context)
{
    struct work_queue *q = mem_zalloc(sizeof(*q));
    q->loop = l;
    q->work = work;
    q->context = context;
    q->at_once = at_once;
    q->task.run = begin_work;
    map_str_init(&q->entries);
    list_init(&q->ready);
    list_init(&q->working);
    q->show.fire = show_unfinished;
    return q;
}

void work_queue_free(struct work_queue *q)
{
    if (!q)
        return;
    loop_task_stop(&q->task);
    loop_timer_stop(q->loop, &q->show);
    for (struct map_str_slot *s = NULL; (s = map_str_next(&q->entries, s));) {
        struct entry *e = s->value.ptr;
        loop_timer_stop(q->loop, &e->timer);
        free(e);
    }
    map_str_fini(&q->entries);
    free(q);
}

uint32_t work_queue_n_waiting(const struct work_queue *q)
{
    return q->n_waiting;
}
