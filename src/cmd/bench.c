/* cmd/bench.c - `berth bench`: upstream's scheduler_perf workloads against the engine alone; what-if questions. */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/options.h"
#include "cmd/setup.h"
#include "sim/questions.h"
#include "sim/workload.h"

static const char help[] =
    "usage: berth bench --engine [NAME...] [--decisions] [--metrics] [--config FILE]\n"
    "             [--allow-plugins] [--divide N] [-o text|json]\n"
    "       berth bench --what-if [--config FILE] [--allow-plugins] [--divide N] [-o text|json]\n"
    "       berth bench --list\n\n"
    "Runs workloads of Kubernetes' scheduler_perf (same nodes, pods and counts, by the same names) against the scheduling\n"
    "engine alone, on one thread, and prints pods a second and the time of single decisions. All nodes are scored. A NAME\n"
    "may be part of a name; without one every workload of up to 5,000 nodes runs. Each runs in a process of its own.\n\n"
    "  --engine       the engine without an API server\n"
    "  --what-if      questions about one pod on 5,000 nodes with 150,000 pods: where it would go; if a taint were gone, a\n"
    "                 node had more, pods were evicted, there were one more node; and what would place it\n"
    "  --decisions    keeps the last decisions and their reasons meanwhile, as a running scheduler does\n"
    "  --config FILE  a KubeSchedulerConfiguration\n"
    CMD_ALLOW_PLUGINS_HELP
    CMD_FEATURE_GATES_HELP
    "  --metrics      with the engine: measured from the inside, as a scheduler with a page of metrics is\n"
    "  --divide N     an Nth of the nodes, pods and questions (1 to 1000): for a quick try, not for figures\n"
    "  --list         the names\n"
    "  -o json        one object a line: name, pods, nodes, throughput (pods/s), p50_us, p99_us, max_us, rss_bytes, ...;\n"
    "                 of --what-if: name, questions, per_second, p50_us, p99_us, max_us, ...\n\n"
    "examples:\n"
    "  berth bench --engine SchedulingBasic/5000Nodes_10000Pods\n"
    "  berth bench --engine Preemption Spreading -o json\n";

enum { NODES_BY_DEFAULT = 5000, DIVISOR_MAX = 1000 };

struct bench {
    const struct command *c;
    VEC(const char *) names;
    const char *config;
    bool allow_plugins, engine, what_if, decisions, metrics, list, json;
    const char *feature_gates;
    uint32_t divisor;
};

static bool wanted(const struct bench *b, const struct workload *w)
{
    for (size_t i = 0; i < b->names.n; i++)
        if (strstr(w->name, b->names.at[i]))
            return true;
    return b->names.n == 0 && w->n_nodes <= NODES_BY_DEFAULT;
}

/* At least one of what is not none. */
static uint32_t divided(const struct bench *b, uint32_t n)
{
    return (n + b->divisor - 1) / b->divisor;
}

static int print(const struct bench *b, struct strbuf *text)
{
    int code = cmd_print(b->c, b->json ? CMD_JSON : CMD_TEXT, strbuf_str(text));
    strbuf_fini(text);
    return code;
}

static long rss_bytes_max(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

static int print_result(const struct bench *b, const struct workload *w, const struct workload_result *r)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (b->json)
        strbuf_printf(&text,
                      "{\"name\":\"%s\",\"pods\":%u,\"nodes\":%u,\"throughput\":%.0f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
                      "\"max_us\":%.2f,\"rss_bytes\":%ld,\"placed\":%u,\"unplaced\":%u,\"seconds\":%.4f,"
                      "\"decision_hash\":\"%016llx\"}\n",
                      w->name, w->n_measured_pods, w->n_nodes, r->throughput, (double)r->p50_ns / 1e3,
                      (double)r->p99_ns / 1e3, (double)r->max_ns / 1e3, rss_bytes_max(), r->n_placed, r->n_unplaced,
                      r->seconds, (unsigned long long)r->decision_hash);
    else
        strbuf_printf(&text, "%-70s %9.0f %8.1f %8.1f %9.1f %7ld%s\n", w->name, r->throughput, (double)r->p50_ns / 1e3,
                      (double)r->p99_ns / 1e3, (double)r->max_ns / 1e3, rss_bytes_max() >> 20,
                      r->n_unplaced ? "  (not all placed)" : "");
    return print(b, &text);
}

static void show_progress(void *context, uint32_t n_done)
{
    const struct workload *w = context;
    if (!isatty(STDERR_FILENO))
        return;
    struct strbuf line;
    strbuf_init(&line, STRBUF_NO_MAX);
    strbuf_printf(&line, "\r%s: %u of %u pods\033[K\r", w->name, n_done, w->n_measured_pods);
    cmd_write_error(strbuf_str(&line));
    strbuf_fini(&line);
}

/* *ret_code is the exit code of what was printed. */
typedef enum err_code measure_fn(const struct bench *b, const struct workload *w, struct sym_table *syms,
                                 const struct setup *setup, int *ret_code, struct err *e);

/* Measures under the configuration, and says what went wrong. `w` may be NULL: it is `measure` that knows. */
static int with_setup(const struct bench *b, const struct workload *w, measure_fn *measure)
{
    struct arena arena;
    struct err e;
    struct sym_table syms;
    struct setup setup;
    arena_init(&arena);
    err_init(&e, &arena);
    sym_init(&syms);
    int code = cmd_setup_load(&setup, &syms, &(struct cmd_setup){ b->c, b->config, b->allow_plugins, b->feature_gates });
    if (!code) {
        if (measure(b, w, &syms, &setup, &code, &e))
            code = cmd_fail(b->c, 1, "%s%s%s", w ? w->name : "", w ? ": " : "", e.message);
        setup_fini(&setup);
    }
    sym_fini(&syms);
    arena_fini(&arena);
    return code;
}

static enum err_code measure_workload(const struct bench *b, const struct workload *w, struct sym_table *syms,
                                      const struct setup *setup, int *ret_code, struct err *e)
{
    struct workload_result result;
    if (workload_run(w, syms, setup, show_progress, (void *)(uintptr_t)w, &result, e))
        return e->code;
    *ret_code = print_result(b, w, &result);
    return ERR_OK;
}

/* A process each: the memory that one took is not the next one's. */
static int run_apart(const struct bench *b, const struct workload *w)
{
    pid_t child = fork();
    if (child < 0)
        return cmd_fail(b->c, 1, "cannot start a process");
    if (child == 0)
        _exit(with_setup(b, w, measure_workload));
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int print_heading(const struct bench *b)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (!b->json)
        strbuf_printf(&text, "%-70s %9s %8s %8s %9s %7s\n", "workload", "pods/s", "p50 us", "p99 us", "max us", "MiB");
    return print(b, &text);
}

static int run_all(const struct bench *b)
{
    int code = print_heading(b), n_run = 0;
    for (const struct workload *w = workloads; w->name && !code; w++)
        if (wanted(b, w)) {
            struct workload smaller = *w;
            smaller.n_nodes = divided(b, w->n_nodes);
            smaller.n_init_pods = divided(b, w->n_init_pods);
            smaller.n_measured_pods = divided(b, w->n_measured_pods);
            smaller.keeps_decisions = b->decisions;
            smaller.metrics = b->metrics;
            code = run_apart(b, &smaller);
            n_run++;
        }
    return n_run || code ? code : cmd_fail(b->c, 1, "no workload has such a name; see --list");
}

/* ---- What-if ---- */

static void add_questions(const struct bench *b, struct strbuf *to, const struct question_result *r)
{
    if (b->json)
        strbuf_printf(to,
                      "{\"name\":\"%s\",\"questions\":%u,\"per_second\":%.0f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
                      "\"max_us\":%.2f,\"rss_bytes\":%ld,\"placed\":%u}\n",
                      r->name, r->n, r->per_second, (double)r->p50_ns / 1e3, (double)r->p99_ns / 1e3,
                      (double)r->max_ns / 1e3, rss_bytes_max(), r->n_placed);
    else
        strbuf_printf(to, "%-30s %9u %9.0f %9.1f %9.1f %9.1f %7ld\n", r->name, r->n, r->per_second,
                      (double)r->p50_ns / 1e3, (double)r->p99_ns / 1e3, (double)r->max_ns / 1e3, rss_bytes_max() >> 20);
}

static enum err_code measure_questions(const struct bench *b, const struct workload *w, struct sym_table *syms,
                                       const struct setup *setup, int *ret_code, struct err *e)
{
    const struct questions_options options = { .n_nodes = divided(b, 5000), .n_pods = divided(b, 150000),
                                               .n_questions = divided(b, 4000), .n_remedies = divided(b, 48),
                                               .seed = 1 };
    (void)w;
    struct question_result results[N_QUESTIONS];
    if (questions_run(&options, syms, setup, results, e))
        return e->code;
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (!b->json)
        strbuf_printf(&text, "%-30s %9s %9s %9s %9s %9s %7s\n", "question", "asked", "a second", "p50 us", "p99 us",
                      "max us", "MiB");
    for (int i = 0; i < N_QUESTIONS; i++)
        add_questions(b, &text, &results[i]);
    *ret_code = print(b, &text);
    return ERR_OK;
}

static int print_list(const struct bench *b)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    for (const struct workload *w = workloads; w->name; w++)
        strbuf_printf(&text, "%s\n", w->name);
    return print(b, &text);
}

/* ---- Options ---- */

static int take_engine(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->engine = true;
    return 0;
}

static int take_decisions(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->decisions = true;
    return 0;
}

static int take_metrics(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->metrics = true;
    return 0;
}

static int take_what_if(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->what_if = true;
    return 0;
}

static int take_list(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->list = true;
    return 0;
}

static int take_config(void *context, const char *value)
{
    ((struct bench *)context)->config = value;
    return 0;
}

static int take_feature_gates(void *context, const char *value)
{
    ((struct bench *)context)->feature_gates = value;
    return 0;
}

static int take_allow_plugins(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->allow_plugins = true;
    return 0;
}

static int take_divide(void *context, const char *value)
{
    struct bench *b = context;
    uint64_t n;
    if (!cmd_parse_number(value, DIVISOR_MAX, &n) || n == 0)
        return cmd_fail(b->c, EXIT_USAGE, "--divide is a number from 1 to %d, not \"%s\"", DIVISOR_MAX, value);
    b->divisor = (uint32_t)n;
    return 0;
}

static int take_output(void *context, const char *value)
{
    struct bench *b = context;
    b->json = strcmp(value, "json") == 0;
    if (!b->json && strcmp(value, "text") != 0)
        return cmd_fail(b->c, EXIT_USAGE, "-o is text or json, not \"%s\"", value);
    return 0;
}

static int take_name(void *context, char *text)
{
    struct bench *b = context;
    vec_push(&b->names, text);
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){
        { "-o", CMD_VALUE, take_output, NULL },
        { "--allow-plugins", CMD_FLAG, take_allow_plugins, NULL },
        { "--config", CMD_VALUE, take_config, NULL },
        { "--feature-gates", CMD_VALUE, take_feature_gates, NULL },
        { "--decisions", CMD_FLAG, take_decisions, NULL },
        { "--divide", CMD_VALUE, take_divide, NULL },
        { "--engine", CMD_FLAG, take_engine, NULL },
        { "--list", CMD_FLAG, take_list, NULL },
        { "--metrics", CMD_FLAG, take_metrics, NULL },
        { "--what-if", CMD_FLAG, take_what_if, NULL },
        { 0 } },
    .argument = take_name,
};

static int measure(const struct bench *b)
{
    if (b->list)
        return print_list(b);
    if (b->engine == b->what_if)
        return cmd_fail(b->c, EXIT_USAGE, "say what to measure: --engine or --what-if");
    if (b->what_if && b->decisions)
        return cmd_fail(b->c, EXIT_USAGE, "--decisions goes with --engine");
    if (b->what_if && b->names.n)
        return cmd_fail(b->c, EXIT_USAGE, "--what-if takes no names");
    return b->what_if ? with_setup(b, NULL, measure_questions) : run_all(b);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct bench b = { .c = c, .divisor = 1 };
    int code = cmd_options_parse(c, &options, &b, argc, argv);
    if (!code)
        code = measure(&b);
    vec_fini(&b.names);
    return code;
}

const struct command bench_command = {
    .name = "bench",
    .summary = "measure the scheduling engine with the workloads of scheduler_perf",
    .help = help,
    .run = run,
};
