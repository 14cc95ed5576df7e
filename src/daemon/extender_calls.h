/* daemon/extender_calls.h - implements io.call_extender: requests from the scheduling thread over the loop to
 * extenders, and their answers back.
 *
 * All requests of one call go out at once, and the scheduling thread waits until every one has its answer. It never
 * waits for ever: each request has its time, the loop counts it, and a little later the thread stops waiting by itself,
 * should the loop be busy or gone; extender_calls_end stops it at once. Answers that nobody waits for any more are
 * dropped. Requests to bind are not waited for: `bound` tells how they end.
 *
 * Thread: extender_calls_ask: the scheduling thread. extender_calls_end: any. extender_calls_connect: the loop's.
 * Owns: requests and answers on their way. */
#pragma once

#include "daemon/extender_client.h"
#include "daemon/raw_objects.h"
#include "sched/extender.h"

#define EXTENDER_GRACE_MS 2000 /* beyond a request's time, before the thread stops waiting by itself */

struct extender_calls;

struct extender_calls_options {
    struct loop *loop;
    struct sym_table *syms;
    struct raw_objects *raw;
    const struct extender_config *const *configs; /* of `extenders`; both live as long */
    struct extender *const *extenders;
    uint32_t n_extenders;
    /* A request to bind has ended, `error` NULL: well. The text lives during the call. Called on the loop; from within
     * extender_calls_ask when the loop takes no more mail: so it may only post. */
    void (*bound)(void *context, io_ticket ticket, const char *error);
    void *context;
};

/* NULL with errno when the system has no descriptor to give. */
struct extender_calls *extender_calls_new(const struct extender_calls_options *o);
/* The scheduling thread has ended. What is on its way is freed when it comes back. */
void extender_calls_free(struct extender_calls *c);

/* Who carries the requests; NULL: nobody (any more), and all fail. */
void extender_calls_connect(struct extender_calls *c, struct extender_client *client);
/* Asked on the loop before a pod is bound: who may have lost the lease binds nothing. NULL: always. */
void extender_calls_guard(struct extender_calls *c, bool (*may_act)(void *context), void *context);
/* Every wait ends now, and so does every further one. */
void extender_calls_end(struct extender_calls *c);

/* See io.h; `calls` is the struct extender_calls. */
void extender_calls_ask(void *calls, const struct extender_request *requests, uint32_t n,
                        struct extender_answer *ret_answers);
