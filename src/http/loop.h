/* http/loop.h - one event loop for one thread: sockets (libuv), timers, deferred work, messages from other threads.
 *
 * What a loop offers besides libuv's handles:
 *   - timers that are plain members of their owner: setting and stopping never allocates and needs no closing, so an
 *     owner may be freed at once. They run on the loop's clock, which a test may move by hand.
 *   - deferred tasks: run after the callback at hand and before the loop sleeps again. Connections flush there, so
 *   that all that one batch of input caused goes out in one write, and nobody is freed below a caller's feet.
 *   - mail from other threads, in batches, bounded.
 *   - work on libuv's threads (files, key generation), with the answer back on the loop.
 *
 * Thread: the one that runs it, except loop_post, loop_wake and loop_stop: any.
 * Owns: nothing of its users; everyone closes what he opened before loop_free. */
#pragma once

#include <uv.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/mailbox.h"
#include "base/strbuf.h"

#define LOOP_MAILS_MAX 65536
#define LOOP_READ_BYTES 65536 /* taken from a socket at once */
#define LOOP_SCRATCHES 3

struct loop;

/* NULL: the clock of the machine. It must outlive the loop. */
struct loop *loop_new(const struct clock *clock);
/* Everything must be closed or closing; waits for close callbacks, and runs mail that is still there. */
void loop_free(struct loop *l);

/* Until loop_stop. */
void loop_run(struct loop *l);
/* One turn: waits for something to happen if `wait` and nothing was ready. */
void loop_run_once(struct loop *l, bool wait);
void loop_stop(struct loop *l);
/* Makes a sleeping loop look at its timers and mail. */
void loop_wake(struct loop *l);

uv_loop_t *loop_uv(struct loop *l);
const struct clock *loop_clock(const struct loop *l);
int64_t loop_now_ms(const struct loop *l);

/* ---- Timers ---- */

struct loop_timer {
    struct heap_node node;
    int64_t deadline_ms; /* by loop_now_ms */
    void (*fire)(struct loop_timer *t);
};

/* Sets or moves it. It fires once, not before the deadline. */
void loop_timer_set(struct loop *l, struct loop_timer *t, int64_t deadline_ms);
/* May be called at any time. */
void loop_timer_stop(struct loop *l, struct loop_timer *t);
static inline bool loop_timer_is_set(const struct loop_timer *t)
{
    return heap_has(&t->node);
}

/* ---- Deferred tasks ---- */

struct loop_task {
    struct list_node node;
    void (*run)(struct loop_task *t);
};

/* Once, however often it is asked for before it runs. */
void loop_defer(struct loop *l, struct loop_task *t);
void loop_task_stop(struct loop_task *t);

/* ---- Other threads ---- */

struct loop_mail {
    struct mail mail;
    void (*run)(struct loop_mail *own_mail); /* on the loop's thread */
};

/* False when LOOP_MAILS_MAX wait: the message stays the caller's. */
bool loop_post(struct loop *l, struct loop_mail *own_mail);

/* `work` runs on a thread of libuv's pool, then `done` on the loop. */
void loop_work(struct loop *l, void (*work)(void *context), void (*done)(void *context), void *context);

/* ---- Shared room ---- */

/* LOOP_READ_BYTES for reads whose bytes are used up before the callback returns. */
char *loop_read_room(struct loop *l);
/* Scratch for output, empty: for use within one callback. `which` is below LOOP_SCRATCHES. */
struct strbuf *loop_scratch(struct loop *l, int which);
