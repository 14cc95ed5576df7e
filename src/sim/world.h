/* sim/world.h - a cluster in memory: objects in, the scheduler run in virtual time, what became of every pod out.
 *
 * What the scheduler decides is done at once: a bound pod is on its node, volumes are bound, an evicted pod is gone. If
 * it has a controller, that makes another one like it, named NAME-again. The clock is virtual and moves on only while
 * pods wait for their back-off; when nothing is ready and nothing backs off any more, what has no node stays pending
 * with the scheduler's last message. Same input, configuration and seed: same outcome.
 *
 * Thread: one. Owns: references to typed forms, and the scheduler; the input and the setup must live longer. */
#pragma once

#include "config/setup.h"
#include "sched/sched.h"
#include "sim/forms.h"
#include "sim/volumes.h"

enum sim_state {
    SIM_RUNNING, /* was on its node before */
    SIM_PLACED,
    SIM_PENDING,
    SIM_EVICTED,
    N_SIM_STATES
};

enum { SIM_NO_NODE = -1 };

struct sim_amounts {
    int64_t milli_cpu, memory, pods;
};

struct sim_node {
    const struct node *form;
    const char *zone; /* "" without the label topology.kubernetes.io/zone */
    struct sim_amounts allocatable, before, after;
};

struct sim_pod {
    const struct pod *form;
    const char *ns, *name, *owner; /* owner as in struct sim_object */
    bool made;                     /* for its owner, by us: nobody else knows its name */
    enum sim_state state;
    int32_t node;     /* index, or SIM_NO_NODE */
    char *message;    /* of a pending pod, or NULL; owned */
    int64_t evicted_by; /* index of the pod that took its place */
    bool was_running;   /* on its node when it was given, whatever became of it */
};

enum sim_outcome_kind { SIM_OUTCOME_BOUND, SIM_OUTCOME_EVICTED, SIM_OUTCOME_NOMINATED, SIM_OUTCOME_VOLUMES };

struct sim_outcome {
    io_ticket ticket;
    const struct pod *pod; /* as it is now; a reference */
    enum sim_outcome_kind kind;
};

/* Who wants to know what happens, as it happens; told after the scheduler has seen it, so that it may be called. */
struct sim_watch {
    void *context;
    void (*bound)(void *context, const struct pod *pod);   /* with its node */
    void (*evicted)(void *context, const struct pod *pod); /* with the node that it was on */
    void (*failed)(void *context,
                   const struct status_change *change); /* inside an attempt: must not call the scheduler */
};

struct sim_world {
    const struct sim_watch *watch; /* NULL: nobody */
    struct sim_input *in;
    const struct setup *setup; /* `own`; NULL: not made yet */
    struct setup own;          /* like the one that was given: worlds that live side by side share no plugins */
    struct sym_table *syms;
    struct sched *sched;
    int64_t now_ms, start_wall_s; /* of virtual time; seconds since 1970 when it began */
    size_t n_tried; /* attempts so far */
    size_t n_left_out; /* pods on nodes that are not given */
    VEC(struct sim_node) nodes; /* in the order of the input */
    VEC(struct sim_pod) pods;   /* all but finished ones; in the order of the input, made ones behind; grows in a run */
    struct map_str pod_by_uid;  /* -> index */
    struct map_u64 node_by_name; /* sym -> index */
    VEC(struct sim_outcome) outcomes; /* what the scheduler asked for and has not been answered yet */
    sim_new_form_vec bound;           /* volumes and claims of such outcomes, as they are going to be */
    uint32_t n_in_state[N_SIM_STATES];
    uint64_t n_nominations; /* so far: versions of the pods that got or lost one */
    uint64_t decision_hash; /* of the last run: what was tried afterwards does not count */
    struct sim_try *probe;  /* of the pod that is being tried by sim_world_try; NULL: none is */
};

/* What became of a pod that was tried. */
struct sim_try {
    const char *uid;
    int32_t node;  /* SIM_NO_NODE: it was not placed */
    char *message; /* then: why; for the caller to free */
};

/* Hands everything of an input that was completed (forms.h) and expanded (expand.h) to a new scheduler. Of the input
 * only the warnings change; it must stay as it is while the world lives. An error names the object. */
enum err_code sim_world_init(struct sim_world *w, struct sim_input *in, struct sym_table *syms,
                             const struct setup *setup, uint64_t seed, struct err *e) ERR_MUST_CHECK;
/* Also after an init that failed. */
void sim_world_fini(struct sim_world *w);
/* Until nothing more happens. May be called again after one of the changes below. */
void sim_world_run(struct sim_world *w);
/* One part of that: one attempt, and what follows from it. False when no pod is ready. The clock stands still. */
bool sim_world_step(struct sim_world *w);
/* What time brings, at now_ms. */
void sim_world_tick(struct sim_world *w);
/* What to say of a pod that the scheduler never tries (for the caller to free), or NULL. */
char *sim_untried_reason(const struct sim_world *w, const struct pod *pod);

/* ---- Changes of a world that was run ---- */

/* A pod that had its node before the run is evicted and made again: it has no node and is tried after all others. Its
 * node's account is as if it had never been there. */
void sim_world_unbind(struct sim_world *w, size_t pod);
/* Such a pod is gone; indexes of the pods behind it move. */
void sim_world_remove(struct sim_world *w, size_t pod);
/* Pending pods are not tried any more; their state stays as it is. */
void sim_world_give_up_pending(struct sim_world *w);
/* One more pod, which is no part of `pods` nor of any account: tried once, now, and stays on its node if it finds one.
 * The form stays the caller's. */
struct sim_try sim_world_try(struct sim_world *w, const struct pod *form);
