/* sim/report.h - what came out of a simulation, for people, for programs and for scripts.
 *
 * Names and messages come from files and may hold anything. Text for terminals shows
 * escapes instead of what is not printable (base/printable.h); JSON and the page escape what they must.
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

/* A further member of the document, made elsewhere: a key and a JSON value ("whatIf", "trace";
 * docs/simulate.md). */
struct sim_section {
    const char *key;
    struct str json;
};
struct sim_sections {
    const struct sim_section *at;
    size_t n;
    int exit_code; /* of the command: part of the summary */
};

/* `width` of the terminal; 0: no bound. */
void sim_report_text(struct strbuf *to, const struct sim_world *w, unsigned width);
/* A table with a row for every pod, and columns that awk can tell apart. */
void sim_report_wide(struct strbuf *to, const struct sim_world *w);
/* A line for every pod that had no node: "namespace/name node", "namespace/name -" when it is still
 * without. */
void sim_report_names(struct strbuf *to, const struct sim_world *w);

/* docs/simulate.md has the fields; ends with a newline. `more` may be NULL: nothing to add. */
void sim_report_json(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more);
/* The same document. */
void sim_report_yaml(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more);

enum { SIM_PAGE_PODS_MAX = 400000 }; /* more are counted on the page, not listed */

/* One HTML page that holds everything it needs: charts and tables of the same document. */
void sim_report_page(struct strbuf *to, const struct sim_world *w, const struct sim_sections *more);
