/* cmd/get.c - `berth get`: objects of a cluster as its API server shows them in Tables. */
#include <ctype.h>

#include "base/printable.h"
#include "cmd/objects.h"
#include "codec/json.h"
#include "codec/yaml.h"

#define ACCEPT_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

enum { CELL_GAP = 3, TABLE_CELLS_MAX = 64 };

static const char help[] =
    "usage: berth get RESOURCE [NAME...] [-n NAMESPACE | -A] [-l SELECTOR] [-o wide|json|yaml|name]\n"
    "                 [--kubeconfig FILE] [...]\n"
    "       berth get RESOURCE/NAME [...]\n\n"
    "Shows objects of a cluster: what the API server makes of them in columns, or the objects themselves. RESOURCE is\n"
    "one that Kubernetes brings along, under any of its names: pods, pod, po.\n\n"
    "  -n NAMESPACE   of the objects (default that of the context)\n"
    "  -A             of all namespaces\n"
    "  -l SELECTOR    those with such labels: app=web,tier!=cache\n"
    "  -o wide        more columns\n"
    "  -o json, yaml  whole objects\n"
    "  -o name        RESOURCE/NAME, one a line\n"
    CMD_CLUSTER_HELP
    "\nexit code: 0 shown, 1 the server refused or could not be reached, 2 wrong usage\n\n"
    "examples:\n"
    "  berth get pods -A -o wide\n"
    "  berth get deploy web -n shop -o yaml\n"
    "  berth get nodes -l topology.kubernetes.io/zone=north -o name\n";

enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME };

struct get {
    const struct command *c;
    struct objects_options o;
    struct objects k;
    struct arena words;
    const struct resource *resource;
    VEC(struct str) names;
    const char *selector;
    bool all_namespaces;
    enum output output;
    VEC(struct str) cells; /* rows of n_columns each; the first has the headings */
    size_t n_columns;
};

/* ---- Tables ---- */

static const struct value *member(const struct value *map, const char *name)
{
    static const struct value none;
    const struct value *v = map->kind == VALUE_MAP ? value_member(map, str_of(name)) : NULL;
    return v ? v : &none;
}

static struct str cell_text(struct get *g, const struct value *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    if (v->kind == VALUE_STRING)
        printable_add(&b, value_text(v));
    else if (v->kind == VALUE_ABSENT || v->kind == VALUE_NULL)
        STRBUF_ADD_LIT(&b, "<none>");
    else
        json_encode_plain(&b, v);
    struct str text = arena_str(&g->words, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static struct str heading(struct get *g, struct str name)
{
    char *upper = arena_cstr(&g->words, name);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return str_of(upper);
}

static bool is_shown(const struct get *g, const struct value *column)
{
    const struct value *priority = member(column, "priority");
    return g->output == OUTPUT_WIDE || priority->kind != VALUE_INT || priority->i == 0;
}

static void add_headings(struct get *g, const struct value *columns)
{
    if (g->all_namespaces && g->resource->namespaced)
        vec_push(&g->cells, STR("NAMESPACE"));
    for (uint32_t i = 0; i < columns->n; i++)
        if (is_shown(g, &columns->items[i]))
            vec_push(&g->cells, heading(g, value_text(member(&columns->items[i], "name"))));
    g->n_columns = g->cells.n;
}

static void add_row(struct get *g, const struct value *columns, const struct value *row)
{
    const struct value *cells = member(row, "cells"), *meta = member(member(row, "object"), "metadata");
    size_t end = g->cells.n + g->n_columns;
    if (g->output == OUTPUT_NAME) {
        vec_push(&g->cells, str_of(objects_name(&g->words, g->resource, value_text(member(meta, "name")))));
        return;
    }
    if (g->all_namespaces && g->resource->namespaced)
        vec_push(&g->cells, cell_text(g, member(meta, "namespace")));
    for (uint32_t i = 0; i < columns->n && i < cells->n && g->cells.n < end; i++)
        if (is_shown(g, &columns->items[i]))
            vec_push(&g->cells, cell_text(g, &cells->items[i]));
    while (g->cells.n < end)
        vec_push(&g->cells, STR(""));
}

static int add_table(struct get *g)
{
    struct value t;
    struct err e;
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    err_init(&e, &g->words);
    if (json_decode_plain(&g->words, &work, g->k.answer.body, &t, &e))
        return cmd_fail(g->c, 1, "the answer cannot be read: %s", e.message);
    const struct value *columns = member(&t, "columnDefinitions"), *rows = member(&t, "rows");
    if (columns->kind != VALUE_LIST || columns->n > TABLE_CELLS_MAX)
        return cmd_fail(g->c, 1, "the answer is no table");
    if (g->output != OUTPUT_NAME && g->cells.n == 0 && rows->kind == VALUE_LIST && rows->n)
        add_headings(g, columns);
    for (uint32_t i = 0; rows->kind == VALUE_LIST && i < rows->n; i++)
        add_row(g, columns, &rows->items[i]);
    return 0;
}

static void write_table(const struct get *g, struct strbuf *to)
{
    size_t widths[TABLE_CELLS_MAX + 1] = { 0 }, n = g->n_columns ? g->n_columns : 1;
    for (size_t i = 0; i < g->cells.n; i++)
        widths[i % n] = g->cells.at[i].n > widths[i % n] ? g->cells.at[i].n : widths[i % n];
    for (size_t i = 0; i < g->cells.n; i++) {
        strbuf_add_str(to, g->cells.at[i]);
        bool is_last = i % n == n - 1;
        for (size_t pad = g->cells.at[i].n; !is_last && pad < widths[i % n] + CELL_GAP; pad++)
            strbuf_add_char(to, ' ');
        if (is_last)
            strbuf_add_char(to, '\n');
    }
}

/* ---- Asking ---- */

static struct str target_of(struct get *g, struct str name)
{
    struct strbuf b;
    const char *ns = g->all_namespaces ? NULL : objects_namespace(&g->k);
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_str(&b, objects_target(&g->words, g->resource, ns, name));
    strbuf_add_char(&b, '?');
    if (g->selector && !name.n) {
        STRBUF_ADD_LIT(&b, "labelSelector=");
        api_add_escaped(&b, str_of(g->selector));
        strbuf_add_char(&b, '&');
    }
    STRBUF_ADD_LIT(&b, "limit=0");
    struct str target = arena_str(&g->words, strbuf_str(&b));
    strbuf_fini(&b);
    return target;
}

static int print_object(struct get *g)
{
    struct strbuf b;
    struct value v;
    struct err e;
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    err_init(&e, &g->words);
    if (json_decode_plain(&g->words, &work, g->k.answer.body, &v, &e))
        return cmd_fail(g->c, 1, "the answer cannot be read: %s", e.message);
    strbuf_init(&b, STRBUF_NO_MAX);
    if (g->output == OUTPUT_YAML) {
        yaml_from_json_visible(&b, g->k.answer.body);
    } else {
        struct strbuf plain;
        strbuf_init(&plain, STRBUF_NO_MAX);
        json_encode_plain(&plain, &v);
        json_indent(&b, strbuf_str(&plain));
        strbuf_add_char(&b, '\n');
        strbuf_fini(&plain);
    }
    int code = cmd_print(g->c, g->output == OUTPUT_JSON ? CMD_JSON : CMD_TEXT, strbuf_str(&b));
    strbuf_fini(&b);
    return code;
}

static int get_one(struct get *g, struct str name)
{
    if (!objects_ask(&g->k, "GET", target_of(g, name), NULL, STR("")))
        return objects_refused(&g->k);
    return g->output == OUTPUT_JSON || g->output == OUTPUT_YAML ? print_object(g) : add_table(g);
}

static int print_cells(struct get *g)
{
    struct strbuf b;
    if (g->cells.n == 0 && g->all_namespaces)
        cmd_write_error(STR("No resources found\n"));
    else if (g->cells.n == 0 && !g->resource->namespaced)
        cmd_write_error(STR("No resources found\n"));
    else if (g->cells.n == 0)
        cmd_write_error(str_of(arena_printf(&g->words, "No resources found in %s namespace.\n", objects_namespace(&g->k))));
    strbuf_init(&b, STRBUF_NO_MAX);
    write_table(g, &b);
    int code = cmd_print(g->c, CMD_TEXT, strbuf_str(&b));
    strbuf_fini(&b);
    return code;
}

static int get_all(struct get *g)
{
    int code = 0;
    if (g->names.n == 0)
        code = get_one(g, STR(""));
    for (size_t i = 0; i < g->names.n; i++) {
        int one = get_one(g, g->names.at[i]);
        code = code ? code : one;
    }
    bool prints = g->output != OUTPUT_JSON && g->output != OUTPUT_YAML && (!code || g->cells.n);
    int printed = prints ? print_cells(g) : 0;
    return code ? code : printed;
}

/* ---- The command line ---- */

static int take_namespace(void *context, const char *value)
{
    ((struct get *)context)->o.ns = value;
    return 0;
}

static int take_all(void *context, const char *value)
{
    (void)value;
    ((struct get *)context)->all_namespaces = true;
    return 0;
}

static int take_selector(void *context, const char *value)
{
    ((struct get *)context)->selector = value;
    return 0;
}

static int take_output(void *context, const char *value)
{
    static const char *const words[] = { [OUTPUT_WIDE] = "wide", [OUTPUT_JSON] = "json", [OUTPUT_YAML] = "yaml",
                                         [OUTPUT_NAME] = "name" };
    struct get *g = context;
    for (int i = OUTPUT_WIDE; i <= OUTPUT_NAME; i++)
        if (strcmp(value, words[i]) == 0) {
            g->output = (enum output)i;
            return 0;
        }
    return cmd_fail(g->c, EXIT_USAGE, "-o must be wide, json, yaml or name, not \"%s\"", value);
}

static int take_word(void *context, char *text)
{
    struct get *g = context;
    struct str word = str_of(text);
    size_t slash = str_index(word, '/');
    if (g->resource) {
        vec_push(&g->names, word);
        return 0;
    }
    g->resource = objects_resource(str_first(word, slash));
    if (!g->resource)
        return cmd_fail(g->c, EXIT_USAGE, "there is no resource \"%.*s\"", STR_ARG(str_first(word, slash)));
    if (slash < word.n)
        vec_push(&g->names, str_from(word, slash + 1));
    return 0;
}

static const struct cmd_option options[] = {
    { "-A", CMD_FLAG, take_all, NULL },
    { "--all-namespaces", CMD_FLAG, take_all, NULL },
    { "-l", CMD_VALUE, take_selector, NULL },
    { "-n", CMD_VALUE, take_namespace, NULL },
    { "-o", CMD_VALUE, take_output, NULL },
    { 0 },
};

static int run_parsed(struct get *g)
{
    bool is_object = g->output == OUTPUT_JSON || g->output == OUTPUT_YAML;
    g->o.cluster.accept = is_object ? "application/json" : ACCEPT_TABLE;
    if (!g->resource)
        return cmd_fail(g->c, EXIT_USAGE, "which objects?");
    if (g->names.n && g->all_namespaces)
        return cmd_fail(g->c, EXIT_USAGE, "a resource cannot be retrieved by name across all namespaces");
    int code = objects_open(&g->k, g->c, &g->o);
    if (code)
        return code;
    code = get_all(g);
    objects_close(&g->k);
    return code;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct get g = { .c = c };
    arena_init(&g.words);
    int code = cmd_options_parse(c, &(struct cmd_options){ .at = options, .argument = take_word,
                                                           .shared = cluster_option_rows,
                                                           .shared_offset = offsetof(struct get, o.cluster) },
                                 &g, argc, argv);
    if (!code)
        code = run_parsed(&g);
    vec_fini(&g.names);
    vec_fini(&g.cells);
    arena_fini(&g.words);
    return code;
}

const struct command get_command = {
    .name = "get",
    .summary = "shows objects of a cluster, as kubectl get does",
    .help = help,
    .run = run,
};
