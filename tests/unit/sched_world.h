/* tests/unit/sched_world.h - a whole scheduler for tests: real plugins, a clock that stands still until told, and an
 * outside world that writes down what is asked of it.
 *
 * Everything that goes out becomes a line in `log`: "bind p n1", "event Warning FailedScheduling ...", "status p
 * Unschedulable ...", "nominate p n1", "evict v for p". */
#pragma once

#include "base/strbuf.h"
#include "base/vec.h"
#include "plugins/plugins.h"
#include "sched/attempt.h"
#include "sched/extender.h"
#include "sched/sched.h"
#include "sched/sched_metrics.h"
#include "tests/test.h"

struct sched_world {
    struct sym_table syms;
    struct arena arena;
    struct features features;
    struct profile profile, *profiles[1];
    struct node_resources_fit_args fit_args;
    struct default_preemption_args preemption_args;
    struct extender *extenders[8];
    uint32_t n_extenders;
    int32_t percentage_of_nodes_to_score;
    uint64_t seed;
    bool measured; /* with metrics, by a clock that goes on by a millisecond whenever it is read */
    struct metrics *page;
    struct sched_metrics *metrics;
    struct sched_io io; /* filled by sched_world_init; a test may replace functions before sched_world_open */
    struct sched *sched;
    int64_t now_ms;
    struct strbuf log;
    VEC(io_ticket) tickets; /* of bindings and evictions, in order */
    VEC(const struct pod *) pods; /* made by world_pod */
};

/* A profile of PrioritySort, NodeUnschedulable, NodeResourcesFit (least allocated), DefaultPreemption and DefaultBinder. */
void sched_world_init(struct sched_world *w);
/* One more plugin, at all points for which it has functions. */
void sched_world_add_plugin(struct sched_world *w, const struct plugin *plugin, const void *args, int64_t weight);
/* Makes the scheduler. */
void sched_world_open(struct sched_world *w);
void sched_world_close(struct sched_world *w);

/* {"metadata":{"name":NAME,"labels":{LABELS}},"status":{"allocatable":{"cpu":CPU,"memory":"16Gi","pods":"110"}}} */
const char *world_node_json(struct sched_world *w, const char *name, const char *cpu, const char *labels);
void world_node(struct sched_world *w, const char *name, const char *cpu, const char *labels);
/* A pod with uid "uid-NAME" that requests cpu; on `node` if not NULL. `spec` is more of its spec, as JSON members, or "". */
const char *world_pod_json(struct sched_world *w, const char *name, const char *node, int priority, const char *cpu,
                           const char *spec);
/* Decoded; the world holds the reference. */
const struct pod *world_pod(struct sched_world *w, const char *name, const char *node, int priority, const char *cpu,
                            const char *spec);
const struct pod *world_pod_of(struct sched_world *w, const char *json);
sym world_sym(struct sched_world *w, const char *text);
/* Everything on the page of metrics, after what is counted was written down. */
const char *world_metrics(struct sched_world *w);
/* The log so far, which is then empty. */
const char *world_log(struct sched_world *w);
