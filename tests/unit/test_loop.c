/* Loop: timers on a settable clock, deferred tasks, mail from threads, work on others. */
#include "http/loop.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/test.h"

struct watch {
    struct loop_timer timer;
    struct loop_task task;
    struct loop *loop;
    int n_fired, n_run, again;
};

static void fire(struct loop_timer *t)
{
    HEAP_ITEM(&t->node, struct watch, timer.node)->n_fired++;
}

static void run(struct loop_task *t)
{
    struct watch *w = LIST_ITEM(&t->node, struct watch, task.node);
    w->n_run++;
    if (w->again-- > 0)
        loop_defer(w->loop, t);
}

TEST(timers_fire_when_the_clock_passes_their_deadline)
{
    struct clock_manual clock;
    clock_manual_init(&clock, 0, 0);
    struct loop *l = loop_new(&clock.clock);
    struct watch a = { .timer.fire = fire }, b = { .timer.fire = fire };
    loop_timer_set(l, &a.timer, 1000);
    loop_timer_set(l, &b.timer, 2000);
    loop_run_once(l, false);
    CHECK_INT("not yet", a.n_fired + b.n_fired, 0);
    clock_manual_advance(&clock, 1000 * (int64_t)CLOCK_NS_PER_MS);
    loop_run_once(l, false);
    CHECK_INT("the first", a.n_fired, 1);
    CHECK_INT("not the second", b.n_fired, 0);
    loop_timer_stop(l, &b.timer);
    loop_timer_stop(l, &b.timer);
    clock_manual_advance(&clock, 5000 * (int64_t)CLOCK_NS_PER_MS);
    loop_run_once(l, false);
    CHECK_INT("stopped", b.n_fired, 0);
    CHECK(!loop_timer_is_set(&a.timer));
    loop_free(l);
}

TEST(a_sleeping_loop_wakes_for_its_timer)
{
    struct loop *l = loop_new(NULL);
    struct watch a = { .timer.fire = fire };
    loop_timer_set(l, &a.timer, loop_now_ms(l) + 5);
    while (!a.n_fired)
        loop_run_once(l, true);
    loop_free(l);
}

TEST(tasks_run_once_however_often_they_are_deferred)
{
    struct loop *l = loop_new(NULL);
    struct watch w = { .task.run = run, .loop = l, .again = 3 };
    loop_defer(l, &w.task);
    loop_defer(l, &w.task);
    loop_run_once(l, false);
    CHECK_INT("and again as they wish", w.n_run, 4);
    loop_defer(l, &w.task);
    loop_task_stop(&w.task);
    loop_run_once(l, false);
    CHECK_INT("stopped", w.n_run, 4);
    loop_free(l);
}

enum { N_THREADS = 4, N_MAILS = 5000 };

struct letter {
    struct loop_mail mail;
    struct loop *loop;
};

static int n_letters, n_done;

static void got_letter(struct loop_mail *own_mail)
{
    struct letter *letter = MAIL_ITEM(&own_mail->mail, struct letter, mail.mail);
    if (++n_letters == N_THREADS * N_MAILS)
        loop_stop(letter->loop);
    free(letter);
}

static void *post(void *loop)
{
    for (int i = 0; i < N_MAILS; i++) {
        struct letter *letter = mem_alloc(sizeof(*letter));
        *letter = (struct letter){ .mail.run = got_letter, .loop = loop };
        while (!loop_post(loop, &letter->mail))
            sched_yield();
    }
    return NULL;
}

TEST(mail_of_other_threads_arrives)
{
    struct loop *l = loop_new(NULL);
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, post, l) == 0);
    loop_run(l);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT("all", n_letters, N_THREADS * N_MAILS);
    loop_free(l);
}

static void work(void *context)
{
    *(pthread_t *)context = pthread_self();
}

static void work_done(void *context)
{
    (void)context;
    n_done++;
}

TEST(work_runs_elsewhere_and_its_end_is_told_here)
{
    struct loop *l = loop_new(NULL);
    pthread_t where = pthread_self();
    loop_work(l, work, work_done, &where);
    while (!n_done)
        loop_run_once(l, true);
    CHECK(!pthread_equal(where, pthread_self()));
    loop_free(l);
}
