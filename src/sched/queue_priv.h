/* sched/queue_priv.h - the inside of the queue; shared by queue.c, backoff.c, waiting.c, inflight.c,
 * enqueue.c, requeue.c and queue_check.c only. */
#pragma once

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "sched/hints.h"
#include "sched/measure.h"
#include "sched/pod_index.h"
#include "sched/queue.h"

/* Unschedulable pods of one profile that the same plugins rejected and the same one gates. */
struct wait_list {
    struct list_node node; /* among all of them */
    struct list pods;
    uint32_t n;
    uint8_t profile, gating_plugin;
    uint64_t rejectors;
    uint64_t hash;
    struct wait_list *next_same_hash;
};

/* The events since the oldest pod in flight was popped, by number; each pod in flight knows its first. */
struct event_ring {
    struct cluster_event *at; /* mask + 1; the event of number n is at n & mask */
    uint64_t mask, first, end;
};

/* What to do with a rejected pod when an event comes, the stronger the larger. */
enum strategy { STRATEGY_SKIP, STRATEGY_AFTER_BACKOFF, STRATEGY_IMMEDIATELY };

struct queue {
    struct queue_options o;
    const struct plugin_instance *sort;
    struct hint_map *hints;                /* per profile */
    uint32_t (*n_rejected)[PLUGIN_EXTENDERS + 1]; /* per profile */
    uint64_t *ever_rejected;               /* per profile: a mask of plugins */

    struct heap active, backoff, error_backoff;
    struct heap unschedulable;             /* who has waited longest leaves first */
    struct pod_index queued;               /* by name: the pods of these four */
    uint32_t n_gated;
    struct list wait_lists;                /* in the order of their making, so that runs repeat */
    struct map_u64 wait_list_of;           /* hash -> struct wait_list */
    struct hash_seed seed;

    struct pod_index in_flight;            /* by uid */
    struct list flights, done;             /* popped pods; flights in the order of popping */
    uint32_t n_done;
    struct event_ring events;
    uint64_t lost_cycle;                   /* pods popped up to this attempt missed an event */

    uint64_t sequence, cycle;
    uint64_t incoming[N_PLACES][N_EVENT_KINDS];
    uint32_t n_kept[N_EVENT_KINDS];
    VEC(struct queued_pod *) moving;       /* scratch */
    uint64_t *interest;                    /* scratch: per profile, plugins */
    struct arena arena;                    /* scratch of plugins */
};

#ifdef QUEUE_CHECK
#define QUEUE_CHECKED(q) queue_check(q)
#else
#define QUEUE_CHECKED(q) ((void)(q))
#endif

/* ---- queue.c ---- */

/* A new version of the pod. */
void queued_pod_set_pod(struct queue *q, struct queued_pod *qp, const struct pod *pod);
void queued_pod_stamp(struct queue *q, struct queued_pod *qp, int64_t now_ms);
/* Takes a queued pod out of the heap or list that it is in; it stays in the index of names. */
void queue_leave_place(struct queue *q, struct queued_pod *qp);
/* A popped and done pod is queued again, in no place yet. */
void queue_take_back(struct queue *q, struct queued_pod *qp);

/* ---- backoff.c ---- */

void backoff_init(struct queue *q);
void backoff_compute(const struct queue *q, struct queued_pod *qp);
bool backoff_is_pending(const struct queue *q, const struct queued_pod *qp, int64_t now_ms);
/* Into the heap that its rejectors ask for. */
void backoff_enter(struct queue *q, struct queued_pod *qp, uint16_t kind);

/* ---- waiting.c: unschedulable pods ---- */

void waiting_init(struct queue *q);
void waiting_fini(struct queue *q);
/* A pod that is there already goes to the list that it belongs to now. */
void waiting_enter(struct queue *q, struct queued_pod *qp, uint16_t kind);
void waiting_leave(struct queue *q, struct queued_pod *qp);
/* Puts those into q->moving that an event may wake as far as their list tells: `interest` has the bits of
 * the plugins that registered for it per profile, or is NULL for events that concern everybody. */
void waiting_collect(struct queue *q, const uint64_t *interest, const struct move_check *check);
/* Puts those into q->moving that wait too long and notes that their time begins anew. */
void waiting_collect_overdue(struct queue *q, int64_t now_ms);

/* ---- inflight.c ---- */

/* False when a pod of this uid is in flight already. */
bool flight_begin(struct queue *q, struct queued_pod *qp);
/* Of one in flight: the caller gives it another place. */
void flight_end(struct queue *q, struct queued_pod *qp);
/* Keeps an event while any pod is in flight. */
void flight_keep_event(struct queue *q, const struct cluster_event *event);
/* For good: the queue ends. */
void flight_release_events(struct queue *q);
/* What the events since it was popped mean to a pod that comes back rejected. */
enum strategy flight_strategy(struct queue *q, const struct queued_pod *qp);

/* ---- enqueue.c ---- */

/* Into active, backoff or unschedulable. */
void enqueue_by(struct queue *q, struct queued_pod *qp, enum strategy strategy, uint16_t kind, int64_t now_ms);
/* False when it is gated: it waits then. */
bool enqueue_active(struct queue *q, struct queued_pod *qp, uint16_t kind, bool skip_pre_enqueue, int64_t now_ms);

/* ---- requeue.c ---- */

/* What an event means to a pod that was rejected. */
enum strategy requeue_worth(struct queue *q, const struct queued_pod *qp, const struct cluster_event *event);

/* One more or one less pod that these rejected. */
void queue_count_rejected(struct queue *q, const struct queued_pod *qp, uint64_t plugins, int by);
