/* cmd/decode.c - `berth decode`: reads manifests and prints what berth makes of them: the objects again as JSON or
 * YAML, or what the scheduler will see of pods and nodes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
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
    enum output output;
    enum field_validation validation;
    struct sym_table syms;
    struct arena arena; /* of one document */
    const char *file;
    size_t document;
    bool failed;
};

/* ---- What the scheduler sees ---- */

static void print_amounts(struct decode *d, const char *what, const struct amounts *a)
{
    printf("  %-12s cpu %lldm, memory %lld", what, (long long)a->milli_cpu, (long long)a->memory);
    if (a->ephemeral_storage)
        printf(", ephemeral-storage %lld", (long long)a->ephemeral_storage);
    for (uint32_t i = 0; i < a->n_scalars; i++)
        printf(", %s %lld", sym_text(&d->syms, a->scalars[i].name).p, (long long)a->scalars[i].amount);
    if (a->pods)
        printf(", pods %d", a->pods);
    putchar('\n');
}

static void print_labels(struct decode *d, const char *what, struct label_set labels)
{
    if (labels.n == 0)
        return;
    printf("  %-12s", what);
    for (uint32_t i = 0; i < labels.n; i++)
        printf("%s%s=%s", i ? ", " : " ", sym_text(&d->syms, labels.at[i].key).p,
               sym_text(&d->syms, labels.at[i].value).p);
    putchar('\n');
}

static void print_ports(struct decode *d, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->n_ports; i++)
        printf("  %-12s %s:%d/%s\n", "host port", sym_text(&d->syms, pod->ports[i].ip).p, pod->ports[i].port,
               sym_text(&d->syms, pod->ports[i].protocol).p);
}

static void print_pod(struct decode *d, const struct pod *pod)
{
    printf("pod %s/%s  priority %d, scheduler %s\n", sym_text(&d->syms, pod->meta.ns).p, pod->meta.name, pod->priority,
           sym_text(&d->syms, pod->scheduler_name).p);
    print_amounts(d, "requests", pod->requested);
    printf("  %-12s cpu %lldm, memory %lld\n", "non-zero", (long long)pod->non_zero_milli_cpu,
           (long long)pod->non_zero_memory);
    print_labels(d, "labels", pod->meta.labels);
    if (pod->node_affinity)
        print_labels(d, "node labels", pod->node_affinity->node_selector);
    print_ports(d, pod);
    if (pod->affinity)
        printf("  %-12s %u required, %u required against, %u preferred, %u preferred against\n", "affinity",
               pod->affinity->required.n, pod->affinity->required_anti.n, pod->affinity->preferred.n,
               pod->affinity->preferred_anti.n);
    printf("  %-12s %u tolerations, %u spread constraints, %u volumes, %u images; %u bytes in memory\n", "also",
           pod->n_tolerations, pod->n_spread, pod->n_volumes, pod->n_images, pod->typed.n_bytes);
}

static void print_node(struct decode *d, const struct node *node)
{
    static const char *const effects[] = { "", "NoSchedule", "PreferNoSchedule", "NoExecute", "?" };
    printf("node %s%s\n", node->meta.name, node->flags & NODE_UNSCHEDULABLE ? "  (unschedulable)" : "");
    print_amounts(d, "allocatable", &node->allocatable);
    print_labels(d, "labels", node->meta.labels);
    for (uint32_t i = 0; i < node->n_taints; i++)
        printf("  %-12s %s=%s:%s\n", "taint", sym_text(&d->syms, node->taints[i].key).p,
               sym_text(&d->syms, node->taints[i].value).p, effects[node->taints[i].effect]);
    printf("  %-12s %u images; %u bytes in memory\n", "also", node->n_images, node->typed.n_bytes);
}

static enum err_code print_summary(struct decode *d, const struct object *o, struct str json, struct err *e)
{
    const struct pod *pod;
    const struct node *node;
    if (str_is(o->type->name, "core/v1.Pod")) {
        if (pod_decode(&d->syms, TYPED_JSON, json, &pod, e))
            return e->code;
        print_pod(d, pod);
        pod_unref(&d->syms, pod);
    } else if (str_is(o->type->name, "core/v1.Node")) {
        if (node_decode(&d->syms, TYPED_JSON, json, &node, e))
            return e->code;
        print_node(d, node);
        node_unref(&d->syms, node);
    } else {
        struct str name = value_text(value_path(o->type, &o->value, "metadata.name"));
        printf("%.*s %.*s\n", STR_ARG(o->type->kind), STR_ARG(name));
    }
    return ERR_OK;
}

/* ---- Documents and files ---- */

static void complain(struct decode *d, const char *severity, const char *text)
{
    fprintf(stderr, "berth %s: %s, document %zu: %s%s\n", d->c->name, d->file, d->document, severity, text);
}

static enum err_code print_object(struct decode *d, const struct object *o, struct err *e)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode(&json, o->type, &o->value);
    enum err_code code = ERR_OK;
    if (d->output == OUTPUT_SUMMARY) {
        code = print_summary(d, o, strbuf_str(&json), e);
    } else if (d->output == OUTPUT_JSON) {
        printf("%.*s\n", (int)json.n, json.p);
    } else {
        struct strbuf yaml;
        strbuf_init(&yaml, STRBUF_NO_MAX);
        yaml_from_json(&yaml, strbuf_str(&json));
        printf("---\n%.*s", (int)yaml.n, yaml.p);
        strbuf_fini(&yaml);
    }
    strbuf_fini(&json);
    return code;
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
    for (;;) {
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
        fprintf(stderr, "berth %s: %s: %s\n", d->c->name, path, strerror(errno));
        d->failed = true;
        return;
    }
    d->file = strcmp(path, "-") == 0 ? "standard input" : path;
    d->document = 0;
    decode_stream(d, (struct str){ bytes, n });
    free(bytes);
}

static int parse_output(const char *text, enum output *ret_output)
{
    static const char *const names[] = { "summary", "json", "yaml" };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *ret_output = (enum output)i;
            return 0;
        }
    return -1;
}

static int run(const struct command *c, int argc, char **argv)
{
    struct decode d = { .c = c, .validation = VALIDATION_WARN };
    const char **files = mem_alloc((size_t)argc * sizeof(*files));
    int n_files = 0, code = 0;
    for (int at = 1; at < argc && !code;) {
        const char *value;
        if ((value = cmd_option(c, "-f", argc, argv, &at))) {
            files[n_files++] = value;
        } else if ((value = cmd_option(c, "-o", argc, argv, &at))) {
            if (parse_output(value, &d.output))
                code = cmd_fail(c, EXIT_USAGE, "-o is summary, json or yaml, not \"%s\"", value);
        } else if (strcmp(argv[at], "--strict") == 0) {
            d.validation = VALIDATION_STRICT;
            at++;
        } else {
            code = cmd_fail(c, EXIT_USAGE, "unknown argument \"%s\"", argv[at]);
        }
    }
    if (!code && n_files == 0)
        code = cmd_fail(c, EXIT_USAGE, "nothing to read: give a file with -f");
    sym_init(&d.syms);
    arena_init(&d.arena);
    for (int i = 0; i < n_files && !code; i++)
        decode_file(&d, files[i]);
    arena_fini(&d.arena);
    sym_fini(&d.syms);
    free(files);
    return code ? code : d.failed;
}

const struct command decode_command = {
    .name = "decode",
    .summary = "read manifests; print them, or what the scheduler sees of them",
    .help = help,
    .run = run,
};
