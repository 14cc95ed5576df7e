/* cmd/simulate_options.h - the command line of `berth simulate`.
 *
 * Changes keep the order in which they were given. Whether nodes and controllers exist is not known
 * here.
 *
 * Thread: main. Owns: its lists; texts are argv's. */
#pragma once

#include "cmd/setup.h"

#include "cmd/cluster.h"
#include "cmd/simulate_trace.h"
#include "sim/change.h"

enum simulate_output { OUTPUT_TEXT, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME };

struct simulate_options {
    const struct command *c;
    VEC(const char *) paths;
    struct cluster_options cluster;
    const char *config, *report; /* files; NULL: not given */
    bool allow_plugins;          /* code that a configuration names is loaded */
    const char *feature_gates;   /* NULL: all at their defaults */
    struct cmd_compat compat;    /* an older scheduler */
    uint64_t seed;
    enum simulate_output output;
    VEC(struct sim_change) changes;
    bool force;               /* a drain deletes pods that nobody makes again */
    struct trace_options trace;
    struct trace_make make; /* of no pods: none is made */
    bool kinds;             /* only say what is read */
    const char *capacity_of;  /* file; NULL: not asked */
    bool nodes_needed;
    const char *needed_like;  /* node */
    const char *compare;      /* file; NULL: not asked */
    const char **awaits_like; /* where the next --like goes; NULL: nobody waits for one */
    const char *awaiting;     /* the option that waits */
    const char *like;         /* of a --like that came before its option; NULL: none */
};

/* 0, or the exit code after an error was printed. To be finished in either case. */
int simulate_options_parse(struct simulate_options *o, const struct command *c, int argc, char **argv);
void simulate_options_fini(struct simulate_options *o);

extern const char simulate_help[];
