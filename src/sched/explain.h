/* sched/explain.h - why a pod is where it is, where it would go, or why it fits nowhere.
 *
 * An explanation is a trial (trial.h) told in full. So what is said is what the scheduler would do if it got to the
 * pod now, but for extenders, which are not asked: `n_extenders` says how many would have had a say.
 *
 * The result is a copy of texts and numbers in the caller's arena, and stays valid whatever the
 * scheduler does next.
 *
 * Thread: scheduling thread only, between attempts or ahead of one (sched_watch_attempts). */
#pragma once

#include "base/arena.h"
#include "sched/sched.h"

enum explained_outcome {
    EXPLAINED_FITS,     /* `chosen` is the node */
    EXPLAINED_REJECTED, /* `message` is the scheduler's */
    EXPLAINED_ERROR,    /* the attempt failed, also: there are no nodes; `message` says why */
};

enum explained_state {
    EXPLAINED_COMPARED,     /* fits, and was compared with the others */
    EXPLAINED_NOT_COMPARED, /* fits too, but the search had ended, or the pod was promised another node */
    EXPLAINED_REFUSED,      /* `refusal` says why */
};

/* Shared by all nodes that were refused in the same words. */
struct explained_refusal {
    const char *plugin;      /* NULL: no single one */
    enum verdict_code code;  /* V_UNSCHEDULABLE: evicting pods might help; V_UNRESOLVABLE: it cannot */
    const char *const *reasons;
    uint32_t n_reasons;
};

struct explained_node {
    const char *name;
    enum explained_state state;
    int64_t total;
    const int64_t *scores; /* score times weight, by position in `plugins`; NULL: there was nothing to compare */
    const struct explained_refusal *refusal; /* EXPLAINED_REFUSED; else NULL */
};

/* One reason of one plugin, and every node that it holds for. A node may be in several groups. */
struct explained_group {
    const char *plugin; /* NULL: no single one */
    const char *reason;
    enum verdict_code code;
    const char *const *nodes;
    uint32_t n_nodes;
};

struct explained_plugin {
    const char *name;
    int64_t weight;
    bool skipped; /* it had nothing to say of this pod: every node gets 0 */
};

struct explained_victim {
    const char *ns, *name;
    int32_t priority;
};

/* Who would be evicted, and where. */
struct explained_preemption {
    const char *node;
    struct explained_victim *victims; /* most important first */
    uint32_t n_victims;
    int64_t n_violations;  /* of disruption budgets */
    uint32_t n_candidates; /* nodes where evicting was found to help */
};

struct explanation {
    const char *ns, *name, *scheduler_name;
    int32_t priority;
    const char *node; /* where the pod is; NULL: nowhere */
    enum explained_outcome outcome;
    const char *chosen;   /* EXPLAINED_FITS; else NULL */
    const char *message;  /* NULL when it fits */
    const char *not_tried; /* why the scheduler leaves the pod alone whatever fits; NULL: it does not */
    const char *not_tried_plugin;
    const char *nominated; /* the node that the pod was promised; NULL: none */
    bool nominated_used;   /* and that settled it */
    /* The plugin that ended the attempt before any node was looked at; "": several; NULL: none. */
    const char *pre_filter;
    const char *post_filter; /* what was said of making room; NULL: nothing */
    const struct explained_preemption *preemption; /* NULL: nobody would be evicted */

    struct explained_plugin *plugins; /* that score, in order */
    uint32_t n_plugins;
    bool scored;
    int64_t score_max; /* of a plugin, before its weight */
    struct explained_node *nodes; /* compared ones by rank, the chosen one first; not compared ones; refused ones */
    uint32_t n_nodes, n_compared, n_not_compared, n_refused;
    struct explained_group *groups; /* most nodes first */
    uint32_t n_groups;
    uint32_t n_extenders; /* that were not asked */
};

/* `pod` is one of the scheduler's, in its newest version (sched_pod), or one that it does not know. */
void explain_pod(struct sched *s, const struct pod *pod, struct arena *a, struct explanation *ret_explanation);
