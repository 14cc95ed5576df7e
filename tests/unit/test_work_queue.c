/* tests/unit/test_work_queue.c - keys are looked at once however often they are added, again when they change meanwhile, and later
 * after failures. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "controllers/work_queue.h"
#include "tests/test.h"

struct bench {
    struct clock_manual clock;
    struct loop *loop;
    struct work_queue *queue;
    struct strbuf log; /* keys in the order in which they were looked at */
    bool done_at_once;
    enum work_outcome outcome;
};

static void look(void *context, struct str key)
{
    struct bench *b = context;
    strbuf_printf(&b->log, "%.*s ", STR_ARG(key));
    if (b->done_at_once)
        work_queue_done(b->queue, key, b->outcome);
}

static void begin(struct bench *b, uint32_t at_once)
{
    *b = (struct bench){ .done_at_once = true };
    clock_manual_init(&b->clock, CLOCK_NS_PER_SECOND, 0);
    b->loop = loop_new(&b->clock.clock);
    b->queue = work_queue_new(b->loop, at_once, look, b);
    strbuf_init(&b->log, STRBUF_NO_MAX);
}

static void finish(struct bench *b)
{
    work_queue_free(b->queue);
    loop_free(b->loop);
    strbuf_fini(&b->log);
}

/* Time passes; what was looked at since the last time. */
static struct str after_ms(struct bench *b, int64_t ms)
{
    strbuf_reset(&b->log);
    clock_manual_advance(&b->clock, ms * CLOCK_NS_PER_MS);
    for (int i = 0; i < 5; i++)
        loop_run_once(b->loop, false);
    return strbuf_str(&b->log);
}

static void add(struct bench *b, const char *key)
{
    work_queue_add(b->queue, str_of(key));
}

static void done(struct bench *b, const char *key, enum work_outcome outcome)
{
    work_queue_done(b->queue, str_of(key), outcome);
}

TEST(a_key_that_is_added_often_is_looked_at_once)
{
    struct bench b;
    begin(&b, 1);
    add(&b, "a");
    add(&b, "b");
    add(&b, "a");
    CHECK_INT("waiting", work_queue_n_waiting(b.queue), 2);
    CHECK_STR("in order", after_ms(&b, 0), STR("a b "));
    CHECK_INT("waiting", work_queue_n_waiting(b.queue), 0);
    CHECK_STR("no more", after_ms(&b, 10000), STR(""));
    finish(&b);
}

TEST(a_key_that_is_added_while_it_is_worked_on_is_looked_at_once_more)
{
    struct bench b;
    begin(&b, 5);
    b.done_at_once = false;
    add(&b, "a");
    CHECK_STR("begins", after_ms(&b, 0), STR("a "));
    add(&b, "a");
    add(&b, "a");
    CHECK_STR("never twice at a time", after_ms(&b, 1000), STR(""));
    done(&b, "a", WORK_FORGET);
    CHECK_STR("once more", after_ms(&b, 0), STR("a "));
    done(&b, "a", WORK_FORGET);
    CHECK_STR("and that was all", after_ms(&b, 1000), STR(""));
    finish(&b);
}

TEST(only_so_many_are_worked_on_at_once)
{
    struct bench b;
    begin(&b, 2);
    b.done_at_once = false;
    add(&b, "a");
    add(&b, "b");
    add(&b, "c");
    CHECK_STR("two", after_ms(&b, 0), STR("a b "));
    CHECK_INT("waiting", work_queue_n_waiting(b.queue), 1);
    done(&b, "b", WORK_FORGET);
    CHECK_STR("the third", after_ms(&b, 0), STR("c "));
    done(&b, "a", WORK_FORGET);
    done(&b, "c", WORK_FORGET);
    finish(&b);
}

TEST(after_failures_a_key_waits_twice_as_long_each_time_up_to_a_bound)
{
    struct bench b;
    begin(&b, 1);
    b.outcome = WORK_RETRY;
    add(&b, "a");
    CHECK_STR("the first time", after_ms(&b, 0), STR("a "));
    int64_t wait = WORK_QUEUE_BACKOFF_MIN_MS;
    for (int i = 0; i < 25; i++) {
        CHECK_STR("not yet", after_ms(&b, wait - 1), STR(""));
        CHECK_INT("waiting", work_queue_n_waiting(b.queue), 1);
        CHECK_STR("now", after_ms(&b, 1), STR("a "));
        wait = wait * 2 < WORK_QUEUE_BACKOFF_MAX_MS ? wait * 2 : WORK_QUEUE_BACKOFF_MAX_MS;
    }
    CHECK_INT("the bound was reached", wait, WORK_QUEUE_BACKOFF_MAX_MS);
    b.outcome = WORK_FORGET;
    CHECK_STR("and once it goes well", after_ms(&b, wait), STR("a "));
    b.outcome = WORK_RETRY;
    add(&b, "a");
    after_ms(&b, 0);
    CHECK_STR("the next failure is a first one", after_ms(&b, WORK_QUEUE_BACKOFF_MIN_MS), STR("a "));
    finish(&b);
}

TEST(news_end_the_wait_of_a_key_that_failed)
{
    struct bench b;
    begin(&b, 1);
    b.outcome = WORK_RETRY;
    add(&b, "a");
    after_ms(&b, 0);
    b.outcome = WORK_FORGET;
    add(&b, "a");
    CHECK_INT("waits once", work_queue_n_waiting(b.queue), 1);
    CHECK_STR("at once", after_ms(&b, 0), STR("a "));
    CHECK_STR("and not again", after_ms(&b, 10000), STR(""));
    finish(&b);
}

TEST(of_two_times_the_earlier_counts)
{
    struct bench b;
    begin(&b, 1);
    work_queue_add_after(b.queue, STR("a"), 100);
    work_queue_add_after(b.queue, STR("a"), 50);
    work_queue_add_after(b.queue, STR("a"), 200);
    CHECK_INT("waiting", work_queue_n_waiting(b.queue), 1);
    CHECK_STR("not yet", after_ms(&b, 49), STR(""));
    CHECK_STR("the earlier one", after_ms(&b, 1), STR("a "));
    CHECK_STR("and only once", after_ms(&b, 1000), STR(""));
    add(&b, "b");
    work_queue_add_after(b.queue, STR("b"), 50);
    CHECK_INT("what is ready need not wait", work_queue_n_waiting(b.queue), 1);
    CHECK_STR("at once", after_ms(&b, 0), STR("b "));
    finish(&b);
}

TEST(a_time_that_comes_while_a_key_is_worked_on_is_kept)
{
    struct bench b;
    begin(&b, 1);
    b.done_at_once = false;
    add(&b, "a");
    after_ms(&b, 0);
    work_queue_add_after(b.queue, STR("a"), 10);
    CHECK_STR("never twice at a time", after_ms(&b, 20), STR(""));
    done(&b, "a", WORK_FORGET);
    CHECK_STR("behind the first", after_ms(&b, 0), STR("a "));
    done(&b, "a", WORK_FORGET);
    finish(&b);
}
