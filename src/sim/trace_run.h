/* sim/trace_run.h - a trace run on a world in virtual time: pods arrive, wait, run and finish.
 *
 * Time goes from event to event: arrivals, finishes, and what the scheduler's queue waits for (back-off, flushes).
 * Attempts take no time. At one time finishes come before arrivals. A pod's duration counts from its binding. Who is
 * preempted goes back to waiting under the same name and a new uid, and runs its whole duration when it is placed
 * again; of the pods of the input, those with a controller do so, others are gone. Pods of the input that have no node
 * arrive at time 0 and never finish.
 *
 * Whatever frees room makes waiting pods worth another try. Two things keep that from being all that happens in a
 * crowded cluster: of equal pods that fit nowhere only the first is tried again (trace_run_priv.h), and at most
 * `failures_per_second_max` attempts fail in one second of virtual time; who is ready then is tried from the next whole
 * second on. A real scheduler is slowed down by the clock.
 *
 * It ends when all pods have finished, or when nothing has changed for so long that nothing will: every waiting pod has
 * been tried again since the last change.
 *
 * Same world, trace and seed: same outcome.
 *
 * Thread: one. Owns: records of the pods that are alive; the world and the trace must live longer. */
#pragma once

#include "base/heap.h"
#include "sim/trace_pods.h"
#include "sim/trace_stats.h"

enum {
    TRACE_ALIVE_MAX = 1 << 21,      /* pods waiting or running at once */
    TRACE_RESTARTS_MAX = 1000,      /* of one pod; then it is given up */
    TRACE_FAILURES_PER_SECOND_MAX = 50, /* unless told otherwise */
};
#define TRACE_END_MS_MAX (10 * TRACE_MS_MAX)

struct trace_pod;

struct trace_counts {
    uint64_t given;    /* pods that were on nodes before */
    uint64_t arrived;  /* of the trace, and those of the input that had no node */
    uint64_t started;  /* for the first time */
    uint64_t finished;
    uint64_t preemptions;
    uint64_t lost;     /* preempted pods that nobody makes again; in `given` or `arrived` */
};
/* At any time: given + arrived = finished + lost + level.running + level.waiting. */

/* Why pods never got a node, or none again. */
struct trace_reason {
    char *message; /* owned */
    uint64_t n_pods;
    char *example; /* "namespace/name"; owned */
};

struct trace_run {
    struct sim_world *world;
    const struct trace *trace;
    struct trace_pods pods;
    struct sim_watch watch;
    /* Called after all that happens at one time; may be NULL. */
    void (*observe)(void *context, const struct trace_run *r);
    void *observe_context;

    /* May be changed before the run. */
    uint32_t failures_per_second_max; /* at least 1 */
    uint32_t alive_max;

    struct sim_amounts capacity;
    int64_t start_ms; /* of the world's clock, at time 0 of the trace */
    int64_t time_ms;
    int64_t changed_ms;       /* when something changed last: the end, afterwards */
    int64_t first_arrival_ms; /* INT64_MAX: none */
    size_t next_row;
    int64_t quiet_ms;         /* so long without a change: nothing will */
    uint64_t n_made;          /* pods of the trace; numbers their names */
    uint64_t n_uids;
    struct map_str alive;     /* uid -> struct trace_pod */
    struct heap finishing;
    struct map_str lines;     /* trace_key -> struct trace_line */
    VEC(struct trace_pod *) to_hold;
    uint64_t n_bindings;
    int64_t second;           /* of the last attempts */
    uint32_t n_failures;      /* in that second */
    bool held_up;             /* until the next second, though pods are ready */
    bool cut;                 /* TRACE_END_MS_MAX was reached */

    struct trace_counts counts;
    struct trace_level level;
    struct trace_samples samples;
    struct trace_waits waits;         /* from arrival to the first binding */
    struct trace_waits restart_waits; /* from a preemption to the next binding */
    __int128 lost_ms;                 /* run in vain */
    VEC(struct trace_reason) reasons; /* of those that wait at the end; most pods first */
    uint64_t attempts;
};

/* The world has been made and not run. Its watch is the run's from here on. */
void trace_run_init(struct trace_run *r, struct sim_world *w, const struct trace *t);
void trace_run_fini(struct trace_run *r);
/* Once. An error names the line. */
enum err_code trace_run(struct trace_run *r, struct err *e) ERR_MUST_CHECK;
