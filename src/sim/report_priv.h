/* sim/report_priv.h - what the reports share.
 *
 * Thread: one. */
#pragma once

#include "sim/report.h"

/* NULL without one. Of an evicted pod: where it was. */
static inline const char *report_node_name(const struct sim_world *w, const struct sim_pod *p)
{
    return p->node == SIM_NO_NODE ? NULL : w->nodes.at[p->node].form->meta.name;
}

/* A pod by a name that its reader knows: its own, or of one that was made for its owner the owner's. */
const char *sim_pod_label(struct arena *a, const struct sim_pod *p);
/* "zone a", also for nodes without one. */
const char *sim_zone_label(struct arena *a, const char *zone);
/* The head line of every text: how many nodes and pods there are. */
void sim_add_counts(struct strbuf *to, const struct sim_world *w);
/* Pods that an API server would not let in, if there are any. */
void sim_add_refused(struct strbuf *to, const struct sim_world *w, unsigned width);
/* Why a pod is where it is not: the scheduler's message, or who took its place; NULL when it has a node. */
const char *sim_pod_reason(struct arena *a, const struct sim_world *w, const struct sim_pod *p);

/* The members that JSON and the page have in common, each with a comma before it. */
void sim_json_summary(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more);
void sim_json_refused(struct strbuf *to, const struct sim_world *w);
void sim_json_zones(struct strbuf *to, const struct sim_world *w);
void sim_json_rest(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more);
