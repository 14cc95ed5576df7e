/* sim/report.h - what came out of a simulation, for people, for programs and for scripts.
 *
 * Thread: one. The world has been run. */
#pragma once

#include "base/strbuf.h"
#include "sim/world.h"

struct sim_zone {
    const char *name; /* "" for nodes without a zone */
    uint32_t n_nodes;
    struct sim_amounts allocatable, before, after;
};
typedef VEC(struct sim_zone) sim_zone_vec;

/* By name. */
void sim_zones(const struct sim_world *w, sim_zone_vec *ret_zones);
/* One sum over all nodes, with an empty name. */
struct sim_zone sim_total(const struct sim_world *w);

void sim_report_text(struct strbuf *to, const struct sim_world *w);
/* docs/simulate.md has the fields; ends with a newline. */
void sim_report_json(struct strbuf *to, const struct sim_world *w);
/* The same without the brace that ends it, for more members. */
void sim_report_json_open(struct strbuf *to, const struct sim_world *w);
/* A line for every pod that had no node: "namespace/name node", "namespace/name -" when it is still without. */
void sim_report_names(struct strbuf *to, const struct sim_world *w);
