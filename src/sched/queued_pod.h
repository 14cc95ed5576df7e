/* sched/queued_pod.h - what the queue knows of one pod: its age, its failures, and who rejected it.
 *
 * A plugin at QueueSort compares two of these; it reads the fields of the first half. The second half is
 * where the queue has it (queue_priv.h).
 *
 * Times are in milliseconds and never from a clock of its own; TIME_NONE when there is none. Two pods that
 * came in the same millisecond differ in `sequence`, which grows with `timestamp_ms`: compare it, and pods
 * leave in the order in which they came, as under upstream's finer clock.
 *
 * Thread: scheduling thread only.    Owns: one reference to the pod. */
#pragma once

#include "base/heap.h"
#include "base/list.h"
#include "forms/pod.h"

#define TIME_NONE INT64_MIN
#define PLUGIN_NONE UINT8_MAX
#define PROFILE_NONE PROFILES_MAX

enum queue_place {
    PLACE_NONE,          /* on its way from one place to the next */
    PLACE_ACTIVE,        /* ready */
    PLACE_BACKOFF,       /* ready later, after a rejection; sooner when nothing else is ready */
    PLACE_ERROR_BACKOFF, /* ready later, after an error */
    PLACE_UNSCHEDULABLE, /* waits for an event; gated when it has a gating plugin */
    PLACE_IN_FLIGHT,     /* popped: events are kept for it */
    PLACE_DONE,          /* popped, events are no longer kept: it is being bound */
    N_PLACES
};

/* Plugins that rejected a pod, by their index in its profile. One that said Pending is in both. */
struct rejectors {
    uint64_t unschedulable, pending;
};

struct queued_pod {
    const struct pod *pod;
    int32_t priority;           /* the pod's */
    uint32_t attempts;          /* times popped */
    int64_t timestamp_ms;       /* when it came, or came back from its last attempt */
    uint64_t sequence;          /* a larger number for whoever came later */
    int64_t initial_attempt_ms; /* when it was ready for the first time; TIME_NONE = not yet */
    int64_t popped_ms;          /* when the attempt began that is under way, or the last one */
    uint32_t unschedulable_count, consecutive_errors;
    int64_t backoff_expiry_ms; /* TIME_NONE = no backoff */
    int64_t flush_ms;          /* when waiting took too long; TIME_NONE = not since the last attempt */
    struct rejectors rejectors;
    uint8_t profile;           /* index; PROFILE_NONE = no profile has its schedulerName */
    uint8_t gating_plugin;     /* the one that keeps it from being queued; PLUGIN_NONE = it is not gated */

    uint8_t place;             /* enum queue_place */
    struct heap_node heap;     /* active, both backoffs; unschedulable: by the length of the wait */
    struct list_node node;     /* unschedulable: of its wait list; in flight; done */
    struct wait_list *wait_list; /* unschedulable */
    uint64_t cycle;            /* popped: the number of this attempt among all */
    uint64_t first_event;      /* in flight: the number of the first event after it was popped */
    uint64_t hash;             /* of its name, or in flight of its uid */
    struct queued_pod *next_in_bucket;
};

static inline bool queued_pod_is_gated(const struct queued_pod *qp)
{
    return qp->gating_plugin != PLUGIN_NONE;
}

static inline uint64_t queued_pod_rejectors(const struct queued_pod *qp)
{
    return qp->rejectors.unschedulable | qp->rejectors.pending;
}
