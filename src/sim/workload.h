/* sim/workload.h - the workloads of upstream's scheduler_perf, against the engine alone.
 *
 * Same nodes, pods and counts as upstream's by the same names; no API server: what the scheduler
 * decides is answered at once and confirmed as a watch would. All nodes are scored.
 *
 * Thread: one; makes its own scheduler. */
#pragma once

#include "base/strbuf.h"
#include "config/setup.h"

enum { WORKLOAD_CHURN_PODS = 200 }; /* that fit nowhere, of unschedulable_churn */

struct workload {
    const char *name;
    uint32_t n_nodes, n_init_pods, n_measured_pods;
    const char *const *zones;      /* topology.kubernetes.io/zone, in turn; NULL: no label */
    const char *init, *measured;   /* templates: names in workload.c */
    const char *init_ns, *measured_ns;
    uint32_t n_init_namespaces;    /* init pods go to "init-ns-0" and on in turn; 0: init_ns alone */
    bool namespaces_have_labels, service, unschedulable_churn, mixed_init;
    bool keeps_decisions; /* as a daemon does: insight/decisions.h */
    bool metrics; /* the scheduler is measured as one with a page of metrics is; none of the table's is */
};

extern const struct workload workloads[]; /* ends with a NULL name */

/* ---- Its objects, as JSON ---- */

struct workload_pod {
    const char *template_name, *ns;
    const char *kind; /* what its name begins with */
    uint32_t i;
};

void workload_add_node(struct strbuf *to, const struct workload *w, uint32_t i);
/* With a uid and a version, as from a watch. */
void workload_add_pod(struct strbuf *to, const struct workload_pod *p);
void workload_add_namespace(struct strbuf *to, const struct workload *w, const char *name);
/* It selects the measured pods of a workload that has a service. */
void workload_add_service(struct strbuf *to, const char *ns);
/* Templates of the init pods, n_init_pods each; ends with NULL. */
const char *const *workload_init_templates(const struct workload *w, const char *room[2]);

/* ---- A run ---- */

struct workload_result {
    uint32_t n_placed, n_unplaced;
    double seconds, throughput; /* of the measured pods; pods a second */
    int64_t p50_ns, p99_ns, max_ns; /* of one decision */
    uint64_t decision_hash;
};

/* `progress` (may be NULL) is called now and then with the number of pods done. */
enum err_code workload_run(const struct workload *w, struct sym_table *syms, const struct setup *setup,
                           void (*progress)(void *context, uint32_t n_done), void *context,
                           struct workload_result *ret_result, struct err *e) ERR_MUST_CHECK;
