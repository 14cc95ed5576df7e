/* cmd/apply.c - `berth apply` and `berth delete`: objects of files into a cluster, and out of it. */
#include "base/vec.h"
#include "cmd/objects.h"

#define APPLY_MEDIA "application/apply-patch+yaml"
#define APPLY_QUERY "?fieldManager=berth&force=true"

static const char apply_help[] =
    "usage: berth apply -f FILE|DIR [-f FILE|DIR...] [-n NAMESPACE] [--kubeconfig FILE] [...]\n\n"
    "Makes the objects of files, or makes those that are there as the files say: by server-side apply, as the field manager\n"
    "berth, who takes over what others set.\n\n"
    "  -f FILE|DIR    what to apply; - is standard input; of a folder all .yaml, .yml and .json files, by name\n"
    "  -n NAMESPACE   of objects that name none (default that of the context)\n"
    CMD_CLUSTER_HELP
    "\nexit code: 0 all applied, 1 some were refused or could not be read, 2 wrong usage\n\n"
    "examples:\n"
    "  berth apply -f examples/up\n"
    "  cat shop.yaml | berth apply -n shop -f -\n";

static const char delete_help[] =
    "usage: berth delete RESOURCE NAME... [-n NAMESPACE] [--kubeconfig FILE] [...]\n"
    "       berth delete RESOURCE/NAME... [...]\n"
    "       berth delete -f FILE|DIR [-f FILE|DIR...] [...]\n\n"
    "Deletes objects, those that are named or those of files, with what belongs to them.\n\n"
    "  -f FILE|DIR    whose objects; - is standard input; of a folder all .yaml, .yml and .json files, by name\n"
    "  -n NAMESPACE   of objects that name none (default that of the context)\n"
    CMD_CLUSTER_HELP
    "\nexit code: 0 all deleted, 1 some were not there or were refused, 2 wrong usage\n\n"
    "examples:\n"
    "  berth delete pod web-0 -n shop\n"
    "  berth delete -f examples/up\n";

struct changing {
    const struct command *c;
    struct objects_options o;
    VEC(const char *) paths;
    VEC(struct str) words;
};

/* ---- One object ---- */

static int say_done(struct objects *k, const struct document *d, const char *what)
{
    struct arena *a = &k->cluster.arena;
    return cmd_print(k->c, CMD_TEXT, str_of(arena_printf(a, "%s %s\n", objects_name(a, d->resource, d->name), what)));
}

static int apply_one(struct objects *k, const struct document *d)
{
    struct arena *a = &k->cluster.arena;
    struct str target = objects_target(a, d->resource, d->ns, d->name);
    target = str_of(arena_printf(a, "%.*s" APPLY_QUERY, STR_ARG(target)));
    if (!objects_ask(k, "PATCH", target, APPLY_MEDIA, d->json))
        return objects_refused(k);
    return say_done(k, d, k->answer.status == 201 ? "created" : "applied");
}

static int delete_one(struct objects *k, const struct document *d)
{
    struct str options = STR("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\"}");
    struct str target = objects_target(&k->cluster.arena, d->resource, d->ns, d->name);
    if (!objects_ask(k, "DELETE", target, "application/json", options))
        return objects_refused(k);
    return say_done(k, d, "deleted");
}

/* ---- Words ---- */

static int delete_named(struct objects *k, struct str resource, struct str name)
{
    struct document d = { .resource = objects_resource(resource), .name = name };
    if (!d.resource)
        return cmd_fail(k->c, EXIT_USAGE, "there is no resource \"%.*s\"", STR_ARG(resource));
    d.ns = d.resource->namespaced ? objects_namespace(k) : NULL;
    return delete_one(k, &d);
}

/* RESOURCE NAME..., or RESOURCE/NAME... */
static int delete_words(struct objects *k, const struct changing *x)
{
    int code = 0;
    struct str first = x->words.n ? x->words.at[0] : STR("");
    bool has_slash = str_index(first, '/') < first.n;
    if (x->words.n == 1 && !has_slash)
        return cmd_fail(x->c, EXIT_USAGE, "which of the %.*s?", STR_ARG(first));
    for (size_t i = has_slash ? 0 : 1; i < x->words.n; i++) {
        struct str word = x->words.at[i];
        size_t slash = str_index(word, '/');
        struct str resource = has_slash ? str_first(word, slash) : first;
        struct str name = has_slash ? str_from(word, slash < word.n ? slash + 1 : slash) : word;
        int one = name.n ? delete_named(k, resource, name) : cmd_fail(x->c, EXIT_USAGE, "which of the %.*s?", STR_ARG(word));
        code = code ? code : one;
    }
    return code;
}

/* ---- The command line ---- */

static int take_file(void *context, const char *value)
{
    vec_push(&((struct changing *)context)->paths, value);
    return 0;
}

static int take_namespace(void *context, const char *value)
{
    ((struct changing *)context)->o.ns = value;
    return 0;
}

static int take_word(void *context, char *text)
{
    vec_push(&((struct changing *)context)->words, str_of(text));
    return 0;
}

static const struct cmd_option options[] = {
    { "-f", CMD_VALUE | CMD_REPEATED, take_file, NULL },
    { "-n", CMD_VALUE, take_namespace, NULL },
    { 0 },
};

static int change(const struct changing *x, int (*act)(struct objects *k, const struct document *d))
{
    struct objects k;
    if (x->paths.n == 0 && x->words.n == 0)
        return cmd_fail(x->c, EXIT_USAGE, "no objects were named");
    int code = objects_open(&k, x->c, &x->o);
    if (code)
        return code;
    for (size_t i = 0; i < x->paths.n; i++) {
        int one = objects_each(&k, x->paths.at[i], act);
        code = code ? code : one;
    }
    int named = delete_words(&k, x); /* none, when files are applied */
    objects_close(&k);
    return code ? code : named;
}

static int run_with(const struct command *c, int argc, char **argv, bool takes_words,
                    int (*act)(struct objects *k, const struct document *d))
{
    struct changing x = { .c = c, .o.cluster.accept = "application/json" };
    struct cmd_options o = { .at = options, .argument = takes_words ? take_word : NULL, .shared = cluster_option_rows,
                             .shared_offset = offsetof(struct changing, o.cluster) };
    int code = cmd_options_parse(c, &o, &x, argc, argv);
    if (!code)
        code = change(&x, act);
    vec_fini(&x.paths);
    vec_fini(&x.words);
    return code;
}

static int run_apply(const struct command *c, int argc, char **argv)
{
    return run_with(c, argc, argv, false, apply_one);
}

static int run_delete(const struct command *c, int argc, char **argv)
{
    return run_with(c, argc, argv, true, delete_one);
}

const struct command apply_command = {
    .name = "apply",
    .summary = "makes the objects of files in a cluster",
    .help = apply_help,
    .run = run_apply,
};

const struct command delete_command = {
    .name = "delete",
    .summary = "deletes objects of a cluster",
    .help = delete_help,
    .run = run_delete,
};
