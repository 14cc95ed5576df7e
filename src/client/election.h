/* client/election.h - leader election on a Lease: one of several equal processes works, the others wait.
 *
 * As client-go does it, so that berth and a real kube-scheduler can take turns on the same lease: a lease counts as held
 * until its duration has passed on the local clock since the record was last seen to change, whatever times it carries; the
 * holder renews every retry period, and stops when it could not for the renew deadline; who gives up the lease writes an
 * empty holder into it. Losing the lease is final: the process is expected to end.
 *
 * It says when it is due, and acts when it is ticked; requests go out through api.h. A request that hangs is given up at
 * its own time-out or at the renew deadline.
 *
 * Thread: the loop's.    Owns: copies of all texts. */
#pragma once

#include "base/clock.h"
#include "base/rand.h"
#include "client/api.h"
#include "client/event_recorder.h"

struct election;

/* None of them may free the election. */
struct election_calls {
    void *context;
    void (*leading)(void *context);
    /* Was leading and could not renew; `released` follows. */
    void (*lost)(void *context);
    /* Somebody is seen to hold the lease: at first and after each change; it may be this process. */
    void (*leader)(void *context, struct str identity);
    /* The lease has been given back, or was not ours to give. */
    void (*released)(void *context);
};

struct election_options {
    const struct api *api;
    const struct clock *clock;
    const char *identity;        /* of this process: host name and something unique */
    const char *ns, *name;       /* of the Lease */
    int64_t lease_ms, deadline_ms, retry_ms;
    struct election_calls calls;
    uint64_t seed;
};

struct election *election_new(const struct election_options *o);
/* Cancels what is under way. */
void election_free(struct election *e);

void election_start(struct election *e);
void election_tick(struct election *e);
/* Monotonic. INT64_MAX: nothing but an answer is awaited. */
int64_t election_due_ms(const struct election *e);
/* Stops trying or renewing, and gives the lease back if it is ours; `released` follows, once. */
void election_release(struct election *e);

bool election_is_leader(const struct election *e);
/* Whether nobody else can hold the lease now: the duration has not passed since the last renewal that worked was sent.
 * A leader that stood still (a stopped process, a stalled machine) is told of its loss later than that. */
bool election_may_act(const struct election *e);
/* Renewals that had to read the lease first. */
uint64_t election_slow_paths(const struct election *e);
/* "<identity> became leader", about the Lease as last seen. It goes to core/v1, from the first profile. In the arena. */
struct event_to_record election_event(const struct election *e, struct arena *a, struct str reporter);
