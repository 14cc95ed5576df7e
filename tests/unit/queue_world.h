/* tests/unit/queue_world.h - a queue with one profile of small plugins, and pods and nodes to put through it.
 *
 * Plugins, by index: what they reject is up to the test, what they listen to is this:
 *   Sort     QueueSort: priority, then age
 *   Gates    PreEnqueue: refuses pods with scheduling gates;     the end of a pod's gates
 *   Barrier  PreEnqueue: refuses all while world.barrier is set; Node/Delete
 *   Fit      Filter;  Node/Add and Allocatable (so taint updates too), Pod/Delete with a hint, Pod/ScaleDown
 *   Taints   Filter;  Node/Add and Taint, Pod/Toleration
 *   Claims   Permit;  PersistentVolumeClaim/Add and Update
 *   Deaf     Filter;  nothing
 *   Curious  Filter;  everything
 *   Scorer   Score;   everything, but it cannot reject and does not count */
#pragma once

#include "sched/queue.h"
#include "tests/test.h"

enum { SORT, GATES, BARRIER, FIT, TAINTS, CLAIMS, DEAF, CURIOUS, SCORER, N_WORLD_PLUGINS };

struct world {
    struct sym_table syms;
    struct nominator nominator;
    struct profile profile;
    struct profile *profiles[1];
    struct queue_options options;
    struct queue *q;
    struct arena arena;
    struct err e;
    uint32_t n_syms; /* permanent ones */
};

extern const char *const world_plugin_names[N_WORLD_PLUGINS];

/* What the plugins of all worlds do. */
extern bool world_barrier;          /* closed */
extern bool world_hint_skips;       /* Fit's hint for Pod/Delete says skip */
extern int world_n_hints, world_n_barrier_calls, world_n_gates_calls;
extern void *world_scratch;         /* what a hint got from the scratch arena last */

/* The queue is made from options, which may be changed between the two. */
void world_init(struct world *w);
void world_start(struct world *w);
/* Everything must have been given back: checks that no name is left behind. */
void world_fini(struct world *w);

/* One reference for the caller. */
const struct pod *world_pod(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
const struct node *world_node(struct world *w, const char *json);
