/* plugins/interpodaffinity.h - what the parts of InterPodAffinity share: interpodaffinity.c (terms, hints),
 * interpodaffinity_filter.c (required terms) and interpodaffinity_score.c (preferred ones). */
#pragma once

#include "plugins/domains.h"

/* What is wrong with the pod's terms, or NULL. */
const char *affinity_error(struct arena *a, const struct pod *pod);
/* The pod's terms; all empty when it has none. */
const struct pod_affinity *affinity_of(const struct pod *pod);

/* Labels of the pod's namespace; none when the namespace is not known. */
struct label_set affinity_namespace_labels(const struct objects *objects, const struct sym_table *syms, sym ns);
/* Whether a term selects the pod, whose namespace has these labels. */
bool affinity_term_matches(const struct affinity_term *t, const struct pod *pod, struct label_set ns_labels,
                           const struct sym_table *syms);
/* A term of the pod that is tried, its namespace selector resolved to names. */
struct count_part affinity_own_part(struct cycle *c, const struct affinity_term *t);

struct verdict affinity_pre_filter(const struct plugin_instance *p, struct cycle *c, struct node_names *ret_names);
void *affinity_clone_state(const struct plugin_instance *p, struct cycle *c, const void *state);
void affinity_add_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                      const struct node_view *on);
void affinity_remove_pod(const struct plugin_instance *p, struct cycle *c, void *state, const struct pod *pod,
                         const struct node_view *on);
struct verdict affinity_filter(const struct plugin_instance *p, struct cycle *c, const struct node_view *n);
void affinity_filter_block(const struct plugin_instance *p, struct cycle *c, uint64_t *alive);

struct verdict affinity_pre_score(const struct plugin_instance *p, struct cycle *c);
int64_t affinity_score(const struct plugin_instance *p, struct cycle *c, const struct node_view *n);
void affinity_score_block(const struct plugin_instance *p, struct cycle *c, int64_t *scores);
void affinity_normalize(const struct plugin_instance *p, struct cycle *c, int64_t *scores);
