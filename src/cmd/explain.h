/* cmd/explain.h - an explanation as `berth explain` prints it for people; insight/explain_json.h is the form for programs.
 * docs/explain.md describes both.
 *
 * Thread: main. */
#pragma once

#include "sched/explain.h"
#include "sched/remedy.h"
#include "sim/world.h"

struct explain_report {
    const struct explanation *x;
    const struct sim_world *world;
    const struct sim_pod *pod;
    const struct remedies *remedies; /* of a pending pod; NULL: it is not */
    uint32_t n_extenders; /* of the configuration: a simulation does not ask them */
    uint32_t n_top;       /* nodes to list of each kind; UINT32_MAX: all */
    unsigned width;       /* of the terminal; 0: no bound */
};

void explain_add_text(struct strbuf *to, const struct explain_report *r);

/* A part of it. */
void explain_add_remedies_text(struct strbuf *to, const struct remedies *r);
