/* sim/report_what_if.h - the answers to what-if questions, for people and for programs.
 *
 * Thread: one. */
#pragma once

#include "sim/capacity.h"
#include "sim/change.h"
#include "sim/difference.h"
#include "sim/nodes_needed.h"

/* What was asked; NULL: it was not. */
struct sim_what_if {
    const struct sim_world *world;   /* the run that the usual report describes: with the changes */
    const struct sim_change *changes; /* as they were applied */
    size_t n_changes;
    const struct sim_changes *done;
    const struct sim_drain *drain;           /* how it ended */
    const struct sim_difference *difference; /* plain run -> run with the changes */
    const struct sim_capacity *capacity;
    const struct sim_needed *needed;
    const struct sim_difference *compared;  /* first configuration -> second configuration */
    const char *configs[2];                 /* their names */
};

static inline bool sim_what_if_any(const struct sim_what_if *q)
{
    return q->difference || q->capacity || q->needed || q->compared;
}

/* `width` of the terminal; 0: no bound. */
void sim_report_what_if(struct strbuf *to, const struct sim_what_if *q, unsigned width);
/* The section "whatIf" of the usual report (report.h); docs/simulate.md has the fields. */
void sim_what_if_json(struct strbuf *to, const struct sim_what_if *q);

/* The part of it that tells a difference. */
void sim_report_difference(struct strbuf *to, const struct sim_difference *d, unsigned width);
