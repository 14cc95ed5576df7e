/* insight/shadow.h - what would berth have chosen? A comparison with the scheduler that a cluster has.
 *
 * berth watches the cluster and decides nothing. When a pod that was pending is seen on a node, berth makes a trial
 * (trial.h) for it on the cluster as it was known just before: the pod is not counted yet, all that was seen before it
 * is. Then the two choices are compared:
 *
 *   same         berth chooses that node, too
 *   equal        another one, and both have the same total score: which of them is taken is left to chance
 *   lower        the node fits, but berth's has a higher score; by how much, and which plugin makes the most of it, is told
 *   refused      a plugin of berth's refuses the node; it has another
 *   nowhere      berth finds no node at all; the plugin that refuses the one that was chosen is told
 *   promised     the pod was promised a node (status.nominatedNodeName), where it fits, and went elsewhere
 *   not compared no profile has the pod's scheduler name, it was never seen pending, its node is not known, or berth's
 *                attempt failed
 *
 * The first two are agreement. All nodes are compared, whatever percentageOfNodesToScore says, so a scheduler that
 * looks at a part of them may get "lower" for nodes that it never saw. Preemption by the other scheduler
 * is seen as what it leaves: victims that are gone, and a pod with a promised node; the choice of victims is not
 * compared. Both saw the cluster at slightly different moments: bindings that were on their way count for one
 * and not for the other. Extenders are not asked.
 *
 * Nothing is ever written, and the scheduler's state is as before.
 *
 * Thread: scheduling thread only.    Owns: a bounded list of the last disagreements. */
#pragma once

#include "base/clock.h"
#include "base/strbuf.h"
#include "sched/sched.h"

enum shadow_class {
    SHADOW_SAME,
    SHADOW_EQUAL,
    SHADOW_LOWER,
    SHADOW_REFUSED,
    SHADOW_NOWHERE,
    SHADOW_PROMISED,
    SHADOW_NOT_COMPARED,
    N_SHADOW_CLASSES
};

enum {
    SHADOW_KEPT_MAX = 256,      /* disagreements */
    SHADOW_PLUGINS_MAX = 64,    /* that are counted by name */
    SHADOW_LOGS_MAX = 60,       /* lines in a minute; then how many were left out */
    SHADOW_LIMIT = 100,         /* disagreements of one answer, when nothing is said */
    SHADOW_REASON_BYTES_MAX = 512,
};

/* How often a plugin was the reason of a disagreement: for metrics. */
struct shadow_plugin {
    const char *name; /* lives as long as the shadow */
    uint64_t n_lower, n_refused;
};

struct shadow_counts {
    uint64_t n[N_SHADOW_CLASSES];
    struct shadow_plugin plugins[SHADOW_PLUGINS_MAX];
    uint32_t n_plugins;
    uint64_t n_logs_left_out;
};

struct shadow;

/* Of a scheduler that decides nothing itself meanwhile. `clock` NULL: the machine's. Freed before the scheduler. */
struct shadow *shadow_new(struct sched *s, const struct clock *clock);
void shadow_free(struct shadow *h);

/* A pod was seen on a node: called ahead of sched_pod_set(after). `before` is what the scheduler knew of it (sched_pod), NULL:
 * nothing. Pods that had a node before are ignored. */
enum shadow_class shadow_pod_bound(struct shadow *h, const struct pod *before, const struct pod *after);

const struct shadow_counts *shadow_counts(const struct shadow *h);
/* "same" and so on. */
const char *shadow_class_name(enum shadow_class class);

/* GET /berth/v1/shadow: appends JSON, the newest disagreement first. `query`: limit=N, class=..., plugin=... */
enum err_code insight_shadow(const struct shadow *h, struct str query, struct strbuf *to, struct err *e) ERR_MUST_CHECK;
