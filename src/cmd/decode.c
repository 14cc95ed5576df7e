/* cmd/decode.c - `berth decode`: reads manifests and prints what berth makes of them: the objects again as JSON or
 * YAML, or what the scheduler will see of pods and nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/vec.h"
#include "cmd/options.h"
#include "codec/object.h"
#include "codec/yaml.h"
#include "forms/node.h"
#include "forms/pod.h"

static const char help[] =
    "usage: berth decode -f FILE [-f FILE...] [-o summary|json|yaml] [--strict]\n\n"
    "Reads Kubernetes objects (YAML, several documents, or JSON; - is standard input), checks that they decode as\n"
    "the API server would decode them, and prints them.\n\n"
    "  -f FILE      a file to read; may be repeated\n"
    "  -o summary   what the scheduler will see of pods and nodes, and the kind of everything else (default)\n"
    "  -o json      each object as the API server writes it, one a line\n"
    "  -o yaml      as kubectl -o yaml prints it\n"
    "  --strict     unknown and duplicate fields are errors; otherwise they are warned about\n\n"
    "exit code: 0 all decoded, 1 some did not (the message names file, document and field), 2 wrong usage\n\n"
    "examples:\n"
    "  berth decode -f examples/shop.yaml\n"
    "  kubectl get pods -A -o json | berth decode -f - -o json\n";

enum { DOCUMENT_BYTES_MAX = 1 << 30 }; /* dumps of whole clusters are one list */

enum output { OUTPUT_SUMMARY, OUTPUT_JSON, OUTPUT_YAML };

struct decode {
    const struct command *c;
    VEC(const char *) files;
    enum output output;
    enum field_validation validation;
    struct sym_table syms;
    struct arena arena; /* of one document */
    struct strbuf text; /* what is printed of it */
    const char *file;
    size_t document;
    bool failed;
    int code; /* of a failed write; 0: none failed */
};

/* ---- What the scheduler sees ---- */

static void add_sym(struct decode *d, const char *before, sym name)
{
    strbuf_add_text(&d->text, before);
    printable_add(&d->text, sym_text(&d->syms, name));
}

static void add_amounts(struct decode *d, const char *what, const struct amounts *a)
{
    struct strbuf *to = &d->text;
    strbuf_printf(to, "  %-12s cpu %lldm, memory %lld", what, (long long)a->milli_cpu, (long long)a->memory);
    if (a->ephemeral_storage)
        strbuf_printf(to, ", ephemeral-storage %lld", (long long)a->ephemeral_storage);
    for (uint32_t i = 0; i < a->n_scalars; i++) {
        add_sym(d, ", ", a->scalars[i].name);
        strbuf_printf(to, " %lld", (long long)a->scalars[i].amount);
    }
    if (a->pods)
        strbuf_printf(to, ", pods %d", a->pods);
    strbuf_add_char(to, '\n');
}

static void add_labels(struct decode *d, const char *what, struct label_set labels)
{
    if (labels.n == 0)
        return;
    strbuf_printf(&d->text, "  %-12s", what);
    for (uint32_t i = 0; i < labels.n; i++) {
        add_sym(d, i ? ", " : " ", labels.at[i].key);
        add_sym(d, "=", labels.at[i].value);
    }
    strbuf_add_char(&d->text, '\n');
}

static void add_ports(struct decode *d, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->n_ports; i++) {
        strbuf_printf(&d->text, "  %-12s ", "host port");
        add_sym(d, "", pod->ports[i].ip);
        strbuf_printf(&d->text, ":%d", pod->ports[i].port);
        add_sym(d, "/", pod->ports[i].protocol);
        strbuf_add_char(&d->text, '\n');
    }
}

static void add_pod(struct decode *d, const struct pod *pod)
{
    struct strbuf *to = &d->text;
    add_sym(d, "pod ", pod->meta.ns);
    strbuf_add_char(to, '/');
    printable_add(to, str_of(pod->meta.name));
    strbuf_printf(to, "  priority %d", pod->priority);
    add_sym(d, ", scheduler ", pod->scheduler_name);
    strbuf_add_char(to, '\n');
    add_amounts(d, "requests", pod->requested);
    strbuf_printf(to, "  %-12s cpu %lldm, memory %lld\n", "non-zero", (long long)pod->non_zero_milli_cpu,
                  (long long)pod->non_zero_memory);
    add_labels(d, "labels", pod->meta.labels);
    if (pod->node_affinity)
        add_labels(d, "node labels", pod->node_affinity->node_selector);
    add_ports(d, pod);
    if (pod->affinity)
        strbuf_printf(to, "  %-12s %u required, %u required against, %u preferred, %u preferred against\n", "affinity",
                      pod->affinity->required.n, pod->affinity->required_anti.n, pod->affinity->preferred.n,
                      pod->affinity->preferred_anti.n);
    strbuf_printf(to, "  %-12s %u tolerations, %u spread constraints, %u volumes, %u images; %u bytes in memory\n",
                  "also", pod->n_tolerations, pod->n_spread, pod->n_volumes, pod->n_images, pod->typed.n_bytes);
}

static void add_node(struct decode *d, const struct node *node)
{
    static const char *const effects[] = { "", "NoSchedule", "PreferNoSchedule", "NoExecute", "?" };
    STRBUF_ADD_LIT(&d->text, "node ");
    printable_add(&d->text, str_of(node->meta.name));
    strbuf_add_text(&d->text, node->flags & NODE_UNSCHEDULABLE ? "  (unschedulable)\n" : "\n");
    add_amounts(d, "allocatable", &node->allocatable);
    add_labels(d, "labels", node->meta.labels);
    for (uint32_t i = 0; i < node->n_taints; i++) {
        strbuf_printf(&d->text, "  %-12s ", "taint");
        add_sym(d, "", node->taints[i].key);
        add_sym(d, "=", node->taints[i].value);
        strbuf_printf(&d->text, ":%s\n", effects[node->taints[i].effect]);
    }
    strbuf_printf(&d->text, "  %-12s %u images; %u bytes in memory\n", "also", node->n_images, node->typed.n_bytes);
}

static enum err_code add_summary(struct decode *d, const struct object *o, struct str json, struct err *e)
{
    const struct pod *pod;
    const struct node *node;
    if (str_is(o->type->name, "core/v1.Pod")) {
        if (pod_decode(&d->syms, TYPED_JSON, json, &pod, e))
            return e->code;
        add_pod(d, pod);
        pod_unref(&d->syms, pod);
    } else if (str_is(o->type->name, "core/v1.Node")) {
        if (node_decode(&d->syms, TYPED_JSON, json, &node, e))
            return e->code;
        add_node(d, node);
        node_unref(&d->syms, node);
    } else {
        strbuf_add_str(&d->text, o->type->kind);
        strbuf_add_char(&d->text, ' ');
        printable_add(&d->text, value_text(value_path(o->type, &o->value, "metadata.name")));
        strbuf_add_char(&d->text, '\n');
    }
    return ERR_OK;
}

/* ---- Documents and files ---- */

static void complain(struct decode *d, const char *severity, const char *text)
{
    cmd_say(d->c, "%s, document %zu: %s%s", d->file, d->document, severity, text);
}

static enum err_code add_object(struct decode *d, const struct object *o, struct err *e)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, o->type, &o->value);
    enum err_code code = ERR_OK;
    if (d->output == OUTPUT_SUMMARY) {
        code = add_summary(d, o, strbuf_str(&json), e);
    } else if (d->output == OUTPUT_JSON) {
        strbuf_add_str(&d->text, strbuf_str(&json));
        strbuf_add_char(&d->text, '\n');
    } else {
        STRBUF_ADD_LIT(&d->text, "---\n");
        yaml_from_json_visible(&d->text, strbuf_str(&json));
    }
    strbuf_fini(&json);
    return code;
}

static enum err_code print_object(struct decode *d, const struct object *o, struct err *e)
{
    strbuf_reset(&d->text);
    if (add_object(d, o, e))
        return e->code;
    struct str text = strbuf_str(&d->text);
    if (!d->code && d->output == OUTPUT_SUMMARY)
        d->code = cmd_print_folded(d->c, text, cmd_columns());
    else if (!d->code)
        d->code = cmd_print(d->c, d->output == OUTPUT_JSON ? CMD_JSON : CMD_TEXT, text);
    return ERR_OK;
}

static void decode_document(struct decode *d, enum media media, struct str document)
{
    struct err e;
    err_init(&e, &d->arena);
    struct findings findings = { .of_file = true };
    struct object o;
    struct gvk none = { 0 }, seen;
    struct work work = work_init(DOCUMENT_BYTES_MAX);
    enum err_code code = object_read(&d->arena, &work, media, document, none, &findings, &o, &seen, &e);
    for (unsigned i = 0; code == ERR_OK && i < findings.n; i++)
        complain(d, d->validation == VALIDATION_STRICT ? "" : "warning: ", findings.texts[i]);
    if (code == ERR_OK && findings.n && d->validation == VALIDATION_STRICT)
        d->failed = true;
    else if (code != ERR_OK || print_object(d, &o, &e) != ERR_OK) {
        complain(d, "", e.message);
        d->failed = true;
    }
    arena_reset(&d->arena);
}

static void decode_stream(struct decode *d, struct str text)
{
    struct yaml_stream stream;
    yaml_stream_init(&stream, text);
    while (!d->code) {
        struct err e;
        err_init(&e, &d->arena);
        struct str document;
        d->document++;
        if (yaml_next_document(&stream, &document, &e)) {
            complain(d, "", e.message);
            d->failed = true;
            return;
        }
        if (!document.p)
            return;
        /* JSON is not quite YAML: characters beyond U+FFFF are escaped as two */
        decode_document(d, stream.json ? MEDIA_JSON : MEDIA_YAML, document);
    }
}

static void decode_file(struct decode *d, const char *path)
{
    size_t n;
    char *bytes = cmd_read_file(path, &n);
    if (!bytes) {
        cmd_say(d->c, "%s: %s", path, strerror(errno));
        d->failed = true;
        return;
    }
    d->file = strcmp(path, "-") == 0 ? "standard input" : path;
    d->document = 0;
    decode_stream(d, (struct str){ bytes, n });
    free(bytes);
}

/* ---- Options ---- */

static int take_file(void *context, const char *value)
{
    struct decode *d = context;
    vec_push(&d->files, value);
    return 0;
}

static int take_output(void *context, const char *value)
{
    static const char *const names[] = { "summary", "json", "yaml" };
    struct decode *d = context;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            d->output = (enum output)i;
            return 0;
        }
    return cmd_fail(d->c, EXIT_USAGE, "-o is summary, json or yaml, not \"%s\"", value);
}

static int take_strict(void *context, const char *value)
{
    (void)value;
    ((struct decode *)context)->validation = VALIDATION_STRICT;
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){
        { "-f", CMD_VALUE | CMD_REPEATED, take_file, NULL },
        { "-o", CMD_VALUE, take_output, NULL },
        { "--strict", CMD_FLAG, take_strict, NULL },
        { 0 } },
};

static int decode(struct decode *d)
{
    sym_init(&d->syms);
    arena_init(&d->arena);
    strbuf_init(&d->text, STRBUF_NO_MAX);
    for (size_t i = 0; i < d->files.n && !d->code; i++)
        decode_file(d, d->files.at[i]);
    strbuf_fini(&d->text);
    arena_fini(&d->arena);
    sym_fini(&d->syms);
    return d->code ? d->code : d->failed;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct decode d = { .c = c, .validation = VALIDATION_WARN };
    int code = cmd_options_parse(c, &options, &d, argc, argv);
    if (!code && !d.files.n)
        code = cmd_fail(c, EXIT_USAGE, "nothing to read: give a file with -f");
    if (!code)
        code = decode(&d);
    vec_fini(&d.files);
    return code;
}

const struct command decode_command = {
    .name = "decode",
    .summary = "read manifests; print them, or what the scheduler sees of them",
    .help = help,
    .run = run,
};
