/* cmd/simulate_trace.h - the parts of `berth simulate` that have to do with time: --trace and --make-trace.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"
#include "sim/trace_make.h"
#include "sim/world.h"

struct trace_options {
    const char *path;  /* NULL: no trace */
    uint32_t failures; /* a second; 0: as always */
};

/* Runs the trace on a world that has been made and not run, prints the report, and returns the exit code; *ret_pending says
 * whether pods still wait at the end. */
int cmd_run_trace(const struct command *c, struct sim_world *w, const struct trace_options *options, bool json,
                  bool *ret_pending, struct err *e);
/* Writes a synthetic trace to standard output. */
int cmd_make_trace(const struct command *c, const struct trace_make *m);
