/* sched/sched.h - the scheduler as whoever embeds it sees it.
 *
 * Objects come in (sched_pod_added and the like), sched_run_once makes one attempt for the pod whose
 * turn it is, and what follows goes out through io.h; answers come back in (sched_bound, ...).
 * sched_tick does what time brings. Nothing blocks.
 *
 * Thread: scheduling thread only.    Owns: the cache, the queue, the objects; references as their
 * headers say. */
#pragma once

#include "sched/framework.h"
#include "sched/io.h"
#include "sched/objects.h"

struct extender;
struct sched;
struct sched_metrics;
struct sched_decision;

struct sched_options {
    struct sym_table *syms;
    struct profile *const *profiles; /* live as long as the scheduler, and are no other's meanwhile */
    uint32_t n_profiles;
    struct extender *const *extenders;
    uint32_t n_extenders;
    struct sched_io io;
    struct features features;
    uint64_t seed;
    int32_t percentage_of_nodes_to_score;       /* 0: all */
    int64_t initial_backoff_ms, max_backoff_ms; /* 0: upstream's */
    int64_t unschedulable_ms_max;               /* 0: upstream's */
    struct sched_metrics *metrics;              /* lives as long as the scheduler, and is no other's; NULL: none */
};

struct sched *sched_new(const struct sched_options *options);
void sched_free(struct sched *s);

/* ---- What happened in the cluster. A form that is passed in stays the caller's; the scheduler takes its own
 * reference. Adding what is there is an update, and the reverse; removing what is not there is ignored. ---- */

void sched_node_set(struct sched *s, const struct node *node);
void sched_node_removed(struct sched *s, sym name);
/* Every pod of the cluster, ours or not, placed or not; finished ones are as good as removed. */
void sched_pod_set(struct sched *s, const struct pod *pod);
void sched_pod_removed(struct sched *s, const char *uid);
/* Objects that plugins look up: see objects.h. */
void sched_object_set(struct sched *s, enum object_kind kind, const void *form);
void sched_object_removed(struct sched *s, enum object_kind kind, sym ns, struct str name);

/* ---- Work ---- */

/* One attempt; false when no pod is ready. */
bool sched_run_once(struct sched *s);
/* Flushes, timeouts. Call it at sched_due_ms or later. */
void sched_tick(struct sched *s);
int64_t sched_due_ms(const struct sched *s);

/* ---- Answers to what went out (io.h). `error` NULL: it worked. An unknown ticket is ignored. ---- */

void sched_bound(struct sched *s, io_ticket ticket, const char *error);
void sched_volumes_bound(struct sched *s, io_ticket ticket, const char *error); /* its words are all that PreBind says */
void sched_victim_done(struct sched *s, io_ticket ticket, const char *error);
/* A plugin at Permit lets a waiting pod go, or does not. */
void sched_permit(struct sched *s, const char *uid, const struct plugin_instance *plugin, bool allow,
                  const char *reason);

/* ---- What there is to see ---- */

struct sched_counts {
    uint64_t attempts, placed, unschedulable, errors;
    uint32_t active, backoff, unschedulable_waiting, gated, binding, evicting;
};
struct sched_counts sched_counts(const struct sched *s);
struct cache *sched_cache(struct sched *s);
struct queue *sched_queue(struct sched *s);
struct objects *sched_objects(struct sched *s);
struct nominator *sched_nominator(struct sched *s);
/* The newest version of an unfinished pod of the cluster, borrowed until it changes; NULL: not known. */
const struct pod *sched_pod(const struct sched *s, const char *uid);
/* The node of that name as the cluster has it, borrowed likewise; NULL: not known. */
const struct node *sched_node(const struct sched *s, sym name);
/* Calls `each` with every pod that sched_pod knows, and every node; it may change nothing. */
void sched_each_pod(const struct sched *s, void (*each)(void *context, const struct pod *pod), void *context);
void sched_each_node(const struct sched *s, void (*each)(void *context, const struct node *node), void *context);
/* The same by name; of several (one that is being deleted, and one that came after it) the one that stays. */
const struct pod *sched_pod_named(const struct sched *s, struct str ns, struct str name);
/* Calls `before` with the pod whose turn it is, ahead of each attempt. It may ask (explain.h) but change
 * nothing. NULL ends it. */
void sched_watch_attempts(struct sched *s, void (*before)(void *context, const struct pod *pod), void *context);
/* Calls `decided` with every decision as it is made (decision.h). NULL ends it. */
void sched_watch_decisions(struct sched *s, void (*decided)(void *context, const struct sched_decision *decision),
                           void *context);
/* Writes down what is counted but not yet on the page: see sched_metrics.h. */
void sched_publish_metrics(struct sched *s);
/* FNV-1a over all decisions so far (pod, node or failure text): equal for equal inputs, times and seed. */
uint64_t sched_decision_hash(const struct sched *s);
