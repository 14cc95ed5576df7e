/* sched/attempt.h - one attempt to find a node for a pod, up to the choice, without side effects on the
 * cluster.
 *
 * The chapters in order: attempt_pre_filter, attempt_filter, attempt_score, attempt_select; attempt_run
 * tells the whole story. What a reader wants to know of an attempt afterwards (explain, tests) is in
 * struct attempt and stays valid until the scheduler's next attempt.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "sched/framework.h"
#include "sched/sched_priv.h"

struct pod_class;

enum attempt_outcome {
    ATTEMPT_FITS,
    ATTEMPT_REJECTED, /* a FitError: there are statuses and rejectors */
    ATTEMPT_ERROR,    /* `error` says what happened */
};

/* What is wanted of an attempt besides the choice. Nothing: as a turn of the scheduler makes it (cycle.c). */
struct attempt_wants {
    bool reasons;   /* when no node fits, the status of every node; without it attempt_diagnose can find that out later */
    bool detail;    /* the list of nodes that fit, and all scores: by the plain way, never the quick one */
    bool scores;    /* what the quick way computes on its way is kept, for decision.h */
    bool all_nodes; /* look at all nodes, also when the pod was promised one or fewer would do; a seam for tests */
    const struct measure *measure; /* as begun; NULL: nothing is measured */
};

/* Nodes that a filter which looks beyond the node itself has refused, on the quick way. */
struct general_refusal {
    const struct plugin_instance *plugin; /* NULL: they have no room beside nominated pods */
    uint32_t n_nodes;
    node_id example;
};

/* What the quick way went by. */
struct quick_choice {
    const struct pod_class *class; /* NULL: it was not taken; valid until the next attempt */
    const uint64_t *alive;         /* nodes that fit */
    uint64_t local;                /* positions at POINT_SCORE that class->partial sums */
    struct general_refusal *refusals; /* if wants.scores */
    uint32_t n_refusals;
};

struct attempt {
    struct cycle cycle;
    struct sched *sched;
    struct attempt_wants wants;
    struct measure measure;
    enum attempt_outcome outcome;
    node_id node;          /* ATTEMPT_FITS */
    uint32_t chosen;       /* its index in `feasible`, where there are totals */
    const char *error;     /* ATTEMPT_ERROR */
    bool no_nodes;         /* that error is "no nodes available", which upstream treats as a rejection */
    bool nominated_node_used;

    /* PreFilter */
    struct verdict pre_filter;                  /* of the plugin that rejected; else V_SUCCESS */
    const struct plugin_instance *pre_filter_plugin;
    const char *pre_filter_message;             /* for the FitError; NULL: did not reject */
    struct node_names narrowed;                 /* to these nodes, if given */
    uint64_t narrowing_plugins;                 /* mask */

    /* Filter */
    struct filter_status *statuses; /* by node_id, of nodes that were looked at and failed; NULL: not computed */
    uint64_t *searched; /* bitset by node_id: the search ended early, after these; NULL: all were looked at */
    node_id *feasible;              /* in search order */
    uint32_t n_feasible;
    uint32_t n_evaluated;           /* nodes that were looked at */

    /* Score: by position at POINT_SCORE, then by index in feasible; NULL: skipped. NULL in all: the quick way was taken,
     * which keeps some only if wants.scores */
    int64_t **scores;
    int64_t *totals;
    bool scored;

    int64_t *randomizers; /* by index in feasible: decide between equal totals, the largest wins; NULL: all 0 */
    bool bare_nodes; /* an extender gave node objects: scores see the nodes without pods and images, as upstream's */

    struct quick_choice quick;

    uint64_t rejectors, pending; /* masks of plugins and PLUGIN_EXTENDERS, for the queue */
};

/* Looks for a node. `pod` must outlive the attempt. Uses s->arena, which it resets first. What it changes of the scheduler
 * is where the next search begins, and the random numbers; trial.h makes attempts that change nothing. */
void attempt_run(struct sched *s, struct attempt *a, const struct pod *pod, struct attempt_wants wants);

/* The chapters, for those who need them one by one. Each returns false when the attempt has ended. */
bool attempt_begin(struct sched *s, struct attempt *a, const struct pod *pod, struct attempt_wants wants);
void attempt_go_on(struct attempt *a); /* all that follow */
bool attempt_pre_filter(struct attempt *a);
bool attempt_filter(struct attempt *a);
bool attempt_score(struct attempt *a);
void attempt_select(struct attempt *a);

/* Pieces that choose.c shares: one filter over what is alive, the second look at nodes with nominated
 * pods, PreScore of one plugin, the scores of one position at POINT_SCORE added to the totals. False: the attempt has failed. */
bool attempt_filter_with(struct attempt *a, const struct plugin_instance *p, uint64_t *alive, size_t n_words);
bool attempt_filter_beside_nominated(struct attempt *a, uint64_t *alive);
bool attempt_pre_score_with(struct attempt *a, const struct plugin_instance *p);
bool attempt_score_position(struct attempt *a, unsigned position);
/* PreScore and Score are over. */
void attempt_measure_pre_score(struct attempt *a, bool worked);
void attempt_measure_score(struct attempt *a, bool worked);

/* choose.c: the quick way from PreFilter to the choice, and whether it may be taken; false: it came to nothing, and the
 * plain one must be taken after all. */
bool choose_can(const struct attempt *a);
bool choose_run(struct attempt *a);

/* The status of every node that does not fit, plugin by plugin in order. */
void attempt_diagnose(struct attempt *a);
/* "0/5 nodes are available: ...": upstream's words. `post_filter` may be NULL. */
const char *attempt_fit_error(struct attempt *a, const char *post_filter);
/* PostFilter: preemption. Sets cycle.nominate and returns the text for the message. */
struct verdict attempt_post_filter(struct attempt *a, const char **ret_message);
