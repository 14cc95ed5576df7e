/* tests/fuzz/fuzz_options.c - any bytes as a command line: lines are its words, the first one names the command.
 *
 * The commands are the real ones up to where they would read a file, which here is never there; of simulate and
 * scheduler only the command line is parsed. All ends with one of the exit codes for bad input or wrong usage, and after something was
 * said about it, or with 0 for help. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "cmd/cluster_files.h"
#include "cmd/explain_remote.h"
#include "cmd/setup.h"
#include "cmd/simulate_options.h"
#include "config/apiserver_check.h"
#include "config/scheduler_options.h"
#include "tests/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int berth_main(int argc, char **argv); /* main.c, compiled under this name */

enum { BYTES_MAX = 4096, WORDS_MAX = 256 };

static unsigned n_said, n_printed;

/* ---- The outside: nothing is there, and what is said is only counted ---- */

void cmd_open_standard(void)
{
}

int cmd_print(const struct command *c, enum cmd_form form, struct str text)
{
    (void)c;
    (void)form;
    n_printed += text.n > 0;
    return 0;
}

static void say(const char *format, va_list args)
{
    char text[256];
    CHECK(vsnprintf(text, sizeof(text), format, args) > 0);
    n_said++;
}

int cmd_print_folded(const struct command *c, struct str text, unsigned width)
{
    (void)width;
    return cmd_print(c, CMD_TEXT, text);
}

void cmd_say(const struct command *c, const char *format, ...)
{
    va_list args;
    (void)c;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

int cmd_fail(const struct command *c, int code, const char *format, ...)
{
    va_list args;
    (void)c;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return code;
}

void cmd_write_error(struct str text)
{
    n_said += text.n > 0;
}

unsigned cmd_columns(void)
{
    return 0;
}

char *cmd_read_file(const char *path, size_t *ret_n)
{
    CHECK(path);
    *ret_n = 0;
    errno = ENOENT;
    return NULL;
}

enum err_code cmd_load_input(struct sim_input *in, const struct cluster_options *o, const char *const *paths, int n_paths,
                             struct err *e)
{
    (void)in;
    CHECK(n_paths > 0 || o->live);
    for (int i = 0; i < n_paths; i++)
        CHECK(paths[i]);
    return err_set(e, ERR_IO, "nothing is there");
}

int explain_ask(const struct explain_question *q)
{
    CHECK(q->pod && q->cluster->live);
    CHECK(!q->scheduler || q->scheduler->address);
    return q->scheduler ? cmd_fail(q->c, 1, "nobody answers") : EXPLAIN_NOBODY;
}

void cmd_print_warnings(const struct command *c, const struct sim_input *in)
{
    (void)c;
    (void)in;
}

int cmd_setup_load(struct setup *s, struct sym_table *syms, const struct cmd_setup *from)
{
    (void)s;
    (void)syms;
    return cmd_fail(from->c, 1, "no configuration");
}

/* ---- Commands that would do more ---- */

static int parse_simulate(const struct command *c, int argc, char **argv)
{
    struct simulate_options o;
    int code = simulate_options_parse(&o, c, argc, argv);
    if (!code) {
        CHECK(o.make.n_pods || o.paths.n || o.cluster.live || o.kinds);
        CHECK(o.make.hours > 0 && o.make.n_pods <= TRACE_MAKE_PODS_MAX);
        for (size_t i = 0; i < o.changes.n; i++)
            CHECK(o.changes.at[i].name && o.changes.at[i].n >= 0);
        CHECK(!o.nodes_needed || o.needed_like);
        code = cmd_fail(c, 1, "%zu files", o.paths.n);
    }
    simulate_options_fini(&o);
    return code;
}

/* All that is looked at before a file is read; what each flag says can be printed. */
static int parse_scheduler(const struct command *c, int argc, char **argv)
{
    struct arena a;
    struct err e;
    struct scheduler_flags f;
    struct gates g;
    struct scheduler_tls tls;
    struct flag_strings warnings = { 0 };
    size_t n_texts;
    arena_init(&a);
    err_init(&e, &a);
    bool failed = scheduler_flags_parse(&f, &a, argc, argv, &e);
    int code = 0;
    if (!failed && f.help) {
        struct strbuf help;
        strbuf_init(&help, STRBUF_NO_MAX);
        scheduler_flags_add_usage(&help, (unsigned)f.v & 255);
        code = cmd_print(c, CMD_TEXT, strbuf_str(&help));
        strbuf_fini(&help);
    } else {
        f.allow_metric_labels_manifest = (struct str){ NULL, 0 };
        failed = failed || scheduler_options_gates(&f, &g, &e) || scheduler_check_logs(&f, &g, &e) ||
                 scheduler_check_flags(&f, &g, &warnings, &e) || scheduler_check_serving(&f, &a, &tls, &e);
        if (!failed)
            scheduler_flags_texts(&f, &a, &n_texts);
        code = cmd_fail(c, 1, "%s", failed ? e.message : "no daemon");
    }
    arena_fini(&a);
    return code;
}

static int parse_apiserver(const struct command *c, int argc, char **argv)
{
    struct arena a;
    struct err e;
    struct apiserver_flags f;
    struct scheduler_flags shared;
    struct gates g;
    struct flag_strings warnings = { 0 };
    struct str cidr;
    arena_init(&a);
    err_init(&e, &a);
    bool failed = apiserver_flags_parse(&f, &a, argc, argv, &e);
    if (!failed)
        apiserver_flags_shared(&f, &a, &shared);
    failed = failed || scheduler_options_gates(&shared, &g, &e) || apiserver_check_flags(&f, &g, &warnings, &e) ||
             apiserver_check_cidr(&f, &cidr, &e);
    if (!failed)
        apiserver_modes(&f, &a);
    int code = cmd_fail(c, 1, "%s", failed ? e.message : "no server");
    arena_fini(&a);
    return code;
}

int etcd_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}

static int run_nothing(const struct command *c, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cmd_fail(c, 1, "nothing to do");
}

const struct command simulate_command = { "simulate", "", simulate_help, parse_simulate };
const struct command apiserver_command = { "apiserver", "", NULL, parse_apiserver };
const struct command scheduler_command = { "scheduler", "", NULL, parse_scheduler };
const struct command apply_command = { "apply", "", "help", run_nothing };
const struct command bench_command = { "bench", "", "help", run_nothing };
const struct command controllers_command = { "controllers", "", NULL, run_nothing };
const struct command delete_command = { "delete", "", "help", run_nothing };
const struct command down_command = { "down", "", "help", run_nothing };
const struct command get_command = { "get", "", "help", run_nothing };
const struct command node_command = { "node", "", "help", run_nothing };
const struct command replay_command = { "replay", "", "help", run_nothing };
const struct command status_command = { "status", "", "help", run_nothing };
const struct command store_command = { "store", "", "help", run_nothing };
const struct command up_command = { "up", "", "help", run_nothing };
const struct command version_command = { "version", "", "help", run_nothing };

/* ---- The whole ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *words[WORDS_MAX + 1];
    int n_words = 1;
    if (n > BYTES_MAX)
        return 0;
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = '\0';
    words[0] = text + n; /* the program's name: none that means anything */
    for (char *word = text; n_words < WORDS_MAX && word;) {
        words[n_words++] = word;
        word = strchr(word, '\n');
        if (word)
            *word++ = '\0';
    }
    words[n_words] = NULL;
    n_said = n_printed = 0;
    int code = berth_main(n_words, words);
    CHECK(code >= 0 && code <= 2);
    CHECK(code == 0 ? n_printed : n_said);
    free(text);
    return 0;
}
