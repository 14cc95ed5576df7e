/* controllers/work_queue.h - keys that are to be looked at, each once however often it was added, and again later after failures.
 *
 * A key is ready, waiting (for its time), or being worked on; what is added while it is being worked on is looked at once more
 * when that is over. After a failure it waits 5 ms, and twice as long each time, up to 1000 s, as upstream's queues.
 *
 * Thread: the loop's.    Owns: copies of keys. */
#pragma once

#include "base/str.h"
#include "client/queue_metrics.h"
#include "http/loop.h"

enum { WORK_QUEUE_BACKOFF_MIN_MS = 5, WORK_QUEUE_BACKOFF_MAX_MS = 1000 * 1000 };

struct work_queue;

/* Looks at a key. When it returns, or later, work_queue_done says how that went. The key is good until then. */
typedef void work_queue_work(void *context, struct str key);

/* `at_once`: how many keys may be worked on at the same time. */
struct work_queue *work_queue_new(struct loop *l, uint32_t at_once, work_queue_work *work, void *context);
void work_queue_free(struct work_queue *q);

/* Shows the queue under that name; at once after it was made. Without `families` nothing is shown. */
void work_queue_show(struct work_queue *q, struct work_queue_families *families, const char *name);

void work_queue_add(struct work_queue *q, struct str key);
void work_queue_add_after(struct work_queue *q, struct str key, int64_t ms);

enum work_outcome { WORK_FORGET, WORK_RETRY /* after its back-off */ };
void work_queue_done(struct work_queue *q, struct str key, enum work_outcome outcome);

uint32_t work_queue_n_waiting(const struct work_queue *q); /* ready and waiting */
