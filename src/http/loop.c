/* http/loop.c - see loop.h.
 *
 * A turn of libuv is: timers, idle, prepare, poll, check, close callbacks. Mail, timers and deferred tasks run in
 * prepare and again in check: whatever a callback of any phase deferred has run before the loop sleeps. */
#include "http/loop.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t alarm;       /* for the earliest timer */
    uv_async_t async;       /* rings for mail, loop_wake and loop_stop */
    struct mailbox mailbox;
    struct heap timers;
    struct list tasks;
    const struct clock *clock;
    int64_t alarm_ms;       /* what the alarm is set to; INT64_MAX = not set */
    uint64_t n_ran;         /* mail, timers and tasks so far */
    _Atomic bool stopping;
    char *read_room;
    struct strbuf scratch[LOOP_SCRATCHES];
};

#define TIMER(n) HEAP_ITEM(n, struct loop_timer, node)

static bool earlier(const struct heap_node *a, const struct heap_node *b, void *context)
{
    (void)context;
    return TIMER(a)->deadline_ms < TIMER(b)->deadline_ms;
}

static void run_mail(struct loop *l)
{
    for (struct mail *at = mailbox_take(&l->mailbox), *after; at; at = after) {
        after = at->next;
        struct loop_mail *mail = MAIL_ITEM(at, struct loop_mail, mail);
        l->n_ran++;
        mail->run(mail);
    }
}

/* Only timers that were due at the start: one that sets itself again for now waits a turn. */
static void run_timers(struct loop *l)
{
    int64_t now_ms = loop_now_ms(l);
    for (struct heap_node *top; (top = heap_top(&l->timers)) && TIMER(top)->deadline_ms <= now_ms;) {
        struct loop_timer *t = TIMER(heap_pop(&l->timers));
        l->n_ran++;
        t->fire(t);
    }
}

/* Tasks that tasks defer run too, up to a bound: sockets get their turn in any case. */
static void run_tasks(struct loop *l)
{
    struct list_node *last = l->tasks.end.prev;
    for (int round = 0; round < 8 && !list_is_empty(&l->tasks); round++, last = l->tasks.end.prev) {
        for (bool more = true; more && !list_is_empty(&l->tasks);) {
            struct list_node *n = list_first(&l->tasks);
            more = n != last;
            list_remove(n);
            l->n_ran++;
            struct loop_task *t = LIST_ITEM(n, struct loop_task, node);
            t->run(t);
        }
    }
}

static void on_alarm(uv_timer_t *alarm)
{
    ((struct loop *)alarm->data)->alarm_ms = INT64_MAX;
}

static void set_alarm(struct loop *l)
{
    struct heap_node *top = heap_top(&l->timers);
    int64_t want_ms = !list_is_empty(&l->tasks) ? 0 : top ? TIMER(top)->deadline_ms : INT64_MAX;
    if (want_ms == l->alarm_ms)
        return;
    l->alarm_ms = want_ms;
    if (want_ms == INT64_MAX) {
        uv_timer_stop(&l->alarm);
        return;
    }
    int64_t delay_ms = want_ms - loop_now_ms(l);
    uv_update_time(&l->uv);
    uv_timer_start(&l->alarm, on_alarm, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

static void run_ready(struct loop *l)
{
    run_mail(l);
    run_timers(l);
    run_tasks(l);
    set_alarm(l);
    if (atomic_load(&l->stopping))
        uv_stop(&l->uv);
}

static void on_prepare(uv_prepare_t *h)
{
    run_ready(h->data);
}

static void on_check(uv_check_t *h)
{
    run_ready(h->data);
}

static void on_async(uv_async_t *h)
{
    (void)h; /* waking is all: what is there runs in check */
}

void loop_wake(struct loop *l)
{
    uv_async_send(&l->async);
}

static void wake_for_mail(void *loop)
{
    loop_wake(loop);
}

struct loop *loop_new(const struct clock *clock)
{
    struct loop *l = mem_zalloc(sizeof(*l));
    int rc = uv_loop_init(&l->uv);
    assert(rc == 0);
    uv_prepare_init(&l->uv, &l->prepare);
    uv_check_init(&l->uv, &l->check);
    uv_timer_init(&l->uv, &l->alarm);
    rc = uv_async_init(&l->uv, &l->async, on_async);
    assert(rc == 0);
    l->prepare.data = l->check.data = l->alarm.data = l->async.data = l;
    uv_prepare_start(&l->prepare, on_prepare);
    uv_check_start(&l->check, on_check);
    mailbox_init(&l->mailbox, LOOP_MAILS_MAX, wake_for_mail, l);
    heap_init(&l->timers, earlier, NULL);
    list_init(&l->tasks);
    l->clock = clock ? clock : &clock_real;
    l->alarm_ms = INT64_MAX;
    l->read_room = mem_alloc(LOOP_READ_BYTES);
    for (int i = 0; i < LOOP_SCRATCHES; i++)
        strbuf_init(&l->scratch[i], STRBUF_NO_MAX);
    return l;
}

static void close_handle(uv_handle_t *h, void *context)
{
    (void)context;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

void loop_free(struct loop *l)
{
    run_ready(l);
    run_mail(l);
    uv_handle_t *own[] = { (uv_handle_t *)&l->prepare, (uv_handle_t *)&l->check, (uv_handle_t *)&l->alarm,
                           (uv_handle_t *)&l->async };
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        close_handle(own[i], NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    int rc = uv_loop_close(&l->uv);
    assert(rc == 0); /* someone left a handle open */
    mailbox_fini(&l->mailbox);
    assert(l->timers.n == 0);
    assert(list_is_empty(&l->tasks));
    heap_fini(&l->timers);
    for (int i = 0; i < LOOP_SCRATCHES; i++)
        strbuf_fini(&l->scratch[i]);
    free(l->read_room);
    free(l);
}

void loop_run(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
    atomic_store(&l->stopping, false);
}

void loop_run_once(struct loop *l, bool wait)
{
    uint64_t n_before = l->n_ran;
    run_ready(l);
    uv_run(&l->uv, wait && l->n_ran == n_before ? UV_RUN_ONCE : UV_RUN_NOWAIT);
}

void loop_stop(struct loop *l)
{
    atomic_store(&l->stopping, true);
    loop_wake(l);
}

uv_loop_t *loop_uv(struct loop *l)
{
    return &l->uv;
}

const struct clock *loop_clock(const struct loop *l)
{
    return l->clock;
}

int64_t loop_now_ms(const struct loop *l)
{
    return clock_mono_ms(l->clock);
}

void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t deadline_ms)
{
    t->deadline_ms = deadline_ms;
    if (heap_has(&t->node))
        heap_update(&l->timers, &t->node);
    else
        heap_push(&l->timers, &t->node);
}

void loop_timer_stop(struct loop *l, struct loop_timer *t)
{
    if (heap_has(&t->node))
        heap_remove(&l->timers, &t->node);
}

void loop_defer(struct loop *l, struct loop_task *t)
{
    if (!list_has(&t->node))
        list_push(&l->tasks, &t->node);
}

void loop_task_stop(struct loop_task *t)
{
    if (list_has(&t->node))
        list_remove(&t->node);
}

bool loop_post(struct loop *l, struct loop_mail *own_mail)
{
    return mailbox_post(&l->mailbox, &own_mail->mail);
}

struct job {
    uv_work_t work;
    void (*run)(void *context), (*done)(void *context);
    void *context;
};

static void run_job(uv_work_t *work)
{
    struct job *j = work->data;
    j->run(j->context);
}

static void job_done(uv_work_t *work, int status)
{
    (void)status; /* jobs are never cancelled */
    struct job *j = work->data;
    j->done(j->context);
    free(j);
}

void loop_work(struct loop *l, void (*work)(void *context), void (*done)(void *context), void *context)
{
    struct job *j = mem_zalloc(sizeof(*j));
    *j = (struct job){ .run = work, .done = done, .context = context };
    j->work.data = j;
    uv_queue_work(&l->uv, &j->work, run_job, job_done);
}

char *loop_read_room(struct loop *l)
{
    return l->read_room;
}

struct strbuf *loop_scratch(struct loop *l, int which)
{
    strbuf_reset(&l->scratch[which]);
    return &l->scratch[which];
}
