/* insight/explain_json.h - explanations (sched/explain.h) and remedies (sched/remedy.h) as JSON.
 *
 * The one form of both: `berth explain -o json` prints it and a running scheduler answers with it, so the bytes
 * are the same for the same explanation. docs/explain.md describes the fields; they are only ever added.
 *
 * Thread: any, on what is its own. */
#pragma once

#include "base/strbuf.h"
#include "sched/explain.h"
#include "sched/remedy.h"

/* A pod that was evicted for the one that is explained. */
struct explained_eviction {
    const char *ns, *name;
    int32_t priority;
    const char *node; /* NULL: not known any more */
};

/* An explanation, and what whoever made it knows besides. */
struct explanation_report {
    const struct explanation *x;
    const char *owner; /* "Deployment shop/cart"; NULL: none */
    const char *state; /* "running", "placed", "pending", "evicted" */
    const struct explained_eviction *evicted;
    uint32_t n_evicted;
    const char *evicted_by_ns, *evicted_by_name; /* name NULL: nobody took its place */
    const struct remedies *remedies; /* NULL: not looked for */
    uint32_t n_extenders;            /* that were not asked */
    uint32_t n_top;                  /* nodes to list of each kind; UINT32_MAX: all */
    const char *const *warnings;
    uint32_t n_warnings;
    struct str decision; /* JSON of what was decided about the pod, see decisions.h; empty: nothing is known */
};

void explanation_add_json(struct strbuf *to, const struct explanation_report *r);

/* ---- Parts of it, each with the comma before it ---- */

/* "reasons": the groups of refusals, with up to n_top names of nodes each. */
void explanation_add_groups(struct strbuf *to, const struct explanation *x, uint32_t n_top);
/* remedies_json.c */
void remedies_add_json(struct strbuf *to, const struct remedies *r);

/* "Unschedulable" and so on. */
const char *explanation_code_text(enum verdict_code code);
