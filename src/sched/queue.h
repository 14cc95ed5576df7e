/* sched/queue.h - pending pods, in the order in which they should be tried.
 *
 * A pod that the queue knows is in exactly one place: active (heap, ready), backoff or error backoff (heaps
 * by deadline), unschedulable (waiting for an event), or popped. A popped pod is in flight, and what happens
 * meanwhile is kept for it, until queue_done; the record stays valid until queue_release or
 * queue_add_unschedulable.
 *
 * What wakes a pod that waits: an event that a plugin which rejected it registered for and whose hint says
 * so; an update of the pod itself; queue_activate; and after a long time the flush, whatever the hints say.
 * Waiting pods with the same rejectors are on one list, so that an event which nobody waits for costs no look
 * at any pod.
 *
 * Pods are told apart by namespace and name, popped ones by uid. The order is what the plugin at QueueSort
 * of the first profile says; all profiles must have the same one.
 * Upstream: pkg/scheduler/backend/queue, v1.36.
 *
 * Thread: scheduling thread only. Plugins and hints that the queue calls must not call it back. Callers hold
 * references to the objects that they pass.
 * Owns: the records, one reference per pod, and one per object of a kept event. queue_pop does not allocate.
 * Time: never reads the clock; callers pass now_ms, so that tests and the simulator can. */
#pragma once

#include "sched/event_kind.h"
#include "sched/framework.h"
#include "sched/nominate.h"
#include "sched/queued_pod.h"

struct queue;

enum {
    QUEUE_INITIAL_BACKOFF_MS = 1000, /* upstream's defaults */
    QUEUE_MAX_BACKOFF_MS = 10 * 1000,
    QUEUE_UNSCHEDULABLE_MS_MAX = 5 * 60 * 1000,
    QUEUE_FLUSH_BACKOFF_MS = 1000, /* how often to call the flushes; the first one on whole seconds */
    QUEUE_FLUSH_UNSCHEDULABLE_MS = 30 * 1000,
    QUEUE_EVENTS_MAX = 1 << 18, /* kept for pods in flight; who misses one is tried again after its backoff */
};

struct queue_options {
    struct sym_table *syms;
    struct nominator *nominator;
    struct profile *const *profiles; /* at least one, at most 255; live as long as the queue */
    uint32_t n_profiles;
    /* What plugins get to see when they are asked; the queue itself does not look at these. */
    struct cache *cache;
    const struct objects *objects;
    struct sched *sched;
    struct sched_metrics *metrics; /* NULL: nothing is measured */
    int64_t initial_backoff_ms, max_backoff_ms; /* max 0: no backoff at all */
    int64_t unschedulable_ms_max;               /* longest wait for an event */
    bool extenders;         /* some are configured: they may reject pods too */
    bool pod_groups;        /* gate GenericWorkload */
    bool no_early_pop;      /* gate SchedulerPopFromBackoffQ is off */
};

struct queue *queue_new(const struct queue_options *options);
void queue_free(struct queue *q);

/* ---- The way of a pod ---- */

/* A pod that is new. */
void queue_add(struct queue *q, const struct pod *pod, int64_t now_ms);
/* NULL when nothing is ready. Borrowed until queue_release or queue_add_unschedulable. Does not allocate. */
struct queued_pod *queue_pop(struct queue *q, int64_t now_ms);
/* The same for one pod, wherever it waits; NULL when it is gated or not here. */
struct queued_pod *queue_pop_pod(struct queue *q, const struct pod *pod, int64_t now_ms);
/* Events need no longer be kept for it. Nothing happens the second time. */
void queue_done(struct queue *q, struct queued_pod *qp);
/* The attempt is over and the pod does not come back: ends the record. */
void queue_release(struct queue *q, struct queued_pod *qp);
/* The attempt failed: `fresh` is the newest version of the pod (NULL: the one that was popped), `rejectors`
 * are empty after an error. Takes the record, also on failure, which is that the pod has been added again
 * meanwhile. */
enum err_code queue_add_unschedulable(struct queue *q, struct queued_pod *qp, const struct pod *fresh,
                                      struct rejectors rejectors, int64_t now_ms, struct err *e) ERR_MUST_CHECK;
/* A new version of a pod that is neither on a node nor assumed to be. */
void queue_update(struct queue *q, const struct pod *old, const struct pod *pod, int64_t now_ms);
/* The pod is gone, or on a node. One that is popped is left alone. */
void queue_delete(struct queue *q, const struct pod *pod);

/* ---- What wakes pods ---- */

/* Which waiting pods an event may concern at all. */
struct move_check {
    bool (*passes)(const struct move_check *check, const struct pod *pod); /* NULL: all */
    int32_t priority;
    const char *uid;
};

#define MOVE_ALL ((struct move_check){ 0 })
/* Pods of this priority or below. */
struct move_check move_up_to_priority(int32_t priority);
/* All but one. */
struct move_check move_all_but(const char *uid);

void queue_move_all(struct queue *q, const struct cluster_event *event, struct move_check check, int64_t now_ms);
/* Makes a waiting pod ready at once; one in flight will be tried again when it comes back. */
void queue_activate(struct queue *q, const struct pod *pod, int64_t now_ms);
/* Pods whose backoff is over become ready. To be called on every whole second. */
void queue_flush_backoff(struct queue *q, int64_t now_ms);
/* Pods that waited too long get another try. */
void queue_flush_unschedulable(struct queue *q, int64_t now_ms);

/* The first time at which a flush has something to do; INT64_MAX when there is none. */
int64_t queue_backoff_due_ms(const struct queue *q);
int64_t queue_unschedulable_due_ms(const struct queue *q);

/* ---- What there is to see ---- */

struct queue_counts {
    uint32_t active, backoff /* both */, unschedulable, gated;
    uint32_t in_flight, done, events; /* popped; kept events */
};

struct queue_counts queue_counts(const struct queue *q);
/* Whether queue_pop would find something; a seam for tests. */
bool queue_is_ready(const struct queue *q);
/* NULL when it is not here, or popped. */
const struct queued_pod *queue_find(const struct queue *q, sym ns, const char *name);
/* Pods here, popped ones apart, that a plugin of a profile rejected. */
uint32_t queue_rejected(const struct queue *q, uint32_t profile, uint8_t plugin);
/* The plugins of a profile that have ever rejected a pod here: a mask. */
uint64_t queue_ever_rejected(const struct queue *q, uint32_t profile);
/* How often pods came into a place (PLACE_ACTIVE, PLACE_BACKOFF for both backoffs, PLACE_UNSCHEDULABLE) and
 * why. */
uint64_t queue_incoming(const struct queue *q, enum queue_place place, uint16_t kind);
/* Events of a kind that are kept for pods in flight. */
uint32_t queue_kept_events(const struct queue *q, uint16_t kind);
/* Every pod of a place, in no particular order. */
void queue_each(const struct queue *q, enum queue_place place,
                void (*each)(void *context, const struct queued_pod *qp), void *context);
/* Asserts everything that must always hold; walks all pods. */
void queue_check(const struct queue *q);
