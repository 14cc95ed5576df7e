/* cmd/bench.c - `berth bench`: upstream's scheduler_perf workloads against the engine alone; what-if questions. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "plugins/plugins.h"
#include "sim/questions.h"
#include "sim/workload.h"

static const char help[] =
    "usage: berth bench --engine [NAME...] [--config FILE] [-o text|json]\n"
    "       berth bench --what-if [--config FILE] [-o text|json]\n"
    "       berth bench --list\n\n"
    "Runs workloads of Kubernetes' scheduler_perf (same nodes, pods and counts, by the same names) against the scheduling\n"
    "engine alone, on one thread, and prints pods a second and the time of single decisions. All nodes are scored. A NAME\n"
    "may be part of a name; without one every workload of up to 5,000 nodes runs. Each runs in a process of its own.\n\n"
    "  --engine       the engine without an API server\n"
    "  --what-if      questions about one pod on 5,000 nodes with 150,000 pods: where it would go; if a taint were gone, a\n"
    "                 node had more, pods were evicted, there were one more node; and what would place it\n"
    "  --config FILE  a KubeSchedulerConfiguration\n"
    "  --list         the names\n"
    "  -o json        one object a line: name, pods, nodes, throughput (pods/s), p50_us, p99_us, max_us, rss_bytes, ...;\n"
    "                 of --what-if: name, questions, per_second, p50_us, p99_us, max_us, ...\n\n"
    "examples:\n"
    "  berth bench --engine SchedulingBasic/5000Nodes_10000Pods\n"
    "  berth bench --engine Preemption Spreading -o json\n";

enum { NODES_BY_DEFAULT = 5000 };

struct bench {
    const struct command *c;
    const char *config;
    bool json;
};

static bool wanted(const struct workload *w, char **names, int n_names)
{
    for (int i = 0; i < n_names; i++)
        if (strstr(w->name, names[i]))
            return true;
    return n_names == 0 && w->n_nodes <= NODES_BY_DEFAULT;
}

static long rss_bytes_max(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

static void print_result(const struct bench *b, const struct workload *w, const struct workload_result *r)
{
    if (b->json)
        printf("{\"name\":\"%s\",\"pods\":%u,\"nodes\":%u,\"throughput\":%.0f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
               "\"max_us\":%.2f,\"rss_bytes\":%ld,\"placed\":%u,\"unplaced\":%u,\"seconds\":%.4f,"
               "\"decision_hash\":\"%016llx\"}\n",
               w->name, w->n_measured_pods, w->n_nodes, r->throughput, (double)r->p50_ns / 1e3, (double)r->p99_ns / 1e3,
               (double)r->max_ns / 1e3, rss_bytes_max(), r->n_placed, r->n_unplaced, r->seconds,
               (unsigned long long)r->decision_hash);
    else
        printf("%-70s %9.0f %8.1f %8.1f %9.1f %7ld%s\n", w->name, r->throughput, (double)r->p50_ns / 1e3,
               (double)r->p99_ns / 1e3, (double)r->max_ns / 1e3, rss_bytes_max() >> 20,
               r->n_unplaced ? "  (not all placed)" : "");
    fflush(stdout);
}

static void show_progress(void *context, uint32_t n_done)
{
    const struct workload *w = context;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s: %u of %u pods\033[K\r", w->name, n_done, w->n_measured_pods);
}

typedef enum err_code measure_fn(const struct bench *b, const struct workload *w, struct sym_table *syms,
                                 const struct setup *setup, struct err *e);

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
    enum err_code code = setup_from_file(&setup, &syms, b->config, plugin_registry, &e);
    if (!code) {
        code = measure(b, w, &syms, &setup, &e);
        setup_fini(&setup);
    }
    if (code)
        cmd_fail(b->c, 1, "%s%s%s", w ? w->name : "", w ? ": " : "", e.message);
    sym_fini(&syms);
    arena_fini(&arena);
    return code != ERR_OK;
}

static enum err_code measure_workload(const struct bench *b, const struct workload *w, struct sym_table *syms,
                                      const struct setup *setup, struct err *e)
{
    struct workload_result result;
    if (workload_run(w, syms, setup, show_progress, (void *)(uintptr_t)w, &result, e))
        return e->code;
    print_result(b, w, &result);
    return ERR_OK;
}

/* A process each: the memory that one took is not the next one's. */
static int run_apart(const struct bench *b, const struct workload *w)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return cmd_fail(b->c, 1, "cannot start a process");
    if (child == 0)
        _exit(with_setup(b, w, measure_workload));
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run_all(const struct bench *b, char **names, int n_names)
{
    int code = 0, n_run = 0;
    if (!b->json)
        printf("%-70s %9s %8s %8s %9s %7s\n", "workload", "pods/s", "p50 us", "p99 us", "max us", "MiB");
    for (const struct workload *w = workloads; w->name; w++)
        if (wanted(w, names, n_names)) {
            code |= run_apart(b, w);
            n_run++;
        }
    return n_run ? code : cmd_fail(b->c, 1, "no workload has such a name; see --list");
}

/* ---- What-if ---- */

static void print_questions(const struct bench *b, const struct question_result *r)
{
    if (b->json)
        printf("{\"name\":\"%s\",\"questions\":%u,\"per_second\":%.0f,\"p50_us\":%.2f,\"p99_us\":%.2f,\"max_us\":%.2f,"
               "\"rss_bytes\":%ld,\"placed\":%u}\n",
               r->name, r->n, r->per_second, (double)r->p50_ns / 1e3, (double)r->p99_ns / 1e3, (double)r->max_ns / 1e3,
               rss_bytes_max(), r->n_placed);
    else
        printf("%-30s %9u %9.0f %9.1f %9.1f %9.1f %7ld\n", r->name, r->n, r->per_second, (double)r->p50_ns / 1e3,
               (double)r->p99_ns / 1e3, (double)r->max_ns / 1e3, rss_bytes_max() >> 20);
}

static enum err_code measure_questions(const struct bench *b, const struct workload *w, struct sym_table *syms,
                                       const struct setup *setup, struct err *e)
{
    static const struct questions_options options = { .n_nodes = 5000, .n_pods = 150000, .n_questions = 4000,
                                                      .n_remedies = 48, .seed = 1 };
    (void)w;
    struct question_result results[N_QUESTIONS];
    if (questions_run(&options, syms, setup, results, e))
        return e->code;
    if (!b->json)
        printf("%-30s %9s %9s %9s %9s %9s %7s\n", "question", "asked", "a second", "p50 us", "p99 us", "max us", "MiB");
    for (int i = 0; i < N_QUESTIONS; i++)
        print_questions(b, &results[i]);
    return ERR_OK;
}

static int list(void)
{
    for (const struct workload *w = workloads; w->name; w++)
        puts(w->name);
    return 0;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct bench b = { .c = c };
    bool engine = false, what_if = false;
    int n_names = 0;
    for (int at = 1; at < argc;) {
        const char *value;
        if (strcmp(argv[at], "--list") == 0)
            return list();
        if (strcmp(argv[at], "--engine") == 0) {
            engine = true;
            at++;
        } else if (strcmp(argv[at], "--what-if") == 0) {
            what_if = true;
            at++;
        } else if ((value = cmd_option(c, "--config", argc, argv, &at))) {
            b.config = value;
        } else if ((value = cmd_option(c, "-o", argc, argv, &at))) {
            b.json = strcmp(value, "json") == 0;
            if (!b.json && strcmp(value, "text") != 0)
                return cmd_fail(c, EXIT_USAGE, "-o is text or json, not \"%s\"", value);
        } else if (argv[at][0] == '-') {
            return cmd_fail(c, EXIT_USAGE, "unknown argument \"%s\"", argv[at]);
        } else {
            argv[n_names++] = argv[at++];
        }
    }
    if (engine == what_if)
        return cmd_fail(c, EXIT_USAGE, "say what to measure: --engine or --what-if");
    if (what_if && n_names)
        return cmd_fail(c, EXIT_USAGE, "--what-if takes no names");
    return what_if ? with_setup(&b, NULL, measure_questions) : run_all(&b, argv, n_names);
}

const struct command bench_command = {
    .name = "bench",
    .summary = "measure the scheduling engine with the workloads of scheduler_perf",
    .help = help,
    .run = run,
};
