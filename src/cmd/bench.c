/* cmd/bench.c - `berth bench`: upstream's scheduler_perf workloads against the engine alone or a running cluster; what-if
 * questions. */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/bench_live.h"
#include "cmd/setup.h"
#include "sim/questions.h"
#include "sim/workload.h"

static const char help[] =
    "usage: berth bench --engine [NAME...] [--decisions] [--metrics] [--config FILE]\n"
    "             [--allow-plugins] [--divide N] [-o text|json]\n"
    "       berth bench --kubeconfig FILE NAME... [--context NAME] [--yes] [--keep] [--timeout SECONDS] [--in-flight N]\n"
    "                   [--content protobuf|json] [--scheduler-pid PID] [--nodes N] [--pods N] [--init-pods N] [-o text|json]\n"
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
    "  --compat LEVEL the scheduler of a release: v1.0, v1.3, v1.11, v1.15, v1.20 or v1.36, which is the default\n"
    "  --metrics      with the engine: measured from the inside, as a scheduler with a page of metrics is\n"
    "  --divide N     an Nth of the nodes, pods and questions (1 to 1000): for a quick try, not for figures\n"
    "  --list         the names\n"
    "  -o json        one object a line: name, pods, nodes, throughput (pods/s), p50_us, p99_us, max_us, rss_bytes, ...;\n"
    "                 of --what-if: name, questions, per_second, p50_us, p99_us, max_us, ...\n\n"
    "on a running cluster (it loads the API server: for clusters that are for tests). The workload's nodes and pods are\n"
    "created there, with names of their own and a label; its scheduler places them; a watch tells when. Told are pods a\n"
    "second, of the whole and (p50) of single seconds, and the time from the request for a pod to its node. Then\n"
    "everything that was created is deleted, also after Ctrl-C.\n"
    CMD_CLUSTER_HELP
    "  --live         the cluster that kubectl would talk to\n"
    "  --yes          also on a cluster that has nodes of its own\n"
    "  --keep         deletes nothing\n"
    "  --timeout N    seconds that init pods, and then the measured ones, may take to get nodes (default 300)\n"
    "  --in-flight N  requests that create something at once (1 to 900, default 200)\n"
    "  --content      form of the requests (default protobuf)\n"
    "  --scheduler-pid PID\n"
    "                 also tells CPU seconds for 1,000 pods and memory of that process on this machine\n"
    "  --nodes N, --pods N, --init-pods N\n"
    "                 instead of the workload's numbers\n\n"
    "exit code: 0 done, 1 not all pods got nodes, or it failed, 2 wrong usage, 130 interrupted\n\n"
    "examples:\n"
    "  berth bench --engine SchedulingBasic/5000Nodes_10000Pods\n"
    "  berth bench --engine Preemption Spreading -o json\n"
    "  berth bench --kubeconfig test.yaml SchedulingBasic/5000Nodes_10000Pods --scheduler-pid $(pidof kube-scheduler)\n";

enum { NODES_BY_DEFAULT = 5000, DIVISOR_MAX = 1000, COUNT_MAX = 1000000 };

struct bench {
    const struct command *c;
    VEC(const char *) names;
    const char *config;
    bool allow_plugins, engine, what_if, decisions, metrics, list, json;
    const char *feature_gates;
    struct cmd_compat compat;
    uint32_t divisor;
    uint32_t n_nodes, n_pods, n_init_pods; /* instead of the workload's; UINT32_MAX: not given */
    struct bench_live_options live;
};

static bool is_workload(const char *name)
{
    for (const struct workload *w = workloads; w->name; w++)
        if (strcmp(w->name, name) == 0)
            return true;
    return false;
}

/* A whole name means that one alone, a part of a name all that have it. */
static bool wanted(const struct bench *b, const struct workload *w)
{
    for (size_t i = 0; i < b->names.n; i++) {
        const char *name = b->names.at[i];
        if (is_workload(name) ? strcmp(w->name, name) == 0 : strstr(w->name, name) != NULL)
            return true;
    }
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
    int code = cmd_setup_load(&setup, &syms, &(struct cmd_setup){ b->c, b->config, b->allow_plugins, b->feature_gates, &b->compat });
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

static uint32_t number_or(uint32_t given, uint32_t otherwise)
{
    return given == UINT32_MAX ? otherwise : given;
}

static struct workload sized(const struct bench *b, const struct workload *w)
{
    struct workload smaller = *w;
    smaller.n_nodes = number_or(b->n_nodes, divided(b, w->n_nodes));
    smaller.n_init_pods = number_or(b->n_init_pods, divided(b, w->n_init_pods));
    smaller.n_measured_pods = number_or(b->n_pods, divided(b, w->n_measured_pods));
    return smaller;
}

static int run_all(const struct bench *b)
{
    bool live = b->live.cluster.live;
    int code = live ? bench_live_heading(&b->live) : print_heading(b), n_run = 0;
    for (const struct workload *w = workloads; w->name && !code; w++)
        if (wanted(b, w)) {
            struct workload smaller = sized(b, w);
            smaller.keeps_decisions = b->decisions;
            smaller.metrics = b->metrics;
            code = live ? bench_live_run(&b->live, &smaller) : run_apart(b, &smaller);
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

static int take_compat(void *context, const char *value)
{
    ((struct bench *)context)->compat.level = value;
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

/* A number from `min` to `max`, for `to`. */
static int take_number(const struct bench *b, const char *option, const char *value, uint64_t min, uint64_t max,
                       uint32_t *to)
{
    uint64_t n;
    if (!cmd_parse_number(value, max, &n) || n < min)
        return cmd_fail(b->c, EXIT_USAGE, "%s is a number from %llu to %llu, not \"%s\"", option, (unsigned long long)min,
                        (unsigned long long)max, value);
    *to = (uint32_t)n;
    return 0;
}

static int take_nodes(void *context, const char *value)
{
    struct bench *b = context;
    return take_number(b, "--nodes", value, 1, COUNT_MAX, &b->n_nodes);
}

static int take_pods(void *context, const char *value)
{
    struct bench *b = context;
    return take_number(b, "--pods", value, 1, COUNT_MAX, &b->n_pods);
}

static int take_init_pods(void *context, const char *value)
{
    struct bench *b = context;
    return take_number(b, "--init-pods", value, 0, COUNT_MAX, &b->n_init_pods);
}

static int take_timeout(void *context, const char *value)
{
    struct bench *b = context;
    return take_number(b, "--timeout", value, 1, 86400, &b->live.timeout_s);
}

static int take_in_flight(void *context, const char *value)
{
    struct bench *b = context;
    return take_number(b, "--in-flight", value, 1, BENCH_LIVE_IN_FLIGHT_MAX, &b->live.in_flight);
}

static int take_scheduler_pid(void *context, const char *value)
{
    struct bench *b = context;
    uint32_t pid = 0;
    int code = take_number(b, "--scheduler-pid", value, 1, INT32_MAX, &pid);
    b->live.scheduler_pid = (pid_t)pid;
    return code;
}

static int take_content(void *context, const char *value)
{
    struct bench *b = context;
    b->live.json_bodies = strcmp(value, "json") == 0;
    if (!b->live.json_bodies && strcmp(value, "protobuf") != 0)
        return cmd_fail(b->c, EXIT_USAGE, "--content is protobuf or json, not \"%s\"", value);
    return 0;
}

static int take_yes(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->live.yes = true;
    return 0;
}

static int take_keep(void *context, const char *value)
{
    (void)value;
    ((struct bench *)context)->live.keep = true;
    return 0;
}

static int take_output(void *context, const char *value)
{
    struct bench *b = context;
    b->json = b->live.json = strcmp(value, "json") == 0;
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
        { "--content", CMD_VALUE, take_content, NULL },
        { "--compat", CMD_VALUE, take_compat, NULL },
        { "--feature-gates", CMD_VALUE, take_feature_gates, NULL },
        { "--decisions", CMD_FLAG, take_decisions, NULL },
        { "--divide", CMD_VALUE, take_divide, NULL },
        { "--engine", CMD_FLAG, take_engine, NULL },
        { "--in-flight", CMD_VALUE, take_in_flight, NULL },
        { "--init-pods", CMD_VALUE, take_init_pods, NULL },
        { "--keep", CMD_FLAG, take_keep, NULL },
        { "--list", CMD_FLAG, take_list, NULL },
        { "--metrics", CMD_FLAG, take_metrics, NULL },
        { "--nodes", CMD_VALUE, take_nodes, NULL },
        { "--pods", CMD_VALUE, take_pods, NULL },
        { "--scheduler-pid", CMD_VALUE, take_scheduler_pid, NULL },
        { "--timeout", CMD_VALUE, take_timeout, NULL },
        { "--what-if", CMD_FLAG, take_what_if, NULL },
        { "--yes", CMD_FLAG, take_yes, NULL },
        { 0 } },
    .argument = take_name,
    .shared = cluster_option_rows,
    .shared_offset = offsetof(struct bench, live.cluster),
};

static int measure(const struct bench *b)
{
    if (b->list)
        return print_list(b);
    if (b->engine + b->what_if + b->live.cluster.live != 1)
        return cmd_fail(b->c, EXIT_USAGE, "say what to measure: --engine, --what-if, or a cluster with --kubeconfig or --live");
    if (b->live.cluster.live && (b->config || b->feature_gates || b->allow_plugins))
        return cmd_fail(b->c, EXIT_USAGE, "a running scheduler has its own configuration: --config, --feature-gates and "
                                          "--allow-plugins are for --engine and --what-if");
    if (b->live.cluster.live && !b->names.n)
        return cmd_fail(b->c, EXIT_USAGE, "name a workload; see --list");
    if (!b->engine && b->decisions)
        return cmd_fail(b->c, EXIT_USAGE, "--decisions goes with --engine");
    if (b->what_if && b->names.n)
        return cmd_fail(b->c, EXIT_USAGE, "--what-if takes no names");
    return b->what_if ? with_setup(b, NULL, measure_questions) : run_all(b);
}

static int run(const struct command *c, int argc, char **argv)
{
    struct bench b = { .c = c, .divisor = 1, .n_nodes = UINT32_MAX, .n_pods = UINT32_MAX, .n_init_pods = UINT32_MAX,
                       .live = { .c = c, .in_flight = BENCH_LIVE_IN_FLIGHT, .timeout_s = BENCH_LIVE_TIMEOUT_S } };
    int code = cmd_options_parse(c, &options, &b, argc, argv);
    if (!code)
        code = measure(&b);
    vec_fini(&b.names);
    return code;
}

const struct command bench_command = {
    .name = "bench",
    .summary = "measure the engine, or a running scheduler, with the workloads of scheduler_perf",
    .help = help,
    .run = run,
};
