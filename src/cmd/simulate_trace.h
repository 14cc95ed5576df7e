/* cmd/simulate_trace.h - the parts of `berth simulate` that have to do with time: --trace and --make-trace.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"
#include "sim/trace_make.h"
#include "sim/trace_report.h"

struct trace_options {
    const char *path;  /* NULL: no trace */
    uint32_t failures; /* a second; 0: as always */
};

/* A trace and its run. */
struct traced {
    struct trace trace;
    struct trace_run run;
};

/* Runs the trace on a world that has been made and not run; the world's watch and progress are used. To be finished in
 * either case, before the world. */
enum err_code traced_run(struct traced *t, struct sim_world *w, const struct trace_options *options,
                         struct err *e) ERR_MUST_CHECK;
void traced_fini(struct traced *t);
/* Writes a synthetic trace to standard output. */
int cmd_make_trace(const struct command *c, const struct trace_make *m);
