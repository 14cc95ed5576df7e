/* cmd/simulate.c - `berth simulate`: where the scheduler would put the pods of some files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cluster_files.h"
#include "cmd/simulate_trace.h"
#include "plugins/plugins.h"
#include "sim/report.h"

enum { EXIT_PENDING = 3, RETRIES_MAX = 1000000 };

static const char help[] =
    "usage: berth simulate -f FILE|DIR [-f FILE|DIR...] [--config FILE] [--seed N] [-o text|json|name]\n"
    "       berth simulate -f FILE|DIR --trace FILE.csv [...] [-o text|json]\n"
    "       berth simulate --make-trace N [--hours H] [--seed N]\n\n"
    "Reads a cluster (nodes, pods, controllers, volumes ...) from YAML or JSON as kubectl prints it, makes the pods that its\n"
    "controllers lack, lets the scheduler place every pod that has no node, and says where each went or why it stays.\n"
    "Nothing outside is touched. The same input, configuration and seed give the same answer.\n\n"
    "  -f FILE|DIR    what to read; - is standard input; of a folder all .yaml, .yml and .json files, by name\n"
    "  --config FILE  a KubeSchedulerConfiguration\n"
    "  --seed N       for choices among equally good nodes (default 1)\n"
    "  -o text        for people (default)\n"
    "  -o json        for programs: docs/simulate.md\n"
    "  -o name        a line a pod: \"namespace/name node\", or - for the node\n\n"
    "  --trace FILE   pods that arrive, run and finish over time: CSV with the columns arrival, duration, cpu, memory and, if\n"
    "                 need be, priority, count, template, name, namespace: docs/traces.md\n"
    "  --retries N    at most so many failed attempts in a second of the trace (default 50)\n"
    "  --make-trace N writes a synthetic trace of N pods to standard output, which arrive over --hours H (default 24)\n\n"
    "exit code: 0 every pod has a node, 3 some are pending, 1 bad input (the message names file, document and object),\n"
    "2 wrong usage\n\n"
    "examples:\n"
    "  berth simulate -f examples/cluster\n"
    "  kubectl get nodes,pods -A -o json | berth simulate -f - -f new-deployment.yaml\n"
    "  berth simulate -f cluster.yaml --config scheduler.yaml -o json\n"
    "  berth simulate --make-trace 1000 > jobs.csv && berth simulate -f cluster.yaml --trace jobs.csv\n";

enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_NAME };

struct simulate {
    const struct command *c;
    const char **paths;
    int n_paths;
    const char *config;
    uint64_t seed;
    enum output output;
    struct trace_options trace;
    struct trace_make make;  /* of no pods: none is made */
};

/* ---- The run ---- */

static int print_report(const struct simulate *s, const struct sim_world *w)
{
    static void (*const reports[])(struct strbuf *, const struct sim_world *) = { sim_report_text, sim_report_json,
                                                                                 sim_report_names };
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    reports[s->output](&text, w);
    bool failed = (text.n && fwrite(text.p, 1, text.n, stdout) != text.n) || fflush(stdout) != 0;
    strbuf_fini(&text);
    if (failed)
        return cmd_fail(s->c, 1, "cannot write: %s", strerror(errno));
    return w->n_in_state[SIM_PENDING] ? EXIT_PENDING : 0;
}

static int simulate_world(const struct simulate *s, struct sim_input *in, struct sym_table *syms, const struct setup *setup,
                          struct err *e)
{
    struct sim_world w;
    int code;
    bool failed = sim_world_init(&w, in, syms, setup, s->seed, e) != ERR_OK;
    cmd_print_warnings(s->c, in);
    if (failed) {
        code = cmd_fail(s->c, 1, "%s", e->message);
    } else if (s->trace.path) {
        bool pending;
        code = cmd_run_trace(s->c, &w, &s->trace, s->output == OUTPUT_JSON, &pending, e);
        code = code || !pending ? code : EXIT_PENDING;
    } else {
        sim_world_run(&w);
        code = print_report(s, &w);
    }
    sim_world_fini(&w);
    return code;
}

static int simulate_input(const struct simulate *s, struct sim_input *in, struct err *e)
{
    struct sym_table syms;
    struct setup setup;
    sym_init(&syms);
    int code;
    enum err_code failed = s->config ? setup_from_file(&setup, &syms, s->config, plugin_registry, e)
                                     : setup_from_text(&setup, &syms, (struct str){ NULL, 0 }, plugin_registry, e);
    if (failed) {
        code = cmd_fail(s->c, 1, "%s", e->message);
    } else {
        code = simulate_world(s, in, &syms, &setup, e);
        setup_fini(&setup);
    }
    sym_fini(&syms);
    return code;
}

static int simulate(const struct simulate *s)
{
    struct sim_input in;
    sim_input_init(&in);
    struct err e;
    err_init(&e, &in.arena);
    int code;
    if (cmd_load_cluster(&in, s->paths, s->n_paths, &e)) {
        cmd_print_warnings(s->c, &in);
        code = cmd_fail(s->c, 1, "%s", e.message);
    } else {
        code = simulate_input(s, &in, &e);
    }
    sim_input_fini(&in);
    return code;
}

/* ---- Options ---- */

static bool parse_output(const char *text, enum output *ret_output)
{
    static const char *const names[] = { "text", "json", "name" };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *ret_output = (enum output)i;
            return true;
        }
    return false;
}

static bool parse_seed(const char *text, uint64_t *ret_seed)
{
    char *end;
    errno = 0;
    *ret_seed = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && errno == 0;
}

static bool parse_hours(const char *text, double *ret_hours)
{
    char *end;
    *ret_hours = strtod(text, &end);
    return text[0] >= '0' && text[0] <= '9' && !*end && *ret_hours > 0 && *ret_hours <= TRACE_MAKE_HOURS_MAX;
}

static int check(const struct simulate *s)
{
    if (s->make.n_pods)
        return 0;
    if (s->trace.path && s->output == OUTPUT_NAME)
        return cmd_fail(s->c, EXIT_USAGE, "-o name does not go with --trace");
    return s->n_paths ? 0 : cmd_fail(s->c, EXIT_USAGE, "nothing to read: give a file or folder with -f");
}

static int parse(struct simulate *s, int argc, char **argv)
{
    for (int at = 1; at < argc;) {
        const char *value;
        uint64_t number;
        if ((value = cmd_option(s->c, "-f", argc, argv, &at))) {
            s->paths[s->n_paths++] = value;
        } else if ((value = cmd_option(s->c, "--config", argc, argv, &at))) {
            s->config = value;
        } else if ((value = cmd_option(s->c, "--seed", argc, argv, &at))) {
            if (!parse_seed(value, &s->seed))
                return cmd_fail(s->c, EXIT_USAGE, "--seed is a number, not \"%s\"", value);
        } else if ((value = cmd_option(s->c, "-o", argc, argv, &at))) {
            if (!parse_output(value, &s->output))
                return cmd_fail(s->c, EXIT_USAGE, "-o is text, json or name, not \"%s\"", value);
        } else if ((value = cmd_option(s->c, "--trace", argc, argv, &at))) {
            s->trace.path = value;
        } else if ((value = cmd_option(s->c, "--retries", argc, argv, &at))) {
            if (!parse_seed(value, &number) || number == 0 || number > RETRIES_MAX)
                return cmd_fail(s->c, EXIT_USAGE, "--retries is a number from 1 to %d, not \"%s\"", RETRIES_MAX, value);
            s->trace.failures = (uint32_t)number;
        } else if ((value = cmd_option(s->c, "--make-trace", argc, argv, &at))) {
            if (!parse_seed(value, &s->make.n_pods) || s->make.n_pods == 0 || s->make.n_pods > TRACE_MAKE_PODS_MAX)
                return cmd_fail(s->c, EXIT_USAGE, "--make-trace is a number of pods from 1 to %d, not \"%s\"",
                                TRACE_MAKE_PODS_MAX, value);
        } else if ((value = cmd_option(s->c, "--hours", argc, argv, &at))) {
            if (!parse_hours(value, &s->make.hours))
                return cmd_fail(s->c, EXIT_USAGE, "--hours is a number over 0, not \"%s\"", value);
        } else {
            return cmd_fail(s->c, EXIT_USAGE, "unknown argument \"%s\"", argv[at]);
        }
    }
    s->make.seed = s->seed;
    return check(s);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct simulate s = { .c = c, .seed = 1, .make.hours = 24, .paths = mem_alloc((size_t)argc * sizeof(*s.paths)) };
    int code = parse(&s, argc, argv);
    if (!code)
        code = s.make.n_pods ? cmd_make_trace(c, &s.make) : simulate(&s);
    free(s.paths);
    return code;
}

const struct command simulate_command = {
    .name = "simulate",
    .summary = "say where the scheduler would put the pods of a cluster, and why some stay pending",
    .help = help,
    .run = run,
};
