/* client/bind_call.h - Bindings sent to an API server, and what became of each.
 *
 * A Binding whose answer is lost may have worked. Who then takes the pod for unbound tries it again elsewhere, and frees a
 * place that is taken: so the pod is read, and its node tells. That is done when the transport failed after something may
 * have reached the server, when the server itself ran out of time (504), and when it says that the pod has a node already (409):
 * that may be ours, from the same Binding sent twice on the way. The read is repeated, with growing pauses, until there is an
 * answer or BIND_RESOLVE_MS have passed.
 *
 *   POST pods/p/binding --2xx--> bound       --4xx, 500, or surely not sent--> failed
 *        | lost, 504 or 409
 *   GET pods/p  --our node--> bound          --no node, another node, another uid, 404--> failed
 *        | lost, 429, 5xx: once more, later; else it stays unknown, and counts as failed: the watch will tell
 *
 * A pod that is read without a node may still get ours, from a server that is slow to end the lost request. Nothing is
 * bound twice then: the API server refuses the second Binding, and the watch shows the first.
 *
 * Bounds: BIND_CALLS_MAX at a time. Thread: the loop's.    Owns: copies of all texts. */
#pragma once

#include "base/clock.h"
#include "client/api.h"

enum {
    BIND_CALLS_MAX = 20000,
    BIND_RESOLVE_MS = 60 * 1000,
    BIND_RESOLVE_PAUSE_MS_MAX = 5 * 1000, /* the first is 100 ms, each the double of the one before */
};

struct bind_calls;

struct bind_request {
    struct str target, body; /* of the POST */
    const char *media_type;  /* of the body */
    struct str pod;          /* target of the GET */
    struct str uid, node;    /* of the pod, and where it is to go */
};

struct bind_result {
    bool bound;
    bool unknown;      /* not bound: nobody could say */
    int status;        /* of the Binding; 0: no answer came */
    const char *error; /* NULL when it is bound. Valid during the call */
};

/* Called once, never before bind_calls_start has returned. It may begin other calls, but not free them all. */
typedef void (*bind_done)(void *context, const struct bind_result *result);

struct bind_calls *bind_calls_new(const struct api *api, const struct clock *clock, uint64_t seed);
/* Cancels what is under way; nothing is called. */
void bind_calls_free(struct bind_calls *b);

/* False when there are BIND_CALLS_MAX already: nothing is sent, and `done` is not called. */
bool bind_calls_start(struct bind_calls *b, const struct bind_request *request, bind_done done, void *context);
/* Does what time brings. */
void bind_calls_tick(struct bind_calls *b);
/* Monotonic; INT64_MAX: nothing. */
int64_t bind_calls_due_ms(const struct bind_calls *b);

uint32_t bind_calls_running(const struct bind_calls *b);
/* Bindings whose pod had to be read. */
uint64_t bind_calls_read(const struct bind_calls *b);
