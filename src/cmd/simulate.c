/* cmd/simulate.c - `berth simulate`: where the scheduler would put the pods of some files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cluster_files.h"
#include "plugins/plugins.h"
#include "sim/report.h"

enum { EXIT_PENDING = 3 };

static const char help[] =
    "usage: berth simulate -f FILE|DIR [-f FILE|DIR...] [--config FILE] [--seed N]\n"
    "                      [-o text|wide|json|yaml|name] [--report FILE.html]\n\n"
    "Reads a cluster (nodes, pods, controllers, volumes ...) from YAML or JSON as kubectl prints it, makes the pods that its\n"
    "controllers lack, lets the scheduler place every pod that has no node, and says where each went or why it stays.\n"
    "Nothing outside is touched. The same input, configuration and seed give the same answer.\n\n"
    "  -f FILE|DIR    what to read; - is standard input; of a folder all .yaml, .yml and .json files, by name\n"
    "  --config FILE  a KubeSchedulerConfiguration\n"
    "  --seed N       for choices among equally good nodes (default 1)\n"
    "  -o text        for people (default)\n"
    "  -o wide        a row a pod: NAMESPACE NAME OWNER STATE NODE ZONE CPU MEMORY REASON\n"
    "  -o json        for programs: docs/simulate.md\n"
    "  -o yaml        the same document in YAML\n"
    "  -o name        a line a pod: \"namespace/name node\", or - for the node\n"
    "  --report FILE  also writes one HTML page with charts and tables that can be searched; it needs no network\n\n"
    "exit code: 0 every pod has a node, 3 some are pending, 1 bad input (the message names file, document and object),\n"
    "2 wrong usage\n\n"
    "examples:\n"
    "  berth simulate -f examples/cluster\n"
    "  kubectl get nodes,pods -A -o json | berth simulate -f - -f new-deployment.yaml\n"
    "  berth simulate -f cluster.yaml --config scheduler.yaml -o json\n"
    "  berth simulate -f cluster.yaml --report cluster.html\n"
    "  berth simulate -f cluster.yaml -o wide | awk '$4 == \"Pending\"'\n";

enum output { OUTPUT_TEXT, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME, N_OUTPUTS };
static const char *const output_names[N_OUTPUTS] = { "text", "wide", "json", "yaml", "name" };

struct simulate {
    const struct command *c;
    const char **paths;
    int n_paths;
    const char *config, *report; /* NULL: not given */
    uint64_t seed;
    enum output output;
};

/* ---- The run ---- */

static void add_output(const struct simulate *s, struct strbuf *to, const struct sim_world *w)
{
    switch (s->output) {
    case OUTPUT_WIDE:
        sim_report_wide(to, w);
        return;
    case OUTPUT_JSON:
        sim_report_json(to, w, NULL);
        return;
    case OUTPUT_YAML:
        sim_report_yaml(to, w, NULL);
        return;
    case OUTPUT_NAME:
        sim_report_names(to, w);
        return;
    case OUTPUT_TEXT:
    case N_OUTPUTS:
        sim_report_text(to, w);
        return;
    }
}

static int write_page(const struct simulate *s, const struct sim_world *w)
{
    struct strbuf page;
    strbuf_init(&page, STRBUF_NO_MAX);
    sim_report_page(&page, w, NULL);
    bool done = cmd_write_file(s->report, strbuf_str(&page));
    int why = errno;
    strbuf_fini(&page);
    return done ? 0 : cmd_fail(s->c, 1, "%s: %s", s->report, strerror(why));
}

static int print_report(const struct simulate *s, const struct sim_world *w)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    add_output(s, &text, w);
    bool failed = (text.n && fwrite(text.p, 1, text.n, stdout) != text.n) || fflush(stdout) != 0;
    strbuf_fini(&text);
    if (failed)
        return cmd_fail(s->c, 1, "cannot write: %s", strerror(errno));
    if (s->report && write_page(s, w))
        return 1;
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
    for (int i = 0; i < N_OUTPUTS; i++)
        if (strcmp(text, output_names[i]) == 0) {
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

static int parse(struct simulate *s, int argc, char **argv)
{
    for (int at = 1; at < argc;) {
        const char *value;
        if ((value = cmd_option(s->c, "-f", argc, argv, &at))) {
            s->paths[s->n_paths++] = value;
        } else if ((value = cmd_option(s->c, "--config", argc, argv, &at))) {
            s->config = value;
        } else if ((value = cmd_option(s->c, "--seed", argc, argv, &at))) {
            if (!parse_seed(value, &s->seed))
                return cmd_fail(s->c, EXIT_USAGE, "--seed is a number, not \"%s\"", value);
        } else if ((value = cmd_option(s->c, "--report", argc, argv, &at))) {
            s->report = value;
        } else if ((value = cmd_option(s->c, "-o", argc, argv, &at))) {
            if (!parse_output(value, &s->output))
                return cmd_fail(s->c, EXIT_USAGE, "-o is text, wide, json, yaml or name, not \"%s\"", value);
        } else {
            return cmd_fail(s->c, EXIT_USAGE, "unknown argument \"%s\"", argv[at]);
        }
    }
    return s->n_paths ? 0 : cmd_fail(s->c, EXIT_USAGE, "nothing to read: give a file or folder with -f");
}

static int run(const struct command *c, int argc, char **argv)
{
    struct simulate s = { .c = c, .seed = 1, .paths = mem_alloc((size_t)argc * sizeof(*s.paths)) };
    int code = parse(&s, argc, argv);
    if (!code)
        code = simulate(&s);
    free(s.paths);
    return code;
}

const struct command simulate_command = {
    .name = "simulate",
    .summary = "say where the scheduler would put the pods of a cluster, and why some stay pending",
    .help = help,
    .run = run,
};
