/* cmd/node.c - `berth node`: lets hollow nodes fail and come back, and lists them.
 *
 * What a node is to do stands in its annotation (hollow/node_object.h), so that every client could say it; this is the short way. */
#include <string.h>

#include "base/table.h"
#include "cmd/cluster.h"
#include "codec/object.h"
#include "hollow/node_object.h"

static const char help[] =
    "usage: berth node list [--kubeconfig FILE] [...]\n"
    "       berth node stop NAME... [--kubeconfig FILE] [...]\n"
    "       berth node start NAME... [--kubeconfig FILE] [...]\n\n"
    "Lets hollow nodes of a running berth fail and come back.\n\n"
    "  list           hollow nodes, whether they run, and what the cluster thinks of them\n"
    "  stop           the node falls silent, as a machine that lost its power: its heartbeats end, its pods are not\n"
    "                 touched. The node life cycle controller notices after 50 seconds and taints it; pods that do not\n"
    "                 tolerate that leave after five minutes, or when they say so\n"
    "  start          it is heard of again, and goes on with its pods\n"
    CMD_CLUSTER_HELP
    "\nIt stays stopped when berth is started again: the annotation berth.dev/hollow of the node says so.\n\n"
    "exit code: 0 done, 1 there is no such hollow node, or the server cannot be reached, 2 wrong usage\n\n"
    "examples:\n"
    "  berth node list\n"
    "  berth node stop node-3\n"
    "  berth node start node-3\n";

enum { WORDS_MAX = 1000, ASK_MS = 30 * 1000 };

struct asking {
    struct cluster_options where; /* first: the shared options are there */
    const struct command *c;
    const char *words[WORDS_MAX];
    int n_words;
    struct cluster cluster;
    struct strbuf body;
    struct api_answer answer; /* texts are ours */
    bool done;
};

static void on_answer(void *context, const struct api_answer *a)
{
    struct asking *k = context;
    strbuf_reset(&k->body);
    strbuf_add_str(&k->body, a->body);
    k->answer = *a;
    k->answer.body = strbuf_str(&k->body);
    k->answer.error = a->error ? arena_cstr(&k->cluster.arena, str_of(a->error)) : NULL;
    k->done = true;
}

static bool ask(struct asking *k, const char *method, const char *target, struct str patch)
{
    const struct api *api = k->cluster.api;
    struct api_request r = { .lane = API_LANE_READ, .method = method, .target = str_of(target), .timeout_ms = ASK_MS, .body = patch,
                             .media_type = patch.n ? "application/merge-patch+json" : NULL };
    k->done = false;
    api->send(api->context, &r, on_answer, k);
    cluster_wait(&k->cluster, &k->done);
    return api_ok(&k->answer);
}

static enum err_code read_object(struct asking *k, const char *kind, struct value *ret_value, struct err *e)
{
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    struct findings *f = ARENA_NEW(&k->cluster.arena, struct findings);
    struct gvk endpoint = { STR(""), STR("v1"), str_of(kind) };
    struct object object;
    if (object_decode(&k->cluster.arena, &work, k->answer.media, k->answer.body, endpoint, VALIDATION_IGNORE, f, &object, e))
        return e->code;
    *ret_value = object.value;
    return ERR_OK;
}

static int fail(struct asking *k)
{
    return cmd_fail(k->c, 1, "%s", api_problem(&k->cluster.arena, &k->answer));
}

/* ---- Stop and start ---- */

static const char *path_of(struct asking *k, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, STRBUF_NO_MAX);
    strbuf_add_text(&path, "/api/v1/nodes/");
    api_add_escaped(&path, str_of(name));
    const char *copy = arena_cstr(&k->cluster.arena, strbuf_str(&path));
    strbuf_fini(&path);
    return copy;
}

static int set_state(struct asking *k, const char *name, const char *state)
{
    struct value node;
    struct err e;
    const char *path = path_of(k, name);
    err_init(&e, &k->cluster.arena);
    if (!ask(k, "GET", path, STR("")))
        return fail(k);
    if (read_object(k, "Node", &node, &e))
        return cmd_fail(k->c, 1, "%s", e.message);
    if (!node_is_hollow(&node))
        return cmd_fail(k->c, 1, "%s is no hollow node: it has no annotation " NODE_HOLLOW, name);
    const char *patch = arena_printf(&k->cluster.arena, "{\"metadata\":{\"annotations\":{\"" NODE_HOLLOW "\":\"%s\"}}}", state);
    return ask(k, "PATCH", path, str_of(patch)) ? 0 : fail(k);
}

static int set_all(struct asking *k, const char *state)
{
    int code = 0;
    for (int i = 1; !code && i < k->n_words; i++)
        code = set_state(k, k->words[i], state);
    return code;
}

static int stop(struct asking *k)
{
    return set_all(k, NODE_STOPPED);
}

static int start(struct asking *k)
{
    return set_all(k, "running");
}

/* ---- List ---- */

static struct str ready_of(const struct value *node)
{
    const struct type *t = schema_type(STR("core/v1.NodeCondition"));
    const struct value *list = value_path(schema_type(STR("core/v1.Node")), node, "status.conditions");
    for (uint32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++)
        if (str_is(value_text(value_path(t, &list->items[i], "type")), "Ready"))
            return value_text(value_path(t, &list->items[i], "status"));
    return STR("Unknown");
}

static void add_node(struct table *t, const struct value *node)
{
    const struct type *type = schema_type(STR("core/v1.Node"));
    const struct value *labels = value_path(type, node, "metadata.labels");
    const struct value *zone = labels->kind == VALUE_MAP ? value_member(labels, STR("topology.kubernetes.io/zone")) : NULL;
    struct str ready = ready_of(node);
    table_row(t);
    table_cell(t, "%.*s", STR_ARG(value_text(value_path(type, node, "metadata.name"))));
    table_cell(t, "%s", node_is_stopped(node) ? NODE_STOPPED : "running");
    table_cell(t, "%s", str_is(ready, "True") ? "Ready" : str_is(ready, "False") ? "NotReady" : "Unknown");
    table_cell(t, "%.*s", STR_ARG(zone ? value_text(zone) : STR("")));
    table_cell(t, "%.*s", STR_ARG(value_text(value_path(type, node, "spec.podCIDR"))));
}

static int list(struct asking *k)
{
    static const struct table_column columns[] = {
        { .heading = "NAME" }, { .heading = "KUBELET" }, { .heading = "STATUS" }, { .heading = "ZONE" }, { .heading = "PODS" },
    };
    const struct type *list_type = schema_type(STR("core/v1.NodeList"));
    struct value nodes;
    struct table t;
    struct strbuf text;
    struct err e;
    err_init(&e, &k->cluster.arena);
    if (!ask(k, "GET", "/api/v1/nodes", STR("")))
        return fail(k);
    if (read_object(k, "NodeList", &nodes, &e))
        return cmd_fail(k->c, 1, "%s", e.message);
    const struct value *items = value_path(list_type, &nodes, "items");
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; items->kind == VALUE_LIST && i < items->n; i++)
        if (node_is_hollow(&items->items[i]))
            add_node(&t, &items->items[i]);
    strbuf_init(&text, STRBUF_NO_MAX);
    table_write(&t, &text, cmd_columns());
    int code = cmd_print(k->c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    table_fini(&t);
    return code;
}

/* ---- The command ---- */

static const struct {
    const char *name;
    bool takes_names;
    int (*run)(struct asking *k);
} actions[] = { { "list", false, list }, { "stop", true, stop }, { "start", true, start } };

static int act(struct asking *k, int (*run)(struct asking *))
{
    struct arena errors;
    struct err e;
    int code;
    arena_init(&errors);
    err_init(&e, &errors);
    strbuf_init(&k->body, STRBUF_NO_MAX);
    if (cluster_open(&k->cluster, &k->where, NULL, MEDIA_JSON, &e)) {
        code = cmd_fail(k->c, 1, "%s", e.message);
    } else {
        code = run(k);
        cluster_close(&k->cluster);
    }
    strbuf_fini(&k->body);
    arena_fini(&errors);
    return code;
}

static int take_word(void *context, char *text)
{
    struct asking *k = context;
    if (k->n_words == WORDS_MAX)
        return cmd_fail(k->c, EXIT_USAGE, "\"%s\" is one name too many", text);
    k->words[k->n_words++] = text;
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){ { 0 } },
    .argument = take_word,
    .shared = cluster_option_rows,
};

static int run(const struct command *c, int argc, char **argv)
{
    struct asking k = { .c = c };
    int code = cmd_options_parse(c, &options, &k, argc, argv);
    if (code)
        return code;
    for (size_t i = 0; k.n_words && i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(k.words[0], actions[i].name) != 0)
            continue;
        if (actions[i].takes_names != (k.n_words > 1))
            return cmd_fail(c, EXIT_USAGE, actions[i].takes_names ? "%s takes names of nodes" : "%s takes no names", k.words[0]);
        return act(&k, actions[i].run);
    }
    return cmd_fail(c, EXIT_USAGE, "what to do is list, stop or start%s%s%s", k.n_words ? ", not \"" : "", k.n_words ? k.words[0] : "",
                    k.n_words ? "\"" : "");
}

const struct command node_command = {
    .name = "node",
    .summary = "stop and start hollow nodes",
    .help = help,
    .run = run,
};
