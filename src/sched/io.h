/* sched/io.h - the scheduler's only door to the world: what comes in, what goes out.
 *
 * In: objects as typed forms (sched_pod_set and so on in sched.h), answers to what went out
 * (sched_bound, ...). Out: the functions below, which whoever embeds the scheduler fills in: a daemon
 * against a real API server, the control plane in one process, the simulator, tests. None of them may
 * block or call back into the scheduler before it returns; their outcome comes back later as a call
 * into the scheduler. Only call_extender waits for its answers. Clock and random numbers come in here
 * too: the same inputs, times and seed give the same decisions.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "forms/node.h"
#include "forms/pod.h"

/* Why a pod was not placed, for its PodScheduled condition. */
enum failure_kind { FAILURE_UNSCHEDULABLE, FAILURE_SCHEDULER_ERROR };

/* The message of a failure when there is no node at all. */
#define NO_NODES_AT_ALL "no nodes available to schedule pods"

/* A change of a pod's status after a failed attempt; what is equal already is not sent. */
struct status_change {
    const struct pod *pod;
    bool has_condition; /* PodScheduled=False with the reason and message below */
    enum failure_kind failure;
    const char *message;
    bool set_nomination; /* to `nomination`; SYM_EMPTY clears it */
    sym nomination;
};

struct event_note {
    const struct pod *regarding;
    bool warning;
    const char *reason, *action, *note;
};

/* The number that sched_bound and its like refer to. */
typedef uint64_t io_ticket;

struct extender_answer;
struct extender_request;
struct volume_decisions;

struct sched_io {
    void *context;
    int64_t (*now_ms)(void *context);  /* monotonic enough: back-off and timeouts */
    int64_t (*wall_s)(void *context);  /* seconds since 1970: a pod without a start time counts as started now */
    void (*bind)(void *context, io_ticket ticket, const struct pod *pod, sym node);
    void (*patch_status)(void *context, const struct status_change *change);
    /* A victim: condition DisruptionTarget, then deletion. Answer: sched_victim_done; one that is gone already is no
     * error. */
    void (*evict)(void *context, io_ticket ticket, const struct pod *victim, const struct pod *preemptor);
    void (*event)(void *context, const struct event_note *note);
    /* VolumeBinding's PreBind: write the claims and volumes chosen for the pod and wait until they are
     * bound. Answer: sched_volumes_bound. */
    void (*bind_volumes)(void *context, io_ticket ticket, const struct pod *pod, sym node,
                         const struct volume_decisions *decisions);
    /* Asks extenders (extender.h) and returns when all have answered: requests of one call do not
     * depend on each other and may be sent at once. EXTENDER_BIND alone does not wait: its answer comes
     * as sched_bound. Never called while no extender is configured. */
    void (*call_extender)(void *context, const struct extender_request *requests, uint32_t n,
                          struct extender_answer *ret_answers);
};
