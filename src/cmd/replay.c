/* cmd/replay.c - `berth replay`: runs recordings of a scheduler again and says whether it decides the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "cmd/progress.h"
#include "cmd/setup.h"
#include "codec/json.h"
#include "insight/record_file.h"
#include "plugins/plugins.h"
#include "sched/replay.h"

enum { EXIT_DIVERGED = 3, EXIT_TORN = 4 };

static const char help[] =
    "usage: berth replay FILE... [-o text|json] [--allow-plugins]\n\n"
    "Runs recordings that a scheduler made of itself again, each from its beginning, and compares what is\n"
    "decided with the hashes in it. The configuration, the seed, the times and the answers of extenders come from the\n"
    "recording; nothing outside is touched. The segments of one run (FILE.1, FILE.2, ...) each begin with all objects\n"
    "and are replayed alone, in the order of the command line.\n\n"
    "  -o text        for people (default)\n"
    "  -o json        for programs: one object a line with file, end, message, equal, attempts, placed, unschedulable,\n"
    "                 errors, hash, hashesCompared, frames, inputs, build\n"
    CMD_ALLOW_PLUGINS_HELP
    "\n"
    "A recording is equal (it was replayed to its end), atLimit (the same, and it had reached its maximum length), torn\n"
    "(it stops without an end, as after a crash; equal so far), diverged (other decisions, from about that frame on), or\n"
    "damaged.\n\n"
    "exit code: 0 all decisions are equal, 3 some differ, 4 equal as far as they go but a recording is torn, 1 a recording is\n"
    "damaged or cannot be read, 2 wrong usage; of several the first of 3, 1, 4 that applies\n\n"
    "examples:\n"
    "  berth replay /var/lib/berth/record.1\n"
    "  berth replay /var/lib/berth/record.* -o json\n";

struct replaying {
    const struct command *c;
    VEC(const char *) paths;
    bool json, allow_plugins;
    struct progress progress;
};

static const char *const end_names[] = {
    [REPLAY_COMPLETE] = "equal", [REPLAY_AT_LIMIT] = "atLimit",   [REPLAY_TORN] = "torn",
    [REPLAY_DAMAGED] = "damaged", [REPLAY_DIVERGED] = "diverged",
};

static int code_of(enum replay_end end)
{
    switch (end) {
    case REPLAY_DIVERGED:
        return EXIT_DIVERGED;
    case REPLAY_DAMAGED:
        return 1;
    case REPLAY_TORN:
        return EXIT_TORN;
    default:
        return 0;
    }
}

/* The first of 3, 1, 4. */
static int worse(int a, int b)
{
    static const int order[] = { EXIT_USAGE, EXIT_DIVERGED, 1, EXIT_TORN };
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return 0;
}

/* ---- What is printed ---- */

static void add_json(struct strbuf *to, const char *path, const struct record_start *start,
                     const struct replay_result *r, const struct sched_counts *n)
{
    STRBUF_ADD_LIT(to, "{\"file\":");
    json_add_string(to, str_of(path));
    strbuf_printf(to, ",\"end\":\"%s\",\"message\":", end_names[r->end]);
    json_add_string(to, str_of(r->message));
    strbuf_printf(to, ",\"equal\":%s,\"attempts\":%" PRIu64 ",\"placed\":%" PRIu64 ",\"unschedulable\":%" PRIu64
                      ",\"errors\":%" PRIu64 ",\"hash\":\"%016" PRIx64 "\",\"hashesCompared\":%" PRIu64
                      ",\"frames\":%" PRIu64 ",\"inputs\":%" PRIu64 ",\"build\":",
                  code_of(r->end) == 0 ? "true" : "false", n->attempts, n->placed, n->unschedulable, n->errors, r->hash,
                  r->n_hashes, r->n_frames, r->n_inputs);
    json_add_string(to, start->build);
    STRBUF_ADD_LIT(to, "}\n");
}

static void add_text(struct strbuf *to, const char *path, const struct record_start *start, const struct replay_result *r,
                     const struct sched_counts *n)
{
    static const char *const sentences[] = {
        [REPLAY_COMPLETE] = "equal: all decisions are those of the recording",
        [REPLAY_AT_LIMIT] = "equal: all decisions are those of the recording, which had reached its maximum length",
        [REPLAY_TORN] = "torn: equal as far as the recording goes",
        [REPLAY_DAMAGED] = "damaged",
        [REPLAY_DIVERGED] = "diverged",
    };
    strbuf_printf(to, "%s: %s\n  %" PRIu64 " attempts: %" PRIu64 " placed, %" PRIu64 " unschedulable, %" PRIu64 " errors\n", path,
                  sentences[r->end], n->attempts, n->placed, n->unschedulable, n->errors);
    strbuf_printf(to, "  hash %016" PRIx64 ", %" PRIu64 " compared; %" PRIu64 " inputs in %" PRIu64 " frames; recorded by berth %.*s\n",
                  r->hash, r->n_hashes, r->n_inputs, r->n_frames, STR_ARG(start->build));
    if (r->end != REPLAY_COMPLETE && r->end != REPLAY_AT_LIMIT)
        strbuf_printf(to, "  %s\n", r->message);
}

static int print_result(const struct replaying *x, const char *path, const struct record_start *start,
                        const struct replay_result *r, const struct sched_counts *counts)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    (x->json ? add_json : add_text)(&text, path, start, r, counts);
    int code = cmd_print(x->c, x->json ? CMD_JSON : CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code ? code : code_of(r->end);
}

/* ---- One recording ---- */

static int run_replay(struct replaying *x, const char *path, struct replay *replay, const struct setup *setup, size_t n_bytes)
{
    const struct record_start *start = replay_start(replay);
    struct sched *s = sched_new(&(struct sched_options){
        .syms = setup->syms,
        .profiles = setup->profiles,
        .n_profiles = setup->n_profiles,
        .extenders = setup->extenders,
        .n_extenders = setup->n_extenders,
        .io = replay_io(replay),
        .features = setup->features,
        .seed = start->seed,
        .percentage_of_nodes_to_score = start->percentage_of_nodes_to_score,
        .initial_backoff_ms = start->initial_backoff_ms,
        .max_backoff_ms = start->max_backoff_ms,
        .unschedulable_ms_max = start->unschedulable_ms_max,
    });
    struct replay_result result;
    replay_watch(replay, progress_replay, &x->progress);
    replay_run(replay, s, &result);
    progress_replay(&x->progress, n_bytes, n_bytes);
    struct sched_counts counts = sched_counts(s);
    int code = print_result(x, path, start, &result, &counts);
    sched_free(s);
    return code;
}

/* Under the configuration that the recording begins with. */
static int with_setup(struct replaying *x, const char *path, struct replay *replay, size_t n_bytes, struct err *e)
{
    const struct record_start *start = replay_start(replay);
    struct sym_table syms;
    struct setup setup;
    sym_init(&syms);
    struct setup_source source = { .text = start->config.n ? start->config : (struct str){ NULL, 0 },
                                   .feature_gates = start->feature_gates.n ? arena_cstr(e->arena, start->feature_gates) : NULL,
                                   .may_load_code = x->allow_plugins };
    enum err_code failed = setup_load(&setup, &syms, &source, plugin_registry, e);
    int code;
    if (failed == ERR_FORBIDDEN) {
        code = cmd_fail(x->c, EXIT_USAGE, "%s: %s; --allow-plugins allows it", path, e->message);
    } else if (failed) {
        code = cmd_fail(x->c, 1, "%s: the configuration of the recording: %s", path, e->message);
    } else {
        code = run_replay(x, path, replay, &setup, n_bytes);
        setup_fini(&setup);
    }
    sym_fini(&syms);
    return code;
}

static int replay_file(struct replaying *x, const char *path)
{
    struct arena arena;
    struct err e;
    struct str bytes;
    struct replay *replay;
    int code;
    arena_init(&arena);
    err_init(&e, &arena);
    if (record_file_load(path, &bytes, &e)) {
        code = cmd_fail(x->c, 1, "%s", e.message);
    } else {
        if (replay_open(bytes, &replay, &e)) {
            code = cmd_fail(x->c, 1, "%s: %s", path, e.message);
        } else {
            code = with_setup(x, path, replay, bytes.n, &e);
            replay_free(replay);
        }
        free((char *)(uintptr_t)bytes.p);
    }
    arena_fini(&arena);
    return code;
}

static int replay_all(struct replaying *x)
{
    int code = 0;
    for (size_t i = 0; i < x->paths.n && code != EXIT_USAGE; i++)
        code = worse(code, replay_file(x, x->paths.at[i]));
    return code;
}

/* ---- Options ---- */

static int take_output(void *context, const char *value)
{
    struct replaying *x = context;
    x->json = strcmp(value, "json") == 0;
    if (!x->json && strcmp(value, "text") != 0)
        return cmd_fail(x->c, EXIT_USAGE, "-o is text or json, not \"%s\"", value);
    return 0;
}

static int take_allow_plugins(void *context, const char *value)
{
    (void)value;
    ((struct replaying *)context)->allow_plugins = true;
    return 0;
}

static int take_path(void *context, char *text)
{
    struct replaying *x = context;
    vec_push(&x->paths, text);
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){
        { "-o", CMD_VALUE, take_output, NULL },
        { "--allow-plugins", CMD_FLAG, take_allow_plugins, NULL },
        { 0 } },
    .argument = take_path,
};

static int run(const struct command *c, int argc, char **argv)
{
    struct replaying x = { .c = c };
    progress_init(&x.progress);
    int code = cmd_options_parse(c, &options, &x, argc, argv);
    if (!code && !x.paths.n)
        code = cmd_fail(c, EXIT_USAGE, "nothing to replay: give a recording");
    if (!code)
        code = replay_all(&x);
    vec_fini(&x.paths);
    return code;
}

const struct command replay_command = {
    .name = "replay",
    .summary = "run recordings of a scheduler again and compare what is decided",
    .help = help,
    .run = run,
};
