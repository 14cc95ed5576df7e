/* cmd/simulate.c - `berth simulate`: where the scheduler would put the pods of some files, and what
 * would be if. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cluster_files.h"
#include "cmd/progress.h"
#include "cmd/setup.h"
#include "cmd/simulate_options.h"
#include "sim/changed.h"
#include "sim/forms.h"
#include "sim/report_what_if.h"

enum { EXIT_PENDING = 3 };

struct simulation {
    const struct simulate_options *o;
    struct progress progress;
    struct sym_table syms;
    struct sim_input given;          /* complete */
    struct setup setup;
    struct sim_runner how;
    struct sim_change_list changes;
    struct sim_changed changed;      /* of `given`, if there are changes */
    struct sim_run plain;            /* of `given`, if there are none */
    struct sim_run *run;             /* what the report is about: one of these */
    struct traced traced;            /* if a trace is run on it */
    struct err e;
};

static int with_input(struct simulation *s);
static int with_setup(struct simulation *s);
static int with_changes(struct simulation *s);
static int with_run(struct simulation *s);
static int with_trace(struct simulation *s);
static int tell_trace(const struct simulation *s);
static int answer(struct simulation *s);

static int fail(const struct simulation *s)
{
    return cmd_fail(s->o->c, 1, "%s", s->e.message);
}

/* ---- The story: everything is made on the way in and given up on the way out ---- */

static int simulate(const struct simulate_options *o)
{
    struct simulation *s = mem_zalloc(sizeof(*s));
    s->o = o;
    int code = with_input(s);
    free(s);
    return code;
}

static int print_kinds(const struct command *c)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    sim_add_resources(&text);
    strbuf_add_char(&text, '\n');
    int code = cmd_print(c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct simulate_options o;
    int code = simulate_options_parse(&o, c, argc, argv);
    if (!code)
        code = o.kinds ? print_kinds(c) : o.make.n_pods ? cmd_make_trace(c, &o.make) : simulate(&o);
    simulate_options_fini(&o);
    return code;
}

static int with_input(struct simulation *s)
{
    sym_init(&s->syms);
    sim_input_init(&s->given, &s->syms);
    progress_init(&s->progress);
    s->given.progress = progress_watch(&s->progress);
    err_init(&s->e, &s->given.arena);
    int code;
    if (cmd_load_input(&s->given, &s->o->cluster, s->o->paths.at, (int)s->o->paths.n, &s->e) ||
        sim_input_complete(&s->given, &s->e)) {
        cmd_print_warnings(s->o->c, &s->given);
        code = fail(s);
    } else {
        code = with_setup(s);
    }
    sim_input_fini(&s->given);
    sym_fini(&s->syms);
    return code;
}

/* Of one of the configurations that were given. */
static int load_setup(struct simulation *s, const char *path, struct setup *setup)
{
    return cmd_setup_load(setup, &s->syms, &(struct cmd_setup){ s->o->c, path, s->o->allow_plugins, s->o->feature_gates,
                                                               &s->o->compat });
}

static int with_setup(struct simulation *s)
{
    int code = load_setup(s, s->o->config, &s->setup);
    if (code)
        return code;
    s->how = (struct sim_runner){ &s->setup, s->o->seed };
    s->changes = (struct sim_change_list){ s->o->changes.at, s->o->changes.n, s->o->force };
    code = s->o->trace.path ? with_trace(s) : s->changes.n ? with_changes(s) : with_run(s);
    setup_fini(&s->setup);
    return code;
}

static int with_run(struct simulation *s)
{
    s->run = &s->plain;
    sim_run_init(s->run, &s->given, NULL);
    bool failed = sim_run_start(s->run, &s->how, &s->e) != ERR_OK;
    cmd_print_warnings(s->o->c, &s->run->in);
    int code = failed ? fail(s) : answer(s);
    sim_run_fini(s->run);
    return code;
}

static int with_changes(struct simulation *s)
{
    s->run = &s->changed.after;
    bool failed = sim_changed_init(&s->changed, &s->given, &s->changes, &s->how, &s->e) != ERR_OK;
    cmd_print_warnings(s->o->c, failed ? &s->changed.before.in : &s->run->in);
    int code = failed ? fail(s) : answer(s);
    sim_changed_fini(&s->changed);
    return code;
}

/* Changes are part of the cluster that the trace meets; there is nothing to compare with. */
static enum err_code open_trace(struct simulation *s, struct sim_changes *done)
{
    if (sim_changes_apply(done, &s->run->in, &s->changes, &s->e))
        return s->e.code;
    return sim_run_open(s->run, &s->how, &s->e);
}

static int with_trace(struct simulation *s)
{
    struct sim_changes done;
    sim_changes_init(&done, &s->syms, s->o->force);
    s->run = &s->plain;
    sim_run_init(s->run, &s->given, NULL);
    bool failed = open_trace(s, &done) != ERR_OK;
    cmd_print_warnings(s->o->c, &s->run->in);
    int code;
    if (failed) {
        code = fail(s);
    } else {
        code = traced_run(&s->traced, &s->run->world, &s->o->trace, &s->e) ? fail(s) : tell_trace(s);
        traced_fini(&s->traced);
    }
    sim_run_fini(s->run);
    sim_changes_fini(&done);
    return code;
}

/* ---- What is told: the report, or the answers to what was asked ---- */

/* `asked` NULL: a trace was run. */
static void add_output(const struct simulation *s, struct strbuf *to, const struct sim_what_if *asked,
                       const struct sim_sections *more)
{
    const struct sim_world *w = &s->run->world;
    switch (s->o->output) {
    case OUTPUT_TEXT:
        if (!asked)
            trace_report_text(to, &s->traced.run, cmd_has_unicode(), cmd_columns());
        else if (sim_what_if_any(asked))
            sim_report_what_if(to, asked, cmd_columns());
        else
            sim_report_text(to, w, cmd_columns());
        break;
    case OUTPUT_WIDE:
        sim_report_wide(to, w);
        break;
    case OUTPUT_JSON:
        sim_report_json(to, w, more);
        break;
    case OUTPUT_YAML:
        sim_report_yaml(to, w, more);
        break;
    case OUTPUT_NAME:
        sim_report_names(to, w);
        break;
    }
}

static int print_text(const struct simulation *s, const struct sim_what_if *asked, const struct sim_sections *more)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    add_output(s, &text, asked, more);
    int code = s->o->output == OUTPUT_TEXT ? cmd_print_folded(s->o->c, strbuf_str(&text), cmd_columns())
               : cmd_print(s->o->c, s->o->output == OUTPUT_JSON ? CMD_JSON : CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

static int write_page(const struct simulation *s, const struct sim_sections *more)
{
    if (!s->o->report)
        return 0;
    struct strbuf page;
    strbuf_init(&page, STRBUF_NO_MAX);
    sim_report_page(&page, &s->run->world, more);
    bool done = cmd_write_file(s->o->report, strbuf_str(&page));
    int why = errno;
    strbuf_fini(&page);
    return done ? 0 : cmd_fail(s->o->c, 1, "%s: %s", s->o->report, strerror(why));
}

static int print_all(const struct simulation *s, const struct sim_what_if *asked, const struct sim_sections *more)
{
    int code = print_text(s, asked, more);
    return code ? code : write_page(s, more);
}

static int print(const struct simulation *s, const struct sim_what_if *asked)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (sim_what_if_any(asked))
        sim_what_if_json(&json, asked);
    struct sim_section section = { "whatIf", strbuf_str(&json) };
    bool all = !s->run->world.n_in_state[SIM_PENDING] && !s->run->drain.stays.n && !s->run->in.refused.n;
    int outcome = all ? 0 : EXIT_PENDING;
    int code = print_all(s, asked, &(struct sim_sections){ &section, sim_what_if_any(asked), outcome });
    strbuf_fini(&json);
    return code ? code : outcome;
}

static int tell_trace(const struct simulation *s)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    trace_report_json(&json, &s->traced.run);
    struct sim_section section = { "trace", strbuf_str(&json) };
    int outcome = s->traced.run.level.waiting ? EXIT_PENDING : 0;
    int code = print_all(s, NULL, &(struct sim_sections){ &section, 1, outcome });
    strbuf_fini(&json);
    return code ? code : outcome;
}

static int with_difference(struct simulation *s, struct sim_what_if *asked);
static int with_needed(struct simulation *s, struct sim_what_if *asked);
static int with_comparison(struct simulation *s, struct sim_what_if *asked);
static int with_capacity(struct simulation *s, struct sim_what_if *asked);

static int answer(struct simulation *s)
{
    struct sim_what_if asked = { .world = &s->run->world, .changes = s->changes.at, .n_changes = s->changes.n,
                                 .done = s->changes.n ? &s->changed.done : NULL,
                                 .drain = s->run->drain.names.n ? &s->run->drain : NULL };
    return with_difference(s, &asked);
}

static int with_difference(struct simulation *s, struct sim_what_if *asked)
{
    if (!s->changes.n)
        return with_needed(s, asked);
    struct sim_difference d;
    sim_difference_init(&d, &s->changed.before.world, &s->run->world);
    asked->difference = &d;
    int code = with_needed(s, asked);
    sim_difference_fini(&d);
    return code;
}

static int with_needed(struct simulation *s, struct sim_what_if *asked)
{
    if (!s->o->nodes_needed)
        return with_comparison(s, asked);
    struct sim_needed n;
    enum err_code failed = sim_needed_init(&n, s->run, &s->how, s->o->needed_like, &s->e);
    asked->needed = &n;
    int code = failed ? fail(s) : with_comparison(s, asked);
    sim_needed_fini(&n);
    return code;
}

static int tell_comparison(struct simulation *s, struct sim_what_if *asked, const struct sim_run *second)
{
    struct sim_difference d;
    sim_difference_init(&d, &s->run->world, &second->world);
    asked->compared = &d;
    asked->configs[0] = s->o->config ? s->o->config : "default configuration";
    asked->configs[1] = s->o->compare;
    int code = with_capacity(s, asked);
    sim_difference_fini(&d);
    return code;
}

static int compare_run(struct simulation *s, struct sim_what_if *asked, const struct sim_runner *how)
{
    struct sim_run r;
    sim_run_init(&r, &s->given, NULL);
    int code = sim_run_start(&r, how, &s->e) ? fail(s) : tell_comparison(s, asked, &r);
    sim_run_fini(&r);
    return code;
}

static int compare_changed(struct simulation *s, struct sim_what_if *asked, const struct sim_runner *how)
{
    struct sim_changed *c = mem_zalloc(sizeof(*c));
    bool failed = sim_changed_init(c, &s->given, &s->changes, how, &s->e) != ERR_OK;
    int code = failed ? fail(s) : tell_comparison(s, asked, &c->after);
    sim_changed_fini(c);
    free(c);
    return code;
}

/* All of it again, once the second configuration is there. */
static int compare(struct simulation *s, struct sim_what_if *asked, const struct setup *second)
{
    struct sim_runner how = { second, s->o->seed };
    return s->changes.n ? compare_changed(s, asked, &how) : compare_run(s, asked, &how);
}

static int with_comparison(struct simulation *s, struct sim_what_if *asked)
{
    if (!s->o->compare)
        return with_capacity(s, asked);
    struct setup second;
    int code = load_setup(s, s->o->compare, &second);
    if (code)
        return code;
    code = compare(s, asked, &second);
    setup_fini(&second);
    return code;
}

static enum err_code load_capacity_pod(struct simulation *s, struct sim_input *file, const struct pod **ret_pod,
                                       const char **ret_name)
{
    if (cmd_load_cluster(file, &s->o->capacity_of, 1, &s->e))
        return s->e.code;
    return sim_capacity_pod(file, &s->run->in, ret_pod, ret_name, &s->e)
               ? err_wrap(&s->e, "--capacity-of %s", s->o->capacity_of) : ERR_OK;
}

/* Last, because it fills the scheduler of the run with copies. */
static int with_capacity(struct simulation *s, struct sim_what_if *asked)
{
    if (!s->o->capacity_of)
        return print(s, asked);
    struct sim_input file;
    sim_input_init(&file, &s->syms);
    const struct pod *pod;
    const char *name;
    int code;
    bool failed = load_capacity_pod(s, &file, &pod, &name) != ERR_OK;
    cmd_print_warnings(s->o->c, &file);
    if (failed) {
        code = fail(s);
    } else {
        struct sim_capacity c;
        sim_capacity_init(&c, &s->run->world, pod, name);
        pod_unref(&s->syms, pod);
        asked->capacity = &c;
        code = print(s, asked);
        sim_capacity_fini(&c);
    }
    sim_input_fini(&file);
    return code;
}

const struct command simulate_command = {
    .name = "simulate",
    .summary = "say where the scheduler would put the pods of a cluster, why some stay pending, and what would be if",
    .help = simulate_help,
    .run = run,
};
