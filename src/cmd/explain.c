/* cmd/explain.c - `berth explain`: why a pod is where it is, where it would go, or why it stays
 * pending.
 *
 * A pod that has a node is explained on the cluster as it is given. Any other is explained by the
 * attempt that placed it in a simulation of the whole input, taken at the moment the scheduler got
 * to it; or, if it stayed pending, on the cluster as it is at the end. */
#include <string.h>

#include "base/distance.h"
#include "cmd/cluster_files.h"
#include "cmd/explain.h"
#include "cmd/explain_remote.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "cmd/setup.h"
#include "insight/explain_json.h"
#include "sim/expand.h"
#include "sim/forms.h"

enum { EXIT_PENDING = 3, TOP_NODES = 10, SUGGESTIONS_MAX = 5 };

static const char help[] =
    "usage: berth explain POD|NAMESPACE/POD [-n NAMESPACE] -f FILE|DIR [-f FILE|DIR...] [--config FILE] [--seed N]\n"
    "                     [--top N | --all] [-o text|json] [--allow-plugins]\n"
    "       berth explain POD|NAMESPACE/POD [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [...]\n"
    "                     [--scheduler-address URL]\n\n"
    "Says why a pod is on its node, where the scheduler would put it, or why it stays pending: the score of every\n"
    "node by plugin, the nodes that were refused by reason, and who might have to make room. Reads a cluster as berth\n"
    "simulate does. A pod with a node is explained as if it had none, on the cluster as given. Any other pod, also one\n"
    "that a controller lacks, is explained at the moment the scheduler got to it in a simulation of the whole input.\n"
    "Of a pod that stays pending it also says what would place it: single changes, smallest first, each of them tried.\n"
    "Without -f it is about the running cluster that kubectl would talk to: the scheduler there is asked, if it is\n"
    "berth's and can be reached; otherwise the cluster is read, which needs only the right to list, and explained here.\n\n"
    "  -n NAMESPACE   of the pod; needed when pods of several namespaces have the name\n"
    "  -f FILE|DIR    what to read; - is standard input; of a folder all .yaml, .yml and .json files, by name\n"
    CMD_CLUSTER_HELP
    "  --live         with -f: files on top of the running cluster\n"
    "  --scheduler-address https://HOST:PORT\n"
    "                 asks this scheduler and no other, with the kubeconfig's credentials; --scheduler-ca FILE says by whom\n"
    "                 its certificate is signed, --insecure-skip-tls-verify that it is not looked at\n"
    "  --config FILE  a KubeSchedulerConfiguration; with it, running schedulers are not asked\n"
    CMD_ALLOW_PLUGINS_HELP
    CMD_FEATURE_GATES_HELP
    CMD_COMPAT_HELP
    "  --seed N       for choices among equally good nodes (default 1)\n"
    "  --top N        how many nodes to list (default 10; with -o json all)\n"
    "  --all          list all nodes\n"
    "  -o text        for people (default)\n"
    "  -o json        for programs: docs/explain.md\n\n"
    "exit code: 0 the pod has or gets a node, 3 it is pending or loses its node to another pod, 1 bad input,\n"
    "2 wrong usage\n\n"
    "examples:\n"
    "  berth explain shop/too-big -f examples/cluster\n"
    "  berth explain shop/cart-7d9\n"
    "  berth explain orders-db-0 -n shop -f examples/cluster --all\n"
    "  kubectl get $(berth simulate --kinds) -A -o json | berth explain web-0 -f - -o json\n";

enum output { OUTPUT_TEXT, OUTPUT_JSON };

struct explain {
    const struct command *c;
    VEC(const char *) paths;
    struct cluster_options cluster;
    struct cluster_peer scheduler; /* without an address: it is looked for */
    char *pod;
    const char *ns; /* NULL: any */
    const char *config;
    bool allow_plugins;
    const char *feature_gates;
    struct cmd_compat compat;
    uint64_t seed;
    uint32_t n_top; /* 0: not said */
    enum output output;
};

/* ---- Which pod ---- */

static bool is_meant(const struct explain *x, const struct sim_pod *p)
{
    return strcmp(p->name, x->pod) == 0 && (!x->ns || strcmp(p->ns, x->ns) == 0);
}

struct suggestion {
    const struct sim_pod *pod;
    uint32_t distance;
};

struct suggestions {
    struct suggestion at[SUGGESTIONS_MAX];
    uint32_t n;
};

/* Bytes that both names begin with, up to and with the last dash of them: "cart-6b5-x" and
 * "cart-7d9-y" share "cart-". */
static uint32_t shared_words(const char *a, const char *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '-')
            n = i + 1;
    return n;
}

/* 0 for what contains the given name; UINT32_MAX for what nobody would have meant. */
static uint32_t distance_of(const struct explain *x, const struct sim_pod *p)
{
    size_t n = strlen(x->pod);
    if (n > DISTANCE_BYTES_MAX || n == 0)
        return UINT32_MAX;
    if (strstr(p->name, x->pod))
        return 0;
    uint32_t limit = (uint32_t)n / 3, distance = edit_distance(x->pod, p->name, limit);
    if (distance <= limit)
        return distance;
    uint32_t shared = shared_words(x->pod, p->name);
    return shared ? 2 * DISTANCE_BYTES_MAX - shared : UINT32_MAX;
}

/* Keeps the nearest, in the order of the input. */
static void suggest(struct suggestions *s, const struct sim_pod *p, uint32_t distance)
{
    uint32_t at = s->n;
    while (at > 0 && s->at[at - 1].distance > distance)
        at--;
    if (at == SUGGESTIONS_MAX)
        return;
    uint32_t n_after = (s->n < SUGGESTIONS_MAX ? s->n : SUGGESTIONS_MAX - 1) - at;
    memmove(&s->at[at + 1], &s->at[at], n_after * sizeof(*s->at));
    s->at[at] = (struct suggestion){ p, distance };
    s->n += s->n < SUGGESTIONS_MAX;
}

static void add_suggestions(struct strbuf *to, const struct explain *x, const struct sim_world *w)
{
    struct suggestions s = { .n = 0 };
    for (size_t i = 0; i < w->pods.n; i++) {
        uint32_t distance = distance_of(x, &w->pods.at[i]);
        if (distance != UINT32_MAX)
            suggest(&s, &w->pods.at[i], distance);
    }
    for (uint32_t i = 0; i < s.n; i++)
        strbuf_printf(to, "%s%s/%s", i ? ", " : "; did you mean ", s.at[i].pod->ns, s.at[i].pod->name);
    if (s.n)
        strbuf_add_char(to, '?');
}

/* Pods that are read but take no part: finished ones, and those on nodes that are not given. */
static bool was_left_out(const struct explain *x, const struct sim_world *w)
{
    for (size_t i = 0; i < w->in->objects.n; i++) {
        const struct sim_object *o = &w->in->objects.at[i];
        if (strcmp(o->kind, "Pod") == 0 && strcmp(o->name, x->pod) == 0 && (!x->ns || strcmp(o->ns, x->ns) == 0))
            return true;
    }
    return false;
}

/* Why the pod is not in the cluster, if an API server would not let it in. */
static const char *why_refused(const struct explain *x, const struct sim_world *w)
{
    for (size_t i = 0; i < w->in->refused.n; i++) {
        struct str what = str_of(w->in->refused.at[i].what);
        size_t slash = str_index(what, '/');
        bool is_pod = str_starts(what, STR("Pod ")) && str_is(str_from(what, slash + 1), x->pod);
        if (is_pod && (!x->ns || str_is(str_from(str_first(what, slash), 4), x->ns)))
            return w->in->refused.at[i].reason;
    }
    return NULL;
}

static int say_unknown(const struct explain *x, const struct sim_world *w)
{
    const char *refused = why_refused(x, w);
    if (refused)
        return cmd_fail(x->c, 1, "pod %s would be refused by the API server: %s", x->pod, refused);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "no pod is named %s%s%s", x->ns ? x->ns : "", x->ns ? "/" : "", x->pod);
    if (was_left_out(x, w)) {
        strbuf_reset(&text);
        strbuf_printf(&text, "pod %s takes no part: it is finished, or on a node that is not given", x->pod);
    } else {
        add_suggestions(&text, x, w);
    }
    int code = cmd_fail(x->c, 1, "%s", strbuf_cstr(&text));
    strbuf_fini(&text);
    return code;
}

static int say_ambiguous(const struct explain *x, const struct sim_world *w)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "pods of several namespaces are named %s:", x->pod);
    for (size_t i = 0; i < w->pods.n; i++)
        if (is_meant(x, &w->pods.at[i]))
            strbuf_printf(&text, " %s/%s", w->pods.at[i].ns, w->pods.at[i].name);
    int code = cmd_fail(x->c, 1, "%s", strbuf_cstr(&text));
    strbuf_fini(&text);
    return code;
}

/* 0 and the pod, or an exit code. */
static int find_pod(const struct explain *x, const struct sim_world *w, const struct sim_pod **ret_pod)
{
    const struct sim_pod *found = NULL;
    for (size_t i = 0; i < w->pods.n; i++) {
        if (!is_meant(x, &w->pods.at[i]))
            continue;
        if (found)
            return say_ambiguous(x, w);
        found = &w->pods.at[i];
    }
    *ret_pod = found;
    return found ? 0 : say_unknown(x, w);
}

/* ---- The explanation ---- */

/* Explains every attempt for one pod, and keeps the last. */
struct watcher {
    struct sched *sched;
    const char *uid;
    struct arena arena;
    struct explanation x;
    struct remedies remedies;
    bool has_remedies; /* the pod is pending */
};

static void before_attempt(void *context, const struct pod *pod)
{
    struct watcher *watcher = context;
    if (strcmp(pod->meta.uid, watcher->uid) != 0)
        return;
    arena_reset(&watcher->arena);
    explain_pod(watcher->sched, pod, &watcher->arena, &watcher->x);
}

static void explain_now(struct watcher *watcher, const struct pod *form)
{
    const struct pod *newest = sched_pod(watcher->sched, watcher->uid);
    arena_reset(&watcher->arena);
    explain_pod(watcher->sched, newest ? newest : form, &watcher->arena, &watcher->x);
}

static void find_remedies(struct watcher *watcher, const struct pod *form)
{
    const struct pod *newest = sched_pod(watcher->sched, watcher->uid);
    remedies_find(watcher->sched, newest ? newest : form, &watcher->arena, &watcher->remedies);
    watcher->has_remedies = true;
}

static void explain_at_its_time(struct watcher *watcher, struct sim_world *w, size_t index)
{
    bool has_node = w->pods.at[index].state == SIM_RUNNING;
    if (!has_node) {
        sched_watch_attempts(w->sched, before_attempt, watcher);
        sim_world_run(w);
        sched_watch_attempts(w->sched, NULL, NULL);
    }
    const struct sim_pod *pod = &w->pods.at[index]; /* only now: the list grows in a run */
    if (has_node || pod->state == SIM_PENDING)
        explain_now(watcher, pod->form);
    if (pod->state == SIM_PENDING)
        find_remedies(watcher, pod->form);
}

/* The pods that the run evicted for this one. */
static uint32_t list_evicted(const struct explain_report *r, struct arena *a, struct explained_eviction **ret_evicted)
{
    const struct sim_world *w = r->world;
    struct explained_eviction *evicted = ARENA_NEW_N(a, struct explained_eviction, w->pods.n);
    uint32_t n = 0;
    for (size_t i = 0; i < w->pods.n; i++) {
        const struct sim_pod *p = &w->pods.at[i];
        if (p->state != SIM_EVICTED || p->evicted_by != r->pod - w->pods.at)
            continue;
        const char *node = p->node == SIM_NO_NODE ? NULL : w->nodes.at[p->node].form->meta.name;
        evicted[n++] = (struct explained_eviction){ p->ns, p->name, p->form->priority, node };
    }
    *ret_evicted = evicted;
    return n;
}

static void add_json(struct strbuf *to, const struct explain_report *r, struct arena *a)
{
    static const char *const states[N_SIM_STATES] = { "running", "placed", "pending", "evicted" };
    const struct sim_world *w = r->world;
    bool lost = r->pod->state == SIM_EVICTED && r->pod->evicted_by >= 0;
    struct explained_eviction *evicted;
    uint32_t n_evicted = list_evicted(r, a, &evicted);
    explanation_add_json(to, &(struct explanation_report){
        .x = r->x,
        .owner = r->pod->owner,
        .state = states[r->pod->state],
        .evicted = evicted,
        .n_evicted = n_evicted,
        .evicted_by_ns = lost ? w->pods.at[r->pod->evicted_by].ns : NULL,
        .evicted_by_name = lost ? w->pods.at[r->pod->evicted_by].name : NULL,
        .remedies = r->remedies,
        .n_extenders = r->n_extenders,
        .n_top = r->n_top,
        .warnings = w->in->warnings.at,
        .n_warnings = (uint32_t)w->in->warnings.n,
    });
}

static int print_report(const struct explain *x, const struct explain_report *r, struct arena *a)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (x->output == OUTPUT_JSON)
        add_json(&text, r, a);
    else
        explain_add_text(&text, r);
    int code = x->output == OUTPUT_JSON ? cmd_print(x->c, CMD_JSON, strbuf_str(&text))
                                        : cmd_print_folded(x->c, strbuf_str(&text), r->width);
    strbuf_fini(&text);
    if (code)
        return code;
    return r->pod->state == SIM_RUNNING || r->pod->state == SIM_PLACED ? 0 : EXIT_PENDING;
}

static int explain_world(const struct explain *x, struct sim_world *w)
{
    const struct sim_pod *pod;
    int code = find_pod(x, w, &pod);
    if (code)
        return code;
    size_t index = (size_t)(pod - w->pods.at);
    struct watcher watcher = { .sched = w->sched, .uid = pod->form->meta.uid };
    arena_init(&watcher.arena);
    explain_at_its_time(&watcher, w, index);
    uint32_t n_otherwise = x->output == OUTPUT_TEXT ? TOP_NODES : UINT32_MAX;
    code = print_report(x, &(struct explain_report){ .x = &watcher.x,
                                                     .world = w,
                                                     .pod = &w->pods.at[index],
                                                     .remedies = watcher.has_remedies ? &watcher.remedies : NULL,
                                                     .n_extenders = w->setup->n_extenders,
                                                     .n_top = x->n_top ? x->n_top : n_otherwise,
                                                     .width = cmd_columns() }, &watcher.arena);
    arena_fini(&watcher.arena);
    return code;
}

static int explain_setup(const struct explain *x, struct sim_input *in, const struct setup *setup, struct err *e)
{
    struct sim_world w;
    bool failed = sim_world_init(&w, in, in->syms, setup, x->seed, e) != ERR_OK;
    cmd_print_warnings(x->c, in);
    int code = failed ? cmd_fail(x->c, 1, "%s", e->message) : explain_world(x, &w);
    sim_world_fini(&w);
    return code;
}

static int explain_input(const struct explain *x, struct sim_input *in, struct err *e)
{
    struct setup setup;
    int code = cmd_setup_load(&setup, in->syms, &(struct cmd_setup){ x->c, x->config, x->allow_plugins, x->feature_gates, &x->compat });
    if (code)
        return code;
    code = explain_setup(x, in, &setup, e);
    setup_fini(&setup);
    return code;
}

static enum err_code load(const struct explain *x, struct sim_input *in, struct err *e)
{
    if (cmd_load_input(in, &x->cluster, x->paths.at, (int)x->paths.n, e) || sim_input_complete(in, e))
        return e->code;
    return sim_expand(in, e);
}

static int explain(const struct explain *x)
{
    struct sym_table syms;
    struct sim_input in;
    struct progress progress;
    struct err e;
    sym_init(&syms);
    sim_input_init(&in, &syms);
    progress_init(&progress);
    in.progress = progress_watch(&progress);
    err_init(&e, &in.arena);
    int code;
    if (load(x, &in, &e)) {
        cmd_print_warnings(x->c, &in);
        code = cmd_fail(x->c, 1, "%s", e.message);
    } else {
        code = explain_input(x, &in, &e);
    }
    sim_input_fini(&in);
    sym_fini(&syms);
    return code;
}

/* ---- Options ---- */

static int take_file(void *context, const char *value)
{
    struct explain *x = context;
    vec_push(&x->paths, value);
    return 0;
}

static int take_scheduler_address(void *context, const char *value)
{
    struct explain *x = context;
    x->scheduler.address = value;
    x->cluster.live = true;
    return strncmp(value, "https://", 8) == 0
               ? 0
               : cmd_fail(x->c, EXIT_USAGE, "--scheduler-address is https://HOST:PORT, not \"%s\"", value);
}

static int take_scheduler_ca(void *context, const char *value)
{
    ((struct explain *)context)->scheduler.ca_file = value;
    return 0;
}

static int take_insecure(void *context, const char *value)
{
    (void)value;
    ((struct explain *)context)->scheduler.insecure = true;
    return 0;
}

static int take_namespace(void *context, const char *value)
{
    ((struct explain *)context)->ns = value;
    return 0;
}

static int take_config(void *context, const char *value)
{
    ((struct explain *)context)->config = value;
    return 0;
}

static int take_feature_gates(void *context, const char *value)
{
    ((struct explain *)context)->feature_gates = value;
    return 0;
}

static int take_compat(void *context, const char *value)
{
    ((struct explain *)context)->compat.level = value;
    return 0;
}

static int take_policy_file(void *context, const char *value)
{
    ((struct explain *)context)->compat.policy_file = value;
    return 0;
}

static int take_provider(void *context, const char *value)
{
    ((struct explain *)context)->compat.provider = value;
    return 0;
}

static int take_allow_plugins(void *context, const char *value)
{
    (void)value;
    ((struct explain *)context)->allow_plugins = true;
    return 0;
}

static int take_seed(void *context, const char *value)
{
    struct explain *x = context;
    return cmd_parse_number(value, UINT64_MAX, &x->seed)
               ? 0
               : cmd_fail(x->c, EXIT_USAGE, "--seed is a number, not \"%s\"", value);
}

static int set_top(struct explain *x, uint32_t n)
{
    if (x->n_top)
        return cmd_fail(x->c, EXIT_USAGE, "--top and --all do not go together");
    x->n_top = n;
    return 0;
}

static int take_top(void *context, const char *value)
{
    struct explain *x = context;
    uint64_t n;
    if (!cmd_parse_number(value, UINT32_MAX, &n) || n == 0)
        return cmd_fail(x->c, EXIT_USAGE, "--top is a number above 0, not \"%s\"", value);
    return set_top(x, (uint32_t)n);
}

static int take_all(void *context, const char *value)
{
    (void)value;
    return set_top(context, UINT32_MAX);
}

static int take_output(void *context, const char *value)
{
    struct explain *x = context;
    x->output = strcmp(value, "json") == 0 ? OUTPUT_JSON : OUTPUT_TEXT;
    if (x->output == OUTPUT_TEXT && strcmp(value, "text") != 0)
        return cmd_fail(x->c, EXIT_USAGE, "-o is text or json, not \"%s\"", value);
    return 0;
}

static int take_pod(void *context, char *text)
{
    struct explain *x = context;
    if (x->pod)
        return cmd_fail(x->c, EXIT_USAGE, "one pod at a time: \"%s\" is one too many", text);
    x->pod = text;
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){
        { "-f", CMD_VALUE | CMD_REPEATED, take_file, NULL },
        { "-n", CMD_VALUE, take_namespace, NULL },
        { "-o", CMD_VALUE, take_output, NULL },
        { "--all", CMD_FLAG, take_all, NULL },
        { "--algorithm-provider", CMD_VALUE, take_provider, NULL },
        { "--allow-plugins", CMD_FLAG, take_allow_plugins, NULL },
        { "--config", CMD_VALUE, take_config, NULL },
        { "--compat", CMD_VALUE, take_compat, NULL },
        { "--feature-gates", CMD_VALUE, take_feature_gates, NULL },
        { "--policy-config-file", CMD_VALUE, take_policy_file, NULL },
        { "--insecure-skip-tls-verify", CMD_FLAG, take_insecure, NULL },
        { "--scheduler-address", CMD_VALUE, take_scheduler_address, NULL },
        { "--scheduler-ca", CMD_VALUE, take_scheduler_ca, NULL },
        { "--seed", CMD_VALUE, take_seed, NULL },
        { "--top", CMD_VALUE, take_top, NULL },
        { 0 } },
    .argument = take_pod,
    .shared = cluster_option_rows,
    .shared_offset = offsetof(struct explain, cluster),
};

/* "NAMESPACE/POD" or "POD". */
static int split_pod(struct explain *x)
{
    char *slash = strchr(x->pod, '/');
    if (!slash)
        return 0;
    if (x->ns)
        return cmd_fail(x->c, EXIT_USAGE, "the namespace is given twice, with -n and in \"%s\"", x->pod);
    *slash = '\0';
    x->ns = x->pod;
    x->pod = slash + 1;
    return 0;
}

static int check(struct explain *x)
{
    if (!x->pod)
        return cmd_fail(x->c, EXIT_USAGE, "which pod? give its name");
    if (x->scheduler.address && x->paths.n)
        return cmd_fail(x->c, EXIT_USAGE,
                        "a running scheduler knows nothing of files: -f and --scheduler-address do not go together");
    if ((x->scheduler.ca_file || x->scheduler.insecure) && !x->scheduler.address)
        return cmd_fail(x->c, EXIT_USAGE,
                        "--scheduler-ca and --insecure-skip-tls-verify belong to --scheduler-address");
    x->cluster.live |= !x->paths.n;
    return split_pod(x);
}

/* A configuration or a seed of the command line: what the running scheduler would say is not asked for. */
static bool says_otherwise(const struct explain *x)
{
    return !x->scheduler.address && (x->config || x->feature_gates || x->allow_plugins || x->seed != 1);
}

static int ask_scheduler(const struct explain *x)
{
    return explain_ask(&(struct explain_question){ .c = x->c, .cluster = &x->cluster,
                                                   .scheduler = x->scheduler.address ? &x->scheduler : NULL, .ns = x->ns,
                                                   .pod = x->pod, .n_top = x->n_top, .json = x->output == OUTPUT_JSON });
}

static int run(const struct command *c, int argc, char **argv)
{
    struct explain x = { .c = c, .seed = 1 };
    int code = cmd_options_parse(c, &options, &x, argc, argv);
    if (!code)
        code = check(&x);
    if (!code)
        code = x.paths.n || says_otherwise(&x) ? EXPLAIN_NOBODY : ask_scheduler(&x);
    if (code == EXPLAIN_NOBODY)
        code = explain(&x);
    vec_fini(&x.paths);
    return code;
}

const struct command explain_command = {
    .name = "explain",
    .summary = "say why a pod is on its node, where it would go, or why it stays pending",
    .help = help,
    .run = run,
};
