/* plugins/podtopologyspread.h - what the parts of PodTopologySpread share: podtopologyspread.c
 * (constraints, defaults, hints), podtopologyspread_filter.c (hard ones) and podtopologyspread_score.c
 * (soft ones). */
#pragma once

#include "plugins/domains.h"
#include "plugins/wanted_nodes.h"

struct spread_data {
    /* What selects the pod, for default constraints; without rules when nobody does. */
    struct matcher (*selector_of)(const struct plugin_instance *p, const struct objects *objects, struct arena *a,
                                  const struct pod *pod);
    bool counts_all;     /* an empty selector counts every pod; today it counts none */
    bool counts_outside; /* hard constraints also count pods on nodes that the pod does not want, in domains that it does */
    bool truncates;      /* raw scores are cut off instead of rounded */
    bool system_defaults;
    struct spread_constraint *defaults; /* without selectors */
    uint32_t n_defaults;
    struct wanted_nodes wanted;
    sym hostname;                                                  /* kubernetes.io/hostname */
    sym core_v1, apps_v1;                                          /* API versions of owners, */
    sym kind_replication_controller, kind_replica_set, kind_stateful_set; /* and their kinds */
};

enum err_code spread_init(struct plugin_instance *p, const void *args, struct err *e) ERR_MUST_CHECK;
void spread_fini(struct plugin_instance *p);

/* Constraints of one kind, hard or soft. */
struct spread_list {
    struct spread_constraint *at;
    uint32_t n;
};

/* The constraints of a pod, or the default ones; NULL, or what is wrong with the pod's. */
const char *spread_constraints(const struct plugin_instance *p, const struct objects *objects, struct arena *a,
                               const struct pod *pod, bool soft, struct spread_list *ret_list) ERR_MUST_CHECK;

/* A constraint in a cycle. */
struct spread {
    const struct spread_constraint *rule;
    struct domains domains;
    const int32_t *counts; /* pods per row that count; NULL: none does */
    const uint64_t *rows;  /* nodes that count; NULL: all in a domain */
    bool is_hostname;
};

/* Looks up the columns. `all_keys`: only nodes that have the keys of all constraints count. */
struct spread *spread_compile(const struct plugin_instance *p, struct cycle *c, const struct spread_list *list,
                              bool all_keys);
/* Whether the node has the keys of all constraints. */
bool spread_has_all_keys(const struct spread *spreads, uint32_t n, node_id row);

struct verdict spread_pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names);
void *spread_clone_state(const struct plugin_instance *p, struct cycle *c, const void *state);
void spread_add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                    const struct node_view *on);
void spread_remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                       const struct node_view *on);
struct verdict spread_filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n);
void spread_filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive);

struct verdict spread_pre_score(const struct plugin_instance *p, struct cycle *c);
int64_t spread_score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n);
void spread_score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores);
void spread_normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores);
