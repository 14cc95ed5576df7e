/* cmd/simulate_trace.h - the parts of `berth simulate` that have to do with time: --trace and --make-trace.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"
#include "sim/trace_make.h"
#include "sim/world.h"

/* Runs the trace on a world that has been made and not run, prints the report, and returns the exit code; *ret_pending says
 * whether pods still wait at the end. */
int cmd_run_trace(const struct command *c, struct sim_world *w, const char *path, bool json, bool *ret_pending, struct err *e);
/* Writes a synthetic trace to standard output. */
int cmd_make_trace(const struct command *c, const struct trace_make *m);
