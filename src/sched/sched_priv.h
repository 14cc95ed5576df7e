/* sched/sched_priv.h - the scheduler itself; shared inside sched/ only. */
#pragma once

#include "base/rand.h"
#include "sched/cache.h"
#include "sched/framework.h"
#include "sched/io.h"
#include "sched/measure.h"
#include "sched/nominate.h"
#include "sched/preempt.h"
#include "sched/turns.h"

struct attempt;
struct sched_decision;
struct extender;
struct queue;
struct queued_pod;

/* A pod on its way from a decision to its node. */
struct binding {
    io_ticket ticket;
    struct queued_pod *queued;
    const struct pod *pod; /* assumed: names the node */
    node_id node;
    uint32_t n_evaluated, n_feasible; /* nodes, of the decision: for the log */
    struct measure measure;
    struct cycle cycle;   /* of the decision, for the plugins that still have work to do */
    struct arena arena;   /* what these keep */
    uint64_t waits_for;   /* plugins at Permit that have not let it go yet */
    int64_t deadline_ms[PLUGINS_MAX], timeout_ms[PLUGINS_MAX]; /* of these */
    const struct plugin_instance *binder; /* whose answer is awaited */
    const struct extender *extender;      /* the same, when an extender binds; else NULL */
    uint32_t next_extender;               /* the first that has not been asked to bind */
    uint64_t skips_pre_bind; /* plugins with nothing to do */
    uint8_t next_pre_bind;   /* position at POINT_PRE_BIND */
    bool ran_pre_bind;       /* some plugin had something to do */
    bool binds;              /* PreBind is over */
    uint32_t index; /* in sched.bindings */
};

/* Victims on their way out. */
struct eviction {
    io_ticket ticket;
    const struct pod *victim, *preemptor;
};

struct sched {
    struct sym_table *syms;
    struct cache cache;
    struct objects *objects;
    struct nominator nominator;
    struct pod_classes *pod_classes;
    struct memos *memos;
    struct queue *queue;
    struct profile *const *profiles;
    uint32_t n_profiles;
    struct extender *const *extenders;
    uint32_t n_extenders;
    struct sched_io io;
    int64_t now_ms, now_s; /* both clocks as last read (sched_read_clocks): attempts that only ask read none, so that
                              a recording is the same with and without them */
    struct features features;
    struct sched_metrics *metrics; /* NULL: nothing is measured */
    struct rand rand;
    struct turns turns;                   /* ties that are broken in turn (era.h) */
    uint32_t start_index;                 /* where the next search for nodes begins; shared by all profiles */
    int32_t percentage_of_nodes_to_score; /* 0: all */
    struct arena arena;                   /* of the cycle under way */
    struct map_str pods;                  /* uid -> the newest version of every unfinished pod of the cluster */
    VEC(struct binding *) bindings;
    struct map_u64 binding_of_ticket;
    uint32_t n_waits;                     /* bindings that wait for a permit: without any, none has a deadline */
    VEC(struct eviction) evictions;
    struct map_str preempting;            /* uid of preemptors -> preemption under way (evict.c) */
    io_ticket last_ticket;
    int64_t next_backoff_flush_ms, next_unschedulable_flush_ms;
    uint64_t n_attempts, n_placed, n_unschedulable, n_errors;
    uint64_t n_repeated; /* failures that were known already (memo.h) */
    uint64_t decision_hash;
    void (*before_attempt)(void *context, const struct pod *pod); /* sched_watch_attempts; NULL: nobody watches */
    void *before_attempt_context;
    void (*decided)(void *context, const struct sched_decision *decision); /* sched_watch_decisions; NULL: nobody watches */
    void *decided_context;
};

/* bind.c: takes the record of a pod for which a node was found. */
void bind_start(struct sched *s, struct attempt *a, struct queued_pod *qp);
/* Ends the waits whose time is over. */
void bind_check_timeouts(struct sched *s, int64_t now_ms);
int64_t bind_due_ms(const struct sched *s);
/* A pod that is assumed is being deleted, or gone. */
void bind_pod_deleted(struct sched *s, const struct pod *pod);
/* Sends a victim that is not bound yet back to the queue, instead of evicting it; false: it is too late for that. */
bool bind_preempt(struct sched *s, const struct pod *victim, const struct pod *preemptor, const char *by);
void bind_free_all(struct sched *s);
struct binding *bind_find(const struct sched *s, const char *uid); /* a seam for tests, too */

/* failure.c: takes the record of a pod for which none was found, or whose binding failed. `nominate` as
 * in struct cycle. */
struct failure {
    enum failure_kind kind;
    const char *message;
    uint64_t rejectors, pending;
    sym nominate;
};
void failure_handle(struct sched *s, struct queued_pod *qp, const struct failure *f, int64_t now_ms);

/* evict.c: carries out what preemption decided. */
void evict_start(struct sched *s, const struct pod *preemptor, const struct preemption *p);
void evict_free_all(struct sched *s);

/* At the beginning of a turn, and of what time brings. */
void sched_read_clocks(struct sched *s);
/* The clock of io.h, read now. */
int64_t sched_now_ms(const struct sched *s);

/* Adds a decision to the hash. */
void sched_note_decision(struct sched *s, const struct pod *pod, struct str outcome);

/* NULL when no profile has that name. */
const struct profile *sched_profile(const struct sched *s, sym scheduler_name);

/* Whether both are, or were, the pod of one name. */
static inline bool sched_same_name(const struct pod *a, const struct pod *b)
{
    return a->meta.ns == b->meta.ns && strcmp(a->meta.name, b->meta.name) == 0;
}
