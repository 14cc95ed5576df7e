/* sched/plugin.h - plugins as tables of functions, and profiles: what configuration makes of them.
 *
 * A plugin is a constant table of functions. One that configuration enables is a `struct
 * plugin_instance`: the table and what init made of its arguments (args.h). A profile says which
 * instances are called at which point, in which order and with which weight; pods choose it by
 * spec.schedulerName.
 *
 * Thread: tables are constant; profiles are built before the scheduling thread starts and only read after. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sym.h"
#include "sched/verdict.h"

enum {
    SCORE_MAX = 100,
    PLUGINS_MAX = 62, /* of one profile: sets of plugins are 64-bit masks */
    /* Bits of their own among the plugins that rejected a pod: */
    PLUGIN_NOBODY = PLUGINS_MAX, /* for no plugin in particular: no event brings the pod back */
    PLUGIN_EXTENDERS,            /* for all extenders */
    PROFILES_MAX = 255, /* of one scheduler: waiting pods know theirs by a byte */
};

typedef uint32_t node_id; /* as in cache.h */

struct cycle;
struct era;
struct node_names;
struct node_view;
struct placement;
struct placements;
struct plugin_event;
struct plugin_instance;
struct pod;
struct queued_pod;
struct reasons;
struct strbuf;

enum extension_point {
    POINT_PRE_ENQUEUE, POINT_QUEUE_SORT, POINT_PRE_FILTER, POINT_FILTER, POINT_POST_FILTER, POINT_PRE_SCORE,
    POINT_SCORE, POINT_RESERVE, POINT_PERMIT, POINT_PRE_BIND, POINT_BIND, POINT_POST_BIND,
    POINT_PLACEMENT_GENERATE, POINT_PLACEMENT_SCORE,
    N_POINTS
};

/* The functions in the order in which they are called. Before a pod may wait to be tried: pre_enqueue; less says whose turn it
 * is. In an attempt: pre_filter once, filter for nodes; when none fits, post_filter; else pre_score once, score for the
 * nodes that fit, normalize over all of these. When a node was chosen: reserve, permit, pre_bind_pre_flight, pre_bind,
 * bind, post_bind; after a failure among these unreserve, in reverse order. Every function may be NULL; a plugin has the
 * extension points whose functions it has. */
struct plugin {
    const char *name;

    /* Parses arguments (already decoded and defaulted, see config/) into what the instance keeps. */
    enum err_code (*init)(struct plugin_instance *p, const void *args, struct err *e);
    void (*fini)(struct plugin_instance *p);
    /* The scheduler ends: what is kept of its cluster goes, so that the next one does not meet it. NULL: nothing is. */
    void (*forget)(struct plugin_instance *p);

    struct verdict (*pre_enqueue)(const struct plugin_instance *p, struct cycle *c);
    bool (*less)(const struct plugin_instance *p, const struct queued_pod *a, const struct queued_pod *b);

    struct verdict (*pre_filter)(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names);
    /* A copy of the plugin's state of this cycle, for one simulated node; what add_pod and remove_pod
     * change. */
    void *(*clone_state)(const struct plugin_instance *p, struct cycle *c, const void *state);
    void (*add_pod)(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                    const struct node_view *on);
    void (*remove_pod)(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                       const struct node_view *on);
    struct verdict (*filter)(const struct plugin_instance *p, struct cycle *c, const struct node_view *n);
    /* Clears the bits of nodes that filter would not pass. `alive` has columns.n_rows bits. */
    void (*filter_block)(const struct plugin_instance *p, struct cycle *c, uint64_t *alive);
    /* Texts of a verdict that this plugin gave (detail != 0 or no text of its own). */
    void (*reasons)(const struct plugin_instance *p, struct cycle *c, struct verdict v, struct reasons *to);

    struct verdict (*post_filter)(const struct plugin_instance *p, struct cycle *c);
    /* A refusal of post_filter has no effect, and depends on nothing but what memo.h says of victims. */
    bool repeatable_post_filter;

    struct verdict (*pre_score)(const struct plugin_instance *p, struct cycle *c);
    int64_t (*score)(const struct plugin_instance *p, struct cycle *c, const struct node_view *n);
    /* Scores of c->feasible, by index in that list. */
    void (*score_block)(const struct plugin_instance *p, struct cycle *c, int64_t *scores);
    /* In place, over c->feasible. NULL: scores are final. */
    void (*normalize)(const struct plugin_instance *p, struct cycle *c, int64_t *scores);

    struct verdict (*reserve)(const struct plugin_instance *p, struct cycle *c, node_id node);
    void (*unreserve)(const struct plugin_instance *p, struct cycle *c, node_id node);
    struct verdict (*permit)(const struct plugin_instance *p, struct cycle *c, node_id node, int64_t *ret_timeout_ms);
    /* SKIP: nothing to do for this pod. */
    struct verdict (*pre_bind_pre_flight)(const struct plugin_instance *p, struct cycle *c, node_id node);
    struct verdict (*pre_bind)(const struct plugin_instance *p, struct cycle *c, node_id node);
    struct verdict (*bind)(const struct plugin_instance *p, struct cycle *c, node_id node);
    void (*post_bind)(const struct plugin_instance *p, struct cycle *c, node_id node);

    /* Pods that are placed together or not at all: sets of nodes to try such a group on, and how good a placement of the
     * group is. */
    struct verdict (*placement_generate)(const struct plugin_instance *p, struct cycle *c,
                                         struct placements *ret_placements);
    int64_t (*placement_score)(const struct plugin_instance *p, struct cycle *c, const struct placement *placement);

    /* Filter and Score may read what PreFilter or PreScore left, and a profile may leave these out: then `at` fails with
     * this text, upstream's; NULL: it does without what is `missing`. No function: it always does. */
    const char *(*fails_without)(const struct plugin_instance *p, const struct cycle *c, enum extension_point missing,
                                 enum extension_point at);

    const struct plugin_event *events; /* ends with actions 0; NULL: every event */

    /* A local rule depends on one node, and of the pod on nothing but what its function here appends to the key
     * (class_key.h): then its answers are kept for pods with an equal key (pod_class.h, memo.h). NULL: it may
     * depend on more, and is asked anew in every attempt. A local filter has no state that other pods change,
     * and texts that live as long as the plugin; a local score has a block form and is not normalised. */
    void (*filter_key)(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key);
    void (*score_key)(const struct plugin_instance *p, const struct cycle *c, struct strbuf *key);
    /* After PreScore: every node gets this final score. */
    bool (*uniform_score)(const struct plugin_instance *p, struct cycle *c, int64_t *ret_score);
    /* Before PreScore: whether it will look at c->feasible; NULL: yes. */
    bool (*needs_feasible)(const struct plugin_instance *p, const struct cycle *c);
};

struct plugin_instance {
    const struct plugin *plugin;
    void *data;      /* what init made */
    uint8_t index;   /* in the profile: bit in masks, slot of the state */
    struct sym_table *syms;
    const struct features *features;
    const struct era *era; /* of the profile */
};

/* Feature gates that change what the scheduler and its plugins do; those that are locked, or without effect
 * here, have no member. config/features.h fills it. */
struct features {
    bool taint_toleration_comparison_operators;
    bool storage_capacity_scoring;
    bool volume_limit_scaling;
    bool node_declared_features;
    bool async_preemption;
    bool pop_from_backoff_queue;
    bool nominated_node_name_for_expectation;
    bool generic_workload;
    bool gang_scheduling;
    bool topology_aware_workloads;
    bool dra_device_binding_conditions;
    bool dra_resource_claim_device_status;
    bool dra_filter_timeout;
    /* Of older worlds: */
    bool balance_attached_node_volumes;
    bool csi_migration_aws;
};

/* ---- Profiles ---- */

struct point_plugins {
    const struct plugin_instance *at[PLUGINS_MAX];
    uint8_t n;
};

/* What every attempt looks up of a profile. Scores are masks of positions at POINT_SCORE. */
struct profile_plan {
    bool settled;
    struct point_plugins local_filters, general_filters; /* the plugins at POINT_FILTER, in order */
    uint64_t local_filter_mask, general_filter_mask;     /* the same, by index in the profile */
    uint64_t local_scores, general_scores;
    struct point_plugins general_pre_scores; /* at POINT_PRE_SCORE, without those whose score is local */
    bool has_quick_way;       /* choose.c can stand in for filter and score, as far as the profile goes */
    bool repeats_post_filter; /* every plugin at POINT_POST_FILTER says repeatable_post_filter */
};

struct profile {
    const char *scheduler_name;
    sym scheduler_name_sym;
    struct plugin_instance instances[PLUGINS_MAX];
    uint8_t n_instances;
    struct point_plugins points[N_POINTS];
    int64_t weights[PLUGINS_MAX]; /* of POINT_SCORE, by position there */
    /* Plugins by index that filter or score, and whose PreFilter or PreScore the profile leaves out; by profile_settle. */
    uint64_t without_pre_filter, without_pre_score;
    int32_t percentage_of_nodes_to_score; /* -1: the global one */
    bool runs_all_filters;                /* also those after the first that refuses a node: all reasons are told */
    const struct era *era;                /* era.h */
    bool in_use; /* by a scheduler: what plugins keep is of one cluster */
    struct profile_plan plan; /* of all that, by profile_settle */
};

/* The last step of making a profile, when points and weights are as they stay. */
void profile_settle(struct profile *p);

static inline bool profile_has(const struct profile *p, enum extension_point point)
{
    return p->points[point].n > 0;
}

/* A scheduler takes it, once it is settled, and gives it back at its end. One at a time. */
void profile_take(struct profile *p);
void profile_give_back(struct profile *p);
