/* sched/framework.h - plugins, profiles, and what a plugin sees of one scheduling attempt.
 *
 * This header and what it includes is all that plugins/ may use of sched/. The tables of functions that
 * plugins are, and what configuration makes of them, stand in plugin.h.
 *
 * Two forms of the same rule:
 *   - filter(cycle, node view) and score(cycle, node view) look at one node. They are the readable reference, the
 *     only form that also works on a simulated node (nominated pods, preemption), and what explains a refusal.
 *   - filter_block and score_block do the same for all nodes at once, on columns. They are optional and must give the
 *     same results; a property test holds the two equal.
 *
 * Thread: scheduling thread only. Memory: a cycle's arena is reset when the attempt ends. */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/rand.h"
#include "sched/cache.h"
#include "sched/objects.h"
#include "sched/plugin.h"
#include "sched/queued_pod.h"
#include "sched/verdict.h"

struct binding;
struct preemption;
struct volume_decisions;

/* One node as a plugin sees it: a row of the cache, or a copy of one with pods added and removed. */
struct node_view {
    node_id id;
    const struct node *node;
    int64_t milli_cpu, memory, ephemeral;         /* used */
    int64_t non_zero_milli_cpu, non_zero_memory;  /* used */
    uint32_t n_pods;
    const struct pod **pods;                      /* of a simulated view; read through node_view_pod */
    const struct placed *const *placed;           /* of a plain view */
    struct host_port *ports;
    uint32_t n_ports;
    uint32_t n_pods_max, n_ports_max;             /* of a simulated view: room */
    bool simulated;
    int64_t *scalars_used; /* of a simulated view: by index in columns.scalars; else NULL */
    const struct cache *cache;
};

static inline const struct pod *node_view_pod(const struct node_view *v, uint32_t i)
{
    return v->simulated ? v->pods[i] : v->placed[i]->pod;
}
int64_t node_view_scalar_used(const struct node_view *v, sym name);

/* ---- Cluster events that may wake waiting pods ---- */

enum event_resource {
    RES_POD, /* registrations only: both of the next two */
    RES_ASSIGNED_POD,
    RES_UNSCHEDULED_POD,
    RES_NODE,
    RES_PERSISTENT_VOLUME,
    RES_PERSISTENT_VOLUME_CLAIM,
    RES_CSI_NODE,
    RES_CSI_DRIVER,
    RES_VOLUME_ATTACHMENT,
    RES_CSI_STORAGE_CAPACITY,
    RES_STORAGE_CLASS,
    RES_RESOURCE_CLAIM,
    RES_RESOURCE_SLICE,
    RES_DEVICE_CLASS,
    RES_POD_GROUP,
    RES_ANY,
    N_EVENT_RESOURCES
};

enum event_action { /* bits, upstream's order: it matters for matching */
    ACT_ADD = 1 << 0,
    ACT_DELETE = 1 << 1,
    ACT_UPDATE_NODE_ALLOCATABLE = 1 << 2,
    ACT_UPDATE_NODE_LABEL = 1 << 3,
    ACT_UPDATE_NODE_TAINT = 1 << 4,
    ACT_UPDATE_NODE_CONDITION = 1 << 5,
    ACT_UPDATE_NODE_ANNOTATION = 1 << 6,
    ACT_UPDATE_NODE_DECLARED_FEATURE = 1 << 7,
    ACT_UPDATE_POD_LABEL = 1 << 8,
    ACT_UPDATE_POD_SCALE_DOWN = 1 << 9,
    ACT_UPDATE_POD_TOLERATION = 1 << 10,
    ACT_UPDATE_POD_GATES_ELIMINATED = 1 << 11,
    ACT_UPDATE_POD_GENERATED_CLAIM = 1 << 12,
    ACT_UPDATE = 8188,
    ACT_ALL = 8191,
};

enum hint { HINT_SKIP, HINT_QUEUE };

/* An event and the objects before and after it: old is NULL when added, new is NULL when deleted. */
struct cluster_event {
    enum event_resource resource;
    uint32_t action;
    const void *old_object, *new_object; /* struct pod, node, ...: of the resource's kind */
    const char *label;                   /* of a wildcard event: "UnschedulableTimeout", "ForceActivate"; else NULL */
};

struct plugin_instance;

/* What a hint may look at. */
struct hint_context {
    const struct plugin_instance *plugin;
    const struct cache *cache;
    const struct objects *objects;
    struct sym_table *syms;
    struct arena *arena; /* scratch */
};

typedef enum hint (*hint_fn)(const struct hint_context *h, const struct pod *waiting,
                             const struct cluster_event *event);

struct plugin_event {
    enum event_resource resource;
    uint32_t actions; /* 0 ends the list */
    hint_fn hint;     /* NULL: always worth a try */
};

/* ---- Plugins ---- */

/* Where reasons go. */
struct reasons {
    struct arena *arena;
    VEC(const char *) texts;
};

/* Names of nodes that PreFilter narrows to. */
struct node_names {
    const sym *at;
    uint32_t n;
    bool given; /* false: no narrowing */
};

/* ---- A scheduling attempt ---- */

struct filter_status { /* of one node that does not fit */
    struct verdict verdict;
    const struct plugin_instance *plugin; /* NULL: the framework itself, an extender, or several plugins: */
    const struct filter_status *several;  /* what each of them said; NULL: there are none */
    uint32_t n_several;
};

struct cycle {
    struct arena *arena;
    struct cache *cache;
    const struct objects *objects;
    struct sym_table *syms;
    const struct profile *profile;
    struct sched *sched;   /* opaque to plugins */
    const struct pod *pod; /* the pod that is tried */
    struct rand *rand;
    struct arena *binding_arena; /* from Reserve on: lives until the binding ends */
    void **binding_state;        /* in it, by plugin index: what a plugin keeps from Reserve on */
    struct binding *binding;     /* opaque to plugins */
    int64_t now_ms, now_s; /* monotonic; since 1970 */

    void **state;       /* by plugin index: what its pre_filter left; a copy while a node is simulated */
    void **score_state; /* by plugin index: what its pre_score left */
    uint64_t skip_filter;      /* plugins whose pre_filter said SKIP */
    uint64_t skip_score;
    uint64_t pre_filter_ran;   /* plugins whose pre_filter was reached */

    const node_id *feasible;   /* in search order, for pre_score and later */
    uint32_t n_feasible;
    const struct node_names *narrowed; /* NULL: all nodes */

    /* for post_filter */
    const struct filter_status *statuses; /* by node_id; code V_SUCCESS: none recorded */
    struct filter_status absent_status;   /* of nodes that were not looked at */
    sym nominate;                         /* set by post_filter: node, or SYM_EMPTY to clear, or SYM_NONE to keep */
    const struct preemption *preemption;  /* what post_filter found, to be carried out; or NULL */
    bool tried_preemption;                /* a plugin at PostFilter asked for it, whatever came of it */
};

/* The state that a plugin's own pre_filter left, typed. */
#define CYCLE_STATE(p, c, type) ((type *)(c)->state[(p)->index])
#define CYCLE_SCORE_STATE(p, c, type) ((type *)(c)->score_state[(p)->index])

/* A view of a row as it is. */
struct node_view node_view_of(const struct cache *cache, node_id id);

/* A view of a row as if nothing ran on it, and without its images; *ret_node is the node that it points
 * to. */
struct node_view node_view_bare(struct cycle *c, node_id id, struct node *ret_node);

/* A reason of the plugin's own words. */
struct verdict verdict_printf(struct cycle *c, enum verdict_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline struct verdict verdict_text(enum verdict_code code, const char *text)
{
    return (struct verdict){ (uint8_t)code, 0, text };
}

/* ---- Simulated nodes ---- */

/* A copy that pods can be added to and removed from, in the cycle's arena. */
struct node_view *node_view_clone(struct cycle *c, const struct node_view *view);
/* Changes the copy and, for every plugin that filters in this cycle, the state that c->state points to
 * (which must be a copy, see cycle_clone_state). */
void node_view_add(struct cycle *c, struct node_view *copy, const struct pod *pod);
void node_view_remove(struct cycle *c, struct node_view *copy, const struct pod *pod);
/* A copy of c->state for one simulated node. The caller puts it into c->state and the old one back
 * afterwards. */
void **cycle_clone_state(struct cycle *c);

/* Runs the profile's filters on one node: with the nominated pods of equal or higher priority added,
 * and then, if that passed, without them. verdict.code V_SUCCESS: it fits. */
struct filter_status framework_filter(struct cycle *c, const struct node_view *view);
/* The same with one of them, on the node as it is given. */
struct verdict framework_filter_with(const struct plugin_instance *p, struct cycle *c, const struct node_view *view);
/* What the plugin's Filter or Score fails with because the profile leaves out the point that prepares it; NULL: it does
 * not. */
const char *framework_lacks_any(const struct cycle *c, const struct plugin_instance *p, enum extension_point at);
static inline const char *framework_lacks(const struct cycle *c, const struct plugin_instance *p,
                                          enum extension_point at)
{
    bool complete = !(c->profile->without_pre_filter | c->profile->without_pre_score); /* nearly all profiles are */
    return complete ? NULL : framework_lacks_any(c, p, at);
}
/* The words for a filter that failed. */
const char *framework_filter_error(struct cycle *c, const struct filter_status *status);
/* PreEnqueue: the first plugin that keeps c->pod out of the queue. verdict.code V_SUCCESS: none does; all others do, errors
 * too. */
struct filter_status framework_gate(struct cycle *c);
/* Whether the pod that is tried must leave room for this one, which is nominated somewhere. */
bool framework_respects(const struct cycle *c, const struct pod *nominated);
/* ---- What some plugins ask the scheduler to do ---- */

/* Looks for victims; sets c->nominate and c->preemption. The text has no prefix. */
struct verdict framework_preempt(const struct plugin_instance *by, struct cycle *c, int32_t percentage, int32_t absolute);
/* Whether victims of the pod's preemption are still being evicted. */
bool framework_is_preempting(const struct cycle *c, const struct pod *pod);
/* Sends the binding; V_WAIT: the answer comes later. */
struct verdict framework_bind(struct cycle *c, node_id node);
/* Writes volumes and claims and waits until they are bound; V_WAIT. `decisions` must live in
 * c->binding_arena. */
struct verdict framework_bind_volumes(struct cycle *c, const struct volume_decisions *decisions);

/* The reasons of a status, as texts. */
void framework_reasons(struct cycle *c, const struct filter_status *status, struct reasons *to);
