/* cmd/simulate_trace.c - see simulate_trace.h. */
#include "cmd/simulate_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

bool cmd_has_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static bool write_piece(void *context, struct str piece)
{
    (void)context;
    return fwrite(piece.p, 1, piece.n, stdout) == piece.n;
}

int cmd_make_trace(const struct command *c, const struct trace_make *m)
{
    bool written = trace_make(m, write_piece, NULL) && fflush(stdout) == 0;
    return written ? 0 : cmd_fail(c, 1, "cannot write: %s", strerror(errno));
}
