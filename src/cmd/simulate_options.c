/* cmd/simulate_options.c - see simulate_options.h. */
#include "cmd/simulate_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "cmd/setup.h"

const char simulate_help[] =
    "usage: berth simulate -f FILE|DIR [-f FILE|DIR...] [--config FILE] [--allow-plugins]\n"
    "                      [--seed N] [-o text|wide|json|yaml|name] [--report FILE.html] [WHAT-IF...]\n"
    "       berth simulate --live|--kubeconfig FILE [--context NAME] [-f FILE|DIR...] [...]\n"
    "       berth simulate -f FILE|DIR --trace FILE.csv [...] [-o text|json|yaml] [--report FILE.html]\n"
    "       berth simulate --make-trace N [--hours H] [--seed N]\n"
    "       berth simulate --kinds\n\n"
    "Reads a cluster (nodes, pods, controllers, volumes ...) from YAML or JSON as kubectl prints it, makes the pods that its\n"
    "controllers lack, lets the scheduler place every pod that has no node, and says where each went or why it stays.\n"
    "With --live or --kubeconfig the cluster is a running one, which is only read, and files are put on top of it.\n"
    "Nothing outside is touched. The same input, configuration and seed give the same answer.\n\n"
    "  -f FILE|DIR    what to read; - is standard input; of a folder all .yaml, .yml and .json files, by name\n"
    "  --live         the running cluster that kubectl would talk to\n"
    CMD_CLUSTER_HELP
    "  --config FILE  a KubeSchedulerConfiguration\n"
    CMD_ALLOW_PLUGINS_HELP
    CMD_FEATURE_GATES_HELP
    CMD_COMPAT_HELP
    "  --seed N       for choices among equally good nodes (default 1)\n"
    "  -o text        for people (default)\n"
    "  -o wide        a row a pod: NAMESPACE NAME OWNER STATE NODE ZONE CPU MEMORY REASON\n"
    "  -o json        for programs: docs/simulate.md\n"
    "  -o yaml        the same document in YAML\n"
    "  -o name        a line a pod: \"namespace/name node\", or - for the node\n"
    "  --report FILE  also writes one HTML page with charts and tables that can be searched; it needs no network\n"
    "  --kinds        only prints the kinds of objects that are read, as kubectl get takes them; without some of them\n"
    "                 (claims, volumes, classes, budgets, quotas ...) the answer is for a cluster that has none\n\n"
    "what if (any number of these, applied in their order; the answer is the difference to the plain run):\n"
    "  --cordon NODE                nothing new goes there\n"
    "  --drain NODE                 its pods are evicted, as far as PodDisruptionBudgets allow\n"
    "  --drain -l SELECTOR          the same for all nodes with these labels\n"
    "  --force                      a drain deletes pods without a controller, too\n"
    "  --remove-node NODE           the node is gone; its pods are made again elsewhere if they have a controller\n"
    "  --add-nodes N --like NODE    N more nodes of that shape\n"
    "  --scale KIND/[NAMESPACE/]NAME=N\n"
    "                               that many replicas (deployment, replicaset, statefulset, rc; job: parallelism)\n\n"
    "questions about the result, with or without changes:\n"
    "  --capacity-of FILE           how many more copies of that pod (or of a controller's pod) fit, and what runs out first\n"
    "  --nodes-needed --like NODE   how many more nodes of that shape until nothing is pending\n"
    "  --compare CONFIG2            the same cluster under another configuration, side by side\n\n"
    "time:\n"
    "  --trace FILE                 pods that arrive, run and finish over time: CSV with the columns arrival, duration, cpu,\n"
    "                               memory and, if need be, priority, count, template, name, namespace: docs/traces.md\n"
    "  --retries N                  at most so many failed attempts in a second of the trace (default 50)\n"
    "  --make-trace N               writes a synthetic trace of N pods, which arrive over --hours H (default 24)\n\n"
    "exit code: 0 every pod has a node, 3 some are pending or a drain is blocked, 1 bad input (the message names file,\n"
    "document and object), 2 wrong usage\n\n"
    "examples:\n"
    "  berth simulate -f examples/cluster\n"
    "  kubectl get $(berth simulate --kinds) -A -o json > cluster.json\n"
    "  berth simulate -f cluster.json -f new-deployment.yaml\n"
    "  berth simulate --live --drain node-7\n"
    "  berth simulate --kubeconfig staging.yaml -f new-deployment.yaml\n"
    "  berth simulate -f cluster.yaml --config scheduler.yaml -o json\n"
    "  berth simulate -f cluster.yaml --report cluster.html\n"
    "  berth simulate -f cluster.yaml -o wide | awk '$4 == \"Pending\"'\n"
    "  berth simulate -f cluster.yaml --cordon node-7 --scale deploy/shop/cart=20\n"
    "  berth simulate -f cluster.yaml --drain node-7\n"
    "  berth simulate -f cluster.yaml --drain -l pool=old --add-nodes 4 --like node-1\n"
    "  berth simulate -f cluster.yaml --remove-node node-7 -o json\n"
    "  berth simulate -f cluster.yaml --capacity-of worker.yaml\n"
    "  berth simulate -f cluster.yaml --nodes-needed --like node-1\n"
    "  berth simulate -f cluster.yaml --compare packing.yaml\n"
    "  berth simulate --make-trace 1000 > jobs.csv && berth simulate -f cluster.yaml --trace jobs.csv\n";

enum { RETRIES_MAX = 1000000 };

/* ---- Values ---- */

static int await_like(struct simulate_options *o, const char *option, const char **to)
{
    if (o->awaits_like)
        return cmd_fail(o->c, EXIT_USAGE, "%s needs --like NODE", o->awaiting);
    if (o->like) {
        *to = o->like;
        o->like = NULL;
        return 0;
    }
    o->awaits_like = to;
    o->awaiting = option;
    return 0;
}

/* ---- One function an option; the value is NULL for those without. 0, or an exit code ---- */

static int take_path(void *context, const char *value)
{
    struct simulate_options *o = context;
    vec_push(&o->paths, value);
    return 0;
}

static int take_config(void *context, const char *value)
{
    struct simulate_options *o = context;
    o->config = value;
    return 0;
}

static int take_feature_gates(void *context, const char *value)
{
    ((struct simulate_options *)context)->feature_gates = value;
    return 0;
}

static int take_compat(void *context, const char *value)
{
    ((struct simulate_options *)context)->compat.level = value;
    return 0;
}

static int take_policy_file(void *context, const char *value)
{
    ((struct simulate_options *)context)->compat.policy_file = value;
    return 0;
}

static int take_provider(void *context, const char *value)
{
    ((struct simulate_options *)context)->compat.provider = value;
    return 0;
}

static int take_allow_plugins(void *context, const char *value)
{
    (void)value;
    ((struct simulate_options *)context)->allow_plugins = true;
    return 0;
}

static int take_seed(void *context, const char *value)
{
    struct simulate_options *o = context;
    return cmd_parse_number(value, UINT64_MAX, &o->seed)
               ? 0
               : cmd_fail(o->c, EXIT_USAGE, "--seed is a number, not \"%s\"", value);
}

static int take_output(void *context, const char *value)
{
    struct simulate_options *o = context;
    static const char *const names[] = { "text", "wide", "json", "yaml", "name" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(value, names[i]) == 0) {
            o->output = (enum simulate_output)i;
            return 0;
        }
    return cmd_fail(o->c, EXIT_USAGE, "-o is text, wide, json, yaml or name, not \"%s\"", value);
}

static int take_report(void *context, const char *value)
{
    struct simulate_options *o = context;
    o->report = value;
    return 0;
}

static int take_cordon(void *context, const char *value)
{
    struct simulate_options *o = context;
    vec_push(&o->changes, (struct sim_change){ .kind = SIM_CORDON, .name = value });
    return 0;
}

static int take_drain(void *context, const char *value)
{
    struct simulate_options *o = context;
    vec_push(&o->changes, (struct sim_change){ .kind = SIM_DRAIN, .name = value });
    return 0;
}

static int take_drain_selector(void *context, const char *value)
{
    struct simulate_options *o = context;
    if (!*value)
        return cmd_fail(o->c, EXIT_USAGE, "--drain -l: an empty selector would drain every node");
    vec_push(&o->changes, (struct sim_change){ .kind = SIM_DRAIN_SELECTED, .name = value });
    return 0;
}

static int take_force(void *context, const char *value)
{
    struct simulate_options *o = context;
    (void)value;
    o->force = true;
    return 0;
}

static int take_remove_node(void *context, const char *value)
{
    struct simulate_options *o = context;
    vec_push(&o->changes, (struct sim_change){ .kind = SIM_REMOVE_NODE, .name = value });
    return 0;
}

static int take_add_nodes(void *context, const char *value)
{
    struct simulate_options *o = context;
    uint64_t n;
    if (!cmd_parse_number(value, SIM_ADDED_NODES_MAX, &n) || n == 0)
        return cmd_fail(o->c, EXIT_USAGE, "--add-nodes is a number from 1 to %d, not \"%s\"", SIM_ADDED_NODES_MAX,
                        value);
    vec_push(&o->changes, (struct sim_change){ .kind = SIM_ADD_NODES, .n = (int64_t)n });
    return await_like(o, "--add-nodes", &vec_last(&o->changes)->name);
}

static int take_like(void *context, const char *value)
{
    struct simulate_options *o = context;
    if (o->like)
        return cmd_fail(o->c, EXIT_USAGE, "--like %s and --like %s follow each other", o->like, value);
    if (o->awaits_like)
        *o->awaits_like = value;
    else
        o->like = value;
    o->awaits_like = NULL;
    return 0;
}

/* KIND/NAME=N: the name ends at the last =, which names cannot hold. */
static int take_scale(void *context, const char *value)
{
    struct simulate_options *o = context;
    const char *equals = strrchr(value, '=');
    uint64_t n;
    if (!equals || !cmd_parse_number(equals + 1, SIM_SCALE_MAX, &n) || !memchr(value, '/', (size_t)(equals - value)))
        return cmd_fail(o->c, EXIT_USAGE, "--scale is KIND/NAME=N or KIND/NAMESPACE/NAME=N with N up to %d, not \"%s\"",
                        SIM_SCALE_MAX, value);
    vec_push(&o->changes, (struct sim_change){ .kind = SIM_SCALE, .name = value, .n = (int64_t)n });
    return 0;
}

static int take_capacity_of(void *context, const char *value)
{
    struct simulate_options *o = context;
    o->capacity_of = value;
    return 0;
}

static int take_nodes_needed(void *context, const char *value)
{
    struct simulate_options *o = context;
    (void)value;
    o->nodes_needed = true;
    return await_like(o, "--nodes-needed", &o->needed_like);
}

static int take_compare(void *context, const char *value)
{
    struct simulate_options *o = context;
    o->compare = value;
    return 0;
}

static int take_trace(void *context, const char *value)
{
    struct simulate_options *o = context;
    o->trace.path = value;
    return 0;
}

static int take_retries(void *context, const char *value)
{
    struct simulate_options *o = context;
    uint64_t n;
    if (!cmd_parse_number(value, RETRIES_MAX, &n) || n == 0)
        return cmd_fail(o->c, EXIT_USAGE, "--retries is a number from 1 to %d, not \"%s\"", RETRIES_MAX, value);
    o->trace.failures = (uint32_t)n;
    return 0;
}

static int take_kinds(void *context, const char *value)
{
    (void)value;
    ((struct simulate_options *)context)->kinds = true;
    return 0;
}

static int take_make_trace(void *context, const char *value)
{
    struct simulate_options *o = context;
    if (!cmd_parse_number(value, TRACE_MAKE_PODS_MAX, &o->make.n_pods) || o->make.n_pods == 0)
        return cmd_fail(o->c, EXIT_USAGE, "--make-trace is a number of pods from 1 to %d, not \"%s\"",
                        TRACE_MAKE_PODS_MAX, value);
    return 0;
}

static int take_hours(void *context, const char *value)
{
    struct simulate_options *o = context;
    char *end;
    o->make.hours = strtod(value, &end);
    if (value[0] < '0' || value[0] > '9' || *end || !(o->make.hours > 0 && o->make.hours <= TRACE_MAKE_HOURS_MAX))
        return cmd_fail(o->c, EXIT_USAGE, "--hours is a number over 0, not \"%s\"", value);
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){
        { "-f", CMD_VALUE | CMD_REPEATED, take_path, NULL },
        { "-o", CMD_VALUE, take_output, NULL },
        { "--add-nodes", CMD_VALUE | CMD_REPEATED, take_add_nodes, NULL },
        { "--algorithm-provider", CMD_VALUE, take_provider, NULL },
        { "--allow-plugins", CMD_FLAG, take_allow_plugins, NULL },
        { "--capacity-of", CMD_VALUE, take_capacity_of, NULL },
        { "--compare", CMD_VALUE, take_compare, NULL },
        { "--config", CMD_VALUE, take_config, NULL },
        { "--compat", CMD_VALUE, take_compat, NULL },
        { "--feature-gates", CMD_VALUE, take_feature_gates, NULL },
        { "--policy-config-file", CMD_VALUE, take_policy_file, NULL },
        { "--cordon", CMD_VALUE | CMD_REPEATED, take_cordon, NULL },
        { "--drain", CMD_VALUE | CMD_REPEATED, take_drain, take_drain_selector },
        { "--force", CMD_FLAG, take_force, NULL },
        { "--hours", CMD_VALUE, take_hours, NULL },
        { "--kinds", CMD_FLAG, take_kinds, NULL },
        { "--like", CMD_VALUE | CMD_REPEATED, take_like, NULL },
        { "--make-trace", CMD_VALUE, take_make_trace, NULL },
        { "--nodes-needed", CMD_FLAG, take_nodes_needed, NULL },
        { "--remove-node", CMD_VALUE | CMD_REPEATED, take_remove_node, NULL },
        { "--report", CMD_VALUE, take_report, NULL },
        { "--retries", CMD_VALUE, take_retries, NULL },
        { "--scale", CMD_VALUE | CMD_REPEATED, take_scale, NULL },
        { "--seed", CMD_VALUE, take_seed, NULL },
        { "--trace", CMD_VALUE, take_trace, NULL },
        { 0 } },
    .shared = cluster_option_rows,
    .shared_offset = offsetof(struct simulate_options, cluster),
};

/* ---- The whole ---- */

static bool drains(const struct simulate_options *o)
{
    for (size_t i = 0; i < o->changes.n; i++)
        if (o->changes.at[i].kind == SIM_DRAIN || o->changes.at[i].kind == SIM_DRAIN_SELECTED)
            return true;
    return false;
}

static int check_trace(const struct simulate_options *o)
{
    if (o->output == OUTPUT_NAME || o->output == OUTPUT_WIDE)
        return cmd_fail(o->c, EXIT_USAGE, "-o name and -o wide do not go with --trace");
    if (o->capacity_of || o->nodes_needed || o->compare || drains(o))
        return cmd_fail(o->c, EXIT_USAGE,
                        "--capacity-of, --nodes-needed, --compare and --drain do not go with --trace");
    return 0;
}

static int check(const struct simulate_options *o)
{
    if (o->make.n_pods || o->kinds)
        return 0;
    if (o->trace.path && check_trace(o))
        return EXIT_USAGE;
    if (o->trace.failures && !o->trace.path)
        return cmd_fail(o->c, EXIT_USAGE, "--retries belongs to --trace");
    if (o->awaits_like)
        return cmd_fail(o->c, EXIT_USAGE, "%s needs --like NODE", o->awaiting);
    if (o->like)
        return cmd_fail(o->c, EXIT_USAGE, "--like %s belongs to --add-nodes N or --nodes-needed", o->like);
    if (o->force && !drains(o))
        return cmd_fail(o->c, EXIT_USAGE, "--force belongs to --drain");
    return o->paths.n || o->cluster.live
               ? 0
               : cmd_fail(o->c, EXIT_USAGE,
                          "nothing to read: give a file or folder with -f, or a cluster with --live or --kubeconfig");
}

int simulate_options_parse(struct simulate_options *o, const struct command *c, int argc, char **argv)
{
    *o = (struct simulate_options){ .c = c, .seed = 1, .make.hours = 24 };
    vec_reserve(&o->changes, (size_t)argc); /* --like writes into one that is there: they must not move */
    int code = cmd_options_parse(c, &options, o, argc, argv);
    o->make.seed = o->seed;
    return code ? code : check(o);
}

void simulate_options_fini(struct simulate_options *o)
{
    vec_fini(&o->paths);
    vec_fini(&o->changes);
}
