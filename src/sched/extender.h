/* sched/extender.h - programs outside that filter, score, bind and choose victims over HTTP.
 *
 * The rules are here, the transport is not: a request goes out through io.call_extender as a plain
 * struct, and the answer comes back as one. Whoever implements the call encodes the request, sends it
 * to "<url_prefix>/<verb>" and decodes what comes back.
 *
 * An extender is waited for, as upstream waits: a cycle reads one stable world. Binding is the
 * exception, its outcome comes as sched_bound. Extenders are asked in the order in which they are given
 * to the scheduler; configuration puts ignorable ones last.
 *
 * Thread: scheduling thread only. */
#pragma once

#include "forms/pod.h"
#include "sched/io.h"
#include "sched/verdict.h"

struct attempt;
struct binding;
struct cycle;
struct preemption;
struct sched;

enum extender_verb { EXTENDER_FILTER, EXTENDER_PRIORITIZE, EXTENDER_PREEMPT, EXTENDER_BIND, N_EXTENDER_VERBS };

enum { EXTENDER_SCORE_MAX = 10 }; /* of the extenders' own scale; not enforced, as upstream */

struct extender {
    const char *url_prefix;              /* also its name in messages */
    const char *verbs[N_EXTENDER_VERBS]; /* path below the prefix; NULL or empty: it does not do this */
    int64_t weight;                      /* of its scores */
    const sym *managed_resources;        /* of interest are pods that name one of them; none: all pods */
    uint32_t n_managed_resources;
    bool node_cache_capable; /* knows the nodes itself: gets and gives names instead of whole objects */
    bool ignorable;          /* the cycle goes on when it fails */
};

/* ---- Requests ---- */

/* Pods that would have to leave a node. */
struct extender_victims {
    sym node;
    const struct pod *const *pods;
    uint32_t n_pods;
    int64_t n_violations; /* of disruption budgets */
};

struct extender_request {
    const struct extender *extender;
    enum extender_verb verb;
    const struct pod *pod;
    const sym *nodes; /* FILTER, PRIORITIZE: names; the node to bind to is the pod's node_name */
    uint32_t n_nodes;
    const struct extender_victims *victims; /* PREEMPT: one entry a node */
    uint32_t n_victims;
    io_ticket ticket;    /* BIND: for sched_bound */
    struct arena *arena; /* the answer goes here */
};

/* ---- Answers. Everything in them lies in the request's arena; what was not in the answer is zero. ---- */

struct extender_names {
    const struct str *at;
    uint32_t n;
    bool given; /* false: absent or null */
};

struct extender_failure {
    struct str node;
    const char *why;
};

struct extender_score {
    struct str node;
    int64_t score;
};

struct extender_meta_victims {
    struct str node;
    const struct str *uids;
    uint32_t n_uids;
    int64_t n_violations;
};

struct extender_answer {
    const char *error;                 /* of the transport, or what the answer itself says; NULL: none */
    struct extender_names node_names;  /* FILTER: NodeNames */
    struct extender_names nodes;       /* FILTER: the names of the objects in Nodes */
    const struct extender_failure *failed, *unresolvable; /* FILTER: FailedNodes, FailedAndUnresolvableNodes */
    uint32_t n_failed, n_unresolvable;
    const struct extender_score *scores; /* PRIORITIZE */
    uint32_t n_scores;
    const struct extender_meta_victims *victims; /* PREEMPT: NodeNameToMetaVictims, one entry a node */
    uint32_t n_victims;
};

/* ---- For the cycle ---- */

bool extender_has(const struct extender *x, enum extender_verb verb);
/* Whether one of the pod's containers names a resource that the extender manages. */
bool extender_is_interested(const struct extender *x, const struct pod *pod);

/* Lets every interested extender shorten the feasible list. False: one failed, `error` of the attempt
 * says how. */
bool extenders_filter(struct attempt *a);
/* Adds their scores, and gives random numbers for ties to the nodes that they named. One that fails is
 * left out. */
void extenders_prioritize(struct attempt *a);
/* Whether any extender filters or scores: then one fitting node is not enough. */
bool extenders_compare(const struct sched *s);
/* Lets extenders replace the candidates. PASS: it may leave none. V_ERROR: one failed. */
struct verdict extenders_preempt(struct cycle *c, struct preemption *p);
/* Asks the next extender that binds this pod; its answer comes as sched_bound. False: there is none
 * (left). */
bool extenders_bind(struct sched *s, struct binding *b);
