/* cmd/simulate_trace.c - see simulate_trace.h. */
#include "cmd/simulate_trace.h"

#include <string.h>

#include "cmd/large_file.h"

static enum err_code load(struct trace *t, const char *path, struct err *e)
{
    struct large_file file;
    if (large_file_open(&file, path, e))
        return e->code;
    enum err_code code = trace_read(t, (struct str){ file.p, file.n }, e);
    large_file_close(&file);
    return code;
}

static void tell(void *context, const struct trace_run *r)
{
    const struct sim_progress *progress = context;
    if (r->n_made < r->trace->n_pods)
        sim_tell(progress, SIM_TRACING, r->n_made, r->trace->n_pods);
}

enum err_code traced_run(struct traced *t, struct sim_world *w, const struct trace_options *options, struct err *e)
{
    struct sim_progress *progress = &w->in->progress;
    trace_init(&t->trace, strcmp(options->path, "-") == 0 ? "standard input" : options->path);
    enum err_code code = load(&t->trace, options->path, e);
    trace_run_init(&t->run, w, &t->trace);
    if (code)
        return code;
    if (options->failures)
        t->run.failures_per_second_max = options->failures;
    t->run.observe = tell;
    t->run.observe_context = progress;
    code = trace_run(&t->run, e);
    sim_tell(progress, SIM_TRACING, t->trace.n_pods, t->trace.n_pods);
    return code;
}

void traced_fini(struct traced *t)
{
    trace_run_fini(&t->run);
    trace_fini(&t->trace);
}

struct writing {
    const struct command *c;
    int code;
};

static bool write_piece(void *context, struct str piece)
{
    struct writing *w = context;
    w->code = cmd_print(w->c, CMD_TEXT, piece);
    return w->code == 0;
}

int cmd_make_trace(const struct command *c, const struct trace_make *m)
{
    struct writing w = { .c = c };
    trace_make(m, write_piece, &w);
    return w.code;
}
